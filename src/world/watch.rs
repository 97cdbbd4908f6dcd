//! Files that are watched, and the person who watches them.
//!
//! INVARIANT: a file that is saved while its text is being read counts as saved after it, so that
//! the newest text of a file is always looked at. Standard input is read in one place, so a line
//! goes either to the program that runs or to whoever watches.
//! It runs nothing. Read next: `workbench/testing/watch.rs`, `verb/act/run/watch.rs`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use duet_drivers::interrupts;
use duet_kernel::expander::SourceText;
use duet_runtime::driver::EffectKind;
use preserves::IOValue;

use crate::text::error::CommandError;
use crate::world::launch;

/// By how much the clock of a file system is late at most.
const LATENESS: Duration = Duration::from_millis(10);

/// The maximum number of lines that are read ahead.
const LINES_MAX: usize = 64;

/// The time between two looks of a program that reads at whether its run has stopped.
const READING_INTERVAL: Duration = Duration::from_millis(20);

/// What tells a state of a file from another: its length and the time of its last change; nothing
/// if there is no such file.
type Stamp = Option<(u64, SystemTime)>;

/// Files, and what has been saved of them.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The state of each that was looked at last.
    seen: BTreeMap<PathBuf, Stamp>,
    /// When the texts began to be read that are looked at.
    began: Option<SystemTime>,
    /// The files that were saved and that nobody has taken yet.
    saved: BTreeSet<PathBuf>,
    /// The folders that are looked at until they are forgotten.
    awaited: BTreeSet<PathBuf>,
}

/// Folders in which a source may come into being, as they stood at a moment.
#[derive(Debug)]
pub(crate) struct Folders(Vec<(PathBuf, Stamp)>);

impl Folders {
    /// The folders among these paths as they stand.
    pub(crate) fn among(paths: &[String]) -> Self {
        let folders = paths.iter().map(PathBuf::from).filter(|path| path.is_dir());
        Self(folders.map(|path| (path.clone(), stamp(&path))).collect())
    }
}

impl Files {
    /// Notes that texts begin to be read.
    #[expect(clippy::disallowed_methods, reason = "times of files are by the clock of the system")]
    pub(crate) fn begin(&mut self) {
        self.began = Some(SystemTime::now());
    }

    /// Adds a file whose text was read.
    pub(crate) fn add(&mut self, file: &Path) {
        if self.seen.contains_key(file) {
            return;
        }
        let (began, now) = (self.began, stamp(file));
        // Nobody knows which text was read of a file that was saved meanwhile.
        let is_late = |saved: SystemTime| began.is_some_and(|began| saved + LATENESS >= began);
        let known = now.filter(|(_, saved)| !is_late(*saved));
        self.seen.insert(file.to_owned(), known);
    }

    /// Adds a file as it stands; returns whether it is new here.
    fn add_read(&mut self, file: &Path) -> bool {
        let is_new = !self.seen.contains_key(file);
        if is_new {
            self.seen.insert(file.to_owned(), stamp(file));
        }
        is_new
    }

    /// Adds a folder, which changes when an entry comes or goes.
    pub(crate) fn add_folder(&mut self, folder: PathBuf) {
        let now = stamp(&folder);
        self.seen.entry(folder).or_insert(now);
    }

    /// Looks at folders, which count as saved if they have changed since they stood so.
    pub(crate) fn await_in(&mut self, folders: Folders) {
        for (folder, stood) in folders.0 {
            self.awaited.insert(folder.clone());
            self.seen.insert(folder, stood);
        }
    }

    /// Looks no longer at the folders in which a source was awaited.
    pub(crate) fn forget_awaited(&mut self) {
        for folder in std::mem::take(&mut self.awaited) {
            self.seen.remove(&folder);
            self.saved.remove(&folder);
        }
    }

    /// The number of files that are there.
    pub(crate) fn count(&self) -> usize {
        self.seen.keys().filter(|path| path.is_file()).count()
    }

    /// Looks at the files; returns whether any was saved that nobody has taken.
    pub(crate) fn look(&mut self) -> bool {
        self.notice();
        !self.saved.is_empty()
    }

