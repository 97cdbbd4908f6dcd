//! `duet tools`: the built-in tools and what they take.

use std::path::Path;

use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::outfit::Outfit;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
For each tool it says what it does, what it leaves in the world, the fields of its payload (a dictionary with symbols as keys;
fields in brackets may be left out) and what it returns. A program is granted tools by its manifest.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let tools = Outfit::default().tools(Path::new("."))?;
    if arguments.has("json") {
        let tools = tools.descriptions().map(|tool| {
            let fields = tool.payload.iter().map(|field| {
                json!({ "name": field.name, "expects": field.shape.words(), "required": field.required, "meaning": field.meaning })
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
        return Ok(Code::OK);
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
    Ok(Code::OK)
}
