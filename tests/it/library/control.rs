//! Control in the standard library: exceptions, parameters, winders, prompts, promises.
//!
//! INVARIANT: each case runs in a session of its own.
//! Single expressions are tested in `tests/scripts/control/*.scm`; these cases need whole programs.
//! Read next: `../library.rs`.

use crate::library::check;

#[test]
fn exceptions() {
    for (program, expected) in [
        ("(guard (e (#t (list 'caught e))) (+ 1 (raise 'boom)))", "(caught boom)"),
        (
            "(guard (e ((symbol? e) 'symbol) ((string? e) 'string)) (raise \"s\"))",
            "string",
        ),
        (
            "(guard (e ((assq 'a e) => cdr) ((assq 'b e))) (raise (list (cons 'a 42))))",
            "42",
        ),
        (
            "(guard (e ((assq 'a e) => cdr) ((assq 'b e))) (raise (list (cons 'b 23))))",
            "(b . 23)",
        ),
        (
            "(guard (e (else (list 'outer e))) (guard (e ((number? e) 'inner)) (raise 'x)))",
            "(outer x)",
        ),
        ("(guard (e (#f 1)) 1 2)", "2"),
        (
            "(call-with-values (lambda () (guard (e (#f 1)) (values 1 2))) list)",
            "(1 2)",
        ),
        (
            "(with-exception-handler (lambda (e) 10) (lambda () (+ 1 (raise-continuable 'c))))",
            "11",
        ),
        (
            "(guard (e (#t (list (condition-kind e) (condition-irritants e))))
               (with-exception-handler (lambda (e) 10) (lambda () (+ 1 (raise 'c)))))",
            "(handler-returned (c))",
        ),
        (
            "(with-exception-handler (lambda (e) (list 'outer e))
               (lambda () (with-exception-handler (lambda (e) (raise-continuable (list 'inner e)))
                            (lambda () (raise-continuable 'x)))))",
            "(outer (inner x))",
        ),
        (
            "(define trace '()) (define (note x) (set! trace (cons x trace)))
             (guard (e (#t (note 'handler)))
               (dynamic-wind (lambda () (note 'in)) (lambda () (raise 'x)) (lambda () (note 'out)))) (reverse trace)",
            "(in out handler)",
        ),
        (
            "(define trace '()) (define (note x) (set! trace (cons x trace)))
             (guard (e ((eq? e 'x) (note 'outer))) (guard (e ((number? e) (note 'inner)))
               (dynamic-wind (lambda () (note 'in)) (lambda () (raise 'x)) (lambda () (note 'out))))) (reverse trace)",
            "(in out in out outer)",
        ),
    ] {
        check(program, expected);
    }
}

#[test]
fn errors_are_conditions() {
    for (program, expected) in [
        (
            "(guard (e ((error-object? e) (list (error-object-message e) (error-object-irritants e))))
            (error \"bad\" 1 2))",
            "(\"bad\" (1 2))",
        ),
        (
            "(guard (e ((error-object? e) (condition-kind e))) (car 5))",
            "wrong-type",
        ),
        (
            "(guard (e (#t (condition-kind e))) (vector-ref (vector) 0))",
            "out-of-range",
        ),
        (
            "(guard (e (#t (condition-kind e))) (assert (= 1 2)))",
            "assertion-failed",
        ),
        ("(guard (e (#t (condition-kind e))) (map car 5))", "wrong-type"),
        ("(raise 'uncaught)", "raises uncaught"),
    ] {
        check(program, expected);
    }
}

#[test]
fn handlers_run_outside_of_themselves() {
    for (program, expected) in [
        (
            "(define k #f) (define n 0) (guard (e (#t (set! n (+ n 1)) (if (< n 3) (k 'again) n)))
                                       (call/cc (lambda (c) (set! k c))) (raise 'x))",
            "3",
        ),
        (
            "(guard (e (#t e)) (with-exception-handler (lambda (e) (raise (list 'second e)))
                                 (lambda () (raise 'first))))",
            "(second first)",
        ),
        (
            "(guard (e (#t (list 'outermost e)))
               (with-exception-handler (lambda (e) (raise (cons 'h2 e)))
                 (lambda () (with-exception-handler
                              (lambda (e)
                                (with-exception-handler (lambda (e) (raise (cons 'h3 e)))
                                  (lambda () (raise (cons 'h1 e)))))
                   (lambda () (raise '()))))))",
            "(outermost (h2 h3 h1))",
        ),
    ] {
        check(program, expected);
    }
}

#[test]
fn parameters() {
    for (program, expected) in [
        (
            "(define p (make-parameter 1)) (list (p) (parameterize ((p 2)) (p)) (p))",
            "(1 2 1)",
        ),
        (
            "(define p (make-parameter 1 (lambda (x) (* x 10)))) (list (p) (parameterize ((p 2)) (p)))",
            "(10 20)",
        ),
        (
            "(define p (make-parameter 1)) (define q (make-parameter 2))
             (parameterize ((p (q)) (q (p))) (list (p) (q)))",
            "(2 1)",
        ),
        (
            "(define p (make-parameter 1)) (define k #f) (define seen '())
          (parameterize ((p 2)) (call/cc (lambda (c) (set! k c))) (set! seen (cons (p) seen)))
          (set! seen (cons (p) seen)) (if (< (length seen) 4) (k 0) (reverse seen))",
            "(2 1 2 1)",
        ),
        (
            "(define p (make-parameter 1)) (guard (e (#t (list e (p)))) (parameterize ((p 2)) (raise (p))))",
            "(2 1)",
        ),
        (
            "(define p (make-parameter 1))
             (parameterize ((p 2)) (with-exception-handler (lambda (e) (p))
                                     (lambda () (parameterize ((p 3)) (raise-continuable 0)))))",
            "3",
        ),
        (
            "(guard (e (#t (condition-kind e))) (parameterize ((car 1)) 2))",
            "wrong-type",
        ),
        ("(define p (make-parameter 1)) (parameterize () (define x (p)) x)", "1"),
    ] {
        check(program, expected);
    }
}

#[test]
fn winders() {
    let trace = "(define trace '()) (define (note x) (set! trace (cons x trace)))
        (define (wound name thunk) (dynamic-wind (lambda () (note (list name 'in))) thunk
                                     (lambda () (note (list name 'out)))))";
    for (program, expected) in [
        (
            "(wound 'a (lambda () (wound 'b (lambda () 1)))) (reverse trace)",
            "((a in) (b in) (b out) (a out))",
        ),
        (
            "(call/cc (lambda (k) (wound 'a (lambda () (wound 'b (lambda () (k 1))))))) (reverse trace)",
            "((a in) (b in) (b out) (a out))",
        ),
        (
            "(define k #f) (define n 0) (wound 'a (lambda () (wound 'b (lambda () (call/cc (lambda (c) (set! k c)))))))
             (set! n (+ n 1)) (if (= n 1) (wound 'c (lambda () (k 0)))) (reverse trace)",
            "((a in) (b in) (b out) (a out) (c in) (c out) (a in) (b in) (b out) (a out))",
        ),
        (
            "(define k #f) (define n 0) (wound 'a
               (lambda () (wound 'b (lambda () (call/cc (lambda (c) (set! k c))) (set! n (+ n 1))))
                 (if (= n 1) (wound 'c (lambda () (k 0)))))) (reverse trace)",
            "((a in) (b in) (b out) (c in) (c out) (b in) (b out) (a out))",
        ),
        (
            "(call-with-values (lambda () (wound 'a (lambda () (values 1 2)))) list)",
            "(1 2)",
        ),
        (
            "(define p (make-parameter 'outside)) (define k #f)
             (parameterize ((p 'inside)) (dynamic-wind (lambda () (note (p)))
                                           (lambda () (call/cc (lambda (c) (set! k c)))) (lambda () (note (p)))))
             (if (< (length trace) 4) (k 0)) (reverse trace)",
            "(inside inside inside inside)",
        ),
    ] {
        check(&format!("{trace} {program}"), expected);
    }
}

/// A trace, winders that write it, and a parameter.
const WINDING: &str = "(define trace '()) (define (note x) (set! trace (cons x trace)))
        (define (wound name thunk) (dynamic-wind (lambda () (note (list name 'in))) thunk
                                     (lambda () (note (list name 'out)))))
        (define p (make-parameter 0))";

#[test]
fn prompts() {
    for (program, expected) in [
        (
            "(+ 1 (call-with-prompt 'p (lambda () (* 10 (abort-to-prompt 'p 4))) (lambda (k n) (k n))))",
            "41",
        ),
        (
            "(+ 1 (call-with-prompt 'p (lambda () (* 10 (abort-to-prompt 'p 4))) (lambda (k n) n)))",
            "5",
        ),
        (
            "(call-with-prompt 'p (lambda () (list (abort-to-prompt 'p))) (lambda (k) (append (k 1) (k 2))))",
            "(1 2)",
        ),
        ("(+ 1 (reset (+ 10 (shift k (k (k 100))))))", "121"),
        ("(reset (cons 1 (shift k (list (k 2) (k 3)))))", "((1 . 2) (1 . 3))"),
        ("(prompt (+ 1 (control k (k (control k2 (k2 5))))))", "6"),
        ("(reset (let ((x (shift k (cons 'a (k '()))))) (shift k x)))", "(a)"),
        ("(prompt (let ((x (control k (cons 'a (k '()))))) (control k x)))", "()"),
        ("(guard (e (#t (condition-kind e))) (shift k 1))", "no-prompt"),
        (
            "(define tag (make-prompt-tag 't)) (prompt-at tag (+ 1 (prompt (+ 10 (control-at tag k (k 5))))))",
            "16",
        ),
    ] {
        check(&format!("{WINDING} {program}"), expected);
    }
}

#[test]
fn resumed_continuations() {
    for (program, expected) in [
        (
            "(define k (reset (wound 'a (lambda () (shift k k) 'end)))) (note 'between) (note (k 0)) (reverse trace)",
            "((a in) (a out) between (a in) (a out) end)",
        ),
        (
            "(define k (reset (wound 'a (lambda () (shift k k) 'end)))) (wound 'b (lambda () (k 0))) (reverse trace)",
            "((a in) (a out) (b in) (a in) (a out) (b out))",
        ),
        (
            "(define k (reset (parameterize ((p 1)) (shift k k) (p))))
             (list (k 0) (p) (parameterize ((p 2)) (list (k 0) (p))))",
            "(1 0 (1 2))",
        ),
        (
            "(define k (reset (shift k k) (p))) (list (k 0) (parameterize ((p 2)) (k 0)) (p))",
            "(0 2 0)",
        ),
        (
            "(define k (reset (parameterize ((p 1)) (shift k k)) (p))) (parameterize ((p 2)) (list (k 0) (p)))",
            "(2 2)",
        ),
        (
            "(define k (reset (with-exception-handler (lambda (e) (list 'inner e))
                                (lambda () (shift k k) (raise-continuable 'x)))))
             (with-exception-handler (lambda (e) 'outer) (lambda () (list (k 0) (raise-continuable 'y))))",
            "((inner x) outer)",
        ),
        (
            "(define k (reset (shift k k) (raise-continuable 'x)))
             (with-exception-handler (lambda (e) (list 'resumer e)) (lambda () (k 0)))",
            "(resumer x)",
        ),
        (
            "(define (yield x) (shift k (cons x (k #f)))) (reset (begin (yield 1) (yield 2) (yield 3) '()))",
            "(1 2 3)",
        ),
        (
            "(define (loop n) (if (> n 0) (begin (reset (shift k (k n))) (loop (- n 1))) 'done)) (loop 10000)",
            "done",
        ),
        (
            "(call-with-prompt 'p (lambda ()
                                    (+ 1 (call-with-composable-continuation (lambda (k) (k (k 10))) 'p))) list)",
            "13",
        ),
        (
            "(define k (reset (reset (wound 'a (lambda () (shift k k) (shift k2 k2) 'end))) )) (define k2 (k 0))
             (note 'mid) (k2 0) (reverse trace)",
            "((a in) (a out) (a in) (a out) mid (a in) (a out))",
        ),
        (
            "(call-with-prompt 'p (lambda () (wound 'a (lambda () (abort-to-prompt 'p))))
               (lambda (k) (note 'handler))) (reverse trace)",
            "((a in) (a out) handler)",
        ),
    ] {
        check(&format!("{WINDING} {program}"), expected);
    }
}

#[test]
fn promises() {
    for (program, expected) in [
        ("(force (delay (+ 1 2)))", "3"),
        ("(let ((p (delay (+ 1 2)))) (list (force p) (force p)))", "(3 3)"),
        (
            "(define n 0) (define p (delay (begin (set! n (+ n 1)) (if (> n 5) n (force p)))))
          (list (force p) (begin (set! n 0) (force p)))",
            "(6 6)",
        ),
        (
            "(list (force 5) (promise? (delay 1)) (promise? 1) (force (make-promise 2))
                   (force (make-promise (delay 3))))",
            "(5 #t #f 2 3)",
        ),
        ("(promise? (force (delay (delay 1))))", "#t"),
        (
            "(define (loop n) (if (= n 0) (delay 'done) (delay-force (loop (- n 1))))) (force (loop 10000))",
            "done",
        ),
        (
            "(define (stream-filter p? s)
               (delay-force (if (null? (force s)) (delay '()) (let ((h (car (force s))) (t (cdr (force s))))
               (if (p? h) (delay (cons h (stream-filter p? t))) (stream-filter p? t))))))
             (define (from n) (delay-force (cons 'x n))) (define (integers n) (delay (cons n (integers (+ n 1)))))
             (car (force (stream-filter (lambda (n) (> n 2000)) (integers 0))))",
            "2001",
        ),
    ] {
        check(program, expected);
    }
}
