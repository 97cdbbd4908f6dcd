//! Giving a living instance the code of a changed text.
//!
//! INVARIANT: values, identities and frames that wait stay; only the code of closures changes, and
//! globals that are new get their procedures.
//! It does not choose the code; `change.rs` does.
//! Read next: `versions.rs`.

use duet_kernel::heap::HeapFull;

use super::actor::SchemeActor;
use super::execution::mark_fiber;
use super::grants::covers;
use super::programs::{Fault, SchemePrograms};
use super::version::Listed;
use crate::model::failure::Failure;
use crate::model::manifest::Manifest;
use crate::state::patches::Patches;
use crate::turn::activation::Activation;

impl SchemePrograms {
    /// Returns what the newest of some changed texts changes, without taking it on.
    ///
    /// # Errors
    /// As taking it on.
    pub fn preview(&mut self, patches: &Patches, manifest: &Manifest) -> Result<Listed, Failure> {
        let before = self.present_texts();
        let listed = self.go_to(patches).and_then(|()| {
            self.require_granted(manifest)?;
            Ok(self.change.listed.clone())
        });
        self.go_to(&before)?;
        listed
    }

    /// Checks that the actors may do what the libraries of the newest text need beyond those of
    /// the text before.
    pub(super) fn require_granted(&self, manifest: &Manifest) -> Result<(), Failure> {
        let Some(before) = self.versions.earlier.last() else {
            return Ok(());
        };
        for library in self.library_units.keys() {
            let known = before.expander.requirements(library);
            let needs = self.expander.requirements(library).iter();
            let mut missing = needs
                .filter(|need| !known.contains(need))
                .filter(|need| !covers(manifest, need.capability.as_str()));
            if let Some(need) = missing.next() {
                let message = format!(
                    "{} needs the capability `{}`, which was not granted",
                    need.module, need.capability
                );
                return Err(Failure::new("capability-denied", message));
            }
        }
        Ok(())
    }

    /// Gives an instance the code of the present version.
    pub(super) fn renew_instance(&mut self, actor: &mut SchemeActor) -> Result<(), HeapFull> {
        let instance = &mut actor.instance;
        instance.heap.set_lenient(true);
        for unit in &self.change.units {
            if !instance.has_library(&self.code, unit.name.as_str()) {
                continue;
            }
            instance.link_apart(&self.code, unit.number)?;
            for (name, block) in &unit.added {
                instance.define(&self.code, name, *block)?;
            }
        }
        instance
            .heap
            .replace_code(&self.code.replacements(&self.change.redirects));
        Ok(())
    }

    /// Starts the evaluation of new definitions, or of what the person names.
    pub(super) fn begin_step(
        &mut self,
        actor: &mut SchemeActor,
        step: usize,
        turn: &mut Activation,
    ) -> Result<(), Fault> {
        let Some((_, unit)) = self.change.steps.get(step) else {
            return Ok(());
        };
        let instance = &mut actor.instance;
        instance.link_apart(&self.code, *unit)?;
        let procedure = instance.unit_procedure(&self.code, *unit)?;
        self.machine.start(instance, procedure, &[]);
        mark_fiber(&mut instance.heap, turn.fiber()).map_err(Fault::from)
    }
}
