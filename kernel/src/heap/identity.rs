//! Identity dictionaries, keyed by `eqv?`: the index hashes addresses, and is rebuilt after objects
//! have moved.
//!
//! Owns the head of such an index: how often the heap's objects had moved when it was right, the
//! number of leading entries whose keys were in old space, and the number of slots in use. A minor
//! collection moves young keys only, so the later entries get new slots; their stale slots do no
//! harm, because a lookup compares keys. A major collection makes a whole rebuild necessary.
//! Neither costs more than the collection did.
//! INVARIANT: at least a quarter of the slots are free, so every probe ends; the order of entries
//! depends on insertion alone, never on addresses.
//! It does not know how entries are stored. Numbers hash by value.
//! Read next: `heap/dictionary.rs`.

use super::kind::{Flags, Sameness, table};
use super::{Heap, Kind};
use crate::value::Value;

/// Counts of moves; they never decrease, not even when a move is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Moves {
    /// Collections that may have moved all objects.
    pub(super) all: u64,
    /// Collections that moved young objects only.
    pub(super) young: u64,
}

/// Bytes of an index's head: two 64-bit counts, then two of 32 bits.
pub(super) const HEAD_BYTES: usize = 24;
const ALL: usize = 0;
const YOUNG: usize = 8;
const OLD_ENTRIES: usize = 16;
const TAKEN: usize = 20;

impl Heap {
    /// Counts how often objects have changed their places; it never decreases.
    pub(crate) fn moves_count(&self) -> u64 {
        self.moves.all + self.moves.young
    }

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

    /// The hash of a key's address; `None` for a key that hashes by value.
    pub(super) fn address_hash(&self, key: Value) -> Option<u64> {
        const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
        if !key.is_reference() {
            return None;
        }
        let sameness = self.kind_of(key).map(Kind::sameness);
        let is_number = matches!(sameness, Some(Sameness::Number | Sameness::Numbers));
        (!is_number).then(|| (key.index() as u64).wrapping_mul(MULTIPLIER) >> 8)
    }

    /// Rebuilds the slots of a table after collections, as far as needed. Tables that hash by
    /// value, or have no index, need nothing.
    pub(super) fn rehash_if_moved(&mut self, table: Value) {
        let index = self.field(table, table::INDEX);
        if !index.is_true() || !self.is_by_identity(table) {
            return;
        }
        if self.long_at(index, ALL) != self.moves.all {
            self.rehash_all(table);
        } else if self.long_at(index, YOUNG) != self.moves.young {
            let (old_entries, used) = (self.short_at(index, OLD_ENTRIES), self.used(table));
            if self.has_slots(index, used.saturating_sub(old_entries)) {
                self.index_from(table, old_entries);
                self.note_rehashed(index, used);
            } else {
                self.rehash_all(table);
            }
        }
    }

    /// Enters the last entry of an identity table into its index, which has a free slot.
    pub(super) fn index_last(&mut self, table: Value) {
        let index = self.field(table, table::INDEX);
        let last = self.used(table) - 1;
        if !self.has_slots(index, 1) {
            return self.rehash_all(table);
        }
        let old_entries = self.short_at(index, OLD_ENTRIES);
        self.index_from(table, last);
        if old_entries == last && self.is_old_key(self.table_entry(table, last).key) {
            self.set_short(index, OLD_ENTRIES, last + 1);
        }
    }

    /// Initialises the index of an identity table without entries.
    pub(super) fn begin_identity_index(&mut self, index: Value) {
        self.note_rehashed(index, 0);
    }

    /// Rebuilds all slots.
    fn rehash_all(&mut self, table: Value) {
        let index = self.field(table, table::INDEX);
        let length = self.object_length(index);
        self.raw_range_mut(index, HEAD_BYTES, length).fill(0);
        self.set_short(index, TAKEN, 0);
        self.index_from(table, 0);
        // A key that was inserted since the last collection may be young.
        let used = self.used(table);
        let old_entries = (0..used)
            .find(|&ordinal| !self.is_old_key(self.table_entry(table, ordinal).key))
            .unwrap_or(used);
        self.note_rehashed(index, old_entries);
    }

    /// Enters the entries from `first` on.
    fn index_from(&mut self, table: Value, first: usize) {
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

    /// Whether a key keeps its address until the next major collection.
    fn is_old_key(&self, key: Value) -> bool {
        !key.is_reference() || key.index() < self.line
    }

    /// Notes that all slots are right, and that the keys of the first `old_entries` entries are
    /// old.
    fn note_rehashed(&mut self, index: Value, old_entries: usize) {
        let Moves { all, young } = self.moves;
        self.raw_range_mut(index, ALL, YOUNG)
            .copy_from_slice(&all.to_le_bytes());
        self.raw_range_mut(index, YOUNG, OLD_ENTRIES)
            .copy_from_slice(&young.to_le_bytes());
        self.set_short(index, OLD_ENTRIES, old_entries);
    }

    /// Whether the index has room for `count` more slots.
    fn has_slots(&self, index: Value, count: usize) -> bool {
        let slots = (self.object_length(index) - HEAD_BYTES) / 4;
        self.short_at(index, TAKEN) + count <= slots / 4 * 3
    }

    /// Whether the head of an index that came from outside leaves room for later collections.
    pub(super) fn has_sound_identity_index(&self, index: Value) -> bool {
        self.long_at(index, ALL) <= u64::MAX / 2
    }

    /// Makes all identity indexes of this heap, whose words come from another one, outdated.
    pub(crate) fn outdate_identity_indexes(&mut self, tables: impl Iterator<Item = Value>) {
        let latest = tables
            .filter(|&table| self.is_by_identity(table) && self.field(table, table::INDEX).is_true())
            .map(|table| self.long_at(self.field(table, table::INDEX), ALL))
            .max();
        if let Some(latest) = latest {
            self.moves.all = latest + 1;
        }
    }

    fn used(&self, table: Value) -> usize {
        self.table_places(table)
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