    /// Looks at the files; returns whether any was saved since the last look.
    pub(crate) fn notice(&mut self) -> bool {
        let mut has_changed = false;
        for (path, seen) in &mut self.seen {
            let now = stamp(path);
            if now != *seen {
                *seen = now;
                self.saved.insert(path.clone());
                has_changed = true;
            }
        }
        has_changed
    }

    /// Says whether anything was saved that nobody has taken.
    pub(crate) fn has_saved(&self) -> bool {
        !self.saved.is_empty()
    }

    /// Takes what was saved.
    pub(crate) fn take_saved(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.saved)
    }
}

/// Whether a file can be read and has another text.
fn says_otherwise(file: &Path, text: &str) -> bool {
    launch::read_program(file).is_ok_and(|(now, _)| now != text)
}

fn stamp(path: &Path) -> Stamp {
    let about = fs::metadata(path).ok()?;
    Some((about.len(), about.modified().ok()?))
}

/// The files that a name may mean in a program that works in a folder.
pub(crate) fn places(name: &str, folder: &Path) -> impl Iterator<Item = PathBuf> {
    named(name, folder).into_iter().filter(|place| place.is_file())
}

/// The places at which a name may mean something in a program that works in a folder and in which
/// there is nothing.
pub(crate) fn empty_places(name: &str, folder: &Path) -> impl Iterator<Item = PathBuf> {
    named(name, folder).into_iter().filter(|place| !place.exists())
}

fn named(name: &str, folder: &Path) -> [PathBuf; 2] {
    // An include beside a file that has no folder in its name begins with one.
    let name = Path::new(name);
    let name = name.strip_prefix(".").unwrap_or(name);
    [name.to_owned(), folder.join(name)]
}

/// The path in a call of a tool of the workspace; nothing for other effects.
pub(crate) fn asked_file(effect: &EffectKind) -> Option<String> {
    let EffectKind::Tool { name, payload } = effect else {
        return None;
    };
    if !name.starts_with("workspace/") {
        return None;
    }
    let payload = payload.value();
    let text = |value: &IOValue| value.as_string().map(Cow::into_owned);
    text(&payload).or_else(|| {
        let mut entries = payload.as_dictionary()?;
        let (_, path) = entries.find(|(key, _)| key.as_symbol().as_deref() == Some("path"))?;
        text(&path.into())
    })
}

/// The files of a program and its run; clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    files: Arc<Mutex<Files>>,
    /// The folder in which the run works.
    workspace: Arc<PathBuf>,
}

impl Watched {
    /// The files of a run that works in a folder: none yet.
    pub(crate) fn of(workspace: PathBuf) -> Self {
        Self {
            files: Arc::default(),
            workspace: Arc::new(workspace),
        }
    }

    /// The files.
    pub(crate) fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the files of texts that were read. A file that says something else already counts as
    /// saved.
    pub(crate) fn add_texts(&self, texts: &[SourceText]) {
        for text in texts {
            for place in self.places(&text.name) {
                let mut files = self.files();
                if files.add_read(&place) && says_otherwise(&place, &text.text) {
                    files.saved.insert(place);
                }
            }
        }
    }

    /// Adds the files that names mean.
    pub(crate) fn add<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        let mut files = self.files();
        for place in names.into_iter().flat_map(|name| self.places(name)) {
            files.add(&place);
        }
    }

    /// The files that a name may mean, each once.
    fn places(&self, name: &str) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = places(name, &self.workspace).collect();
        if let [here, there] = &*found
            && fs::canonicalize(here).ok() == fs::canonicalize(there).ok()
        {
            found.truncate(1);
        }
        found
    }

    /// Adds the files that effects ask for.
    pub(crate) fn note<'a>(&self, effects: impl Iterator<Item = &'a EffectKind>) {
        let names: Vec<String> = effects.filter_map(asked_file).collect();
        if !names.is_empty() {
            self.add(names.iter().map(String::as_str));
        }
    }

    /// Says whether an effect asks for one of these files.
    pub(crate) fn asks_for(&self, effect: &EffectKind, saved: &BTreeSet<PathBuf>) -> bool {
        let name = asked_file(effect);
        name.is_some_and(|name| self.places(&name).iter().any(|place| saved.contains(place)))
    }
}

