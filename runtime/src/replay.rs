//! Replay: what a run did, done again from its records, and the first difference if there is one.
//!
//! Owns opening a run from a store, at its head or at any turn, with or without its snapshots, and what becomes of requests that were in
//! flight. INVARIANT: nothing is performed outside while replaying; every turn must come out as its record says, whole.
//! It does not know how a turn goes; `turn.rs` does.
//! Read next: `snapshot.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use duet_journal::{BranchName, ClosedRecord, Epoch, HeadMove, Record, RunId, Sequence, Store, StoreError};
use preserves::IOValue;

use crate::body::Programs;
use crate::codec::{Codec, DecodeError};
use crate::driver::{Effect, EffectKind, RequestId};
use crate::event::{Batch, Cause, Outbox};
use crate::identity::ActorId;
use crate::inflight;
use crate::record::{Body, Genesis, OLDEST, Origin, Outcome, TurnRecord, VERSION, form};
use crate::run::{Run, RunError, Tip};
use crate::snapshot::{self, SnapshotPolicy};
use crate::state::Question;

/// The first difference between a run's journal and its program.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The position of the record.
    pub sequence: Sequence,
    /// Whose turn it was.
    pub actor: ActorId,
    /// Which part of the turn differs.
    pub part: &'static str,
    /// Which element of the part, counted from 0, if it is a list.
    pub element: Option<usize>,
    /// What the journal says; nothing, if the program did more.
    pub journal_says: Option<IOValue>,
    /// What the program did; nothing, if the journal says more.
    pub program_did: Option<IOValue>,
    /// Where in the program, if that is known.
    pub span: Option<Box<Origin>>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |value: &Option<IOValue>| {
            value
                .as_ref()
                .map_or("nothing".to_owned(), |value| format!("{value:?}"))
        };
        let (says, did) = (side(&self.journal_says), side(&self.program_did));
        write!(
            f,
            "turn {} of {} differs in its {}: ",
            self.sequence, self.actor, self.part
        )?;
        write!(f, "the journal says {says}, the program did {did}")
    }
}

/// Finds the first difference between a record and the turn that the program took instead.
pub(crate) fn divergence(record: &ClosedRecord, program: &TurnRecord) -> Result<Divergence, RunError> {
    let sequence = record.header().sequence;
    difference(sequence, &decode_closed_turn(record)?, program).ok_or(RunError::Decode {
        sequence,
        source: DecodeError::Inconsistent {
            what: "equal turns have equal bytes",
        },
    })
}

/// Finds the first difference between two turns.
pub(crate) fn difference(sequence: Sequence, journal: &TurnRecord, program: &TurnRecord) -> Option<Divergence> {
    let one = |part, left: IOValue, right: IOValue| (left != right).then_some((part, None, Some(left), Some(right)));
    let (part, element, journal_says, program_did) = one("actor", journal.actor.encode(), program.actor.encode())
        .or_else(|| one("cause", journal.cause.encode(), program.cause.encode()))
        .or_else(|| first("events", &journal.events, &program.events))
        .or_else(|| first("actions", &journal.actions, &program.actions))
        .or_else(|| first("verdicts", &journal.verdicts, &program.verdicts))
        .or_else(|| first("dropped events", &journal.dropped, &program.dropped))
        .or_else(|| one("outcome", journal.outcome.encode(), program.outcome.encode()))
        .or_else(|| one("fuel", journal.fuel.encode(), program.fuel.encode()))?;
    let span = match &program.outcome {
        Outcome::Failed { failure } => failure.origin.clone(),
        Outcome::Committed {} => None,
    };
    Some(Divergence {
        sequence,
        actor: journal.actor,
        part,
        element,
        journal_says,
        program_did,
        span,
    })
}

