//! Requests over HTTP that a run answers.
//!
//! INVARIANT: the clients are plain sockets of this process.
//! It does not test the limits of a request; `../drivers/src/tool/webhook/tests.rs` does.
//! Read next: `../stdlib/duet/webhooks.scm`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use crate::support::process::Peer;
use tempfile::TempDir;

/// A program that answers with the body that it got, and keeps requests for `/wait` waiting.
const ECHO: &str = r#"(import (duet base) (duet dataspace) (duet webhooks))
(define (show . words) (write words) (newline))
(on-assert (webhook/listening echo $port) (display port) (newline))
(on-message (http/request echo $id $request)
  (if (equal? (dictionary-ref request 'path) "/wait")
      (begin (show 'waits) (spawn (lambda () (sleep 3000) (webhook-reply! id 200 :body "late"))))
      (webhook-reply! id 200 :body (string-append "you said " (dictionary-ref request 'body)))))
(on-message (http/unanswered echo _ $reason) (show reason))
(serve-webhooks! 'echo 0 :token "{{secret:HOOK}}")
"#;

fn duet(folder: &TempDir, words: &[&str]) -> Peer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
    Peer::start(
        command
            .args(words)
            .env("HOOK", "a-long-token")
            .current_dir(folder.path()),
    )
}

fn begin(port: &str, path: &str, body: &str) -> TcpStream {
    let mut socket = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a-long-token\r\n");
    socket
        .write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes())
        .unwrap();
    socket
}

fn ask(port: &str, body: &str) -> String {
    let mut answer = String::new();
    begin(port, "/", body).read_to_string(&mut answer).unwrap();
    answer.rsplit("\r\n").next().unwrap().to_owned()
}

#[test]
fn a_run_answers_is_killed_in_the_middle_of_a_request_and_answers_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("echo")).unwrap();
    let manifest = "((program \"main.scm\") (tools webhook/*) (secrets HOOK))";
    fs::write(folder.path().join("echo/manifest.scm"), manifest).unwrap();
    fs::write(folder.path().join("echo/main.scm"), ECHO).unwrap();
    let mut run = duet(&folder, &["run", "echo", "--journal", "j.sqlite"]);
    let port = run.line();
    assert_eq!(ask(&port, "one"), "you said one");

    let waiting = begin(&port, "/wait", "");
    assert_eq!(run.line(), "(waits)");
    drop(run);
    drop(waiting);
    let mut run = duet(&folder, &["resume", "echo", "--journal", "j.sqlite"]);
    let port = loop {
        let line = run.line();
        if line.parse::<u16>().is_ok() {
            break line;
        }
    };
    assert_eq!(ask(&port, "two"), "you said two");
    assert!(run.line().contains("the client has gone"));

    drop(run);
    let mut replay = duet(&folder, &["replay", "echo", "--check", "--journal", "j.sqlite"]);
    assert!(replay.process.wait().unwrap().success());
}
