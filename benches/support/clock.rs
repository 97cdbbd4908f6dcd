//! Time and medians.

use std::time::Instant;

/// Performs `work` and returns how long it took, in microseconds.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn microseconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed().as_secs_f64() * 1e6)
}

/// Returns the middle value; of an even number of them, the upper one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
