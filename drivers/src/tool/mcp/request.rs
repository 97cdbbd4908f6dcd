//! What a program can ask of a server, and the messages that ask it.
//!
//! INVARIANT: arguments that a server could misunderstand reach none; the failure names the field.
//! It does not send; `link.rs` does.
//! Read next: `link.rs`.
//!
//! Source: Model Context Protocol, revisions 2025-11-25 and 2026-07-28, "Tools", "Resources",
//! "Prompts".

use std::collections::{BTreeMap, BTreeSet};

use duet_runtime::driver::ToolFailure;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest, GetPromptRequestParams, JsonObject,
    ReadResourceRequest, ReadResourceRequestParams,
};
use serde_json::Value as Json;

use super::listing::is_name;
use super::task::Task;
use crate::tool::failure::Kind;

/// A request of a program.
pub(super) enum Request {
    /// `mcp:tools`: the tools, with what is wrong with them.
    Tools,
    /// `mcp:resources`, `mcp:templates`, `mcp:prompts`: a list.
    List(&'static str),
    /// One message: a tool of the server, `mcp:read` or `mcp:prompt`.
    Once(Box<Method>),
    /// `mcp:answer`: goes on with a call whose result was a question.
    Answer(Answer),
    /// `mcp:task`: waits for a call whose result was a task.
    Task(Task),
}

/// A message that the server answers with a result, or with a question.
#[derive(Clone)]
pub(super) enum Method {
    Call(CallToolRequestParams),
    Read(ReadResourceRequestParams),
    Prompt(GetPromptRequestParams),
}

/// Answers to the questions of a call.
pub(super) struct Answer {
    /// The call.
    pub(super) method: Method,
    /// The answers, by the names of the questions.
    pub(super) responses: BTreeMap<String, Json>,
    /// What the server wants to have back.
    pub(super) state: Option<String>,
}

impl Request {
    /// Reads a request from the name of a tool behind the server's, and its arguments.
    ///
    /// # Errors
    /// `bad-argument`, `no-such-tool`.
    pub(super) fn read(name: &str, arguments: Json) -> Result<Self, ToolFailure> {
        let Some(own) = name.strip_prefix("mcp:") else {
            return Ok(Self::Once(Box::new(Method::tool(name, arguments)?)));
        };
        match own {
            "tools" => Ok(Self::Tools),
            "resources" => Ok(Self::List("resources")),
            "templates" => Ok(Self::List("resourceTemplates")),
            "prompts" => Ok(Self::List("prompts")),
            "read" | "prompt" => Ok(Self::Once(Box::new(Method::own(own, &arguments)?))),
            "answer" => Ok(Self::Answer(Answer::read(&arguments)?)),
            "task" => Ok(Self::Task(task(&arguments)?)),
            _ => Err(Kind::NoSuchTool.because(format!(
                "a server has no `mcp:{own}`; it has mcp:tools, mcp:resources, mcp:templates, mcp:read, mcp:prompts, \
                 mcp:prompt, mcp:answer and mcp:task"
            ))),
        }
    }
}

impl Method {
    fn tool(name: &str, arguments: Json) -> Result<Self, ToolFailure> {
        if !is_name(name) {
            return Err(Kind::NoSuchTool.because(format!(
                "a tool with the name {name:?} cannot be called; names have letters, digits, `_`, `-`, `.` and `/`"
            )));
        }
        let arguments = object(arguments)
            .ok_or_else(|| Kind::BadArgument.because(format!("the arguments of {name} are no dictionary")))?;
        let name = name.to_owned();
        Ok(Self::Call(CallToolRequestParams::new(name).with_arguments(arguments)))
    }

    fn own(name: &str, arguments: &Json) -> Result<Self, ToolFailure> {
        if name == "read" {
            return Ok(Self::Read(ReadResourceRequestParams::new(text(arguments, "uri")?)));
        }
        let mut params = GetPromptRequestParams::new(text(arguments, "name")?);
        params.arguments = match arguments.get("arguments") {
            None => None,
            Some(given) => Some(object(given.clone()).ok_or_else(|| missing("arguments", "a dictionary"))?),
        };
        Ok(Self::Prompt(params))
    }

