//! The tools that a server lists, checked one by one.
//!
//! INVARIANT: one name is one tool, the first of that name; a fault of a tool is named and costs no
//! other tool.
//! It does not ask the server; `server.rs` does.
//! Read next: `server.rs`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use duet_runtime::driver::ToolFailure;
use duet_runtime::policy::schema::Schema;
use serde_json::{Value as Json, json};

use super::settings::Settings;
use crate::tool::description::{Description, EffectClass, Retry};
use crate::tool::returns::Returns;

/// The maximum length of a description that is kept, in characters.
const DESCRIPTION_CHARACTERS_MAX: usize = 4_000;

/// The maximum length of a schema, and of all that a server has, in bytes: they are in the first
/// record of each run.
const SCHEMA_BYTES_MAX: usize = 64 << 10;
const SCHEMAS_BYTES_MAX: usize = 2 << 20;

/// The maximum number of tools of a server that are listed.
const TOOLS_MAX: usize = 1_000;

/// The maximum number of faults that the person learns of.
const PROBLEMS_MAX: usize = 20;

/// What every server has for programs besides its tools, and only looks; the names follow `mcp:`.
pub const LOOKING: [&str; 7] = ["tools", "resources", "templates", "read", "prompts", "prompt", "task"];

/// The tools of a server.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) tools: Vec<Listed>,
    /// The faults of the tools that it lists.
    pub(super) problems: Vec<String>,
}

/// A tool.
pub(super) struct Listed {
    pub(super) description: Description,
    pub(super) schema: String,
    /// As programs see it.
    shown: Json,
}

impl Listing {
    /// The list as programs see it.
    pub(super) fn shown(self) -> Json {
        json!({
            "tools": self.tools.into_iter().map(|tool| tool.shown).collect::<Vec<_>>(),
            "problems": self.problems,
        })
    }
}

/// What a server lists.
#[derive(Default)]
pub(super) struct Pages {
    pub(super) all: Vec<Json>,
    /// Whether the list ended because the server gave a cursor that it had given before.
    pub(super) is_going_round: bool,
    /// Why the list broke off, if it did.
    pub(super) fault: Option<String>,
}

/// Why no tool of a server is known.
pub(super) struct Unlisted {
    pub(super) failure: ToolFailure,
    /// Whether the server runs, so that its tools can be called.
    pub(super) is_started: bool,
}

impl Unlisted {
    /// Says what is wrong, and what becomes of calls.
    pub(super) fn problem(&self, server: &str) -> String {
        let said = &self.failure.message;
        if self.is_started {
            format!("{said}; the arguments of calls of `{server}/…` are not checked")
        } else {
            format!("{said}; calls of `{server}/…` fail until it starts")
        }
    }
}

/// Reads the tools that a server lists.
pub(super) fn read(settings: &Settings, listed: &Pages) -> Listing {
    let tools = &listed.all;
    let mut listing = Listing::default();
    if listed.is_going_round {
        let problem = "it gives the same page of its list again; the tools of the pages before count";
        listing.problems.push(problem.to_owned());
    }
    if let Some(fault) = &listed.fault {
        let what = "the arguments of tools that are missing in it are not checked";
        listing
            .problems
            .push(format!("its list of tools breaks off: {fault}; {what}"));
    }
    let mut names = BTreeSet::new();
    let mut room_bytes = SCHEMAS_BYTES_MAX;
    if tools.len() > TOOLS_MAX {
        let problem = format!("it lists {} tools, of which the first {TOOLS_MAX} count", tools.len());
        listing.problems.push(problem);
    }
    for tool in tools.iter().take(TOOLS_MAX) {
        let Some(name) = tool.get("name").and_then(Json::as_str).filter(|name| is_name(name)) else {
            let name: String = tool
                .get("name")
                .unwrap_or(&Json::Null)
                .to_string()
                .chars()
                .take(80)
                .collect();
            let problem = format!("it lists a tool with the name {name}, which cannot be called and is left out");
            listing.problems.push(problem);
            continue;
        };
        if !names.insert(name) {
            let problem = format!("it lists the tool `{name}` more than once; the first one counts");
            listing.problems.push(problem);
            continue;
        }
        let (tool, fault) = described_tool(settings, name, tool, &mut room_bytes);
        listing.tools.push(tool);
        listing.problems.extend(fault.map(|fault| {
            format!("the arguments of `{name}` are not checked, because the schema that it has for them {fault}")
        }));
    }
    let more = listing.problems.len().saturating_sub(PROBLEMS_MAX);
    if more > 0 {
        listing.problems.truncate(PROBLEMS_MAX);
        listing.problems.push(format!("there are {more} more"));
    }
    listing
}

/// Says whether a tool of this name can be called: it is no name of Duet's own, and people can read
/// it.
pub(super) fn is_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./".contains(letter);
    !name.is_empty() && name.len() <= 200 && name.chars().all(is_plain)
}

