//! What the journal keeps of a turn: the body of its record.
//!
//! Owns [`Body`] and, with `record/form.rs`, its encoding. INVARIANT: with the records before it, a body determines the turn: its inputs are in it with their
//! payloads, so replay needs nothing else, and everything the turn decided is in it, so replay can tell a difference.
//! It does not hash or chain; the journal's envelope does.
//! Read next: `record/form.rs`, then `turn.rs`.

pub(crate) mod form;

use std::fmt;
use std::sync::Arc;

use duet_journal::BlobHash;
use preserves::{IOValue, ValueImpl};

use crate::action::Action;
use crate::actor::Manifest;
use crate::codec::{Bytes, Codec, DecodeError, Fields, label_of, record};
use crate::event::{Cause, Event};
use crate::gate::Verdict;
use crate::identity::ActorId;
use crate::policy::card::ToolCard;
use crate::{codec_enum, codec_struct};

pub use form::{OLDEST, VERSION, told_and_done_bytes};

/// The body of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The first record of a run.
    Genesis(Genesis),
    /// A turn.
    Turn(TurnRecord),
}

impl Body {
    /// Reads the body of a record.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        match label_of(value).as_deref() {
            Some("run") => Genesis::decode(value).map(Self::Genesis),
            Some("turn") => TurnRecord::decode(value).map(Self::Turn),
            None if value.is_sequence() => TurnRecord::decode(value).map(Self::Turn),
            _ => Err(DecodeError::kind("the body of a record", value)),
        }
    }
}

/// How a run begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Genesis {
    /// The version of all bodies of the run: [`VERSION`] if it begins with this code.
    pub version: u64,
    /// The main program; means something to whoever loads programs.
    pub program: IOValue,
    /// What the main program may do.
    pub manifest: Manifest,
    /// The limits that decide where turns are cut.
    pub limits: Limits,
    /// Blobs without which the run cannot be replayed, such as source texts.
    pub pinned: Vec<BlobHash>,
    /// The tools, as far as policy judges calls by what they are.
    pub tools: Vec<ToolCard>,
}

impl Genesis {
    /// Says whether a run begins in the same way, in whatever version of bodies.
    pub fn is_like(&self, other: &Self) -> bool {
        let other = Self {
            version: self.version,
            ..other.clone()
        };
        *self == other
    }
}

impl Codec for Genesis {
    /// A run without tools has a record without them.
    fn encode(&self) -> IOValue {
        let mut fields = vec![
            self.version.encode(),
            self.program.encode(),
            self.manifest.encode(),
            self.limits.encode(),
            self.pinned.encode(),
        ];
        if !self.tools.is_empty() {
            fields.push(self.tools.encode());
        }
        crate::codec::record("run", fields)
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let has_tools = value.is_record() && value.value().len() > 5;
        let mut fields = Fields::of(value, "run", if has_tools { 6 } else { 5 })?;
        Ok(Self {
            version: fields.read("version")?,
            program: fields.read("program")?,
            manifest: fields.read("manifest")?,
            limits: fields.read("limits")?,
            pinned: fields.read("pinned")?,
            tools: if has_tools { fields.read("tools")? } else { Vec::new() },
        })
    }
}

/// The numbers that decide where turns are cut; part of a run for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Fuel after which a main program's turn commits.
    pub slice_fuel: u64,
    /// Fuel that the handlers of one turn may use in all; beyond it the turn fails. After as much, the turn of an interaction commits.
    pub turn_fuel: u64,
    /// Fuel that one call of a predicate may use; beyond it the answer is no.
    pub predicate_fuel: u64,
    /// Bytes that the heap of one actor may have.
    pub heap_bytes_max: u64,
}
codec_struct!(Limits "limits" { slice_fuel, turn_fuel, predicate_fuel, heap_bytes_max });

impl Default for Limits {
    fn default() -> Self {
        Self {
            slice_fuel: 2_000_000,
            turn_fuel: 100_000_000,
            predicate_fuel: 100_000,
            heap_bytes_max: 1 << 30,
        }
    }
}

/// What happened in a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRecord {
    /// Whose turn it was.
    pub actor: ActorId,
    /// Why it took place.
    pub cause: Cause,
    /// What the actor was told.
    pub events: Vec<Event>,
    /// The positions among `events` of those that nobody was there to receive.
    pub dropped: Vec<u64>,
    /// What was done; after a failure, what the failure entailed.
    pub actions: Vec<Action>,
    /// The gate's verdict on each action.
    pub verdicts: Vec<Verdict>,
    /// Fuel used.
    pub fuel: u64,
    /// How it ended.
    pub outcome: Outcome,
}

impl TurnRecord {
    /// Begins the record of a turn in which an actor is told `events`.
    pub(crate) fn new(actor: ActorId, cause: Cause, events: Vec<Event>) -> Self {
        Self {
            actor,
            cause,
            events,
            dropped: Vec::new(),
            actions: Vec::new(),
            verdicts: Vec::new(),
            fuel: 0,
            outcome: Outcome::Committed {},
        }
    }

    /// Forgets what was done.
    pub(crate) fn forget(&mut self) {
        let Self {
            actor: _,
            cause: _,
            events: _,
            dropped,
            actions,
            verdicts,
            fuel,
            outcome,
        } = self;
        actions.clear();
        (*dropped, *verdicts) = (Vec::new(), Vec::new());
        (*fuel, *outcome) = (0, Outcome::Committed {});
    }
}

