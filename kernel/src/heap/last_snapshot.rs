//! The newest snapshot of a heap in the store, and the words that have changed since.
//!
//! Owns a bit for each word that has changed. The write barrier notes pages. A comparison with the
//! newest savepoint's copy of a page finds its changed words, once for each page and savepoint; a
//! page without a copy counts as changed throughout.
//! INVARIANT: a word below `kept` whose bit is clear, on a page that is not marked changed, equals
//! its value in the newest snapshot.
//! It does not encode anything.
//! Read next: `image/snapshot.rs`.

use std::ops::Range;

use super::Heap;
use super::pages::PAGE_WORDS;

/// A full snapshot.
#[derive(Clone, Debug)]
pub(crate) struct FullSnapshot {
    /// Words of each of its chunks.
    pub(crate) range_words: usize,
    /// The names of its chunks with their lengths in bytes.
    pub(crate) chunks: Vec<([u8; 32], u32)>,
}

impl FullSnapshot {
    /// The length of its chunks in bytes.
    pub(crate) fn length_bytes(&self) -> u64 {
        self.chunks.iter().map(|(_, length)| u64::from(*length)).sum()
    }
}

/// The newest snapshot of a heap.
#[derive(Clone, Debug)]
pub(crate) struct LastSnapshot {
    /// The name of the newest snapshot's root.
    pub(crate) root: [u8; 32],
    /// The newest full snapshot.
    pub(crate) full: FullSnapshot,
    /// The number of later snapshots, which have only changes, and the bytes of all of them.
    pub(crate) changes: u32,
    pub(crate) changes_bytes: u64,
    /// For each chunk of the full snapshot whether its words have changed since.
    is_outdated: Vec<bool>,
    /// Words of the newest snapshot.
    length: usize,
    /// No word below this index has moved since the newest snapshot.
    kept: usize,
    /// A bit for each word of the pages below `kept`, set for those that are known to have changed.
    changed: Vec<u64>,
    /// Whether the newest savepoint was made when the changed words were last noted.
    is_followed: bool,
}

impl LastSnapshot {
    /// A heap of `length` words, all as in the full snapshot.
    pub(crate) fn new(root: [u8; 32], full: FullSnapshot, length: usize) -> LastSnapshot {
        LastSnapshot {
            root,
            changes: 0,
            changes_bytes: 0,
            is_outdated: vec![false; full.chunks.len()],
            full,
            length,
            kept: length,
            changed: vec![0; length.div_ceil(PAGE_WORDS)],
            is_followed: false,
        }
    }

    /// Notes a snapshot of `length_bytes` bytes that has only changes.
    pub(crate) fn add_changes(&mut self, root: [u8; 32], length_bytes: u64, length: usize) {
        self.root = root;
        self.changes += 1;
        self.changes_bytes += length_bytes;
        for page in 0..self.changed.len() {
            if self.changed[page] != 0 {
                self.outdate(page * PAGE_WORDS..(page + 1) * PAGE_WORDS);
            }
        }
        if self.kept < self.length.max(length) {
            self.outdate(self.kept..usize::MAX);
        }
        self.length = length;
        self.kept = length;
        self.changed.clear();
        self.changed.resize(length.div_ceil(PAGE_WORDS), 0);
        self.is_followed = false;
    }

    /// Says that words from `index` on are not where they were in the newest snapshot.
    pub(crate) fn keep(&mut self, index: usize) {
        self.kept = self.kept.min(index);
    }

    /// Notes that words of the full snapshot have changed.
    pub(crate) fn outdate(&mut self, words: Range<usize>) {
        let last = (words.end - 1) / self.full.range_words;
        let chunks = words.start / self.full.range_words..self.is_outdated.len().min(last + 1);
        if let Some(chunks) = self.is_outdated.get_mut(chunks) {
            chunks.fill(true);
        }
    }

