//! `include`, `include-ci` and `cond-expand`: forms of another file, or of the first clause whose
//! requirement is met; and the list of features.
//!
//! INVARIANT: included forms get the scopes of the form that includes them.
//! It does not read files (the `Libraries` trait does).
//! Read next: `library.rs`.

use crate::core::CoreId;
use crate::datum::Name;
use crate::diagnostic::FormError;
use crate::expander::{Context, FEATURES, UnitExpander};
use crate::syntax::Syntax;
use crate::syntax::scope::ScopeSet;

pub(super) fn expression(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let forms = included(unit, form)?;
    Ok(unit.sequence(&forms, form))
}

pub(super) fn definition(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), FormError> {
    let forms = included(unit, form)?;
    context.splice(&forms);
    Ok(())
}

fn included(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<Vec<Syntax>, FormError> {
    let parts = unit.parts(form)?;
    unit.require_unsealed(form, "include")?;
    let folds_case = unit.is_keyword(parts[0], "include-ci");
    unit.nested(form, |unit| unit.include(form, &parts[1..], folds_case))
}

pub(super) fn cond_expand_expression(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let parts = unit.parts(form)?;
    let forms = unit.choose_clause(form, &parts[1..])?;
    Ok(unit.sequence(&forms, form))
}

pub(super) fn cond_expand_definition(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
) -> Result<(), FormError> {
    let parts = unit.parts(form)?;
    let forms = unit.choose_clause(form, &parts[1..])?;
    context.splice(&forms);
    Ok(())
}

/// Expands `(%features)` to the constant list of features.
pub(super) fn features(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let store = &mut unit.session.syntax;
    let features: Vec<_> = FEATURES
        .iter()
        .map(|name| store.make_identifier(&Name::from(*name), ScopeSet::EMPTY, form))
        .collect();
    let features = store.make_list(&features, None, form);
    Ok(unit.constant(features))
}
