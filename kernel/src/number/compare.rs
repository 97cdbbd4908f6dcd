//! Numerical order and equality.
//!
//! INVARIANT: a comparison never rounds, so it is transitive across exactness: a flonum stands for
//! the one exact number it is.
//! It does not define sameness (`eqv?`), which is `==` on [`Number`].
//! Read next: `number/integer.rs`.
//!
//! Source: R7RS 6.2.6, `=`, `<`, `max`.

use std::cmp::Ordering;

use num_traits::Signed;

use super::Number;
use super::arithmetic::Pair;

impl Number {
    /// Orders two numbers by value; returns nothing if either is a NaN.
    #[inline]
    pub fn compare(&self, other: &Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Fixnum(a), Number::Fixnum(b)) => Some(a.cmp(b)),
            (Number::Flonum(a), Number::Flonum(b)) => a.partial_cmp(b),
            (Number::Flonum(a), exact) => compare_exact(exact, *a).map(Ordering::reverse),
            (exact, Number::Flonum(b)) => compare_exact(exact, *b),
            _ => Some(order_exact(self, other)),
        }
    }

    /// Returns whether two numbers have the same value (`=`), whatever their exactness.
    #[inline]
    pub fn equals(&self, other: &Number) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }

    /// Returns the greater number, as a flonum if either is one; a NaN if either is one.
    pub fn max(&self, other: &Number) -> Number {
        self.pick(other, Ordering::Greater)
    }

    /// Returns the lesser number, as a flonum if either is one; a NaN if either is one.
    pub fn min(&self, other: &Number) -> Number {
        self.pick(other, Ordering::Less)
    }

    fn pick(&self, other: &Number, wanted: Ordering) -> Number {
        let picked = match self.compare(other) {
            None => return Number::Flonum(f64::NAN),
            Some(order) if order == wanted => self,
            Some(_) => other,
        };
        if self.is_exact() && other.is_exact() {
            picked.clone()
        } else {
            picked.inexact()
        }
    }
}

/// Orders an exact number against a float.
fn compare_exact(exact: &Number, float: f64) -> Option<Ordering> {
    /// Every integer up to this one is a float.
    const DENSE: i64 = 1 << 53;
    if float.is_nan() {
        return None;
    }
    if float.is_infinite() {
        return Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    match (exact, Number::Flonum(float).exact()) {
        (Number::Fixnum(value), _) if (-DENSE..=DENSE).contains(value) => (*value as f64).partial_cmp(&float),
        (_, Ok(other)) => Some(order_exact(exact, &other)),
        (_, Err(_)) => None,
    }
}

/// Orders two exact numbers.
fn order_exact(a: &Number, b: &Number) -> Ordering {
    match Pair::of(a, b) {
        Pair::Integers(a, b) => a.cmp(&b),
        Pair::Ratios(a, b) => {
            let signs = a.numerator.signum().cmp(&b.numerator.signum());
            // The lengths of the parts are limited, so the products have at most twice the greatest
            // length.
            signs.then_with(|| (&*a.numerator * &*b.denominator).cmp(&(&*b.numerator * &*a.denominator)))
        }
        Pair::Floats(a, b) => a.total_cmp(&b),
    }
}
