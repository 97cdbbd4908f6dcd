//! `duet servers`: lists the servers of the Model Context Protocol, and the tools of one.

use duet_drivers::tool::mcp::{self, Transport};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::settings::configuration::listed::{ListArguments, Listed};
use crate::settings::configuration::servers::{self, ServerChoice, ServerEntry};
use crate::settings::configuration::{Choice, Configuration};
use crate::settings::environment::environment;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::form::as_json;

/// Lists the servers of the Model Context Protocol, or the tools of one.
///
/// Programs may call the tools of these servers. With NAME that server starts and says what its
/// tools do and take; `--json` prints their JSON Schemas whole.
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
///     token_header = "X-API-Key"        # where the token stands, if not in authorization
///     headers = { X-Desk = "north" }    # further headers, without secrets
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
    /// The server whose tools are listed.
    name: Option<String>,
    /// Lets a server start that the workspace's duet.toml describes.
    #[arg(long, value_name = "NAME", requires = "name")]
    allow_server: Vec<String>,
    #[command(flatten)]
    list: ListArguments,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    if let Some(name) = &arguments.name {
        return list_tools(arguments, name, terminal);
    }
    let nothing = "no MCP server is configured; `duet servers --help` shows how to describe one";
    let list = |all: &Configuration| all.servers.iter().map(|(name, entry)| listed(name, entry)).collect();
    arguments.list.print(terminal, list, Some(nothing))
}

/// Starts a server and lists its tools.
fn list_tools(arguments: &Arguments, name: &str, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let environment = environment();
    let workspace = &arguments.list.workspace;
    let all = Configuration::read(workspace, &Choice::default(), &[], &environment)?;
    let mut choice = ServerChoice {
        allowed: arguments.allow_server.clone(),
        described: Vec::new(),
    };
    if all.servers.get(name).is_none_or(|entry| !entry.needs_permission) {
        choice.allowed.push(name.to_owned());
    }
    let settings = servers::settings(all.servers, &choice, workspace, &environment)?;
    let settings = settings.into_iter().find(|settings| settings.name == name);
    let settings = settings.ok_or_else(|| CommandError::problem(format!("there is no MCP server `{name}`")))?;
    let found = mcp::look(settings).map_err(|failure| CommandError::problem(failure.message))?;
    let tools = found["tools"].as_array().map_or(&[][..], Vec::as_slice);
    for problem in found["problems"].as_array().into_iter().flatten() {
        terminal.message(format!("MCP server `{name}`: {}", text(problem)));
    }
    if arguments.list.json {
        terminal.json(&found["tools"])?;
        return Ok(ExitCode::OK);
    }
    if tools.is_empty() {
        terminal.message(format!("the MCP server `{name}` has no tools"));
    }
    let shown: Vec<String> = tools.iter().map(tool_text).collect();
    terminal.data(shown.join("\n"))?;
    Ok(ExitCode::OK)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A tool for people: its name and effect, its description, and a line for each argument.
fn tool_text(tool: &Value) -> String {
    let name = one_line(text(&tool["name"]));
    let mut shown = format!("{name}  ({})\n", text(&tool["effect"]));
    for line in text(&tool["description"]).lines() {
        shown += &format!("  {}\n", line.trim_end());
    }
    let required = tool["schema"]["required"].as_array().map_or(&[][..], Vec::as_slice);
    let properties = tool["schema"]["properties"].as_object();
    for (name, schema) in properties.into_iter().flatten() {
        let is_required = required.iter().any(|required| text(required) == name);
        let optional = if is_required { "" } else { ", optional" };
        let about = match text(&schema["description"]) {
            "" => String::new(),
            about => format!(": {}", one_line(about)),
        };
        shown += &format!("    {}  {}{optional}{about}\n", one_line(name), one_line(&kind(schema)));
    }
    shown
}

/// A text of a server on one line: at its beginning Duet speaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The kind of an argument, as its schema says it.
fn kind(schema: &Value) -> String {
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
        return choices.join(" or ");
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" && schema["items"]["type"].is_string() => {
            format!("array of {}", text(&schema["items"]["type"]))
        }
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "any value".to_owned(),
    }
}

/// The report as JSON.
#[expect(dead_code, reason = "the entries are printed; here is their schema")]
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Form {
    /// The servers that are configured.
    Servers(Vec<ServerForm>),
    /// The tools of one server.
    Tools(Vec<ServerToolForm>),
}

/// A server.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ServerForm {
    name: String,
    /// Its program with the arguments, or its URL.
    place: String,
    /// Where the server is described.
    origin: String,
    /// Whether it starts only with `--allow-server`.
    needs_permission: bool,
}

/// A tool of a server.
#[expect(dead_code, reason = "a tool is printed as it was listed; here is its schema")]
#[derive(JsonSchema)]
pub(crate) struct ServerToolForm {
    name: String,
    title: String,
    description: String,
    /// The JSON Schema of its arguments.
    schema: Value,
    /// Its effect on the world.
    effect: String,
}

fn listed(name: &str, entry: &ServerEntry) -> Listed {
    let permission = if entry.needs_permission {
        format!("\n  starts only with `--allow-server {name}`")
    } else {
        String::new()
    };
    let shown = format!("{name}  ({})\n  {}{permission}\n", entry.origin, place(entry));
    let value = as_json(&ServerForm {
        name: name.to_owned(),
        place: place(entry),
        origin: entry.origin.to_string(),
        needs_permission: entry.needs_permission,
    });
    (shown, value)
}

fn place(entry: &ServerEntry) -> String {
    match &entry.settings.place {
        Transport::Program { words, .. } => words.join(" "),
        Transport::Url { url, .. } => url.clone(),
        Transport::Refused(why) => why.clone(),
    }
}
