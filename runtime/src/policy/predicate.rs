//! Predicates: the `when` of a constraint.
//!
//! Owns their forms and their meaning. INVARIANT: the whole predicate is evaluated, so a malformed
//! branch never hides; nothing is coerced.
//! It does not know what follows from the answer; `constraint.rs` does.
//! Read next: `constraint.rs`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::{Documents, Malformed};
use super::json;
use super::path::Path;
use super::schema::Schema;
use crate::model::counted::counted;

/// Maximum depth of a predicate; one without others in it has depth 1.
pub const DEPTH_MAX: usize = 32;

/// Maximum number of arguments of a predicate.
pub const ARGUMENTS_MAX: usize = 256;

/// The situation in which a predicate is judged.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The snapshot.
    pub entries: &'a dyn Documents,
    /// The value of `args`: the arguments of a call with the defaults of what is left out, or the
    /// key and the value of a delta.
    pub arguments: &'a Value,
    /// The same as it is given, which says what is present.
    pub given: &'a Value,
    /// The parts of the arguments that no predicate can judge: paths and addresses without a known
    /// normal form.
    pub unknown: &'a [String],
    /// The schemas by name; a predicate that uses an invalid one is malformed.
    pub schemas: &'a BTreeMap<String, Result<Schema, Malformed>>,
}

impl<'a> Situation<'a> {
    /// Returns the value of a path.
    ///
    /// # Errors
    /// [`Malformed`] if the entry is malformed, or nobody knows which place the value names.
    fn read(self, path: &Path) -> Result<Option<&'a Value>, Malformed> {
        if let Some(unknown) = self.unknown.iter().find(|unknown| path.concerns_argument(unknown)) {
            return Err(Malformed::new(format!(
                "args.{unknown} is no path below the workspace, or no plain address, so it cannot be judged"
            )));
        }
        path.read(self.entries, self.arguments)
    }
}

