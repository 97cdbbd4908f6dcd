//! Journals of every released format are opened by today's code, which writes the same bytes still.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/writer.rs"]
mod common;
#[path = "common/script.rs"]
mod script;

use std::path::{Path, PathBuf};

use common::{branch, run};
use duet_journal::Store;
use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::verify::verify;
use script::{World, observe, sample};

/// The heads of the sample, as format 1 names them.
const HEADS: [(&str, &str, u64, &str); 3] = [
    (
        "r0",
        "b0",
        3,
        "179d81232f14ae874fd0e1a9bc43830fe57b83e1e49b8c11093c18afb0003696",
    ),
    (
        "r0",
        "b1",
        4,
        "277e4bfea541f3d310d54cbf1ea8352506212adab37140c6ba1d8fc5f1a8e00b",
    ),
    (
        "r1",
        "b1",
        0,
        "37df4aeef02c6ace0741f49c9d2563c2734205f6751f41cafe902e358b1aa313",
    ),
];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn write_sample(store: &mut dyn Store) {
    let mut world = World::default();
    sample().iter().for_each(|step| world.take(step, store).unwrap());
}

#[track_caller]
fn check(store: &dyn Store) {
    let mut expected = MemoryStore::default();
    write_sample(&mut expected);
    assert_eq!(observe(store).unwrap(), observe(&expected).unwrap());
    for (run_name, branch_name, sequence, hash) in HEADS {
        let head = store.head(&run(run_name), &branch(branch_name)).unwrap().unwrap();
        assert_eq!(
            (head.sequence.number(), head.hash.to_string().as_str()),
            (sequence, hash)
        );
        assert!(verify(store, &run(run_name), &branch(branch_name)).unwrap().is_sound());
    }
}

#[test]
fn a_log_of_format_1_is_read_and_written_still() {
    let bytes = std::fs::read(golden("format-1.log")).unwrap();
    check(&MemoryStore::open(SimulatedDisk::new(bytes.clone(), FaultPlan::default())).unwrap());
    let mut store = MemoryStore::default();
    write_sample(&mut store);
    assert_eq!(store.disk().bytes(), bytes);
}

#[test]
fn a_database_of_format_1_is_read_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    std::fs::copy(golden("format-1.sqlite"), &path).unwrap();
    check(&SqliteStore::open_to_read(&path).unwrap());
    let mut store = SqliteStore::open(&path, "golden").unwrap();
    check(&store);
    let epoch = store.claim(&run("r0"), "golden").unwrap();
    assert_eq!(epoch.0, 3);
}
