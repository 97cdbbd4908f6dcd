//! What a run reaches in the world: hosts, secrets, a provider of models, servers.
//!
//! A run's first record notes it, and each grant of a person to the run adds to it.
//! INVARIANT: two notes together reach what each of them reaches; of two choices of a provider the
//! later counts.
//! It grants no capability; `owner/owned_run/widening.rs` does.
//! Read next: `world_options.rs`.

use duet_runtime::model::codec::{Codec, DecodeError, Fields, record};
use preserves::IOValue;

use crate::world::configuration::Choice;
use crate::world::configuration::servers::ServerChoice;
use crate::world::world_options::WorldOptions;

/// What a run reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) hosts: Vec<String>,
    pub(crate) secrets: Vec<String>,
    /// The provider of models and the model, each empty if the person chose none.
    pub(crate) models: Vec<String>,
    /// The servers, as [`ServerChoice::encoded`] has them.
    pub(crate) servers: Vec<Vec<String>>,
}

/// The label of the note in a grant.
const LABEL: &str = "reach";

impl Reach {
    /// What options reach.
    pub(crate) fn of(options: &WorldOptions) -> Self {
        let Choice { provider, model } = &options.models;
        Self {
            hosts: options.hosts.clone(),
            secrets: options.secrets.clone(),
            models: [provider, model]
                .map(|choice| choice.clone().unwrap_or_default())
                .to_vec(),
            servers: options.servers.encoded(),
        }
    }

    /// Adds what a later note reaches.
    pub(crate) fn add(&mut self, later: Self) {
        add_new(&mut self.hosts, later.hosts);
        add_new(&mut self.secrets, later.secrets);
        add_new(&mut self.servers, later.servers);
        if later.models.iter().any(|choice| !choice.is_empty()) {
            self.models = later.models;
        }
    }

    /// What options reach beyond this.
    pub(crate) fn excess(&self, given: &WorldOptions) -> Self {
        let given = Self::of(&self.fit(given.clone()));
        let of = |all: Vec<String>, known: &[String]| all.into_iter().filter(|one| !known.contains(one)).collect();
        let mut models = self.models.clone();
        models.resize(2, String::new());
        Self {
            hosts: of(given.hosts, &self.hosts),
            secrets: of(given.secrets, &self.secrets),
            models: if given.models == models {
                Vec::new()
            } else {
                given.models
            },
            servers: given
                .servers
                .into_iter()
                .filter(|server| !self.servers.contains(server))
                .collect(),
        }
    }

    /// Whether it reaches nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.secrets.is_empty() && self.models.is_empty() && self.servers.is_empty()
    }

    /// Adds this to the options that a person gives. The model of an earlier choice may be unknown
    /// to another provider, so it goes with its own.
    pub(crate) fn fit(&self, mut options: WorldOptions) -> WorldOptions {
        add_new(&mut options.hosts, self.hosts.clone());
        add_new(&mut options.secrets, self.secrets.clone());
        options.servers.extend(ServerChoice::decoded(self.servers.clone()));
        let mut models = self
            .models
            .iter()
            .map(|choice| Some(choice.clone()).filter(|choice| !choice.is_empty()));
        let (provider, model) = (models.next().flatten(), models.next().flatten());
        if options.models.provider.is_none() || options.models.provider == provider {
            options.models.provider = provider;
            options.models.model = options.models.model.or(model);
        }
        options
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

fn add_new<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
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

    #[test]
    fn only_what_is_beyond_a_note_is_excess() {
        let known = Reach {
            hosts: vec!["a.example".to_owned()],
            ..choosing("openai", "small")
        };
        assert!(known.excess(&WorldOptions::default()).is_empty());
        let mut given = WorldOptions {
            hosts: vec!["a.example".to_owned(), "b.example".to_owned()],
            ..WorldOptions::default()
        };
        given.models.model = Some("large".to_owned());
        let excess = known.excess(&given);
        assert_eq!(excess.hosts, ["b.example"]);
        assert_eq!(excess.models, ["openai", "large"]);
        let mut both = known;
        both.add(excess);
        assert!(both.excess(&given).is_empty());
        given.models.provider = Some("local".to_owned());
        given.models.model = None;
        assert_eq!(both.excess(&given).models, ["local", ""]);
    }
}
