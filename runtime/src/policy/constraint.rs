//! Constraints: what is written under `constraint.*`.
//!
//! INVARIANT: a text that is not exactly a constraint is [`Broken`], which fires as a denial for every item its subject covers, or for all
//! items if the subject itself cannot be read.
//! It does not combine constraints; `item.rs` does.
//! Read next: `entry.rs`.

use serde_json::{Map, Value};

use super::document::Malformed;
use super::json;
use super::predicate::{Predicate, Situation};
use super::ruling::OnFail;

/// Whether a constraint speaks for or against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// For.
    Allow,
    /// Against.
    Deny,
}

/// What a constraint is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Everything.
    All,
    /// The calls of one tool.
    Tool(String),
    /// What needs a capability.
    Capability(String),
}

/// A constraint.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// For or against.
    pub effect: Effect,
    /// What it is about.
    pub subject: Subject,
    /// When it speaks; always, if there is no predicate.
    pub when: Option<Predicate>,
    /// What follows if it stands in the way.
    pub on_fail: OnFail,
    /// Why it was made, for people; may be empty.
    pub reason: String,
}

/// Something under `constraint.*` that is no constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What it is about, as far as can be told.
    pub subject: Subject,
    /// What is wrong.
    pub fault: Malformed,
}

const KEYS: [&str; 6] = ["v", "effect", "subject", "when", "on_fail", "reason"];

impl Constraint {
    /// Reads a constraint.
    ///
    /// # Errors
    /// [`Broken`], with the subject as far as it can be read.
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

    /// Says whether it speaks in a situation.
    ///
    /// # Errors
    /// [`Malformed`] if what it reads cannot be understood.
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
