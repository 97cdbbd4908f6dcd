//! The actors of a restored run whose heaps nobody has needed yet: their images stand for them.
//!
//! INVARIANT: a frozen actor has no instance and no turn since its image was made, so thawing it
//! later gives the instance that thawing it at once would have given. Only actors without texts of
//! their own stay frozen, in programs that have all code that their images may name: then no image
//! depends on what another brings.
//! It does not thaw; `waking.rs` does.
//! Read next: `waking.rs`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use duet_journal::{BlobHash, Sequence, Store, StoreError};

use super::snapshot::ActorImage;
use crate::model::identity::ActorId;

/// The frozen actors of a run.
#[derive(Default)]
pub(crate) struct Frozen {
    actors: BTreeMap<ActorId, ActorImage>,
    /// The turn of the snapshot that has the images.
    at: Option<Sequence>,
    /// The chunks of the images, once the run does without its store.
    chunks: RefCell<BTreeMap<BlobHash, Vec<u8>>>,
}

/// Where the bytes of images come from.
#[derive(Clone, Copy)]
pub(super) enum Chunks<'a> {
    /// The bytes that the run has kept.
    Kept,
    /// A store.
    Store(&'a dyn Store),
    /// A store; the run keeps the bytes.
    Keeping(&'a dyn Store),
}

impl Frozen {
    /// The actors that the snapshot at a turn leaves frozen.
    pub(super) fn new(at: Sequence, actors: BTreeMap<ActorId, ActorImage>) -> Self {
        Self {
            actors,
            at: Some(at),
            chunks: RefCell::default(),
        }
    }

    /// Whether an actor is frozen.
    pub(crate) fn has(&self, actor: ActorId) -> bool {
        self.actors.contains_key(&actor)
    }

    /// Returns the images, which are those of the snapshot from which the run was restored.
    pub(super) fn images(&self) -> &BTreeMap<ActorId, ActorImage> {
        &self.actors
    }

    /// Returns the image of a frozen actor, and the turn of the snapshot that has it.
    pub(super) fn image(&self, actor: ActorId) -> Option<(&ActorImage, Sequence)> {
        self.actors.get(&actor).zip(self.at)
    }

    /// Reads a chunk of an image.
    ///
    /// # Errors
    /// [`StoreError`] if it is not there.
    pub(super) fn chunk(&self, name: &BlobHash, from: Chunks<'_>) -> Result<Vec<u8>, StoreError> {
        if let Some(bytes) = self.chunks.borrow().get(name) {
            return Ok(bytes.clone());
        }
        match from {
            Chunks::Kept => Err(StoreError::NoSuchBlob { hash: *name }),
            Chunks::Store(store) => store.blob(name),
            Chunks::Keeping(store) => {
                let bytes = store.blob(name)?;
                self.chunks.borrow_mut().insert(*name, bytes.clone());
                Ok(bytes)
            }
        }
    }

    /// Forgets an actor that has an instance now.
    pub(super) fn forget(&mut self, actor: ActorId) {
        self.actors.remove(&actor);
        if self.actors.is_empty() {
            self.chunks = RefCell::default();
        }
    }
}
