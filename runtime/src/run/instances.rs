//! The instances of a run's actors, each with its place among the checkpoints.
//!
//! INVARIANT: an instance and its checkpoint state move together.
//! It does not know what an instance is.
//! Read next: `../run.rs`, `checkpoints.rs`.

use std::collections::BTreeMap;

use crate::model::identity::ActorId;

/// The place of an instance among the checkpoints, as their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CheckpointState {
    /// The newest checkpoint when the instance was made.
    pub(super) born: u64,
    /// The newest checkpoint for which the instance has a savepoint, or needs none.
    pub(super) saved: u64,
}

/// Instances by actor; an actor that has not run has none.
pub(crate) struct Instances<T>(BTreeMap<ActorId, ActorSlot<T>>);

/// An instance with its checkpoint state, because each turn needs both.
pub(crate) struct ActorSlot<T> {
    /// The instance.
    pub(crate) instance: T,
    /// Its place among the checkpoints.
    pub(crate) known: CheckpointState,
}

impl<T> Default for Instances<T> {
    fn default() -> Self {
        Self(BTreeMap::default())
    }
}

impl<T> Instances<T> {
    /// Returns an actor's instance.
    pub(crate) fn get(&self, actor: ActorId) -> Option<&T> {
        self.0.get(&actor).map(|slot| &slot.instance)
    }

    /// Returns an actor's instance mutably.
    pub(crate) fn get_mut(&mut self, actor: ActorId) -> Option<&mut T> {
        self.slot_mut(actor).map(|slot| &mut slot.instance)
    }

    /// Returns an actor's instance and its checkpoint state mutably.
    pub(crate) fn slot_mut(&mut self, actor: ActorId) -> Option<&mut ActorSlot<T>> {
        self.0.get_mut(&actor)
    }

    /// Inserts an instance without checkpoint state, in place of any other.
    pub(crate) fn insert(&mut self, actor: ActorId, instance: T) -> &mut ActorSlot<T> {
        let known = CheckpointState::default();
        self.put(actor, ActorSlot { instance, known })
    }

    /// Inserts an instance with its checkpoint state, in place of any other.
    pub(crate) fn put(&mut self, actor: ActorId, slot: ActorSlot<T>) -> &mut ActorSlot<T> {
        self.0.entry(actor).insert_entry(slot).into_mut()
    }

    /// Removes an actor's instance.
    pub(crate) fn remove(&mut self, actor: ActorId) -> Option<ActorSlot<T>> {
        self.0.remove(&actor)
    }

    /// Iterates over all instances mutably, in the order of the actors.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut T)> {
        self.slots_mut().map(|(actor, slot)| (actor, &mut slot.instance))
    }

    /// Iterates over all instances and their checkpoint states mutably.
    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut ActorSlot<T>)> {
        self.0.iter_mut().map(|(actor, slot)| (*actor, slot))
    }
}
