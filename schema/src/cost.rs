//! A bound on the steps that the validator takes, computed before it runs.
//!
//! The validator has no limit of its own. Its work multiplies where a schema applies a part of
//! itself in several ways to one value, and where `unevaluated…` judges again what was judged. So
//! this module counts the applications of subschemas to parts of a value, each pair once. The fuel
//! of whoever asks pays for the same number.
//! INVARIANT: counting takes at most the steps that it allows, and nests to a fixed depth; the
//! bound depends on the schema and the value alone.
//! It does not judge a value; `schema.rs` does.
//! Read next: `reference.rs`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::reference::References;

/// How deeply applications of subschemas nest, through values and references.
const DEPTH_MAX: usize = 600;

/// The most resources of a schema with dynamic references, which are compiled for each order in
/// which the resources refer to each other.
const DYNAMIC_RESOURCES_MAX: usize = 8;

/// Keywords with one subschema, and with a list of them, for the value itself.
const HERE: [&str; 4] = ["not", "if", "then", "else"];
const HERE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords with a subschema for every member of an object, and for every item of an array.
const EVERY_MEMBER: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "propertyNames"];
const EVERY_ITEM: [&str; 3] = ["items", "contains", "unevaluatedItems"];

/// Keywords whose subschemas the search for evaluated parts applies again.
const AGAIN: [&str; 3] = ["contains", "unevaluatedItems", "unevaluatedProperties"];

/// Keywords that make the steps of a schema more than its size times that of the value.
const MULTIPLYING: [&str; 7] = [
    "$ref",
    "$dynamicRef",
    "anyOf",
    "oneOf",
    "if",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Says whether a schema has, at any depth, a keyword that multiplies steps.
pub(crate) fn multiplies(schema: &Value) -> bool {
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(fields) if MULTIPLYING.iter().any(|keyword| fields.contains_key(*keyword)) => return true,
            Value::Object(fields) => rest.extend(fields.values()),
            Value::Array(items) => rest.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

/// Bounds of steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steps {
    /// To find the verdict; of a schema alone, to compile it.
    pub(crate) verdict: u64,
    /// To find which parts were evaluated.
    evaluated: u64,
    /// To find the verdict and describe a fault.
    pub(crate) told: u64,
}

/// The steps are more than those allowed, or nest too deeply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooMany;

/// Bounds the steps to compile a schema.
pub(crate) fn to_compile(schema: &Value, steps_max: u64) -> Result<Steps, TooMany> {
    bound(schema, true, None, steps_max)
}

/// Bounds the steps to judge a value by a schema that [multiplies](multiplies) steps.
pub(crate) fn to_judge(schema: &Value, value: &Value, steps_max: u64) -> Result<Steps, TooMany> {
    bound(schema, true, Some(value), steps_max)
}

/// The same for one that does not: no application comes twice, so none is remembered.
pub(crate) fn to_judge_plainly(schema: &Value, value: &Value, steps_max: u64) -> Result<Steps, TooMany> {
    bound(schema, false, Some(value), steps_max)
}

/// Counts the parts of a value, and the bytes of its texts.
pub(crate) fn size(value: &Value) -> (u64, u64) {
    let (mut parts, mut bytes) = (0, 0);
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        parts += 1;
        match value {
            Value::Object(fields) => {
                bytes += fields.keys().map(String::len).sum::<usize>();
                rest.extend(fields.values());
            }
            Value::Array(items) => rest.extend(items),
            Value::String(text) => bytes += text.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    (parts, bytes as u64)
}

fn bound(schema: &Value, is_remembering: bool, value: Option<&Value>, steps_max: u64) -> Result<Steps, TooMany> {
    let mut count = Count {
        is_remembering,
        taken: 0,
        depth: 0,
        references: References::of(schema),
        steps_max,
        known: BTreeMap::new(),
        open: BTreeMap::new(),
        parts: 0,
        circles: 0,
    };
    if count.references.has_dynamic() && count.references.resources() > DYNAMIC_RESOURCES_MAX {
        return Err(TooMany);
    }
    let found = count.steps(Applied {
        schema,
        value,
        how: How::Here,
    })?;
    // The validator goes every way into a circle once; each circle can double the number of ways.
    let verdict = found.verdict.checked_shl(count.circles).unwrap_or(u64::MAX);
    let is_exceeded = verdict > steps_max || verdict >> count.circles.min(63) != found.verdict;
    let told = found.told.saturating_mul(verdict / found.verdict.max(1));
    (!is_exceeded)
        .then_some(Steps { verdict, told, ..found })
        .ok_or(TooMany)
}

/// An application of a subschema to a part of the value; without a value, to any.
#[derive(Clone, Copy)]
struct Applied<'a> {
    schema: &'a Value,
    value: Option<&'a Value>,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// To the value itself.
    Here,
    /// To the value itself, by a reference.
    Named,
    /// To a part of the value.
    Within,
    /// To a part of the value, and again to find which parts were evaluated.
    WithinAgain,
}

/// A schema and a part of the value by where they are in memory, which tells them apart.
type Pair = (usize, usize);

struct Count<'a> {
    /// Whether an application that comes again is found in `known`.
    is_remembering: bool,
    /// The number of applications that were counted, and how many of them are being counted.
    taken: u64,
    depth: usize,
    references: References<'a>,
    steps_max: u64,
    known: BTreeMap<Pair, Steps>,
    /// The applications that are being counted, with the value of `parts` at each.
    open: BTreeMap<Pair, usize>,
    /// How many of them lead to a part of a value.
    parts: usize,
    /// The references that lead back to where they are, without a part of the value between.
    circles: u32,
}

