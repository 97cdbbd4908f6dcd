//! The valid values and the errors of the Preserves specification, through each reader.
//!
//! `samples/values.txt` has a packed value and a text of it in each line, where `⏎` stands for the
//! end of a line; `samples/faults.txt` has texts, `samples/damaged.txt` bytes that are no value.
//! INVARIANT: text and packed bytes of a value are read as one value, and what is written of it is
//! read as the same.
//! Read next: `canonical.rs`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use duet_packed::framing::{Decoder, Encoding, read_text};
use duet_packed::{PackedLimits, PackedValue};
use preserves::IOValue;

use crate::canonical::hex;

const VALUES: &str = include_str!("samples/values.txt");
const FAULTS: &str = include_str!("samples/faults.txt");
const DAMAGED: &str = include_str!("samples/damaged.txt");

/// The first value of a stream of packed bytes, which a peer may annotate and order as it likes.
fn unpacked(bytes: &[u8]) -> Option<IOValue> {
    let mut decoder = Decoder::new(PackedLimits::default());
    decoder.add(bytes);
    decoder.next().ok().flatten()
}

#[test]
fn each_value_is_the_same_in_text_and_in_bytes() {
    for line in VALUES.lines() {
        let (bytes, text) = line.split_once(' ').unwrap();
        let text = text.replace('⏎', "\n");
        let value = read_text(&text, PackedLimits::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        let packed = PackedValue::from_value(&value).unwrap();
        assert_eq!(
            unpacked(&hex(bytes)).map(|value| PackedValue::from_value(&value).unwrap()),
            Some(packed.clone()),
            "{line}"
        );
        assert_eq!(
            PackedValue::from_bytes(packed.as_bytes().to_vec()).as_ref(),
            Ok(&packed),
            "{line}"
        );
        let written = String::from_utf8(Encoding::Text.write(&value).unwrap()).unwrap();
        let again = read_text(&written, PackedLimits::default()).unwrap_or_else(|error| panic!("{written}: {error}"));
        assert_eq!(PackedValue::from_value(&again).unwrap(), packed, "{line}: {written}");
        assert_eq!(unpacked(packed.as_bytes()), Some(value), "{line}");
    }
}

#[test]
fn texts_and_bytes_that_are_no_value_are_refused() {
    for text in FAULTS.lines().chain(["", "   ", "#", "@", "@a", "#!", "'", "\""]) {
        assert!(read_text(text, PackedLimits::default()).is_err(), "{text}");
    }
    for bytes in DAMAGED.lines().chain([""]).map(hex) {
        assert!(PackedValue::from_bytes(bytes.clone()).is_err(), "{bytes:x?}");
        // A stream that begins with a smaller byte is text.
        if bytes.first().is_some_and(|first| *first >= 0x80) {
            assert_eq!(unpacked(&bytes), None, "{bytes:x?}");
        }
    }
}
