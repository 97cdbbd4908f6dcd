//! Turns: their beginning, their commit, and their undo.
//!
//! Owns the saved pages of the open turn.
//! INVARIANT: after [`Heap::abort_turn`] the words below the undo limit, the registers, the line
//! and the time of the next collection are as at [`Heap::begin_turn`]; the cost is in proportion to
//! what the turn changed.
//! It does not decide when a turn ends.
//! Read next: `heap/collect.rs`.

use super::Heap;
use super::pages::{PAGE_WORDS, Pages};
use super::register::Register;
use crate::value::Value;

/// The pages that the turn has written, with their words at its beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct SavedPages {
    /// Every page with the flag `SAVED`, each once, with the number of its words that are kept.
    pages: Vec<(u32, u32)>,
    words: Vec<u64>,
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
        self.pages.push((page, (end - start) as u32));
        self.words.extend_from_slice(&words[start..end]);
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
        let mut kept = self.words.as_slice();
        self.pages.iter().map(move |&(page, count)| {
            let (words, rest) = kept.split_at(count as usize);
            kept = rest;
            (page, words)
        })
    }

    fn restore(&self, words: &mut [u64]) {
        for (page, page_words) in self.iter() {
            if !page_words.is_empty() {
                let start = page as usize * PAGE_WORDS;
                words[start..start + page_words.len()].copy_from_slice(page_words);
            }
        }
    }

    pub(super) fn clear(&mut self, pages: &mut Pages) {
        for &(page, _) in &self.pages {
            pages.clear_saved(page);
        }
        self.pages.clear();
        self.words.clear();
        self.words.shrink_to(WORDS_KEPT);
    }
}

/// The heap's state at the beginning of the open turn, apart from the words.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    top: usize,
    line: usize,
    words_live: usize,
    nursery_end: usize,
    collection_due: bool,
    registers: [Value; Register::COUNT],
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
        self.saved.restore(&mut words);
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
            top: self.top,
            line: self.line,
            words_live: self.words_live,
            nursery_end: self.nursery_end,
            collection_due: self.collection_due,
            registers: self.registers,
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
        self.close_turn();
        self.start_nursery(self.line);
        // The next turn's first collection would promote this turn's garbage.
        if turn.has_collected && self.top - self.line > self.nursery_goal() / NURSERY_PART_LEFT {
            self.collection_due = true;
            self.limit = self.limit_now();
        }
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
        self.saved.restore(&mut self.words);
        self.pages.resize(turn.top);
        self.pages.uncover(turn.line);
        self.pages.remember(&turn.remembered);
        self.top = turn.top;
        self.line = turn.line;
        self.words_live = turn.words_live;
        self.registers = turn.registers;
        self.forget_template_beyond(self.top);
        self.close_turn();
        self.start_nursery(self.line);
        self.nursery_end = turn.nursery_end;
        self.collection_due = turn.collection_due;
        self.limit = self.limit_now();
    }

    fn close_turn(&mut self) {
        self.saved.clear(&mut self.pages);
        self.undo_limit = 0;
        self.barrier_limit = self.line.max(self.savepoints.words_kept_for());
    }
}
