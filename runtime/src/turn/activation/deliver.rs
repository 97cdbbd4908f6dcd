//! The effect of each event on the actor that receives it.
//!
//! INVARIANT: an event whose recipient is gone changes nothing, and the turn notes its position.
//! It runs only predicates; other fibers become jobs of `../activation.rs`.
//! Read next: `operation.rs`.

use std::mem;
use std::sync::Arc;

use duet_journal::packed::View;
use preserves::IOValue;

use super::{Activation, Current, Job, failure};
use crate::action::exit::MAIN;
use crate::action::message::Message;
use crate::action::{Assert, Due, Keep, Patch, Restart, Retract, SpawnFiber, Synced, Widen};
use crate::model::changed_text::ChangedText;
use crate::model::codec::label_of;
use crate::model::failure::{ActorFailure, Failure};
use crate::model::identity::{ActorId, Callable, FacetId, FiberId, Handle, ObserverId, RequestId, WaitId};
use crate::model::value::Fact;
use crate::state::actor::{Condition, FiberKind, Target};
use crate::state::event::{Batch, Cause, Event};
use crate::state::own_requests::Change;
use crate::state::patches::Patched;
use crate::state::refusal::Refusal;
use crate::state::request::{Question, UndoContents};
use crate::turn::program::{Patching, Runner};
use crate::turn::task::{Argument, End, Resumption, Task};

impl Activation {
    pub(super) fn deliver(&mut self, runner: &mut dyn Runner, position: u64, event: Event) -> Result<(), Failure> {
        let is_received = match event {
            Event::Boot {} => self.begin(FiberKind::Main {}, Task::Boot)?,
            Event::Added {
                observer,
                captures,
                handle,
            } => self.tell(runner, observer, Argument::Added(captures, handle))?,
            Event::Removed {
                observer,
                captures,
                handle,
            } => self.tell(runner, observer, Argument::Removed(captures, handle))?,
            Event::Message { observer, captures } => self.tell(runner, observer, Argument::Message(captures))?,
            Event::Closed { observer } => self.draft.forget_observer(observer).is_ok(),
            Event::Direct { facet, payload } => {
                self.relay_direct(facet, &payload)? || self.direct(position, facet, &payload)
            }
            Event::Resume { fiber } => self.resume(fiber)?,
            Event::Settled { wait, request } => self.settle(wait, request)?,
            Event::Answered { request, outcome } if self.is_proposal(request) => {
                self.settle_proposal(request, outcome)?
            }
            Event::Answered { request, .. } if self.limited(request).is_some() => self.end_limit(request)?,
            Event::Answered { request, outcome } => self.answer(request, outcome)?,
            Event::Sync { from, fiber } => self.synced(from, fiber)?,
            Event::Ended { actor, code, failed } => self.tell_of_end(actor, code, failed)?,
            Event::Failed { fiber, failure } => self.tell_guard(fiber, failure)?,
            Event::Kept {
                request,
                note,
                contents,
            } => self.keep(request, UndoContents { note, contents })?,
            Event::Due { request, at_ms } => self.note_due(request, at_ms)?,
            Event::Reconsider { request } => self.reconsider(request)?,
            Event::Prepared { .. } => true,
            Event::Orphaned { .. } => false,
            Event::Terminate {} => self.terminate()?,
            Event::Evaluate { text, sources } => {
                self.draft.state.is_session = true;
                self.begin(FiberKind::Interaction {}, Task::Evaluate { text, sources })?
            }
            Event::Abandon {} => self.abandon()?,
            Event::Merged { asserted, retracted } => self.take_over(asserted, &retracted)?,
            Event::Told { value, stays: true } => self.assert_at_root(value)?,
            Event::Told { value, stays: false } => {
                self.perform(Message { value }).map_err(failure)?;
                true
            }
            Event::Joined {
                name,
                manifest,
                caveats,
            } => self.welcome(name, manifest, &caveats)?,
            Event::Granted { grant } => {
                self.perform(Widen { grant }).map_err(failure)?;
                true
            }
            Event::Patched { text } => self.patch(runner, text)?,
            Event::Restart {} => self.restart()?,
            Event::Restarted { actor } => self.draft.acting().map_err(failure)?.monitors.contains_key(&actor),
            Event::Said { what } => self.hear(what)?,
            Event::Given { facet, handle, value } => self.relay_given(facet, handle, &value)?,
            Event::Taken { handle } => self.relay_taken(handle)?,
        };
        if !is_received {
            self.turn.dropped.push(position);
        }
        Ok(())
    }

