//! The expansion of each core form.

use super::{check, expand};

#[test]
fn expressions() {
    for (text, expected) in [
        ("", "#unspecified"),
        (
            "1 \"a\" #\\a :k #t #(1 a) #u8(1)",
            "1\n\"a\"\n#\\a\n:k\n#t\n#(1 a)\n#u8(1)",
        ),
        ("'a '(1 . b) '() ''a", "'a\n'(1 . b)\n'()\n'(quote a)"),
        ("'#0=(a . #0#)", "'#0=(a . #0#)"),
        ("(car '(1))", "(car '(1))"),
        ("(lambda (x) x)", "(lambda (x.0) x.0)"),
        (
            "(lambda x x) (lambda (x . y) y)",
            "(lambda x.0 x.0)\n(lambda (x.1 . y.2) y.2)",
        ),
        ("(case-lambda ((x) x) (x x))", "(case-lambda ((x.0) x.0) (x.1 x.1))"),
        ("(if 1 2 3) (if 1 2)", "(if 1 2 3)\n(if 1 2 #unspecified)"),
        (
            "(when 1 2 3) (unless 1 2)",
            "(if 1 (begin 2 3) #unspecified)\n(if 1 #unspecified 2)",
        ),
        ("(and) (and 1) (and 1 2)", "#t\n1\n(if 1 2 #f)"),
        ("(or) (or 1) (or 1 2)", "#f\n1\n(let ((or.0 1)) (if or.0 or.0 2))"),
        ("(cond (1 2 3) (else 4))", "(if 1 (begin 2 3) 4)"),
        (
            "(cond (1) (2 => car))",
            "(let ((or.1 1)) (if or.1 or.1 (let ((test.0 2)) (if test.0 (car test.0) #unspecified))))",
        ),
        (
            "(case 1 ((a 2) 3) (else 4))",
            "(let ((key.0 1)) (if (if (eqv? key.0 'a) #t (eqv? key.0 2)) 3 4))",
        ),
        (
            "(case 1 ((a) => car) (else => cdr))",
            "(let ((key.0 1)) (if (eqv? key.0 'a) (car key.0) (cdr key.0)))",
        ),
        (
            "(case 1 ((1 2 3 4 5 6 7 8 9) 1))",
            "(let ((key.0 1)) (if (memv key.0 '(1 2 3 4 5 6 7 8 9)) 1 #unspecified))",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn bindings() {
    for (text, expected) in [
        ("(let ((x 1) (y 2)) (+ x y))", "(let ((x.0 1) (y.1 2)) (+ x.0 y.1))"),
        ("(let ((x 1)) (let ((x x)) x))", "(let ((x.0 1)) (let ((x.1 x.0)) x.1))"),
        (
            "(let* ((x 1) (x (+ x 1))) x)",
            "(let ((x.0 1)) (let ((x.1 (+ x.0 1))) x.1))",
        ),
        (
            "(letrec ((f (lambda () (g))) (g (lambda () (f)))) f)",
            "(letrec ((f.0 (lambda () (g.1))) (g.1 (lambda () (f.0)))) f.0)",
        ),
        (
            "(let loop ((i 0)) (loop (+ i 1)))",
            "(letrec ((loop.0 (lambda (i.1) (loop.0 (+ i.1 1))))) (loop.0 0))",
        ),
        (
            "(let loop ((loop 0)) loop)",
            "(letrec ((loop.0 (lambda (loop.1) loop.1))) (loop.0 0))",
        ),
        (
            "(do ((i 0 (+ i 1)) (k 5)) ((= i k) i) (display i))",
            "(letrec ((do.2 (lambda (i.0 k.1) (if (= i.0 k.1) i.0 \
             (begin (display i.0) (do.2 (+ i.0 1) k.1)))))) (do.2 0 5))",
        ),
        ("(let () (define x 1) x)", "(letrec ((x.0 1)) x.0)"),
        ("(let ((x 1)) (define x 2) x)", "(let ((x.0 1)) (letrec ((x.1 2)) x.1))"),
        (
            "(lambda (x) (define (f) (g)) (display x) (define (g) (f)) (begin (define z 1)) (f))",
            "(lambda (x.0) (letrec ((f.1 (lambda () (g.2))) (_.4 (display x.0)) (g.2 (lambda () (f.1))) \
             (z.3 1)) (f.1)))",
        ),
        (
            "(let () (define-values (a . b) (values 1 2)) (cons a b))",
            "(letrec ((values.4 (call-with-values (lambda () (values 1 2)) \
             (lambda (value.2 . value.3) (vector value.2 value.3)))) \
             (a.0 (vector-ref values.4 0)) (b.1 (vector-ref values.4 1))) (cons a.0 b.1))",
        ),
        ("(let ((x 1)) (set! x 2) x)", "(let ((x.0 1)) (begin (set! x.0 2) x.0))"),
    ] {
        check(text, expected);
    }
}

#[test]
fn definitions_at_top_level() {
    for (text, expected) in [
        (
            "(define x 1) (define (f y) (+ x y)) (set! x 2)",
            "(define @x 1)\n(define @f (lambda (y.0) (+ @x y.0)))\n(set! @x 2)",
        ),
        (
            "(define (f) (g)) (define (g) (f))",
            "(define @f (lambda () (@g)))\n(define @g (lambda () (@f)))",
        ),
        (
            "(define (car x) x) (car 1)",
            "(define @car (lambda (x.0) x.0))\n(@car 1)",
        ),
        (
            "(begin (define a 1) (begin (define b a)))",
            "(define @a 1)\n(define @b @a)",
        ),
        (
            "(define-values (a b) (values 1 2))",
            "(call-with-values (lambda () (values 1 2)) (lambda (value.0 value.1) \
             (begin (define @a value.0) (define @b value.1))))",
        ),
        (
            "(define-record-type point (make-point y) point? (x point-x set-point-x!) (y point-y))",
            "(define @point (%make-record-type 'point '(x y)))\n\
             (define @make-point (lambda (y.0) (%make-record @point #unspecified y.0)))\n\
             (define @point? (lambda (record.1) (%record? record.1 @point)))\n\
             (define @point-x (lambda (record.2) (%record-ref record.2 @point 0)))\n\
             (define @set-point-x! (lambda (record.3 value.4) (%record-set! record.3 @point 0 value.4)))\n\
             (define @point-y (lambda (record.5) (%record-ref record.5 @point 1)))",
        ),
        (
            "(define-record-type (point :label p) (make-point y x) point? (x point-x) (y))",
            "(define @point 'p)\n\
             (define @make-point (lambda (y.0 x.1) (record @point x.1 y.0)))\n\
             (define @point? (lambda (record.2) (%labelled? record.2 @point 2)))\n\
             (define @point-x (lambda (record.3) (%labelled-ref record.3 @point 2 0)))",
        ),
        (
            "(cond-expand ((and r7rs (not foo)) (define a 1)) (else (define b 2)))",
            "(define @a 1)",
        ),
        (
            "(cond-expand ((library (duet kernel)) 1) (else 2)) (cond-expand ((library (no such)) 1) (else 2))",
            "1\n2",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn quasiquotation() {
    for (text, expected) in [
        ("`(1 2)", "'(1 2)"),
        ("`(1 ,2 3)", "(cons 1 (cons 2 '(3)))"),
        ("`(1 ,@'(2) 3)", "(cons 1 (append '(2) '(3)))"),
        ("`(1 ,@'(2))", "(cons 1 '(2))"),
        ("`(1 . ,2)", "(cons 1 2)"),
        ("`#(1 ,2)", "(list->vector (cons 1 (cons 2 '())))"),
        ("`#(1 2)", "#(1 2)"),
        (
            "`(1 `(2 ,(3 ,4)))",
            "(cons 1 (cons (cons 'quasiquote (cons (cons 2 (cons \
             (cons 'unquote (cons (cons 3 (cons 4 '())) '())) '())) '())) '()))",
        ),
        ("`(a `(b ,(c)))", "'(a (quasiquote (b (unquote (c)))))"),
        ("`(1 (unquote-splicing '(2)) . ,3)", "(cons 1 (append '(2) 3))"),
    ] {
        check(text, expected);
    }
}

#[test]
fn a_name_is_known_to_the_procedure_it_names() {
    let expansion = super::session().expand_program(
        "test.scm",
        "(define f (lambda () (let ((g (lambda () 1))) (define (h) 2) (letrec ((k (case-lambda ((x) x)))) k))))",
        &mut super::Texts::default(),
    );
    let unit = expansion.unwrap().units.remove(0);
    let names: Vec<_> = unit
        .lambdas
        .iter()
        .map(|lambda| lambda.name.clone().unwrap().to_string())
        .collect();
    assert_eq!(names, ["g", "h", "k", "f"]);
}

#[test]
fn redefinition_and_assignment_are_marked() {
    let text = "(define a 1) (define b 1) (define b 2) (define c 1) (set! c 2) (let ((x 1) (y 2)) (set! y 3) x)";
    let unit = super::session()
        .expand_program("t", text, &mut super::Texts::default())
        .unwrap()
        .units
        .remove(0);
    let assigned: Vec<_> = unit
        .globals
        .iter()
        .map(|global| (global.name.name.as_str(), global.is_assigned))
        .collect();
    assert_eq!(assigned, [("a", false), ("b", true), ("c", true)]);
    let assigned: Vec<_> = unit.variables.iter().map(|variable| variable.is_assigned).collect();
    assert_eq!(assigned, [false, true]);
}

#[test]
fn long_forms_and_deep_data_do_not_nest() {
    let list = "(list ".to_owned() + &"1 ".repeat(200_000) + ")";
    assert_eq!(expand(&list).len(), list.len() - 1);
    let depth = 200_000;
    let quoted = format!("'{}{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(expand(&quoted).len(), quoted.len());
    let clauses = "(cond ".to_owned() + &"(#f 1) ".repeat(20_000) + ")";
    assert!(expand(&clauses).starts_with("(if #f 1 (if #f 1 "));
}
