//! `line/…`: connections over TCP that carry one text a line, both ways.
//!
//! A connection belongs to this process: a run that goes on in another one finds that its
//! connections have ended, and connects again. Its name is the key of the call that opened it, so
//! no name ever means two connections.
//! (Rejected: a connection as a source of events, because the journal would get each line before
//! the program asks for it, and a flood of lines would fill it. A program that receives line by
//! line slows its peer down instead.)
//! INVARIANT: a call that is withdrawn while it receives loses no line; a peer that breaks the
//! rules costs its own connection and nothing else.
//! It does not know what a line means.
//! Read next: `line/connection.rs`.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::arguments::{Arguments, count, dictionary, integer, positive, string};
use super::description::{Answer, Description, EffectClass, Field, Shape};
use super::failure::Kind;
use super::http::Hosts;
use super::http::connection::reach;
use super::interface::{Call, Context, Outcome, Tool};
use super::returns::Returns;
use connection::Connection;

mod connection;
#[cfg(test)]
mod tests;

/// The time limit for sending a line.
const PATIENCE: Duration = Duration::from_secs(10);

const NAME_OF_CONNECTION: &str = "its name, as `line/connect` or `line/accept` gave it";
const OPENED: &[(&str, Returns)] = &[("connection", Returns::Text), ("peer", Returns::Text)];
const OPENED_WORDS: &str = "{connection: its name, a string; peer: the address of the other side, a string}";

const PLACE: &[Field] = &[
    Field::required("host", Shape::Host, "a name or an address"),
    Field::required("port", Shape::Positive, "from 1 to 65535"),
];
const PORT: &[Field] = &[Field::required("port", Shape::Count, "up to 65535; 0 for a free one")];
const LISTENER: &[Field] = &[Field::required(
    "listener",
    Shape::Text,
    "its name, as `line/listen` gave it",
)];
const CONNECTION: &[Field] = &[Field::required("connection", Shape::Text, NAME_OF_CONNECTION)];
const CONNECTION_AND_LINE: &[Field] = &[
    Field::required("connection", Shape::Text, NAME_OF_CONNECTION),
    Field::required("line", Shape::Text, "a text without a line end; one is added"),
];
const EITHER: &[Field] = &[Field::required("connection", Shape::Text, "its name")];

static CONNECT: Description = Description::of_connection(
    "line/connect",
    "opens a connection to a host of the list",
    PLACE,
    Answer::new(OPENED_WORDS, Returns::Fields(OPENED)),
    EffectClass::Pure,
);

static LISTEN: Description = Description::of_connection(
    "line/listen",
    "waits for connections at 127.0.0.1",
    PORT,
    Answer::new(
        "{listener: its name, a string; port: integer}",
        Returns::Fields(&[("listener", Returns::Text), ("port", Returns::Integer)]),
    ),
    EffectClass::Pure,
);

static ACCEPT: Description = Description::of_connection(
    "line/accept",
    "takes the next connection of a listener",
    LISTENER,
    Answer::new(OPENED_WORDS, Returns::Fields(OPENED)),
    EffectClass::Pure,
);

static RECEIVE: Description = Description::of_connection(
    "line/receive",
    "takes the next line of a connection",
    CONNECTION,
    Answer::new(
        "the line without its end, a string, or #f if the other side has ended the connection",
        Returns::Optional(&Returns::Text),
    ),
    EffectClass::Pure,
);

static SEND: Description = Description::of_connection(
    "line/send",
    "sends a line on a connection",
    CONNECTION_AND_LINE,
    Answer::new("#t", Returns::Flag),
    EffectClass::Irreversible,
);

static CLOSE: Description = Description::of_connection(
    "line/close",
    "ends a connection or a listener",
    EITHER,
    Answer::new("whether it was open", Returns::Flag),
    EffectClass::Pure,
);

/// The open connections and listeners, by name.
#[derive(Default)]
struct Open {
    connections: BTreeMap<String, Arc<Connection>>,
    listeners: BTreeMap<String, Arc<TcpListener>>,
}

/// The connections of a process, which its tools share.
#[derive(Clone)]
pub struct Lines {
    hosts: Hosts,
    open: Arc<Mutex<Open>>,
}

/// One of the tools.
pub struct Line {
    description: &'static Description,
    lines: Lines,
}

impl Lines {
    /// Makes a process's connections; it may connect to these hosts.
    pub fn new(hosts: Hosts) -> Self {
        Self {
            hosts,
            open: Arc::default(),
        }
    }

