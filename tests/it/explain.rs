//! `duet explain`: the failure that came first, its inputs, the way there, and what helps.
//!
//! Each test is a faulty run whose right explanation stands before it in words.
//! INVARIANT: the failure that is named is the first that mattered, never one that only passed it
//! on.
//! Read next: `support/desk.rs`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use serde_json::Value;

use crate::support::desk::Desk;

const IMPORTS: &str = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents) \
                       (duet supervision))\n";

/// Runs a program as `p`, and requires these lines of its explanation, in this order.
#[track_caller]
fn check(program: &str, code: i32, lines: &[&str]) -> Desk {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}\n"))]);
    check_on(&desk, "run p.scm", code, lines);
    desk
}

#[track_caller]
fn check_on(desk: &Desk, run: &str, code: i32, lines: &[&str]) {
    let said = desk.duet(run);
    assert_eq!(said.code, code, "{said:?}");
    let told = desk.duet("explain p");
    assert_eq!(told.code, 0, "{told:?}");
    let whole = told.output + &told.errors;
    let mut rest = whole.as_str();
    for line in lines {
        let Some(at) = rest.find(line) else {
            panic!("{line:?} is missing in its place: {whole}\n{said:?}");
        };
        rest = &rest[at + line.len()..];
    }
}

fn json(desk: &Desk, line: &str) -> Value {
    serde_json::from_str(&desk.duet(&format!("{line} --json")).output).unwrap()
}

