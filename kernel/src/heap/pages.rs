//! Pages of old words: the write barrier, and the objects of a page.
//!
//! Owns the flags of each page of 64 words. The first write to a page of `[0, barrier_limit)` takes
//! the slow path, which saves the page for the open turn, remembers it for the next minor
//! collection and marks it changed for the next snapshot; until one of these three clears its flag,
//! further writes cost a comparison and a byte test.
//! INVARIANT: `cover[page]` is the object that the page's first word belongs to, for every page
//! that begins below `covered_to`.
//! It does not collect or restore.
//! Read next: `heap/undo.rs`, `heap/collect.rs`.

use super::Heap;
use super::kind::extent;

/// Words of one page.
pub(crate) const PAGE_WORDS: usize = 64;

/// The undo has the page, or does not need it.
const SAVED: u8 = 1;
/// The page was written since the last minor collection.
pub(super) const REMEMBERED: u8 = 2;
/// The page was written or created since the changed words were last noted.
const CHANGED: u8 = 4;
/// The page was written since the heap began with its template.
const OWN: u8 = 8;
const ALL: u8 = SAVED | REMEMBERED | CHANGED | OWN;
/// The flags of a page to which writes pass the barrier without work.
pub(crate) const PAGE_NOTED: u8 = ALL;

/// The pages below the greatest barrier limit since the last collection.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    pub(super) flags: Vec<u8>,
    /// Half the index of the object that covers the first word of each page.
    cover: Vec<u32>,
    covered_to: usize,
    /// The pages with the flag `REMEMBERED`, each once, because a second scan would forward updated
    /// references again.
    remembered: Vec<u32>,
}

impl Pages {
    /// Makes the table describe exactly the pages that begin below `words`; pages that are new to
    /// it count as changed.
    pub(super) fn resize(&mut self, words: usize) {
        let count = words.div_ceil(PAGE_WORDS);
        if count < self.flags.len() {
            self.remembered.retain(|&page| (page as usize) < count);
        }
        self.flags.resize(count, CHANGED);
    }

    /// Notes that the words from `start` on are rewritten: their pages are changed, and nothing
    /// else is known of them.
    pub(super) fn rewrite_from(&mut self, start: usize) {
        let first = start.div_ceil(PAGE_WORDS);
        self.flags.truncate(first);
        self.mark_changed(start);
        self.uncover(start);
    }

    /// Marks the page of the word at `index` as changed, if it is known.
    pub(super) fn mark_changed(&mut self, index: usize) {
        if let Some(flags) = self.flags.get_mut(index / PAGE_WORDS) {
            *flags |= CHANGED;
        }
    }

    /// Forgets which objects cover the pages beyond `start`.
    pub(super) fn uncover(&mut self, start: usize) {
        self.covered_to = self.covered_to.min(start);
        self.cover.truncate(self.covered_to.div_ceil(PAGE_WORDS));
    }

    /// Forgets that the page is saved.
    pub(super) fn clear_saved(&mut self, page: u32) {
        if let Some(flags) = self.flags.get_mut(page as usize) {
            *flags &= !SAVED;
        }
    }

    /// Finds the objects of all pages of `words`, up to `end`.
    pub(super) fn cover_all(&mut self, words: &[u64], end: usize) {
        if end > 0 {
            self.cover(words, (end - 1) / PAGE_WORDS, end);
        }
    }

    /// Copies the object starts that `other` knows of its pages, all of which are here too, unless
    /// more are known here.
    pub(super) fn cover_from(&mut self, other: &Pages) {
        if self.covered_to < other.covered_to {
            self.cover.clone_from(&other.cover);
            self.covered_to = other.covered_to;
        }
    }

    /// The pages below `count` that were written since the heap began with its template, in
    /// ascending order.
    pub(super) fn own(&self, count: usize) -> impl Iterator<Item = u32> {
        let pages = (0..).zip(self.flags.iter().take(count));
        pages.filter(|(_, flags)| **flags & OWN != 0).map(|(page, _)| page)
    }

    /// Drops everything that can be recomputed, and returns the flags.
    pub(super) fn compact(&mut self) -> Vec<u8> {
        self.uncover(0);
        self.cover = Vec::new();
        self.remembered.shrink_to_fit();
        std::mem::take(&mut self.flags)
    }

    /// Restores the flags of `count` pages, eight from each word; pages below the word at `limit`
    /// without flags are new.
    pub(super) fn expand(&mut self, words: &[u64], count: usize, limit: usize) {
        self.flags
            .reserve_exact((8 * words.len()).max(limit.div_ceil(PAGE_WORDS)));
        for word in words {
            self.flags.extend_from_slice(&word.to_le_bytes());
        }
        self.flags.truncate(count);
        if self.flags.len() * PAGE_WORDS < limit {
            self.resize(limit);
        }
    }

