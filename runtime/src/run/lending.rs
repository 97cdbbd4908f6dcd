//! The programs and instances of a run, for callers that know their type.
//!
//! INVARIANT: a run keeps the programs with which it was started, so their type never changes.
//! Nothing here takes a turn; `take_turn.rs` does. Read next: `../turn/erased.rs`.

use std::any::Any;

use crate::model::identity::ActorId;
use crate::run::Run;
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

    /// Returns an actor's instance, if it has one.
    ///
    /// # Panics
    /// As [`programs`](Self::programs).
    pub fn instance<P: Programs>(&self, actor: ActorId) -> Option<&P::Instance> {
        self.instances.get(actor).map(AnyInstance::of)
    }

    /// Lends the programs and an actor's instance for questions that change neither.
    ///
    /// # Panics
    /// As [`programs`](Self::programs).
    pub fn lend<P: Programs>(&mut self, actor: ActorId) -> Option<(&mut P, &mut P::Instance)> {
        let instance = self.instances.get_mut(actor)?.of_mut();
        let programs: &mut dyn Any = &mut *self.programs;
        Some((programs.downcast_mut().expect(OTHER_PROGRAMS), instance))
    }
}
