//! The candidate value words: how one `u64` tells fixnum, flonum, pair, procedure and immediate apart.
//!
//! INVARIANT: heap references are byte offsets (or word indices) into the one heap vector, never addresses.
//! Arithmetic here is the fast path only; `machine.rs` owns what happens when a word says `None`.

/// One candidate representation of a Scheme value.
pub trait Value: 'static {
    const NAME: &'static str;
    /// Whether every flonum needs a heap box.
    const BOXES_FLONUMS: bool;
    const NIL: u64;
    const TRUE: u64;
    const FALSE: u64;
    /// First word of a boxed flonum, so that the collector can skip the raw bits behind it.
    const BOX_HEADER: u64;
    /// First word of a pair or box that the collector has moved; the second word is the moved reference.
    const FORWARDED: u64;

    fn symbol(number: u64) -> u64;
    fn fixnum(value: i64) -> u64;
    fn as_fixnum(word: u64) -> Option<i64>;
    fn add(a: u64, b: u64) -> Option<u64>;
    fn subtract(a: u64, b: u64) -> Option<u64>;
    fn add_small(a: u64, small: i64) -> Option<u64>;
    /// `a < b` if both are fixnums.
    fn less(a: u64, b: u64) -> Option<bool>;
    fn less_small(a: u64, small: i64) -> Option<bool>;
    /// The flonum this word holds without a look at the heap.
    fn immediate_flonum(word: u64) -> Option<f64>;
    /// The word for a flonum, unless it needs a box.
    fn flonum_word(value: f64) -> Option<u64>;

    /// Byte offset of a pair, if the word is one.
    fn pair(word: u64) -> Option<usize>;
    fn make_pair(offset: usize) -> u64;
    fn boxed(word: u64) -> Option<usize>;
    fn make_boxed(offset: usize) -> u64;
    fn procedure(word: u64) -> Option<usize>;
    fn make_procedure(offset: usize) -> u64;
}

/// Where low-bit tags keep flonums.
pub const BOXED_ONLY: u8 = 0;
/// Immediate if the exponent lies in -255..=256 or the number is 0.0, which has a word of its own.
pub const TWO_EIGHTHS: u8 = 2;
/// Immediate if the top three bits of the exponent are 000 (with 0.0), 011 or 100, which cover -255..=256.
pub const THREE_EIGHTHS: u8 = 3;

/// Low-bit tags: a fixnum ends in zeros; pairs and others are offset plus tag; `FLONUMS` is one of the schemes above.
///
/// The first two schemes have 63-bit fixnums, flonums ending in `01` and four-bit tags ending in `11`. The third has
/// 61-bit fixnums, flonums ending in `001`, `100` or `101`, and the other three-bit endings for the rest.
pub struct LowBits<const FLONUMS: u8>;

/// Added to the bits of a flonum before rotation, so that no flonum ends like a fixnum.
const EXPONENT_SHIFT: u64 = 1 << 60;
/// Bit `n` is set if words ending in the six bits of `n` are flonums of the third scheme.
const FLONUM_ENDINGS: u64 = 0x3232_3232_3232_3232;

impl<const FLONUMS: u8> LowBits<FLONUMS> {
    const THREE: bool = FLONUMS == THREE_EIGHTHS;
    const FIXNUM_SHIFT: u32 = if Self::THREE { 3 } else { 1 };
    const FIXNUM_MASK: u64 = (1 << Self::FIXNUM_SHIFT) - 1;
    const TAG_BITS: u32 = if Self::THREE { 3 } else { 4 };
    const PAIR: u64 = if Self::THREE { 0b010 } else { 0b0011 };
    const PROCEDURE: u64 = if Self::THREE { 0b011 } else { 0b0111 };
    const BOXED: u64 = if Self::THREE { 0b110 } else { 0b1011 };
    const IMMEDIATE: u64 = if Self::THREE { 0b111 } else { 0b1111 };
    const ZERO: u64 = Self::immediate(5);

    const fn immediate(number: u64) -> u64 {
        number << Self::TAG_BITS | Self::IMMEDIATE
    }
    #[inline(always)]
    fn reference(word: u64, tag: u64) -> Option<usize> {
        (word & ((1 << Self::TAG_BITS) - 1) == tag).then(|| (word - tag) as usize)
    }
    #[inline(always)]
    fn both_fixnums(a: u64, b: u64) -> bool {
        (a | b) & Self::FIXNUM_MASK == 0
    }
}

