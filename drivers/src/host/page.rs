//! A host for a page in the browser of the person at this machine: files that are part of the
//! program, questions and commands as messages, and a stream of news.
//!
//! INVARIANT: without the token there is no answer, and with it none for a page of another origin,
//! or for one whose host name was led to this machine. A command goes on when its client leaves; a
//! question does not.
//! It knows neither the questions nor the files. Read next: `../http_server.rs`, `../page.rs`.
//!
//! Source: Content Security Policy 3; HTML, "Server-sent events".

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value as Json, json};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::command::{Done, Limits, done};
use super::{Job, MESSAGE_BYTES_MAX, runtime};
use crate::http_server::{Client, NoMessage, Responder, bearer, is_same, message, receive};
use crate::page::{is_addressed_here, is_of_own_page};

/// The beginning of the paths that belong to the server; no run has such a name.
const OWN: &str = "/@/";

/// The maximum number of questions that are answered at the same time.
const QUESTIONS_MAX: usize = 4;

/// The time limit of a question.
const QUESTION_TIME: Duration = Duration::from_secs(60);

/// The time limit of a command, which may be a run of days.
const COMMAND_TIME: Duration = Duration::from_secs(365 * 24 * 3_600);

/// The maximum length of an answer, in bytes.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// The time between two looks for news.
const NEWS_INTERVAL: Duration = Duration::from_millis(200);

/// The time after which a stream without news shows that it is alive.
const ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// What the page may load: its own files and answers. `trusted-types` leaves no way from a text to
/// elements.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
    trusted-types 'none'";

/// What a browser shows for an address that has no token.
const NO_TOKEN: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width\"><title>Duet: no token</title>\
    <link rel=\"stylesheet\" href=\"/@/style.css\"><main class=\"refusal\"><h1>This address has no valid token.</h1>\
    <p>The token is the end of the address that <code>duet ui</code> printed when it started, from \
    <code>?token=</code> on. Each start has a token of its own: open the address that the newest one \
    printed.</p></main>";

/// A file of the page.
pub struct PageFile {
    /// Its name.
    pub name: &'static str,
    /// The type of its contents, as HTTP names it.
    pub kind: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// What a message asks for.
pub enum Heard {
    /// A reply that is known.
    Known(Json),
    /// A question, whose answer is JSON.
    Question(Job),
    /// A command that changes something.
    Command(Vec<String>),
    /// Nothing that is done here, and why.
    Refused(String),
}

/// What stands behind a page.
pub trait Source: Send + Sync + 'static {
    /// Takes a message.
    fn hear(&self, message: &[u8]) -> Heard;

    /// How a run stands; a line of JSON.
    ///
    /// # Errors
    /// Why that is not known.
    fn news(&self, run: &str) -> Result<String, String>;
}

/// A host for a page.
pub struct PageHost {
    /// What stands behind it.
    pub source: Arc<dyn Source>,
    /// Its files; the first is the page itself.
    pub files: &'static [PageFile],
    /// The program whose commands are run, Duet itself.
    pub program: PathBuf,
    /// What a client has to know.
    pub token: String,
}

impl PageHost {
    /// Serves the page on this machine until the process ends. Port 0 lets the system choose one,
    /// which `announce` gets.
    ///
    /// # Errors
    /// If the port cannot be used.
    pub fn serve(self, port: u16, announce: impl FnOnce(SocketAddr)) -> io::Result<()> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        runtime()?.block_on(receive(address, |address| {
            announce(address);
            PageResponder {
                host: Arc::new(self),
                port: address.port(),
                room: Arc::new(Semaphore::new(QUESTIONS_MAX)),
            }
        }))
    }
}

/// A host at a port.
#[derive(Clone)]
struct PageResponder {
    host: Arc<PageHost>,
    port: u16,
    room: Arc<Semaphore>,
}

/// The body of an answer: known, or as it comes.
enum Answer {
    Whole(Full<Bytes>),
    Coming(mpsc::Receiver<Bytes>),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.get_mut() {
            Self::Whole(whole) => Pin::new(whole).poll_frame(context),
            Self::Coming(coming) => coming.poll_recv(context).map(|next| Some(Ok(Frame::data(next?)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(whole) => whole.is_end_stream(),
            Self::Coming(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(whole) => whole.size_hint(),
            Self::Coming(_) => SizeHint::default(),
        }
    }
}

impl Responder for PageResponder {
    type Body = Answer;

    async fn answer(&self, client: &Client, request: Request<Incoming>) -> Response<Answer> {
        let (head, body) = request.into_parts();
        let mut response = self.respond(client, &head, body).await;
        guard(response.headers_mut());
        response
    }
}

impl PageResponder {
    async fn respond(&self, client: &Client, head: &Parts, body: Incoming) -> Response<Answer> {
        if !is_addressed_here(&head.headers, self.port) {
            return plain(
                StatusCode::FORBIDDEN,
                "the page is served to this machine, by its own names",
            );
        }
        let Some(own) = head.uri.path().strip_prefix(OWN) else {
            return self.document(head);
        };
        if let Some(file) = self.host.files.iter().find(|file| file.name == own) {
            return match head.method {
                Method::GET | Method::HEAD => text(StatusCode::OK, file.kind, file.text),
                _ => plain(StatusCode::METHOD_NOT_ALLOWED, "files are read by GET"),
            };
        }
        if !is_of_own_page(&head.headers) {
            return plain(StatusCode::FORBIDDEN, "pages of other origins are refused");
        }
        if !self.is_admitted(head) {
            return plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
        }
        if !client.admit() {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "too many clients are connected");
        }
        match (own, &head.method) {
            ("ask", &Method::POST) => match message(body, MESSAGE_BYTES_MAX, client).await {
                Ok(message) => self.ask(message).await,
                Err(NoMessage { status, why }) => plain(status, why),
            },
            ("news", &Method::GET) => self.news(head),
            ("ask" | "news", _) => plain(StatusCode::METHOD_NOT_ALLOWED, "ask by POST, hear news by GET"),
            _ => plain(StatusCode::NOT_FOUND, "there is no such file"),
        }
    }

    /// The page itself, at whatever address a link has.
    fn document(&self, head: &Parts) -> Response<Answer> {
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "the page is read by GET");
        }
        let given = parameter(head, "token").unwrap_or_default();
        if !is_same(self.host.token.as_bytes(), given.as_bytes()) {
            return text(StatusCode::UNAUTHORIZED, HTML, NO_TOKEN);
        }
        match self.host.files.first() {
            Some(page) => text(StatusCode::OK, page.kind, page.text),
            None => plain(StatusCode::NOT_FOUND, "there is no page"),
        }
    }

