//! What a run reaches in the world: hosts, secrets, a provider of models, servers.
//!
//! A run's first record notes it, and each grant of a person to the run adds to it.
//! INVARIANT: two notes together reach what each of them reaches; of two choices of a provider the
//! later counts.
//! It grants no capability; `owner/owned_run/widening.rs` does.
//! Read next: `world/reaching.rs`.

use duet_runtime::model::codec::{Codec, DecodeError, Fields, record};
use preserves::IOValue;

/// What a run reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) hosts: Vec<String>,
    pub(crate) secrets: Vec<String>,
    /// The provider of models and the model, each empty if the person chose none.
    pub(crate) models: Vec<String>,
    /// The servers, as the choices of servers encode them.
    pub(crate) servers: Vec<Vec<String>>,
}

/// The label of the note in a grant.
const LABEL: &str = "reach";

impl Reach {
    /// Adds what a later note reaches.
    pub(crate) fn add(&mut self, later: Self) {
        add_new(&mut self.hosts, later.hosts);
        add_new(&mut self.secrets, later.secrets);
        add_new(&mut self.servers, later.servers);
        if later.models.iter().any(|choice| !choice.is_empty()) {
            self.models = later.models;
        }
    }

    /// Whether it reaches nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.secrets.is_empty() && self.models.is_empty() && self.servers.is_empty()
    }

    /// The fields of a note.
    pub(crate) fn fields(&self) -> Vec<IOValue> {
        vec![
            self.hosts.encode(),
            self.secrets.encode(),
            self.models.encode(),
            self.servers.encode(),
        ]
    }

    /// Reads the fields of a note.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub(crate) fn read(fields: &mut Fields) -> Result<Self, DecodeError> {
        Ok(Self {
            hosts: fields.read("hosts")?,
            secrets: fields.read("secrets")?,
            models: fields.read("models")?,
            servers: fields.read("servers")?,
        })
    }

    /// The note in a grant.
    pub(crate) fn note(&self) -> IOValue {
        record(LABEL, self.fields())
    }

    /// Reads the note in a grant; one that cannot be understood reaches nothing.
    pub(crate) fn of_note(note: &IOValue) -> Self {
        let read = Fields::of(note, LABEL, 4).and_then(|mut fields| Self::read(&mut fields));
        read.unwrap_or_default()
    }

    /// Lists it for people.
    pub(crate) fn shown(&self) -> Vec<String> {
        let [provider, model] = [0, 1].map(|place| self.models.get(place).filter(|choice| !choice.is_empty()));
        let servers = self.servers.iter().filter_map(|words| words.first());
        let hosts = self.hosts.iter().map(|host| format!("the host {host}"));
        hosts
            .chain(self.secrets.iter().map(|name| format!("the secret {name}")))
            .chain(servers.map(|name| format!("the server {name}")))
            .chain(provider.map(|name| format!("models of {name}")))
            .chain(model.map(|name| format!("the model {name}")))
            .collect()
    }
}

pub(crate) fn add_new<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choosing(provider: &str, model: &str) -> Reach {
        Reach {
            models: vec![provider.to_owned(), model.to_owned()],
            ..Reach::default()
        }
    }

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let reach = Reach {
            hosts: vec!["a.example".to_owned()],
            secrets: vec!["API_KEY".to_owned()],
            servers: vec![vec!["files".to_owned()]],
            ..choosing("openai", "")
        };
        assert_eq!(Reach::of_note(&reach.note()), reach);
        let shown = "the host a.example, the secret API_KEY, the server files, models of openai";
        assert_eq!(reach.shown().join(", "), shown);
        assert!(Reach::of_note(&IOValue::new(1)).is_empty());
    }
}
