//! The dataspace: a bag of facts, and who observes them.
//!
//! Owns which facts are present how often, and turns each change into notices for observers. Observing is itself a fact,
//! `<Observe pattern #:<observer actor id>>`: while it is present, the observer is registered.
//! INVARIANT: each observer has been told `Added` once, and not yet `Removed`, for exactly the capture tuples its pattern
//! finds among the facts that are present.
//! It does not know facets, turns or who asserted what; `state.rs` does.
//! Read next: `dataspace/pattern.rs`, then `dataspace/index.rs`.

pub(crate) mod form;
pub(crate) mod index;
pub mod pattern;

use im::OrdMap;
use preserves::{IOValue, ValueImpl};

use crate::codec::{Codec, DecodeError, Fields, is_labelled, record};
use crate::codec_struct;
use crate::dataspace::index::{Change, Index};
use crate::dataspace::pattern::Pattern;
use crate::identity::{ActorId, Counters, Handle, ObserverId};
use crate::value::{Fact, compare};

pub use index::Captures;

/// Where the notices of an observer go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObserverRef {
    /// The actor that observes.
    pub actor: ActorId,
    /// Which of its observers.
    pub observer: ObserverId,
}
codec_struct!(ObserverRef "observer" { actor, observer });

/// One observer's share of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Whom to tell.
    pub to: ObserverRef,
    /// What has happened.
    pub kind: NoticeKind,
    /// The captured parts.
    pub captures: Captures,
}

/// What has happened to a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// It has appeared and is known by the handle from now on.
    Added(Handle),
    /// It has disappeared.
    Removed(Handle),
    /// It was a message.
    Message,
}

#[derive(Clone, Debug)]
struct Presence {
    number: u64,
    count: u64,
}

/// A bag of facts with an index of observers; a value: cloning is cheap and a clone is independent.
#[derive(Clone, Debug, Default)]
pub struct Dataspace {
    facts: OrdMap<Fact, Presence>,
    actor_of: OrdMap<ObserverId, ActorId>,
    index: Index,
    next_number: u64,
}

impl Dataspace {
    /// Adds one occurrence of `fact`; a first one is told to its observers, in the order of their ids.
    pub fn assert(&mut self, fact: &Fact, counters: &mut Counters) -> Vec<Notice> {
        if let Some(presence) = self.facts.get_mut(fact) {
            presence.count += 1;
            return Vec::new();
        }
        let number = self.next_number;
        self.next_number += 1;
        self.facts.insert(fact.clone(), Presence { number, count: 1 });
        let mut notices = Vec::new();
        for change in self.index.add(number, fact) {
            let handle = counters.handle();
            self.index.appear(&change, handle);
            self.tell(&change, NoticeKind::Added(handle), &mut notices);
        }
        notices.sort_by_key(|notice| notice.to.observer);
        if let Some((to, pattern)) = parse_observe(fact.value()) {
            notices.extend(self.observe(to, &pattern, counters));
        }
        notices
    }

    /// Removes one occurrence of `fact`; the last one is told to its observers, in the order of their ids.
    ///
    /// An observer whose `Observe` fact goes sees all its matches removed. Removing an absent fact does nothing.
    pub fn retract(&mut self, fact: &Fact) -> Vec<Notice> {
        let Some(presence) = self.facts.get_mut(fact) else {
            return Vec::new();
        };
        presence.count -= 1;
        if presence.count > 0 {
            return Vec::new();
        }
        let number = presence.number;
        self.facts.remove(fact);
        let mut notices = Vec::new();
        if let Some((to, _)) = parse_observe(fact.value()) {
            self.actor_of.remove(&to.observer);
            let removed = self.index.unobserve(to.observer);
            let tell = |gone: index::Match| Notice {
                to,
                kind: NoticeKind::Removed(gone.handle),
                captures: gone.captures,
            };
            notices.extend(removed.into_iter().map(tell));
        }
        let first = notices.len();
        for change in self.index.remove(number) {
            self.tell(&change, NoticeKind::Removed(change.changed.handle), &mut notices);
        }
        notices[first..].sort_by_key(|notice| notice.to.observer);
        notices
    }

    /// Tells `message` to everyone whose pattern matches it, in the order of the observers' ids; nothing stays.
    pub fn message(&self, message: &Fact) -> Vec<Notice> {
        let witnesses = self.index.witnesses(message).into_iter();
        let notice = |(observer, captures)| {
            let actor = *self.actor_of.get(&observer)?;
            Some(Notice {
                to: ObserverRef { actor, observer },
                kind: NoticeKind::Message,
                captures,
            })
        };
        witnesses.filter_map(notice).collect()
    }

    /// Says how often `fact` is present.
    pub fn count(&self, fact: &Fact) -> u64 {
        self.facts.get(fact).map_or(0, |presence| presence.count)
    }

