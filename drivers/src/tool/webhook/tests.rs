//! Requests from plain sockets of this process.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure; clients are threads"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread::{self, JoinHandle};

use preserves::ValueImpl;
use tokio::runtime::Runtime;

use super::*;

struct Desk {
    runtime: Runtime,
    tools: Webhooks,
    calls: u64,
    port: u16,
}

impl Desk {
    /// Listens with further options.
    fn new(options: &str) -> Self {
        let mut desk = Self {
            runtime: Runtime::new().unwrap(),
            tools: Webhooks::default(),
            calls: 0,
            port: 0,
        };
        let opened = desk.call("webhook/listen", &format!("{{port: 0 {options}}}")).unwrap();
        desk.port = format!("{:?}", field(&opened, "port")).parse().unwrap();
        desk
    }

    fn call(&mut self, tool: &str, payload: &str) -> Outcome {
        self.calls += 1;
        let context = Context {
            key: format!("key-{}", self.calls),
            tool: tool.to_owned(),
            ..Context::default()
        };
        let found = self.tools.tools().find(|known| known.description.name == tool).unwrap();
        self.runtime.block_on(found.call(payload.parse().unwrap(), context))
    }

    /// Sends bytes, and returns what comes back.
    fn send(&self, bytes: &str) -> JoinHandle<String> {
        let (port, bytes) = (self.port, bytes.to_owned());
        thread::spawn(move || {
            let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
            // The server may refuse before it has read everything.
            let _ = socket.write_all(bytes.as_bytes());
            let mut answer = String::new();
            let _ = socket.read_to_string(&mut answer);
            answer
        })
    }

    fn accept(&mut self) -> IOValue {
        self.call("webhook/accept", "{listener: \"key-1\"}").unwrap()
    }
}

fn field(value: &IOValue, name: &str) -> IOValue {
    value.get(&preserves::Value::symbol(name.to_owned())).unwrap().into()
}

