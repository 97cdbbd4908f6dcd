//! `define-syntax`, `let-syntax`, `letrec-syntax`: bindings of keywords.
//!
//! Owns what may stand as a transformer: a `syntax-rules` form, a macro use that produces one, or another keyword.

use std::collections::BTreeSet;

use crate::core::{Core, CoreId};
use crate::diagnostic::{DiagnosticKind, Failure};
use crate::expander::{Context, Head, Transformer, UnitExpander, Value};
use crate::syntax::Syntax;
use crate::syntax::binding::Binding;
use crate::syntax::rules::Rules;

pub(super) fn define_syntax(unit: &mut UnitExpander<'_>, context: &mut Context, form: Syntax) -> Result<(), Failure> {
    let [_, name, transformer] = unit.parts(form)?[..] else {
        return Err(unit.malformed(form));
    };
    match unit.transformer(transformer, form) {
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
    let scope = unit.session.syntax.sets.fresh();
    let mut seen = BTreeSet::new();
    for (name, transformer) in unit.bindings(form, bindings)? {
        let name = unit.session.syntax.add_scope(name, scope);
        let identifier = unit.binder(form, name, &mut seen)?;
        let transformer = if is_recursive {
            unit.session.syntax.add_scope(transformer, scope)
        } else {
            transformer
        };
        let binding = unit.transformer(transformer, form)?;
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
    fn transformer(&mut self, transformer: Syntax, place: Syntax) -> Result<Binding, Failure> {
        let mut transformer = transformer;
        if let Some(identifier) = self.session.syntax.identifier(transformer) {
            return match self.resolve(transformer, identifier)? {
                Some(binding @ (Binding::Form(_) | Binding::Macro(_))) => Ok(binding),
                Some(Binding::Local(_) | Binding::Global(_) | Binding::Primitive(_)) | None => {
                    Err(self.failure(transformer, DiagnosticKind::NotATransformer))
                }
            };
        }
        loop {
            match self.head(transformer)? {
                Head::Macro(index, keyword) => transformer = self.rewrite(index, keyword, transformer, None)?,
                Head::Form(row) if row.name == "syntax-rules" => break,
                Head::Form(_) | Head::Expression => {
                    return Err(self.failure(transformer, DiagnosticKind::NotATransformer));
                }
            }
        }
        let auxiliary = self.session.auxiliary();
        match Rules::compile(&mut self.session.syntax, transformer, auxiliary) {
            Some(rules) => Ok(self.add_macro(Transformer::Rules(rules?), place)),
            None => Err(self.malformed(transformer)),
        }
    }
}
