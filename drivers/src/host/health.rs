//! A host for whoever watches over processes: it says over HTTP whether this one works.
//!
//! INVARIANT: it answers one path, changes nothing, and tells no names.
//! It does not know what well means; its caller says so. Read next: `../http_server.rs`.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value as Json;

use crate::background::BackgroundServer;
use crate::http_server::{Client, Responder, serve_at};

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
pub struct Health(BackgroundServer);

impl Health {
    /// Begins to answer `GET /healthz` at an address: 200 if the process is well, 503 if not.
    ///
    /// # Errors
    /// If the address cannot be used, or the system gives no thread.
    pub fn begin(address: SocketAddr, condition: impl Fn() -> Condition + Send + Sync + 'static) -> io::Result<Self> {
        let responder = HealthResponder {
            condition: Arc::new(condition),
        };
        BackgroundServer::begin(address, "duet-health", |listener| serve_at(listener, responder)).map(Self)
    }

    /// The address, whose port the system may have chosen.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

/// Answers requests for the condition.
#[derive(Clone)]
struct HealthResponder {
    condition: Arc<dyn Fn() -> Condition + Send + Sync>,
}

impl Responder for HealthResponder {
    type Body = Full<Bytes>;

    async fn answer(&self, client: &Client, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if !client.admit() {
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
