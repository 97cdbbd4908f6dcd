//! The bodies of a run's actors, each with what the past knows of it, found at once.
//!
//! Actors are numbered in ascending order, so what belongs to them stands in pages of many numbers each: the list of pages stays in the processor's caches
//! where the pages of 100,000 actors do not. (A tree of nodes that are searched reads several of them at each of a turn's look-ups.)
//! INVARIANT: pages stand in the order of their numbers, and none is empty; going through all goes in the order of the numbers.
//! It does not know what it holds.
//! Read next: `run.rs`, `past.rs`.

use crate::identity::ActorId;
use crate::past::Known;

/// So many actors share a page.
const PAGE: u64 = 256;

/// A body for each of some actors.
pub(crate) struct Bodies<T>(Vec<Page<T>>);

struct Page<T> {
    number: u64,
    used: usize,
    places: Box<[Option<Lodging<T>>]>,
}

/// A body, and what the past knows of it: both are needed at each turn.
pub(crate) struct Lodging<T> {
    /// The body.
    pub(crate) body: T,
    /// Since when it has been there, and for which checkpoint it is marked.
    pub(crate) known: Known,
}

impl<T> Default for Bodies<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The page of an actor, and its place there.
fn place(actor: ActorId) -> (u64, usize) {
    (actor.0 / PAGE, (actor.0 % PAGE) as usize)
}

impl<T> Bodies<T> {
    /// Finds a page, or where it would be.
    fn find(&self, number: u64) -> Result<usize, usize> {
        // As long as no page before it has become empty, it stands at its number.
        let likely = usize::try_from(number).unwrap_or(usize::MAX);
        match self.0.get(likely) {
            Some(page) if page.number == number => Ok(likely),
            _ => self.0.binary_search_by_key(&number, |page| page.number),
        }
    }

    /// Returns an actor's body.
    pub(crate) fn get(&self, actor: ActorId) -> Option<&T> {
        let (page, place) = place(actor);
        let page = &self.0[self.find(page).ok()?];
        page.places[place].as_ref().map(|lodging| &lodging.body)
    }

    /// Returns an actor's body, to change it.
    pub(crate) fn get_mut(&mut self, actor: ActorId) -> Option<&mut T> {
        self.lodging_mut(actor).map(|lodging| &mut lodging.body)
    }

    /// Returns an actor's body with what is known of it, to change both.
    pub(crate) fn lodging_mut(&mut self, actor: ActorId) -> Option<&mut Lodging<T>> {
        let (page, place) = place(actor);
        let page = self.find(page).ok()?;
        self.0[page].places[place].as_mut()
    }

    /// Puts a body there of which nothing is known, in place of the one that there was.
    pub(crate) fn insert(&mut self, actor: ActorId, body: T) -> &mut Lodging<T> {
        let known = Known::default();
        self.put(actor, Lodging { body, known })
    }

    /// Puts a body there with what is known of it, in place of the one that there was.
    pub(crate) fn put(&mut self, actor: ActorId, lodging: Lodging<T>) -> &mut Lodging<T> {
        let (number, place) = place(actor);
        let page = self.find(number).unwrap_or_else(|page| {
            let places = (0..PAGE).map(|_| None).collect();
            self.0.insert(
                page,
                Page {
                    number,
                    used: 0,
                    places,
                },
            );
            page
        });
        let page = &mut self.0[page];
        let place = &mut page.places[place];
        page.used += usize::from(place.is_none());
        place.insert(lodging)
    }

    /// Takes an actor's body away.
    pub(crate) fn remove(&mut self, actor: ActorId) -> Option<Lodging<T>> {
        let (number, place) = place(actor);
        let found = self.find(number).ok()?;
        let page = &mut self.0[found];
        let removed = page.places[place].take()?;
        page.used -= 1;
        if page.used == 0 {
            self.0.remove(found);
        }
        Some(removed)
    }

    /// Goes through all bodies, in the order of the actors, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut T)> {
        self.lodgings_mut().map(|(actor, lodging)| (actor, &mut lodging.body))
    }

    /// Goes through all bodies with what is known of them.
    pub(crate) fn lodgings_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut Lodging<T>)> {
        self.0.iter_mut().flat_map(|page| {
            let first = page.number * PAGE;
            let places = page.places.iter_mut().enumerate();
            places.filter_map(move |(place, lodging)| Some((ActorId(first + place as u64), lodging.as_mut()?)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_there_is_found_until_it_is_taken_away() {
        let mut bodies = Bodies::default();
        let actors = [1_000, 0, 31, 32, 33, 64, u64::MAX].map(ActorId);
        for (number, actor) in (0..).zip(actors) {
            assert_eq!(bodies.insert(actor, number).body, number);
        }
        assert_eq!(bodies.insert(ActorId(32), 7).body, 7);
        assert_eq!(
            actors.map(|actor| bodies.get(actor).copied()),
            [0, 1, 2, 7, 4, 5, 6].map(Some)
        );
        bodies.iter_mut().for_each(|(_, value)| *value += 10);
        assert_eq!(bodies.get_mut(ActorId(31)), Some(&mut 12));
        let mut sorted = actors;
        sorted.sort();
        assert!(bodies.iter_mut().map(|(actor, _)| actor).eq(sorted));
        assert_eq!((bodies.get(ActorId(30)), bodies.get(ActorId(2_000))), (None, None));
        assert_eq!(
            actors.map(|actor| bodies.remove(actor).map(|lodging| lodging.body)),
            [10, 11, 12, 17, 14, 15, 16].map(Some)
        );
        assert!(bodies.remove(ActorId(0)).is_none() && bodies.0.is_empty());
    }
}
