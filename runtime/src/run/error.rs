//! The errors that stop a run.
//!
//! INVARIANT: after any of them the store still has all that was durable.
//! It does not describe failures of programs; `../model/failure.rs` does.
//! Read next: `../run.rs`.

use std::fmt;

use duet_journal::packed::PackedError;
use duet_journal::record::RecordError;
use duet_journal::{BranchName, RunId, Sequence, StoreError};

use crate::model::codec::DecodeError;
use crate::model::failure::Failure;
use crate::model::identity::ActorId;
use crate::record::divergence::Divergence;
use crate::state::refusal::Refusal;
use crate::turn::image::ThawError;

/// Why a run cannot continue. The store still has all that was durable; opening the run again
/// starts from there.
#[derive(Debug)]
pub enum RunError {
    /// The store failed or refused.
    Store(StoreError),
    /// A value is too large or too deep for the journal.
    Packed(PackedError),
    /// The journal refuses a record.
    Record(RecordError),
    /// A record of the run cannot be decoded.
    Decode {
        /// Its position.
        sequence: Sequence,
        /// The fault in it.
        source: DecodeError,
    },
    /// A snapshot cannot be decoded.
    Snapshot {
        /// The position of its record.
        sequence: Sequence,
        /// The fault in it.
        source: DecodeError,
    },
    /// A heap in a snapshot cannot be restored.
    Thaw {
        /// The position of its record.
        sequence: Sequence,
        /// The fault in it.
        source: ThawError,
    },
    /// A snapshot holds something other than the turns before it lead to.
    WrongSnapshot {
        /// The position of its record.
        sequence: Sequence,
        /// The part of it that differs.
        part: SnapshotPart,
    },
    /// A snapshot needs code that this version makes otherwise, so a replay cannot prove it.
    OtherCode {
        /// The position of its record.
        sequence: Sequence,
        /// The versions that made the code, the newest last.
        versions: Vec<String>,
    },
    /// Repeating a turn takes more memory than this process gives to the run.
    Memory {
        /// The turn.
        sequence: Sequence,
        /// What the process gives, in bytes.
        bytes_max: u64,
    },
    /// The program did something other than the journal says.
    Divergence(Box<Divergence>),
    /// The branch has no record.
    NoRecord {
        /// The run.
        run: RunId,
        /// The branch.
        branch: BranchName,
    },
    /// The branch has no record at this position.
    NoTurn {
        /// The branch.
        branch: BranchName,
        /// The position.
        sequence: Sequence,
    },
    /// The first record is not one of a run, or belongs to another version.
    NotARun {
        /// The version found, if it has one.
        version: Option<u64>,
    },
    /// The state refused to end an actor.
    Refused(Refusal),
    /// The record of an actor's end could not be made.
    Crash(Failure),
    /// A changed text cannot take the place of the one that the run executes; nothing has changed.
    Patch(Box<Failure>),
    /// An actor cannot begin anew; nothing has changed.
    Restart(Box<Failure>),
    /// The journal has no position left.
    Full,
}

/// A part of a snapshot that the turns before it do not lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotPart {
    /// The state: facts, actors, queues, requests, counters.
    State,
    /// The set of actors that have an instance.
    Actors,
    /// The instance of this actor.
    Instance(ActorId),
}

impl fmt::Display for SnapshotPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State => write!(f, "its state is not the one that the records lead to"),
            Self::Actors => write!(f, "its actors are not those that the records lead to"),
            Self::Instance(actor) => write!(f, "its memory of {actor} is not the one that the records lead to"),
        }
    }
}

macro_rules! from {
    ($($source:ty => $variant:ident)*) => {$(
        impl From<$source> for RunError {
            fn from(error: $source) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}
from! { StoreError => Store PackedError => Packed RecordError => Record }

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(_) => write!(f, "the store failed"),
            Self::Packed(_) => write!(f, "a value does not fit into the journal"),
            Self::Record(_) => write!(f, "a record cannot be made"),
            Self::Decode { sequence, .. } => write!(f, "the record of turn {sequence} cannot be understood"),
            Self::Snapshot { sequence, .. } => write!(f, "the snapshot of turn {sequence} cannot be understood"),
            Self::Thaw { sequence, .. } => {
                write!(f, "the snapshot of turn {sequence} has a heap that cannot be restored")
            }
            Self::WrongSnapshot { sequence, part } => {
                write!(f, "the snapshot of turn {sequence} is forged or damaged: {part}")
            }
            Self::OtherCode { sequence, versions } => {
                write!(
                    f,
                    "the snapshot of turn {sequence} has code of {}, which alone can prove it",
                    versions.join(" and ")
                )
            }
            Self::Memory { sequence, bytes_max } => {
                write!(
                    f,
                    "turn {sequence} needs more memory than the {bytes_max} bytes that a run may take here"
                )
            }
            Self::Divergence(divergence) => divergence.fmt(f),
            Self::NoRecord { run, branch } => write!(f, "branch {branch} of run {run} has no record"),
            Self::NoTurn { branch, sequence } => write!(f, "branch {branch} has no turn {sequence}"),
            Self::NotARun { version: Some(version) } => {
                write!(
                    f,
                    "the run has version {version}, this program reads version {}",
                    crate::record::VERSION
                )
            }
            Self::NotARun { version: None } => write!(f, "the first record does not begin a run"),
            Self::Refused(_) => write!(f, "an actor that failed could not be ended"),
            Self::Crash(failure) => write!(f, "the end of an actor could not be recorded: {failure}"),
            Self::Patch(failure) => {
                write!(
                    f,
                    "the changed text cannot take the place of the one that the run executes: {failure}"
                )
            }
            Self::Restart(failure) => write!(f, "the actor cannot begin anew: {failure}"),
            Self::Full => write!(f, "the journal has no further position"),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::Packed(error) => Some(error),
            Self::Record(error) => Some(error),
            Self::Decode { source, .. } | Self::Snapshot { source, .. } => Some(source),
            Self::Thaw { source, .. } => Some(source),
            Self::Refused(error) => Some(error),
            Self::Divergence(_)
            | Self::WrongSnapshot { .. }
            | Self::OtherCode { .. }
            | Self::Memory { .. }
            | Self::NoRecord { .. }
            | Self::NoTurn { .. }
            | Self::NotARun { .. }
            | Self::Crash(_)
            | Self::Patch(_)
            | Self::Restart(_)
            | Self::Full => None,
        }
    }
}
