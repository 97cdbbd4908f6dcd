//! What a run has for each of its actors, found at once.
//!
//! Actors are numbered in ascending order, so what belongs to them stands in pages of many numbers each: the list of pages stays in the processor's caches
//! where the pages of 100,000 actors do not. (A tree of nodes that are searched reads several of them at each of a turn's look-ups.)
//! INVARIANT: no page is empty; going through all goes in the order of the numbers.
//! It does not know what it holds.
//! Read next: `run.rs`, `past.rs`.

use std::collections::BTreeMap;

use crate::identity::ActorId;

/// So many actors share a page.
const PAGE: u64 = 256;

/// Something for each of some actors.
pub(crate) struct Bodies<T>(BTreeMap<u64, Page<T>>);

struct Page<T> {
    used: usize,
    places: Box<[Option<T>]>,
}

impl<T> Default for Bodies<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

/// The page of an actor, and its place there.
fn place(actor: ActorId) -> (u64, usize) {
    (actor.0 / PAGE, (actor.0 % PAGE) as usize)
}

impl<T> Bodies<T> {
    /// Returns what there is for an actor.
    pub(crate) fn get(&self, actor: ActorId) -> Option<&T> {
        let (page, place) = place(actor);
        self.0.get(&page)?.places[place].as_ref()
    }

    /// Returns what there is for an actor, to change it.
    pub(crate) fn get_mut(&mut self, actor: ActorId) -> Option<&mut T> {
        let (page, place) = place(actor);
        self.0.get_mut(&page)?.places[place].as_mut()
    }

    /// Puts something there for an actor, in place of what there was, and returns it to be changed.
    pub(crate) fn insert(&mut self, actor: ActorId, value: T) -> &mut T {
        let (page, place) = place(actor);
        let page = self.0.entry(page).or_insert_with(|| Page {
            used: 0,
            places: (0..PAGE).map(|_| None).collect(),
        });
        let place = &mut page.places[place];
        page.used += usize::from(place.is_none());
        place.insert(value)
    }

    /// Takes away what there is for an actor.
    pub(crate) fn remove(&mut self, actor: ActorId) -> Option<T> {
        let (number, place) = place(actor);
        let page = self.0.get_mut(&number)?;
        let removed = page.places[place].take()?;
        page.used -= 1;
        if page.used == 0 {
            self.0.remove(&number);
        }
        Some(removed)
    }

    /// Goes through all, in the order of the actors, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut T)> {
        self.0.iter_mut().flat_map(|(page, found)| {
            let places = found.places.iter_mut().enumerate();
            places.filter_map(move |(place, value)| Some((ActorId(page * PAGE + place as u64), value.as_mut()?)))
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
            assert_eq!(*bodies.insert(actor, number), number);
        }
        assert_eq!(*bodies.insert(ActorId(32), 7), 7);
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
            actors.map(|actor| bodies.remove(actor)),
            [10, 11, 12, 17, 14, 15, 16].map(Some)
        );
        assert_eq!((bodies.remove(ActorId(0)), bodies.0.len()), (None, 0));
    }
}
