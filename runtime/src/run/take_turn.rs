//! A whole turn: event batch → instance → actions → gate → record → dataspace and queues →
//! (durable) → effects.
//!
//! `Run::take_turn` is that line; each step is one call to a function in this file.
//! INVARIANT: before `adopt`, only the draft and the actor's own instance have changed, and the
//! instance can go back; after it, the state, the instance and the chain of records agree. Effects
//! wait until the record is durable.
//! It does not choose the next batch and does not write to stores; `../run.rs` does.
//! Read next: `../run.rs`, then `replay.rs`.

mod lost;

use std::mem;

use duet_journal::{BlobHash, ClosedRecord, PackedValue, Sequence};

use crate::action::{Action, Exit};
use crate::driver::{Effect, EffectKind};
use crate::gate::{self, Verdict};
use crate::model::codec::Codec;
use crate::model::failure::{Failure, Origin};
use crate::model::identity::{ActorId, RequestId};
use crate::record::{Attempt, Outcome, TurnRecord};
use crate::run::Run;
use crate::run::error::RunError;
use crate::run::exhaustion::{self, Exhaustion};
use crate::run::source::divergence;
use crate::state::FAILED;
use crate::state::actor::Actor;
use crate::state::draft::{Draft, Lineage};
use crate::state::event::{Batch, Cause, Event};
use crate::turn::activation::{Activation, Fault};
use crate::turn::erased::Bound;
use crate::turn::program::NoInstance;

/// The purpose of running a turn.
enum Aim {
    /// Record it.
    Take,
    /// Repeat it, with the same result as its record.
    Repeat,
    /// Fail it as its record says, without running it.
    Fail(Exhaustion),
    /// Find the source position of the action at this index.
    Seek(usize),
}

impl Run {
    /// Takes the turn in which an actor handles `batch`, which the caller has removed from the
    /// queue.
    ///
    /// With `expected`, the turn must equal that record; then it writes nothing and requests no
    /// effect.
    ///
    /// # Errors
    /// [`RunError::Divergence`] if it does not equal the record; then the turn is undone.
    pub(crate) fn take_turn(&mut self, batch: Batch, expected: Option<&ClosedRecord>) -> Result<(), RunError> {
        let aim = match expected {
            None => Aim::Take,
            Some(record) => Exhaustion::recorded(record)?.map_or(Aim::Repeat, Aim::Fail),
        };
        self.prepare(&batch)?;
        let has_instance = self.instances.get(batch.to).is_some();
        let mut activation = self.before_turn(batch);
        let is_told = matches!(aim, Aim::Fail(_));
        let attempt = self.run_instance(&mut activation, aim);
        if let (Some(record), Err(fault)) = (expected.filter(|_| !is_told), &attempt)
            && fault.failure.is_exhaustion()
        {
            let sequence = record.header().sequence;
            self.undo(&mut activation);
            self.after_turn(activation, false);
            let bytes_max = self.bytes_max();
            return Err(RunError::Memory { sequence, bytes_max });
        }
        if expected.is_none() && is_withdrawn(&activation.turn, &attempt) {
            self.undo_whole(&mut activation, has_instance);
            self.after_turn(activation, false);
            return Ok(());
        }
        if expected.is_none() && self.leave_if_stopped(&mut activation, &attempt) {
            self.after_turn(activation, false);
            return Ok(());
        }
        let attempt = match expected {
            None if activation.turn.is_patch() || activation.is_restart() => {
                Ok(self.require_whole(&mut activation, attempt, has_instance)?)
            }
            Some(_) | None => attempt,
        };
        let body = self.judge(&mut activation, attempt)?;
        self.compare(&mut activation, expected, &body)?;
        self.checkpoints.count_body(body.as_bytes().len());
        if let Some(ledger) = &mut self.ledger {
            ledger.note(activation.draft.turn, &activation.turn, activation.places());
        }
        let has_changed = activation.draft.state.has_touched(activation.turn.actor);
        let effects = self.adopt(&mut activation);
        let (turn, outbox) = (&activation.turn, &mut activation.draft.outbox);
        match expected {
            Some(record) => self.follow(record, turn, outbox),
            None => {
                self.chain(body, turn, outbox)?;
                self.hold(self.with_askers(effects));
            }
        }
        self.after_turn(activation, has_changed);
        Ok(())
    }

