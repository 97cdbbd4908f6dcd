//! Thawing the frozen actors of a restored run: each for its first turn, all of them for a turn
//! that changes the program.
//!
//! A run that is to go on checks every image before it acts, and keeps the bytes of those that stay
//! frozen, because it takes turns without its store; they are a small part of a heap.
//! INVARIANT: an actor is thawed before its turn, and every image was checked before a run goes on.
//! It does not read a snapshot; `thawing.rs` does.
//! Read next: `thawing.rs`, `sight.rs`.

use std::collections::BTreeSet;

use duet_journal::Store;

use super::Run;
use super::error::RunError;
use super::frozen::Chunks;
use super::thawing::{Frost, thaw_actor};
use crate::model::identity::ActorId;
use crate::state::event::{Batch, Event};
use crate::turn::erased::AnyInstance;

/// The maximum number of actors that a run which goes on thaws ahead of their turns: making an
/// instance twice, to check its image and to use it, takes longer than keeping it.
const READY_MAX: usize = 4;

impl Run {
    /// Thaws the actors that the turn which handles a batch needs, in a run that keeps the bytes of
    /// its images.
    ///
    /// # Errors
    /// [`RunError::Thaw`]; a run that was checked has no such image.
    pub(super) fn thaw_for(&mut self, batch: &Batch) -> Result<(), RunError> {
        self.thaw_needed(batch, Chunks::Kept)
    }

    /// Thaws the actors that the turn which handles a batch needs, from the run's store.
    ///
    /// # Errors
    /// [`RunError::Thaw`], [`RunError::Store`].
    pub(super) fn thaw_from(&mut self, store: &dyn Store, batch: &Batch) -> Result<(), RunError> {
        self.thaw_needed(batch, Chunks::Store(store))
    }

    fn thaw_needed(&mut self, batch: &Batch, from: Chunks<'_>) -> Result<(), RunError> {
        if self.frozen.images().is_empty() {
            return Ok(());
        }
        // The turn gives all actors the code of the changed text.
        if batch.events.iter().any(|event| matches!(event, Event::Patched { .. })) {
            return self.thaw_each(from);
        }
        self.thaw_one(batch.to, from)
    }

    /// Thaws an actor, if it is frozen, from the bytes that the run keeps.
    ///
    /// # Errors
    /// As [`thaw_for`](Self::thaw_for).
    pub(super) fn thaw_kept(&mut self, actor: ActorId) -> Result<(), RunError> {
        self.thaw_one(actor, Chunks::Kept)
    }

    /// Thaws all actors that are still frozen, from the bytes that the run keeps.
    ///
    /// # Errors
    /// [`RunError::Thaw`]; a run that was restored to go on has no such image.
    pub fn thaw(&mut self) -> Result<(), RunError> {
        self.thaw_each(Chunks::Kept)
    }

    fn thaw_each(&mut self, from: Chunks<'_>) -> Result<(), RunError> {
        let actors: Vec<ActorId> = self.frozen.images().keys().copied().collect();
        for actor in actors {
            self.thaw_one(actor, from)?;
            if let Some(instance) = self.instances.get_mut(actor) {
                self.programs.compact(instance);
            }
        }
        Ok(())
    }

    /// Makes a frozen actor's instance.
    fn thaw_one(&mut self, actor: ActorId, from: Chunks<'_>) -> Result<(), RunError> {
        if let Some(instance) = self.glimpse(actor, from)? {
            self.frozen.forget(actor);
            self.instances.insert(actor, instance);
        }
        Ok(())
    }

    /// Returns the instance that a frozen actor would have, and leaves the actor frozen; `None` if
    /// it is not.
    ///
    /// # Errors
    /// [`RunError::Thaw`], [`RunError::Store`].
    pub(super) fn glimpse(&mut self, actor: ActorId, from: Chunks<'_>) -> Result<Option<AnyInstance>, RunError> {
        let Some((stored, at)) = self.frozen.image(actor) else {
            return Ok(None);
        };
        let frost = Frost {
            state: &self.state,
            genesis: &self.genesis,
            at,
        };
        let frozen = &self.frozen;
        let thawed = thaw_actor(&frost, &mut *self.programs, stored, &|name| frozen.chunk(name, from))?;
        Ok(Some(thawed))
    }

    /// Checks all images before the run acts, and keeps what it needs to take turns without its
    /// store: instances of the actors that are to act next and of a few others, the bytes of all
    /// other images.
    ///
    /// # Errors
    /// [`RunError::Thaw`], [`RunError::Store`].
    pub(super) fn check_frozen(&mut self, store: &dyn Store) -> Result<(), RunError> {
        let next = self.state.queue.iter().map(|batch| batch.to);
        let next: BTreeSet<ActorId> = next.filter(|actor| self.frozen.has(*actor)).take(READY_MAX).collect();
        let others = self.frozen.images().keys().filter(|actor| !next.contains(actor));
        let others: Vec<ActorId> = others.copied().collect();
        let room = READY_MAX - next.len();
        for actor in next.iter().chain(others.iter().take(room)) {
            self.thaw_one(*actor, Chunks::Store(store))?;
            if let Some(instance) = self.instances.get_mut(*actor) {
                self.programs.compact(instance);
            }
        }
        for actor in others.into_iter().skip(room) {
            self.glimpse(actor, Chunks::Keeping(store))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