/// The person who watches.
pub(crate) struct Watcher {
    is_interrupted: Arc<AtomicBool>,
    typed: Typed,
}

/// What the person does.
pub(crate) enum WatchCommand {
    /// Nothing so far.
    Nothing,
    /// The person has typed a line.
    Line(String),
    /// The person wants the end.
    End,
}

impl Watcher {
    /// Listens for Ctrl-C, for the signals by which the system ends the process, and for lines.
    ///
    /// # Errors
    /// If the system gives no thread or no signals.
    pub(crate) fn listen() -> Result<Self, CommandError> {
        let failed = |error| CommandError::caused("Ctrl-C cannot be noticed", &error);
        let is_interrupted = interrupts::watch_ending().map_err(failed)?;
        let typed = Typed::read().map_err(failed)?;
        Ok(Self { is_interrupted, typed })
    }

    /// Whether the person has interrupted the process.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }

    /// Waits until the person types, at most for an interval. A line that begins with `q` ends
    /// the watch, as an interruption does.
    pub(crate) fn wait(&self, interval: Duration) -> WatchCommand {
        let line = self.typed.line(interval);
        if self.is_interrupted() {
            return WatchCommand::End;
        }
        match line {
            Some(line) if line.starts_with(b"q") => WatchCommand::End,
            Some(line) => WatchCommand::Line(String::from_utf8_lossy(&line).into_owned()),
            None => WatchCommand::Nothing,
        }
    }

    /// The lines, for a program that reads them until its run stops.
    pub(crate) fn typed(&self) -> Typed {
        self.typed.clone()
    }
}

/// The lines that come on standard input; clones share them.
#[derive(Clone)]
pub(crate) struct Typed(Arc<Lines>);

struct Lines {
    lines: Mutex<Receiver<Vec<u8>>>,
    is_over: AtomicBool,
}

impl fmt::Debug for Typed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Typed").finish_non_exhaustive()
    }
}

impl Typed {
    /// Reads standard input on a thread of its own.
    #[expect(
        clippy::disallowed_methods,
        reason = "reading a line must not keep programs from running"
    )]
    fn read() -> io::Result<Self> {
        let (sender, lines) = sync_channel(LINES_MAX);
        thread::Builder::new()
            .name("duet-watcher".to_owned())
            .spawn(move || send_lines(&sender))?;
        Ok(Self(Arc::new(Lines {
            lines: Mutex::new(lines),
            is_over: AtomicBool::new(false),
        })))
    }

    /// Waits for the next line, at most for an interval.
    #[expect(clippy::disallowed_methods, reason = "there is nothing to wait for but the time")]
    fn line(&self, interval: Duration) -> Option<Vec<u8>> {
        if self.0.is_over.load(Ordering::Relaxed) {
            thread::sleep(interval);
            return None;
        }
        let lines = self.0.lines.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.recv_timeout(interval) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.0.is_over.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    /// The lines as the input of a program, which ends when `is_stopped` is set.
    pub(crate) fn until(&self, is_stopped: &Arc<AtomicBool>) -> impl Read + Send + use<> {
        TypedInput {
            typed: self.clone(),
            left: Vec::new(),
            is_stopped: Arc::clone(is_stopped),
        }
    }
}

fn send_lines(lines: &SyncSender<Vec<u8>>) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match input.read_until(b'\n', &mut line) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return,
            Ok(_) if lines.send(line).is_err() => return,
            Ok(_) => {}
        }
    }
}

/// The lines as a stream of bytes.
struct TypedInput {
    typed: Typed,
    left: Vec<u8>,
    is_stopped: Arc<AtomicBool>,
}

impl Read for TypedInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left.is_empty() {
            if self.is_stopped.load(Ordering::Relaxed) || self.typed.0.is_over.load(Ordering::Relaxed) {
                return Ok(0);
            }
            self.left = self.typed.line(READING_INTERVAL).unwrap_or_default();
        }
        let length = self.left.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(self.left.drain(..length)) {
            *place = byte;
        }
        Ok(length)
    }
}
