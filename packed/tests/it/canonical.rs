//! Packed values against the `preserves` crate, and what only a strict reader refuses.
//!
//! INVARIANT: reading and writing are inverse, and agree with the `preserves` crate wherever that
//! is right.
//! It looks at whole values; parts of them are tested in `parts.rs`. Read next: `parts.rs`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use duet_packed::{MAX_DEPTH, MAX_VALUE_BYTES, PackedError, PackedFault, PackedValue};
use num_bigint::BigInt;
use preserves::{IOValue, Map, PackedWriter, Set, SignedInteger, Value, ValueImpl, read_iovalue_packed};
use proptest::prelude::*;

pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .bytes()
        .filter_map(|b| char::from(b).to_digit(16))
        .map(|d| d as u8)
        .collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Both directions: what the text denotes has these bytes, and these bytes are read as what the
/// text denotes.
#[track_caller]
fn check(text: &str, expected: &str) {
    let value: IOValue = text.parse().unwrap();
    let packed = PackedValue::from_value(&value).unwrap();
    assert_eq!(packed.as_bytes(), hex(expected), "{text}");
    assert_eq!(
        PackedValue::from_bytes(hex(expected)).unwrap().to_value(),
        value,
        "{text}"
    );
}

#[track_caller]
fn check_refused(bytes: &str, offset_bytes: usize, fault: PackedFault) {
    let expected = Err(PackedError { offset_bytes, fault });
    assert_eq!(PackedValue::from_bytes(hex(bytes)), expected, "{bytes}");
}

#[test]
fn values_have_the_bytes_of_the_specification() {
    check("#f", "80");
    check("#t", "81");
    check("0", "b000");
    check("-1", "b001ff");
    check("127", "b0017f");
    check("128", "b0020080");
    check("-128", "b00180");
    check("-129", "b002ff7f");
    check("-257", "b002feff");
    check("65535", "b00300ffff");
    check("-1.0", "8708bff0000000000000");
    check("\"z水\"", "b104 7ae6b0b4");
    check("#\"corymb\"", "b206 636f72796d62");
    check("'a b'", "b303 612062");
    check("<a 1>", "b4 b30161 b00101 84");
    check("[]", "b584");
    check("#{3 2 1}", "b6 b00101 b00102 b00103 84");
    check("{b: 1 a: [2]}", "b7 b30161 b5b0010284 b30162 b00101 84");
    check("{}", "b784");
    check("#:[1]", "86 b5b0010184");
    check("@note x", "b30178");
}

#[test]
fn other_forms_of_a_value_are_refused() {
    use PackedFault as F;
    check_refused("", 0, F::Truncated);
    check_refused("b5", 1, F::Truncated);
    check_refused("b105 61", 3, F::Truncated);
    check_refused("86", 1, F::Truncated);
    check_refused("80 80", 1, F::Trailing);
    check_refused("82", 0, F::UnknownTag(0x82));
    check_refused("85 b0016e 80", 0, F::Annotation);
    check_refused("84", 0, F::MisplacedEnd);
    check_refused("b58684", 2, F::MisplacedEnd);
    check_refused("b484", 1, F::MissingLabel);
    check_refused("b7 8084", 2, F::MissingDictionaryValue);
    check_refused("b1 8100 61", 1, F::Length);
    check_refused("b1 ffffffffffffffffff02", 1, F::Length);
    check_refused("b1 ffffffffffffffffffff01", 1, F::Length);
    check_refused("b1 ffffffffffffffffff01", 11, F::Truncated);
    check_refused("b00100", 0, F::Integer);
    check_refused("b002007f", 0, F::Integer);
    check_refused("b002ff80", 0, F::Integer);
    check_refused("87043f800000", 0, F::Double { length_bytes: 4 });
    check_refused("b5 b101ff 84", 1, F::Utf8);
    check_refused("b3 02 c3 28", 0, F::Utf8);
    check_refused("b6 b00102 b00101 84", 4, F::Unordered);
    check_refused("b6 b00101 b00101 84", 4, F::Repeated);
    check_refused("b7 b00102 80 b00101 80 84", 5, F::Unordered);
    check_refused("b7 80 80 80 81 84", 3, F::Repeated);
}

