//! Rest: what a heap keeps while its next turn is far away, and the template that many heaps begin with.
//!
//! A [`Template`] is what a heap held at some moment: globals, literals, symbols and code tables of an actor's program, before the actor did anything.
//! A heap that began with it has all of its words while it runs, as the machine needs them in one piece. At rest it keeps the pages of
//! them that it has changed, and what it made since; so an actor that waits costs what it differs by. Waking copies the template's words, at the speed of memory.
//! INVARIANT: a heap that rested goes on with the words it had, or with those that a collection of its own part leaves; what is in a template never changes.
//! It does not know when to rest: whoever has many heaps does. Read next: `heap/collect.rs`.

use std::sync::Arc;

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

/// What heaps begin with that share it.
#[derive(Debug)]
pub struct Template {
    words: Box<[u64]>,
    pages: Pages,
    registers: [Value; Register::COUNT],
    moves: Moves,
}

impl Template {
    /// How many bytes its words take.
    pub fn size_bytes(&self) -> usize {
        self.words.len() * 8
    }
}

/// The words of a heap at rest.
#[derive(Clone, Debug)]
pub(super) struct Rested {
    /// The pages in which it differs from its template.
    pages: Box<[u32]>,
    /// The template's words of these pages as they are here, then the words behind the template's.
    words: Box<[u64]>,
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
        if self.rested.is_some() {
            return;
        }
        let shared_words = self.shared_words();
        if self.top - shared_words > OWN_WORDS_MAX {
            return;
        }
        let mut pages = self.pages_differing();
        if self.top - shared_words >= 2 * self.shared.own_words_live + OWN_SLACK_WORDS {
            self.collect_own(&pages, live);
            pages = self.pages_differing();
        }
        self.note_changes();
        // Everything was reachable and moved, or there is no template: then nothing is shared any more.
        let shared_words = self.shared_words();
        let own = &self.words[shared_words..self.top];
        let mut words = Vec::with_capacity(pages.len() * PAGE_WORDS + own.len());
        for &page in &pages {
            let start = page as usize * PAGE_WORDS;
            words.extend_from_slice(&self.words[start..(start + PAGE_WORDS).min(shared_words)]);
        }
        words.extend_from_slice(own);
        self.rested = Some(Box::new(Rested {
            pages: pages.into(),
            words: words.into(),
        }));
        self.words = Vec::new();
        self.survivors = Vec::new();
        self.limit = 0;
        self.saved.clear(&mut self.pages);
        self.saved = SavedPages::continuing(&self.saved);
        self.pages.rest();
    }

    /// Whether the words are put away.
    pub fn is_resting(&self) -> bool {
        self.rested.is_some()
    }

    /// Puts the words of a heap at rest back.
    pub fn wake(&mut self) {
        let Some(rested) = self.rested.take() else { return };
        let mut words = Vec::with_capacity(self.top + self.spare_words(self.top));
        let mut kept = &*rested.words;
        if let Some(template) = &self.shared.template {
            words.extend_from_slice(&template.words);
            for &page in &rested.pages {
                let start = page as usize * PAGE_WORDS;
                let end = (start + PAGE_WORDS).min(template.words.len());
                let (page_words, rest) = kept.split_at(end - start);
                words[start..end].copy_from_slice(page_words);
                kept = rest;
            }
        }
        words.extend_from_slice(kept);
        words.resize(words.capacity(), 0);
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

    /// The template's pages in which the heap differs from it.
    fn pages_differing(&self) -> Vec<u32> {
        let Some(template) = &self.shared.template else {
            return Vec::new();
        };
        let count = template.words.len().div_ceil(PAGE_WORDS);
        let differs = |page: &u32| {
            let start = *page as usize * PAGE_WORDS;
            let end = (start + PAGE_WORDS).min(template.words.len());
            template.words[start..end] != self.words[start..end]
        };
        self.pages.own(count).filter(differs).collect()
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

#[cfg(test)]
mod tests;
