//! Assertions, and requests to the world, in a run's state.
//!
//! INVARIANT: a request stays until its answer is consumed or nobody can consume it any more.
//! It does not know what an action is: attempts that wait for approval are values here.
//! Read next: `draft.rs`.

use duet_journal::BlobHash;
use preserves::IOValue;

use crate::driver::{EffectKind, INBOX_TOOL, name_of_inbox_call};
use crate::model::identity::{ActorId, FacetId, Handle, RequestId};
use crate::model::value::Fact;
use crate::{codec_enum, codec_struct};

/// An assertion with its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The actor.
    pub actor: ActorId,
    /// Its facet.
    pub facet: FacetId,
    /// The asserted fact.
    pub fact: Fact,
}
codec_struct!(Held "held" { actor, facet, fact });

/// A request to the world, until its answer is consumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The actor that made it.
    pub actor: ActorId,
    /// The facet that made it.
    pub facet: FacetId,
    /// The question.
    pub question: Question,
    /// The program's name for the request; unique text unless the program chose another.
    pub tag: String,
    /// The key by which the world recognises a repetition.
    pub key: String,
    /// The assertion that shows the request, if there is one.
    pub handle: Option<Handle>,
    /// The answer, if it came before anyone waited for it.
    pub answer: Option<Result<IOValue, IOValue>>,
    /// The contents that the tool call is about to replace, if it has reported them.
    pub kept: Option<UndoContents>,
}
codec_struct!(Request "request-state" { actor, facet, question, tag, key, handle, answer, kept });

impl Request {
    /// Returns the name under which the request waits for requests over HTTP that workers receive,
    /// if it is such a call and has no answer.
    pub fn inbox_name(&self) -> Option<String> {
        if let Question::Tool { name, payload } = &self.question
            && self.answer.is_none()
            && name == INBOX_TOOL
        {
            return name_of_inbox_call(name, &payload.value());
        }
        None
    }
}

/// The contents that a tool call is about to replace, so that an undo can restore them.
#[derive(Clone, Debug, PartialEq)]
pub struct UndoContents {
    /// The tool's description of the replacement.
    pub note: IOValue,
    /// The contents that the note names.
    pub contents: Vec<BlobHash>,
}
codec_struct!(UndoContents "contents-kept" { note, contents });

/// The kinds of requests that have answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// A call of a tool.
    Tool {
        /// The tool.
        name: String,
        /// Its argument.
        payload: Fact,
    },
    /// Bytes from standard input.
    Read {
        /// The maximum number of bytes.
        length_bytes_max: u64,
    },
    /// A timer.
    Timer {
        /// The delay in milliseconds.
        delay_ms: u64,
    },
    /// A tool call that waits for approval.
    Deferred {
        /// The tool.
        name: String,
        /// Its argument.
        payload: Fact,
        /// The question or the postponed attempt that is about this call alone, and ends with it.
        judged_as: Option<RequestId>,
    },
    /// A question to the person: whether to allow the attempts.
    Approve {
        /// The question to show.
        prompt: IOValue,
        /// The names of the tools and the keys of the entries that it is about.
        approves: Vec<String>,
        /// The attempted actions as a record.
        attempts: Fact,
        /// The hash of the attempts.
        proposal: BlobHash,
        /// The hash of the policy for which an approval holds.
        policy: BlobHash,
    },
    /// A question to the person.
    Ask {
        /// The question to show.
        prompt: IOValue,
    },
    /// Attempts that wait until policy allows them.
    Postponed {
        /// The attempted actions as a record.
        attempts: Fact,
    },
    /// The time limit for the approval of a proposal.
    Limit {
        /// The limit in milliseconds.
        delay_ms: u64,
        /// The proposal.
        of: RequestId,
    },
    /// The rest of a timer, until a moment.
    Deadline {
        /// The moment in milliseconds since 1970.
        at_ms: u64,
        /// The length of the whole timer in milliseconds.
        delay_ms: u64,
        /// The proposal whose time it limits, if there is one.
        of: Option<RequestId>,
    },
}
codec_enum!(Question "a question" {
    Tool "tool" { name, payload }
    Read "read" { length_bytes_max }
    Timer "timer" { delay_ms }
    Deferred "deferred" { name, payload, judged_as }
    Approve "approve" { prompt, approves, attempts, proposal, policy }
    Ask "ask" { prompt }
    Postponed "postponed" { attempts }
    Limit "limit" { delay_ms, of }
    Deadline "deadline" { at_ms, delay_ms, of }
});

impl Question {
    /// Says whether the question is withdrawn as soon as nobody waits for its answer; a tool's
    /// result may still be awaited later.
    pub(crate) fn is_withdrawable(&self) -> bool {
        match self {
            Self::Ask { .. }
            | Self::Approve { .. }
            | Self::Timer { .. }
            | Self::Limit { .. }
            | Self::Deadline { .. } => true,
            Self::Tool { .. } | Self::Deferred { .. } | Self::Postponed { .. } | Self::Read { .. } => false,
        }
    }

    /// Returns the proposal whose time the question limits, if there is one.
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

    /// Returns the length of a timer in milliseconds; `None` for other questions.
    pub(crate) fn length_ms(&self) -> Option<u64> {
        match self {
            Self::Timer { delay_ms } | Self::Limit { delay_ms, .. } | Self::Deadline { delay_ms, .. } => {
                Some(*delay_ms)
            }
            Self::Ask { .. }
            | Self::Approve { .. }
            | Self::Tool { .. }
            | Self::Deferred { .. }
            | Self::Postponed { .. }
            | Self::Read { .. } => None,
        }
    }

    /// Returns the effect that asks the question; a postponed one has none.
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
            Self::Deadline { at_ms, delay_ms, .. } => EffectKind::Alarm {
                at_ms: *at_ms,
                delay_ms: *delay_ms,
            },
            Self::Ask { prompt } => EffectKind::Ask {
                prompt: prompt.clone(),
                approves: Vec::new(),
            },
            Self::Approve { prompt, approves, .. } => EffectKind::Ask {
                prompt: prompt.clone(),
                approves: approves.clone(),
            },
        })
    }
}
