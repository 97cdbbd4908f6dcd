//! What the journal keeps of a turn: the body of its record.
//!
//! Owns [`Body`] and, with `record/form.rs`, its encoding. INVARIANT: with the records before it, a body determines the turn: its inputs are in it with their
//! payloads, so replay needs nothing else, and everything the turn decided is in it, so replay can tell a difference.
//! It does not hash or chain; the journal's envelope does.
//! Read next: `record/form.rs`, then `turn.rs`.

pub mod divergence;
pub(crate) mod form;

use std::fmt;

use duet_journal::BlobHash;
use preserves::{IOValue, ValueImpl};

use crate::action::Action;
use crate::codec_enum;
use crate::gate::Verdict;
use crate::model::codec::{Codec, DecodeError, Fields, label_of};
use crate::model::failure::Failure;
use crate::model::identity::ActorId;
use crate::model::limits::Limits;
use crate::model::manifest::Manifest;
use crate::policy::card::ToolCard;
use crate::state::event::{Cause, Event};

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
        crate::model::codec::record("run", fields)
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

#[cfg(test)]
mod tests;
