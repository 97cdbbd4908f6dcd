//! The creation of a journal: with its first durable commit, whole, or not at all.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{Blob, Store, StoreError};

use crate::common::writer::{Writer, read_all, run};
use crate::file::{contents, given, spawn};

/// The names in a folder.
fn names(folder: &Path) -> Vec<OsString> {
    contents(folder).into_iter().map(|(name, _)| name).collect()
}

/// Requires that there is no journal, nor anything else but the lock of those who would make it.
#[track_caller]
fn check_nothing(path: &Path) {
    let mut names = names(path.parent().unwrap());
    names.retain(|name| name != "journal.lock");
    assert!(names.is_empty(), "{names:?}");
    assert!(matches!(SqliteStore::open_to_read(path), Err(StoreError::Io { .. })));
}

#[test]
fn a_store_that_committed_nothing_leaves_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    for _ in 0..2 {
        let mut store = SqliteStore::open(&path, "file").unwrap();
        let mut main = Writer::claim(&mut store, "r", "main");
        assert_eq!(main.epoch.0, 1, "an earlier claim was forgotten with its store");
        main.epoch = store.claim(&main.run, "again").unwrap();
        assert_eq!(main.epoch.0, 2);
        assert_eq!(store.heads(&main.run).unwrap(), []);
        assert!(!store.has_run(&main.run).unwrap());
        store.compact().unwrap();
        check_nothing(&path);
        drop(store);
        check_nothing(&path);
    }
}

#[test]
fn a_writer_killed_before_its_first_commit_leaves_no_journal() {
    if let Some(journal) = given() {
        claim_and_wait(&journal);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut child = spawn(
        "file::creation::a_writer_killed_before_its_first_commit_leaves_no_journal",
        &path,
    );
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("claimed")));
    child.kill().unwrap();
    child.wait().unwrap();
    check_nothing(&path);
    let mut store = SqliteStore::open(&path, "the parent").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    main.write(&mut store, &["0"]).unwrap();
}

/// Reports that it has claimed a run, and does nothing else.
#[expect(clippy::print_stdout, reason = "it talks to its parent process")]
fn claim_and_wait(journal: &Path) -> ! {
    let mut store = SqliteStore::open(journal, "the child").unwrap();
    Writer::claim(&mut store, "r", "main");
    println!("claimed");
    loop {
        std::thread::park();
    }
}

#[test]
fn the_first_commit_is_seen_whole_by_readers_and_by_any_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "file").unwrap();
    Writer::claim(&mut store, "claimed-only", "main");
    let mut main = Writer::claim(&mut store, "r", "main");
    check_nothing(&path);
    let blob = Blob::new(vec![7; 100_000]).unwrap();
    let first = main.next_with("<turn>", std::slice::from_ref(&blob));
    store
        .append(main.append(std::slice::from_ref(&first), std::slice::from_ref(&blob)))
        .unwrap();
    main.move_to(&first);
    let reader = SqliteStore::open_to_read(&path).unwrap();
    assert_eq!(read_all(&reader, &main).unwrap(), std::slice::from_ref(&first));
    assert_eq!(reader.blob(&blob.hash()).unwrap(), blob.as_bytes());
    assert_eq!(reader.heads(&run("claimed-only")).unwrap(), []);
    assert_eq!(store.blob(&blob.hash()).unwrap(), blob.as_bytes());
    let second = main.write(&mut store, &["1", "2"]).unwrap();
    assert_eq!(read_all(&reader, &main).unwrap()[1..], second);
    // The last process that closes the journal removes the files beside it, if it may write.
    drop(reader);
    drop(store);
    assert_eq!(names(folder.path()), ["journal", "journal.lock", "journal.tail"]);
    let connection = rusqlite::Connection::open(&path).unwrap();
    for (pragma, expected) in [("journal_mode", "wal"), ("integrity_check", "ok")] {
        let found: String = connection.pragma_query_value(None, pragma, |row| row.get(0)).unwrap();
        assert_eq!(found, expected, "{pragma}");
    }
}