impl<const FLONUMS: u8> Value for LowBits<FLONUMS> {
    const NAME: &'static str = match FLONUMS {
        BOXED_ONLY => "low bits, boxed flonums",
        TWO_EIGHTHS => "low bits, self-tagged flonums (2/8)",
        _ => "low bits, self-tagged flonums (3/8)",
    };
    const BOXES_FLONUMS: bool = FLONUMS == BOXED_ONLY;
    const NIL: u64 = Self::immediate(0);
    const TRUE: u64 = Self::immediate(1);
    const FALSE: u64 = Self::immediate(2);
    const BOX_HEADER: u64 = Self::immediate(3);
    const FORWARDED: u64 = Self::immediate(4);

    #[inline(always)]
    fn symbol(number: u64) -> u64 {
        Self::immediate(number + 16)
    }
    #[inline(always)]
    fn fixnum(value: i64) -> u64 {
        (value << Self::FIXNUM_SHIFT) as u64
    }
    #[inline(always)]
    fn as_fixnum(word: u64) -> Option<i64> {
        (word & Self::FIXNUM_MASK == 0).then_some(word as i64 >> Self::FIXNUM_SHIFT)
    }
    #[inline(always)]
    fn add(a: u64, b: u64) -> Option<u64> {
        if !Self::both_fixnums(a, b) {
            return None;
        }
        (a as i64).checked_add(b as i64).map(|sum| sum as u64)
    }
    #[inline(always)]
    fn subtract(a: u64, b: u64) -> Option<u64> {
        if !Self::both_fixnums(a, b) {
            return None;
        }
        (a as i64).checked_sub(b as i64).map(|difference| difference as u64)
    }
    #[inline(always)]
    fn add_small(a: u64, small: i64) -> Option<u64> {
        if !Self::both_fixnums(a, 0) {
            return None;
        }
        (a as i64).checked_add(small << Self::FIXNUM_SHIFT).map(|sum| sum as u64)
    }
    #[inline(always)]
    fn less(a: u64, b: u64) -> Option<bool> {
        Self::both_fixnums(a, b).then_some((a as i64) < b as i64)
    }
    #[inline(always)]
    fn less_small(a: u64, small: i64) -> Option<bool> {
        Self::both_fixnums(a, 0).then_some((a as i64) < small << Self::FIXNUM_SHIFT)
    }
    #[inline(always)]
    fn immediate_flonum(word: u64) -> Option<f64> {
        match FLONUMS {
            BOXED_ONLY => None,
            TWO_EIGHTHS if word & 3 == 1 => Some(f64::from_bits(word.rotate_right(3).wrapping_add(EXPONENT_SHIFT))),
            TWO_EIGHTHS => (word == Self::ZERO).then_some(0.0),
            _ => (FLONUM_ENDINGS >> (word & 63) & 1 == 1)
                .then(|| f64::from_bits(word.rotate_right(4).wrapping_sub(EXPONENT_SHIFT))),
        }
    }
    #[inline(always)]
    fn flonum_word(value: f64) -> Option<u64> {
        let bits = value.to_bits();
        match FLONUMS {
            BOXED_ONLY => None,
            TWO_EIGHTHS => {
                let word = bits.wrapping_sub(EXPONENT_SHIFT).rotate_left(3);
                if word & 3 == 1 { Some(word) } else { (bits == 0).then_some(Self::ZERO) }
            }
            _ => {
                let word = bits.wrapping_add(EXPONENT_SHIFT).rotate_left(4);
                (FLONUM_ENDINGS >> (word & 63) & 1 == 1).then_some(word)
            }
        }
    }
    #[inline(always)]
    fn pair(word: u64) -> Option<usize> {
        Self::reference(word, Self::PAIR)
    }
    #[inline(always)]
    fn make_pair(offset: usize) -> u64 {
        offset as u64 + Self::PAIR
    }
    #[inline(always)]
    fn boxed(word: u64) -> Option<usize> {
        Self::reference(word, Self::BOXED)
    }
    #[inline(always)]
    fn make_boxed(offset: usize) -> u64 {
        offset as u64 + Self::BOXED
    }
    #[inline(always)]
    fn procedure(word: u64) -> Option<usize> {
        Self::reference(word, Self::PROCEDURE)
    }
    #[inline(always)]
    fn make_procedure(offset: usize) -> u64 {
        offset as u64 + Self::PROCEDURE
    }
}

/// NaN-boxing: plain doubles below `0xfff9…`, then a 16-bit kind and a payload.
/// `FIXNUM_BITS` is 48 or 32; heap references are 32-bit word indices.
pub struct NanBox<const FIXNUM_BITS: u32>;

const NAN_FIXNUM: u64 = 0xfff9;
const NAN_PAIR: u64 = 0xfffa;
const NAN_PROCEDURE: u64 = 0xfffb;
const NAN_IMMEDIATE: u64 = 0xfffc;

