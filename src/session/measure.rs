//! The measure of a run's memory: what the process allocates after the run's program is compiled.
//!
//! INVARIANT: facts, queues, records on their way to the disk and copies count like heaps, because
//! the allocator counts everything.
//! It stops no turn; the runtime does, at the run's limit. Read next: `allocator/src/lib.rs`.

use std::sync::atomic::{AtomicBool, Ordering};

use duet_runtime::scheme::SchemePrograms;

/// The process ends when it would hold this many times a run's memory, which only work of Duet
/// itself can do, such as the expansion of a macro without end, and this much more.
const RUNS: u64 = 4;
const BYTES_BESIDES: u64 = 256 << 20;

/// Whether this process executes several runs at once.
static IS_SHARED: AtomicBool = AtomicBool::new(false);

/// Makes each run count only its heaps from now on: the allocator cannot tell the runs of a process
/// apart. Connections bound the memory that clients can make a run keep.
pub(crate) fn share() {
    IS_SHARED.store(true, Ordering::Relaxed);
}

/// Counts what the process allocates from now on as the memory of the run of these programs.
pub(super) fn begin(programs: &mut SchemePrograms, run_bytes_max: u64) {
    if !IS_SHARED.load(Ordering::Relaxed) {
        programs.weigh(duet_allocator::bytes_held);
    }
    duet_allocator::end_beyond(run_bytes_max.saturating_mul(RUNS).saturating_add(BYTES_BESIDES));
}
