//! Turns that something else than the program stopped: the heap, because the program did little but
//! collect garbage, or the person.
//!
//! Owns what the record of such a turn says so that a replay can repeat it. The moment of stopping
//! depends on the person, or on the garbage in the heap and so on the times of snapshots; so a
//! replay does not run the turn but fails it as recorded.
//! INVARIANT: everything that such a turn did is undone, so the actor's fate follows from the
//! failure alone.
//! It does not count garbage collections; the kernel's heap does.
//! Read next: `take_turn.rs`.

use std::sync::Arc;

use duet_journal::ClosedRecord;

use crate::model::codec::{Codec, DecodeError};
use crate::model::failure::Failure;
use crate::record::{Attempt, Outcome, form};
use crate::run::error::RunError;
use crate::run::source::decode_closed_turn;
use crate::turn::activation::{Activation, Fault};

/// A turn that the heap or the person stopped.
pub(crate) struct Exhaustion {
    failure: Failure,
    fuel_used: u64,
    /// What the turn had attempted in vain.
    attempts: Vec<Attempt>,
    /// The position of the event that led to what was running.
    event: Option<u64>,
}

impl Exhaustion {
    /// Reads from a turn's record whether the heap or the person stopped it.
    ///
    /// # Errors
    /// [`RunError::Decode`].
    pub(crate) fn recorded(record: &ClosedRecord) -> Result<Option<Self>, RunError> {
        if form::has_committed(record.body_bytes()) {
            return Ok(None);
        }
        let mut turn = decode_closed_turn(record)?;
        let Outcome::Failed { failure } = turn.outcome else {
            return Ok(None);
        };
        if !failure.is_from_outside() {
            return Ok(None);
        }
        let mut numbers = failure.irritants.iter().map(u64::decode);
        let mut next = || numbers.next().transpose();
        let (fuel_used, attempted, event) = (next(), next(), next());
        let decode = |source: DecodeError| RunError::Decode {
            sequence: record.header().sequence,
            source,
        };
        let attempted = attempted.map_err(decode)?.unwrap_or_default();
        turn.attempts.truncate(usize::try_from(attempted).unwrap_or(usize::MAX));
        Ok(Some(Self {
            fuel_used: fuel_used.map_err(decode)?.unwrap_or_default(),
            attempts: turn.attempts,
            event: event.map_err(decode)?,
            failure,
        }))
    }

    /// Fails a turn as it failed when it was recorded.
    pub(crate) fn repeat(self, activation: &mut Activation) -> Fault {
        activation.turn.fuel = self.fuel_used;
        activation.turn.attempts = self.attempts;
        Fault {
            failure: self.failure,
            event: self.event,
        }
    }
}

/// Adds to the failure of a stopped turn what [`Exhaustion::recorded`] reads from it.
/// The turn has used this much fuel and attempted so much in vain.
pub(crate) fn note(fault: &mut Fault, fuel_used: u64, attempted: usize) {
    if fault.failure.is_from_outside() {
        let event = fault.event.as_ref().map(u64::encode);
        fault.failure.irritants = Arc::from_iter(
            [fuel_used.encode(), (attempted as u64).encode()]
                .into_iter()
                .chain(event),
        );
    }
}

#[cfg(test)]
mod tests;
