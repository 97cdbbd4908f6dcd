//! Replay: repeats a run from its records, and names the first divergence.
//!
//! Owns opening a run from a store, at its head or at any turn, with or without its snapshots.
//! INVARIANT: a replay performs no effect, and every turn must equal its record, byte for byte.
//! It does not know the steps of a turn (`take_turn.rs`), nor the fate of requests in flight
//! (`recovery.rs`).
//! Read next: `snapshot.rs`.

use duet_journal::store::Opener;
use duet_journal::{ClosedRecord, Epoch, Sequence, Store, Tip};

use crate::action::exit::MAIN;
use crate::model::codec::Codec;
use crate::model::identity::ActorId;
use crate::record::divergence::Divergence;
use crate::record::form;
use crate::record::key::{Ledger, LedgerEvent};
use crate::record::{Genesis, TurnRecord};
use crate::run::Run;
use crate::run::error::RunError;
use crate::run::inflight;
use crate::run::snapshot::{self};
use crate::run::source::{Nearest, PORTION, Source, decode_closed_turn, genesis};
use crate::run::thawing::{self, Extent};
use crate::state::event::{Batch, Cause, Event, Outbox};
use crate::turn::erased::AnyPrograms;
use crate::turn::program::Programs;

/// Whether a replay starts from the newest snapshot or from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshots {
    /// Start from the newest snapshot.
    Use,
    /// Start from the beginning.
    Ignore,
}

/// Where a replay begins.
#[derive(Clone, Copy)]
struct Beginning {
    /// The last turn that it is to reach.
    last: Sequence,
    snapshots: Snapshots,
    extent: Extent,
}

