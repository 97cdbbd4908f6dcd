//! Writing to ports, and values as text.
//!
//! Every writing procedure returns whether the port should be emptied.
//! INVARIANT: a text that cannot be buffered whole is not buffered at all.
//! It does not reach the console: the text stays in the port's buffer until the host takes it.
//! Read next: `printer.rs`.
//!
//! Source: R7RS 6.13.3.

use super::cost;
use super::port::buffer::{append, append_at_hand, append_byte, append_from, flag, has};
use super::port::{bytevector_at, open_port_at, wants_emptying};
use super::{Context, PrimitiveError};
use crate::heap::Heap;
use crate::printer::{Style, print, write_limited};
use crate::value::Value;

primitives! {
    /// Writes a character to a textual output port.
    /// Fails with `wrong-type` if the arguments are not a character and a textual output port, with
    /// `port-closed` if the port is closed.
    "%write-char" "character port" [2, 2] free => |context, arguments| {
        if let Some(character @ '\0'..='\x7f') = arguments[0].as_character()
            && append_at_hand(context.heap, arguments[1], flag::TEXTUAL, character as u8)
        {
            return Ok(Value::FALSE);
        }
        let port = textual_at(context.heap, arguments)?;
        let Some(character) = arguments[0].as_character() else {
            return Err(PrimitiveError::WrongType { argument: 0, expected: "a character" });
        };
        write_character(context.heap, port, character)
    };

    /// Ends a line of a textual output port.
    /// Fails with `wrong-type` if the port is not a textual output port, with `port-closed` if it
    /// is closed.
    "%newline" "port" [1, 1] free => |context, arguments| {
        let port = open_port_at(context.heap, arguments, 0, flag::OUTPUT | flag::TEXTUAL, TEXTUAL)?;
        write_character(context.heap, port, '\n')
    };

    /// Writes the characters of `string`, or those from `start` up to `end`, exclusive, to a
    /// textual output port.
    /// Fails with `wrong-type` if the arguments are not a string, a textual output port and exact
    /// integers, with `out-of-range` if the range is not in the string, with `port-closed` if the
    /// port is closed.
    "%write-string" "string port [start [end]]" [2, 4] (cost::written_text) => |context, arguments| {
        let port = textual_at(context.heap, arguments)?;
        if !context.heap.is_string(arguments[0]) {
            return Err(PrimitiveError::WrongType { argument: 0, expected: "a string" });
        }
        let (start, end) = range_at(arguments, context.heap.string_length(arguments[0]))?;
        write_string(context.heap, port, arguments[0], start, end)
    };

    /// Writes a byte, an exact integer from 0 to 255, to a binary output port.
    /// Fails with `wrong-type` if the arguments are not a byte and a binary output port, with
    /// `port-closed` if the port is closed.
    "%write-u8" "byte port" [2, 2] free => |context, arguments| {
        let port = binary_at(context.heap, arguments)?;
        let byte = arguments[0].as_fixnum().and_then(|byte| u8::try_from(byte).ok());
        let Some(byte) = byte else {
            return Err(PrimitiveError::WrongType { argument: 0, expected: "a byte" });
        };
        if append_at_hand(context.heap, arguments[1], 0, byte) {
            return Ok(Value::FALSE);
        }
        append_byte(context.heap, port, byte)?;
        wish(context.heap, port)
    };

    /// Writes the bytes of `bytevector`, or those from `start` up to `end`, exclusive, to a binary
    /// output port.
    /// Fails with `wrong-type` if the arguments are not a bytevector, a binary output port and
    /// exact integers, with `out-of-range` if the range is not in the bytevector, with
    /// `port-closed` if the port is closed.
    "%write-bytevector" "bytevector port [start [end]]" [2, 4] (cost::bytes_filled) => |context, arguments| {
        let port = binary_at(context.heap, arguments)?;
        let bytes = bytevector_at(context.heap, arguments, 0)?;
        let (start, end) = range_at(arguments, bytes.len())?;
        let bytes = bytes[start..end].to_vec();
        append(context.heap, port, &bytes)?;
        wish(context.heap, port)
    };

    /// Writes an object to a textual output port for people to read: strings and characters as they
    /// are.
    /// Fails with `wrong-type` if the port is not a textual output port, with `port-closed` if it
    /// is closed.
    "%display" "object port" [2, 2] counted => |context, arguments| {
        let port = textual_at(context.heap, arguments)?;
        if let Some(character) = arguments[0].as_character() {
            return write_character(context.heap, port, character);
        }
        if context.heap.is_string(arguments[0]) {
            let length = context.heap.string_length(arguments[0]);
            context.heap.charge(cost::encoded(context.heap, &arguments[..1]));
            return write_string(context.heap, port, arguments[0], 0, length);
        }
        write_object(context, arguments, Style::Display)
    };

    /// Writes an object to a textual output port so that it can be read back, with datum labels
    /// where it contains itself.
    /// Fails with `wrong-type` if the port is not a textual output port, with `port-closed` if it
    /// is closed.
    "%write" "object port" [2, 2] counted => |context, arguments| write_object(context, arguments, Style::Write);

    /// Writes an object to a textual output port so that it can be read back, with datum labels
    /// wherever a part occurs twice.
    /// Fails with `wrong-type` if the port is not a textual output port, with `port-closed` if it
    /// is closed.
    "%write-shared" "object port" [2, 2] counted => |context, arguments| {
        context.heap.charge(cost::OF_LABELS);
        write_object(context, arguments, Style::Shared)
    };

    /// Writes an object to a textual output port without datum labels. An object that contains
    /// itself exhausts the memory limit.
    /// Fails with `wrong-type` if the port is not a textual output port, with `port-closed` if it
    /// is closed.
    "%write-simple" "object port" [2, 2] counted => |context, arguments| {
        write_object(context, arguments, Style::Simple)
    };

    /// Makes a string as `write` writes an object; text beyond `characters-max`, which is at least
    /// 1, is replaced by `…`.
    /// Fails with `wrong-type` if `characters-max` is not a positive fixnum.
    "%write-limited" "object characters-max" [2, 2] counted => |context, arguments| {
        let limit = arguments[1].as_fixnum().and_then(|limit| usize::try_from(limit).ok());
        let Some(limit) = limit.filter(|&limit| limit > 0) else {
            return Err(PrimitiveError::WrongType { argument: 1, expected: "an exact positive integer" });
        };
        let room = text_room(context.heap);
        let text = write_limited(context.heap, context.names, arguments[0], limit.min(room.saturating_add(1)));
        if limit > room && text.chars().count() > room {
            return Err(PrimitiveError::HeapFull);
        }
        Ok(context.heap.string(&text)?)
    };
}

