//! One server: its settings, and the connection to it while there is one.
//!
//! INVARIANT: at most one connection is open at a time, and a call that finds it ended opens the
//! next one.
//! It does not know what a request means; `request.rs` does.
//! Read next: `link.rs`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use serde_json::Value as Json;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::link::Link;
use super::listing::{self, Listing};
use super::request::Request;
use crate::tool::arguments::integer;
use crate::tool::description::EffectClass;
use crate::tool::failure::Kind;
use crate::tool::interface::Context;
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
    pub place: Place,
    /// The effects of tools, by their names; they go before what the server says.
    pub effects: BTreeMap<String, EffectClass>,
    /// The time limit of its start, in milliseconds.
    pub start_timeout_ms: u64,
    /// The time limit of a request that makes no progress, in milliseconds.
    pub timeout_ms: u64,
}

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Place {
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
        /// The token that it wants.
        token: Option<Key>,
    },
    /// Nobody has allowed it; why, and what to do.
    Refused(String),
}

impl Settings {
    /// Describes a server with the usual limits.
    pub fn new(name: impl Into<String>, place: Place) -> Self {
        Self {
            name: name.into(),
            place,
            effects: BTreeMap::new(),
            start_timeout_ms: START_TIMEOUT_MS,
            timeout_ms: TIMEOUT_MS,
        }
    }
}

/// A server.
pub struct Server {
    settings: Settings,
    link: Mutex<Option<Arc<Link>>>,
}

impl Server {
    /// Makes a server that is not connected yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            link: Mutex::new(None),
        }
    }

    /// Its description.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The connection; a new one if there is none.
    async fn link(&self) -> Result<Arc<Link>, ToolFailure> {
        let mut kept = self.link.lock().await;
        if let Some(link) = kept.as_ref().filter(|link| link.is_open()) {
            return Ok(Arc::clone(link));
        }
        *kept = None;
        let limit_ms = self.settings.start_timeout_ms;
        let opening = Link::open(&self.settings);
        let link = timeout(Duration::from_millis(limit_ms), opening)
            .await
            .unwrap_or_else(|_| {
                let message = format!(
                    "the MCP server `{}` gave no answer within {limit_ms} ms of its start; `start_timeout_ms` in its \
                 configuration gives it more",
                    self.settings.name
                );
                Err(Kind::Unavailable.with(message, [("timeout-ms", integer(limit_ms))]))
            })?;
        let link = Arc::new(link);
        *kept = Some(Arc::clone(&link));
        Ok(link)
    }

    /// Asks for its tools.
    ///
    /// # Errors
    /// As [`perform`](Self::perform).
    pub(super) async fn tools(&self) -> Result<Listing, ToolFailure> {
        let limit_ms = self.settings.start_timeout_ms;
        let listing = async {
            let tools = self.link().await?.all("tools", &Context::default()).await?;
            Ok(listing::read(&self.settings, &tools))
        };
        let late = |_| {
            let name = &self.settings.name;
            Err(Kind::Timeout.because(format!(
                "the MCP server `{name}` did not list its tools within {limit_ms} ms"
            )))
        };
        timeout(Duration::from_millis(limit_ms), listing)
            .await
            .unwrap_or_else(late)
    }

    /// Performs a request.
    ///
    /// # Errors
    /// `denied` if nobody has allowed the server, `unavailable` if it does not start, `failed` if
    /// it ends or the tool fails, `timeout`, `output-limit`, `bad-argument` and `no-such-tool` as
    /// the server says, `bad-result` if its answer is not of the protocol.
    pub(super) async fn perform(&self, request: Request, context: &Context) -> Result<Json, ToolFailure> {
        let link = self.link().await?;
        match request {
            Request::Tools => Ok(listing::read(&self.settings, &link.all("tools", context).await?).shown()),
            Request::List(what) => Ok(Json::Array(link.all(what, context).await?)),
            Request::Answer(answer) => link.answer(answer, context).await,
            Request::Once(method) => link.call(*method, context).await,
        }
    }

    /// Ends the server, if it runs.
    pub(crate) async fn stop(&self) {
        if let Some(link) = self.link.lock().await.take() {
            link.close().await;
        }
    }
}
