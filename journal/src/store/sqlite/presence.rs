//! The files of an open journal, and whether they are still those that its path names.
//!
//! The database library holds the files that it opened. If somebody deletes, replaces or cuts them
//! meanwhile, it goes on writing into files that nobody will ever read, and reports success.
//! INVARIANT: looking opens and closes no second handle while the library works, because closing
//! one would release the locks that the library holds.
//!
//! It does not save anything; `../sqlite.rs` does.
//! Read next: `store/sqlite/file.rs`.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::beside::{beside, is_same};
use crate::lock::io_error;
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
    file: File,
    noted: Noted,
}

/// The state of the files after a commit.
struct Noted {
    header: [u8; HEADER_BYTES],
    length_bytes: u64,
    /// The write-ahead log, once there is one.
    log: Option<Metadata>,
}

impl Presence {
    /// Notes the files of the journal at `path`.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn note(path: &Path) -> Result<Self, StoreError> {
        let failed = io_error(LOOKING);
        let mut file = File::open(path).map_err(&failed)?;
        let noted = Noted::of(path, &mut file).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            noted,
        })
    }

    /// Notes the files again, after the library has written them.
    ///
    /// # Errors
    /// [`StoreError::Displaced`], [`StoreError::Io`].
    pub(super) fn renew(&mut self) -> Result<(), StoreError> {
        self.check_names()?;
        let noted = Noted::of(&self.path, &mut self.file);
        self.noted = noted.map_err(io_error(LOOKING))?;
        Ok(())
    }

    /// Notes the files again, after the library has made them shorter.
    ///
    /// # Errors
    /// As [`renew`](Self::renew).
    pub(super) fn renew_cut(&mut self) -> Result<(), StoreError> {
        self.noted.length_bytes = 0;
        self.noted.log = None;
        self.renew()
    }

    /// Checks that the files are those that were noted, and that nobody else has written them.
    ///
    /// # Errors
    /// [`StoreError::Displaced`], [`StoreError::Io`].
    pub(super) fn check(&mut self, connection: &Connection) -> Result<(), StoreError> {
        self.check_names()?;
        let now = Noted::of(&self.path, &mut self.file).map_err(io_error(LOOKING))?;
        if now.header != self.noted.header && !now.is_of(connection) {
            return Err(self.displaced(&self.path, Displacement::Overwritten));
        }
        Ok(())
    }

    /// Checks that the paths name the files that are open, and that these have their length.
    fn check_names(&self) -> Result<(), StoreError> {
        let open = self.file.metadata().map_err(io_error(LOOKING))?;
        self.check_name(&self.path, &open, self.noted.length_bytes)?;
        match &self.noted.log {
            None => Ok(()),
            Some(log) => self.check_name(&log_of(&self.path), log, log.len()),
        }
    }

    fn check_name(&self, path: &Path, open: &Metadata, length_bytes: u64) -> Result<(), StoreError> {
        let named = match fs::metadata(path) {
            Ok(named) => named,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.displaced(path, Displacement::Missing));
            }
            Err(error) => return Err(io_error(LOOKING)(error)),
        };
        if !is_same(&named, open) {
            return Err(self.displaced(path, Displacement::Replaced));
        }
        if named.len() < length_bytes {
            let (from, to) = (length_bytes, named.len());
            return Err(self.displaced(path, Displacement::Cut { from, to }));
        }
        Ok(())
    }

    fn displaced(&self, path: &Path, how: Displacement) -> StoreError {
        StoreError::Displaced {
            journal: self.path.clone(),
            path: path.to_owned(),
            how,
        }
    }
}

impl Noted {
    /// Says whether the header has the size of the journal that the connection sees, as it has
    /// after another tool moved the write-ahead log into the file.
    fn is_of(&self, connection: &Connection) -> bool {
        let pages = connection.pragma_query_value(None, "page_count", |row| row.get::<_, u32>(0));
        let written = self.header[PAGES]
            .iter()
            .fold(0, |number, byte| number << 8 | u32::from(*byte));
        pages.is_ok_and(|pages| pages == written) && self.header.starts_with(b"SQLite format 3\0")
    }

    fn of(path: &Path, file: &mut File) -> io::Result<Self> {
        let mut header = [0; HEADER_BYTES];
        let length_bytes = file.metadata()?.len();
        if length_bytes >= HEADER_BYTES as u64 {
            file.seek(SeekFrom::Start(0))?;
            file.read_exact(&mut header)?;
        }
        let log = match fs::metadata(log_of(path)) {
            Ok(log) => Some(log),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            header,
            length_bytes,
            log,
        })
    }
}

const LOOKING: &str = "looking for the journal";

fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}
