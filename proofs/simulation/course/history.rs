//! Moves between the turns and branches of a simulated run: rewinds, forks, undo and redo, merges,
//! inputs delivered again or changed.
//!
//! INVARIANT: a branch keeps a head under another name before it leaves it, as the commands do; a
//! move that a failing disk interrupts has happened entirely or not at all.
//! It compares nothing; `../course.rs` does after each operation.

use duet_journal::{BranchName, HeadMove, RecordHash, Sequence, StoreError, Tip};
use duet_runtime::driver::{Drivers, Effect, Input};
use duet_runtime::history::input::{Recorded, What, answer, recorded};
use duet_runtime::history::merge::between;
use duet_runtime::model::identity::RequestId;
use duet_runtime::run::error::RunError;
use duet_runtime::run::heads::move_head;
use duet_runtime::run::source::{BranchClaim, Source};
use preserves::IOValue;

use super::super::operation::Opening;
use super::super::world::{World, WorldError};
use super::{Course, Difference, OWNER, Outcome, WHOLE, branch};
use crate::history::moves::{Move, MoveKind};
use crate::owner::redeliver::Redelivery;
use duet_runtime::model::codec::Codec;
use duet_runtime::run::inflight::Recovery;

/// The maximum number of turns in which a run receives inputs again.
const TURNS_MAX: u64 = 200;

impl Course {
    /// Moves the head, or begins a branch, at a turn, given in thousandths of the branch's length.
    pub(super) fn travel(&mut self, thousandths: u64, fork: Option<BranchName>, opening: Opening) -> Outcome {
        self.settle()?;
        let newest = self.run.head().map_or(0, |tip| tip.sequence.number());
        let turn = Sequence::new(newest * thousandths / 1000).map_err(|_| RunError::Full)?;
        if let Some(name) = fork {
            self.counts.forks += 1;
            return self.begin_branch(name, turn, opening);
        }
        let Some(from) = self.acknowledged else {
            return self.open(opening);
        };
        let source = Source {
            store: &*self.store,
            run: &self.name,
            branch: &self.branch,
        };
        let to = source
            .store
            .record_at(source.run, source.branch, turn)?
            .ok_or(RunError::Full)?
            .hash();
        self.counts.rewinds += 1;
        self.go(MoveKind::Move, from.hash, to, opening)
    }

    /// Takes back the newest move of the branch, if there is one.
    pub(super) fn undo(&mut self, opening: Opening) -> Outcome {
        self.settle()?;
        let last = self
            .moves
            .get(&self.branch)
            .and_then(|moves| moves.undoable.last().copied());
        match (last, self.acknowledged) {
            (Some(last), Some(head)) => {
                self.counts.undone += 1;
                self.go(MoveKind::Undo, head.hash, last.from, opening)
            }
            (None, _) | (_, None) => self.open(opening),
        }
    }

    /// Does again what was taken back last, if the branch has not gone on since.
    pub(super) fn redo(&mut self, opening: Opening) -> Outcome {
        self.settle()?;
        let last = self
            .moves
            .get(&self.branch)
            .and_then(|moves| moves.redoable.last().copied());
        match (last, self.acknowledged) {
            (Some(undone), Some(head)) if undone.to == head.hash => {
                self.counts.undone += 1;
                self.go(MoveKind::Redo, head.hash, undone.from, opening)
            }
            (Some(_) | None, _) => self.open(opening),
        }
    }

    /// Keeps the head under another name, moves it and opens the run there.
    fn go(&mut self, kind: MoveKind, from: RecordHash, to: RecordHash, opening: Opening) -> Outcome {
        match self.keep().and_then(|()| self.set_head(to)) {
            Ok(()) => {
                self.moves
                    .entry(self.branch.clone())
                    .or_default()
                    .add(kind, Move { from, to });
                self.acknowledged = self.stored_head()?;
                if self.acknowledged.map(|tip| tip.hash) != Some(to) {
                    return self.require_head();
                }
                self.go_on(opening)
            }
            Err(Difference::Run(RunError::Store(StoreError::Io { .. }))) => self.crash_while_moving(Some(to), None),
            Err(error) => Err(error),
        }
    }

    /// Makes sure that a branch other than this one ends at its head.
    fn keep(&mut self) -> Outcome {
        let Some(head) = self.acknowledged else { return Ok(()) };
        let heads = self.store.heads(&self.name)?;
        if heads
            .iter()
            .any(|other| other.branch != self.branch && other.hash == head.hash)
        {
            return Ok(());
        }
        let name = self.new_branch()?;
        move_head(
            &mut *self.store,
            BranchClaim::new(&self.name, &self.branch, OWNER),
            head.sequence,
            Some(&name),
        )?;
        self.branches.push(name);
        Ok(())
    }

