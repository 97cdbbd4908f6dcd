//! `duet tools`: lists the built-in tools and their payloads.

use std::path::Path;

use serde_json::json;

use crate::error::{CommandError, ExitCode};
use crate::terminal::Terminal;
use crate::world_options::WorldOptions;

/// Lists the built-in tools and their payloads.
///
/// For each tool the list has a description, its effect on the world, the fields of its payload (a
/// dictionary with symbols as keys; fields in brackets are optional) and its result. The manifest
/// of a program grants it tools.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let tools = WorldOptions::default().tools(Path::new("."))?;
    if arguments.json {
        let tools = tools.descriptions().map(|tool| {
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
        });
        terminal.json(&json!(tools.collect::<Vec<_>>()))?;
        return Ok(ExitCode::OK);
    }
    for tool in tools.descriptions() {
        terminal.data(&format!("{}  ({})\n  {}\n", tool.name, tool.effect, tool.summary))?;
        if tool.retry.attempts_max > 1 {
            terminal.data(&format!("  tried again: {}\n", tool.retry))?;
        }
        for field in tool.payload.iter() {
            let name = if field.required {
                field.name.to_string()
            } else {
                format!("[{}]", field.name)
            };
            terminal.data(&format!("    {name:<22} {}: {}\n", field.shape.words(), field.meaning))?;
        }
        terminal.data(&format!("  returns {}\n\n", tool.result))?;
    }
    Ok(ExitCode::OK)
}
