//! `examples/oncall` by the real command: an alert comes in, a person approves, the cure is taken
//! back; the run goes back and takes another way; it is killed in the middle of an alert.
//!
//! INVARIANT: the server of tools is the example's own, a program of Duet, and the model is a
//! double; so the tests need neither Python nor the network.
//! It does not test the limits of requests; `../drivers/src/tool/webhook/tests.rs` does.
//! Read next: `agents.rs`, `webhooks.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and waits for other processes"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::process::Peer;
use tempfile::TempDir;

const FOLDER: &str = "examples/oncall";
const HASTY: &str = "examples/oncall/hasty.pr";
const CAREFUL: &str = "examples/oncall/careful.pr";
const SHOP: &str = "examples/oncall/shop";

/// The model that thinks for longer than the test takes.
const SLOW: &str = "{\"model/chat\": [<after 600000 <returns {content: \"\"}>>]}";

/// A copy of the example, and the command run beside it.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
        fs::create_dir_all(desk.path(SHOP)).unwrap();
        for file in [
            "manifest.scm",
            "oncall.scm",
            "hasty.pr",
            "careful.pr",
            "shop/server.scm",
        ] {
            fs::copy(from.join(file), desk.path(FOLDER).join(file)).unwrap();
        }
        fs::write(desk.path("slow.pr"), SLOW).unwrap();
        desk
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        command.args(words).current_dir(self.0.path());
        command.env("ALERT_TOKEN", "a-long-token");
        command
    }

    /// Runs a command that must end with an exit code, and returns what it printed.
    #[track_caller]
    fn ends_with(&self, exit_code: i32, words: &[&str]) -> String {
        let output = self.command(words).stdin(Stdio::null()).output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(exit_code), "duet {words:?}:\n{messages}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn prints(&self, words: &[&str]) -> String {
        self.ends_with(0, words)
    }

    /// Starts a run that the test talks to.
    fn starts(&self, words: &[&str]) -> Run {
        Run {
            peer: Peer::start(&mut self.command(words)),
            earlier: Vec::new(),
        }
    }

    /// The number of the newest turn whose line in the log has a text.
    #[track_caller]
    fn turn(&self, branch: &str, text: &str) -> u64 {
        let log = self.prints(&["log", branch]);
        let line = log.lines().find(|line| line.contains(text));
        let number = line.and_then(|line| line.split_whitespace().find_map(|word| word.parse().ok()));
        number.unwrap_or_else(|| panic!("no turn of {branch} has {text:?}:\n{log}"))
    }

    /// The number of the question for approval of a branch, if there is one.
    fn approval(&self, branch: &str) -> Option<String> {
        let waits = self.prints(&["waits", branch]);
        let line = waits
            .lines()
            .find(|line| line.contains("approval: Allow shop/change"))?;
        line.split_whitespace().nth(1).map(str::to_owned)
    }

    fn settings(&self) -> String {
        fs::read_to_string(self.path(SHOP).join("settings.json")).unwrap_or_default()
    }

    #[track_caller]
    fn replays(&self, branches: &[&str]) {
        for branch in branches {
            let said = self.prints(&["replay", "--check", branch]);
            assert!(said.starts_with("identical: "), "{branch}: {said}");
        }
    }

    /// Asks the person for the alert, and goes on until the change waits for approval.
    #[track_caller]
    fn proposed(double: &str) -> Self {
        let desk = Self::new();
        let printed = desk.ends_with(
            4,
            &["run", FOLDER, "--double", double, "--answer", "It is slow.", "--", SHOP],
        );
        assert!(printed.starts_with("alert: proposed: "), "{printed}");
        assert_eq!(desk.settings(), "");
        desk
    }
}

/// A process that executes a run.
struct Run {
    peer: Peer,
    /// The lines that it printed before it named its port.
    earlier: Vec<String>,
}

impl Run {
    fn line(&mut self) -> String {
        self.peer.line()
    }

    /// Waits until requests are taken, and returns the port.
    fn port(&mut self) -> String {
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "the run has ended");
            if let Some(port) = line.strip_prefix("alerts: port ") {
                return port.to_owned();
            }
            self.earlier.push(line);
        }
    }
}

/// Sends an alert, with a token.
fn send(port: &str, token: &str, body: &str) -> TcpStream {
    let mut socket = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let head = format!("POST / HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n");
    let length = body.len();
    let request = format!("{head}content-length: {length}\r\n\r\n{body}");
    socket.write_all(request.as_bytes()).unwrap();
    socket
}

fn answer(mut socket: TcpStream) -> String {
    let mut answer = String::new();
    // A connection that broke has an answer of no characters.
    let _ = socket.read_to_string(&mut answer);
    answer
}

const ALERT: &str = "{\"id\": \"a-1\", \"text\": \"The checkout is slow.\"}";