    fn set_head(&mut self, to: RecordHash) -> Outcome {
        let epoch = self.store.claim(&self.name, OWNER)?;
        let (run, branch, expected_head) = (&self.name, &self.branch, self.acknowledged.map(|tip| tip.hash));
        Ok(self.store.set_head(&HeadMove {
            run,
            branch,
            epoch,
            expected_head,
            to,
        })?)
    }

    /// Begins a branch at a turn of this one, and goes on there.
    fn begin_branch(&mut self, name: BranchName, turn: Sequence, opening: Opening) -> Outcome {
        match move_head(
            &mut *self.store,
            BranchClaim::new(&self.name, &self.branch, OWNER),
            turn,
            Some(&name),
        ) {
            Ok(_) => {}
            Err(RunError::Store(StoreError::Io { .. })) => return self.crash_while_moving(None, Some(name)),
            Err(error) => return Err(error.into()),
        }
        self.branches.push(name.clone());
        self.stand_on(name)?;
        if self.acknowledged.map(|tip| tip.sequence) != Some(turn) {
            return self.require_head();
        }
        self.go_on(opening)
    }

    /// The machine stopped while a head was moved: it has moved whole, or not at all.
    fn crash_while_moving(&mut self, to: Option<RecordHash>, fork: Option<BranchName>) -> Outcome {
        self.restart_disk()?;
        let found = self.stored_head()?;
        let has_moved = to.is_some() && found.map(|tip| tip.hash) == to;
        if found != self.acknowledged && !has_moved {
            return self.require_head();
        }
        self.acknowledged = found;
        let heads = self.store.heads(&self.name)?.into_iter().map(|head| head.branch);
        let made: Vec<BranchName> = heads.filter(|name| !self.branches.contains(name)).collect();
        if made.iter().any(|name| fork.as_ref().is_some_and(|fork| fork != name)) {
            return Err(Difference::Unreadable(format!("branches {made:?} were made by nobody")));
        }
        self.branches.extend(made);
        self.open(WHOLE)
    }

    pub(super) fn new_branch(&self) -> Outcome<BranchName> {
        branch(&format!("branch-{}", self.branches.len()))
    }

    pub(super) fn chosen(&self, which: u64) -> BranchName {
        let position = usize::try_from(which).unwrap_or(0) % self.branches.len();
        self.branches[position].clone()
    }

    pub(super) fn stand_on(&mut self, branch: BranchName) -> Outcome {
        self.branch = branch;
        self.acknowledged = self.stored_head()?;
        Ok(())
    }

    /// Takes over what another branch has found out.
    pub(super) fn merge(&mut self, which: u64, opening: Opening) -> Outcome {
        self.settle()?;
        self.open(opening)?;
        let theirs = self.chosen(which);
        let source = |branch| Source {
            store: &*self.store,
            run: &self.name,
            branch,
        };
        let at = |head: Option<Tip>| head.map_or(Sequence::FIRST, |tip| tip.sequence);
        let there = self.store.head(&self.name, &theirs)?.ok_or(RunError::Full)?.sequence;
        let here = at(self.acknowledged);
        let merge = between(source(&self.branch).up_to(here), source(&theirs).up_to(there))?;
        let inputs = merge.inputs(self.run.state());
        self.counts.merges += u64::from(!inputs.is_empty());
        let turns = inputs.len() as u64;
        for input in inputs {
            self.run.deliver_first(input);
        }
        self.step(turns + 1)
    }

    /// Delivers what the world said on another branch, from one turn on, to this one.
    pub(super) fn pick(&mut self, which: u64, (from, inputs): (u64, usize), opening: Opening) -> Outcome {
        self.settle()?;
        self.open(opening)?;
        let theirs = self.chosen(which);
        let newest = self.store.head(&self.name, &theirs)?.ok_or(RunError::Full)?.sequence;
        let first = Sequence::new(newest.number() * from / 1000).map_err(|_| RunError::Full)?;
        self.deliver_again(&theirs, (first, newest), inputs, opening)
    }

