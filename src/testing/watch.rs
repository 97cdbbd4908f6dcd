//! The files that tests read, and which of them have been saved since.
//!
//! INVARIANT: a file that is saved while its tests run counts as saved after it, so the newest text
//! of a file is always tested.
//! It runs no test. Read next: `../command/test.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use duet_drivers::interrupts;

use super::FileResult;
use super::answers::beside;
use crate::error::{CommandError, ExitCode};

/// The time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(200);

/// By how much the clock of a file system is late at most.
const LATENESS: Duration = Duration::from_millis(10);

/// What tells a state of a file from another: its length and the time of its last change; nothing
/// if there is no such file.
type Stamp = Option<(u64, SystemTime)>;

/// What tests read.
#[derive(Default)]
pub(crate) struct Watch {
    /// The files of each test, itself among them, and whether it passed.
    tests: BTreeMap<PathBuf, (BTreeSet<PathBuf>, bool)>,
    /// The state of each file that the newest results are of, and that of each folder.
    seen: BTreeMap<PathBuf, Stamp>,
    /// The folders in which a new test may appear.
    folders: BTreeSet<PathBuf>,
    /// When the tests began that run now.
    began: Option<SystemTime>,
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
    #[expect(clippy::disallowed_methods, reason = "times of files are by the clock of the system")]
    pub(crate) fn begin(&mut self, paths: &[PathBuf]) {
        self.began = Some(SystemTime::now());
        let folders = paths.iter().filter(|path| path.is_dir()).cloned();
        for folder in folders.collect::<Vec<_>>() {
            self.look_at_folder(folder);
        }
    }

    fn look_at_folder(&mut self, folder: PathBuf) {
        self.seen.entry(folder.clone()).or_insert_with(|| stamp(&folder));
        self.folders.insert(folder);
    }

    /// Notes the result of a test.
    pub(crate) fn note(&mut self, result: &FileResult) {
        let folder = result.path.parent().unwrap_or(Path::new(""));
        let mut files = BTreeSet::from([result.path.clone(), beside(&result.path)]);
        for name in &result.read {
            // An include beside a file that has no folder in its name begins with one.
            let name = Path::new(name);
            let name = name.strip_prefix(".").unwrap_or(name);
            let places = [name.to_owned(), folder.join(name)];
            files.extend(places.into_iter().filter(|place| place.is_file()));
        }
        for file in &files {
            let (began, now) = (self.began, stamp(file));
            // Nobody knows which text the test has read of a file that was saved meanwhile.
            let is_late = |saved: SystemTime| began.is_some_and(|began| saved + LATENESS >= began);
            let known = now.filter(|(_, saved)| !is_late(*saved));
            self.seen.entry(file.clone()).or_insert(known);
        }
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
        self.seen.keys().filter(|path| !self.folders.contains(*path)).count()
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
        let mut saved = BTreeSet::new();
        for (path, seen) in &mut self.seen {
            let now = stamp(path);
            if now != *seen {
                *seen = now;
                saved.insert(path.clone());
            }
        }
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

fn stamp(path: &Path) -> Stamp {
    let about = fs::metadata(path).ok()?;
    Some((about.len(), about.modified().ok()?))
}

/// The person who watches.
pub(crate) struct Watcher {
    is_interrupted: Arc<AtomicBool>,
    typed: Receiver<()>,
    /// Without it the end of the input would end the waits.
    _open: Sender<()>,
}

impl Watcher {
    /// Listens for Ctrl-C, and for a line that begins with `q`.
    ///
    /// # Errors
    /// If the system gives no thread or no signals.
    #[expect(
        clippy::disallowed_methods,
        reason = "reading a line must not keep tests from running"
    )]
    pub(crate) fn listen() -> Result<Self, CommandError> {
        let failed = |error| CommandError::caused("Ctrl-C cannot be noticed", &error);
        let is_interrupted = interrupts::watch().map_err(failed)?;
        let (open, typed) = channel();
        let sender = open.clone();
        let read = move || {
            let lines = io::stdin().lines().map_while(Result::ok);
            for _ in lines.filter(|line| line.starts_with('q')) {
                if sender.send(()).is_err() {
                    break;
                }
            }
        };
        thread::Builder::new()
            .name("duet-watcher".to_owned())
            .spawn(read)
            .map_err(failed)?;
        Ok(Self {
            is_interrupted,
            typed,
            _open: open,
        })
    }

    /// Waits until the next look at the files; returns whether the person wants the end.
    pub(crate) fn wait(&self) -> bool {
        self.typed.recv_timeout(INTERVAL).is_ok() || self.is_interrupted.load(Ordering::Relaxed)
    }
}
