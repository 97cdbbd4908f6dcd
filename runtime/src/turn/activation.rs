//! One actor's turn in progress: which job is next, which events the actor receives, what its
//! fibers do.
//!
//! Owns the order inside a turn and the operations of a program.
//! INVARIANT: a program changes the run only through `Activation::perform`, so the list of actions
//! is complete; fibers run one at a time, each until it parks or ends.
//! It neither judges nor commits; `../run/take_turn.rs` does.
//! Read next: `activation/deliver.rs`, `activation/operation.rs`, then `../run/take_turn.rs`.

mod arbitrate;
mod deliver;
mod ending;
mod fuel;
mod guarded;
mod job;
mod operation;
mod debt;
mod own_requests;
mod peer;
mod price;
mod right;
mod trace;

use std::collections::VecDeque;

use smallvec::SmallVec;

use self::debt::FuelDebt;
pub(crate) use self::job::Fault;
use self::job::{Current, Job};
use crate::action::exit::MAIN;
use crate::action::{Action, Resume, StopFacet, Sync, Wait, Yield, yield_turn::Pause};
use crate::dataspace::pattern::{PackedPattern, Pattern};
use crate::model::failure::Failure;
use crate::model::identity::{ActorId, Callable, FacetId, FiberId, Namer, WaitId};
use crate::model::limits::Limits;
use crate::record::TurnRecord;
use crate::record::key::Place;
use crate::state::actor::{Condition, FiberKind};
use crate::state::draft::{Callables, Draft, Lineage};
use crate::state::event::{Batch, Cause};
use crate::state::refusal::Refusal;
use crate::turn::action_places::{Search, Trace};
use crate::turn::module_limit::ModuleLimit;
use crate::turn::program::Runner;
use crate::turn::task::{End, Resumption, Task, Until, WaitCondition};

/// A turn in progress, and then its result. One activation serves turn after turn and keeps its
/// allocations.
pub struct Activation {
    /// The state that the turn leads to.
    pub(crate) draft: Draft,
    /// The turn's record: the actor, its events, and the actions so far.
    pub(crate) turn: TurnRecord,
    /// The actor whose turn sent the events.
    sender: Option<ActorId>,
    /// The number of events that were delivered.
    heard: usize,
    /// The position of the event whose handler failed; it took the failure that the event carries.
    taken: Option<u64>,
    /// The position of the event whose consequences are in progress.
    event: u64,
    /// The jobs before the next event, as a stack.
    jobs: SmallVec<[Job; 1]>,
    /// The jobs after the last event, in order.
    later: VecDeque<Job>,
    current: Option<Current>,
    /// Whether a predicate is running, which may have no effect.
    is_pure: bool,
    /// Whether the turn has told people something that they see even if its program then fails.
    has_told: bool,
    limits: Limits,
    /// The fuel that is left to the running fiber; below zero, what it owes.
    fuel: i64,
    /// The fuel that it may owe, if that is limited.
    debt_max: Option<u64>,
    /// The fuel that is left to all handlers of the turn.
    handler_fuel: u64,
    /// The fuel that strands may use before they go on in later turns.
    strand_fuel: u64,
    /// The fuel that actions and their notices cost, until somebody pays it.
    debt: FuelDebt,
    /// The length in bytes of what the gate has refused in the turn.
    attempted_bytes: usize,
    /// The limits of the modules whose code runs, in the place of the actor's rights.
    limits_of_modules: Vec<ModuleLimit>,
    /// The search for the source position of an action.
    search: Option<Search>,
    /// The libraries that actors have evaluated and that the text does not import; empty if the
    /// turn takes on no changed text.
    evaluated: Vec<String>,
    /// The places of the actions so far, if somebody keeps them.
    trace: Option<Trace>,
    /// Whether the turn is taken for the first time: then the heap and the person may stop it,
    /// which its record says and a replay repeats.
    is_memory_counted: bool,
}

