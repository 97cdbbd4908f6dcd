//! What can go wrong with a store.
//!
//! INVARIANT: an error names the thing that is wrong and, where two things differ, both.
//! It knows no store; `store.rs` gives these errors their public name.
//! Read next: `error/record.rs`.

mod record;

pub use record::RecordError;

use std::fmt;
use std::path::PathBuf;

use crate::identity::{BlobHash, BranchName, Epoch, IdentityError, MAX_BLOB_BYTES, RecordHash, RunId};
use crate::inbox::LetterId;
use crate::owner::Owner;

/// A failure of a store.
#[derive(Debug)]
pub enum StoreError {
    /// The branch's head is not the expected one.
    HeadMoved {
        /// The run.
        run: RunId,
        /// The branch.
        branch: BranchName,
        /// The head the caller named; `None` for "no such branch".
        expected: Option<RecordHash>,
        /// The head there is.
        found: Option<RecordHash>,
    },
    /// Somebody else has claimed the run since.
    EpochFenced {
        /// The run.
        run: RunId,
        /// The caller's epoch.
        held: Epoch,
        /// The newest epoch.
        current: Epoch,
    },
    /// Another process holds the run, and lives.
    Owned {
        /// The run.
        run: RunId,
        /// That process.
        by: Box<Owner>,
    },
    /// Somebody else has removed records since the caller looked for those to remove, so the caller
    /// has to look again.
    Overtaken,
    /// A record in a batch does not follow what stands before it, or belongs to another run or
    /// branch.
    NotAChild {
        /// The record.
        record: RecordHash,
        /// The record before it.
        expected_parent: Option<RecordHash>,
    },
    /// A batch without records.
    NoRecords {
        /// The run.
        run: RunId,
        /// The branch.
        branch: BranchName,
    },
    /// A record refers to a blob that is neither in the batch nor in the store.
    MissingBlob {
        /// The record.
        record: RecordHash,
        /// The blob.
        blob: BlobHash,
    },
    /// A blob above [`MAX_BLOB_BYTES`].
    BlobTooLarge {
        /// Its length.
        length_bytes: usize,
    },
    /// The run does not exist.
    NoSuchRun {
        /// The run.
        run: RunId,
    },
    /// The branch does not exist.
    NoSuchBranch {
        /// The run.
        run: RunId,
        /// The branch.
        branch: BranchName,
    },
    /// The record does not exist, or not in this run.
    NoSuchRecord {
        /// The record.
        hash: RecordHash,
    },
    /// The inbox does not have the letter, or its owner has taken it already.
    NoSuchLetter {
        /// The run.
        run: RunId,
        /// The letter.
        letter: LetterId,
    },
    /// The blob does not exist.
    NoSuchBlob {
        /// The blob.
        hash: BlobHash,
    },
    /// Bytes have changed since they were written.
    ChecksumMismatch {
        /// The object that they belong to.
        object: Object,
    },
    /// Bytes are what was written, but not a record that this program reads.
    BadRecord {
        /// The record.
        hash: RecordHash,
        /// Why.
        source: RecordError,
    },
    /// The store's own tables or frames contradict themselves.
    Inconsistent {
        /// The contradiction.
        what: &'static str,
    },
    /// The version is the one that this program reads, and the tables are not those of it; they
    /// have been left as they were.
    OtherTables {
        /// The version that the journal gives.
        version: u64,
    },
    /// The file is something else; it has been left as it was.
    NotAJournal {
        /// The file.
        path: PathBuf,
        /// How one can tell.
        why: &'static str,
    },
    /// A file of an open journal is not the one any more that its path names. Nothing that was not
    /// durable before is durable.
    Displaced {
        /// The journal.
        journal: PathBuf,
        /// The file: the journal or its write-ahead log.
        path: PathBuf,
        /// What happened to it.
        how: Displacement,
    },
    /// The store cannot be copied to a file.
    NoCopy,
    /// The store keeps no notes on runs.
    NoNotes,
    /// The journal was written by another version of this program; it has been left as it was.
    UnsupportedVersion {
        /// Its version.
        found: u64,
        /// The version this program reads and writes.
        supported: u64,
    },
    /// Another process has been writing for too long, so this one has written nothing.
    Locked,
    /// The store was opened for reading only.
    ReadOnly,
    /// An earlier failure left the store in doubt; open it again.
    InDoubt,
    /// The medium failed.
    Io {
        /// The task that failed.
        doing: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// A server that keeps the journal, or the way to it, failed.
    Server {
        /// The task that failed.
        doing: &'static str,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The database library reported a failure.
    Database {
        /// The task that failed.
        doing: &'static str,
        /// The cause.
        source: rusqlite::Error,
    },
}

/// What happened to a file of an open journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Displacement {
    /// It was deleted or moved away.
    Missing,
    /// Another file has its place.
    Replaced,
    /// It became shorter.
    Cut {
        /// Its length before, in bytes.
        from: u64,
        /// Its length now, in bytes.
        to: u64,
    },
    /// Somebody else wrote into it.
    Overwritten,
}

impl fmt::Display for Displacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "was deleted or moved away"),
            Self::Replaced => write!(f, "was replaced by another file"),
            Self::Cut { from, to } => write!(f, "was cut from {from} to {to} bytes"),
            Self::Overwritten => write!(f, "was overwritten by another program"),
        }
    }
}

