//! Opens and creates a journal file.
//!
//! INVARIANT: a file that is not a journal of a version that this code knows is never written to,
//! nor is anything created beside it; and a journal file appears under its
//! name only when it is complete.
//!
//! It knows nothing of what the tables hold.
//! Read next: `store/sqlite/row.rs`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{self, Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::guard::{self, Budget};
use super::log::{FirstPage, first_page};
use super::row::Workspace;
use super::{schema, tail};
use crate::beside::{beside, create_beside};
use crate::lock::io_error;
use crate::shared_file::SharedFile;
use crate::store::StoreError;

/// FULL: with NORMAL a power cut loses commits that were acknowledged.
pub(super) const SYNCHRONOUS: &str = "PRAGMA synchronous = FULL";

/// Opens a journal for reading, also where nothing can be written: in a backup, on a disk that may
/// only be read, in the folder of somebody else.
pub(super) fn open_to_read(path: &Path) -> Result<Linked, StoreError> {
    check_header(path)?;
    let opened = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    if opened.as_ref().err().is_some_and(is_kept_from_writing) {
        connect_unchanging(path)
    } else {
        opened
    }
}

/// Says whether the library could not make its files beside the journal, or open them to write.
/// It needs them to share the journal with other processes.
fn is_kept_from_writing(error: &StoreError) -> bool {
    if let StoreError::Database { source, .. } = error {
        let code = source.sqlite_error_code();
        matches!(code, Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
    } else {
        false
    }
}

/// Opens a journal that nobody can be writing now, because a writer has a log beside it.
///
/// Source: "Write-Ahead Logging", 7, <https://www.sqlite.org/wal.html>.
fn connect_unchanging(path: &Path) -> Result<Linked, StoreError> {
    let log = match fs::metadata(beside(path, "-wal")) {
        Ok(log) => log.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(io_error("looking for the write-ahead log")(error)),
    };
    if log > 0 {
        let why = "copy the journal, with the files beside it, to a folder where files can be made";
        let source = io::Error::new(io::ErrorKind::PermissionDenied, why);
        return Err(io_error(
            "reading the write-ahead log in a folder that may only be read",
        )(source));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    connect_as(path, &unchanging(path), flags)
}

/// The address of a file that does not change, for the library.
///
/// Source: "URI Filenames", 3, <https://www.sqlite.org/uri.html>.
fn unchanging(path: &Path) -> PathBuf {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            address.push(char::from(*byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address.push_str("?immutable=1");
    PathBuf::from(address)
}

/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 32;

/// A connection to a journal, dropped in this order.
pub(super) struct Linked {
    pub(super) connection: Connection,
    pub(super) budget: Budget,
    /// `None` if the journal is in memory.
    pub(super) _file: Option<SharedFile>,
}

/// A journal opened for writing.
pub(super) struct Opened {
    /// Where the file is, or is going to be.
    pub(super) path: PathBuf,
    pub(super) linked: Linked,
    /// Whether there was no such file: the journal is then in memory.
    pub(super) is_new: bool,
}

/// Opens a journal for writing; if there is no such file, an empty one in memory, with `owner` as
/// the one who makes it.
pub(super) fn open_to_write(path: &Path, owner: &str) -> Result<Opened, StoreError> {
    let looking = "looking for the journal";
    let path = fs::canonicalize(path)
        .or_else(|_| path::absolute(path))
        .map_err(io_error(looking))?;
    let is_new = !fs::exists(&path).map_err(io_error(looking))?;
    let linked = if is_new {
        let connection = begin(&path, owner)?;
        let budget = Budget::limit(&connection, None)?;
        Linked {
            connection,
            budget,
            _file: None,
        }
    } else {
        check_header(&path)?;
        connect_to_write(&path)?
    };
    Ok(Opened { path, linked, is_new })
}

/// Opens a file that is a journal.
pub(super) fn connect_to_write(path: &Path) -> Result<Linked, StoreError> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|error| {
        if !is_kept_from_writing(&error) {
            return error;
        }
        let why = "its file or its folder may only be read";
        io_error("opening the journal to write it")(io::Error::new(io::ErrorKind::PermissionDenied, why))
    })
}

fn database_error(doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    move |source| StoreError::Database { doing, source }
}

/// Looks at the first bytes of a file without the database library, which would write to it or
/// beside it.
pub(super) fn check_header(path: &Path) -> Result<(), StoreError> {
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
    let mut header = read_header(path)?;
    if header.is_empty() {
        return Err(not_a_journal("it is empty"));
    }
    if !is_database(&header) {
        // A database believes the newest copy of a page, which is in its log.
        header = match first_page(&beside(path, "-wal")).map_err(io_error(READING_HEADER))? {
            FirstPage::Found(page) if is_database(&page) => page,
            FirstPage::Found(_) | FirstPage::Absent => {
                return Err(not_a_journal(
                    "its header is damaged, and its write-ahead log has no copy of that",
                ));
            }
            FirstPage::NoLog => return Err(not_a_journal("it is not an SQLite database")),
        };
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

/// The length of a database's header.
const HEADER_BYTES: u64 = 100;

const READING_HEADER: &str = "reading the journal's header";

fn read_header(path: &Path) -> Result<Vec<u8>, StoreError> {
    let file = SharedFile::open(path).map_err(io_error("opening the journal"))?;
    file.read_start(HEADER_BYTES).map_err(io_error(READING_HEADER))
}

/// Says whether a file begins like a database.
fn is_database(header: &[u8]) -> bool {
    header.starts_with(b"SQLite format 3\0") && header.len() >= 100
}

/// Says whether the header of a journal is damaged, though the write-ahead log has a copy from
/// which the next writer repairs it.
///
/// # Errors
/// [`StoreError::Io`].
pub fn has_damaged_header(path: &Path) -> Result<bool, StoreError> {
    Ok(!is_database(&read_header(path)?))
}

/// Returns the length of a database file and the length that its header says, in bytes, if the file
/// is shorter.
///
/// # Errors
/// If it cannot be read.
///
/// Source: "Database File Format", 1.3.2 and 1.3.9, <https://www.sqlite.org/fileformat2.html>.
pub fn missing_bytes(path: &Path) -> io::Result<Option<(u64, u64)>> {
    let header = SharedFile::open(path)?.read_start(HEADER_BYTES)?;
    if header.len() < 32 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let number = |range: Range<usize>| {
        header[range]
            .iter()
            .fold(0, |number, &byte| number << 8 | u64::from(byte))
    };
    // The greatest page size does not fit into its field, which then says 1.
    let page_bytes = match number(16..18) {
        1 => 65_536,
        bytes => bytes,
    };
    let (has, says) = (fs::metadata(path)?.len(), page_bytes * number(28..32));
    Ok((has < says).then_some((has, says)))
}

fn check_version(found: u32) -> Result<(), StoreError> {
    if found == schema::VERSION {
        return Ok(());
    }
    Err(StoreError::UnsupportedVersion {
        found: found.into(),
        supported: schema::VERSION.into(),
    })
}

fn connect(path: &Path, access: OpenFlags) -> Result<Linked, StoreError> {
    connect_as(path, path, access)
}

/// Opens the file at `path`, which the library calls `name`.
fn connect_as(path: &Path, name: &Path, access: OpenFlags) -> Result<Linked, StoreError> {
    let file = SharedFile::open(path).map_err(io_error("opening the journal"))?;
    let failed = database_error("opening the journal");
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(name, flags).map_err(&failed)?;
    let budget = Budget::limit(&connection, Some(path))?;
    guard::harden(&connection)
        .and_then(|()| connection.execute_batch(SYNCHRONOUS))
        .map_err(&failed)?;
    connection.busy_handler(Some(wait_for_others)).map_err(&failed)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // The header may be older than the write-ahead log; this number is not.
    check_version(
        connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(&failed)?,
    )?;
    guard::check_schema(&connection)?;
    Ok(Linked {
        connection,
        budget,
        _file: Some(file),
    })
}

/// The longest pause between two attempts to get at a journal that another process is writing.
const PAUSE_MAX: Duration = Duration::from_millis(5);

/// After how many pauses this process gives up: half a minute. A commit takes some milliseconds, so
/// the other process was stopped in the middle of one, or gives back space.
const PAUSES_MAX: u32 = 6_000;

/// Waits for other processes that are writing. The library's own pauses grow to 100 ms, in which
/// many commits would find room.
fn wait_for_others(attempts: i32) -> bool {
    let attempts = attempts.unsigned_abs();
    let pause = Duration::from_micros(200) * (attempts + 1).min(1_000);
    #[expect(
        clippy::disallowed_methods,
        reason = "it waits for another process and enters no record"
    )]
    std::thread::sleep(pause.min(PAUSE_MAX));
    attempts < PAUSES_MAX
}

/// Makes an empty journal in memory, for there is none at `path`.
fn begin(path: &Path, owner: &str) -> Result<Connection, StoreError> {
    if fs::exists(beside(path, "-wal")).map_err(io_error("looking for the journal"))? {
        let why = "it is missing, yet its write-ahead log is there";
        return Err(StoreError::NotAJournal {
            path: path.to_owned(),
            why,
        });
    }
    let empty = || {
        let connection = Connection::open_in_memory()?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let (id, version) = (schema::APPLICATION_ID, schema::VERSION);
        connection.execute_batch(&format!(
            "BEGIN; PRAGMA application_id = {id}; PRAGMA user_version = {version};"
        ))?;
        connection.execute_batch(schema::CREATE)?;
        let workspace = Workspace {
            owner: owner.to_owned(),
            ..Workspace::default()
        };
        workspace.create(&connection)?;
        connection.execute_batch("COMMIT")?;
        Ok(connection)
    };
    empty().map_err(database_error(CREATING))
}

const CREATING: &str = "creating the journal";

/// Writes a journal that is in memory to its file, whole and durable.
pub(super) fn create(path: &Path, journal: &Connection) -> Result<(), StoreError> {
    let mut bytes = journal.serialize("main").map_err(database_error(CREATING))?.to_vec();
    // A database in memory cannot be in this mode, and a file under its name must be.
    bytes[MODE].fill(WAL);
    let unfinished = beside(path, ".new");
    let written = write(&unfinished, &bytes).and_then(|()| {
        // Who put a file there meanwhile did not ask for the lock, and may be another program.
        if fs::exists(path)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        tail::remove(path)?;
        fs::rename(&unfinished, path)?;
        sync_folder(path)
    });
    if written.is_err() {
        // Where it stays, whoever creates the journal next overwrites it.
        let _removed = fs::remove_file(&unfinished);
    }
    written.map_err(io_error(CREATING))
}

/// Where a database's header says how it is written and read.
///
/// Source: "Database File Format", 1.3.3, <https://www.sqlite.org/fileformat2.html>.
const MODE: Range<usize> = 18..20;

/// With a write-ahead log.
const WAL: u8 = 2;

/// Writes a file, durably.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create_beside(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the entry of a file in its folder durable, where folders can be opened.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
        Some(_) | None => Ok(()),
    }
}
