//! The golden journals are opened, continued and still written by today's code; journals of another
//! version are refused.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use crate::common::script::{World, observe, sample};
use crate::common::writer::{Writer, at, branch, read_all, run};
use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::verify::verify;
use duet_journal::{Head, Store, StoreError};

/// The heads of the sample: run, branch, position, name.
const HEADS: [(&str, &str, u64, &str); 3] = [
    (
        "r0",
        "b0",
        3,
        "2196e6a454c7af6ec427f409ce43c13c903ae37506cd6993a2bd59ff384e32ef",
    ),
    (
        "r0",
        "b1",
        4,
        "7d94117ae074a04b5c1ef1480bf2a7b63740ef4b6b8c121a3bee5d038a8cb0b9",
    ),
    (
        "r1",
        "b1",
        0,
        "c0b4c59ed0a17ecdf16059f62ad41c5027bb25b96f57eeab15abdd47e7d65f44",
    ),
];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The database, copied to where it can be opened.
fn database() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    std::fs::copy(golden("journal.sqlite"), &path).unwrap();
    (folder, path)
}

fn log_bytes() -> Vec<u8> {
    std::fs::read(golden("journal.log")).unwrap()
}

fn open_log(bytes: Vec<u8>) -> Result<MemoryStore, StoreError> {
    MemoryStore::open(SimulatedDisk::new(bytes, FaultPlan::default()))
}

fn written() -> MemoryStore {
    let (mut world, mut store) = (World::default(), MemoryStore::default());
    sample().iter().for_each(|step| world.take(step, &mut store).unwrap());
    store
}

/// Requires a store to hold the sample.
#[track_caller]
fn check(store: &dyn Store) {
    for (run_name, branch_name, sequence, name) in HEADS {
        let (run, branch) = (run(run_name), branch(branch_name));
        let expected = Head {
            branch: branch.clone(),
            sequence: at(sequence),
            hash: name.parse().unwrap(),
        };
        assert_eq!(store.head(&run, &branch).unwrap(), Some(expected));
        assert!(verify(store, &run, &branch).unwrap().is_sound());
    }
}

/// Appends to a branch of the sample.
#[track_caller]
fn go_on(store: &mut dyn Store) {
    let mut writer = Writer::claim(store, "r0", "b0");
    let head = store.head(&writer.run, &writer.branch).unwrap().unwrap();
    writer.head = Some((head.sequence, head.hash));
    let new = writer.write(store, &["<turn more>", "<turn still>"]).unwrap();
    check_continued(store);
    assert_eq!(store.record(&new[0].hash()).unwrap(), new[0]);
}

#[track_caller]
fn check_continued(store: &dyn Store) {
    let mut writer = Writer {
        run: run("r0"),
        branch: branch("b0"),
        epoch: duet_journal::Epoch(0),
        head: None,
    };
    let records = read_all(store, &writer).unwrap();
    assert_eq!(records.len(), 6);
    for record in &records {
        assert_eq!(record.header().parent, writer.head.map(|(_, hash)| hash));
        assert_eq!(store.record(&record.hash()).unwrap(), *record);
        writer.move_to(record);
    }
    assert!(verify(store, &writer.run, &writer.branch).unwrap().is_sound());
}

#[test]
fn the_golden_log_is_read_and_continued() {
    let mut store = open_log(log_bytes()).unwrap();
    check(&store);
    assert_eq!(observe(&store).unwrap(), observe(&written()).unwrap());
    go_on(&mut store);
    check_continued(&MemoryStore::open(store.into_disk()).unwrap());
}

#[test]
fn the_golden_log_is_still_written() {
    assert_eq!(written().disk().bytes(), log_bytes());
}

#[test]
fn the_golden_database_is_read_and_continued() {
    let (_folder, path) = database();
    let reader = SqliteStore::open_to_read(&path).unwrap();
    check(&reader);
    assert_eq!(observe(&reader).unwrap(), observe(&written()).unwrap());
    drop(reader);
    let mut store = SqliteStore::open(&path, "golden").unwrap();
    check(&store);
    assert_eq!(store.claim(&run("r1"), "golden").unwrap().0, 2);
    go_on(&mut store);
    drop(store);
    check_continued(&SqliteStore::open_to_read(&path).unwrap());
}

fn said(refused: Result<impl Store, StoreError>) -> String {
    refused.err().unwrap().to_string()
}

#[test]
fn a_journal_of_another_version_is_refused_and_left_as_it_is() {
    for version in [0, 2, 3] {
        let expected = format!("the journal has version {version}, this program reads version 1");
        let mut log = log_bytes();
        log[8] = version;
        assert_eq!(said(open_log(log)), expected);
        let (_folder, path) = database();
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", version).unwrap();
        drop(connection);
        let before = std::fs::read(&path).unwrap();
        assert_eq!(said(SqliteStore::open_to_read(&path)), expected);
        assert_eq!(said(SqliteStore::open(&path, "golden")), expected);
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[test]
fn the_golden_rows_are_still_written() {
    let (folder, golden) = database();
    let path = folder.path().join("written");
    let (mut world, mut store) = (World::default(), SqliteStore::open(&path, "golden").unwrap());
    sample().iter().for_each(|step| world.take(step, &mut store).unwrap());
    drop(store);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let attach = connection.execute("ATTACH ?1 AS golden", [golden.to_str()]);
    attach.unwrap();
    for table in ["workspace", "runs", "heads", "records", "hashes", "blobs"] {
        let differing = format!(
            "SELECT count(*) FROM (SELECT * FROM (SELECT * FROM main.{table} EXCEPT SELECT * FROM golden.{table})
             UNION ALL SELECT * FROM (SELECT * FROM golden.{table} EXCEPT SELECT * FROM main.{table}))"
        );
        let count: i64 = connection.query_one(&differing, [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0, "{table}");
    }
}
