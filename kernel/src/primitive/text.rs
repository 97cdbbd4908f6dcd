//! Strings as text: case, searching, splitting, and UTF-8.
//!
//! INVARIANT: indices count characters, whatever the storage.
//! It does not compare.
//! Read next: `primitive/symbol.rs`.

use super::argument::{bytevector_at, character_at, range_at, string_at};
use super::cost;
use super::{Context, PrimitiveError};
use crate::datum::case::{fold_full, lower_with_sigmas};
use crate::heap::{Heap, Kind};
use crate::value::Value;
use std::ops::Range;

primitives! {
    /// Makes a string of the upper-case forms of the characters; it may be longer (`ß` becomes
    /// `SS`).
    /// Fails with `wrong-type` if the argument is not a string.
    "string-upcase" "string" [1, 1] (cost::converted) => |context, arguments| {
        convert(context, arguments, u8::to_ascii_uppercase, |heap, string| {
            heap.string_characters(string).flat_map(char::to_uppercase).collect()
        })
    };

    /// Makes a string of the lower-case forms of the characters; a final sigma becomes `ς`.
    /// Fails with `wrong-type` if the argument is not a string.
    "string-downcase" "string" [1, 1] (cost::converted) => |context, arguments| {
        convert(context, arguments, u8::to_ascii_lowercase, |heap, string| {
            if heap.string_characters(string).any(|character| character == 'Σ') {
                lower_with_sigmas(heap.string_characters(string))
            } else {
                heap.string_characters(string).flat_map(char::to_lowercase).collect()
            }
        })
    };

    /// Makes a string by Unicode full case folding, the same for all strings that differ only in
    /// case.
    /// Fails with `wrong-type` if the argument is not a string.
    "string-foldcase" "string" [1, 1] (cost::folded) => |context, arguments| {
        convert(context, arguments, u8::to_ascii_lowercase, |heap, string| {
            heap.string_characters(string).flat_map(fold_full).collect()
        })
    };

    /// Returns the index of the first occurrence of `char` from index `start` (default 0) up to
    /// `end`, exclusive (default: the length), or `#f`.
    /// Fails with `wrong-type` if the arguments are not a string, a character and exact integers,
    /// with `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "string-index" "string char [start [end]]" [2, 4] counted => |context, arguments| {
        let string = string_at(context.heap, arguments, 0)?;
        let wanted = character_at(arguments, 1)?;
        let range = range_at(context.heap, arguments, 2, context.heap.string_length(string))?;
        let mut characters = context.heap.string_characters_from(string, range.start).take(range.len());
        let found = characters.position(|character| character == wanted);
        context.heap.charge(found.unwrap_or(range.len()) as u64 / cost::CHARACTERS);
        Ok(found.map_or(Value::FALSE, |place| Value::length(range.start + place)))
    };

    /// Returns the index of the first whole occurrence of `pattern` from index `start` (default 0)
    /// up to `end`, exclusive (default: the length), or `#f`. Takes time proportional to the
    /// distance of the occurrence, or else of the end, and to the length of the pattern.
    /// Fails with `wrong-type` if the arguments are not strings and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "string-contains" "string pattern [start [end]]" [2, 4] counted => |context, arguments| {
        let (string, pattern) = (string_at(context.heap, arguments, 0)?, string_at(context.heap, arguments, 1)?);
        let range = range_at(context.heap, arguments, 2, context.heap.string_length(string))?;
        let pattern = context.heap.string_text(pattern);
        let (found, bytes) = find(context.heap, string, range, &pattern);
        context.heap.charge(cost::TEXT + (bytes + pattern.len()) as u64 / cost::CHARACTERS);
        Ok(found.map_or(Value::FALSE, Value::length))
    };

    /// Returns whether `string` begins with `prefix`.
    /// Fails with `wrong-type` if an argument is not a string.
    "string-prefix?" "prefix string" [2, 2] counted => |context, arguments| {
        let (prefix, string) = (string_at(context.heap, arguments, 0)?, string_at(context.heap, arguments, 1)?);
        let mut characters = context.heap.string_characters(string);
        let (mut expected, mut same) = (context.heap.string_characters(prefix), 0);
        let is_prefix = expected.all(|character| {
            same += 1;
            characters.next() == Some(character)
        });
        context.heap.charge(same / cost::CHARACTERS);
        Ok(Value::boolean(is_prefix))
    };

    /// Returns whether `string` ends with `suffix`.
    /// Fails with `wrong-type` if an argument is not a string.
    "string-suffix?" "suffix string" [2, 2] counted => |context, arguments| {
        let (suffix, string) = (string_at(context.heap, arguments, 0)?, string_at(context.heap, arguments, 1)?);
        let lengths = (context.heap.string_length(suffix), context.heap.string_length(string));
        let Some(start) = lengths.1.checked_sub(lengths.0) else {
            return Ok(Value::FALSE);
        };
        context.heap.charge(lengths.0 as u64 / cost::CHARACTERS);
        let end = context.heap.string_characters_from(string, start);
        Ok(Value::boolean(end.eq(context.heap.string_characters(suffix))))
    };

    /// Makes a string without the white space at both ends.
    /// Fails with `wrong-type` if the argument is not a string.
    "string-trim" "string" [1, 1] counted => |context, arguments| trim(context, arguments, true, true);

    /// Makes a string without the white space at the beginning.
    /// Fails with `wrong-type` if the argument is not a string.
    "string-trim-left" "string" [1, 1] counted => |context, arguments| trim(context, arguments, true, false);

    /// Makes a string without the white space at the end.
    /// Fails with `wrong-type` if the argument is not a string.
    "string-trim-right" "string" [1, 1] counted => |context, arguments| trim(context, arguments, false, true);

    /// Makes a list of the parts of a string between the occurrences of `char`, one more than there
    /// are occurrences; parts may be empty.
    /// Fails with `wrong-type` if the arguments are not a string and a character.
    "string-split" "string char" [2, 2] counted => |context, arguments| {
        let string = string_at(context.heap, arguments, 0)?;
        let separator = character_at(arguments, 1)?;
        let breaks: Vec<usize> = context
            .heap
            .string_characters(string)
            .enumerate()
            .filter_map(|(place, character)| (character == separator).then_some(place))
            .collect();
        let mut parts = Value::NIL;
        let mut end = context.heap.string_length(string);
        context.heap.spend(end as u64 / cost::CHARACTERS + breaks.len() as u64 / 2)?;
        for place in breaks.into_iter().rev() {
            context.heap.spend(0)?;
            let part = context.heap.substring(string, place + 1, end)?;
            parts = context.heap.cons(part, parts)?;
            end = place;
        }
        let first = context.heap.substring(string, 0, end)?;
        Ok(context.heap.cons(first, parts)?)
    };

    /// Makes a bytevector of the UTF-8 encoding of the characters from index `start` (default 0) up
    /// to `end`, exclusive (default: the length).
    /// Fails with `wrong-type` if the arguments are not a string and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length.
    "string->utf8" "string [start [end]]" [1, 3] (cost::encoded) => |context, arguments| {
        let string = string_at(context.heap, arguments, 0)?;
        let range = range_at(context.heap, arguments, 1, context.heap.string_length(string))?;
        if let Some(storage) = context.heap.ascii_storage(string) {
            let bytes = context.heap.allocate_raw(Kind::Bytevector, range.len())?;
            context.heap.copy_bytes(storage, range.start, bytes, 0, range.len());
            return Ok(bytes);
        }
        let text = context.heap.string_range(string, range.start, range.end);
        Ok(context.heap.bytevector(text.as_bytes())?)
    };

    /// Makes a string by decoding the bytes from index `start` (default 0) up to `end`, exclusive
    /// (default: the length), as UTF-8.
    /// Fails with `wrong-type` if the arguments are not a bytevector and exact integers, with
    /// `out-of-range` unless 0 ≤ `start` ≤ `end` ≤ length, with `invalid-utf8` if the bytes are not
    /// UTF-8; its irritants are the bytevector and the index of the first invalid byte.
    "utf8->string" "bytevector [start [end]]" [1, 3] (cost::decoded) => |context, arguments| {
        let bytevector = bytevector_at(context.heap, arguments, 0)?;
        let range = range_at(context.heap, arguments, 1, context.heap.object_length(bytevector))?;
        let start = range.start;
        if context.heap.raw_bytes(bytevector)[range.clone()].is_ascii() {
            return Ok(context.heap.ascii_string(bytevector, start, range.len())?);
        }
        match std::str::from_utf8(&context.heap.raw_bytes(bytevector)[range]) {
            Ok(text) => {
                let text = text.to_owned();
                Ok(context.heap.string(&text)?)
            }
            Err(error) => Err(PrimitiveError::Condition {
                kind: "invalid-utf8",
                message: "bytes are not UTF-8 from this index on".to_owned(),
                irritants: vec![bytevector, Value::length(start + error.valid_up_to())],
            }),
        }
    };
}

