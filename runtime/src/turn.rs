//! The turn, whole: event batch → instance runs → actions → gate → commit record → dataspace and queues → (durable) → effects.
//!
//! `Run::take_turn` is that line; each step is one call, and each call's body is in this file.
//! INVARIANT: until `adopt`, nothing but the draft and the actor's own body has changed, and the body can go back; from then on the state,
//! the body and the chain of records agree. Effects wait until `run.rs` has been told that the record is durable.
//! It does not choose the next batch and does not write to stores; `run.rs` does.
//! Read next: `run.rs`, then `replay.rs`.

use duet_journal::{BlobHash, ClosedRecord, PackedValue};

use crate::action::{Action, Exit, Synced};
use crate::activation::{Activation, Attempt, Performed};
use crate::body::{Bodiless, Bound, Programs};
use crate::codec::Codec;
use crate::draft::{Draft, Lineage};
use crate::driver::{Effect, EffectKind, RequestId};
use crate::event::{Batch, Cause, Event};
use crate::exhaustion::{self, Exhaustion};
use crate::gate::{self, Principal, Proposal, Verdict};
use crate::identity::{ActorId, FiberId};
use crate::record::{Failure, Origin, Outcome, TurnRecord};
use crate::replay;
use crate::run::{Run, RunError};
use crate::state::RunState;

/// The exit code of an actor that failed.
const FAILED: u64 = 1;

/// What a turn is run for.
enum Aim {
    /// To be recorded.
    Take,
    /// To come out as it is recorded.
    Repeat,
    /// To fail as it is recorded, without being run.
    Fail(Exhaustion),
    /// To note where the action at this position comes from.
    Seek(usize),
}

/// A turn that has been run and judged and can be recorded.
struct Judged {
    performed: Performed,
    turn: TurnRecord,
    body: PackedValue,
}

impl<P: Programs> Run<P> {
    /// Takes the turn in which an actor handles `batch`, which has been taken out of the queue.
    ///
    /// With `expected`, the turn must come out as that record says; nothing is written then, and nothing asked of the world.
    ///
    /// # Errors
    /// [`RunError::Divergence`] if it does not; then the turn is undone.
    pub(crate) fn take_turn(&mut self, mut batch: Batch, expected: Option<&ClosedRecord>) -> Result<(), RunError> {
        let aim = match expected {
            None => Aim::Take,
            Some(record) => Exhaustion::recorded(record)?.map_or(Aim::Repeat, Aim::Fail),
        };
        let found = self.look_ahead(&batch);
        self.images.outdate(batch.to);
        let attempt = exhaustion::note(self.run_instance(&mut batch, aim));
        let judged = self.judge(&mut batch, attempt)?;
        let judged = self.compare(&mut batch, expected, judged)?;
        let has_changed = judged.performed.draft.state.has_touched(batch.to);
        let effects = self.adopt(judged.performed, &judged.turn);
        if let Some(record) = expected {
            self.follow(record, judged.turn.fuel);
        } else {
            self.chain(&judged.body, judged.turn.fuel)?;
            self.hold(effects);
        }
        self.keep_checkpoint_if_due(judged.turn.fuel);
        self.note_run(found, (batch.to, has_changed));
        Ok(())
    }

