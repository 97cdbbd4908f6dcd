//! Changed texts leave alone: procedures that only look alike, calls that are under way, and
//! effects of a past.
//!
//! INVARIANT: what a frame has computed stays; a report says what becomes of each form.
//! Read next: `patch.rs`, `moving.rs`.

use crate::moving::edited;
use crate::support::desk::Desk;

/// Runs a program, with words for the command line, until it waits.
fn waiting(text: &str, edits: &[(&str, &str)], words: &str) -> Desk {
    let desk = Desk::new(&[("a.scm", text), ("b.scm", &edited(text, edits))]);
    desk.check(&format!("run a.scm {words}"), 4, "");
    desk
}

/// Patches the run and returns the report.
#[track_caller]
fn patch(desk: &Desk, words: &str) -> String {
    let said = desk.duet(&format!("patch a b.scm {words}"));
    assert_eq!(said.code, 0, "{}", said.errors);
    said.output
}

#[test]
fn a_handler_of_another_message_is_another_handler() {
    let text = "(on-message (refund $x)
  (if (equal? (await (user-input :prompt \"refund?\")) \"yes\") (begin (display (list 'refunded x)))))
(await (signal 'close))";
    let edits = [
        ("(refund $x)", "(charge $x)"),
        ("refund?", "charge?"),
        ("'refunded", "'charged"),
    ];
    let desk = waiting(text, &edits, "");
    desk.check("message a \"<refund 1>\"", 4, "");
    let report = patch(&desk, "");
    for line in [
        "not evaluated: expressions: 1 of the new text",
        "gone from the text, and kept: expression 1",
        "kept: main: fiber 1 in an unnamed procedure",
    ] {
        assert!(report.contains(line), "{line}:\n{report}");
    }
    desk.check("answer a yes", 4, "(refunded 1)");
    desk.replays("a");
}

#[test]
fn an_unnamed_procedure_takes_no_place_of_one_that_stood_beside_another_name() {
    let text = "(define table (list (cons 'a (lambda (x) (list 'a x))) (cons 'b (lambda (x) (list 'b x)))))
(let loop ()
  (await (user-input :prompt \"go?\"))
  (display (map (lambda (entry) ((cdr entry) (car entry))) table))
  (loop))";
    let a = "(cons 'a (lambda (x) (list 'a x)))";
    let b = "(cons 'b (lambda (x) (list 'b x)))";
    let desk = waiting(
        text,
        &[
            (b, "(cons 'c (lambda (x) (list 'c x)))"),
            (a, "(cons 'b (lambda (x) (list 'new x)))"),
        ],
        "",
    );
    patch(&desk, "");
    desk.check("answer a x", 4, "((a a) (new b))");
    let jobs = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))
(define (task name) (await (user-input :prompt name)))
(display (all-of (lambda () (let ((x (task \"a\"))) (list 'a x))) (lambda () (let ((x (task \"b\"))) (list 'b x)))))";
    let edits = [
        (
            "(let ((x (task \"b\"))) (list 'b x))",
            "(let ((x (task \"c\"))) (list 'c x))",
        ),
        (
            "(let ((x (task \"a\"))) (list 'a x))",
            "(let ((x (task \"b\"))) (list 'b x))",
        ),
    ];
    let desk = waiting(jobs, &edits, "");
    patch(&desk, "");
    desk.check("answer a 1", 4, "");
    desk.check("answer a 2", 0, "((a 1) (b 2))");
    desk.replays("a");
}

#[test]
fn a_call_that_is_under_way_keeps_its_arguments() {
    let text = "(define (approve) (await (user-input :prompt \"ok?\")))
(define (charge ok who cents) (display (list ok who cents)) (newline))
(define (pay who cents) (charge (approve) who cents))
(define (work) (pay 'ada 100) (display \"paid\"))
(work)";
    let desk = waiting(text, &[("(pay 'ada 100)", "(pay 'eve 900)")], "");
    let report = patch(&desk, "");
    assert!(
        report.contains("the new text passes something else for `who`"),
        "{report}"
    );
    desk.check("answer a yes", 0, "(yes ada 100)\npaid");
    // The call has taken its own argument already.
    let prompts = "(define (ask text) (await (user-input :prompt text)))
(define (work) (let ((x (ask \"one?\"))) (display (list 'old x))))
(work)";
    let desk = waiting(prompts, &[("one?", "two?"), ("'old", "'new")], "");
    patch(&desk, "--require-moved");
    desk.check("answer a yes", 0, "(new yes)");
    // A parameter that has become a variable has the literal that the call has passed.
    let text = "(define (q) (await (user-input :prompt \"q?\")))
(define (f n) (list n (q) n))
(define (work) (display (f 3)))
(work)";
    let desk = waiting(
        text,
        &[("(list n (q) n)", "(let ((x (q))) (set! n (+ n 1)) (list n x))")],
        "",
    );
    patch(&desk, "");
    desk.check("answer a A", 0, "(3 A 3)");
}

#[test]
fn a_given_value_is_not_overridden_by_an_argument_of_the_new_text() {
    let text = "(define (q) (await (user-input :prompt \"q?\")))
(define (f n) (list n (q)))
(define (work) (display (f 3)))
(work)";
    let edits = [
        ("(f n) (list n (q))", "(f n limit) (list n (q) limit)"),
        ("(f 3)", "(f 3 4)"),
    ];
    let desk = waiting(text, &edits, "");
    let given = patch(&desk, "--dry-run --let \"limit=(* n 10)\"");
    assert!(given.contains("so `--let` cannot give it"), "{given}");
    patch(&desk, "");
    desk.check("answer a A", 0, "(3 A 4)");
}

#[test]
fn the_report_names_what_is_gone_what_is_still_to_come_and_how_to_evaluate_the_rest() {
    let text = "(define (pay who) (await (user-input :prompt who)) (display (list 'paid who)))
(pay \"ada\")
(pay \"bob\")";
    let desk = waiting(text, &[("(pay \"ada\")", ""), ("(pay \"bob\")", "")], "");
    let report = patch(&desk, "");
    assert!(
        report.contains("gone from the text, and kept: expression 1, expression 2"),
        "{report}"
    );
    assert!(report.contains("the new text does not have the call"), "{report}");
    let text = "(on-message (order $x) (display (list 'got x)))
(await (signal 'close))
(define late 5)
(display (list late))";
    let edits = [
        ("'got", "'received"),
        ("late 5", "late 6"),
        ("(list late)", "(list 'late late)"),
    ];
    let desk = waiting(text, &edits, "");
    let report = patch(&desk, "");
    assert!(report.starts_with("changed: expression 1\nmoved"), "{report}");
    desk.check("message a \"<order 2>\"", 4, "(received 2)");
    desk.check("signal a close", 0, "(late 6)");
    desk.replays("a");
    let text = "(define rate 5)\n(let loop () (await (user-input :prompt \"q?\")) (display rate) (loop))";
    // The loop goes on in its new text.
    let desk = waiting(
        text,
        &[("rate 5", "rate 7"), ("(display rate)", "(display (+ rate 0))")],
        "",
    );
    let said = desk.duet("patch a b.scm");
    assert_eq!(
        said.output.lines().next(),
        Some("not evaluated: values: rate, whose values stay")
    );
    assert!(
        said.errors
            .contains("`duet patch a b.scm --run rate` evaluates rate, too"),
        "{}",
        said.errors
    );
    let report = patch(&desk, "--run rate");
    assert!(report.starts_with("evaluated: rate"), "{report}");
    assert!(!report.contains("not evaluated"), "{report}");
    // The run executes the text of the other file now.
    std::fs::write(desk.path("a.scm"), "").expect("a file");
    let answered = desk.duet("answer a x");
    assert_eq!((answered.code, answered.output.trim()), (4, "7"));
    assert!(!answered.errors.contains("has changed"), "{}", answered.errors);
}

#[test]
fn a_call_is_repeated_also_under_a_changed_text() {
    let text = "(define (effect x) (call-tool 'shop 'process/run
  (dictionary 'arguments (list \"sh\" \"-c\" (string-append \"echo \" x \" >> log\")))))
(define (serve n)
  (let ((x (await (user-input :prompt \"q?\")))) (effect x) (display (list n x)) (serve (+ n 1))))
(serve 0)";
    let desk = waiting(text, &[("(list n x)", "(list n x 'new)")], "--grant process/run");
    desk.check("answer a one", 4, "(0 one)");
    desk.check("goto a@1", 0, "");
    patch(&desk, "");
    desk.check("answer a one", 4, "(0 one new)");
    assert_eq!(std::fs::read_to_string(desk.path("log")).unwrap_or_default(), "one\n");
    desk.replays("a");
}

#[test]
fn a_call_is_repeated_also_after_a_restart() {
    let text = "(define (clerk name) (on-message (go $x) (call-tool 'shop 'process/run
  (dictionary 'arguments (list \"sh\" \"-c\" (string-append \"echo \" (symbol->string x) \" >> log\"))))))
(register-entity! 'clerk clerk)
(spawn-entity! 'clerk :config 1)
(await (signal 'close))";
    let desk = waiting(text, &[], "--grant process/run");
    let begun = desk.report("runs")[0]["turns"].as_u64().expect("turns") - 1;
    for _ in 0..2 {
        desk.check("message a \"<go one>\"", 4, "");
        desk.check(&format!("goto a@{begun}"), 0, "");
        desk.check("restart a main/clerk", 0, "");
    }
    desk.check("message a \"<go one>\"", 4, "");
    assert_eq!(std::fs::read_to_string(desk.path("log")).unwrap_or_default(), "one\n");
    desk.replays("a");
}

/// A procedure with two handlers, and a helper.
const HANDLERS: &str = "(define (helper) 1)
(define (start rate)
  (on-message (order $n) (display (list 'old n)) (newline))
  (on-message (ask $n) (display (list 'asked n)) (newline)))
(start 2)
(await (signal 'close))
";

#[test]
fn handlers_that_keep_old_code_are_in_the_report_with_their_places() {
    let captures = ("(list 'old n)", "(list 'new n rate)");
    let kept = "kept: main: 1 closure of `lambda in start` at a.scm:3: the new procedure uses other variables from \
                around it";
    let desk = waiting(HANDLERS, &[captures], "");
    let before = desk.duet("log a").output;
    let refused = desk.check("patch a b.scm --require-moved", 1, "");
    assert!(
        refused.errors.contains(&format!("{kept}; nothing has changed")),
        "{}",
        refused.errors
    );
    assert_eq!(desk.duet("log a").output, before);
    let found = desk.report("patch a b.scm --dry-run");
    assert_eq!(found["closures"][0]["procedure"], "`lambda in start` at a.scm:3");
    assert_eq!(
        (
            &found["closures"][0]["count"],
            found["closures"].as_array().map(Vec::len)
        ),
        (&1.into(), Some(1))
    );
    assert!(patch(&desk, "").contains(kept));
    desk.check("message a \"<order 1>\"", 4, "(old 1)\n");
    desk.check("stale a", 0, "main: 1 closure of `lambda in start` at a.scm:3\n");
    desk.replays("a");
}

#[test]
fn a_handler_that_the_new_text_does_not_have_is_kept_and_told() {
    let gone = ("(on-message (ask $n) (display (list 'asked n)) (newline))", "");
    let desk = waiting(HANDLERS, &[gone], "");
    let refused = desk.check("patch a b.scm --require-moved", 1, "");
    let kept = "kept: main: 1 closure of `lambda in start` at a.scm:4: the new text has no such procedure";
    assert!(refused.errors.contains(kept), "{}", refused.errors);
    assert!(patch(&desk, "").contains(kept));
    desk.check("message a \"<ask 1>\"", 4, "(asked 1)\n");
}

#[test]
fn a_definition_that_is_gone_leaves_no_closure_to_speak_of() {
    let desk = waiting(HANDLERS, &[("(define (helper) 1)\n", "")], "");
    let report = patch(&desk, "--require-moved");
    assert!(report.contains("gone from the text, and kept: helper"), "{report}");
    assert!(!report.contains("closure"), "{report}");
}

#[test]
fn the_process_that_executes_a_run_takes_a_text_on_and_its_call_stays_in_flight() {
    let call = "(call-tool 'c 'process/run (dictionary 'arguments\n\
                (list \"sh\" \"-c\" \"echo x >> calls; while ! test -e go; do sleep 0.02; done\")))";
    let text = format!("(define (show text) (display (list 'old text)) (newline))\n{call}\n(show 1)\n(show 2)\n");
    let manifest = "((program \"main.scm\") (tools process/run workspace/write workspace/read))";
    let desk = Desk::new(&[
        ("steps/manifest.scm", manifest),
        ("steps/main.scm", &text),
        (
            "steps/new.scm",
            &edited(&text, &[("'old", "'new"), ("(show 2)", "(show 3)")]),
        ),
        ("steps/broken.scm", "(define (show text"),
    ]);
    let child = desk.spawn("run steps");
    while !desk.path("calls").exists() {
        std::thread::yield_now();
    }
    let found = desk.report("patch steps steps/new.scm --dry-run");
    assert_eq!(
        (&found["turn"], &found["changed"][0]),
        (&serde_json::Value::Null, &"show".into())
    );
    assert_eq!(desk.duet("patch steps steps/broken.scm").code, 1);
    let patched = desk.report("patch steps steps/new.scm");
    assert_eq!(patched["turn"], serde_json::json!(2), "{patched}");
    std::fs::write(desk.path("go"), "").expect("a file");
    let ended = child.wait_with_output().expect("it ends");
    let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(
        shown,
        "(new 1)\n(new 3)\n",
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    assert_eq!(std::fs::read_to_string(desk.path("calls")).expect("a file"), "x\n");
    desk.replays("steps");
}
