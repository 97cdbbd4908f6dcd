//! The index: finds the observers of a fact and the facts for an observer without scanning the
//! others.
//!
//! Owns the postings from terms to forms, and the leaves: for each form and each tuple of
//! constants, its observers and the capture tuples that currently match.
//! INVARIANT: a leaf's matches are exactly the capture tuples that its pattern finds in the present
//! facts, each with the number of facts that yield it; a leaf has at least one observer.
//! It does not know handles, actors, or that observing is itself a fact; `../dataspace.rs` does.
//! Read next: `../dataspace.rs`.

use std::sync::Arc;

use duet_journal::packed::View;
use im::{OrdMap, OrdSet};
use preserves::IOValue;
use smallvec::SmallVec;

use super::facts::Facts;
use super::form::{Compiled, Constants, Form, FormTerms, Parts, Reading, Term, constants_of};
use super::listing::Presence;
use super::notice::{Captures, ObserverRef};
use super::pattern::Pattern;
use crate::collections::ordered::Key;
use crate::collections::tracked::{Tracked, TrackedCell, tracked_fields};
use crate::model::identity::{ActorId, Handle, ObserverId};
use crate::model::value::{Fact, compare_all};

/// A form is listed under a term of the whole fact while fewer forms than this are there; otherwise
/// under its term with the fewest forms.
const CROWD: usize = 8;

/// The record of a capture tuple that some present facts yield.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The number of facts that yield it.
    count: u64,
    /// The handle that observers know the match by.
    handle: Handle,
}

/// A match as its observers see it.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    /// The captured parts.
    pub(crate) captures: Captures,
    /// The handle that observers know it by.
    pub(crate) handle: Handle,
}

/// The members of one key; mostly one.
#[derive(Clone, Debug)]
pub(crate) enum Members<T: Ord + Copy> {
    /// The only member.
    One(T),
    /// Any number of members.
    Many(OrdSet<T>),
}

/// The observers of one leaf.
pub(crate) type Observers = Members<ObserverRef>;

impl<T: Ord + Copy> Members<T> {
    /// Iterates over the members in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        let (one, many) = match self {
            Self::One(member) => (Some(*member), None),
            Self::Many(members) => (None, Some(members)),
        };
        one.into_iter().chain(many.into_iter().flatten().copied())
    }

    /// Calls `look` with each member in ascending order.
    pub(crate) fn each(&self, look: impl FnMut(T)) {
        match self {
            Self::One(member) => std::iter::once(*member).for_each(look),
            Self::Many(members) => members.iter().copied().for_each(look),
        }
    }

    /// Returns the first member.
    pub(crate) fn first(&self) -> Option<T> {
        match self {
            Self::One(member) => Some(*member),
            Self::Many(members) => members.get_min().copied(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(members) => members.len(),
        }
    }

    fn insert(&mut self, member: T) {
        match self {
            Self::One(known) if *known == member => {}
            Self::One(known) => *self = Self::Many([*known, member].into_iter().collect()),
            Self::Many(members) => drop(members.insert(member)),
        }
    }

    /// Removes a member; says whether any is left.
    fn remove(&mut self, member: T) -> bool {
        match self {
            Self::One(known) => *known != member,
            Self::Many(members) => {
                members.remove(&member);
                !members.is_empty()
            }
        }
    }
}

impl Observers {
    /// Says whether an observer is among them.
    fn has(&self, observer: ObserverId) -> bool {
        let is_it = |member: &ObserverRef| member.observer == observer;
        match self {
            Self::One(member) => is_it(member),
            Self::Many(members) => {
                let actor = ActorId(0);
                members
                    .range(ObserverRef { observer, actor }..)
                    .next()
                    .is_some_and(is_it)
            }
        }
    }
}

/// The observers of one pattern.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The number that its matches are listed under.
    number: u64,
    /// The observers.
    pub(crate) observers: Observers,
}

/// A match that appeared or disappeared in a leaf.
pub(crate) struct Change {
    /// The observers of the leaf.
    pub(crate) observers: Observers,
    /// The captured parts of the match.
    pub(crate) captures: Captures,
    /// The handle of a match that disappeared; unset for one that appeared.
    pub(crate) handle: Handle,
    leaf: u64,
}

