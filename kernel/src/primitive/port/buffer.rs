//! The buffer of a port: appending, consuming, decoding.
//!
//! INVARIANT: `start ≤ end ≤` the capacity. Bytes written to an output port as text are valid
//! UTF-8; those of an input port may be anything, and invalid UTF-8 reads as U+FFFD, however the
//! input was split.
//! It does not check the kind of port.
//! Read next: `primitive/read.rs`.

use crate::heap::kind::port;
use crate::heap::{Heap, HeapFull, Kind};
use crate::value::Value;

/// Bits of a port's flags.
pub(crate) mod flag {
    /// It can be read from.
    pub(crate) const INPUT: i64 = 1;
    /// It can be written to.
    pub(crate) const OUTPUT: i64 = 1 << 1;
    /// Its elements are characters; otherwise bytes.
    pub(crate) const TEXTUAL: i64 = 1 << 2;
    /// It has not been closed.
    pub(crate) const OPEN: i64 = 1 << 3;
    /// Somebody fills or empties it: the host, or a procedure of the program.
    pub(crate) const CONSOLE: i64 = 1 << 4;
    /// The input ends after the buffered bytes.
    pub(crate) const AT_END: i64 = 1 << 5;
    /// The output should be taken at each newline.
    pub(crate) const LINE_BUFFERED: i64 = 1 << 6;
    /// A newline is among the buffered bytes of a console output port.
    pub(crate) const NEWLINE_PENDING: i64 = 1 << 7;
    /// Reading folds case, as the last `#!fold-case` in the input says.
    pub(crate) const FOLDS_CASE: i64 = 1 << 8;
    /// The output should be taken after each write.
    pub(crate) const UNBUFFERED: i64 = 1 << 9;
}

/// The initial capacity of a buffer, in bytes.
const CAPACITY_INITIAL: usize = 64;
/// When the buffer of a console's output port outgrows this many bytes, it gets the capacity that
/// may be kept, and then the greatest that it needs. Doubling would copy and abandon several times
/// as many bytes and take half of the run time of a program that prints.
const CAPACITY_SMALL: usize = 1 << 15;
/// An emptied buffer with more capacity than this is replaced.
const CAPACITY_KEPT: usize = 1 << 16;

/// The next character of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::primitive) enum Decoded {
    /// This character, of this many bytes.
    Character(char, usize),
    /// It depends on bytes that are not buffered yet.
    Incomplete,
    /// There is none.
    End,
}

/// Makes an open port with these flags.
pub(super) fn make(heap: &mut Heap, flags: i64, stream: Value) -> Result<Value, HeapFull> {
    let buffer = heap.bytevector(&[])?;
    make_around(heap, flags, buffer, stream)
}

/// Makes an open input port that delivers `bytes` and then ends.
pub(super) fn make_input(heap: &mut Heap, flags: i64, bytes: &[u8]) -> Result<Value, HeapFull> {
    let buffer = heap.bytevector(bytes)?;
    make_around(heap, flags | flag::INPUT | flag::AT_END, buffer, Value::FALSE)
}

fn make_around(heap: &mut Heap, flags: i64, buffer: Value, stream: Value) -> Result<Value, HeapFull> {
    let mut fields = [Value::ZERO; port::LENGTH];
    fields[port::FLAGS] = Value::length((flags | flag::OPEN) as usize);
    fields[port::BUFFER] = buffer;
    fields[port::END] = Value::length(heap.object_length(buffer));
    fields[port::STREAM] = stream;
    heap.make(Kind::Port, &fields)
}

/// Returns whether a port has all of these flags.
#[inline(always)]
pub(in crate::primitive) fn has(heap: &Heap, port: Value, flags: i64) -> bool {
    heap.field(port, port::FLAGS).as_fixnum().unwrap_or(0) & flags == flags
}

/// Sets or clears flags.
pub(in crate::primitive) fn set_flag(heap: &mut Heap, port: Value, flags: i64, is_set: bool) {
    let old = heap.field(port, port::FLAGS).as_fixnum().unwrap_or(0);
    let new = if is_set { old | flags } else { old & !flags };
    if new != old {
        heap.set_field(port, port::FLAGS, Value::length(new as usize));
    }
}

#[inline(always)]
fn position(heap: &Heap, port: Value, field: usize) -> usize {
    heap.field(port, field).as_fixnum().unwrap_or(0) as usize
}

/// Returns the bytes that have been buffered and not been read.
#[inline]
pub(in crate::primitive) fn pending(heap: &Heap, port: Value) -> &[u8] {
    let bytes = heap.raw_bytes(heap.field(port, port::BUFFER));
    &bytes[position(heap, port, port::START)..position(heap, port, port::END)]
}

