//! Doubles that records make: the same calls with the same answers, in the same order.
//!
//! INVARIANT: a program that runs on the doubles of its own run does what it did.
//! `testing.rs` tests the files beside tests. Read next:
//! `world/arrivals.rs`.

use crate::support::desk::Desk;

const BEGIN: &str = "(import (scheme base) (srfi 64) (duet base) (duet dataspace))\n(test-begin \"t\")\n";

/// Runs a test, records its calls as doubles, and requires that it passes on them; with the number
/// of calls that stay without an answer. Only the virtual clock keeps the order of answers: on the
/// clock of the system it depends on how busy the machine is.
#[track_caller]
fn check_doubles(body: &str, result: &str, silent: usize) {
    let text = format!(
        "{BEGIN}(import (duet agents))
(define (sh text)
  (dictionary-ref (call-tool 'w 'process/run (dictionary 'arguments (list \"sh\" \"-c\" text))) 'stdout))
(test-equal '{result} {body})"
    );
    let desk = Desk::new(&[("p-test.scm", &text)]);
    let recorded = desk.duet("run p-test.scm --name p --grant process/run");
    assert_eq!(recorded.code, 0, "{}", recorded.output);
    desk.check("double p --out p-test.answers", 0, "");
    let answers = std::fs::read_to_string(desk.path("p-test.answers")).expect("a file");
    assert_eq!(answers.matches("<silent>").count(), silent, "{answers}");
    let repeated = desk.duet("test --strict");
    assert_eq!(repeated.code, 0, "{}\n{answers}", repeated.output);
}

#[test]
fn a_call_that_was_withdrawn_has_no_answer_when_it_is_doubled() {
    let race = "(race (lambda () (sh \"sleep 20; printf slow\")) (lambda () (sh \"printf fast\")))";
    check_doubles(race, "\"fast\"", 1);
    // Among equal calls the withdrawn one keeps its place.
    let twice = "(let ((call (lambda () (sh \"test -e done && printf b; touch done; sleep 0.4\"))))
      (list (call-with-timeout 200 call (lambda () 'late)) (call)))";
    check_doubles(twice, "(late \"b\")", 1);
    let first =
        "(dictionary-ref (settle (list (lambda () (sh \"sleep 20\")) (lambda () (sh \"printf a\"))) :at-least 1)
      'outcomes)";
    check_doubles(first, "((stopped) (done \"a\"))", 1);
}

#[test]
fn virtual_time_passes_beside_a_silent_call() {
    let text = format!(
        "{BEGIN}(import (duet agents))
(test-equal 'late (call-with-timeout 3600000 (lambda () (random 9)) (lambda () 'late)))
(test-equal 5 (random 9))"
    );
    let answers = "{\"chance/integer\": [<silent> <asked {below: 9} <returns 5>>]}";
    let desk = Desk::new(&[("one-test.scm", &text), ("one-test.answers", answers)]);
    let said = desk.duet("test --strict");
    assert!(said.code == 0, "{}", said.output);
}

#[test]
fn a_recorded_failure_is_that_of_all_attempts() {
    // The tool would be called again when its server cannot be reached.
    let text = format!(
        "{BEGIN}(define (get) (call-tool 'x 'http/get (dictionary 'url \"http://127.0.0.1:9/\")))
(test-equal '(unavailable \"no server\")
  (guard (failure (#t (list (condition-kind failure) (condition-message failure)))) (get)))"
    );
    let answers = "{\"http/get\": [<asked {url: \"http://127.0.0.1:9/\"}
      <by \"main\" \"get\" <fails unavailable \"no server\">>>]}";
    let desk = Desk::new(&[("one-test.scm", &text), ("one-test.answers", answers)]);
    let said = desk.duet("test --strict");
    assert_eq!(said.code, 0, "{}", said.output);
}

/// Definitions by which a program notes what comes.
const NOTING: &str = "(let* ((seen '()) (note (lambda (it) (set! seen (cons it seen)))))";

#[test]
fn answers_come_in_the_order_in_which_they_came() {
    let calls = format!(
        "{NOTING} (par-map (lambda (text) (note (sh text)))
           '(\"sleep 0.9; printf a\" \"sleep 0.5; printf b\" \"printf c\")) seen)"
    );
    check_doubles(&calls, "(\"a\" \"b\" \"c\")", 0);
    // What follows an answer comes before those that came later.
    let chain = format!(
        "{NOTING} (all-of (lambda () (note (sh \"sleep 0.9; printf a\")))
           (lambda () (note (sh \"printf b\")) (note (sh \"printf c\")))) seen)"
    );
    check_doubles(&chain, "(\"a\" \"c\" \"b\")", 0);
    let timer = format!(
        "{NOTING} (all-of (lambda () (note (sh \"sleep 0.9; printf a\"))) (lambda () (sleep 300) (note 'timer))) seen)"
    );
    check_doubles(&timer, "(\"a\" timer)", 0);
}

#[test]
fn a_late_answer_takes_virtual_time() {
    let text = format!(
        "{BEGIN}(import (duet agents) (scheme time))
(define (ask) (random 9))
(test-equal 'late (call-with-timeout 1000 ask (lambda () 'late)))
(define begun (current-jiffy))
(test-equal 5 (call-with-timeout 7200000 ask (lambda () 'late)))
(test-equal 3600 (round (/ (- (current-jiffy) begun) (jiffies-per-second))))"
    );
    let answers = "{\"chance/integer\": [<after 3600000 <returns 4>> <after 3600000 <returns 5>>]}";
    let desk = Desk::new(&[("one-test.scm", &text), ("one-test.answers", answers)]);
    let said = desk.duet("test --strict");
    assert_eq!(said.code, 0, "{}", said.output);
}
