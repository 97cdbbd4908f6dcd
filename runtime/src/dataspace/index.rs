//! The index: finds the observers of a fact and the facts for an observer without looking at the others.
//!
//! Owns the postings from terms to facts and to forms, and the leaves: for each form and each tuple of constants, who observes it and which
//! capture tuples currently match.
//! INVARIANT: a leaf's matches are exactly the capture tuples of the present facts that its pattern matches, each counted as often as
//! facts yield it; a leaf has at least one observer.
//! It does not know handles, actors, or that observing is itself a fact; `dataspace.rs` does.
//! Read next: `dataspace.rs`.

use std::sync::Arc;

use im::{OrdMap, OrdSet};
use preserves::IOValue;

use super::form::{Compiled, Form, Reading, Term, Terms};
use super::pattern::Pattern;
use crate::identity::{Handle, ObserverId};
use crate::value::{Fact, compare_all};

/// What an observer is told of a match: the captured parts.
pub type Captures = Arc<[IOValue]>;

/// A capture tuple that some present facts yield.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    /// How many facts yield it.
    count: u64,
    /// The captured parts.
    pub(crate) captures: Captures,
    /// What observers know the match by.
    pub(crate) handle: Handle,
}

/// The observers that want the same, and what they see.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaf {
    /// Who observes.
    pub(crate) observers: OrdSet<ObserverId>,
    /// The matches by the canonical bytes of their captures.
    matches: OrdMap<Vec<u8>, Match>,
}

impl Leaf {
    /// Returns the matches in the order of Preserves.
    pub(crate) fn sorted(&self) -> Vec<Match> {
        let mut matches: Vec<Match> = self.matches.values().cloned().collect();
        matches.sort_by(|left, right| compare_all(&left.captures, &right.captures));
        matches
    }
}

/// A leaf whose matches a fact has changed.
pub(crate) struct Change {
    /// Who observes the leaf.
    pub(crate) observers: OrdSet<ObserverId>,
    /// The match that came or went; its handle is right only if it went.
    pub(crate) changed: Match,
    leaf: LeafKey,
    captures_key: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LeafKey {
    form: u64,
    constants: Vec<u8>,
}

#[derive(Clone, Debug)]
struct FormEntry {
    form: Arc<Form>,
    /// The term under which facts find the form.
    term: u64,
    leaves: u64,
}

/// Facts and observers, so arranged that they find each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    facts: OrdMap<u64, Fact>,
    /// Pairs of term and fact.
    postings: OrdSet<(u64, u64)>,
    /// Facts with too many terms to list.
    unlisted: OrdSet<u64>,
    forms: OrdMap<u64, FormEntry>,
    form_numbers: OrdMap<Arc<Form>, u64>,
    /// Pairs of term and form.
    form_postings: OrdSet<(u64, u64)>,
    leaves: OrdMap<LeafKey, Leaf>,
    leaf_of: OrdMap<ObserverId, LeafKey>,
    next_form: u64,
}

impl Index {
    /// Adds the fact called `number` and returns the leaves in which a match appeared, ordered by their first observer.
    pub(crate) fn add(&mut self, number: u64, fact: &Fact) -> Vec<Change> {
        let terms = Terms::of(fact);
        self.facts.insert(number, fact.clone());
        if terms.is_complete {
            self.postings
                .extend(terms.terms.iter().map(|term| (term.number(), number)));
        } else {
            self.unlisted.insert(number);
        }
        let mut changes = Vec::new();
        for (leaf, reading) in self.leaves_for(fact, &terms) {
            let key = captures_key(&reading.captures);
            let Some(entry) = self.leaves.get_mut(&leaf) else {
                continue;
            };
            if let Some(known) = entry.matches.get_mut(&key) {
                known.count += 1;
                continue;
            }
            let changed = Match {
                count: 1,
                captures: reading.captures.into(),
                handle: Handle(u64::MAX),
            };
            changes.push(Change {
                observers: entry.observers.clone(),
                changed,
                leaf,
                captures_key: key,
            });
        }
        changes.sort_by_key(|change| change.observers.get_min().copied());
        changes
    }