    /// Goes back, and delivers what the world said from there on.
    pub(super) fn retrace(&mut self, to: u64, inputs: usize, opening: Opening) -> Outcome {
        self.settle()?;
        let Some(newest) = self.acknowledged else {
            return self.open(opening);
        };
        self.travel(to, None, opening)?;
        let heads = self.store.heads(&self.name)?;
        let kept = heads
            .into_iter()
            .find(|head| head.hash == newest.hash && head.branch != self.branch);
        match (kept, self.acknowledged.and_then(|tip| tip.sequence.next())) {
            (Some(kept), Some(first)) if first <= newest.sequence => {
                self.deliver_again(&kept.branch, (first, newest.sequence), inputs, opening)
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    fn deliver_again(
        &mut self,
        theirs: &BranchName,
        turns: (Sequence, Sequence),
        inputs: usize,
        opening: Opening,
    ) -> Outcome {
        let source = Source {
            store: &*self.store,
            run: &self.name,
            branch: theirs,
        };
        let mut said = recorded(&source, turns.0, turns.1)?;
        said.truncate(inputs);
        let there = source.ledger(Some(turns.1), self.cast.replayed.clone())?;
        let here = Source {
            branch: &self.branch,
            ..source
        };
        let head = self.run.head().map(|head| head.sequence);
        let here = here.ledger(head, self.cast.replayed.clone())?;
        let mut world = Again {
            world: &mut self.world,
            recovery: &self.recovery,
            turns: TURNS_MAX,
            error: None,
        };
        let mut drivers = Redelivery::new(&mut world, said, &there, &here);
        self.run.continue_ledger(here);
        let driven = self.run.drive(&mut *self.store, &mut drivers);
        self.counts.picked += drivers.outcome().delivered as u64;
        if let Some(error) = world.error {
            return Err(error.into());
        }
        match driven {
            Ok(_) => {
                self.counts.recalled += self.run.take_recalled().len() as u64;
                self.acknowledged = self.stored_head()?;
                // The command that delivers inputs ends with them.
                self.open(opening)
            }
            Err(RunError::Store(StoreError::Io { .. })) => {
                self.restart_disk()?;
                self.acknowledged = self.stored_head()?;
                self.open(WHOLE)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Begins a branch before an input of this one, whose place is given in thousandths of the
    /// length. On the new branch the world says something else.
    pub(super) fn amend(&mut self, at: u64, what: u64, opening: Opening) -> Outcome {
        self.settle()?;
        let newest = self.acknowledged.map_or(0, |tip| tip.sequence.number());
        let first = Sequence::new(newest * at / 1000).map_err(|_| RunError::Full)?;
        let last = Sequence::new(newest).map_err(|_| RunError::Full)?;
        let source = Source {
            store: &*self.store,
            run: &self.name,
            branch: &self.branch,
        };
        let said = recorded(&source, first, last)?;
        let changed = said.iter().find_map(|said| Some((said.turn, changed(said, what)?)));
        let Some((turn, input)) = changed else {
            return self.open(opening);
        };
        let before = Sequence::new(turn.number() - 1).map_err(|_| RunError::Full)?;
        let name = self.new_branch()?;
        self.begin_branch(name.clone(), before, opening)?;
        if self.branch == name {
            self.counts.amended += 1;
            self.run.deliver_first(input);
            self.step(4)?;
        }
        Ok(())
    }

    /// Stops the machine and starts it again.
    fn restart_disk(&mut self) -> Outcome {
        self.counts.crashes += 1;
        self.store.restart(None)?;
        Ok(())
    }
}

/// What the world says instead.
fn changed(said: &Recorded, what: u64) -> Option<Input> {
    match &said.what {
        What::Answer { request, question, .. } => {
            let outcome = Ok(what.encode());
            let bytes = Ok(IOValue::bytes(format!("other {what}\n").into_bytes()));
            let RequestId(number) = *request;
            answer(RequestId(number), question, &outcome).or_else(|| answer(RequestId(number), question, &bytes))
        }
        What::Unasked(Input::Evaluate { sources, .. }) => Some(Input::Evaluate {
            text: format!("(begin (fact {what}) (weigh 0))"),
            sources: sources.clone(),
        }),
        What::Unasked(_) => None,
    }
}

/// The world while inputs are delivered again: it says nothing of its own accord, and interrupts
/// who does not come to an end.
struct Again<'a> {
    world: &'a mut World,
    recovery: &'a Recovery,
    turns: u64,
    error: Option<WorldError>,
}

impl Drivers for Again<'_> {
    fn perform(&mut self, effects: Vec<Effect>) {
        if let Err(error) = self.world.perform(effects, self.recovery) {
            self.error.get_or_insert(error);
        }
    }

    fn next_input(&mut self) -> Option<Input> {
        None
    }

    fn poll_input(&mut self) -> Option<Input> {
        self.turns = self.turns.saturating_sub(1);
        (self.turns == 0).then_some(Input::Interrupt)
    }
}