    /// Runs the actor's body on the batch, whose events go with what it does, on a draft of the state.
    fn run_instance(&mut self, batch: &mut Batch, aim: Aim) -> Attempt {
        let (lineage, too_large) = match self.lineage(batch) {
            Ok(lineage) => (lineage, None),
            Err(failure) => (Lineage::default(), Some(failure)),
        };
        let draft = self.draft(batch.to, lineage);
        let activation = Activation::new(draft, std::mem::take(&mut batch.events), self.genesis.limits);
        let activation = match aim {
            Aim::Take => activation.count_memory(),
            Aim::Seek(action) => activation.seek(action),
            Aim::Repeat | Aim::Fail(_) => activation,
        };
        let (lodging, is_new) = match self.bodies.lodging_mut(batch.to) {
            Some(lodging) => (lodging, false),
            None => {
                let Some(actor) = activation.acting() else {
                    return activation.drop_all();
                };
                match self.programs.load(&actor.program.value(), &self.genesis.limits) {
                    Ok(loaded) => (self.bodies.insert(batch.to, loaded), true),
                    Err(failure) => return activation.fail(failure),
                }
            }
        };
        self.past.before_turn((batch.to, is_new), lodging, &mut self.programs);
        let body = &mut lodging.body;
        self.programs.begin_turn(body);
        if let Some(failure) = too_large {
            return activation.fail(failure);
        }
        if let Aim::Fail(exhaustion) = aim {
            return exhaustion.repeat(activation);
        }
        activation.run(&mut Bound {
            programs: &mut self.programs,
            body,
        })
    }

    /// Passes what was done through the gate. A failure undoes it and puts the end of the actor in its place, which passes the gate too.
    fn judge(&mut self, batch: &mut Batch, attempt: Attempt) -> Result<Judged, RunError> {
        let Attempt {
            performed,
            failure,
            interaction,
        } = attempt;
        let fuel = performed.fuel_used;
        let (failure, mut performed) = match failure {
            Some(failure) => (failure, performed),
            None => match judged(batch, performed, None, self.genesis.version) {
                Ok(judged) => return Ok(judged),
                Err((failure, performed)) => (failure, *performed),
            },
        };
        batch.events = std::mem::take(&mut performed.events);
        self.undo(batch.to, performed);
        let end = match self.interaction(batch, interaction) {
            Some(fiber) => self.give_up(batch, fiber, fuel)?,
            None => self.crash(batch, &failure, fuel)?,
        };
        judged(batch, end, Some(failure), self.genesis.version).map_err(|(failure, _)| RunError::Crash(failure))
    }

    /// Finds the interaction that is to end instead of the actor: what failed, or what was wanted where the turn as a whole could not be.
    fn interaction(&self, batch: &Batch, failed: Option<FiberId>) -> Option<Option<FiberId>> {
        let is_wanted = batch.events.iter().any(|event| matches!(event, Event::Evaluate { .. }));
        if !is_wanted {
            return failed.map(Some);
        }
        // Its fiber began in the turn that was undone.
        self.state.actor(batch.to).map(|_| None)
    }

    /// Ends an interaction and nothing else: the actor is as it was before the turn.
    fn give_up(&mut self, batch: &mut Batch, fiber: Option<FiberId>, fuel_used: u64) -> Result<Performed, RunError> {
        let actor = batch.to;
        let mut draft = self.draft(actor, Lineage::default());
        let is_parked = |fiber: &FiberId| draft.acting().is_ok_and(|actor| actor.fibers.contains_key(fiber));
        if let Some(fiber) = fiber.filter(is_parked) {
            draft.end_fiber(fiber).map_err(RunError::Refused)?;
        }
        if let Some(body) = self.bodies.get_mut(actor) {
            self.programs.begin_turn(body);
            for callable in std::mem::take(&mut draft.outbox.released) {
                self.programs.release(body, callable);
            }
        }
        let mut actions = Vec::new();
        for event in &batch.events {
            if let Event::Sync { from, fiber } = *event {
                let synced = Action::from(Synced { to: from, fiber });
                synced.perform(&mut draft).map_err(RunError::Refused)?;
                actions.push(synced);
            }
        }
        Ok(Performed {
            draft,
            actions,
            events: std::mem::take(&mut batch.events),
            dropped: Vec::new(),
            fuel_used,
            place: None,
        })
    }