    /// The tools that share them.
    pub fn tools(&self) -> impl Iterator<Item = Line> {
        let descriptions = [&CONNECT, &LISTEN, &ACCEPT, &RECEIVE, &SEND, &CLOSE];
        let lines = self.clone();
        descriptions.into_iter().map(move |description| Line {
            description,
            lines: lines.clone(),
        })
    }

    fn with<T>(&self, change: impl FnOnce(&mut Open) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn connection(&self, name: &str) -> Result<Arc<Connection>, ToolFailure> {
        self.with(|open| open.connections.get(name).cloned()).ok_or_else(gone)
    }

    /// Keeps a connection under a name.
    fn keep(&self, name: String, stream: TcpStream) -> Outcome {
        let failed = |error: std::io::Error| Kind::Unavailable.because(format!("the connection ended: {error}"));
        let peer = stream.peer_addr().map_err(failed)?;
        let connection = Connection::new(stream).map_err(failed)?;
        self.with(|open| open.connections.insert(name.clone(), Arc::new(connection)));
        Ok(dictionary([
            ("connection", IOValue::new(name)),
            ("peer", IOValue::new(peer.to_string())),
        ]))
    }

    async fn connect(&self, name: String, host: &str, port: u64) -> Outcome {
        let stream = reach(&self.hosts, host, read_port(port)?).await?;
        self.keep(name, stream)
    }

    async fn listen(&self, name: String, port: u64) -> Outcome {
        let port = if port == 0 { 0 } else { read_port(port)? };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let refused = |error| Kind::Unavailable.because(format!("cannot wait for connections at {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let port = listener.local_addr().map_err(refused)?.port();
        self.with(|open| open.listeners.insert(name.clone(), Arc::new(listener)));
        Ok(dictionary([
            ("listener", IOValue::new(name)),
            ("port", integer(u64::from(port))),
        ]))
    }

    async fn accept(&self, name: String, listener: &str) -> Outcome {
        let listener = self
            .with(|open| open.listeners.get(listener).cloned())
            .ok_or_else(gone)?;
        let failed = |error| Kind::Failed.because(format!("no connection can be taken: {error}"));
        let (stream, _) = listener.accept().await.map_err(failed)?;
        self.keep(name, stream)
    }

    /// Takes a line; the end of the connection or a failure forgets it.
    async fn receive(&self, name: &str) -> Outcome {
        match self.connection(name)?.receive().await {
            Ok(Some(line)) => Ok(IOValue::new(line)),
            Ok(None) => {
                self.close(name);
                Ok(IOValue::new(false))
            }
            Err(failure) => {
                self.close(name);
                Err(failure)
            }
        }
    }

    async fn send(&self, name: &str, line: &str) -> Outcome {
        if line.contains(['\n', '\r']) {
            return Err(Kind::BadArgument.because("field `line` of line/send: it has a line end"));
        }
        let connection = self.connection(name)?;
        let slow = |_| Err(Kind::Timeout.because("the other side does not read; the connection was ended"));
        let sent = timeout(PATIENCE, connection.send(line)).await.unwrap_or_else(slow);
        if sent.is_err() {
            self.close(name);
        }
        sent.map(|()| IOValue::new(true))
    }

    fn close(&self, name: &str) -> bool {
        let (connection, listener) = self.with(|open| (open.connections.remove(name), open.listeners.remove(name)));
        if let Some(connection) = &connection {
            connection.end();
        }
        connection.is_some() || listener.is_some()
    }
}

fn gone() -> ToolFailure {
    Kind::NotFound.because("there is no such connection; one ends with its process, with a failure, or by `line/close`")
}

/// Reads the number of a port.
pub(super) fn read_port(port: u64) -> Result<u16, ToolFailure> {
    let port = u16::try_from(port).ok().filter(|port| *port > 0);
    port.ok_or_else(|| Kind::BadArgument.because("field `port`: it is no number from 1 to 65535"))
}

impl Tool for Line {
    fn description(&self) -> &Description {
        self.description
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let (description, lines) = (self.description, self.lines.clone());
        Box::pin(async move {
            let mut fields = Arguments::read(description, &payload)?;
            let name = context.key;
            match &*description.name {
                "line/connect" => {
                    let (host, port) = (fields.required("host", string)?, fields.required("port", positive)?);
                    lines.connect(name, &host, port).await
                }
                "line/listen" => lines.listen(name, fields.required("port", count)?).await,
                "line/accept" => lines.accept(name, &fields.required("listener", string)?).await,
                "line/receive" => lines.receive(&fields.required("connection", string)?).await,
                "line/send" => {
                    let connection = fields.required("connection", string)?;
                    lines.send(&connection, &fields.required("line", string)?).await
                }
                _ => Ok(IOValue::new(lines.close(&fields.required("connection", string)?))),
            }
        })
    }
}
