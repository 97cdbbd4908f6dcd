//! `NAME/…`: the tools of servers that speak the Model Context Protocol.
//!
//! A server is a program beside this one or a place on the net. It starts at its first use and
//! again after it has ended; its tools are those of a run like any other, so gate, policy, journal,
//! doubles and replay hold for them. Besides the server's own tools each server has those of
//! `request::Request`, whose names begin with `mcp:` and so cannot be names of its own.
//! A server that asks the person something in the middle of a call ends the call with its question
//! as the result; the program asks the person, which is a turn, and goes on with `mcp:answer`.
//! (Rejected: a question that a driver asks the person by itself. It would be in no record, and a
//! run that waits for a person for days would hold a connection.)
//! INVARIANT: a server starts only if the person or the program's own manifest named it, and a
//! fault of a server costs its own calls and nothing else.
//! It does not trust a server: a tool without a known effect counts as irreversible.
//! Read next: `mcp/server.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::description::Description;
use super::interface::{Call, Context, Tool};
use super::json;
use crate::tool::failure::Kind;
use duet_runtime::driver::ToolFailure;
use duet_runtime::model::card::ToolCard;
pub use listing::LOOKING;
use listing::Listed;
pub use oauth::Credentials;
use preserves::IOValue;
use request::Request;
use serde_json::Value as Json;
pub use server::Server;
pub use settings::{Login, Settings, Transport};
use tokio::runtime::Builder;

mod client;
mod elicitation;
mod failed;
mod kept_token;
mod link;
mod listing;
pub(crate) mod mend;
mod oauth;
mod older;
mod probe;
mod program;
mod request;
mod server;
mod settings;
mod task;
mod web;

/// A tool of a server, or with a name such as `files/*` all that have no description.
pub struct Remote {
    server: Arc<Server>,
    description: Description,
    /// The JSON Schema of its arguments, if it is known.
    schema: Option<String>,
}

impl Remote {
    /// Stands for all tools of a server.
    pub fn any(server: Arc<Server>) -> Self {
        Self {
            description: listing::unknown(&server.settings().name),
            server,
            schema: None,
        }
    }

    /// Stands for what every server has besides its tools, and only looks. To policy these calls
    /// read, whatever the tools of the server do.
    pub(crate) fn looking(server: &Arc<Server>) -> impl Iterator<Item = Self> {
        listing::looking(&server.settings().name).map(|description| Self {
            description,
            schema: None,
            server: Arc::clone(server),
        })
    }

    fn of(server: Arc<Server>, listed: Listed) -> Self {
        Self {
            description: listed.description,
            schema: Some(listed.schema),
            server,
        }
    }
}

/// The tools that some servers have at the moment, and what is wrong with them or their servers.
#[derive(Default)]
pub struct Introduced {
    /// The tools.
    pub tools: Vec<Remote>,
    /// For the person, a line each.
    pub problems: Vec<String>,
}

/// Starts a server, asks for its tools, and ends it: `{tools: [{name, title, description, schema,
/// effect}], problems: [string]}`.
///
/// # Errors
/// `denied` if nobody has allowed the server, `unavailable` if it does not start, `timeout` if it
/// takes too long.
pub fn look(settings: Settings) -> Result<Json, ToolFailure> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| Kind::Failed.because(format!("the system gives no thread: {error}")))?;
    runtime.block_on(async {
        let server = Server::new(settings);
        let found = server.tools().await;
        server.stop().await;
        found.map(listing::Listing::shown).map_err(|unlisted| unlisted.failure)
    })
}

/// Starts servers, all at the same time, and asks for their tools.
pub(crate) async fn introduce(servers: Vec<Arc<Server>>) -> Introduced {
    let asked = servers.into_iter().map(|server| {
        tokio::spawn(async move {
            let found = server.tools().await;
            (server, found)
        })
    });
    let mut all = Introduced::default();
    for answer in asked.collect::<Vec<_>>() {
        let Ok((server, found)) = answer.await else { continue };
        let name = &server.settings().name;
        match found {
            Ok(found) => {
                all.problems.extend(
                    found
                        .problems
                        .iter()
                        .map(|problem| format!("MCP server `{name}`: {problem}")),
                );
                let tools = found.tools.into_iter();
                all.tools
                    .extend(tools.map(|tool| Remote::of(Arc::clone(&server), tool)));
            }
            Err(unlisted) => all.problems.push(unlisted.problem(name)),
        }
    }
    all
}

/// The servers of a run by name.
pub(crate) type Servers = BTreeMap<String, Arc<Server>>;

impl Tool for Remote {
    fn description(&self) -> &Description {
        &self.description
    }

    fn card(&self) -> ToolCard {
        ToolCard {
            schema: self.schema.clone().unwrap_or_default(),
            ..self.description.card()
        }
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let server = Arc::clone(&self.server);
        Box::pin(async move {
            let refuse = |what: &str| {
                let message = format!("the arguments of {} have no form in JSON: {what}", context.tool);
                Err(Kind::BadArgument.because(message))
            };
            let arguments = match json::of_value(&payload) {
                Ok(arguments) => arguments,
                Err(what) => return refuse(what),
            };
            let name = context.tool.strip_prefix(&format!("{}/", server.settings().name));
            let request = Request::read(name.unwrap_or_default(), arguments)?;
            let result = server.perform(request, &context).await?;
            json::to_value(&result)
                .map_err(|what| Kind::BadResult.because(format!("the result of {} has {what}", context.tool)))
        })
    }
}
