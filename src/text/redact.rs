//! Secrets in a run's history, and the history without them.
//!
//! Owns the choice of the answers that are secrets, and their masking: an asterisk replaces each
//! character of every occurrence in a string or bytes, so that lengths, and computations with
//! lengths, stay the same.
//! INVARIANT: a secret is masked everywhere in a record, in its events as in its actions.
//! It does not check that the masked history still replays; `verb/act/export.rs` does.
//! Read next: `verb/act/export.rs`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use duet_drivers::tool::secret::{is_secret_name, without_stand_ins};
use duet_journal::parts::NamedParts;
use duet_journal::record::RecordError;
use duet_journal::{Header, PackedValue, Record, RecordHash};
use duet_runtime::model::value::map_atoms;
use duet_runtime::record::{Body, TurnRecord};
use duet_runtime::state::event::Event;
use preserves::{IOValue, ValueImpl};

/// Shorter values would be found in everything.
const SECRET_CHARACTERS_MIN: usize = 4;

/// SourceTexts that are to be masked.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    /// The secrets with their lengths in bytes, longest first, so that a secret within another
    /// leaves nothing of the longer one.
    texts: BTreeSet<(Reverse<usize>, String)>,
    /// Requests for secrets that are not answered yet.
    asked: BTreeMap<u64, String>,
}

impl Secrets {
    /// Begins with texts that a person named.
    pub(crate) fn of(texts: &[String]) -> Self {
        let mut secrets = Self::default();
        texts
            .iter()
            .filter(|text| !text.is_empty())
            .for_each(|text| secrets.add(text.clone()));
        secrets
    }

    fn add(&mut self, text: String) {
        self.texts.insert((Reverse(text.len()), text));
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|(_, text)| text.as_str())
    }

    /// Collects the secrets that the world gave in a turn.
    pub(crate) fn learn(&mut self, turn: &TurnRecord) {
        for event in &turn.events {
            if let Event::Answered {
                request,
                outcome: Ok(value),
            } = event
                && self.asked.contains_key(&request.0)
                && let Some(text) = value.as_string()
            {
                let parts = without_stand_ins(&text).into_iter();
                let long = parts.filter(|part| part.chars().count() >= SECRET_CHARACTERS_MIN);
                long.for_each(|part| self.add(part.to_owned()));
            }
        }
        for call in turn.calls() {
            if let Some(variable) = call.tool.strip_prefix("environment/")
                && is_secret_name(variable)
            {
                self.asked.insert(call.request.0, variable.to_owned());
            }
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.texts.len()
    }

    /// Finds a secret in bytes.
    pub(crate) fn find_in(&self, bytes: &[u8]) -> Option<&str> {
        let is_in = |text: &&str| bytes.windows(str::len(text)).any(|window| window == text.as_bytes());
        self.texts().find(is_in)
    }

    /// Makes a record without the secrets and without its snapshot, which would have them too; it
    /// follows the records whose parts are `named`.
    pub(crate) fn mask(
        &self,
        record: &Record,
        parent: Option<RecordHash>,
        named: &mut NamedParts,
    ) -> Result<Record, RecordError> {
        let header = record.header();
        let blobs = if parent.is_none() {
            header.blobs.clone()
        } else {
            Vec::new()
        };
        let body = self.mask_value(&record.body());
        let outline = || match Body::decode(&body) {
            Ok(Body::Turn(turn)) => turn.outline(),
            // Replay refuses a body that is no turn.
            Ok(Body::Genesis(_)) | Err(_) => Vec::new(),
        };
        let header = Header {
            parent,
            snapshot: None,
            blobs,
            ..header.clone()
        };
        Record::following(header, PackedValue::from_value(&body)?, outline, named)
    }

    /// The depth of values in records is bounded.
    fn mask_value(&self, value: &IOValue) -> IOValue {
        map_atoms(value, &|atom| self.mask_atom(atom))
    }

    fn mask_atom(&self, value: &IOValue) -> IOValue {
        if let Some(text) = value.as_string() {
            return IOValue::new(self.mask_text(text.into_owned()));
        }
        if let Some(bytes) = value.as_bytestring() {
            let mut bytes = bytes.into_owned();
            for text in self.texts() {
                mask_bytes(&mut bytes, text.as_bytes());
            }
            return IOValue::bytes(bytes);
        }
        value.clone()
    }

    fn mask_text(&self, mut text: String) -> String {
        for secret in self.texts() {
            if text.contains(secret) {
                text = text.replace(secret, &"*".repeat(secret.chars().count()));
            }
        }
        text
    }
}

/// In bytes a character is masked byte by byte, so that lengths stay.
fn mask_bytes(bytes: &mut [u8], secret: &[u8]) {
    let mut at = 0;
    while at + secret.len() <= bytes.len() {
        if &bytes[at..at + secret.len()] == secret {
            bytes[at..at + secret.len()].fill(b'*');
            at += secret.len();
        } else {
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let secrets = Secrets::of(&["hush".to_owned(), "hush-hush".to_owned(), String::new()]);
        for (value, expected) in [
            ("\"a hush b\"", "\"a **** b\""),
            ("[\"hush-hush!\" #\"hush-hush!\"]", "[\"*********!\" #\"*********!\"]"),
            (
                "<r \"hush\" [hush {\"hush\": #\"xhush\"}]>",
                "<r \"****\" [hush {\"****\": #\"x****\"}]>",
            ),
            ("#{\"hush\" 1}", "#{\"****\" 1}"),
            ("[1 -2 3.5 #t]", "[1 -2 3.5 #t]"),
        ] {
            let value: IOValue = value.parse().expect("a value");
            assert_eq!(
                secrets.mask_value(&value),
                expected.parse::<IOValue>().expect("a value")
            );
        }
        assert_eq!(secrets.find_in(b"xhush"), Some("hush"));
        assert_eq!(secrets.find_in(b"hus"), None);
    }
}
