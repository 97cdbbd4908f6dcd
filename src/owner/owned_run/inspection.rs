//! Questions about the code of a session: the expansion of a text, its instructions, and its use of
//! fuel.
//!
//! INVARIANT: a question leaves the run unchanged.
//! It evaluates nothing. Read next: `runtime/src/scheme/inspection.rs`.

use duet_runtime::action::exit::MAIN;
use duet_runtime::model::failure;
use duet_runtime::model::identity::{ActorId, Callable, FiberId};
use duet_runtime::model::manifest::Manifest;
use duet_runtime::run::Run;
use duet_runtime::scheme::{Procedure, SchemeActor, SchemePrograms};

use super::OwnedRun;
use super::view::RunView;

/// The code of a run, to be asked about.
pub(crate) struct Inspector<'run> {
    run: &'run mut Run,
}

impl OwnedRun {
    /// Lets the code of the run be asked about.
    pub(crate) fn inspector(&mut self) -> Inspector<'_> {
        Inspector { run: &mut self.run }
    }
}

impl<'run> Inspector<'run> {
    /// Makes the names visible that texts can use before the first one comes, and forgets those of
    /// a text that failed.
    pub(crate) fn prepare_names(&mut self) {
        // Whatever is wrong is said about the text that it concerns.
        let _ = self.look(|programs, instance, manifest| programs.prepare_interaction(instance, manifest));
    }

    /// The names that are visible to the texts of a session, each with whether it is a keyword.
    pub(super) fn names_of(&mut self, session: &str) -> Vec<(String, bool)> {
        let actor = RunView::of(self.run).actor_of(session);
        let lent = actor.and_then(|actor| self.run.lend::<SchemePrograms>(actor));
        lent.map(|(programs, instance)| programs.session_names(instance))
            .unwrap_or_default()
    }

    /// The number of units of code that are loaded.
    pub(crate) fn loaded_units(&self) -> usize {
        self.run.programs::<SchemePrograms>().loaded_units()
    }

    /// The run.
    pub(crate) fn into_run(self) -> &'run mut Run {
        self.run
    }

    /// A text after expansion, as if it were to be evaluated next; nothing of it stays.
    ///
    /// # Errors
    /// Why it cannot be expanded.
    pub(crate) fn expanded(&mut self, text: &str) -> Result<String, failure::Failure> {
        self.look(|programs, instance, manifest| programs.expanded(instance, manifest, text))
    }

    /// The instructions of a named procedure, or of a text.
    ///
    /// # Errors
    /// Why there are none.
    pub(crate) fn disassembled(&mut self, text: &str) -> Result<String, failure::Failure> {
        self.look(|programs, instance, manifest| programs.disassembled(instance, manifest, text))
    }

    /// Requires that a name stands for something whose calls can be followed.
    ///
    /// # Errors
    /// Why it does not.
    pub(crate) fn require_calls(&mut self, name: &str) -> Result<(), failure::Failure> {
        self.look(|programs, instance, manifest| programs.require_calls(instance, manifest, name))
    }

    /// Follows the procedures of these names from here on, and no others.
    ///
    /// # Errors
    /// Why that is impossible.
    pub(crate) fn follow_calls(&mut self, names: &[String]) -> Result<(), failure::Failure> {
        self.look(|programs, instance, manifest| programs.follow_calls(instance, manifest, names))
    }

    /// The lines about calls since the last time.
    pub(crate) fn take_call_lines(&mut self) -> Vec<String> {
        let lent = self.run.lend::<SchemePrograms>(MAIN);
        lent.map(|(programs, _)| programs.take_call_lines()).unwrap_or_default()
    }

    fn look<T: Default>(
        &mut self,
        look: impl FnOnce(&mut SchemePrograms, &mut SchemeActor, &Manifest) -> Result<T, failure::Failure>,
    ) -> Result<T, failure::Failure> {
        let main = self.run.state().actor(MAIN);
        let manifest = main.map(|main| main.manifest.clone()).unwrap_or_default();
        match self.run.lend::<SchemePrograms>(MAIN) {
            Some((programs, instance)) => look(programs, instance, &manifest),
            None => Ok(T::default()),
        }
    }

    /// Counts from here on where fuel is used.
    pub(crate) fn begin_profile(&mut self) {
        if let Some((programs, _)) = self.run.lend::<SchemePrograms>(MAIN) {
            programs.begin_profile();
        }
    }

    /// Ends counting; the procedures with the units of fuel that were used in them, those that used
    /// most first.
    pub(crate) fn end_profile(&mut self) -> Vec<(Procedure, u64)> {
        let lent = self.run.lend::<SchemePrograms>(MAIN);
        lent.map(|(programs, _)| programs.end_profile()).unwrap_or_default()
    }
}

/// The actors of a run, each with its parked computations.
pub(crate) fn parked_by_actor(run: &Run) -> Vec<(ActorId, Vec<(FiberId, Callable)>)> {
    let actors = run.state().actors.iter();
    let parked = actors.map(|(actor, state)| {
        let fibers = state.fibers.iter();
        (
            *actor,
            fibers.map(|(fiber, state)| (*fiber, state.continuation)).collect(),
        )
    });
    parked.collect()
}