fn nested(open: u8, depth: usize, close: &[u8]) -> Vec<u8> {
    [vec![open; depth], vec![0x80], close.repeat(depth)].concat()
}

#[test]
fn depth_is_limited_before_any_stack_is_used() {
    for (open, close) in [(0xb5, [0x84].as_slice()), (0x86, &[]), (0xb6, &[0x84])] {
        let deepest = PackedValue::from_bytes(nested(open, MAX_DEPTH, close)).unwrap();
        assert_eq!(PackedValue::from_value(&deepest.to_value()), Ok(deepest));
        for depth in [MAX_DEPTH + 1, 1_000_000] {
            let error = PackedValue::from_bytes(nested(open, depth, close)).unwrap_err();
            assert_eq!(
                error,
                PackedError {
                    offset_bytes: MAX_DEPTH,
                    fault: PackedFault::TooDeep { limit: MAX_DEPTH }
                }
            );
        }
    }
}

#[test]
fn a_tree_that_is_too_deep_is_refused_when_encoded() {
    let mut value = IOValue::new(false);
    for _ in 0..=MAX_DEPTH {
        value = IOValue::new(vec![Value::from(value)]);
    }
    let fault = PackedFault::TooDeep { limit: MAX_DEPTH };
    assert_eq!(
        PackedValue::from_value(&value),
        Err(PackedError {
            offset_bytes: MAX_DEPTH,
            fault
        })
    );
}

#[test]
fn what_is_too_large_is_refused() {
    let fault = |length_bytes| PackedFault::TooLarge {
        length_bytes,
        limit_bytes: MAX_VALUE_BYTES,
    };
    let error = PackedValue::from_bytes(vec![0; MAX_VALUE_BYTES + 1]).unwrap_err();
    assert_eq!(error.fault, fault(MAX_VALUE_BYTES + 1));
    let error = PackedValue::from_value(&IOValue::bytes(vec![0; MAX_VALUE_BYTES])).unwrap_err();
    assert_eq!(error.fault, fault(MAX_VALUE_BYTES + 5));
}

/// Accepted because nothing here uses the crate's reader.
#[test]
fn the_crate_misreads_large_negative_integers() {
    for number in [-BigInt::from(2).pow(128), -BigInt::from(2).pow(127) - 1] {
        let value = IOValue::new(SignedInteger::from(number));
        let packed = PackedValue::from_value(&value).unwrap();
        assert_ne!(read_iovalue_packed(packed.as_bytes(), false).unwrap(), value);
        assert_eq!(packed.to_value(), value);
    }
}

/// The `preserves` crate misreads the middle of these; its writer gives the bytes to compare with.
#[test]
fn integers_around_each_power_of_two_survive() {
    for power in 0..300 {
        for sign in [1, -1] {
            for offset in -2..=2 {
                let number: BigInt = (BigInt::from(1) << power) * sign + offset;
                let value = IOValue::new(SignedInteger::from(number.clone()));
                let packed = PackedValue::from_value(&value).unwrap();
                assert_eq!(
                    packed.as_bytes(),
                    PackedWriter::encode_iovalue(&value).unwrap(),
                    "{number}"
                );
                let read = packed.to_value();
                assert_eq!(BigInt::from(&*read.as_signed_integer().unwrap()), number);
            }
        }
    }
}

