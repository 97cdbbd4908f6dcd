//! Responses of OpenAI.
//!
//! INVARIANT: nothing is kept at the provider: each request has the whole conversation.
//! The last event of a stream has the whole response; of pieces, only whole items and what has been
//! said are kept, for servers whose last event has no items.
//! Only a response that is complete, or says why it is not, is a reply.
//! Read next: `chat.rs`.
//!
//! Source: OpenAI API reference, "Responses" and "Responses streaming".

use serde_json::{Value as Json, json};

use super::chat::{AskedCall, Chat, Message, Offer, Part, Reply, Stop, Usage, arguments_text, completed};
use super::events::Event;
use super::posting::{Answer, Broken, Posting, data, error, stop, stream, text, thoughts};
use crate::tool::http::KeyHeader;

/// The type of items that are thoughts.
const THOUGHT: &str = "reasoning";

pub(super) fn posting(chat: &Chat, model: &str) -> Posting {
    let mut body = chat.options.clone();
    if let Some(limit) = body.remove("max_tokens") {
        body.insert("max_output_tokens".to_owned(), limit);
    }
    body.insert("model".to_owned(), json!(model));
    body.insert("input".to_owned(), chat.messages.iter().flat_map(items).collect());
    if !chat.tools.is_empty() {
        body.insert("tools".to_owned(), chat.tools.iter().map(tool).collect());
    }
    if let Some(schema) = &chat.schema {
        let format = json!({"type": "json_schema", "name": "reply", "schema": schema, "strict": false});
        body.insert("text".to_owned(), json!({"format": format}));
    }
    stream(&mut body);
    body.insert("store".to_owned(), json!(false));
    if body.contains_key("reasoning") {
        // What nobody keeps must come back whole. Models that do not reason refuse to be asked so.
        body.entry("include")
            .or_insert_with(|| json!(["reasoning.encrypted_content"]));
    }
    Posting {
        path: "/responses",
        headers: &[],
        key: KeyHeader::BEARER,
        body: Json::Object(body),
    }
}

/// The items that stand for a message.
fn items(message: &Message) -> Vec<Json> {
    let said =
        |role: &str, kind: &str, content: &str| json!({"role": role, "content": [{"type": kind, "text": content}]});
    match message {
        Message::System(content) => vec![said("system", "input_text", content)],
        Message::User(parts) => {
            let parts: Vec<Json> = parts.iter().map(part).collect();
            vec![json!({"role": "user", "content": parts})]
        }
        Message::Assistant {
            content,
            calls,
            thoughts: all,
        } => {
            let text = (!content.is_empty()).then(|| said("assistant", "output_text", content));
            let thoughts = thoughts(all, &[THOUGHT]).cloned();
            thoughts.chain(text).chain(calls.iter().map(call)).collect()
        }
        Message::Tool { call, content } => {
            vec![json!({"type": "function_call_output", "call_id": call, "output": content})]
        }
    }
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => json!({"type": "input_text", "text": text}),
        Part::Image(media, data) => {
            json!({"type": "input_image", "image_url": format!("data:{media};base64,{data}")})
        }
    }
}

fn call(call: &AskedCall) -> Json {
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments})
}

fn tool(offer: &Offer) -> Json {
    json!({
        "type": "function", "name": offer.name, "description": offer.description,
        "parameters": offer.schema, "strict": false,
    })
}

/// A response that is being received.
#[derive(Default)]
pub(super) struct Response {
    reply: Option<Reply>,
    /// What the deltas say, which the last event repeats.
    said: String,
    /// The items so far, in the order in which they began.
    items: Vec<Item>,
}

/// An item that is being received.
struct Item {
    identity: Identity,
    /// Whether it is whole.
    is_done: bool,
    item: Json,
}

/// What identifies an item across events; some servers send none of it.
struct Identity {
    place: Option<u64>,
    id: Option<String>,
    /// The id of its call.
    call: Option<String>,
}

impl Identity {
    /// Says whether both are of one item; nothing if nobody can tell.
    fn is_same(&self, other: &Self) -> Option<bool> {
        same(self.place.as_ref(), other.place.as_ref())
            .or_else(|| same(self.id.as_ref(), other.id.as_ref()))
            .or_else(|| same(self.call.as_ref(), other.call.as_ref()))
    }
}

fn same<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> Option<bool> {
    Some(one? == other?)
}

/// Reads of which item an event is, which has the item, or its id.
fn identity(event: &Json) -> Identity {
    let named = |place: &str| {
        let name = text(event, place);
        (!name.is_empty()).then(|| name.to_owned())
    };
    Identity {
        place: event.get("output_index").and_then(Json::as_u64),
        id: named("/item/id").or_else(|| named("/item_id")),
        call: named("/item/call_id"),
    }
}

