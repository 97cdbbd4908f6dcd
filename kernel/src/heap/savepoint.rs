//! Savepoints: states between turns that the heap can return to, many turns later.
//!
//! Owns the words that a return restores. Creating a savepoint copies no words. A turn that commits
//! hands its undo pages to the newest savepoint, each page once; a minor collection hands it the
//! pages that it changes, a major one the words that it replaces. A return therefore costs in
//! proportion to what has changed, whatever the heap's size.
//! INVARIANT: [`Heap::restore_savepoint`] restores words, registers and the time of the next
//! collection, or changes nothing and says so; programs and images cannot tell whether there are
//! savepoints.
//! It does not choose when to create one.
//! Read next: `heap/undo.rs`.

use std::collections::VecDeque;

use super::pages::{PAGE_WORDS, Pages};
use super::undo::{HeapState, PageCopies, Replaced};
use super::{Heap, WORDS_INITIAL};

/// The words that all savepoints of a small heap may keep, 8 MiB.
const KEPT_WORDS_MIN: usize = 1 << 20;

/// A state of the heap while no turn was open.
#[derive(Clone, Debug)]
struct Savepoint {
    number: u64,
    state: HeapState,
    remembered: Vec<u32>,
    /// Words from here on need not be kept: they did not exist, or are kept already.
    limit: usize,
    /// The pages that were written before the next savepoint, with their words at this one.
    copies: PageCopies,
    /// The words that a major collection before the next savepoint replaced; `copies` restores the
    /// writes before it.
    replaced: Option<Vec<u64>>,
}

impl Savepoint {
    fn kept_words(&self) -> usize {
        self.copies.words.len() + self.replaced.as_ref().map_or(0, Vec::len)
    }
}

/// The savepoints of a heap, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Savepoints {
    savepoints: VecDeque<Box<Savepoint>>,
    /// A bit for each page that the newest savepoint keeps.
    has_page: Vec<u64>,
    /// The number of words that all of them keep.
    kept_words: usize,
    /// The greatest number of a savepoint that was dropped.
    dropped: u64,
}

impl Savepoints {
    /// The newest savepoint, unless a major collection has already handed it all words.
    fn open(&mut self) -> Option<&mut Savepoint> {
        let newest = self.savepoints.back_mut().map(|savepoint| &mut **savepoint);
        newest.filter(|savepoint| savepoint.replaced.is_none())
    }

    /// The newest savepoint needs the words below this index, except those that it keeps already.
    pub(super) fn words_kept_for(&self) -> usize {
        self.savepoints
            .back()
            .filter(|savepoint| savepoint.replaced.is_none())
            .map_or(0, |savepoint| savepoint.limit)
    }

    /// The pages that were written since the newest savepoint, with their words at it; `None` if
    /// there is no savepoint or a major collection has replaced the words.
    pub(super) fn newest_pages(&self) -> Option<impl Iterator<Item = (u32, &[u64])>> {
        let newest = self.savepoints.back();
        newest
            .filter(|savepoint| savepoint.replaced.is_none())
            .map(|savepoint| savepoint.copies.iter())
    }

    /// Keeps the words that a minor collection between turns is about to change: those from `from`
    /// on, which it moves, and the remembered pages.
    pub(super) fn keep_moved(&mut self, from: usize, remembered: &[u32], words: &[u64]) {
        let Some(limit) = self.open().map(|savepoint| savepoint.limit) else {
            return;
        };
        let moved = from / PAGE_WORDS..limit.div_ceil(PAGE_WORDS);
        for page in remembered.iter().copied().chain(moved.map(|page| page as u32)) {
            if let Some(words) = words.get(page as usize * PAGE_WORDS..) {
                self.keep_page(page, words);
            }
        }
        if let Some(savepoint) = self.open() {
            savepoint.limit = limit.min(from);
        }
    }

    /// Keeps the words that a major collection has replaced, if the newest savepoint needs them.
    pub(super) fn keep_replaced(&mut self, mut words: Vec<u64>) {
        if let Some(savepoint) = self.open() {
            words.truncate(savepoint.limit);
            words.shrink_to_fit();
            let length = words.len();
            savepoint.replaced = Some(words);
            self.kept_words += length;
        }
    }

    /// Keeps a page that begins with `words`, if it changes for the first time since the newest
    /// savepoint.
    pub(super) fn keep_page(&mut self, page: u32, words: &[u64]) {
        let Some(savepoint) = self
            .savepoints
            .back_mut()
            .filter(|savepoint| savepoint.replaced.is_none())
        else {
            return;
        };
        let (place, bit) = (page as usize / 64, 1 << (page % 64));
        let start = page as usize * PAGE_WORDS;
        if self.has_page.len() <= place {
            self.has_page.resize(place + 1, 0);
        }
        if start >= savepoint.limit || self.has_page[place] & bit != 0 {
            return;
        }
        self.has_page[place] |= bit;
        let words = &words[..words.len().min(PAGE_WORDS).min(savepoint.limit - start)];
        savepoint.copies.push(page, words);
        self.kept_words += words.len();
    }

