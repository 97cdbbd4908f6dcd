//! The primitives on syntax objects, at expansion time.
//!
//! INVARIANT: an operation reads and extends the expander's store and allocates in the heap; it
//! changes no existing object.
//! It does not document them: `primitive/syntax.rs` is the table of their names, arguments and
//! docstrings.
//! Read next: `transformer/convert.rs`.

use super::convert::{self, Element, Unconvertible};
use crate::code::CodeSpace;
use crate::datum::Name;
use crate::heap::{Heap, HeapFull, Kind};
use crate::printer::write_limited;
use crate::syntax::procedural::{Constant, Constants, Expanding, TransformerFault};
use crate::syntax::scope::ScopeSet;
use crate::syntax::{Identifier, Syntax};
use crate::value::{Immediate, Value};

/// What an operation works with.
pub(super) struct OperationContext<'a, 'b> {
    pub(super) heap: &'a mut Heap,
    pub(super) code: &'a CodeSpace,
    pub(super) expanding: &'a mut Expanding<'b>,
    /// The name of the primitive.
    pub(super) name: &'static str,
    pub(super) arguments: &'a [Value],
}

/// The reason why an operation returns no value.
pub(super) enum Stop {
    /// It raises a condition, which the transformer may handle.
    Raise {
        kind: &'static str,
        message: String,
        irritants: Vec<Value>,
    },
    /// It ends the transformer.
    Fault(TransformerFault),
}

pub(super) type Operation = fn(&mut OperationContext<'_, '_>) -> Result<Value, Stop>;

const OPERATIONS: &[(&str, Operation)] = &[
    ("syntax?", is_syntax),
    ("identifier?", is_identifier),
    ("bound-identifier=?", |context| {
        let (first, second) = (context.identifier(0)?, context.identifier(1)?);
        Ok(Value::boolean(first == second))
    }),
    ("free-identifier=?", |context| {
        let (first, second) = (context.identifier(0)?, context.identifier(1)?);
        Ok(Value::boolean(context.expanding.store.is_same_meaning(first, second)))
    }),
    ("syntax->datum", to_datum),
    ("datum->syntax", from_datum),
    ("syntax->list", to_list),
    ("generate-temporaries", generate_temporaries),
    ("make-variable-transformer", |context| {
        if !is_procedure(context.arguments[0]) {
            return Err(context.wrong_type(0, "a procedure"));
        }
        Ok(convert::make_variable_transformer(context.heap, context.arguments[0])?)
    }),
    ("syntax-violation", violation),
    ("%syntax-match", match_pattern),
    ("%syntax-fill", fill_template),
    ("%syntax-rules", apply_rules),
    ("%syntax-no-match", |context| {
        let form = context.syntax(0)?;
        Err(Stop::Fault(TransformerFault::NoMatch(form)))
    }),
];

/// Returns the operation that answers a primitive at expansion time.
pub(super) fn find(name: &str) -> Option<Operation> {
    let row = OPERATIONS.iter().find(|(operation, _)| *operation == name);
    row.map(|(_, operation)| *operation)
}

/// Returns whether a value can be called.
pub(super) fn is_procedure(value: Value) -> bool {
    value.is_procedure_object() || value.is_immediate(Immediate::Primitive)
}

impl From<HeapFull> for Stop {
    fn from(error: HeapFull) -> Stop {
        Stop::Fault(error.into())
    }
}

