//! `syntax-case`, `with-syntax`, `syntax` and `quasisyntax`: the forms of procedural macros.
//!
//! Owns their translation to calls of the primitives that match patterns and fill templates. The
//! match of a pattern variable is the value of an ordinary variable: a syntax object, or a list of
//! syntax objects for each ellipsis.
//! INVARIANT: patterns and templates are compiled at expansion time; the generated code refers to
//! them by name.
//! It does not match or fill (`transformer/operation.rs`).
//! Read next: `syntax/procedural.rs`.
//!
//! Source: R6RS, libraries, chapter 12; Dybvig, "Writing Hygienic Macros in Scheme with
//! Syntax-Case", 1992.

use crate::core::{Core, CoreId, Lambda, VariableId};
use crate::datum::{Datum, Name, Node};
use crate::diagnostic::{DiagnosticKind, FormError};
use crate::expander::{PatternVariable, UnitExpander};
use crate::number::Number;
use crate::syntax::binding::Binding;
use crate::syntax::procedural::Constant;
use crate::syntax::rules::Conventions;
use crate::syntax::rules::pattern::{LIMIT_DEPTH, Pattern};
use crate::syntax::rules::template::{Multiplicity, Template, Variables};
use crate::syntax::scope::ScopeSet;
use crate::syntax::{Identifier, Shape, Syntax};

/// A clause with its parts expanded.
struct Clause {
    /// Code for the pattern's name.
    pattern: CoreId,
    /// The variables for its matches, in order.
    variables: Vec<VariableId>,
    fender: Option<CoreId>,
    output: CoreId,
    place: Syntax,
}

