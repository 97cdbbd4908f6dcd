//! `quote`.
//!
//! INVARIANT: the constant has no scopes.
//! It does not know templates.
//! Read next: `quasiquote.rs`.

use crate::core::CoreId;
use crate::diagnostic::FormError;
use crate::expander::UnitExpander;
use crate::syntax::Syntax;

pub(super) fn quote(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    match unit.parts(form)?[..] {
        [_, datum] => Ok(unit.constant(datum)),
        _ => Err(unit.malformed(form)),
    }
}
