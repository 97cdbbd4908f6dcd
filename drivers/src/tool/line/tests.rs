//! Connections between the tools and plain sockets of this process.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure; peers are threads"
)]

use std::future::poll_fn;
use std::io::{Read as _, Write as _};
use std::net;
use std::task::Poll;

use preserves::ValueImpl;
use tokio::runtime::Runtime;

use super::*;

/// The tools, and the number of calls.
struct Desk {
    runtime: Runtime,
    tools: Vec<Line>,
    calls: u64,
}

impl Desk {
    fn new(hosts: &[&str]) -> Self {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        Self {
            runtime: Runtime::new().unwrap(),
            tools: Lines::new(Hosts::of(&hosts).unwrap()).tools().collect(),
            calls: 0,
        }
    }

    fn start(&mut self, tool: &str, payload: &str) -> Call {
        self.calls += 1;
        let context = Context {
            key: format!("key-{}", self.calls),
            tool: tool.to_owned(),
            ..Context::default()
        };
        let found = self.tools.iter().find(|known| known.description.name == tool).unwrap();
        found.call(payload.parse().unwrap(), context)
    }

    fn call(&mut self, tool: &str, payload: &str) -> Outcome {
        let call = self.start(tool, payload);
        self.runtime.block_on(call)
    }

    /// Listens and lets a plain socket connect; returns the socket and the connection's name.
    fn pair(&mut self) -> (net::TcpStream, String) {
        let listener = self.call("line/listen", "{port: 0}").unwrap();
        let port: u16 = format!("{:?}", field(&listener, "port")).parse().unwrap();
        let socket = net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let payload = format!("{{listener: {:?}}}", field(&listener, "listener"));
        let accepted = self.call("line/accept", &payload).unwrap();
        let peer = field(&accepted, "peer");
        assert_eq!(peer, IOValue::new(socket.local_addr().unwrap().to_string()));
        (socket, string(&field(&accepted, "connection")).unwrap())
    }

    fn receive(&mut self, name: &str) -> Outcome {
        self.call("line/receive", &format!("{{connection: {name:?}}}"))
    }
}

fn field(value: &IOValue, name: &str) -> IOValue {
    value.get(&preserves::Value::symbol(name.to_owned())).unwrap().into()
}

#[test]
fn lines_arrive_whole_however_they_were_cut() {
    let mut desk = Desk::new(&[]);
    let (mut socket, name) = desk.pair();
    socket.write_all("one\r\ntwo\n\nhälf".as_bytes()).unwrap();
    let texts: Vec<Outcome> = (0..3).map(|_| desk.receive(&name)).collect();
    assert_eq!(texts, ["one", "two", ""].map(|text| Ok(IOValue::new(text.to_owned()))));

    // A call that is given up loses no byte.
    let call = desk.start("line/receive", &format!("{{connection: {name:?}}}"));
    desk.runtime
        .block_on(async { timeout(Duration::from_millis(20), call).await.unwrap_err() });
    socket.write_all(b" done").unwrap();
    drop(socket);
    assert_eq!(desk.receive(&name), Ok(IOValue::new("hälf done".to_owned())));
    assert_eq!(desk.receive(&name), Ok(IOValue::new(false)));
    assert_eq!(desk.receive(&name).unwrap_err().kind, "not-found");
}

#[test]
fn lines_are_sent_to_listed_hosts_only() {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let payload = format!("{{host: \"127.0.0.1\", port: {port}}}");
    let failure = Desk::new(&[]).call("line/connect", &payload).unwrap_err();
    assert_eq!(failure.kind, "denied");

    let mut desk = Desk::new(&[&format!("127.0.0.1:{port}")]);
    let opened = desk.call("line/connect", &payload).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    let name = field(&opened, "connection");
    let sent = desk.call("line/send", &format!("{{connection: {name:?}, line: \"ä b\"}}"));
    assert_eq!(sent, Ok(IOValue::new(true)));
    let failure = desk.call("line/send", &format!("{{connection: {name:?}, line: \"a\\nb\"}}"));
    assert_eq!(failure.unwrap_err().kind, "bad-argument");
    let closed = desk.call("line/close", &format!("{{connection: {name:?}}}"));
    assert_eq!(closed, Ok(IOValue::new(true)));
    let mut text = String::new();
    peer.read_to_string(&mut text).unwrap();
    assert_eq!(text, "ä b\n");
    for payload in ["{host: \"x\", port: 65536}", "{host: \"x\", port: 0}"] {
        assert_eq!(
            desk.call("line/connect", payload).unwrap_err().kind,
            "bad-argument",
            "{payload}"
        );
    }
}

#[test]
fn a_peer_that_breaks_the_rules_costs_its_own_connection() {
    let mut desk = Desk::new(&[]);
    let (mut endless, one) = desk.pair();
    let (mut garbled, two) = desk.pair();
    let (mut good, three) = desk.pair();
    let writer = std::thread::spawn(move || {
        // The connection ends before all is sent.
        let _ = endless.write_all(&vec![b'x'; 100 << 20]);
    });
    garbled.write_all(b"\xff\n").unwrap();
    good.write_all(b"fine\n").unwrap();
    assert_eq!(desk.receive(&one).unwrap_err().kind, "output-limit");
    assert_eq!(desk.receive(&two).unwrap_err().kind, "bad-result");
    assert_eq!(desk.receive(&three), Ok(IOValue::new("fine".to_owned())));
    assert_eq!(desk.receive(&one).unwrap_err().kind, "not-found");
    writer.join().unwrap();
}

#[test]
fn closing_ends_the_wait_for_a_line() {
    let mut desk = Desk::new(&[]);
    let (_socket, name) = desk.pair();
    let mut waiting = desk.start("line/receive", &format!("{{connection: {name:?}}}"));
    let is_over = desk.runtime.block_on(async {
        let once = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_ready()));
        once.await
    });
    assert!(!is_over, "no line has come");
    let waiting = desk.runtime.spawn(waiting);
    let payload = format!("{{connection: {name:?}}}");
    assert_eq!(desk.call("line/close", &payload), Ok(IOValue::new(true)));
    assert_eq!(desk.runtime.block_on(waiting).unwrap(), Ok(IOValue::new(false)));
    assert_eq!(desk.call("line/close", &payload), Ok(IOValue::new(false)));
}
