//! Opens, creates and locks a journal file.
//!
//! INVARIANT: a file that is not a journal of a version that this code knows is never written to, nor is anything created beside it, except
//! for the lock; and a journal file appears under its name only when it is complete.
//!
//! It knows nothing of what the tables hold.
//! Read next: `store/sqlite/row.rs`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::row::Workspace;
use super::schema;
use crate::lock::{Lock, beside, io_error};
use crate::store::StoreError;

/// FULL: with NORMAL a power cut loses commits that were acknowledged.
pub(super) const SYNCHRONOUS: &str = "PRAGMA synchronous = FULL";

/// Opens a journal for reading.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    check_header(path)?;
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// A journal opened for writing.
pub(super) struct Opened {
    pub(super) connection: Connection,
    pub(super) lock: Lock,
    /// Whether there was no such file.
    pub(super) is_new: bool,
}

/// Opens a journal for writing; if there is no such file, creates it, with `owner` as the one who writes it.
pub(super) fn open_to_write(path: &Path, owner: &str) -> Result<Opened, StoreError> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::exists(path).map_err(io_error("looking for the journal"))? {
        check_header(path)?;
    }
    let Some(lock) = Lock::try_alone(path, "locking the journal")? else {
        return Err(StoreError::Locked { by: read_owner(path) });
    };
    let is_new = !fs::exists(path).map_err(io_error("looking for the journal"))?;
    if is_new {
        create(path, owner)?;
    }
    check_header(path)?;
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    Ok(Opened {
        connection,
        lock,
        is_new,
    })
}

/// Reads who is writing; empty if that cannot be told, as while the journal is being created.
fn read_owner(path: &Path) -> String {
    let read = || -> Option<String> {
        open_to_read(path)
            .ok()?
            .query_row("SELECT owner FROM workspace", [], |row| row.get(0))
            .ok()
    };
    read().unwrap_or_default()
}

fn database_error(doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    move |source| StoreError::Database { doing, source }
}

/// Looks at the first bytes of a file without the database library, which would write to it or beside it.
fn check_header(path: &Path) -> Result<(), StoreError> {
    let not_a_journal = |why| StoreError::NotAJournal {
        path: path.to_owned(),
        why,
    };
    if !fs::metadata(path)
        .map_err(io_error("looking at the journal"))?
        .is_file()
    {
        return Err(not_a_journal("it is not a regular file"));
    }
    let mut header = Vec::new();
    let file = File::open(path).map_err(io_error("opening the journal"))?;
    file.take(100)
        .read_to_end(&mut header)
        .map_err(io_error("reading the journal's header"))?;
    if header.is_empty() {
        return Err(not_a_journal("it is empty"));
    }
    if !header.starts_with(b"SQLite format 3\0") || header.len() < 100 {
        return Err(not_a_journal("it is not an SQLite database"));
    }
    let number = |at: usize| {
        header[at..at + 4]
            .iter()
            .fold(0, |number, &byte| number << 8 | u32::from(byte))
    };
    if number(68) != schema::APPLICATION_ID {
        return Err(not_a_journal("it is an SQLite database of another application"));
    }
    check_version(number(60))
}

fn check_version(found: u32) -> Result<(), StoreError> {
    if (schema::OLDEST..=schema::VERSION).contains(&found) {
        return Ok(());
    }
    Err(StoreError::UnsupportedVersion {
        found: found.into(),
        supported: schema::VERSION.into(),
    })
}

fn connect(path: &Path, access: OpenFlags) -> Result<Connection, StoreError> {
    let failed = database_error("opening the journal");
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(&failed)?;
    let settings = "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF";
    connection
        .execute_batch(SYNCHRONOUS)
        .and_then(|()| connection.execute_batch(settings))
        .map_err(&failed)?;
    connection
        .busy_timeout(std::time::Duration::from_secs(5))
        .map_err(&failed)?;
    connection.set_prepared_statement_cache_capacity(32);
    // The header may be older than the write-ahead log; this number is not.
    check_version(
        connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(&failed)?,
    )?;
    Ok(connection)
}

/// Says in the journal that what is going to be written may be of this version; part of the transaction around it.
pub(super) fn raise_version(connection: &Connection) -> Result<(), StoreError> {
    let failed = database_error("raising the journal's version");
    let found = connection.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0));
    if found.map_err(&failed)? < schema::VERSION {
        connection
            .pragma_update(None, "user_version", schema::VERSION)
            .map_err(&failed)?;
    }
    Ok(())
}

/// Makes a complete journal under another name, then gives it its own.
fn create(path: &Path, owner: &str) -> Result<(), StoreError> {
    if fs::exists(beside(path, "-wal")).map_err(io_error("looking for the journal"))? {
        let why = "it is missing, yet its write-ahead log is there";
        return Err(StoreError::NotAJournal {
            path: path.to_owned(),
            why,
        });
    }
    let unfinished = beside(path, ".new");
    for leftover in [
        unfinished.clone(),
        beside(&unfinished, "-journal"),
        beside(&unfinished, "-wal"),
    ] {
        match fs::remove_file(leftover) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::Io {
                    doing: "clearing an unfinished journal",
                    source,
                });
            }
            _ => (),
        }
    }
    fill(&unfinished, owner).map_err(database_error("creating the journal"))?;
    let finish = || {
        File::open(&unfinished)?.sync_all()?;
        fs::rename(&unfinished, path)?;
        sync_folder(path)
    };
    finish().map_err(io_error("creating the journal"))
}

fn fill(path: &Path, owner: &str) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    let (id, version) = (schema::APPLICATION_ID, schema::VERSION);
    // Nobody has seen the file yet: it is synced once, whole, before it gets its name, and thrown away if anything fails before.
    connection.execute_batch(&format!(
        "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN; PRAGMA application_id = {id}; PRAGMA user_version = {version};"
    ))?;
    connection.execute_batch(schema::CREATE)?;
    let workspace = Workspace {
        owner: owner.to_owned(),
        ..Workspace::default()
    };
    workspace.create(&connection)?;
    connection.execute_batch("COMMIT")?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.close().map_err(|(_, error)| error)
}

/// Makes the entry of a file in its folder durable, where folders can be opened.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}
