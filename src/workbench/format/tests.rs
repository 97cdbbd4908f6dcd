//! Tests of the formatter.
//!
//! INVARIANT: each layout that a test expects is laid out a second time and stays.
//! They run no command; `tests/it/formatter.rs` does.
//! Read next: `layout.rs`.

use super::*;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

/// Lays out a text that the reader accepts.
fn formatted(text: &str) -> String {
    format(text, &Macros::default()).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let once = formatted(text);
        assert_eq!(once, *expected, "{text}");
        assert_eq!(formatted(&once), once, "{text}");
    }
}

/// The tokens and comments of a text, without the blanks behind a comment.
fn tokens(text: &str) -> Vec<&str> {
    let shown = |piece: &pieces::Piece| text[piece.extent.clone()].trim_end();
    Pieces::of(text).all.iter().map(shown).collect()
}

#[track_caller]
fn check_tokens(text: &str, place: &str) {
    let once = formatted(text);
    assert_eq!(tokens(&once), tokens(text), "{place}");
    assert_eq!(formatted(&once), once, "{place}");
}

fn sources(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "scm" || end == "sld") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn tokens_and_comments_of_every_source_stay_and_a_second_time_changes_nothing() {
    let mut count = 0;
    for path in ["stdlib", "examples", "tests"].into_iter().flat_map(sources) {
        // Some tests are about texts that are wrong.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if read(&text).is_ok() {
            check_tokens(&text, &path.display().to_string());
            count += 1;
        }
    }
    assert!(count > 400, "{count} sources");
}

#[test]
fn a_second_time_changes_nothing_however_deep_a_form_stands() {
    let innermost = "(dynamic-wind (lambda () (note 'in)) (lambda () 9) (lambda () (note 'out)))";
    for depth in 0..40 {
        let text = format!("{}{innermost}{}\n", "(list a ".repeat(depth), ")".repeat(depth));
        let once = formatted(&text);
        assert_eq!(formatted(&once), once, "{depth}");
    }
}

#[test]
fn the_scheme_of_the_project_is_formatted() {
    // A text that is wrong, for a test about errors, and one whose lines are replaced by edits.
    let odd = [
        "tests/scripts/r7rs/6.9-bytevectors.scm",
        "proofs/simulation/repertoire.sld",
    ];
    let mut count = 0;
    for folder in ["stdlib", "examples", "benches", "findings", "proofs", "src", "tests"] {
        for path in sources(folder) {
            count += 1;
            let text = fs::read_to_string(&path).expect("a text");
            if !odd.iter().any(|odd| path.ends_with(odd)) {
                assert_eq!(formatted(&text), text, "{}: `duet fmt {folder}`", path.display());
            }
        }
    }
    assert!(count > 400, "{count} sources");
}

#[test]
fn bodies_are_two_columns_in_and_begin_a_line_each() {
    check(&[
        (
            "(define (f x)(let((y 1))(+ x y)))",
            "(define (f x) (let ((y 1)) (+ x y)))\n",
        ),
        ("(define (f x)\n(g x) (h x))", "(define (f x)\n  (g x)\n  (h x))\n"),
        ("(let loop ((i 0))\n(f i)\n)", "(let loop ((i 0))\n  (f i))\n"),
        ("(let ((a 1) (b\n2)) a)", "(let ((a 1)\n      (b\n        2))\n  a)\n"),
        ("(lambda\n(x)\nx)", "(lambda\n    (x)\n  x)\n"),
        (
            "(do ((i 0 (+ i 1)))\n((= i 9))\n(f i))",
            "(do ((i 0 (+ i 1)))\n    ((= i 9))\n  (f i))\n",
        ),
        ("(case x\n((1) a)\n(else b))", "(case x\n  ((1) a)\n  (else b))\n"),
        ("(guard (e (#t\n1))\n(f))", "(guard (e (#t\n           1))\n  (f))\n"),
    ]);
}

