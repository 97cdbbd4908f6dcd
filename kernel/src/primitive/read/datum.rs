//! Reading data from ports.
//!
//! INVARIANT: reading a datum inspects no more text than a few times the datum's length, however
//! much is buffered after it.
//! It does not know the syntax.
//! Read next: `datum/reader.rs`.

use std::borrow::Cow;

use super::super::port::buffer::{Decoded, consume, decode, flag, has, pending, set_flag};
use super::super::{Context, PrimitiveError, cost};
use crate::datum::reader::{ReadError, read_first_until};
use crate::datum::{Datum, Node, NodeId};
use crate::heap::{Flags, Heap};
use crate::value::Value;

/// Bytes that are read for a unit of fuel.
const BYTES_READ: u64 = 2;

/// The cost of reading a number, however short it is.
const OF_NUMBER: u64 = 2;

/// The number of bytes inspected first.
const WINDOW_BYTES: usize = 1024;

/// Reads one datum; returns the end-of-file object, or [`Value::DEFAULT`], which no text denotes,
/// if the port lacks text.
pub(super) fn read(context: &mut Context<'_>, port: Value) -> Result<Value, PrimitiveError> {
    context.heap.charge(cost::OF_READING);
    let has_ended = has(context.heap, port, flag::AT_END);
    let available = pending(context.heap, port).len();
    let mut window = WINDOW_BYTES;
    loop {
        let length = available.min(window);
        context.heap.spend(length as u64 / BYTES_READ)?;
        let bytes = &pending(context.heap, port)[..length];
        let is_whole = window >= available;
        let is_all = is_whole && has_ended;
        let text = decoded(context.heap, bytes, is_all);
        let is_final = |end: usize| is_all || end < text.len();
        let folds_case = has(context.heap, port, flag::FOLDS_CASE);
        let first = read_first_until(&text, folds_case, context.heap.stop_flag());
        context.heap.spend(0)?;
        match first {
            Ok(Some(next)) if is_final(next.end) || is_whole && is_closed(&text[..next.end]) => {
                let consumed = encoded_length(bytes, &text, next.end, is_all);
                let value = fresh(context.heap, &next.datum)?;
                consume(context.heap, port, consumed);
                set_flag(context.heap, port, flag::FOLDS_CASE, next.folds_case);
                return Ok(value);
            }
            Ok(None) if is_all => {
                consume(context.heap, port, available);
                return Ok(Value::EOF);
            }
            Err(error) if is_final(error.span.end as usize) && (is_all || !error.problem.is_incomplete()) => {
                let consumed = encoded_length(bytes, &text, error.span.end as usize, is_all);
                let passed = if error.problem.is_incomplete() {
                    available
                } else {
                    consumed.max(1)
                };
                consume(context.heap, port, passed.min(available));
                return Err(read_error(&error));
            }
            Ok(_) | Err(_) if is_whole => return Ok(Value::DEFAULT),
            Ok(_) | Err(_) => window *= 2,
        }
    }
}

fn read_error(error: &ReadError) -> PrimitiveError {
    PrimitiveError::Condition {
        kind: "read-error",
        message: error.problem.to_string(),
        irritants: Vec::new(),
    }
}

/// Returns whether no further character can belong to the datum at the end of this text.
fn is_closed(text: &str) -> bool {
    text.ends_with([')', ']', '"'])
}

/// Returns the characters of bytes, up to an incomplete one.
fn decoded<'a>(heap: &Heap, bytes: &'a [u8], is_all: bool) -> Cow<'a, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let (mut text, mut rest, mut passed) = (String::new(), bytes, 0);
    while let Decoded::Character(character, length) = decode(rest, is_all) {
        text.push(character);
        rest = &rest[length..];
        passed += 1;
        if heap.ends_walk(passed) {
            break;
        }
    }
    Cow::Owned(text)
}

/// Returns the number of bytes that encode the first `end` bytes of their decoded text.
fn encoded_length(bytes: &[u8], text: &str, end: usize, is_all: bool) -> usize {
    if bytes.get(..end) == Some(&text.as_bytes()[..end]) {
        return end;
    }
    let (mut reached, mut consumed) = (0, 0);
    while reached < end
        && let Decoded::Character(character, length) = decode(&bytes[consumed..], is_all)
    {
        reached += character.len_utf8();
        consumed += length;
    }
    consumed
}

/// Makes the value of a datum; the program may change all of it.
fn fresh(heap: &mut Heap, datum: &Datum) -> Result<Value, PrimitiveError> {
    let values = heap.values_of(datum, Flags::NONE)?;
    let value_of = |id: NodeId| values[id.0 as usize].unwrap_or(Value::NIL);
    let root = value_of(datum.root);
    charge(heap, root);
    for (node, _) in datum.nodes.iter().zip(&values).filter(|(_, value)| value.is_some()) {
        match node {
            Node::Pair(car, cdr) => {
                charge(heap, value_of(*car));
                charge(heap, value_of(*cdr));
            }
            Node::Vector(elements) => elements.iter().for_each(|element| charge(heap, value_of(*element))),
            Node::Nil | Node::Boolean(_) | Node::Number(_) | Node::Complex(_) | Node::Character(_) => {}
            Node::String(_) | Node::Symbol(_) | Node::Keyword(_) | Node::Bytevector(_) => {}
        }
    }
    Ok(root)
}

/// Charges for a part of a datum, wherever it stands; a pair costs what its own parts cost.
#[inline(always)]
fn charge(heap: &mut Heap, part: Value) {
    if heap.is_number(part) {
        heap.charge(OF_NUMBER + cost::digits_of(cost::limbs(heap, part)));
    }
    if part.is_object() {
        heap.charge(2);
    }
}
