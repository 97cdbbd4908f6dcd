//! The bodies of a run's actors, each with what the past knows of it.
//!
//! INVARIANT: what is known of a body goes where the body goes.
//! It does not know what a body is.
//! Read next: `roster.rs`, `run.rs`, `past.rs`.

use crate::identity::ActorId;
use crate::past::Known;
use crate::roster::Roster;

/// A body for each of some actors.
pub(crate) struct Bodies<T>(Roster<Lodging<T>>);

/// A body, and what the past knows of it: both are needed at each turn.
pub(crate) struct Lodging<T> {
    /// The body.
    pub(crate) body: T,
    /// Since when it has been there, and for which checkpoint it is marked.
    pub(crate) known: Known,
}

impl<T> Default for Bodies<T> {
    fn default() -> Self {
        Self(Roster::default())
    }
}

impl<T> Bodies<T> {
    /// Returns an actor's body.
    pub(crate) fn get(&self, actor: ActorId) -> Option<&T> {
        self.0.get(&actor).map(|lodging| &lodging.body)
    }

    /// Returns an actor's body, to change it.
    pub(crate) fn get_mut(&mut self, actor: ActorId) -> Option<&mut T> {
        self.lodging_mut(actor).map(|lodging| &mut lodging.body)
    }

    /// Returns an actor's body with what is known of it, to change both.
    pub(crate) fn lodging_mut(&mut self, actor: ActorId) -> Option<&mut Lodging<T>> {
        self.0.get_mut(&actor)
    }

    /// Puts a body there of which nothing is known, in place of the one that there was.
    pub(crate) fn insert(&mut self, actor: ActorId, body: T) -> &mut Lodging<T> {
        let known = Known::default();
        self.put(actor, Lodging { body, known })
    }

    /// Puts a body there with what is known of it, in place of the one that there was.
    pub(crate) fn put(&mut self, actor: ActorId, lodging: Lodging<T>) -> &mut Lodging<T> {
        self.0.put(actor, lodging).1
    }

    /// Takes an actor's body away.
    pub(crate) fn remove(&mut self, actor: ActorId) -> Option<Lodging<T>> {
        self.0.remove(&actor)
    }

    /// Goes through all bodies, in the order of the actors, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut T)> {
        self.lodgings_mut().map(|(actor, lodging)| (actor, &mut lodging.body))
    }

    /// Goes through all bodies with what is known of them.
    pub(crate) fn lodgings_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut Lodging<T>)> {
        self.0.iter_mut()
    }
}
