//! What the store has of a heap: its newest snapshot, and the words that have changed since.
//!
//! The write barrier tells pages. Which of their words have changed is found by comparing them with what the newest mark keeps of them, once for each page
//! and mark; pages that no mark has count as changed throughout.
//! INVARIANT: a word below `kept` whose bit is clear, on a page that is not marked changed, is what it was in the newest snapshot.
//! It does not encode anything. Read next: `image/snapshot.rs`.

use std::ops::Range;

use super::Heap;
use super::pages::PAGE_WORDS;

/// A snapshot that was taken whole.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    /// How many words each of its chunks has.
    pub(crate) range_words: usize,
    /// The names of its chunks, and how many bytes each has.
    pub(crate) chunks: Vec<([u8; 32], u32)>,
}

impl Whole {
    /// The bytes of its chunks.
    pub(crate) fn length_bytes(&self) -> u64 {
        self.chunks.iter().map(|(_, length)| u64::from(*length)).sum()
    }
}

/// What the store has of a heap.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// The name of the newest snapshot's root.
    pub(crate) root: [u8; 32],
    /// The newest snapshot that is whole.
    pub(crate) whole: Whole,
    /// How many snapshots after that say only what had changed, and the bytes of all of them.
    pub(crate) changes: u32,
    pub(crate) changes_bytes: u64,
    /// For each chunk of the whole one whether its words have changed since.
    is_outdated: Vec<bool>,
    /// How many words the newest snapshot has.
    length: usize,
    /// Words below this are where they were in the newest snapshot.
    kept: usize,
    /// A bit for each word of each page below `kept`: those that have changed, as far as it was noted.
    changed: Vec<u64>,
    /// Whether the newest mark was made when the changed words were last noted.
    is_followed: bool,
}

impl Stored {
    /// The heap of `length` words that `whole` is of, with nothing changed.
    pub(crate) fn new(root: [u8; 32], whole: Whole, length: usize) -> Stored {
        Stored {
            root,
            changes: 0,
            changes_bytes: 0,
            is_outdated: vec![false; whole.chunks.len()],
            whole,
            length,
            kept: length,
            changed: vec![0; length.div_ceil(PAGE_WORDS)],
            is_followed: false,
        }
    }

    /// Takes note of the newest snapshot, of `length_bytes` bytes, which says what changed.
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

    /// Says that words of the newest whole snapshot are not what they were.
    pub(crate) fn outdate(&mut self, words: Range<usize>) {
        let last = (words.end - 1) / self.whole.range_words;
        let chunks = words.start / self.whole.range_words..self.is_outdated.len().min(last + 1);
        if let Some(chunks) = self.is_outdated.get_mut(chunks) {
            chunks.fill(true);
        }
    }

    /// The chunk that the words of the range with this number have, and its length in bytes, if they are what they were in the newest whole snapshot.
    pub(crate) fn chunk_of(&self, number: usize, words: Range<usize>) -> Option<([u8; 32], u32)> {
        let pages = words.start / PAGE_WORDS..words.end.div_ceil(PAGE_WORDS);
        let is_kept = words.end <= self.kept && (words.len() == self.whole.range_words || words.end == self.length);
        let is_same = is_kept
            && self.is_outdated.get(number) == Some(&false)
            && self.changed[pages].iter().all(|words| *words == 0);
        is_same.then(|| self.whole.chunks[number])
    }

    /// How many of the heap's first words are where they were.
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }

    /// For each page of the words that are where they were, a bit for each that has changed.
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

/// A bit for each word of a page that is not what it was, those behind what was kept of it included.
fn differing(before: &[u64], now: &[u64]) -> u64 {
    let mut changed = u64::MAX.checked_shl(before.len() as u32).unwrap_or(0);
    for (place, (before, now)) in before.iter().zip(now).enumerate() {
        changed |= u64::from(before != now) << place;
    }
    changed
}

impl Heap {
    /// What the store has of the heap.
    pub(crate) fn stored(&self) -> Option<&Stored> {
        self.stored.as_deref()
    }

    /// Takes note of a snapshot, of `length_bytes` bytes, that says what has changed since the newest one.
    pub(crate) fn record_changes(&mut self, root: [u8; 32], length_bytes: u64) {
        let length = self.line;
        self.pages.clear_changed();
        if let Some(stored) = &mut self.stored {
            stored.add_changes(root, length_bytes, length);
        }
    }

    /// Whether there ever was a snapshot of it.
    pub(crate) fn was_stored(&self) -> bool {
        self.was_stored
    }

    /// Takes note that the words as they are have been stored.
    pub(crate) fn record_snapshot(&mut self, stored: Stored) {
        self.pages.clear_changed();
        self.stored = Some(Box::new(stored));
        self.was_stored = true;
    }

    /// Lets the next snapshot be whole, and write every chunk, for a store that has none of them.
    pub fn forget_snapshot(&mut self) {
        self.stored = None;
    }

    /// Says that words from `index` on are not where they were in the newest snapshot.
    pub(super) fn keep_stored_below(&mut self, index: usize) {
        if let Some(stored) = &mut self.stored {
            stored.keep(index);
        }
    }

    /// Says whether the newest mark is of the moment when the changed words were last noted.
    pub(super) fn follow_changes(&mut self, is_followed: bool) {
        if let Some(stored) = &mut self.stored {
            stored.is_followed = is_followed;
        }
    }

    /// Notes which words have changed. While the heap rests, nothing does.
    pub(crate) fn note_changes(&mut self) {
        if self.is_resting() {
            return;
        }
        let Some(stored) = self.stored.as_deref_mut() else {
            return;
        };
        let pages = stored.kept.div_ceil(PAGE_WORDS);
        if let Some(written) = self.marks.newest_pages().filter(|_| stored.is_followed) {
            for (page, before) in written.filter(|(page, _)| (*page as usize) < pages) {
                let now = &self.words[page as usize * PAGE_WORDS..];
                stored.changed[page as usize] |= differing(before, now);
                self.pages.clear_changed_page(page);
            }
        }
        let changed = &mut stored.changed;
        self.pages.take_changed(pages, |page| changed[page] = u64::MAX);
    }
}
