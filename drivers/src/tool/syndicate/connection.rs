//! One connection: packets in, packets out, and the gatekeeper's answer before them.
//!
//! INVARIANT: bytes that were read stay in the decoder until their packet is complete, so a reader
//! that stops waiting loses nothing; a packet that [`Connection::receive`] returns is a turn whose
//! events have the form of the protocol.
//! It does not know names; `../syndicate.rs` does. Read next: `reference.rs`.
//!
//! Source: <https://synit.org/book/protocol.html>.

use duet_runtime::driver::ToolFailure;
use duet_runtime::model::codec::record;
use preserves::{IOValue, ValueImpl};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf, split};
use tokio::sync::{Mutex, Notify};

use super::{LIMITS, reference};
use crate::framing::{Decoder, Encoding};
use crate::tool::failure::Kind;

/// The number of bytes that are read at once.
const CHUNK_BYTES: usize = 16 << 10;

/// The maximum length of a server's words in a failure, in characters.
const SAID_CHARACTERS_MAX: usize = 200;

/// The object of this side that hears the gatekeeper's answer.
const LISTENER: u64 = 0;

/// Bytes in both directions.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection.
pub(crate) struct Connection {
    reader: Mutex<PacketReader>,
    writer: Mutex<WriteHalf<Box<dyn Stream>>>,
    /// Wakes whoever waits for a packet when this side ends the connection.
    ended: Notify,
}

struct PacketReader {
    stream: ReadHalf<Box<dyn Stream>>,
    decoder: Decoder,
}

impl Connection {
    pub(crate) fn new(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        let stream: Box<dyn Stream> = Box::new(stream);
        let (stream, writer) = split(stream);
        let decoder = Decoder::new(LIMITS);
        Self {
            reader: Mutex::new(PacketReader { stream, decoder }),
            writer: Mutex::new(writer),
            ended: Notify::new(),
        }
    }

    /// Shows a sturdyref to the gatekeeper; returns the number of the object that it names.
    ///
    /// # Errors
    /// `denied` if the gatekeeper refuses; `unavailable` or as [`receive`](Self::receive) if the
    /// connection ends before.
    pub(crate) async fn resolve(&self, reference: &IOValue) -> Result<u64, ToolFailure> {
        let own = IOValue::new(vec![IOValue::new(0), IOValue::new(LISTENER)]);
        let wanted = record("resolve", vec![reference.clone(), IOValue::embedded(own)]);
        let asserted = record("A", vec![wanted, IOValue::new(1)]);
        let event = IOValue::new(vec![IOValue::new(0), asserted]);
        self.send(&IOValue::new(vec![event])).await?;
        let mut reader = self.reader.lock().await;
        loop {
            let Some(packet) = reader.receive().await? else {
                return Err(Kind::Unavailable.because("the server ended the connection instead of an answer"));
            };
            for event in turn(&packet)? {
                if let Some(answer) = resolved(&event) {
                    return answer;
                }
            }
        }
    }

    /// Takes the next turn, with references as programs see them; nothing if the connection has
    /// ended.
    ///
    /// # Errors
    /// `bad-result` if a packet is malformed or too large, `failed` if the connection breaks or the
    /// server says why it ends it.
    pub(crate) async fn receive(&self) -> Result<Option<IOValue>, ToolFailure> {
        let receive = async {
            let mut reader = self.reader.lock().await;
            loop {
                let Some(packet) = reader.receive().await? else {
                    return Ok(None);
                };
                if !turn(&packet)?.is_empty() {
                    let entered = reference::enter(&packet);
                    return entered.map(Some).map_err(|misfit| malformed(&misfit.words()));
                }
            }
        };
        tokio::select! {
            packet = receive => packet,
            () = self.ended.notified() => Ok(None),
        }
    }

    /// Sends a packet.
    ///
    /// # Errors
    /// `failed` if the connection breaks, `bad-argument` if the packet is too large.
    pub(crate) async fn send(&self, packet: &IOValue) -> Result<(), ToolFailure> {
        let too_large = |error| Kind::BadArgument.because(format!("the packet cannot be sent: {error}"));
        let bytes = Encoding::Packed.write(packet).map_err(too_large)?;
        let sent = self.writer.lock().await.write_all(&bytes).await;
        sent.map_err(|error| Kind::Failed.because(format!("the connection broke: {error}")))
    }

