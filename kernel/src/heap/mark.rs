//! Marks: states between turns that the heap can be taken back to, many turns later.
//!
//! A mark costs nothing by itself. The undo of a turn that commits is kept for the newest mark instead of being dropped, each page once; a minor
//! collection leaves it the pages of what was young, a major one the words that it replaces. So going back costs what has changed since, whatever the
//! heap's size.
//! INVARIANT: [`Heap::go_back`] leaves words, registers and the next collection as they were at the mark, or changes nothing and says so; marks
//! change nothing that a program or an image could tell.
//! It does not choose when to mark. Read next: `heap/undo.rs`.

use std::collections::VecDeque;
use std::hint::black_box;

use super::pages::{PAGE_WORDS, Pages};
use super::register::Register;
use super::spare::Spare;
use super::undo::Replaced;
use super::{Heap, WORDS_INITIAL};
use crate::value::Value;

/// What marks may keep of a heap that is smaller, in words (8 MiB).
const KEPT_WORDS_MIN: usize = 1 << 20;

/// A state of the heap while no turn was open.
#[derive(Clone, Debug)]
struct Mark {
    number: u64,
    top: usize,
    line: usize,
    words_live: usize,
    nursery_end: usize,
    collection_due: bool,
    registers: [Value; Register::COUNT],
    remembered: Vec<u32>,
    /// Words from here on need not be kept: they were not there, or have been kept already.
    limit: usize,
    /// The pages that were written before the next mark, in the order of writing, with how many of their words are kept.
    pages: Vec<(u32, u32)>,
    /// The words of these pages as they were.
    words: Vec<u64>,
    /// The words that a major collection before the next mark replaced; the pages tell how to go on from there.
    replaced: Option<Vec<u64>>,
}

impl Mark {
    fn kept_words(&self) -> usize {
        self.words.len() + self.replaced.as_ref().map_or(0, Vec::len)
    }
}

/// The marks of a heap, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    marks: VecDeque<Box<Mark>>,
    /// A bit for each page that the newest mark has.
    has_page: Vec<u64>,
    /// How many words all of them keep.
    kept_words: usize,
    /// The greatest number of a mark that was given up.
    given_up: u64,
}

impl Marks {
    /// The newest mark, if what becomes of its words is still to be noted.
    fn open(&mut self) -> Option<&mut Mark> {
        let newest = self.marks.back_mut().map(|mark| &mut **mark);
        newest.filter(|mark| mark.replaced.is_none())
    }

    /// The words below this index are those of the newest mark, as far as they were not written since.
    pub(super) fn words_needed(&self) -> usize {
        self.marks
            .back()
            .filter(|mark| mark.replaced.is_none())
            .map_or(0, |mark| mark.limit)
    }

    /// The pages that were written since the newest mark, with the words they had then; `None` if there is no mark, or its words were replaced.
    pub(super) fn newest_pages(&self) -> Option<impl Iterator<Item = (u32, &[u64])>> {
        let mark = self.marks.back().filter(|mark| mark.replaced.is_none())?;
        let mut kept = mark.words.as_slice();
        Some(mark.pages.iter().map(move |&(page, count)| {
            let (words, rest) = kept.split_at(count as usize);
            kept = rest;
            (page, words)
        }))
    }

    /// Keeps what a minor collection between turns is about to change: the words from `from` on, which it moves, and the remembered pages.
    pub(super) fn keep_moved(&mut self, from: usize, remembered: &[u32], words: &[u64]) {
        let Some(limit) = self.open().map(|mark| mark.limit) else {
            return;
        };
        let moved = from / PAGE_WORDS..limit.div_ceil(PAGE_WORDS);
        for page in remembered.iter().copied().chain(moved.map(|page| page as u32)) {
            if let Some(words) = words.get(page as usize * PAGE_WORDS..) {
                self.keep_page(page, words);
            }
        }
        if let Some(mark) = self.open() {
            mark.limit = limit.min(from);
        }
    }

    /// Takes the words that a major collection has replaced, if the newest mark needs them, and leaves what it does not need to `spare`.
    pub(super) fn keep_replaced(&mut self, words: Vec<u64>, spare: &mut Spare) {
        if let Some(mark) = self.open() {
            let words = spare.cut(words, mark.limit);
            let length = words.len();
            mark.replaced = Some(words);
            self.kept_words += length;
        } else {
            spare.offer(words);
        }
    }

    /// Keeps a page that begins with `words` and is about to change, or has changed, for the first time since the newest mark.
    pub(super) fn keep_page(&mut self, page: u32, words: &[u64]) {
        let Some(mark) = self.marks.back_mut().filter(|mark| mark.replaced.is_none()) else {
            return;
        };
        let (place, bit) = (page as usize / 64, 1 << (page % 64));
        let start = page as usize * PAGE_WORDS;
        if self.has_page.len() <= place {
            self.has_page.resize(place + 1, 0);
        }
        if start >= mark.limit || self.has_page[place] & bit != 0 {
            return;
        }
        self.has_page[place] |= bit;
        let words = &words[..words.len().min(PAGE_WORDS).min(mark.limit - start)];
        mark.pages.push((page, words.len() as u32));
        mark.words.extend_from_slice(words);
        self.kept_words += words.len();
    }

    fn push(&mut self, mark: Mark) {
        self.has_page.clear();
        self.marks.push_back(Box::new(mark));
    }

    /// Gives up the oldest marks: those below `oldest`, and as many as it takes to keep no more than `words_max` words. Words that a
    /// major collection had replaced are left to `spare`.
    fn give_up(&mut self, oldest: u64, words_max: usize, mut spare: Option<&mut Spare>) {
        while let Some(mark) = self.marks.front()
            && (mark.number < oldest || self.kept_words > words_max)
        {
            self.kept_words -= mark.kept_words();
            self.given_up = mark.number;
            let words = self.marks.pop_front().and_then(|mark| mark.replaced);
            if let (Some(words), Some(spare)) = (words, spare.as_deref_mut()) {
                spare.offer(words);
            }
        }
    }
}

