//! The dataspace: a bag of facts and their observers.
//!
//! Owns the facts that are present with their counts, and turns each change into notices for
//! observers. Observing is itself a fact, `<Observe pattern #:<observer actor id>>`: while it is
//! present, the observer is registered.
//! INVARIANT: each observer has received one `Added` and no `Removed` for exactly the capture
//! tuples that its pattern finds among the present facts.
//! It does not know facets, turns or who asserted a fact; `state.rs` does.
//! Read next: `dataspace/pattern.rs`, then `dataspace/index.rs`.

pub(crate) mod facts;
pub(crate) mod form;
pub(crate) mod index;
mod inclusion;
mod listing;
pub(crate) mod notice;
pub mod pattern;
mod postings;

use std::collections::BTreeMap;

use duet_journal::packed::{Class, PackedError};
use im::OrdMap;
use preserves::IOValue;

use crate::codec_struct;
use crate::collections::tracked::{Tracked, TrackedCell, Tracking, tracked_fields};
use crate::dataspace::index::{Change, Changes, Index};
use crate::dataspace::listing::{ContentHash, Presence};
use crate::dataspace::pattern::{GroupKind, OBSERVE, PackedPattern, Pattern};
use crate::model::codec::{Codec, DecodeError};
use crate::model::identity::{ActorId, Counters, Handle, ObserverId};
use crate::model::value::{Fact, compare};

pub use notice::{Captures, Notice, NoticeKind, Notices, ObserverRef};

/// A bag of facts with an index of observers; a clone is independent.
#[derive(Clone, Debug, Default)]
pub struct Dataspace {
    index: Index,
    /// The `Observe` facts while no pattern can match them. They stay out of the index, because
    /// hardly any program observes them.
    unlisted: Tracked<ObserverId, Fact>,
    /// Whether a pattern that could match `Observe` facts was observed; from then on the index
    /// holds all facts.
    is_listing: TrackedCell<bool>,
    /// The next number for the index. Nothing outside depends on the numbers, so an abort need not
    /// restore this one.
    next_number: u64,
}

tracked_fields!(Dataspace { index, unlisted, is_listing } but not { next_number });

impl Dataspace {
    /// Adds one occurrence of `fact`; the first one sends `Added` to its observers, in the order of
    /// their ids.
    pub fn assert(&mut self, fact: &Fact, counters: &mut Counters) -> Notices {
        let observed = parse_observe(fact);
        if let Some((to, pattern)) = &observed {
            let is_known = self.unlisted.contains_key(&to.observer);
            if !is_known && !*self.is_listing && !may_see_observers(pattern) {
                self.unlisted.insert(to.observer, fact.clone());
                return self.observe(*to, pattern, counters);
            }
            self.list_all();
        }
        let hash = match self.index.facts.find(fact) {
            Err(hash) => hash,
            Ok((number, _)) => {
                self.index
                    .facts
                    .count_mut(number)
                    .into_iter()
                    .for_each(|count| *count += 1);
                return Notices::new();
            }
        };
        let mut notices = Notices::new();
        for change in self.add(fact, 1, hash) {
            let handle = counters.handle();
            self.index.appear(&change, handle);
            Self::tell(&change, NoticeKind::Added(handle), &mut notices);
        }
        notices.sort_by_key(|notice| notice.to.observer);
        if let Some((to, pattern)) = observed {
            notices.extend(self.observe(to, &pattern, counters));
        }
        notices
    }

    /// Puts the `Observe` facts into the index, because a pattern that could match them arrives; no
    /// earlier pattern matches one.
    fn list_all(&mut self) {
        if *self.is_listing {
            return;
        }
        *self.is_listing.get_mut() = true;
        let facts: Vec<Fact> = self.unlisted.values().cloned().collect();
        self.unlisted.clear();
        for fact in &facts {
            if let Err(hash) = self.index.facts.find(fact) {
                self.add(fact, 1, hash);
            }
        }
    }

    /// Removes one occurrence of `fact`; removing the last one sends `Removed` to its observers, in
    /// the order of their ids.
    ///
    /// An observer whose `Observe` fact disappears receives `Removed` for all its matches. Removing
    /// an absent fact does nothing.
    pub fn retract(&mut self, fact: &Fact) -> Notices {
        let observed = parse_observe(fact);
        if let Some((to, pattern)) = &observed
            && self.unlisted.get(&to.observer) == Some(fact)
        {
            self.unlisted.remove(&to.observer);
            return self.unobserve(*to, pattern);
        }
        let Ok((number, count)) = self.index.facts.find(fact) else {
            return Notices::new();
        };
        if count > 1 {
            self.index
                .facts
                .count_mut(number)
                .into_iter()
                .for_each(|count| *count -= 1);
            return Notices::new();
        }
        let mut notices = Notices::new();
        if let Some((to, pattern)) = observed {
            notices.extend(self.unobserve(to, &pattern));
        }
        let first = notices.len();
        for change in self.index.remove(number) {
            Self::tell(&change, NoticeKind::Removed(change.handle), &mut notices);
        }
        notices[first..].sort_by_key(|notice| notice.to.observer);
        notices
    }

