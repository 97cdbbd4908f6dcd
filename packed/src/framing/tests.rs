//! Streams, whole and cut, sound and not.

use num_bigint::{BigInt, Sign};
use preserves::{IOValue, Map, Set, SignedInteger, Value};
use proptest::prelude::*;

use super::*;

const LIMITS: PackedLimits = PackedLimits {
    depth_max: 200,
    bytes_max: 1 << 20,
};

/// The values of a stream that comes in pieces of some length, and its error.
fn decode(bytes: &[u8], length: usize, limits: PackedLimits) -> (Vec<IOValue>, Option<FrameError>) {
    let (mut decoder, mut values) = (Decoder::new(limits), Vec::new());
    for piece in bytes.chunks(length.max(1)) {
        decoder.add(piece);
        loop {
            match decoder.next() {
                Ok(Some(value)) => values.push(value),
                Ok(None) => break,
                Err(error) => return (values, Some(error)),
            }
        }
    }
    (values, None)
}

fn value(text: &str) -> IOValue {
    text.parse().expect("a value")
}

#[track_caller]
fn check(bytes: &[u8], expected: &[&str]) {
    let expected: Vec<IOValue> = expected.iter().map(|text| value(text)).collect();
    for length in [1, 2, 3, 7, bytes.len()] {
        assert_eq!(
            decode(bytes, length, LIMITS),
            (expected.clone(), None),
            "in pieces of {length}"
        );
    }
}

#[track_caller]
fn check_refused(bytes: &[u8], offset_bytes: u64, fault: &str) {
    for length in [1, 3, bytes.len()] {
        let error = decode(bytes, length, LIMITS).1.expect("it is refused");
        assert_eq!(
            (error.offset_bytes, error.fault.to_string()),
            (offset_bytes, fault.to_owned())
        );
    }
}

#[test]
fn text_is_read_as_the_specification_says() {
    check(
        b"#f #t 0 -12 +5 1.5 -1e3 1.5E-2 ",
        &["#f", "#t", "0", "-12", "5", "1.5", "-1000.0", "0.015"],
    );
    check(
        b"a -a 1a 1.x 1e + - ... a|b ",
        &["a", "-a", "'1a'", "'1.x'", "'1e'", "+", "-", "'...'", "'a|b'"],
    );
    check(
        br#"'a b\'' "q\"\\\/\n\u0041\ud83d\ude00" ''"#,
        &["'a b\\''", "\"q\\\"\\\\/\\nA😀\"", "''"],
    );
    check(
        br##"#"a\x00\"b" #x"00 fF" #[AAE=] #[-_8]"##,
        &["#x\"61002262\"", "#x\"00ff\"", "#x\"0001\"", "#x\"fbff\""],
    );
    check(b"#xd\"3ff0000000000000\"", &["1.0"]);
    check(
        "<é [1, 2,3] {a: 1, b:[]} {} #{1 2} #:[0 1]>".as_bytes(),
        &["<é [1 2 3] {a: 1 b: []} {} #{1 2} #:[0 1]>"],
    );
    check(b"# a comment\n[#\n@note @[1 {a: 2}] x #! y\n]\n#\n", &["[x]"]);
    check(b"  \r\n\t", &[]);
}

#[test]
fn packed_values_need_not_be_canonical() {
    check(&[0xb6, 0xb0, 1, 2, 0xb0, 1, 1, 0x84], &["#{1 2}"]);
    check(&[0xb7, 0x81, 0xb0, 0, 0x80, 0xb0, 0, 0x84], &["{#f: 0 #t: 0}"]);
    check(
        &[0x85, 0xb1, 1, b'n', 0xb5, 0x85, 0x86, 0x80, 0xb0, 2, 0, 7, 0x84],
        &["[7]"],
    );
}

