//! The clock of the system, and one for tests that moves only when nothing else can happen.
//!
//! INVARIANT: a reading is an input: it reaches a program only as an answer that the journal keeps.
//! It waits for nothing; `timers.rs` does. Read next: `timers.rs`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The moment at which every virtual clock begins: 2020-01-01 in UTC, in milliseconds since 1970.
const BEGINNING_MS: u64 = 1_577_836_800_000;

/// The clock of a world: that of the system, another one, or a virtual one. Clones show the same
/// time.
#[derive(Clone, Default)]
pub struct WorldClock(Kind);

#[derive(Clone, Default)]
enum Kind {
    #[default]
    System,
    /// Returns the time in milliseconds since 1970.
    Another(Arc<dyn Fn() -> u64 + Send + Sync>),
    Virtual(Arc<Virtual>),
}

#[derive(Debug)]
struct Virtual {
    began: Instant,
    passed_ms: AtomicU64,
}

impl fmt::Debug for WorldClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WorldClock").field(&self.since_1970()).finish()
    }
}

impl WorldClock {
    /// Makes a clock that stands still until a world has nothing else to wait for than a timer: it
    /// moves to the timer's deadline then.
    pub fn virtual_one() -> Self {
        #[expect(clippy::disallowed_methods, reason = "drivers read the clock")]
        let began = Instant::now();
        Self(Kind::Virtual(Arc::new(Virtual {
            began,
            passed_ms: AtomicU64::new(0),
        })))
    }

    /// Makes a clock that shows what another one does, in milliseconds since 1970: that of a
    /// journal which several hosts share.
    pub fn showing(now_ms: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Kind::Another(Arc::new(now_ms)))
    }

    /// Says whether it moves only when nothing else can happen.
    pub fn is_virtual(&self) -> bool {
        matches!(self.0, Kind::Virtual(_))
    }

    /// Returns the time since 1970.
    pub(crate) fn since_1970(&self) -> Duration {
        match &self.0 {
            Kind::System => since_1970(),
            Kind::Another(now_ms) => Duration::from_millis(now_ms()),
            Kind::Virtual(clock) => Duration::from_millis(BEGINNING_MS + clock.passed_ms.load(Ordering::Relaxed)),
        }
    }

    /// Returns the count that nobody sets.
    pub(crate) fn steady(&self) -> Instant {
        match &self.0 {
            Kind::System | Kind::Another(_) => {
                #[expect(clippy::disallowed_methods, reason = "drivers read the clock")]
                let now = Instant::now();
                now
            }
            Kind::Virtual(clock) => {
                let passed = Duration::from_millis(clock.passed_ms.load(Ordering::Relaxed));
                clock.began.checked_add(passed).unwrap_or(clock.began)
            }
        }
    }

    /// Moves a virtual clock to a moment in milliseconds since 1970, never back.
    pub(crate) fn move_to(&self, at_ms: u64) {
        if let Kind::Virtual(clock) = &self.0 {
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