    /// Sends `message` to every observer whose pattern matches it, in the order of their ids; the
    /// dataspace does not store it.
    pub fn message(&self, message: &Fact) -> impl Iterator<Item = Notice> {
        let notice = |(to, captures)| Notice {
            to,
            kind: NoticeKind::Message,
            captures,
        };
        self.index.witnesses(message).into_iter().map(notice)
    }

    /// Returns the captures of an observer in `value`, if its pattern matches.
    pub(crate) fn read(&self, observer: ObserverId, value: &Fact) -> Option<Captures> {
        self.index.read(observer, value.view())
    }

    /// Returns the number of occurrences of `fact`.
    pub fn count(&self, fact: &Fact) -> u64 {
        let is_unlisted = |(to, _): (ObserverRef, Pattern)| self.unlisted.get(&to.observer) == Some(fact);
        match self.index.facts.find(fact) {
            Ok((_, count)) => count,
            Err(_) => u64::from(parse_observe(fact).is_some_and(is_unlisted)),
        }
    }

    /// Lists the present facts with their counts, in the order of Preserves.
    pub fn facts(&self) -> Vec<(IOValue, u64)> {
        let facts = self.index.facts.present().values();
        let facts = facts.map(|presence| (presence.fact.value(), presence.count));
        let unlisted = self.unlisted.values().map(|fact| (fact.value(), 1));
        let mut facts: Vec<(IOValue, u64)> = facts.chain(unlisted).collect();
        facts.sort_by(|(left, _), (right, _)| compare(left, right));
        facts
    }

    /// Returns the number of different present facts.
    pub fn len(&self) -> usize {
        self.index.facts.present().len() + self.unlisted.len()
    }

    /// Says whether no fact is present.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn add(&mut self, fact: &Fact, count: u64, hash: ContentHash) -> Changes {
        let fact = fact.clone();
        let number = self.number();
        self.index.add(number, Presence { fact, count, hash })
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    fn observe(&mut self, to: ObserverRef, pattern: &Pattern, counters: &mut Counters) -> Notices {
        let number = self.number();
        let matches = self.index.observe(to, pattern, number, |_| counters.handle());
        let tell = |found: index::Match| Notice {
            to,
            kind: NoticeKind::Added(found.handle),
            captures: found.captures,
        };
        matches.into_iter().map(tell).collect()
    }

    fn unobserve(&mut self, to: ObserverRef, pattern: &Pattern) -> Notices {
        let removed = self.index.unobserve(to, pattern);
        let tell = |gone: index::Match| Notice {
            to,
            kind: NoticeKind::Removed(gone.handle),
            captures: gone.captures,
        };
        removed.into_iter().map(tell).collect()
    }

    fn tell(change: &Change, kind: NoticeKind, notices: &mut Notices) {
        notices.extend(change.observers.iter().map(|to| Notice {
            to,
            kind,
            captures: change.captures.clone(),
        }));
    }
}

/// Makes the fact that registers `to` as an observer of `pattern`.
///
/// # Errors
/// [`PackedError`] if the pattern is too deep or too large.
pub(crate) fn observe_fact(to: ObserverRef, pattern: &PackedPattern) -> Result<Fact, PackedError> {
    Fact::write(|out| {
        out.record("Observe", |out| {
            out.packed(pattern.view());
            out.embedded(|out| to.write(out));
        });
    })
}

/// The packed symbol that labels the observer in an `Observe` fact.
const OBSERVER: &[u8] = b"\xb3\x08observer";

/// Says whether a pattern could match an `Observe` fact.
fn may_see_observers(pattern: &Pattern) -> bool {
    let mut pattern = pattern;
    while let Pattern::Bind(inner) = pattern {
        pattern = inner;
    }
    match pattern {
        Pattern::Discard | Pattern::Bind(_) => true,
        Pattern::Literal(literal) => literal.view().label().is_some_and(|label| label.as_bytes() == OBSERVE),
        Pattern::Group { kind, .. } => match kind {
            GroupKind::Record(label) => label.bytes() == OBSERVE,
            GroupKind::Sequence | GroupKind::Dictionary => false,
        },
    }
}

