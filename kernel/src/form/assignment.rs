//! `set!`.

use crate::core::CoreId;
use crate::diagnostic::{DiagnosticKind, Failure};
use crate::expander::UnitExpander;
use crate::syntax::Syntax;
use crate::syntax::binding::Binding;

pub(super) fn set(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, Failure> {
    let [_, variable, value] = unit.parts(form)?[..] else {
        return Err(unit.malformed(form));
    };
    let identifier = unit.identifier_in(form, variable)?;
    let name = unit.name_of(identifier);
    let value = unit.named_expression(value, name.clone());
    match unit.resolve(variable, identifier)? {
        Some(Binding::Local(local)) => Ok(unit.assign_local(local, value, form)),
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
        None => {
            let global = unit.unbound(variable, identifier);
            Ok(unit.assign_global(global, value, form))
        }
    }
}
