//! Bytevectors.
//!
//! INVARIANT: arguments are checked, and room taken, before anything is changed.
//! It does not decode text (`primitive/text.rs`).
//! Read next: `primitive/record.rs`.

use super::argument::{bytevector_at, copy_at, count_at, index_at, integer_at, mutable_at, range_at};
use super::cost;
use super::{Context, PrimitiveError};
use crate::heap::{Heap, Kind};
use crate::value::Value;

primitives! {
    /// Returns whether the argument is a bytevector.
    "bytevector?" "object" [1, 1] free => |context, arguments| {
        Ok(Value::boolean(context.heap.is_kind(arguments[0], Kind::Bytevector)))
    };

    /// Makes a bytevector of `k` bytes, all `byte` (default 0).
    /// Fails with `wrong-type` if an argument is not an exact integer, with `out-of-range` if `k`
    /// is negative or `byte` not from 0 to 255.
    "make-bytevector" "k [byte]" [1, 2] (cost::new_bytes) => |context, arguments| {
        let length = count_at(context.heap, arguments, 0)?;
        let byte = if arguments.len() > 1 { byte_at(context.heap, arguments, 1)? } else { 0 };
        let bytevector = context.heap.allocate_raw(Kind::Bytevector, length)?;
        context.heap.raw_bytes_mut(bytevector).fill(byte);
        Ok(bytevector)
    };

    /// Makes a bytevector of the arguments.
    /// Fails with `wrong-type` if one is not an exact integer, with `out-of-range` if one is not
    /// from 0 to 255.
    "bytevector" "byte …" [0, _] (cost::arguments) => |context, arguments| {
        let bytes: Result<Vec<u8>, PrimitiveError> =
            (0..arguments.len()).map(|place| byte_at(context.heap, arguments, place)).collect();
        Ok(context.heap.bytevector(&bytes?)?)
    };

    /// Returns the number of bytes in a bytevector, an exact integer.
    /// Fails with `wrong-type` if the argument is not a bytevector.
    "bytevector-length" "bytevector" [1, 1] free => |context, arguments| {
        let bytevector = bytevector_at(context.heap, arguments, 0)?;
        Ok(Value::length(context.heap.object_length(bytevector)))
    };

    /// Returns the byte at index `k`, from 0; an exact integer.
    /// Fails with `wrong-type` if the arguments are not a bytevector and an exact integer, with
    /// `out-of-range` if there is no such byte.
    "bytevector-u8-ref" "bytevector k" [2, 2] free => |context, arguments| {
        let bytevector = bytevector_at(context.heap, arguments, 0)?;
        let index = index_at(context.heap, arguments, 1, context.heap.object_length(bytevector))?;
        Ok(Value::small(i32::from(context.heap.raw_bytes(bytevector)[index])))
    };

    /// Replaces the byte at index `k`, from 0.
    /// Fails with `wrong-type` if the arguments are not a bytevector and exact integers, with
    /// `out-of-range` if there is no such byte or `byte` is not from 0 to 255, with `immutable` if
    /// the bytevector is a literal.
    "bytevector-u8-set!" "bytevector k byte" [3, 3] free => |context, arguments| {
        let bytevector = bytevector_at(context.heap, arguments, 0)?;
        let index = index_at(context.heap, arguments, 1, context.heap.object_length(bytevector))?;
        let byte = byte_at(context.heap, arguments, 2)?;
        mutable_at(context.heap, arguments, 0)?;
        context.heap.raw_range_mut(bytevector, index, index + 1).fill(byte);
        Ok(Value::UNSPECIFIED)
    };

    /// Makes a bytevector of the bytes from index `start` (default 0) up to `end`, exclusive
    /// (default: the length).
    /// Fails with `wrong-type` if the arguments are not a bytevector and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "bytevector-copy" "bytevector [start [end]]" [1, 3] (cost::bytes) => |context, arguments| {
        let bytevector = bytevector_at(context.heap, arguments, 0)?;
        let range = range_at(context.heap, arguments, 1, context.heap.object_length(bytevector))?;
        let copy = context.heap.allocate_raw(Kind::Bytevector, range.len())?;
        context.heap.copy_bytes(bytevector, range.start, copy, 0, range.len());
        Ok(copy)
    };

    /// Copies the bytes of `from` from index `start` (default 0) up to `end`, exclusive (default:
    /// the length), into the bytevector `to` from index `at` on. The bytevectors may be the same:
    /// all bytes are read before any is written.
    /// Fails with `wrong-type` if the arguments are not bytevectors and exact integers, with
    /// `out-of-range` if they exceed the bytevectors, with `immutable` if `to` is a literal.
    "bytevector-copy!" "to at from [start [end]]" [3, 5] (cost::bytes_copied) => |context, arguments| {
        let (to, from) = (bytevector_at(context.heap, arguments, 0)?, bytevector_at(context.heap, arguments, 2)?);
        let lengths = (context.heap.object_length(to), context.heap.object_length(from));
        let copy = copy_at(context.heap, arguments, lengths.0, lengths.1)?;
        mutable_at(context.heap, arguments, 0)?;
        context.heap.copy_bytes(from, copy.from.start, to, copy.at, copy.from.len());
        Ok(Value::UNSPECIFIED)
    };

    /// Replaces the bytes from index `start` (default 0) up to `end`, exclusive (default: the
    /// length), with `byte`.
    /// Fails with `wrong-type` if the arguments are not a bytevector and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length and 0 ≤ `byte` ≤ 255, with `immutable` if
    /// the bytevector is a literal.
    "bytevector-fill!" "bytevector byte [start [end]]" [2, 4] (cost::bytes_filled) => |context, arguments| {
        let bytevector = bytevector_at(context.heap, arguments, 0)?;
        let byte = byte_at(context.heap, arguments, 1)?;
        let range = range_at(context.heap, arguments, 2, context.heap.object_length(bytevector))?;
        mutable_at(context.heap, arguments, 0)?;
        context.heap.raw_range_mut(bytevector, range.start, range.end).fill(byte);
        Ok(Value::UNSPECIFIED)
    };

    /// Makes a bytevector that concatenates all the bytevectors.
    /// Fails with `wrong-type` if an argument is not a bytevector.
    "bytevector-append" "bytevector …" [0, _] (cost::all_bytes) => append;
}

fn byte_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<u8, PrimitiveError> {
    integer_at(heap, arguments, argument, u8::MAX.into()).map(|byte| byte as u8)
}

fn append(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let mut length = 0usize;
    for argument in 0..arguments.len() {
        let bytevector = bytevector_at(context.heap, arguments, argument)?;
        length = length.saturating_add(context.heap.object_length(bytevector));
    }
    let appended = context.heap.allocate_raw(Kind::Bytevector, length)?;
    let mut place = 0;
    for bytevector in arguments {
        let count = context.heap.object_length(*bytevector);
        context.heap.copy_bytes(*bytevector, 0, appended, place, count);
        place += count;
    }
    Ok(appended)
}
