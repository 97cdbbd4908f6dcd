//! Hashing by structure: values that are `equal?` hash alike, in any heap and any process.
//!
//! Owns the hash of each kind of value. All parts count, up to [`NODES_MAX`]. The order of a
//! table's entries does not count, so each gets a hash of its own and the table gets their sum. A
//! value with a cycle has parts without end, and one with more than [`NODES_MAX`] has too many:
//! their hash ends after a number of parts, which needs an order, so it takes from a table the
//! keys, and no part of the values.
//! INVARIANT: no address, index or load order enters a hash. An object that is equal only to itself
//! gets a number from a counter of the heap, kept in its header, when it is first hashed.
//! It does not place keys in tables.
//! Read next: `heap/dictionary.rs`.

use super::kind::{Flags, Sameness, symbol, table};
use super::rate;
use super::{Heap, Kind, Mark, Marks, Register, Steps};
use crate::value::{Immediate, Value};

/// How many pairs, elements and atoms of a value contribute to its hash. Only a value that shares
/// parts many times over has more in a heap of a usual size.
const NODES_MAX: usize = 1 << 20;
/// The same for a value with a cycle.
const NODES_OF_CYCLE: usize = 128;
/// The number of nodes after which a value is searched for a cycle.
const NODES_BEFORE_SEARCH: usize = 1 << 16;
const IDENTITY_MAX: i64 = 4095;

/// An order-dependent hash under construction.
#[derive(Clone, Copy)]
struct Mixer(u64);

impl Mixer {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

    #[inline(always)]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(Mixer::MULTIPLIER);
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    /// Spreads what was added over all bits; the low bits choose slots.
    fn finish(self) -> u64 {
        let folded = (self.0 ^ self.0 >> 32).wrapping_mul(Mixer::MULTIPLIER);
        folded ^ folded >> 29
    }
}

/// The hash of a text, the same for strings and symbols whatever their storage.
pub(super) fn text_hash(characters: impl Iterator<Item = char>) -> u64 {
    let mut mixer = Mixer(0);
    characters.for_each(|character| mixer.add(u64::from(u32::from(character))));
    mixer.finish()
}

/// What a text costs, in steps, besides its length.
const STEPS_OF_TEXT: u64 = 3;

/// How much of a table counts in a hash.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tables {
    /// Every entry, whole.
    Whole,
    /// The keys, and of each value in the table what it is without its own parts.
    Shallow,
}

/// A table whose entries are being hashed.
struct OpenTable {
    table: Value,
    /// The next place to look at.
    next: usize,
    /// The sum of the hashes of the entries so far.
    sum: u64,
    /// Whether the walk is in an entry, which is not in the sum yet.
    is_in_entry: bool,
    /// The hash of what came before the table.
    before: Mixer,
    /// How many parts were pending when the table was met.
    pending: usize,
}

/// A walk over the parts of a value that builds its hash.
struct Walk {
    tables: Tables,
    mixer: Mixer,
    /// The parts that are still to be hashed, the next one last.
    pending: Vec<Value>,
    /// The tables in whose entries the walk is, the innermost one last.
    open: Vec<OpenTable>,
}

impl Walk {
    /// The next part, after the entries and tables that end before it are closed.
    fn next_part(&mut self, heap: &Heap) -> Option<Value> {
        while let Some(table) = self.open.last_mut() {
            if self.pending.len() > table.pending {
                break;
            }
            if table.is_in_entry {
                table.sum = table.sum.wrapping_add(self.mixer.finish());
            }
            match heap.next_compound_entry(table) {
                Some((key_hash, value)) => {
                    table.is_in_entry = true;
                    self.mixer = Mixer(key_hash);
                    self.pending.push(value);
                }
                None => {
                    self.mixer = table.before;
                    self.mixer.add(table.sum);
                    self.open.pop();
                }
            }
        }
        self.pending.pop()
    }
}

impl Heap {
    /// The hash of a value, 0 ≤ hash < 2⁶⁰: equal for values that are [`Heap::equal`], and not
    /// changed by anything but mutation of the value's own structure.
    pub fn hash(&mut self, value: Value) -> u64 {
        let hash = match self.hash_by(value, Tables::Whole) {
            Some(hash) => hash,
            None => self.hash_by(value, Tables::Shallow).unwrap_or(0),
        };
        hash >> 4
    }

