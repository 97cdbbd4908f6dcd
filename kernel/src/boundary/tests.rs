//! Values across the boundary: the table of kinds, the reference implementation as a peer, and
//! hostile bytes.

use duet_packed::{PackedError, PackedFault, PackedValue, read_value};
use num_bigint::BigInt;
use preserves::{IOValue, Map, PackedWriter as Reference, Set, SignedInteger, Value as Tree};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::heap::{Kind, Limits as HeapLimits};

/// The canonical bytes of a tree.
fn pack(value: &IOValue) -> Result<Vec<u8>, PackedError> {
    PackedValue::from_value(value).map(PackedValue::into_bytes)
}

/// The bytes that a value leaves the heap as.
fn encode(
    heap: &Heap,
    value: Value,
    limits: PackedLimits,
    capabilities: &mut dyn Capabilities,
) -> Result<Vec<u8>, BoundaryError> {
    super::encode(heap, value, limits, capabilities).map(PackedValue::into_bytes)
}

fn heap() -> Heap {
    Heap::new(HeapLimits { bytes_max: 1 << 28 })
}

/// Gives every embedded value it sees a reference of class 1.
#[derive(Default)]
struct Registry {
    known: Vec<IOValue>,
}

impl Capabilities for Registry {
    fn embed(&mut self, reference: OpaqueReference) -> Option<IOValue> {
        self.known.as_slice().get(reference.id as usize).cloned()
    }

    fn admit(&mut self, embedded: &IOValue) -> Option<OpaqueReference> {
        let bytes = pack(embedded).unwrap();
        let is_known = |known: &IOValue| pack(known).unwrap() == bytes;
        let id = self.known.as_slice().iter().position(is_known).unwrap_or_else(|| {
            self.known.push(embedded.clone());
            self.known.len() - 1
        });
        Some(OpaqueReference {
            class: 1,
            id: id as u32,
        })
    }
}

