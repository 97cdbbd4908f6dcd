//! Turns: their beginning, their commit, and their undo.
//!
//! Owns the saved pages of the open turn.
//! INVARIANT: after [`Heap::abort_turn`] the words below the undo limit, the registers, the line
//! and the time of the next collection are as at [`Heap::begin_turn`]; the cost is in proportion to
//! what the turn changed.
//! It does not decide when a turn ends.
//! Read next: `heap/collect.rs`.

use super::Heap;
use super::pace::{NURSERY_WORDS_MIN, Pace};
use super::pages::{PAGE_WORDS, Pages};
use super::register::Register;
use crate::value::Value;

/// Copies of pages, from the first word of each.
#[derive(Clone, Debug, Default)]
pub(super) struct PageCopies {
    /// The pages in the order of copying, each with the number of its words that are copied.
    pages: Vec<(u32, u32)>,
    pub(super) words: Vec<u64>,
}

impl PageCopies {
    pub(super) fn push(&mut self, page: u32, words: &[u64]) {
        self.pages.push((page, words.len() as u32));
        self.words.extend_from_slice(words);
    }

    /// The pages with their words.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[u64])> {
        let mut copied = self.words.as_slice();
        self.pages.iter().map(move |&(page, count)| {
            let (words, rest) = copied.split_at(count as usize);
            copied = rest;
            (page, words)
        })
    }

    /// Writes the copies back; of two copies of one page the older is written last.
    pub(super) fn restore(&self, words: &mut [u64]) {
        let mut end = self.words.len();
        for &(page, count) in self.pages.iter().rev() {
            let (start, count) = (page as usize * PAGE_WORDS, count as usize);
            if count > 0 {
                words[start..start + count].copy_from_slice(&self.words[end - count..end]);
            }
            end -= count;
        }
    }
}

/// The pages that the turn has written, with their words at its beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct SavedPages {
    /// Every page with the flag `SAVED`, once.
    copies: PageCopies,
    pages_saved: u64,
}

/// After a turn with a collection another one is due if more than this part of the nursery is in
/// use.
const NURSERY_PART_LEFT: usize = 8;

/// Words of room for saved pages that are kept between turns.
const WORDS_KEPT: usize = 64 * 1024;

impl SavedPages {
    /// Keeps the words of `page` that lie below `undo_limit`.
    pub(super) fn save(&mut self, page: u32, words: &[u64], undo_limit: usize) {
        let start = page as usize * PAGE_WORDS;
        let end = (start + PAGE_WORDS).min(undo_limit).max(start);
        self.copies.push(page, &words[start..end]);
        self.pages_saved += u64::from(end > start);
    }

    /// No pages, with the count of saved pages of `other`.
    pub(super) fn continuing(other: &SavedPages) -> SavedPages {
        SavedPages {
            pages_saved: other.pages_saved,
            ..SavedPages::default()
        }
    }

    pub(super) fn pages_saved(&self) -> u64 {
        self.pages_saved
    }

    /// The pages with their words.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[u64])> {
        self.copies.iter()
    }

    pub(super) fn clear(&mut self, pages: &mut Pages) {
        for &(page, _) in &self.copies.pages {
            pages.clear_saved(page);
        }
        self.copies.pages.clear();
        self.copies.words.clear();
        self.copies.words.shrink_to(WORDS_KEPT);
    }
}

/// The state of a heap besides its words and pages.
#[derive(Clone, Debug)]
pub(super) struct HeapState {
    pub(super) top: usize,
    pub(super) line: usize,
    words_live: usize,
    nursery_end: usize,
    collection_due: bool,
    pace: Pace,
    registers: [Value; Register::COUNT],
}

/// The open turn.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// The heap's state at its beginning.
    before: HeapState,
    /// Remembered pages that a minor collection of this turn has cleared.
    pub(super) remembered: Vec<u32>,
    /// Whether this turn had a collection.
    pub(super) has_collected: bool,
    /// The words that a major collection of this turn replaced.
    pub(super) replaced: Option<Replaced>,
}

/// The words that the first major collection of a turn replaced, with the state that an abort needs
/// to restore them.
#[derive(Clone, Debug)]
pub(super) struct Replaced {
    pub(super) words: Vec<u64>,
    pub(super) pages: Pages,
    pub(super) saved: SavedPages,
}

