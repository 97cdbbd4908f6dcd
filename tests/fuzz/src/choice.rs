//! Bytes as a source of choices.
//!
//! INVARIANT: it never runs dry; behind the last byte every choice is the first one, so generators
//! that put the smallest answer first come to an end.

/// Choices, taken from the front of some bytes.
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Takes choices from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether no byte is left.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next byte, 0 if there is none.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    /// A number below `bound`, which must not be 0; two bytes if one could not reach all.
    pub fn below(&mut self, bound: usize) -> usize {
        let mut number = usize::from(self.byte());
        if bound > 256 {
            number = number << 8 | usize::from(self.byte());
        }
        number % bound
    }

    /// One of several.
    pub fn of<'b, T>(&mut self, several: &'b [T]) -> &'b T {
        &several[self.below(several.len())]
    }

    /// The next bytes, as many as the next byte says, as far as there are any.
    pub fn bytes(&mut self) -> &'a [u8] {
        let length = self.below(256);
        let (taken, rest) = self.bytes.split_at(length.min(self.bytes.len()));
        self.bytes = rest;
        taken
    }
}
