//! JSON as values, and values as JSON.
//!
//! INVARIANT: reading what was written gives an equal value, but that a symbol becomes a string.
//! It does not read JSON texts; `serde_json` does.
//! Read next: `model/chat.rs`.
//!
//! Source: the table of the book's chapter "JSON".

use preserves::{AtomClass, CompoundClass, IOValue, Map, SignedInteger, Value, ValueClass, ValueImpl};
use serde_json::{Number, Value as Json};

/// Makes JSON of a value; the error names a part that has no form in JSON.
pub(super) fn of_value(value: &IOValue) -> Result<Json, &'static str> {
    match value.value_class() {
        ValueClass::Atomic(class) => of_atom(class, value),
        ValueClass::Compound(CompoundClass::Sequence) => {
            let elements = value.iter().map(|element| of_value(&element.into()));
            Ok(Json::Array(elements.collect::<Result<_, _>>()?))
        }
        ValueClass::Compound(CompoundClass::Dictionary) => {
            let mut members = serde_json::Map::new();
            for (key, member) in value.entries() {
                let key = key.as_symbol().or_else(|| key.as_string());
                let key = key.ok_or("a key that is neither a symbol nor a string")?.into_owned();
                if members.insert(key, of_value(&member.into())?).is_some() {
                    return Err("a symbol and a string of one name as keys");
                }
            }
            Ok(Json::Object(members))
        }
        ValueClass::Compound(CompoundClass::Record) => Err("a record"),
        ValueClass::Compound(CompoundClass::Set) => Err("a set"),
        ValueClass::Embedded => Err("a reference"),
    }
}

fn of_atom(class: AtomClass, value: &IOValue) -> Result<Json, &'static str> {
    let json = match class {
        AtomClass::Boolean => value.as_boolean().map(Json::Bool),
        AtomClass::Double => {
            let double = value.as_double();
            return double
                .and_then(Number::from_f64)
                .map(Json::Number)
                .ok_or("a number that is not finite");
        }
        AtomClass::SignedInteger => value
            .as_signed_integer()
            .and_then(|number| serde_json::from_str(&number.to_string()).ok()),
        AtomClass::String => value.as_string().map(|text| Json::String(text.into_owned())),
        AtomClass::Symbol => value.as_symbol().map(|name| match &*name {
            "null" => Json::Null,
            other => Json::String(other.to_owned()),
        }),
        AtomClass::ByteString => return Err("a bytevector"),
    };
    json.ok_or("a value that cannot be read")
}

/// The maximum number of digits of an integer; reading one costs their square.
const DIGITS_MAX: usize = 10_000;

/// Makes a value of JSON: objects become dictionaries with symbols as keys, `null` a symbol. The
/// error names a number for which there is no value.
pub(super) fn to_value(json: &Json) -> Result<IOValue, &'static str> {
    Ok(match json {
        Json::Null => IOValue::symbol("null"),
        Json::Bool(truth) => IOValue::new(*truth),
        Json::Number(number) => number_value(number)?,
        Json::String(text) => IOValue::new(text.clone()),
        Json::Array(elements) => IOValue::new(elements.iter().map(to_value).collect::<Result<Vec<_>, _>>()?),
        Json::Object(members) => {
            let members = members
                .iter()
                .map(|(key, member)| Ok((Value::symbol(key.clone()), to_value(member)?)));
            IOValue::new(members.collect::<Result<Map<Value<IOValue>, IOValue>, &str>>()?)
        }
    })
}

/// Makes an integer of a number without fraction and exponent, and a double of any other.
fn number_value(number: &Number) -> Result<IOValue, &'static str> {
    let text = number.as_str();
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        let integer = if text.len() > DIGITS_MAX {
            None
        } else {
            text.parse::<num_bigint::BigInt>().ok()
        };
        let integer = integer.ok_or("an integer of more than 10000 digits")?;
        return Ok(IOValue::new(SignedInteger::from(integer)));
    }
    let double = text.parse::<f64>().ok().filter(|double| double.is_finite());
    double.map(IOValue::new).ok_or("a number beyond the doubles")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_reads_back() {
        for text in [
            "{\"a\":[1,-2.5,\"x\",true,false,null,{}],\"b\":123456789012345678901234567890}",
            "[]",
            "0",
            "\"\"",
        ] {
            let json: Json = serde_json::from_str(text).expect("JSON");
            let back = of_value(&to_value(&json).expect("a value")).expect("a form in JSON");
            assert_eq!(back.to_string(), text);
        }
    }

    #[test]
    fn a_value_without_a_form_is_named() {
        for (text, named) in [
            ("<r 1>", "a record"),
            ("[#{1}]", "a set"),
            ("{a: #\"x\"}", "a bytevector"),
            ("[{a: 1 \"a\": 2}]", "a symbol and a string of one name as keys"),
        ] {
            let value: IOValue = text.parse().expect("a value");
            assert_eq!(of_value(&value), Err(named), "{text}");
        }
    }

    #[test]
    fn a_number_without_a_value_is_named() {
        for (text, named) in [
            ("[1e400]".to_owned(), "a number beyond the doubles"),
            ("{\"a\": -1e400}".to_owned(), "a number beyond the doubles"),
            ("9".repeat(10_001), "an integer of more than 10000 digits"),
        ] {
            let json: Json = serde_json::from_str(&text).expect("JSON");
            assert_eq!(to_value(&json), Err(named), "{text}");
        }
    }
}
