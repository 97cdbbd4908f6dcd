//! `define-syntax`, `let-syntax`, `letrec-syntax`: bindings of keywords.
//!
//! Owns what may stand as a transformer: a `syntax-rules` form, a macro use that produces one, another keyword, or an expression that is
//! evaluated while the program is expanded; and `begin-for-syntax`, which defines what such expressions use.

use std::collections::BTreeSet;

use crate::core::{Core, CoreId, Lambda};
use crate::datum::Name;
use crate::diagnostic::{DiagnosticKind, Failure};
use crate::expander::{Context, Head, Transformer, UnitExpander, Value};
use crate::syntax::Syntax;
use crate::syntax::binding::Binding;
use crate::syntax::procedural::{Constant, Evaluated};
use crate::syntax::rules::Rules;

pub(super) fn define_syntax(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), Failure> {
    let [_, name, transformer] = unit.parts(form)?[..] else {
        return Err(unit.malformed(form));
    };
    let keyword = unit.identifier_in(form, name)?;
    let keyword = unit.name_of(keyword);
    match unit.transformer(transformer, &keyword, form) {
        Ok(binding) => unit.define_keyword(context, (form, name), binding),
        Err(failure) => {
            // Uses of the keyword should not be errors too.
            let target = unit.define_variable(context, form, name)?;
            let nothing = unit.node(Core::Unspecified, form);
            context.define(target, Value::Ready(nothing), form);
            Err(failure)
        }
    }
}

/// `(begin-for-syntax form …)`: definitions for the code that runs at expansion time.
pub(super) fn begin_for_syntax(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
) -> Result<(), Failure> {
    let name = Name::from("begin-for-syntax");
    if !context.is_top_level() {
        return Err(unit.failure(form, DiagnosticKind::NotAtTopLevel { name }));
    }
    if !unit.session.can_run_transformers() {
        return Err(unit.failure(form, DiagnosticKind::NotATransformer));
    }
    let forms = unit.parts(form)?.split_off(1);
    unit.evaluate_for_syntax((&name, form), |unit| unit.top_level(&forms))
        .map(drop)
}

/// `syntax-rules` where a value is needed: a procedure.
pub(super) fn rules_expression(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, Failure> {
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

pub(super) fn let_syntax(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, Failure> {
    keyword_body(unit, form, false)
}

pub(super) fn letrec_syntax(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, Failure> {
    keyword_body(unit, form, true)
}

fn keyword_body(unit: &mut UnitExpander<'_>, form: Syntax, is_recursive: bool) -> Result<CoreId, Failure> {
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
    Ok(unit.body(&body, form))
}

impl UnitExpander<'_> {
    /// The binding that a transformer expression gives a keyword.
    fn transformer(&mut self, transformer: Syntax, name: &Name, place: Syntax) -> Result<Binding, Failure> {
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

    fn rules(&mut self, form: Syntax) -> Result<Rules, Failure> {
        let auxiliary = self.session.auxiliary();
        match Rules::compile(&mut self.session.syntax, form, auxiliary) {
            Some(rules) => rules,
            None => Err(self.malformed(form)),
        }
    }

    /// The macro whose transformer an expression evaluates to at expansion time.
    fn evaluated_transformer(&mut self, expression: Syntax, name: &Name, place: Syntax) -> Result<Binding, Failure> {
        if !self.session.can_run_transformers() {
            return Err(self.failure(expression, DiagnosticKind::NotATransformer));
        }
        let evaluated = self.evaluate_for_syntax((name, expression), |unit| {
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