    fn is_admitted(&self, head: &Parts) -> bool {
        let given = head
            .headers
            .get(AUTHORIZATION)
            .map(HeaderValue::as_bytes)
            .and_then(bearer);
        given.is_some_and(|given| is_same(self.host.token.as_bytes(), given))
    }

    async fn ask(&self, message: Bytes) -> Response<Answer> {
        let source = Arc::clone(&self.host.source);
        // It may look into the journal.
        let heard = spawn_blocking(move || source.hear(&message)).await;
        let failed = |_| Heard::Refused("the message could not be answered, because of an error in Duet".to_owned());
        match heard.unwrap_or_else(failed) {
            Heard::Known(reply) => json(StatusCode::OK, reply.to_string()),
            Heard::Refused(why) => json(StatusCode::BAD_REQUEST, json!({ "error": why }).to_string()),
            Heard::Question(job) => {
                let _place = self.room.acquire().await;
                let limits = Limits {
                    time: QUESTION_TIME,
                    output_bytes: ANSWER_BYTES_MAX,
                };
                json(StatusCode::OK, answered(done(&self.host.program, job, limits).await))
            }
            Heard::Command(words) => {
                let host = Arc::clone(&self.host);
                let limits = Limits {
                    time: COMMAND_TIME,
                    output_bytes: ANSWER_BYTES_MAX,
                };
                // A task of its own: a tab that is closed ends no run.
                let command = tokio::spawn(async move { done(&host.program, Job::Command(words), limits).await });
                json(StatusCode::OK, told(command.await.unwrap_or_default()))
            }
        }
    }

    /// Sends how a run stands whenever that has changed.
    fn news(&self, head: &Parts) -> Response<Answer> {
        let run = parameter(head, "run").unwrap_or_default().to_owned();
        let (sender, coming) = mpsc::channel(4);
        tokio::spawn(send_news(Arc::clone(&self.host.source), run, sender));
        let mut response = Response::new(Answer::Coming(coming));
        let kind = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }
}

/// Sends news until the client has gone or there are none any more.
async fn send_news(source: Arc<dyn Source>, run: String, sender: mpsc::Sender<Bytes>) {
    let (mut last, mut sent) = (String::new(), Instant::now());
    loop {
        let (source, run) = (Arc::clone(&source), run.clone());
        let Ok(news) = spawn_blocking(move || source.news(&run)).await else {
            return;
        };
        let (name, text) = match &news {
            Ok(text) => ("news", text.clone()),
            Err(why) => ("lost", json!({ "error": why }).to_string()),
        };
        let event = if text != last {
            format!("event: {name}\ndata: {text}\n\n")
        } else if sent.elapsed() > ALIVE_INTERVAL {
            ":\n\n".to_owned()
        } else {
            String::new()
        };
        if !event.is_empty() {
            if sender.send(event.into()).await.is_err() {
                return;
            }
            (last, sent) = (text, Instant::now());
        }
        if sender.is_closed() || news.is_err() {
            return;
        }
        sleep(NEWS_INTERVAL).await;
    }
}

/// The answer to a question: the JSON that it printed, or why there is none.
fn answered(done: Done) -> String {
    let why = if done.is_truncated {
        "the answer is longer than 8 MiB; the command line shows it whole".to_owned()
    } else if done.code == Some(0) && !done.output.is_empty() {
        return done.output;
    } else {
        done.messages
    };
    json!({ "error": why, "code": done.code }).to_string()
}

/// How a command ended.
fn told(done: Done) -> String {
    json!({
        "code": done.code,
        "output": done.output,
        "messages": done.messages,
        "truncated": done.is_truncated,
    })
    .to_string()
}

/// The value of a parameter in the address of a request.
fn parameter<'a>(head: &'a Parts, name: &str) -> Option<&'a str> {
    let pairs = head.uri.query()?.split('&');
    let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Adds to an answer what keeps a browser from doing more with it than the page needs.
fn guard(headers: &mut HeaderMap) {
    let rules = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in rules {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

const HTML: &str = "text/html; charset=utf-8";

fn plain(status: StatusCode, words: &'static str) -> Response<Answer> {
    text(status, "text/plain; charset=utf-8", words)
}

fn json(status: StatusCode, value: String) -> Response<Answer> {
    whole(status, "application/json", Bytes::from(value))
}

fn text(status: StatusCode, kind: &'static str, text: &'static str) -> Response<Answer> {
    whole(status, kind, Bytes::from_static(text.as_bytes()))
}

fn whole(status: StatusCode, kind: &'static str, bytes: Bytes) -> Response<Answer> {
    let mut response = Response::new(Answer::Whole(Full::new(bytes)));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
