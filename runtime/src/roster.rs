//! What belongs to actors, found at once by their numbers.
//!
//! Actors are numbered in ascending order, so what belongs to them stands in pages of many numbers each: the list of pages stays in the processor's caches
//! where the pages of 100,000 actors do not. (A tree of nodes that are searched reads several of them at each of a turn's look-ups.)
//! INVARIANT: pages stand in the order of their numbers, and none is empty; going through all goes in the order of the actors.
//! It does not know what it holds.
//! Read next: `bodies.rs`, `state.rs`.

use std::fmt::{self, Debug};

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use crate::codec::{Codec, DecodeError, decode_entries, encode_entries, write_entries};
use crate::identity::ActorId;

/// So many actors share a page.
const PAGE: u64 = 256;

/// One thing for each of some actors.
#[derive(Clone)]
pub struct Roster<T> {
    pages: Vec<Page<T>>,
    length: usize,
}

#[derive(Clone)]
struct Page<T> {
    number: u64,
    used: usize,
    places: Box<[Option<T>]>,
}

impl<T> Default for Roster<T> {
    fn default() -> Self {
        Self {
            pages: Vec::new(),
            length: 0,
        }
    }
}

/// The page of an actor, and its place there.
fn place(actor: ActorId) -> (u64, usize) {
    (actor.0 / PAGE, (actor.0 % PAGE) as usize)
}

impl<T> Roster<T> {
    /// Finds a page, or where it would be.
    fn find(&self, number: u64) -> Result<usize, usize> {
        // As long as no page before it has become empty, it stands at its number.
        let likely = usize::try_from(number).unwrap_or(usize::MAX);
        match self.pages.get(likely) {
            Some(page) if page.number == number => Ok(likely),
            _ => self.pages.binary_search_by_key(&number, |page| page.number),
        }
    }

    /// Returns the number of actors.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Says whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns what is an actor's.
    pub fn get(&self, actor: &ActorId) -> Option<&T> {
        let (page, place) = place(*actor);
        self.pages[self.find(page).ok()?].places[place].as_ref()
    }

    /// Returns what is an actor's, to change it.
    pub fn get_mut(&mut self, actor: &ActorId) -> Option<&mut T> {
        let (page, place) = place(*actor);
        let page = self.find(page).ok()?;
        self.pages[page].places[place].as_mut()
    }

    /// Puts something there for an actor and returns what there was.
    pub fn insert(&mut self, actor: ActorId, thing: T) -> Option<T> {
        self.put(actor, thing).0
    }

    /// Puts something there for an actor; returns what there was, and what is there.
    pub(crate) fn put(&mut self, actor: ActorId, thing: T) -> (Option<T>, &mut T) {
        let (number, place) = place(actor);
        let page = self.find(number).unwrap_or_else(|page| {
            let places = (0..PAGE).map(|_| None).collect();
            let used = 0;
            self.pages.insert(page, Page { number, used, places });
            page
        });
        let page = &mut self.pages[page];
        let place = &mut page.places[place];
        let old = place.take();
        if old.is_none() {
            page.used += 1;
            self.length += 1;
        }
        (old, place.insert(thing))
    }

    /// Takes away what is an actor's.
    pub fn remove(&mut self, actor: &ActorId) -> Option<T> {
        let (number, place) = place(*actor);
        let found = self.find(number).ok()?;
        let page = &mut self.pages[found];
        let removed = page.places[place].take()?;
        page.used -= 1;
        self.length -= 1;
        if page.used == 0 {
            self.pages.remove(found);
        }
        Some(removed)
    }

    /// Goes through all, in the order of the actors.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ActorId, &T)> {
        self.pages.iter().flat_map(|page| {
            let places = page.places.iter().enumerate();
            places.filter_map(move |(place, thing)| Some((page.actor(place), thing.as_ref()?)))
        })
    }

    /// Goes through all, in the order of the actors, to change it.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut T)> {
        self.pages.iter_mut().flat_map(|page| {
            let first = page.number * PAGE;
            let places = page.places.iter_mut().enumerate();
            places.filter_map(move |(place, thing)| Some((ActorId(first + place as u64), thing.as_mut()?)))
        })
    }

    /// Goes through what belongs to actors, in their order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.iter().map(|(_, thing)| thing)
    }
}