#[test]
fn a_value_that_has_not_ended_is_waited_for() {
    for part in ["[1 2", "12", "#", "#t", "\"a\\", "<a", "@a", "# comment", "#x\"0"] {
        let mut decoder = Decoder::new(LIMITS);
        decoder.add(part.as_bytes());
        assert_eq!(decoder.next(), Ok(None), "{part}");
        assert!(decoder.is_amid(), "{part}");
    }
    let mut decoder = Decoder::new(LIMITS);
    decoder.add(b"[1] \n");
    assert!(decoder.next().is_ok_and(|value| value.is_some()));
    assert_eq!((decoder.next(), decoder.is_amid()), (Ok(None), false));
    assert_eq!(decoder.encoding(), Some(Encoding::Text));
}

#[test]
fn text_that_is_no_value_is_refused_where_it_is_wrong() {
    let misplaced = |part: &str| format!("{part} stands where it means nothing");
    check_refused(b"[1 2>", 4, &misplaced("an end"));
    check_refused(b"]", 0, &misplaced("an end"));
    check_refused(b"[#:]", 3, &misplaced("an end"));
    check_refused(b"[@a ]", 4, &misplaced("an end"));
    check_refused(b"{a 1}", 3, &misplaced("a value that should follow a colon"));
    check_refused(b"[a: 1]", 2, &misplaced("a colon"));
    check_refused(b"{a: : 1}", 4, &misplaced("a colon"));
    check_refused(b"<a, b>", 2, &misplaced("a comma"));
    check_refused(b"{a:}", 3, "a dictionary's last key has no value");
    check_refused(b"{a}", 2, "a dictionary's last key has no value");
    check_refused(b"<>", 1, "a record has no label");
    check_refused(b"(1)", 0, "the byte 0x28 stands in the place of a value");
    check_refused(b"a;", 1, "the byte 0x3b stands in the place of a value");
    check_refused(b"#foo ", 0, "`#` stands before something that it does not introduce");
    check_refused(b"#z", 0, "`#` stands before something that it does not introduce");
    check_refused(b"\"\\q\"", 0, "an escape after `\\` is malformed");
    check_refused(b"\"\\ud800x\"", 0, "an escape after `\\` is malformed");
    check_refused(b"\"\\u+123\"", 0, "an escape after `\\` is malformed");
    check_refused(b"\"\xff\"", 0, "a string or symbol is not UTF-8");
    check_refused(b"#x\"0\"", 0, "bytes in hexadecimal are malformed");
    check_refused(b"#xd\"00\"", 0, "a double has another length than 8 bytes");
    check_refused(b"#[!]", 0, "bytes in Base64 are malformed");
    check_refused(b"[#{1 1}]", 8, "a set or dictionary has an element or key twice");
    check_refused(
        &[b'1'; 20_000].iter().copied().chain(*b" ").collect::<Vec<_>>(),
        0,
        "an integer has more than 10000 digits",
    );
}

#[test]
fn packed_bytes_that_are_no_value_are_refused_where_they_are_wrong() {
    check_refused(&[0x99], 0, "the byte 0x99 stands in the place of a value");
    check_refused(&[0xb5, b'a'], 1, "the byte 0x61 stands in the place of a value");
    check_refused(&[0x84], 0, "an end stands where it means nothing");
    check_refused(&[0xb5, 0x86, 0x84], 2, "an end stands where it means nothing");
    check_refused(&[0xb4, 0x84], 1, "a record has no label");
    check_refused(&[0xb7, 0x80, 0x84], 2, "a dictionary's last key has no value");
    check_refused(&[0x87, 1, 0], 0, "a double has another length than 8 bytes");
    check_refused(&[0xb1, 1, 0xff], 0, "a string or symbol is not UTF-8");
    check_refused(&[0xb1, 0x80, 0], 0, "a length is malformed");
    check_refused(&[0xb1; 20], 0, "a length is malformed");
}

