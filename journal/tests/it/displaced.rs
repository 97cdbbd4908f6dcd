//! A journal whose files are deleted, replaced or cut while a process writes it: the next commit
//! fails, and a copy has everything.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::common::writer::{Writer, read_all};
use duet_journal::store::Displacement;
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{Store, StoreError};

/// What somebody does to a journal.
type Harm = fn(&Path);
/// Whether the store's finding is the expected one.
type Expects = fn(&Displacement) -> bool;

fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

fn cut(path: &Path) {
    File::options().write(true).open(path).unwrap().set_len(0).unwrap();
}

fn replace(path: &Path) {
    let other = path.with_file_name("other");
    fs::copy(path, &other).unwrap();
    fs::rename(other, path).unwrap();
}

/// Writes `commits` commits, does harm, and commits once more.
fn harmed(commits: usize, harm: Harm) -> (tempfile::TempDir, SqliteStore, Writer, Result<(), StoreError>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "test").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    for number in 0..commits {
        main.write(&mut store, &[&format!("<turn {number}>")]).unwrap();
    }
    harm(&path);
    let refused = main.write(&mut store, &["<lost>"]).map(drop);
    (folder, store, main, refused)
}

#[test]
fn harm_to_an_open_journal_fails_the_next_commit() {
    let is_missing = |how: &Displacement| *how == Displacement::Missing;
    let is_replaced = |how: &Displacement| *how == Displacement::Replaced;
    let is_cut = |how: &Displacement| matches!(how, Displacement::Cut { to: 0, .. });
    let cases: [(usize, Harm, Expects); 8] = [
        (1, |path| fs::remove_file(path).unwrap(), is_missing),
        (3, |path| fs::remove_file(path).unwrap(), is_missing),
        (
            3,
            |path| fs::rename(path, path.with_file_name("moved")).unwrap(),
            is_missing,
        ),
        (3, |path| fs::remove_file(log_of(path)).unwrap(), is_missing),
        (1, replace, is_replaced),
        (3, replace, is_replaced),
        (3, cut, is_cut),
        (3, |path| cut(&log_of(path)), is_cut),
    ];
    for (number, (commits, harm, is_it)) in cases.into_iter().enumerate() {
        let (_folder, mut store, mut main, refused) = harmed(commits, harm);
        let Err(StoreError::Displaced { how, .. }) = &refused else {
            panic!("case {number}: {refused:?}");
        };
        assert!(is_it(how), "case {number}: {how}");
        assert!(
            main.write(&mut store, &["<again>"]).is_err(),
            "case {number}: it stays refused"
        );
    }
}

#[test]
fn another_database_in_the_same_file_fails_the_next_commit() {
    let (_folder, _, _, refused) = harmed(3, |path| {
        let other = path.with_file_name("other");
        let mut store = SqliteStore::open(&other, "test").unwrap();
        let mut main = Writer::claim(&mut store, "another", "main");
        let long = "x".repeat(200_000);
        main.write(&mut store, &[&format!("\"{long}\"")]).unwrap();
        drop(store);
        // `cp` keeps the file and changes what is in it.
        fs::copy(other, path).unwrap();
    });
    assert!(matches!(
        refused,
        Err(StoreError::Displaced {
            how: Displacement::Overwritten,
            ..
        })
    ));
}

#[test]
fn a_copy_has_what_was_in_files_that_are_gone() {
    for commits in [1, 3, 40] {
        let (folder, store, main, refused) = harmed(commits, |path| fs::remove_file(path).unwrap());
        assert!(refused.is_err());
        let copy = folder.path().join("copy");
        store.save_copy(&copy).unwrap();
        assert!(store.save_copy(&copy).is_err(), "a file that is there stays");
        let copied = SqliteStore::open(&copy, "test").unwrap();
        assert_eq!(read_all(&copied, &main).unwrap().len(), commits);
    }
}

#[test]
fn commits_go_on_after_a_reader_and_after_compacting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "test").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    for number in 0..20 {
        main.write(&mut store, &[&format!("<turn {number}>")]).unwrap();
        drop(SqliteStore::open_to_read(&path).unwrap());
        if number % 5 == 4 {
            store.compact().unwrap();
        }
    }
    assert_eq!(read_all(&store, &main).unwrap().len(), 20);
}
