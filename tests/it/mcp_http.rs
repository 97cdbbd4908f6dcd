//! `duet mcp --listen`: who is answered, by what headers, and what strangers cannot do.
//!
//! INVARIANT: each test has a server of its own, at a port that the system chose.
//! The tests of `mcp_server.rs` cover the meaning of messages.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure; a server reads connections that say nothing"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::mcp_server::{PROGRAM, modern_meta, request};
use crate::support::desk::Desk;

/// A server over HTTP, which ends with the test.
pub(crate) struct Served(Child, pub(crate) String);

impl Served {
    pub(crate) fn start(desk: &Desk, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        command.args(["mcp", "--listen", "127.0.0.1:0"]).args(options);
        Self::begin(desk, command)
    }

    /// Starts it by a script, for which `$0` is the command.
    fn start_in_shell(desk: &Desk, script: &str) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_duet")]);
        Self::begin(desk, command)
    }

    fn begin(desk: &Desk, mut command: Command) -> Self {
        command.current_dir(desk.path("")).env("MCP_TOKEN", "open-sesame");
        command.env("XDG_CONFIG_HOME", desk.path("config"));
        let mut child = command.stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
        Self(child, address)
    }

    /// Sends a request with further headers; returns the status and the body.
    pub(crate) fn post(&self, headers: &str, message: &Value) -> (u16, String) {
        let (head, body) = self.send(headers, message);
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body)
    }

    /// Sends a request with further headers; returns the headers of the response.
    fn head(&self, headers: &str, message: &Value) -> String {
        self.send(headers, message).0
    }

    fn send(&self, headers: &str, message: &Value) -> (String, String) {
        let body = message.to_string();
        let mut stream = TcpStream::connect(&self.1).unwrap();
        let head = format!(
            "POST / HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
            self.1,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn http_serves_who_has_the_token_and_no_page_of_a_browser() {
    let desk = Desk::new(&[("p.scm", PROGRAM)]);
    let served = Served::start(&desk, &["--token", "MCP_TOKEN"]);
    let run = request(
        1,
        "tools/call",
        json!({ "name": "run", "arguments": { "program": "p.scm" } }),
    );
    assert_eq!(served.post("", &run).0, 401);
    assert_eq!(served.post("authorization: Bearer open-sesamf\r\n", &run).0, 401);
    let token = "authorization: Bearer open-sesame\r\n";
    let elsewhere = format!("{token}origin: https://evil.example\r\n");
    assert_eq!(served.post(&elsewhere, &run).0, 403);
    let other = format!("{token}mcp-method: tools/list\r\n");
    assert_eq!(served.post(&other, &run).0, 400);
    let (status, body) = served.post(token, &run);
    let reply: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(status, 200);
    assert!(
        reply["result"]["content"][0]["text"].as_str().unwrap().contains("Who?"),
        "{reply}"
    );
    let said = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(served.post(token, &said).0, 202);
}

#[test]
fn http_answers_a_request_whose_headers_say_what_it_says() {
    let desk = Desk::new(&[]);
    let served = Served::start(&desk, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let ask = |headers: &[&str], method: &str, name: Option<&str>| {
        let mut params = json!({ "_meta": meta });
        if let Some(name) = name {
            params["name"] = name.into();
            params["arguments"] = json!({});
        }
        let headers: String = headers.iter().map(|header| format!("mcp-{header}\r\n")).collect();
        let (status, body) = served.post(&headers, &request(7, method, params));
        let reply: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(reply["id"], 7, "{reply}");
        (status, reply["error"]["code"].as_i64().unwrap_or(0))
    };
    let (revision, call) = ("protocol-version: 2026-07-28", "method: tools/call");
    assert_eq!(
        ask(&[revision, call, "name: runs"], "tools/call", Some("runs")),
        (200, 0)
    );
    assert_eq!(
        ask(&[revision, call, "name: zz"], "tools/call", Some("runs")),
        (400, -32_020)
    );
    assert_eq!(ask(&[], "tools/call", Some("runs")), (400, -32_020));
    for unknown in ["no/such", "initialize", "ping", "logging/setLevel", "prompts/list"] {
        let method = format!("method: {unknown}");
        assert_eq!(ask(&[revision, &method], unknown, None), (404, -32_601), "{unknown}");
    }
    // An older client.
    let list = request(1, "tools/list", json!({}));
    assert_eq!(served.post("mcp-protocol-version: 2025-11-25\r\n", &list).0, 200);
    assert_eq!(served.post("mcp-protocol-version: 1900-01-01\r\n", &list).0, 400);
    assert_eq!(served.post("", &request(1, "no/such", json!({}))).0, 200);
}

#[test]
fn http_without_a_token_serves_programs_and_no_page_of_a_browser() {
    let desk = Desk::new(&[]);
    let served = Served::start(&desk, &[]);
    let list = request(1, "tools/list", json!({}));
    assert_eq!(served.post("", &list).0, 200);
    for page in [
        "origin: https://evil.example\r\n",
        "origin: http://localhost:3000\r\n",
        "origin: null\r\ncontent-type: text/plain\r\n",
        "sec-fetch-site: same-origin\r\n",
    ] {
        let (status, said) = served.post(page, &list);
        assert_eq!(status, 403, "{page}: {said}");
    }
}

#[test]
fn clients_that_take_all_open_files_do_not_end_the_server() {
    let desk = Desk::new(&[]);
    let served = Served::start_in_shell(&desk, "ulimit -n 40; exec \"$0\" mcp --listen 127.0.0.1:0");
    let silent: Vec<_> = (0..60).map(|_| TcpStream::connect(&served.1).unwrap()).collect();
    let open = format!("/proc/{}/fd", served.0.id());
    while fs::read_dir(&open).expect("the server runs").count() < 40 {
        std::thread::yield_now();
    }
    drop(silent);
    let list = request(1, "tools/list", json!({}));
    assert_eq!(served.post("", &list).0, 200);
}

#[test]
fn an_address_of_the_net_needs_a_token() {
    let desk = Desk::new(&[]);
    let said = desk.duet("mcp --listen 0.0.0.0:0");
    assert_eq!(said.code, 2);
    assert!(said.errors.contains("clients need a token"), "{said:?}");
}

#[test]
fn blanks_and_line_ends_around_a_token_are_left_out_and_one_that_cannot_be_sent_is_refused() {
    let desk = Desk::new(&[("token", " open-sesame\r\n\n")]);
    let script = "MCP_TOKEN=$(cat token; echo .); MCP_TOKEN=\"${MCP_TOKEN%.}\" \
                  exec \"$0\" mcp --listen 127.0.0.1:0 --token MCP_TOKEN";
    let served = Served::start_in_shell(&desk, script);
    let list = request(1, "tools/list", json!({}));
    assert_eq!(served.post("authorization: Bearer open-sesame\r\n", &list).0, 200);
    assert_eq!(served.post("authorization: Bearer open\r\n", &list).0, 401);
    for (token, why) in [(" \n", "the token is empty"), ("one\ntwo", "the character '\\n'")] {
        let desk = Desk::new(&[]).knowing("MCP_TOKEN", token.to_owned());
        let said = desk.duet("mcp --listen 127.0.0.1:0 --token MCP_TOKEN");
        assert!(said.code == 2 && said.errors.contains(why), "{token:?}: {said:?}");
    }
}

/// Waits until the run of a program sleeps.
fn until_asleep(desk: &Desk) {
    while !desk.duet("waits p").output.contains("a timer") {}
}

#[test]
fn a_request_over_http_is_cancelled_on_another_connection_of_its_client() {
    let desk = Desk::new(&[("p.scm", "(sleep 60000)")]);
    let served = Served::start(&desk, &[]);
    let call = request(
        7,
        "tools/call",
        json!({ "name": "run", "arguments": { "program": "p.scm" } }),
    );
    let cancel =
        |id: i64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    let own = "mcp-session-id: a\r\n";
    std::thread::scope(|scope| {
        let called = scope.spawn(|| served.post(own, &call));
        until_asleep(&desk);
        // Another client, and an id that is not under way, end nothing.
        for (session, id) in [("mcp-session-id: b\r\n", 7), ("", 7), (own, 8)] {
            assert_eq!(served.post(session, &cancel(id)), (202, String::new()));
        }
        assert!(desk.duet("runs").output.contains("running"));
        assert_eq!(served.post(own, &cancel(7)).0, 202);
        let (status, body) = called.join().unwrap();
        assert_eq!((status, &*body), (200, ""), "there is no reply");
    });
    while desk.duet("runs").output.contains("running") {}
}

#[test]
fn messages_of_strangers_that_are_never_whole_take_a_bounded_part_of_the_memory() {
    let desk = Desk::new(&[]);
    let served = Served::start(&desk, &[]);
    let part = vec![b' '; 15 << 20];
    let begin = || {
        let mut stream = TcpStream::connect(&served.1).unwrap();
        let head = format!(
            "POST / HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n\r\n",
            served.1,
            16 << 20
        );
        // The server may have closed it when others came.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&part));
        stream
    };
    let mut begun: Vec<TcpStream> = (0..16).map(|_| begin()).collect();
    let mut said = Vec::new();
    // It has made room: its connection has ended.
    let _reset = begun[0].read_to_end(&mut said);
    assert!(said.is_empty());
    assert_eq!(served.post("", &request(1, "tools/list", json!({}))).0, 200);
    let status = fs::read_to_string(format!("/proc/{}/status", served.0.id())).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: u64 = resident
        .and_then(|text| text.split_whitespace().next())
        .unwrap()
        .parse()
        .unwrap();
    assert!(kilobytes < 160 << 10, "{kilobytes} KiB");
}

#[test]
fn a_handshake_over_http_names_a_session_that_no_other_client_has() {
    let desk = Desk::new(&[]);
    let served = Served::start(&desk, &[]);
    let shake = request(1, "initialize", json!({ "protocolVersion": "2025-11-25" }));
    let session = || {
        let head = served.head("", &shake);
        let line = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        line.expect("a session").to_owned()
    };
    let (one, other) = (session(), session());
    assert!(one != other && one.len() == 32, "{one} {other}");
    assert!(
        !served
            .head("", &request(1, "tools/list", json!({})))
            .contains("mcp-session-id")
    );
}

#[test]
fn headers_that_repeat_a_message_have_to_agree_with_it() {
    let desk = Desk::new(&[]);
    let served = Served::start(&desk, &[]);
    let check = |headers: &str, message: &Value, status: u16, code: i64| {
        let (said, body) = served.post(headers, message);
        let reply: Value = serde_json::from_str(&body).unwrap();
        let found = reply["error"]["code"].as_i64().unwrap_or(0);
        assert_eq!((said, found), (status, code), "{headers}: {body}");
        assert_eq!(reply["id"], message["id"], "{headers}: {body}");
    };
    let call = request(
        7,
        "tools/call",
        json!({ "name": "runs", "arguments": {}, "_meta": modern_meta() }),
    );
    let version = "mcp-protocol-version: 2026-07-28\r\n";
    let method = format!("{version}mcp-method: tools/call\r\n");
    check(&format!("{method}mcp-name:  runs \r\n"), &call, 200, 0);
    check(&format!("{method}mcp-name: =?base64?cnVucw==?=\r\n"), &call, 200, 0);
    check(&format!("{method}mcp-name: zz\r\n"), &call, 400, -32_020);
    check(&method, &call, 400, -32_020);
    check(&format!("{version}mcp-name: runs\r\n"), &call, 400, -32_020);
    check("mcp-method: tools/call\r\nmcp-name: runs\r\n", &call, 400, -32_020);
    let discover = |params: Value| request(8, "server/discover", params);
    let asked = format!("{version}mcp-method: server/discover\r\n");
    check(&asked, &discover(json!({})), 400, -32_602);
    let short = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
    check(&asked, &discover(short), 400, -32_602);
    for method in ["initialize", "ping", "logging/setLevel", "prompts/list", "no/such"] {
        let message = request(9, method, json!({ "_meta": modern_meta() }));
        check(&format!("{version}mcp-method: {method}\r\n"), &message, 404, -32_601);
    }
    let ping = request(10, "ping", json!({}));
    check("mcp-protocol-version: 2025-11-25\r\n", &ping, 200, 0);
    check("mcp-protocol-version: 1900-01-01\r\n", &ping, 400, -32_022);
}

#[test]
fn idle_strangers_lock_nobody_out() {
    let desk = Desk::new(&[]);
    let served = Served::start(&desk, &["--token", "MCP_TOKEN"]);
    let idle: Vec<_> = (0..300).map(|_| TcpStream::connect(&served.1).unwrap()).collect();
    let list = request(1, "tools/list", json!({}));
    assert_eq!(served.post("authorization: Bearer open-sesame\r\n", &list).0, 200);
    drop(idle);
}

#[test]
fn messages_that_are_never_whole_lock_nobody_out() {
    let desk = Desk::new(&[]);
    let served = Served::start(&desk, &[]);
    let list = request(1, "tools/list", json!({}));
    let begun = |_| {
        let mut stream = TcpStream::connect(&served.1).unwrap();
        let head = format!(
            "POST / HTTP/1.1\r\nhost: {}\r\ncontent-length: 1000\r\n\r\n{{",
            served.1
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let begun: Vec<TcpStream> = (0..300).map(begun).collect();
    // The server has read the beginnings when it answers the one that came last.
    for _ in 0..3 {
        assert_eq!(served.post("", &list).0, 200);
    }
    drop(begun);
}
