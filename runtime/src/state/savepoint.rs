//! Savepoints of the state, which undo many turns.
//!
//! INVARIANT: a restored state equals the state at the savepoint, except for internal numbers that
//! nothing outside it depends on.
//! It does not know when to make a savepoint; `../run/checkpoints.rs` does.
//! Read next: `../collections/tracked/savepoints.rs`, `../run/checkpoints.rs`.

use std::sync::Arc;

use super::RunState;
use crate::collections::tracked::Tracking;
use crate::model::identity::Counters;
use crate::policy::entry::Entries;
use crate::state::event::Queue;
use crate::state::grants::Granted;
use crate::state::open::OpenRequests;
use crate::state::patches::Patches;
use crate::state::untaken::UntakenFailures;

/// The values at a savepoint of the fields that have no undo log.
#[derive(Clone, Debug)]
pub(crate) struct StateSavepoint {
    counters: Counters,
    queue: Queue,
    exit: Option<u64>,
    untaken: Arc<UntakenFailures>,
    is_session: bool,
    entries: Entries,
    granted: Granted,
    open: OpenRequests,
    patches: Patches,
}

impl RunState {
    /// Returns the fields that have an undo log.
    fn tracked(&mut self) -> [&mut dyn Tracking; 8] {
        [
            &mut self.dataspace,
            &mut self.held,
            &mut self.actors,
            &mut self.requests,
            &mut self.capabilities,
            &mut self.capabilities_of,
            &mut self.calls,
            &mut self.peers,
        ]
    }

    /// Makes a savepoint of the state, between turns; its number is greater than those before.
    ///
    /// Returns the part of the state that [`restore_savepoint`](Self::restore_savepoint) needs
    /// besides. A clone has no savepoints.
    pub(crate) fn make_savepoint(&mut self, number: u64) -> StateSavepoint {
        self.tracked()
            .into_iter()
            .for_each(|tracked| tracked.make_savepoint(number));
        StateSavepoint {
            counters: self.counters.clone(),
            queue: self.queue.clone(),
            exit: self.exit,
            untaken: Arc::clone(&self.untaken),
            is_session: self.is_session,
            entries: self.entries.clone(),
            granted: self.granted.clone(),
            open: self.open.clone(),
            patches: Arc::clone(&self.patches),
        }
    }

    /// Restores a savepoint, between turns, and keeps it.
    ///
    /// Returns false if the state cannot be restored because too much has changed since; the state
    /// is then unusable.
    pub(crate) fn restore_savepoint(&mut self, number: u64, savepoint: &StateSavepoint) -> bool {
        let is_back = self
            .tracked()
            .into_iter()
            .all(|tracked| tracked.restore_savepoint(number));
        self.tracked()
            .into_iter()
            .for_each(|tracked| tracked.make_savepoint(number));
        (self.counters, self.queue) = (savepoint.counters.clone(), savepoint.queue.clone());
        (self.exit, self.entries) = (savepoint.exit, savepoint.entries.clone());
        self.untaken = Arc::clone(&savepoint.untaken);
        self.is_session = savepoint.is_session;
        self.granted = savepoint.granted.clone();
        self.open = savepoint.open.clone();
        self.patches = Arc::clone(&savepoint.patches);
        is_back
    }

    /// Drops the savepoints with numbers below `oldest`.
    pub(crate) fn drop_savepoints(&mut self, oldest: u64) {
        self.tracked()
            .into_iter()
            .for_each(|tracked| tracked.drop_savepoints(oldest));
    }
}
