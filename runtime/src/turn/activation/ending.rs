//! The end of an actor, and what becomes of its failure.
//!
//! INVARIANT: a failure of an actor reaches the procedure that its spawner gave, or a report; an
//! event that tells of it and is dropped becomes a report too.
//! It does not undo anything; `../../run/take_turn.rs` does.
//! Read next: `../../action/exit.rs`, `../../action/report_failure.rs`.

use super::{Activation, Fault, Job, failure};
use crate::action::exit::MAIN;
use crate::action::{Exit, ReportFailure, Synced};
use crate::model::failure::{ActorFailure, Failure};
use crate::model::identity::{Callable, FacetId};
use crate::state::event::Event;
use crate::state::refusal::Refusal;
use crate::turn::program::Runner;
use crate::turn::task::{Argument, End, Task};

impl Activation {
    /// Notes the event whose handler failed. The actor's own failure stands for the failure that
    /// this event may carry.
    pub(crate) fn note_taken(&mut self, position: Option<u64>) {
        self.taken = position;
    }

    /// Ends the turn of an actor that has no instance: drops all its events, but answers those who
    /// wait for the actor to catch up, because nothing is left that it could handle, and reports
    /// the failures that the actor would have received.
    pub(crate) fn drop_all(&mut self) -> Result<(), Fault> {
        let positions = (0..).zip(&self.turn.events);
        let dropped = positions.filter(|(_, event)| !matches!(event, Event::Sync { .. }));
        self.turn.dropped = dropped.map(|(position, _)| position).collect();
        Ok(self.clear_jobs()?)
    }

    /// Drops all remaining jobs, but answers those who wait for the actor to catch up, and reports
    /// the failures that the actor would have received.
    pub(crate) fn clear_jobs(&mut self) -> Result<(), Failure> {
        for job in self.take_pending() {
            let Job::Deliver { position, event } = job else {
                continue;
            };
            match event {
                Event::Sync { from, fiber } => self.perform(Synced { to: from, fiber }).map_err(failure)?,
                Event::Ended {
                    failed: Some(failed), ..
                } if Some(position) != self.taken => self.report(failed)?,
                Event::Ended { .. }
                | Event::Boot {}
                | Event::Added { .. }
                | Event::Removed { .. }
                | Event::Message { .. }
                | Event::Closed { .. }
                | Event::Direct { .. }
                | Event::Resume { .. }
                | Event::Settled { .. }
                | Event::Answered { .. }
                | Event::Prepared { .. }
                | Event::Failed { .. }
                | Event::Kept { .. }
                | Event::Due { .. }
                | Event::Reconsider { .. }
                | Event::Orphaned { .. }
                | Event::Terminate {}
                | Event::Evaluate { .. }
                | Event::Abandon {}
                | Event::Merged { .. }
                | Event::Told { .. }
                | Event::Joined { .. }
                | Event::Granted { .. }
                | Event::Patched { .. }
                | Event::Restart {}
                | Event::Restarted { .. }
                | Event::Given { .. }
                | Event::Taken { .. }
                | Event::Said { .. } => {}
            }
        }
        Ok(())
    }

    /// Reports a failure that no actor takes.
    pub(crate) fn report(&mut self, failed: ActorFailure) -> Result<(), Failure> {
        let request = self.draft.state.counters.request();
        let is_taken = false;
        self.perform(ReportFailure {
            request,
            failed,
            is_taken,
        })
        .map_err(failure)
    }

    /// Reports a failure of the main program, which goes on.
    pub(crate) fn report_main(&mut self, failure: Failure) -> Result<(), Failure> {
        self.report(ActorFailure {
            actor: MAIN,
            role: None,
            turn: self.draft.turn,
            failure,
        })
    }

    /// Reports a failure that has been taken, so that a person sees it too; `what` names what
    /// failed.
    ///
    /// # Errors
    /// [`Refusal::Pure`].
    pub(crate) fn report_taken(&mut self, what: String, failure: Failure) -> Result<(), Refusal> {
        let request = self.draft.state.counters.request();
        let failed = ActorFailure {
            actor: self.draft.actor,
            role: Some(what),
            turn: self.draft.turn,
            failure,
        };
        self.perform(ReportFailure {
            request,
            failed,
            is_taken: true,
        })?;
        self.keep_told();
        Ok(())
    }

    pub(super) fn exit(&mut self, runner: &mut dyn Runner, code: u64) -> Result<(), Failure> {
        let exit = Exit {
            code,
            handles: Vec::new(),
            failure: None,
        };
        self.end(runner, exit)?;
        self.clear_jobs()
    }

    /// Replaces all remaining jobs with stopping the actor's facets and ending it, and then with
    /// what [`clear_jobs`](Self::clear_jobs) does.
    pub(super) fn end_next(&mut self, root: FacetId, code: u64) {
        let events = self.take_pending().into_iter().rev();
        let events = events.filter(|job| matches!(job, Job::Deliver { .. }));
        self.jobs = events.chain([Job::Exit { code }, Job::Stop(root)]).collect();
    }

    /// Returns the failure of the acting actor, unless another actor receives it.
    ///
    /// Only the procedure that the spawner gave takes a failure. The actor's own exit hooks do not,
    /// because they tidy up after it, whatever its end.
    fn untaken(&self, exit: &Exit) -> Result<Option<ActorFailure>, Failure> {
        let Some(why) = &exit.failure else { return Ok(None) };
        let draft = &self.draft;
        let actor = draft.acting().map_err(failure)?;
        let is_told = draft.state.monitor_of(draft.actor).is_some();
        Ok((!is_told).then(|| ActorFailure {
            actor: draft.actor,
            role: actor.role.as_deref().map(str::to_owned),
            turn: draft.turn,
            failure: why.clone(),
        }))
    }

    /// Ends the actor, reports a failure that no actor takes, and calls the exit hooks with the
    /// actor's outcome. A hook that fails is logged and does not prevent the end.
    fn end(&mut self, runner: &mut dyn Runner, exit: Exit) -> Result<(), Failure> {
        let untaken = self.untaken(&exit)?;
        let actor = self.draft.acting().map_err(failure)?;
        let root = actor.root;
        let hooks: Vec<Callable> = actor.exit_hooks.iter().map(|hook| hook.procedure).collect();
        let outcome = Argument::Ended(exit.code, exit.failure.clone());
        if actor.is_peer() {
            self.bid_farewell(exit.failure.as_ref())?;
        }
        self.perform(exit).map_err(failure)?;
        if let Some(failed) = untaken {
            self.report(failed)?;
        }
        for procedure in hooks {
            let argument = Some(outcome.clone());
            let fiber = self.handler_fiber(root);
            self.current = Some(fiber);
            let fault = match self.run_task(runner, fiber, Task::Call { procedure, argument }) {
                End::Finished { .. } | End::Exit { .. } => continue,
                End::Parked { .. } => "it waits or runs too long".to_owned(),
                End::Failed(failure) if failure.is_from_outside() => return Err(failure),
                End::Failed(failure) => failure.to_string(),
            };
            self.note(format!("an exit hook did not come to its end: {fault}"))
                .map_err(failure)?;
        }
        // A hook's failure does not fail the turn.
        self.current = None;
        Ok(())
    }

    /// Ends the actor in a turn of its own, after its actions were undone.
    pub(crate) fn crash(&mut self, runner: &mut dyn Runner, exit: Exit) -> Result<(), Failure> {
        self.end(runner, exit)?;
        self.clear_jobs()
    }
}
