//! The test harness, tested: script expectations, page examples and their comparison.
//!
//! Owns the proofs that a wrong answer fails and that an expectation nobody would check is refused.
//! INVARIANT: every kind of mismatch the harness can report is provoked here once.
//! It does not need the language; fakes stand for the evaluator and the command.
//! Read next: `support/expectation.rs`, `support/example.rs`.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::fs;
use std::path::PathBuf;

use crate::support::example::{Command, Example, PageFault, examples};
use crate::support::expectation::{Expectation, ScriptFault, steps};
use crate::support::page::{Page, lines_match};
use crate::support::script::{Evaluate, Raised, run};

fn check_steps(script: &str, expected: &[(usize, &str, Option<&str>)]) {
    let steps = steps(script).unwrap();
    let shown: Vec<(usize, &str, Option<String>)> = steps
        .iter()
        .map(|step| {
            let expectation = step.expectation.as_ref().map(|expectation| match expectation {
                Expectation::Value(value) => format!("=> {value}"),
                Expectation::Raises(kind) => format!("raises: {kind}"),
            });
            (step.line, step.text.as_str(), expectation)
        })
        .collect();
    let shown: Vec<_> = shown
        .iter()
        .map(|(line, text, answer)| (*line, *text, answer.as_deref()))
        .collect();
    assert_eq!(shown, expected, "{script}");
}

#[test]
fn an_expectation_belongs_to_the_expression_before_it() {
    check_steps("(+ 1 2) ; => 3", &[(1, "(+ 1 2)", Some("=> 3"))]);
    check_steps(
        "(define x 1)\nx ; => 1",
        &[(1, "(define x 1)", None), (2, "x", Some("=> 1"))],
    );
    check_steps(
        "(car\n '()) ; raises: type-error\n",
        &[(1, "(car\n '())", Some("raises: type-error"))],
    );
    check_steps("(f)\n; => 1\n", &[(1, "(f)", Some("=> 1"))]);
    check_steps("(f) (g) ; => 2", &[(1, "(f)", None), (1, "(g)", Some("=> 2"))]);
    check_steps(
        ";; About lists.\n'(1 . 2)   ; => (1 . 2)\n",
        &[(2, "'(1 . 2)", Some("=> (1 . 2)"))],
    );
}

#[test]
fn the_end_of_an_expression_is_found_in_every_lexical_context() {
    let texts = [
        "\"; => \\\" ) not an expectation\"",
        "#\\(",
        "#\\;",
        "(list #\\) #\\\" 'x)",
        "|odd ) ; symbol|",
        "#(1 2)",
        "#u8(1 2)",
        "#0=(a . #0#)",
        "'#'x",
        "`(a ,@(b) ,c)",
        "(a #| ) #| nested |# |# b)",
        "(a ; )\n b)",
        "(a #;(b) c)",
        "[a {b}]",
        "'()",
    ];
    for text in texts {
        check_steps(&format!("{text} ; => v"), &[(1, text, Some("=> v"))]);
    }
}

#[test]
fn discarded_data_are_no_expressions() {
    check_steps("#;(broken) #| and |# (f) ; => 1", &[(1, "(f)", Some("=> 1"))]);
    check_steps("#;#;a b (f) ; => 1", &[(1, "(f)", Some("=> 1"))]);
}

#[test]
fn an_expectation_that_would_be_ignored_is_refused() {
    let cases = [
        ("; => 1\n(f)", 1, ScriptFault::Orphan),
        ("(f)\n\n; => 1", 3, ScriptFault::Orphan),
        ("#;(f) ; => 1\n(g) ; => 2", 1, ScriptFault::Orphan),
        ("(f ; => 1\n)", 1, ScriptFault::Inside),
        ("' ; => 1\nx", 1, ScriptFault::Inside),
        ("(f) ; => 1\n; => 2", 2, ScriptFault::Twice),
        ("(f) ; =>", 1, ScriptFault::Empty),
        ("(f) ; raises:", 1, ScriptFault::Empty),
        ("(f)\n(g", 2, ScriptFault::Unfinished),
        ("(f) \"", 1, ScriptFault::Unfinished),
        ("\n#| ", 2, ScriptFault::Unfinished),
        ("(f)) ; => 1", 1, ScriptFault::Unopened),
        ("(f)", 1, ScriptFault::NothingExpected),
        ("", 1, ScriptFault::NothingExpected),
    ];
    for (script, line, fault) in cases {
        let error = steps(script).unwrap_err();
        assert_eq!((error.line, error.fault), (line, fault), "{script:?}");
    }
}

/// Answers from a table.
struct Fake(&'static [(&'static str, Result<&'static str, &'static str>)]);

impl Evaluate for Fake {
    fn evaluate(&mut self, text: &str) -> Result<String, Raised> {
        let (_, answer) = self.0.iter().find(|(expression, _)| *expression == text).unwrap();
        answer.map(str::to_owned).map_err(|kind| Raised {
            kind: kind.to_owned(),
            message: "as told".to_owned(),
        })
    }
}

const FAKE: &[(&str, Result<&str, &str>)] = &[("(three)", Ok("3")), ("(fail)", Err("type-error"))];

#[test]
fn a_script_passes_when_every_answer_is_as_written() {
    assert_eq!(
        run("(three) ; => 3\n(three)\n(fail) ; raises: type-error", &mut Fake(FAKE)),
        Ok(())
    );
}