impl<'a> Count<'a> {
    /// Bounds the steps of an application. It recurses to [`DEPTH_MAX`] at most.
    fn steps(&mut self, applied: Applied<'a>) -> Result<Steps, TooMany> {
        let Some(fields) = applied.schema.as_object() else {
            return Ok(Steps {
                verdict: 1,
                evaluated: 1,
                told: 1,
            });
        };
        if !self.is_remembering {
            return self.nested(fields, applied.value);
        }
        let address = |value: &Value| std::ptr::from_ref(value) as usize;
        let pair = (address(applied.schema), applied.value.map_or(0, address));
        if let Some(known) = self.known.get(&pair) {
            return Ok(*known);
        }
        let is_part = matches!(applied.how, How::Within | How::WithinAgain);
        let parts = self.parts + usize::from(is_part);
        if let Some(then) = self.open.get(&pair) {
            self.circles += u32::from(*then == parts);
            return Ok(Steps::default());
        }
        self.open.insert(pair, parts);
        let outside = std::mem::replace(&mut self.parts, parts);
        let steps = self.nested(fields, applied.value)?;
        self.parts = outside;
        self.open.remove(&pair);
        self.known.insert(pair, steps);
        Ok(steps)
    }

    fn nested(&mut self, fields: &'a Map<String, Value>, value: Option<&'a Value>) -> Result<Steps, TooMany> {
        self.taken += 1;
        if self.depth >= DEPTH_MAX || self.taken > self.steps_max {
            return Err(TooMany);
        }
        self.depth += 1;
        let steps = self.sum(fields, value)?;
        self.depth -= 1;
        Ok(steps)
    }

    fn sum(&mut self, fields: &'a Map<String, Value>, value: Option<&'a Value>) -> Result<Steps, TooMany> {
        let choices = fields.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        let mut sum = Steps {
            verdict: 1 + choices as u64,
            evaluated: 1,
            told: 1,
        };
        // The compiler keeps the target of a reference, except where it depends on the way there.
        let is_kept = value.is_none() && !self.references.has_dynamic();
        for applied in self.applications(fields, value) {
            let part = self.steps(applied)?;
            if !(is_kept && applied.how == How::Named) {
                sum.verdict = sum.verdict.saturating_add(part.verdict);
            }
            sum.told = sum.told.saturating_add(part.told);
            let again = match applied.how {
                How::Here => part.verdict.saturating_add(part.evaluated),
                How::Named => part.evaluated,
                How::WithinAgain => part.verdict,
                How::Within => 0,
            };
            sum.evaluated = sum.evaluated.saturating_add(again);
        }
        if fields.contains_key("unevaluatedProperties") || fields.contains_key("unevaluatedItems") {
            sum.verdict = sum.verdict.saturating_add(sum.evaluated);
        }
        sum.told = sum.told.saturating_add(sum.verdict.saturating_mul(2));
        Ok(sum)
    }

