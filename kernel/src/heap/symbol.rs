//! Symbols and keywords, interned: equal names are the same word.
//!
//! The table is a vector in the heap: the count, then open-addressed slots, a power of two in
//! number.
//! INVARIANT: at least half of the slots are free, so every probe ends.
//! It keeps no symbol alive through a major collection. Read next: `heap/dictionary.rs`.

use super::copier::Copier;
use super::hash::text_hash;
use super::kind::{Header, symbol};
use super::register::Register;
use super::{Heap, HeapFull, Kind};
use crate::number::FIXNUM_MAX;
use crate::value::Value;

const SLOTS_INITIAL: usize = 16;
/// Field of the table that counts its symbols; the slots follow.
const COUNT: usize = 0;

impl Heap {
    /// The symbol of this name.
    ///
    /// # Errors
    /// [`HeapFull`] if it is new and there is no room.
    pub fn intern(&mut self, name: &str) -> Result<Value, HeapFull> {
        let hash = text_hash(name.chars());
        if let Some(found) = self.find_symbol(name, hash) {
            return Ok(found);
        }
        self.reserve_symbol()?;
        let storage = self.characters(name)?;
        let symbol = self.make(Kind::Symbol, &[storage, hash_fixnum(hash), Value::FALSE])?;
        let table = self.register(Register::Symbols);
        let slots = self.object_length(table) - 1;
        let mut slot = hash as usize & (slots - 1);
        while self.field(table, 1 + slot) != Value::ABSENT {
            slot = (slot + 1) & (slots - 1);
        }
        self.set_field(table, 1 + slot, symbol);
        let count = self.field(table, COUNT).as_fixnum().unwrap_or(0) as usize + 1;
        debug_assert!(count * 2 <= slots, "at least half of the slots are free");
        self.set_field(table, COUNT, Value::length(count));
        Ok(symbol)
    }

    /// The keyword of this name, which is given without its colon.
    ///
    /// # Errors
    /// [`HeapFull`] if it is new and there is no room.
    pub fn keyword(&mut self, name: &str) -> Result<Value, HeapFull> {
        let name = self.intern(name)?;
        let known = self.field(name, symbol::KEYWORD);
        if known.is_true() {
            return Ok(known);
        }
        let keyword = self.make(Kind::Keyword, &[name])?;
        self.set_field(name, symbol::KEYWORD, keyword);
        Ok(keyword)
    }

    /// Whether `value` is a symbol.
    #[inline(always)]
    pub fn is_symbol(&self, value: Value) -> bool {
        self.is_kind(value, Kind::Symbol)
    }

    /// The name of a symbol, or of a keyword without its colon.
    pub fn symbol_name(&self, name: Value) -> String {
        let symbol = if self.is_kind(name, Kind::Keyword) {
            self.field(name, 0)
        } else {
            name
        };
        self.string_text(symbol)
    }

    /// Whether a symbol or keyword is the one that interning its name gives.
    pub(crate) fn is_interned(&self, name: Value) -> bool {
        let is_keyword = self.is_kind(name, Kind::Keyword);
        let word = if is_keyword { self.field(name, 0) } else { name };
        let text = self.symbol_name(word);
        let is_first = self.find_symbol(&text, text_hash(text.chars())) == Some(word);
        is_first && (!is_keyword || self.field(word, symbol::KEYWORD) == name)
    }

