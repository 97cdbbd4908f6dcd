//! A client of `duet serve`: what a prompt needs to take part in a run elsewhere on this machine.
//!
//! It speaks the same packets as the tools `syndicate/…`, through the same connection; a person
//! waits for it, so its methods block. It observes whole values.
//! INVARIANT: values come once, in the order in which the server told them.
//! It does not know what the values mean. Read next: `tool/syndicate/connection.rs`.

use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use duet_runtime::model::codec::record;
use preserves::{IOValue, ValueImpl};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::serve::Address;
use crate::tool::failure::Kind;
use crate::tool::syndicate::connection::Connection;
use crate::tool::syndicate::{PATIENCE, read_reference};

/// A client that the gatekeeper has let in.
pub struct Client {
    runtime: Runtime,
    connection: Connection,
    /// The number of the dataspace.
    dataspace: u64,
    /// The last number that this side gave to an object or an assertion.
    last: u64,
}

impl Client {
    /// Connects to a server and shows its gatekeeper what `lead` makes of a sturdy reference, which
    /// is given in text.
    ///
    /// # Errors
    /// `bad-argument` if the text is no reference, `unavailable` if nobody answers there, `denied`
    /// if the gatekeeper refuses.
    pub fn enter(
        address: &Address,
        reference: &str,
        lead: impl FnOnce(IOValue) -> IOValue,
    ) -> Result<Self, ToolFailure> {
        let reference = lead(read_reference(reference.trim())?);
        let failed = |error: std::io::Error| Kind::Unavailable.because(format!("{address} does not answer: {error}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (connection, dataspace) = runtime.block_on(async {
            let connection = match address {
                Address::Tcp(place) => {
                    let stream = TcpStream::connect(place).await.map_err(failed)?;
                    stream.set_nodelay(true).map_err(failed)?;
                    Connection::new(stream)
                }
                Address::WebSocket(_) => {
                    let why = "a prompt connects to tcp: and unix: addresses, and not by WebSocket";
                    return Err(Kind::BadArgument.because(why));
                }
                Address::Unix(path) => Connection::new(UnixStream::connect(path).await.map_err(failed)?),
            };
            let late = |_| Err(Kind::Unavailable.because(format!("the gatekeeper at {address} does not answer")));
            let dataspace = timeout(PATIENCE, connection.resolve(&reference))
                .await
                .unwrap_or_else(late)?;
            Ok((connection, dataspace))
        })?;
        Ok(Self {
            runtime,
            connection,
            dataspace,
            last: 0,
        })
    }

    /// Asserts a value, as long as the connection stands.
    ///
    /// # Errors
    /// `failed` if the connection has ended.
    pub fn assert(&mut self, value: IOValue) -> Result<(), ToolFailure> {
        let handle = self.number();
        self.say(record("A", vec![value, IOValue::new(handle)]))
    }

    /// Sends a message.
    ///
    /// # Errors
    /// As [`assert`](Self::assert).
    pub fn message(&mut self, value: IOValue) -> Result<(), ToolFailure> {
        self.say(record("M", vec![value]))
    }

    /// Observes the values that a pattern of the protocol matches.
    ///
    /// # Errors
    /// As [`assert`](Self::assert).
    pub fn observe(&mut self, pattern: IOValue) -> Result<(), ToolFailure> {
        let whole = record("bind", vec![pattern]);
        let own = IOValue::embedded(self.object());
        self.assert(record("Observe", vec![whole, own]))
    }

    /// Waits until the run has handled all that was said before; returns what this client has
    /// observed meanwhile.
    ///
    /// # Errors
    /// As [`next`](Self::next), and `failed` if the server has ended the connection.
    pub fn sync(&mut self) -> Result<Vec<IOValue>, ToolFailure> {
        let own = self.object();
        let number: IOValue = own.index(1).into();
        self.say(record("S", vec![IOValue::embedded(own)]))?;
        let mut values = Vec::new();
        loop {
            let events = self.events(PATIENCE)?;
            let events =
                events.ok_or_else(|| Kind::Failed.because("the server ended the connection instead of an answer"))?;
            if events.is_empty() {
                return Err(Kind::Timeout.because("the run does not answer"));
            }
            let is_answer =
                |(object, event): &(IOValue, IOValue)| *object == number && event.is_simple_record("M", Some(1));
            let is_over = events.iter().any(is_answer);
            values.extend(asserted(events));
            if is_over {
                return Ok(values);
            }
        }
    }

    /// Waits at most for a time; returns whether the server has sent nothing in it.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn is_quiet(&mut self, wait: Duration) -> Result<bool, ToolFailure> {
        Ok(self.events(wait)?.is_none_or(|events| events.is_empty()))
    }

    /// Waits at most for a time and returns the values that have come; `None` if the server has
    /// ended the connection.
    ///
    /// # Errors
    /// `failed` if the connection breaks or the server says why it ends it, `bad-result` if the
    /// server does not keep to the protocol.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Vec<IOValue>>, ToolFailure> {
        Ok(self.events(wait)?.map(asserted))
    }

    /// The next events, each with its object; none if nothing comes in time.
    fn events(&self, wait: Duration) -> Result<Option<Vec<(IOValue, IOValue)>>, ToolFailure> {
        let receive = async { timeout(wait, self.connection.receive()).await };
        let Ok(received) = self.runtime.block_on(receive) else {
            return Ok(Some(Vec::new()));
        };
        let part = |pair: &IOValue, index| IOValue::from(pair.index(index));
        let pairs = |turn: IOValue| {
            let pairs = turn.iter().map(IOValue::from);
            pairs.map(|pair| (part(&pair, 0), part(&pair, 1))).collect()
        };
        Ok(received?.map(pairs))
    }

    /// Sends an event to the dataspace.
    fn say(&mut self, event: IOValue) -> Result<(), ToolFailure> {
        let pair = IOValue::new(vec![IOValue::new(self.dataspace), event]);
        let slow = |_| Err(Kind::Timeout.because("the server does not read"));
        let packet = IOValue::new(vec![pair]);
        let send = async { timeout(PATIENCE, self.connection.send(&packet)).await };
        self.runtime.block_on(send).unwrap_or_else(slow)
    }

    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// A new object of this side, as a packet names it.
    fn object(&mut self) -> IOValue {
        IOValue::new(vec![IOValue::new(0), IOValue::new(self.number())])
    }
}

/// The values that were asserted at observers.
fn asserted(events: Vec<(IOValue, IOValue)>) -> Vec<IOValue> {
    let value = |(_, event): (IOValue, IOValue)| {
        let captures: IOValue = event.is_simple_record("A", Some(2)).then(|| event.index(0).into())?;
        (captures.is_sequence() && captures.len() == 1).then(|| captures.index(0).into())
    };
    events.into_iter().filter_map(value).collect()
}