type Difference = (&'static str, Option<usize>, Option<IOValue>, Option<IOValue>);

fn first<T: Codec>(part: &'static str, journal: &[T], program: &[T]) -> Option<Difference> {
    (0..journal.len().max(program.len())).find_map(|position| {
        let (left, right) = (
            journal.get(position).map(T::encode),
            program.get(position).map(T::encode),
        );
        (left != right).then_some((part, Some(position), left, right))
    })
}

/// What becomes of requests that were in flight when the run was last executed.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// Tools that may be called again under the same key; a call of any other is answered with the failure `interrupted`.
    pub repeatable: BTreeSet<String>,
    /// Those of them whose effect may have been taken back since: they are called again even if another branch knows the result.
    pub reversible: BTreeSet<String>,
}

impl Default for Recovery {
    /// Looking and writing whole files may be repeated.
    fn default() -> Self {
        let repeatable = ["workspace/list", "workspace/read", "workspace/write"]
            .map(str::to_owned)
            .into();
        let reversible = ["workspace/write".to_owned()].into();
        Self { repeatable, reversible }
    }
}

/// From where to open a run.
pub struct Source<'a> {
    /// The store that has it.
    pub store: &'a dyn Store,
    /// The run.
    pub run: &'a RunId,
    /// One of its branches.
    pub branch: &'a BranchName,
}

/// Records are read from the store in portions of this many.
const PORTION: u64 = 256;

/// The first portion that is read in search of a snapshot; each one after it is twice as large.
const PORTION_MIN: u64 = 32;

/// So many portions are kept of those that were read in search of a snapshot; the others are read again.
const PORTIONS_KEPT: usize = 32;

/// The newest snapshot before a turn.
#[derive(Default)]
pub(crate) struct Nearest {
    /// The record that has it, if there is one.
    pub(crate) snapshot: Option<ClosedRecord>,
    /// The records after that, or after the first, as far as they were kept.
    pub(crate) after: Vec<ClosedRecord>,
}

impl<P: Programs> Run<P> {
    /// Opens a branch at its head, to go on: the newest snapshot, then the turns after it, then what was in flight.
    ///
    /// The effects that are to be performed again are held until the next flush.
    ///
    /// # Errors
    /// [`RunError`]; a divergence if the program is not the one that was recorded.
    pub fn open(
        store: &mut dyn Store,
        (run, branch, owner): (&RunId, &BranchName, &str),
        programs: P,
        policy: SnapshotPolicy,
        recovery: &Recovery,
    ) -> Result<Self, RunError> {
        let epoch = store.claim(run, owner)?;
        let source = Source { store, run, branch };
        let restored = source.restore(None, programs, Snapshots::Use)?;
        restored.take_up(&source, epoch, policy, recovery)
    }

    /// Makes a restored run one that goes on.
    pub(crate) fn take_up(
        mut self,
        source: &Source<'_>,
        epoch: Epoch,
        policy: SnapshotPolicy,
        recovery: &Recovery,
    ) -> Result<Self, RunError> {
        let known = inflight::answers(source, &self.state, &recovery.reversible)?;
        let kept = inflight::contents(source, &self.state)?;
        self.epoch = epoch;
        self.policy = policy;
        self.memory = inflight::Memory::at(self.head, recovery);
        self.recover(recovery, known, kept);
        Ok(self)
    }

    /// Decides what becomes of each request that is not answered: answered as another branch was, asked again under the same id and key, or
    /// answered with a failure.
    fn recover(
        &mut self,
        recovery: &Recovery,
        mut known: BTreeMap<RequestId, inflight::Outcome>,
        mut kept: BTreeMap<RequestId, EffectKind>,
    ) {
        let open = self
            .state
            .requests
            .iter()
            .filter(|(_, request)| request.answer.is_none());
        let mut again = Vec::new();
        let mut answers = Vec::new();
        for (id, request) in open {
            if let Some(outcome) = known.remove(id) {
                answers.push(crate::run::answered(*id, outcome));
                continue;
            }
            match &request.question {
                Question::Tool { name, .. } if !recovery.repeatable.contains(name) => {
                    answers.push(crate::run::interrupted(*id));
                }
                Question::Tool { .. }
                | Question::Deferred { .. }
                | Question::Approve { .. }
                | Question::Read { .. }
                | Question::Timer { .. }
                | Question::Postponed { .. }
                | Question::Limit { .. }
                | Question::Deadline { .. }
                | Question::Ask { .. } => {
                    let kinds = request.question.effect().into_iter().chain(kept.remove(id));
                    again.extend(kinds.map(|kind| Effect {
                        request: *id,
                        key: request.key.clone(),
                        kind,
                    }));
                }
            }
        }
        self.hold(again);
        for answer in answers {
            self.deliver(answer);
        }
    }
}

