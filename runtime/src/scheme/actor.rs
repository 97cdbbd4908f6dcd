//! The state that one actor's program keeps between turns.
//!
//! INVARIANT: an actor without [`Evaluations`] equals one with no texts.
//! It does not run; `execution.rs` runs it.
//! Read next: `entity.rs`, `evaluation.rs`.

use duet_kernel::datum::Name;
use duet_kernel::heap::Heap;
use duet_kernel::machine::Instance;

use super::entity::Entity;
use super::evaluation::Evaluations;

/// One actor's heap and texts. The fields are boxed, because the maps of instances reserve room for
/// more of them.
pub struct SchemeActor {
    pub(super) instance: Box<Instance>,
    /// The entity that it runs; `None` for the main program.
    pub(super) entity: Option<Box<Entity>>,
    /// The texts that it received; `None` for most actors, to keep the data that each turn reads
    /// small.
    pub(super) evaluations: Option<Box<Evaluations>>,
}

impl SchemeActor {
    /// Returns a copy of the heap, to look at when the actor has another one.
    pub fn copy_of_heap(&self) -> Heap {
        let mut heap = self.instance.heap.clone();
        heap.expand();
        heap
    }

    /// Returns the library of the entity that the actor plays, if it plays one.
    pub(super) fn entity_library(&self) -> Option<Name> {
        self.entity.as_ref().map(|entity| entity.name().library)
    }

    /// Returns the texts that it received, if there are any.
    pub(super) fn known_evaluations(&self) -> Option<&Evaluations> {
        self.evaluations.as_deref()
    }

    /// Returns the texts that it received, to add to them.
    pub(super) fn evaluations(&mut self) -> &mut Evaluations {
        let heap = &self.instance.heap;
        self.evaluations.get_or_insert_with(|| {
            let mut evaluations = Evaluations::none_until(heap.newest_savepoint());
            evaluations.limit_to(heap.words_max());
            Box::new(evaluations)
        })
    }
}
