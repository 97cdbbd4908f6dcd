//! The turn, whole: event batch → instance runs → actions → gate → commit record → dataspace and queues → (durable) → effects.
//!
//! `Run::take_turn` is that line; each step is one call, and each call's body is in this file.
//! INVARIANT: until `adopt`, nothing but the draft and the actor's own body has changed, and the body can go back; from then on the state,
//! the body and the chain of records agree. Effects wait until `run.rs` has been told that the record is durable.
//! It does not choose the next batch and does not write to stores; `run.rs` does.
//! Read next: `run.rs`, then `replay.rs`.

use std::collections::btree_map::Entry;

use duet_journal::{BlobHash, PackedValue};

use crate::action::{Action, Exit};
use crate::activation::{Activation, Performed};
use crate::body::{Bound, Programs};
use crate::codec::Codec;
use crate::draft::{Draft, Lineage};
use crate::driver::{Effect, EffectKind};
use crate::event::{Batch, Cause};
use crate::gate::{self, Principal, Proposal, Verdict};
use crate::identity::ActorId;
use crate::record::{Failure, Origin, Outcome, TurnRecord};
use crate::replay;
use crate::run::{Run, RunError};
use crate::state::RunState;

/// The exit code of an actor that failed.
const FAILED: u64 = 1;

/// A turn that has been run and judged and can be recorded.
struct Judged {
    performed: Performed,
    turn: TurnRecord,
    body: PackedValue,
}

impl<P: Programs> Run<P> {
    /// Takes the turn in which an actor handles `batch`, which has been taken out of `before`.
    ///
    /// With `expected`, the turn must come out as that record says.
    ///
    /// # Errors
    /// [`RunError::Divergence`] if it does not; then the turn is undone.
    pub(crate) fn take_turn(
        &mut self,
        before: &RunState,
        batch: &Batch,
        expected: Option<&TurnRecord>,
    ) -> Result<(), RunError> {
        let attempt = self.run_instance(before, batch, None);
        let judged = self.judge(before, batch, attempt)?;
        self.compare(before, batch, (expected, &judged.turn))?;
        let effects = self.adopt(judged.performed, &judged.turn);
        self.chain(&judged.body)?;
        self.hold(effects);
        Ok(())
    }

