//! Diagnostics and their places.

use crate::diagnostic::{Diagnostic, DiagnosticKind, Note, NoteKind};

use super::{Texts, check, check_errors, session, texts};

#[test]
fn malformed_forms_name_their_grammar() {
    for (text, grammar, place) in [
        ("(if)", "(if test consequent [alternative])", "(if)"),
        ("(let ((x)) x)", "(let [name] ((variable init) …) body …)", "(x)"),
        ("(let ((1 2)) x)", "(let [name] ((variable init) …) body …)", "1"),
        ("(lambda (1) 2)", "(lambda formals body …)", "1"),
        ("(quote)", "(quote datum)", "(quote)"),
        (
            "(define)",
            "(define variable expression) or (define (name . formals) body …)",
            "(define)",
        ),
        ("(set! 1 2)", "(set! variable expression)", "1"),
        (
            "(case)",
            "(case key ((datum …) expression …) ((datum …) => receiver) … (else expression …))",
            "(case)",
        ),
    ] {
        check_errors(text, &[(&format!("this form should look like {grammar}"), place)]);
    }
}

#[test]
fn several_errors_are_reported_in_one_pass() {
    check_errors(
        "(if) (list foo bar) (let ((x 1) (x 2)) x) (car . 1) ()",
        &[
            ("this form should look like (if test consequent [alternative])", "(if)"),
            ("`foo` is not defined", "foo"),
            ("`bar` is not defined", "bar"),
            ("`x` is bound twice here", "x"),
            ("a procedure call must be a proper list", "(car . 1)"),
            ("() is not an expression", "()"),
        ],
    );
    check_errors(
        "(a) )\n#foo",
        &[
            ("closing parenthesis without an opening one", ")"),
            ("unknown syntax `#foo`", "#foo"),
        ],
    );
}

#[test]
fn a_constructor_takes_fields_only() {
    check_errors(
        "(define-record-type point (make-point x y) point? (x point-x))",
        &[("`y` is not a field of `point`", "y")],
    );
}

#[test]
fn a_record_type_has_a_label_or_none() {
    check_errors(
        "(define-record-type (job :label task) make-job job? (id job-id set-job-id!))",
        &[("instances of a record type with a label cannot change", "set-job-id!")],
    );
    let grammar = "this form should look like (define-record-type name (constructor field …) predicate \
                   (field accessor [modifier]) …)";
    for (text, place) in [
        ("(define-record-type (job parent) make-job job?)", "(job parent)"),
        ("(define-record-type (job :label 1) make-job job?)", "(job :label 1)"),
    ] {
        check_errors(text, &[(grammar, place)]);
    }
}

#[test]
fn misused_names_are_explained() {
    for (text, message, place) in [
        ("if", "`if` is a keyword, not a value", "if"),
        ("(list else)", "`else` is a keyword, not a value", "else"),
        (
            "(list (define x 1))",
            "`define` defines, but a value is needed here",
            "(define x 1)",
        ),
        ("(set! car 1)", "`car` is imported and cannot be assigned", "car"),
        (
            "(let () (define x 1))",
            "this body has no expression",
            "(let () (define x 1))",
        ),
        ("(let () (define x 1) (define x 2) x)", "`x` is bound twice here", "x"),
        ("(lambda (x x) x)", "`x` is bound twice here", "x"),
        (
            "(define-record-type p (make x) p? (x p-x) (y p-y) (x p-x2))",
            "`x` is bound twice here",
            "x",
        ),
        ("(define-syntax m 5)", "this is not a syntax transformer", "5"),
        ("(let () (import (duet kernel)) 1)", "`import` is defined", ""),
        (
            "(syntax-error \"bad thing\" 'a (1 \"b\"))",
            "bad thing (quote a) (1 \"b\")",
            "(syntax-error \"bad thing\" 'a (1 \"b\"))",
        ),
        (
            "(cond-expand (foo 1))",
            "no clause of this `cond-expand` holds",
            "(cond-expand (foo 1))",
        ),
    ] {
        if place.is_empty() {
            let message = "`import` is allowed at the top level of a program only";
            check_errors(text, &[(message, "(import (duet kernel))")]);
        } else {
            check_errors(text, &[(message, place)]);
        }
    }
}

