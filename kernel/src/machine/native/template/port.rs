//! Characters that are read from and written to ports in line.
//!
//! Only ASCII, only what stands in the buffer or has room there; machine code calls the primitive
//! for the rest.
//! INVARIANT: nothing has changed when the primitive is called, but for a byte behind the end of
//! the buffered bytes.
//! INVARIANT: a port's fields are not trusted: no index is used that is not below the length of the
//! buffer.
//! Read next: `primitive/port/buffer.rs`.

use dynasmrt::DynamicLabel;

use super::character::ASCII_MAX;
use super::primitive::Call;
use super::words;
use crate::heap::Kind;
use crate::heap::kind::port;
use crate::machine::native::assembler::Assembler;
use crate::machine::native::processor::{Condition, OBJECT_TAG, Processor};
use crate::primitive::port_flag;
use crate::value::Value;

/// The displacement of a port's field.
const fn field(place: usize) -> i32 {
    words(1 + place) - OBJECT_TAG
}

impl<P: Processor> Assembler<'_, P> {
    pub(super) fn peek_character(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let port = self.read(call.first);
        let (start, byte) = (self.result(), self.result());
        self.next_byte(port, start, byte, slow);
        self.out.make_character(byte);
        byte
    }

    pub(super) fn read_character(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let port = self.read(call.first);
        let (start, byte) = (self.result(), self.result());
        self.next_byte(port, start, byte, slow);
        self.out.add_number(start, start, words(1));
        self.out.set_place(port, field(port::START));
        self.out.pass_barrier(slow);
        self.out.store(start);
        self.out.make_character(byte);
        byte
    }

    /// Loads where the next byte of a textual input port stands, a fixnum, and the byte, which is a
    /// character.
    fn next_byte(&mut self, port: u8, start: u8, byte: u8, slow: DynamicLabel) {
        const FLAGS: i64 = port_flag::INPUT | port_flag::TEXTUAL | port_flag::OPEN;
        self.expect_port(port, FLAGS, FLAGS, slow);
        self.out.load_object(start, port, field(port::START));
        self.out.load_object(P::A, port, field(port::END));
        self.out.compare(start, P::A);
        self.out.branch(Condition::AboveEqual, slow);
        self.expect_buffered(port, byte, start, slow);
        self.out.load_byte(byte, byte, words(1) - OBJECT_TAG);
        self.out.compare_number(byte, ASCII_MAX);
        self.out.branch(Condition::Above, slow);
    }

    pub(super) fn write_character(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        const FLAGS: i64 = port_flag::OUTPUT | port_flag::TEXTUAL | port_flag::OPEN;
        let (character, port) = (self.read(call.first), self.read(call.first + 1));
        let (byte, end, buffer) = (self.result(), self.result(), self.result());
        self.load_ascii(character, byte, slow);
        self.expect_port(port, FLAGS | port_flag::CONSOLE, FLAGS, slow);
        self.out.load_object(end, port, field(port::END));
        self.expect_buffered(port, buffer, end, slow);
        self.out.set_place_at(buffer, P::A, words(1) - OBJECT_TAG);
        self.out.pass_barrier(slow);
        self.out.store_byte(byte);
        self.out.add_number(end, end, words(1));
        self.out.set_place(port, field(port::END));
        self.out.pass_barrier(slow);
        self.out.store(end);
        self.load(buffer, Value::FALSE);
        buffer
    }

    /// Leaves unless `word` is a port with these flags among those of the mask.
    fn expect_port(&mut self, word: u8, mask: i64, flags: i64, slow: DynamicLabel) {
        let bits = |flags: i64| Value::length(flags as usize).to_bits();
        self.expect_kind(word, Kind::Port, slow);
        self.out
            .compare_header_of(word, field(port::FLAGS), bits(mask), bits(flags) as i32);
        self.out.branch(Condition::NotEqual, slow);
    }

    /// Loads a port's buffer; leaves unless `index` is a fixnum below its length. A is then its
    /// integer.
    fn expect_buffered(&mut self, port: u8, buffer: u8, index: u8, slow: DynamicLabel) {
        self.out.load_object(buffer, port, field(port::BUFFER));
        self.expect_kind(buffer, Kind::Bytevector, slow);
        self.out.shift_right(P::D, P::D, 32);
        self.expect_index(index, slow);
    }
}
