//! What one actor's program keeps between turns.
//!
//! INVARIANT: a actor without texts stands for one that was given none.
//! It does not run; `scheme.rs` does.
//! Read next: `scheme/entity.rs`, `scheme/evaluation.rs`.

use duet_kernel::machine::Instance;

use super::entity::Entity;
use super::evaluation::Evaluations;

/// What one actor's program keeps: its heap, and the texts it was given. Boxed, because the maps that hold bodies have room for more of them.
pub struct SchemeActor {
    pub(super) instance: Box<Instance>,
    /// What it runs instead of the main program, if it is not the main actor's.
    pub(super) entity: Option<Box<Entity>>,
    /// None if it was given no text so far: most never are, and what each turn reads of a actor must be little.
    pub(super) evaluations: Option<Box<Evaluations>>,
}

impl SchemeActor {
    /// The texts that it was given, if it was.
    pub(super) fn known_evaluations(&self) -> Option<&Evaluations> {
        self.evaluations.as_deref()
    }

    /// The texts that it was given, to add to them.
    pub(super) fn evaluations(&mut self) -> &mut Evaluations {
        let newest_savepoint = self.instance.heap.newest_savepoint();
        self.evaluations
            .get_or_insert_with(|| Box::new(Evaluations::none_until(newest_savepoint)))
    }
}
