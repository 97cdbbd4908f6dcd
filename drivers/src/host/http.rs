//! A host over HTTP: a message is a POST, its reply the response.
//!
//! INVARIANT: a page in a browser cannot reach it, because a request with the marks of a browser is
//! refused, or with a token one whose origin is not this machine; neither can anybody without the
//! token, if there is one. Connections, messages and the time of each have limits.
//! A request ends with its connection, or when another message of its client cancels it.
//! It keeps no sessions and sends no streams.
//! Read next: `../host.rs`, `../http_server.rs`.
//!
//! Source: Model Context Protocol 2025-11-25 and 2026-07-28, "Streamable HTTP".

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join_all;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde_json::Value as Json;
use tokio::sync::Semaphore;

use super::command::perform;
use super::in_flight::InFlight;
use super::{CommandRequest, Host, MESSAGE_BYTES_MAX, Work, runtime};
use crate::http_server::{Client, NoMessage, Responder, bearer, is_same, message, receive};
use crate::page::may_be_of_a_page;
use crate::tool::surrogate::unmarked;

/// The maximum number of commands at the same time.
const COMMANDS_MAX: usize = 32;

/// A host at an address.
#[derive(Clone)]
struct HttpHost {
    host: Host,
    /// The token that a client must have.
    token: Option<Arc<str>>,
    room: Arc<Semaphore>,
    in_flight: InFlight,
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
        let http_host = HttpHost {
            host: self,
            token: token.map(Arc::from),
            room: Arc::new(Semaphore::new(COMMANDS_MAX)),
            in_flight: InFlight::default(),
        };
        runtime()?.block_on(receive(address, |address| {
            announce(address);
            http_host
        }))
    }
}

impl Responder for HttpHost {
    type Body = Full<Bytes>;

    async fn answer(&self, client: &Client, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let mut response = self.respond(client, request).await;
        if self.token.is_none() {
            // The next message has to prove itself, too; a connection that waits has no place.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        response
    }
}

impl HttpHost {
    async fn respond(&self, client: &Client, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        if let Some(refusal) = self.refusal(&head) {
            return refusal;
        }
        if self.token.is_some() && !client.admit() {
            return busy();
        }
        if head.method != Method::POST {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "send messages by POST");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
            return response;
        }
        let body = match message(body, MESSAGE_BYTES_MAX, client).await {
            Ok(body) => body,
            Err(NoMessage { status, why }) => return plain(status, why),
        };
        // Without a token a client has proved nothing until its message is whole.
        if !client.admit() {
            return busy();
        }
        let header = |name: &str| header(&head.headers, name);
        let asked = self.host.protocol.hear_http(&header, unmarked(&body));
        match asked.work {
            Work::Nothing => plain(StatusCode::ACCEPTED, ""),
            Work::Cancel(id) => {
                self.cancel(asked.client.as_ref(), &id);
                plain(StatusCode::ACCEPTED, "")
            }
            Work::Reply(reply) => {
                let status = StatusCode::from_u16((asked.status)(&reply)).unwrap_or(StatusCode::OK);
                let mut response = json(status, &reply);
                for (name, value) in asked.headers {
                    let value = HeaderValue::from_str(&value).ok();
                    value.and_then(|value| response.headers_mut().insert(name, value));
                }
                response
            }
            Work::Command(request) => match self.perform(*request, asked.client.as_ref()).await {
                Some(reply) => json(StatusCode::OK, &reply),
                None => unanswered(),
            },
            Work::Batch(all) => self.perform_all(all, asked.client.as_ref()).await,
        }
    }

    /// Answers the messages of a batch by one list.
    async fn perform_all(&self, works: Vec<Work>, client: Option<&String>) -> Response<Full<Bytes>> {
        let has_requests = works
            .iter()
            .any(|work| matches!(work, Work::Reply(_) | Work::Command(_)));
        let replies = works.into_iter().map(|work| async move {
            match work {
                Work::Nothing | Work::Batch(_) => None,
                Work::Reply(reply) => Some(reply),
                Work::Cancel(id) => {
                    self.cancel(client, &id);
                    None
                }
                Work::Command(request) => self.perform(*request, client).await,
            }
        });
        let replies: Vec<Json> = join_all(replies).await.into_iter().flatten().collect();
        match (replies.is_empty(), has_requests) {
            (false, _) => json(StatusCode::OK, &Json::Array(replies)),
            (true, true) => unanswered(),
            (true, false) => plain(StatusCode::ACCEPTED, ""),
        }
    }

    /// Ends the request of a client that has this id.
    fn cancel(&self, client: Option<&String>, id: &Json) {
        if let Some(client) = client {
            self.in_flight.cancel(client.clone(), id);
        }
    }

    /// Runs a command to its end, or until its client cancels it: then there is no reply. A client
    /// that closes its connection drops this, which ends the command, too.
    async fn perform(&self, request: CommandRequest, client: Option<&String>) -> Option<Json> {
        let entry = client.map(|client| self.in_flight.enter(client.clone(), &request.id));
        let cancelled = async {
            match &entry {
                Some(entry) => entry.cancelled().await,
                None => pending().await,
            }
        };
        let performed = async {
            let _place = self.room.acquire().await;
            perform(&self.host.program, request).await
        };
        tokio::select! {
            reply = performed => Some(reply),
            () = cancelled => None,
        }
    }

    /// The refusal of a request, if it has no right to an answer.
    fn refusal(&self, head: &Parts) -> Option<Response<Full<Bytes>>> {
        if self.token.is_none() && may_be_of_a_page(&head.headers, &head.uri) {
            let words = "without a token only programs of this machine are answered, and no pages of a browser";
            return Some(plain(StatusCode::FORBIDDEN, words));
        }
        if head.headers.get(ORIGIN).is_some_and(|origin| !is_local(origin)) {
            return Some(plain(StatusCode::FORBIDDEN, "pages of other origins are refused"));
        }
        let given = head
            .headers
            .get(AUTHORIZATION)
            .map(HeaderValue::as_bytes)
            .and_then(bearer);
        let wanted = self.token.as_ref()?.as_bytes();
        (!is_same(wanted, given.unwrap_or_default())).then(|| {
            let mut refusal = plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
            let scheme = HeaderValue::from_static("Bearer");
            refusal.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            refusal
        })
    }
}

fn is_local(origin: &HeaderValue) -> bool {
    let origin = origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
    let host = origin.as_ref().and_then(Uri::host);
    host.is_some_and(|host| ["localhost", "127.0.0.1", "[::1]"].contains(&host))
}

/// The value of a header; several are one, with commas between them.
fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let values = headers.get_all(name).iter();
    let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// A stream of events that ends without the reply: the client waits for none.
fn unanswered() -> Response<Full<Bytes>> {
    of_kind(StatusCode::OK, "text/event-stream", "")
}

fn busy() -> Response<Full<Bytes>> {
    plain(StatusCode::SERVICE_UNAVAILABLE, "too many clients are connected")
}

fn json(status: StatusCode, value: &Json) -> Response<Full<Bytes>> {
    of_kind(status, "application/json", &value.to_string())
}

fn of_kind(status: StatusCode, kind: &'static str, text: &str) -> Response<Full<Bytes>> {
    let mut response = plain(status, text);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn plain(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text.to_owned())));
    *response.status_mut() = status;
    response
}
