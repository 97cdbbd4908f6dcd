//! The interface between the deterministic core and the world.
//!
//! Owns the requests of durable turns to the world ([`Effect`]) and the world's answers
//! ([`Input`]).
//! INVARIANT: the runtime hands out an effect that anybody outside may notice only after the turn
//! that requested it is durable; an input takes effect only through a turn that records it.
//! It performs nothing itself: the `drivers` crate does.
//! Read next: `turn.rs`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

pub use duet_journal::{Blob, BlobHash, packed};
use duet_journal::{RecordHash, Sequence};
use preserves::{CompoundClass, IOValue, ValueClass, ValueImpl};

use crate::codec_struct;
use crate::model::changed_text::ChangedText;
use crate::model::codec::{Codec, DecodeError};
use crate::model::failure::ActorFailure;
use crate::model::grant::Grant;
use crate::model::identity::{ActorId, RequestId};
use crate::model::manifest::Manifest;
use crate::model::peer::{PeerEvent, PeerNotice};
use crate::model::value::Fact;

/// A request of a durable turn to the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The request that an answering [`Input`] names.
    pub request: RequestId,
    /// A key unique to this request, its run and its branch's lineage; a tool can recognise a
    /// repeated call by it.
    pub key: String,
    /// Who asks what, if the run keeps it.
    pub asking: Option<Box<Asking>>,
    /// The kind of the effect.
    pub kind: EffectKind,
}

/// Who asks, and what, in the words that another run of the same program would use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asking {
    /// Who asks.
    pub asker: Asker,
    /// The name of the tool; `ask` or `approve` for a question to the person, `timer`, `read`.
    pub what: String,
    /// The arguments, with keys in the place of the run's own ids.
    pub arguments: Fact,
    /// How often the same asker has asked the same, this time included.
    pub nth: u64,
}

/// The place in a program from which a request comes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asker {
    /// The path of names of the actor: `main`, `main/worker`, `main/worker 2`.
    pub actor: String,
    /// The name of the definition around the question; empty at the top level.
    pub definition: String,
}

/// For people: `main`, or `main/worker in fetch`.
impl fmt::Display for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.actor)?;
        match &*self.definition {
            "" => Ok(()),
            definition => write!(f, " in {definition}"),
        }
    }
}

/// The tools that tell the time and draw numbers. They ask nobody, so that only the program notices
/// a call.
pub const UNNOTICED_TOOLS: [&str; 5] = [
    "clock/second",
    "clock/millisecond",
    "clock/jiffy",
    "chance/integer",
    "chance/real",
];

