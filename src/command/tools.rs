//! `duet tools`: the built-in tools and what they take.

use std::path::Path;

use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
For each tool it says what it does, what it leaves in the world, the fields of its payload (a dictionary with symbols as keys;
fields in brackets may be left out) and what it returns. A program is granted tools by its manifest.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let tools = session::tools(Path::new("."))?;
    if arguments.has("json") {
        let tools = tools.descriptions().map(|tool| {
            let fields = tool.payload.iter().map(|field| {
                json!({ "name": field.name, "expects": field.expects, "required": field.required, "meaning": field.meaning })
            });
            json!({
                "name": tool.name,
                "summary": tool.summary,
                "payload": fields.collect::<Vec<_>>(),
                "result": tool.result,
                "effect": tool.effect.to_string(),
                "idempotent": tool.idempotent,
            })
        });
        terminal.json(&json!(tools.collect::<Vec<_>>()))?;
        return Ok(Code::OK);
    }
    for tool in tools.descriptions() {
        terminal.data(&format!("{}  ({})\n  {}\n", tool.name, tool.effect, tool.summary))?;
        for field in tool.payload.iter() {
            let name = if field.required { field.name.to_string() } else { format!("[{}]", field.name) };
            terminal.data(&format!("    {name:<22} {}: {}\n", field.expects, field.meaning))?;
        }
        terminal.data(&format!("  returns {}\n\n", tool.result))?;
    }
    Ok(Code::OK)
}
