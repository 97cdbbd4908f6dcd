//! The tail: which heads the last durable commit set, in a small file beside the journal.
//!
//! A database trusts its write-ahead log up to the first frame whose checksum is wrong, because a
//! power cut leaves such a frame behind the last durable commit. A changed byte in the middle of
//! the log looks the same and takes all later commits with it, in silence. The tail says otherwise.
//! INVARIANT: a line is written after its commit is durable and never synced. So it may be older
//! than the journal and is never newer, and a commit costs one small write more.
//!
//! Each run has its slot in the file, so processes that write at once do not write over each other;
//! of two runs that share a slot the later stays. A commit is noted by one of the heads that it
//! set: whatever is lost includes the last commit.
//! It holds nothing that the journal does not have, and a journal without it is whole.
//! Read next: `store/sqlite.rs`.
//!
//! Source: `journal/FORMAT.md`, "SQLite", "Tail".

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::row::{Branch, Run};
use super::seal::seal;
use crate::beside::{beside, open_beside, read_beside};
use crate::identity::{BranchName, RecordHash, RunId, Sequence};
use crate::store::StoreError;

/// The number of runs that the file has room for.
const SLOTS: u64 = 64;

/// The length of a slot in bytes; a line is shorter.
const SLOT_BYTES: usize = 512;

/// A head as a durable commit set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Durable {
    run: RunId,
    branch: BranchName,
    commits: i64,
    sequence: Sequence,
    hash: RecordHash,
}

/// The durable turns of a branch that its journal has lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostCommits {
    /// The run.
    pub run: RunId,
    /// The branch.
    pub branch: BranchName,
    /// The position of the head that was durable.
    pub durable: Sequence,
    /// The position of the head that the journal has; `None` if it has no such branch.
    pub found: Option<Sequence>,
}

impl Durable {
    pub(super) fn of(run: &RunId, branch: &Branch) -> Self {
        Self {
            run: run.clone(),
            branch: branch.head.branch.clone(),
            commits: branch.commits,
            sequence: branch.head.sequence,
            hash: branch.head.hash,
        }
    }

    /// Reads a slot; `None` if it is empty, or a power cut tore it.
    fn parse(slot: &[u8]) -> Option<Self> {
        let line = slot.split(|byte| *byte == b'\n').next()?;
        let (sum, line) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        let is_whole = u64::from_str_radix(sum, 16) == Ok(checksum(line));
        let [run, branch, commits, sequence, hash] = line.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let durable = Self {
            run: RunId::new(run).ok()?,
            branch: BranchName::new(branch).ok()?,
            commits: commits.parse().ok()?,
            sequence: Sequence::new(sequence.parse().ok()?).ok()?,
            hash: hash.parse().ok()?,
        };
        is_whole.then_some(durable)
    }

    fn line(&self) -> String {
        let Self {
            run,
            branch,
            commits,
            sequence,
            hash,
        } = self;
        let line = format!("{run} {branch} {commits} {sequence} {hash}");
        format!("{:016x} {line}\n", checksum(&line))
    }

    /// Compares with the journal, which may be further on.
    fn lost(&self, connection: &Connection) -> Result<Option<LostCommits>, StoreError> {
        let run = Run::find(connection, &self.run)?;
        let branch = run.map(|run| Branch::find(connection, &run, &self.branch));
        let branch = branch.transpose()?.flatten();
        let is_there = branch.as_ref().is_some_and(|found| {
            found.commits > self.commits || found.commits == self.commits && found.head.hash == self.hash
        });
        Ok((!is_there).then(|| LostCommits {
            run: self.run.clone(),
            branch: self.branch.clone(),
            durable: self.sequence,
            found: branch.map(|branch| branch.head.sequence),
        }))
    }
}

fn path(journal: &Path) -> PathBuf {
    beside(journal, ".tail")
}

fn checksum(line: &str) -> u64 {
    u64::from_le_bytes(seal(&[line.as_bytes()]))
}

/// Where a run's slot begins in the file, in bytes.
fn slot_of(run: &RunId) -> u64 {
    checksum(run.as_str()) % SLOTS * SLOT_BYTES as u64
}

/// The file as a writer keeps it.
#[derive(Default)]
pub(super) struct Tail {
    /// Open since the first commit.
    file: Option<File>,
}

impl Tail {
    /// Says which head a commit has set that is durable by now.
    ///
    /// A failure is ignored: an older tail is right too, and notices less.
    pub(super) fn note(&mut self, journal: &Path, durable: &Durable) {
        let _older = self.write(journal, &durable.run, durable.line());
    }

    /// Forgets what was said of a run, because some of it is going to be removed.
    pub(super) fn forget(&mut self, journal: &Path, run: &RunId) {
        let _unforgotten = self.write(journal, run, String::new());
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self, journal: &Path) {
        let _unforgotten = self.open(journal).and_then(|file| file.set_len(0));
    }

    fn write(&mut self, journal: &Path, run: &RunId, mut line: String) -> io::Result<()> {
        let rest = SLOT_BYTES.saturating_sub(line.len() + 1);
        line.extend(std::iter::repeat_n(' ', rest));
        line.push('\n');
        let file = self.open(journal)?;
        file.seek(SeekFrom::Start(slot_of(run)))?;
        file.write_all(line.as_bytes())
    }

    fn open(&mut self, journal: &Path) -> io::Result<&mut File> {
        match &mut self.file {
            Some(file) => Ok(file),
            none => Ok(none.insert(open_beside(&path(journal))?)),
        }
    }
}

/// Removes the tail of a journal that is not there any more.
pub(super) fn remove(journal: &Path) -> io::Result<()> {
    match fs::remove_file(path(journal)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Reads the heads in the tail of a journal; none if there is no tail.
pub(super) fn read(journal: &Path) -> Vec<Durable> {
    let bytes = read_beside(&path(journal)).unwrap_or_default();
    bytes.chunks(SLOT_BYTES).filter_map(Durable::parse).collect()
}

/// Says whether a journal has what a commit has set.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn is_there(durable: &Durable, connection: &Connection) -> Result<bool, StoreError> {
    Ok(durable.lost(connection)?.is_none())
}

/// Lists what a journal lacks of the heads in its tail, which was read before the connection's view
/// of the journal began.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn lost(tail: &[Durable], connection: &Connection) -> Result<Vec<LostCommits>, StoreError> {
    let lost = tail.iter().map(|head| head.lost(connection));
    lost.filter_map(Result::transpose).collect()
}