    /// Makes the programs those of the texts that the state has, and thaws the actors that the turn
    /// needs.
    fn prepare(&mut self, batch: &Batch) -> Result<(), RunError> {
        let followed = self.programs.follow(&self.state.patches);
        followed.map_err(|failure| RunError::Patch(Box::new(failure)))?;
        self.thaw_for(batch)
    }

    /// Gives the instances of all other actors the code of a changed text that the turn took on.
    fn renew_others(&mut self, activation: &Activation) -> Result<(), Fault> {
        let others = self.instances.actors().filter(|actor| *actor != activation.turn.actor);
        for actor in others.collect::<Vec<_>>() {
            let Some(slot) = self.instances.slot_mut(actor) else {
                continue;
            };
            self.images.outdate(actor);
            self.checkpoints.before_turn(actor, false, slot, &mut *self.programs);
            self.programs.begin_turn(&mut slot.instance);
            self.renewed.push(actor);
            self.programs.renew(&mut slot.instance)?;
        }
        Ok(())
    }

    /// Runs the actor's instance on the batch, on a draft of the state.
    fn run_instance(&mut self, activation: &mut Activation, aim: Aim) -> Result<(), Fault> {
        let actor = activation.turn.actor;
        self.begin(activation);
        let is_named = self.name_lineage(activation);
        if self.ledger.is_some() {
            activation.keep_places();
        }
        match aim {
            Aim::Take => activation.count_memory(),
            Aim::Seek(action) => activation.seek(action),
            Aim::Repeat | Aim::Fail(_) => {}
        }
        if activation.is_restart() {
            self.set_aside(activation);
        }
        if activation.turn.is_patch() {
            activation.set_evaluated(self.evaluated_libraries());
        }
        let (slot, is_new) = match self.instances.slot_mut(actor) {
            Some(slot) => (slot, false),
            None => {
                debug_assert!(!self.frozen.has(actor), "an actor is thawed before its turn");
                let Some(found) = activation.acting() else {
                    return activation.drop_all();
                };
                if found.is_peer() {
                    is_named?;
                    return self.run_peer(activation, aim);
                }
                let limits = self.genesis.limits.of_actor(found.heap_bytes_max);
                let program = found.program_in(&self.genesis.program);
                let loaded = self.programs.load(&program, &limits)?;
                (self.instances.insert(actor, loaded), true)
            }
        };
        self.checkpoints.before_turn(actor, is_new, slot, &mut *self.programs);
        let instance = &mut slot.instance;
        self.programs.begin_turn(instance);
        is_named?;
        if let Aim::Fail(exhaustion) = aim {
            return Err(exhaustion.repeat(activation));
        }
        activation.run(&mut Bound {
            programs: &mut *self.programs,
            instance,
        })?;
        if activation.turn.is_patch() {
            self.renew_others(activation)?;
        }
        match aim {
            Aim::Take => self.check_memory(actor),
            Aim::Repeat | Aim::Fail(_) | Aim::Seek(_) => Ok(()),
        }
    }

    /// Runs the turn of an actor that stands for a peer, which has no instance.
    fn run_peer(&mut self, activation: &mut Activation, aim: Aim) -> Result<(), Fault> {
        if let Aim::Fail(exhaustion) = aim {
            return Err(exhaustion.repeat(activation));
        }
        activation.run(&mut NoInstance)?;
        match aim {
            Aim::Take => self.check_memory(activation.turn.actor),
            Aim::Repeat | Aim::Fail(_) | Aim::Seek(_) => Ok(()),
        }
    }

    /// Checks that the run holds no more memory than it may take, without the garbage of other
    /// actors. A replay takes the result from the record.
    pub(super) fn check_memory(&mut self, acting: ActorId) -> Result<(), Fault> {
        let bytes_max = self.bytes_max();
        self.measure(acting);
        if self.bytes_held() <= bytes_max {
            return Ok(());
        }
        for (actor, _) in self.instances.by_size() {
            // A quarter must be free again, or the next turn would collect again.
            if self.bytes_held() <= bytes_max / 4 * 3 {
                break;
            }
            if let Some(instance) = self.instances.get_mut(actor).filter(|_| actor != acting) {
                self.programs.collect(instance);
                self.measure(actor);
            }
        }
        if self.bytes_held() > bytes_max {
            return Err(Failure::run_exhausted(bytes_max).into());
        }
        Ok(())
    }

