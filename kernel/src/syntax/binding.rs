//! Bindings: the meanings of identifiers.
//!
//! Owns the table from (name, set of scopes) to bindings.
//! INVARIANT: an identifier has the binding with the largest set of scopes that is a subset of its
//! own; if there is no such largest set, it is ambiguous.
//! It does not decide which forms bind.
//! Read next: `rules.rs`.

use super::scope::{Scope, ScopeSet, ScopeSets};
use super::symbol::Symbol;
use crate::core::VariableId;

/// The meaning of a bound identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binding {
    /// A core form or auxiliary keyword, by its row in the table of forms.
    Form(u16),
    /// A macro, by its number in the session.
    Macro(u32),
    /// A local variable of one unit.
    Local {
        /// The number of the unit in the session.
        unit: u32,
        /// The variable.
        variable: VariableId,
    },
    /// A pattern variable of `syntax-case`, by its number in the session.
    Pattern(u32),
    /// A global variable, by its number in the session.
    Global(u32),
    /// A primitive procedure, by its number in the session.
    Primitive(u32),
}

/// The error of an identifier to which several bindings apply equally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ambiguity;

#[derive(Clone, Copy, Debug)]
struct ScopedBinding {
    symbol: Symbol,
    scopes: ScopeSet,
    binding: Binding,
}

/// All bindings of one session, in one list per newest scope, sorted by symbol.
#[derive(Debug, Default)]
pub struct Bindings {
    by_scope: Vec<Vec<ScopedBinding>>,
}

impl Bindings {
    /// Binds a name in a set of scopes, in place of an earlier binding of the same name in the same
    /// set, which it returns.
    ///
    /// # Panics
    /// If the set is empty, because no binding holds everywhere.
    pub fn bind(&mut self, sets: &ScopeSets, symbol: Symbol, scopes: ScopeSet, binding: Binding) -> Option<Binding> {
        let newest = sets.split(scopes).map(|(scope, _)| scope);
        assert!(newest.is_some(), "a binding has at least one scope");
        let Scope(scope) = newest?;
        let index = scope as usize;
        if self.by_scope.len() <= index {
            self.by_scope.resize_with(index + 1, Vec::new);
        }
        let entries = &mut self.by_scope[index];
        let start = entries.partition_point(|entry| entry.symbol < symbol);
        let same = entries[start..].iter_mut().take_while(|entry| entry.symbol == symbol);
        match same.into_iter().find(|entry| entry.scopes == scopes) {
            Some(entry) => Some(std::mem::replace(&mut entry.binding, binding)),
            None => {
                let entry = ScopedBinding {
                    symbol,
                    scopes,
                    binding,
                };
                entries.insert(start, entry);
                None
            }
        }
    }

    /// Returns the binding of a name with a set of scopes, if it has one.
    ///
    /// # Errors
    /// [`Ambiguity`] if several bindings apply and none is the most specific.
    pub fn resolve(&self, sets: &ScopeSets, symbol: Symbol, scopes: ScopeSet) -> Result<Option<Binding>, Ambiguity> {
        let mut best: Option<ScopedBinding> = None;
        let mut others = Vec::new();
        let mut rest = scopes;
        while let Some((Scope(scope), older)) = sets.split(rest) {
            for entry in self.entries(scope, symbol) {
                // The entry is in the list of its newest scope, so `rest` has all scopes that it
                // can have.
                if !sets.is_subset(entry.scopes, rest) {
                    continue;
                }
                let is_larger = best.is_none_or(|best| sets.length(entry.scopes) > sets.length(best.scopes));
                let displaced = if is_larger { best.replace(*entry) } else { Some(*entry) };
                others.extend(displaced.map(|entry| entry.scopes));
            }
            // All further entries have scopes of `rest` only, so none can rival one that has them
            // all.
            if best.is_some_and(|best| best.scopes == rest) {
                break;
            }
            rest = older;
        }
        let Some(best) = best else { return Ok(None) };
        let is_clear = others.into_iter().all(|other| sets.is_subset(other, best.scopes));
        if is_clear {
            Ok(Some(best.binding))
        } else {
            Err(Ambiguity)
        }
    }

    /// Returns the binding of a name in exactly this set of scopes.
    pub fn bound_in(&self, sets: &ScopeSets, symbol: Symbol, scopes: ScopeSet) -> Option<Binding> {
        let (Scope(scope), _) = sets.split(scopes)?;
        self.entries(scope, symbol)
            .find(|entry| entry.scopes == scopes)
            .map(|entry| entry.binding)
    }

    /// Returns the names bound in exactly one set of scopes, in the order in which they were
    /// interned.
    pub fn names_in(&self, sets: &ScopeSets, scopes: ScopeSet) -> impl Iterator<Item = (Symbol, Binding)> {
        let entries = sets
            .split(scopes)
            .and_then(|(Scope(scope), _)| self.by_scope.get(scope as usize));
        let entries = entries.map_or(&[][..], Vec::as_slice);
        entries
            .iter()
            .filter(move |entry| entry.scopes == scopes)
            .map(|entry| (entry.symbol, entry.binding))
    }

    /// Returns every name that has a binding for an identifier with these scopes, nearest first.
    pub fn visible(&self, sets: &ScopeSets, scopes: ScopeSet) -> Vec<Symbol> {
        let mut names = Vec::new();
        let mut rest = scopes;
        while let Some((Scope(scope), older)) = sets.split(rest) {
            let entries = self.by_scope.get(scope as usize).map_or(&[][..], Vec::as_slice);
            let visible = entries.iter().filter(|entry| sets.is_subset(entry.scopes, rest));
            names.extend(visible.map(|entry| entry.symbol));
            rest = older;
        }
        names
    }

    fn entries(&self, scope: u32, symbol: Symbol) -> impl Iterator<Item = &ScopedBinding> {
        let entries = self.by_scope.get(scope as usize).map_or(&[][..], Vec::as_slice);
        // Most scopes bind one or two names, so a binary search pays only in modules.
        let start = if entries.len() > 8 {
            entries.partition_point(|entry| entry.symbol < symbol)
        } else {
            0
        };
        let end = if entries.len() > 8 {
            start + entries[start..].partition_point(|entry| entry.symbol == symbol)
        } else {
            entries.len()
        };
        entries[start..end].iter().filter(move |entry| entry.symbol == symbol)
    }
}