impl<T> Page<T> {
    fn actor(&self, place: usize) -> ActorId {
        ActorId(self.number * PAGE + place as u64)
    }
}

impl<T: Debug> Debug for Roster<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for Roster<T> {
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length && self.iter().eq(other.iter())
    }
}

impl<T> FromIterator<(ActorId, T)> for Roster<T> {
    fn from_iter<I: IntoIterator<Item = (ActorId, T)>>(things: I) -> Self {
        let mut roster = Self::default();
        for (actor, thing) in things {
            roster.insert(actor, thing);
        }
        roster
    }
}

impl<T: Codec> Codec for Roster<T> {
    fn encode(&self) -> IOValue {
        encode_entries::<ActorId, T>(self.iter())
    }

    fn write(&self, out: &mut PackedWriter) {
        write_entries::<ActorId, T>(out, self.iter());
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        decode_entries(value)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Do {
        Insert(u64, u32),
        Remove(u64),
        Change(u64, u32),
    }

    fn steps() -> impl Strategy<Value = Vec<Do>> {
        // Some pages after each other, and some that are far away.
        let actor = prop_oneof![
            0..3 * PAGE,
            (0..8_u64).prop_map(|page| page * PAGE),
            u64::MAX - PAGE..=u64::MAX
        ];
        let step = prop_oneof![
            (actor.clone(), any::<u32>()).prop_map(|(actor, thing)| Do::Insert(actor, thing)),
            actor.clone().prop_map(Do::Remove),
            (actor, any::<u32>()).prop_map(|(actor, thing)| Do::Change(actor, thing)),
        ];
        proptest::collection::vec(step, 0..200)
    }

    fn check(roster: &Roster<u32>, model: &BTreeMap<ActorId, u32>) {
        let all: Vec<(ActorId, u32)> = model.iter().map(|(actor, thing)| (*actor, *thing)).collect();
        let found = |(actor, thing): (ActorId, &u32)| (actor, *thing);
        assert_eq!(roster.iter().map(found).collect::<Vec<_>>(), all);
        assert!(roster.iter().rev().map(found).eq(all.iter().rev().copied()));
        assert_eq!((roster.len(), roster.is_empty()), (all.len(), all.is_empty()));
        assert!(roster.pages.is_sorted_by_key(|page| page.number));
        assert!(roster.pages.iter().all(|page| page.used > 0));
    }

    proptest! {
        #[test]
        fn it_behaves_as_the_standard_map(steps in steps(), others in steps()) {
            let (mut roster, mut model) = (Roster::default(), BTreeMap::new());
            let perform = |roster: &mut Roster<u32>, model: &mut BTreeMap<ActorId, u32>, steps: Vec<Do>| {
                for step in steps {
                    match step {
                        Do::Insert(actor, thing) => {
                            let actor = ActorId(actor);
                            assert_eq!(roster.insert(actor, thing), model.insert(actor, thing));
                            assert_eq!(roster.get(&actor), Some(&thing));
                        }
                        Do::Remove(actor) => {
                            assert_eq!(roster.remove(&ActorId(actor)), model.remove(&ActorId(actor)));
                            assert_eq!(roster.get(&ActorId(actor)), None);
                        }
                        Do::Change(actor, thing) => {
                            let (found, wanted) = (roster.get_mut(&ActorId(actor)), model.get_mut(&ActorId(actor)));
                            assert_eq!(found, wanted);
                            found.into_iter().chain(wanted).for_each(|place| *place = thing);
                        }
                    }
                }
            };
            perform(&mut roster, &mut model, steps);
            check(&roster, &model);
            let (kept, kept_model) = (roster.clone(), model.clone());
            perform(&mut roster, &mut model, others);
            check(&roster, &model);
            check(&kept, &kept_model);
            for (actor, thing) in roster.iter_mut() {
                prop_assert_eq!(model.remove(&actor), Some(*thing));
            }
            prop_assert!(model.is_empty());
        }
    }
}
