//! `case`.
//!
//! Owns its expansion to comparisons with the key.
//! INVARIANT: the key is evaluated once.
//! It does not know `cond` clauses.
//! Read next: `cond.rs`.

use crate::core::{Core, CoreId, VariableId};
use crate::diagnostic::FormError;
use crate::expander::UnitExpander;
use crate::syntax::Syntax;

/// A clause with more data than this uses `memv`, to keep the code small.
const LIMIT_COMPARISONS: usize = 8;

pub(super) fn case(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let parts = unit.parts(form)?;
    let [_, key, ref clauses @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let key_value = unit.expression(key);
    let variable = unit.temporary("key");
    let mut expanded = Vec::with_capacity(clauses.len());
    let mut rest = None;
    for (index, clause) in clauses.iter().enumerate() {
        let parts = unit.list_in(form, *clause)?;
        let [head, ref body @ ..] = parts[..] else {
            return Err(unit.malformed_at(form, *clause));
        };
        if body.is_empty() {
            return Err(unit.malformed_at(form, *clause));
        }
        if unit.is_keyword(head, "else") {
            if index + 1 < clauses.len() {
                return Err(unit.malformed_at(form, *clause));
            }
            rest = Some(clause_body(unit, variable, body, *clause));
            break;
        }
        let data = unit.list_in(form, head)?;
        let test = test(unit, variable, &data, head);
        expanded.push((test, clause_body(unit, variable, body, *clause), *clause));
    }
    let rest = rest.unwrap_or_else(|| unit.node(Core::Unspecified, form));
    let body = expanded.into_iter().rev().fold(rest, |rest, (test, body, place)| {
        unit.conditional(test, body, rest, place)
    });
    Ok(unit.node(
        Core::Let {
            bindings: vec![(variable, key_value)],
            body,
        },
        form,
    ))
}

fn test(unit: &mut UnitExpander<'_>, key: VariableId, data: &[Syntax], place: Syntax) -> CoreId {
    if data.len() > LIMIT_COMPARISONS {
        let arguments = vec![unit.node(Core::Local(key), place), unit.constant(place)];
        return unit.primitive_call("memv", arguments, place);
    }
    let mut tests = data.iter().rev();
    let Some(last) = tests.next() else {
        return unit.boolean(false, place);
    };
    let last = equals(unit, key, *last);
    tests.fold(last, |rest, datum| {
        let test = equals(unit, key, *datum);
        let yes = unit.boolean(true, place);
        unit.conditional(test, yes, rest, place)
    })
}

fn equals(unit: &mut UnitExpander<'_>, key: VariableId, datum: Syntax) -> CoreId {
    let arguments = vec![unit.node(Core::Local(key), datum), unit.constant(datum)];
    unit.primitive_call("eqv?", arguments, datum)
}

fn clause_body(unit: &mut UnitExpander<'_>, key: VariableId, body: &[Syntax], place: Syntax) -> CoreId {
    if let [arrow, receiver] = *body
        && unit.is_keyword(arrow, "=>")
    {
        let procedure = unit.expression(receiver);
        let arguments = vec![unit.node(Core::Local(key), place)];
        return unit.node(Core::Call { procedure, arguments }, place);
    }
    unit.sequence(body, place)
}
