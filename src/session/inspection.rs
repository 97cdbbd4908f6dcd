//! Questions about the code of a session: the expansion of a text, its instructions, and its use of
//! fuel.
//!
//! INVARIANT: a question leaves the run unchanged.
//! It evaluates nothing. Read next: `runtime/src/scheme/inspection.rs`.

use duet_runtime::action::exit::MAIN;
use duet_runtime::model::failure;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::scheme::{Procedure, SchemeActor, SchemePrograms};

use super::Session;

impl Session {
    /// The names that are visible to the texts, each with whether it is a keyword.
    pub(crate) fn names(&self) -> Vec<(String, bool)> {
        let Some(instance) = self.run.instance(MAIN) else {
            return Vec::new();
        };
        self.run.programs().interaction_names(instance)
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

    fn look<T: Default>(
        &mut self,
        look: impl FnOnce(&mut SchemePrograms, &mut SchemeActor, &Manifest) -> Result<T, failure::Failure>,
    ) -> Result<T, failure::Failure> {
        let manifest = self.run.genesis().manifest.clone();
        match self.run.lend(MAIN) {
            Some((programs, instance)) => look(programs, instance, &manifest),
            None => Ok(T::default()),
        }
    }

    /// Counts from here on where fuel is used.
    pub(crate) fn begin_profile(&mut self) {
        if let Some((programs, _)) = self.run.lend(MAIN) {
            programs.begin_profile();
        }
    }

    /// Ends counting; the procedures with the units of fuel that were used in them, those that used
    /// most first.
    pub(crate) fn end_profile(&mut self) -> Vec<(Procedure, u64)> {
        let lent = self.run.lend(MAIN);
        lent.map(|(programs, _)| programs.end_profile()).unwrap_or_default()
    }
}