#[test]
fn what_is_too_deep_or_too_long_is_refused_before_it_has_come() {
    let deep = "a value is nested more than 200 levels deep";
    check_refused(&[b'['; 300], 200, deep);
    check_refused("#:".repeat(300).as_bytes(), 400, deep);
    check_refused(&[b'@'; 300], 200, deep);
    check_refused(&[0xb5; 300], 200, deep);
    check_refused(&[0x86; 300], 200, deep);
    let long = "a value has more than 1048576 bytes";
    // A string of 2 GiB, of which nothing has come yet.
    check_refused(&[0xb1, 0x80, 0x80, 0x80, 0x80, 0x08], 0, long);
    check_refused(&[0xb5, 0xb1, 0x80, 0x80, 0x80, 0x80, 0x08], 1, long);
    for part in ["\"aaaaaaaa", "aaaaaaaaa", "# comment", "[        ", "[1 2 3 4 "] {
        let mut decoder = Decoder::new(PackedLimits {
            depth_max: 9,
            bytes_max: 8,
        });
        decoder.add(part.as_bytes());
        let fault = decoder.next().expect_err("it is refused").fault;
        assert_eq!(fault, Fault::TooLong { limit_bytes: 8 }, "{part}");
    }
    // Each value counts by itself, and blanks before it do not.
    let small = PackedLimits {
        depth_max: 9,
        bytes_max: 8,
    };
    assert_eq!(decode(b"              [1 2 3] [1 2 3] #f ", 1, small).0.len(), 3);
}

#[test]
fn an_error_stays() {
    let mut decoder = Decoder::new(LIMITS);
    decoder.add(b"1 ] 2 ");
    assert_eq!(decoder.next(), Ok(Some(value("1"))));
    let error = decoder.next();
    assert_eq!(
        error.clone().map_err(|error| error.to_string()),
        Err("an end stands where it means nothing at byte 2".to_owned())
    );
    decoder.add(b"3 ");
    assert_eq!(decoder.next(), error);
}

/// A mebibyte costs about as much in pieces of a byte as in one.
#[test]
fn a_long_token_in_small_pieces_is_looked_through_once() {
    let text = format!("\"{}\" ", "x".repeat((1 << 20) - 10));
    let (values, error) = decode(text.as_bytes(), 1, LIMITS);
    assert_eq!((values.len(), error), (1, None));
}

#[test]
fn a_value_that_is_too_deep_is_not_written() {
    let deep = (0..600).fold(Value::new(true), |inner, _| Value::new(vec![inner]));
    for encoding in [Encoding::Packed, Encoding::Text] {
        assert!(encoding.write(&IOValue::from(deep.clone())).is_err());
    }
}

fn atom() -> impl Strategy<Value = Value<IOValue>> {
    prop_oneof![
        any::<bool>().prop_map(Value::new),
        any::<u64>().prop_map(|bits| Value::new(f64::from_bits(bits))),
        any::<f64>().prop_map(Value::new),
        (any::<bool>(), prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(is_negative, bytes)| {
            let sign = if is_negative { Sign::Minus } else { Sign::Plus };
            Value::new(SignedInteger::from(BigInt::from_bytes_be(sign, &bytes)))
        }),
        any::<String>().prop_map(Value::<IOValue>::new::<String>),
        any::<String>().prop_map(Value::symbol),
        "[-+#:@|a-f0-9.e ]{0,6}".prop_map(Value::symbol),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::bytes),
    ]
}

fn tree() -> impl Strategy<Value = IOValue> {
    let tree = atom().prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::new),
            (inner.clone(), prop::collection::vec(inner.clone(), 0..4)).prop_map(|(l, f)| Value::record(l, f)),
            prop::collection::vec(inner.clone(), 0..5).prop_map(|v| Value::new(v.into_iter().collect::<Set<_>>())),
            prop::collection::vec((inner.clone(), inner.clone()), 0..4)
                .prop_map(|v| Value::new(v.into_iter().collect::<Map<_, _>>())),
            inner.prop_map(|v| Value::embedded(IOValue::from(v))),
        ]
    });
    tree.prop_map(IOValue::from)
}