#[test]
fn operands_stand_under_the_first_or_two_columns_in() {
    check(&[
        ("(f a\nb)", "(f a\n   b)\n"),
        ("(f a\n  b\n c)", "(f a\n  b\n  c)\n"),
        ("(f\na\nb)", "(f\n  a\n  b)\n"),
        ("(if a\nb c)", "(if a\n    b\n    c)\n"),
        ("(cond ((a) b) (else\nc))", "(cond ((a) b)\n      (else\n       c))\n"),
        ("((f g)\nb)", "((f g)\n b)\n"),
        ("'(a\nb)", "'(a\n  b)\n"),
        ("#(1\n2)", "#(1\n  2)\n"),
    ]);
}

#[test]
fn comments_and_one_blank_line_stay() {
    check(&[
        ("", ""),
        ("\n\n", ""),
        ("a\n\n\n\nb", "a\n\nb\n"),
        ("#!/usr/bin/duet\n(f)", "#!/usr/bin/duet\n(f)\n"),
        ("; a  \r\n(f) ; b", "; a\n(f) ; b\n"),
        ("(f;a\n)", "(f ;a\n  )\n"),
        ("(begin\n; a\n(f)\n\n; b\n)", "(begin\n  ; a\n  (f)\n\n  ; b\n  )\n"),
        ("(f #| a |#x)", "(f #| a |# x)\n"),
        ("(f #; (a  b) c)", "(f #;(a b) c)\n"),
        ("#!fold-case\n(F)", "#!fold-case\n(F)\n"),
        ("(f)      ; => 1\n(g 1)    ; => 2", "(f)      ; => 1\n(g 1)    ; => 2\n"),
        ("(f \"a\n   b\"\n c)", "(f \"a\n   b\"\n   c)\n"),
    ]);
}

#[test]
fn signs_stay_what_they_are() {
    check(&[
        ("' a", "'a\n"),
        (", @a", ", @a\n"),
        (",@ a", ",@a\n"),
        ("'#;x y", "'#;x y\n"),
        ("' ; why\na", "' ; why\na\n"),
        ("#0= (a . #0#)", "#0=(a . #0#)\n"),
        ("a\"b\"", "a\n\"b\"\n"),
        ("[f  x]", "[f x]\n"),
    ]);
}

#[test]
fn a_macro_of_the_text_lays_out_its_uses() {
    let definition = "(define-syntax twice\n  (syntax-rules ()\n    ((_ x body ...) (begin body ... body ...))))\n";
    let text = format!("{definition}(twice a\n(f))\n(thrice a\n(f))\n");
    check(&[(
        &text,
        &format!("{definition}(twice a\n  (f))\n(thrice a\n        (f))\n"),
    )]);
}

