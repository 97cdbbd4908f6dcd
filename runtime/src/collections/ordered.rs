//! A persistent ordered map that is small when it holds few entries and dense when it holds many.
//!
//! Most maps of a state belong to one actor or one facet and hold at most one entry: the map stores
//! a single entry inline. Ids ascend, and ascending keys fill their leaves completely. (A run with
//! 100,000 actors has a million maps. A B-tree took four times the memory, because each of its
//! leaves has room for sixteen entries and ascending keys leave it half full.)
//! INVARIANT: the entries of a node are in ascending order; a node below the root has at least one;
//! a clone shares every node until one of the two changes.
//! It does not know how to undo changes; `tracked.rs` does.
//! Read next: `ordered/key.rs`, `ordered/range.rs`, then `tracked.rs`.

use std::borrow::Borrow;
use std::fmt::{self, Debug};
use std::mem;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use key::{Bounds, child, find};

mod key;
mod range;

pub use key::Key;
pub use range::Range;

/// Maximum number of entries of a leaf, and of children of a branch.
const NODE_MAX: usize = 32;
/// A node that shrinks to this number of entries joins its neighbour,
const NODE_FEW: usize = NODE_MAX / 4;
/// if both together have at most this number of entries.
const JOINED_MAX: usize = NODE_MAX / 2;
/// Nodes grow by at most this number of places at a time.
const STEP: usize = 8;

/// A map in the order of its keys.
#[derive(Clone)]
pub struct Ordered<K, V>(Root<K, V>);

#[derive(Clone)]
enum Root<K, V> {
    Empty,
    One((K, V)),
    Many { node: Arc<Node<K, V>>, length: usize },
}

#[derive(Clone)]
enum Node<K, V> {
    Leaf(Vec<(K, V)>),
    Branch(Branch<K, V>),
}

#[derive(Clone)]
struct Branch<K, V> {
    /// For each child but the first, a key that is at most its least key and greater than all keys
    /// of the child before.
    keys: Vec<K>,
    children: Vec<Arc<Node<K, V>>>,
}

/// The result of an insertion into a node.
enum Inserted<K, V> {
    Replaced(V),
    Added,
    /// The node was full: this node comes after it, and its keys begin with this key.
    Split(K, Arc<Node<K, V>>),
}

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Self(Root::Empty)
    }
}

impl<K: Debug + Key, V: Debug> Debug for Ordered<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Key, V: PartialEq> PartialEq for Ordered<K, V> {
    fn eq(&self, other: &Self) -> bool {
        let is_shared = match (&self.0, &other.0) {
            (Root::Many { node, .. }, Root::Many { node: other, .. }) => Arc::ptr_eq(node, other),
            _ => false,
        };
        is_shared || self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<K, V> Ordered<K, V> {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        match &self.0 {
            Root::Empty => 0,
            Root::One(..) => 1,
            Root::Many { length, .. } => *length,
        }
    }

    /// Says whether there are no entries.
    pub fn is_empty(&self) -> bool {
        matches!(self.0, Root::Empty)
    }
}

impl<K: Key, V> Ordered<K, V> {
    /// Returns the value of `key`.
    pub fn get<Q: Key + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match &self.0 {
            Root::Empty => None,
            Root::One((only, value)) => (only.borrow() == key).then_some(value),
            Root::Many { node, .. } => node.get(key),
        }
    }

    /// Says whether `key` has a value.
    pub fn contains_key<Q: Key + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// Lists the entries in the order of their keys.
    pub fn iter(&self) -> Range<'_, K, V> {
        Range::new(&self.0, Bound::Unbounded, Bound::Unbounded)
    }

    /// Lists the keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Lists the values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Key + Clone, V> Ordered<K, V> {
    /// Lists the entries whose keys lie in `range`, in order.
    pub fn range(&self, range: impl RangeBounds<K>) -> Range<'_, K, V> {
        Range::new(&self.0, range.start_bound().cloned(), range.end_bound().cloned())
    }
}

