//! The clock of the system.
//!
//! INVARIANT: a reading is an input: it reaches a program only as an answer that the journal keeps.
//! It waits for nothing; `timers.rs` does. Read next: `timers.rs`.

use std::time::{SystemTime, UNIX_EPOCH};

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
