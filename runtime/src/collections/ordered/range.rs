//! Entries in order, from either end.
//!
//! INVARIANT: the iterator returns every entry within the bounds once, from one of the two ends.
//! It does not change the map.
//! Read next: `../tracked.rs`.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use super::{Node, Root};

/// The entries of a map between two bounds.
pub struct Range<'a, K, V> {
    root: &'a Root<K, V>,
    lower: Bound<K>,
    upper: Bound<K>,
    /// A cursor at the next entry of either end; `None` until the first request.
    front: Option<Cursor<'a, K, V>>,
    back: Option<Cursor<'a, K, V>>,
}

/// The children of a branch, and the index of the one on the path.
type Level<'a, K, V> = (&'a [Arc<Node<K, V>>], usize);

/// A place in a map: an entry, or none.
struct Cursor<'a, K, V> {
    /// The branches above, the highest first.
    above: Vec<Level<'a, K, V>>,
    entries: &'a [(K, V)],
    /// Counts from 1; 0 is the position before the first entry.
    place: usize,
}

/// The start of the path to an entry.
enum Top<'a, K, V> {
    Node(&'a Node<K, V>),
    Entries(&'a [(K, V)]),
}

impl<'a, K, V> Top<'a, K, V> {
    fn of(root: &'a Root<K, V>) -> Self {
        match root {
            Root::Empty => Self::Entries(&[]),
            Root::One(only) => Self::Entries(std::slice::from_ref(only)),
            Root::Many { node, .. } => Self::Node(node),
        }
    }
}

/// An end of a range, as the descent to its first or last entry sees it.
enum End<'b, K> {
    First(&'b Bound<K>),
    Last(&'b Bound<K>),
}

impl<K: Ord> End<'_, K> {
    /// Chooses the child of a branch that may hold the entry.
    fn child(&self, keys: &[K]) -> usize {
        match self {
            Self::First(Bound::Unbounded) => 0,
            Self::Last(Bound::Unbounded) => keys.len(),
            Self::First(Bound::Included(key) | Bound::Excluded(key))
            | Self::Last(Bound::Included(key) | Bound::Excluded(key)) => keys.partition_point(|least| least <= key),
        }
    }

    /// Returns the place of the entry in a leaf, counted from 1; it may lie beyond either end.
    fn entry<V>(&self, entries: &[(K, V)]) -> usize {
        let (key, counts_equal) = match self {
            Self::First(Bound::Unbounded) => return 1,
            Self::Last(Bound::Unbounded) => return entries.len(),
            Self::First(Bound::Included(key)) | Self::Last(Bound::Excluded(key)) => (key, false),
            Self::First(Bound::Excluded(key)) | Self::Last(Bound::Included(key)) => (key, true),
        };
        let before = entries.partition_point(|(other, _)| match other.cmp(key) {
            Ordering::Less => true,
            Ordering::Equal => counts_equal,
            Ordering::Greater => false,
        });
        before + usize::from(matches!(self, Self::First(_)))
    }
}

impl<'a, K: Ord, V> Cursor<'a, K, V> {
    /// Descends to the entry at an end of a range.
    fn descend(top: Top<'a, K, V>, end: &End<'_, K>) -> Self {
        let (mut above, mut top) = (Vec::new(), top);
        loop {
            match top {
                Top::Node(Node::Branch(branch)) => {
                    let place = end.child(&branch.keys);
                    above.push((branch.children.as_slice(), place));
                    top = Top::Node(&branch.children[place]);
                }
                Top::Node(Node::Leaf(entries)) => top = Top::Entries(entries),
                Top::Entries(entries) => {
                    let place = end.entry(entries);
                    return Self { above, entries, place };
                }
            }
        }
    }

    /// Finds the first entry that is not below the bound.
    fn first(root: &'a Root<K, V>, lower: &Bound<K>) -> Self {
        let mut cursor = Self::descend(Top::of(root), &End::First(lower));
        if cursor.place > cursor.entries.len() {
            cursor.next_leaf();
        }
        cursor
    }

    /// Finds the last entry that is not above the bound.
    fn last(root: &'a Root<K, V>, upper: &Bound<K>) -> Self {
        let mut cursor = Self::descend(Top::of(root), &End::Last(upper));
        if cursor.place == 0 {
            cursor.leaf_before();
        }
        cursor
    }

    fn entry(&self) -> Option<&'a (K, V)> {
        self.entries.get(self.place.checked_sub(1)?)
    }

    fn advance(&mut self) {
        self.place += 1;
        if self.place > self.entries.len() {
            self.next_leaf();
        }
    }

    fn retreat(&mut self) {
        self.place -= 1;
        if self.place == 0 {
            self.leaf_before();
        }
    }

    /// Moves to the first entry after the leaf; the cursor has no entry if there is none.
    fn next_leaf(&mut self) {
        let is_over = |level: &mut Level<'_, K, V>| level.1 + 1 == level.0.len();
        while self.above.pop_if(is_over).is_some() {}
        if let Some((children, place)) = self.above.last_mut() {
            *place += 1;
            let below = Self::descend(Top::Node(&children[*place]), &End::First(&Bound::Unbounded));
            self.above.extend(below.above);
            (self.entries, self.place) = (below.entries, below.place);
        }
    }

    /// Moves to the last entry before the leaf; the cursor has no entry if there is none.
    fn leaf_before(&mut self) {
        while self.above.pop_if(|(_, place)| *place == 0).is_some() {}
        if let Some((children, place)) = self.above.last_mut() {
            *place -= 1;
            let below = Self::descend(Top::Node(&children[*place]), &End::Last(&Bound::Unbounded));
            self.above.extend(below.above);
            (self.entries, self.place) = (below.entries, below.place);
        }
    }
}

impl<'a, K: Ord, V> Range<'a, K, V> {
    pub(super) fn new(root: &'a Root<K, V>, lower: Bound<K>, upper: Bound<K>) -> Self {
        Self {
            root,
            lower,
            upper,
            front: None,
            back: None,
        }
    }
}

impl<'a, K: Ord, V> Iterator for Range<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        let (root, lower) = (self.root, &self.lower);
        let front = self.front.get_or_insert_with(|| Cursor::first(root, lower));
        let (key, value) = front.entry()?;
        let is_within = match &self.upper {
            Bound::Unbounded => true,
            Bound::Included(last) => key <= last,
            Bound::Excluded(end) => key < end,
        };
        let is_left = |back: &Cursor<'_, K, V>| back.entry().is_some_and(|(last, _)| key <= last);
        if !is_within || !self.back.as_ref().is_none_or(is_left) {
            return None;
        }
        front.advance();
        Some((key, value))
    }
}

impl<K: Ord, V> DoubleEndedIterator for Range<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (root, upper) = (self.root, &self.upper);
        let back = self.back.get_or_insert_with(|| Cursor::last(root, upper));
        let (key, value) = back.entry()?;
        let is_within = match &self.lower {
            Bound::Unbounded => true,
            Bound::Included(first) => key >= first,
            Bound::Excluded(start) => key > start,
        };
        let is_left = |front: &Cursor<'_, K, V>| front.entry().is_some_and(|(first, _)| key >= first);
        if !is_within || !self.front.as_ref().is_none_or(is_left) {
            return None;
        }
        back.retreat();
        Some((key, value))
    }
}