    /// Puts a changed text in the place of the one that the run executes, and evaluates what is new
    /// in it.
    fn patch(&mut self, runner: &mut dyn Runner, text: ChangedText) -> Result<bool, Failure> {
        let libraries = mem::take(&mut self.evaluated);
        let mut patches = Arc::clone(&self.draft.state.patches);
        Arc::make_mut(&mut patches).push(Patched {
            turn: self.number(),
            text: text.clone(),
            libraries: libraries.clone(),
        });
        let Patching { changed, added, steps } = runner.patch(&patches, &self.manifest())?;
        let patch = Patch {
            text,
            changed,
            added,
            libraries,
        };
        self.perform(patch).map_err(failure)?;
        for step in (0..steps).rev() {
            self.begin(FiberKind::Handler {}, Task::Patch { step })?;
        }
        Ok(true)
    }

    /// Says whether the actor begins anew in this turn, which has no other event.
    pub(crate) fn is_restart(&self) -> bool {
        let is_alone = matches!(*self.turn.events, [Event::Restart {}]);
        is_alone && self.turn.actor != MAIN && self.acting().is_some_and(|actor| !actor.is_peer())
    }

    /// Ends what the actor has, and runs its program from its beginning.
    fn restart(&mut self) -> Result<bool, Failure> {
        if !self.is_restart() {
            return Ok(false);
        }
        let handles = self.held_handles();
        let root = self.draft.state.counters.facet();
        self.perform(Restart { root, handles }).map_err(failure)?;
        self.begin(FiberKind::Main {}, Task::Boot)
    }

    /// Lists the handles of the acting actor's assertions, in descending order.
    pub(crate) fn held_handles(&self) -> Vec<Handle> {
        let facets = self.acting().into_iter().flat_map(|actor| actor.facets.values());
        let mut handles: Vec<_> = facets.flat_map(|facet| facet.handles.iter().copied()).collect();
        handles.sort_by(|left, right| right.cmp(left));
        handles
    }

    /// Begins a fiber at the root facet.
    fn begin(&mut self, kind: FiberKind, task: Task) -> Result<bool, Failure> {
        let facet = self.draft.acting().map_err(failure)?.root;
        let fiber = self.draft.state.counters.fiber();
        let spawned = SpawnFiber {
            fiber,
            facet,
            name: None,
        };
        self.perform(spawned).map_err(failure)?;
        let fiber = Current {
            fiber,
            facet,
            kind,
            event: self.event,
        };
        self.jobs.push(Job::Run { fiber, task });
        Ok(true)
    }

    fn tell(&mut self, runner: &mut dyn Runner, id: ObserverId, argument: Argument) -> Result<bool, Failure> {
        let observer = self.draft.acting().map_err(failure)?.observers.get(&id);
        let Some(observer) = observer else { return Ok(false) };
        let (facet, target) = (observer.facet, observer.target.clone());
        match target {
            Target::Handler { procedure } => {
                let mut fiber = self.handler_fiber(facet);
                if self.draft.actor == MAIN && self.turn.cause != (Cause::Start {}) {
                    fiber.kind = FiberKind::Served {};
                }
                let task = Task::Call {
                    procedure,
                    argument: Some(argument),
                };
                self.jobs.push(Job::Run { fiber, task });
            }
            Target::Wait { wait } => {
                if let Some(value) = subject(&argument) {
                    self.match_wait(wait, id, value)?;
                }
            }
            Target::Predicate {
                wait,
                procedure,
                is_unlimited,
            } => {
                if let Some(value) = subject(&argument)
                    && !(is_unlimited && is_internal(&value))
                    && self.accepts(runner, facet, procedure, &value)?
                {
                    self.match_wait(wait, id, value)?;
                }
            }
            Target::Peer { oid } => self.relay_match(oid, id, argument)?,
        }
        Ok(true)
    }

    fn match_wait(&mut self, wait: WaitId, observer: ObserverId, value: IOValue) -> Result<(), Failure> {
        let is_the_one = |condition: &Condition| match condition {
            Condition::Matching { observer: id, .. } | Condition::Accepted { observer: id, .. } => *id == observer,
            Condition::Answer { .. } => false,
        };
        let condition = self.position(wait, is_the_one)?;
        self.end_wait(wait, condition, Resumption::Matched { condition, value })
    }

    fn position(&self, wait: WaitId, is_the_one: impl Fn(&Condition) -> bool) -> Result<u64, Failure> {
        let wait = self.draft.acting().map_err(failure)?.waits.get(&wait);
        let position = wait.and_then(|wait| wait.conditions.iter().position(is_the_one));
        Ok(position.unwrap_or_default() as u64)
    }