fn parse_observe(fact: &Fact) -> Option<(ObserverRef, Pattern)> {
    // Almost no fact is an `Observe` fact, so the check must build neither a tree nor an error.
    if fact.view().label()?.as_bytes() != OBSERVE {
        return None;
    }
    let mut fields = fact.view().items();
    let (pattern, target) = (Pattern::read(fields.next()?)?, fields.next()?);
    let target = (target.class() == Class::Embedded).then(|| target.parts().next())??;
    let is_observer = target.label()?.as_bytes() == OBSERVER;
    let mut ids = target.items();
    let to = ObserverRef {
        actor: ActorId(ids.next()?.unsigned()?),
        observer: ObserverId(ids.next()?.unsigned()?),
    };
    let is_it = is_observer && ids.next().is_none() && fields.next().is_none();
    is_it.then_some((to, pattern))
}

/// The matches of one leaf: its observers, and the handles that they know the matches by.
pub(crate) struct KnownMatches {
    observers: Vec<ObserverId>,
    matches: Vec<(Captures, Handle)>,
}
codec_struct!(KnownMatches "matches" { observers, matches });

impl Dataspace {
    /// Makes a dataspace of its assertions, and of the handles by which observers
    /// [know](Self::known_matches) their matches.
    ///
    /// # Errors
    /// [`DecodeError::Inconsistent`] if they contradict each other.
    pub(crate) fn restore<'a>(
        assertions: impl Iterator<Item = &'a Fact>,
        known: &[KnownMatches],
    ) -> Result<Self, DecodeError> {
        let mut counts: BTreeMap<&Fact, u64> = BTreeMap::new();
        for fact in assertions {
            *counts.entry(fact).or_default() += 1;
        }
        // The order of their bytes does not depend on the dataspace's history.
        let facts: Vec<(Fact, u64)> = counts.into_iter().map(|(fact, count)| (fact.clone(), count)).collect();
        let mut dataspace = Self::default();
        let is_seen = |(fact, count): &(Fact, u64)| match parse_observe(fact) {
            Some((_, pattern)) => *count != 1 || may_see_observers(&pattern),
            None => false,
        };
        *dataspace.is_listing.get_mut() = facts.iter().any(is_seen);
        for (fact, count) in &facts {
            dataspace.restore_fact(fact, *count)?;
        }
        dataspace.restore_observers(&facts, known)?;
        dataspace.commit_turn();
        Ok(dataspace)
    }

    /// Lists the matches of all observers, with the handles by which they know them.
    pub(crate) fn known_matches(&self) -> Vec<KnownMatches> {
        let known = self.index.leaves().into_iter().map(|(observers, matches)| {
            let matches = matches.into_iter().map(|found| (found.captures, found.handle));
            KnownMatches {
                observers: observers.iter().map(|to| to.observer).collect(),
                matches: matches.collect(),
            }
        });
        known.collect()
    }

    fn restore_fact(&mut self, fact: &Fact, count: u64) -> Result<(), DecodeError> {
        let Some(hash) = self.index.facts.find(fact).err().filter(|_| count > 0) else {
            return Err(DecodeError::Inconsistent {
                what: "each fact is listed once, with a positive count",
            });
        };
        if let Some((to, _)) = parse_observe(fact).filter(|_| !*self.is_listing) {
            return match self.unlisted.insert(to.observer, fact.clone()) {
                None => Ok(()),
                Some(_) => Err(DecodeError::Inconsistent {
                    what: "each observer has one pattern",
                }),
            };
        }
        self.add(fact, count, hash);
        Ok(())
    }

    fn restore_observers(&mut self, facts: &[(Fact, u64)], known: &[KnownMatches]) -> Result<(), DecodeError> {
        let mut handles: OrdMap<(ObserverId, Captures), Handle> = OrdMap::new();
        for leaf in known {
            for (observer, (captures, handle)) in leaf
                .observers
                .iter()
                .flat_map(|o| leaf.matches.iter().map(move |m| (o, m)))
            {
                handles.insert((*observer, captures.clone()), *handle);
            }
        }
        let mut observes: Vec<_> = facts.iter().filter_map(|(fact, _)| parse_observe(fact)).collect();
        observes.sort_by_key(|(to, _)| to.observer);
        let mut missing = false;
        for (to, pattern) in observes {
            let number = self.number();
            self.index.observe(to, &pattern, number, |captures| {
                let handle = handles.get(&(to.observer, captures.clone())).copied();
                missing |= handle.is_none();
                handle.unwrap_or(Handle(0))
            });
        }
        if missing {
            return Err(DecodeError::Inconsistent {
                what: "every match of an observer has a handle",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
