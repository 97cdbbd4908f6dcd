//! A run whose program somebody edits: it is driven until it stops, or a file is saved.
//!
//! INVARIANT: a run that stops because a file was saved stands at a durable turn, as after an
//! interruption, and nobody goes on with it meanwhile.
//! It compares no texts; `verb/rerun.rs` does. Read next: `verb/act/run/watch.rs`.

use std::time::Duration;

use duet_drivers::ticker::Ticker;
use duet_drivers::waker::Waker;
use duet_journal::Store;
use duet_runtime::run::DriveOutcome;

use super::OwnedRun;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::world::watch::Watched;

/// Why a watched run has stopped.
pub(crate) enum Stop {
    /// A file was saved.
    Saved,
    /// It rests, has ended or was interrupted, which was reported.
    Rest(ExitCode),
}

/// The files that are watched, and the time between two looks at them.
#[derive(Clone, Copy)]
pub(crate) struct FileWatch<'a> {
    pub(crate) watched: &'a Watched,
    pub(crate) interval: Duration,
}

impl OwnedRun {
    /// Drives the run until it stops or a watched file is saved.
    ///
    /// # Errors
    /// As [`drive`](Self::drive).
    pub(crate) fn drive_watched(
        mut self,
        store: &mut dyn Store,
        look: FileWatch<'_>,
        terminal: &mut Terminal,
    ) -> Result<Stop, CommandError> {
        let FileWatch { watched, interval } = look;
        watched.add_texts(self.texts.all());
        self.world.watch(watched.clone());
        self.tell_unshown(store, terminal)?;
        self.leave_when_interrupted();
        self.catch_up(store)?;
        let (waker, looked) = (self.waker(), watched.clone());
        let look = move || {
            let is_saved = looked.files().look();
            if is_saved {
                // Nobody listens any more if the run has just stopped.
                let _heard = waker.as_ref().is_some_and(Waker::interrupt);
            }
            !is_saved
        };
        let clock = Ticker::start(interval, look)
            .map_err(|error| CommandError::caused("the system cannot start a thread", &error))?;
        let rest = self.run_on(store)?;
        drop(clock);
        self.note_interruption(store, &rest)?;
        let is_saved = || watched.files().has_saved();
        if rest == DriveOutcome::Interrupted && is_saved() && !self.ownership.has_stop_request() {
            self.close();
            return Ok(Stop::Saved);
        }
        let code = match self.report_rest(store, rest, true, terminal) {
            // A program that has failed is what the person mends.
            Err(error) => terminal.tell_error(error),
            Ok(code) => code,
        };
        Ok(Stop::Rest(code))
    }
}
