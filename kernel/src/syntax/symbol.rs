//! Symbols: names as small numbers.
//!
//! Owns the interning of the names that occur in code.
//! INVARIANT: two symbols of one table are equal exactly when their names are.
//! It does not know what a name means.
//! Read next: `scope.rs`.

use std::collections::BTreeMap;

use crate::datum::Name;

/// An interned [`Name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

/// The names of one session.
#[derive(Debug, Default)]
pub struct Symbols {
    names: Vec<Name>,
    index: BTreeMap<Name, Symbol>,
}

impl Symbols {
    /// The symbol of a name.
    pub fn intern(&mut self, name: &Name) -> Symbol {
        if let Some(symbol) = self.index.get(name) {
            return *symbol;
        }
        let symbol = Symbol(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.clone());
        self.index.insert(name.clone(), symbol);
        symbol
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: Symbol) -> &Name {
        &self.names[symbol.0 as usize]
    }
}
