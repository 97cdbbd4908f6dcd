//! Templates of primitives on the bits of integers.
//!
//! INVARIANT: the low bits of a fixnum's word are clear before and after.
//! It knows no other integers; the primitives do.
//! Read next: `machine/native/template/character.rs`.

use dynasmrt::DynamicLabel;

use super::primitive::Call;
use crate::machine::native::assembler::Assembler;
use crate::machine::native::processor::{Condition, Processor};

/// The bits of a word that an integer has.
const INTEGER_BITS: u64 = !7;
/// Shifts to the left by more bits are left to the primitive.
const LEFT_MAX: i32 = 60;
/// A shift to the right by more bits leaves only the sign.
const RIGHT_MAX: i32 = 63;

impl<P: Processor> Assembler<'_, P> {
    pub(super) fn bitwise_and(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.combine_bits(call, slow, P::and)
    }

    pub(super) fn bitwise_or(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.combine_bits(call, slow, P::or)
    }

    pub(super) fn bitwise_xor(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.combine_bits(call, slow, P::exclusive_or)
    }

    /// Combines the words of two fixnums.
    fn combine_bits(&mut self, call: Call, slow: DynamicLabel, operation: fn(&mut P, u8, u8, u8)) -> u8 {
        let (left, right) = (self.read(call.first), self.read(call.first + 1));
        let result = self.result();
        self.out.test_fixnums(left, right);
        self.out.branch(Condition::NotEqual, slow);
        operation(&mut self.out, result, left, right);
        result
    }

    pub(super) fn bitwise_not(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (word, result) = (self.read(call.first), self.result());
        self.out.test_fixnum(word);
        self.out.branch(Condition::NotEqual, slow);
        self.out.set(P::A, INTEGER_BITS);
        self.out.exclusive_or(result, word, P::A);
        result
    }

    /// Shifts a fixnum to the left, by a positive count, or to the right.
    pub(super) fn arithmetic_shift(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (word, count) = (self.read(call.first), self.read(call.first + 1));
        let (result, done) = (self.result(), self.label());
        let right = self.cold(move |assembler| {
            let is_short = assembler.label();
            assembler.out.negate(P::C, P::C);
            assembler.out.compare_number(P::C, RIGHT_MAX);
            assembler.out.branch(Condition::LessEqual, is_short);
            assembler.out.set(P::C, RIGHT_MAX as u64);
            assembler.out.place(is_short);
            assembler.out.shift_right_signed_by_count(result, word);
            assembler.out.set(P::A, INTEGER_BITS);
            assembler.out.and(result, result, P::A);
            assembler.out.jump(done);
        });
        self.out.test_fixnums(word, count);
        self.out.branch(Condition::NotEqual, slow);
        self.out.shift_right_signed(P::C, count, 3);
        self.out.compare_number(P::C, 0);
        self.out.branch(Condition::Less, right);
        self.out.compare_number(P::C, LEFT_MAX);
        self.out.branch(Condition::Greater, slow);
        self.out.shift_left_by_count(result, word);
        self.out.shift_right_signed_by_count(P::A, result);
        self.out.compare(P::A, word);
        self.out.branch(Condition::NotEqual, slow);
        self.out.place(done);
        result
    }
}
