//! Duet as a server of the Model Context Protocol: messages to commands, and ends of commands to
//! results.
//!
//! It speaks both eras without keeping a state: a message of the revision of 2026 names its
//! revision, all others are those of a client that has shaken hands.
//! INVARIANT: a reply depends on its message and on the journal alone, so any number of clients may
//! ask; a client can do what the person that started the server could, but for approvals, which
//! stay with the person.
//! It runs no command itself; `duet_drivers::host` does.
//! Read next: `mcp/tool.rs`.
//!
//! Source: Model Context Protocol, revisions 2025-11-25 and 2026-07-28.

use duet_drivers::host::command::Done;
use duet_drivers::host::{CommandRequest, Header, HttpWork, Job, Protocol, Work, id_within};
use serde_json::{Value as Json, json};

use crate::surface::agent::{answer, done_with};
use crate::surface::form::{self, taken};
use crate::surface::mcp::tool::{Grants, Misuse};
use crate::verb::Request;

mod headers;
pub(crate) mod timeline;
pub(crate) mod tool;

/// The revision without a handshake.
const MODERN: &str = "2026-07-28";

/// The revisions with a handshake, newest first.
const WITH_HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The member of `_meta` in which a message names its revision.
const REVISION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The member of `_meta` in which a message of that revision says what its client can do.
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// The maximum number of messages in a batch.
const BATCH_MAX: usize = 1_000;

/// The maximum length of a result, in characters; models pay for each.
const SHOWN_CHARACTERS_MAX: usize = 20_000;

const INSTRUCTIONS: &str = "Duet runs Scheme programs whose every step can be taken back. `run` starts one, `log` and \
    `show` say what it did, `fork` and `goto` go back to any turn, `amend` changes what came in at a turn, `answer` \
    and `resume` go on. An address is RUN, RUN/BRANCH or RUN@TURN. A program is R7RS Scheme that begins with \
    `(import (scheme base) (duet base) (duet dataspace))`; `(duet agents)` asks models; `describe` explains a name.";

/// The protocol, with what the person granted.
pub(crate) struct Service {
    pub(crate) grants: Grants,
}

/// An error of the protocol: its code, and what is wrong.
pub(crate) struct Refusal {
    code: i32,
    message: String,
    data: Option<Json>,
}

impl Refusal {
    /// The refusal of wrong parameters.
    pub(crate) fn parameters(message: impl Into<String>) -> Self {
        Self {
            code: -32_602,
            message: message.into(),
            data: None,
        }
    }
}

/// A request that can be answered.
struct Asked<'a> {
    id: Json,
    method: &'a str,
    params: &'a Json,
    is_modern: bool,
}

/// A result, or a command that will make one.
enum Answer {
    Known(Json),
    Work(Job, u64, fn(&Done, &Json) -> Json),
}

impl Protocol for Service {
    fn hear(&self, message: &[u8]) -> Work {
        match serde_json::from_slice::<Json>(message) {
            Ok(Json::Array(all)) if all.len() > BATCH_MAX => {
                let words = format!("a batch has at most {BATCH_MAX} messages");
                Work::Reply(refused(&Json::Null, &wrong(-32_600, &words)))
            }
            Ok(Json::Array(all)) if !all.is_empty() => {
                Work::Batch(all.iter().map(|message| self.hear_one(message)).collect())
            }
            Ok(message) => self.hear_one(&message),
            Err(error) => {
                // Whoever waits for an answer knows it by its id.
                let id = id_within(message).unwrap_or_default();
                let words = format!("the message is no JSON: {error}");
                Work::Reply(refused(&id, &wrong(-32_700, &words)))
            }
        }
    }

    fn refuse_long(&self, beginning: &[u8], bytes_max: usize) -> Json {
        let id = id_within(beginning).unwrap_or_default();
        let words = format!("the message is longer than {bytes_max} bytes, and was not heard; send less at once");
        refused(&id, &wrong(-32_600, &words))
    }

    fn hear_http(&self, header: Header<'_>, message: &[u8]) -> HttpWork {
        let Ok(read) = serde_json::from_slice::<Json>(message) else {
            return HttpWork {
                work: self.hear(message),
                status: headers::status(false),
                client: None,
                headers: Vec::new(),
            };
        };
        if let Some(refusal) = headers::refusal(header, &read) {
            let id = read.get("id").unwrap_or(&Json::Null);
            return HttpWork {
                work: Work::Reply(refused(id, &refusal)),
                status: |_| 400,
                client: None,
                headers: Vec::new(),
            };
        }
        let is_modern = headers::is_modern(header, &read);
        let work = self.hear(message);
        HttpWork {
            headers: headers::of_reply(&read, &work),
            work,
            status: headers::status(is_modern),
            // In the revision of 2026 the end of the response cancels.
            client: (!is_modern).then(|| headers::session(header)),
        }
    }
}