/// The kinds of effects.
#[derive(Clone, Debug, PartialEq)]
pub enum EffectKind {
    /// Call the tool `name`, answered by [`Input::ToolResult`].
    Tool {
        /// The tool's name, such as `workspace/read`.
        name: String,
        /// Its argument.
        payload: Fact,
    },
    /// Continue a call that reported [`Input::Kept`], because that report is durable now; the
    /// report may be one of an earlier attempt.
    Proceed {
        /// The note of the first report.
        note: IOValue,
        /// The contents that the note names, if the call is repeated: the world no longer has them.
        contents: Vec<Blob>,
    },
    /// Write bytes to the console; has no answer.
    Write {
        /// The stream.
        stream: Stream,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Read from standard input, answered by [`Input::Chunk`].
    Read {
        /// The maximum number of bytes to read.
        length_bytes_max: usize,
    },
    /// Wait for a time, answered by [`Input::Elapsed`].
    ///
    /// A timer is also answered at once by [`Input::Due`], unless it is very short. If the journal
    /// has no record of that answer, a timer that is performed again after a crash begins anew.
    Timer {
        /// The delay in milliseconds.
        delay_ms: u64,
    },
    /// Wait until a moment, answered by [`Input::Elapsed`]; this is the rest of a timer after a
    /// restart.
    Alarm {
        /// The moment in milliseconds since 1970.
        at_ms: u64,
        /// The length of the whole timer in milliseconds; the rest is no longer, whatever the clock
        /// says.
        delay_ms: u64,
    },
    /// Ask the person a question, answered by [`Input::Answer`].
    Ask {
        /// The question to show.
        prompt: IOValue,
        /// The names of the tools and the keys of the entries that the person must approve; empty
        /// for a question of the program.
        approves: Vec<String>,
    },
    /// Withdraw a request that nothing waits for any more: the driver removes a question or a timer
    /// and abandons a call. Has no answer.
    Withdraw,
    /// Show a line of the log; has no answer.
    Log {
        /// The text.
        text: String,
        /// Whether the program says it, so that it must not look like a message of Duet.
        by_program: bool,
    },
    /// Show the failure of an actor that no other actor takes, or one that has been taken; has no
    /// answer.
    Failure {
        /// The failure.
        failed: Box<ActorFailure>,
        /// The texts that the failure names, each with its name.
        texts: Vec<(String, Arc<str>)>,
        /// Whether somebody has taken it and the actor goes on.
        is_taken: bool,
    },
    /// Tell a peer something; has no answer.
    Peer {
        /// The actor that stands for the peer.
        peer: ActorId,
        /// The event.
        told: PeerNotice,
    },
    /// Show the progress of a piece of work; has no answer.
    Progress {
        /// The name of the work.
        label: String,
        /// The number of steps done.
        done: u64,
        /// The total number of steps.
        total: u64,
    },
}

impl EffectKind {
    /// Says whether the effect is a request, which an input answers.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Tool { .. } | Self::Read { .. } | Self::Timer { .. } | Self::Alarm { .. } | Self::Ask { .. } => true,
            Self::Proceed { .. }
            | Self::Write { .. }
            | Self::Log { .. }
            | Self::Failure { .. }
            | Self::Withdraw
            | Self::Peer { .. }
            | Self::Progress { .. } => false,
        }
    }

    /// Says whether a tool works for the effect.
    pub fn is_of_tool(&self) -> bool {
        matches!(self, Self::Tool { .. } | Self::Proceed { .. })
    }

    /// Says whether the effect only shows something to the person.
    pub fn is_output(&self) -> bool {
        match self {
            Self::Write { .. } | Self::Log { .. } | Self::Failure { .. } => true,
            Self::Tool { .. }
            | Self::Proceed { .. }
            | Self::Read { .. }
            | Self::Timer { .. }
            | Self::Alarm { .. }
            | Self::Ask { .. }
            | Self::Withdraw
            | Self::Peer { .. }
            | Self::Progress { .. } => false,
        }
    }

    /// Says whether anybody outside the process may notice the effect.
    pub fn leaves_process(&self) -> bool {
        match self {
            Self::Timer { .. } | Self::Alarm { .. } => false,
            Self::Tool { name, .. } => !UNNOTICED_TOOLS.contains(&name.as_str()),
            Self::Proceed { .. }
            | Self::Write { .. }
            | Self::Log { .. }
            | Self::Failure { .. }
            | Self::Read { .. }
            | Self::Ask { .. }
            | Self::Withdraw
            | Self::Peer { .. }
            | Self::Progress { .. } => true,
        }
    }
}

/// The console's output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output: data.
    Output,
    /// Standard error: messages.
    Error,
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Output => "standard output",
            Self::Error => "standard error",
        })
    }
}

impl Codec for Stream {
    fn write(&self, out: &mut packed::PackedWriter) {
        out.symbol(match self {
            Self::Output => "output",
            Self::Error => "error",
        });
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        match value.as_symbol().as_deref() {
            Some("output") => Ok(Self::Output),
            Some("error") => Ok(Self::Error),
            _ => Err(DecodeError::kind("output or error", value)),
        }
    }
}

/// A source text that comes with a text to evaluate: a library, or a file that one of them
/// includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// How the program refers to it: `(a library)`, or the name of the including text and the path
    /// that it includes.
    pub wanted: Vec<String>,
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
}
codec_struct!(Attached "attached" { wanted, name, text });

