//! Payloads of tools in the form that constraints see: JSON.
//!
//! INVARIANT: every payload has a JSON form, and equal payloads have equal ones. Symbols and
//! strings are both strings, but the symbol `null` is null; a record is an object of `record` and
//! `fields`, bytes are an object of `bytes` in hexadecimal digits, a set is a list, and a double
//! that is not a number is text.
//! It does not judge payloads; `bench.rs` passes them to policy. It recurses on the depth of a
//! recorded value, which is bounded.
//! Read next: `bench.rs`.

use preserves::{AtomClass, CompoundClass, IOValue, ValueClass, ValueImpl};
use serde_json::{Map, Number, Value, json};

/// Returns a payload as JSON.
pub fn as_json(payload: &IOValue) -> Value {
    match payload.value_class() {
        ValueClass::Atomic(class) => atom(class, payload),
        ValueClass::Compound(CompoundClass::Record) => {
            let label = as_json(&IOValue::from(payload.label()));
            json!({"record": label, "fields": items(payload)})
        }
        ValueClass::Compound(CompoundClass::Sequence | CompoundClass::Set) => Value::Array(items(payload)),
        ValueClass::Compound(CompoundClass::Dictionary) => {
            let mut fields = Map::new();
            for (key, value) in payload.entries() {
                fields.insert(key_text(&IOValue::from(key)), as_json(&IOValue::from(value)));
            }
            Value::Object(fields)
        }
        ValueClass::Embedded => json!({"embedded": format!("{payload:?}")}),
    }
}

fn items(payload: &IOValue) -> Vec<Value> {
    payload.iter().map(|item| as_json(&IOValue::from(item))).collect()
}

fn key_text(key: &IOValue) -> String {
    let text = key.as_string().or_else(|| key.as_symbol());
    text.map_or_else(|| format!("{key:?}"), std::borrow::Cow::into_owned)
}

fn atom(class: AtomClass, payload: &IOValue) -> Value {
    match class {
        AtomClass::Boolean => payload.as_boolean().map(Value::Bool).unwrap_or_default(),
        AtomClass::Double => {
            let number = payload.as_double().unwrap_or_default();
            Number::from_f64(number).map_or_else(|| json!(number.to_string()), Value::Number)
        }
        AtomClass::SignedInteger => {
            // A payload may have millions, and digits are made and read for long ones only.
            if let Some(Ok(number)) = payload.as_i64() {
                return Value::Number(number.into());
            }
            let text = format!("{payload:?}");
            text.parse::<Number>().map_or_else(|_| json!(text), Value::Number)
        }
        AtomClass::Symbol if payload.as_symbol().as_deref() == Some("null") => Value::Null,
        AtomClass::String | AtomClass::Symbol => json!(key_text(payload)),
        AtomClass::ByteString => {
            let bytes = payload.as_bytestring().unwrap_or_default();
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({"bytes": digits})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(payload: &str, expected: &str) {
        let payload: IOValue = payload.parse().expect("well formed");
        assert_eq!(as_json(&payload).to_string(), expected, "{payload:?}");
    }

    #[test]
    fn payloads_have_a_json_form() {
        check("{path: \"a\" depth: 3}", "{\"depth\":3,\"path\":\"a\"}");
        check(
            "[1 -340282366920938463463374607431768211457 1.5 #t a]",
            "[1,-340282366920938463463374607431768211457,1.5,true,\"a\"]",
        );
        check("<p 1>", "{\"fields\":[1],\"record\":\"p\"}");
        check("#x\"01ff\"", "{\"bytes\":\"01ff\"}");
        check("#xd\"7ff8000000000000\"", "\"NaN\"");
        check("[null \"null\" {null: null}]", "[null,\"null\",{\"null\":null}]");
        check("{1: 2}", "{\"1\":2}");
    }
}