    /// The hash of a value, or nothing if the walk has to end after a number of parts, which with
    /// whole tables would depend on the order of their entries.
    fn hash_by(&mut self, value: Value, tables: Tables) -> Option<u64> {
        let mut walk = Walk {
            tables,
            mixer: Mixer(0),
            pending: vec![value],
            open: Vec::new(),
        };
        let (mut nodes, mut early) = (0, walk.mixer);
        let mut steps = Steps::<{ rate::NODES }>::default();
        while let Some(part) = walk.next_part(self) {
            if nodes == NODES_MAX {
                return (tables == Tables::Shallow).then(|| walk.mixer.finish());
            }
            nodes += 1;
            let cost = match self.kind_of(part) {
                Some(Kind::String) => STEPS_OF_TEXT,
                Some(Kind::Ratio | Kind::Complex) => rate::NODES,
                Some(_) | None => 1,
            };
            if steps.walk(self, cost).is_err() {
                break;
            }
            self.hash_node(part, &mut walk);
            if nodes == NODES_OF_CYCLE {
                early = walk.mixer;
            } else if nodes == NODES_BEFORE_SEARCH && self.has_cycle(value, tables) {
                return (tables == Tables::Shallow).then(|| early.finish());
            }
        }
        Some(walk.mixer.finish())
    }

    /// Whether a value is part of itself, by way of parts that its hash looks at.
    fn has_cycle(&self, value: Value, tables: Tables) -> bool {
        let mut marks = Marks::default();
        let mut steps = Steps::<{ rate::NODES }>::default();
        let (mut work, mut parts) = (vec![(value, false)], Vec::new());
        while let Some((part, is_leaving)) = work.pop() {
            if is_leaving {
                marks.set(part, Mark::Done);
                continue;
            }
            if steps.walk(self, 1).is_err() {
                return true;
            }
            self.push_hashed_parts(part, &mut parts);
            if tables == Tables::Whole && self.is_table_by_entries(part) {
                self.push_entries(part, &mut parts);
            }
            if parts.is_empty() {
                continue;
            }
            match marks.get(part) {
                Mark::Open => return true,
                Mark::Done => {}
                Mark::Never => {
                    marks.set(part, Mark::Open);
                    work.push((part, true));
                    work.extend(parts.iter().map(|part| (*part, false)));
                }
            }
            parts.clear();
        }
        false
    }

    /// Adds the parts of a value at which its hash looks, the last one first, without a table's
    /// entries.
    fn push_hashed_parts(&self, value: Value, parts: &mut Vec<Value>) {
        if value.is_pair() {
            parts.extend([self.cdr(value), self.car(value)]);
        } else if self.has_hashed_fields(value) {
            parts.extend(self.field_words(value).iter().rev().map(|&word| Value::from_bits(word)));
        }
    }

    /// Adds the values of a table whose hash is that of its entries.
    fn push_entries(&self, table: Value, parts: &mut Vec<Value>) {
        for place in self.table_first(table)..self.table_places(table) {
            parts.extend(self.hashed_entry(table, place).and_then(|(_, value)| value));
        }
    }

    /// Whether each field of an object counts in its hash.
    fn has_hashed_fields(&self, object: Value) -> bool {
        let Some(header) = self.header(object) else {
            return false;
        };
        match header.kind.sameness() {
            Sameness::Parts | Sameness::Numbers => true,
            Sameness::Record => self.is_labelled(object),
            Sameness::Text | Sameness::Name | Sameness::Bytes | Sameness::Number => false,
            Sameness::Table | Sameness::Identity => false,
        }
    }

    /// Whether a value is a table that is the same as any with equal entries.
    fn is_table_by_entries(&self, value: Value) -> bool {
        self.header(value)
            .is_some_and(|header| header.kind.sameness() == Sameness::Table && !header.flags.has(Flags::BY_IDENTITY))
    }

    /// A number that an object keeps as long as it lives, wherever it is moved, shared by one
    /// object in some sixty thousand; `None` for a pair, which has no room for it.
    pub fn identity(&mut self, object: Value) -> Option<u64> {
        if object.is_pair() {
            return None;
        }
        Some(match self.header(object) {
            Some(_) => u64::from(self.identity_hash(object)),
            None => object.to_bits() >> 4,
        })
    }

    /// Adds a value to a walk, and its parts to what is pending there.
    fn hash_node(&mut self, value: Value, walk: &mut Walk) {
        self.push_hashed_parts(value, &mut walk.pending);
        self.hash_alone(value, &mut walk.mixer);
        if self.is_table_by_entries(value) {
            self.hash_table(value, walk);
        }
    }

    /// Hashes a value without its parts and entries.
    fn hash_alone(&mut self, value: Value, mixer: &mut Mixer) {
        self.hash_shell(value, mixer);
        let Some(header) = self.header(value).filter(|_| !value.is_pair()) else {
            return;
        };
        match header.kind.sameness() {
            Sameness::Table if !header.flags.has(Flags::BY_IDENTITY) => {}
            Sameness::Record if self.is_labelled(value) => {}
            Sameness::Table | Sameness::Record | Sameness::Identity => {
                mixer.add(u64::from(self.identity_hash(value)));
            }
            Sameness::Text | Sameness::Name | Sameness::Bytes => {}
            Sameness::Number | Sameness::Parts | Sameness::Numbers => {}
        }
    }

