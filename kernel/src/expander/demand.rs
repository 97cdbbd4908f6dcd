//! Libraries that are finished on demand.
//!
//! Owns the libraries that declare `(on-demand)`: an import runs only their first pass, which finds
//! their definitions. The second pass and compilation run once a unit mentions one of their
//! globals, so a program pays for the part of the standard library that it uses. The body of such a
//! library may only define.
//! (Rejected: finishing every imported library, because that took most of the run time of a small
//! program.)
//! INVARIANT: units are delivered in the order in which their libraries were loaded, whenever they
//! were finished. So each comes after those it imports, and the set of units depends only on the
//! texts.
//! It does not know what a body contains.
//! Read next: `body.rs`.

use std::sync::Arc;

use super::body::Context;
use super::builder::Builder;
use super::unit::UnitExpander;
use super::{Expander, Expansion, LIMIT_TRANSFORMER_CALLS, Libraries, LibraryName, Module};
use crate::core::Unit;
use crate::datum::Name;
use crate::diagnostic::Diagnostic;
use crate::syntax::Syntax;

/// A library between its two passes.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) module: Module,
    pub(super) builder: Builder,
    /// The number of its unit in the session.
    pub(super) number: u32,
    pub(super) context: Context,
    /// The beginning of its body.
    pub(super) place: Syntax,
    /// Its place in the order of loading.
    pub(super) position: u32,
}

impl Expander {
    /// Records the units of a library; returns its warnings.
    pub(super) fn add_library_units(&mut self, position: u32, expansion: Expansion) -> Vec<Diagnostic> {
        for unit in expansion.units {
            self.library_units.insert(unit.name.clone(), unit.clone());
            self.undelivered.insert(position, unit);
        }
        expansion.warnings
    }

    /// Finishes a library, if it is between its passes; returns its unit, if it has one.
    pub(super) fn finish_library(
        &mut self,
        name: &Name,
        libraries: &mut dyn Libraries,
    ) -> Result<Option<Arc<Unit>>, Vec<Diagnostic>> {
        let Some(waiting) = self.waiting.remove(name) else {
            return Ok(self.take_unit_ahead(name));
        };
        let position = waiting.position;
        let (_, expansion) = UnitExpander::resume(self, libraries, waiting).finish();
        // Forget a library with errors, so that the next import loads it again.
        let expansion = expansion.inspect_err(|_| drop(self.libraries.remove(name)))?;
        self.add_library_units(position, expansion);
        Ok(self.library_units.get(name).cloned())
    }

    /// Expands a library, unless some text has needed it, and returns its unit; `None` if there is
    /// nothing to evaluate.
    ///
    /// # Errors
    /// Every error found in it and in the libraries it needs.
    pub fn unit_of_library(
        &mut self,
        name: &Name,
        libraries: &mut dyn Libraries,
    ) -> Result<Option<Arc<Unit>>, Vec<Diagnostic>> {
        self.require_library(&LibraryName::parse(name), libraries)?;
        self.finish_library(name, libraries)?;
        Ok(self.library_units.get(name).cloned())
    }

    /// Loads a library, as an import does.
    pub(super) fn require_library(
        &mut self,
        name: &LibraryName,
        libraries: &mut dyn Libraries,
    ) -> Result<Expansion, Vec<Diagnostic>> {
        let module = self.new_module(Name::from("(program)"), false);
        self.transformer_calls = LIMIT_TRANSFORMER_CALLS;
        let mut unit = UnitExpander::new(self, libraries, module);
        unit.require(name);
        unit.finish().1
    }

    /// Finishes the libraries that a unit mentions, directly or through others.
    pub(super) fn finish_mentioned(
        &mut self,
        unit: &Arc<Unit>,
        libraries: &mut dyn Libraries,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut units = vec![Arc::clone(unit)];
        while let Some(unit) = units.pop() {
            for global in &unit.globals {
                units.extend(self.finish_library(&global.name.library, libraries)?);
            }
        }
        Ok(())
    }

    /// Adds the needed units of libraries to the expansion of a text.
    pub(super) fn deliver(
        &mut self,
        expansion: Result<Expansion, Vec<Diagnostic>>,
        libraries: &mut dyn Libraries,
    ) -> Result<Expansion, Vec<Diagnostic>> {
        let mut expansion = expansion?;
        let own = std::mem::take(&mut expansion.units);
        let eager: Vec<_> = self.undelivered.values().cloned().collect();
        for unit in own.iter().chain(&eager) {
            self.finish_mentioned(unit, libraries)?;
        }
        let needed = std::mem::take(&mut self.undelivered).into_values();
        expansion.units = needed.chain(own).collect();
        Ok(expansion)
    }
}
