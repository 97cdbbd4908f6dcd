//! Jumps on the truth of a register, on kinds and on comparisons.
//!
//! INVARIANT: the rare side of a comparison takes the jump for the same truth as the fast one.
//! Read next: `machine/execute/number.rs`.

use crate::heap::Kind;
use crate::instruction::Instruction;
use crate::value::{Immediate, Value};

use super::{Cold, Flow, Hot};

/// A jump on the comparison of two numbers: fixnums, then flonums, inline.
macro_rules! compare {
    ($hot:ident, $cold:ident, $instruction:ident, $operator:tt, $sense:literal, $right:expr) => {{
        let (left, right) = ($hot.get($instruction.a()), $right);
        let truth = if Value::are_fixnums(left, right) {
            (left.to_bits() as i64) $operator (right.to_bits() as i64)
        } else if let (Some(left), Some(right)) = (left.as_flonum(), right.as_flonum()) {
            left $operator right
        } else {
            return $cold.detour(|cold, hot, instruction| cold.compare_slow(hot, instruction, $sense));
        };
        if truth == $sense {
            $hot.branch($instruction.c_signed() as isize);
        }
        Flow::Next
    }};
}

macro_rules! compare_registers {
    ($hot:ident, $cold:ident, $instruction:ident, $operator:tt, $sense:literal) => {
        compare!($hot, $cold, $instruction, $operator, $sense, $hot.get($instruction.b()))
    };
}

macro_rules! compare_small {
    ($hot:ident, $cold:ident, $instruction:ident, $operator:tt, $sense:literal) => {
        compare!(
            $hot,
            $cold,
            $instruction,
            $operator,
            $sense,
            Value::small($instruction.b_signed().into())
        )
    };
}

/// A jump on the comparison of two characters.
macro_rules! compare_characters {
    ($hot:ident, $cold:ident, $instruction:ident, $operator:tt, $sense:literal) => {{
        let (left, right) = ($hot.get($instruction.a()), $hot.get($instruction.b()));
        if !left.is_immediate(Immediate::Character) || !right.is_immediate(Immediate::Character) {
            return $cold.detour(|cold, hot, instruction| cold.test_slow(hot, instruction, $sense));
        }
        if (left.payload() $operator right.payload()) == $sense {
            $hot.branch($instruction.c_signed() as isize);
        }
        Flow::Next
    }};
}

/// Jumps by the long operand if `condition` holds.
macro_rules! jump_when {
    ($hot:ident, $instruction:ident, $condition:expr) => {{
        if $condition {
            $hot.branch($instruction.w_signed() as isize);
        }
        Flow::Next
    }};
}

impl Hot {
    #[inline(always)]
    pub(super) fn jump(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.branch(instruction.w_signed() as isize);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn jump_if_false(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, !self.get(instruction.a()).is_true())
    }

    #[inline(always)]
    pub(super) fn jump_if_true(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, self.get(instruction.a()).is_true())
    }

    #[inline(always)]
    pub(super) fn jump_if_null(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, self.get(instruction.a()) == Value::NIL)
    }

    #[inline(always)]
    pub(super) fn jump_unless_null(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, self.get(instruction.a()) != Value::NIL)
    }

    #[inline(always)]
    pub(super) fn jump_if_pair(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, self.get(instruction.a()).is_pair())
    }

    #[inline(always)]
    pub(super) fn jump_unless_pair(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, !self.get(instruction.a()).is_pair())
    }

    #[inline(always)]
    pub(super) fn jump_if_eq(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        if self.get(instruction.a()) == self.get(instruction.b()) {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn jump_unless_eq(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        if self.get(instruction.a()) != self.get(instruction.b()) {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn jump_if_less(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, <, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_less(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, <, false)
    }

    #[inline(always)]
    pub(super) fn jump_if_less_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, <=, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_less_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, <=, false)
    }

    #[inline(always)]
    pub(super) fn jump_if_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, ==, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, ==, false)
    }

    #[inline(always)]
    pub(super) fn jump_if_less_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, <, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_less_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, <, false)
    }

    #[inline(always)]
    pub(super) fn jump_if_greater_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, >, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_greater_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, >, false)
    }

    #[inline(always)]
    pub(super) fn jump_if_less_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, <=, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_less_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, <=, false)
    }

    #[inline(always)]
    pub(super) fn jump_if_greater_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, >=, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_greater_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, >=, false)
    }

    #[inline(always)]
    pub(super) fn jump_if_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, ==, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, ==, false)
    }

    #[inline(always)]
    pub(super) fn jump_if_eqv(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.a()), self.get(instruction.b()));
        if left != right && left.is_object() && right.is_object() {
            return cold.detour(|cold, hot, instruction| cold.test_slow(hot, instruction, true));
        }
        if left == right {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn jump_unless_eqv(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.a()), self.get(instruction.b()));
        if left != right && left.is_object() && right.is_object() {
            return cold.detour(|cold, hot, instruction| cold.test_slow(hot, instruction, false));
        }
        if left != right {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn jump_if_kind(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(
            self,
            instruction,
            self.is_kind(self.get(instruction.a()), instruction.d() as u8)
        )
    }

    #[inline(always)]
    pub(super) fn jump_unless_kind(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(
            self,
            instruction,
            !self.is_kind(self.get(instruction.a()), instruction.d() as u8)
        )
    }

    #[inline(always)]
    pub(super) fn jump_if_character(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(
            self,
            instruction,
            self.get(instruction.a()).is_immediate(Immediate::Character)
        )
    }

    #[inline(always)]
    pub(super) fn jump_unless_character(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(
            self,
            instruction,
            !self.get(instruction.a()).is_immediate(Immediate::Character)
        )
    }

    #[inline(always)]
    pub(super) fn jump_if_record(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (value, record_type) = (self.get(instruction.a()), self.get(instruction.b()));
        if !self.is_kind(record_type, Kind::RecordType as u8) {
            return cold.detour(|cold, hot, instruction| cold.test_slow(hot, instruction, true));
        }
        let is_instance = self.is_kind(value, Kind::Record as u8) && self.object_field(value, 1) == record_type;
        if is_instance {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn jump_unless_record(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (value, record_type) = (self.get(instruction.a()), self.get(instruction.b()));
        if !self.is_kind(record_type, Kind::RecordType as u8) {
            return cold.detour(|cold, hot, instruction| cold.test_slow(hot, instruction, false));
        }
        let is_instance = self.is_kind(value, Kind::Record as u8) && self.object_field(value, 1) == record_type;
        if !is_instance {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn jump_if_char_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, ==, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_char_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, ==, false)
    }

    #[inline(always)]
    pub(super) fn jump_if_char_less(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, <, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_char_less(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, <, false)
    }

    #[inline(always)]
    pub(super) fn jump_if_char_less_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, <=, true)
    }

    #[inline(always)]
    pub(super) fn jump_unless_char_less_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, <=, false)
    }
}
