//! `define-syntax`, `let-syntax`, `letrec-syntax`: bindings of keywords.
//!
//! Owns the kinds of transformers: a `syntax-rules` form, a macro use that produces one, another
//! keyword, or an expression that is evaluated at expansion time; and `begin-for-syntax`, which
//! defines names for such expressions.
//! INVARIANT: `define-syntax` defines its name even if the transformer has an error.
//! It does not run transformers (`transformer.rs`).
//! Read next: `syntax_case.rs`.

use std::collections::BTreeSet;

use crate::core::{Core, CoreId, Lambda};
use crate::datum::Name;
use crate::diagnostic::{DiagnosticKind, FormError};
use crate::expander::{Context, Head, Transformer, UnitExpander, Value};
use crate::syntax::Syntax;
use crate::syntax::binding::Binding;
use crate::syntax::procedural::{Constant, Evaluated};
use crate::syntax::rules::Rules;
use crate::syntax::scope::Scope;

pub(super) fn define_syntax(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), FormError> {
    let [_, name, transformer] = unit.parts(form)?[..] else {
        return Err(unit.malformed(form));
    };
    let keyword = unit.identifier_in(form, name)?;
    let keyword = unit.name_of(keyword);
    match unit.transformer(transformer, &keyword, form) {
        Ok(binding) => unit.define_keyword(context, form, name, binding),
        Err(failure) => {
            // Define the name all the same, so that its uses are not errors too.
            let target = unit.define_variable(context, form, name)?;
            let nothing = unit.node(Core::Unspecified, form);
            context.define(target, Value::Ready(nothing), form);
            Err(failure)
        }
    }
}

/// Expands `(begin-for-syntax form …)`: definitions for code that runs at expansion time.
pub(super) fn begin_for_syntax(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
) -> Result<(), FormError> {
    let name = Name::from("begin-for-syntax");
    if !context.is_top_level() {
        return Err(unit.failure(form, DiagnosticKind::NotAtTopLevel { name }));
    }
    if !unit.session.can_run_transformers() {
        return Err(unit.failure(form, DiagnosticKind::NotATransformer));
    }
    let forms = unit.parts(form)?.split_off(1);
    unit.evaluate_for_syntax(&name, form, |unit| unit.top_level(&forms))
        .map(drop)
}

/// Expands `syntax-rules` in expression position to a procedure.
pub(super) fn rules_expression(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let rules = unit.rules(form)?;
    let name = unit.syntax_constant(Constant::Rules(rules), form);
    let input = unit.temporary("form");
    let argument = unit.node(Core::Local(input), form);
    let body = unit.primitive_call("%syntax-rules", vec![name, argument], form);
    let lambda = Lambda {
        name: None,
        parameters: vec![input],
        rest: None,
        body,
        span: unit.session.syntax.span(form),
    };
    Ok(unit.lambda_node(lambda, form))
}

pub(super) fn let_syntax(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    keyword_body(unit, form, false)
}

pub(super) fn letrec_syntax(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    keyword_body(unit, form, true)
}

/// Expands `let-syntax` among definitions.
pub(super) fn let_syntax_definition(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
) -> Result<(), FormError> {
    keyword_definitions(unit, context, form, false)
}

/// Expands `letrec-syntax` among definitions.
pub(super) fn letrec_syntax_definition(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
) -> Result<(), FormError> {
    keyword_definitions(unit, context, form, true)
}

fn keyword_body(unit: &mut UnitExpander<'_>, form: Syntax, is_recursive: bool) -> Result<CoreId, FormError> {
    let (_, body) = bind_keywords(unit, form, is_recursive)?;
    Ok(unit.body(&body, form))
}

/// Expands a keyword-binding form among definitions. A body without expressions defines in the
/// surrounding context, as in R6RS.
fn keyword_definitions(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
    is_recursive: bool,
) -> Result<(), FormError> {
    let (scope, body) = bind_keywords(unit, form, is_recursive)?;
    if is_nothing_but_definitions(unit, &body) {
        let outside = unit.session.syntax.sets.insert(context.use_scopes, scope);
        context.splice_from(&body, outside);
    } else {
        context.evaluate(Value::Body(body), form);
    }
    Ok(())
}

