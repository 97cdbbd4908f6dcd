//! What the journal keeps of a turn: the body of its record.
//!
//! Owns [`Body`] and, with `record/form.rs`, how it is written. INVARIANT: with the records before
//! it, a body determines the turn: its inputs are in it with their payloads, so replay needs
//! nothing else, and everything the turn decided is in it, so replay can tell a difference. It does
//! not hash or chain; the journal's envelope does.
//! Read next: `record/form.rs`, then `turn.rs`.

pub mod divergence;
pub(crate) mod form;
pub mod key;
pub mod paths;

use std::collections::BTreeSet;
use std::fmt;

use duet_journal::BlobHash;
use duet_journal::packed::PackedWriter;
use preserves::{IOValue, ValueImpl};

use crate::action::{self, Action, InvokeTool};
use crate::gate::Verdict;
use crate::model::card::ToolCard;
use crate::model::codec::{Codec, DecodeError, Fields, is_labelled, label_of};
use crate::model::failure::Failure;
use crate::model::fixed::FixedEntry;
use crate::model::identity::ActorId;
use crate::model::limits::Limits;
use crate::model::manifest::Manifest;
use crate::state::event::{Cause, Event};
use crate::{codec_enum, codec_struct};

pub use form::{VERSION, payload_bytes};

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
    /// The entries of policy that whoever runs the program lays down.
    pub policy: Vec<FixedEntry>,
}

impl Codec for Genesis {
    fn write(&self, out: &mut PackedWriter) {
        out.record("run", |out| {
            Codec::write(&VERSION, out);
            Codec::write(&self.program, out);
            Codec::write(&self.manifest, out);
            Codec::write(&self.limits, out);
            Codec::write(&self.pinned, out);
            Codec::write(&self.tools, out);
            Codec::write(&self.policy, out);
        });
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        // The fields that follow are those of this version.
        if is_labelled(value, "run")
            && let Some(version) = value.value().iter().next()
            && let Ok(found) = u64::decode(&version.into())
            && found != VERSION
        {
            return Err(DecodeError::Version {
                expected: VERSION,
                found,
            });
        }
        let mut fields = Fields::of(value, "run", 7)?;
        let _version: u64 = fields.read("version")?;
        Ok(Self {
            program: fields.read("program")?,
            manifest: fields.read("manifest")?,
            limits: fields.read("limits")?,
            pinned: fields.read("pinned")?,
            tools: fields.read("tools")?,
            policy: fields.read("policy")?,
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
    /// The events that the actor received, and those that it missed.
    pub events: Vec<Event>,
    /// The positions among `events` of those that nobody was there to receive.
    pub dropped: Vec<u64>,
    /// The actions of the turn; after a failure, those that the failure entailed.
    pub actions: Vec<Action>,
    /// The gate's verdict on each action.
    pub verdicts: Vec<Verdict>,
    /// What the gate refused, also if the turn failed, in order.
    pub attempts: Vec<Attempt>,
    /// Fuel used.
    pub fuel: u64,
    /// How it ended.
    pub outcome: Outcome,
}

impl TurnRecord {
    /// Returns whether the turn puts a changed text in the place of the one that the run executes.
    pub(crate) fn is_patch(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Patched { .. }))
    }

    /// Returns the tool calls among the actions, also those that an approval carried out.
    pub fn calls(&self) -> impl Iterator<Item = &InvokeTool> {
        self.actions.iter().flat_map(Action::done).filter_map(Action::call)
    }

    /// Names the tools that the turn calls, each once, in ascending order: what the journal says of
    /// a large body to readers who can do without it.
    pub fn outline(&self) -> Vec<String> {
        let tools: BTreeSet<&String> = self.calls().map(|call| &call.tool).collect();
        tools.into_iter().cloned().collect()
    }

    /// Begins the record of a turn in which an actor receives `events`.
    pub(crate) fn new(actor: ActorId, cause: Cause, events: Vec<Event>) -> Self {
        Self {
            actor,
            cause,
            events,
            dropped: Vec::new(),
            actions: Vec::new(),
            verdicts: Vec::new(),
            attempts: Vec::new(),
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
            attempts,
            fuel,
            outcome,
        } = self;
        actions.clear();
        (*dropped, *verdicts, *attempts) = (Vec::new(), Vec::new(), Vec::new());
        (*fuel, *outcome) = (0, Outcome::Committed {});
    }
}

/// For people: the events, the actions and the failure, one per line.
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
        for attempt in &self.attempts {
            writeln!(f, "  attempted {attempt}")?;
        }
        match &self.outcome {
            Outcome::Committed {} => Ok(()),
            Outcome::Failed { failure } => writeln!(f, "  failed {failure}"),
        }
    }
}

/// Actions that a turn attempted together and that the gate did not allow. They had no effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The position of the event that led to it; nothing if the turn as a whole was refused.
    pub event: Option<u64>,
    /// The actions.
    pub actions: Vec<Action>,
    /// The verdict, which is no permission.
    pub verdict: Verdict,
}
codec_struct!(Attempt "attempt" { event, actions, verdict });

/// For people: the actions and the reason.
impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", action::listed(&self.actions))?;
        match self.verdict.reason() {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It committed.
    Committed {},
    /// The runtime undid the program's actions and ended the actor.
    Failed {
        /// Why.
        failure: Failure,
    },
}
codec_enum!(Outcome "an outcome" { Committed "committed" {} Failed "failed" { failure } });

#[cfg(test)]
mod tests;
