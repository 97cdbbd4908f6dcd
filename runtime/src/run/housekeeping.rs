//! The work before and after each turn that is no part of the turn.
//!
//! INVARIANT: nothing here changes what a turn does or what its record says.
//! It does not take turns; `take_turn.rs` does.
//! Read next: `actor_cache.rs`, `checkpoints.rs`.

use crate::run::Run;
use crate::run::actor_cache::Ready;
use crate::state::event::Batch;
use crate::turn::activation::Activation;
use crate::turn::program::Programs;

impl<P: Programs> Run<P> {
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
