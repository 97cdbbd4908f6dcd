//! Strings: constructors, element access, comparison and copying.
//!
//! INVARIANT: a primitive allocates its result in the heap before it copies into it, so that no
//! size escapes the instance's limit.
//! It does not search, map case or encode.
//! Read next: `primitive/text.rs`.

use super::argument::{
    character_at, copy_at, count_at, index_at, integer_at, list_at, mutable_at, range_at, string_at, vector_at,
    wrong_type,
};
use super::cost;
use super::{Context, PrimitiveError};
use crate::datum::case::fold_full;
use crate::heap::{Heap, Kind};
use crate::value::Value;
use std::cmp::Ordering;

primitives! {
    /// Returns whether the argument is a string.
    "string?" "object" [1, 1] free => |context, arguments| Ok(Value::boolean(context.heap.is_string(arguments[0])));

    /// Makes a string of `k` characters, all `char` (default: a space).
    /// Fails with `wrong-type` if `k` is not an exact integer or `char` not a character, with
    /// `out-of-range` if `k` is negative.
    "make-string" "k [char]" [1, 2] (cost::new_bytes) => |context, arguments| {
        let length = count_at(context.heap, arguments, 0)?;
        let character = if arguments.len() > 1 { character_at(arguments, 1)? } else { ' ' };
        Ok(context.heap.make_string(length, character)?)
    };

    /// Makes a string of the characters.
    /// Fails with `wrong-type` if an argument is not a character.
    "string" "char …" [0, _] (cost::arguments) => |context, arguments| {
        let characters = (0..arguments.len()).map(|place| character_at(arguments, place));
        let text: Result<String, PrimitiveError> = characters.collect();
        Ok(context.heap.string(&text?)?)
    };

    /// Returns the number of characters in a string, an exact integer.
    /// Fails with `wrong-type` if the argument is not a string.
    "string-length" "string" [1, 1] free => |context, arguments| {
        let string = string_at(context.heap, arguments, 0)?;
        Ok(Value::length(context.heap.string_length(string)))
    };

    /// Returns the character at index `k`, from 0.
    /// Fails with `wrong-type` if the arguments are not a string and an exact integer, with
    /// `out-of-range` if there is no such character.
    "string-ref" "string k" [2, 2] free => |context, arguments| {
        let string = string_at(context.heap, arguments, 0)?;
        let index = integer_at(context.heap, arguments, 1, usize::MAX)?;
        match context.heap.string_ref(string, index) {
            Some(character) => Ok(Value::character(character)),
            None => Err(PrimitiveError::OutOfRange { argument: 1 }),
        }
    };

    /// Replaces the character at index `k`, from 0.
    /// Fails with `wrong-type` if the arguments are not a string, an exact integer and a character,
    /// with `out-of-range` if there is no such character, with `immutable` if the string is a
    /// literal.
    "string-set!" "string k char" [3, 3] free => |context, arguments| {
        let string = string_at(context.heap, arguments, 0)?;
        let index = index_at(context.heap, arguments, 1, context.heap.string_length(string))?;
        let character = character_at(arguments, 2)?;
        mutable_at(context.heap, arguments, 0)?;
        context.heap.string_set(string, index, character)?;
        Ok(Value::UNSPECIFIED)
    };

    /// Returns whether all strings have the same characters.
    /// Fails with `wrong-type` if an argument is not a string.
    "string=?" "string₁ string₂ …" [1, _] (cost::compared) => |context, arguments| {
        ordered(context, arguments, compare, Ordering::is_eq)
    };

    /// Returns whether the strings increase, by the scalar values of their first differing
    /// characters.
    /// Fails with `wrong-type` if an argument is not a string.
    "string<?" "string₁ string₂ …" [1, _] (cost::compared) => |context, arguments| {
        ordered(context, arguments, compare, Ordering::is_lt)
    };

    /// Returns whether the strings decrease, by the scalar values of their first differing
    /// characters.
    /// Fails with `wrong-type` if an argument is not a string.
    "string>?" "string₁ string₂ …" [1, _] (cost::compared) => |context, arguments| {
        ordered(context, arguments, compare, Ordering::is_gt)
    };

    /// Returns whether the strings never decrease, by the scalar values of their first differing
    /// characters.
    /// Fails with `wrong-type` if an argument is not a string.
    "string<=?" "string₁ string₂ …" [1, _] (cost::compared) => |context, arguments| {
        ordered(context, arguments, compare, Ordering::is_le)
    };

    /// Returns whether the strings never increase, by the scalar values of their first differing
    /// characters.
    /// Fails with `wrong-type` if an argument is not a string.
    "string>=?" "string₁ string₂ …" [1, _] (cost::compared) => |context, arguments| {
        ordered(context, arguments, compare, Ordering::is_ge)
    };

    /// Compares as `string=?`, after `string-foldcase`.
    /// Fails with `wrong-type` if an argument is not a string.
    "string-ci=?" "string₁ string₂ …" [1, _] (cost::folded) => |context, arguments| {
        ordered(context, arguments, compare_folded, Ordering::is_eq)
    };

    /// Compares as `string<?`, after `string-foldcase`.
    /// Fails with `wrong-type` if an argument is not a string.
    "string-ci<?" "string₁ string₂ …" [1, _] (cost::folded) => |context, arguments| {
        ordered(context, arguments, compare_folded, Ordering::is_lt)
    };

    /// Compares as `string>?`, after `string-foldcase`.
    /// Fails with `wrong-type` if an argument is not a string.
    "string-ci>?" "string₁ string₂ …" [1, _] (cost::folded) => |context, arguments| {
        ordered(context, arguments, compare_folded, Ordering::is_gt)
    };

    /// Compares as `string<=?`, after `string-foldcase`.
    /// Fails with `wrong-type` if an argument is not a string.
    "string-ci<=?" "string₁ string₂ …" [1, _] (cost::folded) => |context, arguments| {
        ordered(context, arguments, compare_folded, Ordering::is_le)
    };

    /// Compares as `string>=?`, after `string-foldcase`.
    /// Fails with `wrong-type` if an argument is not a string.
    "string-ci>=?" "string₁ string₂ …" [1, _] (cost::folded) => |context, arguments| {
        ordered(context, arguments, compare_folded, Ordering::is_ge)
    };

    /// Makes a string of the characters from index `start` up to `end`, exclusive.
    /// Fails with `wrong-type` if the arguments are not a string and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "substring" "string start end" [3, 3] (cost::bytes) => copy;

    /// Makes a string of the characters from index `start` (default 0) up to `end`, exclusive
    /// (default: the length).
    /// Fails with `wrong-type` if the arguments are not a string and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "string-copy" "string [start [end]]" [1, 3] (cost::bytes) => copy;

    /// Makes a string that concatenates all the strings.
    /// Fails with `wrong-type` if an argument is not a string.
    "string-append" "string …" [0, _] (cost::joined) => append;

    /// Makes a list of the characters from index `start` (default 0) up to `end`, exclusive
    /// (default: the length).
    /// Fails with `wrong-type` if the arguments are not a string and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "string->list" "string [start [end]]" [1, 3] (cost::listed) => |context, arguments| {
        let characters = characters(context.heap, arguments)?;
        Ok(context.heap.list(&characters, Value::NIL)?)
    };

    /// Makes a vector of the characters from index `start` (default 0) up to `end`, exclusive
    /// (default: the length).
    /// Fails with `wrong-type` if the arguments are not a string and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "string->vector" "string [start [end]]" [1, 3] (cost::characters) => |context, arguments| {
        let characters = characters(context.heap, arguments)?;
        Ok(context.heap.make(Kind::Vector, &characters)?)
    };

    /// Makes a string of the characters in a list.
    /// Fails with `wrong-type` if the argument is not a proper list of characters.
    "list->string" "list" [1, 1] counted => |context, arguments| {
        let elements = list_at(context.heap, arguments, 0)?;
        context.heap.spend(elements.len() as u64 / (2 * cost::PAIRS))?;
        let text = text_of(context.heap, elements.into_iter()).ok_or(wrong_type(0, "a list of characters"))?;
        Ok(context.heap.string(&text)?)
    };

    /// Makes a string of the characters in a vector from index `start` (default 0) up to `end`,
    /// exclusive (default: the length).
    /// Fails with `wrong-type` if the arguments are not a vector with characters there and exact
    /// integers, with `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "vector->string" "vector [start [end]]" [1, 3] (cost::characters) => |context, arguments| {
        let vector = vector_at(context.heap, arguments, 0)?;
        let range = range_at(context.heap, arguments, 1, context.heap.object_length(vector))?;
        let elements = range.map(|place| context.heap.field(vector, place));
        let text = text_of(context.heap, elements).ok_or(wrong_type(0, "a vector of characters"))?;
        Ok(context.heap.string(&text)?)
    };

    /// Copies the characters of `from` from index `start` (default 0) up to `end`, exclusive
    /// (default: the length), into the string `to` from index `at` on. The strings may be the same:
    /// all characters are read before any is written.
    /// Fails with `wrong-type` if the arguments are not strings and exact integers, with
    /// `out-of-range` if they exceed the strings, with `immutable` if `to` is a literal.
    "string-copy!" "to at from [start [end]]" [3, 5] (cost::bytes_copied) => |context, arguments| {
        let (to, from) = (string_at(context.heap, arguments, 0)?, string_at(context.heap, arguments, 2)?);
        let lengths = (context.heap.string_length(to), context.heap.string_length(from));
        let copy = copy_at(context.heap, arguments, lengths.0, lengths.1)?;
        mutable_at(context.heap, arguments, 0)?;
        context.heap.copy_characters(from, copy.from.start, to, copy.at, copy.from.len())?;
        Ok(Value::UNSPECIFIED)
    };

    /// Replaces the characters from index `start` (default 0) up to `end`, exclusive (default: the
    /// length), with `char`.
    /// Fails with `wrong-type` if the arguments are not a string, a character and exact integers,
    /// with `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length, with `immutable` if the string is a
    /// literal.
    "string-fill!" "string char [start [end]]" [2, 4] (cost::characters_set) => |context, arguments| {
        let string = string_at(context.heap, arguments, 0)?;
        let character = character_at(arguments, 1)?;
        let range = range_at(context.heap, arguments, 2, context.heap.string_length(string))?;
        mutable_at(context.heap, arguments, 0)?;
        context.heap.string_fill(string, range, character)?;
        Ok(Value::UNSPECIFIED)
    };
}