    /// Lists the facts that are present, each with its count, in the order of Preserves.
    pub fn facts(&self) -> Vec<(IOValue, u64)> {
        let mut facts: Vec<(IOValue, u64)> = self
            .facts
            .iter()
            .map(|(fact, presence)| (fact.value().clone(), presence.count))
            .collect();
        facts.sort_by(|(left, _), (right, _)| compare(left, right));
        facts
    }

    /// Returns the number of different facts that are present.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Says whether no fact is present.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    fn observe(&mut self, to: ObserverRef, pattern: &Pattern, counters: &mut Counters) -> Vec<Notice> {
        self.actor_of.insert(to.observer, to.actor);
        let matches = self.index.observe(to.observer, pattern, |_| counters.handle());
        let tell = |found: index::Match| Notice {
            to,
            kind: NoticeKind::Added(found.handle),
            captures: found.captures,
        };
        matches.into_iter().map(tell).collect()
    }

    fn tell(&self, change: &Change, kind: NoticeKind, notices: &mut Vec<Notice>) {
        for observer in &change.observers {
            if let Some(actor) = self.actor_of.get(observer) {
                let to = ObserverRef {
                    actor: *actor,
                    observer: *observer,
                };
                notices.push(Notice {
                    to,
                    kind,
                    captures: change.changed.captures.clone(),
                });
            }
        }
    }
}

/// Makes the fact by which `to` observes `pattern`.
pub fn observe_value(to: ObserverRef, pattern: &Pattern) -> IOValue {
    record("Observe", vec![pattern.encode(), IOValue::embedded(to.encode())])
}

fn parse_observe(value: &IOValue) -> Option<(ObserverRef, Pattern)> {
    // Almost no fact is one: that must not cost the making of an error.
    if !is_labelled(value, "Observe") {
        return None;
    }
    let mut fields = Fields::of(value, "Observe", 2).ok()?;
    let pattern = fields.read("pattern").ok()?;
    let target: IOValue = fields.read("observer").ok()?;
    Some((ObserverRef::decode(&*target.as_embedded()?).ok()?, pattern))
}

/// The matches of one leaf: who observes it, and the handles by which they know what they see.
struct KnownMatches {
    observers: Vec<ObserverId>,
    matches: Vec<(Captures, Handle)>,
}
codec_struct!(KnownMatches "matches" { observers, matches });

/// The facts, and the handles by which observers know their matches. The index is rebuilt.
impl Codec for Dataspace {
    fn encode(&self) -> IOValue {
        let known = self.index.leaves().into_iter().map(|leaf| KnownMatches {
            observers: leaf.observers.iter().copied().collect(),
            matches: leaf
                .sorted()
                .into_iter()
                .map(|found| (found.captures, found.handle))
                .collect(),
        });
        record(
            "dataspace",
            vec![self.facts().encode(), known.collect::<Vec<_>>().encode()],
        )
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, "dataspace", 2)?;
        let facts: Vec<(Fact, u64)> = fields.read("facts")?;
        let known: Vec<KnownMatches> = fields.read("matches")?;
        let mut dataspace = Self::default();
        for (fact, count) in &facts {
            dataspace.restore_fact(fact, *count)?;
        }
        dataspace.restore_observers(&facts, &known)?;
        Ok(dataspace)
    }
}

impl Dataspace {
    fn restore_fact(&mut self, fact: &Fact, count: u64) -> Result<(), DecodeError> {
        let number = self.next_number;
        self.next_number += 1;
        if count == 0 || self.facts.insert(fact.clone(), Presence { number, count }).is_some() {
            return Err(DecodeError::Inconsistent {
                what: "each fact is listed once, with a positive count",
            });
        }
        self.index.add(number, fact);
        Ok(())
    }

    fn restore_observers(&mut self, facts: &[(Fact, u64)], known: &[KnownMatches]) -> Result<(), DecodeError> {
        let mut handles = OrdMap::new();
        for leaf in known {
            for (observer, (captures, handle)) in leaf
                .observers
                .iter()
                .flat_map(|o| leaf.matches.iter().map(move |m| (o, m)))
            {
                let key = Fact::decode(&captures.encode())?;
                handles.insert((*observer, key), *handle);
            }
        }
        let mut observes: Vec<_> = facts
            .iter()
            .filter_map(|(fact, _)| parse_observe(fact.value()))
            .collect();
        observes.sort_by_key(|(to, _)| to.observer);
        let mut missing = false;
        for (to, pattern) in observes {
            self.actor_of.insert(to.observer, to.actor);
            self.index.observe(to.observer, &pattern, |captures| {
                let handle = Fact::decode(&captures.encode())
                    .ok()
                    .and_then(|key| handles.get(&(to.observer, key)).copied());
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
