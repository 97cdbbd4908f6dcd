//! A run that a worker drives: until it has nothing to do but wait, and then lets go of.
//!
//! INVARIANT: a run is let go when its turns are durable and no call of it is at work; it then says
//! in the journal what it needs, and nobody owns it.
//! It does not choose runs. Read next: the crate's `owner/work.rs`.

use std::time::Duration;

use duet_drivers::timers::CountedTimers;
use duet_drivers::waker::Waker;
use duet_journal::{Need, Store, owner};
use duet_runtime::run::DriveOutcome;

use super::OwnedRun;
use super::compiled::CompiledPrograms;
use crate::history::journal::Journal;
use crate::text::error::CommandError;

/// How far ahead a moment may be for which a run stays in memory, in milliseconds: to let it go and
/// to open it again takes longer.
const NEAR_MS: u64 = 1_000;

/// How a worker's run came to rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rested {
    /// It has ended with this code.
    Ended(u64),
    /// It needs this; its timers have these counts.
    Needing(Need, CountedTimers),
    /// Somebody has stopped it, or it can never go on.
    Stopped,
    /// The worker has no time left for it.
    Interrupted,
}

/// How a run is driven.
#[derive(Default)]
pub(super) struct DriveMode {
    /// Whether it is let go as soon as it only waits.
    pub(super) sleeps: bool,
    /// Whether a person is at its prompt.
    pub(super) is_at_prompt: bool,
}

impl OwnedRun {
    /// What wakes its world.
    pub(super) fn waker(&self) -> Option<Waker> {
        self.world.waker()
    }

    /// The time by the clock of the run's journal, in milliseconds since 1970.
    fn now_ms(&self) -> u64 {
        self.place.journal.as_ref().map_or_else(owner::now_ms, Journal::now_ms)
    }

    /// Whether the run can be let go: there is nothing to do but wait, and not only for a moment.
    pub(super) fn is_asleep(&self) -> bool {
        self.manner.sleeps
            && match self.run.need() {
                Need::Nothing | Need::Input => true,
                Need::Moment(at_ms) => {
                    at_ms > self.now_ms().saturating_add(NEAR_MS)
                        && !self.world.has_timer_within(Duration::from_millis(NEAR_MS))
                }
            }
    }

    /// Drives the run until it sleeps, ends or is interrupted, and gives it up; `reach` receives
    /// what interrupts it, and `kept` its program.
    ///
    /// # Errors
    /// If the journal fails; durable turns stay.
    pub(crate) fn work(
        mut self,
        store: &mut dyn Store,
        reach: &dyn Fn(Option<Waker>),
        kept: &CompiledPrograms,
    ) -> Result<Rested, CommandError> {
        self.manner.sleeps = true;
        self.stop_when_interrupted();
        self.run.leave_when_stopped();
        self.run.keep_last_turns();
        reach(self.waker());
        let driven = match self.catch_up(store) {
            Ok(()) => self.run_on(store),
            Err(error) => Err(error),
        };
        let rested = match driven {
            Ok(DriveOutcome::Ended { code }) => Ok(Rested::Ended(code)),
            Ok(DriveOutcome::Interrupted) if self.ownership.is_stopped() => Ok(Rested::Stopped),
            Ok(DriveOutcome::Interrupted) => Ok(Rested::Interrupted),
            Ok(DriveOutcome::Asking { .. } | DriveOutcome::Waiting { .. } | DriveOutcome::Stuck { .. }) => {
                Ok(match self.run.need() {
                    Need::Nothing => Rested::Stopped,
                    Need::Input => Rested::Needing(Need::Input, CountedTimers::default()),
                    need @ Need::Moment(_) => Rested::Needing(need, self.world.counted_timers()),
                })
            }
            Err(error) => Err(error),
        };
        let let_go = self.let_go(store, matches!(rested, Ok(Rested::Ended(_) | Rested::Stopped)), kept);
        // A failure says more than that the run could not be given up after it.
        rested.and_then(|rested| let_go.map(|()| rested))
    }

    /// Makes a run that has just begun durable, and leaves it to workers.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn leave_to_workers(mut self, store: &mut dyn Store) -> Result<(), CommandError> {
        self.settle(store)?;
        self.let_go(store, false, &CompiledPrograms::default())
    }

    /// Gives the run up, and with `is_to_rest` says that nobody is to take it.
    ///
    /// # Errors
    /// If the journal fails.
    pub(super) fn let_go(
        self,
        store: &mut dyn Store,
        is_to_rest: bool,
        kept: &CompiledPrograms,
    ) -> Result<(), CommandError> {
        // Nothing renews the claim any more when it is given up.
        let (mut run, texts) = self.close();
        run.let_go(store, is_to_rest)?;
        kept.keep(run, texts);
        Ok(())
    }
}
