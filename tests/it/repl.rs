//! `duet repl`, driven through a pipe.
//!
//! Owns what only the whole shows: which stream says what, exit codes, and a session's life across
//! processes.
//! INVARIANT: every test has a directory of its own, in which the journal appears.
//! That a run replays between texts is tested where texts become turns, in the runtime.

mod comforts;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use tempfile::TempDir;

const DUET: &str = env!("CARGO_BIN_EXE_duet");

/// The output of a command.
struct CommandOutput {
    output: String,
    errors: String,
    code: i32,
}

struct Desk(TempDir);

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let desk = Self(TempDir::new().expect("a directory"));
        for (name, text) in files {
            fs::write(desk.0.path().join(name), text).expect("a file");
        }
        desk
    }

    fn feed(&self, line: &str, input: &str) -> CommandOutput {
        self.feed_with(line, input, &[])
    }

    /// Does the same with variables in the environment.
    fn feed_with(&self, line: &str, input: &str, variables: &[(&str, &OsStr)]) -> CommandOutput {
        let mut child = Command::new(DUET)
            .args(line.split(' '))
            .envs(variables.iter().copied())
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("duet starts");
        // A session may end without reading.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        let done = child.wait_with_output().expect("duet ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        CommandOutput {
            output: text(done.stdout),
            errors: text(done.stderr),
            code: done.status.code().unwrap_or(-1),
        }
    }

    /// Gives a command an input and compares its output; the command must succeed, and its run must
    /// replay.
    #[track_caller]
    fn check(&self, line: &str, input: &str, expected: &str) {
        let said = self.feed(line, input);
        assert_eq!(said.output, expected, "{input}\n{}", said.errors);
        assert_eq!(said.code, 0, "{input}\n{}", said.errors);
        if !line.contains("--memory") {
            let replayed = self.feed("replay --check", "");
            assert_eq!(replayed.code, 0, "{}", replayed.errors);
        }
    }

    /// Gives a command an input and requires its error messages to contain a text.
    #[track_caller]
    fn check_failure(&self, line: &str, input: &str, expected: &str) {
        let said = self.feed(line, input);
        assert!(
            said.errors.contains(expected),
            "{input}\n{}\n{}",
            said.output,
            said.errors
        );
        assert_eq!(said.code, 1, "{input}");
    }
}

#[test]
fn values_are_written() {
    let desk = Desk::new(&[]);
    for (input, expected) in [
        ("(+ 1 2)\n\"text\"\n'sym\n", "3\n\"text\"\nsym\n"),
        ("(define x 5)\n(if #f #f)\n(values)\n", ""),
        ("(values 1 2) 3\n", "1\n2\n3\n"),
        ("(define (f)\n  ; a comment\n  'long)\n(f)", "long\n"),
        ("(display \"hi\") (newline)\n", "hi\n"),
        ("\n\n; nothing\n", ""),
        ("(import (scheme r5rs))\n(exact->inexact 1/2)\n", "0.5\n"),
        (
            "(define-record-type point (make x) point? (x point-x))\n(point-x (make 3))\n",
            "3\n",
        ),
        (
            "(define k #f)\n(+ 1 (call/cc (lambda (c) (set! k c) 1)))\n(k 10)\n",
            "2\n11\n",
        ),
        ("(define x 1)\n(define (get) x)\n(define x 2)\n(get)\n", "2\n"),
    ] {
        desk.check("repl", input, expected);
        desk.check("repl --memory", input, expected);
    }
}

