//! Opens, makes and removes the file of an index.
//!
//! INVARIANT: a file of another program is never touched, nor one that a link leads to; an index
//! that cannot be used, or has other tables than this program makes, is replaced by an empty one,
//! because the records give it again. After a crash or a power cut the file is what some commit
//! left.
//!
//! It knows nothing of what the tables hold. Read next: `index/line.rs`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::beside::{beside, is_plain};
use crate::lock::{Lock, io_error};
use crate::shared_file::SharedFile;
use crate::store::StoreError;
use crate::store::sqlite::{failed, harden, has_schema};

/// Marks a database as an index: "DueI" in ASCII.
const APPLICATION_ID: u32 = 0x4475_6549;

/// The version of the tables and of the terms.
const VERSION: u32 = 2;

const CREATE: &str = "
CREATE TABLE lines (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    parent INTEGER,                 -- lines.id of the line that it leaves
    first INTEGER NOT NULL,         -- the position of its first turn
    last INTEGER NOT NULL,
    seal BLOB NOT NULL
) STRICT;
CREATE TABLE marks (
    run TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    record BLOB NOT NULL,           -- a record's hash: it and its ancestors are covered
    line INTEGER NOT NULL,          -- lines.id
    seal BLOB NOT NULL,
    PRIMARY KEY (run, sequence, record)
) STRICT, WITHOUT ROWID;
CREATE TABLE entries (
    line INTEGER NOT NULL,
    sequence INTEGER NOT NULL,      -- the turn's position
    place INTEGER NOT NULL,         -- among what the turn filed, counted from 0
    bytes BLOB NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (line, sequence, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE terms (
    reach INTEGER NOT NULL,         -- sequence / 65536
    term INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    line INTEGER NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (reach, term, sequence, line, place)
) STRICT, WITHOUT ROWID;
";

/// The index's name beside a journal's.
pub(super) fn of_journal(journal: &Path) -> PathBuf {
    beside(journal, ".index")
}

/// The kind of a file, by its first bytes.
#[derive(PartialEq, Eq)]
enum FileKind {
    Nothing,
    Index,
    /// One of another version, or damaged beyond recognition.
    Unusable,
}

/// The ends of the names of the files that SQLite keeps for an index.
const SUFFIXES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

fn look(path: &Path) -> Result<FileKind, StoreError> {
    let doing = "looking at the index";
    if !SUFFIXES.iter().all(|suffix| is_plain(&beside(path, suffix))) {
        return Ok(FileKind::Unusable);
    }
    let header = match SharedFile::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileKind::Nothing),
        Err(error) => return Err(io_error(doing)(error)),
        Ok(file) => file.read_start(100).map_err(io_error(doing))?,
    };
    let number = |at: usize| {
        header[at..at + 4]
            .iter()
            .fold(0, |number, &byte| number << 8 | u32::from(byte))
    };
    if !header.starts_with(b"SQLite format 3\0") || header.len() < 100 {
        return Ok(FileKind::Unusable);
    }
    if number(68) != APPLICATION_ID {
        return Err(StoreError::NotAJournal {
            path: path.to_owned(),
            why: "it has the name of an index and is a database of another application",
        });
    }
    Ok(if number(60) == VERSION {
        FileKind::Index
    } else {
        FileKind::Unusable
    })
}

/// Whoever reads or extends an index shares its lock, whoever makes or removes it has it alone.
const LOCKING: &str = "locking the index";

/// An index in a file, dropped in this order.
pub(super) struct Linked {
    pub(super) connection: Connection,
    _file: Option<SharedFile>,
    /// Keeps others from removing the file.
    _lock: Option<Lock>,
}

pub(super) fn open_existing(path: &Path) -> Result<Option<Linked>, StoreError> {
    if look(path)? != FileKind::Index {
        return Ok(None);
    }
    let lock = Lock::shared(path, LOCKING)?;
    Ok(usable(path)?.map(|(connection, file)| Linked {
        connection,
        _file: Some(file),
        _lock: Some(lock),
    }))
}

/// Opens an index that has the tables of this program.
fn usable(path: &Path) -> Result<Option<(Connection, SharedFile)>, StoreError> {
    match look(path)? {
        FileKind::Index => {
            let file = SharedFile::open(path).map_err(io_error("opening the index"))?;
            let connection = connect(path)?;
            let is_ours = has_schema(&connection, CREATE).map_err(failed("reading the index's schema"))?;
            Ok(is_ours.then_some((connection, file)))
        }
        FileKind::Nothing | FileKind::Unusable => Ok(None),
    }
}

pub(super) fn open_or_create(path: &Path) -> Result<Linked, StoreError> {
    loop {
        if let Some(found) = open_existing(path)? {
            return Ok(found);
        }
        let _lock = Lock::alone(path, LOCKING)?;
        // Another process may have made it meanwhile.
        if usable(path)?.is_none() {
            clear(path)?;
            create(path)?;
        }
    }
}

/// Makes a complete index under another name, then gives it its own.
fn create(path: &Path) -> Result<(), StoreError> {
    let unfinished = beside(path, ".new");
    clear(&unfinished)?;
    let failed = failed("making the index");
    let connection = Connection::open(&unfinished).map_err(&failed)?;
    fill(&connection).map_err(&failed)?;
    connection.close().map_err(|(_, error)| failed(error))?;
    fs::rename(&unfinished, path).map_err(io_error("making the index"))
}

pub(super) fn in_memory() -> Result<Linked, StoreError> {
    let failed = failed("making an index");
    let connection = Connection::open_in_memory().map_err(&failed)?;
    fill(&connection).map_err(&failed)?;
    Ok(Linked {
        connection,
        _file: None,
        _lock: None,
    })
}

fn fill(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {CREATE}"
    ))?;
    connection.pragma_update(None, "journal_mode", "wal")
}

/// How long to wait for another process that extends the index.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let failed = failed("opening the index");
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(&failed)?;
    connection.busy_timeout(PATIENCE).map_err(&failed)?;
    // NORMAL: a power cut may take back the newest commits, which are derived again, and never
    // leaves half of one.
    let settings = "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768;";
    harden(&connection)
        .and_then(|()| connection.execute_batch(settings))
        .map_err(&failed)?;
    Ok(connection)
}

pub(super) fn remove(path: &Path) -> Result<bool, StoreError> {
    match Lock::try_alone(path, LOCKING)? {
        Some(_lock) => clear(path),
        None => Err(StoreError::Locked),
    }
}

fn clear(path: &Path) -> Result<bool, StoreError> {
    let mut was_there = false;
    for suffix in SUFFIXES {
        match fs::remove_file(beside(path, suffix)) {
            Ok(()) => was_there |= suffix.is_empty(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io_error("removing the index")(error)),
        }
    }
    Ok(was_there)
}

pub(super) fn check_structure(connection: &Connection) -> Result<(), StoreError> {
    let found: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(failed("checking the index"))?;
    if found == "ok" {
        Ok(())
    } else {
        Err(StoreError::Inconsistent {
            what: "the index's database is damaged",
        })
    }
}
