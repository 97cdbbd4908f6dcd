//! The options of a form: pairs of a keyword and a value.
//!
//! INVARIANT: an option that nothing takes is an error.
//! It does not know what options mean. Read next: `action.rs`.

use super::error::{MigrationError, MigrationFault};
use super::program::options;
use super::reader::Form;

/// The options of a form that nothing has taken yet.
pub(super) struct Options<'a> {
    form: &'a Form,
    pairs: Vec<(&'a str, &'a Form)>,
}

impl<'a> Options<'a> {
    pub(super) fn of(form: &'a Form, operands: &'a [Form]) -> Result<Self, MigrationError> {
        Ok(Self {
            form,
            pairs: options(form, operands)?,
        })
    }

    /// Takes the option that has one of these names.
    pub(super) fn take(&mut self, names: &[&str]) -> Option<&'a Form> {
        let place = self.pairs.iter().position(|(name, _)| names.contains(name))?;
        Some(self.pairs.remove(place).1)
    }

    /// Takes an option that must be there.
    pub(super) fn require(&mut self, names: &[&'static str]) -> Result<&'a Form, MigrationError> {
        let missing = || MigrationFault::MissingOption { name: names[0] };
        self.take(names).ok_or_else(|| self.form.fault(missing()))
    }

    /// Refuses options that nothing has taken.
    pub(super) fn finish(self, known: &'static str) -> Result<(), MigrationError> {
        match self.pairs.first() {
            Some((name, _)) => {
                let name = (*name).to_owned();
                Err(self.form.fault(MigrationFault::UnknownOption { name, known }))
            }
            None => Ok(()),
        }
    }
}
