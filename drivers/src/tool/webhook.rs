//! `webhook/…`: requests over HTTP that come to the run, and its replies.
//!
//! A listener belongs to this process, like a line's connection: when the process ends, so do the
//! requests that wait for their replies, and a run that goes on in another process listens again.
//! (Rejected: a flag of the command. A port is a right like a host: the gate judges the call that
//! opens it, and a run that is resumed opens it again by itself.)
//! INVARIANT: each request that was taken in gets exactly one reply: the program's, or one that
//! says why there is none. A request that does not prove that it knows the secret never reaches
//! the program.
//! It does not know what a request asks for.
//! Read next: `webhook/intake.rs`.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use hyper::StatusCode;
use preserves::IOValue;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::sync::{Mutex as Turns, oneshot};
use tokio::task::AbortHandle;

use super::arguments::{Arguments, bytes, count, dictionary, integer, positive, string};
use super::description::{Answer, Description, EffectClass, Field, Shape};
use super::failure::Kind;
use super::http::read_headers;
use super::interface::{Call, Context, Outcome, Tool};
use super::line::read_port;
use super::returns::Returns;
use intake::{Incoming, Intake, Reply};
use proof::Proof;

mod intake;
mod proof;
#[cfg(test)]
mod tests;

/// The default time in which the program has to reply, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;

/// The maximum number of requests that wait for the program to take them.
const WAITING_MAX: usize = 256;

const PLACE: &[Field] = &[
    Field::required("port", Shape::Count, "up to 65535; 0 for a free one"),
    Field::optional(
        "token",
        Shape::Text,
        "what a request must have in `authorization: Bearer …`; without it nothing",
    ),
    Field::optional(
        "hmac_key",
        Shape::Text,
        "the key of the HMAC-SHA256 of the body that a request must have in `x-hub-signature-256: sha256=…`; \
         without it none",
    ),
    Field::optional(
        "timeout_ms",
        Shape::Positive,
        "the time in which the program has to reply, in milliseconds; without it 30,000",
    ),
];
const LISTENER: &[Field] = &[Field::required(
    "listener",
    Shape::Text,
    "its name, as `webhook/listen` gave it",
)];
const REPLY: &[Field] = &[
    Field::required("request", Shape::Text, "its name, as `webhook/accept` gave it"),
    Field::required("status", Shape::Positive, "from 200 to 599"),
    Field::optional("headers", Shape::Texts, "headers by name; without it none"),
    Field::optional("body", Shape::Bytes, "the body; without it empty"),
];

static LISTEN: Description = Description::of_connection(
    "webhook/listen",
    "waits for requests over HTTP at 127.0.0.1",
    PLACE,
    Answer::new(
        "{listener: its name, a string; port: integer}",
        Returns::Fields(&[("listener", Returns::Text), ("port", Returns::Integer)]),
    ),
    EffectClass::Pure,
)
.taking_secrets();

static ACCEPT: Description = Description::of_connection(
    "webhook/accept",
    "takes the next request of a listener",
    LISTENER,
    Answer::new(
        "{request: its name, a string; method: string; path: string; query: string; headers: a dictionary from \
         strings in lower case to strings, without credentials; body: a string if UTF-8, else a bytevector}",
        Returns::Fields(&[
            ("request", Returns::Text),
            ("method", Returns::Text),
            ("path", Returns::Text),
            ("query", Returns::Text),
            ("headers", Returns::Texts),
            ("body", Returns::Bytes),
        ]),
    ),
    EffectClass::Pure,
);

static ANSWER: Description = Description::of_connection(
    "webhook/reply",
    "answers a request",
    REPLY,
    Answer::new(
        "whether the client still waited: #f if it has gone or the time was over",
        Returns::Flag,
    ),
    EffectClass::Irreversible,
)
.taking_secrets();

static CLOSE: Description = Description::of_connection(
    "webhook/close",
    "ends a listener",
    LISTENER,
    Answer::new("whether it was open", Returns::Flag),
    EffectClass::Pure,
);

/// A port that takes requests; dropping it ends them.
struct Listener {
    requests: Turns<Receiver<Incoming>>,
    task: AbortHandle,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The listeners, and the requests that wait for their replies, by name.
#[derive(Default)]
struct Open {
    listeners: BTreeMap<String, Arc<Listener>>,
    requests: BTreeMap<String, oneshot::Sender<Reply>>,
}

/// The listeners of a process, which its tools share.
#[derive(Clone, Default)]
pub struct Webhooks(Arc<Mutex<Open>>);

/// One of the tools.
pub struct Webhook {
    description: &'static Description,
    webhooks: Webhooks,
}

impl Webhooks {
    /// The tools that share them.
    pub fn tools(&self) -> impl Iterator<Item = Webhook> {
        let webhooks = self.clone();
        [&LISTEN, &ACCEPT, &ANSWER, &CLOSE]
            .into_iter()
            .map(move |description| Webhook {
                description,
                webhooks: webhooks.clone(),
            })
    }

