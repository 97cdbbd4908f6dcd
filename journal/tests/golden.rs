//! Journals of every released format are opened and continued by today's code, which writes the
//! newest as it was written.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/writer.rs"]
mod common;
#[path = "common/script.rs"]
mod script;

use std::path::{Path, PathBuf};

use common::{Writer, at, branch, read_all, run};
use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::verify::verify;
use duet_journal::{Head, Header, Store};
use script::{World, observe, sample};

/// The heads of the sample: run, branch, position, and the names in formats 1 and 2.
const HEADS: [(&str, &str, u64, [&str; 2]); 3] = [
    (
        "r0",
        "b0",
        3,
        [
            "179d81232f14ae874fd0e1a9bc43830fe57b83e1e49b8c11093c18afb0003696",
            "dedef21f269031e6e154e01bc1d440a58f4228ea155f5c6e0ac078e25a6678d3",
        ],
    ),
    (
        "r0",
        "b1",
        4,
        [
            "277e4bfea541f3d310d54cbf1ea8352506212adab37140c6ba1d8fc5f1a8e00b",
            "609a537dcd13ff89776b3743e92294d0d2203628b9bd4b383bac14700df64eb8",
        ],
    ),
    (
        "r1",
        "b1",
        0,
        [
            "37df4aeef02c6ace0741f49c9d2563c2734205f6751f41cafe902e358b1aa313",
            "41e088dfc6585bf9e94948472722600ae149406439d23f7181ab1c330ac6fbc1",
        ],
    ),
];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The databases by the versions of their tables, from 1 on: the file, and the format of its
/// records.
const DATABASES: [(&str, usize); 3] = [("format-1.sqlite", 1), ("format-2.sqlite", 2), ("version-3.sqlite", 2)];

/// A database, copied to where it can be opened.
fn database(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    std::fs::copy(golden(name), &path).unwrap();
    (folder, path)
}

fn ask<T: rusqlite::types::FromSql>(path: &Path, sql: &str) -> T {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.query_one(sql, [], |row| row.get(0)).unwrap()
}

/// The logs, by version, and the format of their records.
const LOGS: [(&str, usize); 3] = [("format-1.log", 1), ("format-2.log", 2), ("version-3.log", 2)];

fn log(name: &str) -> SimulatedDisk {
    let bytes = std::fs::read(golden(name)).unwrap();
    SimulatedDisk::new(bytes, FaultPlan::default())
}

fn written() -> MemoryStore {
    let (mut world, mut store) = (World::default(), MemoryStore::default());
    sample().iter().for_each(|step| world.take(step, &mut store).unwrap());
    store
}

/// The contents of the records of all branches, with their bodies and without their names.
fn said(store: &dyn Store) -> Vec<(Header, Vec<u8>)> {
    let mut said = Vec::new();
    for (run_name, branch_name, ..) in HEADS {
        let records = store.read(&run(run_name), &branch(branch_name), at(0)..at(1 << 40));
        said.extend(records.unwrap().iter().map(|record| {
            let header = Header {
                parent: None,
                ..record.header().clone()
            };
            (header, record.body_bytes().to_vec())
        }));
    }
    said
}

/// Requires a store to hold the sample as a format names it.
#[track_caller]
fn check(store: &dyn Store, format: usize) {
    assert_eq!(said(store), said(&written()));
    for (run_name, branch_name, sequence, names) in HEADS {
        let (run, branch) = (run(run_name), branch(branch_name));
        let expected = Head {
            branch: branch.clone(),
            sequence: at(sequence),
            hash: names[format - 1].parse().unwrap(),
        };
        assert_eq!(store.head(&run, &branch).unwrap(), Some(expected));
        assert!(verify(store, &run, &branch).unwrap().is_sound());
    }
}

/// Appends to a branch of the sample, whose new records are of the newest format.
#[track_caller]
fn go_on(store: &mut dyn Store) {
    let mut writer = Writer::claim(store, "r0", "b0");
    let head = store.head(&writer.run, &writer.branch).unwrap().unwrap();
    writer.head = Some((head.sequence, head.hash));
    let new = writer.write(store, &["<turn more>", "<turn still>"]).unwrap();
    check_mixed(store);
    assert_eq!(store.record(&new[0].hash()).unwrap(), new[0]);
}

#[track_caller]
fn check_mixed(store: &dyn Store) {
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
fn a_log_of_each_version_is_read_and_continued() {
    for (name, format) in LOGS {
        let mut store = MemoryStore::open(log(name)).unwrap();
        check(&store, format);
        go_on(&mut store);
        check_mixed(&MemoryStore::open(store.into_disk()).unwrap());
    }
}

#[test]
fn the_newest_log_is_written_still() {
    assert_eq!(written().disk().bytes(), log("version-3.log").bytes());
}

#[test]
fn a_database_of_each_version_is_read_and_continued() {
    for (name, format) in DATABASES {
        let (_folder, path) = database(name);
        check(&SqliteStore::open_to_read(&path).unwrap(), format);
        let mut store = SqliteStore::open(&path, "golden").unwrap();
        check(&store, format);
        assert_eq!(store.claim(&run("r1"), "golden").unwrap().0, 2);
        go_on(&mut store);
        drop(store);
        check_mixed(&SqliteStore::open_to_read(&path).unwrap());
    }
    let (_folder, path) = database("version-3.sqlite");
    let expected = observe(&written()).unwrap();
    assert_eq!(observe(&SqliteStore::open_to_read(&path).unwrap()).unwrap(), expected);
}

/// Records with long seals keep them beside new records.
#[test]
fn rows_of_both_kinds_of_seals_stand_side_by_side() {
    let (_folder, path) = database("format-2.sqlite");
    let mut store = SqliteStore::open(&path, "golden").unwrap();
    go_on(&mut store);
    drop(store);
    let lengths = "SELECT group_concat(length(seal)) FROM (SELECT seal FROM records ORDER BY id)";
    assert_eq!(ask::<String>(&path, lengths), format!("{}8,8", "16,".repeat(9)));
    assert_eq!(
        ask::<i64>(&path, "SELECT length(seal) FROM heads WHERE branch = 'b0'"),
        8
    );
    assert_eq!(
        ask::<i64>(&path, "SELECT length(seal) FROM heads WHERE sequence = 4"),
        16
    );
}

#[test]
fn the_newest_rows_are_written_still() {
    let (folder, golden) = database("version-3.sqlite");
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

/// A newer writer may write records that an older program does not know; the older one must not
/// take them for damage.
#[test]
fn who_writes_raises_the_version_of_the_file() {
    for (number, (name, _)) in (1..).zip(DATABASES) {
        let (_folder, path) = database(name);
        drop(SqliteStore::open_to_read(&path).unwrap());
        assert_eq!(ask::<i64>(&path, "PRAGMA user_version"), number);
        drop(SqliteStore::open(&path, "golden").unwrap());
        assert_eq!(ask::<i64>(&path, "PRAGMA user_version"), 3);
    }
}
