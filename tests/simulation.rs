//! The short form of the simulator, by the real command.
//!
//! INVARIANT: the seeds are fixed, so a failure here fails everywhere; `duet simulate` with other
//! seeds is the long form.
//! Read next: `../proofs/simulation.rs`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn simulate(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
    command.arg("simulate").args(arguments).output().unwrap()
}

/// The number before a word of the summary.
fn count(summary: &str, of: &str) -> u64 {
    let words: Vec<&str> = summary
        .split([' ', ',', '(', ':'])
        .filter(|word| !word.is_empty())
        .collect();
    let position = words.iter().position(|word| *word == of).unwrap();
    words[position - 1].parse().unwrap()
}

#[test]
fn runs_to_which_everything_happens_are_what_their_journals_say() {
    let output = simulate(&["--seeds", "12", "--start", "0", "--operations", "50"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let summary = printed.lines().last().unwrap();
    assert!(summary.starts_with("12 seeds from 0, 600 operations"), "{summary}");
    assert!(summary.ends_with(": no difference"), "{summary}");
    // A simulation in which little happens shows little.
    for (what, least) in [
        ("turns", 200),
        ("failed)", 20),
        ("crashes", 20),
        ("rewinds", 10),
        ("forks", 10),
        ("undone", 2),
        ("amended", 5),
        ("texts", 10),
        ("run", 3),
        ("actors", 2),
        ("merges", 5),
        ("inputs", 10),
        ("moves", 20),
        ("with", 150),
        ("expressions", 5),
        ("exports", 3),
        ("forgeries", 1),
    ] {
        assert!(count(summary, what) >= least, "{what}: {summary}");
    }
}

#[test]
fn owners_that_are_killed_and_fenced_off_lose_nothing_and_double_nothing() {
    let output = simulate(&["--owners", "--seeds", "12", "--operations", "80"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let summary = printed.lines().last().unwrap();
    assert!(summary.ends_with(": 0 seeds found something wrong"), "{summary}");
    for (what, least) in [("processes", 60), ("killed", 20), ("fenced", 15), ("turns", 150)] {
        assert!(count(summary, what) >= least, "{what}: {summary}");
    }
}

#[test]
fn so_are_runs_whose_journals_are_files() {
    let output = simulate(&["--file", "--seeds", "4", "--start", "40", "--operations", "50"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let summary = printed.lines().last().unwrap();
    assert!(summary.ends_with(": no difference"), "{summary}");
    for (what, least) in [("turns", 60), ("crashes", 5), ("expressions", 2), ("exports", 2)] {
        assert!(count(summary, what) >= least, "{what}: {summary}");
    }
}

#[test]
fn so_are_runs_that_speak_to_the_real_drivers() {
    let output = simulate(&["--drivers", "--seeds", "6", "--start", "20", "--operations", "60"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let summary = printed.lines().last().unwrap();
    assert!(summary.ends_with(": no difference"), "{summary}");
    for (what, least) in [("turns", 100), ("crashes", 5), ("with", 50)] {
        assert!(count(summary, what) >= least, "{what}: {summary}");
    }
}

#[test]
fn a_seed_does_the_same_again() {
    let run = || simulate(&["--seeds", "1", "--start", "77", "--operations", "30"]).stdout;
    assert_eq!(run(), run());
}

#[test]
fn what_is_no_number_is_refused() {
    let output = simulate(&["--seeds", "many"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("invalid value 'many' for '--seeds <N>'"));
}
