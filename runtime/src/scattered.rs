//! A map whose keys are found by their hashes.
//!
//! The entries stand one after the other in pages; a list of slots, which is small, says for a hash where its entry is. So whoever looks for one among very
//! many reads two things that are far away in memory, where a tree has several nodes.
//! INVARIANT: every entry has one slot, and between that and the first one for its hash no slot is free. In which order the entries stand depends on what was added
//! and removed, so nobody may tell.
//! It does not know how to go back; `tracked.rs` does.
//! Read next: `tracked/table.rs`, `dataspace/index.rs`.

use std::fmt::{self, Debug};
use std::mem;

/// So many entries share a page.
const PAGE: usize = 128;
/// There are never fewer slots, once there are any.
const SLOTS_MIN: usize = 8;

/// A key of a scattered map.
pub(crate) trait Scatter: Eq {
    /// A hash of the whole key, of which each bit depends on all of it.
    fn hash(&self) -> u64;
}

/// A map in no order.
#[derive(Clone)]
pub(crate) struct Scattered<K, V> {
    /// As many as a power of two, of which at most three in four are taken.
    slots: Vec<Slot>,
    /// All full but the last.
    pages: Vec<Vec<(K, V)>>,
}

/// Where an entry is: in the upper half the upper half of its key's hash, in the lower one more than its number. Zero is free.
#[derive(Clone, Copy, PartialEq)]
struct Slot(u64);

impl Slot {
    const FREE: Self = Self(0);
    const NUMBER: u64 = u32::MAX as u64;

    // Memory ends long before the numbers do.
    fn new(hash: u64, entry: usize) -> Self {
        Self(hash & !Self::NUMBER | (entry as u64 + 1))
    }

    fn entry(self) -> usize {
        (self.0 & Self::NUMBER) as usize - 1
    }

    /// Says whether the slot's key may have this hash.
    fn is_of(self, hash: u64) -> bool {
        (self.0 ^ hash) & !Self::NUMBER == 0
    }

    fn with_entry(self, entry: usize) -> Self {
        Self::new(self.0, entry)
    }
}

impl<K, V> Default for Scattered<K, V> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            pages: Vec::new(),
        }
    }
}

impl<K: Debug, V: Debug> Debug for Scattered<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(key, value)| (key, value)))
            .finish()
    }
}

impl<K, V> Scattered<K, V> {
    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        let last = self.pages.last().map_or(0, Vec::len);
        self.pages.len().saturating_sub(1) * PAGE + last
    }

    /// Lists the entries in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.pages.iter().flatten()
    }

    fn entry(&self, number: usize) -> &(K, V) {
        &self.pages[number / PAGE][number % PAGE]
    }

    /// The first slot for a hash: slots stand in the order of the hashes, as far as they can.
    fn home(&self, hash: u64) -> usize {
        // There are at least two slots, and fewer than numbers.
        (hash >> (u64::BITS - self.slots.len().trailing_zeros())) as usize
    }

    fn next(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// The first slot from that of `hash` on which is free, or which `is_it`.
    fn seek(&self, hash: u64, is_it: impl Fn(Slot) -> bool) -> usize {
        let mut at = self.home(hash);
        while self.slots[at] != Slot::FREE && !is_it(self.slots[at]) {
            at = self.next(at);
        }
        at
    }

    /// Gives the entries as many slots.
    fn resize(&mut self, slots: usize) {
        let old = mem::replace(&mut self.slots, vec![Slot::FREE; slots]);
        for slot in old.into_iter().filter(|slot| *slot != Slot::FREE) {
            let free = self.seek(slot.0, |_| false);
            self.slots[free] = slot;
        }
    }

    /// Frees a slot, and moves those up that were moved on for it.
    fn free(&mut self, slot: usize) {
        let (mut gap, mut at) = (slot, self.next(slot));
        let distance = |from: usize, to: usize, slots: usize| to.wrapping_sub(from) & (slots - 1);
        while self.slots[at] != Slot::FREE {
            let (home, slots) = (self.home(self.slots[at].0), self.slots.len());
            if distance(home, at, slots) >= distance(gap, at, slots) {
                self.slots[gap] = self.slots[at];
                gap = at;
            }
            at = self.next(at);
        }
        self.slots[gap] = Slot::FREE;
    }
}

impl<K: Scatter, V> Scattered<K, V> {
    /// Finds a key's slot, or the one that it is to have.
    fn find(&self, key: &K, hash: u64) -> Result<usize, usize> {
        let at = self.seek(hash, |slot| slot.is_of(hash) && self.entry(slot.entry()).0 == *key);
        if self.slots[at] == Slot::FREE { Err(at) } else { Ok(at) }
    }