    /// Passes the actions through the gate and packs the record. A failure undoes them and ends the
    /// actor in their place; in a session, or if a guarded fiber failed, it ends only what the
    /// failed event led to. That passes the gate too.
    fn judge(&mut self, activation: &mut Activation, attempt: Result<(), Fault>) -> Result<PackedValue, RunError> {
        let outcome = attempt.and_then(|()| Ok(judged(activation)?));
        let mut fault = match outcome {
            Ok(body) => return Ok(body),
            Err(fault) => fault,
        };
        let (fuel, attempts) = (activation.turn.fuel, mem::take(&mut activation.turn.attempts));
        exhaustion::note(&mut fault, fuel, attempts.len());
        self.undo(activation);
        // The attempts stay on record; those of the actor's end follow them.
        activation.turn.attempts = attempts;
        let guarded = self.guarded(&activation.turn, fault.event);
        if !guarded.is_empty() || self.is_session(&activation.turn) {
            let refused = self.refused_calls(&activation.turn, fault.event);
            let failed = if guarded.is_empty() {
                self.users(&activation.turn, fault.event)
            } else {
                guarded
            };
            self.give_up(activation, fault.event)?;
            activation.tell_of_refused(refused);
            activation.tell_failed(&failed, &fault.failure);
        } else if self.is_set_off_by_others(&activation.turn, fault.event) {
            let failed = self.users(&activation.turn, fault.event);
            self.give_up(activation, fault.event)?;
            activation.tell_failed(&failed, &fault.failure);
            activation.report_main(fault.failure.clone()).map_err(RunError::Crash)?;
            activation.tell_sender(&fault.failure).map_err(RunError::Crash)?;
        } else {
            activation.note_taken(fault.event);
            self.crash(activation, &fault.failure)?;
        }
        activation.turn.fuel += fuel;
        activation.turn.outcome = Outcome::Failed { failure: fault.failure };
        judged(activation).map_err(RunError::Crash)
    }

    /// Ends only what the event at a position led to, or all events if the turn failed as a whole.
    /// The actor is as it was before the turn, and receives the other events again.
    fn give_up(&mut self, activation: &mut Activation, lost: Option<u64>) -> Result<(), RunError> {
        self.begin(activation);
        let events = mem::take(&mut activation.turn.events);
        let is_whole = lost.is_none();
        let is_lost = |(at, event): &(u64, &Event)| match lost {
            Some(lost) => *at == lost,
            // Whoever waits for the actor to catch up must not wait for ever.
            None => !matches!(event, Event::Sync { .. }),
        };
        let (lost, again): (Vec<_>, Vec<_>) = (0..).zip(&events).partition(is_lost);
        for (_, event) in &lost {
            activation.draft.lose(event).map_err(RunError::Refused)?;
            if let (
                true,
                Event::Ended {
                    failed: Some(failed), ..
                },
            ) = (is_whole, event)
            {
                activation.report(failed.clone()).map_err(RunError::Crash)?;
            }
        }
        if !again.is_empty() && !lost.is_empty() {
            activation.draft.state.queue.push_front(Batch {
                to: activation.turn.actor,
                from: activation.sender(),
                cause: activation.turn.cause.clone(),
                events: again.into_iter().map(|(_, event)| event.clone()).collect(),
            });
        }
        activation.turn.dropped = lost.into_iter().map(|(at, _)| at).collect();
        activation.turn.events = events;
        if let Some(instance) = self.instances.get_mut(activation.turn.actor) {
            self.programs.begin_turn(instance);
            let programs = &mut self.programs;
            activation.release(&mut Bound {
                programs: &mut **programs,
                instance,
            });
        }
        Ok(())
    }

    /// Ends an actor: retracts its assertions in descending order of their handles, then runs its
    /// exit hooks.
    fn crash(&mut self, activation: &mut Activation, failure: &Failure) -> Result<(), RunError> {
        self.begin(activation);
        let exit = Exit {
            code: FAILED,
            handles: activation.held_handles(),
            failure: Some(failure.clone()),
        };
        let ended = match self.instances.get_mut(activation.turn.actor) {
            Some(instance) => {
                self.programs.begin_turn(instance);
                let programs = &mut self.programs;
                activation.crash(
                    &mut Bound {
                        programs: &mut **programs,
                        instance,
                    },
                    exit,
                )
            }
            None => activation.crash(&mut NoInstance, exit),
        };
        ended.map_err(RunError::Crash)
    }

