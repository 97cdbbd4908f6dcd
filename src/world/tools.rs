//! The built-in tools, as people read of them.
//!
//! Read next: `../surface/command/tools.rs`.

use std::path::Path;

use duet_drivers::tool::description::Description;

use crate::text::error::CommandError;
use crate::world::world_options::WorldOptions;

/// The entry of a built-in tool, if there is one of this name.
pub(crate) fn entry_of(name: &str) -> Result<Option<String>, CommandError> {
    let tools = WorldOptions::default().tools(Path::new("."))?;
    let found = tools.descriptions().find(|tool| *tool.name == *name);
    Ok(found.map(entry))
}

/// Whether a second call of a built-in tool has no further effect.
pub(crate) fn is_repeatable(name: &str) -> bool {
    let tools = WorldOptions::default().tools(Path::new("."));
    tools.is_ok_and(|tools| tools.descriptions().any(|tool| *tool.name == *name && tool.idempotent))
}

/// The entry of a tool.
pub(crate) fn entry(tool: &Description) -> String {
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