    /// The chunk with this number and its length in bytes, if its words are as in the full
    /// snapshot.
    pub(crate) fn chunk_of(&self, number: usize, words: Range<usize>) -> Option<([u8; 32], u32)> {
        let pages = words.start / PAGE_WORDS..words.end.div_ceil(PAGE_WORDS);
        let is_kept = words.end <= self.kept && (words.len() == self.full.range_words || words.end == self.length);
        let is_same = is_kept
            && self.is_outdated.get(number) == Some(&false)
            && self.changed[pages].iter().all(|words| *words == 0);
        is_same.then(|| self.full.chunks[number])
    }

    /// The number of the heap's first words that have not moved.
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }

    /// The pages of the words that have not moved, each with a bit for each word that has changed.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (usize, u64)> {
        let pages = self.kept.div_ceil(PAGE_WORDS);
        let changed = self.changed.iter().take(pages).enumerate();
        changed.filter(|(_, words)| **words != 0).map(move |(page, words)| {
            let start = page * PAGE_WORDS;
            let beyond = PAGE_WORDS.saturating_sub(self.kept - start);
            (start, words << beyond >> beyond)
        })
    }
}

/// A bit for each word of a page that differs from `before`, or that `before` lacks.
fn differing(before: &[u64], now: &[u64]) -> u64 {
    let mut changed = u64::MAX.checked_shl(before.len() as u32).unwrap_or(0);
    for (place, (before, now)) in before.iter().zip(now).enumerate() {
        changed |= u64::from(before != now) << place;
    }
    changed
}

impl Heap {
    /// The newest snapshot of the heap.
    pub(crate) fn last_snapshot(&self) -> Option<&LastSnapshot> {
        self.last_snapshot.as_deref()
    }

    /// Notes a snapshot of `length_bytes` bytes that has the changes since the newest one.
    pub(crate) fn record_changes(&mut self, root: [u8; 32], length_bytes: u64) {
        let length = self.line;
        self.pages.clear_changed();
        if let Some(last_snapshot) = &mut self.last_snapshot {
            last_snapshot.add_changes(root, length_bytes, length);
        }
    }

    /// Whether there ever was a snapshot of it.
    pub(crate) fn had_snapshot(&self) -> bool {
        self.had_snapshot
    }

    /// Notes a full snapshot of the present words.
    pub(crate) fn record_snapshot(&mut self, last_snapshot: LastSnapshot) {
        self.pages.clear_changed();
        self.last_snapshot = Some(Box::new(last_snapshot));
        self.had_snapshot = true;
    }

    /// Makes the next snapshot a full one with every chunk, for a store that has none of them.
    pub fn forget_snapshot(&mut self) {
        self.last_snapshot = None;
    }

    /// Says that words from `index` on are not where they were in the newest snapshot.
    pub(super) fn keep_snapshot_below(&mut self, index: usize) {
        if let Some(last_snapshot) = &mut self.last_snapshot {
            last_snapshot.keep(index);
        }
    }

    /// Sets whether the newest savepoint was created when the changed words were last noted.
    pub(super) fn follow_changes(&mut self, is_followed: bool) {
        if let Some(last_snapshot) = &mut self.last_snapshot {
            last_snapshot.is_followed = is_followed;
        }
    }

    /// Notes which words have changed. In a compacted heap none do.
    pub(crate) fn note_changes(&mut self) {
        if self.is_compacted() {
            return;
        }
        let Some(last_snapshot) = self.last_snapshot.as_deref_mut() else {
            return;
        };
        let pages = last_snapshot.kept.div_ceil(PAGE_WORDS);
        if let Some(written) = self.savepoints.newest_pages().filter(|_| last_snapshot.is_followed) {
            for (page, before) in written.filter(|(page, _)| (*page as usize) < pages) {
                let now = &self.words[page as usize * PAGE_WORDS..];
                last_snapshot.changed[page as usize] |= differing(before, now);
                self.pages.clear_changed_page(page);
            }
        }
        let changed = &mut last_snapshot.changed;
        self.pages.take_changed(pages, |page| changed[page] = u64::MAX);
    }
}
