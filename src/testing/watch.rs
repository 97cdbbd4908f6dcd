//! The tests that read files, and which of them are due when files are saved.
//!
//! INVARIANT: a file that is saved while its tests run counts as saved after it, so the newest text
//! of a file is always tested.
//! It runs no test. Read next: `../watch.rs`, `../command/test.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::FileResult;
use super::answers::beside;
use crate::error::ExitCode;
use crate::watch::{Files, places};

/// What tests read.
#[derive(Default)]
pub(crate) struct Watch {
    /// The files of each test, itself among them, and whether it passed.
    tests: BTreeMap<PathBuf, (BTreeSet<PathBuf>, bool)>,
    /// The files that the newest results are of, and the folders.
    files: Files,
    /// The folders in which a new test may appear.
    folders: BTreeSet<PathBuf>,
}

/// What has been saved.
pub(crate) struct Saved {
    /// The files.
    pub(crate) files: Vec<PathBuf>,
    /// The tests that read them.
    pub(crate) tests: Vec<PathBuf>,
    /// Whether a folder has changed, so that there may be new tests.
    pub(crate) has_folder: bool,
}

impl Watch {
    /// Notes that tests begin to run.
    pub(crate) fn begin(&mut self, paths: &[PathBuf]) {
        self.files.begin();
        let folders = paths.iter().filter(|path| path.is_dir()).cloned();
        for folder in folders.collect::<Vec<_>>() {
            self.look_at_folder(folder);
        }
    }

    fn look_at_folder(&mut self, folder: PathBuf) {
        self.files.add_folder(folder.clone());
        self.folders.insert(folder);
    }

    /// Notes the result of a test.
    pub(crate) fn note(&mut self, result: &FileResult) {
        let folder = result.path.parent().unwrap_or(Path::new(""));
        let mut files = BTreeSet::from([result.path.clone(), beside(&result.path)]);
        files.extend(result.read.iter().flat_map(|name| places(name, folder)));
        files.iter().for_each(|file| self.files.add(file));
        // The empty path stands for the present folder only in front of a name.
        self.look_at_folder(Path::new(".").join(folder));
        self.tests.insert(result.path.clone(), (files, result.is_passed()));
    }

    /// Says whether a test has a result.
    pub(crate) fn knows(&self, test: &Path) -> bool {
        self.tests.contains_key(test)
    }

    /// The number of files.
    pub(crate) fn count(&self) -> usize {
        self.files.count() - self.folders.len()
    }

    /// The exit code by the newest result of each test.
    pub(crate) fn code(&self) -> ExitCode {
        if self.tests.values().all(|(_, is_passed)| *is_passed) {
            ExitCode::OK
        } else {
            ExitCode::FAILED
        }
    }

    /// Looks at the files; nothing if none was saved. It forgets tests that are no longer there.
    pub(crate) fn look(&mut self) -> Option<Saved> {
        self.files.look();
        let saved = self.files.take_saved();
        if saved.is_empty() {
            return None;
        }
        self.tests.retain(|test, _| test.is_file());
        let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) =
            saved.into_iter().partition(|path| self.folders.contains(path));
        let reads = |(read, _): &(BTreeSet<PathBuf>, bool)| files.iter().any(|file| read.contains(file));
        let tests = self.tests.iter().filter(|(_, test)| reads(test));
        Some(Saved {
            tests: tests.map(|(test, _)| test.clone()).collect(),
            files,
            has_folder: !folders.is_empty(),
        })
    }
}