impl<K: Key + Clone, V: Clone> Ordered<K, V> {
    /// Sets the value of `key` and returns the old value.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match &mut self.0 {
            Root::Empty => self.0 = Root::One((key, value)),
            Root::One((only, old)) if *only == key => return Some(mem::replace(old, value)),
            Root::One(..) => self.insert_second(key, value),
            Root::Many { node, length } => {
                *length += 1;
                match Node::insert(node, key, value) {
                    Inserted::Added => {}
                    Inserted::Replaced(old) => {
                        *length -= 1;
                        return Some(old);
                    }
                    Inserted::Split(key, right) => {
                        let branch = Branch {
                            keys: vec![key],
                            children: vec![Arc::clone(node), right],
                        };
                        *node = Arc::new(Node::Branch(branch));
                    }
                }
            }
        }
        None
    }

    fn insert_second(&mut self, key: K, value: V) {
        if let Root::One((only, old)) = mem::replace(&mut self.0, Root::Empty) {
            let entries = if only < key {
                vec![(only, old), (key, value)]
            } else {
                vec![(key, value), (only, old)]
            };
            let node = Arc::new(Node::Leaf(entries));
            self.0 = Root::Many { node, length: 2 };
        }
    }

    /// Returns the value of `key`, to change it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let mut node = match &mut self.0 {
            Root::Empty => return None,
            Root::One((only, value)) => return (only == key).then_some(value),
            Root::Many { node, .. } => node,
        };
        let mut bounds = Bounds::NONE;
        loop {
            match Arc::make_mut(node) {
                Node::Leaf(entries) => {
                    let place = find(entries, key, bounds)?;
                    return Some(&mut entries[place].1);
                }
                Node::Branch(Branch { keys, children }) => {
                    let place = child(keys, key, bounds);
                    bounds = bounds.of_child(keys, place);
                    node = &mut children[place];
                }
            }
        }
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        match &mut self.0 {
            Root::Empty => None,
            Root::One((only, _)) if only != key => None,
            Root::One(..) => match mem::replace(&mut self.0, Root::Empty) {
                Root::One((_, value)) => Some(value),
                Root::Empty | Root::Many { .. } => None,
            },
            Root::Many { node, length } => {
                // Checks first, because a change would copy a shared path even if the key is
                // absent.
                if Arc::strong_count(node) > 1 {
                    node.get(key)?;
                }
                let removed = Node::remove(node, key)?;
                *length -= 1;
                self.lower();
                Some(removed)
            }
        }
    }

    /// Makes the root as low as its entries allow.
    fn lower(&mut self) {
        while let Root::Many { node, .. } = &mut self.0 {
            let next = match &**node {
                Node::Branch(branch) if branch.children.len() == 1 => Arc::clone(&branch.children[0]),
                Node::Leaf(entries) if entries.len() == 1 => {
                    self.0 = Root::One(entries[0].clone());
                    return;
                }
                Node::Branch(_) | Node::Leaf(_) => return,
            };
            *node = next;
        }
    }
}

impl<K: Key + Clone, V: Clone> FromIterator<(K, V)> for Ordered<K, V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(entries: T) -> Self {
        let mut map = Self::default();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<'a, K: Key, V> IntoIterator for &'a Ordered<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Range<'a, K, V>;

    fn into_iter(self) -> Range<'a, K, V> {
        self.iter()
    }
}

/// Finds the position of `key` among entries, or the position to insert it; tries the end first,
/// because most inserted keys are the greatest.
fn position<K: Borrow<Q>, V, Q: Key + ?Sized>(entries: &[(K, V)], key: &Q) -> Result<usize, usize> {
    match entries.last() {
        Some((last, _)) if last.borrow() < key => Err(entries.len()),
        _ => entries.binary_search_by(|(other, _)| other.borrow().cmp(key)),
    }
}

/// Makes room for at most [`STEP`] more items.
fn grow<T>(items: &mut Vec<T>) {
    if items.len() == items.capacity() {
        items.reserve_exact(items.len().clamp(1, STEP));
    }
}

/// Frees room that would hold many more items.
fn shrink<T>(items: &mut Vec<T>) {
    if items.capacity() >= items.len() + 2 * STEP {
        items.shrink_to(items.len() + STEP);
    }
}

/// Splits off the second half of `items`.
fn halve<T>(items: &mut Vec<T>) -> Vec<T> {
    let second = items.split_off(items.len() / 2);
    shrink(items);
    second
}

impl<K: Key, V> Node<K, V> {
    fn get<Q: Key + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (mut node, mut bounds) = (self, Bounds::NONE);
        loop {
            match node {
                Self::Leaf(entries) => return find(entries, key, bounds).map(|place| &entries[place].1),
                Self::Branch(branch) => {
                    let place = child(&branch.keys, key, bounds);
                    bounds = bounds.of_child(&branch.keys, place);
                    node = &branch.children[place];
                }
            }
        }
    }
}

