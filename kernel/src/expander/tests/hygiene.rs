//! Hygiene: macros capture no names of their uses, and uses none of macros.

use proptest::prelude::*;

use std::sync::Arc;

use super::{Texts, check, session};

#[test]
fn templates_neither_capture_nor_are_captured() {
    let my_or =
        "(define-syntax my-or (syntax-rules () ((_) #f) ((_ e) e) ((_ e r ...) (let ((t e)) (if t t (my-or r ...))))))";
    for (text, expected) in [
        (
            "(let ((t 5)) (my-or #f t))",
            "(let ((t.0 5)) (let ((t.1 #f)) (if t.1 t.1 t.0)))",
        ),
        (
            "(let ((if list) (t 5)) (my-or #f t))",
            "(let ((if.0 list) (t.1 5)) (let ((t.2 #f)) (if t.2 t.2 t.1)))",
        ),
        (
            "(let ((let list)) (my-or 1 2))",
            "(let ((let.0 list)) (let ((t.1 1)) (if t.1 t.1 2)))",
        ),
        (
            "(my-or 1 2 3)",
            "(let ((t.0 1)) (if t.0 t.0 (let ((t.1 2)) (if t.1 t.1 3))))",
        ),
    ] {
        check(&format!("{my_or} {text}"), expected);
    }
}