    /// Completes a change reported by [`add`](Self::add): the match is now known by `handle`.
    pub(crate) fn appear(&mut self, change: &Change, handle: Handle) {
        if let Some(leaf) = self.leaves.get_mut(&change.leaf) {
            leaf.matches.insert(
                change.captures_key.clone(),
                Match {
                    handle,
                    ..change.changed.clone()
                },
            );
        }
    }

    /// Removes the fact called `number` and returns the leaves in which a match disappeared, ordered by their first observer.
    pub(crate) fn remove(&mut self, number: u64) -> Vec<Change> {
        let Some(fact) = self.facts.remove(&number) else {
            return Vec::new();
        };
        let terms = Terms::of(&fact);
        if terms.is_complete {
            for term in &terms.terms {
                self.postings.remove(&(term.number(), number));
            }
        } else {
            self.unlisted.remove(&number);
        }
        let mut changes = Vec::new();
        for (leaf, reading) in self.leaves_for(&fact, &terms) {
            let key = captures_key(&reading.captures);
            let Some(entry) = self.leaves.get_mut(&leaf) else {
                continue;
            };
            let Some(known) = entry.matches.get_mut(&key) else {
                continue;
            };
            known.count -= 1;
            if known.count > 0 {
                continue;
            }
            let observers = entry.observers.clone();
            if let Some(changed) = entry.matches.remove(&key) {
                changes.push(Change {
                    observers,
                    changed,
                    leaf,
                    captures_key: key,
                });
            }
        }
        changes.sort_by_key(|change| change.observers.get_min().copied());
        changes
    }

    /// Returns who would see `fact`, and what, were it a message; ordered by observer.
    pub(crate) fn witnesses(&self, fact: &Fact) -> Vec<(ObserverId, Captures)> {
        let mut witnesses = Vec::new();
        for (leaf, reading) in self.leaves_for(fact, &Terms::of(fact)) {
            let captures: Captures = reading.captures.into();
            let observers = self
                .leaves
                .get(&leaf)
                .into_iter()
                .flat_map(|leaf| leaf.observers.iter());
            witnesses.extend(observers.map(|observer| (*observer, captures.clone())));
        }
        witnesses.sort_by_key(|(observer, _)| *observer);
        witnesses
    }

    /// Adds an observer and returns its matches in the order of Preserves. `handle` names matches that nobody has observed before.
    pub(crate) fn observe(
        &mut self,
        observer: ObserverId,
        pattern: &Pattern,
        mut handle: impl FnMut(&Captures) -> Handle,
    ) -> Vec<Match> {
        let compiled = Compiled::of(pattern);
        let key = LeafKey {
            form: self.number_form(&compiled),
            constants: compiled.constants.clone(),
        };
        if !self.leaves.contains_key(&key) {
            let leaf = self.populate(&compiled, &mut handle);
            self.leaves.insert(key.clone(), leaf);
            if let Some(entry) = self.forms.get_mut(&key.form) {
                entry.leaves += 1;
            }
        }
        self.leaf_of.insert(observer, key.clone());
        let Some(leaf) = self.leaves.get_mut(&key) else {
            return Vec::new();
        };
        leaf.observers.insert(observer);
        leaf.sorted()
    }

    /// Removes an observer and returns the matches it was seeing, in the order of Preserves.
    pub(crate) fn unobserve(&mut self, observer: ObserverId) -> Vec<Match> {
        let Some(key) = self.leaf_of.remove(&observer) else {
            return Vec::new();
        };
        let Some(leaf) = self.leaves.get_mut(&key) else {
            return Vec::new();
        };
        leaf.observers.remove(&observer);
        let matches = leaf.sorted();
        if leaf.observers.is_empty() {
            self.leaves.remove(&key);
            self.release_form(key.form);
        }
        matches
    }

    /// Returns every leaf that has matches, ordered by its first observer.
    pub(crate) fn leaves(&self) -> Vec<&Leaf> {
        let mut leaves: Vec<&Leaf> = self.leaves.values().filter(|leaf| !leaf.matches.is_empty()).collect();
        leaves.sort_by_key(|leaf| leaf.observers.get_min().copied());
        leaves
    }

