//! Tracked sets.
//!
//! INVARIANT: a set is a map from its members to nothing, and the map's invariant is its own.
//! It does not know what the members mean.
//! Read next: `list.rs`.

use std::fmt::{self, Debug};
use std::ops::RangeBounds;

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use super::map::Tracked;
use super::tracking::tracked_newtype;
use crate::collections::ordered::Key;
use crate::model::codec::{Codec, DecodeError};

/// A persistent set that can undo its changes since the last commit.
#[derive(Clone, PartialEq)]
pub struct TrackedSet<K: Key + Clone>(Tracked<K, ()>);

impl<K: Key + Clone> Default for TrackedSet<K> {
    fn default() -> Self {
        Self(Tracked::default())
    }
}

impl<K: Key + Clone + Debug> Debug for TrackedSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<K: Key + Clone> TrackedSet<K> {
    /// Adds a member.
    pub fn insert(&mut self, member: K) {
        self.0.insert(member, ());
    }

    /// Removes a member, if it is present.
    pub fn remove(&mut self, member: &K) {
        self.0.remove(member);
    }

    /// Says whether the set has no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Lists the members in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.0.keys()
    }

    /// Lists the members in `range` in ascending order.
    pub fn range(&self, range: impl RangeBounds<K>) -> impl DoubleEndedIterator<Item = &K> {
        self.0.range(range).map(|(member, ())| member)
    }
}

tracked_newtype!(TrackedSet [K: Key + Clone]);

impl<K: Codec + Key + Clone> Codec for TrackedSet<K> {
    fn write(&self, out: &mut PackedWriter) {
        out.sequence(|out| self.iter().for_each(|item| item.write(out)));
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let members: Vec<K> = Codec::decode(value)?;
        if !members.is_sorted_by(|left, right| left < right) {
            return Err(DecodeError::Inconsistent {
                what: "the members are in ascending order",
            });
        }
        Ok(Self(members.into_iter().map(|member| (member, ())).collect()))
    }
}
