//! `define-record-type`.
//!
//! Owns the definitions that the form stands for: type, constructor, predicate, accessors and
//! modifiers. With `(name :label label)` for the name, the instances are dataspace records.
//! INVARIANT: each of them is an ordinary definition of its context.
//! It does not lay out records in the heap.
//! Read next: `primitive/record.rs`.

use crate::core::{Core, CoreId, Lambda, VariableId};
use crate::datum::{Datum, Name, Node};
use crate::diagnostic::{DiagnosticKind, FormError};
use crate::expander::{Context, DefinitionTarget, UnitExpander, Value};
use crate::number::Number;
use crate::syntax::{Identifier, Syntax};

/// A field: its name, and its accessor and modifier, if given.
struct Field {
    identifier: Identifier,
    name: Syntax,
    accessor: Option<Syntax>,
    modifier: Option<Syntax>,
}

/// A type while its procedures are being defined.
struct RecordType<'a> {
    identifier: Identifier,
    /// The variable that has the type, or the label.
    target: DefinitionTarget,
    /// Whether the instances are dataspace records.
    is_labelled: bool,
    fields: &'a [Field],
}

pub(super) fn define_record_type(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
) -> Result<(), FormError> {
    let parts = unit.parts(form)?;
    let [_, type_name, constructor, predicate, ref fields @ ..] = parts[..] else {
        return Err(unit.malformed(form));
    };
    let fields = fields
        .iter()
        .map(|field| parse_field(unit, form, *field))
        .collect::<Result<Vec<_>, _>>()?;
    require_distinct(unit, &fields)?;
    let (type_name, label) = parse_type(unit, form, type_name)?;
    let type_name = keyword_as_name(unit, form, type_name);
    let type_identifier = unit.identifier_in(form, type_name)?;
    let descriptor = match label {
        Some(label) => {
            if let Some(modifier) = fields.iter().find_map(|field| field.modifier) {
                return Err(unit.failure(modifier, DiagnosticKind::ModifierOfLabelled));
            }
            unit.constant(label)
        }
        None => {
            let names: Vec<_> = fields.iter().map(|field| field.name).collect();
            let names = unit.session.syntax.make_list(&names, None, form);
            let arguments = vec![unit.constant(type_name), unit.constant(names)];
            unit.primitive_call("%make-record-type", arguments, form)
        }
    };
    let own_name = if names_constructor(unit, type_identifier, constructor) {
        let hidden = Name::from(format!("{} type", unit.name_of(type_identifier)).as_str());
        let scopes = unit.session.syntax.scopes(type_name);
        unit.session.syntax.make_identifier(&hidden, scopes, form)
    } else {
        type_name
    };
    let type_target = unit.define_type(context, form, own_name)?;
    context.define(type_target, Value::Ready(descriptor), form);
    let record_type = RecordType {
        identifier: type_identifier,
        target: type_target,
        is_labelled: label.is_some(),
        fields: &fields,
    };
    define_constructor(unit, context, form, constructor, &record_type)?;
    if unit.session.syntax.identifier(predicate).is_some() {
        let name = if label.is_some() { "%labelled?" } else { "%record?" };
        let body = |unit: &mut UnitExpander<'_>, value| {
            let arguments = record_type.operands(unit, value, form);
            unit.primitive_call(name, arguments, form)
        };
        define_procedure(unit, context, Defined::by(form, predicate), body)?;
    } else if !is_false(unit, predicate) {
        return Err(unit.malformed_at(form, predicate));
    }
    for index in 0..fields.len() {
        define_field(unit, context, form, &record_type, index)?;
    }
    Ok(())
}

/// Requires that no two fields have one name.
///
/// Source: R7RS section 5.5.
fn require_distinct(unit: &UnitExpander<'_>, fields: &[Field]) -> Result<(), FormError> {
    for (place, field) in fields.iter().enumerate() {
        if fields[..place].iter().any(|other| other.identifier == field.identifier) {
            let name = unit.name_of(field.identifier);
            return Err(unit.failure(field.name, DiagnosticKind::DuplicateBinding { name }));
        }
    }
    Ok(())
}

