//! `include`, `include-ci` and `cond-expand`: forms from elsewhere, or from the first clause that holds.

use crate::core::CoreId;
use crate::diagnostic::Failure;
use crate::expander::{Context, UnitExpander};
use crate::syntax::Syntax;

pub(super) fn expression(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, Failure> {
    let forms = included(unit, form)?;
    Ok(unit.sequence(&forms, form))
}

pub(super) fn definition(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), Failure> {
    let forms = included(unit, form)?;
    context.splice(&forms);
    Ok(())
}

fn included(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<Vec<Syntax>, Failure> {
    let parts = unit.parts(form)?;
    let folds_case = unit.is_keyword(parts[0], "include-ci");
    unit.nested(form, |unit| unit.include(form, &parts[1..], folds_case))
}

pub(super) fn cond_expand_expression(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, Failure> {
    let parts = unit.parts(form)?;
    let forms = unit.choose_clause(form, &parts[1..])?;
    Ok(unit.sequence(&forms, form))
}

pub(super) fn cond_expand_definition(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
) -> Result<(), Failure> {
    let parts = unit.parts(form)?;
    let forms = unit.choose_clause(form, &parts[1..])?;
    context.splice(&forms);
    Ok(())
}