/// Texts of the kinds in the samples of the specification, and the same values in plain words.
const VALUES: &[(&str, &str)] = &[
    ("@\"abc\" 9", "9"),
    ("@@1 2 @@3 4 5", "5"),
    ("[[] @\"x\" []]", "[[] []]"),
    ("{@ak a: @av 1 @bk b: @bv 2}", "{a: 1 b: 2}"),
    ("<@ar R @af f>", "<R f>"),
    ("@a@b@c[]", "[]"),
    ("#\n0", "0"),
    ("#\n# normal\n0", "0"),
    ("#!/some/path\nvalue", "value"),
    ("#x\" 41 4A 4e \"", "#\"AJN\""),
    ("#[Y29 yeW 1i]", "#\"corymb\""),
    ("#[SGk=]", "#\"Hi\""),
    ("#[S G k]", "#\"Hi\""),
    ("#\"a\\x6c\\/\\\"\\b\\f\\n\\r\\t\"", "#x\"616c2f22080c0a0d09\""),
    ("[#f#t]", "[#f #t]"),
    ("[#f# a comment\n#t]", "[#f #t]"),
    ("[#f@ann #t]", "[#f #t]"),
    ("{,, a: 1,, b: 2,,}", "{b: 2, a: 1}"),
    ("[,, 1,, 2,,]", "[1 2]"),
    ("+0.0", "0.0"),
    ("1.0e+0", "1e-0"),
    ("#xd\"12 34 56 78  9a bc de f0\"", "#xd\"123456789abcdef0\""),
    ("[01 +127 -0 abc ... def]", "[1 127 0 'abc' '...' 'def']"),
    ("<7[]>", "<7 []>"),
    ("#:#:0", "#: #: 0"),
    ("\"\\uD834\\uDD1E\\u6C34\\/\"", "\"𝄞水/\""),
    (
        "['' +1.x ---1 - +++ a+b|c à voilà х]",
        "['' '+1.x' '---1' '-' '+++' 'a+b|c' 'à' 'voilà' 'х']",
    ),
    ("'\\uD834\\uDD1E'", "'𝄞'"),
    (" {\"a\": [1, 2] } ", "{\"a\": [1 2]}"),
    ("1 # the end", "1"),
];

/// Texts that are no value, with what is said.
const FAULTS: &[(&str, &str)] = &[
    ("", "it is empty"),
    ("   ", "it is empty"),
    ("# no value", "it is empty"),
    ("1 2", "more than one value is given"),
    ("1 ]", "more than one value is given"),
    ("@,a b", "a comma stands where it means nothing at byte 1"),
    ("[@,a b]", "a comma stands where it means nothing at byte 2"),
    ("@a, b", "a comma stands where it means nothing at byte 2"),
    ("[@a, b]", "a comma stands where it means nothing at byte 3"),
    ("@a", "an annotation has no value after it"),
    ("#x\"B2, 05\"", "bytes in hexadecimal are malformed at byte 0"),
    ("#x\"414 243\"", "bytes in hexadecimal are malformed at byte 0"),
    ("#\"\\u6c34\"", "an escape after `\\` is malformed at byte 0"),
    (
        "[#ffoo]",
        "`#` stands before something that it does not introduce at byte 1",
    ),
    ("{ a: b, c: d ", "a bracket is never closed"),
    ("{", "a bracket is never closed"),
    ("[", "a bracket is never closed"),
    ("#{ 1 ", "a bracket is never closed"),
    ("<", "a bracket is never closed"),
    ("\"a", "a quotation mark is never closed"),
    ("'a", "a quotation mark is never closed"),
    ("#[YQ", "a bracket is never closed"),
    (
        "{ a: 1, a: 2 }",
        "a set or dictionary has an element or key twice at byte 14",
    ),
    ("#{a a}", "a set or dictionary has an element or key twice at byte 6"),
    ("}", "an end stands where it means nothing at byte 0"),
    ("]", "an end stands where it means nothing at byte 0"),
    (">", "an end stands where it means nothing at byte 0"),
    ("{ a,: 1}", "a comma stands where it means nothing at byte 3"),
    ("{ a:, 1}", "a comma stands where it means nothing at byte 4"),
    ("#xd\"12345678\"", "a double has another length than 8 bytes at byte 0"),
    (
        "#xd\"123456789abcdef012\"",
        "a double has another length than 8 bytes at byte 0",
    ),
    (
        "#xd\"12zz56789abcdef0\"",
        "bytes in hexadecimal are malformed at byte 0",
    ),
    (
        "#xd\"12345 6789abcdef0\"",
        "bytes in hexadecimal are malformed at byte 0",
    ),
    ("<a, b>", "a comma stands where it means nothing at byte 2"),
    ("<>", "a record has no label at byte 1"),
    ("\"\\u6c\"", "an escape after `\\` is malformed at byte 0"),
    ("\"a\\uD834\"", "an escape after `\\` is malformed at byte 0"),
    ("\"\\uDD1Ea\"", "an escape after `\\` is malformed at byte 0"),
    ("'\\uD834\\uD834'", "an escape after `\\` is malformed at byte 0"),
    ("'\\uDD1E\\uD834'", "an escape after `\\` is malformed at byte 0"),
];

