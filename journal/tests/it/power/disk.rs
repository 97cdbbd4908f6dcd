//! The files of a database on a disk that can fail: the bytes that a reader sees, and those that a
//! power cut would leave.
//!
//! INVARIANT: after a power cut a file holds every byte that was synced, and of the changes since
//! exactly the sectors that the cut keeps.
//! It does not know SQLite; `vfs.rs` calls it. Read next: `vfs.rs`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::iter;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The unit in which unsynced bytes survive.
pub(crate) const SECTOR_BYTES: usize = 512;

/// The effect of a power cut on changes that were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// All had reached the medium.
    Nothing,
    /// All are gone.
    Everything,
    /// The last of them reached the medium only up to this many bytes, the others whole.
    Torn(usize),
    /// Some sectors reached the medium, others did not, in no order; the number chooses them.
    Reordered(u64),
}

/// What goes wrong at one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The machine stops; every later operation fails.
    Cut(Loss),
    /// The operation fails and changes nothing.
    Error,
    /// The disk is full: a write puts down its first half, and everything else is as with an error.
    Full,
    /// A sync fails, and the system forgets the changes that it could not write; any other
    /// operation fails and changes nothing.
    Forgets,
}

/// The system's answer to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    Failed,
    /// After this many bytes.
    Full(usize),
    /// The changes since the last sync are gone.
    Forgotten,
}

enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Cut { length: usize },
}

#[derive(Default)]
struct Tracked {
    synced: Vec<u8>,
    changes: Vec<Change>,
}

/// The disk of one thread.
#[derive(Default)]
pub(crate) struct Disk {
    files: BTreeMap<PathBuf, Tracked>,
    /// How many operations were attempted: writes, cuts, syncs and removals.
    pub(crate) operations: u64,
    pub(crate) plan: Option<(u64, Fault)>,
    /// How many reads were attempted, and which of them fails.
    pub(crate) reads: u64,
    pub(crate) failing_read: Option<u64>,
    down: Option<Loss>,
    /// Whether syncs do nothing, which is a fault of the disk that the suite has to notice.
    pub(crate) is_lying: bool,
}

thread_local! {
    static DISK: RefCell<Disk> = RefCell::default();
}

/// Looks at the disk of this thread, or changes it.
pub(crate) fn disk<T>(with: impl FnOnce(&mut Disk) -> T) -> T {
    DISK.with_borrow_mut(with)
}

impl Tracked {
    /// The bytes that a power cut leaves.
    fn left_by(&self, loss: Loss) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        for (number, change) in self.changes.iter().enumerate() {
            let is_last = number + 1 == self.changes.len();
            match change {
                Change::Cut { length } if loss.keeps_cut(number, is_last) => bytes.resize(*length, 0),
                Change::Cut { .. } => {}
                Change::Write { offset, bytes: written } => {
                    for kept in loss.kept(number, is_last, *offset..*offset + written.len()) {
                        put(&mut bytes, kept.start, &written[kept.start - offset..kept.end - offset]);
                    }
                }
            }
        }
        bytes
    }

    /// Makes the changes durable.
    fn sync(&mut self) {
        for change in self.changes.drain(..) {
            match change {
                Change::Cut { length } => self.synced.resize(length, 0),
                Change::Write { offset, bytes } => put(&mut self.synced, offset, &bytes),
            }
        }
    }
}

/// Writes bytes at an offset of a file, which grows if it is shorter.
fn put(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[offset..end].copy_from_slice(bytes);
}

impl Loss {
    /// Whether a change of the file's length reaches the medium, given its number and whether it is
    /// the last change.
    fn keeps_cut(self, number: usize, is_last: bool) -> bool {
        match self {
            Self::Nothing => true,
            Self::Everything => false,
            Self::Torn(_) => !is_last,
            Self::Reordered(_) => self.keeps_sector(number, 0),
        }
    }

