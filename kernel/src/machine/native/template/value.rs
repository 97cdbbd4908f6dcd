//! Templates of instructions that move values: registers, literals, globals, captured values,
//! closures and cells.
//!
//! INVARIANT: an object is filled before a register refers to it.
//! It does not look into pairs, vectors, strings and records; `machine/native/template/object.rs`
//! does.
//! Read next: `machine/native/template/object.rs`.

use dynasmrt::DynamicLabel;

use super::words;
use crate::heap::kind::{Header, Kind};
use crate::instruction::Instruction;
use crate::machine::native::assembler::Assembler;
use crate::machine::native::context;
use crate::machine::native::processor::{Condition, OBJECT_TAG, PROCEDURE_TAG, Processor};
use crate::value::Value;

impl<P: Processor> Assembler<'_, P> {
    pub(in super::super) fn move_register(&mut self, instruction: Instruction) {
        let word = self.read(instruction.b());
        let is_pair = self.registers.is_pair(instruction.b());
        self.write(instruction.a(), word);
        if is_pair {
            self.registers.note_pair(instruction.a());
        }
    }

    pub(in super::super) fn small(&mut self, instruction: Instruction) {
        self.load_word(instruction.a(), Value::small(instruction.w_signed()));
    }

    pub(in super::super) fn immediate(&mut self, instruction: Instruction) {
        let bits = instruction.d() as u64 | u64::from(instruction.w()) << 32;
        self.load_word(instruction.a(), Value::from_bits(bits));
    }

    fn load_word(&mut self, register: usize, word: Value) {
        let result = self.result();
        self.load(result, word);
        self.write(register, result);
    }

    /// Loads a word into a processor register.
    pub(super) fn load(&mut self, processor: u8, word: Value) {
        self.out.set(processor, word.to_bits());
    }

    pub(in super::super) fn constant(&mut self, instruction: Instruction) {
        let result = self.result();
        self.out.load_context(P::A, context::CONSTANTS);
        self.out.load_word(result, P::A, words(instruction.w() as usize));
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn global(&mut self, instruction: Instruction) {
        let (result, leave) = (self.result(), self.leave());
        self.load(P::A, Value::UNDEFINED);
        self.out.load_context(P::C, context::GLOBALS);
        self.out.load_word(result, P::C, words(instruction.w() as usize));
        self.out.compare(result, P::A);
        self.out.branch(Condition::Equal, leave);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn set_global(&mut self, instruction: Instruction) {
        let (word, leave) = (self.read(instruction.a()), self.leave());
        let offset = words(instruction.w() as usize);
        self.load(P::A, Value::UNDEFINED);
        self.out.load_context(P::C, context::GLOBALS);
        self.out.compare_word(offset, P::A);
        self.out.branch(Condition::Equal, leave);
        self.out.set_place_from_address(offset);
        self.store(word, leave);
    }

    pub(in super::super) fn define_global(&mut self, _: Instruction) {
        self.leave_here();
    }

    /// Writes a word of a live object at the place in C; uses A and D.
    pub(super) fn store(&mut self, word: u8, leave: DynamicLabel) {
        self.out.pass_barrier(leave);
        self.out.store(word);
    }

    pub(in super::super) fn free(&mut self, instruction: Instruction) {
        let (procedure, result) = (self.read(0), self.result());
        self.out
            .load_object(result, procedure, words(2 + instruction.b()) - PROCEDURE_TAG);
        self.write(instruction.a(), result);
    }

    /// Leaves unless `words` words are free; D is then the place behind them.
    pub(super) fn reserve(&mut self, words: usize) {
        let leave = self.leave();
        self.out.reserve(words, leave);
    }

    pub(in super::super) fn closure(&mut self, instruction: Instruction) {
        let block = self.code.block(instruction.w() as usize);
        let (captured, code_word) = (usize::from(block.captured), block.made_word);
        let length = (captured + 3) & !1;
        self.reserve(length);
        let header = Header::new(Kind::Closure, captured as u32 + 1).to_value();
        for (place, word) in [(0, header), (1, code_word)] {
            self.load(P::A, word);
            self.out.store_new(place, P::A);
        }
        if !captured.is_multiple_of(2) {
            self.out.clear_new(length - 1);
        }
        for place in 0..captured {
            self.registers.unpin();
            let word = self.read(instruction.a() + place);
            self.out.store_new(2 + place, word);
        }
        let result = self.result();
        self.out.finish_new(result, PROCEDURE_TAG);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn patch_closure(&mut self, instruction: Instruction) {
        let (closure, word) = (self.read(instruction.a()), self.read(instruction.c()));
        let leave = self.leave();
        self.out.set_place(closure, words(2 + instruction.b()) - PROCEDURE_TAG);
        self.store(word, leave);
    }

    pub(in super::super) fn cell(&mut self, instruction: Instruction) {
        self.reserve(2);
        let (word, result) = (self.read(instruction.b()), self.result());
        self.load(P::A, crate::heap::CELL_HEADER);
        self.out.store_both_new(P::A, word);
        self.out.finish_new(result, OBJECT_TAG);
        self.write(instruction.a(), result);
    }

    /// Leaves unless the word is that of an object which is no procedure.
    pub(super) fn expect_object(&mut self, word: u8, leave: DynamicLabel) {
        self.out.test_tag(word, OBJECT_TAG);
        self.out.branch(Condition::NotEqual, leave);
    }

    fn expect_cell(&mut self, cell: u8, leave: DynamicLabel) {
        self.expect_object(cell, leave);
        self.load(P::A, crate::heap::CELL_HEADER);
        self.out.compare_object(cell, -OBJECT_TAG, P::A);
        self.out.branch(Condition::NotEqual, leave);
    }

    pub(in super::super) fn cell_ref(&mut self, instruction: Instruction) {
        let (cell, result, leave) = (self.read(instruction.b()), self.result(), self.leave());
        self.expect_cell(cell, leave);
        self.out.load_object(result, cell, 8 - OBJECT_TAG);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn cell_set(&mut self, instruction: Instruction) {
        let (cell, word) = (self.read(instruction.a()), self.read(instruction.b()));
        let leave = self.leave();
        self.expect_cell(cell, leave);
        self.out.set_place(cell, 8 - OBJECT_TAG);
        self.store(word, leave);
    }

    pub(in super::super) fn check_defined(&mut self, instruction: Instruction) {
        let (word, leave) = (self.read(instruction.a()), self.leave());
        self.load(P::A, Value::UNDEFINED);
        self.out.compare(word, P::A);
        self.out.branch(Condition::Equal, leave);
    }
}