impl Service {
    /// Takes a message that is in no batch, or one of a batch.
    fn hear_one(&self, message: &Json) -> Work {
        let method = message.get("method").and_then(Json::as_str);
        let id = message.get("id").filter(|id| id.is_string() || id.is_number());
        let params = message.get("params").unwrap_or(&Json::Null);
        if message.is_object() && message.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
            let refusal = wrong(
                -32_600,
                "the message is of no known version: `jsonrpc` has to be \"2.0\"",
            );
            return Work::Reply(refused(id.unwrap_or(&Json::Null), &refusal));
        }
        match (method, id) {
            (Some("notifications/cancelled"), None) => params
                .get("requestId")
                .map_or(Work::Nothing, |id| Work::Cancel(id.clone())),
            // Answers to what was never asked, and notifications.
            (None, Some(_)) if is_answer(message) => Work::Nothing,
            (None, Some(id)) => Work::Reply(refused(id, &wrong(-32_600, "the message is no request"))),
            (Some(_), None) if message.get("id").is_none() => Work::Nothing,
            (_, None) => Work::Reply(refused(&Json::Null, &wrong(-32_600, "the message is no request"))),
            (Some(method), Some(id)) => self.request(&Asked {
                id: id.clone(),
                method,
                params,
                is_modern: named_revision(params).is_some(),
            }),
        }
    }

    fn request(&self, asked: &Asked<'_>) -> Work {
        let answer = match self.answer(asked) {
            Ok(answer) => answer,
            Err(refusal) => return Work::Reply(refused(&asked.id, &refusal)),
        };
        let (id, is_modern) = (asked.id.clone(), asked.is_modern);
        match answer {
            Answer::Known(result) => Work::Reply(replied(&id, is_modern, result)),
            Answer::Work(job, limit_ms, result) => {
                let params = asked.params.clone();
                Work::Command(Box::new(CommandRequest {
                    id: id.clone(),
                    job,
                    limit: std::time::Duration::from_millis(limit_ms),
                    finish: Box::new(move |done| replied(&id, is_modern, result(done, &params))),
                }))
            }
        }
    }

    fn answer(&self, asked: &Asked<'_>) -> Result<Answer, Refusal> {
        let known = |result| Ok(Answer::Known(result));
        if let Some(revision) = revision(asked.params)
            && revision != MODERN
            && !WITH_HANDSHAKE.contains(&revision)
        {
            return Err(unknown_revision(revision, false));
        }
        if asked.is_modern
            && let Some(refusal) = faulty_meta(asked.params)
        {
            return Err(refusal);
        }
        match asked.method {
            "initialize" if !asked.is_modern => known(shaken(asked.params)),
            "server/discover" => known(json!({
                "supportedVersions": [MODERN],
                "capabilities": capabilities(),
                "instructions": INSTRUCTIONS,
                "_meta": { "io.modelcontextprotocol/serverInfo": server() },
            })),
            "ping" if !asked.is_modern => known(json!({})),
            "tools/list" | "resources/list" | "resources/templates/list" if has_cursor(asked.params) => Err(
                Refusal::parameters("this server gives lists whole, so it has given no such cursor"),
            ),
            "tools/list" => known(json!({ "tools": tool::list() })),
            "tools/call" => match tool::call(asked.params, &self.grants) {
                Ok((request, limit_ms)) => {
                    let has_form = form::is_handed(request.row().name);
                    let result = if has_form { reported } else { called };
                    Ok(Answer::Work(self.job(request, false), limit_ms, result))
                }
                Err(Misuse::Tool(message)) => Err(Refusal::parameters(message)),
                // Clients show results to the model, and keep errors of the protocol to themselves.
                Err(Misuse::Arguments(message)) => known(json!({
                    "content": [{ "type": "text", "text": message }],
                    "isError": true,
                })),
            },
            "resources/templates/list" => known(json!({ "resourceTemplates": timeline::templates() })),
            "resources/list" => {
                let job = self.job(timeline::list(), true);
                Ok(Answer::Work(job, tool::LIMIT_MS, timeline::listed))
            }
            "resources/read" => {
                let job = self.job(timeline::read(asked.params)?, false);
                Ok(Answer::Work(job, tool::LIMIT_MS, timeline::contents))
            }
            other => Err(wrong(-32_601, &format!("there is no method {other}"))),
        }
    }

    /// What a call needs: records answer in this process, and a process of its own runs whatever
    /// executes a program.
    fn job(&self, request: Request, is_json: bool) -> Job {
        let journal = self.grants.project.clone();
        if request.row().answers.is_at_once() {
            return Job::Answer(Box::new(move |stop| answer(&request, &journal, is_json, stop)));
        }
        match request.for_child(&journal, is_json) {
            Ok(child) => Job::Command(child.words()),
            Err(error) => Job::Answer(Box::new(|_| done_with(error))),
        }
    }
}

/// What a message names as its revision, which may be no text.
fn named_revision(params: &Json) -> Option<&Json> {
    params.get("_meta")?.get(REVISION_KEY)
}

