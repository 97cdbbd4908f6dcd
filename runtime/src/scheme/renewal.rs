//! Giving a living instance the code of a changed text.
//!
//! INVARIANT: values and identities stay; only the code of closures and of frames that wait
//! changes, and globals that are new get their procedures.
//! It does not choose the code; `change.rs` does.
//! Read next: `versions.rs`, `moving.rs`.

use std::collections::BTreeSet;

use duet_kernel::datum::Name;
use duet_kernel::diagnostic::similar_names;
use duet_kernel::heap::HeapFull;

use super::actor::SchemeActor;
use super::apart::{FUEL_MAX, full, refused};
use super::entity::PROGRAM;
use super::execution::mark_fiber;
use super::grants::covers;
use super::programs::{Fault, SchemePrograms};
use super::version::{Listed, LoadedUnit};
use crate::model::failure::Failure;
use crate::model::manifest::Manifest;
use crate::state::patches::Patches;
use crate::turn::activation::Activation;

impl SchemePrograms {
    /// Goes to some changed texts, to look at what they would change, and returns what the newest
    /// changes, with the texts before, to which [`stop_trying`](Self::stop_trying) goes back.
    ///
    /// # Errors
    /// As taking it on; the texts are then those before.
    pub fn try_on(&mut self, patches: &Patches, manifest: &Manifest) -> Result<(Listed, Patches), Failure> {
        let before = self.present_texts();
        let listed = self.go_to(patches).and_then(|()| {
            self.require_granted(manifest)?;
            self.require_variables()?;
            Ok(self.present.change.listed.clone())
        });
        match listed {
            Ok(listed) => Ok((listed, before)),
            Err(failure) => {
                self.go_to(&before)?;
                Err(failure)
            }
        }
    }

    /// Goes back to the texts before [`try_on`](Self::try_on).
    ///
    /// # Errors
    /// [`Failure`] if they do not compile any more.
    pub fn stop_trying(&mut self, before: &Patches) -> Result<(), Failure> {
        self.go_to(before)
    }

    /// Checks that the actors may do what the libraries of the newest text need beyond those of
    /// the text before.
    pub(super) fn require_granted(&self, manifest: &Manifest) -> Result<(), Failure> {
        let Some(before) = self.versions.before().next_back() else {
            return Ok(());
        };
        for library in self.present.compared_units.keys() {
            let known = before.expander.requirements(library);
            let needs = self.present.expander.requirements(library).iter();
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

    /// Checks that the newest text has the variables to which the person gives values.
    fn require_variables(&self) -> Result<(), Failure> {
        let units = self.present.compared_units.values();
        let names: BTreeSet<&Name> = units
            .flat_map(|loaded| &loaded.unit.variables)
            .map(|variable| &variable.name)
            .collect();
        let mut given = self.present.change.given.by_name.keys();
        let Some(unknown) = given.find(|given| !names.iter().any(|name| name.as_str() == given.as_str())) else {
            return Ok(());
        };
        let advice = match similar_names(unknown, names.into_iter()).first() {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        Err(refused(format!(
            "no procedure of the new text has a variable `{unknown}`{advice}"
        )))
    }

    /// Gives an instance the code of the present version.
    ///
    /// # Errors
    /// [`Failure`] if there is no room, or if something that the text has evaluated for the
    /// instance fails.
    pub(super) fn renew_instance(&mut self, actor: &mut SchemeActor) -> Result<(), Failure> {
        self.link_changed(actor).map_err(full)?;
        let mut fuel = FUEL_MAX;
        self.evaluate_new_libraries(actor, &mut fuel)?;
        self.evaluate_new_values(actor, &mut fuel)?;
        self.migrate_records(actor, &mut fuel)?;
        self.move_frames(actor, &mut fuel)
    }

    /// Links the changed units, and gives closures the new code.
    fn link_changed(&mut self, actor: &mut SchemeActor) -> Result<(), HeapFull> {
        let is_main = actor.entity.is_none();
        let instance = &mut actor.instance;
        instance.heap.set_lenient(true);
        for unit in &self.present.change.units {
            // A program without definitions has code in its actors nevertheless.
            let is_program = unit.name.as_str() == PROGRAM;
            let has_library = instance.has_library(&self.code, unit.name.as_str());
            if is_program || has_library {
                instance.link_apart(&self.code, unit.number)?;
            }
            let added = unit.added.iter().filter(|_| has_library || is_program && is_main);
            for (name, block) in added {
                instance.define(&self.code, name, *block)?;
            }
        }
        for unit in &self.present.change.retired {
            instance.link_apart(&self.code, *unit)?;
        }
        instance
            .heap
            .replace_code(&self.code.replacements(&self.present.change.redirects));
        Ok(())
    }

    /// Evaluates the libraries that the text before does not use, in an instance that has code of
    /// the text.
    fn evaluate_new_libraries(&mut self, actor: &mut SchemeActor, fuel: &mut i64) -> Result<(), Failure> {
        let libraries = self.present.change.libraries.clone();
        let mut changed = self.present.change.units.iter();
        let has_text = changed.any(|unit| self.has_library(actor, unit.name.as_str()));
        if !libraries.is_empty() && (has_text || actor.entity.is_none()) {
            self.evaluate_libraries(actor, &libraries, fuel)?;
        }
        Ok(())
    }

    /// Evaluates the new definitions of values in an instance that is not the main program's.
    fn evaluate_new_values(&mut self, actor: &mut SchemeActor, fuel: &mut i64) -> Result<(), Failure> {
        if actor.entity.is_none() {
            return Ok(());
        }
        let units = self.present.change.units.iter();
        let own = units.filter(|unit| self.has_library(actor, unit.name.as_str()));
        let values: Vec<usize> = own.filter_map(|unit| unit.shared_values).collect();
        for unit in values {
            self.evaluate_apart(actor, unit, "a new definition", fuel)?;
        }
        Ok(())
    }

    /// Starts the evaluation of new definitions, or of what the person names.
    pub(super) fn begin_step(
        &mut self,
        actor: &mut SchemeActor,
        step: usize,
        turn: &mut Activation,
    ) -> Result<(), Fault> {
        let Some(LoadedUnit { unit: of, number }) = self.present.change.steps.get(step).cloned() else {
            return Ok(());
        };
        // Only actors besides the main one may have evaluated a library that no text imports.
        if of.name.as_str() != PROGRAM && !self.has_library(actor, of.name.as_str()) {
            return Ok(());
        }
        let instance = &mut actor.instance;
        instance.link_apart(&self.code, number)?;
        let procedure = instance.unit_procedure(&self.code, number)?;
        self.machine.start(instance, procedure, &[]);
        mark_fiber(&mut instance.heap, turn.fiber()).map_err(Fault::from)
    }
}
