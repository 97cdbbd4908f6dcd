//! Connections between the tools and plain sockets of this process.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure; peers are threads"
)]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use tokio::runtime::Runtime;

use super::*;
use crate::framing::Encoding;

const REFERENCE: &str = "<ref {oid: \\\"a\\\" sig: #x\\\"00\\\"}>";

fn value(text: &str) -> IOValue {
    text.parse().unwrap()
}

/// The tools, and a server whose answer to the gatekeeper's question is given.
struct Desk {
    runtime: Runtime,
    links: Links,
}

impl Desk {
    fn new() -> Self {
        Self {
            runtime: Runtime::new().unwrap(),
            links: Links::new(Hosts::of(&[]).unwrap()),
        }
    }

    fn call(&self, tool: &str, payload: &str) -> Outcome {
        let context = Context {
            key: "key".to_owned(),
            tool: tool.to_owned(),
            ..Context::default()
        };
        let found = self.links.tools().find(|known| known.description.name == tool).unwrap();
        self.runtime.block_on(found.call(value(payload), context))
    }

    /// Connects to a server that gives an answer, and returns its socket.
    fn connect(&mut self, answer: &str) -> (Outcome, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        self.links.hosts = Hosts::of(&[address.to_string()]).unwrap();
        let answer = answer.to_owned();
        let server = thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut asked = [0; 4096];
            let length = socket.read(&mut asked).unwrap();
            assert_eq!(
                asked[..length],
                Encoding::Packed
                    .write(&value("[[0 <A <resolve <ref {oid: \"a\" sig: #x\"00\"}> #:[0 0]> 1>]]"))
                    .unwrap()
            );
            socket.write_all(answer.as_bytes()).unwrap();
            socket
        });
        let port = address.port();
        let payload = format!("{{host: \"127.0.0.1\" port: {port} reference: \"{REFERENCE}\"}}");
        let outcome = self.call("syndicate/connect", &payload);
        (outcome, server.join().unwrap())
    }
}

const ACCEPTED: &str = "[[0 <A <accepted #:[0 7]> 3>]]";
const CONNECTION: &str = "{connection: \"key\"}";

#[test]
fn packets_go_both_ways_with_references_as_records() {
    let mut desk = Desk::new();
    // The server sends text, and packets without meaning in between.
    let (opened, mut socket) = desk.connect(&format!("#f {ACCEPTED} <later> [[1 <A [<a #:[0 5]>] 9>]"));
    let object: IOValue = opened.unwrap().get(&preserves::Value::symbol("object")).unwrap().into();
    assert_eq!(object, value("7"));
    socket.write_all(b" [1 <R 9>]]").unwrap();
    let received = desk.call("syndicate/receive", CONNECTION);
    assert_eq!(received, Ok(value("[[1 <A [<a <'#:' [0 5]>>] 9>] [1 <R 9>]]")));
    let sent = desk.call(
        "syndicate/send",
        "{connection: \"key\" events: [[7 <A <b <'#:' [1 5]>> 2>]]}",
    );
    assert_eq!(sent, Ok(IOValue::new(true)));
    let mut heard = [0; 100];
    let length = socket.read(&mut heard).unwrap();
    let expected = Encoding::Packed.write(&value("[[7 <A <b #:[1 5]> 2>]]")).unwrap();
    assert_eq!(heard[..length], expected);
    drop(socket);
    assert_eq!(desk.call("syndicate/receive", CONNECTION), Ok(IOValue::new(false)));
    let gone = desk.call("syndicate/receive", CONNECTION).unwrap_err();
    assert_eq!(gone.kind, "not-found");
}

#[track_caller]
fn check_refused(answer: &str, kind: &str, words: &str) {
    let mut desk = Desk::new();
    let (opened, socket) = desk.connect(answer);
    // The server ends its side, so that half a packet is not waited for.
    drop(socket);
    let failure = opened
        .and_then(|_| desk.call("syndicate/receive", CONNECTION))
        .unwrap_err();
    assert_eq!(failure.kind, kind, "{}", failure.message);
    assert!(failure.message.contains(words), "{}", failure.message);
}

#[test]
fn a_server_that_breaks_the_rules_is_told() {
    check_refused("[[0 <A <rejected \"no\"> 3>]]", "denied", "the gatekeeper refuses: no");
    check_refused(
        "[[0 <A <error \"no\" #f> 3>]]",
        "denied",
        "the gatekeeper refuses: <error",
    );
    check_refused(
        "[[0 <A <ok #:[1 7]> 3>]]",
        "bad-result",
        "something else than an object",
    );
    check_refused(
        "<error \"go away\" #f>",
        "failed",
        "the server ended the connection: go away",
    );
    check_refused(
        &format!("{ACCEPTED} [[1 <M <'#:' [0 1]>>]]"),
        "bad-result",
        "stands for references",
    );
    check_refused(&format!("{ACCEPTED} HTTP/1.1 400 "), "bad-result", "it is no turn");
    check_refused(
        &format!("{ACCEPTED} [[1 <A 2>]]"),
        "bad-result",
        "in the place of an event",
    );
    check_refused(
        &format!("{ACCEPTED} [[-1 <M 2>]]"),
        "bad-result",
        "in the place of an event",
    );
    check_refused(&format!("{ACCEPTED} [[1 <M"), "bad-result", "ends in the middle");
    check_refused(&format!("{ACCEPTED} ]"), "bad-result", "an end stands");
    check_refused(
        &format!("{ACCEPTED} {}", "[".repeat(300)),
        "bad-result",
        "nested more than 200 levels",
    );
}

#[test]
fn a_value_that_is_no_packet_or_has_a_reference_of_the_run_is_not_sent() {
    let mut desk = Desk::new();
    let (opened, _socket) = desk.connect(ACCEPTED);
    assert!(opened.is_ok());
    for (events, words) in [
        ("[[1 <M #:<facet 1>>]]", "a reference of this run"),
        ("[[1 <M <'#:' 1 2>>]]", "has not exactly one field"),
        ("[[1 <M <'#:'>>]]", "has not exactly one field"),
    ] {
        let failure = desk
            .call("syndicate/send", &format!("{{connection: \"key\" events: {events}}}"))
            .unwrap_err();
        assert_eq!(failure.kind, "bad-argument");
        assert!(failure.message.contains(words), "{}", failure.message);
    }
    // The connection is as it was.
    assert_eq!(desk.call("syndicate/close", CONNECTION), Ok(IOValue::new(true)));
}

#[test]
fn what_is_no_sturdyref_or_not_listed_is_refused_before_anything_is_sent() {
    let desk = Desk::new();
    let call = |reference: &str| {
        let payload = format!("{{host: \"127.0.0.1\" port: 9 reference: {reference:?}}}");
        desk.call("syndicate/connect", &payload).unwrap_err()
    };
    for reference in ["", "<ref", "<ref {}> x", "<reference {}>", "7 "] {
        let failure = call(reference);
        assert_eq!(failure.kind, "bad-argument", "{reference}");
        assert!(!failure.message.contains("reference>"), "a secret is repeated");
    }
    assert_eq!(call("<ref {}>").kind, "denied");
}
