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
            let members = value.entries().map(|(key, member)| {
                let key = key.as_symbol().or_else(|| key.as_string());
                let key = key.ok_or("a key that is neither a symbol nor a string")?.into_owned();
                Ok((key, of_value(&member.into())?))
            });
            Ok(Json::Object(members.collect::<Result<_, &'static str>>()?))
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

/// Makes a value of JSON: objects become dictionaries with symbols as keys, `null` a symbol.
pub(super) fn to_value(json: &Json) -> IOValue {
    match json {
        Json::Null => IOValue::symbol("null"),
        Json::Bool(truth) => IOValue::new(*truth),
        Json::Number(number) => number_value(number),
        Json::String(text) => IOValue::new(text.clone()),
        Json::Array(elements) => IOValue::new(elements.iter().map(to_value).collect::<Vec<_>>()),
        Json::Object(members) => {
            let members = members
                .iter()
                .map(|(key, member)| (Value::symbol(key.clone()), to_value(member)));
            IOValue::new(members.collect::<Map<Value<IOValue>, IOValue>>())
        }
    }
}

/// Makes an integer of a number without fraction and exponent, and a double of any other.
fn number_value(number: &Number) -> IOValue {
    let text = number.to_string();
    match text.parse::<num_bigint::BigInt>() {
        Ok(integer) => IOValue::new(SignedInteger::from(integer)),
        Err(_) => IOValue::new(text.parse::<f64>().unwrap_or(f64::INFINITY)),
    }
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
            let back = of_value(&to_value(&json)).expect("a form in JSON");
            assert_eq!(back.to_string(), text);
        }
    }

    #[test]
    fn a_value_without_a_form_is_named() {
        for (text, named) in [
            ("<r 1>", "a record"),
            ("[#{1}]", "a set"),
            ("{a: #\"x\"}", "a bytevector"),
        ] {
            let value: IOValue = text.parse().expect("a value");
            assert_eq!(of_value(&value), Err(named), "{text}");
        }
    }
}
