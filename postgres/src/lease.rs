//! The leases that the newest commit of a connection has renewed, as far as their owner may trust
//! them.
//!
//! INVARIANT: a lease is trusted for less time than whoever takes the run over waits: for half of
//! it, and at most [`TRUST_MS`]. It counts from before the commit was sent, and the time in which
//! the machine was suspended counts too.
//! It asks the server for nothing. Read next: `writing.rs`.

use std::collections::BTreeMap;

use duet_journal::owner::TRUST_MS;
use duet_journal::{Epoch, Owner, RunId};

use crate::row::RunRow;

/// The leases of some runs.
#[derive(Default)]
pub(crate) struct Leases(BTreeMap<RunId, Lease>);

/// The claim that was renewed, and the end of the time for which it is trusted, on the clock of
/// [`since_boot_ms`].
struct Lease {
    epoch: Epoch,
    end_ms: u64,
}

impl Leases {
    /// The leases of runs that a commit has written to, which was sent after `begun_ms`.
    pub(crate) fn renewed<'a>(runs: impl Iterator<Item = &'a RunRow>, begun_ms: Option<u64>) -> Self {
        let lease = |run: &RunRow| {
            let owner: Owner = run.owner.parse().ok()?;
            let trusted_ms = TRUST_MS.min(owner.lease_ms / 2);
            let lease = Lease {
                epoch: run.epoch,
                end_ms: begun_ms?.saturating_add(trusted_ms),
            };
            Some((run.name.clone(), lease))
        };
        Self(runs.filter_map(lease).collect())
    }

    /// Whether nobody can have claimed a run since an epoch who waits for the end of its lease.
    pub(crate) fn hold(&self, run: &RunId, epoch: Epoch) -> bool {
        let lease = self.0.get(run).filter(|lease| lease.epoch == epoch);
        lease.is_some_and(|lease| since_boot_ms().is_some_and(|now_ms| now_ms < lease.end_ms))
    }
}

/// Returns the milliseconds since the machine was started, including those in which it was
/// suspended; `None` where the system has no such clock.
///
/// Source: `CLOCK_BOOTTIME` of clock_gettime(2).
pub(crate) fn since_boot_ms() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let (seconds, nanoseconds) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
        Some(seconds.saturating_mul(1_000).saturating_add(nanoseconds / 1_000_000))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a lease of so many milliseconds holds that a commit has renewed a while ago.
    fn holds(lease_ms: u64, ago_ms: u64) -> bool {
        let owner = Owner {
            lease_ms,
            ..Owner::this("run p.scm")
        };
        let run = RunRow {
            name: RunId::new("r").expect("a name"),
            epoch: Epoch(3),
            owner: owner.to_string(),
            numbered: 1,
        };
        let begun_ms = since_boot_ms().map(|now_ms| now_ms.saturating_sub(ago_ms));
        let leases = Leases::renewed([&run].into_iter(), begun_ms);
        assert!(!leases.hold(&run.name, Epoch(2)), "another claim");
        leases.hold(&run.name, Epoch(3))
    }

    #[test]
    fn an_owner_trusts_its_lease_for_less_than_others_wait() {
        if since_boot_ms().is_none() {
            return;
        }
        assert!(holds(60_000, 0));
        // A machine that has just been started has no such moment.
        if since_boot_ms() > Some(TRUST_MS) {
            assert!(!holds(60_000, TRUST_MS));
            assert!(!holds(TRUST_MS, TRUST_MS / 2));
        }
    }

    #[test]
    fn what_nobody_has_renewed_does_not_hold() {
        assert!(!Leases::default().hold(&RunId::new("r").expect("a name"), Epoch(1)));
    }
}