#[test]
fn wrong_rules_are_explained() {
    for (rules, message, place) in [
        (
            "((_ a ... b ...) 1)",
            "a list pattern may contain one ellipsis only",
            "...",
        ),
        ("((_ a a) 1)", "`a` occurs twice in this pattern", "a"),
        (
            "((_ a ...) a)",
            "`a` needs as many ellipses in the template as in the pattern",
            "a",
        ),
        (
            "((_ a) (a ...))",
            "no variable before this ellipsis has enough ellipses in the pattern",
            "a",
        ),
        (
            "((_ a ...) ((a ...) ...))",
            "no variable before this ellipsis has enough ellipses in the pattern",
            "(a ...)",
        ),
        (
            "((_ a ...) (a ... ...))",
            "no variable before this ellipsis has enough ellipses in the pattern",
            "a",
        ),
        ("((_ ...) 1)", "nothing stands before this ellipsis", "..."),
        (
            "(x 1)",
            "the pattern of a rule must be a list that starts with the keyword",
            "x",
        ),
    ] {
        check_errors(
            &format!("(define-syntax m (syntax-rules () {rules}))"),
            &[(message, place)],
        );
    }
    check_errors(
        "(define-syntax m (syntax-rules () ((_ (a ...) (b ...)) '((a b) ...)))) (m (1) (2 3))",
        &[(
            "variables repeated together matched different numbers of forms",
            "(m (1) (2 3))",
        )],
    );
}

#[test]
fn a_body_whose_form_failed_has_no_other_error() {
    check_errors(
        "(define-syntax m (syntax-rules () ((_ x) x))) (let () (m))",
        &[("no rule of `m` matches this use", "(m)")],
    );
}

#[test]
fn errors_in_macros_point_to_the_use_and_name_the_macros() {
    let text = "(define-syntax inner (syntax-rules () ((_ x) (if)))) \
                (define-syntax outer (syntax-rules () ((_ x) (inner x)))) (outer 1)";
    let errors = session()
        .expand_program("test", text, &mut Texts::default())
        .unwrap_err();
    let shown = |note: &Note| {
        let place = &text[note.span.start as usize..note.span.end as usize];
        format!("{}: {place}", note.kind)
    };
    let notes: Vec<_> = errors[0].notes.iter().map(shown).collect();
    assert_eq!(
        &text[errors[0].span.start as usize..errors[0].span.end as usize],
        "(outer 1)"
    );
    assert_eq!(
        notes,
        [
            "written here, in a template: (if)",
            "in an expansion of `inner`, defined here: (define-syntax inner (syntax-rules () ((_ x) (if))))",
            "`inner` is used here: (inner x)",
            "in an expansion of `outer`, defined here: (define-syntax outer (syntax-rules () ((_ x) (inner x))))"
        ]
    );
}

#[test]
fn unbound_names_of_a_program_are_those_of_later_texts() {
    check(
        "(define (f) (later 1)) (set! other 2)",
        "(define @f (lambda () (@(interaction)later 1)))\n(set! @(interaction)other 2)",
    );
    // Together with other errors unbound names are errors, in the order of the text.
    check_errors(
        "(later 1) (if) other",
        &[
            ("`later` is not defined", "later"),
            ("this form should look like (if test consequent [alternative])", "(if)"),
            ("`other` is not defined", "other"),
        ],
    );
}

