//! The stores of this crate, and the duties of every store on each.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use duet_journal::store::memory::{FaultPlan, Loss, MemoryStore};
use duet_journal::store::sqlite::SqliteStore;

use crate::conformance::{Medium, every_duty};

struct Memory;

impl Medium for Memory {
    type Store = MemoryStore;

    fn create() -> (Self, MemoryStore) {
        (Self, MemoryStore::default())
    }

    fn reopen(&self, store: MemoryStore) -> MemoryStore {
        let mut disk = store.into_disk();
        disk.pull_the_plug(Loss::Unsynced);
        MemoryStore::open(disk.restart(FaultPlan::default())).unwrap()
    }
}

struct Sqlite(tempfile::TempDir);

impl Medium for Sqlite {
    type Store = SqliteStore;

    fn create() -> (Self, SqliteStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("journal"), "conformance").unwrap();
        (Self(folder), store)
    }

    fn reopen(&self, store: SqliteStore) -> SqliteStore {
        drop(store);
        SqliteStore::open(&self.0.path().join("journal"), "conformance").unwrap()
    }
}

macro_rules! test_on {
    ($medium:ident $($duty:ident)*) => {
        $(#[test] fn $duty() { crate::conformance::$duty::<super::$medium>() })*
    };
}

mod memory {
    super::every_duty! { test_on! Memory }
}

mod sqlite {
    super::every_duty! { test_on! Sqlite }
}