/// Reads a tool; the second value is the fault of its schema, if it has one.
fn described_tool(settings: &Settings, name: &str, tool: &Json, room_bytes: &mut usize) -> (Listed, Option<String>) {
    let (schema, problem) = checked(tool.get("inputSchema"), room_bytes);
    let hint = |hint: &str| tool.pointer(&format!("/annotations/{hint}")).and_then(Json::as_bool) == Some(true);
    let said = if hint("readOnlyHint") {
        EffectClass::Pure
    } else {
        EffectClass::Irreversible
    };
    let effect = settings.effects.get(name).copied().unwrap_or(said);
    let text = |member: &str| tool.get(member).and_then(Json::as_str).unwrap_or_default();
    let words: String = text("description").chars().take(DESCRIPTION_CHARACTERS_MAX).collect();
    let full = format!("{}/{name}", settings.name);
    // A model understands more than the check does.
    let raw = tool
        .get("inputSchema")
        .filter(|raw| raw.is_object() && raw.to_string().len() <= SCHEMA_BYTES_MAX);
    let mut shown = raw.unwrap_or(&schema).clone();
    if shown.get("type").is_none() {
        // Providers refuse a request with a schema that says less.
        shown["type"] = "object".into();
    }
    let listed = Listed {
        shown: json!({
            "name": full,
            "title": text("title"),
            "description": words,
            "schema": shown,
            "effect": effect.to_string(),
        }),
        description: Description {
            idempotent: effect == EffectClass::Pure || hint("idempotentHint"),
            summary: Cow::Owned(words),
            ..described(full, effect)
        },
        schema: schema.to_string(),
    };
    (listed, problem)
}

/// Returns the schema of a tool's arguments; if it is unusable, one that accepts all, and the
/// fault.
fn checked(schema: Option<&Json>, room_bytes: &mut usize) -> (Json, Option<String>) {
    let length_bytes = schema.map_or(0, |schema| schema.to_string().len());
    let fault = match schema {
        None => "is missing".to_owned(),
        Some(schema) if !schema.is_object() => "is no object".to_owned(),
        Some(_) if length_bytes > SCHEMA_BYTES_MAX.min(*room_bytes) => "is too long".to_owned(),
        Some(schema) => match Schema::parse(schema) {
            Ok(_) => {
                *room_bytes -= length_bytes;
                return (without_defaults(schema.clone()), None);
            }
            Err(fault) => format!("is invalid: {fault}"),
        },
    };
    (json!({"type": "object"}), Some(fault))
}

/// Requires no argument that has a default: many servers list these, too, and fill them in.
fn without_defaults(mut schema: Json) -> Json {
    let has_default = |schema: &Json, name: &Json| {
        let property = name.as_str().and_then(|name| schema.get("properties")?.get(name));
        property.is_some_and(|property| property.get("default").is_some())
    };
    let required = schema.get("required").and_then(Json::as_array);
    let required = required.map(|all| all.iter().filter(|name| !has_default(&schema, name)).cloned().collect());
    if let Some(required) = required {
        schema["required"] = Json::Array(required);
    }
    schema
}

/// Describes the tools of a server about which nothing is known.
pub(super) fn unknown(server: &str) -> Description {
    described(format!("{server}/*"), EffectClass::Irreversible)
}

/// Describes what every server has besides its tools, and only looks.
pub(super) fn looking(server: &str) -> impl Iterator<Item = Description> {
    LOOKING.into_iter().map(move |own| Description {
        summary: Cow::Borrowed("asks an MCP server what it has, or reads it"),
        result: Cow::Borrowed("the server's answer, as (duet mcp) describes it"),
        ..described(format!("{server}/mcp:{own}"), EffectClass::Pure)
    })
}

fn described(name: String, effect: EffectClass) -> Description {
    Description {
        name: Cow::Owned(name),
        summary: Cow::Borrowed("calls a tool of an MCP server"),
        payload: Cow::Borrowed(&[]),
        result: Cow::Borrowed("the server's result as a dictionary: content, and structuredContent if there is one"),
        returns: Returns::Anything,
        needs: if effect == EffectClass::Pure {
            &["mcp.read"]
        } else {
            &["mcp.write"]
        },
        effect,
        idempotent: effect == EffectClass::Pure,
        timeout_ms: None,
        retry: Retry::NEVER,
        takes_secrets: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::mcp::Transport;

    fn problems(tools: &[Json]) -> (usize, Vec<String>) {
        let settings = Settings::new("t", Transport::Refused(String::new()));
        let listed = Pages {
            all: tools.to_vec(),
            ..Pages::default()
        };
        let listing = read(&settings, &listed);
        (listing.tools.len(), listing.problems)
    }

    #[test]
    fn endless_lists_and_schemas_are_cut_and_told() {
        let long = json!({"type": "object", "description": "x".repeat(70_000)});
        let (count, told) = problems(&[json!({"name": "a", "inputSchema": long})]);
        assert_eq!(count, 1);
        assert_eq!(told.len(), 1);
        assert!(told.iter().all(|told| told.contains("is too long")), "{told:?}");
        let some = json!({"type": "object", "description": "x".repeat(60_000)});
        let many: Vec<Json> = (0..2_000)
            .map(|number| json!({"name": format!("t{number}"), "inputSchema": some}))
            .collect();
        let (count, told) = problems(&many);
        assert_eq!(count, TOOLS_MAX);
        assert_eq!(told.len(), PROBLEMS_MAX + 1);
        assert!(told.iter().any(|told| told.contains("it lists 2000 tools")), "{told:?}");
    }

    #[test]
    fn one_name_is_one_tool() {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let (count, told) = problems(&[tool("a"), tool("a"), tool("mcp:read"), tool("a b"), tool("b/c")]);
        assert_eq!((count, told.len()), (2, 3), "{told:?}");
    }
}
