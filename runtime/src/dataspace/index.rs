//! The index: finds the observers of a fact and the facts for an observer without looking at the others.
//!
//! Owns the facts that are present, the postings from terms to facts and to forms, and the leaves: for each form and each tuple of constants, who observes it and which
//! capture tuples currently match.
//! INVARIANT: a leaf's matches are exactly the capture tuples of the present facts that its pattern matches, each counted as often as
//! facts yield it; a leaf has at least one observer.
//! It does not know handles, actors, or that observing is itself a fact; `dataspace.rs` does.
//! Read next: `dataspace.rs`.

use std::sync::Arc;

use duet_journal::packed::{PackedValues, View};
use im::{OrdMap, OrdSet};
use preserves::IOValue;

use super::form::{Compiled, Form, Reading, Term, Terms};
use super::pattern::Pattern;
use crate::identity::{Handle, ObserverId};
use crate::tracked::{Tracked, TrackedSet, tracked_fields};
use crate::value::{Fact, compare_all};

/// What an observer is told of a match: the captured parts.
pub type Captures = PackedValues;

/// A fact that is present.
#[derive(Clone, Debug)]
pub(crate) struct Presence {
    /// The fact.
    pub(crate) fact: Fact,
    /// How often it is present.
    pub(crate) count: u64,
}

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
    term: u64,
    leaves: u64,
}

/// Pairs of a term and the number of what has it.
type Postings = TrackedSet<(u64, u64)>;

/// Facts and observers, so arranged that they find each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    facts: Tracked<u64, Presence>,
    /// The facts by the hash of their content, and counted among those with the same hash.
    by_content: Tracked<(u64, u64), u64>,
    postings: Postings,
    /// Facts with too many terms to list.
    unlisted: TrackedSet<u64>,
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
    by_content,
    postings,
    unlisted,
    forms,
    form_numbers,
    form_postings,
    leaves,
    matches,
    leaf_of
});

impl Index {
    /// Returns the facts that are present, by number.
    pub(crate) fn facts(&self) -> &OrdMap<u64, Presence> {
        &self.facts
    }

    /// Finds a fact that is present.
    pub(crate) fn find(&self, fact: &Fact) -> Option<u64> {
        let hash = Terms::whole(fact).number();
        let is_it = |number: &u64| self.facts.get(number).is_some_and(|found| found.fact == *fact);
        self.homonyms(hash).find(is_it)
    }

    /// Lists the facts whose content has this hash, hardly ever more than one.
    fn homonyms(&self, hash: u64) -> impl Iterator<Item = u64> {
        (0..).map_while(move |nth| self.by_content.get(&(hash, nth)).copied())
    }

    fn list_content(&mut self, hash: u64, number: u64) {
        let nth = self.homonyms(hash).count() as u64;
        self.by_content.insert((hash, nth), number);
    }

    /// Takes a fact off the list of those with its hash; the last of them takes its place.
    fn unlist_content(&mut self, hash: u64, number: u64) {
        let all: Vec<u64> = self.homonyms(hash).collect();
        let place = all.iter().position(|listed| *listed == number);
        if let (Some(place), Some(last)) = (place, all.len().checked_sub(1)) {
            self.by_content.insert((hash, place as u64), all[last]);
            self.by_content.remove(&(hash, last as u64));
        }
    }

    /// Returns how often the fact called `number` is present, to change it; it stays above zero.
    pub(crate) fn count_mut(&mut self, number: u64) -> Option<&mut u64> {
        self.facts.get_mut(&number).map(|presence| &mut presence.count)
    }

    /// Adds the fact called `number` and returns the leaves in which a match appeared, ordered by their first observer.
    pub(crate) fn add(&mut self, number: u64, presence: Presence) -> Vec<Change> {
        let terms = Terms::of(&presence.fact);
        self.list_content(terms.whole.number(), number);
        match terms.parts() {
            Some(parts) => {
                for term in parts {
                    self.postings.insert((term.number(), number));
                }
            }
            None => self.unlisted.insert(number),
        }
        let mut changes = Vec::new();
        for (leaf, observers, reading) in self.leaves_for(&presence.fact, &terms) {
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
        self.facts.insert(number, presence);
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
        let Some(Presence { fact, .. }) = self.facts.remove(&number) else {
            return Vec::new();
        };
        let terms = Terms::of(&fact);
        self.unlist_content(terms.whole.number(), number);
        match terms.parts() {
            Some(parts) => {
                for term in parts {
                    self.postings.remove(&(term.number(), number));
                }
            }
            None => self.unlisted.remove(&number),
        }
        let mut changes = Vec::new();
        for (leaf, observers, reading) in self.leaves_for(&fact, &terms) {
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
        for (_, observers, reading) in self.leaves_for(fact, &Terms::of(fact)) {
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
        let term = rarest(&self.form_postings, &compiled.form_terms).map_or(0, |(term, _)| term);
        self.form_postings.insert((term, new));
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
            self.form_postings.remove(&(entry.term, number));
        }
    }

    /// Finds the facts that a pattern matches, by its rarest term, and lists the matches under `leaf`.
    fn populate(&mut self, compiled: &Compiled, leaf: u64, mut handle: impl FnMut(&Captures) -> Handle) {
        let candidates: Vec<u64> = match rarest(&self.postings, &compiled.terms) {
            Some((_, numbers)) => numbers.into_iter().chain(self.unlisted.iter().copied()).collect(),
            None => self.facts.keys().copied().collect(),
        };
        let mut found: OrdMap<Captures, u64> = OrdMap::new();
        for presence in candidates.iter().filter_map(|number| self.facts.get(number)) {
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
    fn leaves_for<'a>(&self, fact: &'a Fact, terms: &Terms) -> Vec<(u64, Observers, Reading<'a>)> {
        let forms: Vec<u64> = match terms.of_forms() {
            Some(terms) => terms
                .flat_map(|term| posted(&self.form_postings, term.number()))
                .collect(),
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

/// Lists what is posted under `term`.
fn posted(postings: &Postings, term: u64) -> impl Iterator<Item = u64> {
    postings.range((term, 0)..=(term, u64::MAX)).map(|(_, number)| *number)
}

/// Returns the term with the fewest postings, and those; `None` if there are no terms.
///
/// All are walked in step, so that the cost is that of the fewest.
fn rarest(postings: &Postings, terms: &[Term]) -> Option<(u64, Vec<u64>)> {
    let mut walks: Vec<_> = terms
        .iter()
        .map(|term| (term.number(), posted(postings, term.number()), Vec::new()))
        .collect();
    while !walks.is_empty() {
        for (term, walk, seen) in &mut walks {
            match walk.next() {
                Some(number) => seen.push(number),
                None => return Some((*term, std::mem::take(seen))),
            }
        }
    }
    None
}