#[test]
fn a_text_is_one_value_or_says_why_not() {
    let read = |text: &str| read_text(text, LIMITS);
    for (text, same) in VALUES {
        let value = read(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(read(same).as_ref(), Ok(&value), "{text:?}");
        assert_eq!(read(&format!("{value:?}")), Ok(value), "{text:?} as it is written");
    }
    for (text, fault) in FAULTS {
        assert_eq!(
            read(text).map_err(|error| error.to_string()),
            Err((*fault).to_owned()),
            "{text:?}"
        );
    }
    let deep = "[".repeat(100_000);
    assert!(matches!(
        read(&deep),
        Err(TextError::Faulty(FrameError {
            fault: Fault::TooDeep { .. },
            ..
        }))
    ));
}

#[test]
fn a_comment_beyond_the_limit_is_refused_however_the_stream_is_cut() {
    let limits = PackedLimits {
        depth_max: 5,
        bytes_max: 30,
    };
    for (blanks, is_refused) in [(27, false), (28, true), (100, true)] {
        for before in ["", "[1 ", "1 "] {
            let text = format!("{before}# {}\n2 ", " ".repeat(blanks));
            let is_refused = is_refused || before == "[1 ";
            for length in [1, 2, 7, text.len()] {
                let (_, failed) = decode(text.as_bytes(), length, limits);
                assert_eq!(failed.is_some(), is_refused, "{text:?} in pieces of {length}");
            }
        }
    }
}

proptest! {
    #[test]
    fn values_survive_either_encoding_however_the_stream_is_cut(
        values in prop::collection::vec(tree(), 0..4),
        is_text in any::<bool>(),
        length in 1..50usize,
    ) {
        // The first byte tells the encodings apart, so text begins with a blank.
        let encoding = if is_text { Encoding::Text } else { Encoding::Packed };
        let mut stream = if is_text { b" ".to_vec() } else { Vec::new() };
        for value in &values {
            stream.extend(encoding.write(value).expect("it is small"));
        }
        let (found, error) = decode(&stream, length, LIMITS);
        prop_assert_eq!(error, None);
        // The trees of `preserves` order integers from 2¹²⁷ on in more than one way; bytes do not.
        let pack = |value: &IOValue| PackedValue::from_value(value).expect("it is small");
        let packed: [Vec<PackedValue>; 2] = [&values, &found].map(|values| values.iter().map(pack).collect());
        prop_assert_eq!(&packed[0], &packed[1]);
    }

    #[test]
    fn whatever_comes_means_the_same_however_it_is_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        text in "[]\\[<>{}#:@,\"'a-c0-2xd \n\\\\]{0,60}",
        length in 1..10usize,
    ) {
        let limits = PackedLimits { depth_max: 5, bytes_max: 30 };
        for bytes in [&bytes[..], text.as_bytes()] {
            let (whole, failed) = decode(bytes, bytes.len(), limits);
            let (cut, failed_cut) = decode(bytes, length, limits);
            prop_assert_eq!(whole, cut);
            prop_assert_eq!(failed.is_some(), failed_cut.is_some());
        }
    }
}
