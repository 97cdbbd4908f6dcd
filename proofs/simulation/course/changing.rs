//! Changes of a simulated run's program while it runs, and actors that begin anew.
//!
//! INVARIANT: what the run refuses leaves it as it was; `../course.rs` compares after each
//! operation.
//! It does not edit texts; `../edits.rs` does.

use std::collections::BTreeSet;

use duet_journal::Store;
use duet_journal::store::memory::MemoryStore;
use duet_runtime::driver::Input;
use duet_runtime::history::rerun::{Recorded, Rerun};
use duet_runtime::run::Run;
use duet_runtime::run::error::RunError;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::source::{BranchClaim, Source};

use super::super::edits::Change;
use super::super::programs;
use super::comparison::{parts, same_as_made};
use super::{Course, Difference, OWNER, Outcome, beginning};

/// The turns that a text which was run again takes after the answers.
const TURNS_AFTER: u64 = 4;

impl Course {
    /// Puts a changed text in the place of the program's.
    pub(super) fn patch(&mut self, change: Change) -> Outcome {
        self.settle()?;
        let mut text = programs::changed(&self.cast.program, change.variant).map_err(Difference::Unreadable)?;
        text.run = change.run();
        text.values = change.values();
        self.counts.patched += u64::from(self.succeeds(Input::Patch { text })?);
        Ok(())
    }

    /// Runs a changed text from its start on the answers of the branch, in a store of its own, and
    /// goes on there for some turns.
    pub(super) fn run_again(&mut self, variant: u64, turns: usize, snapshot_turns: u64) -> Outcome {
        self.settle()?;
        let compile = || programs::variant(variant, self.cast.ways.live).map_err(Difference::Unreadable);
        let (live, program) = compile()?;
        let (replayed, _) = compile()?;
        let source = Source {
            store: &*self.store,
            run: &self.name,
            branch: &self.branch,
        };
        let head = self.run.head().map(|head| head.sequence);
        let recorded = Recorded {
            ledger: source.ledger(head, self.cast.replayed.clone())?,
            retried: BTreeSet::new(),
            outdated: BTreeSet::new(),
        };
        let policy = SnapshotPolicy {
            turns: snapshot_turns,
            ..SnapshotPolicy::NEVER
        };
        let start = beginning(&self.name, &self.branch, &program);
        let mut again = Rerun::begin(start, live.clone(), recorded)?.with_snapshots(policy);
        again.go_on(turns, &*self.store)?;
        let (comparison, prepared) = again.end();
        let mut store = MemoryStore::default();
        let epoch = store.claim(&self.name, OWNER)?;
        prepared.append(&mut store, epoch)?;
        self.counts.again += 1;
        self.counts.met += comparison.met.iter().filter(|met| met.is_answered).count() as u64;
        let place = BranchClaim::new(&self.name, &self.branch, OWNER);
        let mut run = Run::open(&mut store, place, live, policy, &self.recovery)?;
        for _ in 0..TURNS_AFTER {
            run.step()?;
        }
        run.flush(&mut store)?;
        let living = parts(&mut run)?;
        let source = Source {
            store: &store,
            ..source
        };
        for from in [Snapshots::Use, Snapshots::Ignore] {
            same_as_made(&source, from, &replayed, &living)?;
        }
        Ok(())
    }

    /// Makes an actor begin anew.
    pub(super) fn begin_anew(&mut self, which: u64) -> Outcome {
        self.settle()?;
        let actors: Vec<_> = self.run.state().actors.keys().copied().collect();
        let which = usize::try_from(which).unwrap_or(0) % actors.len().max(1);
        let Some(actor) = actors.get(which).copied() else {
            return Ok(());
        };
        self.counts.begun += u64::from(self.succeeds(Input::Restart { actor })?);
        Ok(())
    }

    /// Lets an input happen that happens whole or not at all; whether it did.
    fn succeeds(&mut self, input: Input) -> Outcome<bool> {
        self.run.deliver_first(input);
        match self.run.step() {
            Ok(_) => Ok(true),
            Err(RunError::Patch(_) | RunError::Restart(_)) => {
                self.counts.refused += 1;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}
