//! Dictionaries and sets: tables in order of insertion, keyed by `equal?`.
//!
//! Owns the entries, a vector in order of insertion, and the index of 32-bit slots that finds them
//! by hash once there are more than a few. A deleted entry keeps its place until the table grows,
//! so an iteration by ordinal survives deletions; insertion may renumber, in a new vector. The
//! number of deleted entries at the front is known, so the first entry is found at once.
//! INVARIANT: the index has more free slots than entries, so every probe ends; order depends on
//! insertion alone, never on hashes.
//! It does not copy keys: a key that is mutated in a table is lost.
//! Read next: `heap/equality.rs`.

use std::ops::Range;

use super::kind::table;
use super::{Heap, HeapFull, Kind};
use crate::value::Value;

/// Places of the first entries vector, and how many entries are found without an index.
const ENTRIES_SMALL: usize = 8;
/// The bits that count the places in use; those above count the deleted entries at the front.
const PLACES_BITS: u32 = 32;
/// The greatest number of deleted entries at the front that leaves a fixnum.
const DELETED_FIRST_MAX: u64 = (1 << 28) - 1;
const HASH: usize = 0;
const KEY: usize = 1;
const VALUE: usize = 2;

/// One entry of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// Its place in the order of insertion, counted from 0; grows along the table but need not be
    /// dense.
    pub ordinal: usize,
    /// The key.
    pub key: Value,
    /// The value; in a set, the key again.
    pub value: Value,
}

