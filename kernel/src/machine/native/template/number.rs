//! Templates of arithmetic and of comparisons: fixnums in line, flonums behind the block; a service
//! computes with other numbers.
//!
//! INVARIANT: operands are read before the first branch, so all paths leave the same copies.
//! INVARIANT: a fixnum takes part in an operation on flonums only if a flonum equals it, so that a
//! comparison is exact.
//! Read next: `machine/native/template/jump.rs`.

use dynasmrt::DynamicLabel;

use crate::instruction::Instruction;
use crate::machine::native::assembler::Assembler;
use crate::machine::native::processor::{Condition, FlonumOperation, Processor, Relation};
use crate::machine::native::service;
use crate::value::Value;

/// The right operand of an operation.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    /// A processor register.
    Register(u8),
    /// A small integer.
    Small(i16),
}

/// The registers of an operation on flonums.
#[derive(Clone, Copy)]
struct FlonumOperands {
    left: u8,
    right: Operand,
    result: u8,
}

/// The registers of an operation on fixnums.
#[derive(Clone, Copy)]
struct FixnumOperands {
    left: u8,
    right: u8,
    result: u8,
}

/// Where an operation goes on.
#[derive(Clone, Copy)]
struct Ways {
    /// Rust executes the instruction.
    slow: DynamicLabel,
    /// The processor register for the result has it.
    done: DynamicLabel,
}

