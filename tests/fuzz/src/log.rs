//! Bytes as the log that a store finds on its disk: recovered to its last whole commit, or refused.

use duet_journal::Store;
use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::verify::verify;

/// Opens the bytes as a log and reads everything in it.
pub fn run(bytes: &[u8]) {
    let Ok(store) = MemoryStore::open(SimulatedDisk::new(bytes.to_vec(), FaultPlan::default())) else {
        return;
    };
    look(&store);
    let bytes = store.into_disk().bytes().to_vec();
    let again = MemoryStore::open(SimulatedDisk::new(bytes, FaultPlan::default()));
    let again = again.expect("what was recovered opens");
    assert_eq!(again.dropped_bytes(), 0, "a log is recovered once");
    look(&again);
}

fn look(store: &MemoryStore) {
    for run in store.runs().expect("the disk does not fail") {
        for head in store.heads(&run).expect("a listed run is there") {
            let report = verify(store, &run, &head.branch).expect("a listed branch is there");
            if report.is_sound() {
                let record = store.record(&head.hash).expect("a sound branch has its head");
                assert_eq!(record.header().sequence, head.sequence);
            }
        }
    }
}
