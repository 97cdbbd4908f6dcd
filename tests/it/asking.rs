//! Questions by value: `why-not` for what is missing, `when` for an expression that changes, `why`
//! for a line of output.
//!
//! INVARIANT: looking changes nothing.
//! Read next: `explain.rs`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use crate::support::desk::Desk;

const IMPORTS: &str = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))\n";

/// Runs a program as `p`.
fn ran(program: &str, code: i32) -> Desk {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}\n"))]);
    let said = desk.duet("run p.scm");
    assert_eq!(said.code, code, "{said:?}");
    desk
}

/// An actor that asserts `done` when it has seen `go`, a fact that went, and a wait for another
/// one.
const MISSING: &str = "(define (worker c)
  (await (signal 'go))
  (assert! (record 'done c)))
(register-entity! 'worker worker)
(spawn-entity! 'worker :config 3)
(assert! (record 'job 1 'open))
(define lock (assert! (record 'lock 1)))
(sleep 5)
(retract! lock)
(await (record 'done :field 0 :equals 4))";

#[test]
fn what_stands_in_the_way_of_a_fact_is_told() {
    let desk = ran(MISSING, 4);
    for (pattern, expected) in [
        (
            "<done 4>",
            "<done 4> is not there at p@3
  never    no such fact came up to p@3
  awaited  main waits for <done 4 ...>, which it could end
  text     p.scm:4 in `worker`: (assert! (record 'done c))
  stands   fiber 1 of worker 1 stands in `worker` and waits for <go ...>
",
        ),
        (
            "<done 5>",
            "<done 5> is not there at p@3
  never    no such fact came up to p@3
  awaited  main waits for <done 4 ...>: member 1 is 4, not 5
  text     p.scm:4 in `worker`: (assert! (record 'done c))
  stands   fiber 1 of worker 1 stands in `worker` and waits for <go ...>
",
        ),
        (
            "<job 1 closed>",
            "<job 1 closed> is not there at p@3
  never    no such fact came up to p@3
  near     main asserts <job 1 open>: member 2 is open, not closed
  text     p.scm:7: (assert! (record 'job 1 'open))
",
        ),
        (
            "<lock _>",
            "<lock _> is not there at p@3
  went     <lock 1> went in turn 3 of main
  text     p.scm:8 in `lock`: (assert! (record 'lock 1))
",
        ),
        (
            "<job _ _>",
            "<job _ _> is there at p@3\n  there    main asserts <job 1 open>\n",
        ),
    ] {
        desk.check(&format!("why-not p \"{pattern}\""), 0, expected);
    }
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn a_fact_whose_actor_failed_or_whose_assertion_was_refused_is_told_so() {
    let desk = ran(
        "(define (worker c) (sleep 1) (assert! (record 'done (car c))))
(register-entity! 'worker worker)
(spawn-entity! 'worker :config 3)
(sleep 20)
(await (signal 'end))",
        1,
    );
    let told = desk.duet("why-not p \"<done _>\"").output;
    assert!(
        told.contains("  failed   worker, which asserts it, failed in turn "),
        "{told}"
    );
    let desk = ran(
        "(define (worker c)
  (guard (e (#t (display (condition-kind e)))) (assert! (record 'done c)))
  (await (signal 'end)))
(register-entity! 'worker worker)
(spawn-entity! 'worker :config 3 :grants '(console dataspace/observe))
(await (signal 'end))",
        4,
    );
    let told = desk.duet("why-not p \"<done _>\"").output;
    assert!(told.contains("  refused  the gate refused worker 1 in turn "), "{told}");
    assert!(told.contains(" to assert <done 3>: "), "{told}");
}

#[test]
fn a_turn_in_which_an_expression_changes_is_found() {
    let desk = ran(
        "(define total 0)
(define (add n) (set! total (+ total n)) (assert! (record 'added n)))
(sleep 1) (add 5) (sleep 1) (sleep 1) (add 0) (sleep 1) (add -5)
(await (signal 'end))",
        4,
    );
    let said = desk.duet("when p \"(list total)\"");
    // It is the same at both ends, so bisection finds nothing.
    assert_eq!((said.code, said.output.as_str()), (1, ""), "{said:?}");
    assert!(said.errors.contains("`duet when '(list total)' --first p`"), "{said:?}");
    assert!(said.errors.contains(": (0)\n"), "{said:?}");
    for (wrong, why) in [("(lits total)", "lits is not defined"), ("(list total", "never closed")] {
        for first in ["", " --first"] {
            let said = desk.duet(&format!("when p \"{wrong}\"{first}"));
            assert!(said.code == 1 && said.errors.contains(why), "{said:?}");
        }
    }
    desk.check("when \"(list total)\" p --first", 0, "p@2 (list total): (0) → (5)\n");
    desk.check("when p@4 \"(list total)\"", 0, "p@2 (list total): (0) → (5)\n");
    let json = desk.duet("when p@4 \"(list total)\" --json").output;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["change"]["after"], "(5)");
    let acting = desk.duet("when p \"(sleep 1)\"");
    assert!(
        acting.code != 0 && acting.errors.contains("it waits for time to pass"),
        "{acting:?}"
    );
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn a_line_of_output_leads_back_to_what_it_was_made_of() {
    let desk = ran(
        "(display \"one\") (newline) (sleep 1) (display \"two\")
(display \" and more\") (newline)
(sleep 1) (display \"three\")
(await (signal 'end))",
        4,
    );
    for (number, line, turn) in [(1, "one", 1), (2, "two and more", 2), (3, "three", 3)] {
        let told = desk.duet(&format!("why --output {number} p")).output;
        assert!(told.starts_with(&format!("\"{line}\"\np@{turn} main ")), "{told}");
        assert!(told.ends_with("start <boot>\n"), "{told}");
    }
    let none = desk.duet("why --output 4 p");
    assert_eq!(none.code, 1, "{none:?}");
}

#[test]
fn a_fact_leads_to_the_expression_that_asserted_it() {
    let desk = ran(
        "(define (note n)
  (if (> n 1)
      (assert! (record 'noted n))
      (assert! (record 'small n))))
(note 1)
(sleep 1)
(for-each note '(2 3))
(await (signal 'end))",
        4,
    );
    for (pattern, by) in [
        (
            "<small _>",
            "<small 1>\n  by (assert! (record 'small n)) at p.scm:5\np@1 main ",
        ),
        (
            "<noted 3>",
            "<noted 3>\n  by (assert! (record 'noted n)) at p.scm:4\np@2 main ",
        ),
    ] {
        let told = desk.duet(&format!("why \"{pattern}\" p")).output;
        assert!(told.starts_with(by), "{told}");
    }
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn a_long_chain_is_shown_as_far_as_a_screen_and_further_when_asked() {
    let desk = ran(
        "(let loop ((n 0)) (if (< n 30) (begin (sleep 1) (assert! (record 'n n)) (loop (+ n 1)))))
(await (signal 'end))",
        4,
    );
    let told = desk.duet("why \"<n 29>\" p");
    assert!(told.errors.contains("`--all` shows more"), "{told:?}");
    let chain = |line: &str| {
        let json: serde_json::Value = serde_json::from_str(&desk.duet(line).output).unwrap();
        (json["chain"].as_array().unwrap().len(), json["is_cut"] == true)
    };
    assert_eq!(chain("why \"<n 29>\" p --json"), (20, true));
    let (length, is_cut) = chain("why \"<n 29>\" p --all --json");
    assert!(length > 30 && !is_cut, "{length}");
}
