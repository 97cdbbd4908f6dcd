//! Texts nested a million deep, and texts that labels make endless or immense: each gets a value or
//! a refusal, at once and on any stack.
//!
//! INVARIANT: no depth of a text is a depth of Rust's stack.
//! The kernel's own tests cover deep data that programs make.

use crate::support::script::Evaluate;
use crate::support::session::Session;

/// The depth of the nesting.
const DEPTH: usize = 400_000;

/// A depth at which code has more nodes than an expansion may have.
const MANY_NODES: usize = 1_000_000;

/// Evaluates `open` and `close`, each many times, around `middle`; `expected` must begin the value,
/// or the message of the refusal behind `!`.
#[track_caller]
fn check(open: &str, middle: &str, close: &str, expected: &str) {
    let text = format!("{}{middle}{}", open.repeat(DEPTH), close.repeat(DEPTH));
    check_text(&text, open, expected);
}

#[track_caller]
fn check_text(text: &str, what: &str, expected: &str) {
    let outcome = match Session::new().evaluate(text) {
        Ok(value) => value,
        Err(raised) => format!("!{}", raised.message),
    };
    let start: String = outcome.chars().take(120).collect();
    assert!(start.starts_with(expected), "{what}: {start}");
}

#[test]
fn brackets_without_end_are_refused() {
    for open in ["(", "#(", "(begin ", "(let ((x (", "#u8(", "`(,", "#;(", "(a . ("] {
        check(open, "", "", "!");
    }
    for open in ["'", "`", ",", "#;", "#0=", "#|", "#'"] {
        check(open, "", "", "!");
    }
    check(")", "", "", "!");
}

#[test]
fn code_nested_without_end_is_refused() {
    // So many levels are too many; some texts alone have more nodes than an expansion may have.
    let too_deep = "!code is nested or macros expand to more than";
    let too_large = "!the program, its data and what its macros make have more than";
    for (open, close, expected) in [
        ("(", ")", too_deep),
        ("(let () ", ")", too_deep),
        ("(lambda () ", ")", too_deep),
        ("(if ", " 1 2)", too_deep),
        ("(list ", ")", too_deep),
        ("(cond (", "))", too_deep),
        ("(let-syntax () ", ")", too_deep),
        ("(define-syntax m ", ")", "!"),
        ("(when #t ", ")", "!"),
        ("(guard (e (#t 1)) ", ")", "!"),
        ("(case 1 (else ", "))", "!"),
    ] {
        check(open, "1", close, expected);
    }
    for (open, close) in [("(let ((x ", ")) x)"), ("`(,", ")"), ("(lambda (x) (define y ", ") y)")] {
        let text = format!("{}1{}", open.repeat(MANY_NODES), close.repeat(MANY_NODES));
        check_text(&text, open, too_large);
    }
}

#[test]
fn what_needs_no_stack_has_a_value_however_deep() {
    check("'", "a", "", "''''''''");
    check("(begin ", "1", ")", "1");
    for (open, close, expected) in [
        ("(", ")", "(((((("),
        ("#(", ")", "#(#(#(#("),
        ("(a . ", ")", "(a a a a a "),
    ] {
        let text = format!("'{}{}{}", open.repeat(DEPTH / 4), "1", close.repeat(DEPTH / 4));
        check_text(&text, open, expected);
    }
}

/// A datum that mentions each of `levels` labels twice, the innermost being `middle`.
fn doubling(levels: usize, middle: &str, (open, close): (&str, &str)) -> String {
    let mut text = format!("#0={middle}");
    for level in 1..=levels {
        text = format!("#{level}={open}{text} #{}#{close}", level - 1);
    }
    text
}

#[test]
fn a_template_that_labels_make_immense_is_a_constant() {
    for brackets in [("(", ")"), ("#(", ")")] {
        let template = doubling(60, "(x)", brackets);
        check_text(&format!("(pair? (list `{template}))"), "quasiquote", "#t");
        check_text(&format!("(pair? (list '{template}))"), "quote", "#t");
        check_text(&format!("(pair? (list `(`{template} ,1)))"), "nested", "#t");
    }
}

#[test]
fn code_that_labels_make_immense_is_refused() {
    let too_large = "!the program, its data and what its macros make have more than";
    check_text(
        &format!("`{}", doubling(60, ",(list)", ("(", ")"))),
        "quasiquote",
        too_large,
    );
    check_text(&doubling(60, "(list)", ("(list ", ")")), "calls", too_large);
    check_text("`#0=(1 ,2 . #0#)", "an endless template", too_large);
    check_text("`#0=(1 . #0#)", "an endless constant template", too_large);
    check_text("#0=(list 1 #0#)", "endless code", "!");
}

#[test]
fn a_long_template_takes_time_in_proportion_to_its_length() {
    let template = "a (b) ".repeat(100_000);
    check_text(&format!("(length `(,1 {template}))"), "quasiquote", "200001");
}
