//! Calls that are made once, and those that a person wants made again.
//!
//! INVARIANT: what a tool did is counted in a file that only the tool writes.
//! Read next: `../travel.rs`.

use std::fs;

use crate::support::desk::Desk;

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