/// Whether to start from the newest snapshot or from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshots {
    /// Start from the newest one.
    Use,
    /// Run everything from the beginning.
    Ignore,
}

impl Source<'_> {
    /// Replays the branch up to and including turn `at`, by default its head, and returns the run as it was then.
    ///
    /// The run returned can be looked at; to go on from there, move or make a branch and open it.
    ///
    /// # Errors
    /// [`RunError::Divergence`] names the first difference; [`RunError::NoTurn`].
    pub fn restore<P: Programs>(
        &self,
        at: Option<Sequence>,
        programs: P,
        snapshots: Snapshots,
    ) -> Result<Run<P>, RunError> {
        let last = self.position(at)?;
        let (mut run, after) = self.begin(last, programs, snapshots)?;
        for record in after {
            run.replay(&record)?;
        }
        self.repeat(&mut run, last)?;
        Ok(run)
    }

    /// Replays the turns after the one that a run stands at, up to and including `last`.
    pub(crate) fn repeat<P: Programs>(&self, run: &mut Run<P>, last: Sequence) -> Result<(), RunError> {
        let mut from = run.next_sequence()?;
        while from <= last {
            let end = last.number().min(from.number() + PORTION - 1) + 1;
            for record in self.read_closed(from, end)? {
                run.replay(&record)?;
            }
            from = run.next_sequence()?;
        }
        run.write_on(self.branch);
        Ok(())
    }

    /// Replays the whole branch from the beginning and requires every turn to come out the same; returns the number of turns.
    ///
    /// # Errors
    /// [`RunError::Divergence`] names the first difference.
    pub fn check<P: Programs>(&self, programs: P) -> Result<u64, RunError> {
        let run = self.restore(None, programs, Snapshots::Ignore)?;
        Ok(run.head().map_or(0, |tip| tip.sequence.number()))
    }

    pub(crate) fn position(&self, at: Option<Sequence>) -> Result<Sequence, RunError> {
        let (run, branch) = (self.run.clone(), self.branch.clone());
        let head = self
            .store
            .head(self.run, self.branch)?
            .ok_or(RunError::NoRecord { run, branch })?
            .sequence;
        match at {
            Some(sequence) if sequence > head => Err(RunError::NoTurn {
                branch: self.branch.clone(),
                sequence,
            }),
            Some(sequence) => Ok(sequence),
            None => Ok(head),
        }
    }

    /// Makes a run that stands at the newest snapshot not after `last`, or right after the first record, also if the snapshot is of code that is not here; with
    /// the next records, as far as they were read already.
    fn begin<P: Programs>(
        &self,
        last: Sequence,
        mut programs: P,
        snapshots: Snapshots,
    ) -> Result<(Run<P>, Vec<ClosedRecord>), RunError> {
        let first = self.record(Sequence::FIRST)?;
        let genesis = genesis(&first)?;
        let nearest = match snapshots {
            Snapshots::Use => self.nearest_snapshot(last)?,
            Snapshots::Ignore => Nearest::default(),
        };
        let mut after = nearest.after;
        if let Some(record) = nearest.snapshot {
            match snapshot::thaw(self, &record, &genesis, &mut programs) {
                Ok(thawed) => return Ok((thawed.into_run(self, &record, genesis, programs), after)),
                // A snapshot counts on code as it was compiled; the turns from the beginning count on the text, and each is compared.
                Err(RunError::Thaw { source, .. }) if source.is_code_missing => after.clear(),
                Err(error) => return Err(error),
            }
        }
        let (run, branch) = (self.run.clone(), self.branch.clone());
        let mut run = Run::at_genesis(run, branch, Epoch(0), genesis, programs)?;
        run.stand_at(&first);
        Ok((run, after))
    }

    /// Finds the newest snapshot not after `last`.
    pub(crate) fn nearest_snapshot(&self, last: Sequence) -> Result<Nearest, RunError> {
        let mut nearest = Nearest::default();
        let mut after: VecDeque<Vec<ClosedRecord>> = VecDeque::new();
        let mut end = last.number() + 1;
        let mut count = PORTION_MIN;
        while end > 1 && nearest.snapshot.is_none() {
            let start = end.saturating_sub(count).max(1);
            count = PORTION.min(count * 2);
            let from = Sequence::new(start).map_err(|_| RunError::Full)?;
            let mut portion = self.read_closed(from, end)?;
            let found = portion.iter().rposition(|record| record.header().snapshot.is_some());
            if let Some(place) = found {
                nearest.snapshot = portion.drain(..=place).next_back();
            }
            after.push_front(portion);
            after.truncate(PORTIONS_KEPT);
            end = start;
        }
        nearest.after = after.into_iter().flatten().collect();
        Ok(nearest)
    }

    pub(crate) fn read(&self, from: Sequence, end: u64) -> Result<Vec<Record>, RunError> {
        let range = from..Sequence::new(end).map_err(|_| RunError::Full)?;
        self.all(from, end, self.store.read(self.run, self.branch, range)?)
    }

    /// The same for turns that are taken again, which shows what their bodies must be.
    fn read_closed(&self, from: Sequence, end: u64) -> Result<Vec<ClosedRecord>, RunError> {
        let range = from..Sequence::new(end).map_err(|_| RunError::Full)?;
        self.all(from, end, self.store.read_closed(self.run, self.branch, range)?)
    }

    fn all<R>(&self, from: Sequence, end: u64, records: Vec<R>) -> Result<Vec<R>, RunError> {
        if records.len() as u64 == end - from.number() {
            Ok(records)
        } else {
            Err(RunError::NoTurn {
                branch: self.branch.clone(),
                sequence: from,
            })
        }
    }

    pub(crate) fn record(&self, at: Sequence) -> Result<Record, RunError> {
        let record = self.store.record_at(self.run, self.branch, at)?;
        record.ok_or(RunError::NoTurn {
            branch: self.branch.clone(),
            sequence: at,
        })
    }
}

