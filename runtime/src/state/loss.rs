//! The loss of an event in a session, or of one that woke a guarded fiber: its consequences failed
//! and were undone, and the actor lives on.
//!
//! INVARIANT: a lost event wakes nobody again: the fiber that it was to wake has ended, and the
//! answer that it brought counts as received.
//! It does not choose the event; `../run/take_turn.rs` does.
//! Read next: `draft.rs`.

use super::draft::Draft;
use super::event::{Event, Subject};
use super::refusal::Refusal;
use crate::model::identity::FiberId;
use crate::state::actor::{Actor, Condition, FiberKind};

impl Draft {
    /// Loses an event: ends the parked fiber that it was to wake, with its waits.
    ///
    /// # Errors
    /// [`Refusal::NoActor`].
    pub(crate) fn lose(&mut self, event: &Event) -> Result<(), Refusal> {
        let fiber = self.acting()?.woken(event);
        if let Event::Answered { request, outcome } = event
            && let Some(request) = self.unanswered(*request)
        {
            // An open request would be made again after a restart.
            request.answer = Some(outcome.clone());
        }
        match fiber {
            Some(fiber) => self.end_fiber(fiber),
            None => Ok(()),
        }
    }
}

impl Actor {
    /// Finds the parked fiber that an event wakes.
    pub(crate) fn woken(&self, event: &Event) -> Option<FiberId> {
        let waits_for = |is_it: &dyn Fn(&Condition) -> bool| {
            let mut waits = self.waits.values();
            waits
                .find(|wait| wait.conditions.iter().any(is_it))
                .map(|wait| wait.fiber)
        };
        match (event.subject(), event) {
            (Subject::Match(sought), _) => waits_for(&|condition| match condition {
                Condition::Matching { observer, .. } | Condition::Accepted { observer, .. } => *observer == sought,
                Condition::Answer { .. } => false,
            }),
            (Subject::Fiber(fiber), Event::Resume { .. }) => self.fibers.contains_key(&fiber).then_some(fiber),
            (Subject::Wait(wait), _) => self.waits.get(&wait).map(|wait| wait.fiber),
            (Subject::Request(request), Event::Answered { .. }) => {
                waits_for(&|condition| *condition == Condition::Answer { request })
            }
            (
                Subject::Observer(_)
                | Subject::Facet(_)
                | Subject::Fiber(_)
                | Subject::Request(_)
                | Subject::Actor(_)
                | Subject::Nothing,
                _,
            ) => None,
        }
    }

    /// Whether an event wakes a fiber that another actor has set off.
    pub(crate) fn is_served(&self, event: &Event) -> bool {
        let fiber = self.woken(event).and_then(|fiber| self.fibers.get(&fiber));
        let kind = fiber.map(|fiber| fiber.kind);
        matches!(kind, Some(FiberKind::Served {} | FiberKind::Strand { is_served: true }))
    }

    /// Finds the guarded fiber that an event wakes, or that pays for the strand that it wakes.
    pub(crate) fn guarded(&self, event: &Event) -> Option<FiberId> {
        let woken = self.woken(event)?;
        let kind = self.fibers.get(&woken).map(|fiber| fiber.kind);
        let guarded = match kind {
            Some(FiberKind::Limited { payer }) => payer,
            Some(
                FiberKind::Main {}
                | FiberKind::Handler {}
                | FiberKind::Served {}
                | FiberKind::Strand { .. }
                | FiberKind::Interaction {}
                | FiberKind::Guarded {},
            )
            | None => woken,
        };
        self.guards.contains_key(&guarded).then_some(guarded)
    }
}
