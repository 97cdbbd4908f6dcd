//! The value word: every Scheme value is one 64-bit `Copy` word.
//!
//! Owns the tags and the conversions between words and what they mean. Low bits tell the common
//! kinds apart:
//!
//! | low bits | kind | rest of the word |
//! |---|---|---|
//! | `000` | fixnum | 61-bit two's complement |
//! | `001` `100` `101` | flonum | an IEEE double plus 2⁶⁰, rotated left by four: three eighths of all exponents, the common ones; the rest are boxed objects |
//! | `010` | pair | byte offset of two headerless words in the heap |
//! | `011` | procedure object | byte offset of a header; the next word is a code word |
//! | `110` | other object | byte offset of a header |
//! | `111` | immediate | bits 3–7 the [`Immediate`] class, the rest its payload |
//!
//! Offsets are multiples of 16, so a field is one load at `base + word − tag + 8·i`, and never
//! addresses, so a heap may move as a whole.
//! INVARIANT: a word is meaningful only together with the heap it was made for; immediates mean the
//! same everywhere.
//! It does not allocate. Read next: `heap.rs`.

use crate::number::{FIXNUM_MAX, FIXNUM_MIN};

/// A Scheme value.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Value(u64);

const PAIR_TAG: u64 = 0b010;
const PROCEDURE_TAG: u64 = 0b011;
const OBJECT_TAG: u64 = 0b110;
const TAG_MASK: u64 = 0b111;
const FIXNUM_SHIFT: u32 = 3;
/// Bit `word mod 64` says whether the word's low bits are those of a flonum.
pub(crate) const FLONUM_TAGS: u64 = 0x3232_3232_3232_3232;
/// Brings the top exponent bits of the common magnitudes to 001, 100 and 101.
pub(crate) const FLONUM_BIAS: u64 = 1 << 60;
const CLASS_MASK: u64 = 0xff;

/// The classes of immediate words; the discriminant is the low byte of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Immediate {
    /// One of the constants below.
    Constant = 0x0f,
    /// A Unicode scalar value in bits 32–63.
    Character = 0x1f,
    /// A primitive procedure; its table position (this process only) in bits 32–63.
    Primitive = 0x2f,
    /// A return point in a frame: code position in bits 32–63, distance to the caller's frame in
    /// words in bits 8–31.
    Return = 0x3f,
    /// The code of a closure: entry position in bits 32–63, frame size in words in bits 16–31,
    /// exact arity in bits 8–15 (255: decided at the entry).
    Code = 0x4f,
    /// The first word of a heap object; see [`Header`](crate::heap::Header).
    Header = 0x5f,
}

const fn constant(index: u64) -> Value {
    Value(Immediate::Constant as u64 | index << 32)
}

impl Value {
    /// `#f`.
    pub const FALSE: Value = constant(0);
    /// `#t`.
    pub const TRUE: Value = constant(1);
    /// The empty list.
    pub const NIL: Value = constant(2);
    /// The value of forms whose value is unspecified.
    pub const UNSPECIFIED: Value = constant(3);
    /// The end-of-file object.
    pub const EOF: Value = constant(4);
    /// The content of a variable before its definition is evaluated; programs never see it.
    pub const UNDEFINED: Value = constant(5);
    /// A deleted or unused slot of a table; programs never see it.
    pub const ABSENT: Value = constant(6);
    /// The value of an optional argument that was not given.
    pub const DEFAULT: Value = constant(7);
    /// Fixnum zero.
    pub const ZERO: Value = Value(0);

    /// Reads the word back from its bits.
    pub const fn from_bits(bits: u64) -> Value {
        Value(bits)
    }

    /// The word itself.
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// `#t` or `#f`.
    #[inline(always)]
    pub const fn boolean(truth: bool) -> Value {
        Value(Immediate::Constant as u64 | (truth as u64) << 32)
    }

    /// Whether the value counts as true: everything but `#f`.
    #[inline(always)]
    pub const fn is_true(self) -> bool {
        self.0 != Value::FALSE.0
    }

    /// A fixnum, if `integer` is within [`FIXNUM_MIN`]..=[`FIXNUM_MAX`].
    #[inline(always)]
    pub const fn fixnum(integer: i64) -> Option<Value> {
        if integer >= FIXNUM_MIN && integer <= FIXNUM_MAX {
            Some(Value((integer as u64) << FIXNUM_SHIFT))
        } else {
            None
        }
    }