#[test]
fn an_unbound_name_suggests_its_neighbours() {
    let text = "(define (frobnicate) 1) (frobnicat) (displya 1)";
    let expected = ["did you mean `frobnicate`?", "did you mean `display`?"];
    let hints = |found: &[Diagnostic]| -> Vec<String> { found.iter().map(|it| it.hint().unwrap()).collect() };
    let expansion = session().expand_program("t", text, &mut Texts::default()).unwrap();
    assert_eq!(hints(&expansion.warnings), expected);
    let library = format!("(define-library (l) (import (duet kernel)) (begin {text})) (import (l))");
    let expansion = session().expand_program("t", &library, &mut Texts::default()).unwrap();
    assert_eq!(hints(&expansion.warnings), expected);
}

#[test]
fn runaway_expansion_and_nesting_are_bounded() {
    for (text, message) in [
        (
            "(define-syntax m (syntax-rules () ((_) (m)))) (m)",
            "code is nested or macros expand to more than 10000 levels".to_owned(),
        ),
        (
            "(define-syntax m (syntax-rules () ((_) (begin (m) (m))))) (m)",
            "code is nested or macros expand to more than 10000 levels".to_owned(),
        ),
        (
            "(define-syntax m (syntax-rules () ((_ x ...) (m x ... x ...)))) (m 1 2)",
            "the program, its data and what its macros make have more than 8388608 nodes of code".to_owned(),
        ),
        (
            &("(car ".repeat(20_000) + &")".repeat(20_000)),
            "code is nested or macros expand to more than 10000 levels".to_owned(),
        ),
        (
            &format!(
                "(define-syntax m (syntax-rules () ((_ {}) 1)))",
                "(".repeat(1000) + &")".repeat(1000)
            ),
            "code is nested or macros expand to more than 400 levels".to_owned(),
        ),
    ] {
        let errors = session().expand_program("t", text, &mut Texts::default()).unwrap_err();
        assert_eq!(
            errors.iter().map(|error| error.kind.to_string()).collect::<Vec<_>>(),
            [message]
        );
    }
    let nested = "(list ".repeat(9_000) + &")".repeat(9_000);
    assert!(session().expand_program("t", &nested, &mut Texts::default()).is_ok());
}

#[test]
fn circular_code_is_an_error() {
    check_errors(
        "#0=(car . #0#)",
        &[("a procedure call must be a proper list", "#0=(car . #0#)")],
    );
    check_errors(
        "(let #0=((x 1) . #0#) x)",
        &[(
            "this form should look like (let [name] ((variable init) …) body …)",
            "#0=((x 1) . #0#)",
        )],
    );
}

#[test]
fn labels_cannot_make_endless_or_huge_code() {
    let doubling = (0..60).fold("1".to_owned(), |inner, level| {
        format!("(list #{level}={inner} #{level}#)")
    });
    let too_large =
        |limit: u32| format!("the program, its data and what its macros make have more than {limit} nodes of code");
    let too_deep = "code is nested or macros expand to more than 400 levels".to_owned();
    for (text, expected) in [
        (doubling.clone(), too_large(1 << 23)),
        (
            format!("(define-syntax m (syntax-rules () ((_) {doubling})))"),
            too_large(1 << 20),
        ),
        (
            format!(
                "(define-syntax m (syntax-rules () ((_ {}) 1)))",
                doubling.replace("list", "1")
            ),
            too_large(1 << 20),
        ),
        (
            "(define-syntax m (syntax-rules () ((_) '#0=(a . #0#))))".to_owned(),
            too_deep.clone(),
        ),
        (
            "(define-syntax m (syntax-rules () ((_ . #0=(1 . #0#)) 1)))".to_owned(),
            too_deep.clone(),
        ),
        (
            "(define-syntax m (syntax-rules () ((_) #0=#(#0# #0#))))".to_owned(),
            too_deep.clone(),
        ),
        ("(define (f) #`#0=(a . #0#))".to_owned(), too_deep),
    ] {
        let errors = session().expand_program("t", &text, &mut Texts::default()).unwrap_err();
        assert_eq!(errors[0].kind.to_string(), expected, "{text}");
    }
}

