//! Calls that are made once, and those that a person wants made again.
//!
//! INVARIANT: a file that only the tool writes counts its calls.
//! Read next: `../travel.rs`.

use std::fs;

use crate::support::desk::{CommandOutput, Desk};

/// A program whose one call leaves a line in a file, with a result that is never the same.
const CALLER: &str = r#"(import (duet base) (duet dataspace))
(define arguments (list "sh" "-c" "echo x >> out.txt; wc -l < out.txt"))
(call-tool 'w 'process/run (dictionary 'arguments arguments))
(await (user-input :prompt "end"))
"#;

/// The caller, after its call.
fn called() -> Desk {
    let desk = Desk::new(&[("a.scm", CALLER)]);
    desk.check("run a.scm --name r --grant process/run", 4, "");
    assert_eq!(count(&desk), 1);
    desk
}

/// The number of calls so far.
fn count(desk: &Desk) -> usize {
    let lines = fs::read_to_string(desk.path("out.txt")).unwrap_or_default();
    lines.lines().count()
}

#[track_caller]
fn says(said: &CommandOutput, expected: &str) {
    assert!(said.errors.contains(expected), "{}{}", said.output, said.errors);
}

#[test]
fn each_sample_calls_a_tool_that_may_not_be_repeated() {
    let desk = called();
    let said = desk.check("fork --sample 2 r@2", 4, "");
    assert!(!said.errors.contains("not again"), "{}", said.errors);
    assert_eq!(count(&desk), 3);
    // The turn that asks means the same call.
    desk.check("fork --sample 1 r@1 more", 4, "");
    assert_eq!(count(&desk), 4);
    desk.replays("r/sample-2");
    // A plain fork shares the call.
    desk.check("fork r@1 plain", 0, "");
    desk.check("resume r/plain", 4, "");
    assert_eq!(count(&desk), 4);
}

#[test]
fn a_fork_that_goes_back_behind_its_beginning_makes_no_call_twice() {
    let desk = called();
    desk.check("fork r f", 0, "");
    let said = desk.check("goto r/f@0", 0, "");
    says(&said, "the turns after 0 are kept as r/f.2");
    says(&said, "a run that repeats a call receives the recorded result");
    let said = desk.check("resume r/f", 4, "");
    says(&said, "process/run was called in turn 1 before (f.2) and not again");
    assert_eq!(count(&desk), 1);
    desk.check("answer r/f done", 0, "");
    desk.replays("r/f");
    // A fork of the beginning has no such past, and makes its own call.
    desk.check("fork r@0 other", 0, "");
    let said = desk.check("resume r/other", 4, "");
    assert!(!said.errors.contains("not again"), "{}", said.errors);
    assert_eq!(count(&desk), 2);
}

#[test]
fn a_fork_that_goes_back_finds_what_the_other_branch_received() {
    let desk = called();
    // The call is in flight where the branch begins, so its result is on the other one.
    desk.check("fork r@1 f", 0, "");
    desk.check("goto r/f@0", 0, "");
    let said = desk.check("resume r/f", 4, "");
    says(&said, "process/run was called in turn 1 before");
    says(&said, "its recorded result was delivered");
    assert_eq!(count(&desk), 1);
}

#[test]
fn branches_of_other_commands_go_back_behind_their_beginning() {
    let desk = called();
    desk.check(
        "amend r/main@2 \"{exit: 7, signal: #f, stdout: \\\"\\\", stderr: \\\"\\\", truncated: #f}\" --branch amended",
        4,
        "",
    );
    desk.check("fork --sample 1 r@2", 4, "");
    assert_eq!(count(&desk), 2);
    for (branch, expected) in [("amended", "(amended.2)"), ("sample-1", "(sample-1.2)")] {
        desk.check(&format!("goto r/{branch}@0"), 0, "");
        let said = desk.check(&format!("resume r/{branch}"), 4, "");
        says(&said, expected);
        assert_eq!(count(&desk), 2, "{branch}");
        desk.replays(&format!("r/{branch}"));
    }
}

#[test]
fn a_fork_makes_its_own_calls_where_it_goes_on() {
    let text = r#"(import (duet base) (duet dataspace))
(define (call)
  (call-tool 'w 'process/run (dictionary 'arguments (list "sh" "-c" "echo x >> out.txt"))))
(call)
(await (user-input :prompt "again?"))
(call)
(await (user-input :prompt "end"))
"#;
    let desk = Desk::new(&[("a.scm", text)]);
    desk.check("run a.scm --name r --grant process/run", 4, "");
    desk.check("fork r f", 0, "");
    desk.check("answer r/main yes", 4, "");
    desk.check("answer r/f yes", 4, "");
    assert_eq!(count(&desk), 3, "one before the fork, and one on each branch after it");
    // Both branches receive the same words, but f repeats only its own calls.
    desk.check("goto r/f@0", 0, "");
    desk.check("resume r/f", 4, "");
    let said = desk.check("answer r/f yes", 4, "");
    says(&said, "process/run was called in turn 3 before (f.4)");
    assert_eq!(count(&desk), 3);
    // Gone back to where it began, it still makes its own call where main had one.
    desk.check("fork r/main@2 g", 0, "");
    desk.check("goto r/g@0", 0, "");
    desk.check("resume r/g", 4, "");
    assert_eq!(count(&desk), 3);
    desk.check("answer r/g yes", 4, "");
    assert_eq!(count(&desk), 4);
}

#[test]
fn an_undone_move_keeps_the_turns_of_a_fork_too() {
    let desk = called();
    desk.check("fork r f", 0, "");
    desk.check("goto r/f@0", 0, "");
    desk.check("undo r/f", 0, "");
    desk.check("redo r/f", 0, "");
    desk.check("resume r/f", 4, "");
    assert_eq!(count(&desk), 1);
    desk.check("gc r --dry-run", 0, "r/f.2\n");
}

#[test]
fn a_call_in_flight_on_a_fork_that_went_back_has_the_result_of_its_past() {
    let desk = called();
    desk.check("fork r f", 0, "");
    desk.check("goto r/f@0", 0, "");
    desk.check("resume r/f", 4, "");
    // No other branch has the record any more that makes the call on this one.
    desk.check("goto r/f@1", 0, "");
    desk.check("gc r --keep f.2", 0, "r/f.2.2\n");
    desk.check("resume r/f", 4, "");
    assert_eq!(count(&desk), 1);
    let log = desk.duet("log r/f").output;
    assert!(log.contains("\u{2192} exit 0") && !log.contains("interrupted"), "{log}");
    desk.replays("r/f");
}
