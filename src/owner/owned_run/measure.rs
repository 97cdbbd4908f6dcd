//! The measure of a run's memory: what the process allocates after the run's program is compiled.
//!
//! INVARIANT: facts, queues, records on their way to the disk and copies count like heaps, because
//! the allocator counts everything.
//! It stops no turn; the runtime does, at the run's limit. Read next: `allocator/src/lib.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

use duet_runtime::scheme::SchemePrograms;

/// The process ends when it would hold this many times a run's memory, which only work of Duet
/// itself can do, such as the expansion of a macro without end, and this much more.
const RUNS: u64 = 4;
const BYTES_BESIDES: u64 = 256 << 20;

/// The number of runs that this process executes at once; 0 if that is not known, but several.
static SHARERS: AtomicU64 = AtomicU64::new(1);

/// Makes each run count only its heaps from now on: the allocator cannot tell the runs of a process
/// apart. Connections bound the memory that clients can make a run keep.
pub(crate) fn share() {
    SHARERS.store(0, Ordering::Relaxed);
}

/// The same for a known number of runs: the process may hold as much as they all.
pub(crate) fn share_among(runs: usize) {
    SHARERS.store(if runs == 1 { 0 } else { runs as u64 }, Ordering::Relaxed);
}

/// Counts what the process allocates from now on as the memory of the run of these programs.
pub(super) fn begin(programs: &mut SchemePrograms, run_bytes_max: u64) {
    let sharers = SHARERS.load(Ordering::Relaxed);
    if sharers == 1 {
        programs.weigh(duet_allocator::bytes_held);
    }
    let of_one = run_bytes_max.saturating_mul(RUNS).saturating_add(BYTES_BESIDES);
    duet_allocator::end_beyond(of_one.saturating_mul(sharers.max(1)));
}