/// An answer or an event from the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A tool returned, or the person gave a failure instead of an answer.
    ToolResult {
        /// The request.
        request: RequestId,
        /// The tool's result or failure.
        outcome: Result<IOValue, ToolFailure>,
    },
    /// A tool call reports what it is about to replace, and waits for [`EffectKind::Proceed`].
    Kept {
        /// The request.
        request: RequestId,
        /// A description of the replacement; only the tool and the code that undoes the call
        /// interpret it.
        note: IOValue,
        /// The contents that the note names.
        contents: Vec<Blob>,
    },
    /// A tool returned for a request that the run no longer has, because it went back to an earlier
    /// turn and continued differently.
    Orphaned {
        /// The key of the call's effect.
        key: String,
        /// The tool's result or failure.
        outcome: Result<IOValue, ToolFailure>,
    },
    /// Bytes from standard input; empty at its end.
    Chunk {
        /// The request.
        request: RequestId,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A timer reports when it will run out.
    Due {
        /// The request.
        request: RequestId,
        /// The moment in milliseconds since 1970.
        at_ms: u64,
    },
    /// A timer ran out.
    Elapsed {
        /// The request.
        request: RequestId,
    },
    /// The person answered a question.
    Answer {
        /// The request.
        request: RequestId,
        /// The answer.
        value: IOValue,
    },
    /// The person prepared the answer to a request before it came.
    Prepared {
        /// The request.
        request: RequestId,
        /// The answer.
        value: IOValue,
        /// Where the person prepared it, such as the option of a command.
        by: String,
    },
    /// The person asked the run to stop (Ctrl-C).
    Interrupt,
    /// The person asks the main program's actor to evaluate a text.
    Evaluate {
        /// The text.
        text: String,
        /// The source texts that it may need and the run does not have.
        sources: Vec<Attached>,
    },
    /// The person cancels every evaluation that has not ended.
    Abandon,
    /// The person takes over facts of another branch.
    Merge {
        /// The actor that asserts and retracts them.
        actor: ActorId,
        /// The facts to assert.
        asserted: Vec<IOValue>,
        /// The facts to retract.
        retracted: Vec<IOValue>,
    },
    /// The person tells the dataspace something, with the rights of the main program.
    Tell {
        /// The value.
        value: Fact,
        /// Whether the value becomes a fact; otherwise it is a message.
        stays: bool,
    },
    /// A peer wants to come in, as an actor of its own.
    Join {
        /// The name under which it comes; no other peer of the run has it.
        name: String,
        /// Its rights: at most those of the main program.
        manifest: Manifest,
        /// The caveats of its capability for the dataspace, the newest last.
        caveats: Vec<IOValue>,
    },
    /// The person grants the run more than it has.
    Grant {
        /// The grant.
        grant: Grant,
    },
    /// The person puts a changed text in the place of the one that the run executes.
    Patch {
        /// The text.
        text: ChangedText,
    },
    /// The person wants an actor to begin anew.
    Restart {
        /// The actor.
        actor: ActorId,
    },
    /// A peer says something; the events are handled in one turn.
    Said {
        /// The actor that stands for the peer.
        peer: ActorId,
        /// The events, in order.
        what: Vec<PeerEvent>,
    },
    /// A peer goes: everything that it asserted is retracted.
    Leave {
        /// The actor that stands for the peer.
        peer: ActorId,
    },
}

impl Input {
    /// Returns the request that the input answers, if there is one.
    pub fn request(&self) -> Option<RequestId> {
        match self {
            Self::ToolResult { request, .. }
            | Self::Kept { request, .. }
            | Self::Chunk { request, .. }
            | Self::Answer { request, .. }
            | Self::Prepared { request, .. }
            | Self::Due { request, .. }
            | Self::Elapsed { request, .. } => Some(*request),
            Self::Orphaned { .. }
            | Self::Interrupt
            | Self::Evaluate { .. }
            | Self::Abandon
            | Self::Merge { .. }
            | Self::Tell { .. }
            | Self::Join { .. }
            | Self::Grant { .. }
            | Self::Patch { .. }
            | Self::Restart { .. }
            | Self::Said { .. }
            | Self::Leave { .. } => None,
        }
    }
}

/// Returns the name under which a call waits for requests that workers receive, if it does: such a
/// call is answered from the run's inbox, and no process has to hold the run for it.
pub fn name_of_inbox_call(tool: &str, payload: &IOValue) -> Option<String> {
    if tool != INBOX_TOOL {
        return None;
    }
    let mut fields = payload.as_dictionary()?;
    let (_, name) = fields.find(|(key, _)| key.as_symbol().is_some_and(|key| key == "name"))?;
    name.as_string().map(Cow::into_owned)
}

/// The tool whose calls may wait for requests that workers receive.
pub(crate) const INBOX_TOOL: &str = "webhook/accept";

/// The failure of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// The kind of failure, a stable symbol: `no-such-tool`, `bad-argument`, `outside-root`,
    /// `not-found`, `denied`, `timeout`, `output-limit`, `failed`.
    pub kind: String,
    /// A message for people.
    pub message: String,
    /// Facts: the path, the limit, the exit code.
    pub details: Vec<IOValue>,
}

/// Maximum size of a tool's result in bytes, roughly as the journal records it.
pub const RESULT_BYTES_MAX: usize = 16 << 20;

