//! `import`, `define-library` and `define-module` at the top level of a program.
//!
//! INVARIANT: elsewhere each of them is an error.
//! It does not read or resolve libraries (`expander/library.rs`, `expander/import.rs`).
//! Read next: `expander/import.rs`.

use crate::datum::Name;
use crate::diagnostic::{DiagnosticKind, FormError};
use crate::expander::{Context, UnitExpander};
use crate::syntax::Syntax;

pub(super) fn import(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), FormError> {
    require_top_level(unit, context, form, "import")?;
    let parts = unit.parts(form)?;
    unit.import(form, &parts[1..]);
    Ok(())
}

pub(super) fn define_library(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
) -> Result<(), FormError> {
    require_top_level(unit, context, form, "define-library")?;
    unit.bring_library(form, &[]).map(drop)
}

pub(super) fn define_module(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), FormError> {
    require_top_level(unit, context, form, "define-module")?;
    let rest = if unit.has_body(form) {
        Vec::new()
    } else {
        context.take_rest()
    };
    unit.bring_library(form, &rest).map(drop)
}

fn require_top_level(
    unit: &UnitExpander<'_>,
    context: &Context,
    form: Syntax,
    name: &'static str,
) -> Result<(), FormError> {
    unit.require_unsealed(form, name)?;
    if context.is_top_level() {
        return Ok(());
    }
    Err(unit.failure(form, DiagnosticKind::NotAtTopLevel { name: Name::from(name) }))
}
