//! Servers as a surface: JSON to requests, reports to text.
//!
//! INVARIANT: what restores a run, and so executes its program, is left to a process of its own.
//! Read next: `mcp/tool.rs`.

use std::any::TypeId;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Command;
use duet_drivers::host::command::Done;
use serde_json::{Map, Value as Json, json};

use crate::history::journal::Journal;
use crate::surface::form::{handed, is_handed};
use crate::text::error::{CommandError, ExitCode, name_lost};
use crate::text::render;
use crate::text::saying::{Saying, Speaker};
use crate::text::view::View;
use crate::verb::project::Project;
use crate::verb::{Request, Row, perform};

/// Answers a request, as a command that a person gives would: with its report as JSON and in words,
/// or as JSON only.
pub(crate) fn answer(request: &Request, journal: &Journal, is_json: bool, stop: Arc<AtomicBool>) -> Done {
    let mut project = Project::of(journal).until(stop);
    let report = match perform(&mut project, request) {
        Ok(report) => report,
        Err(error) => return done_with(error),
    };
    let told = report.tell(&View::default());
    let output = if is_json {
        report.json().to_string()
    } else if is_handed(request.row().name) {
        handed(&report.json(), told.data.as_str())
    } else {
        told.data.as_str().to_owned()
    };
    Done {
        output,
        ..done(told.code, told.messages)
    }
}

/// The end of a request that is refused.
pub(crate) fn done_with(error: CommandError) -> Done {
    let (code, messages) = refused(error);
    done(code, messages)
}

fn done(code: ExitCode, messages: Vec<Saying>) -> Done {
    let lines = messages
        .into_iter()
        .map(|message| message.spelled(Speaker::Command).ended().as_str().to_owned());
    Done {
        code: Some(i32::from(code.0)),
        messages: lines.collect(),
        ..Done::default()
    }
}

/// An error as a command would print it, with its exit code.
pub(crate) fn refused(error: CommandError) -> (ExitCode, Vec<Saying>) {
    match error {
        CommandError::Problem(problem) => (
            problem.code,
            vec![render::problem(&problem, Speaker::Command, false).into()],
        ),
        CommandError::Shown(text) => (ExitCode::FAILED, vec![text.into()]),
        CommandError::Usage(text) => (ExitCode::USAGE, vec![text.into()]),
        CommandError::OutputClosed => (ExitCode::OK, Vec::new()),
        CommandError::NameLost(run) => (ExitCode::FAILED, vec![name_lost(&run).into()]),
    }
}

/// The description of a verb, as its parser has it.
pub(crate) fn description(row: &Row) -> String {
    let command = row.augment(Command::new(row.name));
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// The schema of the fields of a verb, which are those of its parser.
pub(crate) fn schema(row: &Row) -> Json {
    let command = row.augment(Command::new(row.name));
    let properties = command.get_arguments().map(|argument| {
        let id = argument.get_id().as_str().to_owned();
        let kind = argument.get_value_parser().type_id();
        let mut schema = if !argument.get_action().takes_values() {
            json!({ "type": "boolean" })
        } else if kind == TypeId::of::<NonZeroUsize>() {
            json!({ "type": "integer", "minimum": 1 })
        } else if kind == TypeId::of::<u64>() {
            json!({ "type": "integer", "minimum": 0 })
        } else {
            json!({ "type": "string" })
        };
        let help = argument.get_help().map(ToString::to_string);
        schema["description"] = help.unwrap_or_default().into();
        (id, schema)
    });
    let required = command.get_arguments().filter(|argument| argument.is_required_set());
    json!({
        "type": "object",
        "required": required.map(|argument| argument.get_id().as_str()).collect::<Vec<_>>(),
        "properties": properties.collect::<Map<String, Json>>(),
        "additionalProperties": false,
    })
}

/// Refuses arguments that a tool does not have.
///
/// # Errors
/// The mistake, in words for the model.
pub(crate) fn refuse_others(name: &str, given: &Map<String, Json>, known: &[&str]) -> Result<(), String> {
    let Some(unknown) = given.keys().find(|key| !known.contains(&key.as_str())) else {
        return Ok(());
    };
    let known = if known.is_empty() {
        "none".to_owned()
    } else {
        known.join(", ")
    };
    Err(format!("{name} has no argument `{unknown}`; it has {known}"))
}

/// Makes the request of a verb from its arguments.
///
/// # Errors
/// The mistake, in words for the model.
pub(crate) fn request(row: &Row, given: &Map<String, Json>) -> Result<Request, String> {
    let schema = schema(row);
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    refuse_others(row.name, given, &known)?;
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Json::as_str).collect())
        .unwrap_or_default();
    let mut fields = Map::new();
    for (name, shape) in &properties {
        let is_required = required.contains(&name.as_str());
        // Some clients must give every argument, and give nothing as an empty text.
        let is_nothing = |value: &&Json| value.is_null() || (!is_required && value.as_str() == Some(""));
        let Some(value) = given.get(name).filter(|value| !is_nothing(value)) else {
            if is_required {
                return Err(format!("{} needs the argument `{name}`", row.name));
            }
            continue;
        };
        let (fits, expected) = match shape["type"].as_str() {
            Some("boolean") => (value.is_boolean(), "a boolean"),
            Some("integer") if shape["minimum"] == 0 => (value.is_u64(), "an integer from 0"),
            Some("integer") => (value.as_u64().is_some_and(|count| count > 0), "an integer above 0"),
            Some(_) | None => (value.is_string(), "a string"),
        };
        if !fits {
            return Err(format!("the argument `{name}` must be {expected}"));
        }
        fields.insert(name.clone(), value.clone());
    }
    fields.insert("verb".to_owned(), row.name.into());
    serde_json::from_value(Json::Object(fields)).map_err(|error| error.to_string())
}