    /// Calls a predicate, which can have no effect; an error in it is logged and counts as false.
    fn accepts(
        &mut self,
        runner: &mut dyn Runner,
        facet: FacetId,
        procedure: Callable,
        value: &IOValue,
    ) -> Result<bool, Failure> {
        let fiber = self.handler_fiber(facet);
        let before = self.current.replace(fiber);
        self.is_pure = true;
        let task = Task::Call {
            procedure,
            argument: Some(Argument::Value(value.clone())),
        };
        let (end, _) = self.run_with(runner, task, (self.limits.predicate_fuel, Some(0)));
        self.is_pure = false;
        self.current = before;
        let fault = match end {
            End::Finished { is_true } => return Ok(is_true),
            End::Parked { continuation, .. } => {
                self.draft.outbox.released.push(continuation);
                "it waits or runs too long".to_owned()
            }
            End::Failed(failure) if failure.is_from_outside() => return Err(failure),
            End::Failed(failure) => failure.to_string(),
            End::Exit { .. } => "it exits".to_owned(),
        };
        self.note(format!("a predicate counts as false: {fault}"))
            .map_err(failure)?;
        Ok(false)
    }

    /// Passes a message to a facet on to those of the facet's watches that match it.
    fn direct(&mut self, position: u64, facet: FacetId, payload: &Fact) -> bool {
        let Ok(actor) = self.draft.acting() else { return false };
        let Some(observers) = actor.facets.get(&facet).map(|facet| &facet.observers) else {
            return false;
        };
        let matching = observers.iter().filter_map(|id| {
            let captures = self.draft.state.dataspace.read(*id, payload)?;
            Some(Event::Message {
                observer: *id,
                captures,
            })
        });
        let matching: Vec<Event> = matching.collect();
        for event in matching.into_iter().rev() {
            self.jobs.push(Job::Deliver { position, event });
        }
        true
    }

    fn synced(&mut self, to: ActorId, fiber: FiberId) -> Result<bool, Failure> {
        self.perform(Synced { to, fiber }).map_err(failure)?;
        Ok(true)
    }

    /// Calls the procedure that monitors an actor's end. If the facet of that procedure has stopped
    /// in the meantime, nobody takes a failure of the actor.
    fn tell_of_end(&mut self, actor: ActorId, code: u64, failed: Option<ActorFailure>) -> Result<bool, Failure> {
        let Some(monitor) = self.draft.take_monitor(actor).map_err(failure)? else {
            failed.map_or(Ok(()), |failed| self.report(failed))?;
            return Ok(false);
        };
        let fault = failed.map(|failed| failed.failure);
        let fiber = self.handler_fiber(monitor.facet);
        let task = Task::Call {
            procedure: monitor.procedure,
            argument: Some(Argument::Ended(code, fault)),
        };
        self.draft.outbox.released.push(monitor.procedure);
        self.jobs.push(Job::Run { fiber, task });
        Ok(true)
    }

    fn resume(&mut self, id: FiberId) -> Result<bool, Failure> {
        match self.draft.unpark(id) {
            Ok(fiber) => self.run_next(id, &fiber, Resumption::Unspecified),
            Err(Refusal::NoFiber(_)) => return Ok(false),
            Err(refusal) => return Err(failure(refusal)),
        }
        Ok(true)
    }

    fn settle(&mut self, wait: WaitId, request: RequestId) -> Result<bool, Failure> {
        let is_waiting = self.draft.acting().map_err(failure)?.waits.contains_key(&wait);
        let answer = self
            .draft
            .state
            .requests
            .get(&request)
            .and_then(|request| request.answer.clone());
        match answer.filter(|_| is_waiting) {
            Some(outcome) => self.end_with_answer(wait, request, outcome).map(|()| true),
            None => Ok(false),
        }
    }

    /// Finds the waits for the answer to a request, oldest first.
    pub(super) fn waits_for(&self, request: RequestId) -> Result<Vec<WaitId>, Refusal> {
        Ok(self.draft.acting()?.waits_for(request).collect())
    }

    fn answer(&mut self, id: RequestId, outcome: Result<IOValue, IOValue>) -> Result<bool, Failure> {
        let waits = self.waits_for(id).map_err(failure)?;
        let Some(request) = self.draft.unanswered(id) else {
            return Ok(false);
        };
        request.answer = Some(outcome.clone());
        let is_question = matches!(request.question, Question::Ask { .. });
        let change = match outcome {
            Ok(_) | Err(_) if is_question => Change::Closed,
            Ok(_) => Change::Returned,
            Err(_) => Change::Failed,
        };
        let news = self.draft.news_of_request(id, change, None);
        if news.is_some() {
            // The news must not be undone with what the answer leads to.
            self.settle_next(&waits, id);
        } else {
            // The fiber whose wait ends last runs first.
            for wait in waits.into_iter().rev() {
                self.end_with_answer(wait, id, outcome.clone())?;
            }
        }
        self.tell_news(news);
        Ok(true)
    }

