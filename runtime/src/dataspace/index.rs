//! The index: finds the observers of a fact and the facts for an observer without looking at the others.
//!
//! Owns the postings from terms to forms, and the leaves: for each form and each tuple of constants, who observes it and which capture tuples
//! currently match.
//! INVARIANT: a leaf's matches are exactly the capture tuples of the present facts that its pattern matches, each counted as often as
//! facts yield it; a leaf has at least one observer.
//! It does not know handles, actors, or that observing is itself a fact; `dataspace.rs` does.
//! Read next: `dataspace.rs`.

use std::sync::Arc;

use duet_journal::packed::{PackedValues, View};
use im::{OrdMap, OrdSet};
use preserves::IOValue;
use smallvec::SmallVec;

use super::facts::{Facts, Presence, Vacancy};
use super::form::{Compiled, Form, Reading, Term, Terms};
use super::pattern::Pattern;
use super::postings::Postings;
use crate::identity::{Handle, ObserverId};
use crate::tracked::{Tracked, tracked_fields};
use crate::value::{Fact, compare_all};

/// As many forms are sooner tried one by one than searched for by terms.
const FEW_FORMS: usize = 6;

/// What an observer is told of a match: the captured parts.
pub type Captures = PackedValues;

/// What is known of a capture tuple that some present facts yield.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// How many facts yield it.
    count: u64,
    /// What observers know the match by.
    handle: Handle,
}

/// A match as its observers see it.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    /// The captured parts.
    pub(crate) captures: Captures,
    /// What observers know it by.
    pub(crate) handle: Handle,
}

/// Who observes the same; mostly one.
#[derive(Clone, Debug)]
pub(crate) enum Observers {
    /// Nobody else does.
    One(ObserverId),
    /// Any number.
    Many(OrdSet<ObserverId>),
}

impl Observers {
    /// Walks over them in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ObserverId> {
        let (one, many) = match self {
            Self::One(observer) => (Some(*observer), None),
            Self::Many(observers) => (None, Some(observers)),
        };
        one.into_iter().chain(many.into_iter().flatten().copied())
    }

    /// Returns the oldest.
    pub(crate) fn first(&self) -> Option<ObserverId> {
        match self {
            Self::One(observer) => Some(*observer),
            Self::Many(observers) => observers.get_min().copied(),
        }
    }

    fn insert(&mut self, observer: ObserverId) {
        match self {
            Self::One(known) if *known == observer => {}
            Self::One(known) => *self = Self::Many([*known, observer].into_iter().collect()),
            Self::Many(observers) => drop(observers.insert(observer)),
        }
    }

    /// Says whether anybody is left.
    fn remove(&mut self, observer: ObserverId) -> bool {
        match self {
            Self::One(known) => *known != observer,
            Self::Many(observers) => {
                observers.remove(&observer);
                !observers.is_empty()
            }
        }
    }
}

/// The observers that want the same.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// What its matches are listed under.
    number: u64,
    /// Who observes.
    pub(crate) observers: Observers,
}

/// A leaf whose matches a fact has changed.
pub(crate) struct Change {
    /// Who observes the leaf.
    pub(crate) observers: Observers,
    /// The captured parts of the match that came or went.
    pub(crate) captures: Captures,
    /// What it was known by, if it went.
    pub(crate) handle: Handle,
    leaf: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LeafKey {
    form: u64,
    constants: Arc<[u8]>,
}

#[derive(Clone, Debug)]
struct FormEntry {
    form: Arc<Form>,
    /// The term under which facts find the form.
    term: Term,
    leaves: u64,
}

/// Facts and observers, so arranged that they find each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) facts: Facts,
    forms: Tracked<u64, FormEntry>,
    form_numbers: Tracked<Arc<Form>, u64>,
    form_postings: Postings,
    leaves: Tracked<LeafKey, Leaf>,
    /// The matches by their leaf's number.
    matches: Tracked<(u64, Captures), Known>,
    leaf_of: Tracked<ObserverId, LeafKey>,
}

tracked_fields!(Index {
    facts,
    forms,
    form_numbers,
    form_postings,
    leaves,
    matches,
    leaf_of
});

