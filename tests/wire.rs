//! Agents by the Summoner profile and peers in Python, over a relay of either kind.
//!
//! INVARIANT: the peers know only the protocol, and use nothing but Python's standard library.
//! Where there is no `python3` these tests say so and show nothing.
//! Read next: `python/summoner_client.py`, then `../stdlib/duet/routes/wire.scm`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed step of a test is its failure; a test that shows nothing says so"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// An agent that answers each message with what it heard.
const ECHO: &str = "(import (duet base) (duet dataspace) (duet routes) (duet routes wire))
(define-agent echo
  (tape A)
  (receiver \"A --> A\" (lambda (message context) (move 'ok)))
  (sender \"A --> A\" :on (move) :when (ok)
    (lambda (context) (dictionary 'echo (context-message context)))))
(on-assert (route/joined echo $peer) (display \"joined\") (newline))
(start-agent! echo)
(join-relay! 'echo PORT)";

const RELAY: &str = "(import (duet base) (duet dataspace) (duet routes wire))
(on-assert (route/relay $port) (display port) (newline))
(start-relay! PORT)";

/// A process that ends with its test, and what it prints.
struct Peer {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Peer {
    fn start(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = piped.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

/// A folder with programs.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Starts a program that may speak to a port.
    fn duet(&self, name: &str, text: &str, port: u16) -> Peer {
        let folder = self.0.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        let manifest = format!("((program \"main.scm\") (tools line/*) (hosts \"127.0.0.1:{port}\"))");
        fs::write(folder.join("manifest.scm"), manifest).unwrap();
        fs::write(folder.join("main.scm"), text.replace("PORT", &port.to_string())).unwrap();
        self.run(&["run", name, "--journal", &format!("{name}.sqlite")])
    }

    fn run(&self, words: &[&str]) -> Peer {
        Peer::start(
            Command::new(env!("CARGO_BIN_EXE_duet"))
                .args(words)
                .current_dir(self.0.path()),
        )
    }
}

fn python(script: &str, words: &[&str]) -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let mut command = Command::new("python3");
    command.arg(path).args(words);
    command
}

fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("THERE IS NO python3: the wire of routes was not tried with a peer");
    }
    found
}

/// Sends payloads to whoever is at a relay until each has come back.
fn ask(port: u16, payloads: &[&str]) -> String {
    let (port, count) = (port.to_string(), payloads.len().to_string());
    let words: Vec<&str> = [&*port, &*count].into_iter().chain(payloads.iter().copied()).collect();
    let mut client = Peer::start(&mut python("summoner_client.py", &words));
    let mut text = String::new();
    client.output.read_to_string(&mut text).unwrap();
    text
}

const PAYLOADS: [&str; 6] = [
    "{\"a\": 1, \"b\": [true, null, \"1\", 2.5]}",
    "\"plain text, ä\"",
    "\"{\\\"a\\\": 1}\"",
    "7",
    "1.0",
    "[]",
];
const ECHOED: &str = "{\"echo\": \"plain text, ä\"}\n{\"echo\": \"{\\\"a\\\": 1}\"}\n{\"echo\": 1.0}\n{\"echo\": 7}\n\
                      {\"echo\": []}\n{\"echo\": {\"a\": 1, \"b\": [true, null, \"1\", 2.5]}}\n";

#[test]
fn an_agent_and_a_peer_meet_at_a_relay_in_python() {
    if !has_python() {
        return;
    }
    let mut relay = Peer::start(&mut python("summoner_relay.py", &[]));
    let port: u16 = relay.line().parse().unwrap();
    let place = Place::new();
    let mut echo = place.duet("echo", ECHO, port);
    assert_eq!(echo.line(), "joined");
    assert_eq!(ask(port, &PAYLOADS), ECHOED);
}

#[test]
fn an_agent_and_a_peer_meet_at_a_relay_of_duet_that_was_killed_once() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut relay = place.duet("relay", RELAY, free);
    assert_eq!(relay.line(), free.to_string());
    let mut echo = place.duet("echo", ECHO, free);
    assert_eq!(echo.line(), "joined");
    assert_eq!(ask(free, &PAYLOADS), ECHOED);

    drop(relay);
    let mut relay = place.run(&["resume", "relay", "--journal", "relay.sqlite"]);
    assert_eq!(relay.line(), free.to_string());
    assert_eq!(echo.line(), "joined");
    assert_eq!(
        ask(free, &PAYLOADS[..1]),
        ECHOED.lines().last().unwrap().to_owned() + "\n"
    );
    drop(echo);
    let mut replay = place.run(&["replay", "echo", "--check", "--journal", "echo.sqlite"]);
    assert!(replay.process.wait().unwrap().success());
}

#[test]
fn a_connection_whose_closing_is_interrupted_costs_the_relay_nothing() {
    let place = Place::new();
    let folder = place.0.path();
    let program = "(import (duet base) (scheme process-context) (duet dataspace) (duet routes wire))
        (start-relay! 1) (sleep 300) (display \"it lives\") (exit)";
    let doubles = "{\"line/listen\": [<returns {listener: \"l\" port: 1}>]
        \"line/accept\": [<returns {connection: \"c\" peer: \"p\"}> <after 100000 <returns #f>>]
        \"line/receive\": [<returns #f>]
        \"line/close\": [<fails interrupted \"the process ended\"> <returns #t>]}";
    fs::write(folder.join("relay.scm"), program).unwrap();
    fs::write(folder.join("relay.pr"), doubles).unwrap();
    let mut relay = place.run(&["run", "relay.scm", "--double", "relay.pr"]);
    assert_eq!(relay.line(), "it lives");
    assert!(relay.process.wait().unwrap().success());
}