impl<'b> OperationContext<'_, 'b> {
    /// Names an argument; programs do not see a primitive whose name begins with `%`.
    fn position(&self, argument: usize) -> String {
        let number = argument + 1;
        if self.name.starts_with('%') {
            format!("argument {number}")
        } else {
            format!("argument {number} of {}", self.name)
        }
    }

    fn wrong_type(&self, argument: usize, expected: &str) -> Stop {
        Stop::Raise {
            kind: "wrong-type",
            message: format!("{} must be {expected}", self.position(argument)),
            irritants: vec![self.arguments[argument]],
        }
    }

    fn not_syntax(&self, argument: usize, problem: Unconvertible) -> Stop {
        match problem {
            Unconvertible::TooMuch => Stop::Fault(TransformerFault::TooMuchSyntax),
            Unconvertible::NotSyntax(problem) => {
                let problem = problem.shown(self.heap, self.code);
                Stop::Raise {
                    kind: "not-syntax",
                    message: format!("{} is made of {problem}", self.position(argument)),
                    irritants: vec![self.arguments[argument]],
                }
            }
        }
    }

    /// Returns an argument as syntax, converting pairs and vectors.
    fn syntax(&mut self, argument: usize) -> Result<Syntax, Stop> {
        let made = convert::to_syntax(self.heap, self.arguments[argument], self.expanding, None);
        made.map_err(|problem| self.not_syntax(argument, problem))
    }

    fn identifier_syntax(&self, argument: usize) -> Result<Syntax, Stop> {
        convert::from_value(self.heap, self.arguments[argument])
            .filter(|syntax| self.expanding.store.identifier(*syntax).is_some())
            .ok_or_else(|| self.wrong_type(argument, "an identifier"))
    }

    fn identifier(&self, argument: usize) -> Result<Identifier, Stop> {
        let syntax = self.identifier_syntax(argument)?;
        let identifier = self.expanding.store.identifier(syntax);
        identifier.ok_or_else(|| self.wrong_type(argument, "an identifier"))
    }

    /// Returns the constant that the first argument names.
    fn constant(&self) -> Result<&'b Constant, Stop> {
        let constants: &'b Constants = self.expanding.constants;
        let name = self.arguments[0];
        let constant = if self.heap.is_string(name) {
            constants.get(&self.heap.string_text(name))
        } else {
            None
        };
        constant.ok_or_else(|| self.wrong_type(0, "the name of a pattern or template"))
    }
}

fn is_syntax(context: &mut OperationContext<'_, '_>) -> Result<Value, Stop> {
    let syntax = convert::from_value(context.heap, context.arguments[0]);
    Ok(Value::boolean(syntax.is_some()))
}

fn is_identifier(context: &mut OperationContext<'_, '_>) -> Result<Value, Stop> {
    let syntax = convert::from_value(context.heap, context.arguments[0]);
    let identifier = syntax.and_then(|syntax| context.expanding.store.identifier(syntax));
    Ok(Value::boolean(identifier.is_some()))
}

fn to_datum(context: &mut OperationContext<'_, '_>) -> Result<Value, Stop> {
    let syntax = context.syntax(0)?;
    let datum = context.expanding.store.datum(syntax);
    Ok(context.heap.literal(&datum)?)
}

fn from_datum(context: &mut OperationContext<'_, '_>) -> Result<Value, Stop> {
    let named = context.identifier(0)?;
    let made = convert::to_syntax(
        context.heap,
        context.arguments[1],
        context.expanding,
        Some(named.scopes),
    );
    let syntax = made.map_err(|problem| context.not_syntax(1, problem))?;
    Ok(convert::to_value(context.heap, syntax)?)
}

fn to_list(context: &mut OperationContext<'_, '_>) -> Result<Value, Stop> {
    let syntax = context.syntax(0)?;
    let Some(elements) = context.expanding.store.list(syntax) else {
        return Ok(Value::FALSE);
    };
    let mut values = Vec::with_capacity(elements.len());
    for element in elements {
        values.push(convert::to_value(context.heap, element)?);
    }
    Ok(context.heap.list(&values, Value::NIL)?)
}