/// The maximum number of actions whose memory is kept from turn to turn.
const KEPT_ACTIONS_MAX: usize = 16;

impl Activation {
    /// Makes an activation without a turn.
    pub(crate) fn new(names: Namer, limits: Limits) -> Self {
        let nobody = ActorId(0);
        Self {
            draft: Draft::new(Box::default(), nobody, names, Lineage::default()),
            turn: TurnRecord::new(nobody, Cause::Start {}, Vec::new()),
            sender: None,
            heard: 0,
            taken: None,
            event: 0,
            jobs: SmallVec::new(),
            later: VecDeque::new(),
            current: None,
            is_pure: false,
            has_told: false,
            limits,
            fuel: 0,
            debt_max: None,
            handler_fuel: limits.turn_fuel,
            strand_fuel: limits.turn_fuel,
            debt: FuelDebt::default(),
            attempted_bytes: 0,
            limits_of_modules: Vec::new(),
            search: None,
            evaluated: Vec::new(),
            trace: None,
            is_memory_counted: false,
        }
    }

    /// Returns the number of the turn's record.
    pub fn number(&self) -> u64 {
        self.draft.turn.number()
    }

    /// Takes the batch of the next turn.
    pub(crate) fn take(&mut self, batch: Batch) {
        self.sender = batch.from;
        (self.turn.actor, self.turn.cause, self.turn.events) = (batch.to, batch.cause, batch.events);
    }

    /// Returns the position of the event whose consequences are in progress.
    pub(crate) fn event(&self) -> u64 {
        self.event
    }

    /// Returns the actor whose turn sent the events of this one.
    pub(crate) fn sender(&self) -> Option<ActorId> {
        self.sender
    }

    /// Forgets all actions and jobs, so that the actor can handle the same batch in another way.
    pub(crate) fn begin_again(&mut self) {
        let Self {
            draft,
            turn,
            sender: _,
            heard,
            taken,
            event,
            jobs,
            later,
            current,
            is_pure,
            has_told,
            limits,
            fuel,
            debt_max,
            handler_fuel,
            strand_fuel,
            debt,
            attempted_bytes,
            limits_of_modules,
            search,
            evaluated,
            trace,
            is_memory_counted,
        } = self;
        limits_of_modules.clear();
        evaluated.clear();
        draft.forget();
        turn.forget();
        jobs.clear();
        jobs.shrink_to_fit();
        if later.capacity() > 0 {
            *later = VecDeque::new();
        }
        (*heard, *event, *taken, *current) = (0, 0, None, None);
        (*is_pure, *has_told) = (false, false);
        (*fuel, *debt_max) = (0, None);
        (*handler_fuel, *strand_fuel) = (limits.turn_fuel, limits.turn_fuel);
        *debt = FuelDebt::default();
        (*attempted_bytes, *search, *trace, *is_memory_counted) = (0, None, None, false);
    }

    /// Forgets the turn, and keeps some of its memory.
    pub(crate) fn forget(&mut self) {
        self.begin_again();
        self.sender = None;
        self.turn.events = Vec::new();
        self.turn.actions.shrink_to(KEPT_ACTIONS_MAX);
    }

    /// Takes the libraries that actors have evaluated, for the turn of a changed text.
    pub(crate) fn set_evaluated(&mut self, libraries: Vec<String>) {
        self.evaluated = libraries;
    }

    /// Makes the turn fail when its programs do little but collect garbage.
    pub(crate) fn count_memory(&mut self) {
        self.is_memory_counted = true;
    }

    /// Returns whether the instance must fail with [`Failure::exhausted`] when it does little but
    /// collect garbage. A replay takes that failure from the record.
    pub(crate) fn is_memory_counted(&self) -> bool {
        self.is_memory_counted
    }

    /// Returns the limits of the run.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the acting actor, if it lives.
    pub(crate) fn acting(&self) -> Option<&crate::state::actor::Actor> {
        self.draft.state.actor(self.draft.actor)
    }

