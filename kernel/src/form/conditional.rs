//! `if`, `when`, `unless`, `and`, `or`.
//!
//! Owns their expansion to the conditional of the core language.
//! INVARIANT: every test is evaluated at most once.
//! It does not simplify constant tests.
//! Read next: `cond.rs`.

use crate::core::{Core, CoreId};
use crate::diagnostic::FormError;
use crate::expander::UnitExpander;
use crate::syntax::Syntax;

pub(super) fn if_(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let parts = unit.parts(form)?;
    let (test, consequent, alternative) = match parts[..] {
        [_, test, consequent] => (test, consequent, None),
        [_, test, consequent, alternative] => (test, consequent, Some(alternative)),
        _ => return Err(unit.malformed(form)),
    };
    let test = unit.expression(test);
    let consequent = unit.expression(consequent);
    let alternative = match alternative {
        Some(alternative) => unit.expression(alternative),
        None => unit.node(Core::Unspecified, form),
    };
    Ok(unit.conditional(test, consequent, alternative, form))
}

pub(super) fn when(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let (test, body, nothing) = guarded(unit, form)?;
    Ok(unit.conditional(test, body, nothing, form))
}

pub(super) fn unless(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let (test, body, nothing) = guarded(unit, form)?;
    Ok(unit.conditional(test, nothing, body, form))
}

fn guarded(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<(CoreId, CoreId, CoreId), FormError> {
    let parts = unit.parts(form)?;
    let [_, test, ref body @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let test = unit.expression(test);
    let body = unit.sequence(body, form);
    Ok((test, body, unit.node(Core::Unspecified, form)))
}

pub(super) fn and(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let Some((last, tests)) = tests(unit, form)? else {
        return Ok(unit.boolean(true, form));
    };
    Ok(tests.into_iter().rev().fold(last, |rest, test| {
        let otherwise = unit.boolean(false, form);
        unit.conditional(test, rest, otherwise, form)
    }))
}

pub(super) fn or(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let Some((last, tests)) = tests(unit, form)? else {
        return Ok(unit.boolean(false, form));
    };
    Ok(tests
        .into_iter()
        .rev()
        .fold(last, |rest, test| unit.either(test, rest, form)))
}

/// Expands the tests of a form; returns the last one and those before it.
fn tests(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<Option<(CoreId, Vec<CoreId>)>, FormError> {
    let parts = unit.parts(form)?;
    let mut tests: Vec<_> = parts[1..].iter().map(|test| unit.expression(*test)).collect();
    Ok(tests.pop().map(|last| (last, tests)))
}

impl UnitExpander<'_> {
    /// Makes code that returns the value of `test` if it is true, otherwise that of `rest`.
    pub(super) fn either(&mut self, test: CoreId, rest: CoreId, place: Syntax) -> CoreId {
        let variable = self.temporary("or");
        let (condition, value) = (
            self.node(Core::Local(variable), place),
            self.node(Core::Local(variable), place),
        );
        let body = self.conditional(condition, value, rest, place);
        self.node(
            Core::Let {
                bindings: vec![(variable, test)],
                body,
            },
            place,
        )
    }
}