/// The port that the primitives for text accept.
const TEXTUAL: &str = "a textual output port";

/// Returns the second argument, which must be an open textual output port.
fn textual_at(heap: &Heap, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    open_port_at(heap, arguments, 1, flag::OUTPUT | flag::TEXTUAL, TEXTUAL)
}

/// Returns the second argument, which must be an open binary output port.
fn binary_at(heap: &Heap, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let expected = "a binary output port";
    let port = open_port_at(heap, arguments, 1, flag::OUTPUT, expected)?;
    if has(heap, port, flag::TEXTUAL) {
        return Err(PrimitiveError::WrongType { argument: 1, expected });
    }
    Ok(port)
}

/// Returns the range of `length` elements that the optional third and fourth arguments select.
fn range_at(arguments: &[Value], length: usize) -> Result<(usize, usize), PrimitiveError> {
    let index_at = |argument: usize, default| match arguments.get(argument) {
        None => Ok(default),
        Some(index) => match index.as_fixnum() {
            Some(index) => usize::try_from(index).map_err(|_| PrimitiveError::OutOfRange { argument }),
            None => Err(PrimitiveError::WrongType {
                argument,
                expected: "an exact integer",
            }),
        },
    };
    let (start, end) = (index_at(2, 0)?, index_at(3, length)?);
    if end > length {
        Err(PrimitiveError::OutOfRange { argument: 3 })
    } else if start > end {
        Err(PrimitiveError::OutOfRange { argument: 2 })
    } else {
        Ok((start, end))
    }
}

#[inline]
fn write_character(heap: &mut Heap, port: Value, character: char) -> Result<Value, PrimitiveError> {
    if character.is_ascii() {
        append_byte(heap, port, character as u8)?;
    } else {
        append(heap, port, character.encode_utf8(&mut [0; 4]).as_bytes())?;
    }
    wish(heap, port)
}

fn write_string(
    heap: &mut Heap,
    port: Value,
    string: Value,
    start: usize,
    end: usize,
) -> Result<Value, PrimitiveError> {
    match heap.ascii_storage(string) {
        Some(storage) => append_from(heap, port, storage, start, end - start)?,
        None => append(heap, port, heap.string_range(string, start, end).as_bytes())?,
    }
    wish(heap, port)
}

fn write_object(context: &mut Context<'_>, arguments: &[Value], style: Style) -> Result<Value, PrimitiveError> {
    let port = textual_at(context.heap, arguments)?;
    if let Some(integer) = arguments[0].as_fixnum() {
        return write_fixnum(context.heap, port, integer);
    }
    let room = text_room(context.heap);
    let text = print(context.heap, context.names, arguments[0], style, room).map_err(|_| PrimitiveError::HeapFull)?;
    append(context.heap, port, text.as_bytes())?;
    wish(context.heap, port)
}

/// Writes an integer in decimal without making a string of it first.
fn write_fixnum(heap: &mut Heap, port: Value, integer: i64) -> Result<Value, PrimitiveError> {
    let mut digits = [0; 20];
    let (mut place, mut rest) = (digits.len(), integer.unsigned_abs());
    while rest > 0 || place == digits.len() {
        place -= 1;
        digits[place] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if integer < 0 {
        place -= 1;
        digits[place] = b'-';
    }
    append(heap, port, &digits[place..])?;
    wish(heap, port)
}

/// Returns the result of a writing procedure.
#[inline]
fn wish(heap: &Heap, port: Value) -> Result<Value, PrimitiveError> {
    Ok(Value::boolean(wants_emptying(heap, port)))
}

/// Returns the maximum number of characters of a text that still fits the heap, so that printing
/// stops there.
fn text_room(heap: &Heap) -> usize {
    heap.words_max().saturating_sub(heap.statistics().words_used) * 8
}