pub(super) fn syntax_case(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let parts = unit.parts(form)?;
    let [_, expression, literals, ref clauses @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let mut literal_identifiers = Vec::new();
    for literal in unit.list_in(form, literals)? {
        literal_identifiers.push(unit.identifier_in(form, literal)?);
    }
    let conventions = Conventions::standard(unit.session.auxiliary(), literal_identifiers);
    let value = unit.expression(expression);
    let input = unit.temporary("form");
    let mut expanded = Vec::with_capacity(clauses.len());
    for clause in clauses {
        let parts = unit.list_in(form, *clause)?;
        let (pattern, fender, output) = match parts[..] {
            [pattern, output] => (pattern, None, output),
            [pattern, fender, output] => (pattern, Some(fender), output),
            _ => return Err(unit.malformed_at(form, *clause)),
        };
        expanded.push(unit.nested(*clause, |unit| {
            let (pattern, variables, bodies) = bind_pattern(unit, &conventions, pattern, &[Some(output), fender])?;
            let fender = bodies.get(1).map(|fender| unit.expression(*fender));
            Ok(Clause {
                pattern,
                variables,
                fender,
                output: unit.expression(bodies[0]),
                place: *clause,
            })
        })?);
    }
    Ok(dispatch(unit, input, value, expanded, form))
}

pub(super) fn with_syntax(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let parts = unit.parts(form)?;
    let [_, bindings, ref body @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let (patterns, values): (Vec<_>, Vec<_>) = unit.bindings(form, bindings)?.into_iter().unzip();
    let values: Vec<_> = values.iter().map(|value| unit.expression(*value)).collect();
    let value = unit.primitive_call("list", values, form);
    let input = unit.temporary("forms");
    let pattern = unit.session.syntax.make_list(&patterns, None, form);
    let conventions = Conventions::standard(unit.session.auxiliary(), Vec::new());
    let bodies: Vec<_> = body.iter().map(|form| Some(*form)).collect();
    let (pattern, variables, body) = bind_pattern(unit, &conventions, pattern, &bodies)?;
    let clause = Clause {
        pattern,
        variables,
        fender: None,
        output: unit.body(&body, form),
        place: form,
    };
    Ok(dispatch(unit, input, value, vec![clause], form))
}

/// Compiles a pattern and binds its variables in a fresh scope; returns code for its name, their
/// variables, and the forms with that scope.
fn bind_pattern(
    unit: &mut UnitExpander<'_>,
    conventions: &Conventions,
    pattern: Syntax,
    forms: &[Option<Syntax>],
) -> Result<(CoreId, Vec<VariableId>, Vec<Syntax>), FormError> {
    let compiled = Pattern::compile(&mut unit.session.syntax, conventions, pattern)?;
    let scope = unit.binding_scope();
    let mut variables = Vec::with_capacity(compiled.variables.len());
    for variable in &compiled.variables {
        let Identifier { symbol, scopes } = variable.identifier;
        let scopes = unit.session.syntax.sets.insert(scopes, scope);
        let identifier = Identifier { symbol, scopes };
        let multiplicity = Multiplicity::Repeated(variable.depth);
        variables.push(bind_variable(unit, identifier, multiplicity));
    }
    let pattern = unit.syntax_constant(Constant::Pattern(compiled), pattern);
    let forms = forms.iter().flatten();
    let forms = forms.map(|form| unit.session.syntax.add_scope(*form, scope)).collect();
    Ok((pattern, variables, forms))
}

fn bind_variable(unit: &mut UnitExpander<'_>, identifier: Identifier, multiplicity: Multiplicity) -> VariableId {
    let name = unit.name_of(identifier);
    let variable = unit.temporary(name.as_str());
    let pattern_variable = PatternVariable {
        symbol: identifier.symbol,
        unit: unit.number(),
        variable,
        multiplicity,
    };
    let table = &mut unit.session.pattern_variables;
    table.push(pattern_variable);
    let number = u32::try_from(table.len() - 1).unwrap_or(u32::MAX);
    unit.session.syntax.bind(identifier, Binding::Pattern(number));
    variable
}

/// Makes code that tries clauses in order.
fn dispatch(
    unit: &mut UnitExpander<'_>,
    input: VariableId,
    value: CoreId,
    clauses: Vec<Clause>,
    place: Syntax,
) -> CoreId {
    let argument = unit.node(Core::Local(input), place);
    let mut rest = unit.primitive_call("%syntax-no-match", vec![argument], place);
    for clause in clauses.into_iter().rev() {
        rest = clause_code(unit, input, clause, rest);
    }
    let bindings = vec![(input, value)];
    unit.node(Core::Let { bindings, body: rest }, place)
}

fn clause_code(unit: &mut UnitExpander<'_>, input: VariableId, clause: Clause, rest: CoreId) -> CoreId {
    let Clause {
        pattern,
        variables,
        fender,
        output,
        place,
    } = clause;
    // With a fender, two paths lead to the clauses after this one.
    let (rest, retry, next) = match fender {
        None => (rest, rest, None),
        Some(_) => {
            let next = unit.temporary("next");
            let lambda = Lambda {
                name: None,
                parameters: Vec::new(),
                rest: None,
                body: rest,
                span: unit.session.syntax.span(place),
            };
            let lambda = unit.lambda_node(lambda, place);
            (call(unit, next, place), call(unit, next, place), Some((next, lambda)))
        }
    };
    let output = match fender {
        None => output,
        Some(fender) => unit.conditional(fender, output, retry, place),
    };
    let matched = unit.temporary("matched");
    let argument = unit.node(Core::Local(input), place);
    let matching = unit.primitive_call("%syntax-match", vec![pattern, argument], place);
    let values = (0..).zip(&variables).map(|(index, variable)| {
        let vector = unit.node(Core::Local(matched), place);
        let index = unit.node(Core::Constant(Datum::of(Node::Number(Number::Fixnum(index)))), place);
        (*variable, unit.primitive_call("vector-ref", vec![vector, index], place))
    });
    let bindings: Vec<_> = values.collect();
    let body = if bindings.is_empty() {
        output
    } else {
        unit.node(Core::Let { bindings, body: output }, place)
    };
    let test = unit.node(Core::Local(matched), place);
    let body = unit.conditional(test, body, rest, place);
    let bindings = next.into_iter().chain([(matched, matching)]);
    bindings.rev().fold(body, |body, binding| {
        let bindings = vec![binding];
        unit.node(Core::Let { bindings, body }, place)
    })
}

fn call(unit: &mut UnitExpander<'_>, procedure: VariableId, place: Syntax) -> CoreId {
    let procedure = unit.node(Core::Local(procedure), place);
    let arguments = Vec::new();
    unit.node(Core::Call { procedure, arguments }, place)
}

pub(super) fn syntax(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let [_, template] = unit.parts(form)?[..] else {
        return Err(unit.malformed(form));
    };
    fill(unit, template, form)
}

/// Makes code that fills a template with the matches of the pattern variables around it.
fn fill(unit: &mut UnitExpander<'_>, template: Syntax, form: Syntax) -> Result<CoreId, FormError> {
    let conventions = Conventions::standard(unit.session.auxiliary(), Vec::new());
    let table = &unit.session.pattern_variables;
    let multiplicity = |number: u32| table[number as usize].multiplicity;
    let mut variables = Variables::Visible {
        multiplicity: &multiplicity,
        met: Vec::new(),
        local: &unit.local_scopes,
    };
    let compiled = Template::compile(&mut unit.session.syntax, &conventions, &mut variables, template)?;
    let met = match variables {
        Variables::Visible { met, .. } => met,
        Variables::Of(_) => Vec::new(),
    };
    let met: Vec<_> = met.iter().map(|number| table[*number as usize]).collect();
    let depths = met.iter().map(|variable| variable.multiplicity.depth()).collect();
    let mut arguments = vec![unit.syntax_constant(Constant::Template(compiled, depths), template)];
    for PatternVariable {
        unit: owner,
        variable,
        symbol,
        ..
    } in met
    {
        if owner != unit.number() {
            let kind = DiagnosticKind::OutOfPhase {
                name: unit.session.syntax.symbols.name(symbol).clone(),
                is_used_for_syntax: true,
            };
            return Err(unit.failure(template, kind));
        }
        arguments.push(unit.node(Core::Local(variable), template));
    }
    Ok(unit.primitive_call("%syntax-fill", arguments, form))
}

pub(super) fn quasisyntax(unit: &mut UnitExpander<'_>, form: Syntax) -> Result<CoreId, FormError> {
    let [_, template] = unit.parts(form)?[..] else {
        return Err(unit.malformed(form));
    };
    let mut inserted = Vec::new();
    let template = replace(unit, template, 0, &mut inserted)?;
    let body = fill(unit, template, form)?;
    Ok(if inserted.is_empty() {
        body
    } else {
        let bindings = inserted;
        unit.node(Core::Let { bindings, body }, form)
    })
}

/// Replaces the expressions in a quasi-template, inside `level` further ones, by pattern variables.
fn replace(
    unit: &mut UnitExpander<'_>,
    template: Syntax,
    level: u32,
    inserted: &mut Vec<(VariableId, CoreId)>,
) -> Result<Syntax, FormError> {
    unit.nested(template, |unit| match unit.session.syntax.shape(template) {
        Shape::Nil | Shape::Identifier(_) | Shape::Atom => Ok(template),
        Shape::Vector => {
            let elements = unit.session.syntax.vector(template).unwrap_or_default();
            let elements = replace_elements(unit, &elements, level, inserted)?;
            Ok(unit.session.syntax.make_vector_like(elements, template))
        }
        Shape::Pair(head, _) => {
            let (elements, tail) = unit.session.syntax.split_list(template);
            if unit.session.syntax.pair(tail).is_some() {
                return Err(unit.failure(template, DiagnosticKind::TooDeep { limit: LIMIT_DEPTH }));
            }
            let leaves = unit.is_keyword(head, "unsyntax") || unit.is_keyword(head, "unsyntax-splicing");
            if leaves && level == 0 {
                return match unit.parts(template)?[..] {
                    [_, expression] if unit.is_keyword(head, "unsyntax") => {
                        Ok(insert(unit, expression, Multiplicity::Repeated(0), inserted))
                    }
                    _ => Err(unit.malformed(template)),
                };
            }
            let enters = unit.is_keyword(head, "quasisyntax");
            let level = level + u32::from(enters) - u32::from(leaves);
            // `(a . #,b)` reads as `(a unsyntax b)`.
            let before_tail = elements.len().saturating_sub(2);
            if before_tail > 0 && unit.session.syntax.is_nil(tail) && unit.is_keyword(elements[before_tail], "unsyntax")
            {
                let first = replace_elements(unit, &elements[..before_tail], level, inserted)?;
                let rest = unit.session.syntax.make_list(&elements[before_tail..], None, template);
                let rest = replace(unit, rest, level, inserted)?;
                return Ok(unit.session.syntax.make_list(&first, Some(rest), template));
            }
            let elements = replace_elements(unit, &elements, level, inserted)?;
            let tail = replace(unit, tail, level, inserted)?;
            Ok(unit.session.syntax.make_list(&elements, Some(tail), template))
        }
    })
}

fn replace_elements(
    unit: &mut UnitExpander<'_>,
    elements: &[Syntax],
    level: u32,
    inserted: &mut Vec<(VariableId, CoreId)>,
) -> Result<Vec<Syntax>, FormError> {
    let mut replaced = Vec::with_capacity(elements.len());
    for element in elements {
        let head = unit.session.syntax.pair(*element).map(|(head, _)| head);
        if level == 0 && head.is_some_and(|head| unit.is_keyword(head, "unsyntax-splicing")) {
            let [_, expression] = unit.parts(*element)?[..] else {
                return Err(unit.malformed(*element));
            };
            replaced.push(insert(unit, expression, Multiplicity::Spliced, inserted));
        } else {
            replaced.push(replace(unit, *element, level, inserted)?);
        }
    }
    Ok(replaced)
}

/// Makes a fresh pattern variable that matches the value of an expression.
fn insert(
    unit: &mut UnitExpander<'_>,
    expression: Syntax,
    multiplicity: Multiplicity,
    inserted: &mut Vec<(VariableId, CoreId)>,
) -> Syntax {
    let value = unit.expression(expression);
    let name = Name::from("inserted");
    let scope = unit.session.syntax.sets.fresh();
    let scopes = unit.session.syntax.sets.insert(ScopeSet::EMPTY, scope);
    let place = unit.session.syntax.make_identifier(&name, scopes, expression);
    let symbol = unit.session.syntax.symbols.intern(&name);
    inserted.push((bind_variable(unit, Identifier { symbol, scopes }, multiplicity), value));
    place
}
