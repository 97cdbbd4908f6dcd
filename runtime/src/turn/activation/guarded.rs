//! Guarded fibers: their fuel, their failures, and their end before their work is done.
//!
//! INVARIANT: a guard is called at most once, and only for a fiber that has ended.
//! It does not undo the turn that failed; `../../run/take_turn.rs` does.
//! Read next: `../../run/take_turn.rs`.

use super::{Activation, Current, Job, failure};
use crate::action::{Cancel, SpawnGuarded};
use crate::model::failure::Failure;
use crate::model::identity::{Callable, FiberId};
use crate::state::actor::{FiberKind, Guard};
use crate::state::draft::Callables;
use crate::state::event::Event;
use crate::state::refusal::Refusal;
use crate::turn::task::{Argument, End, Task, Until};

/// The number of slices of a guarded fiber for one of a main program.
const GUARDED_SLICES: u64 = 10;

impl Activation {
    /// Makes a fiber in the current facet, which runs after the current one has parked. If a turn
    /// of the fiber fails, the turn is undone and the fiber ends; then `guard` is called with the
    /// failure, and the actor lives on. `fuel` limits the fiber's whole life.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`].
    pub(crate) fn spawn_guarded(
        &mut self,
        procedure: Callable,
        guard: Callable,
        fuel_max: Option<u64>,
    ) -> Result<FiberId, Refusal> {
        let (fiber, facet) = (self.draft.state.counters.fiber(), self.facet());
        self.draft.callables = Callables::from_iter([guard]);
        self.perform(SpawnGuarded { fiber, facet, fuel_max })?;
        let fiber_of = Current {
            fiber,
            facet,
            kind: FiberKind::Guarded {},
            event: self.event,
        };
        let task = Task::CallOnce { procedure };
        self.later.push_back(Job::Run { fiber: fiber_of, task });
        Ok(fiber)
    }

    /// Ends a guarded fiber that is parked, and the facets that it uses; its guard is not called.
    ///
    /// # Errors
    /// [`Refusal::NoFiber`], [`Refusal::Pure`].
    pub fn cancel(&mut self, fiber: FiberId) -> Result<(), Refusal> {
        self.perform(Cancel { fiber })?;
        self.stop_used_by(&[fiber]);
        Ok(())
    }

    /// Ends the evaluations of texts that are parked, and the facets that they use.
    pub(super) fn abandon(&mut self) -> Result<bool, Failure> {
        let abandoned = self.draft.abandon_interactions().map_err(failure)?;
        self.stop_used_by(&abandoned);
        Ok(!abandoned.is_empty())
    }

    /// Stops the facets that fibers use which have been ended before their work was done; returns
    /// whether there were any.
    fn stop_used_by(&mut self, fibers: &[FiberId]) -> bool {
        let Ok(actor) = self.draft.acting() else { return false };
        let is_used = |user: Option<FiberId>| user.is_some_and(|user| fibers.contains(&user));
        let used = actor.facets.iter().filter(|(_, facet)| is_used(facet.user));
        let stops: Vec<Job> = used.map(|(id, _)| Job::Stop(*id)).collect();
        let has_some = !stops.is_empty();
        self.jobs.extend(stops.into_iter().rev());
        has_some
    }

    /// Tells the actor of fibers that have failed while it lives on.
    pub(crate) fn tell_failed(&mut self, fibers: &[FiberId], why: &Failure) {
        for fiber in fibers {
            let (fiber, failure) = (*fiber, why.clone());
            self.draft
                .outbox
                .push(self.draft.actor, Event::Failed { fiber, failure });
        }
    }

    /// Returns the fuel after which a guarded fiber commits. It is less than that of a main
    /// program, because an actor may have many such fibers, and others must not wait long.
    pub(super) fn guarded_fuel(&self, fiber: FiberId) -> u64 {
        let left = self.guard(fiber).and_then(|guard| guard.fuel_left);
        let slice = (self.limits.slice_fuel / GUARDED_SLICES).max(1);
        left.map_or(slice, |left| left.min(slice))
    }

    /// Returns the fuel beyond what it is granted at once that a guarded fiber has for its life, if
    /// that is limited.
    pub(super) fn guarded_debt(&self, fiber: FiberId, granted: u64) -> Option<u64> {
        let left = self.guard(fiber)?.fuel_left?;
        Some(left.saturating_sub(granted))
    }

    pub(super) fn guard(&self, fiber: FiberId) -> Option<&Guard> {
        self.acting()?.guards.get(&fiber)
    }

    /// Takes the used fuel from what is left to a guarded fiber; it fails if it needs more.
    pub(super) fn spend(&mut self, fiber: FiberId, used: u64, end: End) -> End {
        let Some(left) = self.guard(fiber).and_then(|guard| guard.fuel_left) else {
            return end;
        };
        let left = left.saturating_sub(used);
        let is_out = |end: &End| matches!(end, End::Parked { until: Until::Fuel, .. });
        if left == 0 && is_out(&end) {
            let message = "the fiber has used all the fuel that it was given";
            return End::Failed(Failure::new("out-of-fuel", message));
        }
        if let Ok(actor) = self.draft.acting_mut()
            && let Some(guard) = actor.guards.get_mut(&fiber)
        {
            guard.fuel_left = Some(left);
        }
        end
    }

    /// Stops the facets that a failed fiber uses, and calls its guard, unless the guard's facet has
    /// stopped.
    pub(super) fn tell_guard(&mut self, fiber: FiberId, why: Failure) -> Result<bool, Failure> {
        let has_stopped = self.stop_used_by(&[fiber]);
        let Some(guard) = self.draft.fail_guarded(fiber).map_err(failure)? else {
            return Ok(has_stopped);
        };
        let fiber = self.handler_fiber(guard.facet);
        let task = Task::Call {
            procedure: guard.procedure,
            argument: Some(Argument::Failed(why)),
        };
        self.jobs.push(Job::Run { fiber, task });
        Ok(true)
    }
}
