//! Chat completions of OpenAI, the protocol that most servers of models speak.
//!
//! INVARIANT: a stream of pieces and the whole answer give the same reply. Servers that write calls
//! in ways of their own, without index or id, or arguments that are no text, are understood.
//! It does not know the options of single providers; they pass through.
//! Read next: `chat.rs`.
//!
//! Source: OpenAI API reference, "Chat completions" and "Chat completions streaming".

use serde_json::{Map, Value as Json, json};

use super::chat::{AskedCall, Chat, Message, Offer, Part, Reply, Stop, Usage, completed};
use super::events::Event;
use super::posting::{Answer, Broken, Posting, data, error, stop, stream, text, thoughts};
use crate::tool::http::KeyHeader;

/// The type of thoughts; the field in which servers send them has one of the names.
const THOUGHT: &str = "text";
const THOUGHT_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// The type of thoughts that sign a call, and the member of a call in which Gemini sends them.
const SIGNATURE: &str = "call";
const EXTRA: &str = "extra_content";

/// The member of a choice with the whole answer.
const WHOLE: &str = "message";

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
        key: KeyHeader::BEARER,
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
        Message::Assistant { content, calls, .. } if calls.is_empty() => {
            json!({"role": "assistant", "content": content})
        }
        Message::Assistant {
            content,
            calls,
            thoughts: all,
        } => {
            let calls: Vec<Json> = calls.iter().map(|asked| call(asked, all)).collect();
            // Some servers refuse an empty content beside calls.
            let content = Some(content).filter(|content| !content.is_empty());
            let mut message = json!({"role": "assistant", "content": content, "tool_calls": calls});
            // Some servers want thoughts back until the tools have answered, and refuse them later.
            for thought in thoughts(all, &[THOUGHT]) {
                message[text(thought, "/field")] = text(thought, "/text").into();
            }
            message
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

fn call(call: &AskedCall, all: &[Json]) -> Json {
    let function = json!({"name": call.name, "arguments": call.arguments});
    let mut asked = json!({"id": call.id, "type": "function", "function": function});
    let mut signatures = thoughts(all, &[SIGNATURE]).filter(|thought| text(thought, "/id") == call.id);
    if let Some(extra) = signatures.find_map(|thought| thought.get(EXTRA)) {
        asked[EXTRA] = extra.clone();
    }
    asked
}

fn tool(offer: &Offer) -> Json {
    let function = json!({"name": offer.name, "description": offer.description, "parameters": offer.schema});
    json!({"type": "function", "function": function})
}

/// A completion that is being received.
#[derive(Default)]
pub(super) struct Completion {
    reply: Reply,
    /// The calls in the order in which they began, with the index that the server gave.
    calls: Vec<(Option<u64>, AskedCall)>,
    /// What signs calls, with the calls' places.
    signatures: Vec<(usize, Json)>,
    /// The thoughts, by the place of their field in [`THOUGHT_FIELDS`].
    thoughts: [String; THOUGHT_FIELDS.len()],
    is_finished: bool,
    is_over: bool,
}

impl Completion {
    /// Takes a piece, or the message of a whole answer.
    fn piece(&mut self, json: &Json, piece: &str) -> Result<(), Broken> {
        if let Some(broken) = error(json).or_else(|| error(first_choice(json)?)) {
            return Err(broken);
        }
        if let Some(model) = json.get("model").and_then(Json::as_str) {
            model.clone_into(&mut self.reply.model);
        }
        if let Some(usage) = json.get("usage").and_then(Json::as_object) {
            self.reply.usage = read_usage(usage);
        }
        // The piece with the usage has no choice.
        let Some(choice) = first_choice(json) else {
            return Ok(());
        };
        let delta = choice.get(piece).unwrap_or(&Json::Null);
        self.reply.content.push_str(&content(delta));
        for (thought, field) in self.thoughts.iter_mut().zip(THOUGHT_FIELDS) {
            thought.push_str(delta.get(field).and_then(Json::as_str).unwrap_or_default());
        }
        if !text(delta, "/refusal").is_empty() {
            self.reply.content.push_str(text(delta, "/refusal"));
            self.reply.stop = Stop::Refused;
        }
        let calls = delta.get("tool_calls").and_then(Json::as_array);
        for call in calls.into_iter().flatten() {
            self.call(call, piece == WHOLE);
        }
        let reason = text(choice, "/finish_reason");
        if reason.is_empty() {
            return Ok(());
        }
        // A refusal in words ends as a reply does.
        match stop(reason)? {
            Stop::End => {}
            other @ (Stop::Length | Stop::Refused) => self.reply.stop = other,
        }
        self.is_finished = true;
        Ok(())
    }

    /// Takes a call, or a piece of one: of the newest with its index, or of the newest, unless it
    /// has another id or begins with a name.
    fn call(&mut self, piece: &Json, is_whole: bool) {
        let index = piece.get("index").and_then(Json::as_u64);
        let (id, name) = (text(piece, "/id"), text(piece, "/function/name"));
        let belongs = |(known_index, known): &(Option<u64>, AskedCall)| {
            let is_same_id = id.is_empty() || known.id.is_empty() || known.id == id;
            let is_more = index.is_some() || name.is_empty() || known.name.is_empty();
            *known_index == index && is_same_id && is_more
        };
        let place = self.calls.iter().rposition(belongs).filter(|_| !is_whole);
        let place = place.unwrap_or(self.calls.len());
        if place == self.calls.len() {
            self.calls.push((index, AskedCall::default()));
        }
        if let Some(extra) = piece.get(EXTRA).filter(|extra| !extra.is_null()) {
            self.signatures.push((place, extra.clone()));
        }
        let (_, known) = &mut self.calls[place];
        if known.id.is_empty() {
            id.clone_into(&mut known.id);
        }
        // Some repeat the name in each piece.
        if known.name != name {
            known.name.push_str(name);
        }
        let arguments = piece.pointer("/function/arguments").unwrap_or(&Json::Null);
        if arguments.is_object() {
            known.arguments = arguments.to_string();
        } else {
            known.arguments.push_str(arguments.as_str().unwrap_or_default());
        }
    }
}

/// Returns the choice that is the reply; the program's options may ask for further ones.
fn first_choice(json: &Json) -> Option<&Json> {
    let is_first = |choice: &&Json| choice.get("index").is_none_or(|index| index.as_u64().unwrap_or(0) == 0);
    json.get("choices")?.as_array()?.iter().find(is_first)
}

/// Reads the words of a piece: a text, or a list of parts.
fn content(delta: &Json) -> String {
    let parts = delta.get("content").and_then(Json::as_array);
    match parts {
        Some(parts) => parts.iter().map(|part| text(part, "/text")).collect(),
        None => text(delta, "/content").to_owned(),
    }
}

fn read_usage(usage: &Map<String, Json>) -> Usage {
    let count = |key: &str| usage.get(key).and_then(Json::as_u64).unwrap_or(0);
    let details = usage.get("prompt_tokens_details");
    Usage {
        input: count("prompt_tokens"),
        output: count("completion_tokens"),
        cached: details.and_then(|details| details.get("cached_tokens")?.as_u64()),
        // OpenRouter and others say what they ask for, in dollars.
        usd: usage
            .get("cost")
            .and_then(Json::as_f64)
            .filter(|usd| usd.is_finite() && *usd >= 0.0),
    }
}

impl Answer for Completion {
    fn event(&mut self, event: &Event) -> Result<(), Broken> {
        match &*event.data {
            "[DONE]" => {
                self.is_over = true;
                // Some never say why they stop.
                self.is_finished |= !self.reply.content.is_empty() || !self.calls.is_empty();
                Ok(())
            }
            _ => self.piece(&data(event)?, "delta"),
        }
    }

    fn whole(&mut self, body: &Json) -> Result<(), Broken> {
        self.piece(body, WHOLE)
    }

    fn said(&self) -> &str {
        &self.reply.content
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn reply(&mut self) -> Option<Reply> {
        self.is_finished.then(|| {
            let fields = self
                .thoughts
                .iter()
                .zip(THOUGHT_FIELDS)
                .filter(|(thought, _)| !thought.is_empty());
            let thought = |(thought, field)| json!({"type": THOUGHT, "field": field, "text": thought});
            self.reply.thoughts = fields.map(thought).collect();
            let calls = std::mem::take(&mut self.calls).into_iter().map(|(_, call)| call);
            self.reply.calls = completed(calls);
            for (place, extra) in std::mem::take(&mut self.signatures) {
                let id = &self.reply.calls[place].id;
                let thought = json!({"type": SIGNATURE, "id": id, EXTRA: extra});
                self.reply.thoughts.push(thought);
            }
            std::mem::take(&mut self.reply)
        })
    }
}
