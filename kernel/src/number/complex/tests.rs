//! Complex numbers by tables of texts, and by the laws that bind them.

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;

fn number(text: &str) -> Complex {
    Complex::parse(text, 10).unwrap_or_else(|| panic!("{text} is a number"))
}

type Operation = fn(&Complex, &Complex) -> Result<Complex, NumberError>;

fn shown(result: Result<Complex, NumberError>) -> String {
    result.map_or_else(|error| error.to_string(), |number| number.to_string())
}

/// Applies a function of one number to each first text and expects the second.
fn check(function: fn(&Complex) -> Result<Complex, NumberError>, rows: &[(&str, &str)]) {
    for (argument, expected) in rows {
        assert_eq!(shown(function(&number(argument))), *expected, "{argument}");
    }
}

fn check_pairs(operation: Operation, rows: &[(&str, &str, &str)]) {
    for (left, right, expected) in rows {
        assert_eq!(
            shown(operation(&number(left), &number(right))),
            *expected,
            "{left}, {right}"
        );
    }
}

#[test]
fn texts_are_read_and_written() {
    for (text, expected) in [
        ("1+2i", "1+2i"),
        ("1+2I", "1+2i"),
        ("1-2i", "1-2i"),
        ("-1.5-i", "-1.5-i"),
        ("+i", "+i"),
        ("-i", "-i"),
        ("0+i", "+i"),
        ("+2i", "+2i"),
        ("1+1i", "1+i"),
        ("+1.0i", "+1.0i"),
        ("1/2+3/4i", "1/2+3/4i"),
        ("0.5+3/4i", "0.5+3/4i"),
        ("1e2+1.0e-3i", "100.0+0.001i"),
        ("1e+2-1e+3i", "100.0-1000.0i"),
        ("+inf.0i", "+inf.0i"),
        ("-inf.0+nan.0i", "-inf.0+nan.0i"),
        ("+INF.0-Inf.0I", "+inf.0-inf.0i"),
        ("1+0i", "1"),
        ("1+0.0i", "1+0.0i"),
        ("1@0", "1"),
        ("0@1", "0"),
        ("1@2", "-0.4161468365471424+0.9092974268256817i"),
        ("-1@0", "-1"),
        ("#x10+11i", "16+17i"),
        ("#xa-bi", "10-11i"),
        ("#x1e+2i", "30+2i"),
        ("#b101+11i", "5+3i"),
        ("#e1.5-0.5i", "3/2-1/2i"),
        ("#i1/2+3/4i", "0.5+0.75i"),
        ("#i+i", "0.0+1.0i"),
        ("#x#e1+i", "1+i"),
    ] {
        assert_eq!(number(text).to_string(), expected, "{text}");
    }
}

#[test]
fn what_is_no_number_is_refused() {
    for text in [
        "i",
        "1i",
        "1+2",
        "1+2ii",
        "1+i2",
        "1+2i+3i",
        "1@",
        "@1",
        "1@2@3",
        "1@i",
        "++i",
        "1++2i",
        "1+-2i",
        "1e+i",
        "#e+inf.0i",
        "#e1+nan.0i",
        "1/0+i",
        "1+1/0i",
        "inf.0i",
        "#x#x1+i",
        "i+1",
        "1+2i ",
        "",
    ] {
        assert_eq!(Complex::parse(text, 10), None, "{text}");
    }
}

#[test]
fn in_large_radices_the_last_letter_needs_a_sign_before_it() {
    assert_eq!(Complex::parse("+i", 19), Some(Number::Fixnum(18).into()));
    assert_eq!(Complex::parse("0+i", 19), Some(Complex::new(ZERO, Number::Fixnum(1))));
    assert_eq!(number("+i").to_string_radix(36), "0+i");
    assert_eq!(number("+i").to_string_radix(18), "+i");
    assert_eq!(number("255-16i").to_string_radix(16), "ff-10i");
}

