//! Scopes and sets of scopes.
//!
//! Owns the interned representation of scope sets: a set is a chain of scopes, newest first, shared
//! with the sets it was made from.
//! INVARIANT: equal sets have equal ids; adding the newest scope costs one look-up, so code nested
//! to depth n costs O(n) sets, not O(n²) memory.
//! It does not know what is bound in a scope.
//! Read next: `binding.rs`.
//!
//! Source: Flatt, "Binding as Sets of Scopes", POPL 2016.

use std::collections::BTreeMap;

/// A scope: one binding form, one expansion, one use of a macro, or one module. Newer scopes are
/// greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope(pub(super) u32);

/// An interned set of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeSet(u32);

impl ScopeSet {
    /// The set without elements.
    pub const EMPTY: Self = Self(0);

    /// Returns the set's number among all sets of its session.
    pub(super) fn number(self) -> u32 {
        self.0
    }

    /// Returns the set with this number.
    pub(super) fn from_number(number: u32) -> Self {
        Self(number)
    }
}

#[derive(Clone, Copy, Debug)]
struct Link {
    newest: Scope,
    rest: ScopeSet,
    length: u32,
}

/// All scope sets of one session.
#[derive(Debug, Default)]
pub struct ScopeSets {
    links: Vec<Link>,
    interned: BTreeMap<(ScopeSet, Scope), ScopeSet>,
    unions: BTreeMap<(ScopeSet, ScopeSet), ScopeSet>,
    scopes: u32,
}

impl ScopeSets {
    /// Makes a scope that is in no set yet.
    pub fn fresh(&mut self) -> Scope {
        self.scopes += 1;
        Scope(self.scopes - 1)
    }

    /// Returns the set with one more scope.
    pub fn insert(&mut self, set: ScopeSet, scope: Scope) -> ScopeSet {
        let mut newer = Vec::new();
        let mut rest = set;
        while let Some(link) = self.link(rest) {
            if link.newest <= scope {
                if link.newest == scope {
                    return set;
                }
                break;
            }
            newer.push(link.newest);
            rest = link.rest;
        }
        let inserted = self.extend(rest, scope);
        newer
            .into_iter()
            .rev()
            .fold(inserted, |set, scope| self.extend(set, scope))
    }

    /// Returns the set without one scope.
    pub fn remove(&mut self, set: ScopeSet, scope: Scope) -> ScopeSet {
        let mut newer = Vec::new();
        let mut rest = set;
        while let Some(link) = self.link(rest) {
            rest = link.rest;
            if link.newest == scope {
                return newer.into_iter().rev().fold(rest, |set, scope| self.extend(set, scope));
            }
            if link.newest < scope {
                break;
            }
            newer.push(link.newest);
        }
        set
    }

    /// Returns the scopes in either set.
    pub fn union(&mut self, a: ScopeSet, b: ScopeSet) -> ScopeSet {
        if a == b || b == ScopeSet::EMPTY {
            return a;
        }
        if a == ScopeSet::EMPTY {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(set) = self.unions.get(&key) {
            return *set;
        }
        let mut newer = Vec::new();
        let (mut left, mut right) = (a, b);
        let common = loop {
            if left == right {
                break left;
            }
            let (Some(first), Some(second)) = (self.link(left), self.link(right)) else {
                break if left == ScopeSet::EMPTY { right } else { left };
            };
            newer.push(first.newest.max(second.newest));
            if first.newest >= second.newest {
                left = first.rest;
            }
            if second.newest >= first.newest {
                right = second.rest;
            }
        };
        let union = newer
            .into_iter()
            .rev()
            .fold(common, |set, scope| self.extend(set, scope));
        self.unions.insert(key, union);
        union
    }

    /// Returns whether every scope of `a` is in `b`.
    pub fn is_subset(&self, mut a: ScopeSet, mut b: ScopeSet) -> bool {
        while a != b {
            let Some(wanted) = self.link(a) else { return true };
            let Some(found) = self.link(b) else { return false };
            if wanted.length > found.length || wanted.newest > found.newest {
                return false;
            }
            if wanted.newest == found.newest {
                a = wanted.rest;
            }
            b = found.rest;
        }
        true
    }

    /// Returns the number of scopes in a set.
    pub fn length(&self, set: ScopeSet) -> u32 {
        self.link(set).map_or(0, |link| link.length)
    }

    /// Returns the newest scope of a set and the set of the others.
    pub fn split(&self, set: ScopeSet) -> Option<(Scope, ScopeSet)> {
        self.link(set).map(|link| (link.newest, link.rest))
    }

    fn link(&self, set: ScopeSet) -> Option<Link> {
        let index = set.0.checked_sub(1)?;
        Some(self.links[index as usize])
    }

    /// Adds a scope newer than all of `rest`.
    fn extend(&mut self, rest: ScopeSet, newest: Scope) -> ScopeSet {
        let length = self.length(rest) + 1;
        let links = &mut self.links;
        *self.interned.entry((rest, newest)).or_insert_with(|| {
            links.push(Link { newest, rest, length });
            ScopeSet(u32::try_from(links.len()).unwrap_or(u32::MAX))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn build(sets: &mut ScopeSets, scopes: &[u32]) -> ScopeSet {
        scopes
            .iter()
            .fold(ScopeSet::EMPTY, |set, scope| sets.insert(set, Scope(*scope)))
    }

    fn elements(sets: &ScopeSets, mut set: ScopeSet) -> BTreeSet<u32> {
        let mut scopes = BTreeSet::new();
        while let Some((scope, rest)) = sets.split(set) {
            scopes.insert(scope.0);
            set = rest;
        }
        scopes
    }

    proptest! {
        #[test]
        fn sets_behave_as_sets(
            a in proptest::collection::vec(0_u32..12, 0..8),
            b in proptest::collection::vec(0_u32..12, 0..8),
            scope in 0_u32..12,
        ) {
            let mut sets = ScopeSets::default();
            let (left, right) = (build(&mut sets, &a), build(&mut sets, &b));
            let (a, b): (BTreeSet<_>, BTreeSet<_>) = (a.into_iter().collect(), b.into_iter().collect());
            let union = sets.union(left, right);
            prop_assert_eq!(elements(&sets, union), &a | &b);
            prop_assert_eq!(sets.union(right, left), union);
            prop_assert_eq!(sets.is_subset(left, right), a.is_subset(&b));
            prop_assert_eq!(left == right, a == b);
            prop_assert_eq!(sets.length(left) as usize, a.len());
            let removed = sets.remove(left, Scope(scope));
            let others: BTreeSet<_> = a.into_iter().filter(|other| *other != scope).collect();
            prop_assert_eq!(elements(&sets, removed), others);
        }
    }
}
