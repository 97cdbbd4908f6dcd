//! `cond`.
//!
//! Owns its expansion to nested conditionals.
//! INVARIANT: every test is evaluated at most once.
//! It does not know `case`.
//! Read next: `case.rs`.

use crate::core::{Core, CoreId};
use crate::diagnostic::FormError;
use crate::expander::UnitExpander;
use crate::syntax::Syntax;

/// An expanded clause.
enum Clause {
    /// `(test)`
    Test(CoreId),
    /// `(test => receiver)`
    Receiver(CoreId, CoreId),
    /// `(test expression …)`
    Body(CoreId, CoreId),
}

pub(super) fn cond(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let mut sources = unit.parts(form)?.split_off(1);
    if sources.is_empty() {
        return Err(unit.malformed(form));
    }
    let mut otherwise = None;
    if let Some(last) = sources.last().copied() {
        let parts = unit.list_in(form, last)?;
        if parts.first().is_some_and(|head| unit.is_keyword(*head, "else")) {
            if parts.len() < 2 {
                return Err(unit.malformed_at(form, last));
            }
            sources.pop();
            otherwise = Some((parts, last));
        }
    }
    let mut clauses = Vec::with_capacity(sources.len());
    for source in sources {
        clauses.push((clause(unit, form, source)?, source));
    }
    let rest = match otherwise {
        Some((parts, place)) => unit.sequence(&parts[1..], place),
        None => unit.node(Core::Unspecified, form),
    };
    Ok(clauses
        .into_iter()
        .rev()
        .fold(rest, |rest, (clause, place)| choose(unit, clause, rest, place)))
}

fn clause(unit: &mut UnitExpander<'_>, form: Syntax, source: Syntax) -> Result<Clause, FormError> {
    let parts = unit.list_in(form, source)?;
    let Some((test, body)) = parts.split_first() else {
        return Err(unit.malformed_at(form, source));
    };
    if unit.is_keyword(*test, "else") {
        return Err(unit.malformed_at(form, source));
    }
    let test = unit.expression(*test);
    Ok(match *body {
        [] => Clause::Test(test),
        [arrow, receiver] if unit.is_keyword(arrow, "=>") => Clause::Receiver(test, unit.expression(receiver)),
        _ => Clause::Body(test, unit.sequence(body, source)),
    })
}

fn choose(unit: &mut UnitExpander<'_>, clause: Clause, rest: CoreId, place: Syntax) -> CoreId {
    match clause {
        Clause::Test(test) => unit.either(test, rest, place),
        Clause::Body(test, body) => unit.conditional(test, body, rest, place),
        Clause::Receiver(test, procedure) => {
            let variable = unit.temporary("test");
            let condition = unit.node(Core::Local(variable), place);
            let arguments = vec![unit.node(Core::Local(variable), place)];
            let call = unit.node(Core::Call { procedure, arguments }, place);
            let body = unit.conditional(condition, call, rest, place);
            unit.node(
                Core::Let {
                    bindings: vec![(variable, test)],
                    body,
                },
                place,
            )
        }
    }
}