    /// Hashes a value alone, without its parts, its entries and its identity.
    fn hash_shell(&self, value: Value, mixer: &mut Mixer) {
        if value.is_pair() {
            mixer.add(1);
            return;
        }
        let Some(header) = self.header(value) else {
            mixer.add(if value.is_immediate(Immediate::Primitive) {
                2
            } else {
                value.to_bits()
            });
            return;
        };
        mixer.add(header.kind as u64);
        match header.kind.sameness() {
            Sameness::Text => {
                self.charge(self.string_length(value) as u64 / rate::CHARACTERS);
                mixer.add(text_hash(self.string_characters(value)));
            }
            Sameness::Name => {
                let symbol = if self.is_symbol(value) {
                    value
                } else {
                    self.field(value, 0)
                };
                mixer.add(self.field(symbol, symbol::HASH).to_bits());
            }
            Sameness::Bytes | Sameness::Number => {
                mixer.add(u64::from(header.flags.has(Flags::NEGATIVE)));
                let bytes = self.raw_bytes(value);
                self.charge(bytes.len() as u64 / rate::BYTES);
                mixer.add_bytes(bytes);
            }
            Sameness::Parts | Sameness::Numbers => mixer.add(self.object_length(value) as u64),
            Sameness::Record if self.is_labelled(value) => mixer.add(self.object_length(value) as u64),
            Sameness::Table | Sameness::Record | Sameness::Identity => {}
        }
    }

    /// Adds what does not depend on the order of insertion: the number of entries and the sum of
    /// their hashes. Entries with parts are left to the walk.
    fn hash_table(&mut self, table: Value, walk: &mut Walk) {
        walk.mixer.add(self.table_count(table) as u64);
        self.charge(self.table_places(table) as u64 / rate::NODES);
        let mut sum = 0_u64;
        for place in self.table_first(table)..self.table_places(table) {
            let Some((key_hash, value)) = self.hashed_entry(table, place) else {
                continue;
            };
            let mut entry = Mixer(key_hash);
            match value {
                Some(value) if walk.tables == Tables::Shallow => self.hash_shell(value, &mut entry),
                Some(value) if self.is_compound(value) => continue,
                Some(value) => self.hash_alone(value, &mut entry),
                None => {}
            }
            sum = sum.wrapping_add(entry.finish());
        }
        if walk.tables == Tables::Shallow {
            walk.mixer.add(sum);
            return;
        }
        walk.open.push(OpenTable {
            table,
            next: self.table_first(table),
            sum,
            is_in_entry: false,
            before: walk.mixer,
            pending: walk.pending.len(),
        });
    }

    /// The next entry of an open table whose value has parts: the hash of its key, and the value.
    fn next_compound_entry(&self, open: &mut OpenTable) -> Option<(u64, Value)> {
        while open.next < self.table_places(open.table) {
            let entry = self.hashed_entry(open.table, open.next);
            open.next += 1;
            if let Some((key_hash, Some(value))) =
                entry.filter(|(_, value)| value.is_some_and(|value| self.is_compound(value)))
            {
                return Some((key_hash, value));
            }
        }
        None
    }

    /// The hash of the key at a place of a table, and in a dictionary the value there; `None` if
    /// the entry was deleted.
    fn hashed_entry(&self, table: Value, place: usize) -> Option<(u64, Option<Value>)> {
        let entries = self.field(table, table::ENTRIES);
        let stride = self.table_stride(table);
        let start = place * stride;
        if self.field(entries, start + 1) == Value::ABSENT {
            return None;
        }
        let value = (stride > 2).then(|| self.field(entries, start + 2));
        Some((self.field(entries, start).to_bits(), value))
    }

    /// Whether a value has parts or entries that count in its hash.
    fn is_compound(&self, value: Value) -> bool {
        value.is_pair() || self.has_hashed_fields(value) || self.is_table_by_entries(value)
    }

    /// The hash of an object that is equal only to itself, given to it now if it has none.
    fn identity_hash(&mut self, object: Value) -> u16 {
        let flags = self.flags(object);
        if flags.identity() != 0 {
            return flags.identity();
        }
        let last = self.register(Register::IdentityHash).as_fixnum().unwrap_or(0);
        let identity = (last % IDENTITY_MAX + 1) as u16;
        self.set_register(Register::IdentityHash, Value::small(i32::from(identity)));
        self.set_flags(object, flags.with_identity(identity));
        identity
    }
}