    /// Ends an actor: its assertions are retracted in descending order of the handles, then its exit hooks run.
    fn crash(&mut self, batch: &mut Batch, failure: &Failure, fuel_used: u64) -> Result<Performed, RunError> {
        let actor = batch.to;
        let facets = self
            .state
            .actor(actor)
            .into_iter()
            .flat_map(|actor| actor.facets.values());
        let mut handles: Vec<_> = facets.flat_map(|facet| facet.handles.iter().copied()).collect();
        handles.sort_by(|left, right| right.cmp(left));
        let draft = self.draft(actor, Lineage::default());
        let activation = Activation::new(draft, std::mem::take(&mut batch.events), self.genesis.limits);
        let exit = Exit {
            code: FAILED,
            handles,
            failure: Some(failure.clone()),
        };
        let ended = match self.bodies.get_mut(actor) {
            Some(body) => {
                self.programs.begin_turn(body);
                let programs = &mut self.programs;
                activation.crash(&mut Bound { programs, body }, exit)
            }
            None => activation.crash(&mut Bodiless, exit),
        };
        let mut performed = ended.map_err(RunError::Crash)?;
        performed.fuel_used += fuel_used;
        Ok(performed)
    }

    /// Compares a turn with what the journal says of it, byte for byte, and undoes it if it is another one.
    fn compare(
        &mut self,
        batch: &mut Batch,
        expected: Option<&ClosedRecord>,
        found: Judged,
    ) -> Result<Judged, RunError> {
        let Some(record) = expected.filter(|record| record.body_bytes() != found.body.as_bytes()) else {
            return Ok(found);
        };
        let divergence = replay::divergence(record, &found.turn);
        let has_committed = found.turn.outcome == (Outcome::Committed {});
        batch.events = found.turn.events;
        if has_committed {
            self.undo(batch.to, found.performed);
        } else {
            self.undo_state(found.performed);
        }
        let mut divergence = divergence?;
        if let (true, "actions", Some(action)) = (has_committed, divergence.part, divergence.element) {
            divergence.span = self.place(batch, action).map(Box::new);
        }
        Err(RunError::Divergence(Box::new(divergence)))
    }

    /// Finds where in the program an action comes from, by taking the turn once more and undoing it again.
    fn place(&mut self, batch: &mut Batch, action: usize) -> Option<Origin> {
        let mut performed = self.run_instance(batch, Aim::Seek(action)).performed;
        let place = performed.place.take();
        self.undo(batch.to, performed);
        place
    }

    /// Puts the state and an actor's body back to where they were before the turn.
    fn undo(&mut self, actor: ActorId, performed: Performed) {
        self.undo_state(performed);
        if let Some(body) = self.bodies.get_mut(actor) {
            self.programs.abort_turn(body);
        }
    }

    fn undo_state(&mut self, performed: Performed) {
        self.put(performed.draft.state);
        self.state.abort_turn();
    }

    /// Makes the draft the state, keeps what the body did, and returns what the world is to do.
    fn adopt(&mut self, performed: Performed, turn: &TurnRecord) -> Vec<Effect> {
        let effects = effects(&turn.actions, &performed.draft);
        self.put(performed.draft.state);
        let reconsidered = self.state.to_reconsider();
        self.state.commit_turn();
        self.outbox = performed.draft.outbox;
        for (actor, request) in reconsidered {
            self.outbox.push(actor, Event::Reconsider { request });
        }
        if self.state.actor(turn.actor).is_none() {
            if let Some(mut lodging) = self.bodies.remove(turn.actor) {
                self.programs.commit_turn(&mut lodging.body);
                self.past.bury(turn.actor, lodging);
            }
        } else if let Some(body) = self.bodies.get_mut(turn.actor) {
            self.programs.commit_turn(body);
        }
        effects
    }

    /// Begins a draft that stands on the newest record, and takes the state into it; an actor that only ends asks for nothing and needs
    /// no lineage.
    fn draft(&mut self, actor: ActorId, lineage: Lineage) -> Box<Draft> {
        let spare = self.spare.take().unwrap_or_default();
        let mut state = std::mem::replace(&mut self.state, spare);
        state.begin_turn();
        Box::new(Draft::new(state, actor, self.names.clone(), lineage))
    }