#[test]
fn a_journal_that_is_written_once_is_one_file_while_its_writer_lives() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "file").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    main.write(&mut store, &["0"]).unwrap();
    assert_eq!(read_all(&store, &main).unwrap().len(), 1);
    assert_eq!(names(folder.path()), ["journal", "journal.lock"]);
    let epoch = store.claim(&main.run, "again").unwrap();
    main = Writer { epoch, ..main };
    main.write(&mut store, &["1"]).unwrap();
    assert_eq!(read_all(&store, &main).unwrap().len(), 2);
    store.compact().unwrap();
    drop(store);
    assert_eq!(names(folder.path()), ["journal", "journal.lock", "journal.tail"]);
    let mut store = SqliteStore::open(&path, "file").unwrap();
    assert_eq!(read_all(&store, &main).unwrap().len(), 2);
    assert_eq!(store.claim(&main.run, "file").unwrap().0, 3);
}

#[test]
fn a_first_commit_that_is_refused_leaves_the_store_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "file").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    let missing = Blob::new(b"nowhere".to_vec()).unwrap();
    let records = [main.next_with("<turn>", &[missing])];
    let refused = store.append(main.append(&records, &[]));
    assert!(matches!(refused, Err(StoreError::MissingBlob { .. })), "{refused:?}");
    check_nothing(&path);
    main.write(&mut store, &["0", "1"]).unwrap();
    main.write(&mut store, &["2"]).unwrap();
    assert_eq!(
        read_all(&SqliteStore::open_to_read(&path).unwrap(), &main)
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn a_journal_whose_creation_was_cut_short_is_created_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    fs::write(folder.path().join("journal.new"), "half a database ".repeat(100_000)).unwrap();
    let mut store = SqliteStore::open(&path, "file").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    main.write(&mut store, &["0"]).unwrap();
    assert!(!folder.path().join("journal.new").exists());
    assert!(fs::metadata(&path).unwrap().len() < 1_000_000);
    drop(store);
    assert_eq!(
        read_all(&SqliteStore::open_to_read(&path).unwrap(), &main)
            .unwrap()
            .len(),
        1
    );
}

/// Requires that the first commit fails where `hinder` has been, and succeeds in another store when
/// that is gone.
#[track_caller]
fn check_hindered(
    hinder: impl FnOnce(&Path),
    is_expected: impl Fn(&StoreError, &StoreError) -> bool,
    clear: impl FnOnce(&Path),
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "file").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    hinder(&path);
    let before = contents(folder.path());
    let first = main.write(&mut store, &["0"]).unwrap_err();
    let second = main.write(&mut store, &["0"]).unwrap_err();
    assert!(is_expected(&first, &second), "{first:?}, {second:?}");
    drop(store);
    let mut after = contents(folder.path());
    after.retain(|(name, _)| name != "journal.lock");
    assert_eq!(after, before);
    clear(&path);
    check_nothing(&path);
    let mut store = SqliteStore::open(&path, "file").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    main.write(&mut store, &["0"]).unwrap();
}

#[test]
fn a_file_that_cannot_be_made_leaves_the_store_in_doubt_and_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "file").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    fs::create_dir(folder.path().join("journal.new")).unwrap();
    let error = main.write(&mut store, &["0"]).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
    let error = main.write(&mut store, &["0"]).unwrap_err();
    assert!(matches!(error, StoreError::InDoubt), "{error:?}");
    drop(store);
    assert!(!path.exists());
    fs::remove_dir(folder.path().join("journal.new")).unwrap();
    let mut store = SqliteStore::open(&path, "file").unwrap();
    Writer::claim(&mut store, "r", "main")
        .write(&mut store, &["0"])
        .unwrap();
}

#[test]
fn a_file_that_appeared_meanwhile_is_left_alone() {
    check_hindered(
        |path| fs::write(path, "somebody else's").unwrap(),
        |first, second| {
            let is_it = |error: &StoreError| matches!(error, StoreError::NotAJournal { .. });
            is_it(first) && is_it(second)
        },
        |path| fs::remove_file(path).unwrap(),
    );
}
