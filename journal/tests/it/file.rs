//! The journal file among processes: writers, readers, and files that are something else.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod creation;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::writer::{Writer, at, branch, read_all, run};
use duet_journal::collect::Garbage;
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::verify::verify;
use duet_journal::{HeadMove, Store, StoreError};

/// Tells a child process, which runs the same test, what to write to.
const JOURNAL: &str = "DUET_JOURNAL_TEST_FILE";

/// Starts this test once more in a process of its own.
fn spawn(test: &str, journal: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env(JOURNAL, journal)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Appends for ever, and says after each commit how many there are.
#[expect(clippy::print_stdout, reason = "it talks to its parent process")]
fn append_for_ever(journal: &Path) {
    let mut store = SqliteStore::open(journal, "the child").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    for number in 1.. {
        main.write(&mut store, &[&format!("<turn {number}>")]).unwrap();
        println!("acknowledged {number}");
    }
}

/// The journal that this process is to write, if it is a child.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment says that this process is the one to be killed"
)]
fn given() -> Option<PathBuf> {
    std::env::var_os(JOURNAL).map(PathBuf::from)
}

#[test]
fn a_killed_writer_loses_nothing_acknowledged_and_hinders_nobody() {
    if let Some(journal) = given() {
        append_for_ever(&journal);
    }
    for enough in [1, 40] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut child = spawn(
            "file::a_killed_writer_loses_nothing_acknowledged_and_hinders_nobody",
            &path,
        );
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let count = |line: &str| {
            line.split("acknowledged ")
                .nth(1)
                .and_then(|number| number.parse::<usize>().ok())
        };
        let mut acknowledged = 0;
        while acknowledged < enough {
            acknowledged = count(&lines.next().unwrap().unwrap()).unwrap_or(acknowledged);
        }
        // Another run is nobody's business.
        let mut beside = SqliteStore::open(&path, "the parent").unwrap();
        Writer::claim(&mut beside, "another", "main")
            .write(&mut beside, &["0"])
            .unwrap();
        drop(beside);
        let reader = SqliteStore::open_to_read(&path).unwrap();
        assert!(reader.head(&run("r"), &branch("main")).unwrap().unwrap().sequence >= at(enough as u64 - 1));
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged = lines
            .filter_map(|line| count(&line.unwrap_or_default()))
            .last()
            .unwrap_or(acknowledged);
        let mut store = SqliteStore::open(&path, "the parent").unwrap();
        let mut main = Writer::claim(&mut store, "r", "main");
        let found = read_all(&store, &main).unwrap();
        assert!(
            found.len() >= acknowledged,
            "{} of {acknowledged} acknowledged records are left",
            found.len()
        );
        main.move_to(found.last().unwrap());
        main.write(&mut store, &["<turn after>"]).unwrap();
    }
}

#[test]
fn a_reader_sees_commits_as_they_come_and_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "writer").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    main.write(&mut store, &["<turn>"]).unwrap();
    let mut reader = SqliteStore::open_to_read(&path).unwrap();
    for number in 2..5 {
        main.write(&mut store, &["<turn>"]).unwrap();
        assert_eq!(read_all(&reader, &main).unwrap().len(), number);
    }
    assert!(matches!(reader.claim(&main.run, "reader"), Err(StoreError::ReadOnly)));
    let records = main.chain(&["<turn>"]);
    assert!(matches!(
        reader.append(main.append(&records, &[])),
        Err(StoreError::ReadOnly)
    ));
}

#[test]
fn a_reader_sees_what_is_appended_and_what_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "writer").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    let first = main.write(&mut store, &["0", "1", "2"]).unwrap();
    let reader = SqliteStore::open_to_read(&path).unwrap();
    assert_eq!(read_all(&reader, &main).unwrap(), first);
    let (run, branch, epoch) = (&main.run, &main.branch, main.epoch);
    let back = HeadMove {
        run,
        branch,
        epoch,
        expected_head: Some(first[2].hash()),
        to: first[0].hash(),
    };
    store.set_head(&back).unwrap();
    main.move_to(&first[0]);
    assert_eq!(read_all(&reader, &main).unwrap(), first[..1]);
    let second = main.write(&mut store, &["1b", "2b", "3b"]).unwrap();
    let whole = [&first[..1], &second].concat();
    assert_eq!(read_all(&reader, &main).unwrap(), whole);
    assert_eq!(reader.record(&first[2].hash()).unwrap(), first[2]);
}

/// Everything in a folder: names and contents.
fn contents(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut found: Vec<_> = entries
        .map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap()))
        .collect();
    found.sort();
    found
}

