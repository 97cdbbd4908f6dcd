//! How large is a parked fiber in a stored snapshot (bytes)?
//!
//! A program parks fibers some calls deep, and each waits for a signal of its own. The size is what
//! one more fiber adds to the snapshot, separately for the heap (closures, frames, data) and the
//! run's state (the wait and its observer).

mod support {
    pub(crate) mod scheme_run;
}

use std::io::{self, Write};

use duet_journal::store::memory::{MemoryStore, SimulatedDisk};
use duet_runtime::run::Step;
use duet_runtime::run::snapshot::SnapshotPolicy;
use support::scheme_run::start;

const FIBERS: usize = 200;

fn program(fibers: usize, depth: usize) -> String {
    format!(
        "
         (define (await-below depth name)
           (if (= depth 0) (%await (record 'signal name) #f) (list depth (await-below (- depth 1) name))))
         (let loop ((fiber 0))
           (if (< fiber {fibers})
               (begin (spawn (lambda () (await-below {depth} fiber))) (loop (+ fiber 1)))))"
    )
}

/// Returns the bytes of the heaps' chunks and of everything else, after all fibers have parked.
fn snapshot(fibers: usize, depth: usize) -> (usize, usize) {
    let mut store = MemoryStore::open(SimulatedDisk::default()).expect("an empty disk is a journal");
    let policy = SnapshotPolicy {
        turns: 1,
        ..SnapshotPolicy::NEVER
    };
    let mut run = start("parked", &program(fibers, depth), policy, &mut store);
    run.flush(&mut store).expect("the first record is committed");
    assert_eq!(run.step().expect("the turn succeeds"), Step::Turn);
    let waiting: usize = run.state().actors.values().map(|actor| actor.waits.len()).sum();
    assert_eq!(waiting, fibers, "every fiber waits");
    let append = run.unflushed().expect("a turn has a record");
    let root = append.records.last().and_then(|record| record.header().snapshot);
    let size = |is_root: bool| {
        let blobs = append
            .blobs
            .iter()
            .filter(|blob| (Some(blob.hash()) == root) == is_root);
        blobs.map(|blob| blob.as_bytes().len()).sum()
    };
    (size(false), size(true))
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for depth in [1, 4, 24] {
        let ((heap_none, state_none), (heap, state)) = (snapshot(0, depth), snapshot(FIBERS, depth));
        let heap = (heap - heap_none) / FIBERS;
        let state = (state - state_none) / FIBERS;
        writeln!(
            out,
            "a fiber parked {depth} calls deep (bytes): {heap} in the heap's image, {state} in the run's state"
        )?;
    }
    Ok(())
}
