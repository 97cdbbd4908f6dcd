//! `do`: iteration, as a procedure that calls itself in tail position.
//!
//! INVARIANT: each round binds fresh variables.
//! It does not expand named `let`.
//! Read next: `binding.rs`.

use crate::core::{Core, CoreId};
use crate::diagnostic::FormError;
use crate::expander::UnitExpander;
use crate::syntax::Syntax;

pub(super) fn do_(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let parts = unit.parts(form)?;
    let [_, bindings, exit, ref commands @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let exit = unit.list_in(form, exit)?;
    if exit.is_empty() {
        return Err(unit.malformed(form));
    }
    let (mut names, mut steps, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
    for binding in unit.list_in(form, bindings)? {
        let (name, init, step) = match unit.list_in(form, binding)?[..] {
            // A variable without a step keeps its value.
            [name, init] => (name, init, name),
            [name, init, step] => (name, init, step),
            _ => return Err(unit.malformed_at(form, binding)),
        };
        names.push(name);
        steps.push(step);
        arguments.push(unit.expression(init));
    }
    let inner = [&steps[..], &exit[..], commands].concat();
    let (parameters, inner) = unit.bound_body(form, &names, &inner)?;
    let (steps, inner) = inner.split_at(steps.len());
    let (exit, commands) = inner.split_at(exit.len());
    let procedure = unit.temporary("do");
    let test = unit.expression(exit[0]);
    let result = unit.sequence(&exit[1..], form);
    let mut body: Vec<_> = commands.iter().map(|command| unit.expression(*command)).collect();
    let steps = steps.iter().map(|step| unit.expression(*step)).collect();
    let operator = unit.node(Core::Local(procedure), form);
    body.push(unit.node(
        Core::Call {
            procedure: operator,
            arguments: steps,
        },
        form,
    ));
    let body = unit.sequence_node(body, form);
    let body = unit.conditional(test, result, body, form);
    Ok(unit.loop_node(procedure, parameters, arguments, body, form))
}
