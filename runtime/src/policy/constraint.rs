//! Constraints: the entries under `constraint.*`.
//!
//! INVARIANT: a text that is not exactly a constraint is [`Broken`]. It denies every item that its
//! subject covers, or all items if the subject itself is unreadable.
//! It does not combine constraints; `item.rs` does.
//! Read next: `entry.rs`.

use serde_json::{Map, Value};

use super::document::Malformed;
use super::json;
use super::predicate::{Predicate, Situation};
use super::ruling::OnFail;

/// Whether a constraint allows or denies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It allows.
    Allow,
    /// It denies.
    Deny,
}

/// The items that a constraint covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// All items.
    All,
    /// The calls of one tool.
    Tool(String),
    /// The items that need this capability.
    Capability(String),
}

/// A constraint.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Whether it allows or denies.
    pub effect: Effect,
    /// The items that it covers.
    pub subject: Subject,
    /// The condition under which it applies; a constraint without one always applies.
    pub when: Option<Predicate>,
    /// The consequence if the constraint prevents an item.
    pub on_fail: OnFail,
    /// The reason for the constraint, for people; may be empty.
    pub reason: String,
}

/// An entry under `constraint.*` that is not a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The items that it covers, as far as they are readable.
    pub subject: Subject,
    /// The fault.
    pub fault: Malformed,
}

const KEYS: [&str; 6] = ["v", "effect", "subject", "when", "on_fail", "reason"];

impl Constraint {
    /// Reads a constraint.
    ///
    /// # Errors
    /// [`Broken`], with the subject as far as it is readable.
    pub fn parse(text: &str) -> Result<Self, Broken> {
        let everything = |fault| Broken {
            subject: Subject::All,
            fault,
        };
        let value = json::parse(text).map_err(|error| everything(Malformed::new(format!("no JSON: {error}"))))?;
        let fields = value
            .as_object()
            .ok_or_else(|| everything(Malformed::new("a constraint is an object")))?;
        let subject = Subject::parse(fields.get("subject")).map_err(everything)?;
        Self::parse_fields(fields, subject.clone()).map_err(|fault| Broken { subject, fault })
    }

    fn parse_fields(fields: &Map<String, Value>, subject: Subject) -> Result<Self, Malformed> {
        if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(Malformed::new(format!("\"{key}\" is none of {}", KEYS.join(", "))));
        }
        let is_one = |version: &Value| json::is_integer(version) && *version == 1;
        if !fields.get("v").is_some_and(is_one) {
            return Err(Malformed::new("v is the integer 1"));
        }
        let effect = match fields.get("effect").and_then(Value::as_str) {
            Some("allow") => Effect::Allow,
            Some("deny") => Effect::Deny,
            _ => return Err(Malformed::new("effect is \"allow\" or \"deny\"")),
        };
        let on_fail = match fields.get("on_fail").map(Value::as_str) {
            None | Some(Some("block")) => OnFail::Block,
            Some(Some("ask")) => OnFail::Ask,
            Some(Some("defer")) => OnFail::Defer,
            Some(_) => return Err(Malformed::new("on_fail is \"block\", \"ask\" or \"defer\"")),
        };
        let reason = match fields.get("reason") {
            None => String::new(),
            Some(Value::String(reason)) => reason.clone(),
            Some(_) => return Err(Malformed::new("reason is a string")),
        };
        let when = match fields.get("when") {
            None | Some(Value::Null) => None,
            Some(when) => Some(Predicate::parse(when)?),
        };
        Ok(Self {
            effect,
            subject,
            when,
            on_fail,
            reason,
        })
    }

    /// Says whether the constraint applies in a situation.
    ///
    /// # Errors
    /// [`Malformed`] if its predicate reads a malformed part of the situation.
    pub fn holds(&self, situation: Situation<'_>) -> Result<bool, Malformed> {
        self.when.as_ref().map_or(Ok(true), |when| when.holds(situation))
    }
}

impl Subject {
    fn parse(value: Option<&Value>) -> Result<Self, Malformed> {
        let unreadable = || Malformed::new("subject is null, {\"tool_id\": name} or {\"capability\": name}");
        let fields = match value {
            None | Some(Value::Null) => return Ok(Self::All),
            Some(value) => value.as_object().ok_or_else(unreadable)?,
        };
        let mut entries = fields.iter();
        match (entries.next(), entries.next()) {
            (Some((key, Value::String(name))), None) if key == "tool_id" => Ok(Self::Tool(name.clone())),
            (Some((key, Value::String(name))), None) if key == "capability" => Ok(Self::Capability(name.clone())),
            _ => Err(unreadable()),
        }
    }
}
