//! What a run's state has of assertions and of requests to the world.
//!
//! INVARIANT: a request stays until its answer is consumed or nobody can consume it any more.
//! It does not know what an action is: attempts that wait for approval are values here.
//! Read next: `draft.rs`.

use duet_journal::BlobHash;
use preserves::IOValue;

use crate::driver::EffectKind;
use crate::model::identity::{ActorId, FacetId, Handle, RequestId};
use crate::model::value::Fact;
use crate::{codec_enum, codec_struct};

/// An assertion: who makes it, and what.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The actor.
    pub actor: ActorId,
    /// Its facet.
    pub facet: FacetId,
    /// What is asserted.
    pub fact: Fact,
}
codec_struct!(Held "held" { actor, facet, fact });

/// What was asked of the world, until the answer is consumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Who asked.
    pub actor: ActorId,
    /// On behalf of which facet.
    pub facet: FacetId,
    /// What was asked.
    pub question: Question,
    /// What the program calls it; unique text unless the program chose otherwise.
    pub tag: String,
    /// The key under which the world recognises a repetition.
    pub key: String,
    /// The assertion that shows the request, if there is one.
    pub handle: Option<Handle>,
    /// The answer, if it came before anyone waited for it.
    pub answer: Option<Result<IOValue, IOValue>>,
    /// What a tool call told that it would replace, if it did.
    pub kept: Option<Kept>,
}
codec_struct!(Request "request-state" { actor, facet, question, tag, key, handle, answer, kept });

/// What a tool call is about to replace, so that it can be put back.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// What is replaced and by what, as the tool told it.
    pub note: IOValue,
    /// The contents that the note names.
    pub contents: Vec<BlobHash>,
}
codec_struct!(Kept "contents-kept" { note, contents });

/// The kinds of requests that are answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// A call of a tool.
    Tool {
        /// The tool.
        name: String,
        /// Its argument.
        payload: IOValue,
    },
    /// Bytes from standard input.
    Read {
        /// At most this many bytes.
        length_bytes_max: u64,
    },
    /// That time passes.
    Timer {
        /// How long, in milliseconds.
        delay_ms: u64,
    },
    /// A call of a tool that is put off until it is approved.
    Deferred {
        /// The tool.
        name: String,
        /// Its argument.
        payload: IOValue,
    },
    /// Whether what was attempted may be done.
    Approve {
        /// What to show.
        prompt: IOValue,
        /// The list of actions that were attempted, in the form of a record.
        attempts: Fact,
        /// The attempts, by content.
        proposal: BlobHash,
        /// The policy for which an approval holds, by content.
        policy: BlobHash,
    },
    /// A question to the person.
    Ask {
        /// What to show.
        prompt: IOValue,
    },
    /// That policy allows what was attempted.
    Postponed {
        /// The list of actions that were attempted, in the form of a record.
        attempts: Fact,
    },
    /// That the time passes in which a proposal can be approved.
    Limit {
        /// How long, in milliseconds.
        delay_ms: u64,
        /// The proposal.
        of: RequestId,
    },
    /// That the time comes at which a timer has run out.
    Deadline {
        /// When, in milliseconds since 1970.
        at_ms: u64,
        /// The proposal whose time it limits, if it does.
        of: Option<RequestId>,
    },
}
codec_enum!(Question "a question" {
    Tool "tool" { name, payload }
    Read "read" { length_bytes_max }
    Timer "timer" { delay_ms }
    Deferred "deferred" { name, payload }
    Approve "approve" { prompt, attempts, proposal, policy }
    Ask "ask" { prompt }
    Postponed "postponed" { attempts }
    Limit "limit" { delay_ms, of }
    Deadline "deadline" { at_ms, of }
});

impl Question {
    /// Says whether the question is put away as soon as nobody waits for its answer; a tool's result may be awaited later.
    pub fn is_withdrawable(&self) -> bool {
        match self {
            Self::Ask { .. }
            | Self::Approve { .. }
            | Self::Timer { .. }
            | Self::Limit { .. }
            | Self::Deadline { .. } => true,
            Self::Tool { .. } | Self::Deferred { .. } | Self::Postponed { .. } | Self::Read { .. } => false,
        }
    }

    /// Returns the proposal whose time it limits, if it does.
    pub fn limits(&self) -> Option<RequestId> {
        match self {
            Self::Limit { of, .. } => Some(*of),
            Self::Deadline { of, .. } => *of,
            Self::Ask { .. }
            | Self::Approve { .. }
            | Self::Timer { .. }
            | Self::Tool { .. }
            | Self::Deferred { .. }
            | Self::Postponed { .. }
            | Self::Read { .. } => None,
        }
    }

    /// Returns the effect that puts the question; what is put off has none.
    pub fn effect(&self) -> Option<EffectKind> {
        Some(match self {
            Self::Deferred { .. } | Self::Postponed { .. } => return None,
            Self::Tool { name, payload } => EffectKind::Tool {
                name: name.clone(),
                payload: payload.clone(),
            },
            Self::Read { length_bytes_max } => EffectKind::Read {
                length_bytes_max: usize::try_from(*length_bytes_max).unwrap_or(usize::MAX),
            },
            Self::Timer { delay_ms } | Self::Limit { delay_ms, .. } => EffectKind::Timer { delay_ms: *delay_ms },
            Self::Deadline { at_ms, .. } => EffectKind::Alarm { at_ms: *at_ms },
            Self::Ask { prompt } | Self::Approve { prompt, .. } => EffectKind::Ask { prompt: prompt.clone() },
        })
    }
}
