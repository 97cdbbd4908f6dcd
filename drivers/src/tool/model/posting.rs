//! What the protocols of providers share: requests, answers, and the ways to read both.
//!
//! An answer arrives as events of a stream, or whole from a provider that does not stream.
//! INVARIANT: a word that no protocol has is an error, never a guess.
//! It knows no protocol; each has a file of its own. Read next: `openai_chat.rs`.

use serde_json::{Map, Value as Json};

use super::chat::{Reply, Stop};
use super::events::Event;
use crate::tool::http::KeyHeader;
use crate::tool::surrogate::marked;

/// A request in a protocol.
pub(super) struct Posting {
    /// What follows the provider's URL.
    pub(super) path: &'static str,
    /// Headers besides that of the key.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// The header of the key.
    pub(super) key: KeyHeader,
    pub(super) body: Json,
}

/// Why an answer cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The provider says that something went wrong; another attempt may help.
    Passing(String),
    /// The provider refuses the key.
    Denied(String),
    /// The provider says that something is wrong with the request.
    Refused(String),
    /// The provider says that it has failed; another attempt would be another request.
    Failed(String),
    /// It is not what the protocol describes.
    Garbled(String),
}

impl Broken {
    /// Returns what is said of it.
    pub(super) fn said(self) -> String {
        match self {
            Self::Passing(said)
            | Self::Denied(said)
            | Self::Refused(said)
            | Self::Failed(said)
            | Self::Garbled(said) => said,
        }
    }
}

/// An answer that is being received.
pub(super) trait Answer: Send {
    /// Takes an event.
    fn event(&mut self, event: &Event) -> Result<(), Broken>;

    /// Takes an answer that is not streamed.
    fn whole(&mut self, body: &Json) -> Result<(), Broken>;

    /// Returns what the model has said so far.
    fn said(&self) -> &str;

    /// Says whether nothing more will come, although the connection may stay open.
    fn is_over(&self) -> bool;

    /// Returns the reply; nothing if the answer is not complete.
    fn reply(&mut self) -> Option<Reply>;
}

/// Asks for the answer as a stream, unless the options of a request ask for it whole; says which.
pub(super) fn stream(body: &mut Map<String, Json>) -> bool {
    let is_stream = body.get("stream") != Some(&Json::Bool(false));
    body.insert("stream".to_owned(), Json::Bool(is_stream));
    is_stream
}

/// Reads the data of an event. Halves of characters stay marked until the [reply is
/// whole](super::chat::Reply::joined).
pub(super) fn data(event: &Event) -> Result<Json, Broken> {
    serde_json::from_str(&marked(&event.data)).map_err(|error| {
        let shown: String = event.data.chars().take(80).collect();
        Broken::Garbled(format!("an event is no JSON ({error}): {shown}"))
    })
}

/// Returns a text of a JSON value, `""` if there is none.
pub(super) fn text<'a>(json: &'a Json, pointer: &str) -> &'a str {
    json.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
}

/// Returns the thoughts of these types among those that a message brings; thoughts of other
/// protocols mean nothing in this one.
pub(super) fn thoughts<'a>(all: &'a [Json], types: &'a [&str]) -> impl Iterator<Item = &'a Json> {
    all.iter().filter(|thought| types.contains(&text(thought, "/type")))
}

/// Reads the word for the reason why a model stopped. Servers borrow words from other protocols, so
/// one table serves all.
///
/// # Errors
/// [`Broken::Passing`] if the provider stopped for a reason of its own, [`Broken::Garbled`] for a
/// word that nobody knows: whether such a reply is whole cannot be told.
pub(super) fn stop(word: &str) -> Result<Stop, Broken> {
    match &*word.to_ascii_lowercase().replace('-', "_") {
        "stop" | "end" | "end_turn" | "eos" | "eos_token" | "stop_sequence" | "complete" | "completed" | "done"
        | "tool_calls" | "tool_call" | "tool_use" | "function_call" => Ok(Stop::End),
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "max_length"
        | "model_length"
        | "context_length"
        | "model_context_window_exceeded" => Ok(Stop::Length),
        "content_filter"
        | "content_filtered"
        | "refusal"
        | "refused"
        | "safety"
        | "recitation"
        | "blocklist"
        | "prohibited_content"
        | "spii"
        | "sensitive"
        | "guardrail_intervened" => Ok(Stop::Refused),
        "error" | "network_error" | "abort" | "aborted" | "insufficient_system_resource" => {
            Err(Broken::Passing(format!("it broke off a reply: `{word}`")))
        }
        _ => Err(Broken::Garbled(format!(
            "a reply ends for the reason `{word}`, which is not known"
        ))),
    }
}

/// Returns the error in an answer, if it is one. Providers of all protocols describe errors alike.
pub(super) fn error(json: &Json) -> Option<Broken> {
    let error = json.get("error").filter(|error| !error.is_null())?;
    let told = error.as_str().unwrap_or(text(error, "/message"));
    let message = if told.is_empty() {
        error.to_string()
    } else {
        told.to_owned()
    };
    // The kinds of errors that concern the request, not the moment.
    let kind = [text(error, "/type"), text(error, "/code")];
    let denials = ["authentication_error", "permission_error", "invalid_api_key"];
    let refusals = ["not_found_error", "context_length_exceeded", "model_not_found"];
    let is_refused = kind
        .iter()
        .any(|kind| kind.starts_with("invalid_") || refusals.contains(kind));
    // Some give the status of HTTP in place of a kind; these are worth another attempt.
    let status = error.get("code").and_then(Json::as_u64);
    let is_refused =
        is_refused || status.is_some_and(|code| matches!(code, 400..500) && ![408, 409, 429].contains(&code));
    let is_denied = kind.iter().any(|kind| denials.contains(kind)) || matches!(status, Some(401 | 403));
    Some(if is_denied {
        Broken::Denied(message)
    } else if is_refused {
        Broken::Refused(message)
    } else {
        Broken::Passing(message)
    })
}
