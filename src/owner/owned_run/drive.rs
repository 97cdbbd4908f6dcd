//! The way of a run from its start to its stop.
//!
//! INVARIANT: between two turns, whatever other processes have asked for is granted or refused; the
//! report says why the run stopped.
//! It does not know what they may ask for; `serve.rs` does.
//! Read next: `serve.rs`, then `stop_report.rs`.

use std::time::{Duration, Instant};

use duet_drivers::world::Happening;
use duet_journal::{Need, Store};
use duet_runtime::driver::{Drivers, Input};
use duet_runtime::model::failure;
use duet_runtime::run::error::RunError;
use duet_runtime::run::{Advance, DriveOutcome, Run};
use duet_runtime::scheme::SchemePrograms;

use super::stop_report::StopReport;
use super::{OwnedRun, rescue};
use crate::text::error::{CommandError, ExitCode};
use crate::text::render::{self, SourceTexts};
use crate::text::saying::Saying;
use crate::text::terminal::Terminal;

/// The time after which the turns of a run that only computes become durable: until then no other
/// process sees the run, or reaches it.
const DURABLE_WITHIN: Duration = Duration::from_millis(100);

impl OwnedRun {
    /// Drives the run until it stops.
    ///
    /// # Errors
    /// If the journal fails; durable turns stay.
    pub(crate) fn run_on(&mut self, store: &mut dyn Store) -> Result<DriveOutcome, CommandError> {
        let driven = self.go_on(store);
        driven.map_err(|error| rescue::explained(error, &self.run, store, &self.place))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "when turns become durable is in no record, and people wait for it"
    )]
    fn go_on(&mut self, store: &mut dyn Store) -> Result<DriveOutcome, RunError> {
        let mut durable_at = Instant::now();
        loop {
            if let Some(request) = self.attend(store)? {
                self.ownership.stop_for(Some(request));
                self.run.flush_to(store, &mut self.world as &mut dyn Drivers)?;
                return Ok(DriveOutcome::Interrupted);
            }
            if self.read_letters(store)? {
                self.ownership.stop_for_letter();
                return Ok(DriveOutcome::Interrupted);
            }
            let happening = match self.run.advance(store, &mut self.world as &mut dyn Drivers)? {
                Advance::Turn if durable_at.elapsed() < DURABLE_WITHIN => continue,
                Advance::Turn => {
                    self.run.flush_to(store, &mut self.world as &mut dyn Drivers)?;
                    self.open_door();
                    durable_at = Instant::now();
                    continue;
                }
                Advance::Ended { code } => return Ok(DriveOutcome::Ended { code }),
                Advance::Interrupted => Happening::Input(Input::Interrupt),
                Advance::Idle if self.is_asleep() => return Ok(self.run.outcome()),
                Advance::Idle => {
                    self.run.flush_to(store, &mut self.world as &mut dyn Drivers)?;
                    self.open_door();
                    self.world.next_happening()
                }
            };
            match happening {
                Happening::Input(Input::Interrupt) => {
                    // Whoever asks to stop the run interrupts a long turn.
                    let stop_request = self.attend(store)?;
                    self.ownership.stop_for(stop_request);
                    self.run.flush_to(store, &mut self.world as &mut dyn Drivers)?;
                    return Ok(DriveOutcome::Interrupted);
                }
                Happening::Input(input) => self.run.deliver(input),
                Happening::Woken | Happening::Asked => {}
                Happening::Nothing => return Ok(self.run.outcome()),
            }
        }
    }

    /// Lets other processes ask for things, if they cannot yet.
    fn open_door(&mut self) {
        let needs_door = self.place.journal.is_some() && self.ownership.lease().takes_door();
        if let Some(journal) = self.place.journal.as_ref().filter(|_| needs_door) {
            self.world.open_door(journal, self.run.id());
        }
    }

    /// Shows why a turn failed.
    pub(crate) fn tell_failure(&self, failure: &failure::Failure, ways: &[String], terminal: &mut Terminal) {
        let texts = SourceTexts::of(self.run.programs::<SchemePrograms>().expander());
        terminal.message(render::uncaught(failure, &texts, ways, terminal.is_styled));
    }

    /// Drives the run until it stops, and reports its state.
    ///
    /// # Errors
    /// If the journal fails; durable turns stay.
    pub(crate) fn drive(
        mut self,
        store: &mut dyn Store,
        is_verbose: bool,
        terminal: &mut Terminal,
    ) -> Result<ExitCode, CommandError> {
        self.tell_unshown(store, terminal)?;
        self.leave_when_interrupted();
        self.catch_up(store)?;
        let rest = self.run_on(store)?;
        self.note_interruption(store, &rest)?;
        self.report_rest(store, rest, is_verbose, terminal)
    }

    /// Keeps workers from a run that was interrupted: whoever interrupts it does not want anybody
    /// to go on with it.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn note_interruption(&self, store: &mut dyn Store, rest: &DriveOutcome) -> Result<(), CommandError> {
        if *rest == DriveOutcome::Interrupted {
            store.set_need(self.run.id(), self.run.branch(), self.run.epoch(), Need::Nothing)?;
        }
        Ok(())
    }

    /// Reports the state of a run that has stopped, and gives the run up.
    ///
    /// # Errors
    /// As [`conclude`](Self::conclude).
    pub(super) fn report_rest(
        mut self,
        store: &mut dyn Store,
        rest: DriveOutcome,
        is_verbose: bool,
        terminal: &mut Terminal,
    ) -> Result<ExitCode, CommandError> {
        let ways = if let DriveOutcome::Ended { code: 1.. } = rest {
            self.run.release_memory();
            self.ways_from_failure(store)?
        } else {
            Vec::new()
        };
        let brief = self.first_failure(store, &rest, !ways.is_empty())?;
        let journal = self.place.journal.as_ref();
        let held = journal
            .filter(|journal| journal.is_on_server())
            .map(|_| (self.run.id().clone(), self.run.epoch()));
        let concluded = self.conclude(rest, is_verbose, terminal);
        if let Some((run, epoch)) = held {
            // Other hosts do not see that this process ends; who has taken the run may keep it.
            let _taken = store.note_owner(&run, epoch, "");
        }
        let code = match concluded {
            Ok(code) => code,
            Err(error) if brief.is_empty() => return Err(error),
            Err(error) => return Err(error.advise(Saying::lines(brief))),
        };
        ways.into_iter().for_each(|way| terminal.message(way));
        brief.into_iter().for_each(|line| terminal.message(line));
        Ok(code)
    }

    /// The run, and the world it is driven in.
    pub(crate) fn parts(&mut self) -> (&mut Run, &mut dyn Drivers) {
        (&mut self.run, &mut self.world)
    }

    /// Ends all that keeps the run, before it is given up, and returns it with its texts.
    pub(super) fn close(self) -> (Run, SourceTexts) {
        let head = self.head();
        self.ownership.end(head, self.world);
        (self.run, self.texts)
    }

    /// Drops the world and reports the state of the run.
    ///
    /// # Errors
    /// If the journal fails, or the run can never go on.
    pub(crate) fn conclude(
        self,
        rest: DriveOutcome,
        is_verbose: bool,
        terminal: &mut Terminal,
    ) -> Result<ExitCode, CommandError> {
        let is_output_closed = self.world.is_output_closed();
        let is_terminated = self.world.is_terminated();
        let head = self.head();
        self.ownership.end(head, self.world);
        let (mut run, place) = (self.run, self.place);
        let place = StopReport { place: &place, head };
        place.tell_recalled(&run.take_recalled(), terminal);
        let untaken = &run.state().untaken;
        if !matches!(rest, DriveOutcome::Stuck { .. }) {
            place.tell_untaken(untaken, terminal);
        }
        let code = match rest {
            DriveOutcome::Ended { code } => {
                if is_verbose || terminal.is_watched {
                    place.tell_journal(terminal);
                }
                ExitCode::of_run(code)
            }
            DriveOutcome::Asking { .. } => {
                place.tell_questions(&run, terminal);
                ExitCode::WAITING
            }
            DriveOutcome::Waiting { .. } => {
                place.tell_waits(run.state(), terminal);
                ExitCode::WAITING
            }
            DriveOutcome::Stuck { fibers } => return Err(place.stuck(fibers, run.state())),
            DriveOutcome::Interrupted => {
                if !is_output_closed {
                    terminal.message(place.interrupted());
                }
                if is_terminated {
                    ExitCode::TERMINATED
                } else {
                    ExitCode::INTERRUPTED
                }
            }
        };
        Ok(code)
    }
}
