//! Marks of the objects that a search has seen.
//!
//! INVARIANT: nothing is collected while there are marks, which know objects by their places.
//! It does not search. Read next: `printer/labels.rs`.

use crate::value::Value;

/// The state of a part in the search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It has not been seen.
    Never,
    /// The search is in it.
    Open,
    /// The search has left it.
    Done,
}

/// The size of one page of marks, in bytes; a byte has four marks.
const PAGE_BYTES: usize = 1024;

/// Marks by word index, in pages that are allocated where something is marked.
#[derive(Default)]
pub(crate) struct Marks {
    pages: Vec<Option<Box<[u8; PAGE_BYTES]>>>,
}

impl Marks {
    pub(crate) fn get(&self, part: Value) -> Mark {
        let (page, byte, shift) = place(part);
        match self.pages.get(page) {
            Some(Some(marks)) => match marks[byte] >> shift & 0b11 {
                0 => Mark::Never,
                1 => Mark::Open,
                _ => Mark::Done,
            },
            _ => Mark::Never,
        }
    }

    pub(crate) fn set(&mut self, part: Value, mark: Mark) {
        let (page, byte, shift) = place(part);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let marks = self.pages[page].get_or_insert_with(|| Box::new([0; PAGE_BYTES]));
        marks[byte] = marks[byte] & !(0b11 << shift) | (mark as u8) << shift;
    }
}

/// Returns the page, the byte in it and the shift in that of a part's mark; objects start at even
/// words.
fn place(part: Value) -> (usize, usize, u32) {
    let object = part.index() / 2;
    let byte = object / 4;
    (byte / PAGE_BYTES, byte % PAGE_BYTES, (object % 4 * 2) as u32)
}
