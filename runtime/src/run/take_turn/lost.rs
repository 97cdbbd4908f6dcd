//! What the failure of a turn concerns: the lost events, and the fibers that end with them.
//!
//! INVARIANT: the state is the one from before the turn.
//! It changes nothing; `../take_turn.rs` does.
//! Read next: `../../state/loss.rs`.

use crate::action::Action;
use crate::action::exit::MAIN;
use crate::model::identity::FiberId;
use crate::record::{Attempt, TurnRecord};
use crate::run::Run;
use crate::run::take_turn::is_evaluation;
use crate::state::event::Cause;

impl Run {
    /// Finds the guarded fibers whose guards take the failure of a turn: none, if something else
    /// may have failed.
    pub(super) fn guarded(&self, turn: &TurnRecord, lost: Option<u64>) -> Vec<FiberId> {
        let Some(actor) = self.state.actor(turn.actor) else {
            return Vec::new();
        };
        let events = (0..).zip(&turn.events);
        let lost = events.filter(|(at, _)| lost.is_none_or(|lost| lost == *at));
        let fibers: Option<Vec<FiberId>> = lost.map(|(_, event)| actor.guarded(event)).collect();
        fibers.unwrap_or_default()
    }

    /// Finds the fibers that end with the lost events of a turn and that use facets, which stop
    /// with them.
    pub(super) fn users(&self, turn: &TurnRecord, lost: Option<u64>) -> Vec<FiberId> {
        let Some(actor) = self.state.actor(turn.actor) else {
            return Vec::new();
        };
        let events = (0..).zip(&turn.events);
        let lost = events.filter(|(at, _)| lost.is_none_or(|lost| lost == *at));
        let woken = lost.filter_map(|(_, event)| actor.woken(event));
        woken
            .filter(|fiber| actor.facets.values().any(|facet| facet.user == Some(*fiber)))
            .collect()
    }

    /// Lists the tools that the lost events of a turn have called in vain, each with the guarded
    /// fiber that the event woke.
    pub(super) fn refused_calls(&self, turn: &TurnRecord, lost: Option<u64>) -> Vec<(String, Option<FiberId>)> {
        let is_lost = |attempt: &&Attempt| lost.is_none() || attempt.event == lost;
        let calls = turn.attempts.iter().filter(is_lost).flat_map(|attempt| {
            let fibers = attempt.event.map(|event| self.guarded(turn, Some(event)));
            let fiber = fibers.and_then(|fibers| fibers.first().copied());
            let tools = attempt.actions.iter().filter_map(Action::call);
            tools.map(move |call| (call.tool.clone(), fiber))
        });
        calls.collect()
    }

    /// Says whether a turn is one of a session, also while the turn with its first text is undone.
    pub(super) fn is_session(&self, turn: &TurnRecord) -> bool {
        let is_evaluation = || turn.events.iter().any(is_evaluation);
        turn.actor == MAIN && (self.state.is_session || is_evaluation()) && self.state.actor(MAIN).is_some()
    }

    /// Says whether a handler of the main program failed at the words of others, or of somebody
    /// outside, also after it has waited, in a run that has clients: nobody's words must end the
    /// run for all.
    pub(super) fn is_set_off_by_others(&self, turn: &TurnRecord, lost: Option<u64>) -> bool {
        let Some(main) = self.state.actor(MAIN).filter(|_| turn.actor == MAIN) else {
            return false;
        };
        let events = (0..).zip(&turn.events);
        let mut lost = events.filter(|(at, _)| lost.is_none_or(|lost| lost == *at));
        let is_told = turn.cause != (Cause::Start {});
        self.state.has_clients() && lost.all(|(_, event)| main.is_served(event) || (is_told && event.is_of_dataspace()))
    }
}
