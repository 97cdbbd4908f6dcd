//! Templates of jumps: one row for each conditional jump.
//!
//! INVARIANT: a jump's target assumes no copy of a register.
//! It does not compare numbers; `machine/native/template/number.rs` does.
//! Read next: `machine/native/template/call.rs`.

use super::number::Operand;
use crate::instruction::Instruction;
use crate::machine::native::assembler::Assembler;
use crate::machine::native::processor::{Condition, PAIR_TAG, Processor, Relation};
use crate::value::Value;

/// Declares jumps, one in a row: its name, the method that emits it with the method's arguments.
macro_rules! jumps {
    ($($name:ident: $method:ident($($argument:expr),*);)*) => {
        impl<P: Processor> Assembler<'_, P> {
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

impl<P: Processor> Assembler<'_, P> {
    pub(in super::super) fn jump(&mut self, instruction: Instruction) {
        let target = self.target(instruction.w_signed());
        self.out.jump(target);
        self.registers.clear();
    }

    pub(in super::super) fn loop_back(&mut self, instruction: Instruction) {
        let (target, leave) = (self.target(instruction.w_signed()), self.leave_refuelled());
        self.out.burn(leave);
        self.out.jump(target);
        self.registers.clear();
    }

    /// Jumps if the flags say equal, or if they do not.
    fn jump_if(&mut self, sense: bool, distance: i32) {
        let target = self.target(distance);
        self.out.branch(Relation::Equal.signed(sense), target);
    }

    fn jump_on_word(&mut self, instruction: Instruction, wanted: Value, sense: bool) {
        let word = self.read(instruction.a());
        self.out.compare_value(word, wanted);
        self.jump_if(sense, instruction.w_signed());
    }

    fn jump_on_pair(&mut self, instruction: Instruction, sense: bool) {
        let word = self.read(instruction.a());
        self.out.test_tag(word, PAIR_TAG);
        self.jump_if(sense, instruction.w_signed());
        if !sense {
            self.registers.note_pair(instruction.a());
        }
    }

    fn jump_on_character(&mut self, instruction: Instruction, sense: bool) {
        let word = self.read(instruction.a());
        self.out.test_character(word);
        self.jump_if(sense, instruction.w_signed());
    }

    fn jump_on_same(&mut self, instruction: Instruction, sense: bool) {
        let (left, right) = (self.read(instruction.a()), self.read(instruction.b()));
        self.out.compare(left, right);
        self.jump_if(sense, instruction.c_signed().into());
    }

    fn jump_on_equivalent(&mut self, instruction: Instruction, sense: bool) {
        let (left, right) = (self.read(instruction.a()), self.read(instruction.b()));
        let (target, next) = (self.target(instruction.c_signed().into()), self.label());
        let (same, other) = if sense { (target, next) } else { (next, target) };
        let leave = self.leave();
        self.out.compare(left, right);
        self.out.branch(Condition::Equal, same);
        // Two objects may be the same number.
        self.expect_object(left, other);
        self.expect_object(right, other);
        self.out.branch_if_number(left, leave);
        self.out.jump(other);
        self.out.place(next);
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
            self.out.test_character(character);
            self.out.branch(Condition::NotEqual, leave);
        }
        self.out.compare_characters(left, right);
        self.out.branch(relation.unsigned(sense), target);
    }
}
