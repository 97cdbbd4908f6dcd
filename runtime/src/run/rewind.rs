//! Going back in a living run, from the checkpoints that it keeps in memory.
//!
//! INVARIANT: a run that went back is the one that the store would have restored, turn for turn from there on.
//! It does not keep checkpoints; `checkpoints.rs` does.
//! Read next: `checkpoints.rs`.

use duet_journal::{BranchName, Sequence, Store};

use crate::run::Run;
use crate::run::error::RunError;
use crate::run::inflight::Recovery;
use crate::run::replay::Snapshots;
use crate::run::snapshot::{Images, SnapshotPolicy};
use crate::run::source::Source;
use crate::turn::program::Programs;

impl<P: Programs> Run<P> {
    /// Makes a checkpoint after a turn that used so much fuel, if one is due.
    pub(crate) fn keep_checkpoint_if_due(&mut self, fuel: u64) {
        if let Some(tip) = self.head
            && self.checkpoints.count(fuel)
        {
            self.checkpoints.keep(tip, &mut self.state, self.since_snapshot);
            self.checkpoints.drop_savepoints(&mut self.bodies, &mut self.programs);
        }
    }

    /// Makes a checkpoint in memory whenever repeating the turns since the last would cost so many units of fuel, instead of 100,000.
    pub fn checkpoint_after(&mut self, fuel: u64) {
        self.checkpoints.cost_max = fuel;
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
            .checkpoints
            .newest_on(last, |tip| Ok(source.record(tip.sequence)?.hash() == tip.hash))?
            .filter(|_| is_stored && *source.run == self.run);
        if !near.is_some_and(|number| self.restore_savepoint(number)) {
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

    fn restore_savepoint(&mut self, number: u64) -> bool {
        let state_and_bodies = (&mut *self.state, &mut self.bodies);
        let Some((tip, since)) = self
            .checkpoints
            .restore_savepoint(number, state_and_bodies, &mut self.programs)
        else {
            return false;
        };
        self.since_snapshot = since;
        self.images = Images::default();
        self.head = Some(tip);
        self.durable = Some(tip.hash);
        self.held_effects.clear();
        self.inbox.clear();
        // As for any run while its turns are replayed.
        self.policy = SnapshotPolicy::NEVER;
        true
    }
}
