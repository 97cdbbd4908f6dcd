//! A draft of the state after a turn, which the turn's actions change.
//!
//! INVARIANT: nothing outside the draft changes before the turn commits; its state keeps an undo
//! log, so undoing a turn needs no inverse of any action.
//! It decides nothing: each action checks whether it can be performed, and the gate judges whether
//! it may.
//! Read next: `../action.rs`.

use duet_journal::{BlobHash, RecordHash, Sequence};
use smallvec::SmallVec;

use crate::model::identity::{ActorId, Callable, FacetId, FiberId, Handle, Namer, ObserverId, RequestId, WaitId};
use crate::model::value::Fact;
use crate::state::RunState;
use crate::state::actor::{Actor, Condition, Facet, Fiber, FiberKind, Guard, Monitor, Target};
use crate::state::event::{Event, Outbox};
use crate::state::refusal::Refusal;
use crate::state::request::{Question, Request};

/// The history that leads to a turn; it becomes text only for the key of an effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// The hash of the turn's branch: branches that begin at the same turn make requests with
    /// different keys.
    pub branch: Option<BlobHash>,
    /// The newest record before the turn.
    pub newest: Option<RecordHash>,
    /// The hash of the world's input to the turn: branches that part at an answer share every
    /// record before it.
    pub said: Option<BlobHash>,
}

impl std::fmt::Display for Lineage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.branch.iter().try_for_each(|hash| write!(formatter, "{hash}/"))?;
        self.newest.iter().try_for_each(|hash| write!(formatter, "{hash}"))?;
        self.said.iter().try_for_each(|hash| write!(formatter, "/{hash}"))
    }
}

/// The state during one actor's turn.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The state after the actions performed so far.
    pub state: Box<RunState>,
    /// The actor that takes the turn.
    pub actor: ActorId,
    /// The position that the turn's record will have.
    pub turn: Sequence,
    /// The events that the turn sends.
    pub outbox: Outbox,
    /// The names of things that leave the run as text.
    pub names: Namer,
    /// The history that the turn builds on; it makes the keys of requests unique.
    pub lineage: Lineage,
    /// Procedures and continuations for the next action, in the order in which it takes them.
    /// Records do not contain them.
    pub callables: Callables,
}