#[test]
fn operations() {
    check_pairs(
        Complex::add,
        &[
            ("1+2i", "3-4i", "4-2i"),
            ("1+2i", "3-2i", "4"),
            ("1/2+i", "0.5", "1.0+i"),
            ("+i", "-0.0", "-0.0+i"),
        ],
    );
    check_pairs(
        Complex::sub,
        &[("1+2i", "3-4i", "-2+6i"), ("1+2i", "1", "+2i"), ("5", "+i", "5-i")],
    );
    check_pairs(
        Complex::mul,
        &[
            ("1+2i", "3-4i", "11+2i"),
            ("+i", "+i", "-1"),
            ("2.0", "+i", "+2.0i"),
            ("+inf.0", "+i", "+inf.0i"),
            ("1.5+2.5i", "2", "3.0+5.0i"),
        ],
    );
    check_pairs(
        Complex::div,
        &[
            ("1+2i", "3-4i", "-1/5+2/5i"),
            ("1", "+i", "-i"),
            ("1+i", "2", "1/2+1/2i"),
            ("+i", "2.0", "+0.5i"),
            ("1.0+2.0i", "3.0-4.0i", "-0.2+0.4i"),
            ("1e300+1e300i", "1e300+1e300i", "1.0+0.0i"),
            ("1+i", "0", "division by zero"),
            ("+i", "0.0", "+inf.0i"),
        ],
    );
}

#[test]
fn magnitudes_and_angles() {
    check(
        |number| number.magnitude().map(Complex::from),
        &[
            ("3+4i", "5"),
            ("-5", "5"),
            ("-2.5i", "2.5"),
            ("1+i", "1.4142135623730951"),
            ("-1e200+0.0i", "1e200"),
            ("-inf.0+nan.0i", "+inf.0"),
        ],
    );
    check(
        |number| number.angle().map(Complex::from),
        &[
            ("1", "0"),
            ("0", "0"),
            ("-1", "3.141592653589793"),
            ("+i", "1.5707963267948966"),
            ("-1-0.0i", "-3.141592653589793"),
            ("1+i", "0.7853981633974483"),
        ],
    );
}

#[test]
fn square_roots() {
    check(
        Complex::sqrt,
        &[
            ("-1", "+i"),
            ("-4.0", "+2.0i"),
            ("-2", "+1.4142135623730951i"),
            ("-1/4", "+1/2i"),
            ("3+4i", "2+i"),
            ("3-4i", "2-i"),
            ("-3+4i", "1+2i"),
            ("+2i", "1+i"),
            ("-2i", "1-i"),
            ("+1/2i", "1/2+1/2i"),
            ("1+i", "1.09868411346781+0.45508986056222733i"),
            ("-4.0+0.0i", "0.0+2.0i"),
            ("-4.0-0.0i", "0.0-2.0i"),
            ("-inf.0", "+inf.0i"),
            ("-inf.0+1.0i", "0.0+inf.0i"),
            ("1.0-inf.0i", "+inf.0-inf.0i"),
            ("1e308+1e308i", "1.09868411346781e154+4.5508986056222734e153i"),
        ],
    );
}

#[test]
fn powers() {
    check_pairs(
        Complex::expt,
        &[
            ("-1", "1/2", "+i"),
            ("-4.0", "0.5", "+2.0i"),
            ("-4", "3/2", "-8i"),
            ("-8", "1/3", "1.0000000000000002+1.7320508075688772i"),
            ("1+i", "2", "+2i"),
            ("1+i", "-2", "-1/2i"),
            ("1+i", "0", "1"),
            ("+i", "1000000000000000000000000000001", "+i"),
            ("-i", "-3", "-i"),
            ("1+i", "100000000000000000", "the exact result is too large"),
            ("0", "1+i", "0"),
            ("0.0", "1+i", "0.0"),
            ("0", "+i", "division by zero"),
            ("+2i", "1/2", "1+i"),
            ("1.5+0.5i", "2", "2.0+1.5i"),
        ],
    );
}

#[test]
fn transcendental_values() {
    check(
        Complex::log,
        &[
            ("-1", "+3.141592653589793i"),
            ("+i", "+1.5707963267948966i"),
            ("1", "0"),
            ("-1.0-0.0i", "0.0-3.141592653589793i"),
            ("3+4i", "1.6094379124341003+0.9272952180016122i"),
            ("1e200+1e200i", "460.8635921890891+0.7853981633974483i"),
        ],
    );
    check(
        |number| Ok(number.exp()),
        &[
            ("+3.141592653589793i", "-1.0+1.2246467991473532e-16i"),
            ("1+i", "1.4686939399158851+2.2873552871788423i"),
            ("0", "1"),
        ],
    );
    check(|number| Ok(number.sin()), &[("+i", "+1.1752011936438014i"), ("0", "0")]);
    check(|number| Ok(number.cos()), &[("+i", "1.543080634815244"), ("0", "1")]);
    check(
        |number| Ok(number.tan()),
        &[("+i", "+0.7615941559557649i"), ("1+400i", "0.0+1.0i")],
    );
    check(
        |number| Ok(number.asin()),
        &[
            ("2", "1.5707963267948966-1.3169578969248166i"),
            ("-2", "-1.5707963267948966+1.3169578969248166i"),
            ("1", "1.5707963267948966"),
        ],
    );
    check(
        |number| Ok(number.acos()),
        &[
            ("2", "0.0+1.3169578969248166i"),
            ("-2", "3.141592653589793-1.3169578969248166i"),
            ("1", "0"),
        ],
    );
    check(
        |number| Ok(number.atan()),
        &[
            ("+2i", "1.5707963267948966+0.5493061443340549i"),
            ("-2i", "-1.5707963267948966-0.5493061443340549i"),
            ("+1/2i", "+0.5493061443340549i"),
            ("+i", "+inf.0i"),
            ("1", "0.7853981633974483"),
        ],
    );
}