/// For people: what the actor was told, what it did, what came of it, one per line.
impl fmt::Display for TurnRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            Cause::Start {} => writeln!(f, "{}, at the start", self.actor)?,
            Cause::Turn { sequence } => writeln!(f, "{}, after turn {sequence}", self.actor)?,
            Cause::Input {} => writeln!(f, "{}, from outside", self.actor)?,
        }
        for (position, event) in (0..).zip(&self.events) {
            let fate = if self.dropped.contains(&position) {
                "missed"
            } else {
                "told"
            };
            writeln!(f, "  {fate} {:?}", event.encode())?;
        }
        for (action, verdict) in self.actions.iter().zip(&self.verdicts) {
            match verdict {
                Verdict::Allow {} => writeln!(f, "  did {action}")?,
                Verdict::Deny { reason } | Verdict::Defer { reason } => writeln!(f, "  wanted {action}: {reason}")?,
            }
        }
        match &self.outcome {
            Outcome::Committed {} => Ok(()),
            Outcome::Failed { failure } => writeln!(f, "  failed {failure}"),
        }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It committed.
    Committed {},
    /// What the program did was undone, and the actor ended.
    Failed {
        /// Why.
        failure: Failure,
    },
}
codec_enum!(Outcome "an outcome" { Committed "committed" {} Failed "failed" { failure } });

/// Why a turn was undone.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The kind of condition, a stable symbol's name.
    pub kind: String,
    /// What went wrong, for people.
    pub message: String,
    /// The objects concerned, printed if they are no data.
    pub irritants: Arc<[IOValue]>,
    /// Where in the program, if known.
    pub origin: Option<Box<Origin>>,
    /// The procedures that were active, innermost first.
    pub backtrace: Arc<[Frame]>,
}
codec_struct!(Failure "failure" { kind, message, irritants, origin, backtrace });

/// A procedure that was active when a turn failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name; `?` if it has none.
    pub procedure: String,
    /// Where it was.
    pub at: FramePlace,
}

/// Where a procedure was when a turn failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FramePlace {
    /// In no text that people have: in a library of Duet's own.
    Unknown,
    /// At the call that it had made.
    Text {
        /// The text's name, such as a path.
        source: String,
        /// The call's first byte.
        start: u64,
    },
    /// It had called the one before by tail calls, which leave no place.
    Gone,
}

impl Codec for Frame {
    fn encode(&self) -> IOValue {
        let procedure = self.procedure.encode();
        match &self.at {
            FramePlace::Unknown => procedure,
            FramePlace::Text { source, start } => record("frame", vec![procedure, source.encode(), start.encode()]),
            FramePlace::Gone => record("gone", vec![procedure]),
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
    /// The kind of failure of a turn in which looking for memory took longer than computing. When that happens depends on the garbage that a heap
    /// holds, so a replay takes it from the record.
    const EXHAUSTED: &str = "memory-exhausted";

    /// The kind of the failure of a turn that used a name without a value; the name is its first irritant.
    pub const UNDEFINED_VARIABLE: &str = "undefined-variable";

    /// Makes the failure of such a turn.
    pub(crate) fn exhausted(heap_bytes_max: u64) -> Self {
        let message = format!(
            "of the {heap_bytes_max} bytes of memory so few are free that looking for them takes longer than computing"
        );
        Self::new(Self::EXHAUSTED, message)
    }

    /// Says whether it is the failure of such a turn.
    pub(crate) fn is_exhaustion(&self) -> bool {
        self.kind == Self::EXHAUSTED
    }

    /// Makes the failure of a condition that a program raised. A replay takes nothing from the record because a program says that its memory is exhausted.
    pub(crate) fn raised(kind: &str, message: impl Into<String>) -> Self {
        if kind == Self::EXHAUSTED {
            Self::new("raised-memory-exhausted", message)
        } else {
            Self::new(kind, message)
        }
    }

    /// Makes a failure of a kind and a message.
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

    /// The message, and after it those irritants that it does not name itself, each as `show` writes it.
    pub fn told(&self, show: impl Fn(&IOValue) -> String) -> String {
        let mut told = self.message.clone();
        let mut separator = if told.ends_with(':') { " " } else { ": " };
        for irritant in self.irritants.iter().filter(|irritant| !self.is_said(irritant)) {
            told.push_str(separator);
            told.push_str(&show(irritant));
            separator = " ";
        }
        told
    }

    /// Says whether the message names an irritant already, as that of a name that is not defined does.
    fn is_said(&self, irritant: &IOValue) -> bool {
        let is_quoted = |text: &str| self.message.contains(&format!("`{text}`"));
        match (irritant.as_symbol(), irritant.as_string()) {
            (Some(name), _) => self.kind == Self::UNDEFINED_VARIABLE || is_quoted(&name),
            (None, Some(text)) => is_quoted(&text),
            (None, None) => false,
        }
    }
}

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

impl Codec for BlobHash {
    fn encode(&self) -> IOValue {
        Bytes(self.as_bytes().to_vec()).encode()
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Self::from_slice(&Bytes::decode(value)?.0).ok_or_else(|| DecodeError::kind("32 bytes", value))
    }
}

#[cfg(test)]
mod tests;
