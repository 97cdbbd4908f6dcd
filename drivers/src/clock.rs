//! The clock of the system, and one for tests that moves only when nothing else can happen.
//!
//! INVARIANT: a reading is an input: it reaches a program only as an answer that the journal keeps.
//! It waits for nothing; `timers.rs` does. Read next: `timers.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The moment at which every virtual clock begins: 2020-01-01 in UTC, in milliseconds since 1970.
const BEGINNING_MS: u64 = 1_577_836_800_000;

/// The clock of a world: that of the system, or a virtual one. Clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct WorldClock(Option<Arc<Virtual>>);

#[derive(Debug)]
struct Virtual {
    began: Instant,
    passed_ms: AtomicU64,
}

impl WorldClock {
    /// Makes a clock that stands still until a world has nothing else to wait for than a timer: it
    /// moves to the timer's deadline then.
    pub fn virtual_one() -> Self {
        #[expect(clippy::disallowed_methods, reason = "drivers read the clock")]
        let began = Instant::now();
        Self(Some(Arc::new(Virtual {
            began,
            passed_ms: AtomicU64::new(0),
        })))
    }

    /// Says whether it moves only when nothing else can happen.
    pub(crate) fn is_virtual(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the time since 1970.
    pub(crate) fn since_1970(&self) -> Duration {
        match &self.0 {
            None => since_1970(),
            Some(clock) => Duration::from_millis(BEGINNING_MS + clock.passed_ms.load(Ordering::Relaxed)),
        }
    }

    /// Returns the count that nobody sets.
    pub(crate) fn steady(&self) -> Instant {
        match &self.0 {
            None => {
                #[expect(clippy::disallowed_methods, reason = "drivers read the clock")]
                let now = Instant::now();
                now
            }
            Some(clock) => {
                let passed = Duration::from_millis(clock.passed_ms.load(Ordering::Relaxed));
                clock.began.checked_add(passed).unwrap_or(clock.began)
            }
        }
    }

    /// Moves a virtual clock to a moment in milliseconds since 1970, never back.
    pub(crate) fn move_to(&self, at_ms: u64) {
        if let Some(clock) = &self.0 {
            clock
                .passed_ms
                .fetch_max(at_ms.saturating_sub(BEGINNING_MS), Ordering::Relaxed);
        }
    }
}

/// Returns the time, in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    u64::try_from(since_1970().as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time since 1970.
pub(crate) fn since_1970() -> std::time::Duration {
    #[expect(clippy::disallowed_methods, reason = "this is where the time comes in")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH).unwrap_or_default()
}