impl Answer for Response {
    fn event(&mut self, event: &Event) -> Result<(), Broken> {
        if event.data == "[DONE]" {
            return Ok(());
        }
        let json = data(event)?;
        match text(&json, "/type") {
            kind @ ("response.completed" | "response.incomplete" | "response.failed" | "response.cancelled") => {
                let status = kind.trim_start_matches("response.");
                self.end(json.get("response").unwrap_or(&Json::Null), status)?;
            }
            kind @ ("response.output_item.added" | "response.output_item.done") => {
                self.take(&json, kind == "response.output_item.done");
            }
            "response.function_call_arguments.done" => {
                let found = self.find(&identity(&json)).map(|found| &mut found.item);
                if let Some(item) = found.filter(|item| item.is_object()) {
                    item["arguments"] = json.get("arguments").cloned().unwrap_or_default();
                }
            }
            "response.output_text.delta" => self.said.push_str(text(&json, "/delta")),
            // The event is the error itself, or has it.
            "error" => {
                let told = error(&json).or_else(|| error(&json!({"error": json})));
                return Err(told.unwrap_or_else(|| Broken::Passing(json.to_string())));
            }
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &Json) -> Result<(), Broken> {
        if body.get("output").is_none_or(|output| !output.is_array()) && error(body).is_none() {
            return Err(Broken::Garbled("a response has no `output`".to_owned()));
        }
        self.end(body, "completed")
    }

    fn said(&self) -> &str {
        &self.said
    }

    fn is_over(&self) -> bool {
        self.reply.is_some()
    }

    fn reply(&mut self) -> Option<Reply> {
        self.reply.take()
    }
}

impl Response {
    /// Finds the item that an event goes on with; if nothing tells, the newest that is not whole.
    fn find(&mut self, identity: &Identity) -> Option<&mut Item> {
        let is_same = |item: &Item| item.identity.is_same(identity).unwrap_or(!item.is_done);
        self.items.iter_mut().rfind(|item| is_same(item))
    }

    /// Takes an item that begins, or one that is whole.
    fn take(&mut self, event: &Json, is_done: bool) {
        let Some(item) = event.get("item").cloned() else { return };
        let identity = identity(event);
        let found = self.find(&identity);
        let found = found.filter(|found| is_done || found.identity.is_same(&identity) == Some(true));
        match found {
            Some(begun) => (begun.item, begun.is_done) = (item, is_done),
            None => self.items.push(Item {
                identity,
                is_done,
                item,
            }),
        }
    }

    /// Takes the whole response, which has this status if it names none.
    fn end(&mut self, body: &Json, status: &str) -> Result<(), Broken> {
        let named = text(body, "/status");
        let status = if named.is_empty() { status } else { named };
        match error(body) {
            Some(broken) if is_failed(status) => return Err(failed(status, &format!(": {}", broken.said()))),
            Some(broken) => return Err(broken),
            None => {}
        }
        let mut reply = Reply {
            model: text(body, "/model").to_owned(),
            usage: read_usage(body),
            stop: stopped(status, text(body, "/incomplete_details/reason"))?,
            ..Reply::default()
        };
        let output = body.get("output").and_then(Json::as_array);
        match output.filter(|output| !output.is_empty()) {
            Some(output) => output.iter().for_each(|item| read_item(item, &mut reply)),
            None => {
                self.items.sort_by_key(|item| item.identity.place.unwrap_or(u64::MAX));
                let items = self.items.iter().map(|item| &item.item);
                items.for_each(|item| read_item(item, &mut reply));
                if reply.content.is_empty() {
                    reply.content.clone_from(&self.said);
                }
            }
        }
        reply.calls = completed(reply.calls);
        self.reply = Some(reply);
        Ok(())
    }
}

/// Reads why a response stopped, if it is one that has ended.
fn stopped(status: &str, reason: &str) -> Result<Stop, Broken> {
    match (status, reason) {
        (_, "content_filter") => Ok(Stop::Refused),
        ("completed", _) => Ok(Stop::End),
        ("incomplete", "") => Ok(Stop::Length),
        ("incomplete", reason) => match stop(reason)? {
            Stop::End => Err(Broken::Garbled(format!(
                "a response is incomplete for the reason `{reason}`"
            ))),
            other @ (Stop::Length | Stop::Refused) => Ok(other),
        },
        (status, _) if is_failed(status) => Err(failed(status, "")),
        _ => Err(Broken::Garbled(format!(
            "a response that should have ended has the status `{status}`"
        ))),
    }
}

/// Says whether a response with this status has ended without a reply.
fn is_failed(status: &str) -> bool {
    ["failed", "cancelled"].contains(&status)
}

fn failed(status: &str, why: &str) -> Broken {
    Broken::Failed(format!("a response has the status `{status}`{why}"))
}

fn read_item(item: &Json, reply: &mut Reply) {
    // A response may be complete although the model broke off an item.
    let is_cut = text(item, "/status") == "incomplete" && ["message", "function_call"].contains(&text(item, "/type"));
    if is_cut && reply.stop == Stop::End {
        reply.stop = Stop::Length;
    }
    match text(item, "/type") {
        "function_call" => reply.calls.push(AskedCall {
            id: text(item, "/call_id").to_owned(),
            name: text(item, "/name").to_owned(),
            arguments: arguments_text(item.get("arguments")),
        }),
        "message" => {
            for part in item.get("content").and_then(Json::as_array).into_iter().flatten() {
                reply.content.push_str(text(part, "/text"));
                if text(part, "/type") == "refusal" {
                    reply.content.push_str(text(part, "/refusal"));
                    reply.stop = Stop::Refused;
                }
            }
        }
        // The provider knows reasoning without its content no more.
        THOUGHT if !text(item, "/encrypted_content").is_empty() => {
            let summary = item.get("summary").cloned().unwrap_or_else(|| json!([]));
            let content = text(item, "/encrypted_content");
            let id = text(item, "/id");
            let thought = json!({"type": THOUGHT, "id": id, "summary": summary, "encrypted_content": content});
            reply.thoughts.push(thought);
        }
        // The provider's own tools.
        _ => {}
    }
}

fn read_usage(body: &Json) -> Usage {
    let count = |pointer: &str| body.pointer(pointer).and_then(Json::as_u64);
    Usage {
        input: count("/usage/input_tokens").unwrap_or(0),
        output: count("/usage/output_tokens").unwrap_or(0),
        cached: count("/usage/input_tokens_details/cached_tokens"),
        usd: None,
    }
}
