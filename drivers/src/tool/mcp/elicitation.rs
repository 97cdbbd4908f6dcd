//! Results of calls as programs see them: an answer, a failure, a question to the person, a task.
//!
//! INVARIANT: a question has the same form, whichever revision of the protocol its server speaks;
//! an answer is a result that its server calls complete and no error.
//! It does not ask the person; the program does.
//! Read next: `request.rs`.
//!
//! Source: Model Context Protocol 2026-07-28, "Multi Round-Trip Requests", "Elicitation".

use duet_runtime::driver::ToolFailure;
use serde_json::{Map, Value as Json, json};

use crate::tool::failure::Kind;

/// What the state of a call begins with that waits in this process.
pub(super) const OWN_STATE: &str = "duet:call:";

/// The types of results; one that names none is complete.
const KINDS: [&str; 2] = ["complete", "input_required"];

/// Members of results that mean nothing to a program, and those that only Duet gives.
const LEFT_OUT: [&str; 7] = [
    "_meta",
    "resultType",
    "ttlMs",
    "cacheScope",
    "isError",
    "input_required",
    "task",
];

/// Makes the result of a call from the server's answer.
///
/// # Errors
/// `failed` with the tool's own words if it says that it failed; `bad-result` if the server wants
/// something other than an answer of a person.
pub(super) fn result(server: &str, shown: &str, answer: Json) -> Result<Json, ToolFailure> {
    let Json::Object(mut members) = answer else {
        let message = format!("the MCP server `{server}` answers {shown} with no object");
        return Err(Kind::BadResult.because(message));
    };
    if members.get("resultType").and_then(Json::as_str) == Some("input_required") {
        return question(server, shown, &members);
    }
    if let Some(kind) = foreign_kind(&members) {
        let message = format!("the MCP server `{server}` answers {shown} with a result of the type {kind}");
        return Err(Kind::BadResult.because(format!("{message}, which Duet does not know")));
    }
    match members.get("isError") {
        None | Some(Json::Null | Json::Bool(false)) => {}
        Some(Json::Bool(true)) => {
            let said = words(members.get("content"));
            let said = if said.is_empty() { "it says no more" } else { &said };
            return Err(Kind::Failed.because(format!("{shown} of the MCP server `{server}` failed: {said}")));
        }
        Some(other) => {
            let said = words(members.get("content"));
            let message = format!("the MCP server `{server}` answers {shown} with the `isError` {other}");
            return Err(Kind::BadResult.because(format!("{message}, which does not say whether it failed: {said}")));
        }
    }
    for member in LEFT_OUT {
        members.remove(member);
    }
    Ok(Json::Object(members))
}

/// The type of a result, as JSON, if it is none that the protocol has: such a result may be a part
/// of one.
pub(super) fn foreign_kind(members: &Map<String, Json>) -> Option<&Json> {
    let kind = members.get("resultType").filter(|kind| !kind.is_null())?;
    (!KINDS.iter().any(|known| kind == known)).then_some(kind)
}

/// Makes the result of a request from the server's answer, which for a call of a tool may be a
/// task: `{task: {id, message}}`.
///
/// # Errors
/// As [`result`]; `bad-result` for a task without an id, or in answer to anything else.
pub(super) fn result_of(server: &str, shown: &str, is_call: bool, answer: Json) -> Result<Json, ToolFailure> {
    let text = |member: &str| answer.get(member).and_then(Json::as_str).map(str::to_owned);
    if text("resultType").as_deref() != Some("task") {
        return result(server, shown, answer);
    }
    let id = text("taskId").filter(|id| is_call && !id.is_empty());
    let id = id.ok_or_else(|| {
        let message = format!("the MCP server `{server}` makes no task that can be followed of {shown}");
        Kind::BadResult.because(message)
    })?;
    let mut task = json!({ "id": id });
    if let Some(says) = text("statusMessage") {
        task["message"] = Json::String(says);
    }
    Ok(json!({ "task": task }))
}

/// Makes the questions of a call: `{input_required: {NAME: {message, schema or url}}, state}`.
fn question(server: &str, shown: &str, members: &Map<String, Json>) -> Result<Json, ToolFailure> {
    let requests = members.get("inputRequests").and_then(Json::as_object);
    let mut questions = Map::new();
    for (name, request) in requests.into_iter().flatten() {
        let method = request.get("method").and_then(Json::as_str).unwrap_or_default();
        let Some(asked) = request.get("params").filter(|_| method == "elicitation/create") else {
            let message = format!(
                "{shown} of the MCP server `{server}` wants `{method}` from its client, which Duet does not offer"
            );
            return Err(Kind::BadResult.because(message));
        };
        let mut form = json!({ "message": asked.get("message").cloned().unwrap_or_default() });
        for (from, to) in [("requestedSchema", "schema"), ("url", "url")] {
            if let Some(value) = asked.get(from) {
                form[to] = value.clone();
            }
        }
        questions.insert(name.clone(), form);
    }
    let state = members.get("requestState").cloned().unwrap_or(Json::Bool(false));
    Ok(json!({ "input_required": questions, "state": state }))
}

/// The texts of a content, joined.
fn words(content: Option<&Json>) -> String {
    let parts = content.and_then(Json::as_array).into_iter().flatten();
    let texts = parts.filter_map(|part| part.get("text").and_then(Json::as_str));
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_whole_and_did_not_fail_is_an_answer() {
        let content = json!([{ "type": "text", "text": "half" }]);
        for (member, value, kind) in [
            ("isError", json!(true), "failed"),
            ("isError", json!("true"), "bad-result"),
            ("isError", json!("false"), "bad-result"),
            ("isError", json!(1), "bad-result"),
            ("resultType", json!("partial"), "bad-result"),
            ("resultType", json!("task"), "bad-result"),
            ("resultType", json!(7), "bad-result"),
        ] {
            let failure = result("s", "the tool `a`", json!({ "content": content, member: value })).unwrap_err();
            assert_eq!(failure.kind, kind, "{member} {value}: {failure:?}");
        }
        for (member, value) in [
            ("isError", json!(false)),
            ("isError", json!(null)),
            ("resultType", json!("complete")),
            ("resultType", json!(null)),
        ] {
            let answer = json!({ "content": content, member: value });
            assert_eq!(
                result("s", "the tool `a`", answer).unwrap(),
                json!({ "content": content }),
                "{member}"
            );
        }
    }
}
