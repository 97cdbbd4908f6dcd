//! `begin`: a sequence of expressions, or of definitions that are spliced into their context.
//!
//! INVARIANT: a sequence in expression position is never empty.
//! It does not decide which context it is in.
//! Read next: `define.rs`.

use crate::core::CoreId;
use crate::diagnostic::FormError;
use crate::expander::{Context, UnitExpander};
use crate::syntax::Syntax;

pub(super) fn expression(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let parts = unit.parts(form)?;
    if parts.len() == 1 {
        // An empty sequence has no value; it is allowed only among definitions.
        return Err(unit.malformed(form));
    }
    Ok(unit.sequence(&parts[1..], form))
}

pub(super) fn definition(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), FormError> {
    let parts = unit.parts(form)?;
    context.splice(&parts[1..]);
    Ok(())
}