impl Source<'_> {
    /// Replays the branch up to and including turn `at`, by default its head, and returns the run
    /// at that turn.
    ///
    /// The returned run is for inspection. To continue from there, move or make a branch and open
    /// it.
    ///
    /// # Errors
    /// [`RunError::Divergence`] names the first difference; [`RunError::NoTurn`].
    pub fn restore(
        &self,
        at: Option<Sequence>,
        programs: impl Programs,
        snapshots: Snapshots,
    ) -> Result<Run, RunError> {
        self.restored(at, Box::new(programs), snapshots, Extent::Whole)
    }

    /// Replays the branch to its head from the newest snapshot, to continue the run with
    /// [`take_up`](Run::take_up), for a caller that has decoded the run's first record. Actors that
    /// have not run since the snapshot may stay frozen until their next turn; their images are
    /// checked.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    pub fn restore_begun(&self, genesis: Genesis, programs: impl Programs) -> Result<Run, RunError> {
        let last = self.position(None)?;
        let beginning = Beginning {
            last,
            snapshots: Snapshots::Use,
            extent: Extent::Needed,
        };
        let (run, after) = self.begin_with(genesis, Box::new(programs), beginning)?;
        let mut run = self.repeated(run, after, last)?;
        run.check_frozen(self.store)?;
        Ok(run)
    }

    /// As [`restore`](Self::restore), with the programs of another run, and with instances as far
    /// as `extent` says.
    pub(crate) fn restored(
        &self,
        at: Option<Sequence>,
        programs: AnyPrograms,
        snapshots: Snapshots,
        extent: Extent,
    ) -> Result<Run, RunError> {
        let last = self.position(at)?;
        let genesis = genesis(&self.record(Sequence::FIRST)?)?;
        let beginning = Beginning {
            last,
            snapshots,
            extent,
        };
        let (run, after) = self.begin_with(genesis, programs, beginning)?;
        self.repeated(run, after, last)
    }

    fn repeated(&self, mut run: Run, after: Vec<ClosedRecord>, last: Sequence) -> Result<Run, RunError> {
        match self.repeat_after(&mut run, after, last) {
            Ok(()) => Ok(run),
            Err(error) => Err(self.with_versions(error, &run)),
        }
    }

    /// Replays records that were read already, then those up to and including `last`.
    fn repeat_after(&self, run: &mut Run, after: Vec<ClosedRecord>, last: Sequence) -> Result<(), RunError> {
        let mut opener = Opener::new(self.store);
        for record in after {
            run.replay(&opener.join(record)?, self.store)?;
        }
        self.repeat(run, last)
    }

    /// Adds to a divergence which other versions have made code for the run.
    pub(super) fn with_versions(&self, error: RunError, run: &Run) -> RunError {
        let RunError::Divergence(mut divergence) = error else {
            return error;
        };
        let own = run.programs.version();
        // A journal that cannot be read any more has nothing to add.
        let mut versions = snapshot::versions(self).unwrap_or_default();
        versions.retain(|version| *version != own);
        divergence.versions = versions;
        RunError::Divergence(divergence)
    }

    /// Replays all turns after the position of a run on this branch, up to and including `last`,
    /// whatever snapshots there are.
    ///
    /// # Errors
    /// [`RunError::Divergence`] names the first difference; failures of the store.
    pub fn repeat(&self, run: &mut Run, last: Sequence) -> Result<(), RunError> {
        let mut opener = Opener::new(self.store);
        let mut from = run.next_sequence()?;
        while from <= last {
            let end = last.number().min(from.number() + PORTION - 1) + 1;
            for record in self.read_closed(from, end)? {
                run.replay(&opener.join(record)?, self.store)?;
            }
            from = run.next_sequence()?;
        }
        run.write_on(self.branch);
        Ok(())
    }

    /// Replays the whole branch from the beginning, requires every turn to equal its record, and
    /// returns the number of turns.
    ///
    /// # Errors
    /// [`RunError::Divergence`] names the first difference.
    pub fn check(&self, programs: impl Programs) -> Result<u64, RunError> {
        let run = self.restore(None, programs, Snapshots::Ignore)?;
        Ok(run.head().map_or(0, |tip| tip.sequence.number()))
    }

    /// Replays the branch from the beginning up to and including turn `at`, by default its head,
    /// and lists what it has asked, heard and shown. A call that is in flight there has the result
    /// that a later turn or another branch recorded, because a call is made once.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    pub fn ledger(&self, at: Option<Sequence>, programs: impl Programs) -> Result<Ledger, RunError> {
        let last = self.position(at)?;
        let mut run = self.begin(Box::new(programs))?;
        run.ledger = Some(Box::new(Ledger::new(self.run.as_str())));
        self.repeat(&mut run, last)?;
        let later = inflight::later_answers(self, &run.state, last)?;
        let mut ledger = run.ledger.take();
        if let Some(ledger) = &mut ledger {
            ledger.heard.extend(later.iter().map(|(request, outcome)| LedgerEvent {
                turn: last,
                actor: MAIN,
                event: Event::Answered {
                    request: *request,
                    outcome: outcome.clone(),
                },
            }));
        }
        Ok(ledger.map_or_else(|| Ledger::new(self.run.as_str()), |ledger| *ledger))
    }

    /// Makes a run right after the first record.
    pub(super) fn begin(&self, programs: AnyPrograms) -> Result<Run, RunError> {
        let genesis = genesis(&self.record(Sequence::FIRST)?)?;
        let beginning = Beginning {
            last: Sequence::FIRST,
            snapshots: Snapshots::Ignore,
            extent: Extent::Whole,
        };
        let begun = self.begin_with(genesis, programs, beginning);
        begun.map(|(run, _)| run)
    }

    /// Makes a run at the newest snapshot not after the last turn, or right after the first record
    /// if there is no snapshot or its code is not available. Also returns those of the next records
    /// that were read already.
    fn begin_with(
        &self,
        genesis: Genesis,
        mut programs: AnyPrograms,
        beginning: Beginning,
    ) -> Result<(Run, Vec<ClosedRecord>), RunError> {
        let Beginning {
            last,
            snapshots,
            extent,
        } = beginning;
        programs.begin_anew();
        let nearest = match snapshots {
            Snapshots::Use => self.nearest_snapshot(last)?,
            Snapshots::Ignore => Nearest::default(),
        };
        let mut after = nearest.after;
        if let Some(record) = nearest.snapshot {
            match thawing::thaw(self, &record, &genesis, &mut *programs, extent) {
                Ok(thawed) => return Ok((thawed.into_run(self, &record, genesis, programs), after)),
                // A snapshot depends on compiled code. Turns from the beginning depend only on the
                // source text, and each is compared with its record.
                Err(RunError::Thaw { source, .. }) if source.is_code_missing => after.clear(),
                Err(error) => return Err(error),
            }
        }
        let (run, branch) = (self.run.clone(), self.branch.clone());
        let mut run = Run::at_genesis(run, branch, Epoch(0), genesis, programs)?;
        for first in self.read_closed(Sequence::FIRST, 1)? {
            run.stand_at(&first);
        }
        Ok((run, after))
    }
}

