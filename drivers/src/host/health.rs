//! A host for whoever watches over processes: it says over HTTP whether this one works.
//!
//! INVARIANT: it answers one path, changes nothing, and tells no names.
//! It does not know what well means; its caller says so. Read next: `../reception.rs`.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value as Json;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::reception::{Clerk, Visit, receive_at};

/// The path that it answers.
const PATH: &str = "/healthz";

/// How a process is.
pub struct Condition {
    /// Whether it does its work.
    pub is_well: bool,
    /// What it says besides, as a JSON object.
    pub told: Json,
}

/// A host that answers until it is dropped.
pub struct Health {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Health {
    /// Begins to answer `GET /healthz` at an address: 200 if the process is well, 503 if not.
    ///
    /// # Errors
    /// If the address cannot be used, or the system gives no thread.
    pub fn begin(address: SocketAddr, condition: impl Fn() -> Condition + Send + Sync + 'static) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("duet-health")
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let address = listener.local_addr()?;
        let nurse = Nurse {
            condition: Arc::new(condition),
        };
        runtime.spawn(receive_at(listener, nurse));
        Ok(Self {
            address,
            runtime: Some(runtime),
        })
    }

    /// The address, whose port the system may have chosen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Health {
    fn drop(&mut self) {
        // Whoever asks at this moment learns by the broken connection that the process ends.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// It answers who asks.
#[derive(Clone)]
struct Nurse {
    condition: Arc<dyn Fn() -> Condition + Send + Sync>,
}

impl Clerk for Nurse {
    type Body = Full<Bytes>;

    async fn answer(&self, visit: &Visit, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if !visit.admit() {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "too many clients are connected");
        }
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, "ask for /healthz");
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "ask by GET");
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let condition = (self.condition)();
        let status = match condition.is_well {
            true => StatusCode::OK,
            false => StatusCode::SERVICE_UNAVAILABLE,
        };
        response(status, "application/json", format!("{}\n", condition.told).into())
    }
}

fn plain(status: StatusCode, words: &'static str) -> Response<Full<Bytes>> {
    response(
        status,
        "text/plain; charset=utf-8",
        Bytes::from_static(words.as_bytes()),
    )
}

fn response(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
