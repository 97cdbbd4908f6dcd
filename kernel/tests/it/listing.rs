//! The translation of each construct: its expansion and its instructions, as snapshots.
//!
//! INVARIANT: a construct is the body of a procedure of a few variables, so that a listing shows
//! little but the construct.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;

use crate::common::bare::{NoLibraries, expander};

/// Shows the text, its expansion, and its code.
fn listing(program: &str) -> String {
    let code = CodeSpace::new(&[]);
    let mut expander = expander(&code);
    let expansion = expander.expand_program("listing", program, &mut NoLibraries);
    let expansion = expansion.unwrap_or_else(|errors| panic!("{program}: {errors:?}"));
    let unit = expansion.units.last().unwrap();
    let compiled = compile(unit, &code).unwrap();
    for is_apart in [false, true] {
        let mut code = CodeSpace::new(&[]);
        let load = if is_apart {
            CodeSpace::load_apart
        } else {
            CodeSpace::load
        };
        let number = load(&mut code, &compiled).unwrap();
        assert_eq!(code.compiled(number).as_ref(), Some(&compiled), "{program}");
    }
    let compiled = compiled.to_string();
    // Skip the unit itself, which only defines the procedure.
    let procedures = compiled
        .split_once("\nblock 1:")
        .filter(|_| program.starts_with("(define (f"));
    let shown = procedures.map_or(compiled.clone(), |(_, procedures)| format!("block 1:{procedures}"));
    format!("{program}\n\n{unit}\n\n{shown}")
}

macro_rules! snapshots {
    ($($name:ident: $($program:literal),+;)*) => {
        $(
            #[test]
            fn $name() {
                let listings = [$(listing($program)),+].join("\n");
                insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
                    insta::assert_snapshot!(concat!("listing__", stringify!($name)), listings);
                });
            }
        )*
    };
}

snapshots! {
    constants: "(define (f) (list 1 -2 1.5 #t '() #\\a \"text\" 'symbol '(a . b) #(1 2)))";
    conditionals:
        "(define (f x) (if x 1 2))",
        "(define (f x y) (if (and x (not y)) 'a (or y 'b)))",
        "(define (f x) (cond ((memq x '(a)) => car) ((pair? x) 1) (else 2)))";
    fused_comparisons:
        "(define (f x y) (if (< x y) 1 2))",
        "(define (f x) (if (= x 0) 1 2))",
        "(define (f x) (if (>= 5 x) 1 2))",
        "(define (f x) (if (null? x) 1 (if (pair? (cdr x)) 2 3)))",
        "(define (f x y) (if (eq? x y) 1 2))",
        "(define (f x) (zero? x))";
    arithmetic:
        "(define (f x y) (+ x (* y 2) 1))",
        "(define (f x) (- x 1))",
        "(define (f x) (- x))",
        "(define (f x y) (quotient x y))",
        "(define (f x y) (/ x y))";
    bindings:
        "(define (f x) (let ((y (car x)) (z (cdr x))) (cons z y)))",
        "(define (f x) (let* ((y x) (z y)) z))",
        "(define (f x) (let ((y 1)) (set! y x) y))";
    recursive_bindings:
        "(define (f x) (letrec ((even (lambda (n) (if (= n 0) #t (odd (- n 1))))) \
         (odd (lambda (n) (if (= n 0) #f (even (- n 1)))))) (even x)))",
        "(define (f) (define a 1) (define (b) a) (b))";
    named_let:
        "(define (f x) (let loop ((rest x) (sum 0)) (if (null? rest) sum (loop (cdr rest) (+ sum (car rest))))))";
    do_loop: "(define (f n) (do ((i 0 (+ i 1)) (v (vector))) ((= i n) v) (vector-set! v i i)))";
    case_dispatch: "(define (f x) (case x ((1 2) 'few) ((a) => list) (else 'other)))";
    closures:
        "(define (f x y) (lambda (z) (list x y z)))",
        "(define (counter n) (lambda () (set! n (+ n 1)) n))",
        "(define (f x) (lambda rest (cons x rest)))";
    calls:
        "(define (f g x) (g x) (g (g x)))",
        "(define (f x) (f (f x)))",
        "(define (f x) (if x (f (cdr x)) 'end))",
        "(define (f . x) (apply f 1 x))",
        "(define (f x) (list (h x) (h 1))) (define (h y) y)";
    clauses: "(define f (case-lambda ((x) x) ((x y) y) ((x . rest) rest)))";
    several_values:
        "(define (f x) (call-with-values (lambda () (values x 1)) cons))",
        "(define (f x) (define-values (a . b) (g x)) (list a b)) (define (g x) (values x x))";
    continuations: "(define (f x) (%call/cc (lambda (k) (k x))))";
    quasi_quotation: "(define (f x y) `(a ,x ,@y b #(1 ,x)))";
    records: "(define-record-type point (make-point x y) point? (x point-x) (y point-y set-point-y!))";
    patterns: "(define (f x) (pattern (offer ,x $price _)))";
    globals: "(define x 1) (define (f) (set! x (+ x 1)) x) (f)";
    syntax_cases:
        "(define (f x) (syntax-case x (else) ((_ a (b c ...)) (identifier? #'a) #'(a c ... b)) \
         ((_ else) #`(#,x #,@(list x)))))";
}
