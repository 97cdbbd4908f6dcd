//! Checkpoints of a living run, to which it returns without its store.
//!
//! A checkpoint is a savepoint in the state between two turns, and one in each instance that has
//! run since. The run makes one whenever repeating the turns since the last would take about a
//! millisecond, so going back costs the changes since then plus that millisecond, whatever the size
//! of the heaps.
//! INVARIANT: a run that went back equals the one that the store would have restored, turn for
//! turn. Its next snapshot is whole, because earlier images may belong to an abandoned branch, so
//! the record with that snapshot has another hash.
//! It does not choose the turn to return to, and cannot return beyond its oldest checkpoint;
//! `replay.rs` then starts from a snapshot in the store.
//! Read next: `rewind.rs`, `replay.rs`.

use std::collections::VecDeque;

use duet_journal::{Sequence, Tip};

use crate::model::identity::ActorId;
use crate::run::error::RunError;
use crate::run::instances::{ActorSlot, Instances};
use crate::run::snapshot::{Since, TURN_COST, body_cost};
use crate::state::RunState;
use crate::state::savepoint::StateSavepoint;
use crate::turn::erased::{AnyInstance, ErasedPrograms};

/// The maximum cost of the turns between two checkpoints, in units of fuel: about a millisecond.
const COST_MAX: u64 = 100_000;
/// The run keeps one checkpoint that is at least this many turns old.
const TURNS_KEPT: u64 = 1024;

/// The checkpoints of a run whose instances are `B`.
pub(crate) struct Checkpoints {
    /// Oldest first.
    kept: VecDeque<Checkpoint>,
    /// The number of the newest checkpoint; the first is 1.
    newest: u64,
    /// The cost of the turns since the newest checkpoint, in units of fuel; another is due at
    /// `cost_max`.
    cost: u64,
    pub(super) cost_max: u64,
    /// The instances that have a savepoint, each with the savepoint's number, oldest first.
    savepoints: VecDeque<(u64, ActorId)>,
}

struct Checkpoint {
    number: u64,
    tip: Tip,
    state: StateSavepoint,
    since_snapshot: Since,
    /// The instances of actors that have ended since.
    ended: Vec<(ActorId, ActorSlot<AnyInstance>)>,
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self {
            kept: VecDeque::new(),
            newest: 0,
            cost: 0,
            cost_max: COST_MAX,
            savepoints: VecDeque::new(),
        }
    }
}

impl Checkpoints {
    /// Makes a savepoint in an instance that is about to run for the first time since the newest
    /// checkpoint.
    pub(crate) fn before_turn(
        &mut self,
        actor: ActorId,
        is_new: bool,
        ActorSlot { instance, known, .. }: &mut ActorSlot<AnyInstance>,
        programs: &mut dyn ErasedPrograms,
    ) {
        let Some(oldest) = self.kept.front() else {
            return;
        };
        let newest = self.newest;
        if is_new {
            (known.born, known.saved) = (newest, newest);
        }
        if known.saved < newest {
            programs.make_savepoint(instance, newest, oldest.number);
            known.saved = newest;
            self.savepoints.push_back((newest, actor));
        }
    }

    /// Keeps the instance of an actor that has ended, so that the run can return to a turn when it
    /// lived.
    pub(crate) fn retain_ended(&mut self, actor: ActorId, slot: ActorSlot<AnyInstance>) {
        let born = slot.known.born;
        if let Some(newest) = self.kept.back_mut().filter(|newest| born < newest.number) {
            newest.ended.push((actor, slot));
        }
    }

    /// Finds the newest checkpoint at or before `last` whose tip satisfies `is_on_branch`.
    pub(super) fn newest_on(
        &self,
        last: Sequence,
        is_on_branch: impl Fn(&Tip) -> Result<bool, RunError>,
    ) -> Result<Option<u64>, RunError> {
        for checkpoint in self.kept.iter().rev().filter(|kept| kept.tip.sequence <= last) {
            if is_on_branch(&checkpoint.tip)? {
                return Ok(Some(checkpoint.number));
            }
        }
        Ok(None)
    }

