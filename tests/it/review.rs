//! The main job by the real command: run, look, go back, fork, replay, and be killed at any moment.
//!
//! INVARIANT: whatever interrupts the run, `duet resume` ends with the report that an undisturbed
//! run writes.
//! The moments of the kills come from a fixed seed; the machine decides which instruction they hit,
//! which is the point.
//! Read next: `crash.rs`, which cuts the power at every write instead.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// The short form; `DUET_KILLS` asks for another number.
const KILLS: u64 = 20;
const FILES: usize = 60;

/// A workspace with files to review, and the command run in it.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..FILES {
            let path = folder
                .path()
                .join(format!("part-{}", number % 7))
                .join(format!("file-{number:02}.rs"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file_text(number)).unwrap();
        }
        Desk { folder }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        command
            .current_dir(self.folder.path())
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    fn duet(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and returns what it printed.
    fn prints(&self, arguments: &[&str]) -> String {
        let output = self.duet(arguments);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "duet {arguments:?}: {:?}\n{messages}",
            output.status
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn report(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.path().join("review-reports").join(name)).ok()
    }
}

/// Some lines with a note, a line that is too long and a paragraph that other files have too.
fn file_text(number: usize) -> String {
    let note = if number.is_multiple_of(5) {
        concat!("// TO", "DO: look again\n")
    } else {
        ""
    };
    let long = if number.is_multiple_of(7) {
        format!("// {}\n", "x".repeat(140))
    } else {
        String::new()
    };
    let shared: String = (0..8)
        .map(|line| format!("line {line} of what {} files share\n", number / 2))
        .collect();
    format!("fn part_{number}() {{}}\n\n{note}{long}\n{shared}\n")
}

fn example() -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("examples/review")
        .to_str()
        .unwrap()
        .to_owned()
}

/// The turn at which the person is asked.
fn asking_turn(log: &str) -> String {
    let line = log
        .lines()
        .find(|line| line.contains("ask <question"))
        .unwrap_or_else(|| panic!("no question in\n{log}"));
    line.split_whitespace()
        .find(|word| word.parse::<u64>().is_ok())
        .unwrap()
        .to_owned()
}

#[test]
fn a_review_can_be_looked_at_forked_and_replayed() {
    let desk = Desk::new();
    let printed = desk.prints(&["run", &example(), "--answer", "yes"]);
    assert_eq!(
        printed,
        "The report is in review-reports/accepted.md: accepted by a person.\n"
    );
    let accepted = desk.report("accepted.md").unwrap();
    assert!(accepted.contains("## Repeated paragraphs (30)"), "{accepted}");

    let turn = asking_turn(&desk.prints(&["log", "review"]));
    let question = format!("review@{turn}");
    assert!(
        desk.prints(&["show", &question]).contains("action    ask-user"),
        "{question}"
    );
    desk.prints(&["fork", &question, "other"]);
    desk.prints(&["resume", "review/other", "--answer", "no"]);
    let returned = desk.report("returned.md").unwrap();
    assert!(returned.contains("Verdict: returned by a person."), "{returned}");
    assert_eq!(desk.report("accepted.md").as_ref(), Some(&accepted));
    assert!(desk.prints(&["log", "review"]).contains("[other]"));

    for branch in ["review/main", "review/other"] {
        assert!(
            desk.prints(&["replay", "--check", branch]).starts_with("identical: "),
            "{branch}"
        );
    }
    desk.prints(&["goto", &format!("review/other@{turn}")]);
    desk.prints(&["resume", "review/other", "--answer", "no"]);
    assert_eq!(desk.report("returned.md").as_ref(), Some(&returned));
}

#[test]
fn a_killed_review_ends_with_the_same_report() {
    let expected = undisturbed_report();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for kill in 0..kills() {
        let desk = Desk::new();
        let mut child = desk
            .command(&["run", &example(), "--answer", "yes"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        #[expect(
            clippy::disallowed_methods,
            reason = "the process is killed at a moment of the clock"
        )]
        std::thread::sleep(Duration::from_millis((seed >> 33) % 700));
        child.kill().unwrap();
        child.wait().unwrap();
        finish(&desk);
        assert_eq!(desk.report("accepted.md").as_ref(), Some(&expected), "kill {kill}");
        assert!(
            desk.prints(&["replay", "--check", "review"]).starts_with("identical: "),
            "kill {kill}"
        );
        assert!(desk.prints(&["fsck"]).contains("sound"), "kill {kill}");
    }
}

fn kills() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test has no command line of its own")]
    let wanted = std::env::var("DUET_KILLS").ok();
    wanted.and_then(|number| number.parse().ok()).unwrap_or(KILLS)
}

fn undisturbed_report() -> String {
    let desk = Desk::new();
    desk.prints(&["run", &example(), "--answer", "yes"]);
    desk.report("accepted.md").unwrap()
}

/// Resumes the run, or starts it if the kill came before its first record was durable.
fn finish(desk: &Desk) {
    let has_begun = Path::exists(&desk.folder.path().join(".duet/journal.sqlite"))
        && String::from_utf8_lossy(&desk.duet(&["runs"]).stdout).contains("\nreview");
    if has_begun {
        desk.prints(&["resume", "review", "--answer", "yes"]);
    } else {
        desk.prints(&["run", &example(), "--answer", "yes"]);
    }
}

/// The commands of the section "Five minutes" of `README.md`, without those that only print.
fn commands_of_the_readme() -> String {
    let readme = include_str!("../../README.md");
    let section = readme.split("## Five minutes").nth(1).unwrap();
    let section = section.split("## A first program").next().unwrap();
    let blocks = section
        .split("```sh\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap());
    blocks.filter(|block| !block.starts_with("alias")).collect()
}

#[test]
fn the_commands_of_the_readme_work_on_any_tree() {
    let desk = Desk::new();
    desk.prints(&["run", &example(), "--answer", "yes", "--", "."]);
    let folder = Path::new(env!("CARGO_BIN_EXE_duet")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let script = format!("set -eu\n{}", commands_of_the_readme());
    let done = Command::new("sh")
        .args(["-c", &script])
        .env("PATH", path)
        .current_dir(desk.folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{messages}");
    assert!(script.contains("duet fork") && script.contains("duet goto"), "{script}");
}
