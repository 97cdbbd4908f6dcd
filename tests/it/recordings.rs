//! Recorded answers of tests: what `--record` writes, what it leaves alone, and a call that no
//! answer fits.
//!
//! INVARIANT: a recording calls the tools of no file that is not chosen, and a file that fails
//! loses no answer.
//! `testing.rs` tests how answers serve. Read next: the crate's `world/answers.rs`.

use crate::support::desk::Desk;

const BEGIN: &str = "(import (scheme base) (srfi 64) (duet base) (duet dataspace) (duet check))\n(test-begin \"t\")\n";

fn answers(desk: &Desk, name: &str) -> String {
    std::fs::read_to_string(desk.path(name)).unwrap_or_default()
}

fn save(desk: &Desk, name: &str, text: &str) {
    std::fs::write(desk.path(name), text).expect("a file");
}

#[test]
fn a_file_that_fails_keeps_its_former_answers_and_says_so() {
    let drawing = format!("{BEGIN}(test-assert \"drawn\" (random 1000000000))");
    let desk = Desk::new(&[("one-test.scm", &drawing)]);
    assert_eq!(desk.duet("test --record").code, 0);
    let former = answers(&desk, "one-test.answers");
    assert!(former.contains("chance/integer"), "{former}");
    let failing = format!("{drawing}\n(test-assert #f)");
    for text in ["(car 5)", "(car 5", &format!("(car 5)\n{drawing}"), &failing] {
        save(&desk, "one-test.scm", text);
        let said = desk.duet("test --record");
        let told = "`one-test.answers` keeps its former answers, because the file failed";
        assert!(said.code == 1 && said.output.contains(told), "{text}: {}", said.output);
        assert_eq!(answers(&desk, "one-test.answers"), former, "{text}");
    }
    let said = desk.duet("test --record --json");
    assert!(
        said.output.contains("\"kept_answers\":\"one-test.answers\""),
        "{}",
        said.output
    );
    std::fs::remove_file(desk.path("one-test.answers")).expect("it is there");
    assert_eq!(desk.duet("test --record").code, 1);
    assert_ne!(answers(&desk, "one-test.answers"), "", "there was nothing to lose");
    save(&desk, "one-test.scm", &format!("{BEGIN}(test-assert #t)"));
    assert_eq!(desk.duet("test --record").code, 0);
    assert!(!desk.path("one-test.answers").exists(), "it calls no tool any more");
}

#[test]
fn a_recording_calls_the_tools_of_the_chosen_files_only() {
    let drawing = format!("{BEGIN}(test-assert \"drawn\" (random 1000000000))");
    let desk = Desk::new(&[("one-test.scm", &drawing), ("two-test.scm", &drawing)]);
    for unknown in ["none", "drawn"] {
        let said = desk.check(&format!("test --record -k {unknown}"), 2, "");
        let told = format!("no file has `{unknown}` in its path");
        assert!(said.errors.contains(&told), "{}", said.errors);
        assert!(!desk.path("one-test.answers").exists(), "no tool is called");
    }
    let said = desk.duet("test --record -k one");
    assert_eq!(
        said.output,
        "ok   one-test.scm (1 passed)\n\n1 passed, 0 failed; 1 file\n"
    );
    assert!(desk.path("one-test.answers").exists() && !desk.path("two-test.answers").exists());
}

#[test]
fn a_call_without_a_recorded_answer_fails_the_file_although_the_program_goes_on() {
    let rolling =
        |body: &str| format!("{BEGIN}(define (roll n) (guard (e (#t 0)) (random n)))\n(test-assert (+ {body}))");
    let desk = Desk::new(&[("one-test.scm", &rolling("(roll 10)"))]);
    assert_eq!(desk.duet("test --record").code, 0);
    for (body, told) in [
        (
            "(roll 10000)",
            "no answer to {below: 10000} is left; the nearest is to {below: 10}\n",
        ),
        (
            "(roll 10) (roll 10)",
            "no answer to {below: 10} by main in roll is left; \
             the nearest, to {below: 10} by main in roll, is used up\n",
        ),
        (
            "(guard (e (#t 0)) (random))",
            "no answer of `chance/real` is recorded\n",
        ),
    ] {
        save(&desk, "one-test.scm", &rolling(body));
        let said = desk.duet("test");
        assert_eq!(said.code, 1, "{body}: {}", said.output);
        for told in [
            "error[one-test.scm]: a call has no recorded answer\n",
            told,
            "\n`duet test --record one-test.scm` records the answers anew; `--allow-host`",
        ] {
            assert!(said.output.contains(told), "{told:?} is not in\n{}", said.output);
        }
    }
    assert_eq!(desk.duet("test --record").code, 0);
    assert_eq!(desk.duet("test").code, 0);
}

#[test]
fn the_seed_of_a_property_is_no_recorded_answer() {
    let text = format!(
        "{BEGIN}(test-assert \"drawn\" (random 9))
(parameterize ((property-runs 1))
  (test-property \"no\" ((n (integers 1000000 2000000))) (< n 0)))"
    );
    let desk = Desk::new(&[("one-test.scm", &format!("{BEGIN}(test-assert \"drawn\" (random 9))"))]);
    assert_eq!(desk.duet("test --record").code, 0);
    save(&desk, "one-test.scm", &text);
    let seed = |report: &str| {
        let seed = report.split_once("(seed ").expect("a seed").1;
        seed.split_once(')').expect("an end").0.to_owned()
    };
    let first = desk.duet("test --strict").output;
    assert!(!first.contains("recorded answer"), "{first}");
    assert_ne!(seed(&first), seed(&desk.duet("test").output), "each test draws others");
    std::fs::remove_file(desk.path("one-test.answers")).expect("it is there");
    desk.duet("test --record");
    let recorded = answers(&desk, "one-test.answers");
    assert_eq!(recorded.matches("<returns ").count(), 1, "{recorded}");
}

#[test]
fn a_tool_that_only_a_grant_allows_is_recorded() {
    let text = format!(
        "{BEGIN}(test-eqv 0
  (dictionary-ref (call-tool 'host \"process/run\" (dictionary 'arguments '(\"echo\" \"hi\"))) 'exit))"
    );
    let desk = Desk::new(&[("one-test.scm", &text)]);
    let denied = desk.duet("test --record");
    assert!(
        denied.code == 1 && denied.output.contains("capability-denied"),
        "{}",
        denied.output
    );
    let said = desk.duet("test --record --grant process/run");
    assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
    assert!(answers(&desk, "one-test.answers").contains("process/run"));
    assert_eq!(desk.duet("test").code, 0);
}

#[test]
fn a_call_of_a_tool_that_is_not_granted_lacks_an_answer_where_answers_serve() {
    let call = "(test-equal 'no-answer
  (guard (e (#t (condition-kind e)))
    (call-tool 'reader 'http/get (dictionary 'url \"http://127.0.0.1:9/\"))))";
    let text = |body: &str| format!("{BEGIN}(define (roll n) (random n))\n(test-assert \"rolled\" (roll 10))\n{body}");
    let desk = Desk::new(&[("one-test.scm", &text(""))]);
    assert_eq!(desk.duet("test --record").code, 0);
    save(&desk, "one-test.scm", &text(call));
    let said = desk.duet("test --keep").output;
    for told in ["1 of 3 failed", "no answer of `http/get` is recorded", "`--allow-host`"] {
        assert!(said.contains(told), "{told:?} is not in\n{said}");
    }
}
