//! Templates of instructions that move values: registers, literals, globals, captured values,
//! closures and cells.
//!
//! INVARIANT: an object is filled before a register refers to it.
//! It does not look into pairs, vectors, strings and records; `machine/native/template/object.rs`
//! does.
//! Read next: `machine/native/template/object.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use crate::heap::kind::{Header, Kind};
use crate::instruction::Instruction;
use crate::machine::native::assembler::{Assembler, displacement, emit};
use crate::machine::native::context;
use crate::value::Value;

/// The tag that a procedure object's word has.
pub(super) const PROCEDURE_TAG: i32 = 3;
/// The tag that another object's word has.
pub(super) const OBJECT_TAG: i32 = 6;
/// The binary logarithm of the bytes of a page.
const PAGE_BYTES_LOG: i8 = 9;
/// The flags of a page to which writes need no barrier.
const NOTED: i8 = crate::heap::PAGE_NOTED as i8;

impl Assembler<'_> {
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
        let bits = word.to_bits();
        if let Ok(low) = u32::try_from(bits) {
            emit!(self; mov Rd(processor), low as i32);
        } else if let Ok(low) = i32::try_from(bits as i64) {
            emit!(self; mov Rq(processor), DWORD low);
        } else {
            emit!(self; mov Rq(processor), QWORD bits as i64);
        }
    }

    pub(in super::super) fn constant(&mut self, instruction: Instruction) {
        let result = self.result();
        emit!(self
            ; mov rax, [BYTE r14 + context::CONSTANTS]
            ; mov Rq(result), [rax + displacement(instruction.w() as usize)]
        );
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn global(&mut self, instruction: Instruction) {
        let (result, leave) = (self.result(), self.leave());
        self.load(0, Value::UNDEFINED);
        emit!(self
            ; mov rcx, [BYTE r14 + context::GLOBALS]
            ; mov Rq(result), [rcx + displacement(instruction.w() as usize)]
            ; cmp Rq(result), rax
            ; je =>leave
        );
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn set_global(&mut self, instruction: Instruction) {
        let (word, leave) = (self.read(instruction.a()), self.leave());
        self.load(0, Value::UNDEFINED);
        emit!(self
            ; mov rcx, [BYTE r14 + context::GLOBALS]
            ; cmp [rcx + displacement(instruction.w() as usize)], rax
            ; je =>leave
            ; add rcx, displacement(instruction.w() as usize)
            ; sub rcx, r12
        );
        self.store(word, leave);
    }

    pub(in super::super) fn define_global(&mut self, _: Instruction) {
        self.leave_here();
    }

    /// Writes a word of a live object at the offset in rcx; uses rax and rdx.
    pub(super) fn store(&mut self, word: u8, leave: DynamicLabel) {
        self.pass_barrier(leave);
        emit!(self; mov [r12 + rcx], Rq(word));
    }

    /// Leaves unless a write at the offset in rcx passes the barrier; uses rax and rdx.
    pub(super) fn pass_barrier(&mut self, leave: DynamicLabel) {
        let done = self.label();
        emit!(self
            ; cmp rcx, [BYTE r14 + context::BARRIER]
            ; jae =>done
            ; mov rdx, rcx
            ; shr rdx, PAGE_BYTES_LOG
            ; mov rax, [BYTE r14 + context::PAGE_FLAGS]
            ; cmp BYTE [rax + rdx], NOTED
            ; jne =>leave
            ;=>done
        );
    }

    pub(in super::super) fn free(&mut self, instruction: Instruction) {
        let (procedure, result) = (self.read(0), self.result());
        emit!(self; mov Rq(result), [r12 + Rq(procedure) + displacement(2 + instruction.b()) - PROCEDURE_TAG]);
        self.write(instruction.a(), result);
    }

    /// Leaves unless `words` words are free; rdx is then the offset behind them.
    pub(super) fn reserve(&mut self, words: usize) {
        let leave = self.leave();
        self.reserve_or(words, leave);
    }

    /// Branches unless `words` words are free; rdx is then the offset behind them.
    pub(super) fn reserve_or(&mut self, words: usize, otherwise: DynamicLabel) {
        emit!(self
            ; lea rdx, [rbp + displacement(words)]
            ; cmp rdx, [BYTE r14 + context::LIMIT]
            ; ja =>otherwise
        );
    }

    pub(in super::super) fn closure(&mut self, instruction: Instruction) {
        let block = self.code.block(instruction.w() as usize);
        let (captured, code_word) = (usize::from(block.captured), block.code_word);
        let words = (captured + 3) & !1;
        self.reserve(words);
        let header = Header::new(Kind::Closure, captured as u32 + 1).to_value();
        for (offset, word) in [(0, header), (1, code_word)] {
            self.load(0, word);
            emit!(self; mov [r12 + rbp + displacement(offset)], rax);
        }
        if !captured.is_multiple_of(2) {
            emit!(self; mov QWORD [r12 + rbp + displacement(words - 1)], 0);
        }
        for place in 0..captured {
            self.registers.unpin();
            let word = self.read(instruction.a() + place);
            emit!(self; mov [r12 + rbp + displacement(2 + place)], Rq(word));
        }
        let result = self.result();
        emit!(self; lea Rq(result), [rbp + PROCEDURE_TAG]; mov rbp, rdx);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn patch_closure(&mut self, instruction: Instruction) {
        let (closure, word) = (self.read(instruction.a()), self.read(instruction.c()));
        let leave = self.leave();
        emit!(self; lea rcx, [Rq(closure) + displacement(2 + instruction.b()) - PROCEDURE_TAG]);
        self.store(word, leave);
    }

    pub(in super::super) fn cell(&mut self, instruction: Instruction) {
        self.reserve(2);
        let (word, result) = (self.read(instruction.b()), self.result());
        self.load(0, crate::heap::CELL_HEADER);
        emit!(self
            ; mov [r12 + rbp], rax
            ; mov [r12 + rbp + 8], Rq(word)
            ; lea Rq(result), [rbp + OBJECT_TAG]
            ; mov rbp, rdx
        );
        self.write(instruction.a(), result);
    }

    /// Leaves unless the word is that of an object which is no procedure.
    pub(super) fn expect_object(&mut self, word: u8, leave: DynamicLabel) {
        emit!(self
            ; lea ecx, [Rq(word) - OBJECT_TAG]
            ; test cl, 7
            ; jnz =>leave
        );
    }

    fn expect_cell(&mut self, cell: u8, leave: DynamicLabel) {
        self.expect_object(cell, leave);
        self.load(0, crate::heap::CELL_HEADER);
        emit!(self; cmp [r12 + Rq(cell) - OBJECT_TAG], rax; jne =>leave);
    }

    pub(in super::super) fn cell_ref(&mut self, instruction: Instruction) {
        let (cell, result, leave) = (self.read(instruction.b()), self.result(), self.leave());
        self.expect_cell(cell, leave);
        emit!(self; mov Rq(result), [r12 + Rq(cell) + 8 - OBJECT_TAG]);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn cell_set(&mut self, instruction: Instruction) {
        let (cell, word) = (self.read(instruction.a()), self.read(instruction.b()));
        let leave = self.leave();
        self.expect_cell(cell, leave);
        emit!(self; lea rcx, [Rq(cell) + 8 - OBJECT_TAG]);
        self.store(word, leave);
    }

    pub(in super::super) fn check_defined(&mut self, instruction: Instruction) {
        let (word, leave) = (self.read(instruction.a()), self.leave());
        self.load(0, Value::UNDEFINED);
        emit!(self; cmp Rq(word), rax; je =>leave);
    }
}
