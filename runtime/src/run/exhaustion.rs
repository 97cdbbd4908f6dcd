//! Turns that were stopped because their programs did little but look for memory.
//!
//! Owns what the record of such a turn must say so that it can be taken again. When a program is stopped depends on the garbage in its heap, and that
//! on when snapshots were taken; so a replay does not run the turn to see, it takes the record's word. INVARIANT: everything that such a turn did is
//! undone, so what happens to the actor follows from the failure alone.
//! It does not count; the heap does. Read next: `turn.rs`.

use std::sync::Arc;

use duet_journal::ClosedRecord;

use crate::model::codec::{Codec, DecodeError};
use crate::model::failure::Failure;
use crate::model::identity::FiberId;
use crate::record::{Outcome, form};
use crate::run::error::RunError;
use crate::run::source::decode_closed_turn;
use crate::turn::activation::{Activation, Fault};

/// A turn that was stopped.
pub(crate) struct Exhaustion {
    failure: Failure,
    fuel_used: u64,
    /// The interaction that was running.
    interaction: Option<FiberId>,
}

impl Exhaustion {
    /// Finds out from the record of a turn whether it was stopped.
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

/// Puts into the failure of a turn that was stopped what [`Exhaustion::recorded`] finds there.
pub(crate) fn note(fault: &mut Fault, fuel_used: u64) {
    if fault.failure.is_exhaustion() {
        let interaction = fault.interaction.as_ref().map(FiberId::encode);
        fault.failure.irritants = Arc::from_iter([fuel_used.encode()].into_iter().chain(interaction));
    }
}

#[cfg(test)]
mod tests;
