//! The programs and instances of a run, for callers that know their type.
//!
//! INVARIANT: a run keeps the programs with which it was started, so their type never changes.
//! Nothing here takes a turn; `take_turn.rs` does. Read next: `../turn/erased.rs`.

use std::any::Any;
use std::collections::BTreeSet;

use crate::model::identity::ActorId;
use crate::run::Run;
use crate::run::error::RunError;
use crate::run::frozen::Chunks;
use crate::turn::erased::AnyInstance;
use crate::turn::program::Programs;

/// The fault of a caller that takes the programs of a run for others.
const OTHER_PROGRAMS: &str = "the caller names the programs with which the run was started";

impl Run {
    /// Returns the programs of its actors.
    ///
    /// # Panics
    /// If the run was not started with programs of this type.
    pub fn programs<P: Programs>(&self) -> &P {
        let programs: &dyn Any = &*self.programs;
        programs.downcast_ref().expect(OTHER_PROGRAMS)
    }

    /// Returns the programs of its actors, to change how they run, not what they do.
    ///
    /// # Panics
    /// As [`programs`](Self::programs).
    pub fn programs_mut<P: Programs>(&mut self) -> &mut P {
        let programs: &mut dyn Any = &mut *self.programs;
        programs.downcast_mut().expect(OTHER_PROGRAMS)
    }

    /// Ends the run in memory and returns the programs of its actors.
    ///
    /// # Panics
    /// As [`programs`](Self::programs).
    pub fn into_programs<P: Programs>(self) -> P {
        let programs: Box<dyn Any> = self.programs;
        *programs.downcast().expect(OTHER_PROGRAMS)
    }

    /// Returns an actor's instance, if it has one. In a run that was restored to go on, an actor
    /// without texts of its own may be frozen still; [`look`](Self::look) and [`lend`](Self::lend)
    /// find it nevertheless.
    ///
    /// # Panics
    /// As [`programs`](Self::programs).
    pub fn instance<P: Programs>(&self, actor: ActorId) -> Option<&P::Instance> {
        debug_assert!(
            !self.frozen.has(actor),
            "an actor is thawed before somebody looks at it"
        );
        self.instances.get(actor).map(AnyInstance::of)
    }

    /// Lends the programs and an actor's instance for questions that change neither.
    ///
    /// # Panics
    /// As [`programs`](Self::programs).
    pub fn lend<P: Programs>(&mut self, actor: ActorId) -> Option<(&mut P, &mut P::Instance)> {
        // The image was checked when the run was restored.
        self.thaw_kept(actor).ok()?;
        let instance = self.instances.get_mut(actor)?.of_mut();
        let programs: &mut dyn Any = &mut *self.programs;
        Some((programs.downcast_mut().expect(OTHER_PROGRAMS), instance))
    }

    /// Names the libraries that some actor has evaluated and that the newest text does not import,
    /// in alphabetical order. No actor may be frozen.
    pub fn evaluated_libraries(&mut self) -> Vec<String> {
        debug_assert!(self.frozen.images().is_empty(), "all actors are thawed before a patch");
        let mut found = BTreeSet::new();
        for actor in self.instances.actors().collect::<Vec<_>>() {
            if let Some(instance) = self.instances.get_mut(actor) {
                found.extend(self.programs.evaluated_libraries(instance));
            }
        }
        found.into_iter().collect()
    }

    /// Asks a question about an actor's instance that changes nothing; `None` if the actor has no
    /// instance. An actor that is frozen stays so.
    ///
    /// # Errors
    /// [`RunError::Thaw`]; a run that was restored to go on has no such image.
    ///
    /// # Panics
    /// As [`programs`](Self::programs).
    pub fn look<P: Programs, T>(
        &mut self,
        actor: ActorId,
        question: impl FnOnce(&mut P, &mut P::Instance) -> T,
    ) -> Result<Option<T>, RunError> {
        let read = self.glimpse(actor, Chunks::Kept)?;
        Ok(self.answer(actor, read, question))
    }

    /// Answers a question about an actor's instance, which was `read` from its image or lives.
    pub(super) fn answer<P: Programs, T>(
        &mut self,
        actor: ActorId,
        mut read: Option<AnyInstance>,
        question: impl FnOnce(&mut P, &mut P::Instance) -> T,
    ) -> Option<T> {
        let living = self.instances.get_mut(actor);
        let instance = read.as_mut().or(living)?.of_mut();
        let programs: &mut dyn Any = &mut *self.programs;
        Some(question(programs.downcast_mut().expect(OTHER_PROGRAMS), instance))
    }
}