    /// Makes an immutable string of a symbol's name, which shares its characters.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn symbol_string(&mut self, symbol: Value) -> Result<Value, HeapFull> {
        let storage = self.field(symbol, symbol::STORAGE);
        let string = self.make(Kind::String, &[storage])?;
        self.make_immutable(string);
        Ok(string)
    }

    /// Whether a symbol table that came from outside keeps the promises of this module, apart from
    /// the placing of its symbols.
    pub(super) fn is_sound_symbol_table(&self, table: Value) -> bool {
        if !table.is_true() {
            return true;
        }
        if !self.is_kind(table, Kind::Vector) || self.object_length(table) < 2 {
            return false;
        }
        let slots = &self.field_words(table)[1..];
        let symbols = slots
            .iter()
            .map(|&slot| Value::from_bits(slot))
            .filter(|&slot| slot != Value::ABSENT);
        let count = symbols.clone().count();
        slots.len().is_power_of_two()
            && count * 2 <= slots.len()
            && self.field(table, COUNT) == Value::length(count)
            && symbols.into_iter().all(|symbol| self.is_symbol(symbol))
    }

    fn find_symbol(&self, name: &str, hash: u64) -> Option<Value> {
        let table = self.register(Register::Symbols);
        if !table.is_true() {
            return None;
        }
        let mask = self.object_length(table) - 2;
        let mut slot = hash as usize & mask;
        loop {
            let candidate = self.field(table, 1 + slot);
            if candidate == Value::ABSENT {
                return None;
            }
            if self.field(candidate, symbol::HASH) == hash_fixnum(hash) && self.has_text(candidate, name) {
                return Some(candidate);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn has_text(&self, string: Value, text: &str) -> bool {
        match self.string_ascii(string) {
            Some(bytes) => bytes == text.as_bytes(),
            None => self.string_characters(string).eq(text.chars()),
        }
    }

    /// Makes room in the table for one more symbol.
    fn reserve_symbol(&mut self) -> Result<(), HeapFull> {
        let old = self.register(Register::Symbols);
        let (count, slots) = if old.is_true() {
            (
                self.field(old, COUNT).as_fixnum().unwrap_or(0) as usize,
                self.object_length(old) - 1,
            )
        } else {
            (0, 0)
        };
        if (count + 1) * 2 <= slots {
            return Ok(());
        }
        let slots_grown = (slots * 2).max(SLOTS_INITIAL);
        let table = self.allocate_filled(Kind::Vector, slots_grown + 1, Value::ABSENT)?;
        self.set_fresh_word(table.index() + 1, Value::length(count));
        for place in 0..slots {
            let symbol = self.field(old, 1 + place);
            if symbol != Value::ABSENT {
                let mut slot = slot_of(self.field(symbol, symbol::HASH), slots_grown);
                while self.field(table, 1 + slot) != Value::ABSENT {
                    slot = (slot + 1) & (slots_grown - 1);
                }
                self.set_fresh_word(table.index() + 2 + slot, symbol);
            }
        }
        self.set_register(Register::Symbols, table);
        Ok(())
    }
}

/// The part of a text's hash that a symbol keeps: the low bits, which choose the slot, as many as a
/// fixnum has without its sign.
fn hash_fixnum(hash: u64) -> Value {
    Value::length((hash & FIXNUM_MAX as u64) as usize)
}

fn slot_of(hash: Value, slots: usize) -> usize {
    hash.as_fixnum().unwrap_or(0) as usize & (slots - 1)
}

/// The symbol table for a copied heap: the symbols that were copied, appended to the copy.
pub(super) fn swept_table(copier: &mut Copier<'_>, table: Value) -> Value {
    if !table.is_true() {
        return table;
    }
    let start = table.index() + 2;
    let word = |index: usize| Value::from_bits(copier.words[index]);
    let slots_old = word(table.index()).payload() as usize - 1;
    let survivors: Vec<(Value, Value)> = (start..start + slots_old)
        .map(word)
        .filter(|&symbol| symbol != Value::ABSENT)
        .filter_map(|old| Some((copier.copy_of(old)?, word(old.index() + 1 + symbol::HASH))))
        .collect();
    let slots = (survivors.len() * 2).next_power_of_two().max(SLOTS_INITIAL);
    let mut made = vec![Value::ABSENT.to_bits(); 2 + slots];
    made[0] = Header::new(Kind::Vector, slots as u32 + 1).to_value().to_bits();
    made[1] = Value::length(survivors.len()).to_bits();
    for (symbol, hash) in survivors {
        let mut slot = slot_of(hash, slots);
        while made[2 + slot] != Value::ABSENT.to_bits() {
            slot = (slot + 1) & (slots - 1);
        }
        made[2 + slot] = symbol.to_bits();
    }
    Value::object_at(copier.append_made(&made))
}