    fn with<T>(&self, change: impl FnOnce(&mut Open) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn listen(&self, name: String, port: u64, proof: Proof, timeout: Duration) -> Outcome {
        let port = if port == 0 { 0 } else { read_port(port)? };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let refused = |error| Kind::Unavailable.because(format!("cannot wait for requests at {address}: {error}"));
        let socket = TcpListener::bind(address).await.map_err(refused)?;
        let port = socket.local_addr().map_err(refused)?.port();
        let (queue, requests) = channel(WAITING_MAX);
        let intake = Intake { proof, timeout, queue };
        let listener = Listener {
            requests: Turns::new(requests),
            task: tokio::spawn(intake::listen(socket, Arc::new(intake))).abort_handle(),
        };
        self.with(|open| open.listeners.insert(name.clone(), Arc::new(listener)));
        Ok(dictionary([
            ("listener", IOValue::new(name)),
            ("port", integer(u64::from(port))),
        ]))
    }

    async fn accept(&self, name: String, listener: &str) -> Outcome {
        let gone = "there is no such listener; one ends with its process or by `webhook/close`";
        let gone = || Kind::NotFound.because(gone);
        let listener = self
            .with(|open| open.listeners.get(listener).cloned())
            .ok_or_else(gone)?;
        let incoming = listener.requests.lock().await.recv().await.ok_or_else(gone)?;
        let value = incoming.value(&name);
        self.with(|open| {
            // Requests whose clients have gone are forgotten here, if nobody replied to them.
            open.requests.retain(|_, reply| !reply.is_closed());
            open.requests.insert(name, incoming.reply);
        });
        Ok(value)
    }

    fn reply(&self, request: &str, reply: Reply) -> bool {
        let waiting = self.with(|open| open.requests.remove(request));
        waiting.is_some_and(|client| client.send(reply).is_ok())
    }

    fn close(&self, listener: &str) -> bool {
        self.with(|open| open.listeners.remove(listener)).is_some()
    }
}

/// Reads the status, headers and body of a reply.
fn read_reply(fields: &mut Arguments<'_>) -> Result<Reply, ToolFailure> {
    let refuse = |problem: String| Kind::BadArgument.because(problem);
    let status = fields.required("status", positive)?;
    let read = u16::try_from(status).ok().filter(|status| (200..600).contains(status));
    let read = read.and_then(|status| StatusCode::from_u16(status).ok());
    let status = read.ok_or_else(|| refuse(format!("field `status`: {status} is no number from 200 to 599")))?;
    let headers = match fields.optional("headers", read_headers)? {
        Some(Ok(headers)) => headers,
        Some(Err(name)) => return Err(refuse(format!("field `headers`: `{name}` cannot be sent"))),
        None => Vec::new(),
    };
    Ok(Reply {
        status,
        headers,
        body: fields.optional("body", bytes)?.unwrap_or_default(),
    })
}

impl Tool for Webhook {
    fn description(&self) -> &Description {
        self.description
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let (description, webhooks) = (self.description, self.webhooks.clone());
        Box::pin(async move {
            let mut fields = Arguments::read(description, &payload)?;
            match &*description.name {
                "webhook/listen" => {
                    let (token, key) = (fields.optional("token", string)?, fields.optional("hmac_key", string)?);
                    let timeout_ms = fields.optional("timeout_ms", positive)?.unwrap_or(TIMEOUT_MS);
                    let (proof, timeout) = (Proof::new(token, key)?, Duration::from_millis(timeout_ms));
                    let port = fields.required("port", count)?;
                    webhooks.listen(context.key, port, proof, timeout).await
                }
                "webhook/accept" => {
                    let listener = fields.required("listener", string)?;
                    webhooks.accept(context.key, &listener).await
                }
                "webhook/reply" => {
                    let request = fields.required("request", string)?;
                    Ok(IOValue::new(webhooks.reply(&request, read_reply(&mut fields)?)))
                }
                _ => Ok(IOValue::new(webhooks.close(&fields.required("listener", string)?))),
            }
        })
    }
}
