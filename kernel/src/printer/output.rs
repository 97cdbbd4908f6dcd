//! The text that a printer writes.
//!
//! INVARIANT: it takes no more characters than it was made for, and none when the computation
//! should stop, however long the part is that is being written.
//! It does not know values.
//! Read next: `../printer.rs`.

use std::fmt;

use crate::heap::{Heap, ITEMS_BETWEEN_LOOKS};

/// A text of limited length, in characters.
pub(super) struct Output<'a> {
    heap: &'a Heap,
    pub(super) text: String,
    pub(super) characters_left: usize,
}

impl<'a> Output<'a> {
    pub(super) fn new(heap: &'a Heap, characters_max: usize) -> Self {
        Output {
            heap,
            text: String::new(),
            characters_left: characters_max,
        }
    }

    /// Takes characters from those that are left; fails if the computation should stop.
    fn count(&mut self, characters: usize) -> fmt::Result {
        let before = self.characters_left;
        self.characters_left -= characters;
        let looks = before / ITEMS_BETWEEN_LOOKS != self.characters_left / ITEMS_BETWEEN_LOOKS;
        if looks && self.heap.is_stop_wanted() {
            return Err(fmt::Error);
        }
        Ok(())
    }
}

impl fmt::Write for Output<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > self.characters_left
            && let Some((end, _)) = text.char_indices().nth(self.characters_left)
        {
            self.text.push_str(&text[..end]);
            self.characters_left = 0;
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        self.count(if text.is_ascii() {
            text.len()
        } else {
            text.chars().count()
        })
    }

    fn write_char(&mut self, character: char) -> fmt::Result {
        if self.characters_left == 0 {
            return Err(fmt::Error);
        }
        self.text.push(character);
        self.count(1)
    }
}
