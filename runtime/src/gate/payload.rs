//! Payloads of tools in the form that constraints see: JSON.
//!
//! INVARIANT: every payload has a JSON form, and equal payloads have equal ones; a form that is cut
//! at some level equals the whole one above that level. Symbols and
//! strings are both strings, but the symbol `null` is null; a record is an object of `record` and
//! `fields`, bytes are an object of `bytes` in hexadecimal digits, a set is a list, and a double
//! that is not a number is text. No member of a dictionary is lost: where two keys have one text,
//! the names of all members are the keys as Preserves text.
//! It does not judge payloads; `bench.rs` passes them to policy. It recurses on the depth of a
//! recorded value, which is bounded.
//! Read next: `bench.rs`.

use std::collections::BTreeSet;

use duet_journal::packed::{Class, Parts, View};
use preserves::{AtomClass, CompoundClass, IOValue, ValueClass, ValueImpl};
use serde_json::{Map, Number, Value, json};

use crate::policy::schema;

/// Returns a payload as JSON.
pub fn as_json(payload: &IOValue) -> Value {
    match payload.value_class() {
        ValueClass::Atomic(class) => atom(class, payload),
        ValueClass::Compound(CompoundClass::Record) => {
            let label = as_json(&IOValue::from(payload.label()));
            json!({"record": label, "fields": items(payload)})
        }
        ValueClass::Compound(CompoundClass::Sequence | CompoundClass::Set) => Value::Array(items(payload)),
        ValueClass::Compound(CompoundClass::Dictionary) => Value::Object(object(payload)),
        ValueClass::Embedded => json!({"embedded": format!("{payload:?}")}),
    }
}

/// Returns a payload as JSON, with nothing inside what stands `levels` levels below the top. Atoms
/// are whole, and so is what few payloads have: sets, and dictionaries with keys that are not all
/// symbols or all strings.
pub(crate) fn to_level(payload: View<'_>, levels: usize) -> Value {
    let parts = |parts: Parts<'_>, levels| parts.map(|part| to_level(part, levels)).collect();
    match (payload.class(), levels) {
        (Class::Sequence, 0) => Value::Array(Vec::new()),
        (Class::Sequence, levels) => Value::Array(parts(payload.parts(), levels - 1)),
        (Class::Record | Class::Dictionary, 0) => Value::Object(Map::new()),
        (Class::Record, levels) => {
            let label = payload.label().map(|label| to_level(label, levels - 1));
            let fields = if levels > 1 {
                parts(payload.items(), levels - 2)
            } else {
                Vec::new()
            };
            json!({"record": label, "fields": fields})
        }
        (Class::Dictionary, levels) => {
            let members = members(payload, |name, value| (name.to_owned(), to_level(value, levels - 1)));
            members.map_or_else(
                || as_json(&payload.to_value()),
                |members| Value::Object(members.into_iter().collect()),
            )
        }
        (Class::Atom, _) => text(payload).map_or_else(
            || as_json(&payload.to_value()),
            |text| if is_null(payload) { Value::Null } else { json!(text) },
        ),
        (Class::Set | Class::Embedded, _) => as_json(&payload.to_value()),
    }
}

/// Counts the bytes of the texts in the JSON form of a payload, keys included.
pub(crate) fn text_bytes(payload: View<'_>) -> u64 {
    let in_whole = || schema::text_bytes(&as_json(&payload.to_value()));
    match payload.class() {
        Class::Sequence => payload.parts().map(text_bytes).sum(),
        Class::Dictionary => dictionary_bytes(payload).unwrap_or_else(in_whole),
        Class::Atom if is_null(payload) => 0,
        Class::Atom => payload.utf8().map_or_else(in_whole, |text| text.len() as u64),
        Class::Record | Class::Set | Class::Embedded => in_whole(),
    }
}

/// The bytes of the texts in a dictionary; nothing if its keys are not all symbols or all strings.
fn dictionary_bytes(dictionary: View<'_>) -> Option<u64> {
    let mut are_symbols = None;
    let mut bytes = 0;
    for (key, value) in dictionary.entries() {
        let is_alike = *are_symbols.get_or_insert(key.is_symbol()) == key.is_symbol();
        bytes += key.utf8().filter(|_| is_alike)?.len() as u64 + text_bytes(value);
    }
    Some(bytes)
}

/// Makes something of each member of a dictionary; nothing if its keys are not all symbols or all
/// strings, so that two might have one name.
fn members<'a, T>(dictionary: View<'a>, mut make: impl FnMut(&'a str, View<'a>) -> T) -> Option<Vec<T>> {
    let mut are_symbols = None;
    let member = |(key, value): (View<'a>, View<'a>)| {
        let is_alike = *are_symbols.get_or_insert(key.is_symbol()) == key.is_symbol();
        let name = text(key).filter(|_| is_alike)?;
        Some(make(name, value))
    };
    dictionary.entries().map(member).collect()
}

/// Finds a name that two keys of one dictionary in a payload share, at any level.
pub(crate) fn shared_name(payload: View<'_>) -> Option<String> {
    let mut left = vec![payload];
    while let Some(value) = left.pop() {
        if let Some(name) = repeated_name(value) {
            return Some(name);
        }
        left.extend(value.parts().filter(|part| part.class() != Class::Atom));
    }
    None
}