#[test]
fn a_primitive_called_with_a_wrong_count_is_a_warning() {
    let expansion = session()
        .expand_program("t", "(car 1 2) (car 1)", &mut Texts::default())
        .unwrap();
    let warnings: Vec<_> = expansion
        .warnings
        .iter()
        .map(|warning| warning.kind.to_string())
        .collect();
    assert_eq!(warnings, ["`car` takes 1 argument, not 2"]);
}

#[test]
fn a_second_definition_of_a_name_in_a_program_is_a_warning() {
    for (program, expected) in [
        ("(define (f x) x) (define (f x y) y) (f 1 2)", &["f"][..]),
        (
            "(define-record-type order (make-order item) order? (item order-item)) (define (order n) n)",
            &["order"],
        ),
        (
            "(define (order n) n) (define-record-type order (make-order item) order? (item order-item))",
            &["order"],
        ),
        (
            "(define-record-type a (make n) a? (n n-of)) (define-record-type b (make m) b? (m m-of))",
            &["make"],
        ),
        ("(define-values (a b) (values 1 2)) (define b 3)", &["b"]),
        ("(define-syntax m (syntax-rules () ((_) 1))) (define (m) 2)", &["m"]),
        ("(begin (define x 1)) (begin (define x 2)) (define x 3)", &["x", "x"]),
        ("(define x 1) (set! x 2) (define (g) (define x 3) x)", &[]),
        ("(define (car x) x)", &[]),
        (
            "(define-syntax d (syntax-rules () ((_ n) (begin (define t 1) (define (n) t))))) (d a) (d b)",
            &[],
        ),
    ] {
        let expansion = session().expand_program("m", program, &mut texts(&[])).unwrap();
        let again = |warning: &Diagnostic| {
            let DiagnosticKind::DefinedAgain { name } = &warning.kind else {
                return None;
            };
            Some(name.to_string())
        };
        let found: Vec<_> = expansion.warnings.iter().filter_map(again).collect();
        assert_eq!(found, expected, "{program}");
        let has_first = |warning: &&Diagnostic| warning.notes.iter().any(|note| note.kind == NoteKind::DefinedHere);
        assert_eq!(
            expansion.warnings.iter().filter(has_first).count(),
            expected.len(),
            "{program}"
        );
    }
}

#[test]
fn a_second_definition_of_a_name_in_a_library_is_a_warning() {
    for (body, expected) in [
        ("(define (f) 1) (define (f) 2)", &["f"][..]),
        ("(define-record-type f (make n) f? (n n-of)) (define (f) 2)", &["f"]),
        ("(define (f) 1)) (begin (define (f) 2)", &["f"]),
        ("(define (f) 1)", &[]),
    ] {
        let library = format!("(define-library (lib) (export f) (import (duet kernel)) (begin {body}))");
        let program = format!("{library} (import (lib)) (f)");
        let expansion = session().expand_program("m", &program, &mut texts(&[])).unwrap();
        let is_again = |warning: &&Diagnostic| {
            let DiagnosticKind::DefinedAgain { name } = &warning.kind else {
                return false;
            };
            name.to_string() == "f"
        };
        let found = expansion.warnings.iter().filter(is_again).count();
        assert_eq!(found, expected.len(), "{body}");
    }
}

#[test]
fn an_unbound_argument_may_have_been_meant_as_a_symbol() {
    for (program, expected) in [
        (
            "(list ready)",
            Some("for the symbol, write 'ready (the manual, \"Names and symbols\")"),
        ),
        (
            "(list kar)",
            Some("did you mean `car`? for the symbol, write 'kar (the manual, \"Names and symbols\")"),
        ),
        ("(ready 1)", None),
        ("(list (ready 1))", None),
        ("ready", None),
    ] {
        let expansion = session().expand_program("m", program, &mut texts(&[])).unwrap();
        let hint = expansion.warnings[0].hint();
        assert_eq!(hint.as_deref(), expected, "{program}");
    }
}