    /// The number of a key's entry.
    fn number(&self, key: &K) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.find(key, key.hash()).ok()?;
        Some(self.slots[slot].entry())
    }

    /// Returns what stands under `key`.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.number(key).map(|number| &self.entry(number).1)
    }

    /// Returns what stands under `key`, to change it.
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let number = self.number(key)?;
        Some(&mut self.pages[number / PAGE][number % PAGE].1)
    }

    /// Puts `value` under `key` and returns what stood there.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let (length, hash) = (self.len(), key.hash());
        if (length + 1) * 4 > self.slots.len() * 3 {
            self.resize((self.slots.len() * 2).max(SLOTS_MIN));
        }
        match self.find(&key, hash) {
            Ok(slot) => {
                let number = self.slots[slot].entry();
                Some(mem::replace(&mut self.pages[number / PAGE][number % PAGE].1, value))
            }
            Err(slot) => {
                self.slots[slot] = Slot::new(hash, length);
                self.push(key, value);
                None
            }
        }
    }

    fn push(&mut self, key: K, value: V) {
        match self.pages.last_mut() {
            Some(page) if page.len() < PAGE => page.push((key, value)),
            // Few maps have more than a page.
            Some(_) => {
                let mut page = Vec::with_capacity(PAGE);
                page.push((key, value));
                self.pages.push(page);
            }
            None => self.pages.push(vec![(key, value)]),
        }
    }

    /// Removes what stands under `key` and returns it. The last entry takes its place.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.find(key, key.hash()).ok()?;
        let number = self.slots[slot].entry();
        self.free(slot);
        let last = self.pages.last_mut().and_then(Vec::pop)?;
        if self.pages.pop_if(|page| page.is_empty()).is_some() && self.pages.is_empty() {
            self.pages = Vec::new();
        }
        let removed = if number == self.len() {
            last
        } else {
            let (hash, moved) = (last.0.hash(), self.len());
            let slot = self.seek(hash, |slot| slot.entry() == moved);
            self.slots[slot] = self.slots[slot].with_entry(number);
            mem::replace(&mut self.pages[number / PAGE][number % PAGE], last)
        };
        if self.slots.len() > SLOTS_MIN && self.len() * 8 < self.slots.len() {
            self.resize(self.slots.len() / 2);
        }
        Some(removed.1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// A key with the hash that is wanted.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Of {
        hash: u64,
        number: u8,
    }

    impl Scatter for Of {
        fn hash(&self) -> u64 {
            self.hash
        }
    }

    #[derive(Clone, Debug)]
    enum Do {
        Insert(Of, u32),
        Remove(Of),
        Change(Of, u32),
        RemoveAny(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Do>> {
        // Hashes that are far apart, that are the same or nearly, and that are the last.
        let hash = prop_oneof![
            any::<u64>(),
            0..8_u64,
            (0..4_u64).prop_map(|few| u64::MAX - (few << 40))
        ];
        let key = (hash, 0..4_u8).prop_map(|(hash, number)| Of { hash, number });
        let step = prop_oneof![
            4 => (key.clone(), any::<u32>()).prop_map(|(key, value)| Do::Insert(key, value)),
            1 => key.clone().prop_map(Do::Remove),
            1 => (key, any::<u32>()).prop_map(|(key, value)| Do::Change(key, value)),
            2 => any::<usize>().prop_map(Do::RemoveAny),
        ];
        proptest::collection::vec(step, 0..600)
    }

    fn perform(map: &mut Scattered<Of, u32>, model: &mut BTreeMap<Of, u32>, step: Do) {
        match step {
            Do::Insert(key, value) => assert_eq!(map.insert(key.clone(), value), model.insert(key, value)),
            Do::Remove(key) => assert_eq!(map.remove(&key), model.remove(&key)),
            Do::Change(key, value) => {
                let (found, wanted) = (map.get_mut(&key), model.get_mut(&key));
                assert_eq!(found, wanted);
                found.into_iter().chain(wanted).for_each(|place| *place = value);
            }
            Do::RemoveAny(nth) => {
                let key = model.keys().nth(nth % model.len().max(1)).cloned();
                if let Some(key) = key {
                    assert_eq!(map.remove(&key), model.remove(&key));
                }
            }
        }
    }

    /// Checks that each entry is found on the way from its hash, and that there are no more slots than that takes.
    fn check(map: &Scattered<Of, u32>, model: &BTreeMap<Of, u32>) {
        assert_eq!(map.len(), model.len());
        assert!(model.iter().all(|(key, value)| map.get(key) == Some(value)));
        assert!(map.iter().all(|(key, value)| model.get(key) == Some(value)));
        let taken = map.slots.iter().filter(|slot| **slot != Slot::FREE).count();
        assert_eq!(taken, model.len());
        assert!(map.slots.len() <= SLOTS_MIN.max(8 * (model.len() + 1)));
        let full = map.pages.split_last().map_or(&[][..], |(_, full)| full);
        assert!(full.iter().all(|page| page.len() == PAGE));
    }

    proptest! {
        #[test]
        fn it_behaves_as_the_standard_map_and_clones_are_independent(first in steps(), second in steps()) {
            let (mut map, mut model) = (Scattered::default(), BTreeMap::new());
            first.into_iter().for_each(|step| perform(&mut map, &mut model, step));
            check(&map, &model);
            let (kept, kept_model) = (map.clone(), model.clone());
            second.into_iter().for_each(|step| perform(&mut map, &mut model, step));
            check(&map, &model);
            check(&kept, &kept_model);
            while let Some(key) = model.keys().next().cloned() {
                prop_assert_eq!(map.remove(&key), model.remove(&key));
            }
            check(&map, &model);
        }
    }
}
