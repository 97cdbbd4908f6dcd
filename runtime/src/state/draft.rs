//! A draft of the state after a turn: what its actions are performed on.
//!
//! INVARIANT: nothing outside the draft changes before the turn commits; the state in it notes what each change replaces, so undoing a turn
//! needs no inverse of any action.
//! It decides nothing: whether an action may be performed is for the action to check and the gate to judge.
//! Read next: `action.rs`.

use std::sync::Arc;

use duet_journal::{BlobHash, RecordHash};
use smallvec::SmallVec;

use crate::model::identity::RequestId;
use crate::model::identity::{ActorId, Callable, FacetId, FiberId, Handle, Namer, ObserverId, WaitId};
use crate::model::value::Fact;
use crate::state::RunState;
use crate::state::actor::{Actor, Condition, Facet, Fiber, FiberKind, Monitor, Target};
use crate::state::event::Outbox;
use crate::state::refusal::Refusal;
use crate::state::request::Request;

/// The history that leads to a turn; becomes text only where an effect needs a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// The branch that the turn is written on, by hash: branches that begin at one turn ask for things of their own.
    pub branch: Option<BlobHash>,
    /// The newest record before it.
    pub newest: Option<RecordHash>,
    /// What the world says in it, by hash: branches that part at an answer share every record before it.
    pub said: Option<BlobHash>,
}

impl std::fmt::Display for Lineage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.branch.iter().try_for_each(|hash| write!(formatter, "{hash}/"))?;
        self.newest.iter().try_for_each(|hash| write!(formatter, "{hash}"))?;
        self.said.iter().try_for_each(|hash| write!(formatter, "/{hash}"))
    }
}

/// The state as one actor's turn is changing it.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The state, with the actions so far performed.
    pub state: Box<RunState>,
    /// Whose turn it is.
    pub actor: ActorId,
    /// What the turn sends.
    pub outbox: Outbox,
    /// Names what leaves the run as text.
    pub names: Namer,
    /// The newest record of the history that the turn stands on: it qualifies the keys of requests.
    pub lineage: Lineage,
    /// Procedures and continuations for the next action, in the order in which it takes them. They stay out of the record.
    pub callables: Callables,
}

/// Procedures and continuations in a row; mostly one.
#[derive(Clone, Debug, Default)]
pub struct Callables {
    row: SmallVec<[Callable; 2]>,
    taken: usize,
}

impl Callables {
    /// Adds one at the end.
    pub(crate) fn add(&mut self, callable: Callable) {
        self.row.push(callable);
    }

    /// Takes the first.
    fn take(&mut self) -> Option<Callable> {
        let first = self.row.get(self.taken).copied();
        self.taken += usize::from(first.is_some());
        first
    }
}

impl FromIterator<Callable> for Callables {
    fn from_iter<T: IntoIterator<Item = Callable>>(callables: T) -> Self {
        Self {
            row: callables.into_iter().collect(),
            taken: 0,
        }
    }
}

impl Draft {
    /// Begins a draft of what `actor` makes of `state`.
    pub fn new(state: Box<RunState>, actor: ActorId, names: Namer, lineage: Lineage) -> Self {
        Self {
            state,
            actor,
            outbox: Outbox::default(),
            names,
            lineage,
            callables: Callables::default(),
        }
    }

    /// Forgets what the turn sends, was to take and stands on; the state stays what it is.
    pub(crate) fn forget(&mut self) {
        self.outbox.clear();
        self.lineage = Lineage::default();
        self.callables = Callables::default();
    }

    /// Returns the acting actor.
    ///
    /// # Errors
    /// [`Refusal::NoActor`].
    pub(crate) fn acting(&self) -> Result<&Actor, Refusal> {
        // An error that is not made need not be dropped: this is asked several times in each turn.
        let Some(actor) = self.state.actor(self.actor) else {
            return Err(Refusal::NoActor(self.actor));
        };
        Ok(actor)
    }

    /// Returns the acting actor to change it.
    ///
    /// # Errors
    /// [`Refusal::NoActor`].
    pub(crate) fn acting_mut(&mut self) -> Result<&mut Actor, Refusal> {
        let Some(actor) = self.state.actor_mut(self.actor) else {
            return Err(Refusal::NoActor(self.actor));
        };
        Ok(actor)
    }

