//! Compaction: the small form of a heap whose next turn is far away, and the template that many
//! heaps begin with.
//!
//! Owns the difference between a heap and its [`Template`]. A template is the heap of an actor's
//! program before the actor did anything: globals, literals, symbols and code tables. While a heap
//! runs it has all its words in one piece, because the machine needs them so. A compacted heap
//! keeps only the words in which it differs from its template, and those behind the template's.
//! Compaction turns the other words back into the template's and keeps them for the next heap that
//! expands, which writes its difference into them; so neither step costs in proportion to the
//! template, and these words stay in the processor's caches.
//! INVARIANT: an expanded heap has the words that it was compacted with, except that compaction may
//! collect its own part; a template never changes.
//! It does not decide when to compact; the owner of many heaps does.
//! Read next: `heap/collect.rs`.

use std::sync::{Arc, Mutex};

use super::frames::LiveRegisters;
use super::identity::Moves;
use super::pages::{PAGE_WORDS, Pages};
use super::register::Register;
use super::undo::SavedPages;
use super::{Heap, WORDS_INITIAL};
use crate::number::limbs::Scratch;
use crate::value::Value;

/// A heap with more own words than this is not compacted, because copying them twice a turn costs
/// more than the memory is worth.
const OWN_WORDS_MAX: usize = 8 * 1024;
/// Compaction collects a heap's own part once it is twice its size after the last such collection,
/// and this many words more.
const OWN_SLACK_WORDS: usize = 128;
/// Pages whose flags one word holds.
const FLAGS_OF_WORD: usize = 8;
/// Words of a cache line.
const LINE_WORDS: usize = 8;
/// The maximum of copies of a template's words that are kept ready; few heaps are expanded at a
/// time.
const COPIES_MAX: usize = 4;
/// A copy with more room than this behind the template's words is freed.
const COPY_ROOM_MAX: usize = 64 * 1024;

/// The initial words of many heaps.
#[derive(Debug)]
pub struct Template {
    words: Box<[u64]>,
    pages: Pages,
    registers: [Value; Register::COUNT],
    moves: Moves,
    copies: Copies,
}

impl Template {
    /// The size of its words in bytes.
    pub fn size_bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// A copy of the template's words, at least `length` words long.
    fn copy(&self, length: usize) -> Vec<u64> {
        let mut words = self.copies.take().unwrap_or_else(|| {
            let mut words = Vec::with_capacity(length);
            words.extend_from_slice(&self.words);
            words
        });
        if words.len() < length {
            words.reserve_exact(length - words.len());
            words.resize(length, 0);
        }
        words
    }
}

/// Words of compacted heaps: they begin with the template's; those behind mean nothing.
#[derive(Debug, Default)]
struct Copies(Mutex<Vec<Vec<u64>>>);

impl Copies {
    // A copy is only a shortcut, so nobody waits for the lock.
    fn take(&self) -> Option<Vec<u64>> {
        self.0.try_lock().ok()?.pop()
    }

    fn keep(&self, words: Vec<u64>) {
        if let Ok(mut copies) = self.0.try_lock()
            && copies.len() < COPIES_MAX
        {
            copies.push(words);
        }
    }
}

/// The words of a compacted heap, in one vector, because each separate allocation is a cache miss.
///
/// While the heap is expanded the vector is empty, but keeps its memory, which the expansion has
/// brought into the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Compacted {
    is_compacted: bool,
    /// The number of pages in which it differs from its template.
    pages: usize,
    /// The number of pages with flags.
    flags: usize,
    /// For each page that differs its number and a mask of the words that do; then the flags, eight
    /// to a word; then the words that differ; then those behind the template's.
    words: Vec<u64>,
}

impl Compacted {
    /// An empty vector with room for `length` words, and little more.
    fn room(&mut self, length: usize) -> Vec<u64> {
        let mut room = std::mem::take(&mut self.words);
        let most = length + length / 2 + LINE_WORDS;
        if room.capacity() < length || room.capacity() > most {
            // The excess is enough for a few turns.
            room = Vec::with_capacity(length + length / 4);
        }
        room
    }
}

/// A heap's link to its template.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    template: Option<Arc<Template>>,
    /// The number of its own words after they were last collected.
    own_words_live: usize,
}

