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
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::support::process::Peer;

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

/// An agent that reads each message as a route and answers with the length of its canonical text.
const READER: &str = "(import (duet base) (duet dataspace) (duet routes) (duet routes wire))
(define-agent reader
  (tape A)
  (receiver \"A --> A\"
    (lambda (message context) (move 'ok (string-length (route->string (->route message))))))
  (sender \"A --> A\" (lambda (context) (event-data (context-event context)))))
(on-message (route/cycle reader _ _ _ _ _ $failures)
  (for-each (lambda (failure) (display (cadr failure)) (newline)) failures))
(on-assert (route/joined reader $peer) (display \"joined\") (newline))
(start-agent! reader)
(join-relay! 'reader PORT)";

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

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The line by which a client sends a text.
fn line(text: &str) -> String {
    let line = serde_json::json!({"_version": "1.3.0", "_payload": text, "_type": "str"});
    format!("{line}\n")
}

#[test]
fn a_peer_that_breaks_the_rules_costs_its_own_connection_and_nothing_else() {
    let place = Place::new();
    let free = free_port();
    let mut relay = place.duet("relay", RELAY, free);
    assert_eq!(relay.line(), free.to_string());
    let mut reader = place.duet("reader", READER, free);
    assert_eq!(reader.line(), "joined");
    let join = || TcpStream::connect(("127.0.0.1", free)).unwrap();
    let mut good = join();
    good.set_read_timeout(Some(Duration::from_secs(60))).unwrap();

    // A line without its end, of a peer that stays and of one that leaves.
    let mut silent = join();
    silent.write_all(b"{\"_version\"").unwrap();
    let mut leaving = join();
    leaving.write_all(b"{\"half\"").unwrap();
    drop(leaving);
    assert_eq!(reader.line(), "bad-token", "what a peer sent before it left is a text");
    // A line that never ends: the relay closes the connection long before it has 100 MB.
    let mut endless = join();
    let part = vec![b'x'; 1 << 20];
    let sent = (0..100).take_while(|_| endless.write_all(&part).is_ok()).count();
    assert!(sent < 100, "the relay took {sent} MiB of one line");
    let mut garbled = join();
    garbled.write_all(b"\xff\n").unwrap();
    garbled.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let end = garbled.read_to_string(&mut String::new());
    let is_open = end
        .as_ref()
        .is_err_and(|error| error.kind() != ErrorKind::ConnectionReset);
    assert!(!is_open, "a connection whose peer sends no text has not ended: {end:?}");

    // Routes that are too much for whoever reads them, and one that is not.
    let members: Vec<String> = (0..9000).map(|number| format!("a{number}")).collect();
    for (route, reason) in [
        ("A,".repeat(30_000) + "A", "route-too-long"),
        ("A,".repeat(60_000) + "A", "message-too-large"),
        (format!("/oneof({},)", members.join(",")), "empty-token"),
        ("(".repeat(60_000), "bad-token"),
        ("A-->".repeat(16_000), "bad-token"),
    ] {
        good.write_all(line(&route).as_bytes()).unwrap();
        assert_eq!(reader.line(), reason);
    }
    for (route, length) in [
        (format!("/oneof({})", members.join(",")), 52_897),
        ("A --> B".into(), 9),
    ] {
        good.write_all(line(&route).as_bytes()).unwrap();
        let answer = format!("\\\"_payload\\\":{length},");
        let heard = BufReader::new(&good)
            .lines()
            .find(|line| line.as_ref().unwrap().contains(&answer));
        assert!(heard.is_some());
    }
}

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
    let free = free_port();
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