impl<P: Processor> Assembler<'_, P> {
    pub(in super::super) fn add(&mut self, instruction: Instruction) {
        self.compute(instruction, FlonumOperation::Add, |assembler, operands, slow| {
            assembler.out.add(operands.result, operands.left, operands.right);
            assembler.out.branch(Condition::Overflow, slow);
        });
    }

    pub(in super::super) fn subtract(&mut self, instruction: Instruction) {
        self.compute(instruction, FlonumOperation::Subtract, |assembler, operands, slow| {
            assembler.out.subtract(operands.result, operands.left, operands.right);
            assembler.out.branch(Condition::Overflow, slow);
        });
    }

    pub(in super::super) fn multiply(&mut self, instruction: Instruction) {
        self.compute(instruction, FlonumOperation::Multiply, |assembler, operands, slow| {
            let FixnumOperands { left, right, result } = operands;
            assembler.out.multiply(result, left, right, slow);
        });
    }

    /// Computes with two registers of the frame: with `of_fixnums` if both hold fixnums, whose
    /// result is no fixnum where it branches to the label.
    fn compute(
        &mut self,
        instruction: Instruction,
        operation: FlonumOperation,
        of_fixnums: impl FnOnce(&mut Self, FixnumOperands, DynamicLabel),
    ) {
        let (left, right) = (self.read(instruction.b()), self.read(instruction.c()));
        let operands = FlonumOperands {
            left,
            right: Operand::Register(right),
            result: self.result(),
        };
        let (slow, done) = (self.label(), self.label());
        let cold = self.compute_behind(operands, operation, Ways { slow, done });
        self.expect_fixnums(left, right, cold);
        let result = operands.result;
        of_fixnums(self, FixnumOperands { left, right, result }, slow);
        self.out.place(done);
        self.write(instruction.a(), operands.result);
        self.or_by(service::compute, slow);
    }

    pub(in super::super) fn add_small(&mut self, instruction: Instruction) {
        let (left, small) = (self.read(instruction.b()), instruction.c_signed());
        let operands = FlonumOperands {
            left,
            right: Operand::Small(small),
            result: self.result(),
        };
        let (slow, done) = (self.label(), self.label());
        let cold = self.compute_behind(operands, FlonumOperation::Add, Ways { slow, done });
        self.out.test_fixnum(left);
        self.out.branch(Condition::NotEqual, cold);
        self.out.add_number(operands.result, left, 8 * i32::from(small));
        self.out.branch(Condition::Overflow, slow);
        self.out.place(done);
        self.write(instruction.a(), operands.result);
        self.or_by(service::compute, slow);
    }

    /// Flonums are divided at once; fixnums have an exact quotient, which Rust computes.
    pub(in super::super) fn divide(&mut self, instruction: Instruction) {
        let (left, right) = (self.read(instruction.b()), self.read(instruction.c()));
        let operands = FlonumOperands {
            left,
            right: Operand::Register(right),
            result: self.result(),
        };
        let (slow, done, other) = (self.label(), self.label(), self.label());
        let ways = Ways { slow, done };
        self.cold_at(other, move |assembler| {
            assembler.out.test_fixnums(left, right);
            assembler.out.branch(Condition::Equal, slow);
            // The exact zero is no divisor.
            assembler.out.test_zero(right);
            assembler.out.branch(Condition::Equal, slow);
            assembler.load_numbers(left, Operand::Register(right), slow);
            assembler.finish_flonum(operands.result, FlonumOperation::Divide, ways);
            assembler.out.jump(done);
        });
        self.load_flonums(left, Operand::Register(right), other);
        self.finish_flonum(operands.result, FlonumOperation::Divide, ways);
        self.out.place(done);
        self.write(instruction.a(), operands.result);
        self.or_by(service::compute, slow);
    }

    /// Branches unless both words are fixnums.
    fn expect_fixnums(&mut self, left: u8, right: u8, otherwise: DynamicLabel) {
        self.out.test_fixnums(left, right);
        self.out.branch(Condition::NotEqual, otherwise);
    }

    /// Computes behind the block with flonums, or with a flonum and a fixnum. Returns the label of
    /// the place.
    fn compute_behind(&mut self, operands: FlonumOperands, operation: FlonumOperation, ways: Ways) -> DynamicLabel {
        let FlonumOperands { left, right, result } = operands;
        self.cold(move |assembler| {
            let (other, loaded) = (assembler.label(), assembler.label());
            assembler.load_flonums(left, right, other);
            assembler.out.place(loaded);
            assembler.finish_flonum(result, operation, ways);
            assembler.out.jump(ways.done);
            assembler.out.place(other);
            assembler.load_numbers(left, right, ways.slow);
            assembler.out.jump(loaded);
        })
    }

    /// Computes with the operands that have been loaded. A result that is no immediate flonum is
    /// boxed behind the block.
    fn finish_flonum(&mut self, result: u8, operation: FlonumOperation, ways: Ways) {
        let rare = self.cold(move |assembler| {
            assembler.out.box_flonum(result, ways.slow);
            assembler.out.jump(ways.done);
        });
        self.out.compute_flonum(operation);
        self.out.take_flonum();
        self.out.make_flonum(result, rare);
    }

    /// Loads two numbers of any kind that a flonum equals as operands.
    fn load_numbers(&mut self, left: u8, right: Operand, otherwise: DynamicLabel) {
        self.out.copy(P::A, left);
        match right {
            Operand::Register(right) => self.out.copy(P::D, right),
            Operand::Small(small) => self.load(P::D, Value::small(small.into())),
        }
        self.out.load_numbers(otherwise);
    }

    /// Loads an operand as the left one; branches unless it is an immediate flonum.
    pub(super) fn load_flonum(&mut self, word: u8, otherwise: DynamicLabel) {
        self.out.set_flonum_constants();
        self.out.load_flonum(0, word, otherwise);
    }

    /// Loads two operands; branches unless they are immediate flonums.
    fn load_flonums(&mut self, left: u8, right: Operand, otherwise: DynamicLabel) {
        self.load_flonum(left, otherwise);
        match right {
            Operand::Register(right) => self.out.load_flonum(1, right, otherwise),
            Operand::Small(small) => self.out.load_right_integer(small),
        }
    }

    pub(in super::super) fn quotient(&mut self, instruction: Instruction) {
        let (result, slow) = (self.result(), self.label());
        self.divide_fixnums(instruction, slow);
        self.out.make_fixnum(result, P::A);
        self.out.shift_right_signed(P::D, result, 3);
        self.out.compare(P::D, P::A);
        self.out.branch(Condition::NotEqual, slow);
        self.write(instruction.a(), result);
        self.or_by(service::compute, slow);
    }

    pub(in super::super) fn remainder(&mut self, instruction: Instruction) {
        let (result, slow) = (self.result(), self.label());
        self.divide_fixnums(instruction, slow);
        self.out.copy(result, P::D);
        self.write(instruction.a(), result);
        self.or_by(service::compute, slow);
    }

    pub(in super::super) fn modulo(&mut self, instruction: Instruction) {
        let (result, slow, done) = (self.result(), self.label(), self.label());
        let divisor = self.divide_fixnums(instruction, slow);
        self.out.copy(result, P::D);
        self.out.test_zero(P::D);
        self.out.branch(Condition::Equal, done);
        self.out.branch_if_same_sign(divisor, done);
        self.out.add(result, result, divisor);
        self.out.place(done);
        self.write(instruction.a(), result);
        self.or_by(service::compute, slow);
    }

    /// Divides: A is the quotient as an integer, D the remainder as a fixnum. Branches unless both
    /// operands are fixnums and the divisor is not zero. Returns where the divisor is.
    fn divide_fixnums(&mut self, instruction: Instruction, otherwise: DynamicLabel) -> u8 {
        let (dividend, divisor) = (self.read(instruction.b()), self.read(instruction.c()));
        self.expect_fixnums(dividend, divisor, otherwise);
        self.out.test_zero(divisor);
        self.out.branch(Condition::Equal, otherwise);
        self.out.divide(dividend, divisor);
        divisor
    }

    /// Compares two words, of which the right may be a small integer, and jumps on the condition
    /// `relation` between them if its truth is `sense`.
    pub(super) fn compare(&mut self, left: u8, right: Operand, relation: Relation, sense: bool, distance: i16) {
        let (slow, target, next) = (self.label(), self.target(distance.into()), self.label());
        let cold = self.cold(move |assembler| {
            let (other, loaded) = (assembler.label(), assembler.label());
            assembler.load_flonums(left, right, other);
            assembler.out.place(loaded);
            assembler.out.branch_on_flonums(relation, sense, target, next);
            assembler.out.jump(next);
            assembler.out.place(other);
            assembler.load_numbers(left, right, slow);
            assembler.out.jump(loaded);
        });
        match right {
            Operand::Register(right) => {
                self.expect_fixnums(left, right, cold);
                self.out.compare(left, right);
            }
            Operand::Small(small) => {
                self.out.test_fixnum(left);
                self.out.branch(Condition::NotEqual, cold);
                self.out.compare_number(left, 8 * i32::from(small));
            }
        }
        self.out.branch(relation.signed(sense), target);
        self.out.place(next);
        self.or_by(if sense { service::jump_if } else { service::jump_unless }, slow);
    }
}
