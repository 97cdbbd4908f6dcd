//! A worker's pulse: whether it reaches the journal, for whoever watches over processes.
//!
//! INVARIANT: it tells numbers and no names, because whoever reaches the port may ask.
//! It serves nothing; `duet_drivers::host::health` does. Read next: `owner/work.rs`.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use duet_drivers::host::health::Condition;
use duet_journal::owner::now_ms;
use serde_json::json;

/// A worker is well if it has looked into the journal within this time, in milliseconds.
const LOOK_MS_MAX: u64 = 10_000;

/// What a worker says at each look.
#[derive(Default)]
pub(super) struct Pulse {
    looked_ms: AtomicU64,
    running: AtomicUsize,
    left: AtomicUsize,
    is_draining: AtomicBool,
}

impl Pulse {
    /// Notes a look into the journal, with the number of runs that are executed, and of those that
    /// are left to others.
    pub(super) fn looked(&self, running: usize, left: usize) {
        self.running.store(running, Ordering::Relaxed);
        self.left.store(left, Ordering::Relaxed);
        self.looked_ms.store(now_ms(), Ordering::Relaxed);
    }

    /// Notes that it takes no more runs.
    pub(super) fn drains(&self, running: usize) {
        self.running.store(running, Ordering::Relaxed);
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// How the worker is: `working`, `draining`, or `stuck` if it does not reach the journal.
    pub(super) fn condition(&self) -> Condition {
        let silent_ms = now_ms().saturating_sub(self.looked_ms.load(Ordering::Relaxed));
        let status = if self.is_draining.load(Ordering::Relaxed) {
            "draining"
        } else if silent_ms > LOOK_MS_MAX {
            "stuck"
        } else {
            "working"
        };
        Condition {
            is_well: status == "working",
            told: json!({
                "status": status,
                "running": self.running.load(Ordering::Relaxed),
                "left": self.left.load(Ordering::Relaxed),
                "looked_ms_ago": silent_ms,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_well_as_long_as_it_reaches_the_journal_and_takes_runs() {
        let pulse = Pulse::default();
        pulse.looked(2, 1);
        let working = pulse.condition();
        assert!(working.is_well);
        assert_eq!(
            (&working.told["status"], &working.told["running"]),
            (&json!("working"), &json!(2))
        );
        pulse.looked_ms.store(now_ms() - LOOK_MS_MAX - 1_000, Ordering::Relaxed);
        let stuck = pulse.condition();
        assert!(!stuck.is_well && stuck.told["status"] == "stuck");
        pulse.drains(1);
        let draining = pulse.condition();
        assert!(!draining.is_well && draining.told["status"] == "draining");
    }
}
