//! The seam between the deterministic core and the world.
//!
//! Owns the vocabulary in which durable turns ask things of the world ([`Effect`]) and in which the world answers ([`Input`]).
//! INVARIANT: an effect is handed out only after the turn that asked for it is durable; an input has consequences only through a turn that records it.
//! It performs nothing itself: the `drivers` crate does.
//! Read next: `turn.rs`.

pub use duet_journal::{Blob, BlobHash};
use preserves::{CompoundClass, IOValue, ValueClass, ValueImpl};

use crate::codec_struct;
use crate::model::codec::{Codec, DecodeError};
use crate::model::identity::{ActorId, RequestId};

/// What a durable turn asks of the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The request that an answering [`Input`] names.
    pub request: RequestId,
    /// A key unique to this request, its run and its branch's lineage, for tools that can recognise a repeated call.
    pub key: String,
    /// What is to be done.
    pub kind: EffectKind,
}

/// The kinds of effects.
#[derive(Clone, Debug, PartialEq)]
pub enum EffectKind {
    /// Call the tool `name`, answered by [`Input::ToolResult`].
    Tool {
        /// The tool's name, such as `workspace/read`.
        name: String,
        /// Its argument.
        payload: IOValue,
    },
    /// Go on with a call that reported [`Input::Kept`]: what it reported, now or at its first attempt, is durable.
    Proceed {
        /// What was reported first.
        note: IOValue,
        /// The contents that the note names, if the call is a repeated one, which cannot have them from the world any more.
        contents: Vec<Blob>,
    },
    /// Write bytes to the console; not answered.
    Write {
        /// Which stream.
        stream: Stream,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Read from standard input, answered by [`Input::Chunk`].
    Read {
        /// At most this many bytes are wanted.
        length_bytes_max: usize,
    },
    /// Let time pass, answered by [`Input::Elapsed`]. A long one is also answered, at once, by [`Input::Due`]; one of which that is not on record
    /// begins anew when it is performed again, after a crash.
    Timer {
        /// How long, in milliseconds.
        delay_ms: u64,
    },
    /// Let a moment come, answered by [`Input::Elapsed`]: what is left of a timer.
    Alarm {
        /// When, in milliseconds since 1970.
        at_ms: u64,
    },
    /// Put a question to the person, answered by [`Input::Answer`].
    Ask {
        /// What to show.
        prompt: IOValue,
    },
    /// Withdraw a request that nothing waits for any more: a question or a timer disappears, a call is abandoned; not answered.
    Withdraw,
    /// Show a line of the program's log; not answered.
    Log {
        /// The text.
        text: String,
    },
    /// Show how far a piece of work has come; not answered.
    Progress {
        /// What is being done.
        label: String,
        /// Steps done.
        done: u64,
        /// Steps in all.
        total: u64,
    },
}

/// The console's output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output: data.
    Output,
    /// Standard error: messages.
    Error,
}

impl Codec for Stream {
    fn encode(&self) -> IOValue {
        IOValue::symbol(match self {
            Self::Output => "output",
            Self::Error => "error",
        })
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        [Self::Output, Self::Error]
            .into_iter()
            .find(|stream| stream.encode() == *value)
            .ok_or_else(|| DecodeError::kind("output or error", value))
    }
}

/// A text that comes with one that is to be evaluated: a library, or what one includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// What it is found under: `(a library)`, or the including text's name and the path it includes.
    pub wanted: Vec<String>,
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
}
codec_struct!(Attached "attached" { wanted, name, text });