impl<P: Programs> Run<P> {
    /// Takes the turn that a record describes and requires it to come out the same.
    fn replay(&mut self, record: &ClosedRecord) -> Result<(), RunError> {
        let batch = self.recorded_batch(record)?;
        self.write_on(&record.header().branch);
        self.take_turn(batch, Some(record))
    }

    /// Finds the batch that a record's turn handled: the oldest in the queue, or what the record says came from outside.
    fn recorded_batch(&mut self, record: &ClosedRecord) -> Result<Batch, RunError> {
        if form::came_from_inside(record.body_bytes())
            && let Some(batch) = self.state.queue.pop_front()
        {
            return Ok(batch);
        }
        let expected = decode_closed_turn(record)?;
        if expected.cause == (Cause::Input {}) {
            return Ok(Batch {
                to: expected.actor,
                cause: expected.cause,
                events: expected.events,
            });
        }
        Err(RunError::Divergence(Box::new(Divergence {
            sequence: record.header().sequence,
            actor: expected.actor,
            part: "events",
            element: None,
            journal_says: Some(expected.events.encode()),
            program_did: None,
            span: None,
        })))
    }

    /// Stands at a record whose turn was just taken again, with what the turn sends in the queue.
    pub(crate) fn follow(&mut self, record: &ClosedRecord, outbox: &mut Outbox, fuel: u64) {
        let sequence = record.header().sequence;
        outbox.post(sequence, &mut self.state.queue);
        self.since_snapshot.count(record.body_bytes(), fuel);
        self.stand_at(record);
    }