impl Index {
    /// Adds the fact called `number` and returns the leaves in which a match appeared, ordered by their first observer.
    pub(crate) fn add(&mut self, number: u64, presence: Presence, vacancy: Vacancy) -> Vec<Change> {
        let mut changes = Vec::new();
        for (leaf, observers, reading) in self.leaves_for(&presence.fact) {
            let key = (leaf, reading.captures());
            if let Some(known) = self.matches.get_mut(&key) {
                known.count += 1;
                continue;
            }
            changes.push(Change {
                observers,
                captures: key.1,
                handle: Handle(u64::MAX),
                leaf,
            });
        }
        self.facts.add(number, presence, vacancy);
        changes.sort_by_key(|change| change.observers.first());
        changes
    }

    /// Completes a change reported by [`add`](Self::add): the match is now known by `handle`.
    pub(crate) fn appear(&mut self, change: &Change, handle: Handle) {
        let known = Known { count: 1, handle };
        self.matches.insert((change.leaf, change.captures.clone()), known);
    }

    /// Removes the fact called `number` and returns the leaves in which a match disappeared, ordered by their first observer.
    pub(crate) fn remove(&mut self, number: u64) -> Vec<Change> {
        let Some(fact) = self.facts.remove(number) else {
            return Vec::new();
        };
        let mut changes = Vec::new();
        for (leaf, observers, reading) in self.leaves_for(&fact) {
            let key = (leaf, reading.captures());
            let Some(known) = self.matches.get(&key).copied() else {
                continue;
            };
            if known.count > 1 {
                let count = known.count - 1;
                self.matches.insert(key, Known { count, ..known });
                continue;
            }
            self.matches.remove(&key);
            changes.push(Change {
                observers,
                captures: key.1,
                handle: known.handle,
                leaf,
            });
        }
        changes.sort_by_key(|change| change.observers.first());
        changes
    }

    /// Returns who would see `fact`, and what, were it a message; ordered by observer.
    pub(crate) fn witnesses(&self, fact: &Fact) -> Vec<(ObserverId, Captures)> {
        let mut witnesses = Vec::new();
        for (_, observers, reading) in self.leaves_for(fact) {
            let captures = reading.captures();
            witnesses.extend(observers.iter().map(|observer| (observer, captures.clone())));
        }
        witnesses.sort_by_key(|(observer, _)| *observer);
        witnesses
    }

    /// Returns what an observer would see of `value`, were it a message.
    pub(crate) fn read(&self, observer: ObserverId, value: View<'_>) -> Option<Captures> {
        let LeafKey { form, constants } = self.leaf_of.get(&observer)?;
        let reading = self.forms.get(form)?.form.read(value)?;
        (reading.constants == **constants).then(|| reading.captures())
    }

    /// Adds an observer and returns its matches in the order of Preserves. `number` is for its leaf, should it be the first to observe that;
    /// `handle` names matches that nobody has observed before.
    pub(crate) fn observe(
        &mut self,
        observer: ObserverId,
        pattern: &Pattern,
        number: u64,
        handle: impl FnMut(&Captures) -> Handle,
    ) -> Vec<Match> {
        let compiled = Compiled::of(pattern);
        let key = LeafKey {
            form: self.number_form(&compiled, number),
            constants: compiled.constants.as_slice().into(),
        };
        self.leaf_of.insert(observer, key.clone());
        if let Some(leaf) = self.leaves.get_mut(&key) {
            leaf.observers.insert(observer);
            let number = leaf.number;
            return self.sorted(number);
        }
        self.populate(&compiled, number, handle);
        if let Some(entry) = self.forms.get_mut(&key.form) {
            entry.leaves += 1;
        }
        let observers = Observers::One(observer);
        self.leaves.insert(key, Leaf { number, observers });
        self.sorted(number)
    }

    /// Removes an observer and returns the matches it was seeing, in the order of Preserves.
    pub(crate) fn unobserve(&mut self, observer: ObserverId) -> Vec<Match> {
        let Some(key) = self.leaf_of.remove(&observer) else {
            return Vec::new();
        };
        let Some(leaf) = self.leaves.get_mut(&key) else {
            return Vec::new();
        };
        let is_last = !leaf.observers.remove(observer);
        let number = leaf.number;
        let matches = self.sorted(number);
        if is_last {
            self.leaves.remove(&key);
            let gone: Vec<_> = self.matches_of(number).map(|(key, _)| key.clone()).collect();
            for key in gone {
                self.matches.remove(&key);
            }
            self.release_form(key.form);
        }
        matches
    }

