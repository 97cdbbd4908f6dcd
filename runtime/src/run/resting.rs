//! A run that has nothing to do: its outcome, and the turns that still come after its end.
//!
//! INVARIANT: a run that has ended takes only the turns of actors that end with it.
//! It does not drive the run. Read next: `../run.rs`.

use duet_journal::{Need, Taken};

use super::Run;
use super::outcome::DriveOutcome;
use crate::action::exit::MAIN;
use crate::model::identity::RequestId;
use crate::model::manifest::{Extent, Right};
use crate::state::actor::Condition;
use crate::state::event::{Batch, Event};

impl Run {
    /// Returns the outcome of a run that has nothing to do and expects no input.
    pub fn outcome(&self) -> DriveOutcome {
        let questions: Vec<RequestId> = self.open_questions().iter().map(|open| open.request).collect();
        let fibers = self.state.actors.values().map(|actor| actor.fibers.len()).sum();
        match (questions.is_empty(), fibers) {
            (false, _) => DriveOutcome::Asking { questions },
            (true, 0) => DriveOutcome::Ended {
                code: self.state.exit_code(0),
            },
            (true, fibers) if self.is_open_to_others() || self.awaits_webhooks() => DriveOutcome::Waiting { fibers },
            (true, fibers) => DriveOutcome::Stuck { fibers },
        }
    }

    /// Returns what the run needs before it can take its next turn: an owner, as long as it has
    /// something to do or a tool is at work; else its earliest deadline; else somebody's input.
    pub fn need(&self) -> Need {
        let state = &self.state;
        if !state.queue.is_empty() {
            return Need::OWNER;
        }
        if state.exit.is_some() {
            return Need::Nothing;
        }
        if !self.inbox.inputs.is_empty() {
            return Need::OWNER;
        }
        if state.open().needs_owner() {
            return Need::OWNER;
        }
        let is_waiting = || state.actors.values().any(|actor| !actor.fibers.is_empty());
        match state.open().earliest_ms() {
            Some(at_ms) => Need::Moment(at_ms),
            None if state.open().needs_input() || is_waiting() => Need::Input,
            None => Need::Nothing,
        }
    }

    /// Notes that the records which are not durable yet have heard a letter.
    pub fn hear(&mut self, letter: Taken) {
        self.unflushed.hear(letter);
    }

    /// Returns whether any of its records is durable.
    pub fn is_begun(&self) -> bool {
        self.durable.is_some()
    }

    /// Returns the number of effects that turns have requested and that were not handed out.
    pub fn effects_owed(&self) -> usize {
        self.unflushed.effects().len()
    }

    /// Returns whether a fiber waits for a fact or a message, which others can give in the name of
    /// the main program, if that may. Where actors have failed, their facts are what is missing.
    fn is_open_to_others(&self) -> bool {
        let may = |right| {
            let main = self.state.actor(MAIN);
            main.is_some_and(|main| main.manifest.extent(right) != Extent::Nothing)
        };
        let mut waits = self.state.actors.values().flat_map(|actor| actor.waits.values());
        self.state.untaken.count == 0
            && (may(Right::Assert) || may(Right::Message))
            && waits.any(|wait| wait.conditions.iter().any(Condition::is_of_dataspace))
    }

    /// Returns whether the run waits for requests that workers receive.
    fn awaits_webhooks(&self) -> bool {
        self.state
            .requests
            .values()
            .any(|request| request.inbox_name().is_some())
    }

    /// Drops what waits for turns that a run which has ended does not take: all but those of actors
    /// that end with the main program, and tidy up.
    pub(crate) fn keep_endings(&mut self) {
        let is_ending = |batch: &Batch| batch.events.iter().any(|event| matches!(event, Event::Terminate {}));
        if self.state.exit.is_some() && !self.state.queue.iter().all(is_ending) {
            self.state.queue.retain(is_ending);
        }
    }
}
