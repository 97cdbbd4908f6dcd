//! The duties of a process that owns a run, besides taking its turns: an open door, and a lease
//! that it renews.
//!
//! INVARIANT: the owner that the journal names for a run is one that lives; a process that has lost
//! its run learns of it within [`BEAT_MS`], even if nothing happens in the run.
//! It does not answer requests; `serve.rs` does. Read next: `serve.rs`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use duet_drivers::ticker::Ticker;
use duet_drivers::world::World;
use duet_journal::owner::{BEAT_MS, now_ms};
use duet_journal::{BranchName, Epoch, Owner, RunId, Store, StoreError};
use duet_runtime::run::Run;

use super::RunPlace;
use crate::doors;
use crate::journal::Journal;

/// How often an owner of a run in a journal on a server looks into its inbox, in milliseconds:
/// nobody on another host reaches its door; and a worker, whose runs get requests over HTTP. For
/// another owner of a run in a file each beat does.
const MAIL_MS: u64 = 1_000;

/// Keeps a run reachable, and claimed.
#[derive(Default)]
pub(super) struct Keeper {
    shared: Arc<Shared>,
    _ticker: Option<Ticker>,
}

/// What the thread of turns and the ticker share.
#[derive(Default)]
struct Shared {
    is_lost: AtomicBool,
    /// Whether there may be letters.
    has_mail: AtomicBool,
    /// Whether the run is given up; the ticker holds it while it renews the lease.
    is_over: Mutex<bool>,
}

impl Keeper {
    /// Keeps a run whose journal is at a path; one without a journal needs nothing.
    pub(super) fn of(run: &Run, world: &mut World, place: &RunPlace) -> Self {
        let Some(path) = place.journal.as_deref() else {
            return Self::default();
        };
        let further = place.is_further.then(|| run.branch());
        doors::open(world, path, (run.id(), further));
        let shared = Arc::new(Shared {
            has_mail: AtomicBool::new(true),
            ..Shared::default()
        });
        if place.is_further {
            // The lease is the run's, which the same process renews.
            return Self { shared, _ticker: None };
        }
        let journal = Journal::at(path);
        let is_posted = journal.is_on_server() || place.is_worked;
        let interval_ms = if is_posted { MAIL_MS } else { BEAT_MS };
        let mut beating = Beating {
            journal,
            run: run.id().clone(),
            branch: run.branch().clone(),
            epoch: run.epoch(),
            store: None,
            renewed_ms: now_ms(),
        };
        let (waker, told) = (world.waker(), Arc::clone(&shared));
        let beat = move || {
            // A failure may pass; if it does not, a commit says what is wrong.
            let is_news = beating.beat(&told).unwrap_or(false);
            if is_news {
                // The thread that runs turns may miss a ring while it takes one: each beat rings.
                waker.iter().for_each(|waker| waker.wake());
            }
            true
        };
        Self {
            shared,
            // Without it the lease runs out for other hosts; on this one the process is known.
            _ticker: Ticker::start(Duration::from_millis(interval_ms), beat).ok(),
        }
    }

    /// Says whether another process has claimed the run, as far as is known.
    pub(super) fn is_lost(&self) -> bool {
        self.shared.is_lost.load(Ordering::Relaxed)
    }

    /// Says whether there may be letters that were not there before.
    pub(super) fn take_mail(&self) -> bool {
        self.shared.has_mail.swap(false, Ordering::Relaxed)
    }

    /// Ends the renewal of the lease: none comes after this.
    pub(super) fn end(self) {
        *self.shared.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

/// The thread of a keeper.
struct Beating {
    journal: Journal,
    run: RunId,
    branch: BranchName,
    epoch: Epoch,
    /// The connection to a server; a file is opened anew each time.
    store: Option<Box<dyn Store>>,
    renewed_ms: u64,
}

impl Beating {
    /// Looks for letters, and renews the lease when it is time; returns whether there is news.
    fn beat(&mut self, shared: &Shared) -> Result<bool, StoreError> {
        let is_over = shared.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_over {
            self.store = None;
            return Ok(false);
        }
        let mut store = match self.store.take() {
            Some(store) => store,
            None => self.journal.open_again()?,
        };
        if now_ms().saturating_sub(self.renewed_ms) >= BEAT_MS {
            if !renew(&mut *store, &self.run, self.epoch)? {
                shared.is_lost.store(true, Ordering::Relaxed);
                return Ok(true);
            }
            self.renewed_ms = now_ms();
        }
        let has_mail = !store.letters(&self.run, &self.branch)?.is_empty();
        if has_mail {
            shared.has_mail.store(true, Ordering::Relaxed);
        }
        self.store = self.journal.is_on_server().then_some(store);
        Ok(has_mail)
    }
}

/// Renews the lease of a run; false if somebody else has claimed the run.
fn renew(store: &mut dyn Store, run: &RunId, epoch: Epoch) -> Result<bool, StoreError> {
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
