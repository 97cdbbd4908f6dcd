//! `duet tools`: lists the built-in tools and their payloads.

use std::path::Path;

use duet_drivers::tool::description::Description;
use schemars::JsonSchema;
use serde::Serialize;

use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::verb::form::as_json;
use crate::world::tools::entry;
use crate::world::world_options::WorldOptions;

/// Lists the built-in tools and their payloads.
///
/// For each tool the list has a description, its effect on the world, the fields of its payload (a
/// dictionary with symbols as keys; fields in brackets are optional), its result, and the grant
/// that a program needs for it. The manifest of a program grants it tools.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Only the tool of this name.
    name: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let tools = WorldOptions::default().tools(Path::new("."))?;
    let named = arguments.name.as_deref();
    let wanted: Vec<&Description> = tools
        .descriptions()
        .filter(|tool| named.is_none_or(|name| *tool.name == *name))
        .collect();
    if let (Some(name), true) = (named, wanted.is_empty()) {
        return Err(CommandError::problem(format!("there is no tool `{name}`"))
            .advise(say![Way::of("tools"), " lists the tools"]));
    }
    if arguments.json {
        terminal.json(&as_json(&wanted.into_iter().map(form_of).collect::<Form>()))?;
        return Ok(ExitCode::OK);
    }
    let entries: Vec<String> = wanted.into_iter().map(entry).collect();
    terminal.data(entries.join("\n"))?;
    Ok(ExitCode::OK)
}

/// The report as JSON.
pub(crate) type Form = Vec<ToolForm>;

/// A built-in tool.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolForm {
    name: String,
    summary: String,
    /// The fields of its payload.
    payload: Vec<FieldForm>,
    /// What it returns, in words.
    result: String,
    /// Its effect on the world.
    effect: String,
    /// Whether a second call has no further effect.
    idempotent: bool,
    /// The capabilities about which policy is asked.
    needs: Vec<String>,
    /// The time limit of a call, if it has one.
    timeout_ms: Option<u64>,
    retry: RetryForm,
    /// Whether its arguments may be secrets.
    takes_secrets: bool,
}

/// A field of a payload.
#[derive(Serialize, JsonSchema)]
struct FieldForm {
    name: String,
    /// What it has to be, in words.
    expects: String,
    required: bool,
    meaning: String,
}

/// How a call is tried again.
#[derive(Serialize, JsonSchema)]
struct RetryForm {
    attempts_max: u64,
    delay_ms: u64,
}

fn form_of(tool: &Description) -> ToolForm {
    let fields = tool.payload.iter().map(|field| FieldForm {
        name: field.name.to_string(),
        expects: field.shape.words().to_string(),
        required: field.required,
        meaning: field.meaning.to_string(),
    });
    ToolForm {
        name: tool.name.to_string(),
        summary: tool.summary.to_string(),
        payload: fields.collect(),
        result: tool.result.to_string(),
        effect: tool.effect.to_string(),
        idempotent: tool.idempotent,
        needs: tool.needs.iter().map(ToString::to_string).collect(),
        timeout_ms: tool.timeout_ms,
        retry: RetryForm {
            attempts_max: tool.retry.attempts_max.into(),
            delay_ms: tool.retry.delay_ms,
        },
        takes_secrets: tool.takes_secrets,
    }
}