    /// Lists the applications of the subschemas of a schema.
    fn applications(&self, fields: &'a Map<String, Value>, value: Option<&'a Value>) -> Vec<Applied<'a>> {
        let mut all = Vec::new();
        let here = |schema, how| Applied { schema, value, how };
        let named = ["$ref", "$dynamicRef"]
            .iter()
            .filter_map(|keyword| fields.get(*keyword)?.as_str());
        all.extend(
            named
                .flat_map(|name| self.references.targets(name))
                .map(|schema| here(schema, How::Named)),
        );
        all.extend(
            HERE.iter()
                .filter_map(|keyword| fields.get(*keyword))
                .map(|schema| here(schema, How::Here)),
        );
        let lists = HERE_LISTS
            .iter()
            .filter_map(|keyword| fields.get(*keyword)?.as_array())
            .flatten();
        all.extend(lists.map(|schema| here(schema, How::Here)));
        let dependent = fields.get("dependentSchemas").and_then(Value::as_object);
        all.extend(
            dependent
                .into_iter()
                .flat_map(Map::values)
                .map(|schema| here(schema, How::Here)),
        );
        match value {
            None => all.extend(any_parts(fields)),
            Some(Value::Object(members)) => all.extend(members_of(fields, members)),
            Some(Value::Array(items)) => all.extend(items_of(fields, items)),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {}
        }
        all
    }
}

fn within<'a>(keyword: &str, schema: &'a Value, value: Option<&'a Value>) -> Applied<'a> {
    let how = if AGAIN.contains(&keyword) {
        How::WithinAgain
    } else {
        How::Within
    };
    Applied { schema, value, how }
}

/// Applies every subschema for parts of a value to any value.
fn any_parts(fields: &Map<String, Value>) -> Vec<Applied<'_>> {
    let mut all = Vec::new();
    for keyword in EVERY_MEMBER.iter().chain(&EVERY_ITEM) {
        all.extend(fields.get(*keyword).map(|schema| within(keyword, schema, None)));
    }
    for keyword in ["properties", "patternProperties"] {
        let named = fields.get(keyword).and_then(Value::as_object);
        all.extend(
            named
                .into_iter()
                .flat_map(Map::values)
                .map(|schema| within(keyword, schema, None)),
        );
    }
    let first = fields.get("prefixItems").and_then(Value::as_array);
    all.extend(
        first
            .into_iter()
            .flatten()
            .map(|schema| within("prefixItems", schema, None)),
    );
    all
}

fn members_of<'a>(fields: &'a Map<String, Value>, members: &'a Map<String, Value>) -> Vec<Applied<'a>> {
    let mut all = Vec::new();
    let named = fields.get("properties").and_then(Value::as_object);
    for (name, value) in members {
        let schema = named.and_then(|named| named.get(name));
        all.extend(schema.map(|schema| within("properties", schema, Some(value))));
        let patterns = fields.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.into_iter().flat_map(Map::values);
        all.extend(patterns.map(|schema| within("patternProperties", schema, Some(value))));
        let every = EVERY_MEMBER
            .iter()
            .filter(|keyword| schema.is_none() || **keyword == "propertyNames");
        for keyword in every {
            all.extend(fields.get(*keyword).map(|schema| within(keyword, schema, Some(value))));
        }
    }
    all
}

fn items_of<'a>(fields: &'a Map<String, Value>, items: &'a [Value]) -> Vec<Applied<'a>> {
    let first = fields
        .get("prefixItems")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let mut all: Vec<Applied<'a>> = first
        .iter()
        .zip(items)
        .map(|(schema, value)| within("prefixItems", schema, Some(value)))
        .collect();
    for keyword in EVERY_ITEM {
        let Some(schema) = fields.get(keyword) else { continue };
        let skipped = if keyword == "items" { first.len() } else { 0 };
        all.extend(
            items
                .iter()
                .skip(skipped)
                .map(|value| within(keyword, schema, Some(value))),
        );
    }
    all
}
