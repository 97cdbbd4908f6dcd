//! `duet why` of truths, and of literals and variables that a condition chose.
//!
//! INVARIANT: a chosen value has the form in which it was chosen, and below it the conditions in
//! that form that decided.
//! Read next: `../why.rs`.

use super::{check, check_facts};

const LIMIT: &str = "(define limit 5)\n(define n (string-length \"seven!!\"))\n";

/// Requires of the facts that a program asserts, behind the definitions of `limit` and `n`.
#[track_caller]
fn check_chosen(program: &str, facts: &[(&str, &str)]) {
    let n = "7 ← (string-length \"seven!!\") at p.scm:3";
    let limit = "5 ← literal in (define limit 5) at p.scm:2";
    let facts: Vec<(&str, String)> = facts
        .iter()
        .map(|(fact, lines)| (*fact, lines.replace("LIMIT", limit).replace('N', n)))
        .collect();
    let facts: Vec<(&str, &str)> = facts.iter().map(|(fact, lines)| (*fact, lines.as_str())).collect();
    check_facts(&format!("{LIMIT}{program}"), &facts);
}

#[test]
fn a_truth_comes_from_the_expression_that_made_it() {
    check_chosen(
        "(define high? (> n limit))
(assert! (record 'direct (> n limit)))
(assert! (record 'kept high?))
(assert! (record 'not (not high?)))
(assert! (record 'both (and (> n 1) (< n 3))))
(assert! (record 'one (or (> n 100) (> n 3))))
(assert! (record 'even (even? n)))
(assert! (record 'string (string? n)))
(assert! (record 'empty (null? (list n))))
(assert! (record 'same (eq? 'a (if (= n 7) 'a 'b))))",
        &[
            ("direct", "#t ← (> n limit) at p.scm:5|N|LIMIT"),
            ("kept", "#t ← (> n limit) at p.scm:4|N|LIMIT"),
            ("not", "#f ← (not high?) at p.scm:7|#t ← (> n limit) at p.scm:4|N|LIMIT"),
            ("both", "#f ← (< n 3) at p.scm:8|N"),
            ("one", "#t ← (> n 3) at p.scm:9|N"),
            ("even", "#f ← (even? n) at p.scm:10|N"),
            ("string", "#f ← (string? n) at p.scm:11|N"),
            (
                "empty",
                "#f ← (null? (list n)) at p.scm:12|(7) ← (list n) at p.scm:12|N",
            ),
            (
                "same",
                "#t ← (eq? 'a (if (= n 7) 'a 'b)) at p.scm:13|a ← literal in (if (= n 7) 'a 'b) at p.scm:13\
                 |#t ← (= n 7) at p.scm:13|N",
            ),
        ],
    );
}

#[test]
fn a_chosen_literal_comes_from_the_condition() {
    check_chosen(
        "(define (grade n) (if (> n limit) \"high\" \"low\"))
(define (size n) (case n ((1 2 3) 'small) ((7 8 9) 'large) (else 'other)))
(define level \"low\")
(when (and (> n 1) (> n limit)) (set! level \"high\"))
(assert! (record 'direct (if (> n limit) \"high\" \"low\")))
(assert! (record 'returned (grade n)))
(assert! (record 'case (size n)))
(assert! (record 'cond (cond ((< n 3) 'low) ((even? n) 'even) (else 'odd))))
(assert! (record 'set level))
(assert! (record 'member (if (memv n '(7 8 9)) 1 2)))
(assert! (record 'default (or (assv n '()) \"none\")))",
        &[
            (
                "direct",
                "\"high\" ← literal in (if (> n limit) \"high\" \"low\") at p.scm:8\
                 |#t ← (> n limit) at p.scm:8|N|LIMIT",
            ),
            (
                "returned",
                "\"high\" ← literal in (if (> n limit) \"high\" \"low\") at p.scm:4\
                 |#t ← (> n limit) at p.scm:4|N|LIMIT",
            ),
            (
                "case",
                "large ← (size n) at p.scm:10|large ← literal in ((7 8 9) 'large) at p.scm:5|N",
            ),
            (
                "cond",
                "odd ← literal in (cond ((< n 3) 'low) ((even? n) 'even) (else 'odd)) at p.scm:11\
                 |#f ← (< n 3) at p.scm:11|#f ← (even? n) at p.scm:11|N",
            ),
            (
                "set",
                "\"high\" ← literal in (when (and (> n 1) (> n limit)) (set! level \"high\")) at p.scm:7\
                 |#t ← (> n 1) at p.scm:7|#t ← (> n limit) at p.scm:7|N|LIMIT",
            ),
            (
                "member",
                "1 ← literal in (if (memv n '(7 8 9)) 1 2) at p.scm:13|(7 8 9) ← (memv n '(7 8 9)) at p.scm:13|N",
            ),
            (
                "default",
                "\"none\" ← literal in (or (assv n '()) \"none\") at p.scm:14|#f ← (assv n '()) at p.scm:14|N",
            ),
        ],
    );
}

#[test]
fn a_chosen_variable_comes_from_the_condition_and_its_own_expression() {
    check_chosen(
        "(define (most a b) (if (> a b) a b))
(assert! (record 'global (if (> n limit) n limit)))
(assert! (record 'local (most limit n)))",
        &[
            (
                "global",
                "7 ← (if (> n limit) n limit) at p.scm:5|N|#t ← (> n limit) at p.scm:5|LIMIT",
            ),
            (
                "local",
                "7 ← (if (> a b) a b) at p.scm:4|N|#f ← (> a b) at p.scm:4|LIMIT",
            ),
        ],
    );
}

#[test]
fn a_literal_that_a_procedure_returned_comes_from_the_condition_that_called_it() {
    check_chosen(
        "(define (say text) (string-append text \"!\"))
(define (yes) (say \"x\") (say \"y\") (say \"z\") \"yes\")
(define (no) \"no\")
(define (pick n) (if (> n limit) (yes) (no)))
(assert! (record 'pick (pick n)))
(assert! (record 'other (pick 2)))",
        &[
            (
                "pick",
                "\"yes\" ← (yes) at p.scm:7|\"yes\" ← literal in (define (yes) (say \"x\") (say \"y\") (say \"z\") \
                 \"yes\") at p.scm:5|#t ← (> n limit) at p.scm:7|N|LIMIT",
            ),
            (
                "other",
                "\"no\" ← literal in (define (no) \"no\") at p.scm:6|#f ← (> n limit) at p.scm:7|LIMIT",
            ),
        ],
    );
}

#[test]
fn the_early_ends_of_a_loop_are_chosen() {
    check_chosen(
        "(define (any? l)
  (let loop ((l l)) (cond ((null? l) #f) ((> (car l) limit) #t) (else (loop (cdr l))))))
(assert! (record 'any (any? (list 1 n 20))))",
        &[(
            "any",
            "#t ← (any? (list 1 n 20)) at p.scm:6|#t ← literal in ((> (car l) limit) #t) at p.scm:5\
             |#t ← (> (car l) limit) at p.scm:5|LIMIT|7 ← (car l) at p.scm:5|N",
        )],
    );
}

#[test]
fn a_truth_that_a_library_kept_comes_from_its_expression() {
    check(
        "(define limit 5)
(define (high? x) (> x limit))
(define items (vector 7 (* 2 4)))
(display (vector-ref (vector-map high? items) 1)) (newline)",
        "why --output 1 p",
        &[
            "  #t ← (vector-ref (vector-map high? items) 1) at p.scm:5",
            "    #t ← (> x limit) at p.scm:3",
            "      8 ← (* 2 4) at p.scm:4",
            "      5 ← literal in (define limit 5) at p.scm:2",
        ],
    );
}

#[test]
fn a_condition_of_an_earlier_turn_counts() {
    check(
        "(define n (string-length \"seven!!\"))
(define slow (if (> n 5) (begin (sleep 1) \"slow\") \"fast\"))
(define high? (> n 5))
(sleep 1)
(display slow) (newline)
(display (if high? 'up 'down)) (newline)",
        "why --output 1 p",
        &[
            "  \"slow\" ← literal in (if (> n 5) (begin (sleep 1) \"slow\") \"fast\") at p.scm:3 in turn 2",
            // A test has an origin only once a value leads back to it, so its turn is that value's.
            "    #t ← (> n 5) at p.scm:3 in turn 2",
            "      7 ← (string-length \"seven!!\") at p.scm:2 in turn 1",
        ],
    );
}
