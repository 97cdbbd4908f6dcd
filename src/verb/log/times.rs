//! When the turns of a portion of a log became durable.
//!
//! INVARIANT: the times of a portion are read once, when the first of its turns is listed: a search
//! that lists few turns reads those of few portions.
//! Read next: `../log.rs`.

use duet_journal::{CommitTime, Sequence, Store};

use crate::history::journal::Place;
use crate::text::error::CommandError;

/// The times of the turns from `start` up to `end`.
#[derive(Clone, Default)]
pub(super) struct Times {
    start: u64,
    end: u64,
    known: Option<Vec<CommitTime>>,
}

impl Times {
    /// The times of a portion, before anything is read.
    pub(super) fn between(start: u64, end: u64) -> Self {
        Self {
            start,
            end,
            known: None,
        }
    }

    /// The time of one of the turns, on a branch that has the portion; the store may not know it.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(super) fn of(&mut self, store: &dyn Store, place: &Place, number: u64) -> Result<CommitTime, CommandError> {
        if self.known.is_none() {
            let range = position(self.start)?..position(self.end)?;
            self.known = Some(store.times(&place.run, &place.branch, range)?);
        }
        let time = usize::try_from(number.saturating_sub(self.start)).ok();
        let time = time.zip(self.known.as_ref()).and_then(|(at, known)| known.get(at));
        Ok(time.copied().unwrap_or_default())
    }
}

/// The position of a number.
///
/// # Errors
/// If it is too large.
pub(super) fn position(number: u64) -> Result<Sequence, CommandError> {
    Sequence::new(number).map_err(|error| CommandError::problem(error.to_string()))
}
