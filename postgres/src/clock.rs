//! The clock of a server, as this process reckons it: leases and moments are by that clock, because
//! the hosts that share a journal may have clocks that differ.
//!
//! INVARIANT: a reading is off by at most half of the time that a statement took, and steps of this
//! host's clock do not move it.
//! It asks the server for nothing; statements that are made anyway bring its time along.
//! Read next: `lease.rs`, then `link.rs`.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use duet_journal::owner;

/// The server's time in milliseconds since 1970, as a column of a statement.
pub(crate) const COLUMN: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// How long a statement may take that brings the time along, unless nothing is known yet.
const QUICK: Duration = Duration::from_secs(1);

/// The difference, in milliseconds, below which two clocks agree: a lease lasts 60 times as long.
const AGREEMENT_MS: u64 = 1_000;

/// The clock of a server.
#[derive(Debug, Default)]
pub(crate) struct ServerClock(Mutex<Option<Reading>>);

/// What the clock showed at a moment of this process.
#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Instant,
    shown_ms: u64,
}

/// The moment before a statement that brings the time along.
pub(crate) struct Asking(Instant);

impl ServerClock {
    /// Begins a reading; the statement follows at once.
    pub(crate) fn ask() -> Asking {
        Asking(moment())
    }

    /// Takes the time that a statement has brought along.
    pub(crate) fn set(&self, Asking(asked): Asking, shown_ms: i64) {
        let took = moment().saturating_duration_since(asked);
        let Ok(mut known) = self.0.lock() else { return };
        if known.is_none() || took < QUICK {
            *known = Some(Reading {
                at: asked + took / 2,
                shown_ms: u64::try_from(shown_ms).unwrap_or(0),
            });
        }
    }

    /// Returns the server's time in milliseconds since 1970; this host's if nobody has asked the
    /// server yet.
    pub(crate) fn now_ms(&self) -> u64 {
        let known = self.0.lock().map_or(None, |known| *known);
        known.map_or_else(owner::now_ms, |Reading { at, shown_ms }| {
            let passed = moment().saturating_duration_since(at).as_millis();
            shown_ms.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX))
        })
    }

    /// Returns the server's time at a moment that this host's clock gives, both in milliseconds
    /// since 1970. Clocks that agree are taken for one, so that a description stays as its owner
    /// has written it.
    pub(crate) fn of_host_ms(&self, host_ms: u64) -> u64 {
        let ahead = self.ahead_of_host_ms();
        if ahead.unsigned_abs() < AGREEMENT_MS {
            return host_ms;
        }
        host_ms.saturating_add_signed(ahead)
    }

    /// By how many milliseconds the server's clock is ahead of this host's.
    pub(crate) fn ahead_of_host_ms(&self) -> i64 {
        self.now_ms()
            .cast_signed()
            .saturating_sub(owner::now_ms().cast_signed())
    }
}

fn moment() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "leases are a matter of clocks and enter no record"
    )]
    let now = Instant::now();
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_nobody_has_read_is_that_of_the_host() {
        let clock = ServerClock::default();
        assert!(clock.ahead_of_host_ms().abs() < 1_000);
    }

    #[test]
    fn a_reading_goes_on_with_the_time_and_a_slow_statement_does_not_change_it() {
        let clock = ServerClock::default();
        let hour_ms = 3_600_000;
        clock.set(ServerClock::ask(), owner::now_ms().cast_signed() + hour_ms);
        assert!((clock.ahead_of_host_ms() - hour_ms).abs() < 1_000);
        assert!(clock.of_host_ms(5) >= 3_590_000);
        let Some(long_ago) = moment().checked_sub(Duration::from_secs(60)) else {
            return;
        };
        clock.set(Asking(long_ago), 7);
        assert!((clock.ahead_of_host_ms() - hour_ms).abs() < 1_000);
    }
}