    /// Returns the oldest parked fiber of the acting actor that is a main program or the evaluation
    /// of a text.
    pub(crate) fn parked_main(&self) -> Option<FiberId> {
        let is_main = |kind| matches!(kind, FiberKind::Main {} | FiberKind::Interaction {});
        let mut fibers = self.acting()?.fibers.iter();
        fibers.find(|(_, fiber)| is_main(fiber.kind)).map(|(id, _)| *id)
    }

    /// Returns whether a fiber of the acting actor is parked.
    pub(crate) fn is_parked(&self, fiber: FiberId) -> bool {
        self.acting().is_some_and(|actor| actor.fibers.contains_key(&fiber))
    }

    /// Runs the turn to its end, or to the failure for which it must be undone.
    pub(crate) fn run(&mut self, runner: &mut dyn Runner) -> Result<(), Fault> {
        let ended = self.run_jobs(runner);
        self.pay_apart();
        if let Err(failure) = self.check_attempts(ended) {
            let event = Some(self.event);
            return Err(Fault { failure, event });
        }
        self.release(runner);
        Ok(())
    }

    /// Makes the instance release procedures and continuations to which nothing refers any more.
    pub(crate) fn release(&mut self, runner: &mut dyn Runner) {
        for callable in self.draft.outbox.released.drain(..) {
            runner.release(callable);
        }
    }

    /// Takes all remaining jobs, in their order.
    fn take_pending(&mut self) -> Vec<Job> {
        let heard = std::mem::replace(&mut self.heard, self.turn.events.len());
        let unheard = (0..)
            .zip(&self.turn.events)
            .skip(heard)
            .map(|(position, event)| Job::Deliver {
                position,
                event: event.clone(),
            });
        let first = std::mem::take(&mut self.jobs).into_iter().rev();
        first.chain(unheard).chain(std::mem::take(&mut self.later)).collect()
    }

    /// Performs one action and lists it. If the actor lacks a right, lists only the attempt.
    ///
    /// # Errors
    /// [`Refusal`]; then the turn must fail, or the program must receive the refusal, before it
    /// does anything else.
    pub(crate) fn perform(&mut self, action: impl Into<Action>) -> Result<(), Refusal> {
        if self.is_pure {
            return Err(Refusal::Pure);
        }
        let action = action.into();
        if let Some(lack) = self.lack(&action) {
            return Err(self.refuse(vec![action], lack));
        }
        self.require_listed(std::slice::from_ref(&action))?;
        action.perform(&mut self.draft)?;
        self.count_action();
        if let Some(search) = self
            .search
            .as_mut()
            .filter(|search| search.action == self.turn.actions.len())
        {
            search.found = search.now.clone();
        }
        if let Some(trace) = &mut self.trace {
            trace.places.push(trace.now.clone());
        }
        self.turn.actions.push(action);
        Ok(())
    }

    fn run_jobs(&mut self, runner: &mut dyn Runner) -> Result<(), Failure> {
        loop {
            match self.jobs.pop() {
                Some(Job::Deliver { position, event }) => {
                    self.event = position;
                    self.deliver(runner, position, event)?;
                }
                Some(Job::Run { fiber, task }) => self.run_fiber(runner, fiber, task)?,
                Some(Job::Stop(facet)) => self.stop_step(facet)?,
                Some(Job::Exit { code }) => self.exit(runner, code)?,
                None => match self.turn.events.get(self.heard).cloned() {
                    Some(event) => {
                        self.event = self.heard as u64;
                        self.heard += 1;
                        self.deliver(runner, self.event, event)?;
                    }
                    None => match self.later.pop_front() {
                        Some(job) => self.jobs.push(job),
                        None => return Ok(()),
                    },
                },
            }
        }
    }