fn revision(params: &Json) -> Option<&str> {
    named_revision(params)?.as_str()
}

/// Whether a message asks for a further part of a list.
fn has_cursor(params: &Json) -> bool {
    params.get("cursor").is_some_and(|cursor| !cursor.is_null())
}

/// Whether a message without a method answers a request.
fn is_answer(message: &Json) -> bool {
    message.get("method").is_none() && ["result", "error"].iter().any(|member| message.get(member).is_some())
}

/// The refusal of a revision that is not known, to a client of the newest revision, which names it
/// in each message, or to one that begins with a handshake.
fn unknown_revision(revision: &str, has_handshake: bool) -> Refusal {
    let supported: Vec<&str> = if has_handshake {
        std::iter::once(MODERN).chain(WITH_HANDSHAKE).collect()
    } else {
        vec![MODERN]
    };
    Refusal {
        code: -32_022,
        message: format!(
            "the revision {revision:?} is not known; known are {}",
            supported.join(", ")
        ),
        data: Some(json!({ "supported": supported, "requested": revision })),
    }
}

/// The refusal of a message of the newest revision that lacks what each of them has.
fn faulty_meta(params: &Json) -> Option<Refusal> {
    let member = |key: &str| params.get("_meta").and_then(|meta| meta.get(key));
    let fault = |key: &str, kind: &str, is_kind: fn(&Json) -> bool| match member(key) {
        None => Some(format!("`_meta` has no `{key}`")),
        Some(value) => (!is_kind(value)).then(|| format!("`{key}` in `_meta` must be {kind}")),
    };
    fault(REVISION_KEY, "a string", Json::is_string)
        .or_else(|| fault(CAPABILITIES_KEY, "an object", Json::is_object))
        .map(Refusal::parameters)
}

fn server() -> Json {
    json!({ "name": "duet", "title": "Duet", "version": env!("CARGO_PKG_VERSION") })
}

fn capabilities() -> Json {
    json!({ "tools": {}, "resources": {} })
}

/// Answers a handshake with the client's revision, or the newest that has handshakes.
fn shaken(params: &Json) -> Json {
    let wanted = params.get("protocolVersion").and_then(Json::as_str);
    let agreed = wanted.filter(|wanted| WITH_HANDSHAKE.contains(wanted));
    json!({
        "protocolVersion": agreed.unwrap_or(WITH_HANDSHAKE[0]),
        "capabilities": capabilities(),
        "serverInfo": server(),
        "instructions": INSTRUCTIONS,
    })
}

fn wrong(code: i32, message: &str) -> Refusal {
    Refusal {
        code,
        message: message.to_owned(),
        data: None,
    }
}

fn refused(id: &Json, refusal: &Refusal) -> Json {
    let mut error = json!({ "code": refusal.code, "message": refusal.message });
    if let Some(data) = &refusal.data {
        error["data"] = data.clone();
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

fn replied(id: &Json, is_modern: bool, mut result: Json) -> Json {
    if let Some(refusal) = result.get("refused") {
        let code = if is_modern { -32_602 } else { -32_002 };
        let error = json!({ "code": code, "message": refusal, "data": { "uri": result["uri"] } });
        return json!({ "jsonrpc": "2.0", "id": id, "error": error });
    }
    if is_modern {
        result["resultType"] = "complete".into();
        if result.get("content").is_none() {
            // A journal changes at any time.
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "private".into();
        }
    }
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The result of a call that a report answers: the report as data, too.
fn reported(done: &Done, _: &Json) -> Json {
    let (report, words) = taken(&done.output);
    let mut result = result_of(done, &words);
    if let Some(report) = report {
        result["structuredContent"]["report"] = report;
    }
    result
}

/// The result of a call.
fn called(done: &Done, _: &Json) -> Json {
    result_of(done, &done.output)
}

fn result_of(done: &Done, output: &str) -> Json {
    let mut text = shortened(output);
    if !done.messages.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text += &shortened(&done.messages);
    }
    if done.is_late {
        text += "\nThe command was ended by its time limit; the run is kept up to its last turn, and `resume` goes on.";
    }
    if text.is_empty() {
        "Done, without output.".clone_into(&mut text);
    }
    // A run that waits for a person is no error.
    let is_error = !matches!(done.code, Some(0 | 4));
    json!({
        "content": [{ "type": "text", "text": text }],
        "structuredContent": {
            "exit": done.code,
            "output": shortened(output),
            "messages": shortened(&done.messages),
            "truncated": done.is_truncated || output.chars().count() > SHOWN_CHARACTERS_MAX,
        },
        "isError": is_error,
    })
}

/// The beginning of a text that is too long, and how to see the rest.
pub(crate) fn shortened(text: &str) -> String {
    let mut kept: String = text.chars().take(SHOWN_CHARACTERS_MAX).collect();
    if kept.len() < text.len() {
        kept += "\n… the rest is left out; ask for less: `limit`, a turn, or a pattern";
    }
    kept
}
