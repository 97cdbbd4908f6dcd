//! Tables: the examples of R7RS 6.2 and the edge cases of each operation.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod powers;

use super::*;

/// Reads a number that must be one.
fn n(text: &str) -> Number {
    Number::parse(text, 10).unwrap_or_else(|| panic!("not a number: {text}"))
}

/// Checks that a text in radix ten reads as the number that prints as `expected`, or as no number.
fn check_parse(text: &str, expected: Option<&str>) {
    let found = Number::parse(text, 10).map(|number| number.to_string());
    assert_eq!(found.as_deref(), expected, "{text}");
}

#[test]
fn the_digits_of_a_long_decimal_may_make_up_for_its_exponent() {
    let zeros = "0".repeat(999_998);
    for (text, expected) in [
        (format!("0.{zeros}1e999999"), "1.0"),
        (format!("1{zeros}e-999998"), "1.0"),
        (format!("25{zeros}.0e-999999"), "2.5"),
        (format!("0.{zeros}1e9999999999999999999999"), "+inf.0"),
        (format!("1{zeros}e-9999999999999999999999"), "0.0"),
        (format!("0.{zeros}0e7"), "0.0"),
        (format!(".{}", "3".repeat(200_000)), "0.3333333333333333"),
    ] {
        check_parse(&text, Some(expected));
    }
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

/// Applies an operation named as in Scheme to numbers written in radix ten.
fn apply(operation: &str, operands: &[Number]) -> Result<Number, NumberError> {
    let x = &operands[0];
    let y = operands.get(1).unwrap_or(x);
    let count = |bits: Result<u64, NumberError>| bits.map(|bits| Number::from_i128(bits.into()));
    match operation {
        "+" => x.add(y),
        "-" => x.sub(y),
        "*" => x.mul(y),
        "/" => x.div(y),
        "negate" => Ok(x.negate()),
        "abs" => Ok(x.abs()),
        "max" => Ok(x.max(y)),
        "min" => Ok(x.min(y)),
        "quotient" => x.quotient(y),
        "remainder" => x.remainder(y),
        "modulo" => x.modulo(y),
        "floor-quotient" => x.floor_quotient(y),
        "gcd" => x.gcd(y),
        "lcm" => x.lcm(y),
        "numerator" => x.numerator(),
        "denominator" => x.denominator(),
        "floor" => Ok(x.floor()),
        "ceiling" => Ok(x.ceiling()),
        "truncate" => Ok(x.truncate()),
        "round" => Ok(x.round()),
        "rationalize" => x.rationalize(y),
        "exact" => x.exact(),
        "inexact" => Ok(x.inexact()),
        "square" => x.square(),
        "sqrt" => x.sqrt(),
        "exact-integer-sqrt" => x.exact_integer_sqrt().map(|(root, _)| root),
        "expt" => x.expt(y),
        "exp" => Ok(x.exp()),
        "log" if operands.len() == 2 => x.log_base(y),
        "log" => x.log(),
        "sin" => Ok(x.sin()),
        "cos" => Ok(x.cos()),
        "tan" => Ok(x.tan()),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" if operands.len() == 2 => x.atan2(y),
        "atan" => Ok(x.atan()),
        "bitwise-and" => x.bitwise_and(y),
        "bitwise-ior" => x.bitwise_or(y),
        "bitwise-xor" => x.bitwise_xor(y),
        "bitwise-not" => x.bitwise_not(),
        "arithmetic-shift" => x.arithmetic_shift(y),
        "bit-count" => count(x.bit_count()),
        "integer-length" => count(x.integer_length()),
        _ => panic!("no such operation: {operation}"),
    }
}

/// Checks lines of the form `operation operand … => value`, where the value may be the name of an
/// error.
fn check(lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (call, expected) = line.split_once(" => ").unwrap();
        let mut words = call.split(' ');
        let operation = words.next().unwrap();
        let found = match apply(operation, &words.map(n).collect::<Vec<_>>()) {
            Ok(value) => value.to_string(),
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(found, expected, "{call}");
    }
}

#[test]
fn four_operations() {
    check(
        "+ 3 4 => 7
         + 1/2 1/2 => 1
         + 4611686018427387903 1 => 4611686018427387904
         - 4611686018427387904 1 => 4611686018427387903
         + 1 0.5 => 1.5
         - -4611686018427387904 1 => -4611686018427387905
         - 3 4 => -1
         * 4 0.5 => 2.0
         * -4611686018427387904 -4611686018427387904 => 21267647932558653966460912964485513216
         * 2/3 3/2 => 1
         / 3 20 => 3/20
         / 6 -4 => -3/2
         / 3 0 => DivideByZero
         / 3.0 0 => DivideByZero
         / 3 0.0 => +inf.0
         / -4611686018427387904 -1 => 4611686018427387904
         / 2/3 4/3 => 1/2
         / 0 -5 => 0
         negate 4611686018427387904 => -4611686018427387904
         negate -4611686018427387904 => 4611686018427387904
         negate 0.0 => -0.0
         abs -7 => 7
         abs -4611686018427387904 => 4611686018427387904
         abs -1/2 => 1/2
         abs -0.0 => 0.0
         max 3 4 => 4
         max 3.9 4 => 4.0
         min 1 +nan.0 => +nan.0
         min 1/3 0.5 => 0.3333333333333333",
    );
}

#[test]
fn integer_division() {
    check(
        "quotient 5 2 => 2
         quotient -5 2 => -2
         floor-quotient -5 2 => -3
         floor-quotient 5 -2 => -3
         remainder 13 4 => 1
         remainder -13 4 => -1
         remainder -13 -4.0 => -1.0
         modulo 13 4 => 1
         modulo -13 4 => 3
         modulo 13 -4 => -3
         modulo -13 -4 => -1
         modulo -13 4.0 => 3.0
         quotient -4611686018427387904 -1 => 4611686018427387904
         quotient 1e300 7 => 1.4285714285714286e299
         quotient 5 0 => DivideByZero
         modulo 5.0 0.0 => DivideByZero
         quotient 5.5 2 => NotInteger
         quotient 1/2 2 => NotInteger
         modulo +inf.0 2 => NotInteger
         gcd 32 -36 => 4
         gcd 0 0 => 0
         gcd 0 -4 => 4
         gcd 32.0 36 => 4.0
         lcm 32 -36 => 288
         lcm 32.0 -36 => 288.0
         lcm 0 5 => 0
         lcm 0 0 => 0
         gcd 1/2 2 => NotInteger",
    );
}

#[test]
fn parts_and_rounding() {
    check(
        "numerator 6/4 => 3
         denominator 6/4 => 2
         denominator 0 => 1
         denominator 0.5 => 2.0
         numerator +inf.0 => NotRational
         floor -4.3 => -5.0
         ceiling -4.3 => -4.0
         truncate -4.3 => -4.0
         round -4.3 => -4.0
         floor 3.5 => 3.0
         ceiling 3.5 => 4.0
         round 3.5 => 4.0
         round 2.5 => 2.0
         round -0.5 => -0.0
         round 7/2 => 4
         round 5/2 => 2
         round -5/2 => -2
         floor -1/2 => -1
         ceiling -1/2 => 0
         truncate -3/2 => -1
         round 7 => 7
         floor -inf.0 => -inf.0
         round +nan.0 => +nan.0
         rationalize 3/10 1/10 => 1/3
         rationalize 0.3 1/10 => 0.3333333333333333
         rationalize -3/10 1/10 => -1/3
         rationalize 1/2 1 => 0
         rationalize 5 0 => 5
         rationalize 22/7 0 => 22/7
         rationalize +inf.0 3 => +inf.0
         rationalize +inf.0 +inf.0 => +nan.0
         rationalize 3 +inf.0 => 0.0
         exact 0.5 => 1/2
         exact 4.0 => 4
         exact -0.0 => 0
         exact 4611686018427387904.0 => 4611686018427387904
         exact -4611686018427387904.0 => -4611686018427387904
         exact 5e-324 => 1/\
           202402253307310618352495346718917307049556649764142118356901358027430339567995346891960383701437\
           124495187077864316811911389808737385793476867013399940738509921517424276566361364466907742093216\
           341239767678472745068562007483424692698618103355649159556340810056512358769552333414615230502532\
           186327508646006263307707741093494784
         exact +nan.0 => NotRational
         exact -inf.0 => NotRational
         inexact 1/3 => 0.3333333333333333
         inexact 9007199254740993 => 9007199254740992.0",
    );
}

#[test]
fn powers_and_roots() {
    check(
        "square 42 => 1764
         square 2.0 => 4.0
         sqrt 9 => 3
         sqrt 1/4 => 1/2
         sqrt 2 => 1.4142135623730951
         sqrt 1/2 => 0.7071067811865476
         sqrt 4.0 => 2.0
         sqrt 0 => 0
         sqrt -0.0 => -0.0
         sqrt -1 => NotReal
         sqrt -1.0 => NotReal
         sqrt +inf.0 => +inf.0
         sqrt 85070591730234615847396907784232501249 => 9223372036854775807
         exact-integer-sqrt 4 => 2
         exact-integer-sqrt 5 => 2
         exact-integer-sqrt 0 => 0
         exact-integer-sqrt -1 => Negative
         exact-integer-sqrt 4.0 => NotExact
         exact-integer-sqrt 1/4 => NotInteger
         expt 0 0 => 1
         expt 0.0 0 => 1.0
         expt 0 5 => 0
         expt 0 -1 => DivideByZero
         expt 0.0 -1 => +inf.0
         expt 2 100 => 1267650600228229401496703205376
         expt 2 -2 => 1/4
         expt -2 -3 => -1/8
         expt -2/3 3 => -8/27
         expt -2/3 -3 => -27/8
         expt -1 100000000000000000001 => -1
         expt -1.0 100000000000000000001 => -1.0
         expt 1 100000000000000000000 => 1
         expt 2 100000000000000000000 => TooLarge
         expt 3 1000000000 => TooLarge
         expt 1/3 1000000000 => TooLarge
         expt 2 2097152 => TooLarge
         expt 4 1/2 => 2
         expt 4 3/2 => 8
         expt 4 -1/2 => 1/2
         expt 2 0.5 => 1.4142135623730951
         expt -8 1/3 => NotReal
         expt -8.0 0.5 => NotReal
         expt -2.0 3 => -8.0",
    );
    let longest = n("2").expt(&n("2097151")).unwrap();
    assert_eq!(longest.integer_length(), Ok(MAX_BITS));
    let beyond_floats = n("10").expt(&n("400")).unwrap();
    assert_eq!(beyond_floats.add(&n("1")).unwrap().sqrt(), Ok(n("1e200")));
    assert_eq!(beyond_floats.log_base(&n("100")).unwrap().round(), n("200.0"));
    let tiny = n("1").div(&beyond_floats).unwrap();
    assert_eq!(tiny.negate().atan2(&n("0")), n("-1").atan2(&n("0")));
    assert_eq!(tiny.atan2(&tiny.negate()), n("1").atan2(&n("-1")));
    assert_eq!(
        tiny.expt(&n("0.5")).unwrap().mul(&n("1e200")).unwrap().round(),
        n("1.0")
    );
    assert_eq!(beyond_floats.atan2(&beyond_floats), Ok(n("1").inexact().atan()));
}

#[test]
fn transcendental_functions() {
    check(
        "exp 0 => 1
         exp 1 => 2.718281828459045
         log 1 => 0
         log 0 => -inf.0
         log 0.0 => -inf.0
         log -1 => NotReal
         log 8 2 => 3.0
         log 1000 10 => 3.0
         log 9 3 => 2.0
         log 1 2 => 0.0
         log 1000.0 10 => 3.0
         log 0 2 => -inf.0
         log 5 1 => DivideByZero
         log 1/8 2 => -3.0
         sin 0 => 0
         sin 0.0 => 0.0
         cos 0 => 1
         cos 1 => 0.5403023058681398
         tan 1 => 1.5574077246549023
         asin 1 => 1.5707963267948966
         asin 2 => NotReal
         acos 1 => 0
         acos -1 => 3.141592653589793
         acos -1.5 => NotReal
         atan 1 => 0.7853981633974483
         atan 1 -1 => 2.356194490192345
         atan -1 0 => -1.5707963267948966
         atan 0 1 => 0
         atan 0 -1 => 3.141592653589793
         atan 0.0 -1 => 3.141592653589793
         atan -0.0 -1 => -3.141592653589793
         atan 0 0 => DivideByZero
         sin +inf.0 => +nan.0",
    );
}

#[test]
fn bit_strings() {
    check(
        "bitwise-and 12 10 => 8
         bitwise-ior 12 10 => 14
         bitwise-xor 12 10 => 6
         bitwise-and -1 18446744073709551615 => 18446744073709551615
         bitwise-not 0 => -1
         bitwise-not 4611686018427387903 => -4611686018427387904
         arithmetic-shift 8 2 => 32
         arithmetic-shift 8 -1 => 4
         arithmetic-shift -1 -100 => -1
         arithmetic-shift -5 -1 => -3
         arithmetic-shift 1 62 => 4611686018427387904
         arithmetic-shift -1 62 => -4611686018427387904
         arithmetic-shift 1 100 => 1267650600228229401496703205376
         arithmetic-shift 18446744073709551616 -10000000000000000000000 => 0
         arithmetic-shift -18446744073709551616 -10000000000000000000000 => -1
         arithmetic-shift 0 10000000000000000000000 => 0
         arithmetic-shift 1 2097152 => TooLarge
         arithmetic-shift 1 10000000000000000000000 => TooLarge
         bit-count 7 => 3
         bit-count -8 => 3
         bit-count 18446744073709551615 => 64
         integer-length 0 => 0
         integer-length 7 => 3
         integer-length -8 => 3
         integer-length 8 => 4
         integer-length -4611686018427387905 => 63
         bitwise-and 1.0 1 => NotExact
         bitwise-not 1/2 => NotInteger
         arithmetic-shift 1 1/2 => NotInteger",
    );
}

#[test]
fn questions() {
    for (text, integer, rational, exact, odd) in [
        ("3", true, true, true, Ok(true)),
        ("-4", true, true, true, Ok(false)),
        ("4611686018427387905", true, true, true, Ok(true)),
        ("3.0", true, true, false, Ok(true)),
        ("-3.0", true, true, false, Ok(true)),
        ("1e300", true, true, false, Ok(false)),
        ("3.5", false, true, false, Err(NumberError::NotInteger)),
        ("7/2", false, true, true, Err(NumberError::NotInteger)),
        ("+inf.0", false, false, false, Err(NumberError::NotInteger)),
        ("+nan.0", false, false, false, Err(NumberError::NotInteger)),
    ] {
        let number = n(text);
        let found = (
            number.is_integer(),
            number.is_rational(),
            number.is_exact(),
            number.is_odd(),
        );
        assert_eq!(found, (integer, rational, exact, odd), "{text}");
    }
    for (text, sign) in [
        ("0", 0),
        ("-0.0", 0),
        ("1/2", 1),
        ("-1/2", -1),
        ("1e-300", 1),
        ("-inf.0", -1),
        ("+nan.0", 0),
    ] {
        let number = n(text);
        assert_eq!(
            i32::from(number.is_positive()) - i32::from(number.is_negative()),
            sign,
            "{text}"
        );
        assert_eq!(number.is_zero(), sign == 0 && !number.is_nan(), "{text}");
    }
}

#[test]
fn sameness_is_not_equality() {
    for (a, b, same, equal) in [
        ("2", "2.0", false, true),
        ("0.0", "-0.0", false, true),
        ("+nan.0", "-nan.0", true, false),
        ("1/2", "0.5", false, true),
        ("9007199254740993", "9007199254740992.0", false, false),
        ("100000000000000000000", "100000000000000000000", true, true),
    ] {
        let (a, b) = (n(a), n(b));
        assert_eq!((a == b, a.equals(&b)), (same, equal), "{a} {b}");
    }
}

#[test]
fn hashes_never_change() {
    for (text, hash) in [
        ("0", 0x5b37_837b_c82b_a6a4),
        ("-1", 0xcd84_8774_fe98_3d1c),
        ("1267650600228229401496703205376", 0x2909_3f21_67eb_a94d),
        ("-1/2", 0x045c_ae55_40c0_08d7),
        ("0.5", 0x2dc0_fc31_8fce_9034),
        ("+nan.0", 0x2da5_bc31_8fb7_5bbc),
    ] {
        assert_eq!(n(text).hash(), hash, "{text}");
    }
}

#[test]
fn oversized_results_are_refused() {
    let long = n("1").arithmetic_shift(&n("2097151")).unwrap();
    let wide = n("1").arithmetic_shift(&n("600000")).unwrap();
    let refused = Err(NumberError::TooLarge);
    assert_eq!(long.add(&long), refused);
    assert_eq!(long.negate().sub(&long.sub(&n("-1")).unwrap()), refused);
    assert_eq!(long.mul(&n("2")), refused);
    assert_eq!(long.square(), refused);
    assert_eq!(long.expt(&n("2")), refused);
    let no_divisor = Err(NumberError::NoDivisor);
    assert_eq!(wide.gcd(&wide.add(&n("1")).unwrap()), no_divisor);
    assert_eq!(wide.div(&n("3")).unwrap().numerator(), Ok(wide.clone()));
    assert_eq!(wide.div(&wide.add(&n("1")).unwrap()), no_divisor);
    assert_eq!(long.lcm(&n("3")), refused);
    let fine = n("3").expt(&n("50000")).unwrap().div(&long).unwrap();
    assert_eq!(fine.rationalize(&n("0")), refused);
}
