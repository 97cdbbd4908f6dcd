//! How soon the clients of a grant may come in again: short visits make the next ones wait.
//!
//! A visit is two turns of the run at least, so a client that breaks and reconnects at once for
//! ever would fill the journal. Each short visit is remembered for a second; while many are, the
//! grant's clients come in one a second. Who stays is not counted, however many they are, and who
//! leaves before his turn has made no record.
//! (Rejected: a record only when the client says something. The client that was seen to do this
//! says the same each time, and breaks on what it hears. A wait that doubles for each address:
//! clients of a socket in the file system have none, and those of a tunnel all the same.)
//! INVARIANT: in any time, the short visits of a grant are at most [`FREE`], one for each second,
//! and those that were there together when it began.
//! It does not know why a client leaves. Read next: `connection.rs`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A visit that is shorter is short.
const SHORT: Duration = Duration::from_secs(10);

/// How long a short visit is remembered, and the time between two visits that wait.
const STEP: Duration = Duration::from_secs(1);

/// The number of short visits that may be remembered before others wait.
const FREE: u32 = 60;

/// The maximum number of short visits that are remembered.
const KNOWN_MAX: u32 = 600;

/// The paces of all grants; clones share them.
#[derive(Clone, Default)]
pub(super) struct Paces(Arc<Mutex<BTreeMap<String, Pace>>>);

/// The pace of a grant.
#[derive(Clone, Copy)]
struct Pace {
    /// When all short visits will be forgotten.
    forgotten: Instant,
    /// When the next visit that waits may come in.
    next: Instant,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self {
            forgotten: now,
            next: now,
        }
    }

    /// Lets a visit come in now, or says how long it has to wait before it may ask again.
    fn enter(&mut self, now: Instant) -> Result<(), Duration> {
        if self.forgotten.saturating_duration_since(now) <= STEP * FREE {
            return Ok(());
        }
        let wait = self.next.saturating_duration_since(now);
        if !wait.is_zero() {
            return Err(wait);
        }
        self.next = now + STEP;
        Ok(())
    }

    fn remember(&mut self, now: Instant) {
        self.forgotten = (self.forgotten.max(now) + STEP).min(now + STEP * KNOWN_MAX);
    }
}

/// The visit of a client; dropping it ends the visit.
pub(super) struct Stay {
    paces: Paces,
    grant: String,
    since: Instant,
}

impl Paces {
    /// Lets a client of a grant come in now, or says how long it has to wait before it asks again.
    pub(super) fn enter(&self, grant: &str) -> Result<Stay, Duration> {
        let now = Instant::now();
        if let Some(pace) = self.known().get_mut(grant) {
            pace.enter(now)?;
        }
        Ok(Stay {
            paces: self.clone(),
            grant: grant.to_owned(),
            since: now,
        })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Pace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let now = Instant::now();
        if now.saturating_duration_since(self.since) >= SHORT {
            return;
        }
        let mut known = self.paces.known();
        known.retain(|_, pace| pace.forgotten > now);
        let grant = std::mem::take(&mut self.grant);
        known.entry(grant).or_insert_with(|| Pace::new(now)).remember(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Comes again as soon as it may, each time for this long; returns how often it came.
    fn visits(pace: &mut Pace, from: Instant, (stay, span): (Duration, Duration)) -> u32 {
        let (mut now, mut count) = (from, 0);
        while now < from + span {
            match pace.enter(now) {
                Ok(()) => {
                    count += 1;
                    now += stay;
                    if stay < SHORT {
                        pace.remember(now);
                    }
                }
                Err(wait) => now += wait,
            }
        }
        count
    }

    #[test]
    fn a_client_that_comes_again_at_once_comes_once_a_second() {
        let now = Instant::now();
        let (hour, instant) = (Duration::from_secs(3_600), Duration::from_millis(1));
        let mut pace = Pace::new(now);
        let count = visits(&mut pace, now, (instant, hour));
        assert!((3_600..=3_600 + FREE + 1).contains(&count), "{count}");
        // When it has stayed away for as long as was remembered, nobody waits any more.
        let later = now + hour + STEP * (FREE + 1);
        assert_eq!(visits(&mut pace, later, (instant, Duration::from_millis(20))), 20);
    }

    #[test]
    fn clients_that_stay_do_not_wait_and_those_together_are_remembered_for_a_while() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        assert_eq!(visits(&mut pace, now, (SHORT, SHORT * 1_000)), 1_000);
        let mut pace = Pace::new(now);
        (0..4_096).for_each(|_| pace.remember(now));
        assert_eq!(pace.forgotten, now + STEP * KNOWN_MAX);
        assert_eq!(visits(&mut pace, now, (Duration::from_millis(1), STEP * 60)), 60);
    }
}
