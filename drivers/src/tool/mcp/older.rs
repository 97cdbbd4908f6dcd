//! Tasks of the revision 2025-11-25, told in the words of that of 2026.
//!
//! The library knows the tasks of 2026 only and drops what it does not know. So each message of a
//! server passes here first: the capability and the tools' support become metadata, which the
//! library keeps, and the state of a task gets the names and the shape of 2026. In the revision of
//! 2025 a task has no result in its state; the client asks for it with `tasks/result`, and hears
//! there what the task asks the person.
//! INVARIANT: a message without tasks of 2025 is not changed.
//! It does not read the bytes of messages; `mend.rs` does. Read next: `task.rs`, `link.rs`.
//!
//! Source: Model Context Protocol 2025-11-25, "Tasks".

use std::collections::BTreeSet;

use rmcp::model::{CallToolRequestParams, ClientRequest, CustomRequest, ServerCapabilities};
use serde_json::{Map, Value as Json, json};

/// The member of the experimental capabilities that says that a server makes tasks of calls.
const CAPABILITY: &str = "duet/tasks";

/// The metadata of a tool that say whether its calls can be tasks.
const SUPPORT: &str = "duet/execution";

/// The members by which a state of 2026 is known.
const NEWER: [&str; 6] = [
    "resultType",
    "ttlMs",
    "pollIntervalMs",
    "result",
    "error",
    "inputRequests",
];

/// Tells the result of a message in the words of 2026; says whether there was anything to change.
pub(super) fn retell(message: &mut Json) -> bool {
    let result = message.get_mut("result").and_then(Json::as_object_mut);
    result.is_some_and(retell_result)
}

fn retell_result(result: &mut Map<String, Json>) -> bool {
    if NEWER.iter().any(|member| result.contains_key(*member)) {
        return false;
    }
    let makes_tasks = result
        .get("capabilities")
        .and_then(|all| all.pointer("/tasks/requests/tools/call"))
        .is_some();
    if makes_tasks && let Some(Json::Object(all)) = result.get_mut("capabilities") {
        let experimental = all.entry("experimental").or_insert_with(|| json!({}));
        if let Some(experimental) = experimental.as_object_mut() {
            experimental.insert(CAPABILITY.to_owned(), json!({}));
        }
        return true;
    }
    if let Some(Json::Array(tools)) = result.get_mut("tools") {
        let noted = tools.iter_mut().filter_map(|tool| note_support(tool).then_some(()));
        return noted.count() > 0;
    }
    if let Some(Json::Object(task)) = result.get("task").filter(|task| task.get("taskId").is_some()) {
        *result = state(task, "task");
        return true;
    }
    let is_state = ["taskId", "status"]
        .iter()
        .all(|member| result.get(*member).is_some_and(Json::is_string));
    if is_state {
        *result = state(result, "complete");
    }
    is_state
}

/// Keeps in a tool's metadata whether its calls can be tasks.
fn note_support(tool: &mut Json) -> bool {
    let support = tool.pointer("/execution/taskSupport").and_then(Json::as_str);
    let can_be = support.is_some_and(|support| ["optional", "required"].contains(&support));
    if can_be && let Some(tool) = tool.as_object_mut() {
        let meta = tool.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(SUPPORT.to_owned(), json!({}));
        }
    }
    can_be
}

/// The state of a task with the names and the shape of 2026.
fn state(task: &Map<String, Json>, result_type: &str) -> Map<String, Json> {
    let member = |name: &str| task.get(name).cloned();
    let text = |name: &str| member(name).filter(Json::is_string).unwrap_or_else(|| json!(""));
    let mut told = Map::new();
    told.insert("resultType".to_owned(), json!(result_type));
    for name in ["taskId", "createdAt", "lastUpdatedAt"] {
        told.insert(name.to_owned(), text(name));
    }
    told.insert("status".to_owned(), text("status"));
    let number = |name: &str| member(name).filter(Json::is_u64);
    told.insert("ttlMs".to_owned(), number("ttl").unwrap_or(Json::Null));
    let kept = [
        ("pollIntervalMs", number("pollInterval")),
        ("statusMessage", member("statusMessage").filter(Json::is_string)),
    ];
    for (name, value) in kept {
        told.extend(value.map(|value| (name.to_owned(), value)));
    }
    // The library wants to see what comes by `tasks/result` here.
    for name in ["result", "error", "inputRequests"] {
        told.insert(name.to_owned(), json!({}));
    }
    told
}