    /// A fixnum from a 32-bit integer, which always fits.
    #[inline(always)]
    pub const fn small(integer: i32) -> Value {
        Value(((integer as i64) << FIXNUM_SHIFT) as u64)
    }

    /// A fixnum from a length or index, which always fits a heap of 32-bit indices.
    #[inline(always)]
    pub const fn length(length: usize) -> Value {
        Value((length as u64) << FIXNUM_SHIFT)
    }

    /// Whether this is a fixnum.
    #[inline(always)]
    pub const fn is_fixnum(self) -> bool {
        self.0 & TAG_MASK == 0
    }

    /// Whether both are fixnums.
    #[inline(always)]
    pub const fn are_fixnums(a: Value, b: Value) -> bool {
        (a.0 | b.0) & TAG_MASK == 0
    }

    /// The integer, if this is a fixnum.
    #[inline(always)]
    pub const fn as_fixnum(self) -> Option<i64> {
        if self.is_fixnum() {
            Some(self.0 as i64 >> FIXNUM_SHIFT)
        } else {
            None
        }
    }

    /// A flonum as an immediate word, if its exponent allows (magnitudes between about 1.7e-77 and
    /// 1.1e77, and those below 1e-231, zero among them); otherwise it must be boxed.
    ///
    /// Source: Melançon, Serrano, Feeley, "Float Self-Tagging", 2024.
    #[inline(always)]
    pub const fn flonum(number: f64) -> Option<Value> {
        let value = Value(number.to_bits().wrapping_add(FLONUM_BIAS).rotate_left(4));
        if value.is_flonum() { Some(value) } else { None }
    }

    /// Whether this is an immediate flonum.
    #[inline(always)]
    pub const fn is_flonum(self) -> bool {
        FLONUM_TAGS >> (self.0 & 63) & 1 != 0
    }

    /// The number of an immediate flonum; meaningless for other words.
    #[inline(always)]
    pub const fn to_flonum(self) -> f64 {
        f64::from_bits(self.0.rotate_right(4).wrapping_sub(FLONUM_BIAS))
    }

    /// The number, if this is an immediate flonum.
    #[inline(always)]
    pub const fn as_flonum(self) -> Option<f64> {
        if self.is_flonum() { Some(self.to_flonum()) } else { None }
    }

    /// Returns the constant with this payload, if objects and registers may hold it.
    #[inline]
    pub fn constant(payload: u64) -> Option<Value> {
        const CONSTANTS: [Value; 8] = [
            Value::FALSE,
            Value::TRUE,
            Value::NIL,
            Value::UNSPECIFIED,
            Value::EOF,
            Value::UNDEFINED,
            Value::ABSENT,
            Value::DEFAULT,
        ];
        CONSTANTS
            .into_iter()
            .find(|constant| u64::from(constant.payload()) == payload)
    }

    /// A character.
    #[inline(always)]
    pub const fn character(character: char) -> Value {
        Value(Immediate::Character as u64 | (character as u64) << 32)
    }

    /// The character, if this is one.
    #[inline(always)]
    pub const fn as_character(self) -> Option<char> {
        if self.is_immediate(Immediate::Character) {
            char::from_u32(self.payload())
        } else {
            None
        }
    }

    /// A word of the given immediate class with a 32-bit payload and 24 further bits (only the low
    /// 24 of `detail` are kept).
    #[inline(always)]
    pub const fn immediate(class: Immediate, payload: u32, detail: u32) -> Value {
        Value(class as u64 | ((detail & 0xff_ffff) as u64) << 8 | (payload as u64) << 32)
    }

    /// Whether this is an immediate of `class`.
    #[inline(always)]
    pub const fn is_immediate(self, class: Immediate) -> bool {
        self.0 & CLASS_MASK == class as u64
    }

