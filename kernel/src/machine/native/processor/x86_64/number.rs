//! Numbers.
//!
//! INVARIANT: comparisons of flonums are ordered so that one with something that is no number is
//! false; the unordered result of `ucomisd` says below and equal.
//! It does not decide which numbers there are.
//! Read next: `machine/native/processor/x86_64/stub.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use super::{X86_64, emit};
use crate::machine::native::Slot;
use crate::machine::native::processor::{Emit, EmitNumbers, FlonumOperation, Relation};
use crate::value::{FLONUM_BIAS, FLONUM_TAGS};

impl EmitNumbers for X86_64 {
    fn add(&mut self, to: u8, left: u8, right: u8) {
        if to != left {
            self.copy(to, left);
        }
        emit!(self; add Rq(to), Rq(right));
    }

    fn add_number(&mut self, to: u8, left: u8, number: i32) {
        self.copy(to, left);
        emit!(self; add Rq(to), DWORD number);
    }

    fn subtract(&mut self, to: u8, left: u8, right: u8) {
        self.copy(to, left);
        emit!(self; sub Rq(to), Rq(right));
    }

    fn negate(&mut self, to: u8, word: u8) {
        self.copy(to, word);
        emit!(self; neg Rq(to));
    }

    fn and(&mut self, to: u8, left: u8, right: u8) {
        self.copy(to, left);
        emit!(self; and Rq(to), Rq(right));
    }

    fn or(&mut self, to: u8, left: u8, right: u8) {
        self.copy(to, left);
        emit!(self; or Rq(to), Rq(right));
    }

    fn exclusive_or(&mut self, to: u8, left: u8, right: u8) {
        self.copy(to, left);
        emit!(self; xor Rq(to), Rq(right));
    }

    fn shift_left_by_count(&mut self, to: u8, from: u8) {
        self.copy(to, from);
        emit!(self; shl Rq(to), cl);
    }

    fn shift_right_signed_by_count(&mut self, to: u8, from: u8) {
        self.copy(to, from);
        emit!(self; sar Rq(to), cl);
    }

    fn multiply(&mut self, to: u8, left: u8, right: u8, otherwise: DynamicLabel) {
        self.copy(to, left);
        emit!(self
            ; sar Rq(to), 3
            ; imul Rq(to), Rq(right)
            ; jo =>otherwise
        );
    }

    fn divide(&mut self, dividend: u8, divisor: u8) {
        emit!(self
            ; mov rax, Rq(dividend)
            ; cqo
            ; idiv Rq(divisor)
        );
    }

    fn make_fixnum(&mut self, to: u8, integer: u8) {
        emit!(self; lea Rq(to), [Rq(integer) * 8]);
    }

    fn branch_if_same_sign(&mut self, word: u8, label: DynamicLabel) {
        emit!(self; xor rdx, Rq(word); jns =>label);
    }

    fn set_flonum_constants(&mut self) {
        emit!(self
            ; mov rdx, QWORD FLONUM_TAGS as i64
            ; mov rcx, QWORD FLONUM_BIAS as i64
        );
    }

    fn branch_if_flonum(&mut self, word: u8, label: DynamicLabel) {
        emit!(self; bt rdx, Rq(word); jc =>label);
    }

    fn load_flonum(&mut self, operand: u8, word: u8, otherwise: DynamicLabel) {
        emit!(self
            ; bt rdx, Rq(word)
            ; jnc =>otherwise
            ; mov rax, Rq(word)
            ; ror rax, 4
            ; sub rax, rcx
            ; movq Rx(operand), rax
        );
    }

    fn load_right_integer(&mut self, integer: i16) {
        emit!(self
            ; mov eax, i32::from(integer)
            ; cvtsi2sd xmm1, eax
        );
    }

    fn load_left_fixnum(&mut self, fixnum: u8) {
        emit!(self
            ; mov rax, Rq(fixnum)
            ; sar rax, 3
            ; cvtsi2sd xmm0, rax
        );
    }

    fn load_numbers(&mut self, otherwise: DynamicLabel) {
        emit!(self
            ; call QWORD [BYTE r15 + Slot::LoadNumbers.offset_bytes()]
            ; jne =>otherwise
        );
    }

    fn compute_flonum(&mut self, operation: FlonumOperation) {
        match operation {
            FlonumOperation::Add => emit!(self; addsd xmm0, xmm1),
            FlonumOperation::Subtract => emit!(self; subsd xmm0, xmm1),
            FlonumOperation::Multiply => emit!(self; mulsd xmm0, xmm1),
            FlonumOperation::Divide => emit!(self; divsd xmm0, xmm1),
        }
    }

    fn compute_root(&mut self, otherwise: DynamicLabel) {
        emit!(self
            ; xorps xmm1, xmm1
            ; ucomisd xmm0, xmm1
            ; jbe =>otherwise
            ; sqrtsd xmm0, xmm0
        );
    }

    fn take_flonum(&mut self) {
        emit!(self; movq rax, xmm0);
    }

    fn flip_sign(&mut self) {
        emit!(self; btc rax, 63);
    }

    fn make_flonum(&mut self, to: u8, otherwise: DynamicLabel) {
        emit!(self
            ; add rax, rcx
            ; rol rax, 4
            ; bt rdx, rax
            ; jnc =>otherwise
            ; mov Rq(to), rax
        );
    }

    fn box_flonum(&mut self, to: u8, otherwise: DynamicLabel) {
        emit!(self
            ; call QWORD [BYTE r15 + Slot::BoxFlonum.offset_bytes()]
            ; jne =>otherwise
            ; mov Rq(to), rax
        );
    }

    fn branch_on_flonums(&mut self, relation: Relation, sense: bool, target: DynamicLabel, next: DynamicLabel) {
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
