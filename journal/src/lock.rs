//! Locks among processes: an empty file beside another, held alone or shared.
//!
//! INVARIANT: a lock ends when its owner drops it or its process dies. Closing the file would not
//! be enough: the system's lock is the open file's, and a child process that is being started, by
//! any thread, holds a copy of that until it runs its own program.
//!
//! It does not know what is locked, nor does it remove the file: another process may have it open.
//! Read next: `store/sqlite/file.rs`.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::beside::{beside, open_beside};
use crate::error::StoreError;

/// The pause between two attempts, and their maximum number: half a minute.
const PAUSE: Duration = Duration::from_millis(2);
const ATTEMPTS_MAX: u32 = 15_000;

/// A lock on the file `PATH.lock`, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Takes the lock beside `path` alone; `None` while anyone else has it.
    ///
    /// # Errors
    /// [`StoreError::Io`], with `doing`.
    pub(crate) fn try_alone(path: &Path, doing: &'static str) -> Result<Option<Self>, StoreError> {
        let file = open(path, doing)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(io_error(doing)(source)),
        }
    }

    /// Takes the lock beside `path` alone, when nobody else has it any more, which should be soon.
    ///
    /// # Errors
    /// As [`try_alone`](Self::try_alone); [`StoreError::Locked`] after half a minute.
    pub(crate) fn alone_soon(path: &Path, doing: &'static str) -> Result<Self, StoreError> {
        for _ in 0..ATTEMPTS_MAX {
            if let Some(lock) = Self::try_alone(path, doing)? {
                return Ok(lock);
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "it waits for another process and enters no record"
            )]
            std::thread::sleep(PAUSE);
        }
        Err(StoreError::Locked)
    }

    /// Takes the lock beside `path` alone, when nobody else has it any more; errors as
    /// [`try_alone`](Self::try_alone).
    pub(crate) fn alone(path: &Path, doing: &'static str) -> Result<Self, StoreError> {
        let file = open(path, doing)?;
        file.lock().map_err(io_error(doing))?;
        Ok(Self(file))
    }

    /// Takes the lock beside `path` together with others who share it, when nobody has it alone any
    /// more; errors as [`try_alone`](Self::try_alone).
    pub(crate) fn shared(path: &Path, doing: &'static str) -> Result<Self, StoreError> {
        let file = open(path, doing)?;
        file.lock_shared().map_err(io_error(doing))?;
        Ok(Self(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Where this fails, closing the file is left, which ends the lock as soon as no copy is
        // open.
        let _unlocked = self.0.unlock();
    }
}

fn open(path: &Path, doing: &'static str) -> Result<File, StoreError> {
    open_beside(&beside(path, ".lock")).map_err(io_error(doing))
}

/// Says what was being done when the system refused.
pub(crate) fn io_error(doing: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |source| StoreError::Io { doing, source }
}
