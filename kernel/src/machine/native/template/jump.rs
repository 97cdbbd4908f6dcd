//! Templates of jumps: one row for each conditional jump.
//!
//! INVARIANT: a jump's target assumes no copy of a register.
//! It does not compare numbers; `machine/native/template/number.rs` does.
//! Read next: `machine/native/template/call.rs`.

use dynasmrt::{DynasmApi, DynasmLabelApi};

use super::number::{Operand, Relation};
use super::object::PAIR_TAG;
use super::value::OBJECT_TAG;
use crate::heap::kind::Kind;
use crate::instruction::Instruction;
use crate::machine::native::assembler::{Assembler, emit};
use crate::value::{Immediate, Value};

/// Declares jumps, one in a row: its name, the method that emits it with the method's arguments.
macro_rules! jumps {
    ($($name:ident: $method:ident($($argument:expr),*);)*) => {
        impl Assembler<'_> {
            $(pub(in super::super) fn $name(&mut self, instruction: Instruction) {
                self.$method(instruction, $($argument),*);
            })*
        }
    };
}

jumps! {
    jump_if_false: jump_on_word(Value::FALSE, true);
    jump_if_true: jump_on_word(Value::FALSE, false);
    jump_if_null: jump_on_word(Value::NIL, true);
    jump_unless_null: jump_on_word(Value::NIL, false);
    jump_if_pair: jump_on_pair(true);
    jump_unless_pair: jump_on_pair(false);
    jump_if_character: jump_on_character(true);
    jump_unless_character: jump_on_character(false);
    jump_if_eq: jump_on_same(true);
    jump_unless_eq: jump_on_same(false);
    jump_if_eqv: jump_on_equivalent(true);
    jump_unless_eqv: jump_on_equivalent(false);
    jump_if_less: jump_on_numbers(Relation::Less, true);
    jump_unless_less: jump_on_numbers(Relation::Less, false);
    jump_if_less_equal: jump_on_numbers(Relation::LessEqual, true);
    jump_unless_less_equal: jump_on_numbers(Relation::LessEqual, false);
    jump_if_equal: jump_on_numbers(Relation::Equal, true);
    jump_unless_equal: jump_on_numbers(Relation::Equal, false);
    jump_if_less_small: jump_on_small(Relation::Less, true);
    jump_unless_less_small: jump_on_small(Relation::Less, false);
    jump_if_greater_small: jump_on_small(Relation::Greater, true);
    jump_unless_greater_small: jump_on_small(Relation::Greater, false);
    jump_if_less_equal_small: jump_on_small(Relation::LessEqual, true);
    jump_unless_less_equal_small: jump_on_small(Relation::LessEqual, false);
    jump_if_greater_equal_small: jump_on_small(Relation::GreaterEqual, true);
    jump_unless_greater_equal_small: jump_on_small(Relation::GreaterEqual, false);
    jump_if_equal_small: jump_on_small(Relation::Equal, true);
    jump_unless_equal_small: jump_on_small(Relation::Equal, false);
    jump_if_char_equal: jump_on_characters(Relation::Equal, true);
    jump_unless_char_equal: jump_on_characters(Relation::Equal, false);
    jump_if_char_less: jump_on_characters(Relation::Less, true);
    jump_unless_char_less: jump_on_characters(Relation::Less, false);
    jump_if_char_less_equal: jump_on_characters(Relation::LessEqual, true);
    jump_unless_char_less_equal: jump_on_characters(Relation::LessEqual, false);
}