impl Heap {
    /// Makes a template of everything that is reachable now, whether or not a turn is open.
    ///
    /// Values in Rust variables are no part of it, except through registers and host roots.
    pub fn template(&self, live: &dyn LiveRegisters) -> Template {
        let mut copy = self.clone();
        copy.expand();
        if copy.is_in_turn() {
            copy.commit_turn();
        }
        copy.collect_major(&mut [], live);
        let mut pages = Pages::default();
        pages.resize(copy.top);
        pages.cover_all(&copy.words, copy.top);
        copy.words.truncate(copy.top);
        Template {
            words: copy.words.into(),
            pages,
            registers: copy.registers,
            moves: copy.moves,
            copies: Copies::default(),
        }
    }

    /// Replaces everything by the template's words. Returns whether that was possible: not if the
    /// template exceeds the limit, or if the open turn or a savepoint needs the present words.
    pub fn start_from(&mut self, template: &Arc<Template>) -> bool {
        let length = template.words.len();
        if self.undo_limit > 0 || self.savepoints.words_kept_for() > 0 || length > self.words_max {
            return false;
        }
        self.expand();
        self.words.clear();
        self.words.extend_from_slice(&template.words);
        self.words.resize(length + self.free_words(length), 0);
        self.saved.clear(&mut self.pages);
        self.pages = template.pages.clone();
        self.registers = template.registers;
        self.forget_snapshot();
        self.moves.all = self.moves.all.max(template.moves.all) + 1;
        self.top = length;
        self.line = length;
        self.words_live = length;
        self.barrier_limit = length;
        self.shared = Shared {
            template: Some(Arc::clone(template)),
            own_words_live: 0,
        };
        self.start_nursery(length);
        true
    }

    /// Compacts the heap until [`Heap::expand`], which [`Heap::begin_turn`] and collections call; a
    /// large heap only frees its unused room. May collect.
    ///
    /// # Panics
    /// If a turn is open.
    pub fn compact(&mut self, live: &dyn LiveRegisters) {
        assert!(self.turn.is_none(), "a heap rests between turns");
        if self.compacted.is_compacted {
            return;
        }
        let shared_words = self.shared_words();
        if self.top - shared_words > OWN_WORDS_MAX {
            self.survivors = Vec::new();
            self.scratch = Scratch::default();
            self.words.truncate(self.top + self.free_words(self.top));
            self.words.shrink_to(self.room_kept_for(self.words.len()));
            self.limit = self.limit_now();
            return;
        }
        let mut differing = self.pages_differing();
        if self.top - shared_words >= 2 * self.shared.own_words_live + OWN_SLACK_WORDS {
            let pages: Vec<u32> = differing.iter().map(|(page, _)| *page).collect();
            self.collect_own(&pages, live);
            differing = self.pages_differing();
        }
        self.note_changes();
        self.saved.clear(&mut self.pages);
        self.saved = SavedPages::continuing(&self.saved);
        let flags = self.pages.compact();
        self.store_difference(&differing, &flags);
        self.recycle_words(&differing);
        self.survivors = Vec::new();
        self.scratch = Scratch::default();
        self.limit = 0;
    }

    /// Whether the heap is compacted.
    pub fn is_compacted(&self) -> bool {
        self.compacted.is_compacted
    }

    /// Stores the words that the template does not have.
    fn store_difference(&mut self, differing: &[(u32, u64)], flags: &[u8]) {
        // After a major collection the heap has no template any more.
        let own = &self.words[self.shared_words()..self.top];
        let count: u32 = differing.iter().map(|(_, mask)| mask.count_ones()).sum();
        let flag_words = flags.len().div_ceil(FLAGS_OF_WORD);
        let length = 2 * differing.len() + flag_words + count as usize + own.len();
        let mut words = self.compacted.room(length);
        words.extend(differing.iter().flat_map(|&(page, mask)| [u64::from(page), mask]));
        words.extend(flags.chunks(FLAGS_OF_WORD).map(|flags| {
            let mut word = [0; FLAGS_OF_WORD];
            word[..flags.len()].copy_from_slice(flags);
            u64::from_le_bytes(word)
        }));
        for &(page, mask) in differing {
            words.extend(ones(mask).map(|bit| self.words[page as usize * PAGE_WORDS + bit]));
        }
        words.extend_from_slice(own);
        self.compacted = Compacted {
            is_compacted: true,
            pages: differing.len(),
            flags: flags.len(),
            words,
        };
    }

