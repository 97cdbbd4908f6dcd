//! `set!`.
//!
//! Owns its expansion, including the rewriting of assignments to keywords with a variable
//! transformer.
//! INVARIANT: imported variables and primitives are never assigned.
//! It does not define variables.
//! Read next: `define.rs`.

use crate::core::CoreId;
use crate::diagnostic::{DiagnosticKind, FormError};
use crate::expander::UnitExpander;
use crate::syntax::Syntax;
use crate::syntax::binding::Binding;

pub(super) fn set(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let [_, variable, value] = unit.parts(form)?[..] else {
        return Err(unit.malformed(form));
    };
    let identifier = unit.identifier_in(form, variable)?;
    let name = unit.name_of(identifier);
    let binding = unit.resolve(variable, identifier)?;
    if let Some(Binding::Macro(index)) = binding {
        unit.read_macro(index)?;
        if unit.rewrites_assignments(index) {
            let rewritten = unit.rewrite(index, identifier, form, None)?;
            return Ok(unit.expression(rewritten));
        }
    }
    unit.check_phase(variable, identifier, binding)?;
    let value = unit.named_expression(value, name.clone());
    match binding {
        Some(Binding::Local { variable, .. }) => Ok(unit.assign_local(variable, value, form)),
        Some(Binding::Global(global)) if unit.is_own(global) => {
            let global = unit.global_id(global);
            Ok(unit.assign_global(global, value, form))
        }
        Some(Binding::Global(_) | Binding::Primitive(_)) => {
            Err(unit.failure(variable, DiagnosticKind::AssignsImport { name }))
        }
        Some(Binding::Form(_) | Binding::Macro(_)) => {
            Err(unit.failure(variable, DiagnosticKind::KeywordAsExpression { name }))
        }
        Some(Binding::Pattern(_)) => Err(unit.failure(variable, DiagnosticKind::PatternVariableAsExpression { name })),
        None => {
            let global = unit.unbound(variable, identifier);
            Ok(unit.assign_global(global, value, form))
        }
    }
}
