//! Chat completions of OpenAI, the protocol that most servers of models speak.
//!
//! INVARIANT: a stream of pieces and the whole answer give the same reply.
//! It does not know the options of single providers; they pass through.
//! Read next: `chat.rs`.
//!
//! Source: OpenAI API reference, "Chat completions" and "Chat completions streaming".

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::chat::{AskedCall, Chat, Message, Offer, Part, Reply, Stop, Usage};
use super::events::Event;
use super::protocol::{Answer, Broken, Posting, data, error, stream, text};

pub(super) fn posting(chat: &Chat, model: &str) -> Posting {
    let mut body = chat.options.clone();
    body.insert("model".to_owned(), json!(model));
    body.insert("messages".to_owned(), chat.messages.iter().map(message).collect());
    if !chat.tools.is_empty() {
        body.insert("tools".to_owned(), chat.tools.iter().map(tool).collect());
    }
    if let Some(schema) = &chat.schema {
        let format = json!({"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}});
        body.insert("response_format".to_owned(), format);
    }
    if stream(&mut body) {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    Posting {
        path: "/chat/completions",
        headers: &[],
        key: ("authorization", "Bearer "),
        body: Json::Object(body),
    }
}

fn message(message: &Message) -> Json {
    match message {
        Message::System(content) => json!({"role": "system", "content": content}),
        Message::User(parts) => match &parts[..] {
            [Part::Text(content)] => json!({"role": "user", "content": content}),
            parts => json!({"role": "user", "content": parts.iter().map(part).collect::<Vec<_>>()}),
        },
        Message::Assistant { content, calls } if calls.is_empty() => json!({"role": "assistant", "content": content}),
        Message::Assistant { content, calls } => {
            let calls: Vec<Json> = calls.iter().map(call).collect();
            // Some servers refuse an empty content beside calls.
            let content = Some(content).filter(|content| !content.is_empty());
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool { call, content } => json!({"role": "tool", "tool_call_id": call, "content": content}),
    }
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image(media, data) => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{media};base64,{data}")}})
        }
    }
}

fn call(call: &AskedCall) -> Json {
    let function = json!({"name": call.name, "arguments": call.arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

fn tool(offer: &Offer) -> Json {
    let function = json!({"name": offer.name, "description": offer.description, "parameters": offer.schema});
    json!({"type": "function", "function": function})
}

/// A completion that is being received.
#[derive(Default)]
pub(super) struct Completion {
    reply: Reply,
    /// The calls by their index.
    calls: BTreeMap<u64, AskedCall>,
    is_finished: bool,
}

impl Completion {
    /// Takes a piece, or the message of a whole answer.
    fn piece(&mut self, json: &Json, piece: &str) -> Result<(), Broken> {
        if let Some(broken) = error(json) {
            return Err(broken);
        }
        if let Some(model) = json.get("model").and_then(Json::as_str) {
            model.clone_into(&mut self.reply.model);
        }
        if let Some(usage) = json.get("usage").and_then(Json::as_object) {
            self.reply.usage = read_usage(usage);
        }
        // One choice is asked for; the piece with the usage has none.
        let Some(choice) = json.pointer("/choices/0") else {
            return Ok(());
        };
        let delta = choice.get(piece).unwrap_or(&Json::Null);
        self.reply.content.push_str(text(delta, "/content"));
        if !text(delta, "/refusal").is_empty() {
            self.reply.content.push_str(text(delta, "/refusal"));
            self.reply.stop = Stop::Refused;
        }
        for (at, call) in delta
            .get("tool_calls")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .enumerate()
        {
            let index = call.get("index").and_then(Json::as_u64).unwrap_or(at as u64);
            let known = self.calls.entry(index).or_default();
            known.id.push_str(text(call, "/id"));
            known.name.push_str(text(call, "/function/name"));
            known.arguments.push_str(text(call, "/function/arguments"));
        }
        match text(choice, "/finish_reason") {
            "" => return Ok(()),
            "length" => self.reply.stop = Stop::Length,
            "content_filter" => self.reply.stop = Stop::Refused,
            _ => {}
        }
        self.is_finished = true;
        Ok(())
    }
}

fn read_usage(usage: &Map<String, Json>) -> Usage {
    let count = |key: &str| usage.get(key).and_then(Json::as_u64).unwrap_or(0);
    let details = usage.get("prompt_tokens_details");
    Usage {
        input: count("prompt_tokens"),
        output: count("completion_tokens"),
        cached: details.and_then(|details| details.get("cached_tokens")?.as_u64()),
    }
}

impl Answer for Completion {
    fn event(&mut self, event: &Event) -> Result<(), Broken> {
        match &*event.data {
            "[DONE]" => Ok(()),
            _ => self.piece(&data(event)?, "delta"),
        }
    }

    fn whole(&mut self, body: &Json) -> Result<(), Broken> {
        self.piece(body, "message")
    }

    fn said(&self) -> &str {
        &self.reply.content
    }

    fn reply(&mut self) -> Option<Reply> {
        self.is_finished.then(|| {
            self.reply.calls = std::mem::take(&mut self.calls).into_values().collect();
            std::mem::take(&mut self.reply)
        })
    }
}
