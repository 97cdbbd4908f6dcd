//! A run at a turn, to look at: the heap of an actor is read when somebody asks for it.
//!
//! INVARIANT: an actor whose image is sound looks as it does in a run that was restored whole.
//! A sight takes no turns besides those of its records, so it checks only the images that somebody
//! looks at.
//! It does not continue a run; `recovery.rs` does.
//! Read next: `frozen.rs`.

use std::ops::Deref;

use duet_journal::Sequence;

use crate::model::identity::ActorId;
use crate::run::Run;
use crate::run::error::RunError;
use crate::run::frozen::Chunks;
use crate::run::replay::Snapshots;
use crate::run::source::Source;
use crate::run::thawing::Extent;
use crate::turn::program::Programs;

/// A run at a turn, to look at.
pub struct Sight<'a> {
    run: Run,
    source: Source<'a>,
}

impl<'a> Source<'a> {
    /// Replays the branch up to and including turn `at`, by default its head, from the newest
    /// snapshot, and returns the run at that turn, with the heaps of those actors that took turns
    /// since.
    ///
    /// # Errors
    /// As [`restore`](Self::restore), but an image that nobody asks for may be damaged.
    pub fn sight(&self, at: Option<Sequence>, programs: impl Programs) -> Result<Sight<'a>, RunError> {
        let run = self.restored(at, Box::new(programs), Snapshots::Use, Extent::Needed)?;
        Ok(Sight { run, source: *self })
    }
}

impl Deref for Sight<'_> {
    type Target = Run;

    fn deref(&self) -> &Run {
        &self.run
    }
}

impl Sight<'_> {
    /// Replays the turns after its own, up to and including `last`.
    ///
    /// # Errors
    /// As [`Source::repeat`].
    pub fn repeat(&mut self, last: Sequence) -> Result<(), RunError> {
        self.source.repeat(&mut self.run, last)
    }

    /// Returns the programs of its actors, to change how they run, not what they do.
    ///
    /// # Panics
    /// As [`Run::programs`].
    pub fn programs_mut<P: Programs>(&mut self) -> &mut P {
        self.run.programs_mut()
    }

    /// Asks a question about an actor's instance that changes nothing; `None` if the actor has no
    /// instance. A heap that was read for the question is dropped again.
    ///
    /// # Errors
    /// [`RunError::Thaw`], [`RunError::Store`].
    ///
    /// # Panics
    /// As [`Run::programs`].
    pub fn look<P: Programs, T>(
        &mut self,
        actor: ActorId,
        question: impl FnOnce(&mut P, &mut P::Instance) -> T,
    ) -> Result<Option<T>, RunError> {
        let read = self.run.glimpse(actor, Chunks::Store(self.source.store))?;
        Ok(self.run.answer(actor, read, question))
    }
}
