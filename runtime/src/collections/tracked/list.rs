//! Tracked lists that support appending and clearing.
//!
//! INVARIANT: the list is a map from the places 0, 1, … to the items, and the map's invariant is
//! its own.
//! It does not know what the items mean.
//! Read next: `cell.rs`.

use std::fmt::{self, Debug};

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use super::map::Tracked;
use super::tracking::tracked_newtype;
use crate::model::codec::{Codec, DecodeError};

/// A persistent list that can undo its changes since the last commit.
#[derive(Clone)]
pub struct TrackedList<T>(Tracked<u32, T>);

impl<T> Default for TrackedList<T> {
    fn default() -> Self {
        Self(Tracked::default())
    }
}

impl<T: Debug> Debug for TrackedList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for TrackedList<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> TrackedList<T> {
    /// Says whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lists the items, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.values()
    }
}

impl<T: Clone> TrackedList<T> {
    /// Appends an item.
    pub fn push(&mut self, item: T) {
        let place = self.0.len() as u32;
        self.0.insert(place, item);
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

tracked_newtype!(TrackedList [T: Clone]);

impl<T: Codec + Clone> Codec for TrackedList<T> {
    fn write(&self, out: &mut PackedWriter) {
        out.sequence(|out| self.iter().for_each(|item| item.write(out)));
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let items: Vec<T> = Codec::decode(value)?;
        Ok(Self((0..).zip(items).collect()))
    }
}
