//! Primitives that have a short way for fixnums and flonums give what the arithmetic of all numbers
//! gives.

use proptest::prelude::*;

use super::{call, heap, outcome};
use crate::heap::Heap;
use crate::number::{FIXNUM_MAX, FIXNUM_MIN, Number, NumberError};
use crate::value::Value;

/// A function of one number, and one of two.
type Of<const COUNT: usize> = fn(&[Number; COUNT]) -> Result<Number, NumberError>;

type Predicate = fn(&Number) -> bool;

const OF_ONE: &[(&str, Of<1>)] = &[
    ("abs", |[a]| Ok(a.abs())),
    ("floor", |[a]| Ok(a.floor())),
    ("ceiling", |[a]| Ok(a.ceiling())),
    ("truncate", |[a]| Ok(a.truncate())),
    ("round", |[a]| Ok(a.round())),
    ("square", |[a]| a.square()),
    ("exact", |[a]| a.exact()),
];

const OF_TWO: &[(&str, Of<2>)] = &[("max", |[a, b]| Ok(a.max(b))), ("min", |[a, b]| Ok(a.min(b)))];

/// Functions of two exact integers.
const OF_INTEGERS: &[(&str, Of<2>)] = &[
    ("bitwise-and", |[a, b]| a.bitwise_and(b)),
    ("bitwise-ior", |[a, b]| a.bitwise_or(b)),
    ("bitwise-xor", |[a, b]| a.bitwise_xor(b)),
    ("gcd", |[a, b]| a.gcd(b)),
    ("lcm", |[a, b]| a.lcm(b)),
];

const PREDICATES: &[(&str, Predicate)] = &[
    ("positive?", Number::is_positive),
    ("negative?", Number::is_negative),
    ("exact?", Number::is_exact),
    ("integer?", Number::is_integer),
    ("rational?", Number::is_rational),
    ("real?", |_| true),
];

fn fixnum() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(FIXNUM_MIN),
        Just(FIXNUM_MAX),
        -3_i64..=3,
        FIXNUM_MIN..=FIXNUM_MAX,
        (0_u32..60).prop_map(|bit| 1 << bit),
        (0_u32..60).prop_map(|bit| -(1 << bit)),
    ]
}

fn flonum() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        any::<i32>().prop_map(f64::from),
        any::<i32>().prop_map(|half| f64::from(half) / 2.0),
        (-1_i64 << 55..1_i64 << 55).prop_map(|integer| integer as f64),
        Just(-0.0),
    ]
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![fixnum().prop_map(Number::Fixnum), flonum().prop_map(Number::Flonum)]
}

#[track_caller]
fn check<const COUNT: usize>(heap: &mut Heap, name: &str, operands: &[Number; COUNT], function: Of<COUNT>) {
    let arguments = operands.each_ref().map(|number| heap.number(number).expect("it fits"));
    let found = call(heap, name, &arguments);
    let expected = function(operands)
        .map_err(super::PrimitiveError::from)
        .map(|number| heap.number(&number).expect("it fits"));
    let [found, expected] = [found, expected].map(|result| outcome(heap, &arguments, &result));
    assert_eq!(found, expected, "{name} {operands:?}");
}

proptest! {
    #[test]
    fn short_operands_give_what_all_numbers_give(a in number(), b in number()) {
        let mut heap = heap();
        for (name, function) in OF_ONE {
            check(&mut heap, name, std::array::from_ref(&a), *function);
        }
        for (name, function) in OF_TWO {
            check(&mut heap, name, &[a.clone(), b.clone()], *function);
        }
        for (name, predicate) in PREDICATES {
            let argument = heap.number(&a).expect("it fits");
            let found = call(&mut heap, name, &[argument]).expect("it takes all numbers");
            prop_assert_eq!(found, Value::boolean(predicate(&a)), "{} {:?}", name, a);
        }
    }

    #[test]
    fn short_integers_give_what_all_integers_give(a in fixnum(), b in fixnum(), count in -80_i64..80) {
        let mut heap = heap();
        let [a, b, count] = [a, b, count].map(Number::Fixnum);
        for (name, function) in OF_INTEGERS {
            check(&mut heap, name, &[a.clone(), b.clone()], *function);
        }
        check(&mut heap, "bitwise-not", std::array::from_ref(&a), |[a]| a.bitwise_not());
        check(&mut heap, "arithmetic-shift", &[a, count], |[a, count]| a.arithmetic_shift(count));
    }
}
