//! The keyed entries: each key has one JSON text.
//!
//! INVARIANT: each text is parsed once, when it is added; a key with two different texts is
//! malformed, whoever wrote them, because nothing decides between them. A clone is cheap and
//! independent.
//! It does not know who may write; `authority.rs` does.
//! Read next: `authority.rs`.
//!
//! Source: SS-01, "Authority model": a map from text to text.

use std::collections::BTreeMap;
use std::sync::Arc;

use im::OrdMap;
use serde_json::Value;

use super::constraint::{Broken, Constraint, Subject};
use super::document::{Documents, Malformed};
use super::json;
use super::schema::Schema;

/// The prefix of constraints.
pub const CONSTRAINTS: &str = "constraint.";

/// The prefix of the constraints that must also hold after the change.
pub const INVARIANTS: &str = "constraint.invariant.";

/// The prefix of the schemas that predicates know by name; the schema is in the field `schema`.
pub const SCHEMAS: &str = "policy.schema.";

/// The entry that holds the time in milliseconds, in its field `value`.
pub const CLOCK: &str = "fact.clock";

/// The meaning of one text.
#[derive(Debug)]
pub struct Entry {
    /// The object, if the text is a versioned one.
    pub document: Result<Value, Malformed>,
    /// The constraint, if the key is that of a constraint.
    pub constraint: Option<Result<Constraint, Broken>>,
    /// The schema, if the key is that of a schema.
    pub schema: Option<Result<Schema, Malformed>>,
}

impl Entry {
    /// Parses the text of `key`.
    pub fn read(key: &str, text: &str) -> Self {
        let document = versioned(text);
        let schema = key.starts_with(SCHEMAS).then(|| schema(&document));
        let constraint = key.starts_with(CONSTRAINTS).then(|| Constraint::parse(text));
        Self {
            document,
            constraint,
            schema,
        }
    }

    /// Makes the entry of a key with several texts.
    fn ambiguous(key: &str) -> Self {
        let fault = Malformed::new("the key has two different values");
        let broken = Broken {
            subject: Subject::All,
            fault: fault.clone(),
        };
        Self {
            constraint: key.starts_with(CONSTRAINTS).then(|| Err(broken)),
            schema: key.starts_with(SCHEMAS).then(|| Err(fault.clone())),
            document: Err(fault),
        }
    }

    /// Returns the fault of the entry, if it has one.
    pub fn fault(&self) -> Option<&Malformed> {
        let constraint = self
            .constraint
            .as_ref()
            .and_then(|constraint| constraint.as_ref().err());
        let schema = self.schema.as_ref().and_then(|schema| schema.as_ref().err());
        self.document
            .as_ref()
            .err()
            .or(constraint.map(|broken| &broken.fault))
            .or(schema)
    }
}

fn versioned(text: &str) -> Result<Value, Malformed> {
    let value = json::parse(text).map_err(|error| Malformed::new(format!("no JSON: {error}")))?;
    if value.get("v").is_some_and(json::is_integer) {
        Ok(value)
    } else {
        Err(Malformed::new("expected an object with an integer v"))
    }
}

fn schema(document: &Result<Value, Malformed>) -> Result<Schema, Malformed> {
    let document = document.as_ref().map_err(Clone::clone)?;
    Ok(Schema::parse(document.get("schema").unwrap_or(&Value::Null))?)
}

/// The texts of one key, with a count of each.
#[derive(Clone, Debug)]
struct KeyTexts {
    texts: Vec<(Arc<str>, u64)>,
    entry: Arc<Entry>,
}

impl KeyTexts {
    fn of(key: &str, texts: Vec<(Arc<str>, u64)>) -> Self {
        let entry = match &texts[..] {
            [(text, _)] => Entry::read(key, text),
            _ => Entry::ambiguous(key),
        };
        Self {
            texts,
            entry: Arc::new(entry),
        }
    }
}

/// All entries, by key.
#[derive(Clone, Debug, Default)]
pub struct Entries(OrdMap<Arc<str>, KeyTexts>);

impl Entries {
    /// Says whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds one occurrence of a text.
    pub fn add(&mut self, key: &str, text: &str) {
        let Some(key_texts) = self.0.get_mut(key) else {
            self.0.insert(key.into(), KeyTexts::of(key, vec![(text.into(), 1)]));
            return;
        };
        if let Some((_, count)) = key_texts.texts.iter_mut().find(|(known, _)| **known == *text) {
            *count += 1;
            return;
        }
        let mut texts = std::mem::take(&mut key_texts.texts);
        texts.push((text.into(), 1));
        *key_texts = KeyTexts::of(key, texts);
    }