#[test]
fn keywords_can_be_shadowed() {
    for (text, expected) in [
        ("(let ((if list)) (if 1 2 3))", "(let ((if.0 list)) (if.0 1 2 3))"),
        ("(define (if x) x) (if 1)", "(define @if (lambda (x.0) x.0))\n(@if 1)"),
        (
            "(let ((else #f)) (cond (else 2)))",
            "(let ((else.0 #f)) (if else.0 2 #unspecified))",
        ),
        (
            "(let ((=> #f)) (cond (1 => 2)))",
            "(let ((=>.0 #f)) (if 1 (begin =>.0 2) #unspecified))",
        ),
        ("(let ((quote -)) '1)", "(let ((quote.0 -)) (quote.0 1))"),
        ("(let ((unquote -)) `(,1))", "(let ((unquote.0 -)) '((unquote 1)))"),
        (
            "(let () (define (begin x) x) (begin 1))",
            "(letrec ((begin.0 (lambda (x.1) x.1))) (begin.0 1))",
        ),
        ("(define define 3) define", "(define @define 3)\n@define"),
        (
            "(let ((x 1)) (define-syntax x (syntax-rules () ((_) 5))) (x))",
            "(let ((x.0 1)) 5)",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn local_keywords_have_the_scope_of_their_form() {
    for (text, expected) in [
        (
            "(let ((x 1)) (let-syntax ((foo (syntax-rules () \
             ((_ y) (let-syntax ((bar (syntax-rules () ((_) (let ((x 2)) y))))) (bar)))))) (foo x)))",
            "(let ((x.0 1)) (let ((x.1 2)) x.0))",
        ),
        (
            "(let ((x 'outer)) (let-syntax ((m (syntax-rules () ((m) x)))) (let ((x 'inner)) (m))))",
            "(let ((x.0 'outer)) (let ((x.1 'inner)) x.0))",
        ),
        (
            "(let ((f car)) (let-syntax ((f (syntax-rules () ((_ x) (list x)))) \
             (g (syntax-rules () ((_ x) (f x))))) (g 1)))",
            "(let ((f.0 car)) (f.0 1))",
        ),
        (
            "(let ((f car)) (letrec-syntax ((f (syntax-rules () ((_ x) (list x)))) \
             (g (syntax-rules () ((_ x) (f x))))) (g 1)))",
            "(let ((f.0 car)) (list 1))",
        ),
        (
            "(letrec-syntax ((my-or (syntax-rules () ((my-or) #f) ((my-or e) e) \
             ((my-or e1 e2 ...) (let ((temp e1)) (if temp temp (my-or e2 ...))))))) \
             (let ((x #f) (y 7) (temp 8) (let -) (if +)) (my-or x (let temp) (if y) y)))",
            "(let ((x.0 #f) (y.1 7) (temp.2 8) (let.3 -) (if.4 +)) \
             (let ((temp.5 x.0)) (if temp.5 temp.5 (let ((temp.6 (let.3 temp.2))) \
             (if temp.6 temp.6 (let ((temp.7 (if.4 y.1))) (if temp.7 temp.7 y.1)))))))",
        ),
        ("(let-syntax () (define x 1) x)", "(letrec ((x.0 1)) x.0)"),
    ] {
        check(text, expected);
    }
}

#[test]
fn macros_define_macros_and_variables() {
    for (text, expected) in [
        (
            "(define-syntax be-like-begin (syntax-rules () ((be-like-begin name) \
               (define-syntax name (syntax-rules () ((name expr (... ...)) (begin expr (... ...))))))))
             (be-like-begin sequence) (sequence 1 2 3)",
            "1\n2\n3",
        ),
        (
            "(define-syntax def (syntax-rules () ((_ n v) (define n v)))) (def x 1) x",
            "(define @x 1)\n@x",
        ),
        (
            "(define-syntax def-tmp (syntax-rules () ((_ get v) (begin (define tmp v) (define (get) tmp)))))
             (define tmp 0) (def-tmp a 1) (def-tmp b 2) tmp",
            "(define @tmp 0)\n(define @tmp~1 1)\n(define @a (lambda () @tmp~1))\n(define @tmp~2 2)\n\
             (define @b (lambda () @tmp~2))\n@tmp",
        ),
        (
            "(define-syntax identity (syntax-rules () ((_ misc) (lambda (x) (let ((misc 'other)) x))))) \
             (identity x) (list (identity x))",
            "(lambda (x.0) (let ((x.1 'other)) x.0))\n(list (lambda (x.2) (let ((x.3 'other)) x.2)))",
        ),
        (
            "(let () (define-syntax identity (syntax-rules () \
             ((_ misc) (lambda (x) (let ((misc 'other)) x))))) (identity x))",
            "(lambda (x.0) (let ((x.1 'other)) x.0))",
        ),
        (
            "(let () (define-syntax def-m (syntax-rules () ((_ m given) \
             (begin (define x 1) (define-syntax m (syntax-rules () ((_) (begin (define given 2) x))))))))
               (def-m m x) (m))",
            "(letrec ((x.0 1) (x.1 2)) x.0)",
        ),
        (
            "(define-syntax m (syntax-rules () ((_ id) (let-syntax ((n (syntax-rules () ((_) id)))) \
             (let ((id 5)) (n)))))) (define x 1) (m x)",
            "(define @x 1)\n(let ((x.0 5)) @x)",
        ),
        (
            "(let () (define-syntax def2 (syntax-rules () ((_ a b) (begin (define a 1) (define b a))))) \
             (def2 x y) (list x y))",
            "(letrec ((x.0 1) (y.1 x.0)) (list x.0 y.1))",
        ),
        (
            "(define-syntax while (syntax-rules () ((_ c b ...) (let loop () (when c b ... (loop)))))) \
             (define (loop) 1) (while (loop) (loop))",
            "(define @loop (lambda () 1))\n(letrec ((loop.0 (lambda () \
             (if (@loop) (begin (@loop) (loop.0)) #unspecified)))) (loop.0))",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn rules_match_as_the_reports_say() {
    for (rules, uses, expected) in [
        (
            "((_ (a b ...) ...) '((b ... a) ...))",
            "(m (1 2 3) (4) (5 6))",
            "'((2 3 1) (4) (6 5))",
        ),
        ("((_ (a ...) ...) '(a ... ...))", "(m (1 2) () (3))", "'(1 2 3)"),
        (
            "((_ a ... y z) '(z y (a ...)))",
            "(m 1 2 3 4) (m 1 2)",
            "'(4 3 (1 2))\n'(2 1 ())",
        ),
        (
            "((_ a ... . r) '((a ...) r))",
            "(m 1 2 . 3) (m 1 2)",
            "'((1 2) 3)\n'((1 2) ())",
        ),
        ("((_ a ... y . r) '((a ...) y r))", "(m 1 2 . 3)", "'((1) 2 3)"),
        ("((_ #(a b ...)) '(a #(b ...)))", "(m #(1 2 3))", "'(1 #(2 3))"),
        ("((_ a . b) '(b . a))", "(m 1 2 3) (m 1 . 2)", "'((2 3) . 1)\n'(2 . 1)"),
        ("((_ _ _ x) 'x)", "(m 1 2 3)", "3"),
        (
            "((_ \"s\" #\\a 1) 'atoms) ((_ . r) 'other)",
            "(m \"s\" #\\a 1) (m \"t\" #\\a 1)",
            "'atoms\n'other",
        ),
        (
            "((_ (x y) ...) '((x ...) (y ...)))",
            "(m (1 2) (3 4))",
            "'((1 3) (2 4))",
        ),
        ("((_ x (y ...)) '((x y) ...))", "(m 1 (2 3))", "'((1 2) (1 3))"),
        (
            "((_ ((a ...) ...) ...) '(((a ...) ...) ...))",
            "(m ((1 2) ()) () ((3)))",
            "'(((1 2) ()) () ((3)))",
        ),
        ("((_) '(... ...))", "(m)", "'..."),
        ("((_ a) '(... (a ...)))", "(m 1)", "'(1 ...)"),
    ] {
        check(&format!("(define-syntax m (syntax-rules () {rules})) {uses}"), expected);
    }
}

#[test]
fn rules_know_identifiers_by_their_bindings() {
    for (text, expected) in [
        (
            "(define-syntax m (syntax-rules ::: () ((_ a :::) '(a ::: ...)))) (m 1 2)",
            "'(1 2 ...)",
        ),
        (
            "(define-syntax m (syntax-rules (...) ((_ ...) 'dots) ((_ x) 'other))) (m ...) (m 1)",
            "'dots\n'other",
        ),
        (
            "(define-syntax m (syntax-rules (_) ((m _) 'underscore) ((m x) 'other))) (m _) (m 1)",
            "'underscore\n'other",
        ),
        (
            "(define-syntax m (syntax-rules (foo) ((_ foo) 'yes) ((_ x) 'no))) \
             (m foo) (let ((foo 1)) (m foo)) (m bar)",
            "'yes\n(let ((foo.0 1)) 'no)\n'no",
        ),
        (
            "(define-syntax m (syntax-rules (else) ((_ else) 'yes) ((_ x) 'no))) \
             (m else) (let ((else 1)) (m else))",
            "'yes\n(let ((else.0 1)) 'no)",
        ),
        (
            "(define-syntax ten (syntax-rules () ((_) 10))) \
             (define-syntax plus (syntax-rules () ((_ a b) (+ a b)))) (plus (ten) (ten))",
            "(+ 10 10)",
        ),
        (
            "(define-syntax my-if (syntax-rules () ((_ c t e) (cond (c t) (else e))))) \
             (let ((else #f)) (my-if 1 2 3))",
            "(let ((else.0 #f)) (if 1 2 3))",
        ),
        ("(define-syntax my-define define) (my-define x 1)", "(define @x 1)"),
        (
            "(define-syntax make (syntax-rules () ((_ v) (syntax-rules () ((_) v))))) \
             (define-syntax five (make 5)) (five)",
            "5",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn a_continuation_passing_macro_reverses_a_list() {
    check(
        "(define-syntax rev (syntax-rules () ((_ () acc) 'acc) ((_ (x . r) acc) (rev r (x . acc))))) \
         (rev (a b c d) ())",
        "'(d c b a)",
    );
}

/// Makes a program over `count` variables, each bound and used somewhere, with macros that also
/// bind.
fn program(names: &[String], shape: &[u8]) -> String {
    let name = |index: u8| &names[usize::from(index) % names.len()];
    let mut text = format!("(list {})", names.join(" "));
    for (position, choice) in shape.iter().enumerate() {
        let (a, b) = (name(*choice), name(choice.wrapping_add(1)));
        text = match position % 7 {
            0 => format!("(let (({a} 1)) {text})"),
            1 => format!("(lambda ({a} . {b}) {text})"),
            2 => format!("(swap {a} {b} {text})"),
            3 => format!("(let () (define {a} {b}) {text})"),
            4 => format!("(with {a} {text})"),
            5 => format!("(let {a} (({b} 1)) {text})"),
            _ => format!("(let-syntax ((m (syntax-rules () ((_ hole) (let (({a} 2)) (cons {b} hole)))))) (m {text}))"),
        };
    }
    let macros = "(define-syntax swap (syntax-rules () ((_ x y e) (let ((tmp x)) (let ((x y) (y tmp)) e)))))
        (define-syntax with (syntax-rules () ((_ x e) ((lambda (t) (let ((x t)) (with-t t e))) 1))))
        (define-syntax with-t (syntax-rules () ((_ y e) (let ((t y)) (list t e)))))";
    format!("(define (main {}) {text}) {macros}", names.join(" "))
}

fn anonymous(text: &str) -> String {
    let unit = session()
        .expand_program("test", text, &mut Texts::default())
        .unwrap()
        .units
        .remove(0);
    let mut unit = Arc::unwrap_or_clone(unit);
    for variable in &mut unit.variables {
        variable.name = super::Name::from("v");
    }
    unit.to_string()
}

proptest! {
    /// Names that a macro uses internally (`tmp`, `t`) are among the names of the program.
    #[test]
    fn expansion_respects_renaming(shape in proptest::collection::vec(any::<u8>(), 0..14)) {
        let plain: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let nasty: Vec<String> = ["tmp", "t", "x", "e"].map(str::to_owned).to_vec();
        prop_assert_eq!(anonymous(&program(&plain, &shape)), anonymous(&program(&nasty, &shape)));
    }
}
