//! `duet test`, as a person uses it: which files it finds, what it says of each, and its codes.
//!
//! INVARIANT: every way in which a test can be wrong is reported, and none ends the others.
//! `tests/scripts/srfi/64.scm` tests the assertions. Read next: the page
//! `docs/src/testing-your-program.md`.

mod ends;

use serde_json::Value;

use crate::support::desk::Desk;
use crate::support::running::Running;

const BEGIN: &str = "(import (scheme base) (srfi 64) (scheme time) (duet base) (duet dataspace))\n(test-begin \"t\")\n";

/// Runs one test with a body after the imports, and requires that the report has these texts.
#[track_caller]
fn check(body: &str, code: i32, told: &[&str]) {
    check_text(&format!("{BEGIN}{body}\n"), "test one-test.scm", code, told);
}

#[track_caller]
fn check_text(text: &str, line: &str, code: i32, told: &[&str]) {
    let desk = Desk::new(&[("one-test.scm", text)]);
    let said = desk.duet(line);
    assert_eq!(said.code, code, "{}{}", said.output, said.errors);
    for told in told {
        assert!(
            said.output.contains(told),
            "{told:?} is not in\n{}{}",
            said.output,
            said.errors
        );
    }
    assert!(!desk.path(".duet").exists(), "nothing is kept");
}

#[test]
fn tests_are_found_by_name_and_by_import_below_a_folder() {
    let test = format!("{BEGIN}(test-equal \"a\" 1 1)");
    let desk = Desk::new(&[
        ("b-test.scm", &test),
        ("deep/er/suite.scm", &test),
        ("deep/program.scm", "(import (scheme base)) (car 1)"),
        (".hidden/c-test.scm", &test),
    ]);
    desk.check(
        "test",
        0,
        "ok   b-test.scm (1 passed)\nok   deep/er/suite.scm (1 passed)\n\n2 passed, 0 failed; 2 files\n",
    );
    desk.check(
        "test deep/er -v",
        0,
        "ok   deep/er/suite.scm (1 passed)\n  ok t / a\n\n1 passed, 0 failed; 1 file\n",
    );
    assert!(!desk.path(".duet").exists());
}

#[test]
fn a_file_that_fails_as_a_whole_is_reported_whatever_is_chosen() {
    let two = "(test-equal \"apple\" 1 1)\n(test-equal \"pear\" 1 1)\n";
    let sound = format!("{BEGIN}{two}");
    for (fault, told) in [
        ("(car 5)", "outside an assertion"),
        ("(car 5", "this parenthesis is never closed"),
        ("(import (nowhere))", "there is no library (nowhere)"),
        ("(import (scheme process-context))\n(exit 0)", "it called `(exit)`"),
        (
            "(import (duet test))\n(script-tool! \"a/b\")\n(guard (e (#t 0)) (call-tool 'x \"a/b\" 1))",
            "no reply",
        ),
        ("(test-begin \"announced\" 3)", "another number of tests"),
    ] {
        let faulty = format!("{BEGIN}{two}{fault}");
        let desk = Desk::new(&[("a-test.scm", &sound), ("b-test.scm", &faulty), ("c-test.scm", BEGIN)]);
        let said = desk.duet("test -k pear a-test.scm b-test.scm");
        assert_eq!(said.code, 1, "{fault}: {}", said.output);
        for told in ["ok   a-test.scm (1 passed)", "FAIL b-test.scm", told] {
            assert!(
                said.output.contains(told),
                "{fault}: {told:?} is not in\n{}",
                said.output
            );
        }
        assert!(!said.output.contains("apple"), "{}", said.output);
        let said = desk.duet("test -k nothing c-test.scm");
        assert!(
            said.code == 1 && said.output.contains("no assertions"),
            "{}",
            said.output
        );
    }
}

