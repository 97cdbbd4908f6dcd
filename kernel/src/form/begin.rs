//! `begin`: a sequence, spliced where definitions may stand.

use crate::core::CoreId;
use crate::diagnostic::Failure;
use crate::expander::{Context, UnitExpander};
use crate::syntax::Syntax;

pub(super) fn expression(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, Failure> {
    let parts = unit.parts(form)?;
    if parts.len() == 1 {
        // An empty sequence has no value; only among definitions does it mean something.
        return Err(unit.malformed(form));
    }
    Ok(unit.sequence(&parts[1..], form))
}

pub(super) fn definition(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), Failure> {
    let parts = unit.parts(form)?;
    context.splice(&parts[1..]);
    Ok(())
}