/// Right: `main` divided by zero in `price` on line 3, in the turn after it had written; it began
/// so in turn 1. Its variables help, and a mended program.
#[test]
fn an_error_of_the_program() {
    let desk = check(
        "(define (price sizes)
  (/ 12 (- (length sizes) 2)))
(display \"counting\") (newline)
(display (+ 1 (price '(4 5))))",
        1,
        &[
            "main failed in turn 2: divide-by-zero: /: division by zero\n",
            "  place    `price` at p.scm:3\n",
            "  inputs   begins (turn 1)\n",
            "  led by   p@1 main     begins ⇒ write \"counting\\n\"\n",
            "`duet frames p@2`",
            "`duet resume p --with FILE`",
        ],
    );
    let told = json(&desk, "explain p");
    assert_eq!(told["status"], "failed");
    assert_eq!(told["failure"]["cause"]["kind"], "program");
    assert_eq!(told["advice"][0]["commands"][0], "duet frames p@2");
}

/// Right: the gate refused `worker` the call of `process/run`, in the turn in which it began;
/// nobody had granted it. The supervisor in `main` only passed that on. The grant helps.
#[test]
fn a_refused_call_that_a_supervisor_passed_up() {
    check(
        "(define (worker c) (call-tool 'w 'process/run (dictionary 'arguments '(\"true\"))))
(register-entity! 'worker worker)
(supervise 'one-for-one (list (child 'worker :config 1)) :intensity 0)
(await (signal 'end))",
        1,
        &[
            "the gate refused worker 1 in turn 2 to call process/run true: ",
            "  inputs   begins\n",
            "  led by   p@1 main     begins ⇒ ",
            "  then     p@3 main     worker 1 failed: capability-denied",
            "`duet goto p@1`, then `duet resume p --grant process/run`",
        ],
    );
}

/// Right: the same supervisor tries three times; the refusal is the same each time, and the report
/// counts them.
#[test]
fn a_failure_that_came_again_and_again() {
    check(
        "(define (worker c) (vector-ref (vector) c))
(register-entity! 'worker worker)
(supervise 'one-for-one (list (child 'worker :config 7)) :intensity 2)
(await (signal 'end))",
        1,
        &[
            "worker 3 failed in turn ",
            "out-of-range",
            "  before   it had failed so 2 times, first in turn 2\n",
        ],
    );
}

/// Right: the second strand of `all-of` took an item that is not there, after its sleep; `main`,
/// which waits for both, only passes it on.
#[test]
fn an_error_under_all_of() {
    check(
        "(define (fetch n) (sleep n) (vector-ref (vector 1 2) n))
(display (all-of (lambda () (fetch 1)) (lambda () (fetch 5))))",
        1,
        &[
            "main failed in turn ",
            "out-of-range",
            "  place    `fetch` at p.scm:2\n",
            "  inputs   timer 5 ms",
            "`duet frames p@",
        ],
    );
}

/// Right: nobody answered the question `Who?` of turn 1 within 30 ms. To go back to before the time
/// was over, and to answer then, helps.
#[test]
fn a_question_that_nobody_answered() {
    check(
        "(display (call-with-timeout 30 (lambda () (await (user-input :prompt \"Who?\")))))",
        1,
        &[
            "nobody answered the question \"Who?\" of main in turn 1 within 30 ms\n",
            "`duet goto p@",
            "`, then `duet answer p TEXT`, answers while there is time\n",
        ],
    );
}

/// Right: the server `s` ends at once, so the call of its tool `echo`, made in turn 1, fails as
/// unavailable. To call again helps once the server works, and to try the server.
#[test]
fn a_server_that_fails() {
    let program = "(display (call-tool 'c \"s/echo\" (dictionary 'text \"hello\")))";
    let desk = Desk::new(&[
        ("p.scm", &format!("{IMPORTS}{program}\n")),
        ("config/duet/config.toml", "[servers.s]\ncommand = [\"false\"]\n"),
    ]);
    check_on(
        &desk,
        "run p.scm --allow-server s",
        1,
        &[
            "the call of s/echo by main in turn 1 failed: ",
            "  inputs   {text: \"hello\"}\n",
            "`duet goto p@0`, then `duet resume p --again`, makes the call again",
            "`duet servers s` starts that server",
        ],
    );
}

/// Right: nobody chose a provider, so the model was never asked; a provider helps, and nothing can
/// have happened twice.
#[test]
fn a_model_without_a_provider() {
    let program = "((program \"p.scm\") (tools model/chat))";
    let asks = format!("{IMPORTS}(display (ask (make-agent 'helper) \"Hello\"))\n");
    let desk = Desk::new(&[("p/manifest.scm", program), ("p/p.scm", &asks)]);
    let said = desk.check("run p", 1, "").errors;
    let way = "`duet goto p@0`, then `duet resume p --provider NAME`, ";
    assert!(said.contains(&format!("{way}calls it again\n")), "{said}");
    // The three lines do not repeat it.
    assert!(!said.contains("makes the call again"), "{said}");
    let told = desk.duet("explain p").errors;
    assert!(told.contains(&format!("{way}makes the call again\n")), "{told}");
}

/// Right: the run has ended; from a turn before its end only going back leads on.
#[test]
fn a_turn_before_the_end() {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}(display 1) (newline)\n(car '())\n"))]);
    desk.check("run p.scm", 1, "1\n");
    let told = desk.duet("explain p@1");
    let told = told.output + &told.errors;
    assert!(
        told.ends_with("`duet goto p@1`, then `duet resume p`, goes on from there\n"),
        "{told}"
    );
}

/// Right: `job` failed in the strand of turn 3, and `par-map` raised it again in turn 4; so the
/// variables of `job` are shown at turn 3.
#[test]
fn the_variables_of_a_failed_strand_are_shown_at_the_turn_that_raised() {
    let desk = check(
        "(define (job n) (let ((m (* n 2))) (sleep 1) (vector-ref (vector 1) m)))
(par-map job '(0 1))",
        1,
        &[
            "main failed in turn 4: out-of-range: ",
            "  place    `job` at p.scm:2\n",
            "`duet frames p@3` shows the variables there",
        ],
    );
    assert_eq!(json(&desk, "explain p")["failure"]["variables"], 3);
    let shown = "main/par-map 2 failed
  `job` at p.scm:2
    n = 1
    m = 2
";
    let told = desk.duet("frames p@3");
    assert!(told.output.starts_with(shown), "{told:?}");
    let told = desk.duet("why --variable m p@3");
    assert!(told.output.starts_with("m = 2 in `job`\n"), "{told:?}");
    assert_eq!(desk.duet("replay p --check").code, 0);
}

/// Right: the last attempt of the inner strand failed in `job`; two fibers raised it again.
#[test]
fn the_variables_of_a_strand_in_a_strand_are_shown() {
    let desk = check(
        "(define (job n) (let ((m (* n 2))) (sleep 1) (vector-ref (vector 1) m)))
(define (attempts) (with-retry (lambda () (job 4)) :attempts 2 :delay 1))
(all-of (lambda () (all-of attempts)))",
        1,
        &["  place    `job` at p.scm:2\n", "`duet frames p@"],
    );
    let turn = json(&desk, "explain p")["failure"]["variables"].clone();
    let told = desk.duet(&format!("frames p@{turn}"));
    assert!(
        told.output.contains("`job` at p.scm:2\n    n = 4\n    m = 8\n"),
        "{told:?}"
    );
}

/// Right: `job` raised the condition, and the handler of a guard raised it again: its variables are
/// kept if both happened in one turn.
#[test]
fn the_variables_are_those_of_the_first_raise() {
    let program = |between: &str| {
        format!(
            "(define (job n) (let ((m (* n 2))) (vector-ref (vector 1) m)))
(define (careful k) (guard (problem (#t {between} (raise problem))) (job k)))
(careful 3)"
        )
    };
    let desk = check(
        &program("'again"),
        1,
        &[
            "  place    `job` at p.scm:2\n",
            "`duet frames p@1` shows the variables there",
        ],
    );
    let told = desk.duet("frames p@1");
    assert!(
        told.output.contains("`job` at p.scm:2\n    n = 3\n    m = 6\n"),
        "{told:?}"
    );
    let desk = check(&program("(sleep 1)"), 1, &["  place    `job` at p.scm:2\n"]);
    let told = desk.duet("explain p");
    assert!(!told.errors.contains("shows the variables there"), "{told:?}");
}

/// Right: the program of a prompt is what is typed, so no changed file takes its place.
#[test]
fn a_text_that_failed_at_the_prompt() {
    let desk = Desk::new(&[]);
    let said = desk.feed("repl", "(car '())\n,explain\n");
    let told = said.output + &said.errors;
    assert!(told.contains("`,frames 2` shows the variables there"), "{told}");
    assert!(!told.contains("--with FILE"), "{told}");
}

/// Right: the reply that `main` asked of `adder` was an error of `adder`, which has no tool of that
/// name; `main` received it as a reply and raised it.
#[test]
fn an_error_that_a_reply_carries() {
    check(
        "(define (adder c)
  (reply-to 'add (lambda (n) (vector-ref (vector 1 2) n))))
(register-entity! 'adder adder)
(spawn-entity! 'adder)
(display (request 'add 9))",
        1,
        &[
            "adder 1 raised in turn 3, and told others: out-of-range: ",
            "  inputs   sees \"",
            "  then     p@4 main/race 1 heard <agent-reply ",
            "`duet resume p --with FILE`",
        ],
    );
}

/// Right: `main` would have gone on with the fact `done`, but `worker` failed before it asserted
/// that, and nothing took its failure.
#[test]
fn a_failure_that_nothing_took_and_that_others_wait_for() {
    check(
        "(define (worker c) (sleep 5) (car c) (assert! (record 'done c)))
(register-entity! 'worker worker)
(spawn-entity! 'worker :config 3)
(call-with-timeout 60 (lambda () (await (record 'done ':field 0 ':equals 3))))",
        1,
        &[
            "worker 1 failed in turn ",
            "wrong-type",
            "  place    `worker` at p.scm:2\n",
            "  inputs   timer 5 ms\n",
            "  also     ",
            "timeout",
        ],
    );
}

/// Right: it waits for a person since turn 1, who can answer; nothing failed.
#[test]
fn a_run_that_waits_for_a_person() {
    let desk = check(
        "(display (await (user-input :prompt \"Who?\")))",
        4,
        &[
            "p waits for a person since turn 1",
            "the question \"Who?\"",
            "  waits    main since turn 1",
            "`duet answer p TEXT`",
        ],
    );
    let told = json(&desk, "explain p");
    assert_eq!(
        (&told["status"], &told["failure"], &told["waits"][0]["since"]),
        (&"waiting".into(), &Value::Null, &1.into())
    );
}

/// Right: it waits for the signal `go`, which has not come, since turn 1.
#[test]
fn a_run_that_waits_for_a_signal() {
    check(
        "(await (signal 'go))",
        4,
        &[
            "p waits for a fact or a message from outside since turn 1",
            "go",
            "`duet signal p LABEL VALUE`",
        ],
    );
}

/// Right: nothing failed.
#[test]
fn a_run_that_finished() {
    let desk = check(
        "(display 1)",
        0,
        &["p finished in turn 1 with code 0; nothing failed\n"],
    );
    assert_eq!(json(&desk, "explain p")["status"], "finished");
}

/// Right: the program chose the code.
#[test]
fn a_run_that_ended_with_a_code_of_its_own() {
    check(
        "(import (scheme process-context)) (exit 3)",
        3,
        &["p ended in turn 1 with code 3, which the program chose\n"],
    );
}

/// Right: the first job failed too, but the program handled that; the failure that mattered is the
/// second, of turn 3 or later, with the same kind and message.
#[test]
fn a_failure_that_was_handled_is_not_the_first_of_one_like_it() {
    let desk = check(
        "(define (job n) (sleep n) (vector-ref (vector) n))
(guard (e (#t (display \"handled\") (newline))) (job 5))
(sleep 1)
(job 5)",
        1,
        &["main failed in turn ", "out-of-range", "  inputs   timer 5 ms\n"],
    );
    let told = json(&desk, "explain p");
    assert!(told["failure"]["turn"].as_u64().unwrap() > 3, "{told}");
}

#[test]
fn a_failed_run_ends_with_what_failed_first_its_inputs_and_what_helps() {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}(display (car '()))\n"))]);
    let said = desk.duet("run p.scm");
    let last: Vec<&str> = said.errors.lines().rev().take(3).collect();
    assert_eq!(
        last,
        [
            "  `duet explain p` says what led to it and what helps; `duet frames p@1` shows the variables there",
            "  inputs: begins",
            "first failure: main failed in turn 1: wrong-type: argument 1 of car must be a pair: ()",
        ],
        "{}",
        said.errors
    );
    let free = desk.duet("run p.scm --memory");
    assert!(!free.errors.contains("first failure"), "{}", free.errors);
}

#[test]
fn a_turn_that_failed_is_explained_wherever_the_run_is() {
    let desk = check(
        "(define (worker c) (car c))
(register-entity! 'worker worker)
(spawn-entity! 'worker :config 3 :on-exit (lambda (reason) (display \"taken\")))
(await (signal 'go))",
        4,
        &["p waits for a fact"],
    );
    let told = desk.duet("explain p@2").output;
    assert!(told.starts_with("worker 1 failed in turn 2: wrong-type"), "{told}");
}

/// Right: the program chose the code because of the assertion that failed.
#[test]
fn a_kept_test_whose_assertions_failed() {
    let test = "(import (scheme base) (srfi 64))
(test-begin \"t\")
(test-equal \"a\" 1 2)
(test-equal \"b\" 1 1)
(test-end)
";
    let desk = Desk::new(&[("one-test.scm", test)]);
    assert_eq!(desk.duet("test --keep").code, 1);
    let said = desk.duet("explain one-test");
    for told in [
        "one-test ended in turn 1 with code 1, which the program chose\n",
        "  reported t / a failed in turn 1: test-failed: the test failed",
    ] {
        assert!(said.output.contains(told), "{told:?}: {said:?}");
    }
    assert!(!said.output.contains("t / b"), "{said:?}");
    assert!(
        said.errors.contains("`duet show one-test@1` shows the turn"),
        "{said:?}"
    );
    assert_eq!(json(&desk, "explain one-test")["others"][0]["condition"], "test-failed");
}

/// Right: the first of three commands, in the strand `par-map 1`, ended with 3, which the program
/// found out itself and called an error later. The third, which ended last and well, only woke
/// `main`; the timer says nothing. Another end of the command helps.
#[test]
fn results_that_the_program_judges_itself() {
    let desk = Desk::new(&[
        ("p/manifest.scm", "((program \"p.scm\") (tools process/run))"),
        (
            "p/p.scm",
            "(import (scheme base) (scheme process-context) (duet base) (duet dataspace) (duet agents))
(define (go n)
  (let ((words (list \"sh\" \"-c\" (string-append \"exit \" (number->string n)))))
    (dictionary-ref (call-tool 'sh 'process/run (dictionary 'arguments words)) 'exit)))
(define codes
  (par-map (lambda (n) (sleep n) (go (if (= n 1) 3 0))) '(1 60 120)))
(define wanted (length (command-line)))
(when (= wanted 1) (sleep 1))
(when (= wanted 3) (exit 7))
(unless (equal? codes '(0 0 0)) (error \"some jobs failed\" codes))",
        ),
    ]);
    let row = "  failed   p@";
    check_on(
        &desk,
        "run p --name p",
        1,
        &[
            "main failed in turn ",
            "error: some jobs failed",
            row,
            "main/par-map 1 process/run sh -c \"exit 3\" → exit 3\n",
            "  inputs   timer 1 ms\n",
            "  woken by p@",
            "main/par-map 3 ",
            "`duet log p --failed` lists the calls that failed",
        ],
    );
    let told = json(&desk, "explain p");
    assert_eq!(told["failed_call"]["count"], 1);
    assert_eq!(told["failed_call"]["name"], "main/par-map 1");
    // Nothing came in between: the call is the input, not the strand that ended last.
    let said = desk.duet("run p --name q -- one");
    assert!(said.errors.contains("  failed before: q@"), "{said:?}");
    let told = desk.duet("explain q");
    assert!(
        told.output
            .contains("  inputs   process/run sh -c \"exit 3\" → exit 3 (turn "),
        "{told:?}"
    );
    let turn = json(&desk, "explain q")["failed_call"]["turn"].as_u64().unwrap();
    assert!(
        told.errors.contains(&format!("`duet amend q@{turn} INPUT`")),
        "{told:?}"
    );
    // A code of the program's own has no failure, but the call is named.
    assert_eq!(desk.duet("run p --name r -- one two").code, 7);
    let told = desk.duet("explain r");
    assert!(
        told.output
            .contains("with code 7, which the program chose\n  failed   r@"),
        "{told:?}"
    );
}

/// Right: thirty strands wait for a person, and the program for them; a screen has ten of these
/// waits, and the rest is counted.
#[test]
fn more_waits_than_a_screen_has() {
    let program = "(par-map (lambda (n) (await (user-input :prompt \"Size?\"))) (iota 30))";
    let desk = check(
        program,
        4,
        &[
            "p waits for a person",
            "  waits    … 21 more\n",
            "more is left out; `--all` shows it",
        ],
    );
    let rows = |line: &str| desk.duet(line).output.matches("  waits ").count();
    assert_eq!((rows("explain p --all"), rows("explain p --limit 3")), (31, 4));
    assert_eq!(json(&desk, "explain p")["waits"].as_array().map(Vec::len), Some(31));
}
