//! `duet providers`: lists the providers of language models.

use schemars::JsonSchema;
use serde::Serialize;

use crate::settings::configuration::listed::{ListArguments, Listed};
use crate::settings::configuration::{Configuration, Configured};
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::form::as_json;

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
    #[command(flatten)]
    list: ListArguments,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let list = |all: &Configuration| {
        let entries = all.providers.iter();
        let listed = entries.map(|(name, one)| listed(name, one, all.chosen.as_ref() == Some(name)));
        listed.collect()
    };
    arguments.list.print(terminal, list, None)
}

/// The report as JSON.
pub(crate) type Form = Vec<ProviderForm>;

/// A provider.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProviderForm {
    name: String,
    protocol: String,
    url: String,
    /// The model that programs use if they name none.
    model: Option<String>,
    /// The variable of the environment that holds the key.
    key: Option<String>,
    /// Whether the key is there.
    has_key: bool,
    /// Where the provider is described.
    origin: String,
    /// Whether programs use it if they name none.
    chosen: bool,
}

fn listed(name: &str, configured: &Configured, is_chosen: bool) -> Listed {
    let provider = &configured.provider;
    let value = as_json(&ProviderForm {
        name: name.to_owned(),
        protocol: provider.protocol.name().to_owned(),
        url: provider.url.to_string(),
        model: provider.model.clone(),
        key: configured.variable.clone(),
        has_key: provider.key.is_some(),
        origin: configured.origin.to_string(),
        chosen: is_chosen,
    });
    let mark = if is_chosen { ", chosen" } else { "" };
    (entry(name, mark, configured), value)
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