/// Separates the name of a type from its label.
fn parse_type(
    unit: &mut UnitExpander<'_>,
    form: Syntax,
    written: Syntax,
) -> Result<(Syntax, Option<Syntax>), FormError> {
    let Some((name, rest)) = unit.session.syntax.pair(written) else {
        return Ok((written, None));
    };
    let rest = unit.list_in(form, rest)?;
    let is_label = |unit: &UnitExpander<'_>, key: Syntax| {
        let Some(Node::Keyword(key)) = unit.session.syntax.atom(key) else {
            return false;
        };
        key.as_str() == "label"
    };
    match rest[..] {
        [] => Ok((name, None)),
        [key, label] if is_label(unit, key) && unit.session.syntax.identifier(label).is_some() => {
            Ok((name, Some(label)))
        }
        _ => Err(unit.malformed_at(form, written)),
    }
}

impl RecordType<'_> {
    /// Makes the arguments that every use of a record has: the record, and what tells its type.
    fn operands(&self, unit: &mut UnitExpander<'_>, record: VariableId, form: Syntax) -> Vec<CoreId> {
        let mut operands = vec![unit.node(Core::Local(record), form), unit.read(self.target, form)];
        if self.is_labelled {
            operands.push(count(unit, self.fields.len(), form));
        }
        operands
    }
}

/// Makes a constant.
fn count(unit: &mut UnitExpander<'_>, number: usize, form: Syntax) -> CoreId {
    let number = Node::Number(Number::Fixnum(i64::try_from(number).unwrap_or(i64::MAX)));
    unit.node(Core::Constant(Datum::of(number)), form)
}

/// Returns whether a type and its constructor have the same name; the name then means the
/// constructor.
fn names_constructor(unit: &mut UnitExpander<'_>, type_identifier: Identifier, constructor: Syntax) -> bool {
    let syntax = &mut unit.session.syntax;
    let name = syntax.pair(constructor).map_or(constructor, |(name, _)| name);
    syntax.identifier(name) == Some(type_identifier)
}

/// Returns the name of a type that is written `:name`, as in SRFI 9: an identifier that only the
/// definition itself can refer to.
fn keyword_as_name(unit: &mut UnitExpander<'_>, form: Syntax, type_name: Syntax) -> Syntax {
    let Some(Node::Keyword(name)) = unit.session.syntax.atom(type_name) else {
        return type_name;
    };
    let name = Name::from(format!(":{name}").as_str());
    let scopes = unit.module.scopes;
    unit.session.syntax.make_identifier(&name, scopes, form)
}

fn parse_field(unit: &mut UnitExpander<'_>, form: Syntax, field: Syntax) -> Result<Field, FormError> {
    let parts = match unit.session.syntax.identifier(field) {
        Some(_) => vec![field],
        None => unit.list_in(form, field)?,
    };
    let [name, ref procedures @ ..] = parts[..] else {
        return Err(unit.malformed_at(form, field));
    };
    let identifier = unit.identifier_in(form, name)?;
    match *procedures {
        [] => Ok(Field {
            identifier,
            name,
            accessor: None,
            modifier: None,
        }),
        [accessor] => Ok(Field {
            identifier,
            name,
            accessor: Some(accessor),
            modifier: None,
        }),
        [accessor, modifier] => Ok(Field {
            identifier,
            name,
            accessor: Some(accessor),
            modifier: Some(modifier),
        }),
        _ => Err(unit.malformed_at(form, field)),
    }
}

