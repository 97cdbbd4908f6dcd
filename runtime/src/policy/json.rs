//! JSON as policy uses it: strict texts, exact numbers.
//!
//! INVARIANT: a text with a repeated key is not JSON here, because readers would disagree about its
//! meaning; numbers are compared by value, without rounding.
//! It does not know what an entry means; `entry.rs` does.
//! Read next: `path.rs`.

use std::collections::BTreeSet;
use std::fmt;

use num_bigint::BigInt;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

/// Why a text is not JSON.
#[derive(Debug)]
pub struct JsonError(serde_json::Error);

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for JsonError {}

/// Parses a text that is one JSON value, at most 127 levels deep.
///
/// # Errors
/// [`JsonError`] with the place of the mistake.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    serde_json::from_str::<Unrepeated>(text).map_err(JsonError)?;
    serde_json::from_str(text).map_err(JsonError)
}

/// Says whether two values are equal; numbers compare by value, and `true` is not 1.
///
/// Both values come from [`parse`], so their depth is bounded.
pub fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Decimal::of(left) == Decimal::of(right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_same = |(key, value)| right.get(key).is_some_and(|other| equal(value, other));
            left.len() == right.len() && left.iter().all(is_same)
        }
        (
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_),
            _,
        ) => left == right,
    }
}

/// Says whether a value is written as an integer: digits only.
pub fn is_integer(value: &Value) -> bool {
    matches!(value, Value::Number(number) if number.as_str().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
}

/// The parts of a number: its digits without zeros at either end, and the power of ten of the last
/// digit.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    digits: String,
    exponent: BigInt,
}

impl Decimal {
    fn of(number: &Number) -> Self {
        let text = number.as_str();
        let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_end_matches('0');
        let digits = significant.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Self {
                is_negative: false,
                digits,
                exponent: BigInt::default(),
            };
        }
        let exponent: BigInt = exponent.parse().unwrap_or_default();
        let shift = BigInt::from(all.len() - significant.len()) - BigInt::from(fraction.len());
        Self {
            is_negative,
            digits,
            exponent: exponent + shift,
        }
    }
}

/// Accepts any JSON in which no object repeats a key.
struct Unrepeated;

impl<'de> Deserialize<'de> for Unrepeated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Check)
    }
}

struct Check;

impl<'de> Visitor<'de> for Check {
    type Value = Unrepeated;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Unrepeated, E> {
        Ok(Unrepeated)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Unrepeated, E> {
        Ok(Unrepeated)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Unrepeated, E> {
        Ok(Unrepeated)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Unrepeated, E> {
        Ok(Unrepeated)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Unrepeated, E> {
        Ok(Unrepeated)
    }

    fn visit_unit<E: Error>(self) -> Result<Unrepeated, E> {
        Ok(Unrepeated)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unrepeated, A::Error> {
        while items.next_element::<Unrepeated>()?.is_some() {}
        Ok(Unrepeated)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Unrepeated, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            // `serde_json` delivers a number of arbitrary precision as a map with one private key;
            // its value has no keys.
            if key.starts_with("$serde_json::private") {
                entries.next_value::<IgnoredAny>()?;
                continue;
            }
            if seen.contains(&key) {
                return Err(A::Error::custom(format_args!("the key \"{key}\" is repeated")));
            }
            seen.insert(key);
            entries.next_value::<Unrepeated>()?;
        }
        Ok(Unrepeated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_equal(left: &str, right: &str, expected: bool) {
        let (left, right) = (parse(left).expect("JSON"), parse(right).expect("JSON"));
        assert_eq!(equal(&left, &right), expected, "{left} and {right}");
        assert_eq!(equal(&right, &left), expected, "{right} and {left}");
    }

    #[test]
    fn numbers_are_equal_by_value_and_nothing_is_coerced() {
        check_equal("3", "3.0", true);
        check_equal("3", "30e-1", true);
        check_equal("-0.0", "0", true);
        check_equal("1e400", "10e399", true);
        check_equal("18446744073709551616", "18446744073709551617", false);
        check_equal("9007199254740993", "9007199254740992.0", false);
        check_equal("0.1", "0.10000000000000001", false);
        check_equal("1e99999999999999999999", "10e99999999999999999998", true);
        check_equal("1", "true", false);
        check_equal("1", "\"1\"", false);
        check_equal("null", "false", false);
        check_equal("-1", "1", false);
        check_equal("[1,{\"a\":2}]", "[1.0,{\"a\":2e0}]", true);
        check_equal("{\"a\":1}", "{\"a\":1,\"b\":1}", false);
        check_equal("{\"a\":1}", "{\"b\":1}", false);
        check_equal("[1]", "[1,1]", false);
    }

    #[test]
    fn integers_are_digits() {
        let check =
            |text: &str, expected: bool| assert_eq!(is_integer(&parse(text).expect("JSON")), expected, "{text}");
        check("1", true);
        check("-7", true);
        check("1.0", false);
        check("1e0", false);
        check("true", false);
        check("\"1\"", false);
    }

    #[test]
    fn strange_texts_are_no_json() {
        let deep = "[".repeat(100_000);
        for text in [
            "",
            "{",
            "{\"a\":1,\"a\":2}",
            "{\"b\":[{\"a\":1,\"a\":1}]}",
            "nan",
            "1 2",
            "'x'",
            "{a:1}",
            &deep,
        ] {
            assert!(parse(text).is_err(), "{}", &text[..text.len().min(20)]);
        }
        assert!(parse("{\"a\":1.5,\"b\":{\"a\":1e3}}").is_ok());
    }
}
