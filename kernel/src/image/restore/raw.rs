//! Which words of a heap under restoration were written as bytes.
//!
//! INVARIANT: a word counts as written as bytes from when it was until it is replaced or cut off.
//! It does not know what the words are part of. Read next: `image/restore/check.rs`.

use std::ops::Range;

/// A bit for each word.
#[derive(Default)]
pub(in crate::image) struct Raw(Vec<u64>);

impl Raw {
    #[inline]
    pub(in crate::image) fn set(&mut self, words: Range<usize>) {
        if words.len() == 1
            && let Some(block) = self.0.get_mut(words.start / 64)
        {
            *block |= 1 << (words.start % 64);
            return;
        }
        self.set_all(words);
    }

    fn set_all(&mut self, words: Range<usize>) {
        if self.0.len() * 64 < words.end {
            self.0.resize(words.end.div_ceil(64), 0);
        }
        for (block, bits) in blocks(words) {
            self.0[block] |= bits;
        }
    }

    pub(super) fn clear(&mut self, word: usize) {
        if let Some(bits) = self.0.get_mut(word / 64) {
            *bits &= !(1 << (word % 64));
        }
    }

    pub(super) fn clear_from(&mut self, word: usize) {
        self.0.truncate(word.div_ceil(64));
        if let Some(bits) = self.0.get_mut(word / 64) {
            *bits &= (1 << (word % 64)) - 1;
        }
    }

    /// Whether this word was written as bytes.
    #[inline]
    pub(in crate::image) fn has(&self, word: usize) -> bool {
        let block = self.0.get(word / 64).copied().unwrap_or(0);
        block >> (word % 64) & 1 != 0
    }

    /// How many words were written as bytes.
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|block| block.count_ones() as usize).sum()
    }

    /// How many of these words were written as bytes.
    #[inline]
    pub(super) fn count_within(&self, words: Range<usize>) -> usize {
        if words.len() == 1 {
            return self.has(words.start).into();
        }
        let raw = blocks(words).map(|(block, bits)| self.0.get(block).copied().unwrap_or(0) & bits);
        raw.map(|bits| bits.count_ones() as usize).sum()
    }
}

/// The blocks of 64 words that a range of words touches, and which of their words it has.
#[inline]
fn blocks(words: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    (words.start / 64..words.end.div_ceil(64)).map(move |block| {
        let start = block * 64;
        let from = u64::MAX << words.start.saturating_sub(start);
        let beyond = (start + 64).saturating_sub(words.end);
        (block, from & u64::MAX >> beyond)
    })
}
