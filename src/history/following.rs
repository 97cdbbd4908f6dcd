//! A branch that somebody follows while another process executes it.
//!
//! INVARIANT: every turn that becomes durable on the branch is given once, in order; if the branch
//! goes back, those after the turn it went back to follow.
//! It reads the journal and asks nobody. Read next: `surface/command/attach.rs`.

use std::time::Duration;

use duet_journal::{Record, Sequence, Store};

use crate::history::journal::Place;
use crate::text::error::CommandError;

/// The time between two looks at the journal.
const INTERVAL: Duration = Duration::from_millis(50);

/// The maximum number of records read at once.
const PORTION: u64 = 256;

/// How far a branch has been followed.
pub(crate) struct Following<'a> {
    place: &'a Place,
    next: u64,
}

impl<'a> Following<'a> {
    /// Follows a branch after a turn.
    pub(crate) fn after(place: &'a Place, turn: Sequence) -> Self {
        Self {
            place,
            next: turn.number() + 1,
        }
    }

    /// Follows a branch from its beginning.
    pub(crate) fn whole(place: &'a Place) -> Self {
        Self { place, next: 0 }
    }

    /// Follows a branch from a turn on, which need not exist yet.
    pub(crate) fn from(place: &'a Place, next: u64) -> Self {
        Self { place, next }
    }

    /// The number of the next turn.
    pub(crate) fn position(&self) -> u64 {
        self.next
    }

    /// Waits a little and returns the turns that have come; `None` when all are given and no
    /// process executes the run.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn next(&mut self, store: &dyn Store) -> Result<Option<Vec<Record>>, CommandError> {
        let Place { run, branch, .. } = self.place;
        // Whoever asks after the process has died sees all that it has committed.
        let is_alive = store.claimed(run)?.is_some_and(|claim| claim.living().is_some());
        let head = store.head(run, branch)?.map_or(0, |head| head.sequence.number());
        self.next = self.next.min(head + 1);
        if head < self.next {
            if !is_alive {
                return Ok(None);
            }
            #[expect(clippy::disallowed_methods, reason = "a person looks on; nothing enters a record")]
            std::thread::sleep(INTERVAL);
            return Ok(Some(Vec::new()));
        }
        let position = |number| Sequence::new(number).unwrap_or(Sequence::FIRST);
        let end = (head + 1).min(self.next + PORTION);
        let records = store.read(run, branch, position(self.next)..position(end))?;
        self.next = end;
        Ok(Some(records))
    }
}
