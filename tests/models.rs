//! Programs and language models: `--provider`, configurations, replay, secrets.
//!
//! Owns a provider that runs in the test: it answers each request with the number of its messages.
//! INVARIANT: no test speaks to anything but that provider.
//! The tests of `drivers` cover the protocols.
//! Read next: `support/desk.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure; a provider is a thread"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

mod support {
    #![allow(dead_code, reason = "other tests use the rest")]
    pub(crate) mod desk;
}

use support::desk::Desk;

/// A provider of models, and the number of its answers.
struct Provider {
    port: u16,
    answers: Arc<AtomicUsize>,
}

impl Provider {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answers = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&answers);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&mut stream.unwrap());
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { port, answers }
    }

    /// The option that names it.
    fn option(&self) -> String {
        format!("--provider local=openai-chat:http://127.0.0.1:{}/v1", self.port)
    }

    fn count(&self) -> usize {
        self.answers.load(Ordering::SeqCst)
    }
}

fn answer(stream: &mut TcpStream) {
    let mut asked = Vec::new();
    let mut chunk = [0; 4096];
    let body: Value = loop {
        let length = stream.read(&mut chunk).unwrap();
        asked.extend_from_slice(&chunk[..length]);
        let text = String::from_utf8_lossy(&asked).into_owned();
        let whole = text.split_once("\r\n\r\n").map(|(_, body)| serde_json::from_str(body));
        match whole {
            Some(Ok(body)) => break body,
            _ => assert_ne!(length, 0, "{text}"),
        }
    };
    let messages = body["messages"].as_array().unwrap().len();
    let content = format!("{} heard {messages}", body["model"].as_str().unwrap());
    let piece = json!({"model": body["model"], "choices": [{"delta": {"content": content}, "finish_reason": "stop"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}});
    let events = format!("data: {piece}\n\ndata: {usage}\n\ndata: [DONE]\n\n");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(format!("{head}{events}").as_bytes()).unwrap();
}

const ASK: &str = "(import (duet base) (duet dataspace) (duet agents))
(define helper (make-agent 'helper))
(display (ask helper \"Hello\"))
(newline)";

#[test]
fn a_program_calls_a_model_and_a_replay_does_not() {
    let provider = Provider::start();
    let desk = Desk::new(&[("p.scm", ASK)]);
    let line = format!("run p.scm {} --model small", provider.option());
    desk.check(&line, 0, "small heard 1\n");
    desk.check("replay p", 0, &desk.duet("replay p").output);
    assert_eq!(desk.duet("replay p --check").code, 0);
    assert_eq!(provider.count(), 1);
}

#[test]
fn a_resumed_run_keeps_its_provider() {
    let provider = Provider::start();
    let program =
        format!("{ASK}(display (await (user-input :prompt \"Go on?\")))\n(display (ask helper \"Again\"))\n(newline)");
    let desk = Desk::new(&[("p.scm", &program)]);
    let line = format!("run p.scm {} --model small", provider.option());
    let waits = desk.duet(&line);
    assert!(waits.output.starts_with("small heard 1\n"), "{waits:?}");
    let resumed = desk.duet("resume p --answer yes");
    assert_eq!(
        (resumed.code, &*resumed.output),
        (0, "yessmall heard 1\n"),
        "{resumed:?}"
    );
    assert_eq!(provider.count(), 2);
}

#[test]
fn what_to_do_without_a_provider_is_said() {
    let desk = Desk::new(&[
        ("p.scm", ASK),
        ("f/manifest.scm", "((program \"p.scm\") (tools model/chat))"),
        ("f/p.scm", ASK),
    ]);
    let said = desk.check("run f", 1, "").errors;
    assert!(
        said.contains("`--provider NAME` chooses one, `duet providers` lists them"),
        "{said}"
    );
    let said = desk.check("run p.scm", 1, "").errors;
    assert!(said.contains("--provider"), "{said}");
    let said = desk.check("run p.scm --provider nowhere", 1, "").errors;
    assert!(
        said.contains("there is no provider of models `nowhere`") && said.contains("ollama"),
        "{said}"
    );
    let said = desk.check("run p.scm --provider near=smoke:http://x", 2, "").errors;
    assert!(
        said.contains("`near=smoke:http://x` is not NAME=PROTOCOL:URL"),
        "{said}"
    );
}

#[test]
fn a_configuration_names_the_provider_its_key_and_its_prices() {
    let provider = Provider::start();
    let configuration = format!(
        "provider = \"local\"\n[providers.local]\nprotocol = \"openai-chat\"\nurl = \"http://127.0.0.1:{}/v1\"\n\
         key = \"LOCAL_API_KEY\"\nmodel = \"small\"\nprices.small = {{ input = 1, output = 10 }}\n",
        provider.port
    );
    let program = "(import (duet base) (duet dataspace))
        (define result (call-tool 'asker \"model/chat\"
          (dictionary 'messages (list (dictionary 'role \"user\" 'content \"Hello\")))))
        (write (dictionary-ref (dictionary-ref result 'usage) 'usd))
        (newline)";
    let desk = Desk::new(&[
        ("config/duet/config.toml", &configuration),
        ("f/manifest.scm", "((program \"p.scm\") (tools model/chat))"),
        ("f/p.scm", program),
    ]);
    let duet = |words: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_duet"))
            .args(words)
            .current_dir(desk.path(""))
            .env("XDG_CONFIG_HOME", desk.path("config"))
            .env("LOCAL_API_KEY", "sk-very-secret-text")
            .output()
            .unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    };
    assert_eq!(duet(&["run", "f"]), (Some(0), "0.002\n".to_owned()));
    let (code, listed) = duet(&["providers"]);
    assert_eq!(code, Some(0));
    assert!(listed.contains("openai-chat at http://127.0.0.1:"), "{listed}");
    assert!(
        listed.contains("key: in LOCAL_API_KEY") && !listed.contains("sk-very"),
        "{listed}"
    );
    for file in fs::read_dir(desk.path(".duet")).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        assert!(
            !bytes.windows(7).any(|window| window == b"sk-very"),
            "{}",
            path.display()
        );
    }
}

#[test]
fn the_log_tells_what_a_model_heard_said_and_cost() {
    let provider = Provider::start();
    let desk = Desk::new(&[("p.scm", ASK)]);
    let line = format!("run p.scm {} --model small", provider.option());
    desk.check(&line, 0, "small heard 1\n");
    let log = desk.duet("log p").output;
    assert!(log.contains("ask model default: \"Hello\"\n"), "{log}");
    assert!(
        log.contains("model (1000 + 100 tokens) says \"small heard 1\"; write"),
        "{log}"
    );
    let asked = desk.duet("show p@1").output;
    assert!(
        asked.contains("  asks      model default, 1 messages, as request 0\n  user      Hello\n"),
        "{asked}"
    );
    let heard = desk.duet("show p@2").output;
    let expected = "  answer    model small (1000 + 100 tokens), stop: end\n  says      small heard 1\n";
    assert!(heard.contains(expected), "{heard}");
    let cost = "helper, model small: 1 replies, 1000 + 100 tokens, price not known\n\
                in all: 1 replies, 1000 + 100 tokens, price not known\n";
    desk.check("cost p", 0, cost);
    desk.check("cost p@1", 0, "in all: 0 replies, 0 + 0 tokens, price not known\n");
}
