//! The recent past of a living run, to which it returns without its store.
//!
//! Owns checkpoints: a mark in the state between two turns, and one in each body that has run since. One is made whenever repeating the turns
//! since the last would take about a millisecond, so going back costs what has changed, and that millisecond, whatever the size of the heaps.
//! INVARIANT: a run that went back is the one that the store would have restored, turn for turn from there on. Its next snapshot is whole, because those it had
//! may be of a branch that was given up; so the record that has it has another name.
//! It does not choose a turn to go to, and cannot go beyond its oldest checkpoint; `replay.rs` then starts from a snapshot in the store.
//! Read next: `replay.rs`.

use std::collections::VecDeque;

use duet_journal::{BranchName, Sequence, Store};

use crate::bodies::{Bodies, Lodging};
use crate::body::Programs;
use crate::identity::ActorId;
use crate::replay::{Recovery, Snapshots, Source};
use crate::run::{Run, RunError, Tip};
use crate::snapshot::{Since, TURN_COST};
use crate::state::{Marked, RunState};

/// The cost of the turns between two checkpoints, in units of fuel: about a millisecond.
const COST_MAX: u64 = 100_000;
/// One checkpoint is kept that is so many turns back.
const TURNS_KEPT: u64 = 1024;

/// The checkpoints of a run whose bodies are `B`.
pub(crate) struct Past<B> {
    /// Oldest first.
    checkpoints: VecDeque<Checkpoint<B>>,
    /// The number of the newest checkpoint; the first is 1.
    newest: u64,
    /// What the turns since then cost, in units of fuel, and from what cost on another is made.
    cost: u64,
    cost_max: u64,
    /// The bodies that were marked, each with the number of the mark, oldest first.
    marked: VecDeque<(u64, ActorId)>,
}

struct Checkpoint<B> {
    number: u64,
    tip: Tip,
    state: Marked,
    since_snapshot: Since,
    /// The bodies of actors that have ended since.
    ended: Vec<(ActorId, Lodging<B>)>,
}

/// What is known of a body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// The newest checkpoint when it came to be.
    born: u64,
    /// The newest checkpoint for which it is marked, or needs no mark.
    marked: u64,
}

impl<B> Default for Past<B> {
    fn default() -> Self {
        Self {
            checkpoints: VecDeque::new(),
            newest: 0,
            cost: 0,
            cost_max: COST_MAX,
            marked: VecDeque::new(),
        }
    }
}

impl<B> Past<B> {
    /// Marks a body that is about to run for the first time since the newest checkpoint.
    pub(crate) fn before_turn<P: Programs<Body = B>>(
        &mut self,
        (actor, is_new): (ActorId, bool),
        Lodging { body, known }: &mut Lodging<B>,
        programs: &mut P,
    ) {
        let Some(oldest) = self.checkpoints.front() else {
            return;
        };
        let newest = self.newest;
        if is_new {
            (known.born, known.marked) = (newest, newest);
        }
        if known.marked < newest {
            programs.mark(body, newest, oldest.number);
            known.marked = newest;
            self.marked.push_back((newest, actor));
        }
    }

    /// Keeps the body of an actor that has ended, for going back to when it lived.
    pub(crate) fn bury(&mut self, actor: ActorId, lodging: Lodging<B>) {
        let born = lodging.known.born;
        if let Some(newest) = self.checkpoints.back_mut().filter(|newest| born < newest.number) {
            newest.ended.push((actor, lodging));
        }
    }

    /// Counts a turn, and says whether a checkpoint is due.
    fn count(&mut self, fuel: u64) -> bool {
        self.cost = self.cost.saturating_add(TURN_COST).saturating_add(fuel);
        self.cost >= self.cost_max || self.checkpoints.is_empty()
    }

    /// Makes a checkpoint due after the present turn.
    pub(crate) fn ask_for_checkpoint(&mut self) {
        self.cost = u64::MAX;
    }

    fn keep(&mut self, tip: Tip, state: &mut RunState, since_snapshot: Since) {
        self.newest += 1;
        self.cost = 0;
        self.checkpoints.push_back(Checkpoint {
            number: self.newest,
            tip,
            state: state.mark(self.newest),
            since_snapshot,
            ended: Vec::new(),
        });
        let is_far_back =
            |checkpoint: &Checkpoint<B>| checkpoint.tip.sequence.number() + TURNS_KEPT <= tip.sequence.number();
        while self.checkpoints.get(1).is_some_and(is_far_back) {
            self.checkpoints.pop_front();
        }
        state.forget_marks(self.oldest());
    }

    /// The number of the oldest checkpoint.
    fn oldest(&self) -> u64 {
        self.checkpoints.front().map_or(0, |checkpoint| checkpoint.number)
    }

    /// Lets the bodies give up the marks that no checkpoint needs any more.
    fn forget_marks<P: Programs<Body = B>>(&mut self, bodies: &mut Bodies<B>, programs: &mut P) {
        let oldest = self.oldest();
        // They have not run for many turns and lie far away in memory: looked at one right after the other, they come at the same time.
        for (_, actor) in self.marked.iter().take_while(|(number, _)| *number < oldest) {
            if let Some(body) = bodies.get(*actor) {
                programs.look_at_marks(body);
            }
        }
        while let Some((_, actor)) = self.marked.pop_front_if(|(number, _)| *number < oldest) {
            if let Some(body) = bodies.get_mut(actor) {
                programs.forget_marks(body, oldest);
            }
        }
    }