/// Defines the constructor: `#f` for none, a name for one that takes every field, or a list of the
/// name and the fields that it takes.
fn define_constructor(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
    constructor: Syntax,
    record_type: &RecordType<'_>,
) -> Result<(), FormError> {
    let fields = record_type.fields;
    if is_false(unit, constructor) {
        return Ok(());
    }
    let (name, taken) = match unit.session.syntax.pair(constructor) {
        Some((name, taken)) => (name, unit.list_in(form, taken)?),
        None => (constructor, fields.iter().map(|field| field.name).collect()),
    };
    let mut parameters = Vec::with_capacity(taken.len());
    let mut values: Vec<Option<VariableId>> = vec![None; fields.len()];
    for field_name in taken {
        let identifier = unit.identifier_in(form, field_name)?;
        let position = fields.iter().position(|field| field.identifier == identifier);
        let text = unit.name_of(identifier);
        let Some(position) = position else {
            let record_type = unit.name_of(record_type.identifier);
            return Err(unit.failure(
                field_name,
                DiagnosticKind::NotAField {
                    name: text,
                    record_type,
                },
            ));
        };
        let parameter = unit.temporary(text.as_str());
        if values[position].replace(parameter).is_some() {
            return Err(unit.failure(field_name, DiagnosticKind::DuplicateBinding { name: text }));
        }
        parameters.push(parameter);
    }
    let mut arguments = vec![unit.read(record_type.target, form)];
    for value in values {
        arguments.push(match value {
            Some(parameter) => unit.node(Core::Local(parameter), form),
            None => unit.node(Core::Unspecified, form),
        });
    }
    let name_of_primitive = if record_type.is_labelled {
        "record"
    } else {
        "%make-record"
    };
    let body = unit.primitive_call(name_of_primitive, arguments, form);
    define_lambda(unit, context, Defined::by(form, name), parameters, body)
}

fn define_field(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    form: Syntax,
    record_type: &RecordType<'_>,
    index: usize,
) -> Result<(), FormError> {
    let field = &record_type.fields[index];
    let operands = |unit: &mut UnitExpander<'_>, record| {
        let mut operands = record_type.operands(unit, record, form);
        operands.push(count(unit, index, form));
        operands
    };
    if let Some(accessor) = field.accessor {
        let name = if record_type.is_labelled {
            "%labelled-ref"
        } else {
            "%record-ref"
        };
        let body = |unit: &mut UnitExpander<'_>, record| {
            let arguments = operands(unit, record);
            unit.primitive_call(name, arguments, form)
        };
        define_procedure(unit, context, Defined::by(form, accessor), body)?;
    }
    let Some(modifier) = field.modifier else { return Ok(()) };
    let (record, value) = (unit.temporary("record"), unit.temporary("value"));
    let mut arguments = operands(unit, record);
    arguments.push(unit.node(Core::Local(value), form));
    let body = unit.primitive_call("%record-set!", arguments, form);
    define_lambda(unit, context, Defined::by(form, modifier), vec![record, value], body)
}

/// A name that a form defines.
#[derive(Clone, Copy)]
struct Defined {
    form: Syntax,
    name: Syntax,
}

impl Defined {
    fn by(form: Syntax, name: Syntax) -> Defined {
        Defined { form, name }
    }
}

/// Defines a procedure of one parameter.
fn define_procedure(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    defined: Defined,
    body: impl FnOnce(&mut UnitExpander<'_>, VariableId) -> CoreId,
) -> Result<(), FormError> {
    let parameter = unit.temporary("record");
    let body = body(unit, parameter);
    define_lambda(unit, context, defined, vec![parameter], body)
}

fn define_lambda(
    unit: &mut UnitExpander<'_>,
    context: &mut Context,
    defined: Defined,
    parameters: Vec<VariableId>,
    body: CoreId,
) -> Result<(), FormError> {
    let Defined { form, name } = defined;
    let identifier = unit.identifier_in(form, name)?;
    let text: Name = unit.name_of(identifier);
    // The span of the whole form, as for the body's nodes, so that an error in an integrated body
    // is shown at its call.
    let span = unit.session.syntax.span(form);
    let lambda = unit.lambda_node(
        Lambda {
            name: Some(text),
            parameters,
            rest: None,
            body,
            span,
        },
        name,
    );
    let target = unit.define_variable(context, form, name)?;
    context.define(target, Value::Ready(lambda), form);
    Ok(())
}

fn is_false(unit: &UnitExpander<'_>, syntax: Syntax) -> bool {
    unit.session.syntax.atom(syntax) == Some(&Node::Boolean(false))
}

impl UnitExpander<'_> {
    /// Makes code that reads a defined variable.
    fn read(&mut self, target: DefinitionTarget, place: Syntax) -> CoreId {
        let core = match target {
            DefinitionTarget::Global(global) => Core::Global(self.global_id(global)),
            DefinitionTarget::Local(variable) => Core::Local(variable),
        };
        self.node(core, place)
    }
}