/// A queue of procedures and continuations; mostly one.
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

    /// Takes all that are left.
    pub(crate) fn take_rest(&mut self) -> impl Iterator<Item = Callable> {
        let rest = self.row.get(self.taken..).unwrap_or_default();
        let rest: SmallVec<[Callable; 2]> = rest.iter().copied().collect();
        self.taken = self.row.len();
        rest.into_iter()
    }

    /// Takes the first one.
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
    /// Begins a draft of a turn that `actor` takes in `state`.
    pub fn new(state: Box<RunState>, actor: ActorId, names: Namer, lineage: Lineage) -> Self {
        Self {
            state,
            actor,
            turn: Sequence::FIRST,
            outbox: Outbox::default(),
            names,
            lineage,
            callables: Callables::default(),
        }
    }

    /// Clears everything but the state.
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
        // `ok_or` would build and drop an error each time, and each turn calls this several times.
        let Some(actor) = self.state.actor(self.actor) else {
            return Err(Refusal::NoActor(self.actor));
        };
        Ok(actor)
    }

    /// Returns the acting actor, to change it.
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

    /// Returns a live facet of the acting actor, to change it.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::NoActor`].
    pub(crate) fn facet_mut(&mut self, facet: FacetId) -> Result<&mut Facet, Refusal> {
        let Some(found) = self.acting_mut()?.facets.get_mut(&facet) else {
            return Err(Refusal::NoFacet(facet));
        };
        Ok(found)
    }

    /// Returns the key by which the world recognises a repeated request: unique to the run and the
    /// history.
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
    /// [`Refusal::NoFacet`], [`Refusal::TooManyFacts`].
    pub(crate) fn hold(&mut self, facet: FacetId, handle: Handle, fact: Fact) -> Result<(), Refusal> {
        let actor = self.acting()?;
        if let Some(facts_max) = actor.facts_max
            && actor.facts() >= facts_max
        {
            return Err(Refusal::TooManyFacts(facts_max));
        }
        self.facet_mut(facet)?.handles.insert(handle);
        let held = crate::state::request::Held {
            actor: self.actor,
            facet,
            fact,
        };
        self.state.hold(handle, held, &mut self.outbox);
        Ok(())
    }

    /// Parks a fiber with the next callable as its continuation.
    ///
    /// # Errors
    /// [`Refusal::NoFacet`], [`Refusal::NoCallable`].
    pub(crate) fn park(&mut self, id: FiberId, facet: FacetId, kind: FiberKind) -> Result<(), Refusal> {
        let continuation = self.take_callable()?;
        let fiber = Fiber {
            facet,
            kind,
            continuation,
            sleep: None,
        };
        let actor = self.acting_mut()?;
        let Some(found) = actor.facets.get_mut(&facet) else {
            return Err(Refusal::NoFacet(facet));
        };
        found.fibers.insert(id);
        actor.fibers.insert(id, fiber);
        Ok(())
    }

    /// Returns a request without an answer.
    pub(crate) fn unanswered(&mut self, id: RequestId) -> Option<&mut Request> {
        let request = self.state.requests.get_mut(&id);
        request.filter(|request| request.answer.is_none())
    }

    /// Removes a parked fiber, to run it.
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
        if let Some(followed) = fiber.follows() {
            actor.followers.remove(&(followed, id));
        }
        Ok(fiber)
    }

    /// Removes a parked fiber that does not go on, and wakes those that follow it.
    ///
    /// # Errors
    /// [`Refusal::NoFiber`].
    pub(crate) fn drop_fiber(&mut self, id: FiberId) -> Result<(), Refusal> {
        let fiber = self.unpark(id)?;
        self.outbox.released.push(fiber.continuation);
        let followers = self.acting()?.followers.range((id, FiberId(0))..);
        let followers = followers.take_while(|(followed, _)| *followed == id);
        let followers: Vec<FiberId> = followers.map(|(_, follower)| *follower).collect();
        for fiber in followers {
            self.outbox.push(self.actor, Event::Resume { fiber });
        }
        Ok(())
    }

    /// Ends a parked fiber, its waits and the requests that they wait for.
    ///
    /// # Errors
    /// [`Refusal::NoFiber`].
    pub(crate) fn end_fiber(&mut self, id: FiberId) -> Result<(), Refusal> {
        self.drop_fiber(id)?;
        let is_its = |(wait, state): (&WaitId, &crate::state::actor::Wait)| (state.fiber == id).then_some(*wait);
        let waits: Vec<WaitId> = self.acting()?.waits.iter().filter_map(is_its).collect();
        for wait in waits {
            for condition in self.end_wait(wait)?.conditions.iter() {
                match condition {
                    Condition::Answer { request } => self.forget_request(*request),
                    Condition::Matching { .. } | Condition::Accepted { .. } => {}
                }
            }
        }
        Ok(())
    }

    /// Removes the guard of a fiber that has ended.
    ///
    /// # Errors
    /// [`Refusal::NoActor`].
    pub(crate) fn take_guard(&mut self, fiber: FiberId) -> Result<Option<Guard>, Refusal> {
        let guard = self.acting_mut()?.guards.remove(&fiber);
        self.outbox.released.extend(guard.as_ref().map(|guard| guard.procedure));
        Ok(guard)
    }

    /// Removes the guard of a fiber that has failed, and ends the fiber if it is parked because one
    /// of its strands has failed in its place.
    ///
    /// # Errors
    /// [`Refusal::NoActor`].
    pub(crate) fn fail_guarded(&mut self, fiber: FiberId) -> Result<Option<Guard>, Refusal> {
        let guard = self.take_guard(fiber)?;
        if guard.is_some() && self.acting()?.fibers.contains_key(&fiber) {
            self.end_fiber(fiber)?;
        }
        Ok(guard)
    }

    /// Ends the parked interactions and returns them.
    ///
    /// # Errors
    /// [`Refusal::NoActor`].
    pub(crate) fn abandon_interactions(&mut self) -> Result<Vec<FiberId>, Refusal> {
        let is_interaction =
            |(id, fiber): (&FiberId, &Fiber)| (fiber.kind == (FiberKind::Interaction {})).then_some(*id);
        let fibers: Vec<FiberId> = self.acting()?.fibers.iter().filter_map(is_interaction).collect();
        for fiber in &fibers {
            self.end_fiber(*fiber)?;
        }
        Ok(fibers)
    }

    /// Removes an observer; the caller retracts its `Observe` fact.
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
            Target::Wait { .. } | Target::Peer { .. } => {}
        }
        Ok(())
    }

    /// Removes a wait and its observers, and retracts their `Observe` facts. The fiber stays
    /// parked.
    ///
    /// # Errors
    /// [`Refusal::NoWait`].
    pub(crate) fn end_wait(&mut self, id: WaitId) -> Result<crate::state::actor::Wait, Refusal> {
        let wait = self.forget_wait(id)?;
        self.facet_mut(wait.facet)?.waits.remove(&id);
        for condition in wait.conditions.iter() {
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

    /// Removes the time limit of a proposal, if it has one.
    pub(crate) fn forget_limit(&mut self, proposal: RequestId) {
        let requests = &self.state.requests;
        let limits = |id: &&RequestId| {
            let request = requests.get(id);
            request.is_some_and(|request| request.question.limits() == Some(proposal))
        };
        // The action that sets a limit follows the proposal directly, for the same facet.
        let facet = requests.get(&proposal).map(|proposal| proposal.facet);
        let facet = self.acting().ok().zip(facet);
        let facet = facet.and_then(|(actor, facet)| actor.facets.get(&facet));
        let limit = facet.and_then(|facet| facet.requests.range(proposal..).find(limits).copied());
        if let Some(limit) = limit {
            self.forget_request(limit);
        }
    }

    /// Removes a wait, but nothing that belongs to it.
    ///
    /// # Errors
    /// [`Refusal::NoWait`].
    pub(crate) fn forget_wait(&mut self, id: WaitId) -> Result<crate::state::actor::Wait, Refusal> {
        let actor = self.acting_mut()?;
        let wait = actor.waits.remove(&id).ok_or(Refusal::NoWait(id))?;
        for condition in wait.conditions.iter() {
            if let Condition::Answer { request } = condition {
                actor.awaited.remove(&(*request, id));
            }
        }
        Ok(wait)
    }

    /// Takes the monitor of another actor's end.
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

    /// Removes a request, and withdraws it if it has no answer.
    pub(crate) fn forget_request(&mut self, id: RequestId) {
        self.tell_end_of_request(id);
        let Some(request) = self.state.requests.remove(&id) else {
            return;
        };
        if let Ok(facet) = self.facet_mut(request.facet) {
            facet.requests.remove(&id);
        }
        if let Some(handle) = request.handle {
            self.state.release(handle, &mut self.outbox);
        }
        if let Question::Deferred {
            judged_as: Some(judged_as),
            ..
        } = request.question
        {
            // Nobody waits for the verdict any more.
            self.forget_limit(judged_as);
            self.forget_request(judged_as);
        }
        // The world has not heard of a call that waits for approval.
        if request.answer.is_none() && request.question.effect().is_some() {
            self.outbox.withdrawn.push(id);
        }
    }
}