/// Returns whether every two neighbours have the given order.
fn ordered(
    context: &Context<'_>,
    arguments: &[Value],
    compare: fn(&Heap, Value, Value) -> Ordering,
    holds: fn(Ordering) -> bool,
) -> Result<Value, PrimitiveError> {
    for argument in 0..arguments.len() {
        string_at(context.heap, arguments, argument)?;
    }
    let truth = arguments
        .windows(2)
        .all(|neighbours| holds(compare(context.heap, neighbours[0], neighbours[1])));
    Ok(Value::boolean(truth))
}

fn compare(heap: &Heap, a: Value, b: Value) -> Ordering {
    match (heap.string_ascii(a), heap.string_ascii(b)) {
        (Some(bytes_a), Some(bytes_b)) => bytes_a.cmp(bytes_b),
        _ if heap.same_text(a, b) => Ordering::Equal,
        _ => heap.string_characters(a).cmp(heap.string_characters(b)),
    }
}

fn compare_folded(heap: &Heap, a: Value, b: Value) -> Ordering {
    if let (Some(bytes_a), Some(bytes_b)) = (heap.string_ascii(a), heap.string_ascii(b)) {
        let [folded_a, folded_b] = [bytes_a, bytes_b].map(|bytes| bytes.iter().map(u8::to_ascii_lowercase));
        return heap.until_stopped(folded_a).cmp(folded_b);
    }
    let folded = |string| heap.string_characters(string).flat_map(fold_full);
    folded(a).cmp(folded(b))
}

