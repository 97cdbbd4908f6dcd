//! `define` and `define-values`.
//!
//! Owns the shapes of definitions.
//! INVARIANT: a name is bound before the code of its value is expanded, so that the code may refer
//! to it.
//! It does not decide whether a definition is global or local (`expander/body.rs`).
//! Read next: `record.rs`.

use crate::core::{Core, CoreId, Lambda, VariableId};
use crate::datum::{Datum, Node};
use crate::diagnostic::FormError;
use crate::expander::{Context, DefinitionTarget, UnitExpander, Value};
use crate::number::Number;
use crate::syntax::Syntax;

pub(super) fn define(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), FormError> {
    let parts = unit.parts(form)?;
    let [_, name, ref rest @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    if let Some((name, formals)) = unit.session.syntax.pair(name) {
        let target = unit.define_variable(context, form, name)?;
        context.define(target, Value::Procedure(formals, rest.to_vec()), form);
        return Ok(());
    }
    let value = match *rest {
        [] => Value::Ready(unit.node(Core::Unspecified, form)),
        [value] => Value::Expression(value),
        _ => return Err(unit.malformed(form)),
    };
    let target = unit.define_variable(context, form, name)?;
    context.define(target, value, form);
    Ok(())
}

pub(super) fn define_values(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), FormError> {
    let [_, formals, expression] = unit.parts(form)?[..] else {
        return Err(unit.malformed(form));
    };
    let (names, tail) = unit.session.syntax.split_list(formals);
    let rest = if unit.session.syntax.is_nil(tail) {
        None
    } else {
        Some(tail)
    };
    let mut targets = Vec::new();
    for name in names.iter().chain(&rest) {
        targets.push(unit.define_variable(context, form, *name)?);
    }
    let mut parameters: Vec<_> = targets.iter().map(|_| unit.temporary("value")).collect();
    let values: Vec<_> = parameters
        .iter()
        .map(|parameter| unit.node(Core::Local(*parameter), form))
        .collect();
    let rest = rest.and_then(|_| parameters.pop());
    let body = if context.is_top_level() {
        define_each(unit, targets, values, form)
    } else {
        let vector = unit.temporary("values");
        let elements = select_each(unit, vector, targets.len(), form);
        let body = unit.primitive_call("vector", values, form);
        let receiver = receiver(unit, parameters, rest, body, form);
        context.define(
            DefinitionTarget::Local(vector),
            Value::Received(expression, receiver),
            form,
        );
        for (target, element) in targets.into_iter().zip(elements) {
            context.define(target, Value::Ready(element), form);
        }
        return Ok(());
    };
    let receiver = receiver(unit, parameters, rest, body, form);
    context.evaluate(Value::Received(expression, receiver), form);
    Ok(())
}

fn receiver(
    unit: &mut UnitExpander<'_>,
    parameters: Vec<VariableId>,
    rest: Option<VariableId>,
    body: CoreId,
    place: Syntax,
) -> CoreId {
    let span = unit.session.syntax.span(place);
    unit.lambda_node(
        Lambda {
            name: None,
            parameters,
            rest,
            body,
            span,
        },
        place,
    )
}

fn define_each(
    unit: &mut UnitExpander<'_>,
    targets: Vec<DefinitionTarget>,
    values: Vec<CoreId>,
    place: Syntax,
) -> CoreId {
    let mut definitions = Vec::with_capacity(targets.len());
    for (target, value) in targets.into_iter().zip(values) {
        definitions.push(match target {
            DefinitionTarget::Global(global) => unit.define_global(global, value, place),
            DefinitionTarget::Local(variable) => unit.assign_local(variable, value, place),
        });
    }
    unit.sequence_node(definitions, place)
}

/// Makes code for each of the first `count` elements of the vector in a variable.
fn select_each(unit: &mut UnitExpander<'_>, vector: VariableId, count: usize, place: Syntax) -> Vec<CoreId> {
    let select = |index: usize| {
        let index = Number::Fixnum(i64::try_from(index).unwrap_or(i64::MAX));
        let index = unit.node(Core::Constant(Datum::of(Node::Number(index))), place);
        let vector = unit.node(Core::Local(vector), place);
        unit.primitive_call("vector-ref", vec![vector, index], place)
    };
    (0..count).map(select).collect()
}
