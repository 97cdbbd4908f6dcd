//! Failures: why the runtime undid a turn, for records and for people.
//!
//! INVARIANT: a failure holds data only, so records and messages to other actors can carry it.
//! It does not undo anything; `run/take_turn.rs` does.
//! Read next: `limits.rs`.

use std::fmt;
use std::sync::Arc;

use duet_journal::Sequence;
use duet_journal::packed::PackedWriter;
use preserves::{IOValue, ValueImpl};

use crate::codec_struct;
use crate::model::codec::{Codec, DecodeError, Fields, label_of};
use crate::model::identity::ActorId;

/// Why the runtime undid a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The kind of condition: the name of a stable symbol.
    pub kind: String,
    /// A message for people.
    pub message: String,
    /// The objects concerned; an object that is not data is printed to text.
    pub irritants: Arc<[IOValue]>,
    /// The place in the program, if known.
    pub origin: Option<Box<Origin>>,
    /// The active procedures, innermost first.
    pub backtrace: Arc<[Frame]>,
}
codec_struct!(Failure "failure" { kind, message, irritants, origin, backtrace });

/// The failure that ended an actor.
#[derive(Clone, Debug, PartialEq)]
pub struct ActorFailure {
    /// The actor.
    pub actor: ActorId,
    /// The role that it played; none for the main program.
    pub role: Option<String>,
    /// The turn that failed.
    pub turn: Sequence,
    /// Why it failed.
    pub failure: Failure,
}
codec_struct!(ActorFailure "actor-failure" { actor, role, turn, failure });

impl ActorFailure {
    /// Names the actor for people: its role, or its number.
    pub fn name(&self) -> String {
        match &self.role {
            Some(role) => format!("{role} ({})", self.actor),
            None => self.actor.to_string(),
        }
    }
}

/// A procedure that was active when a turn failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name; `?` if it has none.
    pub procedure: String,
    /// The place where it was active.
    pub at: FramePlace,
}

/// The place of a procedure when a turn failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FramePlace {
    /// In one of Duet's own libraries, whose text the user does not have.
    Unknown,
    /// At the call that the procedure had made.
    Text {
        /// The text's name, such as a path.
        source: String,
        /// The call's first byte.
        start: u64,
    },
    /// Unknown, because the procedure called the previous one by tail calls, which leave no frame.
    Gone,
}

impl Codec for Frame {
    fn write(&self, out: &mut PackedWriter) {
        match &self.at {
            FramePlace::Unknown => Codec::write(&self.procedure, out),
            FramePlace::Text { source, start } => out.record("frame", |out| {
                Codec::write(&self.procedure, out);
                Codec::write(source, out);
                Codec::write(start, out);
            }),
            FramePlace::Gone => out.record("gone", |out| Codec::write(&self.procedure, out)),
        }
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let (procedure, at) = match label_of(value).as_deref() {
            Some("frame") => {
                let mut fields = Fields::of(value, "frame", 3)?;
                let procedure = fields.read("procedure")?;
                let (source, start) = (fields.read("source")?, fields.read("start")?);
                (procedure, FramePlace::Text { source, start })
            }
            Some("gone") => (Fields::of(value, "gone", 1)?.read("procedure")?, FramePlace::Gone),
            Some(_) | None => (String::decode(value)?, FramePlace::Unknown),
        };
        Ok(Self { procedure, at })
    }
}

impl Failure {
    /// The kind of failure of a turn that spent more work on garbage collection than on computing,
    /// or after which the run would hold too much memory. The moment when this happens depends on
    /// the garbage in the heaps, so a replay takes the failure from the record.
    pub const EXHAUSTED: &str = "memory-exhausted";

    /// The kind of failure of an actor whose live data exceed its limit.
    pub const OUT_OF_MEMORY: &str = "out-of-memory";

    /// The kind of failure of a turn that the person stopped.
    const INTERRUPTED: &str = "turn-interrupted";

    /// The kind of failure of a turn that used a name without a value; the name is the first
    /// irritant.
    pub const UNDEFINED_VARIABLE: &str = "undefined-variable";

    /// Makes the failure of a turn that spent more work on garbage collection than on computing.
    pub(crate) fn exhausted(heap_bytes_max: u64) -> Self {
        let message = format!(
            "of the {heap_bytes_max} bytes of memory so few are free that looking for them takes longer than computing"
        );
        Self::new(Self::EXHAUSTED, message)
    }

    /// Makes the failure of a turn after which the run would hold too much memory.
    pub(crate) fn run_exhausted(run_bytes_max: u64) -> Self {
        let message = format!(
            "the actors, facts and messages of the run together hold more than the {run_bytes_max} bytes that it may \
             take"
        );
        Self::new(Self::EXHAUSTED, message)
    }