    /// Removes one occurrence of a text.
    pub fn remove(&mut self, key: &str, text: &str) {
        let Some(key_texts) = self.0.get_mut(key) else { return };
        let Some(position) = key_texts.texts.iter().position(|(known, _)| **known == *text) else {
            return;
        };
        key_texts.texts[position].1 -= 1;
        if key_texts.texts[position].1 > 0 {
            return;
        }
        let mut texts = std::mem::take(&mut key_texts.texts);
        texts.remove(position);
        if texts.is_empty() {
            self.0.remove(key);
        } else {
            *key_texts = KeyTexts::of(key, texts);
        }
    }

    /// Sets the only text of a key, or removes the key.
    pub fn set(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => {
                self.0.insert(key.into(), KeyTexts::of(key, vec![(text.into(), 1)]));
            }
            None => {
                self.0.remove(key);
            }
        }
    }

    /// Returns the text of a key, if it has exactly one.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.0.get(key)?.texts[..] {
            [(text, _)] => Some(text),
            _ => None,
        }
    }

    /// Returns the entry of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.0.get(key).map(|key_texts| &*key_texts.entry)
    }

    /// Returns the time of the snapshot, in milliseconds, if it is known.
    pub fn now_ms(&self) -> Option<u64> {
        self.get(CLOCK)?.document.as_ref().ok()?.get("value")?.as_u64()
    }

    /// Lists the entries whose keys begin with `prefix`, in the order of the keys.
    pub fn under(&self, prefix: &str) -> impl Iterator<Item = (&str, &Entry)> {
        let entries = self.0.range(Arc::<str>::from(prefix)..);
        let entries = entries.take_while(move |(key, _)| key.starts_with(prefix));
        entries.map(|(key, key_texts)| (&**key, &*key_texts.entry))
    }

    /// Lists keys and texts under `prefix`, in order; each text once, whatever its count.
    pub fn texts(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.0.range(Arc::<str>::from(prefix)..);
        let entries = entries.take_while(move |(key, _)| key.starts_with(prefix));
        entries.flat_map(|(key, key_texts)| key_texts.texts.iter().map(|(text, _)| (&**key, &**text)))
    }

    /// Returns the schemas by name.
    pub fn schemas(&self) -> BTreeMap<String, Result<Schema, Malformed>> {
        let named = self
            .under(SCHEMAS)
            .filter_map(|(key, entry)| Some((key, entry.schema.clone()?)));
        named
            .map(|(key, schema)| (key[SCHEMAS.len()..].to_owned(), schema))
            .collect()
    }
}

impl Documents for Entries {
    fn document(&self, key: &str) -> Option<Result<&Value, &Malformed>> {
        let entry = self.get(key)?;
        let is_over =
            |document: &Value| expiry_ms(document).is_some_and(|end| self.now_ms().is_some_and(|now| now >= end));
        match &entry.document {
            Ok(document) if key != CLOCK && is_over(document) => None,
            document => Some(document.as_ref()),
        }
    }
}

/// Returns the time at which a claim expires, in milliseconds: `expires_at`, or `ttl_ms` after
/// `stored_at`. A claim that was stored at an unknown time has expired at any known one.
fn expiry_ms(document: &Value) -> Option<u64> {
    let number = |field: &str| document.get(field).and_then(Value::as_u64);
    number("expires_at").or_else(|| {
        let ttl_ms = number("ttl_ms")?;
        number("stored_at").map_or(Some(0), |stored_at| stored_at.checked_add(ttl_ms))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_was_stored_at_an_unknown_time_has_ended_when_there_is_a_clock() {
        let mut entries = Entries::default();
        entries.set("fact.m", Some("{\"v\":1,\"ttl_ms\":5}"));
        entries.set("fact.n", Some("{\"v\":1,\"ttl_ms\":5,\"stored_at\":100}"));
        assert!(entries.document("fact.m").is_some());
        entries.set(CLOCK, Some("{\"v\":1,\"value\":104}"));
        assert!(entries.document("fact.m").is_none());
        assert!(entries.document("fact.n").is_some());
        entries.set(CLOCK, Some("{\"v\":1,\"value\":105}"));
        assert!(entries.document("fact.n").is_none());
    }
}
