//! Procedural macros through expander and machine: their errors, limits and determinism.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::datum::Name;
use duet_kernel::diagnostic::Diagnostic;
use duet_kernel::expander::{Expander, Libraries, LibraryName, SourceError, SourceText};
use duet_kernel::transformer::TransformerMachine;
use proptest::prelude::*;

use crate::common::bare::expander;

/// Libraries by name.
#[derive(Default)]
struct Texts(BTreeMap<String, &'static str>);

impl Libraries for Texts {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        let name = name.to_string();
        Ok(self.0.get(&name).map(|text| SourceText {
            text: Arc::from(*text),
            name,
        }))
    }

    fn include(&mut self, _: &str, path: &str) -> Result<SourceText, SourceError> {
        Err(SourceError(format!("no file {path}")))
    }

    fn names(&self) -> Vec<LibraryName> {
        Vec::new()
    }
}

fn session() -> Expander {
    let code = CodeSpace::new(&[]);
    expander(&code).with_transformers(Box::new(TransformerMachine::new(&[])))
}

/// Returns the program's own unit, printed; or its errors, each with the text of its span.
fn expand(libraries: &[(&str, &'static str)], program: &str) -> String {
    let mut session = session();
    let mut texts = Texts(
        libraries
            .iter()
            .map(|(name, text)| ((*name).to_owned(), *text))
            .collect(),
    );
    match session.expand_program("main", program, &mut texts) {
        Ok(expansion) => expansion.units.last().unwrap().to_string(),
        Err(errors) => {
            let shown: Vec<_> = errors.iter().map(|error| show(&session, error)).collect();
            shown.join("\n")
        }
    }
}

fn show(session: &Expander, error: &Diagnostic) -> String {
    let text = |span: duet_kernel::datum::Span| {
        let source = session.source(span.source).unwrap();
        source.text[span.start as usize..span.end as usize].to_owned()
    };
    let notes: String = error
        .notes
        .iter()
        .map(|note| format!("; {}: {}", note.kind, text(note.span)))
        .collect();
    format!("{} at {}{notes}", error.kind, text(error.span))
}

fn check(program: &str, expected: &str) {
    assert_eq!(expand(&[], program), expected, "in {program}");
}

#[test]
fn errors_name_the_macro_and_the_place() {
    for (program, expected) in [
        (
            "(define-syntax m (lambda (x) (car 5))) (m 1)",
            "`m` failed: argument 1 of car must be a pair: 5 at (m 1); \
             raised here, in code that runs while the program is expanded: (car 5); \
             in an expansion of `m`, defined here: (define-syntax m (lambda (x) (car 5)))",
        ),
        (
            "(define-syntax m (lambda (x) (syntax-case x () ((_ a) #'a)))) (list (m 1 2))",
            "no rule of `m` matches this use at (m 1 2); in an expansion of `m`, defined here: \
             (define-syntax m (lambda (x) (syntax-case x () ((_ a) #'a))))",
        ),
        (
            "(define-syntax m (lambda (x) (syntax-case x () ((_ a) (syntax-case #'a () ((b) #'b)))))) (list (m 1))",
            "`m` has no clause for this part of its use at 1; in an expansion of `m`, defined here: \
             (define-syntax m (lambda (x) (syntax-case x () ((_ a) (syntax-case #'a () ((b) #'b))))))",
        ),
        (
            "(define-syntax m (lambda (x) (syntax-case x () ((_ a) (syntax-violation 'm \"wrong\" x #'a))))) (m 7)",
            "m: wrong at 7; raised here, in code that runs while the program is expanded: \
             (syntax-violation 'm \"wrong\" x #'a); in an expansion of `m`, \
             defined here: (define-syntax m (lambda (x) \
             (syntax-case x () ((_ a) (syntax-violation 'm \"wrong\" x #'a)))))",
        ),
        ("(define-syntax m 5) 1", "this is not a syntax transformer at 5"),
        (
            "(define-syntax m (car 5)) 1",
            "`m` failed: argument 1 of car must be a pair: 5 at (car 5); \
             raised here, in code that runs while the program is expanded: (car 5)",
        ),
        (
            "(define-syntax m (lambda (x) y)) (m)",
            "`m` failed: y is not defined: y at (m); \
             raised here, in code that runs while the program is expanded: y; \
             in an expansion of `m`, defined here: (define-syntax m (lambda (x) y))",
        ),
    ] {
        check(program, expected);
    }
}

/// Checks errors without their notes, which repeat the definition.
fn check_error(program: &str, expected: &str) {
    let shown = expand(&[], program);
    let main = shown.split(';').next().unwrap_or_default();
    assert_eq!(main, expected, "in {program}");
}

#[test]
fn what_is_no_syntax_is_refused() {
    for (body, expected) in [
        (
            "'name",
            "`m` made code of the symbol `name`, which belongs to no scope at (m)",
        ),
        ("car", "`m` made code of #<procedure car>, which no text denotes at (m)"),
        (
            "(let ((x (list 1 2))) (set-cdr! x x) x)",
            "`m` made code of a structure that contains itself at (m)",
        ),
        ("(list #'list 1 (vector 2 \"three\"))", "(list 1 #(2 \"three\"))"),
        (
            "(let ((x (list 1 2))) (set-cdr! (cdr x) x) (generate-temporaries x))",
            "`m` failed: argument 1 of generate-temporaries must be a list: #0=(1 2 . #0#) at (m)",
        ),
        (
            "(datum->syntax 'name 'x)",
            "`m` failed: argument 1 of datum->syntax must be an identifier: name at (m)",
        ),
        (
            "(datum->syntax #'(a 5) 'x)",
            "`m` failed: argument 1 of datum->syntax must be an identifier: (a 5) at (m)",
        ),
        (
            "(with-syntax (((a ...) '(1 2)) ((b ...) '(1))) #'(list (a b) ...))",
            "variables repeated together matched different numbers of forms at (m)",
        ),
        (
            "(%syntax-fill \"nothing\")",
            "`m` failed: argument 1 must be the name of a pattern or template: \"nothing\" at (m)",
        ),
    ] {
        check_error(&format!("(define-syntax m (lambda (x) {body})) (m)"), expected);
    }
}

#[test]
fn transformers_end() {
    for (body, expected) in [
        ("(let loop () (loop))", "`m` did not end within 20000000 calls at (m)"),
        (
            "(let loop ((x '())) (loop (cons (make-vector 10000 0) x)))",
            "`m` needed more than 256 MiB of memory at (m)",
        ),
        (
            "(let loop ((x #'a)) (loop #`(#,x #,x #,x #,x #,x #,x #,x #,x)))",
            "the program, its data and what its macros make have more than 8388608 nodes of code at (m)",
        ),
        (
            "#'(m)",
            "code is nested or macros expand to more than 10000 levels at (m)",
        ),
        (
            "(let loop ((n 1)) (+ 1 (loop n)))",
            "`m` needed more than 256 MiB of memory at (m)",
        ),
    ] {
        check_error(&format!("(define-syntax m (lambda (x) {body})) (m)"), expected);
    }
}

#[test]
fn transformers_end_even_if_they_use_each_other() {
    let program =
        "(define-syntax m (lambda (x) (let loop ((n 15000000)) (if (= n 0) #'(list (m) (m)) (loop (- n 1)))))) (m)";
    let shown = expand(&[], program);
    assert!(
        shown.starts_with("`m` did not end within 20000000 calls at (m)"),
        "{shown}"
    );
}

#[test]
fn work_on_syntax_counts() {
    let form = format!("(m {})", "1 ".repeat(100_000));
    let definition =
        "(define-syntax m (lambda (x) (let loop () (syntax-case x (end) ((_ a ... end) #'1) (_ (loop))))))";
    check_error(
        &format!("{definition} {form}"),
        &format!("`m` did not end within 20000000 calls at {form}"),
    );
}

#[test]
fn a_failed_transformer_leaves_no_trace() {
    let mut session = session();
    let mut expand = |text: &str| match session.expand_interaction("repl", text, &mut Texts::default()) {
        Ok(expansion) => expansion.units.last().unwrap().to_string(),
        Err(errors) => errors.iter().map(|error| error.kind.to_string()).collect(),
    };
    for (text, expected) in [
        ("(begin-for-syntax (define n 0))", "#unspecified"),
        (
            "(define-syntax m (lambda (x) (set! n (+ n 1)) (if (null? (cdr (syntax->list x))) (car '()) \
             (datum->syntax #'m n))))",
            "#unspecified",
        ),
        ("(m 1)", "1"),
        ("(m)", "`m` failed: argument 1 of car must be a pair: ()"),
        ("(m 1)", "2"),
    ] {
        assert_eq!(expand(text), expected, "{text}");
    }
}

const HELPERS: &str = "(define-library (helpers) (export twice first-of m) (import (duet kernel))
    (begin (define calls '())
      (define (twice f) (lambda (x) (set! calls (cons x calls)) (f (f x))))
      (define (first-of form) (syntax-case form () ((_ a . b) #'(list 'a))))
      (define-syntax m (lambda (form) #'(twice list)))))";

#[test]
fn libraries_serve_both_phases() {
    for (program, expected) in [
        (
            "(define-syntax n (lambda (x) ((twice (lambda (x) (syntax-case x () ((_ a ...) #'(+ a ... 1))))) x))) \
             (n 2)",
            "(+ 2 1 1)",
        ),
        ("(define-syntax n (lambda (x) (first-of x))) (n five)", "(list 'five)"),
        ("(list (m))", "(list (@(helpers)twice list))"),
    ] {
        let program = format!("(import (duet kernel) (for (helpers) run expand)) {program}");
        assert_eq!(expand(&[("(helpers)", HELPERS)], &program), expected, "{program}");
    }
}

#[test]
fn a_library_that_fails_for_transformers_names_itself() {
    let library = "(define-library (bad) (export f) (import (duet kernel)) (begin (car '()) (define (f x) x)))";
    let program = "(import (duet kernel) (bad)) (define-syntax m (lambda (x) (f x))) (m)";
    let shown = expand(&[("(bad)", library)], program);
    assert!(
        shown.starts_with("`(bad)` failed: argument 1 of car must be a pair: () at (lambda (x) (f x))"),
        "{shown}"
    );
}

#[test]
fn a_unit_does_not_depend_on_what_was_expanded_before() {
    let program = "(import (duet kernel) (helpers)) (first-of 1)";
    let mut texts = Texts(BTreeMap::from([("(helpers)".to_owned(), HELPERS)]));
    let hashes = |session: &mut Expander, texts: &mut Texts| {
        let units = session.expand_program("main", program, texts).unwrap().units;
        let code = CodeSpace::new(&[]);
        let hashes = units.iter().map(|unit| compile(unit, &code).unwrap().hash());
        hashes.collect::<Vec<_>>()
    };
    let fresh = hashes(&mut session(), &mut texts);
    let mut used = session();
    let before = "(define-syntax m (lambda (x) (syntax-case x () ((_ a) #'(a a))))) (define (f) #'(a b c)) (m f)";
    used.expand_interaction("repl", before, &mut texts).unwrap();
    assert_eq!(hashes(&mut used, &mut texts)[0], fresh[0]);
}

#[test]
fn one_name_has_one_phase() {
    for (program, expected) in [
        (
            "(define x 1) (begin-for-syntax (define x 2)) x",
            "`x` is bound twice here at x",
        ),
        (
            "(begin-for-syntax (define x 2)) (define x 1) 1",
            "`x` is bound twice here at x",
        ),
        (
            "(let () (begin-for-syntax (define x 2)) 1)",
            "`begin-for-syntax` is allowed at the top level of a program only at (begin-for-syntax (define x 2))",
        ),
        (
            "(define-syntax m (lambda (x) (syntax-case x () ((_ a) (let-syntax ((n (lambda (y) #'a))) (n)))))) (m 1)",
            "`a` does not exist yet when this code runs, which is while the program is expanded at a",
        ),
        (
            "(define-syntax m (lambda (x) (syntax-case x () ((_ a) a)))) (m 1)",
            "`a` is a pattern variable, which means something in a template only at a",
        ),
    ] {
        check(program, expected);
    }
}

/// Macros that bind, written as rules.
const RULES: &str = "(define-syntax swap (syntax-rules () ((_ x y e) (let ((tmp x)) (let ((x y) (y tmp)) e)))))
    (define-syntax with (syntax-rules () ((_ x e) ((lambda (t) (let ((x t)) (with-t t e))) 1))))
    (define-syntax with-t (syntax-rules () ((_ y e ...) (let ((t y)) (list t e ...)))))
    (define-syntax def (syntax-rules () ((_ x e) (let () (define hidden 1) (define x hidden) e))))
    (define-syntax name (syntax-rules () ((_ (x ...) e) \
      (let-syntax ((m (syntax-rules () ((_ y) (list x ... y))))) (m e)))))";

/// The same macros, written as procedures.
const PROCEDURES: &str =
    "(define-syntax swap (lambda (f) (syntax-case f () ((_ x y e) #'(let ((tmp x)) (let ((x y) (y tmp)) e))))))
    (define-syntax with (lambda (f) (syntax-case f () ((_ x e)
      (with-syntax ((use #'(with-t t e))) #'((lambda (t) (let ((x t)) use)) 1))))))
    (define-syntax with-t (lambda (f) (syntax-case f () ((_ y e ...) #`(let ((t y)) (list t #,@#'(e ...)))))))
    (define-syntax def (lambda (f) (syntax-case f () ((_ x e)
      (with-syntax (((hidden) (generate-temporaries '(1)))) #'(let () (define hidden 1) (define x hidden) e))))))
    (define-syntax name (lambda (f) (syntax-case f () ((_ (x ...) e)
      #'(let-syntax ((m (lambda (g) (syntax-case g () ((_ y) #'(list x ... y)))))) (m e))))))";

fn nested_uses(shape: &[u8]) -> String {
    let names = ["a", "tmp", "t", "hidden"];
    let name = |index: u8| names[usize::from(index) % names.len()];
    let mut text = format!("(list {})", names.join(" "));
    for (position, choice) in shape.iter().enumerate() {
        let (a, b) = (name(*choice), name(choice.wrapping_add(1)));
        text = match position % 6 {
            0 => format!("(let (({a} 1)) {text})"),
            1 => format!("(swap {a} {b} {text})"),
            2 => format!("(with {a} {text})"),
            3 => format!("(def {a} {text})"),
            4 => format!("(name ({a} {b}) {text})"),
            _ => format!("(with-t {a} {b} {text})"),
        };
    }
    format!("(define (main {}) {text})", names.join(" "))
}

/// Returns the listing without the names of variables, because temporaries have unique ones.
fn anonymous(program: &str) -> String {
    let expansion = session().expand_program("main", program, &mut Texts::default());
    let mut unit = Arc::unwrap_or_clone(expansion.unwrap().units.pop().unwrap());
    for variable in &mut unit.variables {
        variable.name = Name::from("v");
    }
    unit.to_string()
}

/// Words for random programs with macros.
const WORDS: [&str; 30] = [
    "(",
    "(",
    "(",
    "(",
    ")",
    ")",
    ")",
    ")",
    "define-syntax",
    "m",
    "lambda",
    "x",
    "syntax-case",
    "()",
    "_",
    "...",
    "#'",
    "#`",
    "#,",
    "#,@",
    "a",
    "with-syntax",
    "datum->syntax",
    "'",
    "generate-temporaries",
    "1",
    "syntax->datum",
    "if",
    "set!",
    "begin-for-syntax",
];

#[test]
fn a_macro_that_expands_into_its_own_use_is_stopped() {
    for program in [
        "(define-syntax m (lambda (x) x)) (m 1)",
        "(define-syntax m (lambda (x) x)) (lambda () (m 1) 2)",
        "(define-syntax m (lambda (x) x)) m",
        "(define-syntax m (lambda (x) (syntax-case x () ((_ a) #'(m a))))) (m 1)",
    ] {
        let outcome = expand(&[], program);
        assert!(outcome.contains("to more than 10000 levels"), "{program}: {outcome}");
    }
}

proptest! {
    #[test]
    fn procedures_expand_as_rules_do(shape in proptest::collection::vec(any::<u8>(), 0..14)) {
        let uses = nested_uses(&shape);
        prop_assert_eq!(anonymous(&format!("{RULES} {uses}")), anonymous(&format!("{PROCEDURES} {uses}")));
    }

    /// For any text, each error lies in the text, and a second expansion gives the same result.
    #[test]
    fn any_text_has_one_outcome(words in proptest::collection::vec(0..WORDS.len(), 0..40)) {
        let body: Vec<_> = words.iter().map(|word| WORDS[*word]).collect();
        let body = body.join(" ");
        let program = format!("(define-syntax m (lambda (x) (syntax-case x () ((_ a ...) {body}) (_ #'0)))) \
                               (m x (1 2)) {body}");
        let outcome = expand(&[], &program);
        prop_assert_eq!(outcome, expand(&[], &program));
    }
}
