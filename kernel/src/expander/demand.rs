//! Libraries that are finished when something needs them.
//!
//! Owns the libraries that declare `(on-demand)`: of these only the first pass is done when they are imported, which finds what they define; the
//! second pass, and all that comes after it, happens once a unit mentions one of their globals. So a program pays for the part of
//! the standard library that it uses. Such a library's body must have no effect but to define.
//! (Expanding and compiling everything that is imported was the alternative: it took most of the time in which a small program ran.)
//! INVARIANT: units are delivered in the order in which their libraries were loaded, whenever they were finished; so each comes after those it
//! imports, and which come depends on nothing but the texts.
//! It does not know what a body contains.
//! Read next: `body.rs`.

use std::sync::Arc;

use super::body::Context;
use super::builder::Builder;
use super::unit::UnitExpander;
use super::{Expander, Expansion, Libraries, Module};
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
    /// Where its body begins.
    pub(super) place: Syntax,
    /// Its place in the order of loading.
    pub(super) position: u32,
}

impl Expander {
    /// Takes note of what a library came to; what it warns of is for the caller.
    pub(super) fn add_library_units(&mut self, position: u32, expansion: Expansion) -> Vec<Diagnostic> {
        for unit in expansion.units {
            self.library_units.insert(unit.name.clone(), unit.clone());
            self.undelivered.insert(position, unit);
        }
        expansion.warnings
    }

    /// Finishes a library, if it waits; its unit, if it has one.
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
        // A library with errors is to be loaded anew by whoever imports it next.
        let expansion = expansion.inspect_err(|_| drop(self.libraries.remove(name)))?;
        self.add_library_units(position, expansion);
        Ok(self.library_units.get(name).cloned())
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

    /// Adds the libraries' units to what a text expanded to.
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