    fn number_form(&mut self, compiled: &Compiled) -> u64 {
        if let Some(number) = self.form_numbers.get(&compiled.form) {
            return *number;
        }
        let form = Arc::new(compiled.form.clone());
        let number = self.next_form;
        self.next_form += 1;
        let (term, _) = rarest(&self.form_postings, &compiled.form_terms);
        self.form_postings.insert((term, number));
        self.form_numbers.insert(form.clone(), number);
        self.forms.insert(number, FormEntry { form, term, leaves: 0 });
        number
    }

    fn release_form(&mut self, number: u64) {
        let Some(entry) = self.forms.get_mut(&number) else {
            return;
        };
        entry.leaves -= 1;
        if entry.leaves > 0 {
            return;
        }
        if let Some(entry) = self.forms.remove(&number) {
            self.form_numbers.remove(&entry.form);
            self.form_postings.remove(&(entry.term, number));
        }
    }

    /// Finds the facts that a pattern matches, by its rarest term.
    fn populate(&self, compiled: &Compiled, handle: &mut impl FnMut(&Captures) -> Handle) -> Leaf {
        let (_, candidates) = rarest(&self.postings, &compiled.terms);
        let mut found: OrdMap<Vec<u8>, (u64, Captures)> = OrdMap::new();
        for fact in candidates
            .iter()
            .chain(&self.unlisted)
            .filter_map(|number| self.facts.get(number))
        {
            if let Some(reading) = compiled
                .form
                .read(fact.value())
                .filter(|reading| reading.constants == compiled.constants)
            {
                let key = captures_key(&reading.captures);
                found.entry(key).or_insert_with(|| (0, reading.captures.into())).0 += 1;
            }
        }
        let mut matches: Vec<(Vec<u8>, (u64, Captures))> = found.into_iter().collect();
        matches.sort_by(|(_, (_, left)), (_, (_, right))| compare_all(left, right));
        let name = |(key, (count, captures)): (Vec<u8>, (u64, Captures))| {
            let handle = handle(&captures);
            (
                key,
                Match {
                    count,
                    captures,
                    handle,
                },
            )
        };
        Leaf {
            observers: OrdSet::new(),
            matches: matches.into_iter().map(name).collect(),
        }
    }

    fn leaves_for(&self, fact: &Fact, terms: &Terms) -> Vec<(LeafKey, Reading)> {
        let forms: Vec<u64> = if terms.is_complete {
            terms
                .terms
                .iter()
                .flat_map(|term| posted(&self.form_postings, term.number()))
                .collect()
        } else {
            self.forms.keys().copied().collect()
        };
        let read = |form: u64| {
            let reading = self.forms.get(&form)?.form.read(fact.value())?;
            let key = LeafKey {
                form,
                constants: reading.constants.clone(),
            };
            self.leaves.contains_key(&key).then_some((key, reading))
        };
        forms.into_iter().filter_map(read).collect()
    }
}

/// Lists what is posted under `term`.
fn posted(postings: &OrdSet<(u64, u64)>, term: u64) -> impl Iterator<Item = u64> {
    postings.range((term, 0)..=(term, u64::MAX)).map(|(_, number)| *number)
}

/// Returns the term with the fewest postings, and those: all are walked in step, so that the cost is that of the fewest.
///
/// `terms` is not empty.
fn rarest(postings: &OrdSet<(u64, u64)>, terms: &[Term]) -> (u64, Vec<u64>) {
    let mut walks: Vec<_> = terms
        .iter()
        .map(|term| (term.number(), posted(postings, term.number()), Vec::new()))
        .collect();
    loop {
        for (term, walk, seen) in &mut walks {
            match walk.next() {
                Some(number) => seen.push(number),
                None => return (*term, std::mem::take(seen)),
            }
        }
    }
}

fn captures_key(captures: &[IOValue]) -> Vec<u8> {
    // INVARIANT: captures are parts of a fact, hence within the limits; the encoding of each ends itself, so no two tuples share a key.
    captures
        .iter()
        .filter_map(|capture| Fact::new(capture.clone()).ok())
        .flat_map(|fact| fact.bytes().to_vec())
        .collect()
}
