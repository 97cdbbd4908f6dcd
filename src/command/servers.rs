//! `duet servers`: lists the servers of the Model Context Protocol.

use std::path::PathBuf;

use duet_drivers::tool::mcp::Place;
use serde_json::json;

use crate::configuration::servers::ServerEntry;
use crate::configuration::{Choice, Configuration};
use crate::error::{CommandError, ExitCode};
use crate::terminal::Terminal;
use crate::world_options::environment;

/// Lists the servers of the Model Context Protocol whose tools programs may call.
///
/// A server is described in ~/.config/duet/config.toml, or without secrets in duet.toml in the
/// workspace, from where it starts only with `--allow-server NAME`; a manifest describes one as
/// (server files "npx" "-y" "@modelcontextprotocol/server-filesystem" "."):
///
///     [servers.files]
///     command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
///     environment = { MODE = "quiet" }  # variables in addition to the usual ones
///     secrets = ["FILES_TOKEN"]         # variables of yours that it gets
///     effects = { read_file = "pure" }  # before what the server says of its tools
///     timeout_ms = 600000               # the time limit of a call without progress
///     start_timeout_ms = 30000          # the time limit of its start
///
///     [servers.search]
///     url = "https://mcp.example.org/mcp"
///     token = "SEARCH_TOKEN"            # the variable that holds the token
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Reads the configuration of this workspace.
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let all = Configuration::read(&arguments.workspace, (&Choice::default(), &[]), &environment())?;
    if arguments.json {
        let servers = all.servers.iter().map(|(name, entry)| {
            json!({
                "name": name,
                "place": place(entry),
                "origin": entry.origin,
                "needs_permission": entry.needs_permission,
            })
        });
        terminal.json(&json!(servers.collect::<Vec<_>>()))?;
        return Ok(ExitCode::OK);
    }
    if all.servers.is_empty() {
        terminal.message("no MCP server is configured; `duet servers --help` shows how to describe one");
    }
    let entries = all.servers.iter().map(|(name, entry)| {
        let permission = if entry.needs_permission {
            format!("\n  starts only with `--allow-server {name}`")
        } else {
            String::new()
        };
        format!("{name}  ({})\n  {}{permission}\n", entry.origin, place(entry))
    });
    terminal.data(entries.collect::<Vec<_>>().join("\n"))?;
    Ok(ExitCode::OK)
}

fn place(entry: &ServerEntry) -> String {
    match &entry.settings.place {
        Place::Program { words, .. } => words.join(" "),
        Place::Url { url, .. } => url.clone(),
        Place::Refused(why) => why.clone(),
    }
}
