//! The duties of a process that owns a run, besides taking its turns: an open door, and a lease
//! that it renews.
//!
//! INVARIANT: the owner that the journal names for a run is one that lives; a process that has lost
//! its run learns of it within a quarter of its lease, even if nothing happens in the run.
//! It does not answer requests; `serve.rs` does. Read next: `serve.rs`.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use duet_drivers::ticker::Ticker;
use duet_drivers::waker::Waker;
use duet_drivers::world::World;
use duet_journal::owner::{self, now_ms};
use duet_journal::{BranchName, Epoch, Owner, RunId, Store, StoreError};
use duet_runtime::run::Run;

use super::RunPlace;
use crate::history::journal::{Journal, lease_ms};
use crate::owner::doors;

/// How often an owner of a run in a journal on a server looks into its inbox, in milliseconds:
/// nobody on another host reaches its door; and a worker, whose runs get requests over HTTP. For
/// another owner of a run in a file each beat does.
const MAIL_MS: u64 = 1_000;

/// How often a process that executes one run looks into its inbox on a server: it has a connection
/// for that, and whoever answers, stops or moves the run waits. In milliseconds.
const MAIL_OF_ONE_MS: u64 = 200;

/// How often an owner says that it lives, in milliseconds.
fn beat_ms() -> u64 {
    owner::beat_ms(lease_ms())
}

/// The lease of a run, which keeps the run claimed and reachable.
#[derive(Default)]
pub(super) struct RunLease {
    shared: Arc<Shared>,
    /// Whether the run's door is still to be opened.
    needs_door: bool,
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
    /// Why the lease is not renewed, until somebody has said it.
    trouble: Mutex<Option<String>>,
}

impl RunLease {
    /// Keeps a run that has a journal; one without a journal needs nothing.
    pub(super) fn of(run: &Run, world: &mut World, place: &RunPlace) -> Self {
        let Some(journal) = &place.journal else {
            return Self::default();
        };
        // Most runs that a worker wakes sleep again before anybody could reach their doors. Others
        // put letters into the inbox on a server until there is one.
        let needs_door = journal.is_on_server() && place.beats.is_some();
        if !needs_door {
            doors::open(world, journal, run.id(), place.is_further.then(|| run.branch()));
        }
        let shared = Arc::new(Shared {
            has_mail: AtomicBool::new(true),
            ..Shared::default()
        });
        let ticker = if place.is_further {
            // The lease is the run's, which the same process renews.
            None
        } else {
            let beating = Beating::of(run, &shared, world);
            match &place.beats {
                Some(beats) => {
                    beats.add(beating);
                    None
                }
                None => beating.begin(journal.clone()),
            }
        };
        Self {
            shared,
            needs_door,
            _ticker: ticker,
        }
    }

    /// Says once that the run's door is to be opened, if it is.
    pub(super) fn takes_door(&mut self) -> bool {
        std::mem::take(&mut self.needs_door)
    }

    /// Says whether another process has claimed the run, as far as is known.
    pub(super) fn is_lost(&self) -> bool {
        self.shared.is_lost.load(Ordering::Relaxed)
    }

    /// Says whether there may be letters that were not there before.
    pub(super) fn take_mail(&self) -> bool {
        self.shared.has_mail.swap(false, Ordering::Relaxed)
    }

