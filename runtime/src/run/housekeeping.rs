//! The work before and after each turn that is no part of the turn.
//!
//! INVARIANT: nothing here changes what a turn does or what its record says.
//! It does not take turns; `take_turn.rs` does.
//! Read next: `actor_cache.rs`, `checkpoints.rs`.

use crate::model::identity::ActorId;
use crate::run::Run;
use crate::run::actor_cache::Ready;
use crate::run::checkpoints::Checkpoints;
use crate::run::instances::Size;
use crate::run::snapshot::Images;
use crate::state::event::Batch;
use crate::turn::activation::Activation;

impl Run {
    /// Prepares a turn that handles `batch`, in the memory of the turn before.
    pub(super) fn before_turn(&mut self, batch: Batch) -> Box<Activation> {
        self.images.outdate(batch.to);
        let spare = self.spare.take();
        let make = || Box::new(Activation::new(self.names.clone(), self.genesis.limits));
        let mut activation = spare.unwrap_or_else(make);
        activation.take(batch);
        activation
    }

    /// Keeps the memory of a finished turn for the next one, makes a checkpoint if one is due, and
    /// compacts an actor if too many are ready. `has_changed` says whether the turn changed its
    /// actor's part of the state.
    pub(super) fn after_turn(&mut self, mut activation: Box<Activation>, has_changed: bool) {
        let (actor, fuel) = (activation.turn.actor, activation.turn.fuel);
        activation.forget();
        self.spare = Some(activation);
        self.keep_checkpoint_if_due(fuel);
        if let Some(idle) = self.cache.note(Ready { actor, has_changed }) {
            self.compact(idle);
        }
    }

    /// Gives up the memory that only further turns and going back need: the run has ended, and to
    /// say why takes memory, too.
    pub fn release_memory(&mut self) {
        self.spare = None;
        self.checkpoints = Checkpoints::default();
        self.images = Images::default();
    }

    /// Returns the memory in bytes that the run may take in this process.
    pub(super) fn bytes_max(&self) -> u64 {
        self.genesis.limits.run_bytes_max.min(self.programs.run_bytes_max())
    }

    /// Returns the bytes of memory that the run holds: heaps with their garbage, facts, queues,
    /// records that are not durable yet, and everything else that the process has made for it,
    /// without the room that heaps keep for later and the copies of a collection.
    pub(super) fn bytes_held(&self) -> u64 {
        let heaps = self.instances.size();
        let measured = self.programs.process_bytes().saturating_sub(heaps.bytes_spare);
        heaps.bytes.max(measured)
    }

    /// Measures an actor's instance.
    pub(super) fn measure(&mut self, actor: ActorId) {
        if let Some(instance) = self.instances.get(actor) {
            let size = Size {
                bytes: self.programs.bytes(instance),
                bytes_spare: self.programs.bytes_spare(instance),
            };
            self.instances.note_size(actor, size);
        }
    }

    /// Shrinks an actor until its next turn.
    fn compact(&mut self, Ready { actor, has_changed }: Ready) {
        if let Some(instance) = self.instances.get_mut(actor) {
            self.programs.compact(instance);
            self.measure(actor);
        }
        if has_changed {
            self.state.compact(actor);
        }
    }
}
