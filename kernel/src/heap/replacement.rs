//! Putting objects in the place of others, wherever the heap refers to these.
//!
//! INVARIANT: the new object has the identity of the old one: it is found where the old one was a
//! key.
//! It does not make the new objects. Read next: `heap/closures.rs`.

use std::collections::BTreeMap;

use super::kind::{Header, Kind};
use super::{Heap, Register};
use crate::value::Value;

impl Heap {
    /// Makes each reference to the first object of a pair a reference to the second, in all objects
    /// and registers. The cost grows with the heap.
    pub fn replace_objects(&mut self, pairs: &[(Value, Value)]) {
        self.expand();
        for (old, new) in pairs {
            let flags = self.flags(*new).with_identity(self.flags(*old).identity());
            self.set_flags(*new, flags);
        }
        let replacements: BTreeMap<u64, Value> = pairs.iter().map(|(old, new)| (old.to_bits(), *new)).collect();
        let replacement = |word: Value| replacements.get(&word.to_bits()).copied();
        let mut index = 0;
        while index < self.top {
            let header = Header::from_value(self.word(index));
            let fields = match header {
                None => index..index + 2,
                Some(header) if header.kind.is_raw() => index..index,
                Some(header) => index + 1..index + 1 + header.length as usize,
            };
            for field in fields {
                if let Some(new) = replacement(self.word(field)) {
                    self.set_word(field, new);
                }
            }
            index += header.map_or(2, Header::object_words);
        }
        for register in Register::ALL {
            if let Some(new) = replacement(self.register(*register)) {
                self.set_register(*register, new);
            }
        }
        // Dictionaries by identity have places by address.
        self.moves.all += 1;
    }

    /// Gives a record type other names of fields; its records have to change as well.
    ///
    /// # Errors
    /// [`HeapFull`](super::HeapFull).
    pub fn rename_fields(&mut self, record_type: Value, names: &[&str]) -> Result<(), super::HeapFull> {
        let mut symbols = Vec::with_capacity(names.len());
        for name in names {
            symbols.push(self.intern(name)?);
        }
        let names = self.make(Kind::Vector, &symbols)?;
        self.set_field(record_type, super::kind::record_type::FIELD_NAMES, names);
        Ok(())
    }
}
