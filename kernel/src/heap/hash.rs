//! Hashing by structure: values that are `equal?` hash alike, in any heap and any process.
//!
//! Owns the hash of each kind of value. All parts count, up to [`NODES_MAX`]; of a value with a
//! cycle, which has parts without end, the first [`NODES_OF_CYCLE`]; of a table its keys, and of
//! each value in it what it is without its own parts.
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

impl Heap {
    /// The hash of a value, 0 ≤ hash < 2⁶⁰: equal for values that are [`Heap::equal`], and not
    /// changed by anything but mutation of the value's own structure.
    pub fn hash(&mut self, value: Value) -> u64 {
        let mut mixer = Mixer(0);
        let mut pending = Vec::new();
        let mut next = Some(value);
        let (mut nodes, mut early) = (0, mixer);
        let mut steps = Steps::<{ rate::NODES }>::default();
        while let Some(part) = next.filter(|_| nodes < NODES_MAX) {
            nodes += 1;
            let cost = match self.kind_of(part) {
                Some(Kind::String) => STEPS_OF_TEXT,
                Some(Kind::Ratio | Kind::Complex) => rate::NODES,
                Some(_) | None => 1,
            };
            if steps.walk(self, cost).is_err() {
                break;
            }
            self.hash_node(part, &mut mixer, &mut pending);
            if nodes == NODES_OF_CYCLE {
                early = mixer;
            } else if nodes == NODES_BEFORE_SEARCH && self.has_cycle(value) {
                mixer = early;
                break;
            }
            next = pending.pop();
        }
        mixer.finish() >> 4
    }

    /// Whether a value is part of itself, by way of parts that its hash looks at.
    fn has_cycle(&self, value: Value) -> bool {
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

    /// Adds the parts of a value at which its hash looks, the last one first.
    fn push_hashed_parts(&self, value: Value, parts: &mut Vec<Value>) {
        if value.is_pair() {
            parts.extend([self.cdr(value), self.car(value)]);
            return;
        }
        let Some(header) = self.header(value) else { return };
        let has_parts = match header.kind.sameness() {
            Sameness::Parts | Sameness::Numbers => true,
            Sameness::Record => self.is_labelled(value),
            Sameness::Text | Sameness::Name | Sameness::Bytes | Sameness::Number => false,
            Sameness::Table | Sameness::Identity => false,
        };
        if has_parts {
            parts.extend(self.field_words(value).iter().rev().map(|&word| Value::from_bits(word)));
        }
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

    fn hash_node(&mut self, value: Value, mixer: &mut Mixer, pending: &mut Vec<Value>) {
        self.push_hashed_parts(value, pending);
        self.hash_shell(value, mixer);
        let Some(header) = self.header(value).filter(|_| !value.is_pair()) else {
            return;
        };
        match header.kind.sameness() {
            Sameness::Table if header.flags.has(Flags::BY_IDENTITY) => mixer.add(u64::from(self.identity_hash(value))),
            Sameness::Table => self.hash_table(value, mixer),
            Sameness::Record if self.is_labelled(value) => {}
            Sameness::Record | Sameness::Identity => mixer.add(u64::from(self.identity_hash(value))),
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

    /// Adds what does not depend on the order of insertion: of each entry the key, and what its
    /// value is without its parts.
    fn hash_table(&self, object: Value, mixer: &mut Mixer) {
        let count = self.table_count(object);
        mixer.add(count as u64);
        self.charge(self.table_places(object) as u64 / rate::NODES);
        let entries = self.field(object, table::ENTRIES);
        let stride = self.table_stride(object);
        let used = self.table_places(object);
        let mut sum = 0_u64;
        for start in (0..used).map(|ordinal| ordinal * stride) {
            if self.field(entries, start + 1) == Value::ABSENT {
                continue;
            }
            let mut entry = Mixer(self.field(entries, start).to_bits());
            if stride > 2 {
                self.hash_shell(self.field(entries, start + 2), &mut entry);
            }
            sum = sum.wrapping_add(entry.finish());
        }
        mixer.add(sum);
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
