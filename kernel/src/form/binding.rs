//! `let`, `let*`, `letrec`, `letrec*` and named `let`.
//!
//! Owns their expansion to parallel and recursive bindings of the core language.
//! INVARIANT: every binding form binds its names in a fresh scope.
//! It does not bind keywords (`syntax_binding.rs`).
//! Read next: `iteration.rs`.

use std::collections::BTreeSet;

use crate::core::{Core, CoreId, Lambda, VariableId};
use crate::diagnostic::FormError;
use crate::expander::UnitExpander;
use crate::syntax::{ScopeSeries, Syntax};

pub(super) fn let_(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let parts = unit.parts(form)?;
    let [_, bindings, ref body @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    if unit.session.syntax.identifier(bindings).is_some() {
        return named_let(unit, form, &parts);
    }
    let bindings = unit.bindings(form, bindings)?;
    let names: Vec<_> = bindings.iter().map(|(name, _)| *name).collect();
    let mut values = Vec::with_capacity(bindings.len());
    for (name, init) in bindings {
        values.push(unit.initial_value(form, name, init)?);
    }
    let (variables, body) = unit.bound_body(form, &names, body)?;
    let bindings: Vec<_> = variables.into_iter().zip(values).collect();
    let body = unit.body(&body, form);
    Ok(if bindings.is_empty() {
        body
    } else {
        unit.node(Core::Let { bindings, body }, form)
    })
}

pub(super) fn let_star(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let parts = unit.parts(form)?;
    let [_, bindings, ref body @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let bindings = unit.bindings(form, bindings)?;
    let mut scopes = ScopeSeries::default();
    let mut expanded = Vec::with_capacity(bindings.len());
    for (name, init) in bindings {
        let name = unit.session.syntax.add_series(name, &mut scopes);
        let init = unit.session.syntax.add_series(init, &mut scopes);
        let value = unit.initial_value(form, name, init)?;
        let scope = unit.binding_scope();
        scopes.push(scope);
        let name = unit.session.syntax.add_scope(name, scope);
        let identifier = unit.identifier_in(form, name)?;
        expanded.push((unit.bind_local(identifier), value));
    }
    scopes.push(unit.binding_scope());
    let body: Vec<_> = body
        .iter()
        .map(|form| unit.session.syntax.add_series(*form, &mut scopes))
        .collect();
    let body = unit.body(&body, form);
    Ok(expanded.into_iter().rev().fold(body, |body, binding| {
        unit.node(
            Core::Let {
                bindings: vec![binding],
                body,
            },
            form,
        )
    }))
}

pub(super) fn letrec(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let (bindings, body) = recursive(unit, form)?;
    let bindings = unit.in_two_phases(bindings, form);
    Ok(unit.letrec_node(bindings, body, form))
}

pub(super) fn letrec_star(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let (bindings, body) = recursive(unit, form)?;
    Ok(unit.letrec_node(bindings, body, form))
}

type Bindings = Vec<(VariableId, CoreId)>;

/// Returns the variables of a form like `letrec` with their initial values, and its body.
fn recursive(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<(Bindings, CoreId), FormError> {
    let parts = unit.parts(form)?;
    let [_, bindings, ref body @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let (names, inits): (Vec<_>, Vec<_>) = unit.bindings(form, bindings)?.into_iter().unzip();
    let inner: Vec<_> = inits.iter().chain(body).copied().collect();
    let (variables, inner) = unit.bound_body(form, &names, &inner)?;
    let (inits, body) = inner.split_at(names.len());
    let mut bindings = Vec::with_capacity(names.len());
    for (variable, init) in variables.into_iter().zip(inits) {
        let name = unit.variable_name(variable);
        bindings.push((variable, unit.named_expression(*init, name)));
    }
    Ok((bindings, unit.body(body, form)))
}

fn named_let(unit: &mut UnitExpander<'_>, form: Syntax, parts: &[Syntax]) -> Result<CoreId, FormError> {
    let [_, name, bindings, ref body @ ..] = *parts else {
        return Err(unit.malformed(form));
    };
    let (names, inits): (Vec<_>, Vec<_>) = unit.bindings(form, bindings)?.into_iter().unzip();
    let arguments: Vec<_> = inits.iter().map(|init| unit.expression(*init)).collect();
    let (procedure, inner) = unit.bound_body(form, &[name], &[&names[..], body].concat())?;
    let (names, body) = inner.split_at(names.len());
    let (parameters, body) = unit.bound_body(form, names, body)?;
    let body = unit.body(&body, form);
    Ok(unit.loop_node(procedure[0], parameters, arguments, body, form))
}

impl UnitExpander<'_> {
    fn letrec_node(&mut self, bindings: Bindings, body: CoreId, form: Syntax) -> CoreId {
        if bindings.is_empty() {
            body
        } else {
            self.node(Core::Letrec { bindings, body }, form)
        }
    }

    /// Orders bindings as `letrec` demands: all values are computed before any variable has its
    /// own. The difference is visible only if a continuation of one computation is re-entered, and
    /// only with two or more values that are not procedures or constants.
    fn in_two_phases(&mut self, bindings: Bindings, form: Syntax) -> Bindings {
        let (computed, made): (Bindings, Bindings) = bindings.iter().partition(|(_, init)| {
            !matches!(
                self.node_at(*init),
                Core::Lambda(_) | Core::Constant(_) | Core::Unspecified | Core::Primitive(_)
            )
        });
        if computed.len() < 2 {
            return bindings;
        }
        let mut phases = made;
        let mut second = Vec::with_capacity(computed.len());
        for (variable, init) in computed {
            let value = self.temporary("value");
            phases.push((value, init));
            second.push((variable, self.node(Core::Local(value), form)));
        }
        phases.extend(second);
        phases
    }

    /// Makes a procedure that can call itself by a variable, and one call of it.
    pub(super) fn loop_node(
        &mut self,
        procedure: VariableId,
        parameters: Vec<VariableId>,
        arguments: Vec<CoreId>,
        body: CoreId,
        place: Syntax,
    ) -> CoreId {
        let name = Some(self.variable_name(procedure));
        let span = self.session.syntax.span(place);
        let lambda = self.lambda_node(
            Lambda {
                name,
                parameters,
                rest: None,
                body,
                span,
            },
            place,
        );
        let operator = self.node(Core::Local(procedure), place);
        let call = self.node(
            Core::Call {
                procedure: operator,
                arguments,
            },
            place,
        );
        self.node(
            Core::Letrec {
                bindings: vec![(procedure, lambda)],
                body: call,
            },
            place,
        )
    }

    /// Returns the names and initial values of `((name init) …)`.
    pub(super) fn bindings(&mut self, form: Syntax, bindings: Syntax) -> Result<Vec<(Syntax, Syntax)>, FormError> {
        let mut pairs = Vec::new();
        for binding in self.list_in(form, bindings)? {
            match self.list_in(form, binding)?[..] {
                [name, init] => pairs.push((name, init)),
                _ => return Err(self.malformed_at(form, binding)),
            }
        }
        Ok(pairs)
    }

    /// Binds names in a fresh scope; returns their variables, and the forms with that scope.
    pub(super) fn bound_body(
        &mut self,
        form: Syntax,
        names: &[Syntax],
        body: &[Syntax],
    ) -> Result<(Vec<VariableId>, Vec<Syntax>), FormError> {
        let scope = self.binding_scope();
        let mut seen = BTreeSet::new();
        let mut variables = Vec::with_capacity(names.len());
        for name in names {
            let name = self.session.syntax.add_scope(*name, scope);
            let identifier = self.binder(form, name, &mut seen)?;
            variables.push(self.bind_local(identifier));
        }
        let body = body
            .iter()
            .map(|form| self.session.syntax.add_scope(*form, scope))
            .collect();
        Ok((variables, body))
    }

    fn initial_value(&mut self, form: Syntax, name: Syntax, init: Syntax) -> Result<CoreId, FormError> {
        let identifier = self.identifier_in(form, name)?;
        let name = self.name_of(identifier);
        Ok(self.named_expression(init, name))
    }
}
