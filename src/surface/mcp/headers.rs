//! The headers of HTTP that repeat parts of a message, and the statuses of replies.
//!
//! INVARIANT: a message is heard only if each header that repeats a part of it says the same, so
//! whoever stands between may decide by the headers alone.
//! It does not speak HTTP; `duet_drivers::host::http` does.
//! Read next: `surface/mcp.rs`.
//!
//! Source: Model Context Protocol 2026-07-28, "Streamable HTTP", "Standard headers", "Protocol
//! version header"; 2025-11-25, "Protocol version header", "Session management".

use duet_drivers::host::{Header, Work};
use serde_json::Value as Json;

use super::{MODERN, Refusal, WITH_HANDSHAKE, faulty_meta, named_revision, revision, unknown_revision, wrong};
use crate::history::grants::drawn_name;

/// The code of a header that says something else than the message.
const MISMATCH: i32 = -32_020;

const VERSION: &str = "MCP-Protocol-Version";
const METHOD: &str = "Mcp-Method";
const NAME: &str = "Mcp-Name";
const SESSION: &str = "mcp-session-id";

/// The frame of a value that is no text of a header, in base64.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// Says whether a message is of the revision without a handshake, by itself or by its header.
pub(super) fn is_modern(header: Header<'_>, message: &Json) -> bool {
    named_revision(params(message)).is_some() || header(VERSION).is_some_and(|version| version == MODERN)
}

/// The name of the session of a client that has shaken hands; clients that name none share one.
pub(super) fn session(header: Header<'_>) -> String {
    header(SESSION).unwrap_or_default()
}

/// The further headers of a reply: a handshake names a session. Nothing is kept of it; its name
/// tells clients apart that choose the same ids.
pub(super) fn of_reply(message: &Json, work: &Work) -> Vec<(&'static str, String)> {
    let is_handshake = message.get("method").and_then(Json::as_str) == Some("initialize");
    let is_shaken = matches!(work, Work::Reply(reply) if is_handshake && reply.get("result").is_some());
    let drawn = is_shaken.then(drawn_name).and_then(Result::ok);
    drawn.map(|name| (SESSION, name)).into_iter().collect()
}

fn params(message: &Json) -> &Json {
    message.get("params").unwrap_or(&Json::Null)
}

/// The refusal of a message whose headers do not fit it, or one of whose batch they do not fit.
pub(super) fn refusal(header: Header<'_>, message: &Json) -> Option<Refusal> {
    if let Json::Array(all) = message {
        return all.iter().find_map(|message| refusal(header, message));
    }
    let method = message.get("method").and_then(Json::as_str)?;
    let is_needed = is_modern(header, message) && message.get("id").is_some();
    let own = of_version(header, params(message), is_needed);
    own.or_else(|| repeats(header, METHOD, Some(method), is_needed))
        .or_else(|| repeats(header, NAME, name(method, params(message)), is_needed))
        .or_else(|| is_needed.then(|| faulty_meta(params(message))).flatten())
}

/// The refusal of the header with the revision.
fn of_version(header: Header<'_>, params: &Json, is_needed: bool) -> Option<Refusal> {
    let said = header(VERSION);
    if let Some(own) = revision(params) {
        return repeats(header, VERSION, Some(own), is_needed);
    }
    let said = said.filter(|said| said != MODERN && !WITH_HANDSHAKE.contains(&&**said))?;
    Some(unknown_revision(&said, true))
}

/// The part of a message that the header with the name repeats.
fn name<'a>(method: &str, params: &'a Json) -> Option<&'a str> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    params.get(member).and_then(Json::as_str)
}

/// The refusal of a header that says something else than `own`, or is missing where it is needed.
fn repeats(header: Header<'_>, name: &str, own: Option<&str>, is_needed: bool) -> Option<Refusal> {
    let own = own?;
    match header(name) {
        None => is_needed.then(|| {
            wrong(
                MISMATCH,
                &format!("the header {name} is missing; the message says {own}"),
            )
        }),
        Some(said) => (decoded(&said) != own).then(|| {
            let message = format!("the header {name} says {said}, the message {own}");
            wrong(MISMATCH, &message)
        }),
    }
}

/// The text that a header's value stands for; a frame around what is no base64 stands for itself.
fn decoded(said: &str) -> String {
    let framed = said
        .strip_prefix(ENCODED.0)
        .and_then(|rest| rest.strip_suffix(ENCODED.1));
    let text = framed.and_then(|text| String::from_utf8(base64::decode(text).ok()?).ok());
    text.unwrap_or_else(|| said.to_owned())
}

/// The status of a reply: that of a request which no server of this kind can answer is an error of
/// HTTP, too. A client of the older revisions takes an unknown method for an unknown address.
pub(super) fn status(is_modern: bool) -> fn(&Json) -> u16 {
    if is_modern { modern_status } else { older_status }
}

fn modern_status(reply: &Json) -> u16 {
    if code(reply) == Some(-32_601) {
        404
    } else {
        older_status(reply)
    }
}

fn code(reply: &Json) -> Option<i64> {
    reply.pointer("/error/code").and_then(Json::as_i64)
}

fn older_status(reply: &Json) -> u16 {
    match code(reply) {
        Some(-32_700 | -32_600 | -32_022) => 400,
        Some(_) | None => 200,
    }
}