/// Names what a checksum belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// A record, under the hash that its place promises.
    Record(RecordHash),
    /// A blob.
    Blob(BlobHash),
    /// A stretch of a log, by its offset.
    Frame {
        /// Where it starts.
        offset_bytes: usize,
    },
    /// The database file as a whole.
    File,
}

impl From<IdentityError> for StoreError {
    fn from(_: IdentityError) -> Self {
        Self::Inconsistent {
            what: "a name or number is out of range",
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(hash) => write!(f, "record {hash}"),
            Self::Blob(hash) => write!(f, "blob {hash}"),
            Self::Frame { offset_bytes } => write!(f, "the log at byte {offset_bytes}"),
            Self::File => write!(f, "the journal file"),
        }
    }
}

/// Shows a hash that may be absent.
struct Maybe<'a>(&'a Option<RecordHash>);

impl fmt::Display for Maybe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(hash) => hash.fmt(f),
            None => f.write_str("nothing"),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeadMoved {
                run,
                branch,
                expected,
                found,
            } => {
                write!(
                    f,
                    "the head of {run}/{branch} is {}, expected {}",
                    Maybe(found),
                    Maybe(expected)
                )
            }
            Self::EpochFenced { run, held, current } => {
                write!(
                    f,
                    "run {run} has been claimed by another owner (epoch {current}, ours is {held})"
                )
            }
            Self::Owned { run, by } => {
                write!(f, "{run} belongs to `duet {}`, process {}", by.command, by.process)
            }
            Self::Overtaken => write!(f, "somebody else has removed records meanwhile"),
            Self::NotAChild {
                record,
                expected_parent,
            } => {
                write!(f, "record {record} does not follow {}", Maybe(expected_parent))
            }
            Self::NoRecords { run, branch } => write!(f, "an append to {run}/{branch} has no records"),
            Self::MissingBlob { record, blob } => write!(f, "record {record} refers to blob {blob}, which is missing"),
            Self::BlobTooLarge { length_bytes } => {
                write!(
                    f,
                    "a blob has {length_bytes} bytes, at most {MAX_BLOB_BYTES} are allowed"
                )
            }
            Self::NoSuchRun { run } => write!(f, "there is no run {run}"),
            Self::NoSuchBranch { run, branch } => write!(f, "there is no branch {run}/{branch}"),
            Self::NoSuchRecord { hash } => write!(f, "there is no record {hash}"),
            Self::NoSuchLetter { run, letter } => write!(f, "the inbox of {run} has no letter {letter} to take"),
            Self::NoSuchBlob { hash } => write!(f, "there is no blob {hash}"),
            Self::ChecksumMismatch { object } => write!(f, "{object} has changed since it was written"),
            Self::BadRecord { hash, .. } => write!(f, "record {hash} cannot be read"),
            Self::Inconsistent { what } => write!(f, "the journal contradicts itself: {what}"),
            Self::NotAJournal { path, why } => write!(f, "{} is not a journal: {why}", path.display()),
            Self::Displaced { path, how, .. } => {
                write!(f, "{} {how} while this process had it open", path.display())
            }
            Self::NoCopy => write!(f, "this store cannot be copied to a file"),
            Self::NoNotes => write!(f, "this store keeps no notes on runs"),
            Self::UnsupportedVersion { found, supported } => {
                write!(
                    f,
                    "the journal has version {found}, this program reads version {supported}"
                )
            }
            Self::OtherTables { version } => other_tables(*version, f),
            Self::Locked => write!(f, "another process has been in the middle of a commit for too long"),
            Self::ReadOnly => write!(f, "the journal is open for reading only"),
            Self::InDoubt => write!(f, "an earlier failure left the journal in doubt, open it again"),
            Self::Io { doing, .. } => write!(f, "failed {doing}"),
            Self::Server { doing, .. } => write!(f, "the server failed {doing}"),
            Self::Database { doing, .. } => write!(f, "the database failed {doing}"),
        }
    }
}

fn other_tables(version: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "the journal says that it has version {version}, which this program reads, but its tables, views and triggers \
         are not those of that version: a duet from before the first release wrote it, or another program has \
         changed it"
    )
}

impl std::error::Error for StoreError {
    #[expect(clippy::wildcard_enum_match_arm, reason = "few variants have a cause")]
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::BadRecord { source, .. } => Some(source),
            Self::Io { source, .. } => Some(source),
            Self::Server { source, .. } => Some(&**source),
            Self::Database { source, .. } => Some(source),
            _ => None,
        }
    }
}
