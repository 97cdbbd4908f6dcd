//! `webhook/…`: requests over HTTP that come to the run, and its replies.
//!
//! A listener belongs to this process, like a line's connection: when the process ends, so do the
//! requests that wait for their replies, and a run that goes on in another process listens again.
//! (Rejected: a flag of the command. A port is a right like a host: the gate judges the call that
//! opens it, and a run that is resumed opens it again by itself.)
//! INVARIANT: each request that was taken in gets exactly one reply: the program's, or one that
//! says why there is none. A request that does not prove that it knows the secret never reaches
//! the program.
//! Where workers take requests in for all runs, a listener has no port: its requests come by the
//! run's inbox, and their replies go back by the journal, so that a run which waits for requests
//! needs no process.
//! It does not know what a request asks for.
//! Read next: `webhook/intake.rs`, `webhook/shared_listener.rs`.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use duet_runtime::driver::{ToolFailure, name_of_inbox_call};
use duet_runtime::run::inflight::REPEATABLE;
use hyper::StatusCode;
use preserves::IOValue;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::sync::{Mutex as Turns, oneshot};
use tokio::task::AbortHandle;

use super::arguments::{Arguments, boolean, bytes, count, dictionary, integer, positive, string};
use super::description::{Answer, Description, EffectClass, Field, Shape};
use super::failure::Kind;
use super::http::read_headers;
use super::interface::{Call, Context, Outcome, Tool, off_thread};
use super::line::read_port;
use super::returns::Returns;
use intake::{Intake, PendingRequest, Reply, Terms};
use proof::Proof;

mod intake;
pub mod shared_listener;
mod proof;
#[cfg(test)]
mod tests;

/// The default time in which the program has to reply, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;

/// The maximum number of requests that wait for the program to take them.
const WAITING_MAX: usize = 256;

const TOKEN: Field = Field::optional(
    "token",
    Shape::Text,
    "what a request must have in `authorization: Bearer …`; without it nothing",
);
const KEY: Field = Field::optional(
    "hmac_key",
    Shape::Text,
    "the key of the HMAC-SHA256 of the body that a request must have in `x-hub-signature-256: sha256=…`; without it \
     none",
);
const TIMEOUT: Field = Field::optional(
    "timeout_ms",
    Shape::Positive,
    "the time in which the program has to reply, in milliseconds; without it 30,000",
);
const PLACE: &[Field] = &[
    Field::required("port", Shape::Count, "up to 65535; 0 for a free one"),
    TOKEN,
    KEY,
    TIMEOUT,
];
const LISTENER: &[Field] = &[LISTENER_NAME];
const LISTENER_NAME: Field = Field::required("listener", Shape::Text, "its name, as `webhook/listen` gave it");
const NEXT: &[Field] = &[
    LISTENER_NAME,
    Field::optional(
        "name",
        Shape::Text,
        "where the listener has its requests from workers, the name in their paths; the other fields are then those \
         of `webhook/listen`",
    ),
    TOKEN,
    KEY,
    TIMEOUT,
    Field::REPEATABLE,
];
const REPLY: &[Field] = &[
    Field::required("request", Shape::Text, "its name, as `webhook/accept` gave it"),
    Field::required("status", Shape::Positive, "from 200 to 599"),
    Field::optional("headers", Shape::Texts, "headers by name; without it none"),
    Field::optional("body", Shape::Bytes, "the body; without it empty"),
];

static LISTEN: Description = Description::of_connection(
    "webhook/listen",
    "waits for requests over HTTP at 127.0.0.1, or at the address of workers",
    PLACE,
    Answer::new(
        "{listener: its name, a string; port: integer}, and with `inbox: #t` if the requests come from workers",
        Returns::Either(
            &Returns::Fields(&[("listener", Returns::Text), ("port", Returns::Integer)]),
            &Returns::Fields(&[
                ("inbox", Returns::Flag),
                ("listener", Returns::Text),
                ("port", Returns::Integer),
            ]),
        ),
    ),
    EffectClass::Pure,
)
.taking_secrets();

static ACCEPT: Description = Description::of_connection(
    "webhook/accept",
    "takes the next request of a listener",
    NEXT,
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
)
.taking_secrets();

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
    requests: Turns<Receiver<PendingRequest>>,
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

/// How a run speaks with workers that take requests in.
#[derive(Clone)]
pub struct WorkerLink {
    /// The way back of replies.
    pub replies: Arc<dyn Replies>,
    /// The port of this process that takes in requests for all runs, if it has one.
    pub port: Option<u16>,
}

