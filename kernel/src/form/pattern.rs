//! `pattern`: templates for assertions and messages, checked at expansion time.
//!
//! Owns the surface syntax of dataspace patterns:
//!
//! * `_` matches anything; `$name` matches anything and captures it; `($name template)` captures
//!   the value that the template matches;
//! * `(label template …)` matches a record, `#(template …)` a sequence, `(:dict (key template) …)`
//!   a dictionary; further fields are ignored;
//! * `(:exact template)`, of one of these three, matches only if there are no further fields;
//! * `,expression` and `'datum` match one value; so do symbols, numbers, strings, booleans,
//!   keywords and the empty list.
//!
//! The value is a record of the schema `dataspacePatterns`: `<_>`, `<bind pattern>`, `<lit value>`,
//! `<group type entries>`.
//! INVARIANT: the captures of a template have the order in which a match of the pattern lists them.
//! It does not match.
//! Read next: `syntax_case.rs`.

use std::collections::BTreeSet;

use crate::core::{Core, CoreId, Lambda, VariableId};
use crate::datum::{Datum, Name, Node};
use crate::diagnostic::{DiagnosticKind, FormError};
use crate::expander::UnitExpander;
use crate::number::Number;
use crate::syntax::{Shape, Syntax};

/// The topmost constructor of a template.
enum Template {
    Discard,
    Capture(Syntax, Option<Syntax>),
    /// The value of an expression.
    Unquote(Syntax),
    Literal(Syntax),
    Record(Syntax, Vec<Syntax>),
    Sequence(Vec<Syntax>),
    /// The keys and templates of a dictionary.
    Dictionary(Vec<(Syntax, Syntax)>),
    /// One of the previous three, without further entries.
    Exact(Syntax),
}

impl Template {
    /// Returns the number of entries of a compound template.
    fn size(&self) -> Option<usize> {
        match self {
            Self::Record(_, fields) => Some(fields.len()),
            Self::Sequence(elements) => Some(elements.len()),
            Self::Dictionary(entries) => Some(entries.len()),
            Self::Discard | Self::Capture(..) | Self::Unquote(_) | Self::Literal(_) | Self::Exact(_) => None,
        }
    }
}

pub(super) fn pattern(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let [_, template] = unit.parts(form)?[..] else {
        return Err(unit.malformed(form));
    };
    expand(unit, form, template)
}