impl Run {
    /// Repeats the turn that a record in a store describes and requires the same result.
    pub(super) fn replay(&mut self, record: &ClosedRecord, store: &dyn Store) -> Result<(), RunError> {
        let batch = self.recorded_batch(record)?;
        self.thaw_from(store, &batch)?;
        let actor = batch.to;
        self.write_on(&record.header().branch);
        self.take_turn(batch, Some(record))?;
        self.check_cap(actor, record.header().sequence)
    }

    /// Checks that the actors hold no more memory than this process gives them, after a turn that
    /// was only repeated. The run's own limit was checked when the turn was taken.
    fn check_cap(&mut self, acting: ActorId, sequence: Sequence) -> Result<(), RunError> {
        let bytes_max = self.programs.run_bytes_max();
        if bytes_max >= self.genesis.limits.run_bytes_max || self.check_memory(acting).is_ok() {
            return Ok(());
        }
        Err(RunError::Memory { sequence, bytes_max })
    }

    /// Finds the batch that a record's turn handled: the oldest in the queue, or the input in the
    /// record.
    pub(super) fn recorded_batch(&mut self, record: &ClosedRecord) -> Result<Batch, RunError> {
        if form::has_internal_cause(record.body_bytes())
            && let Some(batch) = self.state.queue.pop_front()
        {
            return Ok(batch);
        }
        // Decoding all of a large record would take longer than the turn.
        if let Some(input) = form::input(record.body_bytes())
            && input.cause == (Cause::Input {})
        {
            return Ok(Batch {
                to: input.actor,
                from: None,
                cause: input.cause,
                events: input.events,
            });
        }
        let expected = decode_closed_turn(record)?;
        Err(RunError::Divergence(Box::new(Divergence {
            sequence: record.header().sequence,
            actor: expected.actor,
            part: "events",
            element: None,
            journal_says: Some(expected.events.encode()),
            program_did: None,
            span: None,
            versions: Vec::new(),
        })))
    }

    /// Moves to a record whose turn was just repeated, and posts the turn's messages to the queue.
    pub(crate) fn follow(&mut self, record: &ClosedRecord, turn: &TurnRecord, outbox: &mut Outbox) {
        let sequence = record.header().sequence;
        outbox.post(turn.actor, sequence, &mut self.state.queue);
        self.keep_endings();
        let quick = self.programs.take_quick_fuel();
        self.since_snapshot.count(record.body_bytes(), turn.fuel, quick);
        self.stand_at(record);
    }

    /// Makes `record` the newest record, and a durable one.
    pub(crate) fn stand_at(&mut self, record: &ClosedRecord) {
        self.head = Some(Tip {
            hash: record.hash(),
            sequence: record.header().sequence,
        });
        self.durable = Some(record.hash());
        record.add_named_parts(&mut self.named_parts);
    }
}

#[cfg(test)]
mod tests;
