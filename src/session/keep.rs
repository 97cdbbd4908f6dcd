//! The duties of a process that owns a run, besides taking its turns: an open door, and a lease
//! that it renews.
//!
//! INVARIANT: the owner that the journal names for a run is one that lives; a process that has lost
//! its run learns of it within [`BEAT_MS`], even if nothing happens in the run.
//! It does not answer requests; `serve.rs` does. Read next: `serve.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use duet_drivers::ticker::Ticker;
use duet_drivers::world::World;
use duet_journal::owner::{BEAT_MS, now_ms};
use duet_journal::{Epoch, Owner, RunId, Store, StoreError};
use duet_runtime::run::Run;

use super::RunPlace;
use crate::doors;
use crate::journal::Journal;

/// Keeps a run reachable, and claimed.
#[derive(Default)]
pub(super) struct Keeper {
    is_lost: Arc<AtomicBool>,
    _ticker: Option<Ticker>,
}

impl Keeper {
    /// Keeps a run whose journal is at a path; one without a journal needs nothing.
    pub(super) fn of(run: &Run, world: &mut World, place: &RunPlace) -> Self {
        let Some(journal) = place.journal.as_deref() else {
            return Self::default();
        };
        let branch = place.is_further.then(|| run.branch());
        doors::open(world, journal, (run.id(), branch));
        if place.is_further {
            // The lease is the run's, which the same process renews.
            return Self::default();
        }
        let is_lost = Arc::new(AtomicBool::new(false));
        let (waker, lost) = (world.waker(), Arc::clone(&is_lost));
        let (path, name, epoch) = (journal.to_owned(), run.id().clone(), run.epoch());
        let beat = move || {
            // A failure may pass; if it does not, a commit says what is wrong.
            if !renew(&path, &name, epoch).unwrap_or(true) {
                lost.store(true, Ordering::Relaxed);
                // The thread that runs turns may miss a ring while it takes one: each beat rings.
                waker.iter().for_each(|waker| waker.wake());
            }
            true
        };
        Self {
            is_lost,
            // Without it the lease runs out for other hosts; on this one the process is known.
            _ticker: Ticker::start(Duration::from_millis(BEAT_MS), beat).ok(),
        }
    }

    /// Says whether another process has claimed the run, as far as is known.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }
}

/// Renews the lease of a run; false if somebody else has claimed the run.
fn renew(journal: &std::path::Path, run: &RunId, epoch: Epoch) -> Result<bool, StoreError> {
    let mut store = Journal::at(journal).open_again()?;
    // Until the first commit nobody else sees the claim.
    let Some(claim) = store.claimed(run)? else {
        return Ok(true);
    };
    let Ok(owner) = claim.owner.parse::<Owner>() else {
        return Ok(claim.epoch == epoch);
    };
    let seen = Owner {
        seen_ms: now_ms(),
        ..owner
    };
    match store.note_owner(run, epoch, &seen.to_string()) {
        Err(StoreError::EpochFenced { .. }) => Ok(false),
        noted => noted.map(|()| true),
    }
}