/// The rest of a text that still waits runs once, however others call its continuation.
#[test]
fn a_text_that_waits_is_left_by_itself_only() {
    let desk = Desk::new(&[]);
    for (leave, expected) in [
        ("(k 'early)", "(text #[go])\n"),
        ("(e 'early)", "(text #[go])\n"),
        ("(await (async (k 'early)))", "(text #[go])\n"),
        ("(race (lambda () (sleep 1) (e 'early)))", "(text #[go])\n"),
        ("(after 1 (lambda () (k 'early)))", "#<facet 1>\n(text #[go])\n"),
    ] {
        let input = format!(
            "(import (duet dataspace) (duet agents) (duet control))\n(define k #f)\n(define e #f)\n\
             (list 'text (let/ec out (set! e out) (call/cc (lambda (c) (set! k c) (await (signal 'go))))))\n\
             {leave}\n(sleep 5)\n(begin (signal! 'go) (values))\n"
        );
        let said = desk.feed("repl --memory", &input);
        assert_eq!(
            (said.output.as_str(), said.code),
            (expected, 1),
            "{leave}\n{}",
            said.errors
        );
        assert!(said.errors.contains("error[wrong-fiber]"), "{leave}\n{}", said.errors);
    }
}

/// The prompt is one place: a text that has ended may be entered again by whatever the prompt waits
/// for, as in the report.
#[test]
fn each_of_several_answers_in_a_row_is_for_a_question_of_its_own() {
    let desk = Desk::new(&[]);
    let input = "(import (duet dataspace) (duet agents))
(define (serve n)
  (let ((x (await (user-input :prompt \"N?\")))) (display (list n x)) (serve (+ n 1))))
(define fiber (spawn (lambda () (serve 0))))
,answer a
,answer b
,answer c
";
    let said = desk.feed("repl --memory", input);
    assert_eq!(said.output.trim(), "(0 a)(1 b)(2 c)", "{}", said.errors);
}

#[test]
fn a_text_that_has_ended_is_entered_again() {
    let desk = Desk::new(&[]);
    for again in [
        "(k 2)",
        "(race (lambda () (sleep 1) (k 2)))",
        "(await (async (k 2)))",
        "(call-with-timeout 1 (lambda () (sleep 9)) (lambda () (k 2)))",
    ] {
        let input = format!(
            "(import (duet dataspace) (duet agents) (duet control))\n(define k #f)\n\
             (list 'text (call/cc (lambda (c) (set! k c) 1)))\n{again}\n{again}\n"
        );
        desk.check("repl --memory", &input, "(text 1)\n(text 2)\n(text 2)\n");
    }
}

#[test]
fn forms_behind_one_that_fails_are_counted() {
    let desk = Desk::new(&[]);
    for (input, told) in [
        ("1 (car 2) 3 4\n", Some("the 2 forms after it were not evaluated")),
        ("(car 2) 3\n", Some("the form after it was not evaluated")),
        ("1 (car 2)\n", None),
        ("1 2 3\n", None),
    ] {
        let errors = desk.feed("repl --memory", input).errors;
        assert_eq!(
            errors.lines().find(|line| line.contains("after it")),
            told,
            "{input}\n{errors}"
        );
    }
}

#[test]
fn a_comma_command_without_its_comma_is_explained() {
    let desk = Desk::new(&[]);
    for (text, advice) in [
        ("help", "`,help` is the command to list the commands"),
        ("(quit)", "`,quit` is the command to leave"),
        ("exit", "`,quit` is the command to leave"),
    ] {
        let said = desk.feed("repl --memory", &format!("{text}\n"));
        assert!(said.errors.contains(advice), "{text}: {}", said.errors);
    }
    let said = desk.feed("repl --memory", "(define (help) 5)\n(help)\nno-such\n");
    assert!(!said.errors.contains(",help"), "{}", said.errors);
}

#[test]
fn names_of_libraries_that_are_not_imported_are_found_too() {
    let desk = Desk::new(&[]);
    let said = desk.feed(
        "repl --memory",
        "(define my-retry 1)\n,apropos -retry\n,apropos frobnicate\n",
    );
    assert_eq!(said.output, "my-retry\nwith-retry, in (duet agents)\n");
    assert!(said.errors.contains("no name contains `frobnicate`"), "{}", said.errors);
}

#[test]
fn the_log_says_what_was_typed() {
    let desk = Desk::new(&[]);
    let said = desk.feed("repl", "(define x\n  10)\n(display x)\n(car x)\n,log\n");
    let log: Vec<&str> = said.output.lines().filter(|line| line.contains("typed")).collect();
    assert_eq!(
        log,
        [
            "10@    4  [main] main     typed (car x) ⇒ \
             failed: wrong-type: argument 1 of car must be a pair: 10",
            "○    3  main     typed (display x) ⇒ write \"10\"",
            "○    2  main     typed (define x 10)",
        ],
        "{}",
        said.output
    );
}

#[test]
fn a_text_that_was_amended_and_fails_says_why() {
    let desk = Desk::new(&[]);
    let amended = desk.feed("repl", "(define x 1)\n,amend 2 (car 1)\n");
    assert!(
        amended.errors.contains("error[wrong-type]: argument 1 of car"),
        "{}",
        amended.errors
    );
    assert!(
        amended.errors.contains("`,show 2` shows the turn"),
        "{}",
        amended.errors
    );
    let amended = desk.feed("amend repl@2 (car)", "");
    assert!(amended.errors.contains("error["), "{}", amended.errors);
    assert_eq!(amended.code, 1);
}

/// Nothing of the run goes on before it is refused.
#[test]
fn the_run_of_a_program_is_refused_at_the_door() {
    let desk = Desk::new(&[("p.scm", "(define (sq x) (* x x))\n(write (sq 4))\n")]);
    assert_eq!(desk.feed("run p.scm", "").output, "16");
    let refused = desk.feed("repl p", "(sq 3)\n");
    assert!(
        refused.errors.contains("the program of p takes no texts"),
        "{}",
        refused.errors
    );
    assert_eq!(refused.code, 2, "{}", refused.errors);
    assert!(!desk.feed("log p", "").output.contains("not-interactive"));
}

#[test]
fn a_session_that_is_over_can_be_taken_back() {
    let desk = Desk::new(&[]);
    assert_eq!(desk.feed("repl", "(define x 5)\n(exit 3)\n").code, 3);
    let again = desk.feed("repl repl", "x\n,back\nx\n");
    assert_eq!(again.output, "5\n", "{}", again.errors);
    assert!(
        again.errors.contains("the session is over; `,back`"),
        "{}",
        again.errors
    );
    assert_eq!(again.code, 1, "{}", again.errors);
}

#[test]
fn programs_evaluate_data() {
    let definitions = "(define loaded 41)\n(define-syntax inc (syntax-rules () ((_ x) (+ x 1))))\n";
    let desk = Desk::new(&[("defs.scm", definitions)]);
    let kind = |form: &str| format!("(guard (c (#t (condition-kind c))) {form})");
    let here = "(interaction-environment)";
    for (input, expected) in [
        ("(eval '(* 7 3) (environment '(scheme base)))".to_owned(), "21\n"),
        (
            "(import (scheme r5rs))\n(let ((f (eval '(lambda (f x) (f x x)) (scheme-report-environment 5)))) (f + 10))"
                .to_owned(),
            "20\n",
        ),
        (
            "(import (scheme r5rs))\n(eval '(if #f 1 2) (null-environment 5))".to_owned(),
            "2\n",
        ),
        (
            "(eval '(p:+ 1 1) (environment '(prefix (only (scheme base) +) p:)))".to_owned(),
            "2\n",
        ),
        (format!("(eval '(define y 7) {here})\ny"), "7\n"),
        (
            format!("(eval '(define-syntax two (syntax-rules () ((_) 2))) {here})\n(two)"),
            "2\n",
        ),
        (
            format!("(eval '(begin (import (scheme r5rs)) (exact->inexact 1)) {here})"),
            "1.0\n",
        ),
        (format!("(eval ''|odd name| {here})"), "|odd name|\n"),
        (
            format!("(eval (list 'quote (let ((l (list 1 2))) (set-cdr! (cdr l) l) l)) {here})"),
            "#0=(1 2 . #0#)\n",
        ),
        (
            format!("(define (loop n) (if (= n 0) 'done (eval `(loop ,(- n 1)) {here})))\n(loop 100)"),
            "done\n",
        ),
        (kind("(eval '(if))"), "syntax-error\n"),
        (
            kind("(eval 'nowhere (environment '(scheme base)))"),
            "undefined-variable\n",
        ),
        (
            kind("(eval '(define x 1) (environment '(scheme base)))"),
            "syntax-error\n",
        ),
        (kind("(environment '(no such library))"), "syntax-error\n"),
        (kind("(eval (list car ''(1)))"), "syntax-error\n"),
        (kind("(eval '(car '()))"), "wrong-type\n"),
        ("(load \"defs.scm\")\n(inc loaded)".to_owned(), "42\n"),
        (kind("(load \"absent.scm\")"), "file-error\n"),
    ] {
        desk.check("repl", &input, expected);
    }
}

#[test]
fn a_program_evaluates_without_a_session() {
    let program =
        "(define x 1)\n(write (eval '(+ 1 2)))\n(eval '(define x 5))\n(write (eval 'x))\n(write x)\n(newline)\n";
    let desk = Desk::new(&[("program.scm", program)]);
    desk.check("run program.scm", "", "351\n");
}

#[test]
fn what_fails_leaves_nothing_behind() {
    let desk = Desk::new(&[]);
    for (input, expected) in [
        ("(begin (define z 1) (car '()))\nz\n", "z is not defined"),
        (
            "(if)\n",
            "this form should look like (if test consequent [alternative])",
        ),
        ("(display \"a", "error[syntax-error]"),
        (",nothing\n", "nothing"),
        ("(raise 'object)\n", "object"),
    ] {
        desk.check_failure("repl", input, expected);
    }
    let input = "(define l (list 1))\n(begin (set-car! l 2) (car '()))\n(car l)\n";
    let said = desk.feed("repl --memory", input);
    assert_eq!((said.output.as_str(), said.code), ("1\n", 1));
    let input = "(define-syntax m (syntax-rules () ((_) 1)))
        (begin (define-syntax m (syntax-rules () ((_) 2))) (car '()))
        (m)";
    let said = desk.feed("repl --memory", input);
    assert_eq!((said.output.as_str(), said.code), ("1\n", 1));
}

#[test]
fn a_session_is_continued_taken_back_and_forked() {
    let library = "(define-library (lib) (export twice) (import (scheme base)) (begin (define (twice x) (* 2 x))))";
    let desk = Desk::new(&[("lib.sld", library)]);
    desk.check(
        "repl --name s",
        "(define x 1)\n(import (lib))\n(define (f) (twice x))\n(f)\n",
        "2\n",
    );
    fs::remove_file(desk.0.path().join("lib.sld")).expect("it is there");
    desk.check("repl s", "(set! x 4)\n(f)\n", "8\n");
    desk.check("repl s", ",back 2\n(f)\n", "2\n");
    desk.check("repl s", ",fork other\n(set! x 10)\n(f)\n", "20\n");
    desk.check("repl s", "(f)\n", "2\n");
    desk.check("repl s", ",switch other\n(f)\n", "20\n");
    desk.check_failure("repl s", ",back 100\n", "texts to take back");
}

#[test]
fn a_session_is_a_program() {
    let desk = Desk::new(&[]);
    desk.feed(
        "repl --name s",
        "(define x 20)\n(begin (define y 1) (car '()))\n(begin (display (+ x 1))\n  (newline))\n",
    );
    let script = desk.feed("repl s --script", "").output;
    assert_eq!(script, "(define x 20)\n(begin (display (+ x 1))\n  (newline))\n");
    fs::write(desk.0.path().join("script.scm"), script).expect("a file");
    desk.check("run script.scm", "", "21\n");
}

#[test]
fn a_text_waits_while_others_are_evaluated() {
    let desk = Desk::new(&[]);
    let input =
        "(begin (await (signal 'go)) (display \"gone\") (newline))\n(define h (assert! (record 'go)))\n(+ 1 1)\n";
    desk.check("repl", input, "gone\n2\n");
    let said = desk.feed("repl", "(exit 3)\n(display 1)\n");
    assert_eq!((said.output.as_str(), said.code), ("", 3));
}

#[test]
fn a_form_is_shown_at_each_stage_and_nothing_of_it_stays() {
    let desk = Desk::new(&[]);
    desk.check(
        "repl --name s",
        "(define (f x) (or x 1))\n,expand (begin (define y 5) (f y))\n",
        "(define @y 5)\n(@f @y)\n",
    );
    let listed = desk.feed("repl s", ",disassemble f\n");
    assert!(listed.output.contains(": f, "), "{}{}", listed.output, listed.errors);
    let listed = desk.feed("repl s", ",disassemble (f 1)\n");
    assert!(listed.output.contains("@f"), "{}{}", listed.output, listed.errors);
    let listed = desk.feed("repl s", ",disassemble string-join\n");
    assert!(
        listed.output.contains("string-join"),
        "{}{}",
        listed.output,
        listed.errors
    );
    desk.check_failure("repl s", "y\n", "y");
    desk.check_failure("repl s", ",disassemble car\n", "a procedure of the machine");
    desk.check_failure("repl s", ",disassemble nothing\n", "is not bound");
    desk.check_failure("repl s", ",expand (if)\n", "(if test consequent");
    desk.check(
        "repl s",
        "(define-syntax m (syntax-rules () ((_) 1)))\n(m)\n(f #f)\n",
        "1\n1\n",
    );
}

#[test]
fn a_profile_is_the_same_each_time() {
    let desk = Desk::new(&[]);
    let text = "(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))\n,profile (fib 15)\n";
    let (first, second) = (desk.feed("repl", text), desk.feed("repl", text));
    assert_eq!((first.output.as_str(), first.code), ("610\n", 0), "{}", first.errors);
    assert!(first.errors.contains("fib, in "), "{}", first.errors);
    let table = |said: &CommandOutput| {
        said.errors
            .lines()
            .filter(|line| line.contains("fib, in"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(table(&first), table(&second));
}

#[test]
fn a_session_is_asked_about_its_past() {
    let desk = Desk::new(&[]);
    let texts = "(define x 1)\n(assert! (record 'job 1))\n(assert! (record 'other 2))\n(set! x 2)\n";
    desk.feed("repl --name s", texts);
    let facts = desk.feed("repl s", ",facts <job _>\n").output;
    assert!(facts.contains("<job 1>") && !facts.contains("<other"), "{facts}");
    assert_eq!(desk.feed("repl s", ",at @2 x\nx\n").output, "1\n2\n");
    desk.feed("repl s", "(assert! (record 'job 3))\n");
    let changed = desk.feed("repl s", ",diff\n").output;
    assert!(changed.contains("<job 3>") && !changed.contains("<job 1>"), "{changed}");
}

#[test]
fn a_slip_in_a_name_is_answered_with_names_like_it() {
    let desk = Desk::new(&[]);
    // The name is the error, not what its operands do.
    for operand in ["2", "(car 5)"] {
        let said = desk.feed("repl", &format!("(define (square x) (* x x))\n(squar {operand})\n"));
        assert!(
            said.errors
                .starts_with("error[undefined-variable]: squar is not defined\n"),
            "{}",
            said.errors
        );
        assert!(said.errors.contains("help: did you mean `square`?"), "{}", said.errors);
        assert!(!said.errors.contains("interaction"), "{}", said.errors);
    }
}

#[test]
fn the_past_is_changed_from_the_prompt() {
    let desk = Desk::new(&[]);
    desk.feed("repl --name s", "(define x 1)\n(assert! (record 'job x))\n");
    let said = desk.feed("repl s", ",when job\n,why job\n,replay\n").output;
    let why = "<job 1>\n  by (assert! (record 'job x)) at input 3:1\n  \
               1 ← literal in (define x 1) at input 2:1 in turn 2\ns@3 main     assert <job 1>";
    assert!(said.starts_with(&format!("s@3 main     + <job 1>\n{why}")), "{said}");
    assert!(said.ends_with("identical: 3 turns\n"), "{said}");
    assert_eq!(
        desk.feed(
            "repl s",
            ",amend 2 (define x 5)\n(assert! (record 'job x))\n,facts job\n"
        )
        .output,
        "#<handle 0>\nhandle 0   main     <job 5>\n"
    );
    assert_eq!(
        desk.feed("repl s/main", ",back\nx\n,undo\n,facts job\n").output,
        "1\nhandle 0   main     <job 1>\n"
    );
}

#[test]
fn an_entry_longer_than_a_slice_is_undone_as_one() {
    let desk = Desk::new(&[]);
    let long = "(begin (set! x 2) (let loop ((n 3000000)) (if (> n 0) (loop (- n 1)) (car 5))))\n";
    let said = desk.feed("repl", &format!("(define x 1)\n{long}x\n"));
    assert_eq!((said.output.as_str(), said.code), ("1\n", 1), "{}", said.errors);
    assert!(!said.errors.contains("before that turn stands"), "{}", said.errors);
}

#[test]
fn a_name_of_a_library_that_was_not_imported_is_answered_with_the_import() {
    let desk = Desk::new(&[]);
    let said = desk.feed(
        "repl --memory",
        "(async 1)\n(import (duet control))\n(await (async 1))\n",
    );
    assert!(
        said.errors
            .contains("help: `async` is in `(duet control)`: `(import (duet control))` brings it"),
        "{}",
        said.errors
    );
    assert!(said.output.ends_with("1\n"), "{}", said.output);
}

#[test]
fn a_short_name_that_nothing_resembles_gets_no_suggestion() {
    let desk = Desk::new(&[]);
    let said = desk.feed("repl --memory", "(g)\n");
    assert!(said.errors.contains("g is not defined"), "{}", said.errors);
    assert!(!said.errors.contains("did you mean"), "{}", said.errors);
}

#[test]
fn a_program_reads_the_lines_behind_the_text_that_reads() {
    let desk = Desk::new(&[]);
    desk.check("repl", "(read-line)\nfirst (line\n(+ 1 1)\n", "\"first (line\"\n2\n");
}

#[test]
fn a_failure_in_the_background_is_told_and_the_session_goes_on() {
    let desk = Desk::new(&[]);
    let input = "(define x 1)\n(spawn (lambda () (yield) (car '())))\n(+ x 1)\n(spawn (lambda () (exit 9)))\n(+ x 2)\n";
    let said = desk.feed("repl --name s", input);
    assert_eq!((said.output.as_str(), said.code), ("2\n3\n", 1), "{}", said.errors);
    assert!(
        said.errors.contains("argument 1 of car must be a pair"),
        "{}",
        said.errors
    );
    assert!(
        said.errors.contains("a background fiber called (exit 9)"),
        "{}",
        said.errors
    );
    desk.check("repl s", "(+ x 3)\n", "4\n");
}

#[test]
fn a_prompt_asks_the_models_that_its_session_was_granted() {
    let reply = "<returns {content: \"Hello.\", stop: \"end\", tool_calls: []}>";
    let desk = Desk::new(&[("d.pr", &format!("{{\"model/chat\": [{reply}]}}"))]);
    let texts = "(import (duet agents))\n(define-agent a)\n(ask a \"Hi\")\n,back\n";
    desk.check("repl --name asks --double d.pr", texts, "\"Hello.\"\n");
    // The double begins anew with each process.
    desk.check("repl asks --double d.pr", "(ask a \"Hi\")\n", "\"Hello.\"\n");
    desk.check_failure(
        "repl --name denied",
        texts,
        "the capability `model/chat` was not granted",
    );
}

#[test]
fn a_file_is_loaded_and_loaded_again() {
    let desk = Desk::new(&[("a \"b\".scm", "(define x (+ 1 (if (defined-twice?) 1 0)))\n")]);
    desk.check_failure("repl", ",reload\n", "nothing was loaded yet");
    let input = "(define times 0)\n(define (defined-twice?) (set! times (+ times 1)) (= times 2))\n\
                 ,load a \"b\".scm\nx\n,reload\nx\n";
    desk.check("repl", input, "1\n2\n");
    desk.check_failure("repl", ",load none.scm\n", "there is no `none.scm`");
}