    /// Returns the observers and matches of every leaf that has matches, ordered by its first observer.
    pub(crate) fn leaves(&self) -> Vec<(&Observers, Vec<Match>)> {
        let leaves = self
            .leaves
            .values()
            .map(|leaf| (&leaf.observers, self.sorted(leaf.number)));
        let mut leaves: Vec<_> = leaves.filter(|(_, matches)| !matches.is_empty()).collect();
        leaves.sort_by_key(|(observers, _)| observers.first());
        leaves
    }

    fn matches_of(&self, leaf: u64) -> impl Iterator<Item = (&(u64, Captures), &Known)> {
        let all = (leaf, Captures::default())..(leaf + 1, Captures::default());
        self.matches.range(all)
    }

    /// Returns the matches of a leaf in the order of Preserves.
    fn sorted(&self, leaf: u64) -> Vec<Match> {
        let see = |((_, captures), known): (&(u64, Captures), &Known)| Match {
            captures: captures.clone(),
            handle: known.handle,
        };
        let mut matches: Vec<Match> = self.matches_of(leaf).map(see).collect();
        sort(&mut matches, |found| &found.captures);
        matches
    }

    /// Finds the form's number; `new` is its number if it has none.
    fn number_form(&mut self, compiled: &Compiled, new: u64) -> u64 {
        if let Some(number) = self.form_numbers.get(&compiled.form) {
            return *number;
        }
        let form = Arc::new(compiled.form.clone());
        let rarest = self.form_postings.rarest(&compiled.form_terms);
        let term = rarest.map_or(Term::ANY, |(term, _)| term);
        self.form_postings.insert(term, new);
        self.form_numbers.insert(form.clone(), new);
        self.forms.insert(new, FormEntry { form, term, leaves: 0 });
        new
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
            self.form_postings.remove(entry.term, number);
        }
    }

    /// Finds the facts that a pattern matches, by its rarest term, and lists the matches under `leaf`.
    fn populate(&mut self, compiled: &Compiled, leaf: u64, mut handle: impl FnMut(&Captures) -> Handle) {
        let candidates = self.facts.candidates(&compiled.terms);
        let mut found: OrdMap<Captures, u64> = OrdMap::new();
        for presence in candidates.iter().filter_map(|number| self.facts.present().get(number)) {
            if let Some(reading) = compiled
                .form
                .read(presence.fact.view())
                .filter(|reading| reading.constants == compiled.constants)
            {
                *found.entry(reading.captures()).or_insert(0) += 1;
            }
        }
        let mut matches: Vec<(Captures, u64)> = found.into_iter().collect();
        sort(&mut matches, |(captures, _)| captures);
        for (captures, count) in matches {
            let handle = handle(&captures);
            self.matches.insert((leaf, captures), Known { count, handle });
        }
    }

    /// Finds the leaves that see `fact`: their numbers, who observes them, and what they read.
    fn leaves_for<'a>(&self, fact: &'a Fact) -> Vec<(u64, Observers, Reading<'a>)> {
        let is_worth_a_search = self.forms.len() > FEW_FORMS;
        let terms = is_worth_a_search.then(|| Terms::of(fact));
        let forms: SmallVec<[u64; FEW_FORMS]> = match terms.as_ref().and_then(Terms::of_forms) {
            Some(terms) => terms.flat_map(|term| self.form_postings.of(term)).collect(),
            None => self.forms.keys().copied().collect(),
        };
        let read = |form: u64| {
            let mut reading = self.forms.get(&form)?.form.read(fact.view())?;
            let constants = std::mem::take(&mut reading.constants).into();
            let leaf = self.leaves.get(&LeafKey { form, constants })?;
            Some((leaf.number, leaf.observers.clone(), reading))
        };
        forms.into_iter().filter_map(read).collect()
    }
}

/// Sorts by captures, in the order of Preserves.
fn sort<T>(matches: &mut [T], captures: impl Fn(&T) -> &Captures) {
    // Most observers see one match at first, or none.
    if matches.len() > 1 {
        let values = |found: &T| captures(found).iter().map(View::to_value).collect();
        matches.sort_by_cached_key(|found| Tuple(values(found)));
    }
}

/// Captures in the order of Preserves.
#[derive(PartialEq, Eq)]
struct Tuple(Vec<IOValue>);

impl Ord for Tuple {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        compare_all(&self.0, &other.0)
    }
}

impl PartialOrd for Tuple {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