    /// Returns a live facet of the acting actor.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::NoActor`].
    pub(crate) fn facet(&self, facet: FacetId) -> Result<&Facet, Refusal> {
        let Some(found) = self.acting()?.facets.get(&facet) else {
            return Err(Refusal::NoFacet(facet));
        };
        Ok(found)
    }

    /// Returns a live facet of the acting actor to change it.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::NoActor`].
    pub(crate) fn facet_mut(&mut self, facet: FacetId) -> Result<&mut Facet, Refusal> {
        let Some(found) = self.acting_mut()?.facets.get_mut(&facet) else {
            return Err(Refusal::NoFacet(facet));
        };
        Ok(found)
    }

    /// Returns the key under which the world recognises a repetition of a request: unique to the run and to the history it stands on.
    pub(crate) fn key(&self, request: RequestId) -> String {
        let lineage = self.lineage;
        self.names.name(&format!("effect/{lineage}"), request.0)
    }

    /// Takes the next procedure or continuation.
    ///
    /// # Errors
    /// [`Refusal::NoCallable`].
    pub(crate) fn take_callable(&mut self) -> Result<Callable, Refusal> {
        self.callables.take().ok_or(Refusal::NoCallable)
    }

    /// Asserts `fact` under `handle` for a facet of the acting actor.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`].
    pub(crate) fn hold(&mut self, facet: FacetId, handle: Handle, fact: Fact) -> Result<(), Refusal> {
        self.facet_mut(facet)?.handles.insert(handle);
        let held = crate::state::request::Held {
            actor: self.actor,
            facet,
            fact,
        };
        self.state.hold(handle, held, &mut self.outbox);
        Ok(())
    }

    /// Puts a fiber away, with the next callable as its continuation.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::NoCallable`].
    pub(crate) fn park(&mut self, id: FiberId, facet: FacetId, kind: FiberKind) -> Result<(), Refusal> {
        let continuation = self.take_callable()?;
        let fiber = Fiber {
            facet,
            kind,
            continuation,
        };
        let actor = self.acting_mut()?;
        let Some(found) = actor.facets.get_mut(&facet) else {
            return Err(Refusal::NoFacet(facet));
        };
        found.fibers.insert(id);
        actor.fibers.insert(id, fiber);
        Ok(())
    }

    /// Returns a request that waits for its answer.
    pub(crate) fn unanswered(&mut self, id: RequestId) -> Option<&mut Request> {
        let request = self.state.requests.get_mut(&id);
        request.filter(|request| request.answer.is_none())
    }

    /// Takes a fiber out again, to run it.
    ///
    /// # Errors
    /// [`Refusal::NoFiber`].
    pub(crate) fn unpark(&mut self, id: FiberId) -> Result<Fiber, Refusal> {
        let actor = self.acting_mut()?;
        let Some(fiber) = actor.fibers.remove(&id) else {
            return Err(Refusal::NoFiber(id));
        };
        let Some(facet) = actor.facets.get_mut(&fiber.facet) else {
            return Err(Refusal::NoFacet(fiber.facet));
        };
        facet.fibers.remove(&id);
        Ok(fiber)
    }

    /// Ends a parked fiber, what it waits for included.
    ///
    /// # Errors
    /// [`Refusal::NoFiber`].
    pub(crate) fn end_fiber(&mut self, id: FiberId) -> Result<(), Refusal> {
        let fiber = self.unpark(id)?;
        self.outbox.released.push(fiber.continuation);
        let is_its = |(wait, state): (&WaitId, &Arc<crate::state::actor::Wait>)| (state.fiber == id).then_some(*wait);
        let waits: Vec<WaitId> = self.acting()?.waits.iter().filter_map(is_its).collect();
        for wait in waits {
            for condition in &self.end_wait(wait)?.conditions {
                match condition {
                    Condition::Answer { request } => self.forget_request(*request),
                    Condition::Matching { .. } | Condition::Accepted { .. } => {}
                }
            }
        }
        Ok(())
    }