    /// Makes the failure of a turn that the person stopped.
    pub(crate) fn interrupted() -> Self {
        Self::new(Self::INTERRUPTED, "the person stopped it")
    }

    /// Says whether memory ran out at a moment that depends on garbage.
    pub(crate) fn is_exhaustion(&self) -> bool {
        self.kind == Self::EXHAUSTED
    }

    /// Says whether the person stopped the turn.
    pub fn is_interruption(&self) -> bool {
        self.kind == Self::INTERRUPTED
    }

    /// Says whether the failure depends on more than the records before it, as lack of memory and
    /// an interruption do; a replay takes it from the record.
    pub(crate) fn is_from_outside(&self) -> bool {
        self.is_exhaustion() || self.is_interruption()
    }

    /// Makes the failure of a condition that a program raised.
    ///
    /// A program that raises a kind of the runtime itself gets another kind, because a replay takes
    /// only the runtime's own failures from the record.
    pub(crate) fn raised(kind: &str, message: impl Into<String>) -> Self {
        match kind {
            Self::EXHAUSTED | Self::INTERRUPTED => Self::new(&format!("raised-{kind}"), message),
            _ => Self::new(kind, message),
        }
    }

    /// Makes a failure from a kind and a message.
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        let (kind, message) = (kind.to_owned(), message.into());
        Self {
            kind,
            message,
            irritants: Arc::default(),
            origin: None,
            backtrace: Arc::default(),
        }
    }

    /// Returns the message, followed by the irritants that it does not name and that are not a
    /// library's own; `show` prints each irritant.
    pub fn told(&self, show: impl Fn(&IOValue) -> String) -> String {
        let mut text = self.message.clone();
        if self.is_from_outside() {
            // Its irritants are for the replay.
            return text;
        }
        let mut separator = if text.ends_with(':') { " " } else { ": " };
        let is_told = |irritant: &&IOValue| !self.is_said(irritant) && !is_internal(irritant);
        for irritant in self.irritants.iter().filter(is_told) {
            text.push_str(separator);
            text.push_str(&show(irritant));
            separator = " ";
        }
        text
    }

    /// Says whether the failure carries a record of this type, which a library keeps to itself.
    pub fn is_of(&self, type_name: &str) -> bool {
        let begins = format!("{INTERNAL}{type_name}");
        let mut irritants = self.irritants.iter().filter_map(|irritant| irritant.as_string());
        irritants.any(|text| {
            text.strip_prefix(&begins)
                .is_some_and(|rest| rest.starts_with([' ', '>']))
        })
    }

    /// Lists the names of the texts in which the failure has places.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        let frames = self.backtrace.iter().filter_map(|frame| match &frame.at {
            FramePlace::Text { source, .. } => Some(source.as_str()),
            FramePlace::Unknown | FramePlace::Gone => None,
        });
        let origin = self.origin.iter().map(|origin| origin.source.as_str());
        origin.chain(frames)
    }

    /// Says whether the message already names an irritant, as the message about an undefined name
    /// does.
    fn is_said(&self, irritant: &IOValue) -> bool {
        let is_quoted = |text: &str| self.message.contains(&format!("`{text}`"));
        match (irritant.as_symbol(), irritant.as_string()) {
            (Some(name), _) => self.kind == Self::UNDEFINED_VARIABLE || is_quoted(&name),
            (None, Some(text)) => is_quoted(&text),
            (None, None) => false,
        }
    }
}

/// Says whether an irritant is, as a text, a record that a library keeps to itself: the name of its
/// type begins with `%`.
fn is_internal(irritant: &IOValue) -> bool {
    irritant.as_string().is_some_and(|text| text.starts_with(INTERNAL))
}

/// How such a record begins as a text.
const INTERNAL: &str = "#<%";

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.told(|irritant| format!("{irritant:?}")))
    }
}

/// A range of a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The text's name, such as a path.
    pub source: String,
    /// The first byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}
codec_struct!(Origin "origin" { source, start, end });

/// What stands between the path of a file and a line in the name of a text.
const LINE: &str = ", line ";

/// Names a text that begins at a line, counted from 1, of a file; 0 if a line stands before the
/// file's.
pub fn file_line(path: &str, line: usize) -> String {
    format!("{path}{LINE}{line}")
}

/// The path and the line in a name that [`file_line`] made.
pub fn read_file_line(name: &str) -> Option<(&str, usize)> {
    let (path, line) = name.rsplit_once(LINE)?;
    Some((path, line.parse().ok()?))
}
