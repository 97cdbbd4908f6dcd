//! Records: instances of record types, and dataspace records, which have a label instead of a type.
//!
//! INVARIANT: only `%make-record` makes instances of a record type.
//! It does not define the procedures of `define-record-type`, which are Scheme over the primitives
//! with a `%`.
//! Read next: `primitive/dictionary.rs`.

use super::PrimitiveError;
use super::argument::{index_at, list_at, object_at, symbol_at, wrong_type};
use super::cost;
use crate::heap::kind::{record, record_type};
use crate::heap::{Heap, Kind};
use crate::value::Value;

primitives! {
    /// Makes a record type, different from every other, with a name and a list of the names of its
    /// fields, all symbols.
    /// Fails with `wrong-type` if they are not.
    "%make-record-type" "name field-names" [2, 2] counted => |context, arguments| {
        let name = symbol_at(context.heap, arguments, 0)?;
        let field_names = list_at(context.heap, arguments, 1)?;
        if field_names.iter().any(|name| !context.heap.is_symbol(*name)) {
            return Err(wrong_type(1, "a list of symbols"));
        }
        let field_names = context.heap.make(Kind::Vector, &field_names)?;
        Ok(context.heap.make_record_type(name, field_names, Value::FALSE)?)
    };

    /// Makes an instance of a record type with these field values, in order.
    /// Fails with `wrong-type` if the first argument is not a record type, with
    /// `wrong-number-of-fields` if there are more or fewer values than fields.
    "%make-record" "record-type value …" [1, _] (cost::arguments) => |context, arguments| {
        let record_type = type_at(context.heap, arguments, 0)?;
        let count = field_count(context.heap, record_type);
        if arguments.len() - 1 != count {
            let name = type_name(context.heap, record_type);
            return Err(PrimitiveError::Condition {
                kind: "wrong-number-of-fields",
                message: format!(
                    "a record of type `{name}` has {}, not {}",
                    fields(count),
                    arguments.len() - 1
                ),
                irritants: vec![record_type],
            });
        }
        Ok(context.heap.make_record(record_type, &arguments[1..])?)
    };

    /// Returns whether the first argument is an instance of the record type.
    /// Fails with `wrong-type` if the second is not a record type.
    "%record?" "object record-type" [2, 2] free => |context, arguments| {
        let record_type = type_at(context.heap, arguments, 1)?;
        Ok(Value::boolean(context.heap.is_instance(arguments[0], record_type)))
    };

    /// Returns the value of the field at index `k` of an instance of a record type.
    /// Fails with `wrong-type`, naming the record type, if the first argument is not an instance of
    /// it, with `out-of-range` if there is no such field.
    "%record-ref" "record record-type k" [3, 3] free => |context, arguments| {
        let place = field_at(context.heap, arguments)?;
        Ok(context.heap.field(arguments[0], place))
    };

    /// Replaces the value of the field at index `k` of an instance of a record type.
    /// Fails with `wrong-type`, naming the record type, if the first argument is not an instance of
    /// it, with `out-of-range` if there is no such field.
    "%record-set!" "record record-type k object" [4, 4] free => |context, arguments| {
        let place = field_at(context.heap, arguments)?;
        context.heap.set_field(arguments[0], place, arguments[3]);
        Ok(Value::UNSPECIFIED)
    };

    /// Does nothing. A call of it at the top level of a changed text says how the records of a type
    /// that a run has made become records of the new text: the procedure takes the values of these
    /// fields of an old record.
    "%migrate-records" "type-name field-names procedure" [3, 3] free => |_, _| Ok(Value::UNSPECIFIED);

    /// Makes an immutable dataspace record with a label and fields.
    /// Fails with `wrong-type` if the label is a record type.
    "record" "label field …" [1, _] (cost::arguments) => |context, arguments| {
        if context.heap.is_kind(arguments[0], Kind::RecordType) {
            return Err(wrong_type(0, "a label, not a record type"));
        }
        Ok(context.heap.make_record(arguments[0], &arguments[1..])?)
    };

    /// Returns whether the first argument is a dataspace record with this label and this number of
    /// fields.
    "%labelled?" "object label count" [3, 3] free => |context, arguments| {
        Ok(Value::boolean(is_like(context.heap, arguments)))
    };

    /// Returns the field at index `k` of a dataspace record with this label and number of fields.
    /// Fails with `wrong-type`, naming the label, if the first argument is not one, with
    /// `out-of-range` if there is no such field.
    "%labelled-ref" "record label count k" [4, 4] free => |context, arguments| {
        let heap = &*context.heap;
        if !is_like(heap, arguments) {
            let label = heap.symbol_name(symbol_at(heap, arguments, 1)?);
            let count = arguments[2].as_fixnum().and_then(|count| usize::try_from(count).ok());
            let expected = format!("a record `{label}` with {}", fields(count.unwrap_or(0)));
            return Err(PrimitiveError::NotTheRecord { expected });
        }
        let index = index_at(heap, arguments, 3, heap.record_length(arguments[0]))?;
        Ok(heap.field(arguments[0], record::FIELDS + index))
    };

    /// Returns whether the argument is a dataspace record.
    "record?" "object" [1, 1] free => |context, arguments| Ok(Value::boolean(is_labelled(context.heap, arguments[0])));

    /// Returns the label of a dataspace record.
    /// Fails with `wrong-type` if the argument is not one.
    "record-label" "record" [1, 1] free => |context, arguments| {
        let record = record_at(context.heap, arguments)?;
        Ok(context.heap.record_label(record))
    };

    /// Makes a list of the fields of a dataspace record.
    /// Fails with `wrong-type` if the argument is not one.
    "record-fields" "record" [1, 1] (cost::listed) => |context, arguments| {
        let record = record_at(context.heap, arguments)?;
        let mut fields = Value::NIL;
        for place in (0..context.heap.record_length(record)).rev() {
            fields = context.heap.cons(context.heap.field(record, record::FIELDS + place), fields)?;
        }
        Ok(fields)
    };

    /// Returns the field at index `k`, from 0, of a dataspace record.
    /// Fails with `wrong-type` if the arguments are not a dataspace record and an exact integer,
    /// with `out-of-range` if there is no such field.
    "record-field" "record k" [2, 2] free => |context, arguments| {
        let record = record_at(context.heap, arguments)?;
        let index = index_at(context.heap, arguments, 1, context.heap.record_length(record))?;
        Ok(context.heap.field(record, record::FIELDS + index))
    };

    /// Returns the number of fields of a dataspace record, without the label.
    /// Fails with `wrong-type` if the argument is not one.
    "record-length" "record" [1, 1] free => |context, arguments| {
        let record = record_at(context.heap, arguments)?;
        Ok(Value::length(context.heap.record_length(record)))
    };
}

