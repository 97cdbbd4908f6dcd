//! Requests on their way to the program, and replies on their way back.
//!
//! INVARIANT: connections, requests, the length of a body and the time of each step have limits, so
//! no client keeps another one waiting. A request whose reply can no longer come is answered with
//! 503, one that waited too long with 504.
//! It does not know listeners by name; `../webhook.rs` does. Read next: `proof.rs`.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming as Body;
use hyper::header::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use preserves::{IOValue, Map, Value};
use tokio::net::TcpListener;
use tokio::sync::mpsc::Sender;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

use super::proof::Proof;
use crate::http_server::whole;
use crate::page::may_be_of_a_page;
use crate::pending::{PendingClient, PendingClients};
use crate::tool::arguments::{content, dictionary};

/// The maximum number of requests that have proved themselves and are not answered yet; more are
/// refused.
const CLIENTS_MAX: usize = 256;

/// The time in which a client has to send the headers, and then the body.
const PATIENCE: Duration = Duration::from_secs(10);

/// The maximum length of the headers, in bytes.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// The maximum length of a body, in bytes.
pub(super) const BODY_BYTES_MAX: usize = 1 << 20;

/// The words in the names of headers with credentials, which the journal must not keep.
const CREDENTIALS: [&str; 8] = [
    "auth",
    "authorization",
    "cookie",
    "password",
    "secret",
    "token",
    "api-key",
    "apikey",
];

/// Why a request does not reach a program, with the status that says so.
pub(super) type Refusal = (StatusCode, Cow<'static, str>);

/// The terms on which requests are taken in.
pub(super) struct Terms {
    pub(super) proof: Proof,
    /// The time in which the program has to reply.
    pub(super) timeout: Duration,
}

/// Whoever takes requests in for programs.
pub(super) trait Endpoint: Send + Sync + 'static {
    /// The purpose of a request.
    type Aim: Send + Sync;

    /// Finds the purpose of the requests of a path, and the path that the program sees.
    fn aim(&self, path: &str) -> impl Future<Output = Result<(Self::Aim, String), Refusal>> + Send;

    /// The terms for such requests.
    fn terms<'a>(&'a self, aim: &'a Self::Aim) -> &'a Terms;

    /// Gives a request that has proved itself to the program, and waits for the reply.
    fn give(&self, aim: Self::Aim, incoming: Incoming) -> impl Future<Output = Result<Reply, Refusal>> + Send;

    /// The maximum time in which a program has to reply.
    fn timeout_max(&self) -> Duration;
}

/// What all requests of a listener share.
pub(super) struct Intake {
    pub(super) terms: Terms,
    pub(super) queue: Sender<PendingRequest>,
}

/// A request, and where its reply goes.
pub(super) struct PendingRequest {
    pub(super) incoming: Incoming,
    pub(super) reply: oneshot::Sender<Reply>,
}

impl Endpoint for Intake {
    type Aim = ();

    async fn aim(&self, path: &str) -> Result<((), String), Refusal> {
        Ok(((), path.to_owned()))
    }

    fn terms<'a>(&'a self, _aim: &'a ()) -> &'a Terms {
        &self.terms
    }

    async fn give(&self, _aim: (), incoming: Incoming) -> Result<Reply, Refusal> {
        let (reply, replied) = oneshot::channel();
        self.queue
            .try_send(PendingRequest { incoming, reply })
            .map_err(|_| refusal(BUSY))?;
        replied
            .await
            .map_err(|_| refusal((StatusCode::SERVICE_UNAVAILABLE, "the program ended without a reply")))
    }

    fn timeout_max(&self) -> Duration {
        self.terms.timeout
    }
}

/// A request that the program may take.
pub(super) struct Incoming {
    method: Method,
    path: String,
    query: String,
    headers: HeaderMap,
    body: Bytes,
}

/// What the program replies.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Vec<u8>,
}

/// Says whether the name of a header says that it has credentials, as `x-api-key` does.
fn has_credentials(name: &HeaderName) -> bool {
    let name = format!("-{name}-");
    CREDENTIALS.iter().any(|word| name.contains(&format!("-{word}-")))
}