#[test]
fn a_macro_is_laid_out_by_its_definition_whatever_that_looks_like() {
    let uses = "(while (< x 10)\n  (display x)\n  (display y))\n";
    let call = "(while (< x 10)\n       (display x)\n       (display y))\n";
    for (definition, expected) in [
        (
            "(define-syntax while (syntax-rules () ((_ c e ...) (let loop () (when c e ... (loop))))))",
            uses,
        ),
        (
            "(define-syntax while (syntax-rules () ((_ c e1 e2 ...) (if c (begin e1 e2 ...) #f))))",
            uses,
        ),
        (
            "(define-syntax while (syntax-rules () ((while c . rest) (let loop () (when c . rest)))))",
            uses,
        ),
        (
            "(define-syntax while (syntax-rules ::: () ((_ c body :::) (if c (begin body :::)))))",
            uses,
        ),
        (
            "(define-syntax (while stx)\n  (syntax-case stx () ((_ c e ...) #'(when c e ...))))",
            uses,
        ),
        (
            "(define-syntax while\n  (lambda (stx)
    (syntax-case stx () ((_ c e ...) (identifier? #'c) #'(when c e ...)))))",
            uses,
        ),
        (
            "(define-syntax while (syntax-rules () ((_ c e ...) (while-2 c e ...))))
(define-syntax while-2 (syntax-rules () ((_ c e ...) (when c e ...))))",
            uses,
        ),
        // Operands that are no body stay under the first.
        (
            "(define-syntax while (syntax-rules () ((_ c e ...) (if c c (while e ...)))))",
            call,
        ),
        ("(define-syntax while (syntax-rules () ((_ c e) (when c e))))", call),
        (
            "(define-syntax while (syntax-rules () ((_ c (e x) ...) (let ((e x) ...) c))))",
            call,
        ),
    ] {
        let once = formatted(&format!("{definition}\n{call}"));
        assert!(once.ends_with(expected), "{once}");
        let imported = Macros::of(definition).expect("a text");
        assert_eq!(format(call, &imported).expect("a text"), expected, "{definition}");
    }
}

#[test]
fn the_table_knows_the_macros_of_the_libraries() {
    for path in sources("stdlib") {
        let text = fs::read_to_string(&path).expect("a text");
        for (name, operands) in Macros::of(&text)
            .expect("a library")
            .iter()
            .filter(|(name, _)| !name.starts_with('%'))
        {
            let found = forms::operands_before_body(name);
            // A test runner or group has a name or count before its body; a `let` may have a name.
            assert_eq!(found, Some(operands), "{name} in {}", path.display());
        }
    }
}

#[test]
fn a_line_that_is_too_long_is_broken() {
    let words: Vec<String> = (0..30).map(|number| format!("word{number}")).collect();
    for text in [
        format!("(f {})", words.join(" ")),
        format!("'({})", words.join(" ")),
        format!("(define x (list {}))", words.join(" ")),
        format!("(if (f {}) (g {}) h)", words.join(" "), words.join(" ")),
    ] {
        let once = formatted(&text);
        assert!(once.lines().all(|line| line.len() <= WIDTH), "{once}");
        assert_eq!(formatted(&once), once);
    }
}

#[test]
fn names_that_do_not_fit_on_a_line_go_to_the_beginning_of_the_next() {
    let name = |letter: &str| letter.repeat(31);
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(name);
    check(&[
        (
            &format!("(export {a} {b} {c}\n  {d} {e}\n  f g)"),
            &format!("(export {a} {b}\n  {c} {d} {e}\n  f g)\n"),
        ),
        (
            &format!("(only (lib)\n  {a} {b} {c} {d}\n  {e}\n  f\n\n  g)"),
            &format!("(only (lib)\n  {a} {b} {c}\n  {d} {e}\n  f\n\n  g)\n"),
        ),
        (
            &format!("(export\n  {a} {b} {c} {d}\n  ;; More.\n  {e})"),
            &format!("(export\n  {a} {b} {c}\n  {d}\n  ;; More.\n  {e})\n"),
        ),
        // Rows of data and other operands keep their lines.
        (
            &format!("'({a} {b} {c} {d}\n  {e})"),
            &format!("'({a} {b} {c}\n  {d}\n  {e})\n"),
        ),
    ]);
}

#[test]
fn the_operands_of_a_procedure_stand_under_each_other() {
    check(&[
        (
            "(call-with-values\n(lambda () (f))\n(lambda (a b) a))",
            "(call-with-values\n  (lambda () (f))\n  (lambda (a b) a))\n",
        ),
        (
            "(call-with-values (lambda () (f))\n(lambda (a b) a))",
            "(call-with-values (lambda () (f))\n  (lambda (a b) a))\n",
        ),
        ("(define-values\n(a b)\n(f))", "(define-values\n    (a b)\n  (f))\n"),
    ]);
    let [key, value] = ["k", "v"].map(|letter| letter.repeat(24));
    check(&[(
        &format!("(dictionary '{key} ({value} 1) '{key} 2 '{key} ({value} 3) '{key} 4)"),
        &format!("(dictionary '{key} ({value} 1) '{key} 2\n            '{key} ({value} 3) '{key} 4)\n"),
    )]);
}

#[test]
fn a_range_formats_the_forms_that_it_touches() {
    let text = "(f  a)\n(g\n b\n   c)\n(h  a)\n";
    let only = |first, last| format_lines(text, &(first..=last), &Macros::default()).expect("no error");
    assert_eq!(only(3, 3), "(f  a)\n(g\n  b\n  c)\n(h  a)\n");
    assert_eq!(only(5, 9), "(f  a)\n(g\n b\n   c)\n(h a)\n");
    assert_eq!(only(9, 9), text);
    assert_eq!(only(1, 5), formatted(text));
}

#[test]
fn a_range_is_formatted_as_the_whole_is() {
    let innermost = "(dynamic-wind (lambda () (note 'in)) (lambda () 9) (lambda () (note 'out)))";
    for depth in 0..40 {
        let form = format!("{}{innermost}{}\n", "(list a ".repeat(depth), ")".repeat(depth));
        let text = format!("{form}(h  a)\n");
        let ranged = format_lines(&text, &(1..=1), &Macros::default()).expect("no error");
        assert_eq!(ranged, format!("{}(h  a)\n", formatted(&form)), "{depth}");
    }
}

#[test]
fn a_comment_may_follow_a_directive_at_once() {
    check(&[
        ("(a #!fold-case;c\n)\n", "(a #!fold-case ;c\n  )\n"),
        ("#!fold-case;c\n(a)\n", "#!fold-case ;c\n(a)\n"),
    ]);
}

#[test]
fn a_text_with_an_error_is_refused() {
    for text in ["(f", "(f))", "\"a", "#| a", "(a . )", "#<x>"] {
        assert!(format(text, &Macros::default()).is_err(), "{text}");
    }
}

#[test]
fn deep_and_long_texts_are_formatted() {
    let depth = 20_000;
    for (open, close) in [
        ("(", ")"),
        ("(a ", ")"),
        ("(begin\n", ")"),
        ("'", ""),
        ("#;", "a "),
        ("(let ((a ", "))b)"),
    ] {
        let text = format!("{}x{}", open.repeat(depth), close.repeat(depth));
        if let Ok(once) = format(&text, &Macros::default()) {
            assert_eq!(tokens(&once), tokens(&text));
            assert_eq!(format(&once, &Macros::default()).expect("no error"), once, "{open}");
        }
    }
    let long = format!("(define x '({}))", "(word 1 \"text\") ".repeat(30_000));
    assert_eq!(tokens(&formatted(&long)).len(), tokens(&long).len());
}

/// A datum, a sign or a comment, and the blanks around it.
fn part() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        "[a-z]{1,9}",
        "[0-9]{1,12}",
        "\"[a-z\n ]{0,30}\"",
        Just("let".to_owned()),
        Just("define".to_owned()),
        Just("cond".to_owned()),
        Just("if".to_owned()),
        Just("else".to_owned()),
        Just("guard".to_owned()),
        Just("string-append".to_owned()),
        Just("export".to_owned()),
        Just("only".to_owned()),
        Just(":key".to_owned()),
        Just("#\\x".to_owned()),
        Just("@x".to_owned()),
        Just("|a b|".to_owned()),
        Just("; comment\n".to_owned()),
        Just("#| block\n  comment |#".to_owned()),
        Just("#;".to_owned() + "(x  y)"),
    ];
    let blank = prop_oneof![4 => Just(" "), 1 => Just("\n"), 1 => Just("\n\n\n"), 1 => Just("    ")];
    atom.prop_recursive(6, 120, 9, move |inner| {
        let opener = prop_oneof![6 => Just("("), 1 => Just("'("), 1 => Just("`("), 1 => Just(",@("), 1 => Just("#(")];
        (opener, prop::collection::vec((inner, blank.clone()), 0..9)).prop_map(|(opener, parts)| {
            let inside: String = parts.iter().flat_map(|(part, blank)| [part.as_str(), blank]).collect();
            format!("{opener}{inside})")
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn drawn_programs_keep_their_tokens(parts in prop::collection::vec(part(), 0..6)) {
        let text = parts.join("\n");
        check_tokens(&text, &text);
    }
}
