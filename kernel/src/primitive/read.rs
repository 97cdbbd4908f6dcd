//! Reading from ports.
//!
//! INVARIANT: every reading procedure returns the requested value, the end-of-file object, or `#f`
//! if the port lacks data and has not ended; in the last case it has consumed nothing.
//! It does not wait.
//! Read next: `primitive/read/datum.rs`, `primitive/print.rs`.
//!
//! Source: R7RS 6.13.2; Unicode 3.9, "U+FFFD substitution of maximal subparts".

mod datum;

use super::port::buffer::{Decoded, consume, decode, flag, glance, has, pending, text};
use super::port::{open_port_at, port_at};
use super::{Context, PrimitiveError, cost};
use crate::heap::Heap;
use crate::value::Value;

primitives! {
    /// Reads the next character of a textual input port.
    /// Fails with `wrong-type` if the port is not a textual input port, with `port-closed` if it is
    /// closed.
    "%read-char" "port" [1, 1] free => |context, arguments| {
        if let Some(byte @ ..0x80) = glance(context.heap, arguments[0], flag::INPUT | flag::TEXTUAL) {
            consume(context.heap, arguments[0], 1);
            return Ok(Value::character(char::from(byte)));
        }
        let port = textual_at(context.heap, arguments, 0)?;
        Ok(match next_character(context.heap, port) {
            Decoded::Character(character, length) => {
                consume(context.heap, port, length);
                Value::character(character)
            }
            Decoded::Incomplete => Value::FALSE,
            Decoded::End => Value::EOF,
        })
    };

    /// Returns the next character of a textual input port without consuming it.
    /// Fails with `wrong-type` if the port is not a textual input port, with `port-closed` if it is
    /// closed.
    "%peek-char" "port" [1, 1] free => |context, arguments| {
        if let Some(byte @ ..0x80) = glance(context.heap, arguments[0], flag::INPUT | flag::TEXTUAL) {
            return Ok(Value::character(char::from(byte)));
        }
        let port = textual_at(context.heap, arguments, 0)?;
        Ok(match next_character(context.heap, port) {
            Decoded::Character(character, _) => Value::character(character),
            Decoded::Incomplete => Value::FALSE,
            Decoded::End => Value::EOF,
        })
    };

    /// Returns whether `%read-char` would return a character or the end-of-file object.
    /// Fails with `wrong-type` if the port is not a textual input port, with `port-closed` if it is
    /// closed.
    "%char-ready?" "port" [1, 1] free => |context, arguments| {
        let port = textual_at(context.heap, arguments, 0)?;
        Ok(Value::boolean(next_character(context.heap, port) != Decoded::Incomplete))
    };

    /// Reads the characters up to the next end of line (newline, return, or both), which is
    /// consumed but not returned, or up to the end.
    /// Fails with `wrong-type` if the port is not a textual input port, with `port-closed` if it is
    /// closed.
    "%read-line" "port" [1, 1] counted => |context, arguments| {
        let port = textual_at(context.heap, arguments, 0)?;
        let bytes = pending(context.heap, port);
        let is_all = has(context.heap, port, flag::AT_END);
        let (length, consumed) = match line(bytes, is_all) {
            Some(extent) => extent,
            None if !is_all => return Ok(Value::FALSE),
            None if bytes.is_empty() => return Ok(Value::EOF),
            None => (bytes.len(), bytes.len()),
        };
        context.heap.charge(cost::decoding(&bytes[..consumed]));
        take(context, port, consumed, |heap| text(heap, port, length))
    };

    /// Reads `k` characters, or fewer if the input ends earlier.
    /// Fails with `wrong-type` if the port is not a textual input port or `k` not an exact integer,
    /// with `out-of-range` if `k` is negative, with `port-closed` if the port is closed.
    "%read-string" "k port" [2, 2] counted => |context, arguments| {
        let port = textual_at(context.heap, arguments, 1)?;
        let count = count_at(arguments)?;
        let is_all = has(context.heap, port, flag::AT_END);
        let bytes = pending(context.heap, port);
        let (mut text, mut consumed) = (String::new(), 0);
        for _ in context.heap.until_stopped(0..count) {
            match decode(&bytes[consumed..], is_all) {
                Decoded::Character(character, length) => {
                    text.push(character);
                    consumed += length;
                }
                Decoded::Incomplete => return Ok(Value::FALSE),
                Decoded::End if consumed == 0 => return Ok(Value::EOF),
                Decoded::End => break,
            }
        }
        let beyond = consumed - text.chars().count();
        context.heap.charge((consumed + 4 * beyond) as u64 / cost::CHARACTERS);
        take(context, port, consumed, |heap| heap.string(&text))
    };

    /// Reads the next byte of a binary input port.
    /// Fails with `wrong-type` if the port is not a binary input port, with `port-closed` if it is
    /// closed.
    "%read-u8" "port" [1, 1] free => |context, arguments| {
        let port = binary_at(context.heap, arguments, 0)?;
        let byte = next_byte(context.heap, port);
        if byte.is_fixnum() {
            consume(context.heap, port, 1);
        }
        Ok(byte)
    };

    /// Returns the next byte of a binary input port without consuming it.
    /// Fails with `wrong-type` if the port is not a binary input port, with `port-closed` if it is
    /// closed.
    "%peek-u8" "port" [1, 1] free => |context, arguments| {
        let port = binary_at(context.heap, arguments, 0)?;
        Ok(next_byte(context.heap, port))
    };

    /// Returns whether `%read-u8` would return a byte or the end-of-file object.
    /// Fails with `wrong-type` if the port is not a binary input port, with `port-closed` if it is
    /// closed.
    "%u8-ready?" "port" [1, 1] free => |context, arguments| {
        let port = binary_at(context.heap, arguments, 0)?;
        Ok(Value::boolean(next_byte(context.heap, port).is_true()))
    };

    /// Reads `k` bytes, or fewer if the input ends earlier, as a bytevector.
    /// Fails with `wrong-type` if the port is not a binary input port or `k` not an exact integer,
    /// with `out-of-range` if `k` is negative, with `port-closed` if the port is closed.
    "%read-bytevector" "k port" [2, 2] counted => |context, arguments| {
        let port = binary_at(context.heap, arguments, 1)?;
        let count = count_at(arguments)?;
        let bytes = pending(context.heap, port);
        if bytes.len() < count {
            if !has(context.heap, port, flag::AT_END) {
                return Ok(Value::FALSE);
            }
            if bytes.is_empty() {
                return Ok(Value::EOF);
            }
        }
        let taken = bytes[..count.min(bytes.len())].to_vec();
        context.heap.charge(taken.len() as u64 / cost::BYTES);
        take(context, port, taken.len(), |heap| heap.bytevector(&taken))
    };

    /// Reads the next datum of a textual input port; returns `(default-object)` if its buffer does
    /// not hold a whole one.
    /// Fails with `read-error` if the text is not a datum, and skips it; with `wrong-type` if the
    /// port is not a textual input port, with `port-closed` if it is closed.
    "%read" "port" [1, 1] counted => |context, arguments| {
        let port = textual_at(context.heap, arguments, 0)?;
        datum::read(context, port)
    };

    /// Returns whether an input port needs more input before anything can be read: its buffer holds
    /// no whole element and it has not ended.
    /// Fails with `wrong-type` if the argument is not an input port.
    "%port-needs-input?" "port" [1, 1] free => |context, arguments| {
        let port = port_at(context.heap, arguments, 0, flag::INPUT, "an input port")?;
        let needs = if has(context.heap, port, flag::TEXTUAL) {
            next_character(context.heap, port) == Decoded::Incomplete
        } else {
            next_byte(context.heap, port) == Value::FALSE
        };
        Ok(Value::boolean(needs))
    };
}

