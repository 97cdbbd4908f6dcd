//! The bodies of a run's actors, each with what the past knows of it.
//!
//! INVARIANT: what is known of a body goes where the body goes.
//! It does not know what a body is.
//! Read next: `roster.rs`, `run.rs`, `past.rs`.

use std::collections::BTreeMap;

use crate::model::identity::ActorId;

/// What is known of a body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CheckpointState {
    /// The newest checkpoint when it came to be.
    pub(super) born: u64,
    /// The newest checkpoint for which it is marked, or needs no mark.
    pub(super) marked: u64,
}

/// A body for each of some actors.
pub(crate) struct Instances<T>(BTreeMap<ActorId, ActorSlot<T>>);

/// A body, and what the past knows of it: both are needed at each turn.
pub(crate) struct ActorSlot<T> {
    /// The body.
    pub(crate) body: T,
    /// Since when it has been there, and for which checkpoint it is marked.
    pub(crate) known: CheckpointState,
}

impl<T> Default for Instances<T> {
    fn default() -> Self {
        Self(BTreeMap::default())
    }
}

impl<T> Instances<T> {
    /// Returns an actor's body.
    pub(crate) fn get(&self, actor: ActorId) -> Option<&T> {
        self.0.get(&actor).map(|slot| &slot.body)
    }

    /// Returns an actor's body, to change it.
    pub(crate) fn get_mut(&mut self, actor: ActorId) -> Option<&mut T> {
        self.slot_mut(actor).map(|slot| &mut slot.body)
    }

    /// Returns an actor's body with what is known of it, to change both.
    pub(crate) fn slot_mut(&mut self, actor: ActorId) -> Option<&mut ActorSlot<T>> {
        self.0.get_mut(&actor)
    }

    /// Puts a body there of which nothing is known, in place of the one that there was.
    pub(crate) fn insert(&mut self, actor: ActorId, body: T) -> &mut ActorSlot<T> {
        let known = CheckpointState::default();
        self.put(actor, ActorSlot { body, known })
    }

    /// Puts a body there with what is known of it, in place of the one that there was.
    pub(crate) fn put(&mut self, actor: ActorId, slot: ActorSlot<T>) -> &mut ActorSlot<T> {
        self.0.entry(actor).insert_entry(slot).into_mut()
    }

    /// Takes an actor's body away.
    pub(crate) fn remove(&mut self, actor: ActorId) -> Option<ActorSlot<T>> {
        self.0.remove(&actor)
    }

    /// Goes through all bodies, in the order of the actors, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut T)> {
        self.slots_mut().map(|(actor, slot)| (actor, &mut slot.body))
    }

    /// Goes through all bodies with what is known of them.
    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut ActorSlot<T>)> {
        self.0.iter_mut().map(|(actor, slot)| (*actor, slot))
    }
}
