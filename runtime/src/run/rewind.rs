//! Rewinding a living run to the checkpoints that it keeps in memory.
//!
//! INVARIANT: a run that went back equals the one that the store would have restored, turn for
//! turn.
//! It does not keep checkpoints; `checkpoints.rs` does.
//! Read next: `checkpoints.rs`.

use duet_journal::{BranchName, Sequence, Store};

use crate::run::Run;
use crate::run::error::RunError;
use crate::run::inbox::Inbox;
use crate::run::inflight::Recovery;
use crate::run::replay::Snapshots;
use crate::run::snapshot::{Images, SnapshotPolicy};
use crate::run::source::Source;
use crate::run::thawing::Extent;

impl Run {
    /// Counts a turn that used this much fuel, and makes a checkpoint if one is due.
    pub(crate) fn keep_checkpoint_if_due(&mut self, fuel: u64) {
        let is_memory_short = self.bytes_held() > self.bytes_max() / 2;
        if let Some(tip) = self.head
            && (self.checkpoints.count(fuel) || is_memory_short)
        {
            self.checkpoints
                .keep(tip, &mut self.state, self.since_snapshot, is_memory_short);
            self.checkpoints
                .drop_savepoints(&mut self.instances, &mut *self.programs);
        }
    }

    /// Sets the cost of turns after which the run makes a checkpoint, in units of fuel; the default
    /// is 100,000.
    pub fn checkpoint_after(&mut self, fuel: u64) {
        self.checkpoints.cost_max = fuel;
    }

    /// Takes the run back or forward to a turn of one of its branches, by default to the head. It
    /// starts from the nearest checkpoint in memory, otherwise from the store. The run loses turns
    /// that were not durable.
    ///
    /// The returned run is for inspection; [`reopen`](Self::reopen) makes one that continues.
    ///
    /// # Errors
    /// As [`Source::restore`].
    pub fn rewind(mut self, source: &Source<'_>, at: Option<Sequence>) -> Result<Self, RunError> {
        let last = source.position(at)?;
        let is_stored = self.unflushed.is_stored();
        let near = self
            .checkpoints
            .newest_on(last, |tip| Ok(source.name(tip.sequence)? == tip.hash))?
            .filter(|_| is_stored && *source.run == self.run);
        if !near.is_some_and(|number| self.restore_savepoint(number)) {
            return source.restored(Some(last), self.programs, Snapshots::Use, Extent::Whole);
        }
        self.branch = source.branch.clone();
        source.repeat(&mut self, last)?;
        Ok(self)
    }

    /// Opens a branch at its head, as [`open`](Self::open) does, in place of this run, with its
    /// programs and checkpoints.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn reopen(
        self,
        store: &mut dyn Store,
        branch: &BranchName,
        owner: &str,
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
        let restored =
            self.checkpoints
                .restore_savepoint(number, &mut self.state, &mut self.instances, &mut *self.programs);
        let Some((tip, since)) = restored else {
            return false;
        };
        self.since_snapshot = since;
        // A frozen actor has not run since the snapshot from which the run was restored, which is
        // older than every checkpoint.
        self.images = Images {
            current: self.frozen.images().clone(),
            ..Images::default()
        };
        self.head = Some(tip);
        self.ledger = None;
        self.durable = Some(tip.hash);
        self.unflushed.withdraw_all();
        self.inbox = Inbox::default();
        // A run takes no snapshots while it replays turns.
        self.policy = SnapshotPolicy::NEVER;
        true
    }
}
