//! `syndicate/…`: connections to servers that speak Syndicate's protocol.
//!
//! The tools know packets; `(duet syndicate)` gives assertions their meaning, in Scheme. Opening a
//! connection includes showing the sturdyref to the gatekeeper, because a sturdyref is a secret: as
//! a field of a tool it can be a stand-in, which a packet of a program could not contain.
//! A connection belongs to this process, like a line's: a run that goes on in another one connects
//! again. Its name is the key of the call that opened it.
//! (Rejected: the relay's membranes in Rust. A run would lose them in a crash, and its journal
//! could not say why a fact appeared.)
//! INVARIANT: each packet that a program receives is one result of one call, so the journal has
//! it; packets wait in the connection until the program asks, so a flood slows the server down.
//! A peer that breaks the rules costs its own connection and nothing else.
//! Read next: `syndicate/connection.rs`.
//!
//! Source: <https://synit.org/book/protocol.html>.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use duet_runtime::driver::packed::PackedLimits;
use preserves::{IOValue, ValueImpl};
use tokio::time::timeout;

use super::arguments::{Arguments, dictionary, integer, positive, string};
use super::description::{Answer, Description, EffectClass, Field, Shape};
use super::failure::Kind;
use super::http::Hosts;
use super::http::connection::reach;
use super::interface::{Call, Context, Outcome, Tool};
use super::line::read_port;
use super::returns::Returns;
use crate::framing::Decoder;
use connection::Connection;

pub(crate) mod connection;
mod reference;
#[cfg(test)]
mod tests;

/// The time limit for the gatekeeper's answer and for sending a packet.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The limits of a packet.
const LIMITS: PackedLimits = PackedLimits {
    depth_max: 200,
    bytes_max: 4 << 20,
};

const NAME_OF_CONNECTION: &str = "its name, as `syndicate/connect` gave it";
const PLACE: &[Field] = &[
    Field::required("host", Shape::Host, "a name or an address"),
    Field::required("port", Shape::Positive, "from 1 to 65535"),
    Field::required(
        "reference",
        Shape::Text,
        "the sturdyref, as text: `<ref {oid: … sig: …}>`",
    ),
];
const CONNECTION: &[Field] = &[Field::required("connection", Shape::Text, NAME_OF_CONNECTION)];
const CONNECTION_AND_EVENTS: &[Field] = &[
    Field::required("connection", Shape::Text, NAME_OF_CONNECTION),
    Field::required("events", Shape::Values, "the events, each `(OBJECT EVENT)`"),
];

static CONNECT: Description = Description::of_connection(
    "syndicate/connect",
    "opens a connection to a host of the list and shows its gatekeeper a sturdyref",
    PLACE,
    Answer::new(
        "{connection: its name, a string; peer: the server's address, a string; object: the number of the object \
         that the sturdyref names}",
        Returns::Fields(&[
            ("connection", Returns::Text),
            ("peer", Returns::Text),
            ("object", Returns::Integer),
        ]),
    ),
    EffectClass::Pure,
)
.taking_secrets();

static RECEIVE: Description = Description::of_connection(
    "syndicate/receive",
    "takes the next packet of a connection",
    CONNECTION,
    Answer::new(
        "a list of events `(OBJECT EVENT)`, in which `<'#:' X>` stands for a reference, or #f if the server has \
         ended the connection",
        Returns::Optional(&Returns::List(&Returns::Anything)),
    ),
    EffectClass::Pure,
);

static SEND: Description = Description::of_connection(
    "syndicate/send",
    "sends a packet on a connection",
    CONNECTION_AND_EVENTS,
    Answer::new("#t", Returns::Flag),
    EffectClass::Irreversible,
);

static CLOSE: Description = Description::of_connection(
    "syndicate/close",
    "ends a connection",
    CONNECTION,
    Answer::new("whether it was open", Returns::Flag),
    EffectClass::Pure,
);

/// The connections of a process, which its tools share.
#[derive(Clone)]
pub struct Links {
    hosts: Hosts,
    open: Arc<Mutex<BTreeMap<String, Arc<Connection>>>>,
}

/// One of the tools.
pub struct Link {
    description: &'static Description,
    links: Links,
}