    /// Puts the state back that a draft had.
    fn put(&mut self, state: Box<RunState>) {
        self.spare = Some(std::mem::replace(&mut self.state, state));
    }

    /// Names the history that leads to the turn that handles `batch`: the branch, the newest record, and what the world says now, because
    /// branches that part at an answer share every record before it.
    ///
    /// # Errors
    /// The failure for which the turn must be undone: what the world says does not fit into a record.
    fn lineage(&self, batch: &Batch) -> Result<Lineage, Failure> {
        let lineage = Lineage {
            branch: Some(self.written_on.1),
            newest: self.head.map(|tip| tip.hash),
            said: None,
        };
        match batch.cause {
            Cause::Start {} | Cause::Turn { .. } => Ok(lineage),
            Cause::Input {} => {
                let said = PackedValue::from_value(&batch.events.encode())
                    .map_err(|error| Failure::new("turn-too-large", error.to_string()))?;
                Ok(Lineage {
                    said: Some(BlobHash::of(said.as_bytes())),
                    ..lineage
                })
            }
        }
    }
}

/// Judges what was done and writes it down, in a version of bodies.
///
/// # Errors
/// The failure for which the turn must be undone, a denial or a record that would be too large; and what was done.
fn judged(
    batch: &Batch,
    mut performed: Performed,
    failure: Option<Failure>,
    version: u64,
) -> Result<Judged, (Failure, Box<Performed>)> {
    let nothing = crate::actor::Manifest::default();
    let before = performed.draft.state.before();
    let manifest = before.manifest(batch.to).unwrap_or(&nothing);
    let principal = Principal {
        actor: batch.to,
        manifest,
    };
    let verdicts = gate::judge(&Proposal {
        before,
        principal,
        actions: &performed.actions,
    });
    if let Err(failure) = denial(&performed.actions, &verdicts) {
        return Err((failure, Box::new(performed)));
    }
    let turn = TurnRecord {
        actor: batch.to,
        cause: batch.cause.clone(),
        events: std::mem::take(&mut performed.events),
        dropped: std::mem::take(&mut performed.dropped),
        actions: std::mem::take(&mut performed.actions),
        verdicts,
        fuel: performed.fuel_used,
        outcome: failure.map_or(Outcome::Committed {}, |failure| Outcome::Failed { failure }),
    };
    match turn.pack(version) {
        Ok(body) => Ok(Judged { performed, turn, body }),
        Err(error) => {
            performed.events = turn.events;
            Err((Failure::new("turn-too-large", error.to_string()), Box::new(performed)))
        }
    }
}

/// Finds the first action that is denied.
fn denial(actions: &[Action], verdicts: &[Verdict]) -> Result<(), Failure> {
    for (action, verdict) in actions.iter().zip(verdicts) {
        if let Some(reason) = verdict.fault(action) {
            return Err(Failure::new("denied", format!("{action}: {reason}")));
        }
    }
    Ok(())
}

/// Lists what the world is to do for a turn, in the order of its actions.
fn effects(actions: &[Action], draft: &Draft) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut add = |request: RequestId, kind: EffectKind| {
        effects.push(Effect {
            request,
            key: key(draft, request),
            kind,
        });
    };
    // Hardly any action asks for something.
    for action in actions {
        action.effects().for_each(|(request, kind)| add(request, kind));
    }
    for request in &draft.outbox.withdrawn {
        add(*request, EffectKind::Withdraw);
    }
    effects
}

/// Returns the key of an effect: that of the request it belongs to, which may be an earlier turn's.
fn key(draft: &Draft, request: RequestId) -> String {
    let known = draft.state.requests.get(&request);
    known.map_or_else(|| draft.key(request), |known| known.key.clone())
}

#[cfg(test)]
mod tests;