/// Expands to a procedure of the captures of a template, in order.
pub(super) fn capture_lambda(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let parts = unit.parts(form)?;
    let [_, template, ref body @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let mut captures = Vec::new();
    collect(unit, form, template, &mut captures)?;
    let (variables, body) = bind_captures(unit, &captures, body)?;
    let body = unit.body(&body, form);
    let span = unit.session.syntax.span(form);
    Ok(unit.lambda_node(
        Lambda {
            name: None,
            parameters: variables,
            rest: None,
            body,
            span,
        },
        form,
    ))
}

/// Binds each captured name, which has a `$` in the template and none in the body.
fn bind_captures(
    unit: &mut UnitExpander<'_>,
    captures: &[Syntax],
    body: &[Syntax],
) -> Result<(Vec<VariableId>, Vec<Syntax>), FormError> {
    let scope = unit.binding_scope();
    let mut seen = BTreeSet::new();
    let mut variables = Vec::with_capacity(captures.len());
    for capture in captures {
        let name = Name::from(unit.text_of(*capture).trim_start_matches('$'));
        let scopes = unit.session.syntax.scopes(*capture);
        let identifier = unit.session.syntax.make_identifier(&name, scopes, *capture);
        let identifier = unit.session.syntax.add_scope(identifier, scope);
        let Some(identifier) = unit.session.syntax.identifier(identifier) else {
            continue;
        };
        if !seen.insert(identifier) {
            return Err(unit.failure(*capture, DiagnosticKind::DuplicateBinding { name }));
        }
        variables.push(unit.bind_local(identifier));
    }
    let body = body
        .iter()
        .map(|form| unit.session.syntax.add_scope(*form, scope))
        .collect();
    Ok((variables, body))
}

fn parse(unit: &mut UnitExpander<'_>, form: Syntax, template: Syntax) -> Result<Template, FormError> {
    match unit.session.syntax.shape(template) {
        Shape::Identifier(_) if unit.is_keyword(template, "_") => Ok(Template::Discard),
        Shape::Identifier(_) if is_capture(unit, template) => Ok(Template::Capture(template, None)),
        Shape::Identifier(_) | Shape::Nil | Shape::Atom => Ok(Template::Literal(template)),
        Shape::Vector => Ok(Template::Sequence(
            unit.session.syntax.vector(template).unwrap_or_default(),
        )),
        Shape::Pair(head, _) => {
            let parts = unit.list_in(form, template)?;
            match parts[..] {
                [_, expression] if unit.is_keyword(head, "unquote") => Ok(Template::Unquote(expression)),
                [_, datum] if unit.is_keyword(head, "quote") => Ok(Template::Literal(datum)),
                [_, inner] if is_capture(unit, head) => Ok(Template::Capture(head, Some(inner))),
                [_, inner] if is_keyword_atom(unit, head, "exact") => Ok(Template::Exact(inner)),
                [_, ref entries @ ..] if is_keyword_atom(unit, head, "dict") => dictionary(unit, form, entries),
                [_, ref fields @ ..] if unit.session.syntax.identifier(head).is_some() && !is_capture(unit, head) => {
                    Ok(Template::Record(head, fields.to_vec()))
                }
                _ => Err(unit.malformed_at(form, template)),
            }
        }
    }
}

fn dictionary(unit: &mut UnitExpander<'_>, form: Syntax, entries: &[Syntax]) -> Result<Template, FormError> {
    let mut parsed = Vec::with_capacity(entries.len());
    for entry in entries {
        let [key, template] = unit.list_in(form, *entry)?[..] else {
            return Err(unit.malformed_at(form, *entry));
        };
        parsed.push((key, template));
    }
    Ok(Template::Dictionary(parsed))
}

fn is_capture(unit: &UnitExpander<'_>, syntax: Syntax) -> bool {
    let text = unit.text_of(syntax);
    text.len() > 1 && text.starts_with('$')
}

fn is_keyword_atom(unit: &UnitExpander<'_>, head: Syntax, keyword: &str) -> bool {
    matches!(unit.session.syntax.atom(head), Some(Node::Keyword(name)) if name.as_str() == keyword)
}

fn expand(unit: &mut UnitExpander<'_>, form: Syntax, template: Syntax) -> Result<CoreId, FormError> {
    expand_sized(unit, form, template, false)
}

/// Expands a template; with `is_exact`, it must be a compound, and matches only a compound without
/// further entries.
fn expand_sized(
    unit: &mut UnitExpander<'_>,
    form: Syntax,
    template: Syntax,
    is_exact: bool,
) -> Result<CoreId, FormError> {
    unit.nested(template, |unit| {
        let parsed = parse(unit, form, template)?;
        let size = match parsed.size() {
            None if is_exact => return Err(unit.malformed_at(form, template)),
            size => size.filter(|_| is_exact),
        };
        let size: Vec<CoreId> = size.map(|size| number(unit, size, template)).into_iter().collect();
        Ok(match parsed {
            Template::Exact(inner) => expand_sized(unit, form, inner, true)?,
            Template::Discard => record(unit, "_", vec![], template),
            Template::Capture(_, inner) => {
                let inner = match inner {
                    Some(inner) => expand(unit, form, inner)?,
                    None => record(unit, "_", vec![], template),
                };
                record(unit, "bind", vec![inner], template)
            }
            Template::Unquote(expression) => {
                let value = unit.expression(expression);
                record(unit, "lit", vec![value], template)
            }
            Template::Literal(datum) => {
                let value = unit.constant(datum);
                record(unit, "lit", vec![value], template)
            }
            Template::Record(label, fields) => {
                let label = unit.constant(label);
                let kind = record(unit, "rec", [vec![label], size].concat(), template);
                let keys = indices(unit, fields.len(), template);
                group(unit, form, kind, keys.into_iter().zip(fields).collect(), template)?
            }
            Template::Sequence(elements) => {
                let kind = record(unit, "arr", size, template);
                let keys = indices(unit, elements.len(), template);
                group(unit, form, kind, keys.into_iter().zip(elements).collect(), template)?
            }
            Template::Dictionary(entries) => {
                let kind = record(unit, "dict", size, template);
                let entries = entries
                    .into_iter()
                    .map(|(key, inner)| (unit.constant(key), inner))
                    .collect();
                group(unit, form, kind, entries, template)?
            }
        })
    })
}

fn group(
    unit: &mut UnitExpander<'_>,
    form: Syntax,
    kind: CoreId,
    entries: Vec<(CoreId, Syntax)>,
    place: Syntax,
) -> Result<CoreId, FormError> {
    let mut arguments = Vec::with_capacity(2 * entries.len());
    for (key, template) in entries {
        arguments.push(key);
        arguments.push(expand(unit, form, template)?);
    }
    let entries = unit.primitive_call("dictionary", arguments, place);
    Ok(record(unit, "group", vec![kind, entries], place))
}

fn indices(unit: &mut UnitExpander<'_>, count: usize, place: Syntax) -> Vec<CoreId> {
    (0..count).map(|position| number(unit, position, place)).collect()
}

fn number(unit: &mut UnitExpander<'_>, number: usize, place: Syntax) -> CoreId {
    let number = Node::Number(Number::Fixnum(i64::try_from(number).unwrap_or(i64::MAX)));
    unit.node(Core::Constant(Datum::of(number)), place)
}

fn record(unit: &mut UnitExpander<'_>, label: &str, fields: Vec<CoreId>, place: Syntax) -> CoreId {
    let label = unit.node(Core::Constant(Datum::of(Node::Symbol(Name::from(label)))), place);
    let arguments = std::iter::once(label).chain(fields).collect();
    unit.primitive_call("record", arguments, place)
}

/// Collects the captures of a template in the order in which a match of the pattern lists them.
fn collect(
    unit: &mut UnitExpander<'_>,
    form: Syntax,
    template: Syntax,
    captures: &mut Vec<Syntax>,
) -> Result<(), FormError> {
    unit.nested(template, |unit| {
        let inner = match parse(unit, form, template)? {
            Template::Discard | Template::Unquote(_) | Template::Literal(_) => Vec::new(),
            Template::Capture(name, inner) => {
                captures.push(name);
                inner.into_iter().collect()
            }
            Template::Exact(inner) => vec![inner],
            Template::Record(_, fields) => fields,
            Template::Sequence(elements) => elements,
            Template::Dictionary(entries) => entries.into_iter().map(|(_, template)| template).collect(),
        };
        inner
            .into_iter()
            .try_for_each(|template| collect(unit, form, template, captures))
    })
}