fn parts() -> impl Strategy<Value = Number> {
    prop_oneof![
        (-1000i64..1000).prop_map(Number::Fixnum),
        any::<i128>().prop_map(Number::from_i128),
        (any::<i64>(), 1i64..1000).prop_filter_map("in range", |(a, b)| Number::from_ratio(
            BigInt::from(a),
            BigInt::from(b)
        )
        .ok()),
        any::<f64>().prop_map(Number::Flonum),
    ]
}

fn exact() -> impl Strategy<Value = Complex> {
    let part = || (-1000i64..1000, 1i64..50).prop_map(|(a, b)| Number::from_ratio(a.into(), b.into()).unwrap_or(ZERO));
    (part(), part()).prop_map(|(real, imaginary)| Complex::new(real, imaginary))
}

fn point() -> impl Strategy<Value = Complex> {
    (-20.0..20.0f64, -20.0..20.0f64).prop_map(|(x, y)| Complex::from_floats(x, y))
}

/// Returns whether two numbers are equal up to rounding.
fn is_close(a: &Complex, b: &Complex) -> bool {
    let distance = |number: &Complex| number.magnitude().map_or(f64::NAN, |magnitude| magnitude.to_f64());
    let difference = a.sub(b).map_or(f64::NAN, |difference| distance(&difference));
    difference <= 1e-9 * libm::fmax(1.0, distance(b))
}

proptest! {
    #[test]
    fn reading_what_is_written_gives_the_same(real in parts(), imaginary in parts(), radix in 2u32..=36) {
        let number = Complex::new(real, imaginary);
        prop_assert_eq!(Complex::parse(&number.to_string_radix(radix), radix), Some(number));
    }

    #[test]
    fn exact_numbers_form_a_field(a in exact(), b in exact(), c in exact()) {
        prop_assert_eq!(a.add(&b)?.sub(&b)?, a.clone());
        prop_assert_eq!(a.mul(&b)?, b.mul(&a)?);
        prop_assert_eq!(a.mul(&b.add(&c)?)?, a.mul(&b)?.add(&a.mul(&c)?)?);
        if !b.is_zero() {
            prop_assert_eq!(a.mul(&b)?.div(&b)?, a);
        }
    }

    #[test]
    fn the_root_of_a_square_is_exact(a in exact()) {
        let root = a.square()?.sqrt()?;
        prop_assert!(root == a || root == a.negate(), "{root}");
    }

    #[test]
    fn functions_undo_each_other(z in point()) {
        prop_assert!(is_close(&z.sqrt()?.square()?, &z));
        prop_assert!(is_close(&z.log()?.exp(), &z));
        prop_assert!(is_close(&z.asin().sin(), &z));
        prop_assert!(is_close(&z.acos().cos(), &z));
        prop_assert!(is_close(&z.mul(&z)?.div(&z)?, &z));
        prop_assert!(is_close(&Complex::from_polar(&z.magnitude()?, &z.angle()?)?, &z));
        let tangent = z.atan().tan();
        prop_assert!(is_close(&tangent, &z) || is_close(&z.square()?, &Number::Fixnum(-1).into()), "{tangent}");
    }

    #[test]
    fn sines_and_cosines_agree_with_exponentials(z in (-3.0..3.0f64, -3.0..3.0f64)) {
        let z = Complex::from_floats(z.0, z.1);
        let turn = Complex::new(ZERO, Number::Fixnum(1)).mul(&z)?;
        let (up, down) = (turn.exp(), turn.negate().exp());
        prop_assert!(is_close(&up.add(&down)?.div(&Number::Fixnum(2).into())?, &z.cos()));
        prop_assert!(is_close(&up.sub(&down)?.div(&Complex::new(ZERO, Number::Fixnum(2)))?, &z.sin()));
        prop_assert!(is_close(&z.sin().div(&z.cos())?, &z.tan()));
    }
}
