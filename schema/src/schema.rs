//! JSON Schema, draft 2020-12, as predicates and tools use it.
//!
//! INVARIANT: validation opens no file and no connection; a reference that leaves the schema makes
//! it invalid. Compiling and judging take a bounded number of steps, whoever wrote the schema: what
//! would take more is invalid.
//! It does not store schemas.
//! Read next: `cost.rs`.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;

use crate::{cost, depth};

/// Maximum number of steps to compile a schema.
const COMPILE_STEPS_MAX: u64 = 250_000;

/// Maximum number of steps to judge a value; some tenths of a second.
const JUDGE_STEPS_MAX: u64 = 1_000_000;

/// Maximum number of steps to judge a value by a schema that does not multiply them: as many as the
/// largest payload has parts. They take some tenths of a second, too.
const PLAIN_STEPS_MAX: u64 = 8_000_000;

/// The number of bytes of text that cost a step.
const BYTES_PER_STEP: u64 = 16;

/// The maximum number of allowed members that an error names.
const NAMED_MAX: usize = 16;

/// Maximum length of a part of a value that an error shows, in bytes.
const SHOWN_BYTES_MAX: usize = 300;

/// Maximum length of the words of an error, in bytes.
const TOLD_BYTES_MAX: usize = 1000;

/// Why a value is no schema that can be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSchema(pub Cow<'static, str>);

impl fmt::Display for NoSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for NoSchema {}

/// A compiled schema; cheap to clone.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    validator: Validator,
    source: Value,
    /// The number of its parts.
    parts: u64,
    /// Whether the size of a value does not bound the steps to judge it.
    multiplies: bool,
    judge_steps_max: u64,
    /// How many levels below the top of a value it looks at.
    levels: usize,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// [`NoSchema`] if the value is not a schema, refers to something outside of itself, or would
    /// take more than 250 000 steps to compile.
    pub fn parse(value: &Value) -> Result<Self, NoSchema> {
        Self::parse_within(value, COMPILE_STEPS_MAX, JUDGE_STEPS_MAX)
    }

    fn parse_within(value: &Value, compile_steps_max: u64, judge_steps_max: u64) -> Result<Self, NoSchema> {
        if !value.is_object() && !value.is_boolean() {
            return Err(NoSchema("a schema is an object or a boolean".into()));
        }
        let multiplies = cost::multiplies(value);
        if multiplies && cost::to_compile(value, compile_steps_max).is_err() {
            let told = format!("its parts refer to each other too deeply, or in more than {compile_steps_max} ways");
            return Err(NoSchema(told.into()));
        }
        let validator = jsonschema::options().with_draft(Draft::Draft202012).build(value);
        let validator = validator.map_err(|error| NoSchema(format!("not a schema: {error}").into()))?;
        Ok(Self(Arc::new(Compiled {
            validator,
            source: value.clone(),
            parts: cost::size(value).0,
            levels: depth::levels(value),
            multiplies,
            judge_steps_max: if multiplies { judge_steps_max } else { PLAIN_STEPS_MAX },
        })))
    }

    /// Returns how many levels below the top of a value the schema looks at: what is deeper changes
    /// neither its verdict nor the steps to find it.
    pub fn levels(&self) -> usize {
        self.0.levels
    }

    /// Bounds the work to judge a value, in steps; more than `steps_max` are only told to be more.
    pub fn work(&self, value: &Value, steps_max: u64) -> u64 {
        self.work_of(value, text_bytes(value), steps_max)
    }

    /// The same for a value with this number of bytes in its texts, of which `value` may be the
    /// part down to the levels that the schema looks at.
    pub fn work_of(&self, value: &Value, text_bytes: u64, steps_max: u64) -> u64 {
        let judge_steps_max = self.0.judge_steps_max;
        let steps = match self.count(value, judge_steps_max.min(steps_max)) {
            Ok(steps) if steps.told <= judge_steps_max => steps.told,
            Ok(steps) => steps.verdict,
            // The verdict is known without judging.
            Err(cost::TooMany) if judge_steps_max <= steps_max => judge_steps_max,
            Err(cost::TooMany) => steps_max.saturating_add(1),
        };
        steps.saturating_add(text_bytes / BYTES_PER_STEP)
    }

    /// Says whether the value is valid; one that takes more than 1 000 000 steps to judge is not,
    /// or 8 000 000 if the schema does not multiply them.
    pub fn accepts(&self, value: &Value) -> bool {
        self.steps(value).is_ok() && self.0.validator.is_valid(value)
    }

    /// Returns the first fault of the value, if it has one.
    pub fn fault(&self, value: &Value) -> Option<String> {
        let Compiled {
            validator,
            judge_steps_max,
            ..
        } = &*self.0;
        let Ok(steps) = self.steps(value) else {
            return Some(format!(
                "the schema takes more than {judge_steps_max} steps to judge it"
            ));
        };
        if steps.told <= *judge_steps_max {
            return validator.validate(value).err().map(|error| self.told(&error));
        }
        let is_valid = validator.is_valid(value);
        (!is_valid).then(|| "it does not fit the schema, whose parts are too many to say where".to_owned())
    }

    /// Returns the words of the validator; of a member that is not known, also those that are.
    fn told(&self, error: &ValidationError<'_>) -> String {
        let known = || {
            let is_unknown_member = matches!(error.kind(), ValidationErrorKind::AdditionalProperties { .. });
            let at = error.schema_path().as_str().strip_suffix("/additionalProperties");
            let schema = self.0.source.pointer(at.filter(|_| is_unknown_member)?)?;
            let members = schema.get("properties")?.as_object()?.keys();
            let mut names: Vec<String> = members.map(|name| format!("'{name}'")).collect();
            names.sort();
            (1..=NAMED_MAX).contains(&names.len()).then(|| names.join(", "))
        };
        let instance = error.instance().to_string();
        let words = if instance.len() > SHOWN_BYTES_MAX {
            error.masked_with(shortened(instance, SHOWN_BYTES_MAX)).to_string()
        } else {
            error.to_string()
        };
        let words = shortened(words, TOLD_BYTES_MAX);
        match known() {
            Some(known) => format!("{words}; those allowed are {known}"),
            None => words,
        }
    }

    fn steps(&self, value: &Value) -> Result<cost::Steps, cost::TooMany> {
        let Compiled {
            parts,
            multiplies,
            judge_steps_max,
            ..
        } = &*self.0;
        if !multiplies && parts.saturating_mul(cost::size(value).0) <= *judge_steps_max {
            return Ok(cost::Steps::default());
        }
        self.count(value, *judge_steps_max)
    }

    fn count(&self, value: &Value, steps_max: u64) -> Result<cost::Steps, cost::TooMany> {
        if self.0.multiplies {
            cost::to_judge(&self.0.source, value, steps_max)
        } else {
            cost::to_judge_plainly(&self.0.source, value, steps_max)
        }
    }
}