fn textual_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Value, PrimitiveError> {
    let wanted = flag::INPUT | flag::TEXTUAL;
    open_port_at(heap, arguments, argument, wanted, "a textual input port")
}

fn binary_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Value, PrimitiveError> {
    let expected = "a binary input port";
    let port = open_port_at(heap, arguments, argument, flag::INPUT, expected)?;
    if has(heap, port, flag::TEXTUAL) {
        return Err(PrimitiveError::WrongType { argument, expected });
    }
    Ok(port)
}

/// Returns the first argument, a number of elements.
fn count_at(arguments: &[Value]) -> Result<usize, PrimitiveError> {
    let expected = "an exact non-negative integer";
    let count = arguments[0]
        .as_fixnum()
        .ok_or(PrimitiveError::WrongType { argument: 0, expected })?;
    usize::try_from(count).map_err(|_| PrimitiveError::OutOfRange { argument: 0 })
}

#[inline]
fn next_character(heap: &Heap, port: Value) -> Decoded {
    decode(pending(heap, port), has(heap, port, flag::AT_END))
}

/// Returns the next byte, the end-of-file object, or `#f`.
fn next_byte(heap: &Heap, port: Value) -> Value {
    match pending(heap, port).first() {
        Some(&byte) => Value::small(i32::from(byte)),
        None if has(heap, port, flag::AT_END) => Value::EOF,
        None => Value::FALSE,
    }
}

/// Returns the length of the first line in bytes without and with its end, if it has one. A return
/// may belong to a newline that is not buffered yet.
fn line(bytes: &[u8], is_all: bool) -> Option<(usize, usize)> {
    let end = bytes.iter().position(|&byte| byte == b'\n' || byte == b'\r')?;
    match (bytes[end], bytes.get(end + 1)) {
        (b'\r', Some(b'\n')) => Some((end, end + 2)),
        (b'\r', None) if !is_all => None,
        _ => Some((end, end + 1)),
    }
}

/// Makes the result and, only if there is room for it, drops the bytes that it consumes.
fn take(
    context: &mut Context<'_>,
    port: Value,
    consumed: usize,
    make: impl FnOnce(&mut Heap) -> Result<Value, crate::heap::HeapFull>,
) -> Result<Value, PrimitiveError> {
    let value = make(context.heap)?;
    consume(context.heap, port, consumed);
    Ok(value)
}
