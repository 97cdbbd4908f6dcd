//! What heap objects there are: one table of kinds, and the header word that every object but the
//! pair begins with.
//!
//! INVARIANT: a kind's code never changes its meaning, because images name kinds by code. Bit 7 of
//! the code says that the payload is raw bytes, bit 6 that references to the object carry the
//! procedure tag; so the collector needs no table.
//! It does not allocate or read the heap. Read next: `heap/allocate.rs`.

use crate::value::{Immediate, Value};

/// When two objects of a kind are the same; decides `eqv?`, `equal?` and the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sameness {
    /// Each is the same only as itself.
    Identity,
    /// Interned: the same only as itself, and hashed by name.
    Name,
    /// `eqv?` when sign and bytes are equal.
    Number,
    /// `eqv?` when both parts, which are numbers, are.
    Numbers,
    /// `equal?` when the characters are.
    Text,
    /// `equal?` when the bytes are.
    Bytes,
    /// `equal?` when all fields are.
    Parts,
    /// As parts when labelled with a value, by identity when made by a record definition.
    Record,
    /// `equal?` when the entries are, in any order.
    Table,
}

macro_rules! kinds {
    ($( $(#[doc = $doc:literal])+ $name:ident = $code:literal, $text:literal, $sameness:ident; )+) => {
        /// The kinds of heap objects other than pairs; the discriminant is the stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind {
            $( $(#[doc = $doc])+ $name = $code, )+
        }

        impl Kind {
            /// Every kind, in order of the table.
            pub const ALL: &[Kind] = &[$( Kind::$name ),+];

            /// The kind with this stable code.
            #[inline(always)]
            pub const fn from_code(code: u8) -> Option<Kind> {
                const KINDS: [Option<Kind>; 256] = {
                    let mut kinds = [None; 256];
                    $( kinds[$code] = Some(Kind::$name); )+
                    kinds
                };
                KINDS[code as usize]
            }

            /// The kind's name, for messages and listings.
            pub const fn name(self) -> &'static str {
                match self {
                    $( Kind::$name => $text, )+
                }
            }

            /// When two objects of this kind are the same.
            pub const fn sameness(self) -> Sameness {
                match self {
                    $( Kind::$name => Sameness::$sameness, )+
                }
            }

            /// The purpose of the kind and the meaning of its fields.
            pub const fn documentation(self) -> &'static str {
                match self {
                    $( Kind::$name => concat!($($doc),+), )+
                }
            }
        }
    };
}

// Stable code, name in messages, sameness.
kinds! {
    /// A procedure: its code word, then the captured values. Continuations are closures over blocks
    /// of the machine.
    Closure = 0x41, "closure", Identity;

    /// A string: one field, the characters object it currently uses.
    String = 0x01, "string", Text;
    /// An interned symbol; see [`symbol`].
    Symbol = 0x02, "symbol", Name;
    /// An interned keyword: one field, the symbol of its name.
    Keyword = 0x03, "keyword", Name;
    /// A vector: its elements.
    Vector = 0x04, "vector", Parts;
    /// An exact ratio in lowest terms: numerator, denominator.
    Ratio = 0x05, "ratio", Numbers;
    /// The box of an assigned variable: its value.
    Cell = 0x06, "cell", Identity;
    /// Multiple values travelling as one.
    Values = 0x07, "values", Identity;
    /// The type made by a record definition; see [`record_type`].
    RecordType = 0x08, "record-type", Identity;
    /// A record: its type or label, then its fields.
    Record = 0x09, "record", Record;
    /// An insertion-ordered table keyed by `equal?`; see [`table`].
    Dictionary = 0x0a, "dictionary", Table;
    /// An insertion-ordered set under `equal?`; see [`table`].
    Set = 0x0b, "set", Table;
    /// A promise; see [`promise`].
    Promise = 0x0c, "promise", Identity;
    /// A condition; see [`condition`].
    Condition = 0x0d, "condition", Identity;
    /// The identity of a prompt: one field, its name.
    PromptTag = 0x0e, "prompt-tag", Identity;
    /// Words of captured stack.
    Frames = 0x0f, "frames", Identity;
    /// One segment of a continuation chain; see [`link`].
    Link = 0x10, "link", Identity;
    /// A prompt in a continuation chain; see [`prompt_link`].
    PromptLink = 0x11, "prompt-link", Identity;
    /// A port; see [`port`].
    Port = 0x12, "port", Identity;
    /// An environment of evaluation.
    Environment = 0x13, "environment", Identity;
    /// A reference to something outside the heap; see [`opaque`].
    Opaque = 0x14, "opaque", Parts;
    /// A number that is not real: real part, imaginary part, which is not the exact zero.
    Complex = 0x15, "complex", Numbers;

    /// Characters of a string, all ASCII: one byte each.
    NarrowCharacters = 0x81, "narrow-characters", Bytes;
    /// Characters of a string: four bytes each, little endian.
    WideCharacters = 0x82, "wide-characters", Bytes;
    /// A bytevector.
    Bytevector = 0x83, "bytevector", Bytes;
    /// An exact integer beyond the fixnums: its magnitude, little endian, without trailing zero
    /// bytes; the sign is a header flag.
    Bignum = 0x84, "bignum", Number;
    /// An inexact real whose exponent is too rare for an immediate word: eight bytes, little
    /// endian.
    Flonum = 0x85, "flonum", Number;
}

const RAW_BIT: u8 = 0x80;
const PROCEDURE_BIT: u8 = 0x40;

impl Kind {
    /// The stable code.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Whether the payload is bytes rather than values.
    pub const fn is_raw(self) -> bool {
        self as u8 & RAW_BIT != 0
    }

    /// Whether references to such objects carry the procedure tag.
    pub const fn is_procedure(self) -> bool {
        self as u8 & PROCEDURE_BIT != 0
    }
}

/// Fields of a [`Kind::Symbol`].
pub mod symbol {
    /// The characters object of the name.
    pub const STORAGE: usize = 0;
    /// The hash of the name, a fixnum.
    pub const HASH: usize = 1;
    /// The keyword of this name, or `#f` while there is none.
    pub const KEYWORD: usize = 2;
    /// How many fields there are.
    pub const LENGTH: usize = 3;
}

/// Fields of a [`Kind::RecordType`].
pub mod record_type {
    /// The type's name, a symbol.
    pub const NAME: usize = 0;
    /// The names of the fields, a vector of symbols.
    pub const FIELD_NAMES: usize = 1;
    /// A number no other type of this heap has, a fixnum.
    pub const SERIAL: usize = 2;
    /// The parent type, or `#f`.
    pub const PARENT: usize = 3;
    /// How many fields there are.
    pub const LENGTH: usize = 4;
}

/// The words of a [`Kind::Cell`].
pub(crate) mod cell {
    use super::{Header, Kind};
    use crate::value::Value;

    /// Header and value.
    pub(crate) const WORDS: usize = 2;
    /// The header.
    pub(crate) const HEADER: Value = Header::new(Kind::Cell, 1).to_value();
}

/// Fields of a [`Kind::Record`].
pub mod record {
    /// The record type, or the label.
    pub const LABEL: usize = 0;
    /// The first of the record's own fields.
    pub const FIELDS: usize = 1;
}

/// Fields of a [`Kind::Promise`].
pub mod promise {
    /// Whether it is forced, a boolean; or the promise it shares its state with.
    pub const STATE: usize = 0;
    /// The value, or the thunk that makes it.
    pub const CONTENT: usize = 1;
    /// How many fields there are.
    pub const LENGTH: usize = 2;
}

/// Fields of a [`Kind::Condition`].
pub mod condition {
    /// The kind, a symbol.
    pub const KIND: usize = 0;
    /// The message, a string.
    pub const MESSAGE: usize = 1;
    /// The irritants, a list.
    pub const IRRITANTS: usize = 2;
    /// Where it was raised, or `#f`.
    pub const ORIGIN: usize = 3;
    /// The return points of the backtrace, innermost first, a
    /// [`Kind::Frames`](super::Kind::Frames); or `#f`.
    pub const BACKTRACE: usize = 4;
    /// How many fields there are.
    pub const LENGTH: usize = 5;
}

/// Fields of a [`Kind::Link`].
pub mod link {
    /// The words of stack, a [`Kind::Frames`](super::Kind::Frames).
    pub const FRAMES: usize = 0;
    /// How many words of the segment count, from its first, a fixnum; the frames above were
    /// returned from, and the collector clears those that no link counts.
    pub const LIMIT: usize = 1;
    /// The next older segment, or `()`.
    pub const NEXT: usize = 2;
    /// How many fields there are.
    pub const LENGTH: usize = 3;
}

/// Fields of a [`Kind::PromptLink`].
pub mod prompt_link {
    /// The prompt's tag.
    pub const TAG: usize = 0;
    /// The handler for an abort to it.
    pub const HANDLER: usize = 1;
    /// The next older segment, or `()`.
    pub const NEXT: usize = 2;
    /// The winders in force outside the prompt.
    pub const WINDERS: usize = 3;
    /// The dynamic environment outside the prompt.
    pub const DYNAMIC: usize = 4;
    /// How many fields there are.
    pub const LENGTH: usize = 5;
}

/// Fields of a continuation: a [`Kind::Closure`] over the block that enters it, whose code word is
/// field 0.
pub mod captured {
    /// The newest link of the continuation.
    pub const LINK: usize = 1;
    /// The winders in force at the capture.
    pub const WINDERS: usize = 2;
    /// The dynamic environment in force at the capture.
    pub const DYNAMIC: usize = 3;
    /// How many fields there are.
    pub const LENGTH: usize = 4;
}

/// Fields of a [`Kind::Port`].
pub mod port {
    /// Its type and its state, a fixnum of bits.
    pub const FLAGS: usize = 0;
    /// Its buffer, a bytevector of some capacity; text is in UTF-8.
    pub const BUFFER: usize = 1;
    /// Where the bytes that are still to be read start in the buffer, a fixnum.
    pub const START: usize = 2;
    /// Where the buffered bytes end, a fixnum.
    pub const END: usize = 3;
    /// The number of its console stream, a fixnum; the procedure that takes its output; or `#f`.
    pub const STREAM: usize = 4;
    /// How many fields there are.
    pub const LENGTH: usize = 5;
}

/// Fields of a [`Kind::Opaque`].
pub mod opaque {
    /// Which table of the host it belongs to, a fixnum.
    pub const CLASS: usize = 0;
    /// Its place in that table, a fixnum.
    pub const ID: usize = 1;
    /// A value that travels with it.
    pub const PAYLOAD: usize = 2;
    /// How many fields there are.
    pub const LENGTH: usize = 3;
}

/// Fields of a [`Kind::Dictionary`] or [`Kind::Set`].
pub mod table {
    /// How many entries are present, a fixnum.
    pub const COUNT: usize = 0;
    /// How many entry places are in use, deleted ones included, a fixnum; its bits from 32 on count
    /// the deleted ones before the first entry.
    pub const USED: usize = 1;
    /// A vector of entries in order of insertion: hash, key and, in a dictionary, value. `#f`
    /// before the first.
    pub const ENTRIES: usize = 2;
    /// A bytevector of 32-bit slots that find an entry by hash, or `#f` while the table is small.
    pub const INDEX: usize = 3;
    /// How many fields there are.
    pub const LENGTH: usize = 4;
}

/// Facts about one object that its header keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// None.
    pub const NONE: Flags = Flags(0);
    /// A literal: mutation is an error that the primitives report.
    pub const IMMUTABLE: Flags = Flags(1);
    /// A negative big integer.
    pub const NEGATIVE: Flags = Flags(2);
    /// A dictionary that compares keys by `eqv?`.
    pub const BY_IDENTITY: Flags = Flags(4);
    /// The flags that describe the value; the others are the object's identity hash.
    pub const DESCRIPTIVE: Flags = Flags(0xf);

    /// The flags with these bits; only the low 16 count.
    pub const fn from_bits(bits: u16) -> Flags {
        Flags(bits)
    }

    /// The bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether all of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and `other`.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// The descriptive flags alone.
    pub const fn descriptive(self) -> Flags {
        Flags(self.0 & Flags::DESCRIPTIVE.0)
    }

    /// The identity hash, 1..=4095, or 0 while none is given.
    pub const fn identity(self) -> u16 {
        self.0 >> 4
    }

    /// The same flags with an identity hash.
    pub const fn with_identity(self, identity: u16) -> Flags {
        Flags(self.0 & Flags::DESCRIPTIVE.0 | identity << 4)
    }
}