/// Returns whether `arguments[0]` is a dataspace record with the label `arguments[1]` and
/// `arguments[2]` fields.
/// A number of fields in words.
fn fields(count: usize) -> String {
    match count {
        1 => "1 field".to_owned(),
        count => format!("{count} fields"),
    }
}

fn is_like(heap: &Heap, arguments: &[Value]) -> bool {
    let [object, label, count, ..] = *arguments else {
        return false;
    };
    is_labelled(heap, object)
        && heap.record_label(object) == label
        && Value::length(heap.record_length(object)) == count
}

fn type_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Value, PrimitiveError> {
    object_at(heap, arguments, argument, Kind::RecordType, "a record type")
}

fn field_count(heap: &Heap, record_type: Value) -> usize {
    heap.object_length(heap.field(record_type, record_type::FIELD_NAMES))
}

fn type_name(heap: &Heap, record_type: Value) -> String {
    heap.symbol_name(heap.field(record_type, record_type::NAME))
}

/// Returns the place, among the words of the record `arguments[0]` of type `arguments[1]`, of its
/// field at index `arguments[2]`.
fn field_at(heap: &Heap, arguments: &[Value]) -> Result<usize, PrimitiveError> {
    let record_type = type_at(heap, arguments, 1)?;
    if !heap.is_instance(arguments[0], record_type) {
        let expected = format!("a record of type `{}`", type_name(heap, record_type));
        return Err(PrimitiveError::NotTheRecord { expected });
    }
    let index = index_at(heap, arguments, 2, heap.record_length(arguments[0]))?;
    Ok(record::FIELDS + index)
}

fn is_labelled(heap: &Heap, value: Value) -> bool {
    heap.is_kind(value, Kind::Record) && heap.is_labelled(value)
}

/// Returns `arguments[0]`, which must be a dataspace record.
fn record_at(heap: &Heap, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    if is_labelled(heap, arguments[0]) {
        Ok(arguments[0])
    } else {
        Err(wrong_type(0, "a dataspace record"))
    }
}
