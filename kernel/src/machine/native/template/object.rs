//! Templates of instructions on pairs, vectors, strings, bytevectors and records.
//!
//! INVARIANT: every index is compared with the object's own length before it is used.
//! It does not call anything.
//! Read next: `machine/native/template/number.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use super::value::OBJECT_TAG;
use crate::heap::kind::Kind;
use crate::heap::{KIND_AND_MUTABILITY_MASK, KIND_MASK, VECTOR_HEADER};
use crate::instruction::Instruction;
use crate::machine::native::assembler::{Assembler, displacement, emit};
use crate::value::{Immediate, Value};

/// The tag that a pair's word has.
pub(super) const PAIR_TAG: i32 = 2;

/// The low half of a header of this kind, without flags.
pub(super) const fn header_bits(kind: Kind) -> i32 {
    Immediate::Header as i32 | (kind as i32) << 8
}

impl Assembler<'_> {
    pub(in super::super) fn cons(&mut self, instruction: Instruction) {
        self.reserve(2);
        let (car, cdr) = (self.read(instruction.b()), self.read(instruction.c()));
        let result = self.result();
        emit!(self
            ; mov [r12 + rbp], Rq(car)
            ; mov [r12 + rbp + 8], Rq(cdr)
            ; lea Rq(result), [rbp + PAIR_TAG]
            ; mov rbp, rdx
        );
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
        emit!(self; mov Rq(result), [r12 + Rq(pair) + displacement(part) - PAIR_TAG]);
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
        emit!(self
            ; lea ecx, [Rq(word) - PAIR_TAG]
            ; test cl, 7
            ; jnz =>leave
        );
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
        emit!(self; lea rcx, [Rq(pair) + displacement(part) - PAIR_TAG]);
        self.store(word, leave);
    }

    pub(in super::super) fn cxr(&mut self, instruction: Instruction) {
        let (leave, mut path) = (self.leave(), instruction.d());
        let mut part = self.read(instruction.b());
        let result = self.result();
        while path > 1 {
            self.expect_pair(part, leave);
            emit!(self; mov Rq(result), [r12 + Rq(part) + displacement(path & 1) - PAIR_TAG]);
            (part, path) = (result, path >> 1);
        }
        self.write(instruction.a(), part);
    }

    /// Leaves unless `vector` is a vector, which may be written if `mask` says so, and `index` one
    /// of its indices.
    fn expect_element(&mut self, vector: u8, index: u8, mask: u64) {
        let leave = self.leave();
        self.expect_object(vector, leave);
        emit!(self
            ; mov rdx, [r12 + Rq(vector) - OBJECT_TAG]
            ; mov eax, edx
            ; and eax, mask as i32
            ; cmp eax, VECTOR_HEADER.to_bits() as i32
            ; jne =>leave
            ; shr rdx, 32
        );
        self.expect_index(index, leave);
    }

    /// Leaves unless `index` is a fixnum below the number in rdx.
    pub(super) fn expect_index(&mut self, index: u8, leave: DynamicLabel) {
        emit!(self
            ; test Rd(index), 7
            ; jnz =>leave
            ; mov rax, Rq(index)
            ; shr rax, 3
            ; cmp rax, rdx
            ; jae =>leave
        );
    }

    pub(in super::super) fn vector_ref(&mut self, instruction: Instruction) {
        let (vector, index) = (self.read(instruction.b()), self.read(instruction.c()));
        let result = self.result();
        self.expect_element(vector, index, KIND_MASK);
        emit!(self
            ; lea rax, [r12 + Rq(vector) + 8 - OBJECT_TAG]
            ; mov Rq(result), [rax + Rq(index)]
        );
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn vector_set(&mut self, instruction: Instruction) {
        let (vector, index) = (self.read(instruction.a()), self.read(instruction.b()));
        let (word, leave) = (self.read(instruction.c()), self.leave());
        self.expect_element(vector, index, KIND_AND_MUTABILITY_MASK);
        emit!(self; lea rcx, [Rq(vector) + Rq(index) + 8 - OBJECT_TAG]);
        self.store(word, leave);
    }

    /// Leaves unless `word` is an object of `kind`; rdx is then its header.
    pub(super) fn expect_kind(&mut self, word: u8, kind: Kind, leave: DynamicLabel) {
        self.expect_object(word, leave);
        emit!(self
            ; mov rdx, [r12 + Rq(word) - OBJECT_TAG]
            ; movzx eax, dx
            ; cmp eax, header_bits(kind)
            ; jne =>leave
        );
    }

    pub(in super::super) fn vector_length(&mut self, instruction: Instruction) {
        let (vector, result, leave) = (self.read(instruction.b()), self.result(), self.leave());
        self.expect_kind(vector, Kind::Vector, leave);
        self.write_length(instruction.a(), result);
    }

    /// Writes the length in the header in rdx, which may use the processor register `result`.
    fn write_length(&mut self, register: usize, result: u8) {
        emit!(self
            ; shr rdx, 32
            ; lea Rq(result), [rdx * 8]
        );
        self.write(register, result);
    }

    /// Leaves unless `string` is a string of narrow characters; rax is then their object, rdx its
    /// header.
    fn expect_narrow(&mut self, string: u8, leave: DynamicLabel) {
        self.expect_kind(string, Kind::String, leave);
        emit!(self
            ; mov rax, [r12 + Rq(string) + 8 - OBJECT_TAG]
            ; mov rdx, [r12 + rax - OBJECT_TAG]
            ; movzx ecx, dx
            ; cmp ecx, header_bits(Kind::NarrowCharacters)
            ; jne =>leave
        );
    }

    pub(in super::super) fn string_length(&mut self, instruction: Instruction) {
        let (string, result, leave) = (self.read(instruction.b()), self.result(), self.leave());
        self.expect_narrow(string, leave);
        self.write_length(instruction.a(), result);
    }

    pub(in super::super) fn string_ref(&mut self, instruction: Instruction) {
        let (string, index) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        self.expect_narrow(string, leave);
        emit!(self; mov Rq(result), rax; shr rdx, 32);
        self.expect_index(index, leave);
        emit!(self
            ; add Rq(result), r12
            ; movzx Rd(result), BYTE [Rq(result) + rax + 8 - OBJECT_TAG]
            ; shl Rq(result), 32
            ; or Rq(result), Value::character('\0').to_bits() as i32
        );
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn bytevector_ref(&mut self, instruction: Instruction) {
        let (bytevector, index) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        self.expect_kind(bytevector, Kind::Bytevector, leave);
        emit!(self; shr rdx, 32);
        self.expect_index(index, leave);
        emit!(self
            ; lea Rq(result), [r12 + Rq(bytevector) + 8 - OBJECT_TAG]
            ; movzx Rd(result), BYTE [Rq(result) + rax]
            ; shl Rd(result), 3
        );
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn bytevector_set(&mut self, instruction: Instruction) {
        let (bytevector, index) = (self.read(instruction.a()), self.read(instruction.b()));
        let (byte, leave) = (self.read(instruction.c()), self.leave());
        self.expect_object(bytevector, leave);
        emit!(self
            ; mov rdx, [r12 + Rq(bytevector) - OBJECT_TAG]
            ; mov eax, edx
            ; and eax, KIND_AND_MUTABILITY_MASK as i32
            ; cmp eax, header_bits(Kind::Bytevector)
            ; jne =>leave
            ; shr rdx, 32
        );
        self.expect_index(index, leave);
        emit!(self
            ; test Rd(byte), 7
            ; jnz =>leave
            ; cmp Rq(byte), 8 * i32::from(u8::MAX)
            ; ja =>leave
            ; lea rcx, [Rq(bytevector) + rax + 8 - OBJECT_TAG]
        );
        self.pass_barrier(leave);
        emit!(self
            ; mov eax, Rd(byte)
            ; shr eax, 3
            ; mov [r12 + rcx], al
        );
    }

    /// Leaves unless `record` is an instance of `record_type` that has a field `field`.
    fn expect_instance(&mut self, record: u8, record_type: u8, field: usize) {
        let leave = self.leave();
        self.expect_kind(record, Kind::Record, leave);
        emit!(self
            ; shr rdx, 32
            ; cmp rdx, 1 + field as i32
            ; jbe =>leave
            ; cmp [r12 + Rq(record) + 8 - OBJECT_TAG], Rq(record_type)
            ; jne =>leave
        );
        self.expect_kind(record_type, Kind::RecordType, leave);
    }

    pub(in super::super) fn record_ref(&mut self, instruction: Instruction) {
        let (record, record_type) = (self.read(instruction.b()), self.read(instruction.c()));
        let result = self.result();
        self.expect_instance(record, record_type, instruction.d());
        emit!(self; mov Rq(result), [r12 + Rq(record) + displacement(2 + instruction.d()) - OBJECT_TAG]);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn record_set(&mut self, instruction: Instruction) {
        let (record, record_type) = (self.read(instruction.a()), self.read(instruction.b()));
        let (word, leave) = (self.read(instruction.c()), self.leave());
        self.expect_instance(record, record_type, instruction.d());
        emit!(self; lea rcx, [Rq(record) + displacement(2 + instruction.d()) - OBJECT_TAG]);
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
        emit!(self; cmp [r12 + Rq(word) + 8 - OBJECT_TAG], Rq(record_type));
        if sense {
            emit!(self; je =>target);
        } else {
            emit!(self; jne =>target);
        }
        emit!(self; =>next);
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
        emit!(self; cmp BYTE [r12 + Rq(word) + 1 - OBJECT_TAG], instruction.d() as i8);
        if sense {
            emit!(self; je =>target);
        } else {
            emit!(self; jne =>target);
        }
        emit!(self; =>next);
    }
}
