//! `syntax-error`: an error that a macro reports.
//!
//! INVARIANT: expanding it always fails.
//! It does not choose a layout for the message.
//! Read next: `diagnostic.rs`.

use crate::core::CoreId;
use crate::datum::Node;
use crate::diagnostic::{DiagnosticKind, FormError};
use crate::expander::{Context, UnitExpander};
use crate::syntax::Syntax;

pub(super) fn expression(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    Err(raised(unit, form)?)
}

pub(super) fn definition(unit: &mut UnitExpander<'_>, _: &mut Context, form: Syntax) -> Result<(), FormError> {
    Err(raised(unit, form)?)
}

/// Returns the error of the form.
fn raised(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<FormError, FormError> {
    let parts = unit.parts(form)?;
    let [_, message, ref irritants @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let Some(Node::String(text)) = unit.session.syntax.atom(message) else {
        return Err(unit.malformed(form));
    };
    let mut message = text.to_string();
    for irritant in irritants {
        message.push(' ');
        message.push_str(&unit.session.syntax.datum(*irritant).to_string());
    }
    Ok(unit.failure(form, DiagnosticKind::Raised { message }))
}
