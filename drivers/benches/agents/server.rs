//! The loopback servers of the bench, and the bare client of models.
//!
//! INVARIANT: a request is noted before anything is done about it.
//! It knows just enough of each protocol for one call. Read next: `../agents.rs`.

use std::fs;
use std::io::{BufRead as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value as Json, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

const ANSWER: &str = r#"{"id": "1", "object": "chat.completion", "model": "small", "choices": [{"index": 0,
    "message": {"role": "assistant", "content": "hello to you"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}}"#;

const ASKED: &str = r#"{"model": "small", "messages": [{"role": "user", "content": "hello"}]}"#;

pub(crate) fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

#[derive(Default)]
struct Noted {
    arrivals: Vec<u64>,
    /// How many requests have to be there before any is answered.
    held: usize,
}

/// A provider of models by chat completions.
pub(crate) struct Web {
    address: std::net::SocketAddr,
    noted: Arc<Mutex<Noted>>,
    _runtime: Runtime,
}

impl Web {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let noted: Arc<Mutex<Noted>> = Arc::default();
        let runtime = runtime();
        let (begun, gate) = (Instant::now(), Arc::new(Semaphore::new(0)));
        let kept = Arc::clone(&noted);
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (noted, gate) = (Arc::clone(&kept), Arc::clone(&gate));
                let service = service_fn(move |request| {
                    let arrived = begun.elapsed().as_nanos() as u64;
                    answer(request, arrived, Arc::clone(&noted), Arc::clone(&gate))
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self {
            address,
            noted,
            _runtime: runtime,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn forget(&self) {
        *self.noted.lock().unwrap() = Noted::default();
    }

    /// Lets this many requests arrive before any is answered.
    pub(crate) fn hold(&self, held: usize) {
        let arrivals = Vec::new();
        *self.noted.lock().unwrap() = Noted { arrivals, held };
    }

    /// When each request arrived, in nanoseconds.
    pub(crate) fn arrivals(&self) -> Vec<u64> {
        self.noted.lock().unwrap().arrivals.clone()
    }
}

async fn answer(
    request: Request<Incoming>,
    arrived: u64,
    noted: Arc<Mutex<Noted>>,
    gate: Arc<Semaphore>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let held = {
        let mut noted = noted.lock().unwrap();
        noted.arrivals.push(arrived);
        if noted.held > 0 && noted.arrivals.len() == noted.held {
            gate.add_permits(noted.held);
        }
        noted.held > 0
    };
    let body = request.into_body().collect().await?.to_bytes();
    assert!(!body.is_empty());
    if held {
        gate.acquire().await.unwrap().forget();
    }
    let response = Response::builder().header("content-type", "application/json");
    Ok(response.body(Full::new(Bytes::from_static(ANSWER.as_bytes()))).unwrap())
}

/// Asks one request after the other, each on a connection of its own, and reads the answers.
pub(crate) fn ask_bare(web: &Web, calls: usize) {
    runtime().block_on(async {
        for _ in 0..calls {
            let stream = tokio::net::TcpStream::connect(web.address).await.unwrap();
            let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
                .await
                .unwrap();
            tokio::spawn(connection);
            let request = Request::post("/v1/chat/completions")
                .header("host", web.address.to_string())
                .header("content-type", "application/json")
                .body(Full::new(Bytes::from_static(ASKED.as_bytes())))
                .unwrap();
            let response = sender.send_request(request).await.unwrap();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let answer: Json = serde_json::from_slice(&body).unwrap();
            assert_eq!(answer["choices"][0]["message"]["content"], "hello to you");
        }
    });
}

/// Serves the Model Context Protocol on the standard streams until they end; then writes when each
/// call arrived.
pub(crate) fn serve_mcp(state: &Path) {
    let begun = Instant::now();
    let mut arrivals = Vec::new();
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let arrived = begun.elapsed().as_nanos() as u64;
        let Ok(message) = serde_json::from_str::<Json>(&line.unwrap()) else {
            continue;
        };
        if message.get("id").is_none() {
            continue;
        }
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "bench", "version": "1"}}),
            "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            "tools/call" => {
                arrivals.push(arrived);
                json!({"content": [{"type": "text", "text": "hello"}]})
            }
            _ => {
                let error = json!({"code": -32601, "message": "unknown"});
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
                writeln!(output, "{answer}").unwrap();
                continue;
            }
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        writeln!(output, "{answer}").unwrap();
        output.flush().unwrap();
    }
    let text: Vec<String> = arrivals.iter().map(u64::to_string).collect();
    fs::write(state, text.join("\n")).unwrap();
}

/// The arrivals that the server has written.
pub(crate) fn noted(state: &Path) -> Vec<u64> {
    let text = fs::read_to_string(state).unwrap();
    fs::remove_file(state).unwrap();
    text.lines().map(|line| line.parse().unwrap()).collect()
}