fn repeated_name(dictionary: View<'_>) -> Option<String> {
    // Keys that are all alike have different texts.
    let mut keys = dictionary
        .entries()
        .map(|(key, _)| (key.utf8().is_some(), key.is_symbol()));
    let first = keys.next()?;
    if first.0 && keys.all(|key| key == first) {
        return None;
    }
    let mut names = BTreeSet::new();
    let name = |(key, _): (View<'_>, View<'_>)| key_text(&key.to_value());
    dictionary.entries().map(name).find(|name| !names.insert(name.clone()))
}

/// The members of a dictionary, each of which has a name of its own.
fn object(dictionary: &IOValue) -> Map<String, Value> {
    let keys = || dictionary.entries().map(|(key, _)| IOValue::from(key));
    let names: BTreeSet<String> = keys().map(|key| key_text(&key)).collect();
    let is_told_apart = names.len() == keys().count();
    let member = |(key, value)| {
        let key = IOValue::from(key);
        let name = if is_told_apart { key_text(&key) } else { spelled(&key) };
        (name, as_json(&IOValue::from(value)))
    };
    dictionary.entries().map(member).collect()
}

fn text(atom: View<'_>) -> Option<&str> {
    atom.string().or_else(|| atom.symbol())
}

fn is_null(atom: View<'_>) -> bool {
    atom.is_symbol() && atom.utf8() == Some(b"null")
}

fn items(payload: &IOValue) -> Vec<Value> {
    payload.iter().map(|item| as_json(&IOValue::from(item))).collect()
}

fn key_text(key: &IOValue) -> String {
    let text = key.as_string().or_else(|| key.as_symbol());
    text.map_or_else(|| spelled(key), std::borrow::Cow::into_owned)
}

/// A key as Preserves text, which no two values share.
fn spelled(key: &IOValue) -> String {
    format!("{key:?}")
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
    use duet_journal::PackedValue;

    use super::*;

    fn check(payload: &str, expected: &str) {
        let payload: IOValue = payload.parse().expect("well formed");
        assert_eq!(as_json(&payload).to_string(), expected, "{payload:?}");
    }

    /// Empties what stands `levels` levels below the top.
    fn cut(value: &Value, levels: usize) -> Value {
        match value {
            Value::Array(_) if levels == 0 => json!([]),
            Value::Object(members) if levels == 0 && !members.contains_key("bytes") => json!({}),
            Value::Array(items) => items.iter().map(|item| cut(item, levels - 1)).collect(),
            Value::Object(members) if levels > 0 => {
                let members = members.iter();
                Value::Object(
                    members
                        .map(|(name, member)| (name.clone(), cut(member, levels - 1)))
                        .collect(),
                )
            }
            whole @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                whole.clone()
            }
        }
    }

    #[test]
    fn a_form_that_is_cut_is_the_whole_one_above_that_level() {
        for payload in [
            "{path: \"a\" depth: 3 n: null}",
            "{\"path\": [1 [2 [3 {a: [4]}]]] \"null\": null}",
            "[1 -340282366920938463463374607431768211457 1.5 #t a #xd\"7ff8000000000000\"]",
            "<p [1] <q [2]>>",
            "#x\"01ff\"",
            "{a: #x\"01ff\" b: []}",
        ] {
            let payload = packed(payload);
            let whole = as_json(&payload.to_value());
            for levels in 0..6 {
                assert_eq!(to_level(payload.view(), levels), cut(&whole, levels), "{payload:?}");
            }
        }
    }

    #[test]
    fn the_texts_of_a_payload_are_counted_as_in_its_whole_form() {
        for payload in [
            "{path: \"a\" depth: 3 n: null}",
            "{path: \"long\" \"path\": \"longer\" 1: 2 <r>: 3}",
            "[1 1.5 #t symbol \"null\" null #xd\"7ff8000000000000\" #{b \"c\"} #:[\"inner\"]]",
            "<p \"field\" [#x\"01ff\"] {}>",
        ] {
            let payload = packed(payload);
            let whole = as_json(&payload.to_value());
            assert_eq!(text_bytes(payload.view()), schema::text_bytes(&whole), "{payload:?}");
            assert_eq!(to_level(payload.view(), usize::MAX), whole, "{payload:?}");
        }
    }

    fn packed(text: &str) -> PackedValue {
        PackedValue::from_value(&text.parse().expect("well formed")).expect("small")
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

    #[test]
    fn a_dictionary_whose_keys_share_a_text_loses_no_member() {
        check(r#"{a: 1 "b": 2}"#, r#"{"a":1,"b":2}"#);
        check(r#"{a: 1 "a": 2 b: 3}"#, r#"{"\"a\"":2,"a":1,"b":3}"#);
        check(r#"{1: 1 "1": 2 "\"1\"": 3}"#, r#"{"\"1\"":2,"\"\\\"1\\\"\"":3,"1":1}"#);
        for (payload, name) in [
            ("{a: 1 b: {c: 2}}", None),
            (r#"{a: 1 "b": 2}"#, None),
            (r#"[1 {x: <r #{{a: 1 "a": 2}}>}]"#, Some("a")),
            (r#"{{1: 1 "1": 2}: 3}"#, Some("1")),
        ] {
            let payload = packed(payload);
            assert_eq!(shared_name(payload.view()).as_deref(), name, "{payload:?}");
            assert_eq!(
                to_level(payload.view(), usize::MAX),
                as_json(&payload.to_value()),
                "{payload:?}"
            );
        }
    }
}