/// Cuts a text that is too long, and says how long it was.
fn shortened(mut text: String, length_bytes_max: usize) -> String {
    let length_bytes = text.len();
    if length_bytes > length_bytes_max {
        text.truncate(text.floor_char_boundary(length_bytes_max));
        text.push_str(&format!("… ({length_bytes} bytes)"));
    }
    text
}

/// Counts the bytes of the texts in a value, keys included.
pub fn text_bytes(value: &Value) -> u64 {
    cost::size(value).1
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
    fn an_unknown_member_is_told_with_those_that_are_allowed() {
        let check = |schema: Value, instance: Value, expected: &str| {
            let fault = Schema::parse(&schema).expect("a schema").fault(&instance);
            assert_eq!(fault.as_deref(), Some(expected), "{schema}");
        };
        let inner = json!({"properties": {"path": {}, "content": {}}, "additionalProperties": false});
        let told = "Additional properties are not allowed ('pth' was unexpected); those allowed are 'content', 'path'";
        check(inner.clone(), json!({"pth": 1}), told);
        check(json!({"properties": {"in": inner}}), json!({"in": {"pth": 1}}), told);
        check(
            json!({"additionalProperties": false}),
            json!({"pth": 1}),
            "False schema does not allow 1",
        );
        check(json!({"required": ["a"]}), json!({}), "\"a\" is a required property");
    }

    #[test]
    fn a_large_value_is_shown_in_part() {
        let fault = |schema: Value, instance: Value| {
            let fault = Schema::parse(&schema).expect("a schema").fault(&instance);
            fault.expect("a fault")
        };
        let numbers = json!(vec![7; 10_000]);
        let told = fault(json!({"type": "string"}), numbers.clone());
        assert!(told.starts_with("[7,7,7"), "{told}");
        assert!(told.ends_with("… (20001 bytes) is not of type \"string\""), "{told}");
        let members = (0..10_000)
            .map(|place| (format!("λ{place}"), json!(1)))
            .collect::<serde_json::Map<_, _>>();
        let told = fault(
            json!({"additionalProperties": false, "properties": {"a": {}}}),
            json!(members),
        );
        assert!(told.len() < 1200 && told.ends_with("those allowed are 'a'"), "{told}");
        let told = fault(json!({"enum": vec![numbers]}), json!(1));
        assert!(told.len() < 1200, "{told}");
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

    /// A schema whose parts apply the next part twice: the steps double with each of `levels`.
    fn doubling(levels: usize) -> Value {
        let mut defs = serde_json::Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            defs.insert(format!("d{level}"), json!({"anyOf": [next, next]}));
        }
        defs.insert(format!("d{levels}"), json!({"type": "string"}));
        json!({"$defs": defs, "$ref": "#/$defs/d0"})
    }

    #[test]
    fn a_schema_that_multiplies_steps_is_judged_within_its_limit() {
        let schema = Schema::parse_within(&doubling(6), 1_000, 100).expect("few steps to compile");
        assert!(!schema.accepts(&json!("x")));
        assert_eq!(
            schema.fault(&json!("x")),
            Some("the schema takes more than 100 steps to judge it".to_owned())
        );
        let schema = Schema::parse_within(&doubling(6), 1_000, 400).expect("few steps to compile");
        assert!(schema.accepts(&json!("x")));
        let found = schema.fault(&json!(1)).expect("a fault");
        assert!(found.contains("does not fit the schema"), "{found}");
        let schema = Schema::parse(&doubling(6)).expect("few steps");
        assert_eq!(schema.fault(&json!("x")), None);
        assert!(schema.fault(&json!(1)).expect("a fault").contains("anyOf"));
    }

    #[test]
    fn the_work_to_judge_grows_with_schema_and_value_and_is_only_told_to_be_more_than_allowed() {
        let work = |schema: &Value, value: &Value, steps_max| {
            let schema = Schema::parse(schema).expect("a schema");
            schema.work(value, steps_max)
        };
        let plain = json!({"items": {"allOf": [{"type": "integer"}, {"minimum": 0}]}});
        let (few, many) = (json!(vec![1; 10]), json!(vec![1; 1_000]));
        let (of_few, of_many) = (work(&plain, &few, u64::MAX), work(&plain, &many, u64::MAX));
        assert!((30..=300).contains(&of_few), "{of_few}");
        assert!((of_few * 90..=of_few * 110).contains(&of_many), "{of_few}, {of_many}");
        assert!(work(&doubling(8), &json!(1), u64::MAX) > 3 * work(&doubling(6), &json!(1), u64::MAX));
        for schema in [plain, doubling(8)] {
            let value = json!(vec![1; 100]);
            assert_eq!(work(&schema, &value, 20), 21);
        }
        let text = json!("x".repeat(16_000));
        assert!(work(&json!({"type": "string"}), &text, u64::MAX) > 1_000);
    }

    #[test]
    fn a_schema_that_multiplies_what_the_compiler_does_is_invalid() {
        let mut schema = json!({"type": "string"});
        for _ in 0..6 {
            schema = json!({"allOf": [schema], "unevaluatedProperties": false});
        }
        assert!(Schema::parse_within(&schema, 60, 1_000).is_err());
        assert!(Schema::parse(&schema).is_ok());
    }

    #[test]
    fn recursive_schemas_of_deep_values_stay_within_their_limit() {
        let tree = json!({"$defs": {"t": {
            "anyOf": [
                {"type": "integer"},
                {"type": "array", "items": {"$ref": "#/$defs/t"}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/t"}},
            ],
        }}, "$ref": "#/$defs/t"});
        let mut value = json!([1, 2, 3]);
        for _ in 0..60 {
            value = json!([value, {"a": 1}]);
        }
        check(tree.clone(), &value, Some(true));
        let wide = Value::Array(vec![json!({"a": [1, 2]}); 2_000]);
        check(tree, &wide, Some(true));
    }

    #[test]
    fn a_long_chain_of_references_is_invalid() {
        let mut defs = serde_json::Map::new();
        for link in 0..1_000 {
            defs.insert(format!("c{link}"), json!({"$ref": format!("#/$defs/c{}", link + 1)}));
        }
        defs.insert("c1000".to_owned(), json!(true));
        check(json!({"$defs": defs, "$ref": "#/$defs/c0"}), &json!(1), None);
    }
}