    /// Turns the words back into the template's and keeps them for the next heap that expands.
    fn recycle_words(&mut self, differing: &[(u32, u64)]) {
        let mut words = std::mem::take(&mut self.words);
        let Some(template) = &self.shared.template else { return };
        let length = template.words.len();
        if words.capacity() > length + COPY_ROOM_MAX {
            return;
        }
        for &(page, _) in differing {
            let start = page as usize * PAGE_WORDS;
            let end = (start + PAGE_WORDS).min(length);
            words[start..end].copy_from_slice(&template.words[start..end]);
        }
        debug_assert_eq!(
            words[..length],
            *template.words,
            "only pages that were noted have changed"
        );
        template.copies.keep(words);
    }

    /// Expands a compacted heap.
    pub fn expand(&mut self) {
        if !self.compacted.is_compacted {
            return;
        }
        let length = self.top + self.free_words(self.top);
        let (mut words, shared_words) = match &self.shared.template {
            Some(template) => (template.copy(length), template.words.len()),
            None => (vec![0; length], 0),
        };
        let compacted = &mut self.compacted;
        let (pages, kept) = compacted.words.split_at(2 * compacted.pages);
        let (flags, mut kept) = kept.split_at(compacted.flags.div_ceil(FLAGS_OF_WORD));
        self.pages.expand(flags, compacted.flags, self.barrier_limit);
        for differing in pages.chunks_exact(2) {
            let start = differing[0] as usize * PAGE_WORDS;
            let (own, rest) = kept.split_at(differing[1].count_ones() as usize);
            for (bit, word) in ones(differing[1]).zip(own) {
                words[start + bit] = *word;
            }
            kept = rest;
        }
        words[shared_words..shared_words + kept.len()].copy_from_slice(kept);
        compacted.words.clear();
        compacted.is_compacted = false;
        self.words = words;
        self.limit = self.limit_now();
    }

    /// Forgets the template if its words are not the heap's first any more.
    pub(super) fn forget_template_beyond(&mut self, top: usize) {
        if self.shared_words() > top {
            self.shared = Shared::default();
        }
    }

    /// Forgets the template after a collection that moved its words and left `own_words_live`
    /// words.
    pub(super) fn forget_template(&mut self, own_words_live: usize) {
        self.shared = Shared {
            template: None,
            own_words_live,
        };
    }

    /// The number of the template's words.
    fn shared_words(&self) -> usize {
        self.shared.template.as_ref().map_or(0, |template| template.words.len())
    }

    fn free_words(&self, top: usize) -> usize {
        WORDS_INITIAL.min(self.words_max.saturating_sub(top))
    }

    /// The template's pages in which the heap differs from it, each with a mask of the words that
    /// do.
    fn pages_differing(&self) -> Vec<(u32, u64)> {
        let Some(template) = &self.shared.template else {
            return Vec::new();
        };
        let count = template.words.len().div_ceil(PAGE_WORDS);
        let differing = |page: u32| {
            let start = page as usize * PAGE_WORDS;
            let end = (start + PAGE_WORDS).min(template.words.len());
            let words = template.words[start..end].iter().zip(&self.words[start..end]);
            let mask = (0..)
                .zip(words)
                .fold(0, |mask, (bit, (word, other))| mask | u64::from(word != other) << bit);
            (page, mask)
        };
        self.pages
            .own(count)
            .map(differing)
            .filter(|(_, mask)| *mask != 0)
            .collect()
    }

    /// Collects the words behind the template's; the template's stay.
    fn collect_own(&mut self, differing: &[u32], live: &dyn LiveRegisters) {
        let Some(template) = self.shared.template.clone() else {
            return self.collect_major(&mut [], live);
        };
        // Only changed words of the template refer to words behind it.
        self.pages.cover_from(&template.pages);
        self.collect_beyond(template.words.len(), differing, live);
        self.shared.own_words_live = self.top - template.words.len();
    }
}

/// The places of the bits that are set.
fn ones(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let place = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (place < u64::BITS).then_some(place as usize)
    })
}

#[cfg(test)]
mod tests;