    /// Takes what a person should know about the lease.
    pub(super) fn take_trouble(&self) -> Option<String> {
        self.shared
            .trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Ends the renewal of the lease: none comes after this.
    pub(super) fn end(self) {
        *self.shared.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

/// The duties that an owner of a run repeats.
struct Beating {
    run: RunId,
    branch: BranchName,
    epoch: Epoch,
    renewed_ms: u64,
    shared: Arc<Shared>,
    waker: Option<Waker>,
}

impl Beating {
    fn of(run: &Run, shared: &Arc<Shared>, world: &World) -> Self {
        Self {
            run: run.id().clone(),
            branch: run.branch().clone(),
            epoch: run.epoch(),
            renewed_ms: now_ms(),
            shared: Arc::clone(shared),
            waker: world.waker(),
        }
    }

    /// Begins to repeat it on a thread of its own.
    fn begin(mut self, journal: Journal) -> Option<Ticker> {
        let mail_ms = if journal.is_on_server() {
            MAIL_OF_ONE_MS
        } else {
            u64::MAX
        };
        let interval_ms = mail_ms.min(beat_ms());
        let tell = Trouble {
            shared: Arc::clone(&self.shared),
            waker: self.waker.clone(),
        };
        // The connection to a server; a file is opened anew each time.
        let mut kept: Option<Box<dyn Store>> = None;
        let mut beat = move || -> Result<(), StoreError> {
            let mut store = match kept.take() {
                Some(store) => store,
                None => journal.open_again()?,
            };
            if self.beat(&mut *store)? && journal.is_on_server() {
                kept = Some(store);
            }
            Ok(())
        };
        // A failure may pass; a first one may not, such as that of a role with too few connections.
        let mut beaten_ms = 0;
        let mut is_told = false;
        let tick = move || {
            match beat() {
                Ok(()) => (beaten_ms, is_told) = (now_ms(), false),
                Err(error) if !is_told && now_ms().saturating_sub(beaten_ms) >= beat_ms() => {
                    is_told = true;
                    tell.say(&error);
                }
                Err(_) => {}
            }
            true
        };
        // Without it the lease runs out for other hosts; on this one the process is known.
        Ticker::start(Duration::from_millis(interval_ms), tick).ok()
    }

    /// Looks for letters, and renews the lease when it is time; returns whether the run is not
    /// given up.
    fn beat(&mut self, store: &mut dyn Store) -> Result<bool, StoreError> {
        let shared = Arc::clone(&self.shared);
        let is_over = shared.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_over {
            return Ok(false);
        }
        if now_ms().saturating_sub(self.renewed_ms) >= beat_ms() {
            if !renew(store, &self.run, self.epoch)? {
                shared.is_lost.store(true, Ordering::Relaxed);
                self.wake();
                return Ok(true);
            }
            self.renewed_ms = now_ms();
        }
        if !store.letters(&self.run, &self.branch)?.is_empty() {
            shared.has_mail.store(true, Ordering::Relaxed);
            // The thread that runs turns may miss a ring while it takes one: each beat rings.
            self.wake();
        }
        Ok(true)
    }

    fn wake(&self) {
        self.waker.iter().for_each(Waker::wake);
    }
}

/// Where it is said that a lease is not renewed.
struct Trouble {
    shared: Arc<Shared>,
    waker: Option<Waker>,
}

impl Trouble {
    /// Has the thread that runs turns say why.
    fn say(&self, error: &StoreError) {
        let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let told = format!(
            "warning: this process cannot say in the journal that it lives, so after {} s other hosts take the run \
             for one whose process has died; nor does it see what is put into the run's inbox: {why}",
            lease_ms() / 1_000
        );
        *self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        self.waker.iter().for_each(Waker::wake);
    }
}

/// The runs that a worker executes: its own thread beats for all of them, on its connection.
#[derive(Default)]
pub(crate) struct LeaseRenewals(Mutex<Vec<Due>>);

/// A run, and the time of its next beat, in milliseconds since 1970.
struct Due {
    beating: Beating,
    at_ms: u64,
}

impl LeaseRenewals {
    fn lock(&self) -> MutexGuard<'_, Vec<Due>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, beating: Beating) {
        let at_ms = now_ms() + MAIL_MS.min(beat_ms());
        self.lock().push(Due { beating, at_ms });
    }

    /// LeaseRenewals for the runs whose time has come.
    ///
    /// # Errors
    /// If the journal cannot be used; the rest is done the next time.
    pub(crate) fn beat(&self, store: &mut dyn Store) -> Result<(), StoreError> {
        let now = now_ms();
        loop {
            let due = {
                let mut all = self.lock();
                let place = all.iter().position(|due| due.at_ms <= now);
                place.map(|place| all.swap_remove(place))
            };
            let Some(mut due) = due else { return Ok(()) };
            let beaten = due.beating.beat(store);
            if !matches!(beaten, Ok(false)) {
                due.at_ms = now + MAIL_MS.min(beat_ms());
                self.lock().push(due);
            }
            beaten?;
        }
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
