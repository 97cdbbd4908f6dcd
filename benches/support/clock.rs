//! Time and medians.

#![allow(dead_code, reason = "each benchmark uses a part")]

use std::time::Instant;

/// Performs `work` and returns how long it took, in microseconds.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn microseconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed().as_secs_f64() * 1e6)
}

/// Performs `work` and returns how long this thread had a processor for it, in microseconds: what other load does not change.
pub(crate) fn processor_microseconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let nanoseconds = || {
        let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        times.split(' ').next()?.parse::<f64>().ok()
    };
    let started = nanoseconds();
    let result = work();
    let took = started.zip(nanoseconds()).map(|(started, ended)| ended - started);
    (result, took.map_or(f64::NAN, |took| took / 1000.0))
}

/// Returns the middle value; of an even number of them, the upper one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
