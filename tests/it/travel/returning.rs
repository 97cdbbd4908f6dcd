//! A run that went back: the branch for which it stands, and the directory of its files.
//!
//! INVARIANT: another run is the current one when `duet runs` is asked.
//! Read next: `../travel.rs`.

use std::fs;

use crate::support::desk::Desk;
use crate::work::Worker;

/// The line of `duet runs` about the run `a`, after another run was the current one.
fn line_of_a(desk: &Desk) -> String {
    assert_eq!(desk.duet("run b.scm").code, 0);
    let runs = desk.duet("runs").output;
    runs.lines().nth(1).expect("a line").to_owned()
}

#[test]
fn a_run_stands_as_the_branch_that_was_used_last() {
    let asking = "(for-each (lambda (prompt) (await (user-input :prompt prompt))) '(\"first\" \"second\" \"third\"))";
    let desk = Desk::new(&[("a.scm", asking), ("b.scm", "1")]);
    desk.duet("run a.scm");
    desk.duet("answer a x");
    desk.duet("answer a y");
    desk.check("goto a@1", 0, "");
    let line = line_of_a(&desk);
    assert!(line.starts_with("a ") && line.ends_with("first"), "{line}");
    desk.duet("fork a/main@1 other");
    desk.duet("answer a/other z");
    let line = line_of_a(&desk);
    assert!(line.starts_with("a/other ") && line.ends_with("second"), "{line}");
    desk.duet("goto a/main@1");
    let line = line_of_a(&desk);
    assert!(line.starts_with("a ") && line.ends_with("first"), "{line}");
}

#[test]
fn what_a_branch_has_left_behind_is_not_the_state_of_a_run() {
    let asking = "(for-each (lambda (prompt) (await (user-input :prompt prompt))) '(\"first\" \"second\"))";
    let desk = Desk::new(&[("a.scm", asking), ("b.scm", "1")]);
    desk.duet("run a.scm");
    desk.duet("answer a x");
    desk.check("goto a@1", 0, "");
    fs::remove_file(desk.path(".duet/journal.sqlite.current")).expect("the file is there");
    let line = line_of_a(&desk);
    assert!(line.starts_with("a ") && line.ends_with("first"), "{line}");
}

#[test]
fn files_of_a_named_workspace_are_restored_only_where_the_configuration_says() {
    let writing = "(import (scheme base) (duet base) (duet dataspace))
(call-tool 'p \"workspace/write\" (dictionary 'path \"name\" 'content \"one\"))";
    let desk = Desk::new(&[("p.scm", writing), ("here/other", ""), ("there/other", "")]);
    desk.duet("run p.scm --queue --workspace here --workspace-name shop");
    let mut worker = Worker::start(&desk, "work --workspace shop=there");
    worker.until("p ended with code 0");
    worker.running.signal("-TERM");
    worker.code();
    let lacking = desk.duet("goto p@1 --workspace");
    for told in [
        "names no directory",
        "wherever a worker declares",
        "shop = \"DIRECTORY\"",
    ] {
        assert!(
            lacking.code == 1 && lacking.errors.contains(told),
            "{told}: {lacking:?}"
        );
    }
    assert!(desk.path("there/name").exists());
    fs::create_dir_all(desk.path("config/duet")).unwrap();
    let entry = format!("[workspaces]\nshop = \"{}\"\n", desk.path("there").display());
    fs::write(desk.path("config/duet/config.toml"), entry).unwrap();
    assert_eq!(desk.duet("goto p@1 --workspace").code, 0);
    assert!(!desk.path("there/name").exists());
}