    /// Compares a turn with its record, byte for byte, and undoes it if they differ.
    fn compare(
        &mut self,
        activation: &mut Activation,
        expected: Option<&ClosedRecord>,
        body: &PackedValue,
    ) -> Result<(), RunError> {
        let is_other = |record: &&ClosedRecord| {
            let has_outline = |outline: &[String]| outline == activation.turn.outline();
            record.body_bytes() != body.as_bytes() || !record.outline().is_none_or(has_outline)
        };
        let Some(record) = expected.filter(is_other) else {
            return Ok(());
        };
        let divergence = divergence(record, &activation.turn);
        let has_committed = activation.turn.outcome == (Outcome::Committed {});
        if has_committed {
            self.undo(activation);
        } else {
            self.undo_state(activation);
        }
        let mut divergence = divergence?;
        if let (true, "actions", Some(action)) = (has_committed, divergence.part, divergence.element) {
            divergence.span = self.place(activation, action).map(Box::new);
        }
        Err(RunError::Divergence(Box::new(divergence)))
    }

    /// Finds the source position of an action, by taking the turn once more and undoing it again.
    fn place(&mut self, activation: &mut Activation, action: usize) -> Option<Origin> {
        // The result of the repeated turn is known already.
        let _ = self.run_instance(activation, Aim::Seek(action));
        let place = activation.found();
        self.undo(activation);
        place
    }

    /// Finds the place in the program from which an action of the next recorded turn came, by
    /// taking that turn once more. The run is used up, for it has lost the events of that turn.
    ///
    /// # Errors
    /// [`RunError::Divergence`] if the record is not that of the next turn.
    pub fn place_of(mut self, record: &ClosedRecord, action: usize) -> Result<Option<Origin>, RunError> {
        let batch = self.recorded_batch(record)?;
        self.prepare(&batch)?;
        let mut activation = self.before_turn(batch);
        Ok(self.place(&mut activation, action))
    }

    /// Runs the instance of the next recorded turn's actor on the events of that turn, and leaves
    /// it as it is then, for questions about how it got there. The run is used up.
    ///
    /// # Errors
    /// [`RunError::Divergence`] if the record is not that of the next turn.
    pub fn take_again(&mut self, record: &ClosedRecord) -> Result<(), RunError> {
        let batch = self.recorded_batch(record)?;
        self.prepare(&batch)?;
        let mut activation = self.before_turn(batch);
        // Its result is known already, a failure included.
        let _ = self.run_instance(&mut activation, Aim::Repeat);
        Ok(())
    }

    /// Restores the state and the actor's instance to where they were before the turn.
    pub(super) fn undo(&mut self, activation: &mut Activation) {
        self.undo_state(activation);
        let renewed = mem::take(&mut self.renewed);
        for actor in renewed.into_iter().chain([activation.turn.actor]) {
            if let Some(instance) = self.instances.get_mut(actor) {
                self.programs.abort_turn(instance);
            }
        }
        self.put_back();
    }

    fn undo_state(&mut self, activation: &mut Activation) {
        mem::swap(&mut self.state, &mut activation.draft.state);
        self.state.abort_turn();
        activation.begin_again();
    }

    /// Makes the draft the state, commits the instance's changes, and returns the effects.
    fn adopt(&mut self, activation: &mut Activation) -> Vec<Effect> {
        let Activation { turn, draft, .. } = activation;
        let effects = effects(&turn.actions, draft);
        mem::swap(&mut self.state, &mut draft.state);
        let reconsidered = self.state.to_reconsider();
        self.state.commit_turn();
        debug_assert!(
            self.state.actor(turn.actor).is_none_or(Actor::has_whole_facets),
            "a facet lists all its observers, waits and fibers, so that they end with it"
        );
        for (actor, request) in reconsidered {
            draft.outbox.push(actor, Event::Reconsider { request });
        }
        if let Some(replaced) = self.replaced.take()
            && let Some(slot) = replaced.slot
        {
            self.checkpoints.retain_ended(replaced.actor, slot);
        }
        if self.state.actor(turn.actor).is_none() {
            if let Some(mut slot) = self.instances.remove(turn.actor) {
                self.programs.commit_turn(&mut slot.instance);
                self.checkpoints.retain_ended(turn.actor, slot);
            }
        } else if let Some(instance) = self.instances.get_mut(turn.actor) {
            self.programs.commit_turn(instance);
        }
        for actor in mem::take(&mut self.renewed) {
            if let Some(instance) = self.instances.get_mut(actor) {
                self.programs.commit_turn(instance);
            }
        }
        effects
    }

