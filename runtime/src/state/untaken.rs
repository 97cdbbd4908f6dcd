//! The failures of actors that no other actor has taken.
//!
//! INVARIANT: the list is a function of the run's records; it keeps the first failures and counts
//! the others, so a run that fails for ever needs no more memory.
//! It does not decide who takes a failure; `../turn/activation.rs` does.
//! Read next: `../action/report_failure.rs`.

use duet_journal::Sequence;

use crate::codec_struct;
use crate::model::failure::ActorFailure;
use crate::model::identity::ActorId;

/// The maximum number of failures in the list.
const LISTED_MAX: usize = 32;

/// A failure of an actor that no other actor has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untaken {
    /// The actor.
    pub actor: ActorId,
    /// The role that it played; none for the main program.
    pub role: Option<String>,
    /// The turn that failed.
    pub turn: Sequence,
    /// The kind of the condition.
    pub kind: String,
}
codec_struct!(Untaken "untaken" { actor, role, turn, kind });

/// All failures that no actor has taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UntakenFailures {
    /// Their number.
    pub count: u64,
    /// The first of them, oldest first.
    pub first: Vec<Untaken>,
}
codec_struct!(UntakenFailures "untaken-failures" { count, first });

impl UntakenFailures {
    /// Adds a failure.
    pub(crate) fn note(&mut self, failed: &ActorFailure) {
        self.count += 1;
        if self.first.len() < LISTED_MAX {
            self.first.push(Untaken {
                actor: failed.actor,
                role: failed.role.clone(),
                turn: failed.turn,
                kind: failed.failure.kind.clone(),
            });
        }
    }
}
