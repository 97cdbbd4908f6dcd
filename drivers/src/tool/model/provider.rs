//! Providers of models: where they are, what they speak, which key opens them.
//!
//! INVARIANT: a key is in no text that can be shown; [`Key`] prints only the name of its variable.
//! It reads no configuration; the command does.
//! Read next: `protocol.rs`.

use std::collections::BTreeMap;
use std::fmt;

use duet_runtime::driver::ToolFailure;

use super::chat::{Chat, Price};
use super::protocol::Protocol;
use crate::tool::failure::Kind;
use crate::tool::http::OwnHeaders;

/// The time limit of an attempt, in milliseconds: models that think take minutes.
const TIMEOUT_MS: u64 = 600_000;

/// The wait before the second attempt, in milliseconds; it doubles before each further one.
const DELAY_MS: u64 = 500;

/// A provider of models.
#[derive(Debug, Clone, PartialEq)]
pub struct Provider {
    /// The name that programs and people use.
    pub name: String,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// The URL before the protocol's own path, such as `https://api.openai.com/v1`.
    pub url: String,
    /// Its key, if it needs one.
    pub key: Option<Key>,
    /// Further headers of its requests, and which one has the key.
    pub headers: OwnHeaders,
    /// The model that is meant by `default`.
    pub model: Option<String>,
    /// The dollars for a million tokens, by model.
    pub prices: BTreeMap<String, Price>,
    /// The time limit of an attempt, in milliseconds.
    pub timeout_ms: u64,
    /// The wait before the second attempt, in milliseconds.
    pub delay_ms: u64,
}

/// The key of a provider.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// The variable of the environment that holds it.
    pub variable: String,
    /// The key itself.
    pub value: String,
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Key({})", self.variable)
    }
}

impl Provider {
    /// Describes a provider without a key.
    pub fn new(name: impl Into<String>, protocol: Protocol, url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            protocol,
            url: url.into(),
            key: None,
            headers: OwnHeaders::default(),
            model: None,
            prices: BTreeMap::new(),
            timeout_ms: TIMEOUT_MS,
            delay_ms: DELAY_MS,
        }
    }
}

/// The providers that a run may use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Providers {
    /// The providers by name.
    pub known: BTreeMap<String, Provider>,
    /// The one that is meant where a request names none.
    pub chosen: Option<String>,
    /// The model that is meant by `default` at the chosen one, if a person said so.
    pub model: Option<String>,
}

impl Providers {
    /// Finds the provider and the model that a request means.
    ///
    /// # Errors
    /// `not-found` if there is no such provider or model, with what to do.
    pub(super) fn of<'a>(&'a self, chat: &'a Chat) -> Result<(&'a Provider, &'a str), ToolFailure> {
        let chosen = self.chosen.as_ref();
        let Some(name) = chat.provider.as_ref().or(chosen) else {
            return Err(Kind::NotFound.because(
                "no provider of models is chosen: `--provider NAME` chooses one, `duet providers` lists them, and \
                 `--double FILE` does without",
            ));
        };
        let provider = self.known.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.known.keys().map(String::as_str).collect();
            let known = if known.is_empty() {
                "none is configured".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            Kind::NotFound.because(format!(
                "no provider of models is called `{name}`; {known}; `duet providers` says how to add one"
            ))
        })?;
        let of_person = self.model.as_ref().filter(|_| chosen == Some(name));
        let model = chat.model.as_ref().or(of_person).or(provider.model.as_ref());
        let model = model.ok_or_else(|| {
            Kind::NotFound.because(format!(
                "the provider `{name}` has no default model: name one in the program with `(model \"…\")`, on the \
                 command line with `--model`, or as `model` in its configuration"
            ))
        })?;
        Ok((provider, model))
    }
}
