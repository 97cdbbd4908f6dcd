//! The origins of characters and bytes that a traced computation has put into strings and
//! bytevectors.
//!
//! A string has no word for each character, so ranges of positions have origins.
//! INVARIANT: the ranges of one object do not overlap; a position outside them has the origin of
//! the object.
//! Read next: `primitive.rs`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::OriginId;

/// Where a piece begins: the index of the object, and the position in it.
type Start = (usize, usize);

/// The pieces that were put into strings and bytevectors, and their origins.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    /// The end and the origin of each piece.
    pieces: BTreeMap<Start, (usize, OriginId)>,
}

impl Contents {
    /// The pieces of a range, without those that came with the object.
    pub(super) fn pieces(&self, object: usize, range: &Range<usize>) -> Vec<(Range<usize>, OriginId)> {
        let pieces = self
            .pieces
            .range(self.first(object, range.start)..(object, range.end.max(range.start)));
        let cut = pieces.map(|((_, start), (end, id))| ((*start).max(range.start)..(*end).min(range.end), *id));
        cut.filter(|(piece, _)| !piece.is_empty()).collect()
    }

    /// Gives a range an origin.
    pub(super) fn put(&mut self, object: usize, range: Range<usize>, id: OriginId) {
        if range.is_empty() {
            return;
        }
        let touched = self.pieces.range(self.first(object, range.start)..(object, range.end));
        let touched: Vec<(usize, (usize, OriginId))> = touched
            .filter(|(_, (end, _))| *end > range.start)
            .map(|((_, start), piece)| (*start, *piece))
            .collect();
        for (start, (end, old)) in touched {
            self.pieces.remove(&(object, start));
            if start < range.start {
                self.pieces.insert((object, start), (range.start, old));
            }
            if end > range.end {
                self.pieces.insert((object, range.end), (end, old));
            }
        }
        self.pieces.insert((object, range.start), (range.end, id));
    }

    /// The same where objects have other places; nothing of those that are gone.
    pub(super) fn moved(&self, place: &dyn Fn(&usize) -> Option<usize>) -> Self {
        let pieces = self.pieces.iter();
        let pieces = pieces.filter_map(|((object, start), piece)| Some(((place(object)?, *start), *piece)));
        Self {
            pieces: pieces.collect(),
        }
    }

    /// Where the first piece that may reach a position begins.
    fn first(&self, object: usize, position: usize) -> Start {
        let mut before = self.pieces.range((object, 0)..=(object, position));
        before.next_back().map_or((object, position), |(start, _)| *start)
    }
}
