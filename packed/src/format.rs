//! The bytes of the packed form: tags, lengths, integers, and the limits of a value.
//!
//! INVARIANT: a length and an integer have one form each, the shortest; [`varint::take`] and
//! [`is_shortest`] accept no other.
//! It does not know values. Read next: `reader.rs`.
//!
//! Source: Preserves 0.996, "Binary Syntax".

/// The default limit of depth: a value inside 512 others is refused.
pub const MAX_DEPTH: usize = 512;

/// The default limit of length, in bytes (64 MiB); larger things are blobs.
pub const MAX_VALUE_BYTES: usize = 64 << 20;

/// Bounds of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedLimits {
    /// The maximum number of compound values inside each other.
    pub depth_max: usize,
    /// The maximum length in bytes.
    pub bytes_max: usize,
}

impl PackedLimits {
    /// No bounds: for values that this process has made.
    pub const NONE: Self = Self {
        depth_max: usize::MAX,
        bytes_max: usize::MAX,
    };
}

/// [`MAX_DEPTH`] and [`MAX_VALUE_BYTES`].
impl Default for PackedLimits {
    fn default() -> Self {
        Self {
            depth_max: MAX_DEPTH,
            bytes_max: MAX_VALUE_BYTES,
        }
    }
}

/// The bytes that values begin with, and the one that ends most compound values.
pub(crate) mod tag {
    pub(crate) const FALSE: u8 = 0x80;
    pub(crate) const TRUE: u8 = 0x81;
    pub(crate) const END: u8 = 0x84;
    pub(crate) const ANNOTATION: u8 = 0x85;
    pub(crate) const EMBEDDED: u8 = 0x86;
    pub(crate) const DOUBLE: u8 = 0x87;
    pub(crate) const INTEGER: u8 = 0xb0;
    pub(crate) const STRING: u8 = 0xb1;
    pub(crate) const BYTE_STRING: u8 = 0xb2;
    pub(crate) const SYMBOL: u8 = 0xb3;
    pub(crate) const RECORD: u8 = 0xb4;
    pub(crate) const SEQUENCE: u8 = 0xb5;
    pub(crate) const SET: u8 = 0xb6;
    pub(crate) const DICTIONARY: u8 = 0xb7;
}

/// The kinds of values that contain values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compound {
    /// A label and fields.
    Record,
    /// Elements in order.
    Sequence,
    /// Elements in the order of their bytes.
    Set,
    /// Keys and values in turn, in the order of the keys' bytes.
    Dictionary,
    /// The one value that is embedded.
    Embedded,
}

impl Compound {
    pub(crate) const fn tag(self) -> u8 {
        match self {
            Self::Record => tag::RECORD,
            Self::Sequence => tag::SEQUENCE,
            Self::Set => tag::SET,
            Self::Dictionary => tag::DICTIONARY,
            Self::Embedded => tag::EMBEDDED,
        }
    }

    /// How many values make one entry, if the entries have to be sorted.
    pub(crate) const fn values_per_entry(self) -> Option<usize> {
        match self {
            Self::Set => Some(1),
            Self::Dictionary => Some(2),
            Self::Record | Self::Sequence | Self::Embedded => None,
        }
    }

    /// Names the kind in an error.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Record => "a record",
            Self::Sequence => "a sequence",
            Self::Set => "a set",
            Self::Dictionary => "a dictionary",
            Self::Embedded => "an embedded value",
        }
    }
}

/// Numbers in base 128, the least significant seven bits first.
pub mod varint {
    /// Appends a number.
    #[inline]
    pub fn put(out: &mut Vec<u8>, mut number: u64) {
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }

    /// Reads the number at `position` and moves `position` past it; `None` if the number is cut
    /// off, has more than 64 bits or superfluous bytes.
    #[inline]
    pub fn take(bytes: &[u8], position: &mut usize) -> Option<u64> {
        let mut number = 0;
        for (place, &byte) in bytes.get(*position..)?.iter().enumerate().take(10) {
            let bits = u64::from(byte & 0x7f);
            if place == 9 && bits > 1 || place > 0 && byte == 0 {
                return None;
            }
            number |= bits << (7 * place);
            if byte < 0x80 {
                *position += place + 1;
                return Some(number);
            }
        }
        None
    }
}

/// Whether a number in two's complement, the most significant byte first, has no byte that only
/// repeats the sign; zero has no bytes.
pub(crate) fn is_shortest(integer: &[u8]) -> bool {
    match integer {
        [0] => false,
        [] | [_] => true,
        [first, second, ..] => !matches!((first, second & 0x80), (0x00, 0x00) | (0xff, 0x80)),
    }
}

/// The number that an integer in its shortest form is, if it lies from 0 to 2⁶⁴ − 1.
pub(crate) fn unsigned(integer: &[u8]) -> Option<u64> {
    let magnitude = match integer {
        [first, ..] if first & 0x80 != 0 => return None,
        // A zero before a byte whose top bit would read as a sign.
        [0, rest @ ..] => rest,
        rest => rest,
    };
    let number = || {
        magnitude
            .iter()
            .fold(0, |number: u64, &byte| number << 8 | u64::from(byte))
    };
    (magnitude.len() <= 8).then(number)
}