/// Says whether a server makes tasks of calls by the revision of 2025.
pub(super) fn makes_tasks(capabilities: &ServerCapabilities) -> bool {
    let experimental = capabilities.experimental.as_ref();
    experimental.is_some_and(|all| all.contains_key(CAPABILITY))
}

/// Names the tools of a list whose calls can be tasks.
pub(super) fn with_tasks(tools: &[Json]) -> BTreeSet<String> {
    let can_be = |tool: &&Json| tool.get("_meta").is_some_and(|meta| meta.get(SUPPORT).is_some());
    let names = tools
        .iter()
        .filter(can_be)
        .filter_map(|tool| tool.get("name")?.as_str());
    names.map(str::to_owned).collect()
}

/// The message that calls a tool and wants a task of it.
pub(super) fn call(params: &CallToolRequestParams) -> ClientRequest {
    let params = json!({ "name": params.name, "arguments": params.arguments, "task": {} });
    ClientRequest::CustomRequest(CustomRequest::new("tools/call", Some(params)))
}

/// The message that asks for the result of a task, and waits for it.
pub(super) fn result(task: &str) -> ClientRequest {
    let params = json!({ "taskId": task });
    ClientRequest::CustomRequest(CustomRequest::new("tasks/result", Some(params)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: &str) {
        let mut told: Json = message.parse().expect("JSON");
        assert!(retell(&mut told), "{message}");
        assert_eq!(told, expected.parse::<Json>().expect("JSON"), "{message}");
    }

    #[test]
    fn a_task_gets_the_names_of_the_newer_revision() {
        check(
            r#"{"id": 1, "result": {"task": {"taskId": "a", "status": "working", "ttl": 5, "pollInterval": 60}}}"#,
            r#"{"id": 1, "result": {"resultType": "task", "taskId": "a", "status": "working", "createdAt": "",
                "lastUpdatedAt": "", "ttlMs": 5, "pollIntervalMs": 60, "result": {}, "error": {},
                "inputRequests": {}}}"#,
        );
        check(
            r#"{"id": 1, "result": {"taskId": "a", "status": "failed", "statusMessage": "no", "ttl": null}}"#,
            r#"{"id": 1, "result": {"resultType": "complete", "taskId": "a", "status": "failed", "createdAt": "",
                "lastUpdatedAt": "", "ttlMs": null, "statusMessage": "no", "result": {}, "error": {},
                "inputRequests": {}}}"#,
        );
    }

    #[test]
    fn capabilities_and_tools_keep_what_they_say_of_tasks() {
        check(
            r#"{"result": {"capabilities": {"tasks": {"requests": {"tools": {"call": {}}}}}}}"#,
            r#"{"result": {"capabilities": {"tasks": {"requests": {"tools": {"call": {}}}},
                "experimental": {"duet/tasks": {}}}}}"#,
        );
        let tools = r#"{"result": {"tools": [
            {"name": "a", "execution": {"taskSupport": "required"}, "_meta": {"x": 1}},
            {"name": "b", "execution": {"taskSupport": "forbidden"}}]}}"#;
        let mut told: Json = tools.parse().expect("JSON");
        assert!(retell(&mut told));
        let tools = told.pointer("/result/tools").and_then(Json::as_array).expect("tools");
        assert_eq!(with_tasks(tools), BTreeSet::from(["a".to_owned()]));
    }

    #[test]
    fn capabilities_of_another_shape_do_no_harm() {
        let message = r#"{"result": {"capabilities":
            {"tasks": {"requests": {"tools": {"call": {}}}}, "experimental": true}}}"#;
        check(message, message);
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        for message in [
            "{\"id\": 1, \"result\": {\"content\": [], \"_meta\": {\"taskId\": \"a\"}}}",
            "{\"id\": 1, \"result\": {\"resultType\": \"task\", \"taskId\": \"a\", \"status\": \"working\"}}",
            "{\"id\": 1, \"result\": {\"taskId\": \"a\", \"status\": \"completed\", \"result\": {}}}",
            "{\"method\": \"notifications/tasks/status\", \"params\": {\"taskId\": \"a\"}}",
        ] {
            assert!(!retell(&mut message.parse().expect("JSON")), "{message}");
        }
    }
}
