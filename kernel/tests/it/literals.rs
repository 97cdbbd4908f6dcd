//! Literals: each is one object, wherever the compiler copies its form.
//!
//! INVARIANT: two literals are two objects, however alike they are.
//! Read next: the crate's `compiler/integrate.rs`.

use crate::machine::check;

/// Checks a program for each kind of literal that is an object.
#[track_caller]
fn check_each(program: &str, expected: &str) {
    for literal in ["'(missing)", "\"text\"", "#(1)", "#u8(1)"] {
        check(&program.replace("LITERAL", literal), expected);
    }
}

#[test]
fn a_literal_is_one_object_wherever_its_procedure_is_integrated() {
    check_each(
        "(define (missing) LITERAL) (define (tag) (missing)) (list (eq? (missing) (missing)) (eq? (tag) (missing)))",
        "(#t #t)",
    );
    check_each(
        "(define (one) LITERAL)
         (let loop ((n 0) (all '()))
           (if (< n 3) (loop (+ n 1) (cons (one) all)) (eq? (car all) (car (cdr all)))))",
        "#t",
    );
    check_each(
        "(define (pair) (cons LITERAL LITERAL)) (eq? (car (pair)) (cdr (pair)))",
        "#f",
    );
}

#[test]
fn a_literal_is_one_object_for_all_uses_of_a_parameter() {
    check_each(
        "(define (twice x) (cons x x)) (define (pass x) (twice x)) (define p (pass LITERAL)) (eq? (car p) (cdr p))",
        "#t",
    );
    check_each(
        "(define (same? x) (eq? x x)) (list (same? LITERAL) (let ((y LITERAL)) (eq? y y)))",
        "(#t #t)",
    );
}