    /// Counts the body of a turn.
    pub(super) fn count_body(&mut self, length_bytes: usize) {
        self.cost = self.cost.saturating_add(body_cost(length_bytes));
    }

    /// Counts a turn, and returns whether a checkpoint is due.
    pub(super) fn count(&mut self, fuel: u64) -> bool {
        self.cost = self.cost.saturating_add(TURN_COST).saturating_add(fuel);
        self.cost >= self.cost_max || self.kept.is_empty()
    }

    /// Makes a checkpoint due after the current turn.
    pub(crate) fn ask_for_checkpoint(&mut self) {
        self.cost = u64::MAX;
    }

    /// Makes a checkpoint. If memory is short, it drops all earlier ones, because they keep what
    /// the run has given up since.
    pub(super) fn keep(&mut self, tip: Tip, state: &mut RunState, since_snapshot: Since, is_memory_short: bool) {
        self.newest += 1;
        self.cost = 0;
        debug_assert!(
            self.kept
                .back()
                .is_none_or(|kept| kept.number < self.newest && kept.tip.sequence <= tip.sequence),
            "checkpoints stand in the order of their turns"
        );
        self.kept.push_back(Checkpoint {
            number: self.newest,
            tip,
            state: state.make_savepoint(self.newest),
            since_snapshot,
            ended: Vec::new(),
        });
        let turns_kept = if is_memory_short { 0 } else { TURNS_KEPT };
        let is_far_back =
            |checkpoint: &Checkpoint| checkpoint.tip.sequence.number() + turns_kept <= tip.sequence.number();
        while self.kept.get(1).is_some_and(is_far_back) {
            self.kept.pop_front();
        }
        state.drop_savepoints(self.oldest());
    }

    /// Returns the number of the oldest checkpoint.
    fn oldest(&self) -> u64 {
        self.kept.front().map_or(0, |checkpoint| checkpoint.number)
    }

    /// Drops the savepoints of instances that no checkpoint needs any more.
    pub(super) fn drop_savepoints(
        &mut self,
        instances: &mut Instances<AnyInstance>,
        programs: &mut dyn ErasedPrograms,
    ) {
        let oldest = self.oldest();
        while let Some((_, actor)) = self.savepoints.pop_front_if(|(number, _)| *number < oldest) {
            if let Some(instance) = instances.get_mut(actor) {
                programs.drop_savepoints(instance, oldest);
            }
        }
    }

    /// Restores the state and the instances to a checkpoint, which stays, and returns its tip;
    /// `None` if the state or an instance cannot go back.
    pub(super) fn restore_savepoint(
        &mut self,
        number: u64,
        state: &mut RunState,
        instances: &mut Instances<AnyInstance>,
        programs: &mut dyn ErasedPrograms,
    ) -> Option<(Tip, Since)> {
        let mut ended = Vec::new();
        self.savepoints.retain(|(savepoint, _)| *savepoint < number);
        while let Some(later) = self.kept.pop_back_if(|checkpoint| checkpoint.number > number) {
            ended.extend(later.ended);
        }
        let reached = self.kept.back_mut()?;
        ended.append(&mut reached.ended);
        if !state.restore_savepoint(number, &reached.state) {
            return None;
        }
        for (actor, slot) in ended {
            instances.put(actor, slot);
        }
        let is_unborn =
            |(actor, slot): (ActorId, &mut ActorSlot<AnyInstance>)| (slot.known.born >= number).then_some(actor);
        let unborn: Vec<ActorId> = instances.slots_mut().filter_map(is_unborn).collect();
        for actor in unborn {
            instances.remove(actor);
        }
        for (_, ActorSlot { instance, known, .. }) in instances.slots_mut() {
            if !programs.restore_savepoint(instance, number) {
                return None;
            }
            known.saved = known.saved.min(number - 1);
        }
        (self.newest, self.cost) = (number, 0);
        Some((reached.tip, reached.since_snapshot))
    }
}

#[cfg(test)]
mod tests;