/// The meaning of a header word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of the object.
    pub kind: Kind,
    /// Facts about it.
    pub flags: Flags,
    /// Length of the payload: words for kinds of values, bytes for raw kinds.
    pub length: u32,
}

impl Header {
    /// A header without flags.
    pub const fn new(kind: Kind, length: u32) -> Header {
        Header {
            kind,
            flags: Flags::NONE,
            length,
        }
    }

    /// The header as a word.
    pub const fn to_value(self) -> Value {
        Value::immediate(
            Immediate::Header,
            self.length,
            self.kind as u32 | (self.flags.bits() as u32) << 8,
        )
    }

    /// The header in a word, if the word is a header.
    #[inline]
    pub const fn from_value(word: Value) -> Option<Header> {
        if !word.is_immediate(Immediate::Header) {
            return None;
        }
        match Kind::from_code(word.detail() as u8) {
            Some(kind) => Some(Header {
                kind,
                flags: Flags::from_bits((word.detail() >> 8) as u16),
                length: word.payload(),
            }),
            None => None,
        }
    }

    /// How many words of payload follow the header, without padding.
    #[inline]
    pub const fn payload_words(self) -> usize {
        payload_words(self.to_value())
    }

    /// How many words the object takes, header and padding included; even.
    #[inline]
    pub const fn object_words(self) -> usize {
        padded(1 + self.payload_words())
    }
}

