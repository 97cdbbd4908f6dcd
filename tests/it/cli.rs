//! The `duet` command, driven as a person drives it.
//!
//! Owns what only the whole shows: exit codes, which stream says what, messages, and a run's life
//! across processes.
//! INVARIANT: every test has a directory of its own, in which the journal appears.
//! It does not test the language, as `tests/scripts` does, nor each command, as its crate does.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command};

use crate::support::desk::Desk;

/// A program that calls a tool, asserts what it found, asks, and greets.
const GREETER: &[(&str, &str)] = &[
    (
        "greeter/manifest.scm",
        r#"((program "greeter.scm") (workspace (argument 1)) (tools workspace/read))"#,
    ),
    (
        "greeter/greeter.scm",
        r#"(define tag (invoke-tool! 'reader "workspace/read" (dictionary 'path "greeting.txt")))
(define found (await (tool-result :tag tag)))
(assert! (record 'found #t))
(define name (await (user-input :prompt "Your name?")))
(display "Hello, ")
(display name)
(newline)
"#,
    ),
    ("here/greeting.txt", "Hello"),
];

#[test]
fn a_script_reads_its_input_and_arguments_and_ends_with_its_code() {
    let desk = Desk::new(&[(
        "count.scm",
        r#"(import (scheme base) (scheme write) (scheme process-context))
(write (command-line))
(newline)
(let loop ((n 0))
  (if (eof-object? (read-line)) (begin (display n) (newline) (exit 7)) (loop (+ n 1))))
"#,
    )]);
    let said = desk.feed("run count.scm -- a --b", "x\ny\nz\n");
    assert_eq!(said.output, "(\"count.scm\" \"a\" \"--b\")\n3\n");
    assert_eq!((said.errors.as_str(), said.code), ("", 7));
    assert!(desk.path(".duet/journal.sqlite").exists());
    desk.feed("run count.scm", "");
    desk.check(
        "runs",
        0,
        "run      program    turns  state\n\
         count    count.scm      3  failed with code 7\n\
         count-2  count.scm      2  failed with code 7\n",
    );
}

#[test]
fn a_file_runs_without_a_command_and_all_words_are_its_own() {
    let desk = Desk::new(&[(
        "show.scm",
        "#!/usr/bin/env duet\n(write (command-line))\n(newline)\n(exit 3)\n",
    )]);
    let said = desk.check(
        "show.scm --name x --help",
        3,
        "(\"show.scm\" \"--name\" \"x\" \"--help\")\n",
    );
    assert_eq!(said.errors, "");
    let said = desk.check("shw.scm", 2, "");
    assert!(
        said.errors
            .starts_with("error: there is no command `shw.scm`, and no such file")
            && said.errors.contains("`duet help` lists the commands"),
        "{}",
        said.errors
    );
}

#[test]
fn a_program_uses_what_it_loads_and_evaluates() {
    let desk = Desk::new(&[
        (
            "helper.scm",
            "(define (twice x) (* 2 x))\n\
             (define-syntax swap! (syntax-rules () ((_ a b) (let ((t a)) (set! a b) (set! b t)))))\n",
        ),
        ("more.scm", "(load \"helper.scm\")\n(define more (twice 21))\n"),
        (
            "static.scm",
            "(load \"more.scm\")\n(define a 1)\n(define b more)\n(swap! a b)\n(write (list a b))\n",
        ),
        (
            "late.scm",
            "(define path (string-append \"hel\" \"per.scm\"))\n(load path)\n(write (twice 4))\n\
             (eval '(define z 5) (interaction-environment))\n\
             (set! z (+ z 1))\n(write (eval 'z (interaction-environment)))\n(load \"not-there.scm\")\n",
        ),
        (
            "unbound.scm",
            "(write (guard (e (#t (condition-kind e))) (lost 1)))\n(define (square x) (* x x))\n(sqare 2)\n",
        ),
    ]);
    let said = desk.check("run static.scm", 0, "(42 1)");
    assert_eq!(said.errors, "");
    let said = desk.check("run late.scm", 1, "86");
    assert!(said.errors.contains("there is no `not-there.scm`"), "{}", said.errors);
    let said = desk.check("run unbound.scm", 1, "undefined-variable");
    insta::assert_snapshot!("names_that_nothing_binds", said.errors);
}

#[test]
fn libraries_are_found_beside_the_program_then_in_the_folders_that_are_listed() {
    let library = |name: &str, value: &str| {
        format!("(define-library ({name}) (export value) (import (scheme base)) (begin (define value '{value})))")
    };
    let program = "(import (scheme base) (scheme write) (prefix (near) near-) (prefix (far away) far-)) \
                   (write (list near-value far-value))";
    let desk = Desk::new(&[
        ("home/program.scm", program),
        ("home/near.sld", &library("near", "beside")),
        ("listed/near.sld", &library("near", "elsewhere")),
        ("listed/far/away.sld", &library("far away", "listed")),
    ]);
    desk.check("run home/program.scm", 0, "(beside listed)");
    let said = desk.feed("repl --memory", "(import (far away)) value");
    assert_eq!(said.output, "listed\n");
    for folder in ["home", "listed"] {
        fs::remove_dir_all(desk.path(folder)).expect("it is there");
    }
    desk.check("replay --check program", 0, "identical: 1 turn\n");
}

#[test]
fn nothing_is_kept_of_a_run_in_memory() {
    let desk = Desk::new(&[("one.scm", "(display 1) (newline)")]);
    let said = desk.check("run one.scm --memory", 0, "1\n");
    assert_eq!(said.errors, "");
    assert!(!desk.path(".duet").exists());
}

#[test]
fn all_errors_of_a_text_are_shown_at_once() {
    let desk = Desk::new(&[
        (
            "syntax.scm",
            "(define (square x) (* x x))\n(define y (sqare 3))\n(if)\n(let ((a 1) (a 2)) a)\n(car 1 2)\n",
        ),
        ("open.scm", "(display 1))\n(display \"è\\q\")\n(display (list 1 2)\n"),
        (
            "macro.scm",
            "(define-syntax swap!\n  (syntax-rules ()\n    ((_ a b) (let ((t a)) (set! a b) (set! c t)))))\n\
             (define x 1)\n(define y 2)\n(swap! x y)\n(if)\n",
        ),
    ]);
    for (name, file) in [
        ("errors_of_forms", "syntax"),
        ("errors_of_reading", "open"),
        ("errors_of_a_macro", "macro"),
    ] {
        let said = desk.duet(&format!("run {file}.scm"));
        assert_eq!((said.output.as_str(), said.code), ("", 1), "{file}");
        insta::assert_snapshot!(name, said.errors);
    }
    assert!(!desk.path(".duet").exists(), "nothing was run");
    assert_eq!(desk.duet("runs").code, 1);
}

#[test]
fn an_uncaught_condition_names_the_place_and_the_turn_to_go_back_to() {
    let desk = Desk::new(&[(
        "wrong.scm",
        "(display \"before\")\n(newline)\n(define (head list)\n  (+ 1 (car list)))\n\
         (define (main) (head '()) 'done)\n(main)\n",
    )]);
    let said = desk.check("run wrong.scm", 1, "before\n");
    insta::assert_snapshot!("an_uncaught_condition", said.errors);
    desk.check("replay --check wrong", 0, "identical: 2 turns\n");
    assert_eq!(desk.duet("resume wrong").code, 1);
}

#[test]
fn a_backtrace_tells_lines_and_what_tail_calls_and_integrated_procedures_hide() {
    let desk = Desk::new(&[(
        "orders.scm",
        "(define (price order)
  (cdr (assq 'price order)))
(define (total orders)
  (let loop ((orders orders) (sum 0))
    (if (null? orders)
        sum
        (loop (cdr orders) (+ sum (price (car orders)))))))
(define (report customer)
  (string-append \"total: \" (number->string (total customer)) \"\\n\"))
(define (main customers)
  (for-each (lambda (customer) (display (report customer))) customers))
(main '((((price . 1)) ((price . 2))) (((price . 3)) ((cost . 4)))))
(newline)
",
    )]);
    let said = desk.check("run orders.scm", 1, "total: 3\n");
    insta::assert_snapshot!("a_backtrace", said.errors);
    let shown = desk.duet("show orders@2 --json").output;
    let frame = r#"{"procedure":"total","source":"orders.scm","start":"#;
    assert!(shown.replace([' ', '\n'], "").contains(frame), "{shown}");
}

#[test]
fn what_is_raised_is_placed_whether_or_not_the_program_has_printed() {
    for (printed, output) in [("", ""), ("(display 1) (newline) ", "1\n")] {
        for (raising, place) in [
            ("(error \"no\" 2)", "(error \"no\" 2)"),
            ("(raise 'no)", "(raise 'no)"),
            ("(define (f) (raise 'no)) (list (f))", "(raise 'no)"),
            ("(define (f) (list (error \"no\"))) (f)", "(error \"no\")"),
        ] {
            let text = format!("{printed}{raising}");
            let desk = Desk::new(&[("wrong.scm", &text)]);
            let said = desk.check("run wrong.scm", 1, output);
            let column = text.find(place).unwrap() + 1;
            assert!(
                said.errors.contains(&format!("wrong.scm:1:{column}\n")),
                "{text}: {}",
                said.errors
            );
            assert!(said.errors.contains("`(program)`"), "{text}: {}", said.errors);
            desk.check(
                "replay --check wrong",
                0,
                if output.is_empty() {
                    "identical: 1 turn\n"
                } else {
                    "identical: 2 turns\n"
                },
            );
        }
    }
}

#[test]
fn a_foreign_file_is_named_and_left_alone() {
    let desk = Desk::new(&[("notes.txt", "my notes\n"), ("one.scm", "(display 1)")]);
    for line in [
        "run one.scm --journal notes.txt",
        "log --journal notes.txt",
        "fsck --repair --journal notes.txt",
    ] {
        let said = desk.check(line, 1, "");
        assert!(
            said.errors
                .contains("notes.txt` is not a journal: it is not an SQLite database"),
            "{}",
            said.errors
        );
        assert_eq!(
            fs::read_to_string(desk.path("notes.txt")).expect("it is there"),
            "my notes\n"
        );
    }
}

#[test]
fn a_command_that_is_not_understood_says_the_right_form() {
    let desk = Desk::new(&[]);
    let mut all = String::new();
    for line in [
        "",
        "rnu one.scm",
        "run",
        "run one.scm --nam x",
        "run one.scm --name",
        "log a b",
        "show review@x",
        "fork review",
        "log --limit 0",
        "run one.scm --memory --journal x",
        "goto @1 --dry-run",
        "help rnu",
        "missing.scm",
    ] {
        let said = desk.duet(line);
        all.push_str(&format!("$ duet {line}\n{}[exit {}]\n", said.errors, said.code));
    }
    insta::assert_snapshot!("usage", all);
}

#[test]
fn help_completions_and_manual_pages_come_from_the_parser() {
    let desk = Desk::new(&[]);
    let list = desk.duet("help");
    assert_eq!((list.errors.as_str(), list.code), ("", 0));
    assert_eq!(desk.duet("--help").output, list.output);
    for command in list.output.lines().filter_map(|line| line.strip_prefix("  ")) {
        let command = command.split_whitespace().next().expect("a name");
        let help = desk.duet(&format!("help {command}"));
        assert_eq!((help.errors.as_str(), help.code), ("", 0), "{command}");
        assert!(
            help.output.contains(&format!("Usage: duet {command}")),
            "{}",
            help.output
        );
        assert_eq!(desk.duet(&format!("{command} --help")).output, help.output);
        assert!(desk.duet(&format!("{command} -h")).output.len() <= help.output.len());
    }
    for (topic, says) in [("address", "run/branch@turn"), ("exit-codes", "4    the run waits")] {
        let help = desk.duet(&format!("help {topic}"));
        assert_eq!((help.errors.as_str(), help.code), ("", 0), "{topic}");
        assert!(help.output.contains(says), "{}", help.output);
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = desk.duet(&format!("completions {shell}"));
        assert!(script.code == 0 && script.output.contains("with-secrets"), "{shell}");
    }
    desk.check("man pages/man1", 0, "");
    let page = fs::read_to_string(desk.path("pages/man1/duet-run.1")).expect("it is there");
    assert!(page.contains("headless"), "{page}");
    let version = desk.duet("--version");
    let begins = concat!("duet ", env!("CARGO_PKG_VERSION"), " (code ");
    assert!(
        version.code == 0 && version.output.starts_with(begins),
        "{}",
        version.output
    );
}

#[test]
fn a_run_waits_is_answered_and_can_be_taken_back() {
    let desk = Desk::new(GREETER);
    let said = desk.check("run greeter -- here", 4, "");
    assert_eq!(
        said.errors,
        "greeter waits for an answer: Your name?\n\
         `duet answer greeter TEXT` answers, `duet resume greeter` asks again\n"
    );
    desk.check(
        "waits",
        0,
        "wait 1     main     fiber 0 for the answer to request 1\nrequest 1  main     question \"Your name?\"\n",
    );
    desk.check("answer greeter Ada", 0, "Hello, Ada\n");
    assert_eq!(desk.duet("answer greeter Ada").code, 1);

    let said = desk.check("goto greeter@2", 0, "");
    assert!(
        said.errors.starts_with("greeter is at turn 2; it was at turn 3\n"),
        "{}",
        said.errors
    );
    desk.check("fork greeter@2 what-if", 0, "");
    desk.check("resume what-if --answer Bob", 0, "Hello, Bob\n");
    desk.check("replay --check greeter/what-if", 0, "identical: 3 turns\n");
    insta::assert_snapshot!("log_of_branches", desk.duet("log greeter").output);

    desk.check("goto greeter@3", 0, "");
    insta::assert_snapshot!("log_of_one_branch", desk.duet("log greeter/main").output);
    let facts = desk.duet("facts greeter@2").output;
    assert!(facts.starts_with("handle 0   main     <found #t>\n"), "{facts}");
    desk.check("fsck greeter", 0, "greeter: sound, 4 records\n");
}

#[test]
fn data_come_as_json_too() {
    let desk = Desk::new(&[("one.scm", "(display 1)\n(newline)\n")]);
    desk.check("run one.scm", 0, "1\n");
    for line in [
        "log", "show @1", "facts", "waits", "runs", "branches", "fsck", "replay", "tools",
    ] {
        let said = desk.duet(&format!("{line} --json"));
        let parsed: Result<serde_json::Value, _> = serde_json::from_str(&said.output);
        assert!(
            parsed.is_ok() && said.code == 0 && said.errors.is_empty(),
            "{line}: {said:?}"
        );
    }
    let shown: serde_json::Value = serde_json::from_str(&desk.duet("show @1 --json").output).expect("JSON");
    assert_eq!(shown["turn"], 1);
    let actions = shown["actions"].as_array().expect("an array");
    assert!(actions.iter().any(|action| action["kind"] == "write"), "{shown}");
}

/// Kills a child without warning, as a power cut would.
fn kill(mut child: Child) {
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let desk = Desk::new(&[(
        "talk.scm",
        "(display \"ready\")\n(newline)\n(define line (read-line))\n(display \"got \")\n(display line)\n(newline)\n",
    )]);
    let mut child = desk.spawn("run talk.scm");
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("a pipe"))
        .read_line(&mut first)
        .expect("a line");
    assert_eq!(first, "ready\n");
    kill(child);
    let said = desk.feed("resume", "word\n");
    assert_eq!((said.output.as_str(), said.code), ("got word\n", 0), "{}", said.errors);
    desk.check("replay --check", 0, "identical: 2 turns\n");
}

#[test]
fn a_program_that_prints_takes_few_turns_and_keeps_the_order_of_its_output() {
    let desk = Desk::new(&[
        (
            "lines.scm",
            "(do ((n 0 (+ n 1))) ((= n 60000)) (display n) (newline))\n(display \"tail\")\n(car '())\n",
        ),
        (
            "mixed.scm",
            "(display \"a\") (newline) (log! \"b\") (display \"c\") (display \"d\\n\" (current-error-port)) (exit 3)",
        ),
    ]);
    let said = desk.duet("run lines.scm");
    let lines: String = (0..60000).map(|n| format!("{n}\n")).collect();
    assert_eq!((said.output, said.code), (lines + "tail", 1));
    // 348,894 bytes are more than 262,144; then there is the end, and the failure has a turn of its
    // own.
    desk.check("replay --check lines", 0, "identical: 3 turns\n");

    let said = desk.check("run mixed.scm", 3, "a\nc");
    assert_eq!(said.errors, "log: b\nd\n");
    let shown: serde_json::Value = serde_json::from_str(&desk.duet("show mixed@1 --json").output).expect("JSON");
    let actions = shown["actions"].as_array().expect("actions");
    let kinds: Vec<&str> = actions.iter().filter_map(|action| action["kind"].as_str()).collect();
    assert_eq!(kinds, ["spawn-fiber", "write", "log", "write", "write", "yield"]);
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let desk = Desk::new(&[(
        "many.scm",
        "(let loop ((n 0)) (if (< n 400) (begin (display n) (newline) (loop (+ n 1)))))",
    )]);
    let mut child = desk.spawn("run many.scm");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut String::new()).expect("a line");
    drop(output);
    let done = child.wait_with_output().expect("duet ends");
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    assert!([Some(0), Some(130)].contains(&done.status.code()), "{:?}", done.status);

    let mut child = desk.spawn("log many");
    drop(child.stdout.take());
    let done = child.wait_with_output().expect("duet ends");
    assert_eq!(
        (String::from_utf8_lossy(&done.stderr).as_ref(), done.status.code()),
        ("", Some(0))
    );
}

#[test]
fn a_manifest_that_is_wrong_is_explained() {
    let desk = Desk::new(&[
        ("empty/other.scm", ""),
        ("typo/manifest.scm", "((programm \"a.scm\"))"),
        ("open/manifest.scm", "((program \"a.scm\")"),
    ]);
    for (folder, expected) in [
        ("empty", "the folder `empty` has no `manifest.scm`"),
        (
            "typo",
            "`typo/manifest.scm`: `programm` is none of program, workspace, tools",
        ),
        ("open", "this parenthesis is never closed"),
    ] {
        let said = desk.check(&format!("run {folder}"), 1, "");
        assert!(said.errors.contains(expected), "{}", said.errors);
    }
    assert!(
        !Path::new(&desk.path(".duet/journal.sqlite")).exists(),
        "a program that cannot be read leaves no journal"
    );
}

#[test]
fn a_script_reads_files_beside_it_and_writes_where_it_is_allowed() {
    let desk = Desk::new(&[
        (
            "home/read.scm",
            r#"(define (try thunk)
  (guard (e ((condition? e) (list (condition-kind e) (file-error? e)))) (thunk)))
(write (list (call-with-input-file "in.txt" read-line) (file-exists? "in.txt") (file-exists? "none")))
(write (map try (list (lambda () (open-input-file "none"))
                      (lambda () (open-binary-input-file "../secret"))
                      (lambda () (open-output-file "out.txt"))
                      (lambda () (delete-file "in.txt")))))
(newline)
"#,
        ),
        ("home/in.txt", "first\nsecond\n"),
        ("secret", "secret"),
        (
            "home/write.scm",
            r#"(import (scheme base) (scheme file) (scheme write) (scheme process-context))
(call-with-output-file "a.txt" (lambda (port) (write '(1 "ä") port)))
(define bytes (open-binary-output-file "d/b"))
(write-bytevector (bytevector 255 0) bytes)
(flush-output-port bytes)
(write-u8 1 bytes)
(close-port bytes)
(write (list (with-input-from-file "a.txt" read-line)
             (read-bytevector 9 (open-binary-input-file "d/b"))))
(newline)
(delete-file "a.txt")
(display "at the end" (open-output-file "left.txt"))
(exit 3)
"#,
        ),
    ]);
    desk.check(
        "run home/read.scm",
        0,
        "(\"first\" #t #f)((file-error #t) (file-error #t) (capability-denied #t) (capability-denied #t))\n",
    );
    fs::remove_file(desk.path("home/in.txt")).expect("it is there");
    assert!(desk.duet("replay --check read").output.starts_with("identical: "));

    fs::create_dir(desk.path("out")).expect("a folder");
    desk.check(
        "run home/write.scm --workspace out",
        3,
        "(\"(1 \\\"ä\\\")\" #u8(255 0 1))\n",
    );
    let left = fs::read_to_string(desk.path("out/left.txt")).expect("it is there");
    assert_eq!(left, "at the end");
    assert!(!desk.path("out/a.txt").exists());
}

#[test]
fn a_manifest_grants_variables_by_name() {
    let program = r#"(define (try thunk) (guard (e ((condition? e) (condition-kind e))) (thunk)))
(write (list (string? (get-environment-variable "PATH"))
             (get-environment-variable "DUET_IS_NOT_SET")
             (try (lambda () (get-environment-variable "HOME")))
             (map car (get-environment-variables))))
(newline)
"#;
    let all = r#"(write (equal? (cdr (assoc "PATH" (get-environment-variables))) (get-environment-variable "PATH")))"#;
    let desk = Desk::new(&[
        (
            "some/manifest.scm",
            r#"((program "a.scm") (tools environment/PATH environment/DUET_IS_NOT_SET))"#,
        ),
        ("some/a.scm", program),
        ("all/manifest.scm", r#"((program "a.scm") (tools environment/*))"#),
        ("all/a.scm", all),
    ]);
    desk.check("run some", 0, "(#t #f capability-denied (\"PATH\"))\n");
    desk.check("run all", 0, "#t");
    desk.check("replay --check all", 0, "identical: 3 turns\n");
}

/// Whether the system lets this processor run machine code is not for this test to say.
#[test]
fn machine_code_can_be_chosen_forbidden_and_looked_at() {
    const FIB: &str =
        "(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))\n(display (fib 20))\n(newline)\n";
    let desk = Desk::new(&[("fib.scm", FIB)]);
    desk.check("run --memory fib.scm", 0, "6765\n");
    desk.check("run --memory --no-native fib.scm", 0, "6765\n");
    for (native, code) in [("always", 0), ("never", 0), ("auto", 0), ("perhaps", 2)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        command.args(["run", "--memory", "fib.scm"]).current_dir(desk.path("."));
        let done = command.env("DUET_NATIVE", native).output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(code), "{native}: {errors}");
        assert_eq!(errors.contains("auto, always and never"), code == 2, "{errors}");
    }
    let plain = desk.feed("disassemble fib.scm", "").output;
    let native = desk.feed("disassemble --native fib.scm", "").output;
    let instructions: Vec<&str> = native.lines().filter(|line| !line.starts_with("       ")).collect();
    assert_eq!(instructions, plain.lines().collect::<Vec<_>>());
    let bytes = native.lines().filter(|line| line.starts_with("       "));
    assert!(bytes.count() > instructions.len(), "{native}");
}
