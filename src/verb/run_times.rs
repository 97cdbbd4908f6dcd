//! When a run began, and when its newest turn came.
//!
//! INVARIANT: both are by the clock of the journal; what the journal does not know is nothing.
//! It reads no records. Read next: `runs.rs`, `stats.rs`.

use duet_journal::{Head, RunId, Sequence, Store};
use duet_runtime::model::moment::Moment;

use crate::text::error::CommandError;

/// The times of a branch, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunTimes {
    /// When the beginning of the run became durable.
    pub(super) began_ms: Option<u64>,
    /// When its newest turn did.
    pub(super) newest_ms: Option<u64>,
}

impl RunTimes {
    /// The times of a branch up to its head.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(super) fn of(store: &dyn Store, run: &RunId, head: &Head) -> Result<Self, CommandError> {
        let time = |at: Sequence| {
            let times = store.times(run, &head.branch, at..at.next().unwrap_or(at))?;
            Ok::<_, CommandError>(times.first().and_then(|time| time.ms()))
        };
        Ok(Self {
            began_ms: time(Sequence::FIRST)?,
            newest_ms: time(head.sequence)?,
        })
    }

    /// How long it took, in milliseconds.
    pub(super) fn duration_ms(self) -> Option<u64> {
        let (began, newest) = self.began_ms.zip(self.newest_ms)?;
        Some(newest.saturating_sub(began))
    }

    /// When it began, for a narrow column: the month, the day, the hour and the minute in UTC.
    pub(super) fn began_briefly(self) -> String {
        let told = self.began();
        let parts = told.get(5..10).zip(told.get(11..16));
        parts.map_or_else(String::new, |(day, time)| format!("{day} {time}"))
    }

    /// When it began, in words: the day and the time of day in UTC.
    pub(super) fn began(self) -> String {
        let told = self.began_ms.map(|ms| Moment(ms / 1000 * 1000).to_string());
        told.unwrap_or_default()
    }
}
