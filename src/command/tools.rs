//! `duet tools`: lists the built-in tools and their payloads.

use std::path::Path;

use duet_drivers::tool::description::Description;
use serde_json::{Value, json};

use crate::error::{CommandError, ExitCode};
use crate::saying::{Way, say};
use crate::terminal::Terminal;
use crate::world_options::WorldOptions;

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
        terminal.json(&json!(wanted.into_iter().map(as_json).collect::<Vec<_>>()))?;
        return Ok(ExitCode::OK);
    }
    let entries: Vec<String> = wanted.into_iter().map(entry).collect();
    terminal.data(entries.join("\n"))?;
    Ok(ExitCode::OK)
}

/// The entry of a built-in tool, if there is one of this name.
pub(super) fn entry_of(name: &str) -> Result<Option<String>, CommandError> {
    let tools = WorldOptions::default().tools(Path::new("."))?;
    let found = tools.descriptions().find(|tool| *tool.name == *name);
    Ok(found.map(entry))
}

fn as_json(tool: &Description) -> Value {
    let fields = tool.payload.iter().map(|field| {
        json!({
            "name": field.name,
            "expects": field.shape.words(),
            "required": field.required,
            "meaning": field.meaning,
        })
    });
    json!({
        "name": tool.name,
        "summary": tool.summary,
        "payload": fields.collect::<Vec<_>>(),
        "result": tool.result,
        "effect": tool.effect.to_string(),
        "idempotent": tool.idempotent,
        "needs": tool.needs,
        "timeout_ms": tool.timeout_ms,
        "retry": { "attempts_max": tool.retry.attempts_max, "delay_ms": tool.retry.delay_ms },
        "takes_secrets": tool.takes_secrets,
    })
}

fn entry(tool: &Description) -> String {
    let mut entry = format!("{}  ({})\n  {}\n", tool.name, tool.effect, tool.summary);
    if tool.retry.attempts_max > 1 {
        entry += &format!("  tried again: {}\n", tool.retry);
    }
    for field in tool.payload.iter() {
        let name = if field.required {
            field.name.to_string()
        } else {
            format!("[{}]", field.name)
        };
        entry += &format!("    {name:<22} {}: {}\n", field.shape.words(), field.meaning);
    }
    let judged = match tool.needs {
        [] => String::new(),
        needs => format!(" (to policy: {})", needs.join(", ")),
    };
    entry + &format!("  returns {}\n  needs the grant {}{judged}\n", tool.result, tool.name)
}