/// Maximum depth of a tool's result in levels; a result of this depth and the record around it stay
/// below the limit for a record.
pub const RESULT_DEPTH_MAX: usize = 400;

/// Why a run cannot hold a value from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It has more than [`RESULT_BYTES_MAX`] bytes.
    TooLong,
    /// It has more than [`RESULT_DEPTH_MAX`] levels.
    TooDeep,
    /// It has an embedded value. Only the run makes references to its objects; whoever could write
    /// one from outside would have a capability that nobody gave away.
    Embedded,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it has more than {RESULT_BYTES_MAX} bytes"),
            Self::TooDeep => write!(f, "it is nested more than {RESULT_DEPTH_MAX} levels deep"),
            Self::Embedded => f.write_str("an embedded value stands for nothing here"),
        }
    }
}

/// Refuses a value from outside that a run cannot hold. Every way into a run asks this before the
/// value is recorded; the objects of a peer are none of these, its relay makes references of them.
///
/// # Errors
/// [`Unfit`].
pub fn check_foreign(value: &IOValue) -> Result<(), Unfit> {
    let mut length_bytes = 0_usize;
    let mut level = vec![value.clone()];
    for _ in 0..RESULT_DEPTH_MAX {
        let mut below: Vec<IOValue> = Vec::new();
        for value in &level {
            length_bytes = length_bytes.saturating_add(1 + own_length(value));
            match value.value_class() {
                ValueClass::Embedded => return Err(Unfit::Embedded),
                ValueClass::Atomic(_) => {}
                ValueClass::Compound(CompoundClass::Dictionary) => {
                    below.extend(value.entries().flat_map(|(key, entry)| [key.into(), entry.into()]));
                }
                ValueClass::Compound(class) => {
                    if class == CompoundClass::Record {
                        below.push(value.label().into());
                    }
                    below.extend(value.iter().map(IOValue::from));
                }
            }
        }
        if length_bytes > RESULT_BYTES_MAX {
            return Err(Unfit::TooLong);
        }
        if below.is_empty() {
            return Ok(());
        }
        level = below;
    }
    Err(Unfit::TooDeep)
}

/// Refuses a result that a run cannot hold; the refusal is a failure of the tool call.
///
/// # Errors
/// `bad-result` if the result is too deep, `output-limit` if it is too large, `not-serializable` if
/// it has an embedded value.
pub fn check_result(value: &IOValue) -> Result<(), ToolFailure> {
    check_foreign(value).map_err(|unfit| {
        let (kind, message) = match unfit {
            Unfit::TooLong => (
                "output-limit",
                format!(
                    "the tool's result has more than {RESULT_BYTES_MAX} bytes; ask it for less, or for a part at a time"
                ),
            ),
            Unfit::TooDeep => (
                "bad-result",
                format!("the tool's result is nested more than {RESULT_DEPTH_MAX} levels deep"),
            ),
            Unfit::Embedded => ("not-serializable", format!("the tool's result cannot be used: {unfit}")),
        };
        ToolFailure {
            kind: kind.to_owned(),
            message,
            details: Vec::new(),
        }
    })
}

/// Returns the size of an atom in bytes without its tag; 0 for a compound.
fn own_length(value: &IOValue) -> usize {
    let text = value.as_string().or_else(|| value.as_symbol()).map(|text| text.len());
    text.or_else(|| value.as_bytestring().map(|bytes| bytes.len()))
        .unwrap_or_default()
}

/// Performs effects and delivers inputs; the runtime reaches the world in no other way.
pub trait Drivers {
    /// Starts the effects, in order, and returns without waiting for answers.
    fn perform(&mut self, effects: Vec<Effect>);

    /// Waits for the next input; returns `None` when no effect in progress can answer any more.
    fn next_input(&mut self) -> Option<Input>;

    /// Takes an input that has already arrived, without waiting.
    fn poll_input(&mut self) -> Option<Input>;

    /// Hears whether policy judges paths and addresses as they are written; then a tool refuses a
    /// path whose real place is another one.
    fn judge_places(&mut self, _is_judged: bool) {}

    /// Hears that the turns after a record are about to become durable, and that they have output
    /// for the person; [`perform`](Self::perform) receives it next.
    fn before_output(&mut self, _record: RecordHash, _at: Sequence) {}

    /// Hears that `perform` has received this output.
    fn after_output(&mut self) {}
}