/// The changes that one fact causes; mostly one or none.
pub(crate) type Changes = SmallVec<[Change; 1]>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LeafKey {
    form: u64,
    constants: Constants,
}

impl Key for LeafKey {}

impl Key for Form {}

#[derive(Clone, Debug)]
struct FormEntry {
    form: Arc<Form>,
    /// The term under which facts find the form.
    term: Term,
    leaves: u64,
}

/// An index of facts and observers, by which each side finds the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) facts: Facts,
    forms: Tracked<u64, FormEntry>,
    form_numbers: Tracked<Arc<Form>, u64>,
    /// The forms by the term under which facts find them; each form has one.
    forms_by_term: Tracked<u64, Members<u64>>,
    /// The number of forms listed under a term of a part.
    by_part: TrackedCell<u64>,
    leaves: Tracked<LeafKey, Leaf>,
    /// The matches by the number of their leaf.
    matches: Tracked<(u64, Captures), Known>,
    /// The numbers of the observers' forms. Their constants are in their leaves, and in the
    /// patterns that come when they go.
    form_of: Tracked<ObserverId, u64>,
}

tracked_fields!(Index {
    facts,
    forms,
    form_numbers,
    forms_by_term,
    by_part,
    leaves,
    matches,
    form_of
});

impl Index {
    /// Adds the fact `number` and returns the leaves in which a match appeared, ordered by their
    /// first observer.
    pub(crate) fn add(&mut self, number: u64, presence: Presence) -> Changes {
        let mut changes = Changes::new();
        for (leaf, observers, captures) in self.leaves_for(&presence.fact) {
            let key = (leaf, captures);
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
        self.facts.add(number, presence);
        changes.sort_by_key(|change| change.observers.first());
        changes
    }

    /// Completes a change that [`add`](Self::add) returned: the match gets `handle`.
    pub(crate) fn appear(&mut self, change: &Change, handle: Handle) {
        let known = Known { count: 1, handle };
        self.matches.insert((change.leaf, change.captures.clone()), known);
    }

    /// Removes the fact `number` and returns the leaves in which a match disappeared, ordered by
    /// their first observer.
    pub(crate) fn remove(&mut self, number: u64) -> Changes {
        let Some(fact) = self.facts.remove(number) else {
            return Changes::new();
        };
        let mut changes = Changes::new();
        for (leaf, observers, captures) in self.leaves_for(&fact) {
            let key = (leaf, captures);
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

    /// Lists the observers whose patterns match the message `fact`, with their captures, ordered by
    /// observer.
    pub(crate) fn witnesses(&self, fact: &Fact) -> SmallVec<[(ObserverRef, Captures); 2]> {
        let mut witnesses = SmallVec::new();
        self.each_leaf(fact, |leaf, reading| {
            let captures = reading.captures();
            leaf.observers
                .each(|observer| witnesses.push((observer, captures.clone())));
        });
        witnesses.sort_by_key(|(observer, _)| *observer);
        witnesses
    }

    /// Returns the captures of an observer in the message `value`.
    pub(crate) fn read(&self, observer: ObserverId, value: View<'_>) -> Option<Captures> {
        let form = *self.form_of.get(&observer)?;
        let mut reading = self.forms.get(&form)?.form.read(value)?;
        let constants = std::mem::take(&mut reading.constants);
        let leaf = self.leaves.get(&LeafKey { form, constants })?;
        leaf.observers.has(observer).then(|| reading.captures())
    }

    /// Adds an observer and returns its matches in the order of Preserves.
    ///
    /// `number` becomes the number of its leaf if the leaf is absent; `handle` makes handles for
    /// matches that have no observer yet.
    pub(crate) fn observe(
        &mut self,
        observer: ObserverRef,
        pattern: &Pattern,
        number: u64,
        handle: impl FnMut(&Captures) -> Handle,
    ) -> Vec<Match> {
        let compiled = Compiled::of(pattern);
        let key = LeafKey {
            form: self.number_form(&compiled, number),
            constants: compiled.constants.clone(),
        };
        self.form_of.insert(observer.observer, key.form);
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

    /// Removes an observer of a pattern and returns its matches in the order of Preserves.
    pub(crate) fn unobserve(&mut self, observer: ObserverRef, pattern: &Pattern) -> Vec<Match> {
        let Some(form) = self.form_of.remove(&observer.observer) else {
            return Vec::new();
        };
        let constants = constants_of(pattern);
        let key = LeafKey { form, constants };
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

    /// Returns the observers and matches of every leaf that has matches, ordered by its first
    /// observer.
    pub(crate) fn leaves(&self) -> Vec<(&Observers, Vec<Match>)> {
        let leaves = self.leaves.iter().map(|(_, leaf)| {
            (
                &leaf.observers,
                self.matches_of(leaf.number)
                    .map(|(entry, known)| seen(entry, known))
                    .collect::<Vec<_>>(),
            )
        });
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
        let mut matches: Vec<Match> = self.matches_of(leaf).map(|(entry, known)| seen(entry, known)).collect();
        sort(&mut matches, |found| &found.captures);
        matches
    }

    /// Returns the number of a form; adds the form with the number `new` if it is absent.
    fn number_form(&mut self, compiled: &Compiled, new: u64) -> u64 {
        if let Some(number) = self.form_numbers.get(&compiled.form) {
            return *number;
        }
        let form = Arc::new(compiled.form.clone());
        let forms = |term: &Term| self.forms_by_term.get(&term.number()).map_or(0, Members::len);
        let of_whole = compiled.form_terms.iter().find(|term| !term.is_of_a_part());
        let roomy = of_whole.filter(|term| forms(term) < CROWD);
        let best = roomy.or_else(|| compiled.form_terms.iter().min_by_key(|term| forms(term)));
        let term = best.copied().unwrap_or(Term::ANY);
        match self.forms_by_term.get_mut(&term.number()) {
            Some(forms) => forms.insert(new),
            None => drop(self.forms_by_term.insert(term.number(), Members::One(new))),
        }
        *self.by_part.get_mut() += u64::from(term.is_of_a_part());
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
            let term = entry.term.number();
            let forms = self.forms_by_term.get_mut(&term);
            if forms.is_some_and(|forms| !forms.remove(number)) {
                self.forms_by_term.remove(&term);
            }
            *self.by_part.get_mut() -= u64::from(entry.term.is_of_a_part());
        }
    }

    /// Finds the facts that a pattern matches, by its rarest term, and lists the matches under
    /// `leaf`.
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

    /// Finds the leaves that match `fact`: their numbers, observers and captures.
    fn leaves_for(&self, fact: &Fact) -> SmallVec<[(u64, Observers, Captures); 2]> {
        let mut found = SmallVec::new();
        self.each_leaf(fact, |leaf, reading| {
            found.push((leaf.number, leaf.observers.clone(), reading.captures()));
        });
        found
    }

    /// Visits each leaf that matches `fact`, with the parts that its form reads.
    fn each_leaf<'a>(&self, fact: &'a Fact, mut see: impl FnMut(&Leaf, &Reading<'a>)) {
        let mut look = |form: u64| {
            let entry = self.forms.get(&form);
            let Some(mut reading) = entry.and_then(|entry| entry.form.read(fact.view())) else {
                return;
            };
            let constants = std::mem::take(&mut reading.constants);
            if let Some(leaf) = self.leaves.get(&LeafKey { form, constants }) {
                see(leaf, &reading);
            }
        };
        let wanted = if *self.by_part > 0 {
            Parts::Wanted
        } else {
            Parts::Unwanted
        };
        match FormTerms::of(fact, wanted) {
            Some(terms) => {
                let forms = terms.iter().filter_map(|term| self.forms_by_term.get(&term.number()));
                forms.for_each(|forms| forms.each(&mut look));
            }
            None => self.forms.keys().copied().for_each(look),
        }
    }
}

/// Makes a match as its observers see it.
fn seen(entry: &(u64, Captures), known: &Known) -> Match {
    Match {
        captures: entry.1.clone(),
        handle: known.handle,
    }
}

/// Sorts by captures, in the order of Preserves.
fn sort<T>(matches: &mut [T], captures: impl Fn(&T) -> &Captures) {
    // Most observers have at most one match at first.
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
