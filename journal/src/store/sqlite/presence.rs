//! The files of an open journal, and whether they are still those that its path names.
//!
//! The database library holds the files that it opened. If somebody deletes, replaces or cuts them
//! meanwhile, it goes on writing into files that nobody will ever read, and reports success. Other
//! processes change the files too, through the library: then whoever opens them anew finds in them
//! what this process has committed.
//! INVARIANT: looking goes through a shared file, so that it does not release the locks that the
//! library holds.
//!
//! It does not save anything; `../sqlite.rs` does.
//! Read next: `store/sqlite/file.rs`.

use std::fs::{self, Metadata};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::tail::Durable;
use crate::beside::{beside, is_same};
use crate::lock::io_error;
use crate::shared_file::SharedFile;
use crate::store::Displacement;
use crate::store::StoreError;

/// The length of a database's header in bytes; it changes only when the library writes the file.
const HEADER_BYTES: usize = 100;

/// Where the header has the number of pages.
///
/// Source: "Database File Format", 1.3.9, <https://www.sqlite.org/fileformat2.html>.
const PAGES: Range<usize> = 28..32;

/// The files of a journal as they were after the last commit.
pub(super) struct Presence {
    path: PathBuf,
    /// The journal file, open as long as the connection.
    file: SharedFile,
    noted: Noted,
    /// Whether the library has the files open, so that they stay as long as it has.
    is_held: bool,
}

/// The state of the files after a commit.
struct Noted {
    header: [u8; HEADER_BYTES],
    length_bytes: u64,
    /// The write-ahead log, once there is one.
    log: Option<Metadata>,
}

/// What a look at the files shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilesFound {
    /// Nobody else has changed them.
    Same,
    /// They are the same files, and somebody has changed what is in them.
    Changed(Displacement),
}

impl Presence {
    /// Notes the files of the journal at `path`, which the library has open.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn note(path: &Path) -> Result<Self, StoreError> {
        Self::noted(path, true)
    }

    /// Notes the file of the journal at `path`, which the library has not opened.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn note_file(path: &Path) -> Result<Self, StoreError> {
        Self::noted(path, false)
    }

    fn noted(path: &Path, is_held: bool) -> Result<Self, StoreError> {
        let failed = io_error(LOOKING);
        let file = SharedFile::open(path).map_err(&failed)?;
        let noted = Noted::of(path, &file, is_held).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            noted,
            is_held,
        })
    }

    /// Notes the files again, after the library has written them.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn renew(&mut self) -> Result<(), StoreError> {
        let noted = Noted::of(&self.path, &self.file, self.is_held);
        self.noted = noted.map_err(io_error(LOOKING))?;
        Ok(())
    }

    /// Checks that the paths name the files that are open, and says whether anybody has written
    /// them since they were noted.
    ///
    /// # Errors
    /// [`StoreError::Displaced`], [`StoreError::Io`].
    pub(super) fn look(&mut self) -> Result<FilesFound, StoreError> {
        let named = self.look_at_names()?;
        let now = Noted::of(&self.path, &self.file, self.is_held).map_err(io_error(LOOKING))?;
        Ok(match named {
            FilesFound::Same if now.header != self.noted.header => FilesFound::Changed(Displacement::Overwritten),
            found @ (FilesFound::Same | FilesFound::Changed(_)) => found,
        })
    }

    /// Checks the same, but not whether the file was written, as the library has just done.
    ///
    /// # Errors
    /// [`StoreError::Displaced`], [`StoreError::Io`].
    pub(super) fn look_at_names(&self) -> Result<FilesFound, StoreError> {
        let open = self.file.metadata().map_err(io_error(LOOKING))?;
        let of_file = self.look_at(&self.path, &open, self.noted.length_bytes)?;
        let of_log = match &self.noted.log {
            None => FilesFound::Same,
            Some(log) => self.look_at(&log_of(&self.path), log, log.len())?,
        };
        Ok(if of_file == FilesFound::Same { of_log } else { of_file })
    }

    /// Says whether the changed files are still those of the journal: whoever opens them finds in
    /// them what the last commit has set, and their header is one that the library would write.
    pub(super) fn is_still(&mut self, last: Option<&Durable>) -> bool {
        let Ok(now) = Noted::of(&self.path, &self.file, self.is_held) else {
            return false;
        };
        let seen = super::commit::pages_of(&self.path, last);
        let Ok(Some(seen)) = seen else { return false };
        // The library moves pages of the log into the file, of commits up to the newest. The file
        // becomes shorter only when all of it is written anew.
        let (before, written) = (self.noted.pages(), now.pages());
        now.header.starts_with(b"SQLite format 3\0") && (written == seen || (before..=seen).contains(&written))
    }

    fn look_at(&self, path: &Path, open: &Metadata, length_bytes: u64) -> Result<FilesFound, StoreError> {
        let named = match fs::metadata(path) {
            Ok(named) => named,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.displaced_at(path, Displacement::Missing));
            }
            Err(error) => return Err(io_error(LOOKING)(error)),
        };
        if !is_same(&named, open) {
            return Err(self.displaced_at(path, Displacement::Replaced));
        }
        if named.len() < length_bytes {
            let (from, to) = (length_bytes, named.len());
            return Ok(FilesFound::Changed(Displacement::Cut { from, to }));
        }
        Ok(FilesFound::Same)
    }

    /// The error that the files are not those of the journal any more.
    pub(super) fn displaced(&self, how: Displacement) -> StoreError {
        self.displaced_at(&self.path, how)
    }

    fn displaced_at(&self, path: &Path, how: Displacement) -> StoreError {
        StoreError::Displaced {
            journal: self.path.clone(),
            path: path.to_owned(),
            how,
        }
    }
}

impl Noted {
    fn of(path: &Path, file: &SharedFile, is_held: bool) -> io::Result<Self> {
        let mut header = [0; HEADER_BYTES];
        let length_bytes = file.metadata()?.len();
        if length_bytes >= HEADER_BYTES as u64 {
            let bytes = file.read_start(HEADER_BYTES as u64)?;
            header = bytes.try_into().map_err(|_| io::ErrorKind::UnexpectedEof)?;
        }
        let log = match fs::metadata(log_of(path)) {
            Ok(log) => is_held.then_some(log),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            header,
            length_bytes,
            log,
        })
    }

    /// The number of pages that the header says.
    fn pages(&self) -> u32 {
        self.header[PAGES]
            .iter()
            .fold(0, |number, byte| number << 8 | u32::from(*byte))
    }
}

const LOOKING: &str = "looking for the journal";

fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}
