//! Libraries that single texts bring to a session, and the way back to what it knew before them.
//!
//! INVARIANT: after `forget_brought` the session knows the libraries that it knew before the first
//! text that brought one.
//! It does not know which texts are kept; the caller expands those again.
//! Read next: `expander/library.rs`.

use std::sync::Arc;

use super::{Expander, Library, UnitExpander};
use crate::core::Unit;
use crate::datum::Name;
use crate::diagnostic::FormError;
use crate::syntax::Syntax;

/// What a session knew of a library before a text brought one of that name.
#[derive(Debug)]
pub(super) struct Before {
    library: Option<Library>,
    unit: Option<Arc<Unit>>,
}

impl Expander {
    /// Notes that texts bring a library of this name from here on.
    pub fn bring(&mut self, name: &Name) {
        if !self.brought.contains_key(name) {
            let library = self.libraries.get(name).cloned();
            let unit = self.library_units.get(name).cloned();
            self.brought.insert(name.clone(), Before { library, unit });
        }
    }

    pub(super) fn is_brought(&self, name: &Name) -> bool {
        self.brought.contains_key(name)
    }

    /// Forgets the libraries that texts have brought, and returns their names. Texts that are kept
    /// have to be expanded again.
    pub fn forget_brought(&mut self) -> Vec<Name> {
        let brought = std::mem::take(&mut self.brought);
        for (name, before) in &brought {
            self.undelivered.retain(|_, unit| unit.name != *name);
            self.waiting.remove(name);
            self.instantiated.remove(name);
            match &before.library {
                Some(library) => self.libraries.insert(name.clone(), library.clone()),
                None => self.libraries.remove(name),
            };
            match &before.unit {
                Some(unit) => self.library_units.insert(name.clone(), Arc::clone(unit)),
                None => self.library_units.remove(name),
            };
        }
        brought.into_keys().collect()
    }
}

impl UnitExpander<'_> {
    /// Expands a library that nobody has asked for by its name: one in a text, or a further one in
    /// a file.
    pub(crate) fn bring_library(&mut self, form: Syntax, rest: &[Syntax]) -> Result<Name, FormError> {
        let parts = self.parts(form)?;
        // A program's own libraries stay as long as the session.
        if self.session.program.is_some()
            && let Some(name) = parts.get(1)
        {
            let name = self.library_name(form, *name)?.to_name();
            self.session.bring(&name);
        }
        self.define_library(form, rest)
    }
}
