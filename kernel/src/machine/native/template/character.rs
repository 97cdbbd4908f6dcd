//! Tests and conversions of characters in line.
//!
//! Only ASCII; for other characters machine code calls the primitive, which has Unicode's tables.
//! Read next: `primitive/character.rs`.

use dynasmrt::DynamicLabel;

use super::primitive::Call;
use crate::machine::native::assembler::Assembler;
use crate::machine::native::processor::{Condition, Processor};
use crate::value::Value;

/// The greatest character of ASCII.
pub(super) const ASCII_MAX: i32 = 0x7f;
/// The distance of a lower-case letter from its upper-case form.
const CASE_DISTANCE: i32 = b'a' as i32 - b'A' as i32;

/// A range of ASCII.
#[derive(Clone, Copy)]
struct Extent {
    first: u8,
    last: u8,
}

const UPPER: Extent = extent(b'A', b'Z');
const LOWER: Extent = extent(b'a', b'z');
const DIGITS: Extent = extent(b'0', b'9');

const fn extent(first: u8, last: u8) -> Extent {
    Extent { first, last }
}

impl<P: Processor> Assembler<'_, P> {
    pub(super) fn is_alphabetic(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.is_in(call, &[LOWER, UPPER], slow)
    }

    pub(super) fn is_numeric(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.is_in(call, &[DIGITS], slow)
    }

    pub(super) fn is_whitespace(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.is_in(call, &[extent(b' ', b' '), extent(b'\t', b'\r')], slow)
    }

    pub(super) fn is_upper_case(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.is_in(call, &[UPPER], slow)
    }

    pub(super) fn is_lower_case(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.is_in(call, &[LOWER], slow)
    }

    pub(super) fn upcase(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.change_case(call, LOWER, -CASE_DISTANCE, slow)
    }

    pub(super) fn downcase(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.change_case(call, UPPER, CASE_DISTANCE, slow)
    }

    /// The digit's value, or `#f`.
    pub(super) fn digit_value(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (digit, done, other) = (self.read_ascii(call.first, slow), self.label(), self.label());
        self.compare_extent(digit, DIGITS);
        self.out.branch(Condition::Above, other);
        self.out.shift_left(digit, P::A, 3);
        self.out.jump(done);
        self.out.place(other);
        self.load(digit, Value::FALSE);
        self.out.place(done);
        digit
    }

    /// Loads the number of a character of ASCII.
    fn read_ascii(&mut self, register: usize, slow: DynamicLabel) -> u8 {
        let (character, number) = (self.read(register), self.result());
        self.load_ascii(character, number, slow);
        number
    }

    /// The same into a processor register.
    pub(super) fn load_ascii(&mut self, character: u8, number: u8, slow: DynamicLabel) {
        self.out.test_character(character);
        self.out.branch(Condition::NotEqual, slow);
        self.out.shift_right(number, character, 32);
        self.out.compare_number(number, ASCII_MAX);
        self.out.branch(Condition::Above, slow);
    }

    /// Sets A to the distance of a character from the first of a range, for a branch on
    /// [`Condition::Above`] if the character is outside.
    fn compare_extent(&mut self, number: u8, extent: Extent) {
        self.out.add_number(P::A, number, -i32::from(extent.first));
        self.out.compare_number(P::A, i32::from(extent.last - extent.first));
    }

    fn is_in(&mut self, call: Call, extents: &[Extent], slow: DynamicLabel) -> u8 {
        let (number, inside, done) = (self.read_ascii(call.first, slow), self.label(), self.label());
        for extent in extents {
            self.compare_extent(number, *extent);
            self.out.branch(Condition::BelowEqual, inside);
        }
        self.load(number, Value::FALSE);
        self.out.jump(done);
        self.out.place(inside);
        self.load(number, Value::TRUE);
        self.out.place(done);
        number
    }

    fn change_case(&mut self, call: Call, from: Extent, distance: i32, slow: DynamicLabel) -> u8 {
        let (number, done) = (self.read_ascii(call.first, slow), self.label());
        self.compare_extent(number, from);
        self.out.branch(Condition::Above, done);
        self.out.add_number(number, number, distance);
        self.out.place(done);
        self.out.make_character(number);
        number
    }
}
