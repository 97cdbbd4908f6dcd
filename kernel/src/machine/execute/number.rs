//! Arithmetic: fixnums and immediate flonums inline, all other numbers by the primitive.
//!
//! INVARIANT: a fast path gives the value that the primitive would give.
//! It does not compute with big integers, ratios or boxed flonums.
//! Read next: `machine/execute/slow.rs`.

use crate::instruction::Instruction;
use crate::value::Value;

use super::{Flow, Frame, SlowPath};

/// Arithmetic: fixnums by `$fixnum`, which says whether it overflowed, flonums by `$operator`, the
/// rest slowly.
macro_rules! arithmetic {
    ($frame:ident, $slow:ident, $instruction:ident, $left:expr, $right:expr, $fixnum:expr, $operator:tt) => {{
        let (left, right) = ($left, $right);
        if Value::are_fixnums(left, right) {
            let (bits, overflows) = $fixnum(left.to_bits() as i64, right.to_bits() as i64);
            if !overflows {
                $frame.set($instruction.a(), Value::from_bits(bits as u64));
                return Flow::Next;
            }
        } else if let (Some(left), Some(right)) = (left.as_flonum(), right.as_flonum())
            && let Some(value) = Value::flonum(left $operator right)
        {
            $frame.set($instruction.a(), value);
            return Flow::Next;
        }
        $slow.defer(|slow, frame, instruction| slow.arithmetic_slow(frame, instruction))
    }};
}

impl Frame {
    #[inline(always)]
    pub(super) fn add(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        arithmetic!(self, slow, instruction, left, right, i64::overflowing_add, +)
    }

    #[inline(always)]
    pub(super) fn subtract(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        arithmetic!(self, slow, instruction, left, right, i64::overflowing_sub, -)
    }

    #[inline(always)]
    pub(super) fn multiply(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        let product = |left: i64, right: i64| (left >> 3).overflowing_mul(right);
        arithmetic!(self, slow, instruction, left, right, product, *)
    }

    #[inline(always)]
    pub(super) fn add_small(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), Value::small(instruction.c_signed().into()));
        if left.is_fixnum() {
            let (bits, overflows) = (left.to_bits() as i64).overflowing_add(right.to_bits() as i64);
            if !overflows {
                self.set(instruction.a(), Value::from_bits(bits as u64));
                return Flow::Next;
            }
        } else if let Some(left) = left.as_flonum()
            && let Some(value) = Value::flonum(left + f64::from(instruction.c_signed()))
        {
            self.set(instruction.a(), value);
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.arithmetic_slow(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn quotient(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        if Value::are_fixnums(left, right)
            && let Some(quotient) = (left.to_bits() as i64).checked_div(right.to_bits() as i64)
            && let Some(value) = Value::fixnum(quotient)
        {
            self.set(instruction.a(), value);
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.arithmetic_slow(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn remainder(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        if Value::are_fixnums(left, right)
            && let Some(remainder) = (left.to_bits() as i64).checked_rem(right.to_bits() as i64)
        {
            self.set(instruction.a(), Value::from_bits(remainder as u64));
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.arithmetic_slow(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn divide(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        if let (Some(dividend), Some(divisor)) = (left.as_flonum(), right.as_flonum())
            && let Some(value) = Value::flonum(dividend / divisor)
        {
            self.set(instruction.a(), value);
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.arithmetic_slow(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn modulo(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        if Value::are_fixnums(left, right)
            && let divisor = right.to_bits() as i64
            && let Some(remainder) = (left.to_bits() as i64).checked_rem(divisor)
        {
            let is_opposite = remainder != 0 && (remainder < 0) != (divisor < 0);
            let modulo = if is_opposite { remainder + divisor } else { remainder };
            self.set(instruction.a(), Value::from_bits(modulo as u64));
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.inlined_slow(frame, instruction))
    }
}
