//! Files that somebody made to deceive or to detain whoever opens them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use crate::common::writer::Writer;
use duet_journal::StoreError;
use duet_journal::index::Index;
use duet_journal::store::sqlite::SqliteStore;

fn journal() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut store = SqliteStore::open(&path, "test").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    for number in 0..5 {
        main.write(&mut store, &[&format!("<turn {number}>")]).unwrap();
    }
    (folder, path)
}

#[track_caller]
fn check_refused(path: &Path, what: &str) {
    for opened in [SqliteStore::open_to_read(path), SqliteStore::open(path, "test")] {
        let error = opened.err().unwrap_or_else(|| panic!("{what} is refused"));
        assert!(
            matches!(error, StoreError::OtherTables { .. } | StoreError::Inconsistent { .. }),
            "{what}: {error:?}"
        );
    }
}

#[test]
fn a_database_with_another_schema_is_refused() {
    let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    for (what, sql) in [
        (
            "an endless view in the place of a table",
            format!(
                "ALTER TABLE runs RENAME TO hidden;
                 CREATE VIEW runs AS {endless} SELECT i AS id, 'r' || i AS name, 1 AS epoch, '' AS owner,
                    1 AS branches, x'' AS note, x'' AS seal FROM n"
            ),
        ),
        (
            "a trigger",
            "CREATE TRIGGER theft AFTER INSERT ON records BEGIN DELETE FROM heads; END".to_owned(),
        ),
        ("another table", "CREATE TABLE other (a)".to_owned()),
        (
            "another column",
            "ALTER TABLE records ADD COLUMN other INTEGER".to_owned(),
        ),
        ("an index", "CREATE INDEX other ON records (upper(hash))".to_owned()),
        ("a table less", "DROP VIEW journal; DROP TABLE blobs".to_owned()),
    ] {
        let (_folder, path) = journal();
        rusqlite::Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        check_refused(&path, what);
    }
}

#[test]
fn a_schema_that_was_written_into_the_pages_is_refused() {
    let (_folder, path) = journal();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let sql = "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, 'UNIQUE', 'UNIQUE CHECK (length(hash) > 0)') WHERE name = 'blobs'";
    connection.execute_batch(sql).unwrap();
    drop(connection);
    check_refused(&path, "a check that is not the store's");
}

#[cfg(unix)]
#[test]
fn files_beside_a_journal_are_not_written_through_links() {
    use std::os::unix::fs::symlink;

    let (folder, path) = journal();
    let precious = folder.path().join("precious");
    let name = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    for suffix in [".tail", ".lock"] {
        std::fs::write(&precious, "precious").unwrap();
        std::fs::remove_file(name(suffix)).unwrap();
        symlink(&precious, name(suffix)).unwrap();
        if let Ok(mut store) = SqliteStore::open(&path, "test") {
            let mut side = Writer::claim(&mut store, suffix.trim_start_matches('.'), "main");
            side.write(&mut store, &["<turn>"]).unwrap();
        }
        assert_eq!(std::fs::read(&precious).unwrap(), b"precious", "{suffix}");
        std::fs::remove_file(name(suffix)).unwrap();
    }
    let fresh = folder.path().join("fresh");
    symlink(&precious, folder.path().join("fresh.new")).unwrap();
    let mut store = SqliteStore::open(&fresh, "test").unwrap();
    Writer::claim(&mut store, "r", "main")
        .write(&mut store, &["<turn>"])
        .unwrap();
    assert_eq!(std::fs::read(&precious).unwrap(), b"precious");
    assert!(fresh.is_file());
}

/// Makes an index beside a journal, and returns its path.
fn index(journal: &Path) -> PathBuf {
    drop(Index::open(journal).unwrap());
    let mut name = journal.as_os_str().to_owned();
    name.push(".index");
    PathBuf::from(name)
}

#[cfg(unix)]
#[test]
fn an_index_is_neither_read_nor_written_through_links_nor_waited_for_at_a_pipe() {
    use std::os::unix::fs::symlink;

    let (folder, path) = journal();
    let index = index(&path);
    let elsewhere = folder.path().join("elsewhere");
    std::fs::copy(&index, &elsewhere).unwrap();
    let before = std::fs::read(&elsewhere).unwrap();
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = index.as_os_str().to_owned();
        name.push(suffix);
        for is_hard in [false, true] {
            let _ = std::fs::remove_file(&name);
            if is_hard {
                std::fs::hard_link(&elsewhere, &name).unwrap();
            } else {
                symlink(&elsewhere, &name).unwrap();
            }
            assert!(Index::open_existing(&path).unwrap().is_none(), "{suffix}");
            Index::open(&path).unwrap().check_structure().unwrap();
            assert_eq!(std::fs::read(&elsewhere).unwrap(), before, "{suffix}");
            assert!(!std::fs::symlink_metadata(&index).unwrap().is_symlink());
        }
    }
    std::fs::remove_file(&index).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&index)
            .status()
            .unwrap()
            .success()
    );
    assert!(Index::open_existing(&path).unwrap().is_none());
    Index::open(&path).unwrap().check_structure().unwrap();
}

#[test]
fn an_index_with_another_schema_is_made_anew() {
    for sql in [
        "CREATE TRIGGER theft AFTER INSERT ON entries BEGIN DELETE FROM marks; END",
        "ALTER TABLE lines RENAME TO hidden;
         CREATE VIEW lines AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n",
        "CREATE TABLE other (a)",
    ] {
        let (_folder, path) = journal();
        let index = index(&path);
        rusqlite::Connection::open(&index).unwrap().execute_batch(sql).unwrap();
        assert!(Index::open_existing(&path).unwrap().is_none(), "{sql}");
        Index::open(&path).unwrap().check_structure().unwrap();
        let found: i64 = rusqlite::Connection::open(&index)
            .unwrap()
            .query_row(
                "SELECT count(*) FROM sqlite_schema WHERE name IN ('theft', 'other', 'hidden')",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(found, 0, "{sql}");
    }
}