    /// Finds the newest checkpoint that is on a branch and not after one of its turns.
    fn newest_on(&self, source: &Source<'_>, last: Sequence) -> Result<Option<u64>, RunError> {
        for checkpoint in self.checkpoints.iter().rev().filter(|kept| kept.tip.sequence <= last) {
            if source.record(checkpoint.tip.sequence)?.hash() == checkpoint.tip.hash {
                return Ok(Some(checkpoint.number));
            }
        }
        Ok(None)
    }

    /// Takes the state and the bodies back to a checkpoint, which stays, and returns where that is; `None` if one of them could not go back.
    fn go_back<P: Programs<Body = B>>(
        &mut self,
        number: u64,
        (state, bodies): (&mut RunState, &mut Bodies<B>),
        programs: &mut P,
    ) -> Option<(Tip, Since)> {
        let mut ended = Vec::new();
        self.marked.retain(|(mark, _)| *mark < number);
        while let Some(later) = self.checkpoints.pop_back_if(|checkpoint| checkpoint.number > number) {
            ended.extend(later.ended);
        }
        let reached = self.checkpoints.back_mut()?;
        ended.append(&mut reached.ended);
        if !state.go_back(number, &reached.state) {
            return None;
        }
        for (actor, lodging) in ended {
            bodies.put(actor, lodging);
        }
        let is_unborn = |(actor, lodging): (ActorId, &mut Lodging<B>)| (lodging.known.born >= number).then_some(actor);
        let unborn: Vec<ActorId> = bodies.lodgings_mut().filter_map(is_unborn).collect();
        for actor in unborn {
            bodies.remove(actor);
        }
        for (_, Lodging { body, known }) in bodies.lodgings_mut() {
            if !programs.go_back(body, number) {
                return None;
            }
            known.marked = known.marked.min(number - 1);
        }
        (self.newest, self.cost) = (number, 0);
        Some((reached.tip, reached.since_snapshot))
    }
}

impl<P: Programs> Run<P> {
    /// Makes a checkpoint after a turn that used so much fuel, if one is due.
    pub(crate) fn keep_checkpoint_if_due(&mut self, fuel: u64) {
        if let Some(tip) = self.head
            && self.past.count(fuel)
        {
            self.past.keep(tip, &mut self.state, self.since_snapshot);
            self.past.forget_marks(&mut self.bodies, &mut self.programs);
        }
    }

    /// Makes a checkpoint in memory whenever repeating the turns since the last would cost so many units of fuel, instead of 100,000.
    pub fn checkpoint_after(&mut self, fuel: u64) {
        self.past.cost_max = fuel;
    }

    /// Takes the run back to a turn of one of its branches, or on to it, by default to the head: from the nearest checkpoint that is kept in memory,
    /// else from the store. What was not durable is lost.
    ///
    /// The run returned can be looked at; [`reopen`](Self::reopen) makes one that goes on.
    ///
    /// # Errors
    /// As [`Source::restore`].
    pub fn rewind(mut self, source: &Source<'_>, at: Option<Sequence>) -> Result<Self, RunError> {
        let last = source.position(at)?;
        let is_stored = self.unflushed.is_empty() && self.unflushed_blobs.is_empty();
        let near = self
            .past
            .newest_on(source, last)?
            .filter(|_| is_stored && *source.run == self.run);
        if !near.is_some_and(|number| self.go_back(number)) {
            return source.restore(Some(last), self.programs, Snapshots::Use);
        }
        self.branch = source.branch.clone();
        source.repeat(&mut self, last)?;
        Ok(self)
    }

    /// Opens a branch at its head, as [`open`](Self::open) does, in place of the run that was executed until now: with its programs, and from its
    /// checkpoints.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn reopen(
        self,
        store: &mut dyn Store,
        (branch, owner): (&BranchName, &str),
        recovery: &Recovery,
    ) -> Result<Self, RunError> {
        let (run, policy) = (self.run.clone(), self.policy);
        let epoch = store.claim(&run, owner)?;
        let source = Source {
            store,
            run: &run,
            branch,
        };
        self.rewind(&source, None)?.take_up(&source, epoch, policy, recovery)
    }

    fn go_back(&mut self, number: u64) -> bool {
        let state_and_bodies = (&mut *self.state, &mut self.bodies);
        let Some((tip, since)) = self.past.go_back(number, state_and_bodies, &mut self.programs) else {
            return false;
        };
        self.since_snapshot = since;
        self.images = crate::snapshot::Images::default();
        self.head = Some(tip);
        self.durable = Some(tip.hash);
        self.held_effects.clear();
        self.inbox.clear();
        // As for any run while its turns are replayed.
        self.policy = crate::snapshot::SnapshotPolicy::NEVER;
        true
    }
}

#[cfg(test)]
mod tests;