const fn nan(kind: u64, payload: u64) -> u64 {
    kind << 48 | payload
}

impl<const FIXNUM_BITS: u32> NanBox<FIXNUM_BITS> {
    /// The fixnum at the top of a word, so that overflow of the fixnum is overflow of the word.
    #[inline(always)]
    fn high(word: u64) -> i64 {
        (word << (64 - FIXNUM_BITS)) as i64
    }
    #[inline(always)]
    fn from_high(high: i64) -> u64 {
        nan(NAN_FIXNUM, high as u64 >> (64 - FIXNUM_BITS))
    }
    #[inline(always)]
    fn is_fixnum(word: u64) -> bool {
        word >> FIXNUM_BITS == nan(NAN_FIXNUM, 0) >> FIXNUM_BITS
    }
    #[inline(always)]
    fn index(word: u64, kind: u64) -> Option<usize> {
        (word >> 48 == kind).then_some(word as u32 as usize * 8)
    }
}

impl<const FIXNUM_BITS: u32> Value for NanBox<FIXNUM_BITS> {
    const NAME: &'static str = if FIXNUM_BITS == 48 { "NaN box, 48-bit fixnums" } else { "NaN box, 32-bit fixnums" };
    const BOXES_FLONUMS: bool = false;
    const NIL: u64 = nan(NAN_IMMEDIATE, 0);
    const TRUE: u64 = nan(NAN_IMMEDIATE, 1);
    const FALSE: u64 = nan(NAN_IMMEDIATE, 2);
    const BOX_HEADER: u64 = nan(NAN_IMMEDIATE, 3);
    const FORWARDED: u64 = nan(NAN_IMMEDIATE, 4);

    #[inline(always)]
    fn symbol(number: u64) -> u64 {
        nan(NAN_IMMEDIATE, number + 5)
    }
    #[inline(always)]
    fn fixnum(value: i64) -> u64 {
        Self::from_high(value << (64 - FIXNUM_BITS))
    }
    #[inline(always)]
    fn as_fixnum(word: u64) -> Option<i64> {
        Self::is_fixnum(word).then(|| Self::high(word) >> (64 - FIXNUM_BITS))
    }
    #[inline(always)]
    fn add(a: u64, b: u64) -> Option<u64> {
        if !(Self::is_fixnum(a) && Self::is_fixnum(b)) {
            return None;
        }
        Self::high(a).checked_add(Self::high(b)).map(Self::from_high)
    }
    #[inline(always)]
    fn subtract(a: u64, b: u64) -> Option<u64> {
        if !(Self::is_fixnum(a) && Self::is_fixnum(b)) {
            return None;
        }
        Self::high(a).checked_sub(Self::high(b)).map(Self::from_high)
    }
    #[inline(always)]
    fn add_small(a: u64, small: i64) -> Option<u64> {
        if !Self::is_fixnum(a) {
            return None;
        }
        Self::high(a).checked_add(small << (64 - FIXNUM_BITS)).map(Self::from_high)
    }
    #[inline(always)]
    fn less(a: u64, b: u64) -> Option<bool> {
        (Self::is_fixnum(a) && Self::is_fixnum(b)).then(|| Self::high(a) < Self::high(b))
    }
    #[inline(always)]
    fn less_small(a: u64, small: i64) -> Option<bool> {
        Self::is_fixnum(a).then(|| Self::high(a) < small << (64 - FIXNUM_BITS))
    }
    #[inline(always)]
    fn immediate_flonum(word: u64) -> Option<f64> {
        (word < nan(NAN_FIXNUM, 0)).then_some(f64::from_bits(word))
    }
    #[inline(always)]
    fn flonum_word(value: f64) -> Option<u64> {
        // A negative NaN with a payload would look like another kind; all NaNs are the same datum.
        Some(if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() })
    }
    #[inline(always)]
    fn pair(word: u64) -> Option<usize> {
        Self::index(word, NAN_PAIR)
    }
    #[inline(always)]
    fn make_pair(offset: usize) -> u64 {
        nan(NAN_PAIR, offset as u64 / 8)
    }
    #[inline(always)]
    fn boxed(_: u64) -> Option<usize> {
        None
    }
    fn make_boxed(_: usize) -> u64 {
        unreachable!("every flonum is immediate")
    }
    #[inline(always)]
    fn procedure(word: u64) -> Option<usize> {
        Self::index(word, NAN_PROCEDURE)
    }
    #[inline(always)]
    fn make_procedure(offset: usize) -> u64 {
        nan(NAN_PROCEDURE, offset as u64 / 8)
    }
}
