//! Tasks: calls that a server goes on with after it has answered, until their results are there.
//!
//! The answer of such a call names the task. That is the call's result, so the name is in the
//! journal before anybody waits for the task, and a run that is resumed waits for the same task.
//! (Rejected: to wait within the call. The name would be lost with the process.)
//! In the revision of 2025 a state has neither result nor questions: both come by a request of
//! their own, which waits. A question then has a name of Duet's, by which the wait goes on with the
//! answer.
//! INVARIANT: a question of a task is asked once, however often the server repeats it; a task that
//! nobody waits for any more is cancelled, unless only this process ends.
//! It does not wait; `server.rs` does.
//! Read next: `server.rs`.
//!
//! Source: Model Context Protocol, extension `io.modelcontextprotocol/tasks` of 2026-07-28;
//! revision 2025-11-25, "Tasks".

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use rmcp::model::{
    CancelTaskParams, ClientRequest, GetTaskParams, GetTaskRequest, UpdateTaskParams, UpdateTaskRequest,
};
use serde_json::{Map, Value as Json, json};

use super::elicitation;
use super::link::Link;
use crate::tool::failure::Kind;
use crate::tool::interface::Context;

/// The interval between two questions after a task if its server names none, in milliseconds.
const INTERVAL_MS: u64 = 1_000;

/// The bounds of the interval that a server may name, in milliseconds.
const INTERVAL_MS_MIN: u64 = 50;
const INTERVAL_MS_MAX: u64 = 600_000;

/// A task that a program waits for.
pub(super) struct Task {
    pub(super) id: String,
    /// Answers to its questions, by their names, for the server.
    pub(super) responses: BTreeMap<String, Json>,
    /// The names of the questions that have had their answers.
    answered: BTreeSet<String>,
}

/// How a task stands.
pub(super) enum TaskState {
    /// It works; the server is asked again after this time.
    Works { interval: Duration, says: String },
    /// This is the result of the call: its value, or questions to the person.
    Ends(Json),
}

impl Task {
    pub(super) fn new(id: String, responses: BTreeMap<String, Json>, answered: BTreeSet<String>) -> Self {
        let answered = answered.into_iter().chain(responses.keys().cloned()).collect();
        Self {
            id,
            responses,
            answered,
        }
    }

    /// The message that asks how the task stands.
    pub(super) fn question(&self) -> ClientRequest {
        ClientRequest::GetTaskRequest(GetTaskRequest::new(GetTaskParams::new(self.id.clone())))
    }

    /// The answer to a question that a wait in this process may have asked, with its name.
    pub(super) fn own_answer(&self) -> Option<(String, Json)> {
        let mut own = self.responses.iter();
        let own = own.find(|(name, _)| name.starts_with(elicitation::OWN_STATE));
        own.map(|(name, said)| (name.clone(), said.clone()))
    }

