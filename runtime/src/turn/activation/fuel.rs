//! Fibers that others spawn, and the fuel of fibers by their kind: how much a task may use before
//! its turn ends, and who pays.
//!
//! INVARIANT: strands that a fiber with a limit of fuel has spawned pay from that limit, as long as
//! the fiber lives.
//! It does not know what costs fuel; `price.rs` and the machine do.
//! Read next: `guarded.rs`.

use super::{Activation, Current, Job};
use crate::action::SpawnFiber;
use crate::model::identity::{Callable, FacetId, FiberId};
use crate::state::actor::FiberKind;
use crate::state::refusal::Refusal;
use crate::turn::program::Runner;
use crate::turn::task::{End, Task};

/// The fuel that a fiber uses.
enum Purse {
    /// What a guarded fiber has left.
    Guarded(FiberId),
    /// What the turn's handlers share.
    Handlers,
    /// What the turn's strands share.
    Strands,
    /// This much in each turn.
    Own(u64),
}

impl Activation {
    /// Makes a fiber in `facet`, which runs after the current one has parked. Its name is for
    /// people.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`].
    pub fn spawn(&mut self, facet: FacetId, procedure: Callable, name: Option<String>) -> Result<FiberId, Refusal> {
        let fiber = self.draft.state.counters.fiber();
        self.perform(SpawnFiber { fiber, facet, name })?;
        let kind = self.kind_of_strand();
        self.run_later(fiber, facet, kind, procedure);
        Ok(fiber)
    }

    /// Makes a fiber in the current facet that, as a handler, has to wait or end before the fuel of
    /// the turn's handlers is used.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`].
    pub(crate) fn spawn_undivided(&mut self, procedure: Callable) -> Result<FiberId, Refusal> {
        let (fiber, facet) = (self.draft.state.counters.fiber(), self.facet());
        let name = None;
        self.perform(SpawnFiber { fiber, facet, name })?;
        self.run_later(fiber, facet, FiberKind::Handler {}, procedure);
        Ok(fiber)
    }

    fn run_later(&mut self, fiber: FiberId, facet: FacetId, kind: FiberKind, procedure: Callable) {
        let event = self.event;
        let fiber = Current {
            fiber,
            facet,
            kind,
            event,
        };
        let task = Task::CallOnce { procedure };
        self.later.push_back(Job::Run { fiber, task });
    }

    /// Returns the kind of a fiber that the running one spawns.
    fn kind_of_strand(&self) -> FiberKind {
        let strand = |is_served| FiberKind::Strand { is_served };
        let Some(current) = self.current else {
            return strand(false);
        };
        match current.kind {
            FiberKind::Guarded {} if self.is_limited(current.fiber) => FiberKind::Limited { payer: current.fiber },
            FiberKind::Limited { payer } => FiberKind::Limited { payer },
            FiberKind::Served {} | FiberKind::Strand { is_served: true } => strand(true),
            FiberKind::Main {}
            | FiberKind::Handler {}
            | FiberKind::Strand { is_served: false }
            | FiberKind::Interaction {}
            | FiberKind::Guarded {} => strand(false),
        }
    }

    /// Whether a fiber has a limit of fuel.
    fn is_limited(&self, fiber: FiberId) -> bool {
        self.guard(fiber).is_some_and(|guard| guard.fuel_left.is_some())
    }

    /// Runs a task with the fuel that its kind of fiber has.
    pub(super) fn run_task(&mut self, runner: &mut dyn Runner, fiber: Current, task: Task) -> End {
        match self.purse(fiber) {
            Purse::Guarded(payer) => {
                let granted = self.guarded_fuel(payer);
                let debt_max = self.guarded_debt(payer, granted);
                let (end, used) = self.run_with(runner, task, (granted, debt_max));
                self.spend(payer, used, end)
            }
            Purse::Handlers => {
                let (end, used) = self.run_with(runner, task, (self.handler_fuel, Some(0)));
                self.handler_fuel = self.handler_fuel.saturating_sub(used);
                end
            }
            Purse::Strands => {
                let granted = self.guarded_fuel(fiber.fiber).min(self.strand_fuel);
                let (end, used) = self.run_with(runner, task, (granted, None));
                self.strand_fuel = self.strand_fuel.saturating_sub(used);
                end
            }
            Purse::Own(granted) => self.run_with(runner, task, (granted, None)).0,
        }
    }

    /// Returns whose fuel a fiber uses.
    fn purse(&self, fiber: Current) -> Purse {
        match fiber.kind {
            FiberKind::Guarded {} => Purse::Guarded(fiber.fiber),
            FiberKind::Limited { payer } if self.is_limited(payer) => Purse::Guarded(payer),
            FiberKind::Limited { .. } | FiberKind::Handler {} | FiberKind::Served {} => Purse::Handlers,
            FiberKind::Strand { .. } => Purse::Strands,
            // A person undoes an interaction as a whole, so it has the fuel of a whole turn; more
            // would let a turn grow without end.
            FiberKind::Interaction {} => Purse::Own(self.limits.turn_fuel),
            FiberKind::Main {} => Purse::Own(self.limits.slice_fuel),
        }
    }

    /// The guarded fiber from whose fuel a fiber pays, if it does.
    pub(super) fn payer(&self, fiber: Current) -> Option<FiberId> {
        match self.purse(fiber) {
            Purse::Guarded(payer) => Some(payer),
            Purse::Handlers | Purse::Strands | Purse::Own(_) => None,
        }
    }

    /// Whether a fiber has to wait or end before the fuel of the turn's handlers is used.
    pub(super) fn is_in_one_turn(&self, fiber: Current) -> bool {
        matches!(self.purse(fiber), Purse::Handlers)
    }

    /// Runs a task with this much fuel; it may owe so much, if that is limited. Returns its end and
    /// the fuel that it has used.
    pub(super) fn run_with(&mut self, runner: &mut dyn Runner, task: Task, allowed: (u64, Option<u64>)) -> (End, u64) {
        let granted = i64::try_from(allowed.0).unwrap_or(i64::MAX);
        (self.fuel, self.debt_max) = (granted, allowed.1);
        let end = runner.run(task, self);
        let used = granted.saturating_sub(self.fuel).unsigned_abs();
        self.turn.fuel += used;
        (end, used)
    }
}
