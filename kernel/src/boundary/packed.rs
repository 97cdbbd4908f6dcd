//! The packed form: its tags, and a writer that puts it together in canonical order.
//!
//! INVARIANT: what is between the opening and the closing of a set or dictionary is sorted by its bytes and free of duplicates when it is closed.
//! It does not know where values come from. Read next: `boundary/scan.rs`.
//!
//! Source: Preserves 0.996, "Binary encoding" and "Canonical form".

use num_bigint::BigInt;
use num_traits::Zero;

/// First bytes of values.
pub(super) mod tag {
    pub(in crate::boundary) const FALSE: u8 = 0x80;
    pub(in crate::boundary) const TRUE: u8 = 0x81;
    pub(in crate::boundary) const END: u8 = 0x84;
    pub(in crate::boundary) const ANNOTATION: u8 = 0x85;
    pub(in crate::boundary) const EMBEDDED: u8 = 0x86;
    pub(in crate::boundary) const DOUBLE: u8 = 0x87;
    pub(in crate::boundary) const INTEGER: u8 = 0xb0;
    pub(in crate::boundary) const STRING: u8 = 0xb1;
    pub(in crate::boundary) const BYTES: u8 = 0xb2;
    pub(in crate::boundary) const SYMBOL: u8 = 0xb3;
    pub(in crate::boundary) const RECORD: u8 = 0xb4;
    pub(in crate::boundary) const SEQUENCE: u8 = 0xb5;
    pub(in crate::boundary) const SET: u8 = 0xb6;
    pub(in crate::boundary) const DICTIONARY: u8 = 0xb7;
}

/// What holds other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compound {
    Record,
    Sequence,
    Set,
    Dictionary,
    Embedded,
}

impl Compound {
    const fn tag(self) -> u8 {
        match self {
            Compound::Record => tag::RECORD,
            Compound::Sequence => tag::SEQUENCE,
            Compound::Set => tag::SET,
            Compound::Dictionary => tag::DICTIONARY,
            Compound::Embedded => tag::EMBEDDED,
        }
    }

    /// How many values make one entry whose order matters, if any.
    const fn entry_values(self) -> Option<usize> {
        match self {
            Compound::Set => Some(1),
            Compound::Dictionary => Some(2),
            Compound::Record | Compound::Sequence | Compound::Embedded => None,
        }
    }
}

/// Two entries of a set or dictionary have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DuplicateKey;

/// Writes one value.
pub(super) struct PackedWriter {
    bytes: Vec<u8>,
    /// How many compound values are being written.
    depth: usize,
    /// Those of them in which the order matters.
    ordered: Vec<Ordered>,
}

/// A set or dictionary that is being written.
struct Ordered {
    depth: usize,
    /// Where its values start.
    starts: Vec<usize>,
}

/// Room that most values of a dataspace fit into.
const BYTES_INITIAL: usize = 256;

impl PackedWriter {
    pub(super) fn new() -> PackedWriter {
        PackedWriter {
            bytes: Vec::with_capacity(BYTES_INITIAL),
            depth: 0,
            ordered: Vec::new(),
        }
    }

    /// Bytes written so far.
    pub(super) fn length(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Must come before every value.
    fn begin(&mut self) {
        if let Some(innermost) = self.ordered.last_mut()
            && innermost.depth == self.depth
        {
            innermost.starts.push(self.bytes.len());
        }
    }

    pub(super) fn boolean(&mut self, truth: bool) {
        self.begin();
        self.bytes.push(if truth { tag::TRUE } else { tag::FALSE });
    }

    pub(super) fn double(&mut self, number: f64) {
        self.atom(tag::DOUBLE, &number.to_bits().to_be_bytes());
    }

    pub(super) fn integer(&mut self, integer: i64) {
        let bytes = integer.to_be_bytes();
        let start = (0..8)
            .find(|&start| integer != 0 && !is_redundant(&bytes[start..]))
            .unwrap_or(8);
        self.atom(tag::INTEGER, &bytes[start..]);
    }

    pub(super) fn big_integer(&mut self, integer: &BigInt) {
        if integer.is_zero() {
            self.atom(tag::INTEGER, &[]);
        } else {
            self.atom(tag::INTEGER, &integer.to_signed_bytes_be());
        }
    }

    pub(super) fn string(&mut self, text: &str) {
        self.atom(tag::STRING, text.as_bytes());
    }

    pub(super) fn symbol(&mut self, name: &str) {
        self.atom(tag::SYMBOL, name.as_bytes());
    }

    pub(super) fn byte_string(&mut self, bytes: &[u8]) {
        self.atom(tag::BYTES, bytes);
    }

    fn atom(&mut self, tag: u8, content: &[u8]) {
        self.begin();
        self.bytes.push(tag);
        let mut length = content.len();
        while length >= 0x80 {
            self.bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        self.bytes.push(length as u8);
        self.bytes.extend_from_slice(content);
    }

    pub(super) fn open(&mut self, compound: Compound) {
        self.begin();
        self.bytes.push(compound.tag());
        self.depth += 1;
        if compound.entry_values().is_some() {
            self.ordered.push(Ordered {
                depth: self.depth,
                starts: Vec::new(),
            });
        }
    }

    /// Ends what was opened last, a `compound`. A dictionary has been given a value for each key, an embedded value its one content.
    pub(super) fn close(&mut self, compound: Compound) -> Result<(), DuplicateKey> {
        self.depth -= 1;
        if let Some(values) = compound.entry_values() {
            let starts = self.ordered.pop().map_or_else(Vec::new, |ended| ended.starts);
            self.sort(&starts, values)?;
        }
        if compound != Compound::Embedded {
            self.bytes.push(tag::END);
        }
        Ok(())
    }

    /// Sorts the entries that begin at every `values`-th start and reach to the end of the bytes.
    fn sort(&mut self, starts: &[usize], values: usize) -> Result<(), DuplicateKey> {
        let Some(&first) = starts.first() else { return Ok(()) };
        let end_of = |place: usize| starts.get(place).copied().unwrap_or(self.bytes.len());
        let mut entries: Vec<(&[u8], &[u8])> = (0..starts.len())
            .step_by(values)
            .map(|place| {
                let start = starts[place];
                let key = &self.bytes[start..end_of(place + 1)];
                (key, &self.bytes[start..end_of(place + values)])
            })
            .collect();
        if !entries.is_sorted_by(|(a, _), (b, _)| a < b) {
            entries.sort_unstable();
            if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(DuplicateKey);
            }
            let sorted: Vec<u8> = entries.iter().flat_map(|(_, entry)| *entry).copied().collect();
            self.bytes[first..].copy_from_slice(&sorted);
        }
        Ok(())
    }
}

/// Whether the first byte of a two's-complement number, big end first, repeats the sign of the rest.
pub(super) fn is_redundant(bytes: &[u8]) -> bool {
    match bytes {
        [0] => true,
        [0x00, next, ..] => next & 0x80 == 0,
        [0xff, next, ..] => next & 0x80 != 0,
        _ => false,
    }
}