impl Incoming {
    /// The request as the program sees it, under a name.
    pub(super) fn value(&self, name: &str) -> IOValue {
        let text = |text: &str| IOValue::new(text.to_owned());
        let mut headers: Map<Value<IOValue>, IOValue> = Map::new();
        for header in self.headers.keys().filter(|name| !has_credentials(name)) {
            let values = self.headers.get_all(header).iter();
            let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
            headers.insert(Value::new(header.as_str().to_owned()), text(&values.join(", ")));
        }
        dictionary([
            ("request", text(name)),
            ("method", text(self.method.as_str())),
            ("path", text(&self.path)),
            ("query", text(&self.query)),
            ("headers", IOValue::new(headers)),
            ("body", content(self.body.to_vec(), false).0),
        ])
    }
}

/// Takes connections as long as the listener lives.
pub(super) async fn listen<D: Endpoint>(socket: TcpListener, endpoint: Arc<D>) {
    let (places, clients) = (Arc::new(Semaphore::new(CLIENTS_MAX)), PendingClients::default());
    // The headers, the body, and the time in which a client has to take its answer.
    let longest = PATIENCE.saturating_mul(3).saturating_add(endpoint.timeout_max());
    loop {
        // A failure concerns one client, or the number of open files, which may fall again.
        let Ok((stream, _)) = socket.accept().await else {
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (endpoint, places) = (Arc::clone(&endpoint), Arc::clone(&places));
        let pending = Arc::new(clients.enter());
        tokio::spawn(async move {
            let served_client = Arc::clone(&pending);
            let service = service_fn(move |request| {
                let client = Client {
                    pending: Arc::clone(&served_client),
                    places: Arc::clone(&places),
                };
                answer(request, client, Arc::clone(&endpoint))
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .max_buf_size(HEADER_BYTES_MAX)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                // The client may have gone, speak no HTTP, or not take its answer.
                _ended = timeout(longest, served) => {}
                _why = pending.must_go() => {}
            }
        });
    }
}

/// A client, which is pending until its request has proved itself.
struct Client {
    pending: Arc<PendingClient>,
    places: Arc<Semaphore>,
}

async fn answer<D: Endpoint>(
    request: Request<Body>,
    client: Client,
    endpoint: Arc<D>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let reply = take_in(request, &client, &*endpoint)
        .await
        .unwrap_or_else(|(status, words)| Reply {
            status,
            headers: Vec::new(),
            body: format!("{words}\n").into_bytes(),
        });
    let mut response = Response::new(Full::new(Bytes::from(reply.body)));
    *response.status_mut() = reply.status;
    response.headers_mut().extend(reply.headers);
    Ok(response)
}

const BUSY: (StatusCode, &str) = (StatusCode::SERVICE_UNAVAILABLE, "the program has too many requests");
const LATE: (StatusCode, &str) = (StatusCode::GATEWAY_TIMEOUT, "the program did not reply in time");

pub(super) fn refusal(why: (StatusCode, &'static str)) -> Refusal {
    (why.0, Cow::Borrowed(why.1))
}

/// Gives a request to the program and waits for its reply.
async fn take_in<D: Endpoint>(request: Request<Body>, client: &Client, endpoint: &D) -> Result<Reply, Refusal> {
    let (head, body) = request.into_parts();
    let body = timeout(PATIENCE, whole(body, BODY_BYTES_MAX, &client.pending)).await;
    let body = body.map_err(|_| refusal((StatusCode::REQUEST_TIMEOUT, "the body did not come in time")))?;
    let too_large = (StatusCode::PAYLOAD_TOO_LARGE, "the body is broken or longer than 1 MiB");
    let body = body.ok_or_else(|| refusal(too_large))?;
    let (aim, path) = endpoint.aim(head.uri.path()).await?;
    let Terms {
        proof,
        timeout: patience,
    } = endpoint.terms(&aim);
    if proof.is_open() && may_be_of_a_page(&head.headers, &head.uri) {
        return Err(refusal((
            StatusCode::FORBIDDEN,
            "without a secret only programs of this machine are answered, and no pages of a browser",
        )));
    }
    if !proof.is_given(&head.headers, &body) {
        return Err(refusal((
            StatusCode::UNAUTHORIZED,
            "the request does not prove that it knows the secret",
        )));
    }
    let patience = *patience;
    let _place = client.places.try_acquire().map_err(|_| refusal(BUSY))?;
    client.pending.admit();
    let incoming = Incoming {
        method: head.method,
        path,
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body,
    };
    timeout(patience, endpoint.give(aim, incoming))
        .await
        .map_err(|_| refusal(LATE))?
}