fn post(headers: &str, body: &str) -> String {
    let length = body.len();
    format!("POST /a/b?c=d HTTP/1.1\r\nhost: 127.0.0.1:80\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

#[test]
fn a_request_comes_in_and_the_reply_goes_out() {
    let mut desk = Desk::new("");
    let client = desk.send(&post(
        "x-a: 1\r\nx-a: 2\r\nauthorization: Basic Zm9v\r\ncookie: k\r\nX-Gitlab-Token: t\r\nx-api-key: k\r\n",
        "hällo",
    ));
    let request = desk.accept();
    let expected = "{request: \"key-2\" method: \"POST\" path: \"/a/b\" query: \"c=d\" body: \"hällo\"
        headers: {\"host\": \"127.0.0.1:80\" \"x-a\": \"1, 2\" \"content-length\": \"6\"}}";
    assert_eq!(request, expected.parse().unwrap());
    let reply = "{request: \"key-2\" status: 201 headers: {\"x-b\": \"3\"} body: \"done\"}";
    assert_eq!(desk.call("webhook/reply", reply), Ok(IOValue::new(true)));
    let answer = client.join().unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    assert!(
        answer.contains("x-b: 3\r\n") && answer.ends_with("\r\n\r\ndone"),
        "{answer}"
    );
    // There is one reply to a request.
    assert_eq!(desk.call("webhook/reply", reply), Ok(IOValue::new(false)));
}

#[track_caller]
fn check_answered(options: &str, request: &str, expected: &str) {
    let mut desk = Desk::new(options);
    let answer = desk.send(request).join().unwrap();
    assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{answer}");
    assert_eq!(
        desk.call("webhook/close", "{listener: \"key-1\"}"),
        Ok(IOValue::new(true))
    );
    let gone = desk.call("webhook/accept", "{listener: \"key-1\"}").unwrap_err();
    assert_eq!(gone.kind, "not-found");
}

#[test]
fn a_request_that_the_program_does_not_get_is_answered_all_the_same() {
    check_answered("timeout_ms: 50", &post("", ""), "504 Gateway Timeout");
    check_answered("", "nonsense\r\n\r\n", "400 Bad Request");
    check_answered(
        "",
        &post("", &"x".repeat(intake::BODY_BYTES_MAX + 1)),
        "413 Payload Too Large",
    );
    let large = "x".repeat(300 << 10);
    check_answered(
        "",
        &format!("GET / HTTP/1.1\r\nx: {large}\r\n\r\n"),
        "431 Request Header Fields Too Large",
    );
    check_answered("token: \"s3\"", &post("", ""), "401 Unauthorized");
    check_answered(
        "token: \"s3\"",
        &post("authorization: Bearer s4\r\n", ""),
        "401 Unauthorized",
    );
    check_answered(
        "hmac_key: \"k\"",
        &post("x-hub-signature-256: sha256=0\r\n", ""),
        "401 Unauthorized",
    );
    for header in [
        "authorization: Bearer s",
        "authorization: bearer s",
        "X-Gitlab-Token: s",
        "X-Telegram-Bot-Api-Secret-Token: s",
    ] {
        check_answered(
            "token: \"s\" timeout_ms: 50",
            &post(&format!("{header}\r\n"), ""),
            "504 Gateway Timeout",
        );
    }
    // A file with the token ends with a line end, which no header has.
    check_answered(
        "token: \" s\\r\\n\" timeout_ms: 50",
        &post("authorization: Bearer s\r\n", ""),
        "504 Gateway Timeout",
    );
}

#[test]
fn without_a_secret_no_page_of_a_browser_reaches_the_program() {
    let get = |headers: &str| format!("GET / HTTP/1.1\r\n{headers}\r\n");
    let of_this_machine = ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:8080"];
    for host in of_this_machine {
        check_answered("timeout_ms: 50", &get(&format!("host: {host}\r\n")), "504");
    }
    for headers in [
        "host: evil.example\r\n",
        "host: 127.0.0.1.evil.example:8080\r\n",
        "host: 127.0.0.1@evil.example\r\n",
        "host: \r\n",
        "host: 127.0.0.1\r\norigin: http://evil.example\r\n",
        "host: 127.0.0.1\r\norigin: null\r\n",
        "host: 127.0.0.1\r\nsec-fetch-site: cross-site\r\n",
        "host: 127.0.0.1\r\nsec-fetch-site: same-origin\r\n",
    ] {
        check_answered("timeout_ms: 50", &get(headers), "403 Forbidden");
    }
    // A secret is proof enough, wherever the server in front of this one comes from.
    let bearer = "host: shop.example\r\norigin: https://shop.example\r\nauthorization: Bearer s\r\n";
    check_answered("token: \"s\" timeout_ms: 50", &get(bearer), "504");
}

#[test]
fn idle_connections_lock_nobody_out() {
    for options in ["", "token: \"s\""] {
        let mut desk = Desk::new(options);
        let idle: Vec<_> = (0..300)
            .map(|_| TcpStream::connect(("127.0.0.1", desk.port)).unwrap())
            .collect();
        let client = desk.send(&post("authorization: Bearer s\r\n", ""));
        desk.accept();
        let reply = "{request: \"key-2\" status: 204}";
        assert_eq!(desk.call("webhook/reply", reply), Ok(IOValue::new(true)));
        let answer = client.join().unwrap();
        assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
        drop(idle);
    }
}

/// Source: GitHub, "Validating webhook deliveries", its example.
#[test]
fn a_signature_of_the_body_is_checked() {
    let key = "hmac_key: \"It's a Secret to Everybody\" timeout_ms: 50";
    let signature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let header = format!("x-hub-signature-256: sha256={signature}\r\n");
    check_answered(key, &post(&header, "Hello, World!"), "504 Gateway Timeout");
    check_answered(key, &post(&header, "Hello, World?"), "401 Unauthorized");
}

#[test]
fn a_request_whose_listener_or_process_ends_is_answered_with_503() {
    let mut desk = Desk::new("");
    let client = desk.send(&post("", ""));
    desk.accept();
    desk.tools.with(|open| open.requests.clear());
    let answer = client.join().unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 Service Unavailable"), "{answer}");
}

#[test]
fn what_cannot_be_listened_for_or_replied_is_refused() {
    let mut desk = Desk::new("");
    let taken = format!("{{port: {}}}", desk.port);
    for (tool, payload, kind) in [
        ("webhook/listen", &*taken, "unavailable"),
        ("webhook/listen", "{port: 70000}", "bad-argument"),
        ("webhook/listen", "{port: 0 token: \"\"}", "bad-argument"),
        ("webhook/listen", "{port: 0 token: \" \\n\"}", "bad-argument"),
        ("webhook/listen", "{port: 0 token: \"a\\nb\"}", "bad-argument"),
        (
            "webhook/listen",
            "{port: 0 token: \"{{secret:NOT_SET}}\"}",
            "bad-argument",
        ),
        (
            "webhook/listen",
            "{port: 0 hmac_key: \"k{{secret:NOT_SET}}\"}",
            "bad-argument",
        ),
        ("webhook/reply", "{request: \"x\" status: 99}", "bad-argument"),
        (
            "webhook/reply",
            "{request: \"x\" status: 200 headers: {\"a\": \"\\n\"}}",
            "bad-argument",
        ),
        ("webhook/accept", "{listener: \"x\"}", "not-found"),
    ] {
        assert_eq!(desk.call(tool, payload).unwrap_err().kind, kind, "{tool} {payload}");
    }
}