/// Converts a string; `of_ascii` does the same to a character of ASCII.
fn convert(
    context: &mut Context<'_>,
    arguments: &[Value],
    of_ascii: fn(&u8) -> u8,
    conversion: fn(&Heap, Value) -> String,
) -> Result<Value, PrimitiveError> {
    let string = string_at(context.heap, arguments, 0)?;
    if let Some(bytes) = context.heap.string_ascii(string) {
        let mut converted = Vec::with_capacity(bytes.len());
        converted.extend(context.heap.until_stopped(bytes.iter()).map(of_ascii));
        return Ok(context.heap.string_of_ascii(&converted)?);
    }
    let converted = conversion(context.heap, string);
    Ok(context.heap.string(&converted)?)
}

/// Returns the index of the first whole occurrence of a pattern in a range of a string, and how
/// many bytes of UTF-8 come before it. It takes windows that grow, so that a pattern near the start
/// is found without a look at all the rest.
fn find(heap: &Heap, string: Value, range: Range<usize>, pattern: &str) -> (Option<usize>, usize) {
    let length = pattern.chars().count();
    let (mut start, mut window, mut bytes) = (range.start, 64 + 2 * length, 0);
    loop {
        let end = range.end.min(start + window);
        let text = heap.string_range(string, start, end);
        if let Some(byte) = text.find(pattern) {
            return (Some(start + text[..byte].chars().count()), bytes + byte);
        }
        bytes += text.len();
        if end == range.end || heap.is_stop_wanted() {
            return (None, bytes);
        }
        // An occurrence may begin in this window and end in the next.
        start = end + 1 - length;
        window *= 2;
    }
}

fn trim(context: &mut Context<'_>, arguments: &[Value], left: bool, right: bool) -> Result<Value, PrimitiveError> {
    let string = string_at(context.heap, arguments, 0)?;
    let (mut start, mut end) = (0, context.heap.string_length(string));
    let is_dark = |place: &usize| {
        let character = context.heap.string_ref(string, *place);
        !character.is_some_and(char::is_whitespace)
    };
    if left {
        start = context.heap.until_stopped(start..end).find(is_dark).unwrap_or(end);
    }
    if right {
        let last = context.heap.until_stopped((start..end).rev()).find(is_dark);
        end = last.map_or(start, |last| last + 1);
    }
    let trimmed = context.heap.string_length(string) - (end - start);
    let copied = cost::copied_text(context.heap, string, start..end);
    context.heap.charge(trimmed as u64 / cost::CHARACTERS + copied);
    Ok(context.heap.substring(string, start, end)?)
}
