//! Numbers.
//!
//! INVARIANT: each condition after a comparison of flonums is one that is false where a number is
//! compared with something that is none, or the opposite of such a one.
//! It does not decide which numbers there are.
//! Read next: `machine/native/processor/aarch64/stub.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use super::{Aarch64, X16, X17, emit};
use crate::machine::native::Slot;
use crate::machine::native::processor::{Emit, EmitNumbers, FlonumOperation, Relation};
use crate::value::{FLONUM_BIAS, FLONUM_TAGS};

impl EmitNumbers for Aarch64 {
    fn add(&mut self, to: u8, left: u8, right: u8) {
        emit!(self; adds X(to), X(left), X(right));
    }

    fn add_number(&mut self, to: u8, left: u8, number: i32) {
        match number {
            0..4096 => emit!(self; adds X(to), XSP(left), number as u32),
            -4095..0 => emit!(self; subs X(to), XSP(left), -number as u32),
            _ => {
                self.set(X17, i64::from(number) as u64);
                emit!(self; adds X(to), X(left), x17);
            }
        }
    }

    fn subtract(&mut self, to: u8, left: u8, right: u8) {
        emit!(self; subs X(to), X(left), X(right));
    }

    fn negate(&mut self, to: u8, word: u8) {
        emit!(self; negs X(to), X(word));
    }

    fn and(&mut self, to: u8, left: u8, right: u8) {
        emit!(self; and X(to), X(left), X(right));
    }

    fn or(&mut self, to: u8, left: u8, right: u8) {
        emit!(self; orr X(to), X(left), X(right));
    }

    fn exclusive_or(&mut self, to: u8, left: u8, right: u8) {
        emit!(self; eor X(to), X(left), X(right));
    }

    fn shift_left_by_count(&mut self, to: u8, from: u8) {
        emit!(self; lsl X(to), X(from), x10);
    }

    fn shift_right_signed_by_count(&mut self, to: u8, from: u8) {
        emit!(self; asr X(to), X(from), x10);
    }

    fn multiply(&mut self, to: u8, left: u8, right: u8, otherwise: DynamicLabel) {
        emit!(self
            ; asr x16, X(left), 3
            ; mul X(to), x16, X(right)
            ; smulh x17, x16, X(right)
            // The product has room if its high half only repeats the sign of the low one.
            ; cmp x17, X(to), asr 63
            ; b.ne =>otherwise
        );
    }

    fn divide(&mut self, dividend: u8, divisor: u8) {
        emit!(self
            ; sdiv x9, X(dividend), X(divisor)
            ; msub x11, x9, X(divisor), X(dividend)
        );
    }

    fn make_fixnum(&mut self, to: u8, integer: u8) {
        self.shift_left(to, integer, 3);
    }

    fn branch_if_same_sign(&mut self, word: u8, label: DynamicLabel) {
        emit!(self; eor x11, x11, X(word); tst x11, x11; b.pl =>label);
    }

    fn set_flonum_constants(&mut self) {
        self.set(Self::D, FLONUM_TAGS);
        self.set(Self::C, FLONUM_BIAS);
    }

    fn branch_if_flonum(&mut self, word: u8, label: DynamicLabel) {
        emit!(self; lsr x16, x11, X(word); tst x16, 1; b.ne =>label);
    }

    fn load_flonum(&mut self, operand: u8, word: u8, otherwise: DynamicLabel) {
        emit!(self
            // The processor shifts by the low six bits of the word.
            ; lsr x16, x11, X(word)
            ; tst x16, 1
            ; b.eq =>otherwise
            ; ror x16, X(word), 4
            ; sub x16, x16, x10
            ; fmov D(operand), x16
        );
    }

    fn load_right_integer(&mut self, integer: i16) {
        self.set(X16, i64::from(integer) as u64);
        emit!(self; scvtf d1, x16);
    }

    fn load_left_fixnum(&mut self, fixnum: u8) {
        emit!(self; asr x16, X(fixnum), 3; scvtf d0, x16);
    }

    fn load_numbers(&mut self, otherwise: DynamicLabel) {
        self.call_slot(Slot::LoadNumbers);
        emit!(self; b.ne =>otherwise);
    }

    fn compute_flonum(&mut self, operation: FlonumOperation) {
        match operation {
            FlonumOperation::Add => emit!(self; fadd d0, d0, d1),
            FlonumOperation::Subtract => emit!(self; fsub d0, d0, d1),
            FlonumOperation::Multiply => emit!(self; fmul d0, d0, d1),
            FlonumOperation::Divide => emit!(self; fdiv d0, d0, d1),
        }
    }

    fn compute_root(&mut self, otherwise: DynamicLabel) {
        emit!(self; fcmp d0, 0.0; b.le =>otherwise; fsqrt d0, d0);
    }

    fn take_flonum(&mut self) {
        emit!(self; fmov x9, d0);
    }

    fn flip_sign(&mut self) {
        emit!(self; eor x9, x9, 0x8000_0000_0000_0000);
    }

    fn make_flonum(&mut self, to: u8, otherwise: DynamicLabel) {
        emit!(self
            ; add x9, x9, x10
            ; ror x9, x9, 60
            ; lsr x16, x11, x9
            ; tst x16, 1
            ; b.eq =>otherwise
            ; mov X(to), x9
        );
    }

    fn box_flonum(&mut self, to: u8, otherwise: DynamicLabel) {
        self.call_slot(Slot::BoxFlonum);
        emit!(self; b.ne =>otherwise; mov X(to), x9);
    }

    fn branch_on_flonums(&mut self, relation: Relation, sense: bool, target: DynamicLabel, _: DynamicLabel) {
        emit!(self; fcmp d0, d1);
        match (relation, sense) {
            (Relation::Less, true) => emit!(self; b.mi =>target),
            (Relation::Less, false) => emit!(self; b.pl =>target),
            (Relation::LessEqual, true) => emit!(self; b.ls =>target),
            (Relation::LessEqual, false) => emit!(self; b.hi =>target),
            (Relation::Equal, true) => emit!(self; b.eq =>target),
            (Relation::Equal, false) => emit!(self; b.ne =>target),
            (Relation::Greater, true) => emit!(self; b.gt =>target),
            (Relation::Greater, false) => emit!(self; b.le =>target),
            (Relation::GreaterEqual, true) => emit!(self; b.ge =>target),
            (Relation::GreaterEqual, false) => emit!(self; b.lt =>target),
        }
    }
}
