//! The settings of a server.
//!
//! INVARIANT: a server that nobody has allowed has no program and no URL, only the reason.
//! It reads no configuration; the command does. Read next: `server.rs`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::oauth::Credentials;
use crate::tool::description::EffectClass;
use crate::tool::http::OwnHeaders;
use crate::tool::model::Key;

/// The time limit for the start of a server, in milliseconds; some are downloaded first.
pub(super) const START_TIMEOUT_MS: u64 = 30_000;

/// The time limit of a request without progress, in milliseconds.
pub(super) const TIMEOUT_MS: u64 = 600_000;

/// The description of a server that nobody has asked yet.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name that its tools begin with.
    pub name: String,
    /// Where it is.
    pub place: Transport,
    /// The effects of tools, by their names; they go before what the server says.
    pub effects: BTreeMap<String, EffectClass>,
    /// Further headers of the requests to a URL, and which one has the token.
    pub headers: OwnHeaders,
    /// Whether it is spoken to by the revision of 2025 without being asked for that of 2026.
    pub is_of_2025: bool,
    /// The time limit of its start, in milliseconds.
    pub start_timeout_ms: u64,
    /// The time limit of a request that makes no progress, in milliseconds.
    pub timeout_ms: u64,
}

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A program that is started, and speaks on its standard streams.
    Program {
        /// The program and its arguments.
        words: Vec<String>,
        /// All variables that it gets.
        environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
        /// Where it runs.
        directory: PathBuf,
    },
    /// A server on the net that speaks streamable HTTP.
    Url {
        /// Its URL.
        url: String,
        /// How requests are authenticated.
        login: Login,
    },
    /// Nobody has allowed it; why, and what to do.
    Refused(String),
}

/// How the requests to a server on the net are authenticated.
#[derive(Clone, Debug)]
pub enum Login {
    /// Not at all.
    None,
    /// By a token.
    Token(Key),
    /// By tokens that an authorization server gives.
    OAuth(Box<Credentials>),
}

impl Settings {
    /// Describes a server with the usual limits.
    pub fn new(name: impl Into<String>, place: Transport) -> Self {
        Self {
            name: name.into(),
            place,
            effects: BTreeMap::new(),
            headers: OwnHeaders::default(),
            is_of_2025: false,
            start_timeout_ms: START_TIMEOUT_MS,
            timeout_ms: TIMEOUT_MS,
        }
    }
}
