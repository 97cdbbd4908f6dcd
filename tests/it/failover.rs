//! Workers and servers that are killed, by scripts of their own, in a short form.
//!
//! INVARIANT: the scripts are those of the long forms, which are in `docs/src/testing.md`; where
//! PostgreSQL is not installed, each test says so. Read next: `work.rs`.
#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "a test that cannot run says so")]

use std::process::{Command, Stdio};

/// Runs a script, which must succeed and say something, or say aloud that it cannot run.
#[track_caller]
fn check(script: &str, arguments: &[&str], wanted: &str) {
    let done = Command::new(format!("{}/{script}", env!("CARGO_MANIFEST_DIR")))
        .args(arguments)
        .env("DUET", env!("CARGO_BIN_EXE_duet"))
        .env_remove("DUET_JOURNAL")
        .stdin(Stdio::null())
        .output()
        .expect("bash starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    if said.contains("SKIPPED") {
        eprintln!("{said}");
    } else {
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn every_alert_ends_right_though_a_worker_and_the_server_were_killed() {
    let wanted = "6 shops have exactly one change each, and 6 journals replay";
    check("examples/oncall/failover", &["6"], wanted);
}

#[test]
fn workers_and_their_server_are_killed_at_drawn_moments_and_nothing_is_lost_or_twice() {
    check(
        "tests/kills/run",
        &["--kills", "10"],
        "10 kills: nothing lost, nothing twice",
    );
}
