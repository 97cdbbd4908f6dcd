//! The tests that read files, and which of them are due when files are saved.
//!
//! INVARIANT: a file that is saved while its tests run counts as saved after it, so the newest text
//! of a file is always tested.
//! It runs no test. Read next: `world/watch.rs`, `surface/command/test.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::FileResult;
use crate::text::error::ExitCode;
use crate::world::answers::beside;
use crate::world::watch::{Files, empty_places, places};

/// What tests read.
#[derive(Default)]
pub(crate) struct Watch {
    /// The files of each test, itself among them, the folders in which it misses a file, and
    /// whether it passed.
    tests: BTreeMap<PathBuf, (BTreeSet<PathBuf>, bool)>,
    /// The files that the newest results are of, and the folders.
    files: Files,
    /// The folders in which a new test may appear.
    folders: BTreeSet<PathBuf>,
}

/// What has been saved.
pub(crate) struct Saved {
    /// The files, and the folders in which a test misses a file.
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
        let texts: BTreeSet<&str> = result.texts.all().iter().map(|text| text.name.as_str()).collect();
        for name in &result.read {
            let mut found: Vec<PathBuf> = places(name, folder).collect();
            if texts.is_empty() && Path::new(name).is_dir() {
                // The test cannot be compiled, and what it misses may come into being there.
                self.folders.insert(PathBuf::from(name));
                found.push(PathBuf::from(name));
            } else if !texts.is_empty() && found.is_empty() && !texts.contains(name.as_str()) {
                // The test has asked for a file that is not there.
                found.extend(empty_places(name, folder));
            }
            files.extend(found);
        }
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
        self.files.count()
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
        let reads = |(read, _): &(BTreeSet<PathBuf>, bool)| saved.iter().any(|file| read.contains(file));
        let tests = self.tests.iter().filter(|(_, test)| reads(test));
        let tests = tests.map(|(test, _)| test.clone()).collect();
        let is_read = |folder: &PathBuf| self.tests.values().any(|(read, _)| read.contains(folder));
        let has_folder = saved.iter().any(|path| self.folders.contains(path));
        let told = saved
            .into_iter()
            .filter(|path| !self.folders.contains(path) || is_read(path));
        Some(Saved {
            files: told.collect(),
            tests,
            has_folder,
        })
    }
}
