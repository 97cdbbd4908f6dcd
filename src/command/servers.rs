//! `duet servers`: lists the servers of the Model Context Protocol.

use duet_drivers::tool::mcp::Place;
use serde_json::json;

use crate::configuration::Configuration;
use crate::configuration::listed::{ListArguments, Listed};
use crate::configuration::servers::ServerEntry;
use crate::error::{CommandError, ExitCode};
use crate::terminal::Terminal;

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
///     revision = "2025-11-25"           # if it works only in this one; else it is asked
///     timeout_ms = 600000               # the time limit of a call without progress
///     start_timeout_ms = 30000          # the time limit of its start
///
///     [servers.search]
///     url = "https://mcp.example.org/mcp"
///     token = "SEARCH_TOKEN"            # the variable that holds the token
///
///     [servers.mail]
///     url = "https://mail.example.org/mcp"
///
///     [servers.mail.oauth]              # in the place of a token
///     token_url = "https://login.example.org/token"
///     client_id = "duet"
///     client_secret = "MAIL_SECRET"     # the variable that holds it
///     refresh_token = "MAIL_TOKEN"      # or this one, or both
///     scope = "read"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    #[command(flatten)]
    list: ListArguments,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let nothing = "no MCP server is configured; `duet servers --help` shows how to describe one";
    let list = |all: &Configuration| all.servers.iter().map(listed).collect();
    arguments.list.print(terminal, list, Some(nothing))
}

fn listed((name, entry): (&String, &ServerEntry)) -> Listed {
    let permission = if entry.needs_permission {
        format!("\n  starts only with `--allow-server {name}`")
    } else {
        String::new()
    };
    let shown = format!("{name}  ({})\n  {}{permission}\n", entry.origin, place(entry));
    let value = json!({
        "name": name,
        "place": place(entry),
        "origin": entry.origin,
        "needs_permission": entry.needs_permission,
    });
    (shown, value)
}

fn place(entry: &ServerEntry) -> String {
    match &entry.settings.place {
        Place::Program { words, .. } => words.join(" "),
        Place::Url { url, .. } => url.clone(),
        Place::Refused(why) => why.clone(),
    }
}