impl Heap {
    /// Marks the present state under a number greater than those before. Marks with numbers below `oldest` are not needed any more; old ones are
    /// given up when together they keep more than the heap has.
    ///
    /// # Panics
    /// If a turn is open.
    pub fn mark(&mut self, number: u64, oldest: u64) {
        assert!(self.turn.is_none(), "a mark is made between turns");
        self.saved.clear(&mut self.pages);
        self.note_changes();
        let words_max = self.line.max(KEPT_WORDS_MIN);
        self.marks.give_up(oldest, words_max, self.spare.as_deref_mut());
        self.marks.push(Mark {
            number,
            top: self.top,
            line: self.line,
            words_live: self.words_live,
            nursery_end: self.nursery_end,
            collection_due: self.collection_due,
            registers: self.registers,
            remembered: self.pages.remembered().to_vec(),
            limit: self.top,
            pages: Vec::new(),
            words: Vec::new(),
            replaced: None,
        });
        self.barrier_limit = self.top;
        if !self.is_resting() {
            self.pages.resize(self.top);
        }
        self.follow_changes(true);
    }

    /// Reads what [`Heap::forget_marks`] will read, at once; see [`Heap::look_at`].
    pub fn look_at_marks(&self) {
        let marks = self.marks.marks.iter();
        black_box(marks.fold(self.marks.given_up, |all, mark| {
            all ^ mark.number ^ mark.words.capacity() as u64 ^ mark.remembered.capacity() as u64
        }));
        black_box(self.marks.has_page.first());
    }

    /// The number of the newest mark, unless it was given up.
    pub fn newest_mark(&self) -> Option<u64> {
        self.marks.marks.back().map(|mark| mark.number)
    }

    /// Gives up the marks with numbers below `oldest`.
    pub fn forget_marks(&mut self, oldest: u64) {
        if self.marks.marks.back().is_some_and(|newest| newest.number < oldest) {
            self.note_changes();
            self.follow_changes(false);
        }
        // A heap that has not been marked for so long may not run again.
        self.marks.give_up(oldest, usize::MAX, None);
        if self.marks.marks.is_empty() {
            self.marks.has_page = Vec::new();
            self.marks.marks = VecDeque::new();
        }
    }

    /// Goes back to the earliest mark whose number is at least `number`, which is gone then like those after it. Without one, the heap is as it
    /// was at that number, because it was not marked since. Says whether that could be done: not if the mark was given up; then nothing has changed.
    ///
    /// # Panics
    /// If a turn is open.
    pub fn go_back(&mut self, number: u64) -> bool {
        assert!(self.turn.is_none(), "going back is for between turns");
        if number <= self.marks.given_up {
            return false;
        }
        if self.marks.marks.back().is_none_or(|newest| newest.number < number) {
            return true;
        }
        self.wake();
        self.note_changes();
        self.follow_changes(false);
        let mut reached = None;
        while let Some(mut mark) = self.marks.marks.pop_back_if(|mark| mark.number >= number) {
            self.marks.kept_words -= mark.kept_words();
            if let Some(words) = mark.replaced.take() {
                self.words = words;
                self.pages = Pages::default();
                self.keep_stored_below(0);
                self.forget_template(mark.top);
            }
            self.put_back(&mark);
            reached = Some(mark);
        }
        // If the mark before has a page already, that copy is put back after any later one.
        self.marks.has_page.clear();
        if let Some(mark) = reached {
            self.stand_at(*mark);
        }
        true
    }

    /// Writes the pages of a mark, of two copies of one page the older last.
    fn put_back(&mut self, mark: &Mark) {
        if self.words.len() < mark.top {
            self.words.resize(mark.top, 0);
        }
        let mut end = mark.words.len();
        for &(page, count) in mark.pages.iter().rev() {
            let (start, from) = (page as usize * PAGE_WORDS, end - count as usize);
            self.words[start..start + count as usize].copy_from_slice(&mark.words[from..end]);
            self.pages.mark_changed(start);
            end = from;
        }
    }

    fn stand_at(&mut self, mark: Mark) {
        self.forget_template_beyond(mark.top);
        self.keep_stored_below(mark.line);
        let room = mark.top + WORDS_INITIAL.min(self.words_max.saturating_sub(mark.top));
        if self.words.len() < room {
            self.words.resize(room, 0);
        }
        self.saved.clear(&mut self.pages);
        self.pages.resize(mark.top);
        self.pages.uncover(mark.line);
        self.pages.remember(&mark.remembered);
        // The last chunk of a snapshot that was taken since may go further than the heap does now.
        self.pages.mark_changed(mark.line.saturating_sub(1));
        self.top = mark.top;
        self.line = mark.line;
        self.words_live = mark.words_live;
        self.registers = mark.registers;
        self.undo_limit = 0;
        self.barrier_limit = mark.line.max(self.marks.words_needed());
        self.nursery_end = mark.nursery_end;
        self.collection_due = mark.collection_due;
        self.limit = self.limit_now();
    }

    /// Keeps what a turn that commits would have undone, for the newest mark.
    pub(super) fn keep_undo(&mut self, replaced: Option<Replaced>) {
        match replaced {
            Some(replaced) => {
                let spare = self.spare.get_or_insert_default();
                self.marks.keep_replaced(replaced.into_words(), spare);
            }
            None => {
                for (page, words) in self.saved.iter() {
                    self.marks.keep_page(page, words);
                }
            }
        }
    }
}