#[test]
fn no_test_is_an_error_of_the_command_line() {
    let desk = Desk::new(&[
        ("a.scm", "1"),
        ("b-test.scm", "(import (srfi 64)) (test-begin \"x\") (test-assert #t)"),
    ]);
    for (line, told) in [
        ("test nowhere", "there is no file or folder `nowhere`"),
        ("test -k never", "no file and no assertion has `never` in its name"),
        ("test --timeout 0", "more than 0 seconds"),
        ("test --timeout soon", "expected a number of seconds"),
    ] {
        let said = desk.check(line, 2, "");
        assert!(said.errors.contains(told), "{line}: {}", said.errors);
    }
    let said = Desk::new(&[("a.scm", "1")]).check("test", 2, "");
    assert!(said.errors.contains("`-test.scm`"), "{}", said.errors);
}

#[test]
fn a_failure_has_its_place_both_values_and_their_difference() {
    check(
        "(test-equal \"parts\" '(1 (2 3)) (list 1 (list 2 4)))",
        1,
        &[
            "error[t / parts]: the value is another one\n --> one-test.scm:3:1\n",
            "  expected (1 (2 3))\n  actual   (1 (2 4))\n  differs  element 1, element 1: 3 is expected, 4 came\n",
        ],
    );
    check(
        "(test-equal \"code\" car cdr)",
        1,
        &["  expected #<procedure car>\n  actual   #<procedure cdr>\n"],
    );
    check(
        "(test-error \"none\" 'no-such 1)",
        1,
        &["expected the error no-such, but it raised nothing"],
    );
    check(
        "(test-error (car '(1)))",
        1,
        &["expected an error, but it raised nothing"],
    );
    check(
        "(test-approximate \"near\" 1.0 1.5 0.1)",
        1,
        &["expected 1.0", "actual   1.5", "one-test.scm:3:1"],
    );
    check(
        "(test-assert \"raises\" (car 1))",
        1,
        &["it raised wrong-type: argument 1 of car"],
    );
    for object in ["'oops", "42", "\"text\""] {
        check(
            &format!("(test-equal \"raises\" 1 (raise {object}))"),
            1,
            &[&format!("it raised {}\n", object.trim_start_matches('\''))],
        );
    }
    check(
        "(test-begin \"two\" 2)\n(test-assert #t)\n(test-end)",
        1,
        &["another number of tests than it announces"],
    );
}

#[test]
fn what_a_test_prints_is_shown_if_it_fails() {
    check(
        "(display \"said\")\n(test-assert #f)",
        1,
        &["output of one-test.scm:\n  said\n"],
    );
    let desk = Desk::new(&[("one-test.scm", &format!("{BEGIN}(display \"said\")\n(test-assert #t)"))]);
    desk.check(
        "test",
        0,
        "ok   one-test.scm (1 passed)\n\n1 passed, 0 failed; 1 file\n",
    );
}

#[test]
fn a_file_that_tests_nothing_or_not_all_has_failed() {
    check("", 1, &["no assertions: nothing was tested"]);
    check(
        "(test-assert #t)\n(define (f) (car 5))\n(f)",
        1,
        &["wrong-type: argument 1 of car must be a pair: 5, outside an assertion\n --> one-test.scm:4:13"],
    );
    check_text(
        "(import (scheme base) (scheme process-context) (srfi 64)) (test-begin \"t\") (test-assert #t) (exit 0)",
        "test",
        1,
        &["it called `(exit)` with the code 0, so what comes after it is not tested\n --> one-test.scm:1:"],
    );
    check_text(
        "(import (scheme base) (scheme process-context) (srfi 64)) (test-begin \"t\")\n(test-equal 1 (exit 0))",
        "test",
        1,
        &[
            "it called `(exit)` with the code 0 before the end of any assertion: nothing was tested",
            " --> one-test.scm:2:",
        ],
    );
    check_text(
        "(import (scheme base)\n",
        "test",
        1,
        &["this parenthesis is never closed", "one-test.scm:1:1"],
    );
    check(
        "(await (user-input :prompt \"Who?\"))",
        1,
        &["it asks a person", "one-test.scm:3:1"],
    );
}

#[test]
fn a_test_that_hangs_is_stopped_and_its_place_told() {
    let spinning = format!("{BEGIN}(define (spin n)\n  (spin (+ n 1)))\n(test-equal 1 (spin 0))");
    let told = ["its time is over: 0.3 s", "one-test.scm:4:3"];
    check_text(&spinning, "test --timeout 0.3", 1, &told);
    let sleeping = format!("{BEGIN}(define (rest)\n  (sleep 1000000)\n  1)\n(test-equal 1 (rest))");
    check_text(&sleeping, "test --timeout 0.3 --real-time", 1, &told);
}

