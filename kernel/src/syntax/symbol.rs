//! Symbols: names as small numbers.
//!
//! Owns the interning of the names that occur in code.
//! INVARIANT: two symbols of one table are equal exactly when their names are.
//! It does not know what a name means.
//! Read next: `scope.rs`.

use crate::datum::Name;

/// An interned [`Name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

/// The names of one session.
#[derive(Debug, Default)]
pub struct Symbols {
    names: Vec<Name>,
    /// A hash table of names with linear probing: a place holds a name's number plus one, or zero
    /// if it is free. The number of places is a power of two, at least half of which are free.
    places: Vec<u32>,
}

impl Symbols {
    /// Returns the symbol of a name.
    pub fn intern(&mut self, name: &Name) -> Symbol {
        if self.names.len() * 2 >= self.places.len() {
            self.grow();
        }
        let place = self.find(name);
        if let Some(number) = self.places[place].checked_sub(1) {
            return Symbol(number);
        }
        self.names.push(name.clone());
        self.places[place] = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        Symbol(self.places[place] - 1)
    }

    /// Returns the name of a symbol.
    pub fn name(&self, symbol: Symbol) -> &Name {
        &self.names[symbol.0 as usize]
    }

    /// Returns the place of a name, or the free one where it belongs.
    fn find(&self, name: &Name) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash(name.as_str()) as usize & mask;
        while let Some(number) = self.places[place].checked_sub(1) {
            if self.names[number as usize] == *name {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        self.places = vec![0; (self.places.len() * 2).max(64)];
        for number in 0..self.names.len() {
            let place = self.find(&self.names[number]);
            self.places[place] = number as u32 + 1;
        }
    }
}

/// Returns the FNV-1a hash, with its high bits mixed into the low ones.
fn hash(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_symbols_while_the_table_grows() {
        let mut symbols = Symbols::default();
        let names: Vec<Name> = (0..5000)
            .map(|number| Name::from(format!("name-{number}").as_str()))
            .collect();
        let first: Vec<Symbol> = names.iter().map(|name| symbols.intern(name)).collect();
        for (name, symbol) in names.iter().zip(&first) {
            assert_eq!(symbols.intern(name), *symbol);
            assert_eq!(symbols.name(*symbol), name);
        }
        assert!(first.is_sorted_by(|left, right| left < right));
    }
}