/// `words` rounded up to an even number.
pub(crate) const fn padded(words: usize) -> usize {
    (words + 1) & !1
}

/// Whether a header word announces raw bytes.
#[inline(always)]
pub(crate) const fn is_raw_header(word: Value) -> bool {
    word.to_bits() >> 8 & RAW_BIT as u64 != 0
}

/// The payload words that a header word announces, without padding.
#[inline(always)]
pub(crate) const fn payload_words(word: Value) -> usize {
    let length = word.payload() as usize;
    if is_raw_header(word) {
        length.div_ceil(8)
    } else {
        length
    }
}

/// The words from an object's first word to the next object, given that first word.
#[inline(always)]
pub(crate) const fn extent(first_word: Value) -> usize {
    if first_word.is_immediate(Immediate::Header) {
        padded(1 + payload_words(first_word))
    } else {
        2
    }
}

/// The word that a collection leaves where an object was; its kind code is none of the table's.
#[inline(always)]
pub(crate) const fn forward(index: usize) -> Value {
    Value::immediate(Immediate::Header, (index / 2) as u32, 0)
}

/// Where the object went, if `first_word` is what [`forward`] leaves.
#[inline(always)]
pub(crate) const fn forwarded_to(first_word: Value) -> Option<usize> {
    const MASK: u64 = 0xffff_ffff;
    if first_word.to_bits() & MASK == Immediate::Header as u64 {
        Some(first_word.payload() as usize * 2)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_pinned() {
        let listing: String = Kind::ALL
            .iter()
            .map(|kind| {
                let layout = if kind.is_raw() { "bytes" } else { "words" };
                let tag = if kind.is_procedure() { "procedure" } else { "object" };
                format!(
                    "{:#04x} {} {layout} {tag} {:?}\n",
                    kind.code(),
                    kind.name(),
                    kind.sameness()
                )
            })
            .collect();
        insta::assert_snapshot!(listing);
    }

    #[test]
    fn headers_round_trip() {
        for &kind in Kind::ALL {
            assert_eq!(Kind::from_code(kind.code()), Some(kind));
            let flags = Flags::IMMUTABLE.with_identity(0xabc);
            let header = Header {
                kind,
                flags,
                length: 0x1234_5679,
            };
            assert_eq!(Header::from_value(header.to_value()), Some(header));
            assert_eq!(forwarded_to(header.to_value()), None);
            assert_eq!(header.object_words() % 2, 0);
        }
        assert_eq!(forwarded_to(forward(0x1_2345_6788)), Some(0x1_2345_6788));
    }
}