#[test]
fn what_cannot_be_read_fails_and_ends_no_other_file() {
    let desk = Desk::new(&[
        ("bytes-test.scm", ""),
        (
            "a.sld",
            "(define-library (a) (export x) (import (scheme base) (b)) (begin (define x 1)))",
        ),
        (
            "b.sld",
            "(define-library (b) (export y) (import (scheme base) (a)) (begin (define y 1)))",
        ),
        (
            "circle-test.scm",
            "(import (scheme base) (srfi 64) (a)) (test-begin \"t\") (test-assert x)",
        ),
        (
            "macro-test.scm",
            "(import (scheme base) (srfi 64))\n(define-syntax spin (syntax-rules () ((_ x) (spin x))))\n(spin 1)",
        ),
        ("sound-test.scm", &format!("{BEGIN}(test-assert \"it\" #t)")),
    ]);
    std::fs::write(desk.path("bytes-test.scm"), b"(import (srfi 64)) \xff").expect("a file");
    let said = desk.duet("test");
    assert_eq!(said.code, 1);
    for told in [
        "FAIL bytes-test.scm",
        "is not UTF-8 text",
        "libraries import each other in a circle",
        "macros expand to more than",
        "ok   sound-test.scm (1 passed)\n",
        "1 passed, 3 failed; 4 files\n",
    ] {
        assert!(said.output.contains(told), "{told:?} is not in\n{}", said.output);
    }
}

