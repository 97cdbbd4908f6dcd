//! The libraries in which two texts are compared although the new one does not import them: those
//! that evaluated texts needed, and those that only the text before imports.
//!
//! INVARIANT: the texts and the names in the changed text decide which libraries are compared,
//! whatever this process has evaluated, so a replay compares the same.
//! It does not compare units; `change.rs` does.
//! Read next: `change.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use duet_kernel::core::Unit;
use duet_kernel::datum::Name;

use super::actor::SchemeActor;
use super::entity::PROGRAM;
use super::evaluation::Evaluations;
use super::interaction::syntax_failure;
use super::programs::SchemePrograms;
use super::version::{LoadedUnit, NewText};
use crate::model::failure::Failure;

impl SchemePrograms {
    /// Names the libraries that an actor has evaluated and that the present text does not import.
    pub(super) fn libraries_besides_the_text(&self, actor: &mut SchemeActor) -> BTreeSet<String> {
        // Besides actors with texts, the main one alone may keep what an earlier text imported.
        let has_texts = actor.known_evaluations().is_some_and(Evaluations::has_texts);
        if actor.entity.is_some() && !has_texts {
            return BTreeSet::new();
        }
        actor.instance.heap.expand();
        let imported = self.imported();
        let mut found = BTreeSet::new();
        for global in self.code.globals() {
            let library = global.library.as_str();
            if !imported.contains(&global.library)
                && !found.contains(library)
                && self.present.sources.has(&[library.to_owned()])
                && actor.instance.global(&self.code, global).is_some()
            {
                found.insert(library.to_owned());
            }
        }
        found
    }

    /// The libraries that the present text imports, directly or through others, and the program.
    fn imported(&self) -> BTreeSet<Name> {
        let units = self.present.units.iter().map(|number| &self.code.units()[*number].name);
        units.cloned().collect()
    }

    /// Returns the units that libraries besides those of a new text have in it, if they may differ
    /// from those in the present text.
    ///
    /// # Errors
    /// [`Failure`] if one of them has errors in the new text.
    pub(super) fn units_besides_the_text(&mut self, new: &mut NewText<'_>) -> Result<Vec<Arc<Unit>>, Failure> {
        let evaluated = new.patched.libraries.iter().map(|name| Name::from(name.as_str()));
        let imported = self.imported().into_iter().filter(|name| name.as_str() != PROGRAM);
        let names: BTreeSet<Name> = imported.chain(evaluated).collect();
        let mut units = Vec::new();
        for name in names {
            let is_compared = new.differing.contains(name.as_str()) && self.is_compared(&name)?;
            if !is_compared || new.units.iter().any(|unit| unit.name == name) {
                continue;
            }
            let found = new.expander.unit_of_library(&name, new.libraries);
            units.extend(found.map_err(|errors| syntax_failure(&new.expander, &errors))?);
        }
        Ok(units)
    }

    /// Whether the unit of a library in the present text can be compared with a new one.
    fn is_compared(&mut self, name: &Name) -> Result<bool, Failure> {
        if self.present.compared_units.contains_key(name) {
            return Ok(true);
        }
        let Ok(Some(unit)) = self.present.expander.unit_of_library(name, &mut self.present.sources) else {
            return Ok(false);
        };
        let number = self.load_later(&unit)?;
        let loaded = LoadedUnit { unit, number };
        self.present.compared_units.insert(name.clone(), loaded);
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