fn symbol(heap: &mut Heap, name: &str) -> Value {
    heap.intern(name).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Checks that a value is written as `expected`, and that these bytes read back as what is written
/// as them again.
fn check(build: impl FnOnce(&mut Heap) -> Value, expected: &str) {
    let mut heap = heap();
    let value = build(&mut heap);
    let bytes = encode(&heap, value, LIMITS, &mut NoCapabilities).unwrap();
    assert_eq!(hex(&bytes), expected.replace(' ', ""));
    let back = decode(&mut heap, &bytes, LIMITS, &mut NoCapabilities).unwrap();
    assert_eq!(encode(&heap, back, LIMITS, &mut NoCapabilities).unwrap(), bytes);
}

#[test]
fn atoms() {
    check(|_| Value::FALSE, "80");
    check(|_| Value::TRUE, "81");
    for (integer, expected) in [
        (0, "b000"),
        (1, "b00101"),
        (127, "b0017f"),
        (128, "b0020080"),
        (-1, "b001ff"),
        (-128, "b00180"),
        (-129, "b002ff7f"),
        (65535, "b00300ffff"),
        (i64::MIN, "b0088000000000000000"),
    ] {
        check(|heap| heap.integer(integer).unwrap(), expected);
    }
    check(|_| Value::flonum(1.0).unwrap(), "87083ff0000000000000");
    check(|_| Value::flonum(-0.0).unwrap(), "87088000000000000000");
    check(|heap| heap.flonum(f64::NEG_INFINITY).unwrap(), "8708fff0000000000000");
    check(|heap| heap.flonum(f64::NAN).unwrap(), "87087ff8000000000000");
    check(|heap| heap.string("hé").unwrap(), "b103 68c3a9");
    check(|heap| symbol(heap, "abc"), "b303616263");
    check(|heap| heap.keyword("k").unwrap(), "b3023a6b");
    check(|heap| heap.keyword("").unwrap(), "b3013a");
    check(|heap| heap.keyword(":k").unwrap(), "b3033a3a6b");
    check(|heap| heap.bytevector(&[1, 2]).unwrap(), "b2020102");
    let long = "x".repeat(200);
    let expected = format!("b1c801{}", "78".repeat(200));
    check(|heap| heap.string(&long).unwrap(), &expected);
}

#[test]
fn compounds() {
    check(|_| Value::NIL, "b584");
    check(
        |heap| heap.list(&[Value::TRUE, Value::NIL], Value::NIL).unwrap(),
        "b5 81 b584 84",
    );
    check(|heap| heap.make(Kind::Vector, &[Value::TRUE]).unwrap(), "b5 81 84");
    check(
        |heap| {
            let label = symbol(heap, "r");
            heap.make_record(label, &[Value::small(1)]).unwrap()
        },
        "b4 b30172 b00101 84",
    );
    check(
        |heap| {
            let dictionary = heap.make_dictionary().unwrap();
            let b = symbol(heap, "b");
            heap.table_put(dictionary, b, Value::FALSE).unwrap();
            let a = symbol(heap, "a");
            heap.table_put(dictionary, a, Value::TRUE).unwrap();
            dictionary
        },
        "b7 b30161 81 b30162 80 84",
    );
    check(
        |heap| {
            let set = heap.make_set().unwrap();
            for member in [-1, 3, 300] {
                heap.table_put(set, Value::small(member), Value::FALSE).unwrap();
            }
            set
        },
        "b6 b00103 b001ff b002012c 84",
    );
}

#[test]
fn sequences_read_back_as_lists_and_keywords_as_keywords() {
    let mut heap = heap();
    let back = decode(&mut heap, &bytes_of("b5 81 b3023a6b 84"), LIMITS, &mut NoCapabilities).unwrap();
    assert!(back.is_pair() && heap.car(back) == Value::TRUE);
    let keyword = heap.keyword("k").unwrap();
    assert_eq!(heap.car(heap.cdr(back)), keyword);
}

#[test]
fn the_payload_of_a_nan_survives() {
    let bytes = bytes_of("87 08 7ff0000000000123");
    let mut heap = heap();
    let value = decode(&mut heap, &bytes, LIMITS, &mut NoCapabilities).unwrap();
    assert!(heap.as_flonum(value).unwrap().is_nan());
    assert_eq!(encode(&heap, value, LIMITS, &mut NoCapabilities).unwrap(), bytes);
}

/// Checks what the error says.
fn check_refused(build: impl FnOnce(&mut Heap) -> Value, expected: &str) {
    let mut heap = heap();
    let value = build(&mut heap);
    let error = encode(&heap, value, LIMITS, &mut NoCapabilities).unwrap_err();
    assert!(error.to_string().starts_with(expected), "{error}");
    assert_eq!(
        to_preserves(&heap, value, LIMITS, &mut NoCapabilities).unwrap_err(),
        error
    );
}

#[test]
fn refusals_name_the_path() {
    check_refused(|_| Value::EOF, "the end-of-file object cannot leave");
    check_refused(
        |heap| heap.allocate(Kind::Promise, 2).unwrap(),
        "an object of kind promise",
    );
    check_refused(
        |heap| heap.make(Kind::Complex, &[Value::small(1), Value::small(2)]).unwrap(),
        "a complex number cannot leave",
    );
    check_refused(
        |heap| symbol(heap, ":k"),
        "the symbol |:k| would come back as a keyword",
    );
    check_refused(
        |heap| {
            let inner = heap.list(&[Value::character('c')], Value::NIL).unwrap();
            let label = symbol(heap, "finding");
            heap.make_record(label, &[Value::TRUE, Value::TRUE, inner]).unwrap()
        },
        "field 2 of record finding, element 0: a character cannot leave",
    );
    check_refused(
        |heap| {
            let ratio = heap.make(Kind::Ratio, &[Value::small(1), Value::small(2)]).unwrap();
            let dictionary = heap.make_dictionary().unwrap();
            let key = heap.string("k").unwrap();
            heap.table_put(dictionary, Value::TRUE, Value::TRUE).unwrap();
            heap.table_put(dictionary, key, ratio).unwrap();
            heap.make(Kind::Vector, &[Value::TRUE, dictionary]).unwrap()
        },
        "element 1, the value of \"k\": an exact ratio",
    );
    check_refused(
        |heap| {
            let dictionary = heap.make_dictionary().unwrap();
            heap.table_put(dictionary, Value::TRUE, Value::TRUE).unwrap();
            heap.table_put(dictionary, Value::character('c'), Value::TRUE).unwrap();
            dictionary
        },
        "key 1: a character",
    );
}

#[test]
fn refusals_say_what_to_do() {
    check_refused(
        |heap| {
            let set = heap.make_set().unwrap();
            heap.table_put(set, Value::EOF, Value::TRUE).unwrap();
            set
        },
        "member 0: the end-of-file object",
    );
    check_refused(
        |heap| heap.make_record(Value::character('x'), &[]).unwrap(),
        "the record's label: a character",
    );
    check_refused(
        |heap| {
            let improper = heap.cons(Value::TRUE, Value::FALSE).unwrap();
            heap.list(&[Value::TRUE, improper], Value::NIL).unwrap()
        },
        "element 1: an improper list",
    );
    check_refused(
        |heap| {
            let name = symbol(heap, "point");
            let fields = heap.make_vector(0, Value::FALSE).unwrap();
            let point = heap.make_record_type(name, fields, Value::FALSE).unwrap();
            heap.make_record(point, &[]).unwrap()
        },
        "an instance of the record type point cannot leave",
    );
    check_refused(
        |heap| {
            let reference = heap.make_opaque(1, 2, Value::FALSE).unwrap();
            heap.list(&[reference], Value::NIL).unwrap()
        },
        "element 0: a reference",
    );
    check_refused(
        |heap| {
            let set = heap.make_set().unwrap();
            let list = heap.list(&[Value::TRUE], Value::NIL).unwrap();
            let vector = heap.make(Kind::Vector, &[Value::TRUE]).unwrap();
            heap.table_put(set, list, list).unwrap();
            heap.table_put(set, vector, vector).unwrap();
            heap.list(&[set], Value::NIL).unwrap()
        },
        "element 0: two keys are the same outside",
    );
}

#[test]
fn cycles_are_refused() {
    for length in 1..20 {
        for back in 0..length {
            check_refused(
                |heap| {
                    let pairs: Vec<Value> = (0..length)
                        .map(|_| heap.cons(Value::TRUE, Value::NIL).unwrap())
                        .collect();
                    for place in 0..length {
                        heap.set_cdr(pairs[place], *pairs.get(place + 1).unwrap_or(&pairs[back]));
                    }
                    pairs[0]
                },
                "a value that contains itself",
            );
        }
    }
    check_refused(
        |heap| {
            let vector = heap.make_vector(2, Value::TRUE).unwrap();
            let list = heap.list(&[Value::TRUE, vector], Value::NIL).unwrap();
            heap.set_field(vector, 1, list);
            list
        },
        "element 1, element 1: a value that contains itself",
    );
}

#[test]
fn sharing_is_copied() {
    let mut heap = heap();
    let part = heap.list(&[Value::TRUE], Value::NIL).unwrap();
    let whole = heap.list(&[part, part], Value::NIL).unwrap();
    let bytes = encode(&heap, whole, LIMITS, &mut NoCapabilities).unwrap();
    assert_eq!(hex(&bytes), "b5b58184b5818484");
}

fn nested(heap: &mut Heap, depth: usize) -> Value {
    (1..depth).fold(Value::NIL, |inner, _| heap.cons(inner, Value::NIL).unwrap())
}

#[test]
fn depth_is_limited_in_every_direction() {
    let mut heap = heap();
    let limits = PackedLimits {
        depth_max: 100,
        ..LIMITS
    };
    let too_deep = |limit| {
        let (offset_bytes, fault) = (limit, PackedFault::TooDeep { limit });
        BoundaryError::Packed(PackedError { offset_bytes, fault })
    };
    let fits = nested(&mut heap, 99);
    let bytes = encode(&heap, fits, limits, &mut NoCapabilities).unwrap();
    assert!(decode(&mut heap, &bytes, limits, &mut NoCapabilities).is_ok());
    let deep = nested(&mut heap, 102);
    assert_eq!(encode(&heap, deep, limits, &mut NoCapabilities), Err(too_deep(100)));
    let bytes = encode(&heap, deep, LIMITS, &mut NoCapabilities).unwrap();
    let tree = read_value(&bytes).unwrap();
    assert_eq!(
        from_preserves(&mut heap, &tree, limits, &mut NoCapabilities),
        Err(too_deep(100))
    );
    let bomb = vec![0xb5; 1 << 20];
    assert_eq!(
        decode(&mut heap, &bomb, LIMITS, &mut NoCapabilities),
        Err(too_deep(512))
    );
    let unlimited = PackedLimits {
        depth_max: usize::MAX,
        ..LIMITS
    };
    assert_eq!(
        decode(&mut heap, &bomb, unlimited, &mut NoCapabilities),
        Err(BoundaryError::Packed(PackedError {
            offset_bytes: 1 << 20,
            fault: PackedFault::Truncated
        }))
    );
}

#[test]
fn size_is_limited_in_every_direction() {
    let mut heap = heap();
    let limits = PackedLimits {
        bytes_max: 10,
        ..LIMITS
    };
    let too_large = BoundaryError::Packed(PackedError {
        offset_bytes: 10,
        fault: PackedFault::TooLarge {
            length_bytes: 11,
            limit_bytes: 10,
        },
    });
    let string = heap.string("123456789").unwrap();
    assert_eq!(
        encode(&heap, string, limits, &mut NoCapabilities),
        Err(too_large.clone())
    );
    let bytes = encode(&heap, string, LIMITS, &mut NoCapabilities).unwrap();
    assert_eq!(
        decode(&mut heap, &bytes, limits, &mut NoCapabilities),
        Err(too_large.clone())
    );
    let tree = read_value(&bytes).unwrap();
    assert_eq!(
        from_preserves(&mut heap, &tree, limits, &mut NoCapabilities),
        Err(too_large)
    );
    let mut small = Heap::new(HeapLimits { bytes_max: 8192 });
    let large = pack(&IOValue::bytes(vec![0; 10_000])).unwrap();
    assert_eq!(
        decode(&mut small, &large, LIMITS, &mut NoCapabilities),
        Err(BoundaryError::HeapFull)
    );
}

#[test]
fn malformed_bytes_are_told_apart() {
    let mut heap = heap();
    for (bytes, offset_bytes, fault) in [
        ("", 0, PackedFault::Truncated),
        ("b5", 1, PackedFault::Truncated),
        ("b102 68", 3, PackedFault::Truncated),
        ("b1ff", 2, PackedFault::Truncated),
        ("b1ffffffffffffffffffff7f", 1, PackedFault::Length),
        ("86", 1, PackedFault::Truncated),
        ("8181", 1, PackedFault::Trailing),
        ("82", 0, PackedFault::UnknownTag(0x82)),
        ("20", 0, PackedFault::UnknownTag(0x20)),
        ("84", 0, PackedFault::MisplacedEnd),
        ("b58684", 2, PackedFault::MisplacedEnd),
        ("b1810068", 1, PackedFault::Length),
        ("b00100", 0, PackedFault::Integer),
        ("b0020001", 0, PackedFault::Integer),
        ("b002ffff", 0, PackedFault::Integer),
        ("85 81 81", 0, PackedFault::Annotation),
        ("8704 3f800000", 0, PackedFault::Double { length_bytes: 4 }),
        ("b101 ff", 0, PackedFault::Utf8),
        ("b302 c328", 0, PackedFault::Utf8),
        ("b484", 1, PackedFault::MissingLabel),
        ("b78184", 2, PackedFault::MissingDictionaryValue),
        ("b6818084", 2, PackedFault::Unordered),
        ("b7818180 8184", 3, PackedFault::Unordered),
        ("b6818184", 2, PackedFault::Repeated),
        ("b781818180 84", 3, PackedFault::Repeated),
    ] {
        let bytes = bytes_of(bytes);
        let error = decode(&mut heap, &bytes, LIMITS, &mut NoCapabilities).unwrap_err();
        let expected = BoundaryError::Packed(PackedError { offset_bytes, fault });
        assert_eq!(error, expected, "{}", hex(&bytes));
    }
    let embedded = decode(&mut heap, &bytes_of("b5868184"), LIMITS, &mut NoCapabilities);
    assert_eq!(embedded, Err(BoundaryError::UnknownCapability { offset_bytes: 1 }));
}

#[test]
fn capabilities_cross_as_embedded_values() {
    let mut heap = heap();
    let mut registry = Registry::default();
    let bytes = bytes_of("b5 86 b5b00084 81 86 b5b0010184 86 b5b00084 84");
    let value = decode(&mut heap, &bytes, LIMITS, &mut registry).unwrap();
    let first = heap.car(value);
    assert!(heap.is_kind(first, Kind::Opaque));
    let last = heap.car(heap.cdr(heap.cdr(heap.cdr(value))));
    assert!(heap.equal(first, last));
    assert_eq!(encode(&heap, value, LIMITS, &mut registry).unwrap(), bytes);
}

/// Takes every embedded value for the same reference.
struct Blind;

impl Capabilities for Blind {
    fn embed(&mut self, _: OpaqueReference) -> Option<IOValue> {
        None
    }

    fn admit(&mut self, _: &IOValue) -> Option<OpaqueReference> {
        Some(OpaqueReference { class: 0, id: 0 })
    }
}

#[test]
fn keys_that_become_equal_inside_are_refused() {
    let bytes = bytes_of("b6 8680 8681 84");
    let outcome = decode(&mut heap(), &bytes, LIMITS, &mut Blind);
    let fault = PackedFault::Repeated;
    assert_eq!(
        outcome,
        Err(BoundaryError::Packed(PackedError { offset_bytes: 0, fault }))
    );
}

fn integer_value(integer: &BigInt) -> IOValue {
    IOValue::new(SignedInteger::from(integer.clone()))
}

/// The integers where widths and representations change.
fn edge_integers() -> Vec<BigInt> {
    let mut edges = Vec::new();
    for bits in [7, 8, 15, 31, 62, 63, 64, 127, 128, 129, 255, 256, 1024] {
        for distance in [-2, -1, 0, 1] {
            let edge: BigInt = (BigInt::from(1) << bits) + distance;
            edges.extend([-edge.clone(), edge]);
        }
    }
    edges
}

#[test]
fn integers_of_every_width_cross_exactly() {
    let mut heap = heap();
    for integer in edge_integers() {
        let value = heap.big_integer(&integer).unwrap();
        let bytes = encode(&heap, value, LIMITS, &mut NoCapabilities).unwrap();
        let reference = Reference::encode_iovalue(&integer_value(&integer)).unwrap();
        assert_eq!(bytes, reference, "{integer}");
        let back = decode(&mut heap, &bytes, LIMITS, &mut NoCapabilities).unwrap();
        assert_eq!(heap.as_big_integer(back), Some(integer.clone()));
        assert_eq!(read_value(&bytes).unwrap(), integer_value(&integer));
    }
}

/// To the crate, 1 is greater than 2¹²⁷ and 2¹²⁸, and both are greater than 1. Accepted because the
/// order of bytes is used here.
#[test]
fn the_crates_order_of_large_integers_is_none() {
    let [one, middle, large] = [0, 127, 128].map(|bits| integer_value(&BigInt::from(2).pow(bits)));
    assert!(one > middle && middle > one && one > large && large > one);
    let ours: Vec<Vec<u8>> = [&one, &middle, &large].map(|value| pack(value).unwrap()).into();
    let members: Set<Tree<IOValue>> = [&one, &middle, &large].map(|value| value.value().clone()).into();
    let set = IOValue::new(members);
    let bytes = pack(&set).unwrap();
    assert_eq!(bytes, [&[0xb6][..], &ours.concat(), &[0x84]].concat());
    let mut heap = heap();
    let value = decode(&mut heap, &bytes, LIMITS, &mut NoCapabilities).unwrap();
    assert_eq!(encode(&heap, value, LIMITS, &mut NoCapabilities).unwrap(), bytes);
}

fn atoms_outside() -> impl Strategy<Value = IOValue> {
    let integers = prop_oneof![
        any::<i64>().prop_map(BigInt::from),
        any::<i128>().prop_map(BigInt::from),
        (-3i64..3).prop_map(BigInt::from),
        prop::sample::select(edge_integers()),
        vec(any::<u8>(), 0..40).prop_map(|bytes| BigInt::from_signed_bytes_be(&bytes)),
    ];
    prop_oneof![
        any::<bool>().prop_map(IOValue::new),
        any::<u64>().prop_map(|bits| IOValue::new(f64::from_bits(bits))),
        prop::sample::select(vec![0.0, -0.0, f64::INFINITY, f64::NAN]).prop_map(IOValue::new),
        integers.prop_map(|integer| integer_value(&integer)),
        ".{0,6}".prop_map(IOValue::new),
        ":{0,2}[a-c]{0,2}".prop_map(IOValue::symbol),
        vec(any::<u8>(), 0..200).prop_map(IOValue::bytes),
    ]
}

fn values_outside() -> impl Strategy<Value = IOValue> {
    atoms_outside().prop_recursive(5, 60, 5, |inner| {
        let part = inner.prop_map(Tree::<IOValue>::from).boxed();
        let parts = vec(part.clone(), 0..5);
        prop_oneof![
            parts.clone().prop_map(IOValue::new),
            parts
                .clone()
                .prop_map(|parts| IOValue::new(parts.into_iter().collect::<Set<_>>())),
            vec((part.clone(), part.clone()), 0..5)
                .prop_map(|entries| IOValue::new(entries.into_iter().collect::<Map<_, _>>())),
            (part.clone(), parts).prop_map(|(label, fields)| Tree::record(label, fields).into()),
            part.prop_map(|content| IOValue::embedded(content.into())),
        ]
    })
}

proptest! {
    #[test]
    fn the_crates_canonical_form_is_ours_and_crosses_unchanged(value in values_outside()) {
        // Nothing can be said about a set in which the crate's order has let a member stand twice.
        let Ok(bytes) = pack(&value) else { return Ok(()) };
        prop_assert_eq!(&bytes, &Reference::encode_iovalue(&value).unwrap());
        prop_assert_eq!(&pack(&read_value(&bytes).unwrap()).unwrap(), &bytes);
        let (mut heap, mut registry) = (heap(), Registry::default());
        let inside = decode(&mut heap, &bytes, LIMITS, &mut registry).unwrap();
        prop_assert_eq!(&encode(&heap, inside, LIMITS, &mut registry).unwrap(), &bytes);
        let inside = from_preserves(&mut heap, &value, LIMITS, &mut registry).unwrap();
        let outside = to_preserves(&heap, inside, LIMITS, &mut registry).unwrap();
        prop_assert_eq!(&pack(&outside).unwrap(), &bytes);
    }

    #[test]
    fn bytes_that_are_accepted_are_what_is_written(
        value in values_outside(),
        places in vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let mut bytes = pack(&value).unwrap_or_default();
        for (place, byte) in places {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        let (mut heap, mut registry) = (heap(), Registry::default());
        if let Ok(inside) = decode(&mut heap, &bytes, LIMITS, &mut registry) {
            prop_assert_eq!(encode(&heap, inside, LIMITS, &mut registry).unwrap(), bytes);
        }
    }

    #[test]
    fn any_bytes_are_accepted_canonical_or_refused(
        bytes in vec(prop_oneof![Just(0x84u8), 0x80u8..0x88, 0xb0u8..0xb8, 0u8..4, any::<u8>()], 0..24),
    ) {
        let (mut heap, mut registry) = (heap(), Registry::default());
        match decode(&mut heap, &bytes, LIMITS, &mut registry) {
            Ok(inside) => prop_assert_eq!(encode(&heap, inside, LIMITS, &mut registry).unwrap(), bytes),
            Err(error) => prop_assert_eq!(read_value(&bytes).map(drop).map_err(BoundaryError::Packed), Err(error)),
        }
    }
}
