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
pub(crate) struct Instances<T> {
    slots: BTreeMap<ActorId, ActorSlot<T>>,
    /// The sizes of all instances together.
    total: Size,
}

/// The memory of an instance when it was last measured, or of several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    /// Its objects in bytes, garbage included.
    pub(super) bytes: u64,
    /// The bytes that the process holds for it besides.
    pub(super) bytes_spare: u64,
}

/// An instance with its checkpoint state, because each turn needs both.
pub(crate) struct ActorSlot<T> {
    /// The instance.
    pub(crate) instance: T,
    /// Its place among the checkpoints.
    pub(crate) known: CheckpointState,
    size: Size,
}

impl<T> Default for Instances<T> {
    fn default() -> Self {
        Self {
            slots: BTreeMap::default(),
            total: Size::default(),
        }
    }
}

impl Size {
    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.bytes_spare += other.bytes_spare;
    }

    fn subtract(&mut self, other: Self) {
        self.bytes -= other.bytes;
        self.bytes_spare -= other.bytes_spare;
    }
}

impl<T> Instances<T> {
    /// Returns an actor's instance.
    pub(crate) fn get(&self, actor: ActorId) -> Option<&T> {
        self.slots.get(&actor).map(|slot| &slot.instance)
    }

    /// Returns an actor's instance mutably.
    pub(crate) fn get_mut(&mut self, actor: ActorId) -> Option<&mut T> {
        self.slot_mut(actor).map(|slot| &mut slot.instance)
    }

    /// Returns an actor's instance and its checkpoint state mutably.
    pub(crate) fn slot_mut(&mut self, actor: ActorId) -> Option<&mut ActorSlot<T>> {
        self.slots.get_mut(&actor)
    }

    /// Inserts an instance without checkpoint state, in place of any other.
    pub(crate) fn insert(&mut self, actor: ActorId, instance: T) -> &mut ActorSlot<T> {
        let (known, size) = (CheckpointState::default(), Size::default());
        self.put(actor, ActorSlot { instance, known, size })
    }

    /// Inserts an instance with its checkpoint state, in place of any other.
    pub(crate) fn put(&mut self, actor: ActorId, slot: ActorSlot<T>) -> &mut ActorSlot<T> {
        self.remove(actor);
        self.total.add(slot.size);
        self.slots.entry(actor).insert_entry(slot).into_mut()
    }

    /// Removes an actor's instance.
    pub(crate) fn remove(&mut self, actor: ActorId) -> Option<ActorSlot<T>> {
        let removed = self.slots.remove(&actor)?;
        self.total.subtract(removed.size);
        Some(removed)
    }

    /// Notes the size of an actor's instance.
    pub(crate) fn note_size(&mut self, actor: ActorId, size: Size) {
        if let Some(slot) = self.slots.get_mut(&actor) {
            self.total.subtract(slot.size);
            self.total.add(size);
            slot.size = size;
        }
    }

    /// Returns the sizes of all instances together.
    pub(crate) fn size(&self) -> Size {
        self.total
    }

    /// Lists the actors that have an instance, in their order.
    pub(crate) fn actors(&self) -> impl Iterator<Item = ActorId> {
        self.slots.keys().copied()
    }

    /// Lists the actors with the sizes of their instances, the largest first.
    pub(crate) fn by_size(&self) -> Vec<(ActorId, u64)> {
        let sizes = self.slots.iter().map(|(actor, slot)| (*actor, slot.size.bytes));
        let mut sizes: Vec<_> = sizes.filter(|(_, bytes)| *bytes > 0).collect();
        sizes.sort_by_key(|(actor, bytes)| (std::cmp::Reverse(*bytes), *actor));
        sizes
    }

    /// Iterates over all instances mutably, in the order of the actors.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut T)> {
        self.slots_mut().map(|(actor, slot)| (actor, &mut slot.instance))
    }

    /// Iterates over all instances and their checkpoint states mutably.
    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = (ActorId, &mut ActorSlot<T>)> {
        self.slots.iter_mut().map(|(actor, slot)| (*actor, slot))
    }
}
