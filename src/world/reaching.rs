//! What the options of a world reach, and what they reach beyond a note.
//!
//! INVARIANT: options that a note fits reach at least what the note has.
//! Read next: `world_options.rs`.

use crate::settings::configuration::Choice;
use crate::settings::configuration::servers::ServerChoice;
use crate::settings::reach::{Reach, add_new};
use crate::world::world_options::WorldOptions;

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