#[track_caller]
fn check_untouched(write: impl FnOnce(&Path), expected: impl Fn(&StoreError) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    write(&path);
    let before = contents(folder.path());
    for result in [SqliteStore::open(&path, "file"), SqliteStore::open_to_read(&path)] {
        let error = result.err().unwrap();
        assert!(expected(&error), "{error:?}");
    }
    assert_eq!(contents(folder.path()), before);
}

fn is_not_a_journal(error: &StoreError, expected: &str) -> bool {
    matches!(error, StoreError::NotAJournal { why, .. } if *why == expected)
}

fn database(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_foreign_file_is_named_and_left_alone() {
    check_untouched(
        |path| std::fs::write(path, "").unwrap(),
        |error| is_not_a_journal(error, "it is empty"),
    );
    let text = "once upon a time, ".repeat(10);
    check_untouched(
        |path| std::fs::write(path, &text).unwrap(),
        |e| is_not_a_journal(e, "it is not an SQLite database"),
    );
    let torn = b"SQLite format 3\0\x10\0";
    check_untouched(
        |path| std::fs::write(path, torn).unwrap(),
        |e| is_not_a_journal(e, "it is not an SQLite database"),
    );
    check_untouched(
        |path| database(path, "CREATE TABLE t (x); PRAGMA journal_mode = WAL;"),
        |error| is_not_a_journal(error, "it is an SQLite database of another application"),
    );
    check_untouched(
        |path| {
            database(
                path,
                "PRAGMA application_id = 0x44756574; PRAGMA user_version = 3; CREATE TABLE t (x);",
            )
        },
        |error| matches!(error, StoreError::UnsupportedVersion { found: 3, supported: 1 }),
    );
    // A format changes in place until the first release.
    check_untouched(
        |path| {
            database(
                path,
                "PRAGMA application_id = 0x44756574; PRAGMA user_version = 1; CREATE TABLE records (x);",
            )
        },
        |error| matches!(error, StoreError::OtherTables { version: 1 }) && error.to_string().contains("version 1"),
    );
}

#[test]
fn a_folder_is_not_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let error = SqliteStore::open(folder.path(), "file").err().unwrap();
    assert!(is_not_a_journal(&error, "it is not a regular file"), "{error:?}");
}

#[test]
fn a_write_ahead_log_without_its_database_is_not_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    std::fs::write(folder.path().join("journal-wal"), "left behind").unwrap();
    let error = SqliteStore::open(&path, "file").err().unwrap();
    assert!(
        is_not_a_journal(&error, "it is missing, yet its write-ahead log is there"),
        "{error:?}"
    );
    assert!(matches!(SqliteStore::open_to_read(&path), Err(StoreError::Io { .. })));
    assert!(!path.exists());
}

#[test]
fn a_record_made_again_after_a_rewind_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "file").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    let first = main.write(&mut store, &["0", "1", "2"]).unwrap();
    for opened_again in [false, true] {
        let (run, branch, epoch) = (&main.run, &main.branch, main.epoch);
        let expected_head = Some(first[2].hash());
        store
            .set_head(&HeadMove {
                run,
                branch,
                epoch,
                expected_head,
                to: first[0].hash(),
            })
            .unwrap();
        if opened_again {
            drop(store);
            store = SqliteStore::open(&path, "file").unwrap();
        }
        main.move_to(&first[0]);
        main.write(&mut store, &["1", "2"]).unwrap();
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    let rows: i64 = connection
        .query_row("SELECT count(*) FROM records", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 3);
}

#[test]
fn what_was_written_by_many_short_processes_is_not_read_by_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let body = format!("\"{}\"", "x".repeat(10_000));
    for number in 0..200 {
        let mut store = SqliteStore::open(&path, "file").unwrap();
        let mut main = Writer::claim(&mut store, &format!("r{number}"), "main");
        let written = main.write(&mut store, &[&body]).unwrap();
        assert_eq!(store.record(&written[0].hash()).unwrap(), written[0]);
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    let sql = "SELECT sum(length(bytes)) FROM records, workspace WHERE records.id > indexed";
    let without_index: i64 = connection.query_one(sql, [], |row| row.get(0)).unwrap();
    assert!(
        without_index < 300_000,
        "{without_index} bytes of records are read for want of an index"
    );
}

#[test]
fn a_reader_that_holds_sees_the_journal_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "test").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    main.write(&mut store, &["0", "1"]).unwrap();
    let reader = SqliteStore::open_to_read(&path).unwrap();
    reader.hold().unwrap();
    let all = Garbage::find(&store, &main.run, |_| true).unwrap();
    store.remove(&all.removal(&main.run, main.epoch)).unwrap();
    assert!(!store.has_run(&main.run).unwrap());
    assert_eq!(reader.runs().unwrap(), [main.run.clone()]);
    assert!(verify(&reader, &main.run, &main.branch).unwrap().is_sound());
    reader.release().unwrap();
    assert_eq!(reader.runs().unwrap(), []);
}