fn copy(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let string = string_at(context.heap, arguments, 0)?;
    let range = range_at(context.heap, arguments, 1, context.heap.string_length(string))?;
    Ok(context.heap.substring(string, range.start, range.end)?)
}

fn append(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let (mut length, mut is_narrow) = (0usize, true);
    for argument in 0..arguments.len() {
        let string = string_at(context.heap, arguments, argument)?;
        length = length.saturating_add(context.heap.string_length(string));
        is_narrow &= context.heap.string_ascii(string).is_some();
    }
    let widest = if is_narrow { ' ' } else { char::MAX };
    let appended = context.heap.make_string(length, widest)?;
    let mut place = 0;
    for string in arguments {
        let count = context.heap.string_length(*string);
        context.heap.copy_characters(*string, 0, appended, place, count)?;
        place += count;
    }
    Ok(appended)
}

/// Returns the characters that a string and an optional range select.
fn characters(heap: &Heap, arguments: &[Value]) -> Result<Vec<Value>, PrimitiveError> {
    let string = string_at(heap, arguments, 0)?;
    let range = range_at(heap, arguments, 1, heap.string_length(string))?;
    let mut characters = Vec::with_capacity(range.len());
    let chosen = heap.string_characters_from(string, range.start).take(range.len());
    characters.extend(chosen.map(Value::character));
    Ok(characters)
}

fn text_of(heap: &Heap, elements: impl Iterator<Item = Value>) -> Option<String> {
    heap.until_stopped(elements).map(Value::as_character).collect()
}