    /// Adds the answers of a person, and what the server wants to have back.
    pub(super) fn answered(&mut self, responses: BTreeMap<String, Json>, state: Option<String>) {
        let (kept_responses, kept_state) = match self {
            Self::Call(params) => (&mut params.input_responses, &mut params.request_state),
            Self::Read(params) => (&mut params.input_responses, &mut params.request_state),
            Self::Prompt(params) => (&mut params.input_responses, &mut params.request_state),
        };
        *kept_responses = Some(responses);
        *kept_state = state;
    }

    /// The message.
    pub(super) fn message(self) -> ClientRequest {
        match self {
            Self::Call(params) => ClientRequest::CallToolRequest(CallToolRequest::new(params)),
            Self::Read(params) => ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params)),
            Self::Prompt(params) => ClientRequest::GetPromptRequest(GetPromptRequest::new(params)),
        }
    }

    /// The call of a tool, if it is one.
    pub(super) fn called(&self) -> Option<&CallToolRequestParams> {
        match self {
            Self::Call(params) => Some(params),
            Self::Read(_) | Self::Prompt(_) => None,
        }
    }

    /// Says whether it calls a tool.
    pub(super) fn is_call(&self) -> bool {
        self.called().is_some()
    }

    /// Names it for people.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Call(params) => format!("the tool `{}`", params.name),
            Self::Read(params) => format!("the resource `{}`", params.uri),
            Self::Prompt(params) => format!("the prompt `{}`", params.name),
        }
    }
}

impl Answer {
    fn read(arguments: &Json) -> Result<Self, ToolFailure> {
        let of = text(arguments, "of")?;
        let given = arguments.get("arguments").cloned().unwrap_or(Json::Null);
        let method = match of.strip_prefix("mcp:") {
            None => Method::tool(&of, given)?,
            Some(own @ ("read" | "prompt")) => Method::own(own, &given)?,
            Some(_) => {
                return Err(missing(
                    "of",
                    "the name of a tool of the server, mcp:read or mcp:prompt",
                ));
            }
        };
        let responses = responses(arguments)?;
        let state = match arguments.get("state") {
            None | Some(Json::Null | Json::Bool(false)) => None,
            Some(Json::String(state)) => Some(state.clone()),
            Some(_) => return Err(missing("state", "a string or #f")),
        };
        Ok(Self {
            method,
            responses,
            state,
        })
    }
}

fn task(arguments: &Json) -> Result<Task, ToolFailure> {
    let answered = match arguments.get("answered") {
        None | Some(Json::Null) => Some(BTreeSet::new()),
        Some(Json::Array(names)) => names.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    };
    let answered = answered.ok_or_else(|| missing("answered", "a list of strings"))?;
    let responses = match arguments.get("responses") {
        None => BTreeMap::new(),
        Some(_) => responses(arguments)?,
    };
    Ok(Task::new(text(arguments, "id")?, responses, answered))
}

fn responses(arguments: &Json) -> Result<BTreeMap<String, Json>, ToolFailure> {
    let responses = arguments.get("responses").cloned().and_then(object);
    let responses = responses.ok_or_else(|| missing("responses", "a dictionary"))?;
    Ok(responses.into_iter().collect())
}

fn object(json: Json) -> Option<JsonObject> {
    match json {
        Json::Object(members) => Some(members),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => None,
    }
}

fn text(arguments: &Json, field: &str) -> Result<String, ToolFailure> {
    let found = arguments.get(field).and_then(Json::as_str);
    found.map(str::to_owned).ok_or_else(|| missing(field, "a string"))
}

fn missing(field: &str, expected: &str) -> ToolFailure {
    Kind::BadArgument.because(format!("the field `{field}` must be {expected}"))
}
