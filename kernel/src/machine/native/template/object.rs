//! Templates of instructions on pairs, vectors, strings, bytevectors and records.
//!
//! INVARIANT: every index is compared with the object's own length before it is used.
//! It does not call anything.
//! Read next: `machine/native/template/number.rs`.

use dynasmrt::DynamicLabel;

use super::words;
use crate::heap::kind::Kind;
use crate::heap::{KIND_AND_MUTABILITY_MASK, KIND_MASK, VECTOR_HEADER};
use crate::instruction::Instruction;
use crate::machine::native::assembler::Assembler;
use crate::machine::native::processor::{Condition, OBJECT_TAG, PAIR_TAG, Processor, Relation};
use crate::value::Immediate;

/// The low half of a header of this kind, without flags.
pub(super) const fn header_bits(kind: Kind) -> i32 {
    Immediate::Header as i32 | (kind as i32) << 8
}

/// A wide character takes two to the power of this many bytes.
const WIDE_SHIFT: u8 = 2;

impl<P: Processor> Assembler<'_, P> {
    pub(in super::super) fn cons(&mut self, instruction: Instruction) {
        self.reserve(2);
        let (car, cdr) = (self.read(instruction.b()), self.read(instruction.c()));
        let result = self.result();
        self.out.store_both_new(car, cdr);
        self.out.finish_new(result, PAIR_TAG);
        self.write(instruction.a(), result);
        self.registers.note_pair(instruction.a());
    }

    pub(in super::super) fn car(&mut self, instruction: Instruction) {
        self.part(instruction, 0);
    }

    pub(in super::super) fn cdr(&mut self, instruction: Instruction) {
        self.part(instruction, 1);
    }

    fn part(&mut self, instruction: Instruction, part: usize) {
        let pair = self.read_pair(instruction.b());
        let result = self.result();
        self.out.load_object(result, pair, words(part) - PAIR_TAG);
        self.write(instruction.a(), result);
    }

    /// The processor register that holds a register of the frame; leaves unless it is a pair.
    fn read_pair(&mut self, register: usize) -> u8 {
        let pair = self.read(register);
        if !self.registers.is_pair(register) {
            let leave = self.leave();
            self.expect_pair(pair, leave);
            self.registers.note_pair(register);
        }
        pair
    }

    fn expect_pair(&mut self, word: u8, leave: DynamicLabel) {
        self.out.test_tag(word, PAIR_TAG);
        self.out.branch(Condition::NotEqual, leave);
    }

    pub(in super::super) fn set_car(&mut self, instruction: Instruction) {
        self.set_part(instruction, 0);
    }

    pub(in super::super) fn set_cdr(&mut self, instruction: Instruction) {
        self.set_part(instruction, 1);
    }

    fn set_part(&mut self, instruction: Instruction, part: usize) {
        let pair = self.read_pair(instruction.a());
        let (word, leave) = (self.read(instruction.b()), self.leave());
        self.out.set_place(pair, words(part) - PAIR_TAG);
        self.store(word, leave);
    }

    pub(in super::super) fn cxr(&mut self, instruction: Instruction) {
        let (leave, mut path) = (self.leave(), instruction.d());
        let mut part = self.read(instruction.b());
        let result = self.result();
        while path > 1 {
            self.expect_pair(part, leave);
            self.out.load_object(result, part, words(path & 1) - PAIR_TAG);
            (part, path) = (result, path >> 1);
        }
        self.write(instruction.a(), part);
    }

    /// Leaves unless `vector` is a vector, which may be written if `mask` says so, and `index` one
    /// of its indices.
    fn expect_element(&mut self, vector: u8, index: u8, mask: u64) {
        let leave = self.leave();
        self.expect_object(vector, leave);
        self.out.load_object(P::D, vector, -OBJECT_TAG);
        self.out.compare_header(mask, VECTOR_HEADER.to_bits() as i32);
        self.out.branch(Condition::NotEqual, leave);
        self.out.shift_right(P::D, P::D, 32);
        self.expect_index(index, leave);
    }

    /// Leaves unless `index` is a fixnum below the number in D; A is then its integer.
    pub(super) fn expect_index(&mut self, index: u8, leave: DynamicLabel) {
        self.out.test_fixnum(index);
        self.out.branch(Condition::NotEqual, leave);
        self.out.shift_right(P::A, index, 3);
        self.out.compare(P::A, P::D);
        self.out.branch(Condition::AboveEqual, leave);
    }

    pub(in super::super) fn vector_ref(&mut self, instruction: Instruction) {
        let (vector, index) = (self.read(instruction.b()), self.read(instruction.c()));
        let result = self.result();
        self.expect_element(vector, index, KIND_MASK);
        self.out.load_element(result, vector, index, 8 - OBJECT_TAG);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn vector_set(&mut self, instruction: Instruction) {
        let (vector, index) = (self.read(instruction.a()), self.read(instruction.b()));
        let (word, leave) = (self.read(instruction.c()), self.leave());
        self.expect_element(vector, index, KIND_AND_MUTABILITY_MASK);
        self.out.set_place_at(vector, index, 8 - OBJECT_TAG);
        self.store(word, leave);
    }

    /// Leaves unless `word` is an object of `kind`; D is then its header.
    pub(super) fn expect_kind(&mut self, word: u8, kind: Kind, leave: DynamicLabel) {
        self.expect_object(word, leave);
        self.out.load_object(P::D, word, -OBJECT_TAG);
        self.out.compare_kind(header_bits(kind));
        self.out.branch(Condition::NotEqual, leave);
    }

    pub(in super::super) fn vector_length(&mut self, instruction: Instruction) {
        let (vector, result, leave) = (self.read(instruction.b()), self.result(), self.leave());
        self.expect_kind(vector, Kind::Vector, leave);
        self.write_length(instruction.a(), result);
    }

    /// Writes the length in the header in D, which may use the processor register `result`.
    fn write_length(&mut self, register: usize, result: u8) {
        self.out.shift_right(P::D, P::D, 32);
        self.out.make_fixnum(result, P::D);
        self.write(register, result);
    }

    /// Leaves unless `string` is a string; A is then the object of its characters, D its header.
    /// Branches unless the characters are narrow.
    fn expect_narrow(&mut self, string: u8, wide: DynamicLabel) {
        let leave = self.leave();
        self.expect_kind(string, Kind::String, leave);
        self.out.load_object(P::A, string, 8 - OBJECT_TAG);
        self.out.load_object(P::D, P::A, -OBJECT_TAG);
        self.out.compare_kind_beside(header_bits(Kind::NarrowCharacters));
        self.out.branch(Condition::NotEqual, wide);
    }

    pub(in super::super) fn string_length(&mut self, instruction: Instruction) {
        let (string, result, done) = (self.read(instruction.b()), self.result(), self.label());
        let wide = self.cold(move |assembler| {
            assembler.out.shift_right(P::D, P::D, 32 + WIDE_SHIFT);
            assembler.out.make_fixnum(result, P::D);
            assembler.out.jump(done);
        });
        self.expect_narrow(string, wide);
        self.out.shift_right(P::D, P::D, 32);
        self.out.make_fixnum(result, P::D);
        self.out.place(done);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn string_ref(&mut self, instruction: Instruction) {
        let (string, index) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave, loaded) = (self.result(), self.leave(), self.label());
        let wide = self.cold(move |assembler| {
            assembler.out.copy(result, P::A);
            assembler.out.shift_right(P::D, P::D, 32 + WIDE_SHIFT);
            assembler.expect_index(index, leave);
            assembler.out.load_four_bytes(result, result, 8 - OBJECT_TAG);
            assembler.out.jump(loaded);
        });
        self.expect_narrow(string, wide);
        self.out.copy(result, P::A);
        self.out.shift_right(P::D, P::D, 32);
        self.expect_index(index, leave);
        self.out.load_byte(result, result, 8 - OBJECT_TAG);
        self.out.place(loaded);
        self.out.make_character(result);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn bytevector_ref(&mut self, instruction: Instruction) {
        let (bytevector, index) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        self.expect_kind(bytevector, Kind::Bytevector, leave);
        self.out.shift_right(P::D, P::D, 32);
        self.expect_index(index, leave);
        self.out.load_byte(result, bytevector, 8 - OBJECT_TAG);
        self.out.shift_left(result, result, 3);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn bytevector_set(&mut self, instruction: Instruction) {
        let (bytevector, index) = (self.read(instruction.a()), self.read(instruction.b()));
        let (byte, leave) = (self.read(instruction.c()), self.leave());
        self.expect_object(bytevector, leave);
        self.out.load_object(P::D, bytevector, -OBJECT_TAG);
        self.out
            .compare_header(KIND_AND_MUTABILITY_MASK, header_bits(Kind::Bytevector));
        self.out.branch(Condition::NotEqual, leave);
        self.out.shift_right(P::D, P::D, 32);
        self.expect_index(index, leave);
        self.out.test_fixnum(byte);
        self.out.branch(Condition::NotEqual, leave);
        self.out.compare_number(byte, 8 * i32::from(u8::MAX));
        self.out.branch(Condition::Above, leave);
        self.out.set_place_at(bytevector, P::A, 8 - OBJECT_TAG);
        self.out.pass_barrier(leave);
        self.out.store_fixnum_byte(byte);
    }

    /// Leaves unless `record` is an instance of `record_type` that has a field `field`.
    fn expect_instance(&mut self, record: u8, record_type: u8, field: usize) {
        let leave = self.leave();
        self.expect_kind(record, Kind::Record, leave);
        self.out.shift_right(P::D, P::D, 32);
        self.out.compare_number(P::D, 1 + field as i32);
        self.out.branch(Condition::BelowEqual, leave);
        self.out.compare_object(record, 8 - OBJECT_TAG, record_type);
        self.out.branch(Condition::NotEqual, leave);
        self.expect_kind(record_type, Kind::RecordType, leave);
    }

    pub(in super::super) fn record_ref(&mut self, instruction: Instruction) {
        let (record, record_type) = (self.read(instruction.b()), self.read(instruction.c()));
        let result = self.result();
        self.expect_instance(record, record_type, instruction.d());
        self.out
            .load_object(result, record, words(2 + instruction.d()) - OBJECT_TAG);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn record_set(&mut self, instruction: Instruction) {
        let (record, record_type) = (self.read(instruction.a()), self.read(instruction.b()));
        let (word, leave) = (self.read(instruction.c()), self.leave());
        self.expect_instance(record, record_type, instruction.d());
        self.out.set_place(record, words(2 + instruction.d()) - OBJECT_TAG);
        self.store(word, leave);
    }

    pub(in super::super) fn jump_if_record(&mut self, instruction: Instruction) {
        self.jump_on_record(instruction, true);
    }

    pub(in super::super) fn jump_unless_record(&mut self, instruction: Instruction) {
        self.jump_on_record(instruction, false);
    }

    fn jump_on_record(&mut self, instruction: Instruction, sense: bool) {
        let (word, record_type) = (self.read(instruction.a()), self.read(instruction.b()));
        let (leave, target, next) = (self.leave(), self.target(instruction.c_signed().into()), self.label());
        self.expect_kind(record_type, Kind::RecordType, leave);
        let otherwise = if sense { next } else { target };
        self.expect_kind(word, Kind::Record, otherwise);
        self.out.compare_object(word, 8 - OBJECT_TAG, record_type);
        self.out.branch(Relation::Equal.signed(sense), target);
        self.out.place(next);
    }

    pub(in super::super) fn jump_if_kind(&mut self, instruction: Instruction) {
        self.jump_on_kind(instruction, true);
    }

    pub(in super::super) fn jump_unless_kind(&mut self, instruction: Instruction) {
        self.jump_on_kind(instruction, false);
    }

    fn jump_on_kind(&mut self, instruction: Instruction, sense: bool) {
        let word = self.read(instruction.a());
        let (target, next) = (self.target(instruction.w_signed()), self.label());
        self.expect_object(word, if sense { next } else { target });
        self.out
            .compare_object_byte(word, 1 - OBJECT_TAG, instruction.d() as u8);
        self.out.branch(Relation::Equal.signed(sense), target);
        self.out.place(next);
    }
}