impl Replaced {
    /// The words as they were when the turn began.
    pub(super) fn into_words(self) -> Vec<u64> {
        let mut words = self.words;
        self.saved.copies.restore(&mut words);
        words
    }
}

impl Heap {
    /// Opens a turn.
    ///
    /// # Panics
    /// If a turn is open.
    pub fn begin_turn(&mut self) {
        assert!(self.turn.is_none(), "a turn is already open");
        self.expand();
        self.turn = Some(Box::new(Turn {
            before: self.state(),
            remembered: Vec::new(),
            has_collected: false,
            replaced: None,
        }));
        self.saved.clear(&mut self.pages);
        self.undo_limit = self.top;
        self.barrier_limit = self.top;
        self.pages.resize(self.top);
        self.words_lent = 0;
        self.start_nursery(self.top);
        self.collection_budget.fill(self.words_max);
    }

    /// Closes the turn and keeps what it did.
    ///
    /// # Panics
    /// If no turn is open.
    pub fn commit_turn(&mut self) {
        let turn = self.turn.take().expect("a turn is open");
        self.keep_undo(turn.replaced);
        // After a collection, words may have other places.
        let allocated = match turn.has_collected {
            true => self.nursery_goal(),
            false => self.top - turn.before.top,
        };
        if allocated < NURSERY_WORDS_MIN {
            self.set_pace(Pace::default());
        }
        self.close_turn();
        self.start_nursery(self.line);
        // The next turn's first collection would promote this turn's garbage.
        let young = self.top - self.line;
        let is_due = match turn.has_collected {
            true => young > self.nursery_goal() / NURSERY_PART_LEFT,
            false => self.pace != Pace::default() && young + allocated > self.nursery_goal(),
        };
        if is_due {
            self.collection_due = true;
            self.limit = self.limit_now();
        }
    }

    /// Says whether the open turn has changed a word that was there when it began. The first value
    /// of a global or literal does not count. A major collection moves words; after one the answer
    /// is yes.
    pub fn has_turn_changed(&self) -> bool {
        let has_moved = self.turn.as_ref().is_some_and(|turn| turn.replaced.is_some());
        let empty = [Value::UNDEFINED, Value::ABSENT].map(Value::to_bits);
        let has_changed = |(page, before): (u32, &[u64])| {
            let now = &self.words[page as usize * PAGE_WORDS..];
            before
                .iter()
                .zip(now)
                .any(|(before, now)| before != now && !empty.contains(before))
        };
        has_moved || self.saved.iter().any(has_changed)
    }

    /// Closes the turn and undoes what it did to words and registers.
    ///
    /// # Panics
    /// If no turn is open.
    pub fn abort_turn(&mut self) {
        let turn = *self.turn.take().expect("a turn is open");
        if let Some(replaced) = turn.replaced {
            self.words = replaced.words;
            self.pages = replaced.pages;
            let pages_saved = self.saved.pages_saved;
            self.saved = replaced.saved;
            self.saved.pages_saved = pages_saved;
        }
        self.saved.copies.restore(&mut self.words);
        self.restore_state(&turn.before, &turn.remembered);
    }

    /// The present state.
    pub(super) fn state(&self) -> HeapState {
        HeapState {
            top: self.top,
            line: self.line,
            words_live: self.words_live,
            nursery_end: self.nursery_end,
            collection_due: self.collection_due,
            pace: self.pace,
            registers: self.registers,
        }
    }

    /// Restores a state between turns whose words have been restored, with the pages remembered
    /// then.
    pub(super) fn restore_state(&mut self, state: &HeapState, remembered: &[u32]) {
        debug_assert!(state.line <= state.top, "old words lie below the end of all");
        self.forget_template_beyond(state.top);
        self.pages.resize(state.top);
        self.pages.uncover(state.line);
        self.pages.remember(remembered);
        self.top = state.top;
        self.line = state.line;
        self.words_live = state.words_live;
        self.registers = state.registers;
        self.set_pace(state.pace);
        self.close_turn();
        self.nursery_end = state.nursery_end;
        self.collection_due = state.collection_due;
        self.limit = self.limit_now();
    }

    fn close_turn(&mut self) {
        self.saved.clear(&mut self.pages);
        self.undo_limit = 0;
        self.barrier_limit = self.line.max(self.savepoints.words_kept_for());
    }
}
