//! Jumps on the truth of a register, on kinds and on comparisons.
//!
//! Owns one row for each conditional jump: what it tests, and for which truth it jumps.
//! INVARIANT: the slow path of a comparison jumps for the same truth as the fast one.
//! It does not compare numbers that are no fixnums or immediate flonums; `machine/execute/slow.rs`
//! does.
//! Read next: `machine/execute/number.rs`.

use crate::heap::Kind;
use crate::instruction::Instruction;
use crate::value::{Immediate, Value};

use super::{Flow, Frame, SlowPath};

/// Declares jumps, one in a row: its name, its test with the test's arguments, and the truth for
/// which it jumps.
macro_rules! jumps {
    ($($name:ident: $test:ident($($argument:tt)*), $sense:literal;)*) => {
        impl Frame {
            $(#[inline(always)]
            pub(super) fn $name(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
                $test!(self, slow, instruction, $sense, $($argument)*)
            })*
        }
    };
}

/// A test of the word in register `a`; the distance is the long operand.
macro_rules! word {
    ($frame:ident, $slow:ident, $instruction:ident, $sense:literal, $word:ident => $test:expr) => {{
        let (_, $word) = ($slow, $frame.get($instruction.a()));
        if $test == $sense {
            $frame.branch($instruction.w_signed() as isize);
        }
        Flow::Next
    }};
}

/// Whether register `a` holds an object of the kind with the code `d`; the distance is the long
/// operand.
macro_rules! kind {
    ($frame:ident, $slow:ident, $instruction:ident, $sense:literal,) => {
        word!($frame, $slow, $instruction, $sense, word => $frame.is_kind(word, $instruction.d() as u8))
    };
}

/// A test of the words in registers `a` and `b`, unless the slow path has to make it.
macro_rules! words {
    (
        $frame:ident, $slow:ident, $instruction:ident, $sense:literal,
        $left:ident, $right:ident => $is_slow:expr, $test:expr
    ) => {{
        let ($left, $right) = ($frame.get($instruction.a()), $frame.get($instruction.b()));
        if $is_slow {
            return $slow.defer(|slow, frame, instruction| slow.test_slow(frame, instruction, $sense));
        }
        if $test == $sense {
            $frame.branch($instruction.c_signed() as isize);
        }
        Flow::Next
    }};
}

/// Whether the words in registers `a` and `b` are the same.
macro_rules! eq {
    ($frame:ident, $slow:ident, $instruction:ident, $sense:literal,) => {
        words!($frame, $slow, $instruction, $sense, left, right => false, (left == right))
    };
}

macro_rules! eqv {
    ($frame:ident, $slow:ident, $instruction:ident, $sense:literal,) => {
        words!($frame, $slow, $instruction, $sense, left, right =>
            left != right && $frame.may_be_same_number(left, right), (left == right))
    };
}

macro_rules! record {
    ($frame:ident, $slow:ident, $instruction:ident, $sense:literal,) => {
        words!($frame, $slow, $instruction, $sense, value, record_type =>
            !$frame.is_kind(record_type, Kind::RecordType as u8),
            ($frame.is_kind(value, Kind::Record as u8) && $frame.object_field(value, 1) == record_type))
    };
}

macro_rules! characters {
    ($frame:ident, $slow:ident, $instruction:ident, $sense:literal, $operator:tt) => {
        words!($frame, $slow, $instruction, $sense, left, right =>
            !left.is_immediate(Immediate::Character) || !right.is_immediate(Immediate::Character),
            (left.payload() $operator right.payload()))
    };
}

/// A comparison of two numbers: fixnums, then immediate flonums, without a call.
macro_rules! compare {
    ($frame:ident, $slow:ident, $instruction:ident, $sense:literal, $operator:tt, $right:expr) => {{
        let (left, right) = ($frame.get($instruction.a()), $right);
        let truth = if Value::are_fixnums(left, right) {
            (left.to_bits() as i64) $operator (right.to_bits() as i64)
        } else if let (Some(left), Some(right)) = (left.as_flonum(), right.as_flonum()) {
            left $operator right
        } else {
            return $slow.defer(|slow, frame, instruction| slow.compare_slow(frame, instruction, $sense));
        };
        if truth == $sense {
            $frame.branch($instruction.c_signed() as isize);
        }
        Flow::Next
    }};
}

/// A comparison of registers `a` and `b`.
macro_rules! numbers {
    ($frame:ident, $slow:ident, $instruction:ident, $sense:literal, $operator:tt) => {
        compare!(
            $frame,
            $slow,
            $instruction,
            $sense,
            $operator,
            $frame.get($instruction.b())
        )
    };
}

/// A comparison of register `a` with the fixnum `b`.
macro_rules! small {
    ($frame:ident, $slow:ident, $instruction:ident, $sense:literal, $operator:tt) => {
        compare!(
            $frame,
            $slow,
            $instruction,
            $sense,
            $operator,
            Value::small($instruction.b_signed().into())
        )
    };
}

jumps! {
    jump_if_false: word(word => word.is_true()), false;
    jump_if_true: word(word => word.is_true()), true;
    jump_if_null: word(word => (word == Value::NIL)), true;
    jump_unless_null: word(word => (word == Value::NIL)), false;
    jump_if_pair: word(word => word.is_pair()), true;
    jump_unless_pair: word(word => word.is_pair()), false;
    jump_if_kind: kind(), true;
    jump_unless_kind: kind(), false;
    jump_if_character: word(word => word.is_immediate(Immediate::Character)), true;
    jump_unless_character: word(word => word.is_immediate(Immediate::Character)), false;
    jump_if_eq: eq(), true;
    jump_unless_eq: eq(), false;
    jump_if_eqv: eqv(), true;
    jump_unless_eqv: eqv(), false;
    jump_if_record: record(), true;
    jump_unless_record: record(), false;
    jump_if_less: numbers(<), true;
    jump_unless_less: numbers(<), false;
    jump_if_less_equal: numbers(<=), true;
    jump_unless_less_equal: numbers(<=), false;
    jump_if_equal: numbers(==), true;
    jump_unless_equal: numbers(==), false;
    jump_if_less_small: small(<), true;
    jump_unless_less_small: small(<), false;
    jump_if_greater_small: small(>), true;
    jump_unless_greater_small: small(>), false;
    jump_if_less_equal_small: small(<=), true;
    jump_unless_less_equal_small: small(<=), false;
    jump_if_greater_equal_small: small(>=), true;
    jump_unless_greater_equal_small: small(>=), false;
    jump_if_equal_small: small(==), true;
    jump_unless_equal_small: small(==), false;
    jump_if_char_equal: characters(==), true;
    jump_unless_char_equal: characters(==), false;
    jump_if_char_less: characters(<), true;
    jump_unless_char_less: characters(<), false;
    jump_if_char_less_equal: characters(<=), true;
    jump_unless_char_less_equal: characters(<=), false;
}

impl Frame {
    /// Whether two words may be different objects for the same number.
    #[inline(always)]
    fn may_be_same_number(&self, left: Value, right: Value) -> bool {
        let is_number = |code: u8| {
            [Kind::Ratio, Kind::Complex, Kind::Bignum, Kind::Flonum]
                .iter()
                .any(|kind| kind.code() == code)
        };
        left.is_object() && right.is_object() && is_number((self.object_field(left, 0).to_bits() >> 8) as u8)
    }

    #[inline(always)]
    pub(super) fn jump(&mut self, _: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        self.branch(instruction.w_signed() as isize);
        Flow::Next
    }
}
