//! Output of programs whose process is killed while it writes.
//!
//! Owns the proof that no line of a durable turn is lost in silence.
//! INVARIANT: each test kills real processes, and looks at what reached the pipe before and after.
//! It does not test the journal; `review.rs` and `frozen.rs` do.
//! Read next: `support/desk.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use crate::support::desk::Desk;

const LINES: usize = 400;

/// A program that writes a line in each turn.
fn counter() -> String {
    format!("(let loop ((n 0)) (when (< n {LINES}) (display n) (newline) (yield) (loop (+ n 1))))")
}

/// The number of kills.
#[expect(clippy::disallowed_methods, reason = "the environment chooses the long form")]
fn kills() -> usize {
    let wanted = std::env::var("DUET_KILLS").ok();
    wanted.map_or(12, |text| text.parse().expect("DUET_KILLS is a number"))
}

/// Runs the program, kills it after some lines, and returns what it wrote.
fn killed_after(desk: &Desk, lines: usize) -> String {
    let mut child = desk.spawn("run count.scm");
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut written = String::new();
    for _ in 0..lines {
        output.read_line(&mut written).unwrap();
    }
    child.kill().unwrap();
    output.read_to_string(&mut written).unwrap();
    child.wait().unwrap();
    written
}

/// The number of lines that a message says may not have been shown.
fn told(errors: &str) -> usize {
    let Some(position) = errors.find(" of output of turn") else {
        return 0;
    };
    let words: Vec<&str> = errors[..position].split_whitespace().collect();
    words[words.len() - 2].parse().unwrap()
}

/// How often each number was written.
fn counts(written: &str) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for line in written.lines() {
        *counts.entry(line.parse().unwrap()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn lines_that_a_killed_process_did_not_show_are_counted() {
    let mut lost = 0;
    for kill in 0..kills() {
        let desk = Desk::new(&[("count.scm", &counter())]);
        let before = killed_after(&desk, 3 + 29 * kill % 300);
        let resumed = desk.duet("resume count");
        assert_eq!(resumed.code, 0, "{}", resumed.errors);
        let counts = counts(&format!("{before}{}", resumed.output));
        let missing = LINES - counts.len();
        let told = told(&resumed.errors);
        assert!(missing <= told, "{missing} lines are missing: {}", resumed.errors);
        assert!(
            told == 0 || resumed.errors.contains("may not have been shown"),
            "{}",
            resumed.errors
        );
        assert!(counts.values().all(|count| *count == 1), "a line was shown twice");
        lost += missing;
        assert!(!desk.path(".duet/journal.sqlite.output.count").exists());
    }
    println!("{lost} lines were not shown");
}

#[test]
fn lines_that_a_killed_process_did_not_show_are_shown_on_request() {
    for kill in 0..kills() {
        let desk = Desk::new(&[("count.scm", &counter())]);
        let before = killed_after(&desk, 5 + 31 * kill % 300);
        let resumed = desk.duet("resume count --replay-output");
        assert_eq!(resumed.code, 0, "{}", resumed.errors);
        let counts = counts(&format!("{before}{}", resumed.output));
        assert_eq!(counts.len(), LINES, "{}", resumed.errors);
        let twice = counts.values().filter(|count| **count > 1).count();
        assert!(twice <= told(&resumed.errors), "{twice} lines: {}", resumed.errors);
        let again = desk.duet("resume count --replay-output");
        assert!(
            again.errors.contains("all output of count was shown"),
            "{}",
            again.errors
        );
        assert_eq!(again.output, "");
    }
}

#[test]
fn output_that_is_on_its_way_is_marked_before_its_turn_is_durable() {
    let desk = Desk::new(&[(
        "count.scm",
        "(display \"one\") (newline) (flush-output-port) (display \"two\")",
    )]);
    desk.check("run count.scm", 0, "one\ntwo");
    // What a process leaves that ends after its first commit with output and writes nothing.
    let log = desk.duet("log count --json").output;
    let first = log.split("\"parent\":\"").last().unwrap();
    let first = first.split('"').next().unwrap();
    let mark = desk.path(".duet/journal.sqlite.output.count");
    std::fs::write(&mark, format!("{:020} {first}\n", 0)).unwrap();
    let said = desk.duet("resume count");
    assert_eq!(told(&said.errors), 2, "{}", said.errors);
    assert!(!mark.exists());
    std::fs::write(&mark, format!("{:020} {first}\n", 0)).unwrap();
    let said = desk.duet("resume count --replay-output");
    assert_eq!(said.output, "one\ntwo", "{}", said.errors);
    for foreign in [
        format!("{:020} {}\n", 0, "0".repeat(64)),
        format!("{:020} {first}\n", 99),
        "x".to_owned(),
    ] {
        std::fs::write(&mark, &foreign).unwrap();
        let said = desk.duet("resume count --replay-output");
        assert_eq!((said.output.as_str(), said.code), ("", 0), "{foreign}: {}", said.errors);
    }
}