    /// Bits 32–63: an immediate's payload.
    #[inline(always)]
    pub const fn payload(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Bits 8–31: an immediate's further bits.
    #[inline(always)]
    pub const fn detail(self) -> u32 {
        (self.0 >> 8) as u32 & 0xff_ffff
    }

    /// Whether this is a pair.
    #[inline(always)]
    pub const fn is_pair(self) -> bool {
        self.0 & TAG_MASK == PAIR_TAG
    }

    /// Whether this is a heap object that can be applied (closure, continuation, parameter);
    /// primitives are immediates.
    #[inline(always)]
    pub const fn is_procedure_object(self) -> bool {
        self.0 & TAG_MASK == PROCEDURE_TAG
    }

    /// Whether this is a heap object with a header that is not applicable.
    #[inline(always)]
    pub const fn is_object(self) -> bool {
        self.0 & TAG_MASK == OBJECT_TAG
    }

    /// Whether this word refers to the heap: a pair, a procedure object or another object.
    #[inline(always)]
    pub const fn is_reference(self) -> bool {
        // 010, 011 and 110.
        0x4c >> (self.0 & TAG_MASK) & 1 != 0
    }

    /// The low bits, which tell kinds of references apart.
    #[inline(always)]
    pub(crate) const fn tag(self) -> u8 {
        (self.0 & TAG_MASK) as u8
    }

    /// The word index in the heap that a reference points at; meaningless for other words.
    #[inline(always)]
    pub const fn index(self) -> usize {
        (self.0 >> 3 & !1) as usize
    }

    /// The byte offset in the heap that a pair points at; meaningless for other words.
    #[inline(always)]
    pub(crate) const fn pair_offset_bytes(self) -> usize {
        (self.0 - PAIR_TAG) as usize
    }

    /// The byte offset in the heap that a procedure object points at; meaningless for other words.
    #[inline(always)]
    pub(crate) const fn procedure_offset_bytes(self) -> usize {
        (self.0 - PROCEDURE_TAG) as usize
    }

    /// The byte offset in the heap that another object points at; meaningless for other words.
    #[inline(always)]
    pub(crate) const fn object_offset_bytes(self) -> usize {
        (self.0 - OBJECT_TAG) as usize
    }

    /// A pair at the even word index `index`.
    #[inline(always)]
    pub const fn pair_at(index: usize) -> Value {
        Value((index as u64) << 3 | PAIR_TAG)
    }

    /// A procedure object whose header is at the even word index `index`.
    #[inline(always)]
    pub const fn procedure_at(index: usize) -> Value {
        Value((index as u64) << 3 | PROCEDURE_TAG)
    }

    /// Another object whose header is at the even word index `index`.
    #[inline(always)]
    pub const fn object_at(index: usize) -> Value {
        Value((index as u64) << 3 | OBJECT_TAG)
    }

    /// The same kind of reference, to another word index.
    #[inline(always)]
    pub const fn moved_to(self, index: usize) -> Value {
        Value((index as u64) << 3 | self.0 & TAG_MASK)
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.as_fixnum(), self.as_flonum(), self.as_character()) {
            (Some(integer), _, _) => write!(formatter, "{integer}"),
            (_, Some(number), _) => write!(formatter, "{number:?}"),
            (_, _, Some(character)) => write!(formatter, "{character:?}"),
            _ => write!(formatter, "#<word {:#x}>", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fixnums_round_trip(integer in FIXNUM_MIN..=FIXNUM_MAX) {
            prop_assert_eq!(Value::fixnum(integer).and_then(Value::as_fixnum), Some(integer));
        }

        #[test]
        fn flonums_round_trip_or_are_rare(bits: u64) {
            let number = f64::from_bits(bits);
            match Value::flonum(number) {
                Some(value) => prop_assert_eq!(value.as_flonum().map(f64::to_bits), Some(bits)),
                None => {
                    let is_rare = !(2e-77..1e77).contains(&number.abs()) && number.abs() > 1e-232;
                    prop_assert!(is_rare || number.is_nan());
                }
            }
        }

        #[test]
        fn references_keep_index_and_kind(index in 0usize..1 << 31) {
            let index = index * 2;
            for value in [Value::pair_at(index), Value::procedure_at(index), Value::object_at(index)] {
                prop_assert!(value.is_reference() && !value.is_fixnum() && !value.is_flonum());
                prop_assert_eq!(value.index(), index);
                prop_assert_eq!(value.moved_to(index), value);
            }
        }
    }

    #[test]
    fn zeros_keep_their_sign() {
        for zero in [0.0f64, -0.0] {
            let value = Value::flonum(zero).and_then(Value::as_flonum);
            assert_eq!(value.map(f64::to_bits), Some(zero.to_bits()));
        }
    }
}