    /// The parts of a write that reach the medium, as ranges of the file.
    fn kept(self, number: usize, is_last: bool, written: Range<usize>) -> Vec<Range<usize>> {
        let until = |end: usize| iter::once(written.start..end.min(written.end)).collect();
        match self {
            Self::Everything => Vec::new(),
            Self::Torn(length) if is_last => until(written.start + length),
            Self::Nothing | Self::Torn(_) => until(written.end),
            Self::Reordered(_) => {
                let sectors = written.start / SECTOR_BYTES..written.end.div_ceil(SECTOR_BYTES);
                let kept = sectors.filter(|sector| self.keeps_sector(number, *sector));
                kept.map(|sector| {
                    let (start, end) = (sector * SECTOR_BYTES, (sector + 1) * SECTOR_BYTES);
                    start.max(written.start)..end.min(written.end)
                })
                .collect()
            }
        }
    }

    /// Whether a sector of a change reaches the medium, if they reach it in no order.
    fn keeps_sector(self, number: usize, sector: usize) -> bool {
        let Self::Reordered(seed) = self else { return true };
        let mixed = (seed ^ (number * 1_000_003 + sector) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40 & 1 == 1
    }
}

impl Disk {
    /// Takes note of a file that is opened.
    pub(crate) fn open(&mut self, path: &Path) {
        if !self.files.contains_key(path) {
            let synced = fs::read(path).unwrap_or_default();
            let changes = Vec::new();
            self.files.insert(path.to_owned(), Tracked { synced, changes });
        }
    }

    fn is_down(&self) -> bool {
        self.down.is_some()
    }

    fn begin(&mut self) -> Option<Fault> {
        let number = self.operations;
        self.operations += 1;
        let fault = self.plan.filter(|(at, _)| *at == number).map(|(_, fault)| fault);
        if let Some(Fault::Cut(loss)) = fault {
            self.down.get_or_insert(loss);
        }
        if self.is_down() { Some(Fault::Error) } else { fault }
    }

    /// Writes bytes; the caller puts them into the file as far as the answer says.
    pub(crate) fn write(&mut self, path: &Path, offset: usize, bytes: &[u8]) -> Answer {
        let (answer, written) = match self.begin() {
            None => (Answer::Done, bytes),
            Some(Fault::Full) => (Answer::Full(bytes.len() / 2), &bytes[..bytes.len() / 2]),
            Some(Fault::Cut(_) | Fault::Error | Fault::Forgets) => return Answer::Failed,
        };
        if let Some(file) = self.files.get_mut(path) {
            let bytes = written.to_vec();
            file.changes.push(Change::Write { offset, bytes });
        }
        answer
    }

    /// Reads bytes.
    pub(crate) fn read(&mut self) -> Answer {
        let number = self.reads;
        self.reads += 1;
        if self.is_down() || self.failing_read == Some(number) {
            Answer::Failed
        } else {
            Answer::Done
        }
    }

    /// Makes a file shorter or longer.
    pub(crate) fn cut(&mut self, path: &Path, length: usize) -> Answer {
        if self.begin().is_some() {
            return Answer::Failed;
        }
        if let Some(file) = self.files.get_mut(path) {
            file.changes.push(Change::Cut { length });
        }
        Answer::Done
    }

    /// Makes the changes of a file durable.
    pub(crate) fn sync(&mut self, path: &Path) -> Answer {
        let fault = self.begin();
        let is_lying = self.is_lying;
        let Some(file) = self.files.get_mut(path) else {
            return Answer::Done;
        };
        match fault {
            None if is_lying => Answer::Done,
            None => {
                file.sync();
                Answer::Done
            }
            Some(Fault::Forgets) => {
                file.changes.clear();
                fs::write(path, &file.synced).expect("the folder is there");
                Answer::Forgotten
            }
            Some(Fault::Cut(_) | Fault::Error | Fault::Full) => Answer::Failed,
        }
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, path: &Path) -> Answer {
        if self.begin().is_some() {
            return Answer::Failed;
        }
        self.files.remove(path);
        Answer::Done
    }

    /// Starts the machine again: the files are what the power cut left, and nothing fails any more.
    pub(crate) fn restart(&mut self) {
        if let Some(loss) = self.down.take() {
            for (path, file) in &self.files {
                if path.exists() {
                    fs::write(path, file.left_by(loss)).expect("the folder is there");
                }
            }
        }
        *self = Self::default();
    }
}
