//! Dictionaries keyed by `eqv?`: keys are found by where they lie, and found again after they have moved.
//!
//! Such a dictionary is marked by a flag. Its index has a head: how often the heap's objects had moved when the slots were right, up to which entry keys lay in old
//! space, and how many slots are taken. A minor collection moves young keys alone, so the entries from there on get slots anew, and what they had stands
//! in nobody's way, because keys are compared; after a major collection all slots are made anew. Both cost no more than the collection did.
//! INVARIANT: a quarter of the slots at least is free, so every probe ends; the order of entries depends on insertion alone, never on places.
//! Numbers are found by value. It does not know how entries are kept. Read next: `heap/dictionary.rs`.

use super::kind::{Flags, Sameness, table};
use super::{Heap, Kind};
use crate::value::Value;

/// How often a heap's objects have moved; counts never go back, not even when what was moved does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Moves {
    /// How often all objects may have moved.
    pub(super) all: u64,
    /// How often the young ones have.
    pub(super) young: u64,
}

/// Bytes of the head of an index: two 64-bit counts, two of 32 bits.
pub(super) const HEAD_BYTES: usize = 24;
const ALL: usize = 0;
const YOUNG: usize = 8;
const SETTLED: usize = 16;
const TAKEN: usize = 20;

impl Heap {
    /// Makes an empty dictionary that compares keys by `eqv?`.
    ///
    /// # Errors
    /// [`HeapFull`](super::HeapFull).
    pub fn make_identity_dictionary(&mut self) -> Result<Value, super::HeapFull> {
        let dictionary = self.make_dictionary()?;
        self.set_flags(dictionary, Flags::BY_IDENTITY);
        Ok(dictionary)
    }

    /// Whether a dictionary or set compares keys by `eqv?`.
    pub(crate) fn is_by_identity(&self, table: Value) -> bool {
        self.flags(table).has(Flags::BY_IDENTITY)
    }

    /// Bytes before the slots of a table's index.
    pub(super) fn head_bytes(&self, table: Value) -> usize {
        if self.is_by_identity(table) { HEAD_BYTES } else { 0 }
    }

    /// The hash of a key by where it lies, unless it is found by value.
    pub(super) fn place_hash(&self, key: Value) -> Option<u64> {
        const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
        if !key.is_reference() {
            return None;
        }
        let sameness = self.kind_of(key).map(Kind::sameness);
        let is_number = matches!(sameness, Some(Sameness::Number | Sameness::Numbers));
        (!is_number).then(|| (key.index() as u64).wrapping_mul(MULTIPLIER) >> 8)
    }

    /// Makes the slots of a table right after collections. Tables that do not go by identity, or have no index, need nothing.
    pub(super) fn settle_table(&mut self, table: Value) {
        let index = self.field(table, table::INDEX);
        if !index.is_true() || !self.is_by_identity(table) {
            return;
        }
        if self.long_at(index, ALL) != self.moves.all {
            self.place_all(table);
        } else if self.long_at(index, YOUNG) != self.moves.young {
            let (settled, used) = (self.short_at(index, SETTLED), self.used(table));
            if self.has_slots(index, used.saturating_sub(settled)) {
                self.place_from(table, settled);
                self.note_placed(index, used);
            } else {
                self.place_all(table);
            }
        }
    }

    /// Gives the last entry of a table by identity, whose index has room for one, its slot.
    pub(super) fn place_last(&mut self, table: Value) {
        let index = self.field(table, table::INDEX);
        let last = self.used(table) - 1;
        if !self.has_slots(index, 1) {
            return self.place_all(table);
        }
        let settled = self.short_at(index, SETTLED);
        self.place_from(table, last);
        if settled == last && self.is_settled_key(self.table_entry(table, last).key) {
            self.set_short(index, SETTLED, last + 1);
        }
    }

    /// Begins an index of a table by identity that has no entries yet.
    pub(super) fn begin_places(&mut self, index: Value) {
        self.note_placed(index, 0);
    }

    /// Gives all entries their slots anew.
    fn place_all(&mut self, table: Value) {
        let index = self.field(table, table::INDEX);
        let length = self.object_length(index);
        self.raw_range_mut(index, HEAD_BYTES, length).fill(0);
        self.set_short(index, TAKEN, 0);
        self.place_from(table, 0);
        // A key that was put in since the last collection may be young.
        let used = self.used(table);
        let settled = (0..used)
            .find(|&ordinal| !self.is_settled_key(self.table_entry(table, ordinal).key))
            .unwrap_or(used);
        self.note_placed(index, settled);
    }

    /// Gives the entries from `first` on slots.
    fn place_from(&mut self, table: Value, first: usize) {
        let index = self.field(table, table::INDEX);
        let mut taken = self.short_at(index, TAKEN);
        for ordinal in first..self.used(table) {
            let key = self.table_entry(table, ordinal).key;
            if key != Value::ABSENT {
                let hash = self.key_hash(table, key);
                self.fill_slot(table, hash, ordinal);
                taken += 1;
            }
        }
        self.set_short(index, TAKEN, taken);
    }

    /// Whether a key stays where it is until the next major collection.
    fn is_settled_key(&self, key: Value) -> bool {
        !key.is_reference() || key.index() < self.line
    }

    /// Notes that all slots are right, and that the keys of the first `settled` entries stay where they are.
    fn note_placed(&mut self, index: Value, settled: usize) {
        let Moves { all, young } = self.moves;
        self.raw_range_mut(index, ALL, YOUNG)
            .copy_from_slice(&all.to_le_bytes());
        self.raw_range_mut(index, YOUNG, SETTLED)
            .copy_from_slice(&young.to_le_bytes());
        self.set_short(index, SETTLED, settled);
    }

    /// Whether so many slots can be taken.
    fn has_slots(&self, index: Value, count: usize) -> bool {
        let slots = (self.object_length(index) - HEAD_BYTES) / 4;
        self.short_at(index, TAKEN) + count <= slots / 4 * 3
    }

    /// Whether the head of an index that came from outside leaves room for later collections.
    pub(super) fn has_sound_places(&self, index: Value) -> bool {
        self.long_at(index, ALL) <= u64::MAX / 2
    }

    /// Lets this heap, made of words of another, count so that all indexes by place are made anew.
    pub(crate) fn outdate_places(&mut self, tables: impl Iterator<Item = Value>) {
        let latest = tables
            .filter(|&table| self.is_by_identity(table) && self.field(table, table::INDEX).is_true())
            .map(|table| self.long_at(self.field(table, table::INDEX), ALL))
            .max();
        if let Some(latest) = latest {
            self.moves.all = latest + 1;
        }
    }

    fn used(&self, table: Value) -> usize {
        self.field(table, table::USED).as_fixnum().unwrap_or(0) as usize
    }

    fn long_at(&self, index: Value, place: usize) -> u64 {
        let bytes = self.raw_bytes(index)[place..].first_chunk();
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn short_at(&self, index: Value, place: usize) -> usize {
        let bytes = self.raw_bytes(index)[place..].first_chunk();
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
    }

    fn set_short(&mut self, index: Value, place: usize, count: usize) {
        self.raw_range_mut(index, place, place + 4)
            .copy_from_slice(&(count as u32).to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
