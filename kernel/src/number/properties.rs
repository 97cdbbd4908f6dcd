//! Laws: agreement with `num-bigint` and `num-rational`, and of each operation with its inverse.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use proptest::prelude::*;

use super::*;

/// Integers of every important size: small, around the fixnum boundary, long.
fn integers() -> impl Strategy<Value = BigInt> {
    prop_oneof![
        (-20i64..20).prop_map(BigInt::from),
        any::<i64>().prop_map(BigInt::from),
        (-3i64..3, any::<bool>())
            .prop_map(|(offset, high)| { BigInt::from(if high { FIXNUM_MAX } else { FIXNUM_MIN }) + offset }),
        (any::<bool>(), prop::collection::vec(any::<u32>(), 0..40)).prop_map(|(negative, digits)| {
            let magnitude = BigInt::from(BigUint::new(digits));
            if negative { -magnitude } else { magnitude }
        }),
    ]
}

fn rationals() -> impl Strategy<Value = BigRational> {
    prop_oneof![
        integers().prop_map(BigRational::from_integer),
        (
            integers(),
            integers().prop_filter("denominator", |value| !value.is_zero())
        )
            .prop_map(|(numerator, denominator)| BigRational::new(numerator, denominator)),
    ]
}

fn floats() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-40i32..40).prop_map(|value| f64::from(value) / 4.0),
        any::<i64>().prop_map(|value| value as f64),
        prop::sample::select(vec![
            0.0,
            -0.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            f64::INFINITY,
            f64::NAN,
            9_007_199_254_740_993.0,
            4_611_686_018_427_387_904.0,
        ]),
    ]
}

fn exacts() -> impl Strategy<Value = Number> {
    rationals().prop_map(|value| number(&value))
}

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![2 => exacts(), 1 => floats().prop_map(Number::Flonum)]
}

/// Numbers close together, of different kinds, so that magnitude alone does not decide comparisons.
fn neighbours() -> impl Strategy<Value = [Number; 3]> {
    let near = |float: f64| {
        let exact = Number::Flonum(float).exact().unwrap();
        (0u8..4, -2i64..3, 1i64..5).prop_map(move |(kind, offset, denominator)| {
            let step = Number::from_ratio(offset.into(), denominator.into()).unwrap();
            match kind {
                0 => Number::Flonum(float),
                1 => exact.clone(),
                2 => exact.add(&step).unwrap(),
                _ => exact.add(&step).unwrap().inexact(),
            }
        })
    };
    prop_oneof![
        any::<i64>().prop_map(|value| value as f64),
        (-8i32..8).prop_map(|value| f64::from(value) / 4.0),
        floats().prop_filter("finite", |value| value.is_finite()),
    ]
    .prop_flat_map(move |float| [near(float), near(float), near(float)])
}

fn number(value: &BigRational) -> Number {
    Number::from_ratio(value.numer().clone(), value.denom().clone()).unwrap()
}

fn integer(value: &BigInt) -> Number {
    Number::from_big(value.clone())
}

fn rational(number: &Number) -> BigRational {
    let exact = number.exact().unwrap();
    match exact.to_big() {
        Some(whole) => BigRational::from_integer(whole.into_owned()),
        None => {
            let part = |part: Result<Number, NumberError>| part.unwrap().to_big().unwrap().into_owned();
            BigRational::new_raw(part(exact.numerator()), part(exact.denominator()))
        }
    }
}

/// Fails unless the number is in its one normal form.
fn check_normal(number: &Number) {
    match number {
        Number::Fixnum(value) => assert!((FIXNUM_MIN..=FIXNUM_MAX).contains(value)),
        Number::Big(value) => {
            assert!(*value < BigInt::from(FIXNUM_MIN) || *value > BigInt::from(FIXNUM_MAX));
        }
        Number::Ratio(value) => {
            assert!(*value.denom() > BigInt::one());
            assert!(value.numer().gcd(value.denom()).is_one());
        }
        Number::Flonum(_) => {}
    }
}

/// Checks an exact result against the same number from `num-rational`.
fn check(found: &Number, expected: &BigRational) {
    check_normal(found);
    assert!(found.is_exact());
    assert_eq!(&rational(found), expected);
}

/// Returns the neighbouring float, away from zero or towards it.
fn neighbour(value: f64, away: bool) -> f64 {
    let bits = value.to_bits();
    f64::from_bits(if away { bits + 1 } else { bits - 1 })
}

