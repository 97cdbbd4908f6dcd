//! How soon the clients of a grant may come in again: short connections make the next ones wait.
//!
//! A connection is two turns of the run at least, so a client that breaks and reconnects at once
//! for ever would fill the journal. Each grant has a leaky bucket: a short connection adds one to
//! its level, which falls by one each second. While the level is high, the grant's clients come in
//! one a second. Who stays is not counted, however many they are, and who leaves before his turn
//! has made no record.
//! (Rejected: a record only when the client says something. The client that was seen to do this
//! says the same each time, and breaks on what it hears. A wait that doubles for each address:
//! clients of a socket in the file system have none, and those of a tunnel share one.)
//! INVARIANT: in any time, the short connections of a grant are at most [`LEVEL_FREE`] and one for
//! each second, besides those that came together while the level was low.
//! It does not know why a client leaves. Read next: `connection.rs`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A connection that is shorter is short.
const SHORT: Duration = Duration::from_secs(10);

/// The time in which the level falls by one, and between two connections that wait.
const INTERVAL: Duration = Duration::from_secs(1);

/// The level above which connections wait.
const LEVEL_FREE: u32 = 60;

/// The level above which connections that have just begun count as well, because they may become
/// short. Below, any number of clients may come together.
const LEVEL_LOW: u32 = LEVEL_FREE / 2;

/// The maximum level.
const LEVEL_MAX: u32 = 600;

/// The rate limits of all grants; clones share them.
#[derive(Clone, Default)]
pub(super) struct RateLimits(Arc<Mutex<BTreeMap<String, RateLimit>>>);

/// The rate limit of a grant.
struct RateLimit {
    /// When the level will be zero.
    empty_at: Instant,
    /// When the next connection that waits may begin.
    next: Instant,
    /// When the connections began that are open and may become short, the oldest first.
    young: VecDeque<Instant>,
}

impl RateLimit {
    fn new(now: Instant) -> Self {
        Self {
            empty_at: now,
            next: now,
            young: VecDeque::new(),
        }
    }

    /// Lets a connection begin now, or says how long it has to wait before it may ask again.
    fn enter(&mut self, now: Instant) -> Result<(), Duration> {
        self.prune(now);
        // Levels are compared by the times in which they fall to zero.
        let level = self.empty_at.saturating_duration_since(now);
        let beginning = u32::try_from(self.young.len()).unwrap_or(u32::MAX);
        let is_free =
            level <= INTERVAL * LEVEL_LOW || level + INTERVAL.saturating_mul(beginning) <= INTERVAL * LEVEL_FREE;
        if !is_free {
            let wait = self.next.saturating_duration_since(now);
            if !wait.is_zero() {
                return Err(wait);
            }
            self.next = now + INTERVAL;
        }
        self.young.push_back(now);
        Ok(())
    }

    /// Ends a connection that began at `since`.
    fn leave(&mut self, since: Instant, now: Instant) {
        self.prune(now);
        if let Ok(place) = self.young.binary_search(&since) {
            self.young.remove(place);
            self.empty_at = (self.empty_at.max(now) + INTERVAL).min(now + INTERVAL * LEVEL_MAX);
        }
    }

    /// Forgets the beginnings of connections that cannot become short any more.
    fn prune(&mut self, now: Instant) {
        while self.young.front().is_some_and(|since| *since + SHORT <= now) {
            self.young.pop_front();
        }
    }

    fn is_idle(&self, now: Instant) -> bool {
        self.empty_at <= now && self.young.is_empty()
    }
}

/// The right of a client to be connected; dropping it ends the connection.
pub(super) struct ConnectionPermit {
    rate_limits: RateLimits,
    grant: String,
    since: Instant,
}

impl RateLimits {
    /// Lets a client of a grant come in now, or says how long it has to wait before it asks again.
    pub(super) fn enter(&self, grant: &str) -> Result<ConnectionPermit, Duration> {
        let mut known = self.known();
        // Those that come one after the other find beginnings in their order.
        let now = Instant::now();
        known.retain(|_, rate_limit| !rate_limit.is_idle(now));
        let rate_limit = known.entry(grant.to_owned()).or_insert_with(|| RateLimit::new(now));
        rate_limit.enter(now)?;
        Ok(ConnectionPermit {
            rate_limits: self.clone(),
            grant: grant.to_owned(),
            since: now,
        })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, RateLimit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        if let Some(rate_limit) = self.rate_limits.known().get_mut(&self.grant) {
            rate_limit.leave(self.since, Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSTANT: Duration = Duration::from_millis(1);

    /// Comes again as soon as it may, each time for this long; returns how often it came.
    fn connections(rate_limit: &mut RateLimit, from: Instant, stay: Duration, span: Duration) -> u32 {
        let (mut now, mut count) = (from, 0);
        while now < from + span {
            match rate_limit.enter(now) {
                Ok(()) => {
                    count += 1;
                    rate_limit.leave(now, now + stay);
                    now += stay;
                }
                Err(wait) => now += wait,
            }
        }
        count
    }

    #[test]
    fn a_client_that_comes_again_at_once_comes_once_a_second() {
        let now = Instant::now();
        let hour = Duration::from_secs(3_600);
        let mut rate_limit = RateLimit::new(now);
        let count = connections(&mut rate_limit, now, INSTANT, hour);
        assert!((3_600..=3_600 + LEVEL_FREE + 1).contains(&count), "{count}");
        // Once the level has fallen to zero, nobody waits any more.
        let later = now + hour + INTERVAL * (LEVEL_FREE + 1);
        assert_eq!(connections(&mut rate_limit, later, INSTANT, INSTANT * 20), 20);
    }

    #[test]
    fn clients_that_stay_do_not_wait_however_many_come_together() {
        let now = Instant::now();
        let mut rate_limit = RateLimit::new(now);
        assert_eq!(connections(&mut rate_limit, now, SHORT, SHORT * 1_000), 1_000);
        let mut rate_limit = RateLimit::new(now);
        assert!((0..4_096).all(|_| rate_limit.enter(now).is_ok()));
        // When they leave together at once, the next ones wait, and not for ever.
        (0..4_096).for_each(|_| rate_limit.leave(now, now + INSTANT));
        assert_eq!(rate_limit.empty_at, now + INSTANT + INTERVAL * LEVEL_MAX);
        assert_eq!(connections(&mut rate_limit, now + INSTANT, INSTANT, INTERVAL * 60), 60);
    }

    #[test]
    fn connections_that_have_just_begun_count_when_many_were_short() {
        let now = Instant::now();
        let mut rate_limit = RateLimit::new(now);
        for _ in 0..=LEVEL_LOW {
            assert!(rate_limit.enter(now).is_ok());
            rate_limit.leave(now, now);
        }
        let together = (0..1_000).filter(|_| rate_limit.enter(now).is_ok()).count();
        // The last of them is the one that this second has.
        assert_eq!(together, (LEVEL_FREE - LEVEL_LOW + 1) as usize);
        // Once it is clear that they stay, others need not wait for them.
        assert!(rate_limit.enter(now + SHORT).is_ok());
    }
}
