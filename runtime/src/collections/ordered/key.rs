//! Keys, and guesses at the position of a key in a node.
//!
//! Ids ascend and hashes are evenly distributed, so interpolation between the bounds of a node
//! finds a key's likely position. A search that starts there reads one or two items, which are
//! often far away in memory; a binary search reads several.
//! INVARIANT: a guess decides where a search starts; its result depends on the order alone.
//! It does not descend to a leaf; `../ordered.rs` does.
//! Read next: `../ordered.rs`.

use std::borrow::Borrow;
use std::sync::Arc;

use crate::model::identity::{ActorId, CapabilityId, FacetId, FiberId, Handle, ObserverId, RequestId, WaitId};

/// A key of an ordered map.
pub trait Key: Ord {
    /// Returns the position of the key on a line: never beyond that of a greater key, and roughly
    /// proportional to the number of keys below it.
    fn ordinal(&self) -> Option<u64> {
        None
    }
}

impl Key for str {}
impl Key for String {}

impl<T: Key + ?Sized> Key for Arc<T> {
    fn ordinal(&self) -> Option<u64> {
        T::ordinal(self)
    }
}

impl Key for u8 {
    fn ordinal(&self) -> Option<u64> {
        Some(u64::from(*self))
    }
}

impl Key for u32 {
    fn ordinal(&self) -> Option<u64> {
        Some(u64::from(*self))
    }
}

impl Key for u64 {
    fn ordinal(&self) -> Option<u64> {
        Some(*self)
    }
}

macro_rules! id_keys {
    ($($id:ident)*) => {$(
        impl Key for $id {
            fn ordinal(&self) -> Option<u64> {
                Some(self.0)
            }
        }
    )*};
}
id_keys!(ActorId FacetId Handle ObserverId FiberId WaitId RequestId CapabilityId);

impl<A: Key, B: Ord> Key for (A, B) {
    fn ordinal(&self) -> Option<u64> {
        self.0.ordinal()
    }
}

/// The bounds of some keys: the first is at most the least of them, the second is greater than all.
pub(super) struct Bounds<'a, K> {
    low: Option<&'a K>,
    high: Option<&'a K>,
}

impl<K> Clone for Bounds<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Bounds<'_, K> {}

impl<'a, K> Bounds<'a, K> {
    /// Those of all keys.
    pub(super) const NONE: Self = Self { low: None, high: None };

    /// Those of the child at `place` of a branch with these bounds, from the least key of each
    /// child but the first.
    pub(super) fn of_child(self, keys: &'a [K], place: usize) -> Self {
        let low = if place == 0 { None } else { keys.get(place - 1) };
        Self {
            low: low.or(self.low),
            high: keys.get(place).or(self.high),
        }
    }
}

/// Finds `key` among entries between two bounds.
pub(super) fn find<K: Borrow<Q>, V, Q: Key + ?Sized>(
    entries: &[(K, V)],
    key: &Q,
    bounds: Bounds<'_, K>,
) -> Option<usize> {
    let place = first_at(
        entries,
        |(other, _)| other.borrow() >= key,
        guess(entries.len(), key, bounds),
    );
    entries
        .get(place)
        .filter(|(other, _)| other.borrow() == key)
        .map(|_| place)
}

/// Finds the child of a branch that may hold `key`, from the least key of each child but the first.
pub(super) fn child<K: Borrow<Q>, Q: Key + ?Sized>(keys: &[K], key: &Q, bounds: Bounds<'_, K>) -> usize {
    first_at(keys, |least| least.borrow() > key, guess(keys.len(), key, bounds))
}

/// Finds the first item for which `is_reached` holds. The search starts at the guess and doubles
/// its steps, so a wrong guess costs no more than a binary search does.
fn first_at<T>(items: &[T], is_reached: impl Fn(&T) -> bool, guess: Option<usize>) -> usize {
    let is_before = |item: &T| !is_reached(item);
    let Some(guess) = guess else {
        return items.partition_point(is_before);
    };
    let (mut start, mut end) = (0, items.len());
    let mut step = 1;
    let mut place = guess.min(end);
    if place < end && is_before(&items[place]) {
        while place < end && is_before(&items[place]) {
            start = place + 1;
            place += step;
            step *= 2;
        }
        end = end.min(place);
    } else {
        while place > 0 && is_reached(&items[place - 1]) {
            end = place - 1;
            place = end.saturating_sub(step);
            step *= 2;
        }
        end = end.min(guess);
        start = place;
    }
    start + items[start..end].partition_point(is_before)
}

/// Guesses the position of `key` among `length` entries between two bounds.
fn guess<K: Borrow<Q>, Q: Key + ?Sized>(length: usize, key: &Q, bounds: Bounds<'_, K>) -> Option<usize> {
    let ordinal = key.ordinal()?;
    let (low, high) = (bounds.low?.borrow().ordinal()?, bounds.high?.borrow().ordinal()?);
    let (offset, span) = (ordinal.checked_sub(low)?, high.checked_sub(low)?);
    if span == 0 {
        return None;
    }
    // The shift keeps the product below 2^64.
    let shift = (u64::BITS - span.leading_zeros()).saturating_sub(u64::BITS / 2);
    let place = (offset >> shift) * length as u64 / (span >> shift);
    Some(place as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_the_same_item_from_any_guess() {
        for length in 0..20_usize {
            let items: Vec<usize> = (0..length).collect();
            for first in 0..=length {
                for guess in (0..length + 3).map(Some).chain([None]) {
                    let found = first_at(&items, |item| *item >= first, guess);
                    assert_eq!(found, first, "of {length} from {guess:?}");
                }
            }
        }
    }
}
