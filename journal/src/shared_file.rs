//! A database's file, open for this process's own looks at it beside the database library.
//!
//! A process that closes any handle of a file loses all its locks on that file, also those that the
//! library took through another handle. Another process then takes itself for the only one, and
//! removes the write-ahead log into which this one goes on writing.
//! INVARIANT: while anyone in the process holds a file that was opened here, no handle of it that
//! was opened here is closed. Whoever opens a connection opens the file here before, and drops it
//! after the connection.
//!
//! It does not lock anything. Read next: `store/sqlite/file.rs`.
//!
//! Source: "How To Corrupt An SQLite Database File", 2.2, <https://www.sqlite.org/howtocorrupt.html>.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::beside::is_same;

/// The files that are open, each with all its handles and the number of those who hold it.
static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());

struct Open {
    metadata: Metadata,
    handles: Vec<File>,
    holders: usize,
}

fn open_files() -> MutexGuard<'static, Vec<Open>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that stays open at least until this is dropped.
#[derive(Debug)]
pub(crate) struct SharedFile {
    /// The system's description of it when it was opened.
    metadata: Metadata,
}

impl SharedFile {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut files = open_files();
        let named = std::fs::metadata(path)?;
        if let Some(open) = files.iter_mut().find(|open| is_same(&open.metadata, &named)) {
            open.holders += 1;
            return Ok(Self { metadata: named });
        }
        let handle = File::open(path)?;
        let metadata = handle.metadata()?;
        // Another file may have taken the name meanwhile.
        match files.iter_mut().find(|open| is_same(&open.metadata, &metadata)) {
            Some(open) => {
                open.handles.push(handle);
                open.holders += 1;
            }
            None => files.push(Open {
                metadata: metadata.clone(),
                handles: vec![handle],
                holders: 1,
            }),
        }
        Ok(Self { metadata })
    }

    /// The system's description of the file now.
    ///
    /// # Errors
    /// If the system fails.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.with_handle(|file| file.metadata())
    }

    /// Reads the file's first bytes, at most a number of them.
    ///
    /// # Errors
    /// If the system fails.
    pub(crate) fn read_start(&self, bytes_max: u64) -> io::Result<Vec<u8>> {
        self.with_handle(|mut file| {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(0))?;
            file.take(bytes_max).read_to_end(&mut bytes)?;
            Ok(bytes)
        })
    }

    fn with_handle<T>(&self, work: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let files = open_files();
        let open = files.iter().find(|open| is_same(&open.metadata, &self.metadata));
        let handle = open.and_then(|open| open.handles.first());
        work(handle.ok_or(io::ErrorKind::NotFound)?)
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        let mut files = open_files();
        if let Some(at) = files.iter().position(|open| is_same(&open.metadata, &self.metadata)) {
            files[at].holders -= 1;
            if files[at].holders == 0 {
                // Nobody can open it anew before its handles are closed.
                drop(files.swap_remove(at));
            }
        }
    }
}