    /// Runs the actor's body on the batch, on a draft of the state; with `sought`, notes where the action at that position comes from.
    fn run_instance(
        &mut self,
        before: &RunState,
        batch: &Batch,
        sought: Option<usize>,
    ) -> Result<Performed, (Failure, u64)> {
        let lineage = self.lineage(batch).map_err(|failure| (failure, 0))?;
        let draft = self.draft(before, batch.to, lineage);
        let activation = Activation::new(draft, &batch.events, self.genesis.limits);
        let activation = match sought {
            Some(action) => activation.seek(action),
            None => activation,
        };
        let Some(actor) = before.actor(batch.to) else {
            return Ok(activation.drop_all());
        };
        let body = match self.bodies.entry(batch.to) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let loaded = self.programs.load(&actor.program, &self.genesis.limits);
                entry.insert(loaded.map_err(|failure| (failure, 0))?)
            }
        };
        self.programs.begin_turn(body);
        activation.run(&mut Bound {
            programs: &mut self.programs,
            body,
        })
    }

    /// Passes what was done through the gate. A failure undoes it and puts the end of the actor in its place, which passes the gate too.
    fn judge(
        &mut self,
        before: &RunState,
        batch: &Batch,
        attempt: Result<Performed, (Failure, u64)>,
    ) -> Result<Judged, RunError> {
        let (failure, fuel) =
            match attempt.map(|performed| (performed.fuel_used, judged(before, batch, performed, None))) {
                Ok((_, Ok(judged))) => return Ok(judged),
                Ok((fuel, Err(failure))) => (failure, fuel),
                Err(failed) => failed,
            };
        self.undo(batch.to);
        let end = self.crash(before, batch.to, fuel)?;
        judged(before, batch, end, Some(failure)).map_err(RunError::Crash)
    }

    /// Ends an actor: its assertions are retracted in descending order of the handles.
    fn crash(&self, before: &RunState, actor: ActorId, fuel_used: u64) -> Result<Performed, RunError> {
        let mut draft = self.draft(before, actor, Lineage::default());
        let facets = before.actor(actor).into_iter().flat_map(|actor| actor.facets.values());
        let mut handles: Vec<_> = facets.flat_map(|facet| &facet.handles).copied().collect();
        handles.sort_by(|left, right| right.cmp(left));
        let exit = Action::from(Exit { code: FAILED, handles });
        exit.perform(&mut draft).map_err(RunError::Refused)?;
        Ok(Performed {
            draft,
            actions: vec![exit],
            dropped: Vec::new(),
            fuel_used,
            place: None,
        })
    }

    /// Compares a turn with what the journal says of it, and undoes it if it is another one.
    fn compare(
        &mut self,
        before: &RunState,
        batch: &Batch,
        (expected, found): (Option<&TurnRecord>, &TurnRecord),
    ) -> Result<(), RunError> {
        let sequence = self.next_sequence()?;
        let Some(mut divergence) = expected.and_then(|expected| replay::difference(sequence, expected, found)) else {
            return Ok(());
        };
        if found.outcome == (Outcome::Committed {}) {
            self.undo(batch.to);
            if let ("actions", Some(action)) = (divergence.part, divergence.element) {
                divergence.span = self.place(before, batch, action).map(Box::new);
            }
        }
        Err(RunError::Divergence(Box::new(divergence)))
    }

    /// Finds where in the program an action comes from, by taking the turn once more and undoing it again.
    fn place(&mut self, before: &RunState, batch: &Batch, action: usize) -> Option<Origin> {
        let place = self
            .run_instance(before, batch, Some(action))
            .ok()
            .and_then(|performed| performed.place);
        self.undo(batch.to);
        place
    }

    /// Puts an actor's body back to where it was before the turn.
    fn undo(&mut self, actor: ActorId) {
        if let Some(body) = self.bodies.get_mut(&actor) {
            self.programs.abort_turn(body);
        }
    }

    /// Makes the draft the state, keeps what the body did, and returns what the world is to do.
    fn adopt(&mut self, performed: Performed, turn: &TurnRecord) -> Vec<Effect> {
        let effects = effects(&performed);
        self.state = performed.draft.state;
        self.outbox = performed.draft.outbox;
        match (&turn.outcome, self.state.actor(turn.actor)) {
            (Outcome::Committed {}, Some(_)) => {
                if let Some(body) = self.bodies.get_mut(&turn.actor) {
                    self.programs.commit_turn(body);
                }
            }
            (Outcome::Committed {}, None) | (Outcome::Failed { .. }, _) => {
                self.bodies.remove(&turn.actor);
            }
        }
        effects
    }

    /// Begins a draft that stands on the newest record; an actor that only ends asks for nothing and needs no lineage.
    fn draft(&self, before: &RunState, actor: ActorId, lineage: Lineage) -> Draft {
        Draft::new(before.clone(), actor, self.names.clone(), lineage)
    }

    /// Names the history that leads to the turn that handles `batch`: the newest record, and what the world says now, because branches that
    /// part at an answer share every record before it.
    ///
    /// # Errors
    /// The failure for which the turn must be undone: what the world says does not fit into a record.
    fn lineage(&self, batch: &Batch) -> Result<Lineage, Failure> {
        let newest = self.head.map(|tip| tip.hash);
        match batch.cause {
            Cause::Start {} | Cause::Turn { .. } => Ok(Lineage { newest, said: None }),
            Cause::Input {} => {
                let said = PackedValue::from_value(&batch.events.encode())
                    .map_err(|error| Failure::new("turn-too-large", error.to_string()))?;
                Ok(Lineage {
                    newest,
                    said: Some(BlobHash::of(said.as_bytes())),
                })
            }
        }
    }
}

/// Judges what was done and writes it down.
///
/// # Errors
/// The failure for which the turn must be undone: a denial, or a record that would be too large.
fn judged(before: &RunState, batch: &Batch, performed: Performed, failure: Option<Failure>) -> Result<Judged, Failure> {
    let nothing = crate::actor::Manifest::default();
    let manifest = before.actor(batch.to).map_or(&nothing, |actor| &actor.manifest);
    let principal = Principal {
        actor: batch.to,
        manifest,
    };
    let verdicts = gate::judge(&Proposal {
        before,
        principal,
        actions: &performed.actions,
    });
    denial(&performed.actions, &verdicts)?;
    let turn = TurnRecord {
        actor: batch.to,
        cause: batch.cause.clone(),
        events: batch.events.clone(),
        dropped: performed.dropped.clone(),
        actions: performed.actions.clone(),
        verdicts,
        fuel: performed.fuel_used,
        outcome: failure.map_or(Outcome::Committed {}, |failure| Outcome::Failed { failure }),
    };
    let body = turn
        .pack()
        .map_err(|error| Failure::new("turn-too-large", error.to_string()))?;
    Ok(Judged { performed, turn, body })
}

/// Finds the first action that is denied.
fn denial(actions: &[Action], verdicts: &[Verdict]) -> Result<(), Failure> {
    for (action, verdict) in actions.iter().zip(verdicts) {
        match verdict {
            Verdict::Allow {} => {}
            Verdict::Deny { reason } => return Err(Failure::new("denied", format!("{action}: {reason}"))),
        }
    }
    Ok(())
}

/// Lists what the world is to do for a turn, in the order of its actions.
fn effects(performed: &Performed) -> Vec<Effect> {
    let draft = &performed.draft;
    let asked = performed.actions.iter().filter_map(Action::effect);
    let withdrawn = draft
        .outbox
        .withdrawn
        .iter()
        .map(|request| (*request, EffectKind::Withdraw));
    asked
        .chain(withdrawn)
        .map(|(request, kind)| Effect {
            request,
            key: draft.key(request),
            kind,
        })
        .collect()
}

#[cfg(test)]
mod tests;
