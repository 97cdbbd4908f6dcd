//! Templates of arithmetic and of comparisons: fixnums in line, immediate flonums behind the block.
//!
//! INVARIANT: operands are read before the first branch, so both paths leave the same copies.
//! It does not compute with other numbers.
//! Read next: `machine/native/template/jump.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use crate::instruction::Instruction;
use crate::machine::native::assembler::{Assembler, emit};
use crate::value::{FLONUM_BIAS, FLONUM_TAGS};

/// An operation on flonums.
#[derive(Clone, Copy)]
enum FlonumOperation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// The right operand of an operation.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    /// A processor register.
    Register(u8),
    /// A small integer.
    Small(i16),
}

impl<'a> Assembler<'a> {
    pub(in super::super) fn add(&mut self, instruction: Instruction) {
        let (left, right) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        let done = self.test_fixnums(left, right, result, FlonumOperation::Add);
        emit!(self; mov Rq(result), Rq(left); add Rq(result), Rq(right); jo =>leave; =>done);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn subtract(&mut self, instruction: Instruction) {
        let (left, right) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        let done = self.test_fixnums(left, right, result, FlonumOperation::Subtract);
        emit!(self; mov Rq(result), Rq(left); sub Rq(result), Rq(right); jo =>leave; =>done);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn multiply(&mut self, instruction: Instruction) {
        let (left, right) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        let done = self.test_fixnums(left, right, result, FlonumOperation::Multiply);
        emit!(self
            ; mov Rq(result), Rq(left)
            ; sar Rq(result), 3
            ; imul Rq(result), Rq(right)
            ; jo =>leave
            ;=>done
        );
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn add_small(&mut self, instruction: Instruction) {
        let (left, small) = (self.read(instruction.b()), instruction.c_signed());
        let (result, leave, done) = (self.result(), self.leave(), self.label());
        let cold = self.cold(move |assembler| {
            let right = Operand::Small(small);
            assembler.compute_flonum((left, right, result), FlonumOperation::Add, leave);
            emit!(assembler; jmp =>done);
        });
        emit!(self
            ; test Rd(left), 7
            ; jnz =>cold
            ; mov Rq(result), Rq(left)
            ; add Rq(result), DWORD 8 * i32::from(small)
            ; jo =>leave
            ;=>done
        );
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn divide(&mut self, instruction: Instruction) {
        let (left, right) = (self.read(instruction.b()), self.read(instruction.c()));
        let (result, leave) = (self.result(), self.leave());
        let operands = (left, Operand::Register(right), result);
        self.compute_flonum(operands, FlonumOperation::Divide, leave);
        self.write(instruction.a(), result);
    }

    /// Branches behind the block unless both words are fixnums, computes there with flonums, and
    /// returns the label where both ways meet.
    fn test_fixnums(&mut self, left: u8, right: u8, result: u8, operation: FlonumOperation) -> DynamicLabel {
        let (leave, done) = (self.leave(), self.label());
        let cold = self.cold(move |assembler| {
            let right = Operand::Register(right);
            assembler.compute_flonum((left, right, result), operation, leave);
            emit!(assembler; jmp =>done);
        });
        self.expect_fixnums(left, right, cold);
        done
    }

    /// Branches unless both words are fixnums.
    fn expect_fixnums(&mut self, left: u8, right: u8, otherwise: DynamicLabel) {
        if left == right {
            emit!(self; test Rd(left), 7; jnz =>otherwise);
            return;
        }
        emit!(self
            ; mov eax, Rd(left)
            ; or eax, Rd(right)
            ; test al, 7
            ; jnz =>otherwise
        );
    }

    /// Computes with immediate flonums; leaves if an operand or the result is none.
    fn compute_flonum(
        &mut self,
        (left, right, result): (u8, Operand, u8),
        operation: FlonumOperation,
        leave: DynamicLabel,
    ) {
        self.load_flonums(left, right, leave);
        match operation {
            FlonumOperation::Add => emit!(self; addsd xmm0, xmm1),
            FlonumOperation::Subtract => emit!(self; subsd xmm0, xmm1),
            FlonumOperation::Multiply => emit!(self; mulsd xmm0, xmm1),
            FlonumOperation::Divide => emit!(self; divsd xmm0, xmm1),
        }
        emit!(self; movq rax, xmm0);
        self.store_flonum(result, leave);
    }

    /// Moves the number in rax, with the bias in rcx and the set of tags in rdx, into `result`;
    /// leaves unless it is an immediate flonum.
    pub(super) fn store_flonum(&mut self, result: u8, leave: DynamicLabel) {
        emit!(self
            ; add rax, rcx
            ; rol rax, 4
            ; bt rdx, rax
            ; jnc =>leave
            ; mov Rq(result), rax
        );
    }

    /// Loads the bias into rcx and the set of tags into rdx.
    pub(super) fn load_flonum_constants(&mut self) {
        emit!(self
            ; mov rdx, QWORD FLONUM_TAGS as i64
            ; mov rcx, QWORD FLONUM_BIAS as i64
        );
    }

    /// Loads an operand into xmm0; leaves unless it is an immediate flonum. Then rcx is the bias
    /// and rdx the set of tags.
    pub(super) fn load_flonum(&mut self, word: u8, leave: DynamicLabel) {
        self.load_flonum_constants();
        emit!(self
            ; bt rdx, Rq(word)
            ; jnc =>leave
            ; mov rax, Rq(word)
            ; ror rax, 4
            ; sub rax, rcx
            ; movq xmm0, rax
        );
    }

    /// Loads two operands into xmm0 and xmm1; leaves unless they are immediate flonums. Then rcx is
    /// the bias and rdx the set of tags.
    fn load_flonums(&mut self, left: u8, right: Operand, leave: DynamicLabel) {
        self.load_flonum(left, leave);
        match right {
            Operand::Register(right) => emit!(self
                ; bt rdx, Rq(right)
                ; jnc =>leave
                ; mov rax, Rq(right)
                ; ror rax, 4
                ; sub rax, rcx
                ; movq xmm1, rax
            ),
            Operand::Small(small) => emit!(self
                ; mov eax, i32::from(small)
                ; cvtsi2sd xmm1, eax
            ),
        }
    }

    pub(in super::super) fn quotient(&mut self, instruction: Instruction) {
        let (result, leave) = (self.result(), self.leave());
        self.divide_fixnums(instruction);
        emit!(self
            ; lea Rq(result), [rax * 8]
            ; mov rdx, Rq(result)
            ; sar rdx, 3
            ; cmp rdx, rax
            ; jne =>leave
        );
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn remainder(&mut self, instruction: Instruction) {
        let result = self.result();
        self.divide_fixnums(instruction);
        emit!(self; mov Rq(result), rdx);
        self.write(instruction.a(), result);
    }

    pub(in super::super) fn modulo(&mut self, instruction: Instruction) {
        let (result, done) = (self.result(), self.label());
        let divisor = self.divide_fixnums(instruction);
        emit!(self
            ; mov Rq(result), rdx
            ; test rdx, rdx
            ; jz =>done
            ; xor rdx, Rq(divisor)
            ; jns =>done
            ; add Rq(result), Rq(divisor)
            ;=>done
        );
        self.write(instruction.a(), result);
    }

    /// Divides: rax is the quotient as an integer, rdx the remainder as a fixnum. Leaves unless
    /// both operands are fixnums and the divisor is not zero. Returns where the divisor is.
    fn divide_fixnums(&mut self, instruction: Instruction) -> u8 {
        let (dividend, divisor) = (self.read(instruction.b()), self.read(instruction.c()));
        let leave = self.leave();
        self.expect_fixnums(dividend, divisor, leave);
        emit!(self
            ; test Rq(divisor), Rq(divisor)
            ; jz =>leave
            ; mov rax, Rq(dividend)
            ; cqo
            ; idiv Rq(divisor)
        );
        divisor
    }

    /// Compares two words, of which the right may be a small integer, and jumps on the condition
    /// `relation` between them if its truth is `sense`.
    pub(super) fn compare(&mut self, left: u8, right: Operand, relation: Relation, sense: bool, distance: i16) {
        let (leave, target, next) = (self.leave(), self.target(distance.into()), self.label());
        let cold = self.cold(move |assembler| {
            assembler.load_flonums(left, right, leave);
            assembler.jump_on_flonums(relation, sense, target, next);
            emit!(assembler; jmp =>next);
        });
        match right {
            Operand::Register(right) => {
                self.expect_fixnums(left, right, cold);
                emit!(self; cmp Rq(left), Rq(right));
            }
            Operand::Small(small) => emit!(self
                ; test Rd(left), 7
                ; jnz =>cold
                ; cmp Rq(left), DWORD 8 * i32::from(small)
            ),
        }
        match (relation, sense) {
            (Relation::Less, true) | (Relation::GreaterEqual, false) => emit!(self; jl =>target),
            (Relation::Less, false) | (Relation::GreaterEqual, true) => emit!(self; jge =>target),
            (Relation::LessEqual, true) | (Relation::Greater, false) => emit!(self; jle =>target),
            (Relation::LessEqual, false) | (Relation::Greater, true) => emit!(self; jg =>target),
            (Relation::Equal, true) => emit!(self; je =>target),
            (Relation::Equal, false) => emit!(self; jne =>target),
        }
        emit!(self; =>next);
    }

    /// Jumps on a comparison of xmm0 with xmm1. A comparison with something that is no number is
    /// false.
    fn jump_on_flonums(&mut self, relation: Relation, sense: bool, target: DynamicLabel, next: DynamicLabel) {
        match relation {
            Relation::Less | Relation::LessEqual => emit!(self; ucomisd xmm1, xmm0),
            Relation::Greater | Relation::GreaterEqual | Relation::Equal => emit!(self; ucomisd xmm0, xmm1),
        }
        match (relation, sense) {
            (Relation::Less | Relation::Greater, true) => emit!(self; ja =>target),
            (Relation::Less | Relation::Greater, false) => emit!(self; jbe =>target),
            (Relation::LessEqual | Relation::GreaterEqual, true) => emit!(self; jae =>target),
            (Relation::LessEqual | Relation::GreaterEqual, false) => emit!(self; jb =>target),
            (Relation::Equal, true) => emit!(self; jp =>next; je =>target),
            (Relation::Equal, false) => emit!(self; jp =>target; jne =>target),
        }
    }
}

/// A relation between two numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    LessEqual,
    Equal,
    Greater,
    GreaterEqual,
}
