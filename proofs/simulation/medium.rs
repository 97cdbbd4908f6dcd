//! The medium of a simulated run: a log in memory whose disk fails on cue, or a real SQLite file.
//!
//! INVARIANT: a crash leaves what a machine that stops would leave: in memory by the loss that the
//! operation draws, of a file everything that was written, its write-ahead log included.
//! A file does not lose unsynced sectors here; `journal/tests/it/power.rs` does that.
//! Read next: `course.rs`.

use std::fs;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use duet_journal::store::memory::{DiskFault, FaultPlan, Loss, MemoryStore};
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{Store, StoreError};

/// The kinds of mediums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediumKind {
    /// A log in memory.
    Memory,
    /// A SQLite file.
    File,
}

/// A store with the medium below it.
pub(crate) enum Medium {
    Memory(Box<MemoryStore>),
    File(Box<JournalFile>),
}

/// A SQLite store in a folder of its own, which goes with it.
pub(crate) struct JournalFile {
    folder: PathBuf,
    /// The number of times that the machine has stopped.
    stops: u32,
    store: SqliteStore,
}

/// The names of a journal's files behind its own name; the others begin anew with a machine.
const SUFFIXES: [&str; 3] = ["", "-wal", ".tail"];

/// The number of folders that this process has made.
static FOLDERS: AtomicU64 = AtomicU64::new(0);

impl Medium {
    /// Makes an empty one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn new(kind: MediumKind) -> Result<Self, StoreError> {
        Ok(match kind {
            MediumKind::Memory => Self::Memory(Box::default()),
            MediumKind::File => Self::File(Box::new(JournalFile::new()?)),
        })
    }

    /// Stops the machine and starts it again.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn crash(&mut self, loss: Loss) -> Result<(), StoreError> {
        match self {
            Self::Memory(store) => {
                let mut disk = std::mem::take(&mut **store).into_disk();
                disk.pull_the_plug(loss);
                **store = MemoryStore::open(disk.restart(FaultPlan::default()))?;
                Ok(())
            }
            Self::File(file) => file.crash(),
        }
    }

    /// Opens the store in another process, with a disk that fails at an operation; a file's does
    /// not.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn restart(&mut self, fails_after: Option<(u64, Loss)>) -> Result<(), StoreError> {
        match self {
            Self::Memory(store) => {
                let plan = fails_after.map_or_else(FaultPlan::default, |(operation, loss)| {
                    FaultPlan::at(operation, DiskFault::Crash(loss))
                });
                **store = MemoryStore::open(std::mem::take(&mut **store).into_disk().restart(plan))?;
                Ok(())
            }
            Self::File(file) => file.reopen(),
        }
    }
}

impl Deref for Medium {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Memory(store) => &**store,
            Self::File(file) => &file.store,
        }
    }
}

impl DerefMut for Medium {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Memory(store) => &mut **store,
            Self::File(file) => &mut file.store,
        }
    }
}

/// Who writes simulated files.
const OWNER: &str = "simulation";

impl JournalFile {
    fn new() -> Result<Self, StoreError> {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        #[expect(clippy::disallowed_methods, reason = "a folder of this process's own")]
        let (temporary, process) = (std::env::temp_dir(), std::process::id());
        let folder = temporary.join(format!("duet-simulation-{process}-{number}"));
        fs::create_dir(&folder).map_err(failed)?;
        let store = SqliteStore::open(&journal(&folder, 0), OWNER)?;
        Ok(Self {
            folder,
            stops: 0,
            store,
        })
    }

    /// Copies the files as they are while the store is open, and opens the copy.
    fn crash(&mut self) -> Result<(), StoreError> {
        let from = journal(&self.folder, self.stops);
        self.stops += 1;
        let to = journal(&self.folder, self.stops);
        for suffix in SUFFIXES {
            match fs::copy(named(&from, suffix), named(&to, suffix)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                copied => drop(copied.map_err(failed)?),
            }
        }
        self.store = SqliteStore::open(&to, OWNER)?;
        Ok(())
    }

    fn reopen(&mut self) -> Result<(), StoreError> {
        // Only one store at a time may write a file.
        let aside = journal(&self.folder, u32::MAX);
        self.store = SqliteStore::open(&aside, OWNER)?;
        self.store = SqliteStore::open(&journal(&self.folder, self.stops), OWNER)?;
        Ok(())
    }
}

impl Drop for JournalFile {
    fn drop(&mut self) {
        // The system removes what stays in its folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn journal(folder: &Path, stops: u32) -> PathBuf {
    folder.join(format!("journal-{stops}"))
}

fn named(journal: &Path, suffix: &str) -> PathBuf {
    duet_journal::beside::beside(journal, suffix)
}

fn failed(source: io::Error) -> StoreError {
    let doing = "copying a simulated journal";
    StoreError::Io { doing, source }
}
