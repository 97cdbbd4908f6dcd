//! `duet providers`: lists the providers of language models.

use std::path::PathBuf;

use serde_json::json;

use crate::configuration::{Choice, Configuration, Configured};
use crate::error::{CommandError, ExitCode};
use crate::terminal::Terminal;
use crate::world_options::environment;

/// Lists the providers of language models.
///
/// For each provider the list has its protocol, its URL, its default model, and the variable of the
/// environment that holds its key. A provider that is not built in is described in
/// ~/.config/duet/config.toml, or without a key in duet.toml in the workspace:
///
///     provider = "local"              # the one that programs use if they name none
///
///     [providers.local]
///     protocol = "openai-chat"        # or openai-responses, anthropic
///     url = "http://127.0.0.1:8000/v1"
///     key = "LOCAL_API_KEY"           # the variable that holds the key
///     model = "small"                 # the model that programs use if they name none
///     timeout_ms = 600000             # the time limit of a request
///     prices.small = { input = 0.4, output = 1.6 }  # dollars for a million tokens
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
    let chosen = all.chosen.as_deref();
    if arguments.json {
        let providers = all.providers.iter().map(|(name, configured)| {
            json!({
                "name": name,
                "protocol": configured.provider.protocol.name(),
                "url": configured.provider.url,
                "model": configured.provider.model,
                "key": configured.variable,
                "has_key": configured.provider.key.is_some(),
                "origin": configured.origin,
                "chosen": chosen == Some(name),
            })
        });
        terminal.json(&json!(providers.collect::<Vec<_>>()))?;
        return Ok(ExitCode::OK);
    }
    let entries = all.providers.iter().map(|(name, configured)| {
        let mark = if chosen == Some(name) { ", chosen" } else { "" };
        entry(name, mark, configured)
    });
    terminal.data(entries.collect::<Vec<_>>().join("\n"))?;
    Ok(ExitCode::OK)
}

fn entry(name: &str, mark: &str, configured: &Configured) -> String {
    let provider = &configured.provider;
    let key = match &configured.variable {
        None => "none".to_owned(),
        Some(variable) if provider.key.is_some() => format!("in {variable}"),
        Some(variable) => format!("{variable} is not set"),
    };
    let model = provider.model.as_deref().unwrap_or("none");
    format!(
        "{name}  ({}{mark})\n  {} at {}\n  default model: {model}\n  key: {key}\n",
        configured.origin,
        provider.protocol.name(),
        provider.url
    )
}
