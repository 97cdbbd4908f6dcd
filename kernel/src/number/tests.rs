//! Tables: the examples of R7RS 6.2 and the edges of each operation.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

/// Reads a number that must be one.
fn n(text: &str) -> Number {
    Number::parse(text, 10).unwrap_or_else(|| panic!("not a number: {text}"))
}

/// Checks that a text in radix ten reads as the number that prints as `expected`, or as none.
fn check_parse(text: &str, expected: Option<&str>) {
    let found = Number::parse(text, 10).map(|number| number.to_string());
    assert_eq!(found.as_deref(), expected, "{text}");
}

#[test]
fn texts_read_as_the_report_says() {
    for (text, expected) in [
        ("0", "0"),
        ("-0", "0"),
        ("+7", "7"),
        ("007", "7"),
        ("-0.0", "-0.0"),
        ("1.", "1.0"),
        (".5", "0.5"),
        ("-.5e1", "-5.0"),
        ("1e3", "1000.0"),
        ("1E+3", "1000.0"),
        ("1e21", "1e21"),
        ("123456789012345678901.0", "123456789012345680000.0"),
        ("1e-7", "1e-7"),
        ("0.000001", "0.000001"),
        ("1.5e300", "1.5e300"),
        ("1e400", "+inf.0"),
        ("1e-400", "0.0"),
        ("1e99999999999999999999", "+inf.0"),
        ("0e99999999999999999999", "0.0"),
        ("+inf.0", "+inf.0"),
        ("-INF.0", "-inf.0"),
        ("+nan.0", "+nan.0"),
        ("-NaN.0", "+nan.0"),
        ("6/10", "3/5"),
        ("-6/3", "-2"),
        ("#xFF", "255"),
        ("#b-101", "-5"),
        ("#o17", "15"),
        ("#d10", "10"),
        ("#x1/A", "1/10"),
        ("#e1.5", "3/2"),
        ("#E1.20e2", "120"),
        ("#e-1e-2", "-1/100"),
        ("#e1e3", "1000"),
        ("#i1/3", "0.3333333333333333"),
        ("#i-0", "-0.0"),
        ("#i10", "10.0"),
        ("#x#i10", "16.0"),
        ("#i#X10", "16.0"),
        ("#x1.8", "1.5"),
        ("#e#x1.8", "3/2"),
        ("4611686018427387904", "4611686018427387904"),
        ("-4611686018427387904", "-4611686018427387904"),
        ("9007199254740993.0", "9007199254740992.0"),
        ("#i9007199254740993", "9007199254740992.0"),
        ("#e0e1000000000", "0"),
    ] {
        check_parse(text, Some(expected));
    }
}

#[test]
fn other_texts_are_no_numbers() {
    for text in [
        "",
        "+",
        "-",
        ".",
        "+.",
        "...",
        "e1",
        "1e",
        "1e+",
        ".e1",
        "1/",
        "/2",
        "1/0",
        "0/0",
        "#i1/0",
        "1/-2",
        "1//2",
        "1.5/2",
        "inf.0",
        "nan.0",
        "+inf",
        "+inf.1",
        "#e+inf.0",
        "#e-nan.0",
        "#",
        "#x",
        "#xg",
        "#x#x1",
        "#e#i1",
        "#e#e1",
        "#z1",
        "--1",
        "+-1",
        "1_000",
        "1 ",
        " 1",
        "１",
        "1e1.5",
        "1e1e1",
        "#x1.8e1p",
        "1+",
        "1i",
        "#e1e1000000000",
        "#e1e-1000000000",
        "#b1e1",
        "#e1e99999999999999999999",
    ] {
        check_parse(text, None);
    }
    assert_eq!(Number::parse("1", 1), None);
    assert_eq!(Number::parse("1", 37), None);
}

#[test]
fn radix_argument_yields_to_prefix() {
    assert_eq!(Number::parse("ff", 16), Some(Number::Fixnum(255)));
    assert_eq!(Number::parse("#d10", 16), Some(Number::Fixnum(10)));
    assert_eq!(Number::parse("1e2", 16), Some(Number::Fixnum(0x1e2)));
    assert_eq!(Number::parse("zz", 36), Some(Number::Fixnum(1295)));
}

#[test]
fn integers_stop_at_the_limit() {
    let fits = "1".repeat(usize::try_from(MAX_BITS).unwrap());
    assert_eq!(Number::parse(&fits, 2).unwrap().to_big().unwrap().bits(), MAX_BITS);
    assert_eq!(Number::parse(&(fits + "1"), 2), None);
    assert_eq!(Number::parse(&"9".repeat(1_400_000), 10), None);
}

#[test]
fn radix_texts_are_shortest() {
    for (text, radix, expected) in [
        ("255", 16, "ff"),
        ("-255", 2, "-11111111"),
        ("1/10", 2, "1/1010"),
        ("0.1", 3, "0.0022002200220022002200220022002201"),
        ("0.5", 2, "0.1"),
        ("1e21", 16, "3635c9adc5dea00000.0"),
        ("-0.0", 2, "-0.0"),
        ("-24171.0", 36, "-inf.00"),
        ("24171.0", 36, "inf.0"),
        ("5e-324", 36, &format!("0.{}3", "0".repeat(207))),
    ] {
        assert_eq!(n(text).to_string_radix(radix), expected, "{text} in radix {radix}");
    }
}
