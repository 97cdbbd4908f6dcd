//! The pieces of which canonical packed bytes are put together.
//!
//! INVARIANT: lengths and integers come out in their shortest form.
//! It does not sort sets or dictionaries; `packed/value.rs` does.
//! Read next: `packed/value.rs`.

/// The bytes that open values of each kind.
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

/// Appends an atom: its tag, the length, the bytes.
#[inline]
pub(crate) fn atom(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    if bytes.len() < 0x80 {
        out.extend_from_slice(&[tag, bytes.len() as u8]);
        out.extend_from_slice(bytes);
    } else {
        long_atom(out, tag, bytes);
    }
}

fn long_atom(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
}

/// Appends a non-negative integer.
#[inline]
pub(crate) fn unsigned(out: &mut Vec<u8>, number: u64) {
    match number {
        0 => out.extend_from_slice(&[tag::INTEGER, 0]),
        1..0x80 => out.extend_from_slice(&[tag::INTEGER, 1, number as u8]),
        0x80..0x8000 => out.extend_from_slice(&[tag::INTEGER, 2, (number >> 8) as u8, number as u8]),
        _ => large(out, number),
    }
}

fn large(out: &mut Vec<u8>, number: u64) {
    let mut bytes = [0; 9];
    bytes[1..].copy_from_slice(&number.to_be_bytes());
    // One zero byte stays before a byte whose top bit would read as a sign.
    let significant_bytes = (u64::BITS - number.leading_zeros()) as usize / 8 + 1;
    atom(out, tag::INTEGER, &bytes[9 - significant_bytes..]);
}

/// Opens a record with a symbol as its label; the caller appends fields and [`tag::END`].
#[inline]
pub(crate) fn open_record(out: &mut Vec<u8>, label: &str) {
    out.push(tag::RECORD);
    atom(out, tag::SYMBOL, label.as_bytes());
}