#[test]
fn every_wrong_answer_of_a_script_is_reported() {
    let script = "(three) ; => 4\n(three) ; raises: type-error\n(fail) ; => 3\n(fail) ; raises: arity\n(fail)";
    let report = run(script, &mut Fake(FAKE)).unwrap_err();
    for line in 1..=5 {
        assert!(
            report.contains(&format!("line {line}:")),
            "line {line} is missing from {report}"
        );
    }
    assert!(report.contains("expected => 4\n       got => 3"), "{report}");
    assert!(
        report.contains("expected any value\n       got raises: type-error (as told)"),
        "{report}"
    );
}

#[test]
fn blocks_are_read_with_what_they_show() {
    let page = "Text.\n\n```scheme\n; file: a.scm\n(display 1) ; prints: 1\n; exits: 1\n```\n\n\
                ```text\nignored\n```\n\n  ```console\n  $ duet show 'a b' \"c\"\n  out\n  $ duet log\n  ```\n";
    let expected = [
        Example::Program {
            line: 3,
            text: "; file: a.scm\n(display 1) ; prints: 1\n; exits: 1\n".to_owned(),
            file: Some("a.scm".to_owned()),
            prints: vec!["1".to_owned()],
            exit_code: 1,
        },
        Example::Console {
            line: 13,
            commands: vec![
                Command {
                    words: ["duet", "show", "a b", "c"].map(str::to_owned).to_vec(),
                    output: vec!["out".to_owned()],
                },
                Command {
                    words: ["duet", "log"].map(str::to_owned).to_vec(),
                    output: vec![],
                },
            ],
        },
    ];
    assert_eq!(examples(page).unwrap(), expected);
}

#[test]
fn a_block_that_would_not_be_run_as_meant_is_refused() {
    let cases = [
        ("```shceme\n```", 1, PageFault::Language("shceme".to_owned())),
        ("\n```\n```", 2, PageFault::Language(String::new())),
        ("```scheme\n", 1, PageFault::Unclosed),
        ("```console\nout\n```", 2, PageFault::OutputFirst),
        ("```console\n$ ls\n```", 2, PageFault::NotDuet("ls".to_owned())),
        ("```scheme\n; exits: one\n```", 2, PageFault::ExitCode("one".to_owned())),
    ];
    for (page, line, fault) in cases {
        let error = examples(page).unwrap_err();
        assert_eq!((error.line, error.fault), (line, fault), "{page:?}");
    }
}

#[test]
fn an_ellipsis_stands_for_what_differs_between_runs() {
    let check = |shown: &str, lines: &str, expected: bool| {
        let shown: Vec<String> = shown.lines().map(str::to_owned).collect();
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines_match(&shown, &lines), expected, "{shown:?} {lines:?}");
    };
    check("a\nb", "a\nb", true);
    check("a", "a\nb", false);
    check("a\nb", "a", false);
    check("", "", true);
    check("…", "", true);
    check("…", "a\nb", true);
    check("…\nb", "a\nb\nb", true);
    check("a\n…\nc\n…\ne", "a\nc\nb\nc\nd\ne", true);
    check("a\n…\nc", "a\nb", false);
    check("turn … by …", "turn 7f by main", true);
    check("turn … by main", "turn 7f by other", false);
    check("a…b…c", "a-b-b-c", true);
    check("a…b…c", "a-c", false);
    check("ab…bc", "abc", false);
}

/// Writes a shell script that stands for `duet`: `run FILE` prints what follows `echo` in the file.
fn fake_duet(directory: &tempfile::TempDir) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = directory.path().join("duet");
    let script = "#!/bin/sh\ncase $1 in\nrun) sed -n 's/^(echo \\(.*\\)).*/\\1/p' \"$2\" ;;\n\
                  fail) echo wrong >&2; exit 3 ;;\nesac\n";
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_page_passes_only_if_the_command_does_what_it_shows() {
    let directory = tempfile::tempdir().unwrap();
    let duet = fake_duet(&directory);
    let check = |page: &str, complaint: Option<&str>| {
        let outcome = Page {
            duet: &duet,
            directory: directory.path(),
        }
        .run(page);
        match complaint {
            None => assert_eq!(outcome, Ok(())),
            Some(text) => assert!(
                outcome.as_ref().is_err_and(|report| report.contains(text)),
                "{page:?}: {outcome:?}"
            ),
        }
    };
    check("```scheme\n(echo hello) ; prints: hello\n```", None);
    check(
        "```scheme\n(echo hello) ; prints: goodbye\n```",
        Some("  | goodbye\nbut it was\n  | hello"),
    );
    check("```scheme\n(echo hello)\n```", Some("but it was\n  | hello"));
    check("```scheme\n(f) ; exits: 1\n```", Some("expected exit code 1, got 0"));
    check(
        "```scheme\n; file: a.scm\n(echo hello) ; prints: hello\n```\n```console\n$ duet run a.scm\nhello\n```",
        None,
    );
    check("```console\n$ duet fail now\nwr…\n[exit 3]\n```", None);
    check(
        "```console\n$ duet fail now\n…\n```",
        Some("  | …\nbut it was\n  | wrong\n  | [exit 3]"),
    );
    check("```console\n$ duet fail now\nwrong\n```", Some("$ duet fail now"));
}