impl<K: Key + Clone, V: Clone> Node<K, V> {
    fn insert(node: &mut Arc<Self>, key: K, value: V) -> Inserted<K, V> {
        match Arc::make_mut(node) {
            Self::Leaf(entries) => match position(entries, &key) {
                Ok(place) => Inserted::Replaced(mem::replace(&mut entries[place].1, value)),
                Err(place) if entries.len() < NODE_MAX => {
                    grow(entries);
                    entries.insert(place, (key, value));
                    Inserted::Added
                }
                Err(place) => split_leaf(entries, place, (key, value)),
            },
            Self::Branch(branch) => {
                let place = child(&branch.keys, &key, Bounds::NONE);
                match Self::insert(&mut branch.children[place], key, value) {
                    Inserted::Split(key, right) => branch.insert_child(place, key, right),
                    inserted @ (Inserted::Added | Inserted::Replaced(_)) => inserted,
                }
            }
        }
    }

    /// Removes an entry, if it is present.
    fn remove(node: &mut Arc<Self>, key: &K) -> Option<V> {
        match Arc::make_mut(node) {
            Self::Leaf(entries) => {
                let (_, value) = entries.remove(position(entries, key).ok()?);
                shrink(entries);
                Some(value)
            }
            Self::Branch(branch) => {
                let place = child(&branch.keys, key, Bounds::NONE);
                let removed = Self::remove(&mut branch.children[place], key)?;
                branch.tidy(place);
                Some(removed)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Leaf(entries) => entries.len(),
            Self::Branch(branch) => branch.children.len(),
        }
    }
}

/// Splits a full leaf to insert an entry. An insertion at either end leaves the old leaf full,
/// because ids and similar keys arrive there.
fn split_leaf<K: Clone, V>(entries: &mut Vec<(K, V)>, place: usize, entry: (K, V)) -> Inserted<K, V> {
    let right = if place == entries.len() {
        vec![entry]
    } else if place == 0 {
        mem::replace(entries, vec![entry])
    } else {
        let mut right = halve(entries);
        let (half, place) = match place.checked_sub(entries.len()) {
            Some(place) => (&mut right, place),
            None => (&mut *entries, place),
        };
        grow(half);
        half.insert(place, entry);
        right
    };
    Inserted::Split(right[0].0.clone(), Arc::new(Node::Leaf(right)))
}

impl<K: Key + Clone, V: Clone> Branch<K, V> {
    /// Inserts `right` after the child at `place`.
    fn insert_child(&mut self, place: usize, key: K, right: Arc<Node<K, V>>) -> Inserted<K, V> {
        grow(&mut self.keys);
        grow(&mut self.children);
        self.keys.insert(place, key);
        self.children.insert(place + 1, right);
        if self.children.len() <= NODE_MAX {
            return Inserted::Added;
        }
        // An insertion at the end leaves the old branch full, as in a leaf.
        let is_last = place + 2 == self.children.len();
        let middle = if is_last {
            self.children.len() - 1
        } else {
            self.children.len() / 2
        };
        let right = Branch {
            children: self.children.split_off(middle),
            keys: self.keys.split_off(middle),
        };
        let key = self.keys.pop();
        shrink(&mut self.keys);
        shrink(&mut self.children);
        match key {
            Some(key) => Inserted::Split(key, Arc::new(Node::Branch(right))),
            None => Inserted::Added,
        }
    }

    /// Removes the child at `place` if it is empty, and joins it with a neighbour if both are
    /// small.
    fn tidy(&mut self, place: usize) {
        let length = self.children[place].len();
        if length == 0 {
            self.children.remove(place);
            // The first child has the bound of its branch.
            if !self.keys.is_empty() {
                self.keys.remove(place.saturating_sub(1));
            }
        } else if length <= NODE_FEW {
            if place + 1 < self.children.len() {
                self.join(place);
            } else if place > 0 {
                self.join(place - 1);
            }
        }
    }

    /// Joins the child at `left` with the next child, if both together are small.
    fn join(&mut self, left: usize) {
        if self.children[left].len() + self.children[left + 1].len() > JOINED_MAX {
            return;
        }
        let right = Arc::unwrap_or_clone(self.children.remove(left + 1));
        let least = self.keys.remove(left);
        match (Arc::make_mut(&mut self.children[left]), right) {
            (Node::Leaf(entries), Node::Leaf(more)) => entries.extend(more),
            (Node::Branch(branch), Node::Branch(more)) => {
                branch.keys.push(least);
                branch.keys.extend(more.keys);
                branch.children.extend(more.children);
            }
            // All children of a branch have the same height.
            (Node::Leaf(_), Node::Branch(_)) | (Node::Branch(_), Node::Leaf(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests;
