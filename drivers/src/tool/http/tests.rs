//! Tests of exchanges with servers of this process, and of requests that are refused before
//! anything is sent.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure; servers are threads"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use super::*;

/// Answers one connection with `response`; returns the port and a receiver of the request.
fn serve(response: String) -> (u16, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let length = stream.read(&mut chunk).unwrap();
            asked.extend_from_slice(&chunk[..length]);
            let text = String::from_utf8_lossy(&asked).into_owned();
            let body = text.split_once("\r\n\r\n").map(|(_, body)| body.len());
            let wanted = text
                .to_ascii_lowercase()
                .split_once("content-length: ")
                .map_or(0, |(_, rest)| rest.split("\r\n").next().unwrap().parse().unwrap());
            if length == 0 || body.is_some_and(|body| body >= wanted) {
                // A caller with a limit closes the connection before it has read everything.
                let _ = stream.write_all(response.as_bytes());
                return text;
            }
        }
    });
    (port, served)
}

fn call(tool: &Http, payload: &str) -> Outcome {
    let context = Context {
        key: "key-1".to_owned(),
        tool: tool.description().name.to_string(),
        ..Context::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(tool.call(payload.parse().unwrap(), context))
}

fn hosts(names: &[&str]) -> Hosts {
    Hosts::of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap()
}

#[track_caller]
fn check_refused(payload: &str, kind: &str, message: &str) {
    let failure = call(&Http::request(hosts(&["127.0.0.1:1", "listed.example"])), payload).unwrap_err();
    assert_eq!(
        (failure.kind.as_str(), failure.message.as_str()),
        (kind, message),
        "{payload}"
    );
}

#[test]
fn a_response_is_returned_and_the_key_is_sent() {
    let (port, served) =
        serve("HTTP/1.1 201 Created\r\nX-Id: a\r\nX-Id: b\r\nContent-Length: 4\r\n\r\ndone".to_owned());
    let tool = Http::request(hosts(&[&format!("127.0.0.1:{port}")]));
    let payload = format!(
        r#"{{url: "http://127.0.0.1:{port}/a?b=c", method: "POST", headers: {{"X-Sent": "1"}}, body: "hello"}}"#
    );
    let result = call(&tool, &payload).unwrap();
    let expected = r#"{status: 201, headers: {"x-id": "a, b", "content-length": "4"}, body: "done", truncated: #f}"#;
    assert_eq!(result, expected.parse::<IOValue>().unwrap());
    let asked = served.join().unwrap();
    assert!(asked.starts_with("POST /a?b=c HTTP/1.1\r\n"), "{asked}");
    for part in [
        "x-sent: 1",
        "idempotency-key: key-1",
        &format!("host: 127.0.0.1:{port}"),
        "\r\n\r\nhello",
    ] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
}

#[test]
fn redirections_are_returned_and_long_bodies_cut() {
    let (port, _served) = serve(format!(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 100\r\n\r\n{}",
        "x".repeat(100)
    ));
    let tool = Http::get(hosts(&[&format!("127.0.0.1:{port}")]));
    let result = call(
        &tool,
        &format!(r#"{{url: "http://127.0.0.1:{port}", output_limit_bytes: 5}}"#),
    )
    .unwrap();
    let shown = format!("{result:?}");
    assert!(
        shown.contains("302") && shown.contains("\"xxxxx\"") && shown.contains("#t"),
        "{shown}"
    );
}

#[test]
fn a_server_that_says_nothing_or_nonsense_is_a_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let tool = Http::get(hosts(&[&format!("127.0.0.1:{port}")]));
    let failure = call(
        &tool,
        &format!(r#"{{url: "http://127.0.0.1:{port}/", timeout_ms: 50}}"#),
    )
    .unwrap_err();
    assert_eq!(failure.kind, "timeout");
    let (port, _served) = serve("nonsense\r\n\r\n".to_owned());
    let tool = Http::get(hosts(&[&format!("127.0.0.1:{port}")]));
    assert_eq!(
        call(&tool, &format!(r#"{{url: "http://127.0.0.1:{port}/"}}"#))
            .unwrap_err()
            .kind,
        "failed"
    );
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let tool = Http::get(hosts(&[&format!("127.0.0.1:{free}")]));
    assert_eq!(
        call(&tool, &format!(r#"{{url: "http://127.0.0.1:{free}/"}}"#))
            .unwrap_err()
            .kind,
        "unavailable"
    );
}

#[test]
fn what_may_not_or_cannot_be_asked_is_refused() {
    let elsewhere = "`other.example` at port 80 is not on the list of hosts; a person allows it with \
                     `--allow-host other.example:80`, a manifest with `(hosts \"other.example:80\")`";
    check_refused(r#"{url: "http://other.example/", method: "GET"}"#, "denied", elsewhere);
    let disguised = "field `url` of http/request: it names a user; send an `authorization` header instead";
    check_refused(
        r#"{url: "http://listed.example@other.example/", method: "GET"}"#,
        "bad-argument",
        disguised,
    );
    let scheme =
        "field `url` of http/request: `ftp://listed.example/` begins neither with `http://` nor with `https://`";
    check_refused(
        r#"{url: "ftp://listed.example/", method: "GET"}"#,
        "bad-argument",
        scheme,
    );
    let method = "field `method` of http/request: `get` is none of [\"GET\", \"HEAD\", \"POST\", \"PUT\", \
                  \"PATCH\", \"DELETE\", \"OPTIONS\"]";
    check_refused(
        r#"{url: "http://listed.example/", method: "get"}"#,
        "bad-argument",
        method,
    );
    let header = "field `headers` of http/request: `host` cannot be sent";
    check_refused(
        r#"{url: "http://listed.example/", method: "GET", headers: {Host: "other.example"}}"#,
        "bad-argument",
        header,
    );
    let split = "field `headers` of http/request: `a` cannot be sent";
    check_refused(
        r#"{url: "http://listed.example/", method: "GET", headers: {a: "b\r\nc: d"}}"#,
        "bad-argument",
        split,
    );
}

#[test]
fn hosts_are_listed_by_name_and_port() {
    let list = hosts(&["a.example", "*.b.example", "c.example:8080", "[::1]:81"]);
    for (host, port, expected) in [
        ("a.example", 443, true),
        ("A.Example", 80, true),
        ("a.example", 8080, false),
        ("x.a.example", 80, false),
        ("x.b.example", 80, true),
        ("b.example", 80, false),
        ("xb.example", 80, false),
        ("c.example", 8080, true),
        ("c.example", 80, false),
        ("[::1]", 81, true),
    ] {
        assert_eq!(list.include(host, port), expected, "{host}:{port}");
    }
}

#[test]
fn a_port_is_a_number_from_1_to_65535() {
    for port in ["0", "65536", "99999999999999999999", "80x", "-1", "+80"] {
        let url = format!("http://listed.example:{port}/");
        let failure = call(&Http::get(hosts(&["listed.example"])), &format!("{{url: {url:?}}}")).unwrap_err();
        assert_eq!(failure.kind, "bad-argument", "{url}: {}", failure.message);
        assert!(
            Hosts::of(&[format!("listed.example:{port}")]).is_err() || port == "+80",
            "{port}"
        );
    }
}

#[test]
fn a_name_that_leads_to_this_machine_is_refused_unless_the_address_is_listed() {
    // The resolver reads these as 127.0.0.1.
    for name in ["127.1", "0x7f.0.0.1", "2130706433"] {
        let (port, served) = serve("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned());
        let payload = format!("{{url: \"http://{name}:{port}/\"}}");
        let failure = call(&Http::get(hosts(&[&format!("{name}:{port}")])), &payload).unwrap_err();
        assert_eq!(failure.kind, "denied", "{name}: {}", failure.message);
        let listed = hosts(&[&format!("{name}:{port}"), &format!("127.0.0.1:{port}")]);
        call(&Http::get(listed), &payload).unwrap();
        served.join().unwrap();
    }
}