    fn run_fiber(&mut self, runner: &mut dyn Runner, fiber: Current, task: Task) -> Result<(), Failure> {
        if self.draft.facet(fiber.facet).is_err() {
            self.discard(&task);
            return Ok(());
        }
        self.current = Some(fiber);
        self.event = fiber.event;
        self.note_place(Place::default());
        self.pay_apart();
        let end = self.run_task(runner, fiber, task);
        let ended = self.end_run(fiber, end);
        self.pay_after(fiber);
        self.limits_of_modules.clear();
        ended
    }

    fn end_run(&mut self, fiber: Current, end: End) -> Result<(), Failure> {
        match end {
            End::Finished { .. } => self.draft.take_guard(fiber.fiber).map(drop).map_err(failure),
            End::Failed(failure) => Err(failure),
            End::Parked {
                until: Until::Stopped(facet),
                ..
            } if self.draft.state.is_session && self.draft.acting().is_ok_and(|main| main.root == facet) => {
                let message = "the facet of a session does not stop; `(exit)` at its prompt ends it";
                Err(Failure::new("refused", message))
            }
            End::Parked {
                continuation,
                until: Until::Stopped(facet),
            } => {
                let task = Task::Resume {
                    continuation,
                    with: Resumption::Unspecified,
                };
                self.jobs.push(Job::Run { fiber, task });
                self.jobs.push(Job::Stop(facet));
                Ok(())
            }
            End::Parked { continuation, until } => {
                if self.draft.facet(fiber.facet).is_err() {
                    self.draft.outbox.released.push(continuation);
                    return Ok(());
                }
                self.draft.callables = Callables::from_iter([continuation]);
                self.park(fiber, until)
            }
            End::Exit { code } if self.is_background(fiber) => {
                let told = format!("a background fiber called (exit {code}); it ends, the session goes on");
                self.log(told).map_err(failure)
            }
            End::Exit { code } => {
                let root = self.draft.acting().map(|actor| actor.root).map_err(failure)?;
                self.end_next(root, code);
                Ok(())
            }
        }
    }

    /// Says whether a fiber of a session is not the evaluation of a text.
    fn is_background(&self, fiber: Current) -> bool {
        self.draft.state.is_session && self.draft.actor == MAIN && fiber.kind != (FiberKind::Interaction {})
    }

    fn park(&mut self, fiber: Current, until: Until) -> Result<(), Failure> {
        if matches!(until, Until::Fuel) && self.is_in_one_turn(fiber) {
            return Err(out_of_fuel(self.limits.turn_fuel));
        }
        let Current { fiber, facet, kind, .. } = fiber;
        let pause = match until {
            Until::Condition { wanted, is_edge } => return self.wait(fiber, facet, kind, wanted, is_edge),
            Until::Synced(with) => {
                let sync = Sync {
                    fiber,
                    kind,
                    facet,
                    with,
                };
                return self.perform(sync).map_err(failure);
            }
            Until::Yielded => Pause::Asked {},
            Until::Woken { text, ends: None } => Pause::Sleep { until: text },
            Until::Woken { text, ends: Some(ends) } => Pause::Follow { until: text, ends },
            Until::Flushed => Pause::Flush {},
            Until::Fuel | Until::Stopped(_) => Pause::Slice {},
        };
        self.perform(Yield {
            fiber,
            kind,
            facet,
            pause,
        })
        .map_err(failure)
    }

    fn wait(
        &mut self,
        fiber: FiberId,
        facet: FacetId,
        kind: FiberKind,
        wanted: Vec<WaitCondition>,
        is_edge: bool,
    ) -> Result<(), Failure> {
        let packed = |pattern: &Pattern| PackedPattern::of(pattern).map_err(|error| failure(error.into()));
        let mut conditions = Vec::new();
        for wanted in wanted {
            let counters = &mut self.draft.state.counters;
            conditions.push(match wanted {
                WaitCondition::Matching(pattern) => Condition::Matching {
                    observer: counters.observer(),
                    handle: counters.handle(),
                    pattern: packed(&pattern)?,
                },
                WaitCondition::Accepted(pattern, procedure) => {
                    self.draft.callables.add(procedure);
                    Condition::Accepted {
                        observer: counters.observer(),
                        handle: counters.handle(),
                        pattern: packed(&pattern)?,
                    }
                }
                WaitCondition::Answer(request) => Condition::Answer { request },
            });
        }
        let wait = self.draft.state.counters.wait();
        self.perform(Wait {
            wait,
            fiber,
            kind,
            facet,
            conditions,
            is_edge,
        })
        .map_err(failure)
    }