/// What the world tells a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A tool came back.
    ToolResult {
        /// The request.
        request: RequestId,
        /// What it returned, or how it failed.
        outcome: Result<IOValue, ToolFailure>,
    },
    /// A tool call tells what it is about to replace, and waits for [`EffectKind::Proceed`].
    Kept {
        /// The request.
        request: RequestId,
        /// What is replaced and by what; means something to the tool, and to whoever takes it back.
        note: IOValue,
        /// The contents that the note names.
        contents: Vec<Blob>,
    },
    /// A tool came back for which nobody waits, because the run has gone another way since.
    Orphaned {
        /// The key of the call's effect.
        key: String,
        /// What it returned, or how it failed.
        outcome: Result<IOValue, ToolFailure>,
    },
    /// Bytes from standard input; empty at its end.
    Chunk {
        /// The request.
        request: RequestId,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A timer tells when it will have run out.
    Due {
        /// The request.
        request: RequestId,
        /// When, in milliseconds since 1970.
        at_ms: u64,
    },
    /// A timer has run out.
    Elapsed {
        /// The request.
        request: RequestId,
    },
    /// The person's answer.
    Answer {
        /// The request.
        request: RequestId,
        /// The answer.
        value: IOValue,
    },
    /// The person asked the run to stop (Ctrl-C).
    Interrupt,
    /// The person wants the main program's actor to evaluate a text.
    Evaluate {
        /// The text.
        text: String,
        /// What it may need and the run does not have.
        sources: Vec<Attached>,
    },
    /// The person gives up everything that was to be evaluated and has not come to an end.
    Abandon,
    /// The person takes facts of another branch over.
    Merge {
        /// The actor that asserts and retracts them.
        actor: ActorId,
        /// What is asserted.
        asserted: Vec<IOValue>,
        /// What is retracted.
        retracted: Vec<IOValue>,
    },
}

impl Input {
    /// Returns the request that it is about, if it is about one.
    pub fn request(&self) -> Option<RequestId> {
        match self {
            Self::ToolResult { request, .. }
            | Self::Kept { request, .. }
            | Self::Chunk { request, .. }
            | Self::Answer { request, .. }
            | Self::Due { request, .. }
            | Self::Elapsed { request, .. } => Some(*request),
            Self::Orphaned { .. } | Self::Interrupt | Self::Evaluate { .. } | Self::Abandon | Self::Merge { .. } => {
                None
            }
        }
    }
}

/// How a tool failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// The kind of failure, a stable symbol: `no-such-tool`, `bad-argument`, `outside-root`, `not-found`, `denied`, `timeout`, `output-limit`, `failed`.
    pub kind: String,
    /// What was wrong, for people.
    pub message: String,
    /// Facts: the path, the limit, the exit code.
    pub details: Vec<IOValue>,
}

/// The result of a tool may have so many bytes, roughly as it is recorded.
pub const RESULT_BYTES_MAX: usize = 16 << 20;

/// The result of a tool may be nested so deep, so that it fits into a record with what surrounds it there.
pub const RESULT_DEPTH_MAX: usize = 400;

/// Refuses a result that does not fit into a record, by a failure of its call.
///
/// # Errors
/// `bad-result` if it is too deep, `output-limit` if it is too large.
pub fn check_result(value: &IOValue) -> Result<(), ToolFailure> {
    let failure = |kind: &str, message: String| ToolFailure {
        kind: kind.to_owned(),
        message,
        details: Vec::new(),
    };
    let mut length_bytes = 0_usize;
    let mut level = vec![value.clone()];
    for _ in 0..RESULT_DEPTH_MAX {
        let mut below: Vec<IOValue> = Vec::new();
        for value in &level {
            length_bytes = length_bytes.saturating_add(1 + own_length(value));
            if let ValueClass::Compound(class) = value.value_class() {
                if class == CompoundClass::Dictionary {
                    below.extend(value.entries().flat_map(|(key, entry)| [key.into(), entry.into()]));
                } else {
                    below.extend(value.iter().map(IOValue::from));
                }
            }
        }
        if length_bytes > RESULT_BYTES_MAX {
            let message = format!(
                "the tool's result has more than {RESULT_BYTES_MAX} bytes; ask it for less, or for a part at a time"
            );
            return Err(failure("output-limit", message));
        }
        if below.is_empty() {
            return Ok(());
        }
        level = below;
    }
    let message = format!("the tool's result is nested more than {RESULT_DEPTH_MAX} levels deep");
    Err(failure("bad-result", message))
}

/// What an atom takes, in bytes, besides its tag.
fn own_length(value: &IOValue) -> usize {
    let text = value.as_string().or_else(|| value.as_symbol()).map(|text| text.len());
    text.or_else(|| value.as_bytestring().map(|bytes| bytes.len()))
        .unwrap_or_default()
}

/// Performs effects and brings inputs; the only way the world is reached.
pub trait Drivers {
    /// Starts the effects, in order, and returns without waiting for answers.
    fn perform(&mut self, effects: Vec<Effect>);

    /// Waits for the next input; `None` when nothing that was started can answer any more.
    fn next_input(&mut self) -> Option<Input>;

    /// Takes an input that is already there.
    fn poll_input(&mut self) -> Option<Input>;
}
