//! `lambda` and `case-lambda`: procedures.
//!
//! Owns parameter lists and clauses.
//! INVARIANT: the parameters of one clause are distinct identifiers.
//! It does not name procedures.
//! Read next: `define.rs`.

use std::collections::BTreeSet;

use crate::core::{Core, CoreId, Lambda, LambdaId};
use crate::datum::Name;
use crate::diagnostic::{DiagnosticKind, FormError};
use crate::expander::UnitExpander;
use crate::syntax::{Identifier, Syntax};

pub(super) fn lambda(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let name = unit.take_name();
    let parts = unit.parts(form)?;
    let [_, formals, ref body @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let lambda = unit.procedure(formals, body, form, name)?;
    Ok(unit.node(Core::Lambda(vec![lambda]), form))
}

pub(super) fn case_lambda(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let name = unit.take_name();
    let mut clauses = Vec::new();
    for clause in &unit.parts(form)?[1..] {
        let parts = unit.list_in(form, *clause)?;
        let [formals, ref body @ ..] = parts[..] else {
            return Err(unit.malformed_at(form, *clause));
        };
        clauses.push(unit.procedure(formals, body, *clause, name.clone())?);
    }
    Ok(unit.node(Core::Lambda(clauses), form))
}

impl UnitExpander<'_> {
    /// Expands one clause of a procedure, whose source is `place`.
    pub(crate) fn procedure(
        &mut self,
        formals: Syntax,
        body: &[Syntax],
        place: Syntax,
        name: Option<Name>,
    ) -> Result<LambdaId, FormError> {
        let scope = self.binding_scope();
        let formals = self.session.syntax.add_scope(formals, scope);
        let (names, tail) = self.session.syntax.split_list(formals);
        let rest = if self.session.syntax.is_nil(tail) {
            None
        } else {
            Some(tail)
        };
        let mut seen = BTreeSet::new();
        let mut variables = Vec::new();
        for name in names.iter().chain(&rest) {
            let identifier = self.binder(place, *name, &mut seen)?;
            variables.push(self.bind_local(identifier));
        }
        let rest = rest.and_then(|_| variables.pop());
        let body: Vec<_> = body
            .iter()
            .map(|form| self.session.syntax.add_scope(*form, scope))
            .collect();
        let body = self.body(&body, place);
        let span = self.session.syntax.span(place);
        Ok(self.add_lambda(Lambda {
            name,
            parameters: variables,
            rest,
            body,
            span,
        }))
    }

    /// Returns the identifier that a form binds; a form may bind each only once.
    pub(crate) fn binder(
        &mut self,
        form: Syntax,
        place: Syntax,
        seen: &mut BTreeSet<Identifier>,
    ) -> Result<Identifier, FormError> {
        let identifier = self.identifier_in(form, place)?;
        if seen.insert(identifier) {
            return Ok(identifier);
        }
        let kind = DiagnosticKind::DuplicateBinding {
            name: self.name_of(identifier),
        };
        Err(self.failure(place, kind))
    }
}