/// Binds the keywords; returns their scope, and the body with that scope.
fn bind_keywords(
    unit: &mut UnitExpander<'_>,
    form: Syntax,
    is_recursive: bool,
) -> Result<(Scope, Vec<Syntax>), FormError> {
    let parts = unit.parts(form)?;
    let [_, bindings, ref body @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let scope = unit.binding_scope();
    let mut seen = BTreeSet::new();
    for (name, transformer) in unit.bindings(form, bindings)? {
        let name = unit.session.syntax.add_scope(name, scope);
        let identifier = unit.binder(form, name, &mut seen)?;
        let transformer = if is_recursive {
            unit.session.syntax.add_scope(transformer, scope)
        } else {
            transformer
        };
        let keyword = unit.name_of(identifier);
        let binding = unit.transformer(transformer, &keyword, form)?;
        unit.session.syntax.bind(identifier, binding);
    }
    let body: Vec<_> = body
        .iter()
        .map(|form| unit.session.syntax.add_scope(*form, scope))
        .collect();
    Ok((scope, body))
}

/// Returns whether all forms are definitions, after rewriting the macro uses among them.
///
/// A nested form that binds keywords counts as an expression, so that no form is visited once for
/// each level around it.
fn is_nothing_but_definitions(unit: &mut UnitExpander<'_>, forms: &[Syntax]) -> bool {
    let mut pending = forms.to_vec();
    while let Some(form) = pending.pop() {
        match unit.head(form) {
            Ok(Head::Macro(index, keyword)) => match unit.rewrite(index, keyword, form, None) {
                Ok(rewritten) => pending.push(rewritten),
                Err(_) => return false,
            },
            Ok(Head::Form(row)) => match (row.name, unit.parts(form)) {
                ("begin", Ok(parts)) => pending.extend(&parts[1..]),
                ("let-syntax" | "letrec-syntax" | "include" | "include-ci" | "cond-expand", _) => return false,
                _ if row.definition.is_none() => return false,
                _ => {}
            },
            Ok(Head::Expression) | Err(_) => return false,
        }
    }
    true
}

impl UnitExpander<'_> {
    /// Returns the binding that a transformer expression gives to a keyword.
    fn transformer(&mut self, transformer: Syntax, name: &Name, place: Syntax) -> Result<Binding, FormError> {
        let mut transformer = transformer;
        loop {
            if let Some(identifier) = self.session.syntax.identifier(transformer)
                && let Some(binding @ (Binding::Form(_) | Binding::Macro(_))) = self.resolve(transformer, identifier)?
            {
                return Ok(binding);
            }
            match self.head(transformer)? {
                Head::Macro(index, keyword) => transformer = self.rewrite(index, keyword, transformer, None)?,
                Head::Form(row) if row.name == "syntax-rules" => break,
                Head::Form(_) | Head::Expression => return self.evaluated_transformer(transformer, name, place),
            }
        }
        let rules = self.rules(transformer)?;
        Ok(self.add_macro(Transformer::Rules(rules), place))
    }

    fn rules(&mut self, form: Syntax) -> Result<Rules, FormError> {
        let auxiliary = self.session.auxiliary();
        match Rules::compile(&mut self.session.syntax, form, auxiliary) {
            Some(rules) => rules,
            None => Err(self.malformed(form)),
        }
    }

    /// Evaluates an expression at expansion time; returns its value, a transformer, as a macro.
    fn evaluated_transformer(&mut self, expression: Syntax, name: &Name, place: Syntax) -> Result<Binding, FormError> {
        if !self.session.can_run_transformers() {
            return Err(self.failure(expression, DiagnosticKind::NotATransformer));
        }
        let evaluated = self.evaluate_for_syntax(name, expression, |unit| {
            Some(unit.named_expression(expression, name.clone()))
        })?;
        let (id, rewrites_assignments) = match evaluated {
            Some(Evaluated::Procedure(id)) => (id, false),
            Some(Evaluated::VariableTransformer(id)) => (id, true),
            Some(Evaluated::Other) | None => return Err(self.failure(expression, DiagnosticKind::NotATransformer)),
        };
        let transformer = Transformer::Procedure {
            id,
            rewrites_assignments,
        };
        Ok(self.add_macro(transformer, place))
    }
}
