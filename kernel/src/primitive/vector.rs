//! Vectors.
//!
//! INVARIANT: arguments are checked, and room taken, before anything is changed.
//! It does not map or search.
//! Read next: `primitive/bytevector.rs`.

use super::argument::{copy_at, count_at, index_at, list_at, mutable_at, range_at, vector_at};
use super::cost;
use super::{Context, PrimitiveError};
use crate::heap::Kind;
use crate::value::Value;

primitives! {
    /// Returns whether the argument is a vector.
    "vector?" "object" [1, 1] free => |context, arguments| {
        Ok(Value::boolean(context.heap.is_kind(arguments[0], Kind::Vector)))
    };

    /// Makes a vector of `k` elements, all `fill` (default unspecified).
    /// Fails with `wrong-type` if `k` is not an exact integer, with `out-of-range` if it is
    /// negative.
    "make-vector" "k [fill]" [1, 2] (cost::new_words) => |context, arguments| {
        let length = count_at(context.heap, arguments, 0)?;
        let fill = arguments.get(1).copied().unwrap_or(Value::UNSPECIFIED);
        Ok(context.heap.make_vector(length, fill)?)
    };

    /// Makes a vector of the arguments.
    "vector" "object …" [0, _] (cost::arguments) => |context, arguments| {
        Ok(context.heap.make(Kind::Vector, arguments)?)
    };

    /// Returns the number of elements in a vector, an exact integer.
    /// Fails with `wrong-type` if the argument is not a vector.
    "vector-length" "vector" [1, 1] free => |context, arguments| {
        let vector = vector_at(context.heap, arguments, 0)?;
        Ok(Value::length(context.heap.object_length(vector)))
    };

    /// Returns the element at index `k`, from 0.
    /// Fails with `wrong-type` if the arguments are not a vector and an exact integer, with
    /// `out-of-range` if there is no such element.
    "vector-ref" "vector k" [2, 2] free => |context, arguments| {
        let vector = vector_at(context.heap, arguments, 0)?;
        let index = index_at(context.heap, arguments, 1, context.heap.object_length(vector))?;
        Ok(context.heap.field(vector, index))
    };

    /// Replaces the element at index `k`, from 0.
    /// Fails with `wrong-type` if the first two arguments are not a vector and an exact integer,
    /// with `out-of-range` if there is no such element, with `immutable` if the vector is a
    /// literal.
    "vector-set!" "vector k object" [3, 3] free => |context, arguments| {
        let vector = vector_at(context.heap, arguments, 0)?;
        let index = index_at(context.heap, arguments, 1, context.heap.object_length(vector))?;
        mutable_at(context.heap, arguments, 0)?;
        context.heap.set_field(vector, index, arguments[2]);
        Ok(Value::UNSPECIFIED)
    };

    /// Makes a list of the elements from index `start` (default 0) up to `end`, exclusive (default:
    /// the length).
    /// Fails with `wrong-type` if the arguments are not a vector and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "vector->list" "vector [start [end]]" [1, 3] (cost::listed) => |context, arguments| {
        let vector = vector_at(context.heap, arguments, 0)?;
        let range = range_at(context.heap, arguments, 1, context.heap.object_length(vector))?;
        let mut list = Value::NIL;
        for place in range.rev() {
            list = context.heap.cons(context.heap.field(vector, place), list)?;
        }
        Ok(list)
    };

    /// Makes a vector of the elements of a list.
    /// Fails with `wrong-type` if the argument is not a proper list.
    "list->vector" "list" [1, 1] counted => |context, arguments| {
        let elements = list_at(context.heap, arguments, 0)?;
        context.heap.spend(elements.len() as u64 / (2 * cost::PAIRS))?;
        Ok(context.heap.make(Kind::Vector, &elements)?)
    };

    /// Replaces the elements from index `start` (default 0) up to `end`, exclusive (default: the
    /// length), with `fill`.
    /// Fails with `wrong-type` if the arguments are not a vector and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length, with `immutable` if the vector is a
    /// literal.
    "vector-fill!" "vector fill [start [end]]" [2, 4] (cost::words_filled) => |context, arguments| {
        let vector = vector_at(context.heap, arguments, 0)?;
        let range = range_at(context.heap, arguments, 2, context.heap.object_length(vector))?;
        mutable_at(context.heap, arguments, 0)?;
        context.heap.fill_fields(vector, range.start, range.len(), arguments[1]);
        Ok(Value::UNSPECIFIED)
    };

    /// Makes a vector of the elements from index `start` (default 0) up to `end`, exclusive
    /// (default: the length).
    /// Fails with `wrong-type` if the arguments are not a vector and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "vector-copy" "vector [start [end]]" [1, 3] (cost::words) => |context, arguments| {
        let vector = vector_at(context.heap, arguments, 0)?;
        let range = range_at(context.heap, arguments, 1, context.heap.object_length(vector))?;
        let copy = context.heap.allocate(Kind::Vector, range.len())?;
        context.heap.copy_fields(vector, range.start, copy, 0, range.len());
        Ok(copy)
    };

    /// Copies the elements of `from` from index `start` (default 0) up to `end`, exclusive
    /// (default: the length), into the vector `to` from index `at` on. The vectors may be the same:
    /// all elements are read before any is written.
    /// Fails with `wrong-type` if the arguments are not vectors and exact integers, with
    /// `out-of-range` if they exceed the vectors, with `immutable` if `to` is a literal.
    "vector-copy!" "to at from [start [end]]" [3, 5] (cost::words_copied) => |context, arguments| {
        let (to, from) = (vector_at(context.heap, arguments, 0)?, vector_at(context.heap, arguments, 2)?);
        let lengths = (context.heap.object_length(to), context.heap.object_length(from));
        let copy = copy_at(context.heap, arguments, lengths.0, lengths.1)?;
        mutable_at(context.heap, arguments, 0)?;
        context.heap.copy_fields(from, copy.from.start, to, copy.at, copy.from.len());
        Ok(Value::UNSPECIFIED)
    };

    /// Makes a vector that concatenates all the vectors.
    /// Fails with `wrong-type` if an argument is not a vector.
    "vector-append" "vector …" [0, _] (cost::all_words) => append;
}

fn append(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let mut length = 0usize;
    for argument in 0..arguments.len() {
        let vector = vector_at(context.heap, arguments, argument)?;
        length = length.saturating_add(context.heap.object_length(vector));
    }
    let appended = context.heap.allocate(Kind::Vector, length)?;
    let mut place = 0;
    for vector in arguments {
        let count = context.heap.object_length(*vector);
        context.heap.copy_fields(*vector, 0, appended, place, count);
        place += count;
    }
    Ok(appended)
}
