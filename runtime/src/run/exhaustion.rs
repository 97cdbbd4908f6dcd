//! Turns that the heap stopped because their programs did little but collect garbage.
//!
//! Owns what the record of such a turn says so that a replay can repeat it. The moment of stopping
//! depends on the garbage in the heap, and that garbage on the times of snapshots; so a replay does
//! not run the turn but fails it as recorded.
//! INVARIANT: everything that such a turn did is undone, so the actor's fate follows from the
//! failure alone.
//! It does not count garbage collections; the kernel's heap does.
//! Read next: `take_turn.rs`.

use std::sync::Arc;

use duet_journal::ClosedRecord;

use crate::model::codec::{Codec, DecodeError};
use crate::model::failure::Failure;
use crate::model::identity::FiberId;
use crate::record::{Outcome, form};
use crate::run::error::RunError;
use crate::run::source::decode_closed_turn;
use crate::turn::activation::{Activation, Fault};

/// A turn that the heap stopped.
pub(crate) struct Exhaustion {
    failure: Failure,
    fuel_used: u64,
    /// The interaction that was running.
    interaction: Option<FiberId>,
}

impl Exhaustion {
    /// Reads from a turn's record whether the heap stopped it.
    ///
    /// # Errors
    /// [`RunError::Decode`].
    pub(crate) fn recorded(record: &ClosedRecord) -> Result<Option<Self>, RunError> {
        if form::has_committed(record.body_bytes()) {
            return Ok(None);
        }
        let Outcome::Failed { failure } = decode_closed_turn(record)?.outcome else {
            return Ok(None);
        };
        if !failure.is_exhaustion() {
            return Ok(None);
        }
        let mut numbers = failure.irritants.iter().map(u64::decode);
        let (fuel_used, interaction) = (numbers.next().transpose(), numbers.next().transpose());
        let decode = |source: DecodeError| RunError::Decode {
            sequence: record.header().sequence,
            source,
        };
        Ok(Some(Self {
            fuel_used: fuel_used.map_err(decode)?.unwrap_or_default(),
            interaction: interaction.map_err(decode)?.map(FiberId),
            failure,
        }))
    }

    /// Fails a turn as it failed when it was recorded.
    pub(crate) fn repeat(self, activation: &mut Activation) -> Fault {
        activation.turn.fuel = self.fuel_used;
        Fault {
            failure: self.failure,
            interaction: self.interaction,
        }
    }
}

/// Adds to the failure of a stopped turn what [`Exhaustion::recorded`] reads from it.
pub(crate) fn note(fault: &mut Fault, fuel_used: u64) {
    if fault.failure.is_exhaustion() {
        let interaction = fault.interaction.as_ref().map(FiberId::encode);
        fault.failure.irritants = Arc::from_iter([fuel_used.encode()].into_iter().chain(interaction));
    }
}

#[cfg(test)]
mod tests;
