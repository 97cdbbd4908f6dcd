//! The limits that the process which executes a run sets it, besides those of its first record.
//!
//! INVARIANT: they reach a record only as the failure of a turn, which says so.
//! It ends no turn; `execution.rs` does.
//! Read next: `execution.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use duet_kernel::heap;

use crate::model::limits::Limits;

/// The memory that a process gives to a run, and the flag that stops the run's turns.
pub(super) struct ProcessLimits {
    /// Set while the person wants the current turn to stop.
    stop: Arc<AtomicBool>,
    /// The maximum memory of the run in bytes.
    run_bytes_max: u64,
    gauge: Option<MemoryGauge>,
}

/// What counts the memory of the process.
struct MemoryGauge {
    /// Returns the bytes that the process holds.
    read: fn() -> u64,
    /// The bytes that it held before the run.
    before: u64,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            stop: Arc::default(),
            run_bytes_max: u64::MAX,
            gauge: None,
        }
    }
}

impl ProcessLimits {
    /// Counts what the process allocates from now on against the run's memory.
    pub(super) fn weigh(&mut self, read: fn() -> u64) {
        let before = read();
        self.gauge = Some(MemoryGauge { read, before });
    }

    /// Stops turns while the flag is set.
    pub(super) fn stop_on(&mut self, flag: Arc<AtomicBool>) {
        self.stop = flag;
    }

    /// Gives the run at most this memory in bytes.
    pub(super) fn cap_memory(&mut self, run_bytes_max: u64) {
        self.run_bytes_max = run_bytes_max;
    }

    /// Returns the maximum memory of the run in bytes.
    pub(super) fn run_bytes_max(&self) -> u64 {
        self.run_bytes_max
    }

    /// Returns the bytes that the process has allocated since the run began; 0 if nothing counts.
    pub(super) fn process_bytes(&self) -> u64 {
        let gauge = self.gauge.as_ref();
        gauge.map_or(0, |gauge| (gauge.read)().saturating_sub(gauge.before))
    }

    /// Returns the limits of an instance's heap, whatever the run's first record allows.
    pub(super) fn heap(&self, limits: &Limits) -> heap::Limits {
        let cap = Limits::within(self.run_bytes_max).heap_bytes_max;
        heap_limits(&Limits {
            heap_bytes_max: limits.heap_bytes_max.min(cap),
            ..*limits
        })
    }

    /// Returns the flag that stops turns.
    pub(super) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Says whether the person wants the current turn to stop.
    pub(super) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The limits of a heap in the kernel's terms.
pub(super) fn heap_limits(limits: &Limits) -> heap::Limits {
    heap::Limits {
        bytes_max: usize::try_from(limits.heap_bytes_max).unwrap_or(usize::MAX),
    }
}