    fn push(&mut self, savepoint: Savepoint) {
        self.has_page.clear();
        self.savepoints.push_back(Box::new(savepoint));
    }

    /// Drops the oldest savepoints: those below `oldest`, and as many more as it takes to keep at
    /// most `words_max` words.
    fn drop_oldest(&mut self, oldest: u64, words_max: usize) {
        while let Some(savepoint) = self.savepoints.front()
            && (savepoint.number < oldest || self.kept_words > words_max)
        {
            self.kept_words -= savepoint.kept_words();
            self.dropped = savepoint.number;
            self.savepoints.pop_front();
        }
    }
}

impl Heap {
    /// Creates a savepoint of the present state, with a number greater than those before. Drops
    /// savepoints with numbers below `oldest`, and old ones if together they keep more words than
    /// the heap has.
    ///
    /// # Panics
    /// If a turn is open.
    pub fn make_savepoint(&mut self, number: u64, oldest: u64) {
        assert!(self.turn.is_none(), "a savepoint is made between turns");
        self.saved.clear(&mut self.pages);
        self.note_changes();
        let words_max = self.line.max(KEPT_WORDS_MIN);
        self.savepoints.drop_oldest(oldest, words_max);
        self.savepoints.push(Savepoint {
            number,
            state: self.state(),
            remembered: self.pages.remembered().to_vec(),
            limit: self.top,
            copies: PageCopies::default(),
            replaced: None,
        });
        self.barrier_limit = self.top;
        if !self.is_compacted() {
            self.pages.resize(self.top);
        }
        self.follow_changes(true);
    }

    /// The number of the newest savepoint, if there is one.
    pub fn newest_savepoint(&self) -> Option<u64> {
        self.savepoints.savepoints.back().map(|savepoint| savepoint.number)
    }

    /// Drops the savepoints with numbers below `oldest`.
    pub fn drop_savepoints(&mut self, oldest: u64) {
        if self
            .savepoints
            .savepoints
            .back()
            .is_some_and(|newest| newest.number < oldest)
        {
            self.note_changes();
            self.follow_changes(false);
        }
        // A heap whose newest savepoint is so old may never run again, so its memory is freed.
        self.savepoints.drop_oldest(oldest, usize::MAX);
        if self.savepoints.savepoints.is_empty() {
            self.savepoints.has_page = Vec::new();
            self.savepoints.savepoints = VecDeque::new();
        }
    }

    /// Returns to the earliest savepoint whose number is at least `number`, and drops it and those
    /// after it. If there is none, the heap has not changed since that number. Returns whether that
    /// was possible: not if the savepoint was dropped; then nothing has changed.
    ///
    /// # Panics
    /// If a turn is open.
    pub fn restore_savepoint(&mut self, number: u64) -> bool {
        assert!(self.turn.is_none(), "going back is for between turns");
        if number <= self.savepoints.dropped {
            return false;
        }
        if self
            .savepoints
            .savepoints
            .back()
            .is_none_or(|newest| newest.number < number)
        {
            return true;
        }
        self.expand();
        self.note_changes();
        self.follow_changes(false);
        let mut reached = None;
        while let Some(mut savepoint) = self
            .savepoints
            .savepoints
            .pop_back_if(|savepoint| savepoint.number >= number)
        {
            self.savepoints.kept_words -= savepoint.kept_words();
            if let Some(words) = savepoint.replaced.take() {
                self.words = words;
                self.pages = Pages::default();
                self.keep_snapshot_below(0);
                self.forget_template(savepoint.state.top);
            }
            self.restore_pages(&savepoint);
            reached = Some(savepoint);
        }
        // The savepoint before may keep a page that a later write adds again; restoring writes the
        // older copy last.
        self.savepoints.has_page.clear();
        if let Some(savepoint) = reached {
            self.return_to(&savepoint);
        }
        true
    }

    /// Restores the pages of a savepoint; of two copies of one page the older is written last.
    fn restore_pages(&mut self, savepoint: &Savepoint) {
        if self.words.len() < savepoint.state.top {
            self.words.resize(savepoint.state.top, 0);
        }
        savepoint.copies.restore(&mut self.words);
        for (page, _) in savepoint.copies.iter() {
            self.pages.mark_changed(page as usize * PAGE_WORDS);
        }
    }

    /// Makes the restored words those of a savepoint.
    fn return_to(&mut self, Savepoint { state, remembered, .. }: &Savepoint) {
        self.keep_snapshot_below(state.line);
        let room = state.top + WORDS_INITIAL.min(self.words_max.saturating_sub(state.top));
        if self.words.len() < room {
            self.words.resize(room, 0);
        }
        self.restore_state(state, remembered);
        // The last chunk of a snapshot that was taken since may reach beyond the line.
        self.pages.mark_changed(state.line.saturating_sub(1));
    }

    /// Hands the undo pages of a turn that commits to the newest savepoint.
    pub(super) fn keep_undo(&mut self, replaced: Option<Replaced>) {
        match replaced {
            Some(replaced) => self.savepoints.keep_replaced(replaced.into_words()),
            None => {
                for (page, words) in self.saved.iter() {
                    self.savepoints.keep_page(page, words);
                }
            }
        }
    }
}
