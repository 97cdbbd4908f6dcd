//! Requests over HTTP that a run answers.
//!
//! INVARIANT: the clients are plain sockets of this process.
//! It does not test all limits of a request; `../drivers/src/tool/webhook/tests.rs` does.
//! Read next: `../stdlib/duet/webhooks.scm`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure; clients are threads"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::thread;

use crate::postgres::server;
use crate::support::desk::Desk;
use crate::support::process::Peer;
use crate::work::Worker;
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

/// A program that counts the requests that it gets; a request for `/late` keeps its owner awake.
const COUNTER: &str = r#"(import (duet base) (duet dataspace) (duet webhooks) (scheme process-context))
(define count 0)
(on-message (http/request hook $id $request)
  (set! count (+ count 1))
  (let* ((path (dictionary-ref request 'path))
         (reply! (lambda (text)
                   (webhook-reply! id 201 :body text :headers (dictionary "x-from" "{{secret:HOOK}}")))))
    (cond
      ((equal? path "/late") (spawn (lambda () (sleep 600) (reply! "late"))))
      ((equal? path "/never") #f)
      (else (reply! (string-append (dictionary-ref request 'body) " " (number->string count)))))
    (if (equal? path "/end") (spawn (lambda () (sleep 200) (exit 0))))))
(serve-webhooks! 'hook 0 :token "{{secret:HOOK}}" :timeout 20000)
"#;

/// A worker that takes webhooks in, and its address.
struct Receiver {
    worker: Worker,
    address: String,
}

impl Receiver {
    fn start(desk: &Desk) -> Self {
        let mut worker = Worker::start(desk, "work --webhooks 0");
        worker.until("takes webhooks in");
        let said = worker.said.last().unwrap().trim_start_matches("http://");
        let address = said.split('/').next().unwrap().to_owned();
        Self { worker, address }
    }

    /// Sends a request with a body and headers.
    fn send(&self, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nhost: {}\r\n{headers}", self.address);
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        // The worker may refuse before it has read everything.
        let _ = socket.write_all(request.as_bytes());
        socket
    }

    fn answer(&self, path: &str, headers: &str, body: &str) -> String {
        read(self.send(path, headers, body))
    }
}

fn read(mut socket: TcpStream) -> String {
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer);
    answer
}

const TOKEN: &str = "authorization: Bearer a-long-token\r\n";

#[track_caller]
fn check_answer(answer: &str, status: &str, end: &str) {
    let is_it = answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.trim_end().ends_with(end);
    assert!(is_it, "expected {status} {end}: {answer}");
}

#[track_caller]
fn check_sleeping(desk: &Desk) {
    let runs = desk.duet("runs").output;
    assert!(runs.contains("waiting for a webhook: hook"), "{runs}");
}

/// Two workers take requests in for a run that sleeps, that one of them executes, and that is over.
fn check_workers(desk: &Desk) {
    assert_eq!(desk.duet("run p --name shop --queue").code, 0);
    let mut first = Receiver::start(desk);
    first.worker.until("shop waits for an input");
    check_sleeping(desk);
    let second = Receiver::start(desk);
    check_answer(&first.answer("/shop/hook", TOKEN, "a"), "201", "a 1");
    let answer = second.answer("/shop/hook/path?query", TOKEN, "b");
    check_answer(&answer, "201", "b 2");
    assert!(answer.contains("x-from: a-long-token"), "{answer}");
    for (path, headers, status, end) in [
        ("/shop/hook", "", "401", "knows the secret"),
        (
            "/shop/hook",
            "authorization: Bearer other\r\n",
            "401",
            "knows the secret",
        ),
        (
            "/shop/none",
            TOKEN,
            "404",
            "no requests for a webhook `none` from workers",
        ),
        ("/none/hook", TOKEN, "404", "no run none"),
        ("/shop@none/hook", TOKEN, "404", "no run shop/none"),
        ("/shop", TOKEN, "404", "send to /RUN/WEBHOOK"),
    ] {
        check_answer(&second.answer(path, headers, "x"), status, end);
    }
    let long = "x".repeat((1 << 20) + 1);
    check_answer(&first.answer("/shop/hook", TOKEN, &long), "413", "longer than 1 MiB");
    // A run that stays with one of them hears both.
    let late = first.send("/shop/hook/late", TOKEN, "");
    let all: Vec<String> = thread::scope(|scope| {
        let ask = |receiver: &Receiver, body: usize| receiver.answer("/shop/hook", TOKEN, &body.to_string());
        let asked: Vec<_> = (0..8)
            .map(|body| {
                let receiver = [&first, &second][body % 2];
                scope.spawn(move || ask(receiver, body))
            })
            .collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    check_answer(&read(late), "201", "late");
    let mut counts: Vec<u32> = Vec::new();
    for (body, answer) in all.iter().enumerate() {
        let (_, text) = answer.rsplit_once("\r\n").unwrap();
        let (echoed, count) = text.split_once(' ').unwrap();
        assert_eq!(echoed, body.to_string(), "{answer}");
        counts.push(count.parse().unwrap());
    }
    counts.sort_unstable();
    assert!(counts.windows(2).all(|pair| pair[0] < pair[1]), "{counts:?}");
    assert!(*counts.last().unwrap() <= 11, "{counts:?}");
    // The client of a worker that is killed learns it, and another worker takes requests in.
    let unanswered = first.send("/shop/hook/never", TOKEN, "");
    first.worker.running.signal("-KILL");
    assert_eq!(read(unanswered), "");
    let status = desk.duet("work --status --json");
    assert!(
        status.output.contains(&format!("\"webhooks\":\"{}\"", second.address)),
        "{status:?}"
    );
    let answer = second.answer("/shop/hook/end", TOKEN, "c");
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let mut second = second;
    second.worker.until("shop ended with code 0");
    check_answer(&second.answer("/shop/hook", TOKEN, "d"), "410", "has ended");
    let replayed = desk.duet("replay shop --check");
    assert_eq!(replayed.code, 0, "{replayed:?}");
    second.worker.running.signal("-TERM");
    assert_eq!(second.worker.code(), Some(143));
}

fn desk(program: &str, manifest: &str) -> Desk {
    let desk = Desk::new(&[("p/main.scm", program), ("p/manifest.scm", manifest)]);
    desk.knowing("HOOK", "a-long-token".to_owned())
}

const MANIFEST: &str = "((program \"main.scm\") (tools webhook/*) (secrets HOOK))";

#[test]
fn workers_take_requests_in_for_runs_that_sleep() {
    check_workers(&desk(COUNTER, MANIFEST));
}

#[test]
fn workers_of_a_server_take_requests_in_for_runs_that_sleep() {
    let Some(server) = server::shared() else { return };
    let address = server.text(&format!("schema={}", server::schema()));
    check_workers(&desk(COUNTER, MANIFEST).knowing("DUET_JOURNAL", address));
}

#[test]
fn a_webhook_without_a_secret_is_for_programs_of_this_machine() {
    let open = COUNTER.replace(" :token \"{{secret:HOOK}}\"", "");
    let desk = desk(&open, MANIFEST);
    assert_eq!(desk.duet("run p --name shop --queue").code, 0);
    let mut receiver = Receiver::start(&desk);
    receiver.worker.until("shop waits for an input");
    check_answer(&receiver.answer("/shop/hook", "", "a"), "201", "a 1");
    let of_page = receiver.answer("/shop/hook", "origin: http://evil.example\r\n", "a");
    check_answer(&of_page, "403", "no pages of a browser");
    // A request is a reason to go on with a run that a person has stopped, as any letter is.
    assert_eq!(desk.duet("stop shop").code, 0);
    check_answer(&receiver.answer("/shop/hook", "", "b"), "201", "b 2");
    let wrong = desk.duet("work --webhooks nowhere");
    assert!(
        wrong.code == 2 && wrong.errors.contains("an address with a port"),
        "{wrong:?}"
    );
    let taken = desk.duet(&format!("work --webhooks {}", receiver.address));
    assert!(taken.code == 1 && taken.errors.contains("cannot be used"), "{taken:?}");
}

/// A program that fails because of a request.
const FAILING: &str = "(import (scheme base) (duet base) (duet dataspace) (duet webhooks))
(on-message (http/request hook $id $request) (car '()))
(serve-webhooks! 'hook 0)
";

/// A worker tells a client that the run is over which its request has ended.
fn check_failing(desk: &Desk) {
    assert_eq!(desk.duet("run p --name shop --queue").code, 0);
    let mut receiver = Receiver::start(desk);
    receiver.worker.until("shop waits for an input");
    check_answer(&receiver.answer("/shop/hook", "", "a"), "410", "the run shop has ended");
    receiver.worker.until("shop ended with code 1");
}

#[test]
fn the_client_whose_request_ends_the_run_is_told_so() {
    check_failing(&desk(FAILING, MANIFEST));
}

#[test]
fn the_client_whose_request_ends_the_run_of_a_server_is_told_so() {
    let Some(server) = server::shared() else { return };
    let address = server.text(&format!("schema={}", server::schema()));
    check_failing(&desk(FAILING, MANIFEST).knowing("DUET_JOURNAL", address));
}