    /// Says that `record` is the newest one, and that it is durable.
    pub(crate) fn stand_at(&mut self, record: &ClosedRecord) {
        self.head = Some(Tip {
            hash: record.hash(),
            sequence: record.header().sequence,
        });
        self.durable = Some(record.hash());
    }
}

/// Reads the body of a turn's record that nobody has looked into.
pub(crate) fn decode_closed_turn(record: &ClosedRecord) -> Result<TurnRecord, RunError> {
    let hash = record.hash();
    let opened = record.clone().open();
    decode_turn(&opened.map_err(|source| StoreError::BadRecord { hash, source })?)
}

/// Reads the body of a turn's record.
///
/// # Errors
/// [`RunError::Decode`].
pub fn decode_turn(record: &Record) -> Result<TurnRecord, RunError> {
    let sequence = record.header().sequence;
    let body = record.body();
    TurnRecord::decode(&body).map_err(|source| RunError::Decode { sequence, source })
}

/// Reads the body of a run's first record.
///
/// # Errors
/// [`RunError::NotARun`].
pub fn genesis(record: &Record) -> Result<Genesis, RunError> {
    match Body::decode(&record.body()) {
        Ok(Body::Genesis(genesis)) if (OLDEST..=VERSION).contains(&genesis.version) => Ok(genesis),
        Ok(Body::Genesis(genesis)) => Err(RunError::NotARun {
            version: Some(genesis.version),
        }),
        Ok(Body::Turn(_)) | Err(_) => Err(RunError::NotARun { version: None }),
    }
}

/// Moves a branch's head to the turn at `to`, or makes a new branch there; nothing is deleted.
///
/// Returns the head as it was, so that the way forward is not lost.
///
/// # Errors
/// [`RunError::NoTurn`], [`RunError::Store`]; a new branch's name must not be taken.
pub fn move_head(
    store: &mut dyn Store,
    (run, branch, owner): (&RunId, &BranchName, &str),
    to: Sequence,
    new_branch: Option<&BranchName>,
) -> Result<Option<Tip>, RunError> {
    let epoch = store.claim(run, owner)?;
    let target = Source { store, run, branch }.record(to)?.hash();
    let moved = new_branch.unwrap_or(branch);
    let before = store.head(run, moved)?.map(|head| Tip {
        hash: head.hash,
        sequence: head.sequence,
    });
    // A fork must make its branch, so it expects that there is none.
    let expected_head = if new_branch.is_some() {
        None
    } else {
        before.map(|tip| tip.hash)
    };
    store.set_head(&HeadMove {
        run,
        branch: moved,
        epoch,
        expected_head,
        to: target,
    })?;
    Ok(before)
}

/// Makes new branches at the turn at `to`, all of them or none, in one commit.
///
/// # Errors
/// [`RunError::NoTurn`], [`RunError::Store`] if a name is taken.
pub fn fork(
    store: &mut dyn Store,
    (run, branch, owner): (&RunId, &BranchName, &str),
    to: Sequence,
    names: &[BranchName],
) -> Result<(), RunError> {
    let epoch = store.claim(run, owner)?;
    let to = Source { store, run, branch }.record(to)?.hash();
    let new = |branch| HeadMove {
        run,
        branch,
        epoch,
        expected_head: None,
        to,
    };
    let moves: Vec<HeadMove<'_>> = names.iter().map(new).collect();
    Ok(store.set_heads(&moves)?)
}

#[cfg(test)]
mod tests;
