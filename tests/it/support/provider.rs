//! A provider of language models that runs in the test and speaks chat completions.
//!
//! INVARIANT: it keeps every request, whether or not the one who asked lives to hear the answer.
//! Read next: `../models.rs`.
#![allow(clippy::disallowed_methods, reason = "the server of a test has threads of its own")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A provider of models.
pub(crate) struct Provider {
    port: u16,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Provider {
    /// Starts a provider that answers each request with the message that `reply` makes of it.
    pub(crate) fn start(reply: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (kept, reply) = (Arc::clone(&requests), Arc::new(reply));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, kept, reply) = (stream.unwrap(), Arc::clone(&kept), Arc::clone(&reply));
                std::thread::spawn(move || {
                    let Some(request) = read(&mut stream) else { return };
                    kept.lock().unwrap().push(request.clone());
                    // Whoever asked may be gone.
                    let _ = stream.write_all(answer(&request, &reply(&request)).as_bytes());
                });
            }
        });
        Self { port, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The option that names it.
    pub(crate) fn option(&self) -> String {
        format!("--provider local=openai-chat:{}", self.url())
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

fn read(stream: &mut TcpStream) -> Option<Value> {
    let mut asked = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let length = stream.read(&mut chunk).ok().filter(|length| *length > 0)?;
        asked.extend_from_slice(&chunk[..length]);
        let text = String::from_utf8_lossy(&asked);
        let body = text.split_once("\r\n\r\n").map(|(_, body)| serde_json::from_str(body));
        if let Some(Ok(body)) = body {
            return Some(body);
        }
    }
}

fn answer(request: &Value, message: &Value) -> String {
    let mut delta = message.clone();
    for (index, call) in delta["tool_calls"].as_array_mut().into_iter().flatten().enumerate() {
        call["index"] = json!(index);
    }
    let piece = json!({"model": request["model"], "choices": [{"delta": delta, "finish_reason": "stop"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}});
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}data: {piece}\n\ndata: {usage}\n\ndata: [DONE]\n\n")
}