    /// Makes the next turn, ahead of all that is queued, the one that goes on with an answer.
    fn settle_next(&mut self, waits: &[WaitId], request: RequestId) {
        let (to, sequence) = (self.draft.actor, self.draft.turn);
        let cause = Cause::Turn { sequence };
        let queue = &mut self.draft.state.queue;
        let is_own = |batch: &Batch| batch.to == to && batch.cause == cause;
        let own = if queue.front().is_some_and(is_own) {
            queue.pop_front()
        } else {
            None
        };
        let mut events = own.map(|batch| batch.events).unwrap_or_default();
        events.extend(waits.iter().map(|wait| Event::Settled { wait: *wait, request }));
        if !events.is_empty() {
            queue.push_front(Batch {
                to,
                from: Some(to),
                cause,
                events,
            });
        }
    }

    /// Notes the due time of a timer that still runs.
    fn note_due(&mut self, request: RequestId, at_ms: u64) -> Result<bool, Failure> {
        let known = self.draft.state.requests.get(&request);
        let is_open = known.is_some_and(|known| {
            let is_timer = matches!(known.question, Question::Timer { .. } | Question::Limit { .. });
            is_timer && known.actor == self.draft.actor && known.answer.is_none()
        });
        if is_open {
            self.perform(Due { request, at_ms }).map_err(failure)?;
        }
        Ok(is_open)
    }

    /// Lets a call proceed that has reported what it is about to replace. A repeated call keeps its
    /// first report.
    fn keep(&mut self, id: RequestId, report: UndoContents) -> Result<bool, Failure> {
        let request = self.draft.state.requests.get(&id);
        let Some(request) = request.filter(|request| request.actor == self.draft.actor && request.answer.is_none())
        else {
            return Ok(false);
        };
        let kept = request.kept.clone().unwrap_or(report);
        self.perform(Keep { request: id, kept }).map_err(failure)?;
        Ok(true)
    }

    pub(super) fn end_with_answer(
        &mut self,
        wait: WaitId,
        request: RequestId,
        outcome: Result<IOValue, IOValue>,
    ) -> Result<(), Failure> {
        let condition = self.position(wait, |condition| *condition == Condition::Answer { request })?;
        let with = match outcome {
            Ok(value) => Resumption::Matched { condition, value },
            Err(fault) => Resumption::Raise(fault),
        };
        self.end_wait(wait, condition, with)
    }

    /// Asserts facts for the root facet, and then retracts others, whichever facet holds them.
    fn take_over(&mut self, asserted: Vec<IOValue>, retracted: &[IOValue]) -> Result<bool, Failure> {
        let actor = self.draft.actor;
        for value in asserted {
            let value = Fact::new(value).map_err(|error| failure(error.into()))?;
            self.assert_at_root(value)?;
        }
        for value in retracted {
            let value = Fact::new(value.clone()).map_err(|error| failure(error.into()))?;
            let held = self.draft.state.held.iter();
            let handles = held.filter(|(_, held)| held.actor == actor && held.fact == value);
            let handles: Vec<Handle> = handles.map(|(handle, _)| *handle).collect();
            for handle in handles {
                self.perform(Retract { handle, ignored: None }).map_err(failure)?;
            }
        }
        Ok(true)
    }

    /// Asserts a fact that comes from outside, at the root facet of the actor.
    fn assert_at_root(&mut self, value: Fact) -> Result<bool, Failure> {
        let facet = self.draft.acting().map_err(failure)?.root;
        let handle = self.draft.state.counters.handle();
        self.perform(Assert { facet, handle, value }).map_err(failure)?;
        Ok(true)
    }

    fn terminate(&mut self) -> Result<bool, Failure> {
        let root = self.draft.acting().map_err(failure)?.root;
        self.end_next(root, 0);
        Ok(true)
    }
}

/// Says whether a fact is one that the runtime asserts about watches, questions and proposals. Only
/// a predicate whose pattern asks for it is called for such a fact.
fn is_internal(value: &IOValue) -> bool {
    let label = label_of(value);
    label.is_some_and(|label| INTERNAL.contains(&label.as_str()))
}

/// The labels of the facts that actions assert for themselves.
const INTERNAL: [&str; 3] = ["Observe", "user-input-request", "approval-request"];

/// Returns the value that resumes a wait: the first capture of what appeared, or true without
/// captures.
fn subject(argument: &Argument) -> Option<IOValue> {
    match argument {
        Argument::Added(captures, _) | Argument::Message(captures) => {
            Some(captures.first().map_or_else(|| IOValue::new(true), View::to_value))
        }
        Argument::Removed(..) | Argument::Value(_) | Argument::Failed(_) | Argument::Ended(..) => None,
    }
}