impl Heap {
    /// Makes an empty dictionary.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn make_dictionary(&mut self) -> Result<Value, HeapFull> {
        self.make(
            Kind::Dictionary,
            &[Value::ZERO, Value::ZERO, Value::FALSE, Value::FALSE],
        )
    }

    /// Makes an empty set.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn make_set(&mut self) -> Result<Value, HeapFull> {
        self.make(Kind::Set, &[Value::ZERO, Value::ZERO, Value::FALSE, Value::FALSE])
    }

    /// How many entries a dictionary or set has.
    #[inline]
    pub fn table_count(&self, table: Value) -> usize {
        self.table_number(table, table::COUNT)
    }

    /// The entry of `key`, if the dictionary or set has one. May give the key an identity hash,
    /// hence `mut`.
    pub fn table_get(&mut self, table: Value, key: Value) -> Option<TableEntry> {
        if self.table_count(table) == 0 {
            return None;
        }
        self.rehash_if_moved(table);
        let hash = self.key_hash(table, key);
        self.find_entry(table, key, hash)
            .map(|ordinal| self.table_entry(table, ordinal))
    }

    /// The entry of a key that was looked for before, so that it has its hash; costs nothing.
    pub(crate) fn table_get_again(&mut self, table: Value, key: Value) -> Option<TableEntry> {
        let is_table = self.is_kind(table, Kind::Dictionary) || self.is_kind(table, Kind::Set);
        let charged = self.charged();
        let entry = is_table.then(|| self.table_get(table, key))?;
        self.set_charged(charged);
        entry
    }

    /// The first entry whose ordinal is at least `ordinal`.
    pub fn table_next(&self, table: Value, ordinal: usize) -> Option<TableEntry> {
        (ordinal.max(self.table_first(table))..self.table_places(table))
            .map(|ordinal| self.table_entry(table, ordinal))
            .find(|entry| entry.key != Value::ABSENT)
    }

    /// The vector of a table's entries, `#f` if there is none, and the ordinals of its entries:
    /// what [`Heap::entries_next`] needs to visit them, whatever happens to the table meanwhile.
    pub(crate) fn table_walk(&self, table: Value) -> (Value, Range<usize>) {
        let entries = self.field(table, table::ENTRIES);
        (entries, self.table_first(table)..self.table_places(table))
    }

    /// The ordinal and the value of the first entry in a range of a dictionary's entries, which the
    /// caller has checked to have so many.
    pub(crate) fn entries_next(&self, entries: Value, mut ordinals: Range<usize>) -> Option<(usize, Value)> {
        const STRIDE: usize = VALUE + 1;
        let is_present = |ordinal: &usize| self.field(entries, ordinal * STRIDE + KEY) != Value::ABSENT;
        let ordinal = ordinals.find(is_present)?;
        Some((ordinal, self.field(entries, ordinal * STRIDE + VALUE)))
    }

    /// Whether an object is a vector of as many words as so many entries of a dictionary have.
    pub(crate) fn has_entries(&self, entries: Value, count: usize) -> bool {
        let places = |entries| self.object_length(entries) / (VALUE + 1);
        count == 0 || self.is_kind(entries, Kind::Vector) && count <= places(entries)
    }

    /// Adds an entry, or changes the value of the entry that has the key already; in a set `value`
    /// does not count.
    ///
    /// # Errors
    /// [`HeapFull`]; the table is as it was then.
    pub fn table_put(&mut self, table: Value, key: Value, value: Value) -> Result<(), HeapFull> {
        self.rehash_if_moved(table);
        let hash = self.key_hash(table, key);
        let stride = self.table_stride(table);
        if let Some(ordinal) = self.find_entry(table, key, hash) {
            if stride > VALUE {
                self.set_field(self.field(table, table::ENTRIES), ordinal * stride + VALUE, value);
            }
            return Ok(());
        }
        if self.table_places(table) == self.table_capacity(table) {
            self.rebuild_table(table)?;
        }
        self.append_entry(table, hash, key, value);
        Ok(())
    }

    /// Removes the entry of `key` and returns it, if there is one.
    pub fn table_delete(&mut self, table: Value, key: Value) -> Option<TableEntry> {
        let removed = self.table_get(table, key)?;
        let count = self.table_count(table) - 1;
        if count == 0 {
            self.table_clear(table);
            return Some(removed);
        }
        let stride = self.table_stride(table);
        let entries = self.field(table, table::ENTRIES);
        self.set_field(entries, removed.ordinal * stride + KEY, Value::ABSENT);
        if stride > VALUE {
            self.set_field(entries, removed.ordinal * stride + VALUE, Value::ABSENT);
        }
        self.set_field(table, table::COUNT, Value::length(count));
        if removed.ordinal == self.table_first(table) {
            let next = self.table_next(table, removed.ordinal);
            let first = next.map_or(removed.ordinal, |entry| entry.ordinal);
            self.set_places(table, first..self.table_places(table));
        }
        Some(removed)
    }

    /// Removes every entry.
    pub fn table_clear(&mut self, table: Value) {
        self.set_field(table, table::COUNT, Value::ZERO);
        self.set_field(table, table::USED, Value::ZERO);
        self.set_field(table, table::ENTRIES, Value::FALSE);
        self.set_field(table, table::INDEX, Value::FALSE);
    }

    /// Makes a table with the same entries.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn table_copy(&mut self, table: Value) -> Result<Value, HeapFull> {
        let copy = if self.is_kind(table, Kind::Set) {
            self.make_set()?
        } else if self.is_by_identity(table) {
            self.make_identity_dictionary()?
        } else {
            self.make_dictionary()?
        };
        if self.table_count(table) > 0 {
            self.fill_table(table, copy, self.table_capacity(table))?;
        }
        Ok(copy)
    }

    /// Whether a table that came from outside keeps the promises of this module, apart from the
    /// placing of its index.
    pub(crate) fn is_sound_table(&self, table: Value) -> bool {
        let fields = self.field_words(table);
        if fields.len() != table::LENGTH {
            return false;
        }
        let [count, places] = [table::COUNT, table::USED].map(|field| self.field(table, field).as_fixnum());
        let (Some(count), Some(places @ 0..)) = (count, places) else {
            return false;
        };
        let (first, used) = (self.table_first(table), self.table_places(table));
        let (entries, index) = (self.field(table, table::ENTRIES), self.field(table, table::INDEX));
        if !entries.is_true() {
            return count == 0 && places == 0 && !index.is_true();
        }
        let stride = self.table_stride(table);
        if !self.is_kind(entries, Kind::Vector) || !self.object_length(entries).is_multiple_of(stride) {
            return false;
        }
        let capacity = self.object_length(entries) / stride;
        if used > capacity || first > used {
            return false;
        }
        let is_present = |ordinal: &usize| self.table_entry(table, *ordinal).key != Value::ABSENT;
        let present = (0..used).filter(is_present).count();
        let are_hashed = (0..used).all(|ordinal| self.entry_hash(table, ordinal).is_fixnum());
        let is_counted = present as i64 == count && !(0..first).any(|ordinal| is_present(&ordinal));
        is_counted && are_hashed && self.is_sound_index(table, used, capacity)
    }

    /// An identity index is rebuilt before it is used, so only its length matters.
    fn is_sound_index(&self, table: Value, used: usize, capacity: usize) -> bool {
        let (index, head) = (self.field(table, table::INDEX), self.head_bytes(table));
        if !index.is_true() {
            return capacity <= ENTRIES_SMALL;
        }
        if !self.is_kind(index, Kind::Bytevector) || self.object_length(index) < head {
            return false;
        }
        let length = self.object_length(index) - head;
        let slots = length / 4;
        if !length.is_multiple_of(4) || !slots.is_power_of_two() || slots <= capacity {
            return false;
        }
        if head > 0 {
            return slots >= capacity * 2 && self.has_sound_identity_index(index);
        }
        let occupied = (0..slots)
            .map(|slot| self.index_slot(index, slot, head) as usize)
            .filter(|&slot| slot != 0);
        occupied.clone().all(|slot| slot <= used) && occupied.count() <= used
    }

    /// The ordinal of the entry with this key and hash.
    fn find_entry(&self, table: Value, key: Value, hash: Value) -> Option<usize> {
        let stride = self.table_stride(table);
        let entries = self.field(table, table::ENTRIES);
        let is_by_identity = self.is_by_identity(table);
        let is_match = |ordinal: usize| {
            let known = self.field(entries, ordinal * stride + KEY);
            if is_by_identity {
                return self.eqv(known, key);
            }
            self.field(entries, ordinal * stride + HASH) == hash && self.find_equal(known, key)
        };
        self.entries_with_hash(table, hash).find(|&ordinal| is_match(ordinal))
    }

    /// Whether a key is the one that is looked for. Only the comparison that finds it costs fuel,
    /// so the cost does not depend on hashes.
    fn find_equal(&self, known: Value, key: Value) -> bool {
        let before = self.charged();
        let is_equal = self.equal(known, key);
        if !is_equal {
            self.set_charged(before);
        }
        is_equal
    }

    /// The ordinals at which an entry with this hash may be, among others.
    pub(super) fn entries_with_hash(&self, table: Value, hash: Value) -> impl Iterator<Item = usize> + '_ {
        let (index, head) = (self.field(table, table::INDEX), self.head_bytes(table));
        let slots = if index.is_true() {
            (self.object_length(index) - head) / 4
        } else {
            0
        };
        let used = self.table_places(table);
        let first = hash_bits(hash) & slots.wrapping_sub(1);
        let mut step = 0;
        std::iter::from_fn(move || {
            let place = step;
            step += 1;
            if slots == 0 {
                return (place < used).then_some(place);
            }
            (self.index_slot(index, (first + place) & (slots - 1), head) as usize).checked_sub(1)
        })
    }

    /// Replaces the table's storage by one that is free of deleted entries and has room for more.
    fn rebuild_table(&mut self, table: Value) -> Result<(), HeapFull> {
        let (count, capacity) = (self.table_count(table), self.table_capacity(table));
        let capacity = if count * 4 >= capacity * 3 {
            (capacity * 2).max(ENTRIES_SMALL)
        } else {
            capacity
        };
        self.fill_table(table, table, capacity)
    }

    /// Gives `to`, which is `from` or empty, storage of `capacity` places with the entries of
    /// `from`.
    fn fill_table(&mut self, from: Value, to: Value, capacity: usize) -> Result<(), HeapFull> {
        let stride = self.table_stride(from);
        let entries = self.allocate_filled(Kind::Vector, capacity * stride, Value::ABSENT)?;
        let index = if capacity > ENTRIES_SMALL {
            let slots = (capacity * 2).next_power_of_two();
            self.allocate_raw(Kind::Bytevector, self.head_bytes(to) + slots * 4)?
        } else {
            Value::FALSE
        };
        if index.is_true() && self.is_by_identity(to) {
            self.begin_identity_index(index);
        }
        let old_entries = self.field(from, table::ENTRIES);
        let old_used = self.table_places(from);
        self.set_field(to, table::ENTRIES, entries);
        self.set_field(to, table::INDEX, index);
        self.set_field(to, table::COUNT, Value::ZERO);
        self.set_field(to, table::USED, Value::ZERO);
        for ordinal in 0..old_used {
            let place = ordinal * stride;
            let key = self.field(old_entries, place + KEY);
            if key != Value::ABSENT {
                let value = self.field(old_entries, place + stride - 1);
                self.append_entry(to, self.field(old_entries, place + HASH), key, value);
            }
        }
        Ok(())
    }

    /// Appends an entry for which there is room and whose key is not there.
    fn append_entry(&mut self, table: Value, hash: Value, key: Value, value: Value) {
        let stride = self.table_stride(table);
        let ordinal = self.table_places(table);
        debug_assert!(ordinal < self.table_capacity(table), "the caller has made room");
        let entries = self.field(table, table::ENTRIES);
        let is_by_identity = self.is_by_identity(table);
        // An address is not worth storing as a hash.
        let kept_hash = if is_by_identity { Value::ZERO } else { hash };
        self.set_field(entries, ordinal * stride + HASH, kept_hash);
        self.set_field(entries, ordinal * stride + KEY, key);
        if stride > VALUE {
            self.set_field(entries, ordinal * stride + VALUE, value);
        }
        self.set_places(table, self.table_first(table)..ordinal + 1);
        self.set_field(table, table::COUNT, Value::length(self.table_count(table) + 1));
        if !self.field(table, table::INDEX).is_true() {
            return;
        }
        if is_by_identity {
            self.index_last(table);
        } else {
            self.fill_slot(table, hash, ordinal);
        }
    }

    /// Enters the entry at `ordinal` into the first free slot for its hash.
    pub(super) fn fill_slot(&mut self, table: Value, hash: Value, ordinal: usize) {
        let (index, head) = (self.field(table, table::INDEX), self.head_bytes(table));
        let slots = (self.object_length(index) - head) / 4;
        let mut slot = hash_bits(hash) & (slots - 1);
        while self.index_slot(index, slot, head) != 0 {
            slot = (slot + 1) & (slots - 1);
        }
        let start = head + slot * 4;
        self.raw_range_mut(index, start, start + 4)
            .copy_from_slice(&(ordinal as u32 + 1).to_le_bytes());
    }

    pub(super) fn table_entry(&self, table: Value, ordinal: usize) -> TableEntry {
        let stride = self.table_stride(table);
        let entries = self.field(table, table::ENTRIES);
        let place = ordinal * stride;
        TableEntry {
            ordinal,
            key: self.field(entries, place + KEY),
            value: self.field(entries, place + stride - 1),
        }
    }

    /// The index of the word that holds the value of the entry at `ordinal`.
    pub(crate) fn table_word(&self, table: Value, ordinal: usize) -> usize {
        let stride = self.table_stride(table);
        self.field(table, table::ENTRIES).index() + ordinal * stride + stride
    }

    /// The hash that the table keeps for the entry at `ordinal`.
    pub(crate) fn entry_hash(&self, table: Value, ordinal: usize) -> Value {
        self.field(
            self.field(table, table::ENTRIES),
            ordinal * self.table_stride(table) + HASH,
        )
    }

    /// Words per entry.
    pub(crate) fn table_stride(&self, table: Value) -> usize {
        if self.is_kind(table, Kind::Dictionary) {
            VALUE + 1
        } else {
            KEY + 1
        }
    }

    fn table_capacity(&self, table: Value) -> usize {
        let entries = self.field(table, table::ENTRIES);
        if entries.is_true() {
            self.object_length(entries) / self.table_stride(table)
        } else {
            0
        }
    }

    /// How many places of entries a dictionary or set has used since it last grew.
    pub(crate) fn table_places(&self, table: Value) -> usize {
        self.table_number(table, table::USED) & ((1 << PLACES_BITS) - 1)
    }

    /// The ordinal before which all entries are deleted.
    pub(super) fn table_first(&self, table: Value) -> usize {
        self.table_number(table, table::USED) >> PLACES_BITS
    }

    /// Notes the places that are in use, without those of the deleted entries at the front.
    fn set_places(&mut self, table: Value, Range { start, end }: Range<usize>) {
        let first = (start as u64).min(DELETED_FIRST_MAX) as usize;
        self.set_field(table, table::USED, Value::length(first << PLACES_BITS | end));
    }

    fn table_number(&self, table: Value, field: usize) -> usize {
        self.field(table, field).as_fixnum().unwrap_or(0) as usize
    }

    /// The hash by which a table finds a key.
    pub(super) fn key_hash(&mut self, table: Value, key: Value) -> Value {
        let placed = if self.is_by_identity(table) {
            self.address_hash(key)
        } else {
            None
        };
        Value::length(placed.unwrap_or_else(|| self.hash(key)) as usize)
    }

    /// The content of a slot of an index whose head has `head` bytes.
    fn index_slot(&self, index: Value, slot: usize, head: usize) -> u32 {
        let bytes = self.raw_bytes(index);
        bytes[head + slot * 4..]
            .first_chunk()
            .map_or(0, |place| u32::from_le_bytes(*place))
    }
}

fn hash_bits(hash: Value) -> usize {
    hash.as_fixnum().unwrap_or(0) as usize
}