    /// Begins a draft, and moves the state into it.
    fn begin(&mut self, activation: &mut Activation) {
        activation.draft.actor = activation.turn.actor;
        let next = self.head.and_then(|tip| tip.sequence.next());
        activation.draft.turn = next.unwrap_or(Sequence::FIRST);
        mem::swap(&mut self.state, &mut activation.draft.state);
        activation.draft.state.begin_turn();
    }

    /// Sets the draft's lineage, which identifies the history of a turn: the branch, the newest
    /// record, and the current input, because branches that part at an answer share every earlier
    /// record. (An actor that only ends requests nothing and needs no lineage.)
    ///
    /// # Errors
    /// The failure for which the turn must be undone: the input does not fit into a record.
    fn name_lineage(&self, activation: &mut Activation) -> Result<(), Failure> {
        let said = match activation.turn.cause {
            Cause::Start {} | Cause::Turn { .. } => None,
            Cause::Input {} => {
                let said = PackedValue::write(|out| activation.turn.events.write(out))
                    .map_err(|error| Failure::new("turn-too-large", error.to_string()))?;
                Some(BlobHash::of(said.as_bytes()))
            }
        };
        activation.draft.lineage = Lineage {
            branch: Some(self.written_on.1),
            newest: self.head.map(|tip| tip.hash),
            said,
        };
        Ok(())
    }
}

/// Says whether the person stopped a text before any of its turns had committed or attempted what
/// the gate refused. Then nothing of it stays, not even a record.
fn is_withdrawn(turn: &TurnRecord, attempt: &Result<(), Fault>) -> bool {
    let is_interrupted = |fault: &Fault| fault.failure.is_interruption();
    attempt.as_ref().is_err_and(is_interrupted) && turn.attempts.is_empty() && turn.events.iter().any(is_evaluation)
}

fn is_evaluation(event: &Event) -> bool {
    matches!(event, Event::Evaluate { .. })
}

/// Passes the actions through the gate and packs the record, in the given version of instances.
///
/// # Errors
/// The failure for which the turn must be undone: a denial, or a record that would be too large.
pub(super) fn judged(activation: &mut Activation) -> Result<PackedValue, Failure> {
    let verdicts = activation.with_proposal(|proposal| gate::judge(&proposal));
    let turn = &mut activation.turn;
    if let Some((attempt, failure)) = denial(&turn.actions, &verdicts) {
        turn.attempts.push(attempt);
        return Err(failure);
    }
    turn.verdicts = verdicts;
    let packed = turn.pack();
    packed.map_err(|error| Failure::new("turn-too-large", error.to_string()))
}

/// Finds the first action that is denied, and the failure of the turn for it.
fn denial(actions: &[Action], verdicts: &[Verdict]) -> Option<(Attempt, Failure)> {
    actions.iter().zip(verdicts).find_map(|(action, verdict)| {
        let reason = verdict.fault(action)?;
        let attempt = Attempt {
            event: None,
            actions: vec![action.clone()],
            verdict: verdict.clone(),
        };
        Some((attempt, Failure::new("denied", format!("{action}: {reason}"))))
    })
}

/// Lists the effects of a turn, in the order of its actions.
fn effects(actions: &[Action], draft: &Draft) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut add = |request: RequestId, kind: EffectKind| {
        effects.push(Effect {
            request,
            key: key(draft, request),
            asking: None,
            kind,
        });
    };
    for action in actions {
        action.effects().for_each(|(request, kind)| add(request, kind));
    }
    for request in &draft.outbox.withdrawn {
        add(*request, EffectKind::Withdraw);
    }
    effects
}

/// Returns the key of an effect: that of its request, which may be an earlier turn's.
fn key(draft: &Draft, request: RequestId) -> String {
    let known = draft.state.requests.get(&request);
    known.map_or_else(|| draft.key(request), |known| known.key.clone())
}

#[cfg(test)]
mod tests;