impl Assembler<'_> {
    pub(in super::super) fn jump(&mut self, instruction: Instruction) {
        let target = self.target(instruction.w_signed());
        emit!(self; jmp =>target);
        self.registers.clear();
    }

    pub(in super::super) fn loop_back(&mut self, instruction: Instruction) {
        let (target, leave) = (self.target(instruction.w_signed()), self.leave_refuelled());
        emit!(self; sub r13, 1; js =>leave; jmp =>target);
        self.registers.clear();
    }

    /// Jumps if the flags say equal, or if they do not.
    fn jump_if(&mut self, sense: bool, distance: i32) {
        let target = self.target(distance);
        if sense {
            emit!(self; je =>target);
        } else {
            emit!(self; jne =>target);
        }
    }

    fn jump_on_word(&mut self, instruction: Instruction, wanted: Value, sense: bool) {
        let word = self.read(instruction.a());
        if let Ok(low) = i32::try_from(wanted.to_bits()) {
            emit!(self; cmp Rq(word), DWORD low);
        } else {
            self.load(0, wanted);
            emit!(self; cmp Rq(word), rax);
        }
        self.jump_if(sense, instruction.w_signed());
    }

    fn jump_on_pair(&mut self, instruction: Instruction, sense: bool) {
        let word = self.read(instruction.a());
        emit!(self; lea ecx, [Rq(word) - PAIR_TAG]; test cl, 7);
        self.jump_if(sense, instruction.w_signed());
        if !sense {
            self.registers.note_pair(instruction.a());
        }
    }

    fn jump_on_character(&mut self, instruction: Instruction, sense: bool) {
        let word = self.read(instruction.a());
        emit!(self; movzx eax, Rb(word); cmp eax, Immediate::Character as i32);
        self.jump_if(sense, instruction.w_signed());
    }

    fn jump_on_same(&mut self, instruction: Instruction, sense: bool) {
        let (left, right) = (self.read(instruction.a()), self.read(instruction.b()));
        emit!(self; cmp Rq(left), Rq(right));
        self.jump_if(sense, instruction.c_signed().into());
    }

    fn jump_on_equivalent(&mut self, instruction: Instruction, sense: bool) {
        let (left, right) = (self.read(instruction.a()), self.read(instruction.b()));
        let (target, next) = (self.target(instruction.c_signed().into()), self.label());
        let (same, other) = if sense { (target, next) } else { (next, target) };
        let leave = self.leave();
        emit!(self; cmp Rq(left), Rq(right); je =>same);
        // Two objects may be the same number.
        self.expect_object(left, other);
        self.expect_object(right, other);
        emit!(self
            ; movzx eax, BYTE [r12 + Rq(left) + 1 - OBJECT_TAG]
            ; mov ecx, eax
            ; and ecx, !(Kind::Ratio as i32 ^ Kind::Complex as i32)
            ; cmp ecx, Kind::Ratio as i32 & Kind::Complex as i32
            ; je =>leave
            ; and eax, !(Kind::Bignum as i32 ^ Kind::Flonum as i32)
            ; cmp eax, Kind::Bignum as i32 & Kind::Flonum as i32
            ; je =>leave
            ; jmp =>other
            ;=>next
        );
    }

    fn jump_on_numbers(&mut self, instruction: Instruction, relation: Relation, sense: bool) {
        let (left, right) = (self.read(instruction.a()), self.read(instruction.b()));
        self.compare(left, Operand::Register(right), relation, sense, instruction.c_signed());
    }

    fn jump_on_small(&mut self, instruction: Instruction, relation: Relation, sense: bool) {
        let (left, right) = (self.read(instruction.a()), Operand::Small(instruction.b_signed()));
        self.compare(left, right, relation, sense, instruction.c_signed());
    }

    fn jump_on_characters(&mut self, instruction: Instruction, relation: Relation, sense: bool) {
        let (left, right) = (self.read(instruction.a()), self.read(instruction.b()));
        let (leave, target) = (self.leave(), self.target(instruction.c_signed().into()));
        for character in [left, right] {
            emit!(self; movzx eax, Rb(character); cmp eax, Immediate::Character as i32; jne =>leave);
        }
        emit!(self; mov rax, Rq(left); shr rax, 32; mov rcx, Rq(right); shr rcx, 32; cmp eax, ecx);
        match (relation, sense) {
            (Relation::Less, true) | (Relation::GreaterEqual, false) => emit!(self; jb =>target),
            (Relation::Less, false) | (Relation::GreaterEqual, true) => emit!(self; jae =>target),
            (Relation::LessEqual, true) | (Relation::Greater, false) => emit!(self; jbe =>target),
            (Relation::LessEqual, false) | (Relation::Greater, true) => emit!(self; ja =>target),
            (Relation::Equal, true) => emit!(self; je =>target),
            (Relation::Equal, false) => emit!(self; jne =>target),
        }
    }
}
