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
use std::sync::{Arc, OnceLock};
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
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::command::perform;
use super::{Host, MESSAGE_BYTES_MAX, Work, runtime};
use crate::lobby::{Lobby, Stranger};
use crate::page::may_be_of_a_page;

/// The maximum number of commands at the same time.
const COMMANDS_MAX: usize = 32;

/// The maximum number of clients with a right to an answer at the same time; more are refused.
const CLIENTS_MAX: usize = 256;

/// The maximum length of the headers, in bytes.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// The time in which a client has to send the headers, and then the message.
const PATIENCE: Duration = Duration::from_secs(10);

/// A host at an address.
#[derive(Clone)]
struct Desk {
    host: Host,
    /// The text that the header `Authorization` must have.
    authorization: Option<Arc<str>>,
    room: Arc<Semaphore>,
    places: Arc<Semaphore>,
    lobby: Lobby,
}

/// A connection, whose client is a stranger until a request of it has a right to an answer.
struct Visit {
    stranger: Stranger,
    place: OnceLock<OwnedSemaphorePermit>,
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
            places: Arc::new(Semaphore::new(CLIENTS_MAX)),
            lobby: Lobby::default(),
        };
        runtime()?.block_on(async {
            let listener = TcpListener::bind(address).await?;
            announce(listener.local_addr()?);
            loop {
                // A failure concerns one client, or the number of open files, which may fall again.
                let Ok((stream, _)) = listener.accept().await else {
                    sleep(Duration::from_millis(100)).await;
                    continue;
                };
                tokio::spawn(desk.clone().serve(stream));
            }
        })
    }
}

impl Desk {
    /// Serves a connection until it ends, or its client is a stranger and has to go.
    async fn serve(self, stream: TcpStream) {
        let visit = Arc::new(Visit {
            stranger: self.lobby.enter(),
            place: OnceLock::new(),
        });
        let visitor = Arc::clone(&visit);
        let service = service_fn(move |request| {
            let (desk, visit) = (self.clone(), Arc::clone(&visitor));
            async move { Ok::<_, Infallible>(desk.answer(&visit, request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .max_buf_size(HEADER_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        tokio::select! {
            // A connection that breaks costs its own requests.
            _ended = connection => {}
            _why = visit.stranger.must_go() => {}
        }
    }

    /// Lets a client in; says whether there is a place for it.
    fn admit(&self, visit: &Visit) -> bool {
        if visit.place.get().is_none() {
            let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
                return false;
            };
            // Requests of one connection come one after the other.
            let _only = visit.place.set(place);
            visit.stranger.admit();
        }
        true
    }

    async fn answer(&self, visit: &Visit, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        if let Some(refusal) = self.refusal(&head) {
            return refusal;
        }
        if !self.admit(visit) {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "too many clients are connected");
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
        let posted = self
            .host
            .protocol
            .hear_posted(&|name| header(&head.headers, name), &body);
        match posted.work {
            // A client that wants no reply any more closes its connection, which ends the command.
            Work::Nothing | Work::Cancel(_) => plain(StatusCode::ACCEPTED, ""),
            Work::Reply(reply) => {
                let status = StatusCode::from_u16((posted.status)(&reply)).unwrap_or(StatusCode::OK);
                json(status, &reply)
            }
            Work::Command(errand) => {
                let _place = self.room.acquire().await;
                json(StatusCode::OK, &perform(&self.host.program, *errand).await)
            }
        }
    }

    /// The refusal of a request, if it has no right to an answer.
    fn refusal(&self, head: &Parts) -> Option<Response<Full<Bytes>>> {
        if self.authorization.is_none() && may_be_of_a_page(&head.headers, &head.uri) {
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

/// The value of a header; several are one, with commas between them.
fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let values = headers.get_all(name).iter();
    let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!values.is_empty()).then(|| values.join(", "))
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
