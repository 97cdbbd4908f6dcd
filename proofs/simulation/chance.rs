//! Repeatable random numbers.
//!
//! INVARIANT: a number follows from the seed and the count of numbers drawn before it.
//! Read next: `operation.rs`.

/// A source of numbers that look random.
///
/// Source: SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The source that belongs to a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    /// Draws a number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    /// Draws one of several things.
    pub(crate) fn one_of<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.index(things.len())]
    }

    /// Draws a position in something of `length` elements, which is not 0.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        // Lossless: a remainder is smaller than the length it was made with.
        self.below(length as u64) as usize
    }

    /// Says yes in `percent` of 100 cases.
    pub(crate) fn is_so(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
