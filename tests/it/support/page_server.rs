//! A page that `duet ui` serves, asked as a browser's page asks.
//!
//! INVARIANT: the server is a real process, and it ends with its test.
//! Read next: `running.rs`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use super::desk::Desk;
use super::running::Running;

/// A page that is served, which ends with the test.
pub(crate) struct PageServer {
    _running: Running,
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) token: String,
}

/// What a server has answered.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl PageServer {
    pub(crate) fn start(desk: &Desk, options: &[&str]) -> Self {
        let mut running = Running::start(desk, &format!("ui {}", options.join(" ")));
        let address = running.line();
        let rest = address.strip_prefix("http://").unwrap_or_else(|| panic!("{address}"));
        let (host, path) = rest.split_once('/').unwrap();
        let (path, token) = path.split_once("?token=").unwrap();
        Self {
            host: host.to_owned(),
            path: format!("/{path}"),
            token: token.to_owned(),
            _running: running,
        }
    }

    pub(crate) fn send(&self, head: &str, body: &str) -> Reply {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let length = body.len();
        let text = format!("{head}connection: close\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all(text.as_bytes()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        Reply {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: {}\r\n", self.host), "")
    }

    /// Sends a message with other headers than a page has.
    pub(crate) fn post_with(&self, headers: &str, message: &Value) -> Reply {
        self.send(&format!("POST /@/ask HTTP/1.1\r\n{headers}"), &message.to_string())
    }

    /// The headers that a page sends.
    pub(crate) fn own(&self) -> String {
        let (host, token) = (&self.host, &self.token);
        format!(
            "host: {host}\r\nauthorization: Bearer {token}\r\norigin: http://{host}\r\nsec-fetch-site: same-origin\r\n"
        )
    }

    pub(crate) fn post(&self, message: &Value) -> Value {
        let reply = self.post_with(&self.own(), message);
        serde_json::from_str(&reply.body).unwrap_or_else(|_| panic!("{}: {}", reply.status, reply.body))
    }

    pub(crate) fn report(&self, message: Value) -> Value {
        let reply = self.post(&message);
        assert!(reply.get("error").is_none(), "{message}: {reply}");
        reply["report"].clone()
    }

    /// Opens the stream of news about a run.
    pub(crate) fn news(&self, run: &str) -> News {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let head = format!("GET /@/news?run={run} HTTP/1.1\r\n{}\r\n", self.own());
        stream.write_all(head.as_bytes()).unwrap();
        News(BufReader::new(stream))
    }
}

/// A stream of news about a run.
pub(crate) struct News(BufReader<TcpStream>);

impl News {
    /// Waits for the next news of a kind.
    pub(crate) fn next(&mut self, kind: &str) -> Value {
        let name = format!("event: {kind}");
        let mut lines = self.0.by_ref().lines().map(Result::unwrap);
        lines.find(|line| *line == name).unwrap();
        let line = lines.next().unwrap();
        serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap()
    }
}
