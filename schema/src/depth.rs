//! How deep a schema looks into a value.
//!
//! INVARIANT: two values that agree down to [`levels`] are both valid or both not. A keyword that
//! is not known here looks at everything.
//! It does not judge values. Read next: `cost.rs`.

use serde_json::{Map, Value};

/// Keywords that say nothing about a value, or look at its kind, at a number or at a text.
const SHALLOW: [&str; 20] = [
    "$comment",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maximum",
    "maxLength",
    "minimum",
    "minLength",
    "multipleOf",
    "pattern",
    "readOnly",
    "title",
    "type",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
];

/// Keywords that count or name the parts of a value; a place with a format may be an object of
/// bytes.
const COUNTING: [&str; 6] = [
    "format",
    "maxItems",
    "maxProperties",
    "minItems",
    "minProperties",
    "required",
];

/// Returns how many levels below the top of a value a schema looks at. It recurses on the depth of
/// the schema, which JSON bounds.
pub(crate) fn levels(schema: &Value) -> usize {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .map(|(keyword, value)| of_keyword(keyword, value))
            .max()
            .unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => 0,
    }
}

fn of_keyword(keyword: &str, value: &Value) -> usize {
    match (keyword, value) {
        ("properties", Value::Object(members)) => below(members),
        ("additionalProperties" | "items", schema) => levels(schema).saturating_add(1),
        // A part that was emptied still differs from an atom.
        ("const", constant) if is_atom(constant) => 0,
        ("enum", Value::Array(choices)) if choices.iter().all(is_atom) => 0,
        (keyword, _) if SHALLOW.contains(&keyword) => 0,
        (keyword, _) if COUNTING.contains(&keyword) => 1,
        _ => usize::MAX,
    }
}

fn below(members: &Map<String, Value>) -> usize {
    members.values().map(levels).max().unwrap_or(0).saturating_add(1)
}

fn is_atom(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_looks_as_deep_as_its_keywords() {
        let check = |schema: Value, expected: usize| assert_eq!(levels(&schema), expected, "{schema}");
        check(json!(true), 0);
        check(json!({"type": ["string", "object"], "format": "path"}), 1);
        check(json!({"enum": ["a", 1, null]}), 0);
        check(json!({"enum": [[]]}), usize::MAX);
        check(json!({"type": "array", "minItems": 1}), 1);
        let texts = json!({"type": "array", "items": {"type": "string"}});
        check(
            json!({"properties": {"a": texts}, "required": ["a"], "additionalProperties": false}),
            2,
        );
        check(json!({"properties": {"a": {"$ref": "#/$defs/a"}}}), usize::MAX);
        check(json!({"unheardOf": 1}), usize::MAX);
    }
}
