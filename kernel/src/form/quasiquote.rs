//! `quasiquote`: templates of data.
//!
//! Owns nested levels, splicing and vectors. Parts without `unquote` stay constants, shared as the
//! reports allow. Among the elements of a list, `unquote` and `unquote-splicing` may have any
//! number of operands, as in R6RS.
//! INVARIANT: a constant part is visited once, however often labels let the template mention it;
//! the size limit of a unit bounds the parts that are code.
//! It does not build syntax (`syntax_case.rs` does for `quasisyntax`).
//! Read next: `quote.rs`.

use std::collections::BTreeSet;

use crate::core::CoreId;
use crate::diagnostic::FormError;
use crate::expander::UnitExpander;
use crate::syntax::{Shape, Syntax};

/// The result of expanding a template part.
enum QuotedPart {
    /// The part itself, a constant.
    Constant(Syntax),
    /// Code that computes the part.
    Code(CoreId),
}

pub(super) fn quasiquote(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let [_, template] = unit.parts(form)?[..] else {
        return Err(unit.malformed(form));
    };
    let part = expand(unit, &mut Known::new(), template, 0)?;
    Ok(code(unit, part))
}

/// The parts known to be constants, each with its quotation level.
type Known = BTreeSet<(Syntax, u32)>;

/// Expands a template inside `level` further quasi-quotations.
fn expand(
    unit: &mut UnitExpander<'_>,
    known: &mut Known,
    template: Syntax,
    level: u32,
) -> Result<QuotedPart, FormError> {
    if known.contains(&(template, level)) {
        return Ok(QuotedPart::Constant(template));
    }
    let part = unit.nested(template, |unit| match unit.session.syntax.shape(template) {
        Shape::Pair(head, _) => pair(unit, known, template, head, level),
        Shape::Vector => {
            let elements = unit.session.syntax.vector(template).unwrap_or_default();
            let elements = unit.session.syntax.make_list(&elements, None, template);
            Ok(match list(unit, known, elements, level)? {
                QuotedPart::Constant(_) => QuotedPart::Constant(template),
                QuotedPart::Code(elements) => {
                    QuotedPart::Code(unit.primitive_call("list->vector", vec![elements], template))
                }
            })
        }
        Shape::Nil | Shape::Identifier(_) | Shape::Atom => Ok(QuotedPart::Constant(template)),
    })?;
    if matches!(part, QuotedPart::Constant(_)) && unit.session.syntax.has_parts(template) {
        known.insert((template, level));
    }
    Ok(part)
}

fn pair(
    unit: &mut UnitExpander<'_>,
    known: &mut Known,
    template: Syntax,
    head: Syntax,
    level: u32,
) -> Result<QuotedPart, FormError> {
    if unit.is_keyword(head, "unquote") {
        let [_, expression] = unit.parts(template)?[..] else {
            return Err(unit.malformed(template));
        };
        return match level {
            0 => Ok(QuotedPart::Code(unit.expression(expression))),
            _ => rebuild(unit, known, template, level - 1),
        };
    }
    if unit.is_keyword(head, "quasiquote") {
        return rebuild(unit, known, template, level + 1);
    }
    if unit.is_keyword(head, "unquote-splicing") && level > 0 {
        return rebuild(unit, known, template, level - 1);
    }
    list(unit, known, template, level)
}

/// Keeps the keyword of a nested form and expands its operands at another level.
fn rebuild(
    unit: &mut UnitExpander<'_>,
    known: &mut Known,
    template: Syntax,
    level: u32,
) -> Result<QuotedPart, FormError> {
    let Some((keyword, operands)) = unit.session.syntax.pair(template) else {
        return Ok(QuotedPart::Constant(template));
    };
    Ok(match list(unit, known, operands, level)? {
        QuotedPart::Constant(_) => QuotedPart::Constant(template),
        QuotedPart::Code(operands) => {
            let keyword = unit.constant(keyword);
            QuotedPart::Code(unit.primitive_call("cons", vec![keyword, operands], template))
        }
    })
}

/// Expands the elements of a list, then its tail, and conses them from the end.
fn list(unit: &mut UnitExpander<'_>, known: &mut Known, template: Syntax, level: u32) -> Result<QuotedPart, FormError> {
    let mut elements = Vec::new();
    let mut rest = template;
    while let Some((first, tail)) = unit.session.syntax.pair(rest) {
        let is_dotted_unquote = !elements.is_empty() && is_tail_form(unit, rest);
        if is_dotted_unquote {
            break;
        }
        if elements.len() > unit.session.syntax.length() as usize {
            return Err(unit.too_large(template));
        }
        elements.push((first, rest));
        rest = tail;
    }
    let mut parts = Vec::with_capacity(elements.len());
    for (element, from_here) in elements {
        match inserted(unit, element, level)? {
            Some((expressions, _)) if expressions.is_empty() => {
                let nothing = unit.session.syntax.make_list(&[], None, element);
                parts.push((QuotedPart::Code(unit.constant(nothing)), true, from_here));
            }
            Some((expressions, is_spliced)) => {
                for expression in expressions {
                    parts.push((QuotedPart::Code(unit.expression(expression)), is_spliced, from_here));
                }
            }
            None => parts.push((expand(unit, known, element, level)?, false, from_here)),
        }
    }
    let mut result = if unit.session.syntax.pair(rest).is_some() {
        expand(unit, known, rest, level)?
    } else {
        QuotedPart::Constant(rest)
    };
    for (part, is_spliced, from_here) in parts.into_iter().rev() {
        result = match (part, result) {
            (QuotedPart::Constant(_), QuotedPart::Constant(_)) => QuotedPart::Constant(from_here),
            (QuotedPart::Code(spliced), QuotedPart::Constant(rest))
                if is_spliced && unit.session.syntax.is_nil(rest) =>
            {
                QuotedPart::Code(spliced)
            }
            (part, result) => {
                let arguments = vec![code(unit, part), code(unit, result)];
                QuotedPart::Code(unit.primitive_call(if is_spliced { "append" } else { "cons" }, arguments, from_here))
            }
        };
    }
    Ok(result)
}

/// Returns whether the rest of a list stands for `. ,expression` or the like.
fn is_tail_form(unit: &mut UnitExpander<'_>, rest: Syntax) -> bool {
    let syntax = &mut unit.session.syntax;
    let Some((head, tail)) = syntax.pair(rest) else {
        return false;
    };
    if syntax.identifier(head).is_none() {
        return false;
    }
    let is_pair_of_two = syntax.pair(tail).is_some_and(|(_, end)| syntax.is_nil(end));
    is_pair_of_two && (unit.is_keyword(head, "unquote") || unit.is_keyword(head, "quasiquote"))
}

/// Returns the expressions whose values replace an element of a list, and whether each value is a
/// list of elements.
fn inserted(
    unit: &mut UnitExpander<'_>,
    element: Syntax,
    level: u32,
) -> Result<Option<(Vec<Syntax>, bool)>, FormError> {
    let Some((head, _)) = unit.session.syntax.pair(element) else {
        return Ok(None);
    };
    let is_spliced = unit.is_keyword(head, "unquote-splicing");
    if level > 0 || !(is_spliced || unit.is_keyword(head, "unquote")) {
        return Ok(None);
    }
    Ok(Some((unit.parts(element)?.split_off(1), is_spliced)))
}

fn code(unit: &mut UnitExpander<'_>, part: QuotedPart) -> CoreId {
    match part {
        QuotedPart::Constant(datum) => unit.constant(datum),
        QuotedPart::Code(code) => code,
    }
}