impl Links {
    /// Makes a process's connections; it may connect to these hosts.
    pub fn new(hosts: Hosts) -> Self {
        Self {
            hosts,
            open: Arc::default(),
        }
    }

    /// The tools that share them.
    pub fn tools(&self) -> impl Iterator<Item = Link> {
        let links = self.clone();
        [&CONNECT, &RECEIVE, &SEND, &CLOSE]
            .into_iter()
            .map(move |description| Link {
                description,
                links: links.clone(),
            })
    }

    fn with<T>(&self, change: impl FnOnce(&mut BTreeMap<String, Arc<Connection>>) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn connection(&self, name: &str) -> Result<Arc<Connection>, ToolFailure> {
        let gone = "there is no such connection; one ends with its process, with a failure, or by `syndicate/close`";
        self.with(|open| open.get(name).cloned())
            .ok_or_else(|| Kind::NotFound.because(gone))
    }

    async fn connect(&self, name: String, host: &str, port: u64, reference: &str) -> Outcome {
        let reference = read_reference(reference)?;
        let stream = reach(&self.hosts, host, read_port(port)?).await?;
        let failed = |error: std::io::Error| Kind::Unavailable.because(format!("the connection ended: {error}"));
        let peer = stream.peer_addr().map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let connection = Connection::new(stream);
        let late = |_| Err(Kind::Unavailable.because(format!("the gatekeeper of `{host}:{port}` does not answer")));
        let resolving = connection.resolve(&reference);
        let object = timeout(PATIENCE, resolving).await.unwrap_or_else(late)?;
        self.with(|open| open.insert(name.clone(), Arc::new(connection)));
        Ok(dictionary([
            ("connection", IOValue::new(name)),
            ("peer", IOValue::new(peer.to_string())),
            ("object", integer(object)),
        ]))
    }

    /// Takes a packet; the end of the connection or a failure forgets it.
    async fn receive(&self, name: &str) -> Outcome {
        let received = self.connection(name)?.receive().await;
        if !matches!(received, Ok(Some(_))) {
            self.close(name);
        }
        received.map(|events| events.unwrap_or_else(|| IOValue::new(false)))
    }

    async fn send(&self, name: &str, events: &IOValue) -> Outcome {
        let connection = self.connection(name)?;
        let events = reference::leave(events)
            .map_err(|misfit| Kind::BadArgument.because(format!("the packet has {}", misfit.words())))?;
        let slow = |_| Err(Kind::Timeout.because("the server does not read; the connection was ended"));
        let sent = timeout(PATIENCE, connection.send(&events)).await.unwrap_or_else(slow);
        if sent.is_err() {
            self.close(name);
        }
        sent.map(|()| IOValue::new(true))
    }

    fn close(&self, name: &str) -> bool {
        let connection = self.with(|open| open.remove(name));
        connection.as_ref().inspect(|connection| connection.end()).is_some()
    }
}

/// Reads the text of a sturdyref.
pub(crate) fn read_reference(text: &str) -> Result<IOValue, ToolFailure> {
    let mut decoder = Decoder::new(LIMITS);
    decoder.add(text.as_bytes());
    let value = decoder.next().ok().flatten();
    // The text may be a secret, so the failure does not repeat it.
    value
        .filter(|value| value.is_simple_record("ref", Some(1)) && !decoder.is_amid())
        .ok_or_else(|| Kind::BadArgument.because("field `reference`: it is no sturdyref `<ref {oid: … sig: …}>`"))
}

impl Tool for Link {
    fn description(&self) -> &Description {
        self.description
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let (description, links) = (self.description, self.links.clone());
        Box::pin(async move {
            let mut fields = Arguments::read(description, &payload)?;
            if &*description.name == "syndicate/connect" {
                let (host, port) = (fields.required("host", string)?, fields.required("port", positive)?);
                let reference = fields.required("reference", string)?;
                return links.connect(context.key, &host, port, &reference).await;
            }
            let name = fields.required("connection", string)?;
            match &*description.name {
                "syndicate/receive" => links.receive(&name).await,
                "syndicate/send" => {
                    let events = fields.required("events", |events| events.is_sequence().then(|| events.clone()))?;
                    links.send(&name, &events).await
                }
                _ => Ok(IOValue::new(links.close(&name))),
            }
        })
    }
}
