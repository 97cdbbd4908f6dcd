//! What a process has because it owns a run: the lease, the further branches that it executes, and
//! whoever has asked it to stop.
//!
//! INVARIANT: the branches end before the world does, and the world before the lease; so nobody
//! acts for the run once it is given up, and the terminal is the program's until then.
//! It drives nothing; `drive.rs` does. Read next: `keep.rs`, `branches.rs`.

use duet_drivers::door::Request;
use duet_journal::Sequence;
use duet_runtime::model::codec::{Codec, record};

use super::branches::Branches;
use super::keep::RunLease;
use super::reporting::Reporting;

/// The ownership of a run.
pub(super) struct Ownership {
    lease: RunLease,
    branches: Branches,
    /// The request of another process to stop, which is answered when the run has stopped.
    stop_request: Option<Request>,
    /// Whether a letter has asked the run to stop.
    is_stopped_by_letter: bool,
}

impl Ownership {
    /// The ownership of a run that nobody has asked to stop.
    pub(super) fn new(lease: RunLease, branches: Branches) -> Self {
        Self {
            lease,
            branches,
            stop_request: None,
            is_stopped_by_letter: false,
        }
    }

    pub(super) fn lease(&mut self) -> &mut RunLease {
        &mut self.lease
    }

    pub(super) fn branches(&mut self) -> &mut Branches {
        &mut self.branches
    }

    /// Notes the request of another process to stop.
    pub(super) fn stop_for(&mut self, request: Option<Request>) {
        self.stop_request = request;
    }

    /// Notes that a letter has asked the run to stop.
    pub(super) fn stop_for_letter(&mut self) {
        self.is_stopped_by_letter = true;
    }

    /// Says whether another process waits for the run to stop.
    pub(super) fn has_stop_request(&self) -> bool {
        self.stop_request.is_some()
    }

    /// Says whether somebody has asked the run to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped_by_letter || self.has_stop_request()
    }

    /// Drops the lease and keeps the branches, for a run that is claimed anew.
    pub(super) fn into_branches(self) -> Branches {
        self.branches
    }

    /// Ends all that keeps a run, which stands at `head`, before the run is given up.
    pub(super) fn end(self, head: Sequence, world: Reporting) {
        drop(self.branches);
        if let Some(request) = self.stop_request {
            request.reply(Ok(record("stopped", vec![head.number().encode()])));
        }
        drop(world);
        self.lease.end();
    }
}
