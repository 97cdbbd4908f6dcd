//! The tail: which heads the last durable commit set, in a small file beside the journal.
//!
//! A database trusts its write-ahead log up to the first frame whose checksum is wrong, because a
//! power cut leaves such a frame behind the last durable commit. A changed byte in the middle of
//! the log looks the same and takes all later commits with it, in silence. The tail says otherwise.
//! INVARIANT: the tail is written after its commit is durable and never synced. So it may be older
//! than the journal and is never newer, and a commit costs one small write more.
//!
//! It holds nothing that the journal does not have, and a journal without it is whole.
//! Read next: `store/sqlite.rs`.
//!
//! Source: `journal/FORMAT.md`, "SQLite", "Tail".

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::row::{Branch, Run};
use super::seal::seal;
use crate::beside::{beside, open_beside, text_beside};
use crate::identity::{BranchName, RecordHash, RunId, Sequence};
use crate::store::StoreError;

/// The maximum number of heads in the file: it says that something is missing, and an example.
const HEADS_MAX: usize = 16;

/// How the file begins.
const TITLE: &str = "duet-tail 1";

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

    fn parse(line: &str) -> Option<Self> {
        let [run, branch, commits, sequence, hash] = line.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        Some(Self {
            run: RunId::new(run).ok()?,
            branch: BranchName::new(branch).ok()?,
            commits: commits.parse().ok()?,
            sequence: Sequence::new(sequence.parse().ok()?).ok()?,
            hash: hash.parse().ok()?,
        })
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

/// The file as a writer keeps it.
#[derive(Default)]
pub(super) struct Tail {
    /// Open since the first commit.
    file: Option<File>,
    text: String,
}

impl Tail {
    /// Says which heads a commit has set that is durable by now.
    ///
    /// A failure is ignored: an older tail is right too, and notices less.
    pub(super) fn note(&mut self, journal: &Path, heads: &[Durable]) {
        let _older = self.write(journal, heads);
    }

    fn write(&mut self, journal: &Path, heads: &[Durable]) -> io::Result<()> {
        self.text.clear();
        for head in heads.iter().take(HEADS_MAX) {
            let Durable {
                run,
                branch,
                commits,
                sequence,
                hash,
            } = head;
            // Writing to a string cannot fail.
            let _ = writeln!(self.text, "{run} {branch} {commits} {sequence} {hash}");
        }
        let (length, sum) = (self.text.len(), u64::from_le_bytes(seal(&[self.text.as_bytes()])));
        self.text.insert_str(0, &format!("{TITLE} {length} {sum:016x}\n"));
        if self.file.is_none() {
            self.file = Some(open_beside(&path(journal))?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(SeekFrom::Start(0))?;
        file.write_all(self.text.as_bytes())
    }
}

/// Removes the tail of a journal that is not there any more.
pub(super) fn remove(journal: &Path) -> io::Result<()> {
    match fs::remove_file(path(journal)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Reads the heads in the tail of a journal; none if there is no tail, or a power cut tore it.
fn read(journal: &Path) -> Vec<Durable> {
    let text = text_beside(&path(journal));
    let heads = || {
        let (title, rest) = text.split_once('\n')?;
        let (length, sum) = title.strip_prefix(TITLE)?.trim_start().split_once(' ')?;
        let lines = rest.get(..length.parse().ok()?)?;
        let is_whole = u64::from_str_radix(sum, 16) == Ok(u64::from_le_bytes(seal(&[lines.as_bytes()])));
        is_whole.then(|| lines.lines().filter_map(Durable::parse).collect())
    };
    heads().unwrap_or_default()
}

/// Lists what a journal lacks of the heads in its tail.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn lost(journal: &Path, connection: &Connection) -> Result<Vec<LostCommits>, StoreError> {
    let mut tail = read(journal);
    loop {
        let lost = tail.iter().map(|head| head.lost(connection));
        let lost: Vec<_> = lost.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        // Meanwhile a writer may have removed a branch, and has said so before.
        let now = if lost.is_empty() { tail.clone() } else { read(journal) };
        if now == tail {
            return Ok(lost);
        }
        tail = now;
    }
}
