//! A host over HTTP: a message is a POST, its reply the response.
//!
//! INVARIANT: a page in a browser cannot reach it, because a request with the marks of a browser is
//! refused, or with a token one whose origin is not this machine; neither can anybody without the
//! token, if there is one. Connections, messages and the time of each have limits.
//! It keeps no sessions and sends no streams.
//! Read next: `../host.rs`.
//!
//! Source: Model Context Protocol 2025-11-25 and 2026-07-28, "Streamable HTTP".

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value as Json;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::command::perform;
use super::{Host, MESSAGE_BYTES_MAX, Work, runtime};
use crate::page::may_be_of_a_page;

/// The maximum number of commands at the same time.
const COMMANDS_MAX: usize = 32;

/// The maximum number of connections at the same time; more have to wait.
const CONNECTIONS_MAX: usize = 64;

/// The time in which a client has to send the headers, and then the message.
const PATIENCE: Duration = Duration::from_secs(10);

/// A host at an address.
#[derive(Clone)]
struct Desk {
    host: Host,
    /// The text that the header `Authorization` must have.
    authorization: Option<Arc<str>>,
    room: Arc<Semaphore>,
}

impl Host {
    /// Serves requests at an address until the process ends. `announce` gets the address, whose
    /// port may have been chosen by the system.
    ///
    /// # Errors
    /// If the address cannot be used.
    pub fn over_http(
        self,
        address: SocketAddr,
        token: Option<&str>,
        announce: impl FnOnce(SocketAddr),
    ) -> io::Result<()> {
        let desk = Desk {
            host: self,
            authorization: token.map(|token| format!("Bearer {token}").into()),
            room: Arc::new(Semaphore::new(COMMANDS_MAX)),
        };
        runtime()?.block_on(async {
            let listener = TcpListener::bind(address).await?;
            announce(listener.local_addr()?);
            let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
            loop {
                let place = Arc::clone(&places).acquire_owned().await;
                // A failure concerns one client, or the number of open files, which may fall again.
                let Ok((stream, _)) = listener.accept().await else {
                    sleep(Duration::from_millis(100)).await;
                    continue;
                };
                let desk = desk.clone();
                let service = service_fn(move |request| {
                    let desk = desk.clone();
                    async move { Ok::<_, Infallible>(desk.answer(request).await) }
                });
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(PATIENCE)
                    .serve_connection(TokioIo::new(stream), service);
                // A connection that breaks costs its own requests.
                tokio::spawn(async move {
                    connection.await.ok();
                    drop(place);
                });
            }
        })
    }
}

impl Desk {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        if let Some(refusal) = self.refusal(&head) {
            return refusal;
        }
        if head.method != Method::POST {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "send messages by POST");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
            return response;
        }
        let Ok(body) = timeout(PATIENCE, Limited::new(body, MESSAGE_BYTES_MAX).collect()).await else {
            return plain(StatusCode::REQUEST_TIMEOUT, "the message did not come in time");
        };
        let Ok(body) = body else {
            return plain(StatusCode::PAYLOAD_TOO_LARGE, "the message is too long, or broke off");
        };
        let body = body.to_bytes();
        if let Some(refusal) = mismatch(&head.headers, &body) {
            return json(StatusCode::BAD_REQUEST, &refusal);
        }
        match self.host.protocol.hear(&body) {
            // A client that wants no reply any more closes its connection, which ends the command.
            Work::Nothing | Work::Cancel(_) => plain(StatusCode::ACCEPTED, ""),
            Work::Reply(reply) => json(status(&reply), &reply),
            Work::Command(errand) => {
                let _place = self.room.acquire().await;
                json(StatusCode::OK, &perform(&self.host.program, *errand).await)
            }
        }
    }

    /// The refusal of a request, if it has no right to an answer.
    fn refusal(&self, head: &Parts) -> Option<Response<Full<Bytes>>> {
        if self.authorization.is_none() && may_be_of_a_page(head) {
            let words = "without a token only programs of this machine are answered, and no pages of a browser";
            return Some(plain(StatusCode::FORBIDDEN, words));
        }
        if head.headers.get(ORIGIN).is_some_and(|origin| !is_local(origin)) {
            return Some(plain(StatusCode::FORBIDDEN, "pages of other origins are refused"));
        }
        let given = head.headers.get(AUTHORIZATION).map_or(&b""[..], HeaderValue::as_bytes);
        let wanted = self.authorization.as_ref()?.as_bytes();
        (!is_same(wanted, given)).then(|| {
            let mut refusal = plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
            let scheme = HeaderValue::from_static("Bearer");
            refusal.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            refusal
        })
    }
}

/// Compares without telling by its time where the difference is.
fn is_same(wanted: &[u8], given: &[u8]) -> bool {
    let pairs = wanted.iter().zip(given);
    wanted.len() == given.len() && pairs.fold(0, |differences, (one, other)| differences | (one ^ other)) == 0
}

fn is_local(origin: &HeaderValue) -> bool {
    let origin = origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
    let host = origin.as_ref().and_then(Uri::host);
    host.is_some_and(|host| ["localhost", "127.0.0.1", "[::1]"].contains(&host))
}

/// The refusal of a message whose header names another method than the message itself.
fn mismatch(headers: &HeaderMap, body: &[u8]) -> Option<Json> {
    let named = headers.get("mcp-method")?.to_str().ok()?;
    let message: Json = serde_json::from_slice(body).ok()?;
    let method = message.get("method").and_then(Json::as_str)?;
    (named != method).then(|| {
        serde_json::json!({
            "jsonrpc": "2.0",
            "id": message.get("id"),
            "error": {
                "code": -32_020,
                "message": format!("the header Mcp-Method says {named}, the message {method}"),
            },
        })
    })
}

/// The status of a reply: that of a request which no server of this kind can answer is an error of
/// HTTP, too.
fn status(reply: &Json) -> StatusCode {
    match reply.pointer("/error/code").and_then(Json::as_i64) {
        Some(-32_700 | -32_600 | -32_022) => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}

fn json(status: StatusCode, value: &Json) -> Response<Full<Bytes>> {
    let mut response = plain(status, &value.to_string());
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn plain(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text.to_owned())));
    *response.status_mut() = status;
    response
}
