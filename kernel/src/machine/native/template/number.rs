//! Templates of arithmetic and of comparisons: fixnums in line, immediate flonums behind the block.
//!
//! INVARIANT: operands are read before the first branch, so both paths leave the same copies.
//! It does not compute with other numbers.
//! Read next: `machine/native/template/jump.rs`.

use dynasmrt::DynamicLabel;

use crate::instruction::Instruction;
use crate::machine::native::assembler::Assembler;
use crate::machine::native::processor::{Condition, FlonumOperation, Processor, Relation};

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

impl<P: Processor> Assembler<'_, P> {
    pub(in super::super) fn add(&mut self, instruction: Instruction) {
        let (left, right) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        let done = self.test_fixnums(left, right, result, FlonumOperation::Add);
        self.out.add(result, left, right);
        self.out.branch(Condition::Overflow, leave);
        self.out.place(done);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn subtract(&mut self, instruction: Instruction) {
        let (left, right) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        let done = self.test_fixnums(left, right, result, FlonumOperation::Subtract);
        self.out.subtract(result, left, right);
        self.out.branch(Condition::Overflow, leave);
        self.out.place(done);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn multiply(&mut self, instruction: Instruction) {
        let (left, right) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        let done = self.test_fixnums(left, right, result, FlonumOperation::Multiply);
        self.out.multiply(result, left, right, leave);
        self.out.place(done);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn add_small(&mut self, instruction: Instruction) {
        let (left, small) = (self.read(instruction.b()), instruction.c_signed());
        let (result, leave, done) = (self.result(), self.leave(), self.label());
        let cold = self.cold(move |assembler| {
            let right = Operand::Small(small);
            assembler.compute_flonum(FlonumOperands { left, right, result }, FlonumOperation::Add, leave);
            assembler.out.jump(done);
        });
        self.out.test_fixnum(left);
        self.out.branch(Condition::NotEqual, cold);
        self.out.add_number(result, left, 8 * i32::from(small));
        self.out.branch(Condition::Overflow, leave);
        self.out.place(done);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn divide(&mut self, instruction: Instruction) {
        let (left, right) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        let right = Operand::Register(right);
        let operands = FlonumOperands { left, right, result };
        self.compute_flonum(operands, FlonumOperation::Divide, leave);
        self.write(instruction.a(), result);
    }

    /// Branches behind the block unless both words are fixnums, computes there with flonums, and
    /// returns the label where both ways meet.
    fn test_fixnums(&mut self, left: u8, right: u8, result: u8, operation: FlonumOperation) -> DynamicLabel {
        let (leave, done) = (self.leave(), self.label());
        let cold = self.cold(move |assembler| {
            let right = Operand::Register(right);
            assembler.compute_flonum(FlonumOperands { left, right, result }, operation, leave);
            assembler.out.jump(done);
        });
        self.expect_fixnums(left, right, cold);
        done
    }

    /// Branches unless both words are fixnums.
    fn expect_fixnums(&mut self, left: u8, right: u8, otherwise: DynamicLabel) {
        self.out.test_fixnums(left, right);
        self.out.branch(Condition::NotEqual, otherwise);
    }

    /// Computes with immediate flonums; leaves if an operand or the result is not one.
    fn compute_flonum(&mut self, operands: FlonumOperands, operation: FlonumOperation, leave: DynamicLabel) {
        self.load_flonums(operands.left, operands.right, leave);
        self.out.compute_flonum(operation);
        self.out.take_flonum();
        self.out.make_flonum(operands.result, leave);
    }

    /// Loads an operand as the left one; leaves unless it is an immediate flonum.
    pub(super) fn load_flonum(&mut self, word: u8, leave: DynamicLabel) {
        self.out.set_flonum_constants();
        self.out.load_flonum(0, word, leave);
    }

    /// Loads two operands; leaves unless they are immediate flonums.
    fn load_flonums(&mut self, left: u8, right: Operand, leave: DynamicLabel) {
        self.load_flonum(left, leave);
        match right {
            Operand::Register(right) => self.out.load_flonum(1, right, leave),
            Operand::Small(small) => self.out.load_right_integer(small),
        }
    }

    pub(in super::super) fn quotient(&mut self, instruction: Instruction) {
        let (result, leave) = (self.result(), self.leave());
        self.divide_fixnums(instruction);
        self.out.make_fixnum(result, P::A);
        self.out.shift_right_signed(P::D, result, 3);
        self.out.compare(P::D, P::A);
        self.out.branch(Condition::NotEqual, leave);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn remainder(&mut self, instruction: Instruction) {
        let result = self.result();
        self.divide_fixnums(instruction);
        self.out.copy(result, P::D);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn modulo(&mut self, instruction: Instruction) {
        let (result, done) = (self.result(), self.label());
        let divisor = self.divide_fixnums(instruction);
        self.out.copy(result, P::D);
        self.out.test_zero(P::D);
        self.out.branch(Condition::Equal, done);
        self.out.branch_if_same_sign(divisor, done);
        self.out.add(result, result, divisor);
        self.out.place(done);
        self.write(instruction.a(), result);
    }

    /// Divides: A is the quotient as an integer, D the remainder as a fixnum. Leaves unless
    /// both operands are fixnums and the divisor is not zero. Returns where the divisor is.
    fn divide_fixnums(&mut self, instruction: Instruction) -> u8 {
        let (dividend, divisor) = (self.read(instruction.b()), self.read(instruction.c()));
        let leave = self.leave();
        self.expect_fixnums(dividend, divisor, leave);
        self.out.test_zero(divisor);
        self.out.branch(Condition::Equal, leave);
        self.out.divide(dividend, divisor);
        divisor
    }

    /// Compares two words, of which the right may be a small integer, and jumps on the condition
    /// `relation` between them if its truth is `sense`.
    pub(super) fn compare(&mut self, left: u8, right: Operand, relation: Relation, sense: bool, distance: i16) {
        let (leave, target, next) = (self.leave(), self.target(distance.into()), self.label());
        let cold = self.cold(move |assembler| {
            assembler.load_flonums(left, right, leave);
            assembler.out.branch_on_flonums(relation, sense, target, next);
            assembler.out.jump(next);
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
    }
}