    /// Ends the waits for packets.
    pub(super) fn end(&self) {
        self.ended.notify_waiters();
        // A reader that is about to wait learns it as well.
        self.ended.notify_one();
    }
}

impl PacketReader {
    async fn receive(&mut self) -> Result<Option<IOValue>, ToolFailure> {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        loop {
            let packet = self.decoder.next().map_err(|error| malformed(&error.to_string()))?;
            if packet.is_some() {
                return Ok(packet);
            }
            chunk.clear();
            let read = self.stream.read_buf(&mut chunk).await;
            match read.map_err(|error| Kind::Failed.because(format!("the connection broke: {error}")))? {
                0 if self.decoder.is_amid() => return Err(malformed("it ends in the middle")),
                0 => return Ok(None),
                _ => self.decoder.add(&chunk),
            }
        }
    }
}

fn malformed(problem: &str) -> ToolFailure {
    Kind::BadResult.because(format!("a packet is malformed: {problem}; the connection was ended"))
}

/// The events of a turn, each `[OBJECT EVENT]`; none if the packet is one without meaning.
///
/// # Errors
/// `failed` with the words of the server if it is an error, `bad-result` if it is no packet.
fn turn(packet: &IOValue) -> Result<Vec<IOValue>, ToolFailure> {
    if packet.is_simple_record("error", Some(2)) {
        let said: IOValue = packet.index(0).into();
        let said = said
            .as_string()
            .map_or_else(|| format!("{said:?}"), |text| text.into_owned());
        return Err(Kind::Failed.because(format!("the server ended the connection: {said}")));
    }
    let is_extension = packet.is_record() && !packet.is_simple_record("error", None);
    if packet.as_boolean() == Some(false) || is_extension {
        return Ok(Vec::new());
    }
    if !packet.is_sequence() {
        return Err(malformed("it is no turn"));
    }
    let events: Vec<IOValue> = packet.iter().map(IOValue::from).collect();
    for event in &events {
        if !is_event(event) {
            let shown: String = format!("{event:?}").chars().take(60).collect();
            return Err(malformed(&format!("it has {shown} in the place of an event")));
        }
    }
    Ok(events)
}

fn is_event(pair: &IOValue) -> bool {
    if !pair.is_sequence() || pair.len() != 2 {
        return false;
    }
    let (object, event): (IOValue, IOValue) = (pair.index(0).into(), pair.index(1).into());
    let has_handle = |place: usize| is_count(&event.index(place).into());
    is_count(&object)
        && (event.is_simple_record("A", Some(2)) && has_handle(1)
            || event.is_simple_record("R", Some(1)) && has_handle(0)
            || event.is_simple_record("M", Some(1))
            || event.is_simple_record("S", Some(1)))
}

fn is_count(value: &IOValue) -> bool {
    value.as_u64().is_some_and(|number| number.is_ok())
}

/// The gatekeeper's answer, if an event is one. Both vocabularies are in use: `<ok #:X>` or
/// `<error TEXT DETAIL>`, and `<accepted #:X>` or `<rejected DETAIL>`.
fn resolved(pair: &IOValue) -> Option<Result<u64, ToolFailure>> {
    let (object, event): (IOValue, IOValue) = (pair.index(0).into(), pair.index(1).into());
    if object != IOValue::new(LISTENER) || !event.is_simple_record("A", Some(2)) {
        return None;
    }
    let said: IOValue = event.index(0).into();
    if said.is_simple_record("ok", Some(1)) || said.is_simple_record("accepted", Some(1)) {
        let object = said.index(0).as_embedded().and_then(|embedded| {
            let is_theirs =
                embedded.is_sequence() && embedded.len() == 2 && embedded.index(0) == IOValue::new(0).into();
            let number: IOValue = is_theirs.then(|| embedded.index(1).into())?;
            number.as_u64()?.ok()
        });
        return Some(object.ok_or_else(|| malformed("the gatekeeper answers with something else than an object")));
    }
    let why = said
        .is_simple_record("rejected", Some(1))
        .then(|| IOValue::from(said.index(0)));
    let words = why.as_ref().and_then(|why| Some(why.as_string()?.into_owned()));
    let shown = words.unwrap_or_else(|| format!("{:?}", why.unwrap_or(said)));
    let shown: String = shown.chars().take(SAID_CHARACTERS_MAX).collect();
    Some(Err(Kind::Denied.because(format!("the gatekeeper refuses: {shown}"))))
}