/// Checks by exact distances that a positive float is the nearest to a ratio, ties to even.
fn check_nearest(exact: &BigRational, float: f64) {
    // For the purpose of rounding, the grid continues beyond the greatest float at 2¹⁰²⁴.
    let value = |float: f64| {
        if float.is_infinite() {
            BigRational::from_integer(BigInt::one() << 1024)
        } else {
            rational(&Number::Flonum(float))
        }
    };
    let distance = |float: f64| (exact - value(float)).abs();
    let mut rivals = Vec::new();
    if float.is_finite() {
        rivals.push(neighbour(float, true));
    } else if *exact > value(float) {
        return;
    }
    if float != 0.0 {
        rivals.push(neighbour(float, false));
    }
    for rival in rivals {
        match distance(float).cmp(&distance(rival)) {
            Ordering::Less => {}
            Ordering::Equal => assert_eq!(float.to_bits() & 1, 0, "tie to odd {float:?}"),
            Ordering::Greater => panic!("{rival:?} is nearer than {float:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn four_operations_agree_with_rationals(a in rationals(), b in rationals()) {
        let (x, y) = (number(&a), number(&b));
        check(&x.add(&y).unwrap(), &(&a + &b));
        check(&x.sub(&y).unwrap(), &(&a - &b));
        check(&x.mul(&y).unwrap(), &(&a * &b));
        check(&x.negate(), &-a.clone());
        check(&x.abs(), &a.abs());
        if b.is_zero() {
            prop_assert_eq!(x.div(&y), Err(NumberError::DivideByZero));
        } else {
            check(&x.div(&y).unwrap(), &(&a / &b));
        }
        prop_assert_eq!(x.compare(&y), Some(a.cmp(&b)));
        prop_assert_eq!(x == y, a == b);
    }

    #[test]
    fn integer_division_agrees_with_long_integers(a in integers(), b in integers()) {
        let (x, y) = (integer(&a), integer(&b));
        if b.is_zero() {
            prop_assert_eq!(x.quotient(&y), Err(NumberError::DivideByZero));
            prop_assert_eq!(x.modulo(&y), Err(NumberError::DivideByZero));
        } else {
            let whole = |value: BigInt| BigRational::from_integer(value);
            check(&x.quotient(&y).unwrap(), &whole(&a / &b));
            check(&x.remainder(&y).unwrap(), &whole(&a % &b));
            check(&x.floor_quotient(&y).unwrap(), &whole(a.div_floor(&b)));
            check(&x.modulo(&y).unwrap(), &whole(a.mod_floor(&b)));
            for (quotient, rest) in [x.truncate_division(&y).unwrap(), x.floor_division(&y).unwrap()] {
                prop_assert_eq!(&quotient.mul(&y).unwrap().add(&rest).unwrap(), &x);
                prop_assert_eq!(rest.abs().compare(&y.abs()), Some(Ordering::Less));
            }
        }
        check(&x.gcd(&y).unwrap(), &BigRational::from_integer(a.gcd(&b)));
        check(&x.lcm(&y).unwrap(), &BigRational::from_integer(a.lcm(&b)));
    }

    #[test]
    fn divisors_of_long_integers_with_a_common_part(a in integers(), b in integers(), common in integers()) {
        let (a, b) = (a * &common, b * &common);
        let found = integer(&a).gcd(&integer(&b)).unwrap();
        check(&found, &BigRational::from_integer(a.gcd(&b)));
    }

    #[test]
    fn division_identity_holds_for_inexact_integers(a in any::<i64>(), b in any::<i32>()) {
        let (x, y) = (Number::Flonum(a as f64), Number::Flonum(f64::from(b)));
        if b == 0 {
            prop_assert_eq!(x.floor_division(&y), Err(NumberError::DivideByZero));
        } else {
            let exact = rational(&x).to_integer();
            let (quotient, rest) = x.floor_division(&y).unwrap();
            prop_assert!(!quotient.is_exact() && !rest.is_exact());
            prop_assert_eq!(quotient, integer(&exact.div_floor(&b.into())).inexact());
            prop_assert_eq!(rest, integer(&exact.mod_floor(&b.into())).inexact());
        }
    }

    #[test]
    fn bits_agree_with_long_integers(a in integers(), b in integers(), shift in -200i64..200) {
        let (x, y) = (integer(&a), integer(&b));
        let whole = |value: BigInt| BigRational::from_integer(value);
        check(&x.bitwise_and(&y).unwrap(), &whole(&a & &b));
        check(&x.bitwise_or(&y).unwrap(), &whole(&a | &b));
        check(&x.bitwise_xor(&y).unwrap(), &whole(&a ^ &b));
        check(&x.bitwise_not().unwrap(), &whole(-&a - 1));
        let power = BigInt::one() << shift.unsigned_abs();
        let shifted = if shift < 0 { a.div_floor(&power) } else { &a * &power };
        check(&x.arithmetic_shift(&Number::Fixnum(shift)).unwrap(), &whole(shifted));
        let plain = if a.is_negative() { -&a - 1 } else { a.clone() };
        let binary = plain.to_str_radix(2);
        prop_assert_eq!(x.bit_count().unwrap(), binary.matches('1').count() as u64);
        prop_assert_eq!(x.integer_length().unwrap(), if plain.is_zero() { 0 } else { binary.len() as u64 });
    }

    #[test]
    fn printing_then_reading_is_identity(value in numbers(), radix in 2u32..=36) {
        let text = value.to_string_radix(radix);
        prop_assert_eq!(Number::parse(&text, radix), Some(value), "{}", text);
    }

    #[test]
    fn any_text_reads_to_a_number_that_prints_back(text in "[#+./eEidxbo0-9a-f-]{0,12}|\\PC{0,8}", radix in 0u32..40) {
        if let Some(value) = Number::parse(&text, radix) {
            check_normal(&value);
            let printed = value.to_string();
            prop_assert_eq!(Number::parse(&printed, 10), Some(value));
        }
    }

    #[test]
    fn decimals_in_other_radices_round_to_nearest(digits in "[0-9a-f]{1,30}", fraction in "[0-9a-f]{1,30}") {
        let Some(Number::Flonum(float)) = Number::parse(&format!("{digits}.{fraction}"), 16) else {
            panic!("a flonum")
        };
        let mantissa = BigInt::parse_bytes(format!("{digits}{fraction}").as_bytes(), 16).unwrap();
        check_nearest(&BigRational::new(mantissa, BigInt::one() << (4 * fraction.len())), float);
    }

    #[test]
    fn exact_decimals_are_what_they_say(mantissa in any::<u64>(), exponent in -40i32..40) {
        let found = Number::parse(&format!("#e{mantissa}e{exponent}"), 10).unwrap();
        let power = BigRational::from_integer(10.into()).pow(exponent);
        check(&found, &(BigRational::from_integer(mantissa.into()) * power));
    }

    #[test]
    fn long_texts_read_in_pieces(digits in "[1-9][0-9]{500,3000}") {
        let expected = BigInt::parse_bytes(digits.as_bytes(), 10).unwrap();
        prop_assert_eq!(Number::parse(&digits, 10), Some(Number::from_big(expected)));
    }

    #[test]
    fn exact_to_inexact_rounds_to_nearest(value in rationals(), scale in -1200i32..1200) {
        let exact = value.abs() * BigRational::from_integer(2.into()).pow(scale);
        check_nearest(&exact, number(&exact).to_f64());
    }

    #[test]
    fn halfway_cases_round_to_even(mantissa in (1u64 << 52)..(1 << 53), scale in -1130i32..971, offset in -1i32..2) {
        let half = BigRational::from_integer((BigInt::from(mantissa) * 2 + 1) << 200u32);
        let near = half + BigRational::from_integer(offset.into());
        let exact = near * BigRational::from_integer(2.into()).pow(scale - 201);
        check_nearest(&exact, number(&exact).to_f64());
    }

    #[test]
    fn inexact_undoes_exact(float in floats()) {
        let value = Number::Flonum(float);
        match value.exact() {
            Ok(exact) => {
                check_normal(&exact);
                prop_assert!(exact.equals(&value));
                prop_assert_eq!(exact.inexact().to_f64(), float);
            }
            Err(error) => {
                prop_assert_eq!(error, NumberError::NotRational);
                prop_assert!(!float.is_finite());
            }
        }
    }

    #[test]
    fn order_is_transitive_across_exactness(triple in neighbours()) {
        let [a, b, c] = &triple;
        let order = |x: &Number, y: &Number| x.compare(y).unwrap();
        prop_assert_eq!(order(a, b), order(b, a).reverse());
        prop_assert_eq!(order(a, b), rational(a).cmp(&rational(b)));
        if order(a, b) == order(b, c) {
            prop_assert_eq!(order(a, c), order(a, b));
        }
    }

    #[test]
    fn same_numbers_hash_alike(a in numbers(), radix in 2u32..=36) {
        let again = Number::parse(&a.to_string_radix(radix), radix).unwrap();
        prop_assert_eq!(a.hash(), again.hash());
        let next = a.add(&Number::Fixnum(1)).unwrap();
        prop_assert!(a.is_nan() || a.hash() != next.hash() || a == next);
    }

    #[test]
    fn rounding_agrees_with_rationals(value in rationals()) {
        let found = number(&value);
        check(&found.floor(), &value.floor());
        check(&found.ceiling(), &value.ceil());
        check(&found.truncate(), &value.trunc());
        let round = found.round();
        let distance = (rational(&round) - &value).abs() * BigRational::from_integer(2.into());
        prop_assert!(distance < BigRational::one() || (distance.is_one() && round.is_even().unwrap()));
    }

    #[test]
    fn roots_are_exact_or_nearest(value in rationals(), scale in -600i32..700) {
        let square = number(&(&value * &value));
        check(&square.sqrt().unwrap(), &value.abs());
        let exact = value.abs() * BigRational::from_integer(2.into()).pow(scale);
        if let Number::Flonum(root) = number(&exact).sqrt().unwrap() {
            // The true root lies between the midpoints to the two neighbours.
            let half = BigRational::new(1.into(), 2.into());
            let middle = |other: f64| (rational(&Number::Flonum(root)) + rational(&Number::Flonum(other))) * &half;
            let (low, high) = (middle(neighbour(root, false)), middle(neighbour(root, true)));
            prop_assert!(&low * &low <= exact && exact <= &high * &high);
        }
    }

    #[test]
    fn integer_roots_leave_the_least_rest(value in integers()) {
        match integer(&value).exact_integer_sqrt() {
            Ok((root, rest)) => {
                let (root, rest) = (rational(&root).to_integer(), rational(&rest).to_integer());
                prop_assert_eq!(&root * &root + &rest, value);
                prop_assert!(!root.is_negative() && !rest.is_negative() && rest <= root * 2);
            }
            Err(error) => {
                prop_assert_eq!(error, NumberError::Negative);
                prop_assert!(value.is_negative());
            }
        }
    }

    #[test]
    fn exact_powers_agree_with_rationals(base in rationals(), exponent in -12i32..12) {
        let found = number(&base).expt(&Number::Fixnum(exponent.into()));
        if base.is_zero() && exponent < 0 {
            prop_assert_eq!(found, Err(NumberError::DivideByZero));
        } else {
            check(&found.unwrap(), &base.pow(exponent));
        }
    }

    #[test]
    fn powers_of_floats_are_nearest(base in floats(), exponent in -40i64..40) {
        prop_assume!(base.is_finite() && base != 0.0);
        let (base, exponent) = (Number::Flonum(base), Number::Fixnum(exponent));
        let exact = base.exact().unwrap().expt(&exponent).unwrap();
        // The exact value has no negative zero.
        prop_assert_eq!(base.expt(&exponent).unwrap().abs(), exact.inexact().abs());
    }

    #[test]
    fn the_simplest_ratio_has_the_least_denominator(
        numerator in -300i64..300,
        denominator in 1i64..60,
        reach in 0i64..40,
        unit in 1i64..60,
    ) {
        let value = BigRational::new(numerator.into(), denominator.into());
        let tolerance = BigRational::new(reach.into(), unit.into());
        let found = rational(&number(&value).rationalize(&number(&tolerance)).unwrap());
        prop_assert!((&found - &value).abs() <= tolerance);
        let (low, high) = (&value - &tolerance, &value + &tolerance);
        // No smaller denominator has a numerator in the interval, and no smaller numerator serves
        // this one.
        let least = (1i64..).find(|below| {
            let scaled = |bound: &BigRational| bound * BigRational::from_integer((*below).into());
            scaled(&low).ceil() <= scaled(&high).floor()
        }).unwrap();
        prop_assert_eq!(found.denom(), &BigInt::from(least));
        let scale = BigRational::from_integer(least.into());
        let (first, last) = ((low * &scale).ceil(), (high * &scale).floor());
        let smallest = if first.is_positive() {
            first
        } else if last.is_negative() {
            last
        } else {
            BigRational::zero()
        };
        prop_assert_eq!(found.numer(), &smallest.to_integer());
    }

    #[test]
    fn extremes_keep_value_and_spread_inexactness(a in numbers(), b in numbers()) {
        let (low, high) = (a.min(&b), a.max(&b));
        prop_assert_eq!(low.is_exact(), a.is_exact() && b.is_exact());
        match a.compare(&b) {
            None => prop_assert!(low.is_nan() && high.is_nan()),
            Some(order) => {
                let (first, last) = if order == Ordering::Greater { (&b, &a) } else { (&a, &b) };
                let shown = |picked: &Number| if low.is_exact() { picked.clone() } else { picked.inexact() };
                prop_assert!(low.equals(&shown(first)) && high.equals(&shown(last)));
            }
        }
    }
}
