//! Rest: what a heap keeps while its next turn is far away, and the template that many heaps begin with.
//!
//! A [`Template`] is what a heap held at some moment: globals, literals, symbols and code tables of an actor's program, before the actor did anything.
//! A heap that began with it has all of its words while it runs, as the machine needs them in one piece. At rest it keeps those of
//! them that it has changed, and what it made since; so an actor that waits costs what it differs by. The words of a heap that goes to rest are made the template's again and
//! lie ready for the next one that wakes, which writes where it differs: so neither costs what the template has, and the words stay in the processor's caches.
//! INVARIANT: a heap that rested goes on with the words it had, or with those that a collection of its own part leaves; what is in a template never changes.
//! It does not know when to rest: whoever has many heaps does. Read next: `heap/collect.rs`.

use std::hint::black_box;
use std::sync::{Arc, Mutex};

use super::frames::LiveRegisters;
use super::pages::{PAGE_WORDS, Pages};
use super::placed::Moves;
use super::register::Register;
use super::undo::SavedPages;
use super::{Heap, WORDS_INITIAL};
use crate::value::Value;

/// A heap that has more words of its own than this stays as it is: copying them twice a turn would cost more than it saves.
const OWN_WORDS_MAX: usize = 8 * 1024;
/// A heap's own part is collected once it is twice what was left the last time, and this much more.
const OWN_SLACK_WORDS: usize = 128;
/// The flags of so many pages are kept in one word.
const FLAGS_OF_WORD: usize = 8;
/// Words that come from memory together.
const LINE_WORDS: usize = 8;
/// So many copies of a template's words lie ready at most; few are taken before another comes back.
const COPIES_MAX: usize = 4;
/// A copy with more room than this beyond the template's words is given up.
const COPY_ROOM_MAX: usize = 64 * 1024;

/// What heaps begin with that share it.
#[derive(Debug)]
pub struct Template {
    words: Box<[u64]>,
    pages: Pages,
    registers: [Value; Register::COUNT],
    moves: Moves,
    copies: Copies,
}