    /// Reads the state of a task of 2025: how long it works on; nothing if it has a result to ask
    /// for, or a question.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn read_older(&self, server: &str, answer: &Json) -> Result<Option<TaskState>, ToolFailure> {
        match answer.get("status").and_then(Json::as_str).unwrap_or_default() {
            "working" => Ok(Some(works(answer))),
            "completed" | "failed" | "input_required" => Ok(None),
            status => Err(self.failure(server, status, answer)),
        }
    }

    /// The result of a task of 2025, or the question that it asks the person.
    ///
    /// # Errors
    /// `failed` if the tool says that it failed; `bad-result` if the answer is malformed.
    pub(super) fn result(&self, server: &str, mut answer: Json) -> Result<Json, ToolFailure> {
        let own = answer.get("requestState").and_then(Json::as_str).map(str::to_owned);
        let Some(own) = own.filter(|own| own.starts_with(elicitation::OWN_STATE)) else {
            return elicitation::result(server, &self.shown(), answer);
        };
        let asked = answer.pointer_mut("/inputRequests/answer").map(Json::take);
        answer["inputRequests"] = json!({ own: asked });
        let mut question = elicitation::result(server, &self.shown(), answer)?;
        question["task"] = json!({ "id": self.id });
        Ok(question)
    }

    /// The message that gives the server the answers, if there are any.
    pub(super) fn update(&self) -> Option<ClientRequest> {
        let params = UpdateTaskParams::new(self.id.clone(), self.responses.clone());
        let message = ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(params));
        (!self.responses.is_empty()).then_some(message)
    }

    fn shown(&self) -> String {
        format!("the task `{}`", self.id)
    }

    /// Reads how the task stands from the answer of a server.
    ///
    /// # Errors
    /// `failed` if the task has failed, its tool says that it failed, or the server has cancelled
    /// it; `bad-result` if the answer is malformed.
    pub(super) fn read(&self, server: &str, mut answer: Json) -> Result<TaskState, ToolFailure> {
        let status = answer.get("status").and_then(Json::as_str).unwrap_or_default();
        match status {
            "working" => Ok(works(&answer)),
            "input_required" => {
                let open = self.open_questions(answer.get("inputRequests"));
                if open.is_empty() {
                    return Ok(works(&answer));
                }
                let asked = json!({ "resultType": "input_required", "inputRequests": open });
                let mut question = elicitation::result(server, &self.shown(), asked)?;
                question["task"] = json!({ "id": self.id });
                Ok(TaskState::Ends(question))
            }
            "completed" => {
                let result = answer.get_mut("result").map(Json::take).unwrap_or_default();
                elicitation::result(server, &self.shown(), result).map(TaskState::Ends)
            }
            _ => Err(self.failure(server, status, &answer)),
        }
    }

    /// The failure of a task that has no result.
    fn failure(&self, server: &str, status: &str, answer: &Json) -> ToolFailure {
        let task = self.shown();
        let text = |place: &str| answer.pointer(place).and_then(Json::as_str);
        let because = text("/statusMessage").map_or_else(String::new, |says| format!(": {says}"));
        let message = match status {
            "cancelled" => format!("the MCP server `{server}` has cancelled {task}{because}"),
            "failed" => {
                let said = text("/error/message").unwrap_or("it says no more");
                format!("{task} of the MCP server `{server}` failed: {said}{because}")
            }
            _ => {
                let message = format!("the MCP server `{server}` does not say how {task} stands");
                return Kind::BadResult.because(message);
            }
        };
        Kind::Failed.because(message)
    }

    /// The questions that had no answer yet.
    fn open_questions(&self, requests: Option<&Json>) -> Map<String, Json> {
        let requests = requests.and_then(Json::as_object).into_iter().flatten();
        let open = requests.filter(|(name, _)| !self.answered.contains(*name));
        open.map(|(name, request)| (name.clone(), request.clone())).collect()
    }
}

/// How a task stands that works, with the interval and the words of its server.
fn works(answer: &Json) -> TaskState {
    let interval_ms = answer.get("pollIntervalMs").and_then(Json::as_u64);
    let interval_ms = interval_ms.unwrap_or(INTERVAL_MS);
    let says = answer.get("statusMessage").and_then(Json::as_str);
    TaskState::Works {
        interval: Duration::from_millis(interval_ms.clamp(INTERVAL_MS_MIN, INTERVAL_MS_MAX)),
        says: says.unwrap_or_default().to_owned(),
    }
}

/// The failure of a request about a task, which may be one that the server does not know.
pub(super) fn unknown(server: &str, task: &Task, failure: ToolFailure) -> ToolFailure {
    if failure.kind != Kind::BadArgument.as_str() {
        return failure;
    }
    Kind::NotFound.because(format!(
        "the MCP server `{server}` does not know {} any more, so its result is lost: {}",
        task.shown(),
        failure.message
    ))
}

/// Cancels a task at its server when this is dropped, unless it has ended, or this process does.
pub(super) struct Waiting {
    id: String,
    link: Option<Arc<Link>>,
    context: Context,
}

impl Waiting {
    pub(super) fn new(task: &Task, context: &Context) -> Self {
        Self {
            id: task.id.clone(),
            link: None,
            context: context.clone(),
        }
    }

    /// The task is asked after through this connection now.
    pub(super) fn through(&mut self, link: Arc<Link>) {
        self.link = Some(link);
    }

    /// The task has ended, or its questions end the wait.
    pub(super) fn is_over(&mut self) {
        self.link = None;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(link) = self.link.take().filter(|_| !self.context.is_leaving()) {
            let params = CancelTaskParams::new(self.id.clone());
            let peer = link.peer();
            link.farewell(async move {
                // The server may have finished the task meanwhile.
                let _ = peer.cancel_task(params).await;
            });
        }
    }
}
