//! Time and medians.

#![allow(dead_code, reason = "each benchmark uses a part")]

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Performs `work` and returns its elapsed time in microseconds.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn microseconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed().as_secs_f64() * 1e6)
}

/// Returns the processor time that this thread has used, in nanoseconds.
/// (`/proc/thread-self/schedstat` has the value of the system's last update, which is some
/// milliseconds old.)
pub(crate) fn processor_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec.unsigned_abs() * 1_000_000_000 + used.tv_nsec.unsigned_abs()
}

/// Performs `work` and returns this thread's processor time for it in microseconds, which other
/// load does not change.
pub(crate) fn processor_microseconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = processor_ns();
    let result = work();
    (result, (processor_ns() - started) as f64 / 1000.0)
}

/// Returns the middle value; of an even number of them, the upper one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