    /// The remembered pages, in no order.
    pub(super) fn remembered(&self) -> &[u32] {
        &self.remembered
    }

    /// The remembered pages, in ascending order; all are forgotten.
    pub(super) fn take_remembered(&mut self) -> Vec<u32> {
        let mut remembered = std::mem::take(&mut self.remembered);
        remembered.sort_unstable();
        for &page in &remembered {
            if let Some(flags) = self.flags.get_mut(page as usize) {
                *flags &= !REMEMBERED;
            }
        }
        remembered
    }

    /// Remembers pages that an earlier minor collection had taken.
    pub(super) fn remember(&mut self, pages: &[u32]) {
        for &page in pages {
            if let Some(flags) = self.flags.get_mut(page as usize)
                && *flags & REMEMBERED == 0
            {
                *flags |= REMEMBERED;
                self.remembered.push(page);
            }
        }
    }

    /// Marks a page as unchanged.
    pub(super) fn clear_changed_page(&mut self, page: u32) {
        if let Some(flags) = self.flags.get_mut(page as usize) {
            *flags &= !CHANGED;
        }
    }

    /// Marks the first `count` pages as unchanged, and hands out those that were not, in ascending
    /// order.
    pub(super) fn take_changed(&mut self, count: usize, mut take: impl FnMut(usize)) {
        let count = count.min(self.flags.len());
        for (block, flags) in self.flags[..count].chunks_mut(64).enumerate() {
            if flags.iter().fold(0, |all, flags| all | flags) & CHANGED == 0 {
                continue;
            }
            for (place, flags) in flags.iter_mut().enumerate() {
                if *flags & CHANGED != 0 {
                    *flags &= !CHANGED;
                    take(block * 64 + place);
                }
            }
        }
    }

    /// Marks every page as unchanged.
    pub(super) fn clear_changed(&mut self) {
        self.flags.iter_mut().for_each(|flags| *flags &= !CHANGED);
    }

    /// The object that covers the word at `index`, the first of its page.
    pub(super) fn cover_word(&mut self, words: &[u64], index: usize, end: usize) -> usize {
        self.cover(words, index / PAGE_WORDS, end)
    }

    /// Sets all flags of a page and returns whether the undo lacks the page.
    fn touch(&mut self, page: usize) -> bool {
        let flags = self.flags[page];
        self.flags[page] = ALL;
        if flags & REMEMBERED == 0 {
            self.remembered.push(page as u32);
        }
        flags & SAVED == 0
    }

    /// The object that covers the first word of `page`, which begins below `end`; walks on from the
    /// last known object.
    pub(super) fn cover(&mut self, words: &[u64], page: usize, end: usize) -> usize {
        let mut index = self.covered_to;
        while self.cover.len() <= page && index < end {
            let next = index + extent(crate::value::Value::from_bits(words[index]));
            while self.cover.len() * PAGE_WORDS < next {
                self.cover.push((index / 2) as u32);
            }
            index = next;
        }
        self.covered_to = index;
        self.cover[page] as usize * 2
    }
}

impl Heap {
    /// The write barrier: every write to an existing object calls it first with the word's index.
    #[inline(always)]
    pub(crate) fn note_write(&mut self, index: usize) {
        if !self.is_noted(index) {
            self.note_page(index / PAGE_WORDS);
        }
    }

    /// Whether a write to the word at `index` of an existing object passes the barrier without
    /// work.
    #[inline(always)]
    pub(crate) fn is_noted(&self, index: usize) -> bool {
        index >= self.barrier_limit || self.pages.flags[index / PAGE_WORDS] == ALL
    }

    /// The barrier's limit and the flags of each page below it, which [`Heap::is_noted`] compares,
    /// for machine code.
    #[inline(always)]
    pub(crate) fn barrier(&self) -> (usize, *const u8) {
        (self.barrier_limit, self.pages.flags.as_ptr())
    }

    /// The write barrier for `count` words from `start` on.
    pub(crate) fn note_write_range(&mut self, start: usize, count: usize) {
        let end = (start + count).min(self.barrier_limit);
        if start >= end {
            return;
        }
        for page in start / PAGE_WORDS..=(end - 1) / PAGE_WORDS {
            if self.pages.flags[page] != ALL {
                self.note_page(page);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn note_page(&mut self, page: usize) {
        if self.pages.touch(page) {
            self.saved.save(page as u32, &self.words, self.undo_limit);
            if self.turn.is_none() {
                self.savepoints.keep_page(page as u32, &self.words[page * PAGE_WORDS..]);
            }
        }
    }
}