impl Template {
    /// How many bytes its words take.
    pub fn size_bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Words that begin with the template's.
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

/// Words of heaps that went to rest. They begin with the template's; what stands behind means nothing.
#[derive(Debug, Default)]
struct Copies(Mutex<Vec<Vec<u64>>>);

impl Copies {
    // Who cannot have the list at once does without: a copy is only ever a shortcut.
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

/// The words of a heap at rest, in one piece: what is rarely used lies far from everything, so each piece counts.
///
/// While the heap is awake there are none, and their room waits for the next rest: waking has brought it near, and new room would be far away again.
#[derive(Clone, Debug, Default)]
pub(super) struct Rested {
    is_resting: bool,
    /// In how many pages it differs from its template.
    pages: usize,
    /// For how many pages there are flags.
    flags: usize,
    /// For each of the pages that differ its number and a mask of the words that do; then the flags, eight to a word; then the words that differ, then
    /// those behind the template's.
    words: Vec<u64>,
}

impl Rested {
    /// The room for so many words, and little more.
    fn room(&mut self, length: usize) -> Vec<u64> {
        let mut room = std::mem::take(&mut self.words);
        let most = length + length / 2 + LINE_WORDS;
        if room.capacity() < length || room.capacity() > most {
            // What a heap makes in a few turns fits in what is left over.
            room = Vec::with_capacity(length + length / 4);
        }
        room
    }
}

/// What a heap knows of the template it began with.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    template: Option<Arc<Template>>,
    /// How many words of its own it had after they were last collected.
    own_words_live: usize,
}

impl Heap {
    /// Makes a template of all that is reachable now, whether or not a turn is open.
    ///
    /// What Rust code holds besides the registers and host roots is not part of it.
    pub fn template(&self, live: &dyn LiveRegisters) -> Template {
        let mut copy = self.clone();
        copy.wake();
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

    /// Replaces everything by what `template` has; says whether that could be done: not if it has more than the limit allows, or if something from
    /// before the open turn, or a mark, must be kept.
    pub fn start_from(&mut self, template: &Arc<Template>) -> bool {
        let length = template.words.len();
        if self.undo_limit > 0 || self.marks.words_needed() > 0 || length > self.words_max {
            return false;
        }
        self.wake();
        self.words.clear();
        self.words.extend_from_slice(&template.words);
        self.words.resize(length + self.spare_words(length), 0);
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

    /// Lets the heap take little room until [`Heap::wake`], which [`Heap::begin_turn`] and collections call; a large one stays as it is. May collect.
    ///
    /// # Panics
    /// If a turn is open.
    pub fn rest(&mut self, live: &dyn LiveRegisters) {
        assert!(self.turn.is_none(), "a heap rests between turns");
        if self.rested.is_resting {
            return;
        }
        let shared_words = self.shared_words();
        if self.top - shared_words > OWN_WORDS_MAX {
            self.spare = None;
            self.words.shrink_to(self.room_kept_for(self.words.len()));
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
        let flags = self.pages.rest();
        self.keep_difference(&differing, &flags);
        self.put_words_away(&differing);
        self.spare = None;
        self.limit = 0;
    }

    /// Reads what waking the heap, and a turn of it, will read of what is its own: all at once, for none of it is waited for. Read where it is needed, each
    /// piece that is far away in memory would be waited for alone.
    pub fn look_at(&self) {
        let registers = self.registers.iter().step_by(LINE_WORDS);
        let rested = self.rested.words.iter().step_by(LINE_WORDS);
        let own = [
            self.words_max,
            self.line,
            self.words_live,
            usize::from(self.spare.is_some()),
            self.moves.all as usize,
            self.statistics.collections_minor as usize,
        ];
        black_box(own.iter().fold(self.top, |all, word| all ^ word));
        black_box(registers.fold(0, |all, value| all ^ value.to_bits()));
        black_box(rested.fold(0, |all, word| all ^ word));
        self.look_at_marks();
    }

    /// Whether the words are put away.
    pub fn is_resting(&self) -> bool {
        self.rested.is_resting
    }

    /// Keeps what must be kept of the words besides the template.
    fn keep_difference(&mut self, differing: &[(u32, u64)], flags: &[u8]) {
        // A collection may have moved everything; then nothing is shared any more.
        let own = &self.words[self.shared_words()..self.top];
        let count: u32 = differing.iter().map(|(_, mask)| mask.count_ones()).sum();
        let flag_words = flags.len().div_ceil(FLAGS_OF_WORD);
        let length = 2 * differing.len() + flag_words + count as usize + own.len();
        let mut words = self.rested.room(length);
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
        self.rested = Rested {
            is_resting: true,
            pages: differing.len(),
            flags: flags.len(),
            words,
        };
    }

    /// Gives the words, once they are the template's again where they differ, to the next heap that wakes.
    fn put_words_away(&mut self, differing: &[(u32, u64)]) {
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

    /// Puts the words of a heap at rest back.
    pub fn wake(&mut self) {
        if !self.rested.is_resting {
            return;
        }
        let length = self.top + self.spare_words(self.top);
        let (mut words, shared_words) = match &self.shared.template {
            Some(template) => (template.copy(length), template.words.len()),
            None => (vec![0; length], 0),
        };
        let rested = &mut self.rested;
        let (pages, kept) = rested.words.split_at(2 * rested.pages);
        let (flags, mut kept) = kept.split_at(rested.flags.div_ceil(FLAGS_OF_WORD));
        self.pages.wake((flags, rested.flags), self.barrier_limit);
        for differing in pages.chunks_exact(2) {
            let start = differing[0] as usize * PAGE_WORDS;
            let (own, rest) = kept.split_at(differing[1].count_ones() as usize);
            for (bit, word) in ones(differing[1]).zip(own) {
                words[start + bit] = *word;
            }
            kept = rest;
        }
        words[shared_words..shared_words + kept.len()].copy_from_slice(kept);
        rested.words.clear();
        rested.is_resting = false;
        self.words = words;
        self.limit = self.limit_now();
    }

    /// Forgets the template if its words are not the heap's first any more.
    pub(super) fn forget_template_beyond(&mut self, top: usize) {
        if self.shared_words() > top {
            self.shared = Shared::default();
        }
    }

    /// Forgets the template, whose words have been moved by a collection that left so many words.
    pub(super) fn forget_template(&mut self, own_words_live: usize) {
        self.shared = Shared {
            template: None,
            own_words_live,
        };
    }

    /// How many words the heap had from its template.
    fn shared_words(&self) -> usize {
        self.shared.template.as_ref().map_or(0, |template| template.words.len())
    }

    fn spare_words(&self, top: usize) -> usize {
        WORDS_INITIAL.min(self.words_max.saturating_sub(top))
    }

    /// The template's pages in which the heap differs from it, each with a mask of the words that do.
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

    /// Collects what the heap has beyond its template, from which nothing is ever given up.
    fn collect_own(&mut self, differing: &[u32], live: &dyn LiveRegisters) {
        let Some(template) = self.shared.template.clone() else {
            return self.collect_major(&mut [], live);
        };
        // Only what has changed of the template refers to what is beyond it.
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