fn leaf() -> impl Strategy<Value = Value<IOValue>> {
    prop_oneof![
        any::<bool>().prop_map(Value::new),
        any::<u64>().prop_map(|bits| Value::new(f64::from_bits(bits))),
        any::<i8>().prop_map(Value::new),
        any::<i128>().prop_map(Value::new),
        (any::<bool>(), prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(minus, bytes)| {
            let sign = if minus {
                num_bigint::Sign::Minus
            } else {
                num_bigint::Sign::Plus
            };
            Value::new(SignedInteger::from(BigInt::from_bytes_be(sign, &bytes)))
        }),
        ".{0,6}".prop_map(Value::<IOValue>::new::<String>),
        ".{0,6}".prop_map(Value::symbol),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Value::bytes),
    ]
}

/// Drops entries whose keys are equal. The `preserves` crate orders integers beyond 128 bits
/// inconsistently, so that its own sets may keep an element twice.
fn distinct<T>(entries: impl IntoIterator<Item = (Value<IOValue>, T)>) -> impl Iterator<Item = (Value<IOValue>, T)> {
    let encoded = |key: &Value<IOValue>| PackedWriter::encode_iovalue(&IOValue::from(key.clone())).unwrap();
    let known: BTreeMap<Vec<u8>, (Value<IOValue>, T)> =
        entries.into_iter().map(|entry| (encoded(&entry.0), entry)).collect();
    known.into_values()
}

fn tree() -> impl Strategy<Value = IOValue> {
    let tree = leaf().prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::new),
            (inner.clone(), prop::collection::vec(inner.clone(), 0..4)).prop_map(|(l, f)| Value::record(l, f)),
            prop::collection::vec(inner.clone(), 0..6).prop_map(|elements| {
                let elements = elements.into_iter().map(|element| (element, ()));
                Value::new(distinct(elements).map(|(element, ())| element).collect::<Set<_>>())
            }),
            prop::collection::vec((inner.clone(), inner.clone()), 0..5)
                .prop_map(|entries| Value::new(distinct(entries).collect::<Map<_, _>>())),
            inner.prop_map(|v| Value::embedded(IOValue::from(v))),
        ]
    });
    tree.prop_map(IOValue::from)
}

proptest! {
    #[test]
    fn encoding_agrees_with_the_reference_crate_and_reads_back(value in tree()) {
        let packed = PackedValue::from_value(&value).unwrap();
        prop_assert_eq!(packed.as_bytes(), PackedWriter::encode_iovalue(&value).unwrap());
        let read = packed.to_value();
        prop_assert_eq!(&PackedValue::from_value(&read).unwrap(), &packed);
    }

    /// Mutated bytes are either refused, or canonical by the reference crate's account as well.
    #[test]
    fn what_is_accepted_is_canonical(value in tree(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = PackedValue::from_value(&value).unwrap().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let ours = PackedValue::from_bytes(bytes.clone());
        // The crate writes annotations that it has read back out; canonical form has none, so it is
        // asked to leave them out.
        let theirs = read_iovalue_packed(&bytes, false).ok();
        let theirs = theirs.filter(|value| PackedWriter::encode_iovalue(value).unwrap() == bytes);
        match ours {
            Ok(packed) => prop_assert_eq!(PackedWriter::encode_iovalue(&packed.to_value()).unwrap(), bytes),
            Err(error) => {
                prop_assert!(theirs.is_none(), "refused though canonical: {}", error);
                prop_assert!(error.offset_bytes <= bytes.len());
            }
        }
    }

    #[test]
    fn random_bytes_never_read_as_two_things(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(packed) = PackedValue::from_bytes(bytes.clone()) {
            prop_assert_eq!(PackedValue::from_value(&packed.to_value()).unwrap().into_bytes(), bytes);
        }
    }

    #[test]
    fn every_beginning_of_a_value_is_truncated(value in tree(), at in any::<prop::sample::Index>()) {
        let bytes = PackedValue::from_value(&value).unwrap().into_bytes();
        let beginning = bytes[..at.index(bytes.len())].to_vec();
        let (offset_bytes, fault) = (beginning.len(), PackedFault::Truncated);
        prop_assert_eq!(PackedValue::from_bytes(beginning), Err(PackedError { offset_bytes, fault }));
    }
}