/// Returns a bytevector of the pending bytes.
pub(super) fn copy_pending(heap: &mut Heap, port: Value) -> Result<Value, HeapFull> {
    let length = pending(heap, port).len();
    let copy = heap.allocate_raw(Kind::Bytevector, length)?;
    let start = position(heap, port, port::START);
    heap.copy_bytes(heap.field(port, port::BUFFER), start, copy, 0, length);
    Ok(copy)
}

/// Returns a string of the first `count` pending bytes.
pub(in crate::primitive) fn text(heap: &mut Heap, port: Value, count: usize) -> Result<Value, HeapFull> {
    let bytes = &pending(heap, port)[..count];
    if bytes.is_ascii() {
        let start = position(heap, port, port::START);
        return heap.ascii_string(heap.field(port, port::BUFFER), start, count);
    }
    let mut text = String::with_capacity(count);
    for part in heap.until_stopped(bytes.utf8_chunks()) {
        text.push_str(part.valid());
        if !part.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    heap.string(&text)
}

/// Drops the first `count` pending bytes, which must exist.
#[inline]
pub(in crate::primitive) fn consume(heap: &mut Heap, port: Value, count: usize) {
    let start = position(heap, port, port::START) + count;
    heap.set_field(port, port::START, Value::length(start));
}

/// Empties the buffer, and replaces a large one, so that no image has to carry it.
pub(super) fn clear(heap: &mut Heap, port: Value) {
    heap.set_field(port, port::START, Value::ZERO);
    heap.set_field(port, port::END, Value::ZERO);
    let is_large = heap.object_length(heap.field(port, port::BUFFER)) > CAPACITY_KEPT;
    // If there is no room for an empty one, the next write replaces the buffer.
    if is_large && let Ok(fresh) = heap.bytevector(&[]) {
        heap.set_field(port, port::BUFFER, fresh);
    }
}

/// Returns the first pending byte of an open port with these flags, if a simple check suffices.
#[inline(always)]
pub(in crate::primitive) fn glance(heap: &Heap, port: Value, flags: i64) -> Option<u8> {
    if !heap.is_kind(port, Kind::Port) || !has(heap, port, flags | flag::OPEN) {
        return None;
    }
    let start = position(heap, port, port::START);
    if start < position(heap, port, port::END) {
        heap.byte_at(heap.field(port, port::BUFFER), start)
    } else {
        None
    }
}

/// Appends one byte, if the port is open, has these flags, is not a console's and has room; returns
/// whether it did.
#[inline(always)]
pub(in crate::primitive) fn append_at_hand(heap: &mut Heap, port: Value, flags: i64, byte: u8) -> bool {
    if !heap.is_kind(port, Kind::Port) {
        return false;
    }
    let flags = flags | flag::OUTPUT | flag::OPEN;
    let asked = flags | flag::CONSOLE | flag::TEXTUAL;
    if heap.field(port, port::FLAGS).as_fixnum().unwrap_or(0) & asked != flags {
        return false;
    }
    let end = position(heap, port, port::END);
    let is_written = heap.set_byte_at(heap.field(port, port::BUFFER), end, byte);
    if is_written {
        heap.set_field(port, port::END, Value::length(end + 1));
    }
    is_written
}

#[inline]
pub(in crate::primitive) fn append_byte(heap: &mut Heap, port: Value, byte: u8) -> Result<(), HeapFull> {
    let buffer = heap.field(port, port::BUFFER);
    let end = position(heap, port, port::END);
    if !heap.set_byte_at(buffer, end, byte) {
        return append(heap, port, &[byte]);
    }
    heap.set_field(port, port::END, Value::length(end + 1));
    if byte == b'\n' {
        note_newline(heap, port);
    }
    Ok(())
}

pub(in crate::primitive) fn append(heap: &mut Heap, port: Value, bytes: &[u8]) -> Result<(), HeapFull> {
    let (buffer, end) = reserve(heap, port, bytes.len())?;
    heap.raw_range_mut(buffer, end, end + bytes.len())
        .copy_from_slice(bytes);
    heap.set_field(port, port::END, Value::length(end + bytes.len()));
    if has(heap, port, flag::CONSOLE) && bytes.contains(&b'\n') {
        note_newline(heap, port);
    }
    Ok(())
}

/// Appends `count` bytes of a raw object from `start` on.
pub(in crate::primitive) fn append_from(
    heap: &mut Heap,
    port: Value,
    from: Value,
    start: usize,
    count: usize,
) -> Result<(), HeapFull> {
    let (buffer, end) = reserve(heap, port, count)?;
    heap.copy_bytes(from, start, buffer, end, count);
    heap.set_field(port, port::END, Value::length(end + count));
    if has(heap, port, flag::CONSOLE) && heap.raw_bytes(buffer)[end..end + count].contains(&b'\n') {
        note_newline(heap, port);
    }
    Ok(())
}

fn note_newline(heap: &mut Heap, port: Value) {
    if has(heap, port, flag::CONSOLE | flag::OUTPUT) {
        set_flag(heap, port, flag::NEWLINE_PENDING, true);
    }
}

/// Makes room for `count` bytes; returns the buffer and the index of the first.
fn reserve(heap: &mut Heap, port: Value, count: usize) -> Result<(Value, usize), HeapFull> {
    let buffer = heap.field(port, port::BUFFER);
    let [start, end] = [port::START, port::END].map(|field| position(heap, port, field));
    let capacity = heap.object_length(buffer);
    if end + count <= capacity && (start < end || capacity <= CAPACITY_KEPT) && (start == 0 || start < end) {
        return Ok((buffer, end));
    }
    let length = end - start;
    let target = if length + count <= capacity / 2 && capacity <= CAPACITY_KEPT {
        buffer
    } else {
        heap.allocate_raw(Kind::Bytevector, grown_capacity(heap, port, length + count))?
    };
    heap.copy_bytes(buffer, start, target, 0, length);
    heap.set_field(port, port::BUFFER, target);
    heap.set_field(port, port::START, Value::ZERO);
    heap.set_field(port, port::END, Value::length(length));
    Ok((target, length))
}

/// Returns the capacity of a new buffer that replaces one without room for `length` bytes.
fn grown_capacity(heap: &Heap, port: Value, length: usize) -> usize {
    let doubled = (length * 2).max(CAPACITY_INITIAL);
    let is_large = doubled > CAPACITY_SMALL && has(heap, port, flag::CONSOLE | flag::OUTPUT);
    if is_large && length <= CAPACITY_KEPT {
        CAPACITY_KEPT
    } else if is_large && length < super::PENDING_BYTES {
        // The last write may exceed the limit by a little.
        super::PENDING_BYTES + CAPACITY_SMALL / 8
    } else {
        doubled
    }
}

/// Decodes the first character of `bytes`; `is_all` means that no more bytes will follow.
#[inline]
pub(in crate::primitive) fn decode(bytes: &[u8], is_all: bool) -> Decoded {
    match bytes.first() {
        Some(&byte) if byte < 0x80 => Decoded::Character(char::from(byte), 1),
        Some(_) => decode_wide(bytes, is_all),
        None if is_all => Decoded::End,
        None => Decoded::Incomplete,
    }
}

/// Decodes the first character of `bytes`, which is not ASCII. A maximal prefix of a character that
/// is not continued counts as one U+FFFD.
fn decode_wide(bytes: &[u8], is_all: bool) -> Decoded {
    let window = &bytes[..bytes.len().min(4)];
    let (valid, invalid) = match str::from_utf8(window) {
        Ok(text) => (text, None),
        Err(error) => {
            let (valid, _) = window.split_at(error.valid_up_to());
            (str::from_utf8(valid).unwrap_or_default(), error.error_len())
        }
    };
    match (valid.chars().next(), invalid) {
        (Some(character), _) => Decoded::Character(character, character.len_utf8()),
        (None, Some(length)) => Decoded::Character(char::REPLACEMENT_CHARACTER, length),
        (None, None) if is_all => Decoded::Character(char::REPLACEMENT_CHARACTER, window.len()),
        (None, None) => Decoded::Incomplete,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::Limits;

    #[test]
    fn a_turn_that_prints_what_may_be_kept_makes_no_buffer() {
        let mut heap = Heap::new(Limits { bytes_max: 1 << 26 });
        let port = make(&mut heap, flag::CONSOLE | flag::OUTPUT, Value::ZERO).expect("there is room");
        let mut bytes_for = |lines: usize| {
            let before = heap.statistics().words_used;
            for _ in 0..lines {
                append(&mut heap, port, &[b'x'; 100]).expect("there is room");
            }
            assert_eq!(pending(&heap, port).len(), 100 * lines);
            clear(&mut heap, port);
            8 * (heap.statistics().words_used - before)
        };
        let lines_kept = CAPACITY_KEPT / 100;
        assert!((CAPACITY_KEPT..3 * CAPACITY_KEPT).contains(&bytes_for(lines_kept)));
        for lines in [lines_kept, 1, lines_kept / 2] {
            assert_eq!(bytes_for(lines), 0, "{lines} lines");
        }
        // A larger buffer is replaced when it is emptied.
        assert!((4 * CAPACITY_KEPT..5 * CAPACITY_KEPT).contains(&bytes_for(2 * lines_kept)));
        assert!(bytes_for(lines_kept) > CAPACITY_KEPT);
    }
}