    /// Ends a wait and makes its fiber the next to run.
    fn end_wait(&mut self, wait: WaitId, condition: u64, with: Resumption) -> Result<(), Failure> {
        let actor = self.draft.acting().map_err(failure)?;
        let fiber = actor
            .waits
            .get(&wait)
            .map(|wait| wait.fiber)
            .ok_or(Refusal::NoWait(wait))
            .map_err(failure)?;
        self.perform(Resume { wait, condition }).map_err(failure)?;
        self.unpark(fiber, with)
    }

    fn unpark(&mut self, id: FiberId, with: Resumption) -> Result<(), Failure> {
        let fiber = self.draft.unpark(id).map_err(failure)?;
        self.run_next(id, &fiber, with);
        Ok(())
    }

    /// Makes a fiber that was parked the next to run.
    fn run_next(&mut self, id: FiberId, fiber: &crate::state::actor::Fiber, with: Resumption) {
        let task = Task::Resume {
            continuation: fiber.continuation,
            with,
        };
        self.jobs.push(Job::Run {
            fiber: Current {
                fiber: id,
                facet: fiber.facet,
                kind: fiber.kind,
                event: self.event,
            },
            task,
        });
    }

    /// Takes the next step towards the end of a facet: stops its oldest child, runs its stop hooks,
    /// or ends it.
    fn stop_step(&mut self, facet: FacetId) -> Result<(), Failure> {
        let actor = self.draft.acting_mut().map_err(failure)?;
        let Some(found) = actor.facets.get_mut(&facet) else {
            return Ok(());
        };
        if let Some(child) = found.children.iter().next().copied() {
            self.jobs.push(Job::Stop(facet));
            self.jobs.push(Job::Stop(child));
            return Ok(());
        }
        let surroundings = found.parent.unwrap_or(facet);
        if found.stop_hooks.is_empty() {
            let handles = found.handles.iter().copied().collect();
            return self.perform(StopFacet { facet, handles }).map_err(failure);
        }
        let hooks: Vec<Callable> = found.stop_hooks.iter().copied().collect();
        found.stop_hooks.clear();
        // A hook may make facets inside the one that stops.
        self.jobs.push(Job::Stop(facet));
        for procedure in hooks.into_iter().rev() {
            let fiber = self.handler_fiber(surroundings);
            self.jobs.push(Job::Run {
                fiber,
                task: Task::CallOnce { procedure },
            });
        }
        Ok(())
    }

    fn handler_fiber(&mut self, facet: FacetId) -> Current {
        Current {
            fiber: self.draft.state.counters.fiber(),
            facet,
            kind: FiberKind::Handler {},
            event: self.event,
        }
    }

    fn discard(&mut self, task: &Task) {
        match task {
            Task::CallOnce { procedure: callable }
            | Task::Resume {
                continuation: callable, ..
            } => {
                self.draft.outbox.released.push(*callable);
            }
            Task::Boot | Task::Call { .. } | Task::Evaluate { .. } | Task::Patch { .. } => {}
        }
    }
}

/// Converts a refusal that no program caused to a failure.
fn failure(refusal: Refusal) -> Failure {
    Failure::new("refused", refusal.to_string())
}

/// The failure of a handler that needs more fuel than the handlers of a turn have.
fn out_of_fuel(limit: u64) -> Failure {
    Failure::new(
        "out-of-fuel",
        format!("the handlers of one turn may use {limit} units of fuel, and these used more"),
    )
}