#[test]
fn a_year_of_timers_takes_no_time_and_all_clocks_share_it() {
    check(
        "(define year (* 365 24 60 60 1000))
(define ms (current-time))
(define seconds (current-second))
(sleep year)
(test-equal \"milliseconds\" year (- (current-time) ms))
(test-assert \"seconds\" (>= (- (current-second) seconds) (/ year 1000)))
(for-each sleep '(1 20 400))
(test-equal \"no more\" (+ year 421) (- (current-time) ms))",
        0,
        &["3 passed, 0 failed"],
    );
}

#[test]
fn what_was_asserted_before_a_failure_is_reported() {
    check(
        "(test-assert \"first\" #t)\n(test-equal \"second\" 1 2)\n(test-skip 1)\n(test-assert \"third\" #t)
(error \"in the middle\")\n(test-assert \"fourth\" #t)",
        1,
        &[
            "(2 of 4 failed)",
            "error[t / second]: the value is another one",
            "in the middle, outside an assertion",
            "1 passed, 2 failed, 1 skipped; 1 file",
        ],
    );
    check(
        "(test-assert \"first\" #t)\n(car '())",
        1,
        &["(1 of 2 failed)", "1 passed, 1 failed; 1 file"],
    );
}

#[test]
fn a_kept_run_is_in_the_journal_and_replays() {
    let desk = Desk::new(&[("one-test.scm", &format!("{BEGIN}(test-equal \"a\" 1 2)"))]);
    let said = desk.duet("test --keep");
    assert!(said.output.contains("`duet explain one-test`"), "{}", said.output);
    assert_eq!(desk.duet("replay one-test").code, 0);
    assert_eq!(
        desk.duet("run one-test.scm --memory").code,
        1,
        "and elsewhere it is an ordinary program"
    );
}

#[test]
fn results_are_json_lines_and_junit() {
    let desk = Desk::new(&[(
        "one-test.scm",
        &format!("{BEGIN}(test-equal \"<a>\" 1 2)\n(test-assert \"b\" #t)"),
    )]);
    let said = desk.duet("test --json --junit out.xml");
    let lines: Vec<Value> = said
        .output
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let schema: Value = serde_json::from_str(&desk.duet("schema test").output).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for line in &lines {
        assert!(validator.validate(line).is_ok(), "{line}");
    }
    assert!(validator.validate(&Value::from("x")).is_err());
    let member = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<_>>();
    assert_eq!(member("kind"), ["check", "check", "file", "counts"]);
    assert_eq!(lines[0]["line"], 3);
    assert_eq!((&lines[0]["expected"], &lines[0]["actual"]), (&"1".into(), &"2".into()));
    assert_eq!((&lines[3]["passed"], &lines[3]["failed"]), (&1.into(), &1.into()));
    let xml = std::fs::read_to_string(desk.path("out.xml")).expect("it is written");
    assert!(
        xml.contains("name=\"t / &lt;a&gt;\"><failure message=\"the value is another one\">"),
        "{xml}"
    );
}

#[test]
fn recorded_answers_serve_by_what_is_asked_and_an_unrecorded_call_fails() {
    let drawing = |below: u64| format!("{BEGIN}(test-equal \"drawn\" 7 (random {below}))");
    let answers = "{\"chance/integer\": [<asked {below: 1000000} <returns 7>>]}";
    let desk = Desk::new(&[("one-test.scm", &drawing(1_000_000)), ("one-test.answers", answers)]);
    desk.check(
        "test",
        0,
        "ok   one-test.scm (1 passed)\n\n1 passed, 0 failed; 1 file\n",
    );
    assert_eq!(
        desk.duet("test --live chance/integer").code,
        1,
        "the real tool draws another number"
    );
    std::fs::write(desk.path("one-test.scm"), drawing(2_000_000)).expect("a file");
    let said = desk.duet("test");
    let told = "no answer to {below: 2000000} is left; the nearest is to {below: 1000000}";
    assert!(said.code == 1 && said.output.contains(told), "{}", said.output);
    std::fs::write(desk.path("one-test.answers"), "{\"http/get\": []}").expect("a file");
    let said = desk.duet("test");
    assert!(
        said.output.contains("no answer of `chance/integer` is recorded"),
        "{}",
        said.output
    );
    std::fs::write(desk.path("one-test.answers"), "[").expect("a file");
    let said = desk.duet("test");
    assert!(
        said.output.contains("`one-test.answers` has no recorded answers"),
        "{}",
        said.output
    );
}

#[test]
fn answers_are_recorded_beside_the_test() {
    let text = format!(
        "{BEGIN}(define one (random 1000000000))\n(define time (current-time))\n\
         (define other (random 1000000000))\n(test-assert \"drawn\" one)\n(display (list one other))\n(test-assert #f)"
    );
    let desk = Desk::new(&[("one-test.scm", &text)]);
    let recorded = desk.duet("test --record").output;
    let answers = std::fs::read_to_string(desk.path("one-test.answers")).expect("it is written");
    assert_eq!(
        answers
            .matches("<asked {below: 1000000000}\n     <by \"main\" \"\"\n      <returns ")
            .count(),
        2,
        "{answers}"
    );
    assert!(!answers.contains("clock/"), "the clock of a test is virtual: {answers}");
    assert_eq!(
        desk.duet("test").output,
        recorded,
        "both numbers come again, in the same order"
    );
    let used = desk.duet("run one-test.scm --double one-test.answers --memory");
    assert_eq!(used.code, 1, "the file is a script of doubles: {}", used.errors);
}

/// A file of answers by who asks.
const BY: &str = "{\"chance/integer\": [<asked {below: 9} <by \"main\" \"b\" <returns 2>>>
  <asked {below: 9} <by \"main\" \"a\" <returns 1>>> <asked {below: 9} <by \"main/w\" \"a\" <returns 3>>>]}";

const TWO: &str = "(define (a) (random 9))\n(define (b) (random 9))\n";

#[test]
fn a_recorded_answer_is_for_the_actor_and_preferably_the_definition_that_asked() {
    let check = |body: &str, code: i32, told: &str| {
        let text = format!("{BEGIN}{TWO}{body}");
        let desk = Desk::new(&[("one-test.scm", &text), ("one-test.answers", BY)]);
        let said = desk.duet("test");
        assert!(
            said.code == code && said.output.contains(told),
            "{told:?}\n{}",
            said.output
        );
    };
    check(
        "(test-equal '(1 2) (let* ((x (a)) (y (b))) (list x y)))",
        0,
        "1 passed, 0 failed",
    );
    let renamed = "(define (c) (random 9))\n(test-equal '(1 2) (let* ((x (a)) (y (c))) (list x y)))";
    check(renamed, 0, "1 passed, 0 failed");
    check(
        "(test-assert (list (a) (b) (a)))",
        1,
        "no answer to {below: 9} by main in a is left; the nearest is to {below: 9} by main/w in a",
    );
}

#[test]
fn a_strict_test_names_the_recorded_answers_that_nobody_asked_for() {
    let text = format!("{BEGIN}{TWO}(test-equal 1 (a))");
    let desk = Desk::new(&[("one-test.scm", &text), ("one-test.answers", BY)]);
    assert_eq!(desk.duet("test").code, 0, "nobody has asked for strictness");
    let said = desk.duet("test --strict");
    let told = "error[one-test.scm]: 2 recorded answers were not used
  chance/integer {below: 9} by main in b
  chance/integer {below: 9} by main/w in a
";
    assert!(said.code == 1 && said.output.contains(told), "{}", said.output);
    std::fs::write(desk.path("one-test.scm"), format!("{BEGIN}{TWO}(test-assert (a))")).expect("a file");
    let said = desk.duet("test --strict --live chance/integer");
    assert_eq!(said.code, 0, "answers of a real tool serve nothing: {}", said.output);
    std::fs::write(desk.path("one-test.scm"), &text).expect("a file");
    let twice = "{\"chance/integer\": [<returns 1> <returns 2> <returns 2> <for \"x\" <returns 3>>]}";
    std::fs::write(desk.path("one-test.answers"), twice).expect("a file");
    let told = "  chance/integer any call (2 times)\n  chance/integer any call with \"x\"\n";
    let said = desk.duet("test --strict");
    assert!(said.code == 1 && said.output.contains(told), "{}", said.output);
    let used = "{\"chance/integer\": [<returns 1>]}";
    std::fs::write(desk.path("one-test.answers"), used).expect("a file");
    assert_eq!(desk.duet("test --strict").code, 0, "all are used");
    assert_eq!(
        desk.duet("test --strict --record").code,
        2,
        "a recording is no comparison"
    );
}

#[test]
fn the_answers_of_any_run_become_doubles() {
    let program = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define (roll n) (random n))
(write (list (roll 1000000000) (roll 1000000000) (guard (e (#t 'no)) (call-tool 'x 'post/send 5))))";
    let desk = Desk::new(&[
        ("p.scm", program),
        ("post.pr", "{\"post/send\": [<fails shut \"it is late\">]}"),
    ]);
    let first = desk.duet("run p.scm --double post.pr").output;
    let script = desk.duet("double p").output;
    assert_eq!(
        script
            .matches("<asked {below: 1000000000}\n     <by \"main\" \"roll\"\n      <returns ")
            .count(),
        2,
        "{script}"
    );
    assert!(script.contains("<fails shut \"it is late\">"), "{script}");
    assert_eq!(desk.duet("double p --out p.answers").code, 0);
    assert_eq!(std::fs::read_to_string(desk.path("p.answers")).expect("a file"), script);
    desk.check("run p.scm --double p.answers", 0, &first);
    let said = desk.check("double p --out p.answers", 1, "");
    assert!(said.errors.contains("`p.answers` exists already"), "{said:?}");
    desk.check("double p --out p.answers --force", 0, "");
    assert_eq!(desk.duet("double p --force").code, 2, "there is nothing to replace");
    desk.check("double p@0", 0, "{\n}\n");
    assert_eq!(desk.duet("double none").code, 1);
}

#[test]
fn doubles_have_no_secrets() {
    let program = "(import (scheme base) (scheme process-context) (duet base) (duet dataspace))
(call-tool 'x 'post/send (get-environment-variable \"DESK_TOKEN\"))";
    let doubles = "{\"environment/DESK_TOKEN\": [<returns \"o\\\"pen sesame\">], \"post/send\": [<returns #t>]}";
    let desk = Desk::new(&[("p.scm", program), ("post.pr", doubles)]);
    let said = desk.duet("run p.scm --double post.pr");
    assert_eq!(said.code, 0, "{said:?}");
    let said = desk.check("double p --out p.answers", 1, "");
    let told = "a call of post/send in p has a secret in it that begins with `o\"`";
    assert!(said.errors.contains(told), "{said:?}");
    assert!(!desk.path("p.answers").exists());
    let said = desk.duet("double p --with-secrets");
    assert!(said.code == 0 && said.output.contains("o\\\"pen"), "{said:?}");
}

#[test]
fn tests_run_again_when_a_file_that_they_read_is_saved() {
    let library = |n: u64| format!("(define-library (lib x) (export x) (import (scheme base)) (begin (define x {n})))");
    let desk = Desk::new(&[
        (
            "one-test.scm",
            "(import (scheme base) (srfi 64) (lib x)) (include \"more.scm\")
(test-begin \"t\") (test-equal \"x\" 2 (+ x more)) (test-end \"t\")",
        ),
        ("lib/x.sld", &library(0)),
        ("more.scm", "(define more 1)"),
        ("other-test.scm", &format!("{BEGIN}(test-assert #t)")),
    ]);
    let save = |name: &str, text: &str| std::fs::write(desk.path(name), text).expect("a file");
    let mut running = Running::start(&desk, "test --watch");
    running.until("1 passed, 1 failed; 2 files");
    // Of files that are as young as the process, nobody knows which text the first round has read,
    // so a second round may follow at once.
    save("lib/x.sld", &library(1));
    running.until("ok   one-test.scm (1 passed)");
    save("more.scm", "(define more");
    running.until("this parenthesis is never closed");
    save("more.scm", "(define more 10)");
    running.until("  actual   11");
    save("new-test.scm", &format!("{BEGIN}(test-assert #t)"));
    running.until("ok   new-test.scm (1 passed)");
    running.type_line("q");
    let (code, errors) = running.end();
    assert_eq!(code, Some(1), "one-test.scm still fails: {errors}");
    for told in [
        "lib/x.sld",
        "changed: more.scm\n",
        "new-test.scm",
        "`q` or Ctrl-C ends it",
    ] {
        assert!(errors.contains(told), "{told:?} is not in\n{errors}");
    }
}

#[test]
fn a_watched_file_that_has_no_chosen_assertion_yet_is_tested_again() {
    let desk = Desk::new(&[("one-test.scm", &format!("{BEGIN}(test-assert \"apple\" #t)"))]);
    let save = |text: &str| std::fs::write(desk.path("one-test.scm"), text).expect("a file");
    let mut running = Running::start(&desk, "test --watch -k pear");
    running.until("0 passed, 0 failed; 0 files");
    save(&format!("{BEGIN}(test-assert \"pear\" #t)"));
    running.until("ok   one-test.scm (1 passed)");
    save("(car");
    running.until("this parenthesis is never closed");
    running.type_line("q");
    assert_eq!(running.end().0, Some(1));
}

#[test]
fn an_interruption_ends_the_watch_with_the_code_of_the_tests() {
    let desk = Desk::new(&[("one-test.scm", &format!("{BEGIN}(test-assert #t)"))]);
    let mut running = Running::start(&desk, "test --watch");
    running.until("1 passed, 0 failed; 1 file");
    running.signal("-INT");
    assert_eq!(running.end().0, Some(0));
}

#[test]
fn an_interval_of_no_time_is_refused_in_a_test_and_outside() {
    let told = "every: an interval is at least 1 millisecond";
    let every = "(guard (e (#t (condition-message e))) (every 0 (lambda () #t)))";
    let imports = "(import (scheme base) (scheme write) (duet base) (duet dataspace)";
    let test = format!("{imports} (srfi 64))\n(test-begin \"t\")\n(test-equal \"{told}\" {every})\n(test-end)\n");
    let program = format!("{imports})\n(display {every})\n");
    let desk = Desk::new(&[("e-test.scm", &test), ("e.scm", &program)]);
    let outside = desk.duet("run e.scm");
    assert_eq!((outside.code, outside.output.as_str()), (0, told), "{outside:?}");
    let inside = desk.duet("test e-test.scm");
    assert_eq!(inside.code, 0, "{inside:?}");
}