fn generate_temporaries(context: &mut OperationContext<'_, '_>) -> Result<Value, Stop> {
    let Some(elements) = convert::elements(context.heap, context.arguments[0], context.expanding) else {
        return Err(context.wrong_type(0, "a list"));
    };
    let mut values = Vec::with_capacity(elements.len());
    for element in elements {
        let like = match element {
            Element::Syntax(syntax) => Some(syntax),
            Element::Value(value) => convert::from_value(context.heap, value),
        };
        let store = &mut *context.expanding.store;
        // The name is only for people; the fresh scope makes the identifier unique.
        let name = like.and_then(|syntax| store.identifier(syntax)).map_or_else(
            || Name::from("temporary"),
            |like| store.symbols.name(like.symbol).clone(),
        );
        let scope = store.sets.fresh();
        let scopes = store.sets.insert(ScopeSet::EMPTY, scope);
        let temporary = store.make_identifier_at(&name, scopes, &context.expanding.step);
        values.push(convert::to_value(context.heap, temporary)?);
    }
    Ok(context.heap.list(&values, Value::NIL)?)
}

fn violation(context: &mut OperationContext<'_, '_>) -> Result<Value, Stop> {
    let text = |value: Value| {
        if context.heap.is_string(value) {
            context.heap.string_text(value)
        } else if context.heap.is_symbol(value) {
            context.heap.symbol_name(value)
        } else {
            write_limited(context.heap, context.code, value, super::SHOWN_CHARACTERS)
        }
    };
    let mut message = text(context.arguments[1]);
    if context.arguments[0].is_true() {
        message.insert_str(0, &format!("{}: ", text(context.arguments[0])));
    }
    let place = match context.arguments.get(3) {
        Some(subform) if subform.is_true() => 3,
        Some(_) | None => 2,
    };
    let form = context.syntax(place).ok();
    Err(Stop::Fault(TransformerFault::Raised {
        message,
        form,
        span: None,
    }))
}

fn match_pattern(context: &mut OperationContext<'_, '_>) -> Result<Value, Stop> {
    let form = context.syntax(1)?;
    let Constant::Pattern(pattern) = context.constant()? else {
        return Err(context.wrong_type(0, "the name of a pattern"));
    };
    let Some(matches) = pattern.matches(context.expanding.store, form) else {
        return Ok(Value::FALSE);
    };
    let mut values = Vec::with_capacity(matches.len());
    for matched in &matches {
        values.push(convert::match_value(context.heap, matched)?);
    }
    Ok(context.heap.make(Kind::Vector, &values)?)
}

fn fill_template(context: &mut OperationContext<'_, '_>) -> Result<Value, Stop> {
    let Constant::Template(template, depths) = context.constant()? else {
        return Err(context.wrong_type(0, "the name of a template"));
    };
    if context.arguments.len() - 1 != depths.len() {
        return Err(context.wrong_type(0, "the name of a template for this many objects"));
    }
    let mut matches = Vec::with_capacity(depths.len());
    for (argument, depth) in (1..).zip(depths) {
        let matched = convert::value_match(context.heap, context.arguments[argument], *depth, context.expanding);
        matches.push(matched.map_err(|problem| context.not_syntax(argument, problem))?);
    }
    let step = context.expanding.step;
    let filled = template.instantiate(context.expanding.store, matches, &step);
    let syntax = filled.map_err(|problem| Stop::Fault(TransformerFault::Template(problem)))?;
    Ok(convert::to_value(context.heap, syntax)?)
}

fn apply_rules(context: &mut OperationContext<'_, '_>) -> Result<Value, Stop> {
    let form = context.syntax(1)?;
    let Constant::Rules(rules) = context.constant()? else {
        return Err(context.wrong_type(0, "the name of rules"));
    };
    let step = context.expanding.step;
    match rules.apply(context.expanding.store, form, &step) {
        Ok(Some(syntax)) => Ok(convert::to_value(context.heap, syntax)?),
        Ok(None) => Err(Stop::Fault(TransformerFault::NoMatch(form))),
        Err(problem) => Err(Stop::Fault(TransformerFault::Template(problem))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_primitive_on_syntax_has_an_operation() {
        let documented: Vec<_> = crate::primitive::syntax::TABLE.iter().map(|row| row.name).collect();
        let performed: Vec<_> = OPERATIONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(performed, documented);
    }
}