/// A predicate.
#[derive(Clone, Debug)]
pub enum Predicate {
    /// All hold.
    All(Vec<Self>),
    /// One of them holds.
    Any(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// All of these values are present.
    Exists(Vec<Path>),
    /// At least one of these values is absent.
    Missing(Vec<Path>),
    /// Two values are equal.
    Eq(Operand, Operand),
    /// A value is an element of a list.
    In(Operand, Operand),
    /// A value matches a schema.
    Schema(Path, SchemaName),
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub enum Operand {
    /// The value at this path.
    Read(Path),
    /// This value.
    Literal(Value),
}

/// A reference to a schema, or the schema itself.
#[derive(Clone, Debug)]
pub enum SchemaName {
    /// A schema with a name.
    Known(String),
    /// This one.
    Inline(Schema),
}

impl Predicate {
    /// Reads a predicate.
    ///
    /// # Errors
    /// [`Malformed`], naming the first fault.
    pub fn parse(value: &Value) -> Result<Self, Malformed> {
        Self::parse_at(value, 1)
    }

    fn parse_at(value: &Value, depth: usize) -> Result<Self, Malformed> {
        if depth > DEPTH_MAX {
            return Err(Malformed::new(format!(
                "predicates are nested more than {DEPTH_MAX} deep"
            )));
        }
        let fields = value
            .as_object()
            .ok_or_else(|| Malformed::new("a predicate is an object with op and args"))?;
        if let Some(key) = fields.keys().find(|key| !["op", "args"].contains(&key.as_str())) {
            return Err(Malformed::new(format!("a predicate has op and args, and no \"{key}\"")));
        }
        let op = fields
            .get("op")
            .and_then(Value::as_str)
            .ok_or_else(|| Malformed::new("op is a string"))?;
        let arguments = fields.get("args").and_then(Value::as_array);
        let arguments = arguments.ok_or_else(|| Malformed::new(format!("the args of {op} are a list")))?;
        if arguments.len() > ARGUMENTS_MAX {
            return Err(Malformed::new(format!("{op} has more than {ARGUMENTS_MAX} args")));
        }
        Self::parse_op(op, arguments, depth)
    }

    fn parse_op(op: &str, arguments: &[Value], depth: usize) -> Result<Self, Malformed> {
        let inner = || -> Result<Vec<Self>, Malformed> {
            arguments
                .iter()
                .map(|argument| Self::parse_at(argument, depth + 1))
                .collect()
        };
        let paths = || -> Result<Vec<Path>, Malformed> { arguments.iter().map(Path::parse).collect() };
        match (op, arguments) {
            ("all", _) => inner().map(Self::All),
            ("any", _) => inner().map(Self::Any),
            ("not", [argument]) => Self::parse_at(argument, depth + 1).map(|inner| Self::Not(Box::new(inner))),
            ("exists", [_, ..]) => paths().map(Self::Exists),
            ("missing", [_, ..]) => paths().map(Self::Missing),
            ("eq", [left, right]) => Ok(Self::Eq(Operand::subject(left)?, Operand::object(right)?)),
            ("in", [left, right]) => Ok(Self::In(Operand::subject(left)?, Operand::list(right)?)),
            ("schema", [path, schema]) => Ok(Self::Schema(Path::parse(path)?, SchemaName::parse(schema)?)),
            ("not" | "exists" | "missing" | "eq" | "in" | "schema", arguments) => Err(Malformed::new(format!(
                "{op} does not take {}",
                counted(arguments.len(), "arg")
            ))),
            (op, _) => Err(Malformed::new(format!(
                "\"{op}\" is none of all, any, not, eq, in, exists, missing, schema"
            ))),
        }
    }

    /// Bounds the steps that its schemas take; more than `steps_max` are only told to be more.
    pub fn work(&self, situation: Situation<'_>, steps_max: u64) -> u64 {
        match self {
            Self::All(inner) | Self::Any(inner) => {
                sum_until(inner, steps_max, |inner, steps_max| inner.work(situation, steps_max))
            }
            Self::Not(inner) => inner.work(situation, steps_max),
            Self::Schema(path, schema) => {
                let value = situation.read(path).ok().flatten();
                let judged = schema.find(situation).ok().zip(value);
                judged.map_or(0, |(schema, value)| schema.work(value, steps_max))
            }
            Self::Exists(_) | Self::Missing(_) | Self::Eq(..) | Self::In(..) => 0,
        }
    }

    /// Says whether the predicate holds.
    ///
    /// # Errors
    /// [`Malformed`] if any part of it reads a malformed value.
    pub fn holds(&self, situation: Situation<'_>) -> Result<bool, Malformed> {
        match self {
            Self::All(inner) => Ok(count(inner, situation)? == inner.len()),
            Self::Any(inner) => Ok(count(inner, situation)? > 0),
            Self::Not(inner) => Ok(!inner.holds(situation)?),
            Self::Exists(paths) => are_present(paths, situation),
            Self::Missing(paths) => Ok(!are_present(paths, situation)?),
            Self::Eq(left, right) => {
                let (left, right) = (left.value(situation)?, right.value(situation)?);
                left.zip(right).map_or(Ok(false), |(left, right)| same(left, right))
            }
            Self::In(left, right) => {
                let (left, right) = (left.value(situation)?, right.value(situation)?);
                let Some(right) = right else { return Ok(false) };
                let list = right
                    .as_array()
                    .ok_or_else(|| Malformed::new("the second of in's args is a list"))?;
                Ok(left.is_some_and(|left| list.iter().any(|item| json::equal(left, item))))
            }
            Self::Schema(path, schema) => {
                let schema = schema.find(situation)?;
                Ok(situation.read(path)?.is_some_and(|value| schema.accepts(value)))
            }
        }
    }
}

/// Sums the work of parts until it exceeds `steps_max`.
pub(crate) fn sum_until<T>(parts: impl IntoIterator<Item = T>, steps_max: u64, work: impl Fn(T, u64) -> u64) -> u64 {
    let mut sum = 0u64;
    for part in parts {
        if sum > steps_max {
            break;
        }
        sum = sum.saturating_add(work(part, steps_max - sum));
    }
    sum
}

fn count(inner: &[Predicate], situation: Situation<'_>) -> Result<usize, Malformed> {
    let mut holding = 0;
    for predicate in inner {
        holding += usize::from(predicate.holds(situation)?);
    }
    Ok(holding)
}

fn are_present(paths: &[Path], situation: Situation<'_>) -> Result<bool, Malformed> {
    let mut present = 0;
    for path in paths {
        present += usize::from(path.read(situation.entries, situation.given)?.is_some());
    }
    Ok(present == paths.len())
}

/// Compares two values; comparing an object with a plain value is an error, because it is a mistake
/// such as `fact.tier` for `fact.tier.value`.
fn same(left: &Value, right: &Value) -> Result<bool, Malformed> {
    let is_slip = |one: &Value, other: &Value| one.is_object() && !other.is_object() && !other.is_array();
    if is_slip(left, right) || is_slip(right, left) {
        return Err(Malformed::new(format!(
            "eq compares an object with {}",
            if left.is_object() { right } else { left }
        )));
    }
    Ok(json::equal(left, right))
}

impl Operand {
    /// Reads the first side: a path, or `{"ref": path}`.
    fn subject(value: &Value) -> Result<Self, Malformed> {
        match value {
            Value::String(_) => Path::parse(value).map(Self::Read),
            Value::Object(_) => match Self::object(value)? {
                read @ Self::Read(_) => Ok(read),
                Self::Literal(_) => Err(Malformed::new("the first of the args is a path")),
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                Err(Malformed::new(format!("the first of the args is a path, not {value}")))
            }
        }
    }

    /// Reads the second side: a plain value or a list, `{"ref": path}` or `{"lit": anything}`.
    fn object(value: &Value) -> Result<Self, Malformed> {
        let Value::Object(fields) = value else {
            return Ok(Self::Literal(value.clone()));
        };
        let mut entries = fields.iter();
        match (entries.next(), entries.next()) {
            (Some((key, path)), None) if key == "ref" => Path::parse(path).map(Self::Read),
            (Some((key, literal)), None) if key == "lit" => Ok(Self::Literal(literal.clone())),
            _ => Err(Malformed::new(format!(
                "{value} is neither {{\"ref\": path}} nor {{\"lit\": value}}"
            ))),
        }
    }

    fn list(value: &Value) -> Result<Self, Malformed> {
        match Self::object(value)? {
            Self::Literal(literal) if !literal.is_array() => Err(Malformed::new(format!(
                "the second of in's args is a list, not {literal}"
            ))),
            operand @ (Operand::Read(_) | Operand::Literal(_)) => Ok(operand),
        }
    }

    fn value<'a>(&'a self, situation: Situation<'a>) -> Result<Option<&'a Value>, Malformed> {
        match self {
            Self::Read(path) => situation.read(path),
            Self::Literal(value) => Ok(Some(value)),
        }
    }
}

impl SchemaName {
    fn parse(value: &Value) -> Result<Self, Malformed> {
        match value {
            Value::String(name) => Ok(Self::Known(name.clone())),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Ok(Self::Inline(Schema::parse(value)?))
            }
        }
    }

    fn find<'a>(&'a self, situation: Situation<'a>) -> Result<&'a Schema, Malformed> {
        match self {
            Self::Inline(schema) => Ok(schema),
            Self::Known(name) => match situation.schemas.get(name) {
                Some(Ok(schema)) => Ok(schema),
                Some(Err(fault)) => Err(fault.clone()),
                None => Err(Malformed::new(format!("there is no schema \"{name}\""))),
            },
        }
    }
}
