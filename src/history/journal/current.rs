//! The branches that were used last: which one an address without a run means, and for which one a
//! run with several stands.
//!
//! Owns a small file beside the journal: a line for each run, the one that was used last before the
//! others.
//! INVARIANT: a lost, old or half line only makes addresses longer, because whoever reads one asks
//! the journal whether the branch is there.
//! The file is a convenience of the command line and no part of the journal.
//! Read next: `verb/runs.rs`.

use std::collections::BTreeMap;
use std::io::Write;
use std::iter;
use std::path::PathBuf;

use duet_journal::beside::{open_beside, text_beside};
use duet_journal::{BranchName, RunId, Store};

use super::Journal;

/// The maximum number of runs that the file has.
const RUNS_MAX: usize = 1_000;

impl Journal {
    fn current_path(&self) -> PathBuf {
        self.beside(".current")
    }

    /// Records the branch that was used last. A failure is ignored, because it only makes addresses
    /// longer.
    pub(crate) fn set_current(&self, run: &RunId, branch: &BranchName) {
        let before = text_beside(&self.current_path());
        let others = read(&before).filter(|(other, _)| other != run);
        let used = iter::once((run.clone(), branch.clone())).chain(others);
        let lines = used.take(RUNS_MAX).map(|(run, branch)| format!("{run}/{branch}\n"));
        let text: String = lines.collect();
        // Truncating first would make some file systems wait for the disk.
        let _ = open_beside(&self.current_path()).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.set_len(text.len() as u64)
        });
    }

    /// The branch used last, if that is known and it still exists.
    pub(crate) fn current(&self, store: &dyn Store) -> Option<(RunId, BranchName)> {
        let (run, branch) = read(&text_beside(&self.current_path())).next()?;
        store.head(&run, &branch).ok()??;
        Some((run, branch))
    }

    /// The branch of each run that was used last, as far as that is known; it may exist no more.
    pub(crate) fn used(&self) -> BTreeMap<RunId, BranchName> {
        let mut used = BTreeMap::new();
        for (run, branch) in read(&text_beside(&self.current_path())) {
            used.entry(run).or_insert(branch);
        }
        used
    }
}

/// Reads the lines of the file. Processes that write at once may leave half a line.
fn read(text: &str) -> impl Iterator<Item = (RunId, BranchName)> {
    let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    whole.filter_map(|line| {
        let (run, branch) = line.split_once('/')?;
        Some((RunId::new(run).ok()?, BranchName::new(branch).ok()?))
    })
}