/// The way of a reply to the process that has the client. Calls may block.
pub trait Replies: Send + Sync {
    /// Gives a reply to whoever received a request; returns whether somebody still waits for it.
    ///
    /// # Errors
    /// Why it cannot be given.
    fn give(&self, request: &str, reply: &IOValue) -> Result<bool, String>;
}

/// The listeners of a process, which its tools share.
#[derive(Clone, Default)]
pub struct Webhooks {
    open: Arc<Mutex<Open>>,
    workers: Option<WorkerLink>,
}

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

    /// The listeners of a run that workers may execute.
    pub fn with_workers(workers: Option<WorkerLink>) -> Self {
        Self {
            open: Arc::default(),
            workers,
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Open) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The port at which this process takes in requests for all runs.
    fn common_port(&self) -> Option<u16> {
        self.workers.as_ref().and_then(|workers| workers.port)
    }

    async fn listen(&self, name: String, port: u64, terms: Terms) -> Outcome {
        if let Some(port) = self.common_port() {
            return Ok(dictionary([
                ("listener", IOValue::new(name)),
                ("port", integer(u64::from(port))),
                ("inbox", IOValue::new(true)),
            ]));
        }
        let port = if port == 0 { 0 } else { read_port(port)? };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let refused = |error| Kind::Unavailable.because(format!("cannot wait for requests at {address}: {error}"));
        let socket = TcpListener::bind(address).await.map_err(refused)?;
        let port = socket.local_addr().map_err(refused)?.port();
        let (queue, requests) = channel(WAITING_MAX);
        let intake = Intake { terms, queue };
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

    /// Waits for the requests that workers put into the run's inbox: whoever owns the run answers
    /// the call from there.
    async fn await_inbox(&self) -> Outcome {
        match self.common_port() {
            Some(_) => std::future::pending().await,
            None => Err(Kind::NotFound.because("this process takes no requests in for all runs")),
        }
    }

    async fn accept(&self, name: String, listener: &str) -> Outcome {
        let gone = "there is no such listener; one ends with its process or by `webhook/close`";
        let gone = || Kind::NotFound.because(gone);
        let listener = self
            .with(|open| open.listeners.get(listener).cloned())
            .ok_or_else(gone)?;
        let PendingRequest { incoming, reply } = listener.requests.lock().await.recv().await.ok_or_else(gone)?;
        let value = incoming.value(&name);
        self.with(|open| {
            // Requests whose clients have gone are forgotten here, if nobody replied to them.
            open.requests.retain(|_, reply| !reply.is_closed());
            open.requests.insert(name, reply);
        });
        Ok(value)
    }

    async fn reply(&self, request: String, reply: Reply, masked: IOValue) -> Outcome {
        if let Some(client) = self.with(|open| open.requests.remove(&request)) {
            return Ok(IOValue::new(client.send(reply).is_ok()));
        }
        let Some(WorkerLink { replies, .. }) = self.workers.clone() else {
            return Ok(IOValue::new(false));
        };
        let given = move || match replies.give(&request, &masked) {
            Ok(is_awaited) => Ok(IOValue::new(is_awaited)),
            Err(why) => Err(Kind::Unavailable.because(why)),
        };
        off_thread(given).await
    }

    fn close(&self, listener: &str) -> bool {
        self.with(|open| open.listeners.remove(listener)).is_some()
    }
}

/// Reads what requests must have, and the time for replies.
fn read_terms(fields: &mut Arguments<'_>) -> Result<Terms, ToolFailure> {
    let (token, key) = (fields.optional("token", string)?, fields.optional("hmac_key", string)?);
    let timeout_ms = fields.optional("timeout_ms", positive)?.unwrap_or(TIMEOUT_MS);
    Ok(Terms {
        proof: Proof::new(token, key)?,
        timeout: Duration::from_millis(timeout_ms),
    })
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
                    let terms = read_terms(&mut fields)?;
                    let port = fields.required("port", count)?;
                    webhooks.listen(context.key, port, terms).await
                }
                "webhook/accept" => {
                    let listener = fields.required("listener", string)?;
                    fields.optional(REPEATABLE, boolean)?;
                    if name_of_inbox_call(&description.name, &payload).is_some() {
                        read_terms(&mut fields)?;
                        return webhooks.await_inbox().await;
                    }
                    webhooks.accept(context.key, &listener).await
                }
                "webhook/reply" => {
                    let request = fields.required("request", string)?;
                    let reply = read_reply(&mut fields)?;
                    webhooks.reply(request, reply, context.secrets.mask(&payload)).await
                }
                _ => Ok(IOValue::new(webhooks.close(&fields.required("listener", string)?))),
            }
        })
    }
}
