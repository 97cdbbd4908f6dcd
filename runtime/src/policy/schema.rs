//! JSON Schema, draft 2020-12, as predicates and tools use it.
//!
//! INVARIANT: validation opens no file and no connection; a reference that leaves the schema makes
//! it invalid.
//! It does not store schemas; `entry.rs` does.
//! Read next: `predicate.rs`.

use std::fmt;
use std::sync::Arc;

use jsonschema::{Draft, Validator};
use serde_json::Value;

use super::document::Malformed;

/// A compiled schema; cheap to clone.
#[derive(Clone)]
pub struct Schema(Arc<Validator>);

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// [`Malformed`] if the value is not a schema, or refers to something outside of itself.
    pub fn parse(value: &Value) -> Result<Self, Malformed> {
        if !value.is_object() && !value.is_boolean() {
            return Err(Malformed::new("a schema is an object or a boolean"));
        }
        let validator = jsonschema::options().with_draft(Draft::Draft202012).build(value);
        let validator = validator.map_err(|error| Malformed::new(format!("not a schema: {error}")))?;
        Ok(Self(Arc::new(validator)))
    }

    /// Says whether the value is valid.
    pub fn accepts(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Returns the first fault of the value, if it has one.
    pub fn fault(&self, value: &Value) -> Option<String> {
        self.0.validate(value).err().map(|error| error.to_string())
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schema")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, instance: &Value, expected: Option<bool>) {
        let found = Schema::parse(&schema).ok().map(|schema| schema.accepts(instance));
        assert_eq!(found, expected, "{schema} on {instance}");
    }

    #[test]
    fn schemas_judge_and_strange_ones_are_invalid() {
        check(json!(true), &json!(1), Some(true));
        check(json!(false), &json!(1), Some(false));
        check(json!({"type": "integer"}), &json!(1.0), Some(true));
        check(
            json!({"prefixItems": [{"type": "string"}], "items": false}),
            &json!(["a", 1]),
            Some(false),
        );
        check(
            json!({"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a"}),
            &json!("x"),
            Some(true),
        );
        check(json!({"type": "strin"}), &json!(1), None);
        check(json!({"pattern": "("}), &json!("a"), None);
        check(json!({"$ref": "#/$defs/none"}), &json!(1), None);
        check(json!({"$ref": "http://localhost/schema.json"}), &json!(1), None);
        check(json!({"$ref": "file:///etc/passwd"}), &json!(1), None);
        check(json!("string"), &json!(1), None);
    }

    #[test]
    fn circular_schemas_come_to_an_end() {
        check(json!({"$ref": "#"}), &json!(1), Some(true));
        check(json!({"allOf": [{"$ref": "#"}]}), &json!(1), Some(true));
        let pair = json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"});
        check(pair, &json!(1), Some(true));
    }
}