#[test]
fn a_cure_that_makes_it_worse_is_taken_back_and_another_one_is_tried() {
    let desk = Desk::proposed(HASTY);
    let printed = desk.prints(&["resume", "oncall", "--approve", "shop/change"]);
    assert_eq!(
        printed,
        "alert: rolled-back: 180 ms, 68 % fail; without the change 4200 ms, 0 % fail\n"
    );
    let back = "{\"pool\":10,\"reports\":8}";
    assert_eq!(
        desk.settings(),
        format!("[{back},{{\"pool\":40,\"reports\":8}},{back}]")
    );

    let asked = desk.turn("oncall", "ask \"What is wrong");
    desk.prints(&["goto", &format!("oncall@{asked}")]);
    let words = [
        "resume",
        "oncall",
        "--answer",
        "Read the log.",
        "--double",
        CAREFUL,
        "--approve",
    ];
    let printed = desk.prints(&[&words[..], &["shop/change"]].concat());
    assert!(
        printed.ends_with("alert: mended: 4200 ms, 0 % fail before, 180 ms, 0 % fail now\n"),
        "{printed}"
    );
    assert!(
        desk.settings().ends_with("{\"pool\":10,\"reports\":2}]"),
        "{}",
        desk.settings()
    );

    let found = desk.turn("oncall", "says \"{");
    let other = "{content: \"{\\\"cause\\\": \\\"I guess.\\\", \\\"setting\\\": \\\"pool\\\", \\\"value\\\": 12}\"}";
    let printed = desk.ends_with(4, &["amend", &format!("oncall@{found}"), other, "--branch", "twelve"]);
    assert_eq!(printed, "alert: proposed: I guess. Set pool to 12.\n");
    let number = desk.approval("oncall/twelve").unwrap();
    let printed = desk.prints(&["answer", "oncall/twelve", &number, "yes"]);
    assert!(printed.starts_with("alert: mended: 180 ms"), "{printed}");
    let branches = desk.prints(&["branches", "oncall"]);
    assert_eq!(branches.lines().count(), 3, "{branches}");
    desk.replays(&["oncall/main", "oncall/twelve"]);
}

#[test]
fn going_back_across_an_approved_change_names_the_tool_whose_effect_stays() {
    let desk = Desk::proposed(CAREFUL);
    desk.prints(&["resume", "oncall", "--approve", "shop/change"]);
    let output = desk.command(&["goto", "oncall@1"]).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(
        messages.contains("the effects of shop/change in those turns stay"),
        "{messages}"
    );
    // Looking has none.
    for tool in ["mcp:tools", "shop/status", "shop/log"] {
        assert!(!messages.contains(tool), "{messages}");
    }
}

#[test]
fn the_approval_of_one_branch_does_not_answer_that_of_another() {
    let desk = Desk::proposed(HASTY);
    let turn = desk.turn("oncall", "ask for approval of: call shop/change");
    desk.prints(&["fork", &format!("oncall@{turn}"), "other"]);
    let number = desk.approval("oncall/main").unwrap();
    let printed = desk.prints(&["answer", "oncall/main", &number, "yes"]);
    assert!(printed.starts_with("alert: rolled-back: "), "{printed}");

    let settings = desk.settings();
    desk.ends_with(4, &["resume", "oncall/other"]);
    assert_eq!(desk.settings(), settings);
    let number = desk.approval("oncall/other").unwrap();
    let printed = desk.prints(&["answer", "oncall/other", &number, "no"]);
    assert!(printed.starts_with("alert: refused: "), "{printed}");
    assert_eq!(desk.settings(), settings);
    desk.replays(&["oncall/main", "oncall/other"]);
}

#[test]
fn an_alert_is_answered_once_it_is_understood_and_only_with_the_token() {
    let desk = Desk::new();
    let mut run = desk.starts(&["run", FOLDER, "--double", HASTY, "--", SHOP, "0"]);
    let port = run.port();
    assert!(answer(send(&port, "a-long-tokem", ALERT)).starts_with("HTTP/1.1 401 "));
    let said = answer(send(&port, "a-long-token", ALERT));
    assert!(said.starts_with("HTTP/1.1 202 "), "{said}");
    assert!(said.contains("Set pool to 40."), "{said}");
    // The same alert again is the same incident, and the model is not asked again.
    assert_eq!(
        answer(send(&port, "a-long-token", ALERT)).lines().last(),
        said.lines().last()
    );
    assert!(answer(send(&port, "a-long-token", "{\"id\": 1}")).starts_with("HTTP/1.1 400 "));

    assert!(run.line().starts_with("a-1: proposed: "));
    let number = desk.approval("oncall").unwrap();
    desk.prints(&["answer", "oncall", &number, "yes"]);
    assert!(run.line().starts_with("a-1: rolled-back: "));
    drop(run);
    desk.replays(&["oncall"]);
}

#[test]
fn an_alert_that_a_kill_left_without_an_answer_is_recorded_and_answered_when_it_comes_again() {
    let desk = Desk::new();
    let mut run = desk.starts(&["run", FOLDER, "--double", "slow.pr", "--", SHOP, "0"]);
    let waiting = send(&run.port(), "a-long-token", ALERT);
    // The model has been asked.
    while !desk.prints(&["log", "oncall"]).contains("investigator asks") {
        thread::sleep(Duration::from_millis(50));
    }
    drop(run);
    assert_eq!(answer(waiting), "");

    let mut run = desk.starts(&["resume", "oncall", "--double", HASTY]);
    let port = run.port();
    let said = answer(send(&port, "a-long-token", ALERT));
    assert!(
        said.starts_with("HTTP/1.1 202 ") && said.contains("Set pool to 40."),
        "{said}"
    );
    // A run that goes on may come so far before it listens again.
    let proposed = run.earlier.pop().unwrap_or_else(|| run.line());
    assert!(proposed.starts_with("a-1: proposed: "), "{proposed}");
    let lost = desk.prints(&["facts", "oncall", "unanswered"]);
    assert!(
        lost.contains("the client has gone, with its connection or with an earlier process"),
        "{lost}"
    );
    assert_eq!(desk.prints(&["facts", "oncall", "incident"]).lines().count(), 1);
    drop(run);
    desk.replays(&["oncall"]);
}

#[test]
fn without_the_token_in_the_environment_no_alert_is_taken() {
    let desk = Desk::new();
    let mut command = desk.command(&["run", FOLDER, "--double", HASTY, "--", SHOP, "0"]);
    let mut process = command
        .env_remove("ALERT_TOKEN")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(
        line.contains("the stand-in of `ALERT_TOKEN`, which is no secret of this run"),
        "{line}"
    );
}