    /// Ends the interactions that are parked; says whether there were any.
    ///
    /// # Errors
    /// [`Refusal::NoActor`].
    pub(crate) fn abandon_interactions(&mut self) -> Result<bool, Refusal> {
        let is_interaction =
            |(id, fiber): (&FiberId, &Fiber)| (fiber.kind == (FiberKind::Interaction {})).then_some(*id);
        let fibers: Vec<FiberId> = self.acting()?.fibers.iter().filter_map(is_interaction).collect();
        for fiber in &fibers {
            self.end_fiber(*fiber)?;
        }
        Ok(!fibers.is_empty())
    }

    /// Forgets an observer, whose `Observe` fact is retracted by the caller.
    pub(crate) fn forget_observer(&mut self, id: ObserverId) -> Result<(), Refusal> {
        let observer = self
            .acting_mut()?
            .observers
            .remove(&id)
            .ok_or(Refusal::NoObserver(id))?;
        if let Ok(facet) = self.facet_mut(observer.facet) {
            facet.observers.remove(&id);
        }
        match observer.target {
            Target::Handler { procedure } | Target::Predicate { procedure, .. } => self.outbox.released.push(procedure),
            Target::Wait { .. } => {}
        }
        Ok(())
    }

    /// Forgets a wait and its observers, and retracts their `Observe` facts. The fiber stays parked.
    ///
    /// # Errors
    /// [`Refusal::NoWait`].
    pub(crate) fn end_wait(&mut self, id: WaitId) -> Result<Arc<crate::state::actor::Wait>, Refusal> {
        let wait = self.forget_wait(id)?;
        self.facet_mut(wait.facet)?.waits.remove(&id);
        for condition in &wait.conditions {
            match condition {
                Condition::Matching { observer, handle, .. } | Condition::Accepted { observer, handle, .. } => {
                    self.forget_observer(*observer)?;
                    self.state.release(*handle, &mut self.outbox);
                }
                Condition::Answer { .. } => {}
            }
        }
        Ok(wait)
    }

    /// Forgets the time limit of a proposal, if it has one.
    pub(crate) fn forget_limit(&mut self, proposal: RequestId) {
        let requests = &self.state.requests;
        let limits = |id: &&RequestId| {
            let request = requests.get(id);
            request.is_some_and(|request| request.question.limits() == Some(proposal))
        };
        // It is made right after the proposal, for the same facet.
        let facet = requests.get(&proposal).map(|proposal| proposal.facet);
        let facet = self.acting().ok().zip(facet);
        let facet = facet.and_then(|(actor, facet)| actor.facets.get(&facet));
        let limit = facet.and_then(|facet| facet.requests.range(proposal..).find(limits).copied());
        if let Some(limit) = limit {
            self.forget_request(limit);
        }
    }

    /// Forgets a wait, and nothing that belongs to it.
    ///
    /// # Errors
    /// [`Refusal::NoWait`].
    pub(crate) fn forget_wait(&mut self, id: WaitId) -> Result<Arc<crate::state::actor::Wait>, Refusal> {
        let actor = self.acting_mut()?;
        let wait = actor.waits.remove(&id).ok_or(Refusal::NoWait(id))?;
        for condition in &wait.conditions {
            if let Condition::Answer { request } = condition {
                actor.awaited.remove(&(*request, id));
            }
        }
        Ok(wait)
    }

    /// Takes the procedure that is to be told of another actor's end.
    ///
    /// # Errors
    /// [`Refusal::NoActor`].
    pub(crate) fn take_monitor(&mut self, other: ActorId) -> Result<Option<Monitor>, Refusal> {
        let actor = self.acting_mut()?;
        let monitor = actor.monitors.remove(&other);
        if let Some(facet) = monitor.and_then(|monitor| actor.facets.get_mut(&monitor.facet)) {
            facet.monitored.remove(&other);
        }
        Ok(monitor)
    }

    /// Forgets a request, and withdraws it if it is not answered.
    pub(crate) fn forget_request(&mut self, id: RequestId) {
        let Some(request) = self.state.requests.remove(&id) else {
            return;
        };
        if let Ok(facet) = self.facet_mut(request.facet) {
            facet.requests.remove(&id);
        }
        if let Some(handle) = request.handle {
            self.state.release(handle, &mut self.outbox);
        }
        if request.answer.is_none() {
            self.outbox.withdrawn.push(id);
        }
    }
}
