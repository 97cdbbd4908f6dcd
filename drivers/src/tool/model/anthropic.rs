//! Messages of Anthropic.
//!
//! INVARIANT: the roles of the sent messages alternate, as the protocol asks: the results of tools
//! and the next words of a person are one message.
//! Thoughts come back before the words and calls that followed them: the protocol refuses the
//! result of a tool whose call has lost them.
//! Read next: `chat.rs`.
//!
//! Source: Claude API reference, "Create a message" and "Streaming messages".

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::chat::{AskedCall, Chat, Message as Said, Offer, Part, Reply, arguments_text, completed};
use super::events::Event;
use super::posting::{Answer, Broken, Posting, data, error, stop, stream, text, thoughts};
use crate::tool::http::KeyHeader;

/// The types of blocks that are thoughts.
const THOUGHTS: [&str; 2] = ["thinking", "redacted_thinking"];

/// The protocol wants a limit; most models can write as much.
const TOKENS_MAX: u32 = 8192;

pub(super) fn posting(chat: &Chat, model: &str) -> Posting {
    let mut body = chat.options.clone();
    if let Some(stop) = body.remove("stop") {
        body.insert("stop_sequences".to_owned(), stop);
    }
    body.entry("max_tokens").or_insert_with(|| json!(TOKENS_MAX));
    body.insert("model".to_owned(), json!(model));
    let system: Vec<&str> = chat.messages.iter().filter_map(system).collect();
    if !system.is_empty() {
        body.insert("system".to_owned(), json!(system.join("\n\n")));
    }
    let thinks = body
        .get("thinking")
        .is_none_or(|thinking| text(thinking, "/type") != "disabled");
    body.insert("messages".to_owned(), Json::Array(turns(&chat.messages, thinks)));
    if !chat.tools.is_empty() {
        body.insert("tools".to_owned(), chat.tools.iter().map(tool).collect());
    }
    if let Some(schema) = &chat.schema {
        let format = json!({"format": {"type": "json_schema", "schema": schema}});
        body.insert("output_config".to_owned(), format);
    }
    stream(&mut body);
    Posting {
        path: "/v1/messages",
        headers: &[("anthropic-version", "2023-06-01")],
        key: KeyHeader::bare("x-api-key"),
        body: Json::Object(body),
    }
}

fn system(message: &Said) -> Option<&str> {
    match message {
        Said::System(content) => Some(content),
        Said::User(_) | Said::Assistant { .. } | Said::Tool { .. } => None,
    }
}

/// The messages, with neighbours of one role as one.
fn turns(messages: &[Said], thinks: bool) -> Vec<Json> {
    let mut turns: Vec<(&str, Vec<Json>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Said::System(_) => continue,
            Said::User(parts) => ("user", parts.iter().map(part).collect()),
            Said::Assistant {
                content,
                calls,
                thoughts: all,
            } => {
                let text = (!content.is_empty()).then(|| json!({"type": "text", "text": content}));
                let thoughts = thoughts(all, &THOUGHTS).filter(|_| thinks).cloned();
                (
                    "assistant",
                    thoughts.chain(text).chain(calls.iter().map(call)).collect::<Vec<_>>(),
                )
            }
            Said::Tool { call, content } => (
                "user",
                vec![json!({"type": "tool_result", "tool_use_id": call, "content": content})],
            ),
        };
        match turns.last_mut() {
            Some((last, known)) if *last == role => known.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    // The protocol refuses a message without content.
    turns.retain(|(_, blocks)| !blocks.is_empty());
    let turn = |(role, blocks)| json!({"role": role, "content": blocks});
    turns.into_iter().map(turn).collect()
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image(media, data) => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media, "data": data}})
        }
    }
}

fn call(call: &AskedCall) -> Json {
    // The protocol takes objects only.
    let input = call.object().unwrap_or_else(|| json!({}));
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
}

fn tool(offer: &Offer) -> Json {
    json!({"name": offer.name, "description": offer.description, "input_schema": offer.schema})
}

/// A message that is being received.
#[derive(Default)]
pub(super) struct Message {
    reply: Reply,
    /// The calls by the index of their block.
    calls: BTreeMap<u64, AskedCall>,
    /// The blocks that are thoughts, by their index.
    thoughts: BTreeMap<u64, Json>,
    /// The index of the newest block, for servers that name none.
    newest: Option<u64>,
    /// The tokens of the input that were neither read from the cache nor written to it.
    uncached: u64,
    /// The tokens of the input that were written to the cache.
    written: u64,
    /// Whether the provider has said why the model stopped.
    has_reason: bool,
    is_finished: bool,
}

impl Message {
    /// Takes the beginning of a message, or a whole one.
    fn begin(&mut self, message: &Json) {
        text(message, "/model").clone_into(&mut self.reply.model);
        self.count(message.get("usage"));
    }

    /// Takes counts; later ones replace earlier ones of the same name.
    fn count(&mut self, usage: Option<&Json>) {
        let count = |key: &str| usage.and_then(|usage| usage.get(key)?.as_u64());
        let usage = &mut self.reply.usage;
        usage.cached = count("cache_read_input_tokens").or(usage.cached);
        usage.output = count("output_tokens").unwrap_or(usage.output);
        self.written = count("cache_creation_input_tokens").unwrap_or(self.written);
        self.uncached = count("input_tokens").unwrap_or(self.uncached);
        // The protocol does not count what was read from or written to the cache as input.
        let cached = usage.cached.unwrap_or(0).saturating_add(self.written);
        usage.input = self.uncached.saturating_add(cached);
    }

    fn block(&mut self, index: u64, block: &Json) {
        match text(block, "/type") {
            "text" => self.reply.content.push_str(text(block, "/text")),
            "tool_use" => {
                // A stream begins with an empty object and sends the text of the real one.
                let is_empty = |input: &Json| input.as_object().is_some_and(Map::is_empty);
                let call = AskedCall {
                    id: text(block, "/id").to_owned(),
                    name: text(block, "/name").to_owned(),
                    arguments: arguments_text(block.get("input").filter(|input| !is_empty(input))),
                };
                self.calls.insert(index, call);
            }
            kind if THOUGHTS.contains(&kind) => {
                self.thoughts.insert(index, block.clone());
            }
            // The provider's own tools.
            _ => {}
        }
    }

    fn stop(&mut self, reason: &str) -> Result<(), Broken> {
        if !reason.is_empty() {
            self.reply.stop = stop(reason)?;
            self.has_reason = true;
        }
        Ok(())
    }

    /// Ends the message; it is complete if it has content or the reason why it stopped.
    fn end(&mut self) {
        self.is_finished = self.has_reason || !self.reply.content.is_empty() || !self.calls.is_empty();
    }
}

impl Answer for Message {
    fn event(&mut self, event: &Event) -> Result<(), Broken> {
        let json = data(event)?;
        let index = json.get("index").and_then(Json::as_u64);
        match text(&json, "/type") {
            "error" => return Err(error(&json).unwrap_or_else(|| Broken::Passing(json.to_string()))),
            "message_start" => self.begin(json.get("message").unwrap_or(&Json::Null)),
            "content_block_start" => {
                let next = || self.newest.map_or(0, |newest| newest.saturating_add(1));
                let index = index.unwrap_or_else(next);
                self.newest = Some(index);
                self.block(index, json.get("content_block").unwrap_or(&Json::Null));
            }
            "content_block_delta" => {
                let index = index.or(self.newest).unwrap_or(0);
                self.reply.content.push_str(text(&json, "/delta/text"));
                if let Some(call) = self.calls.get_mut(&index) {
                    call.arguments.push_str(text(&json, "/delta/partial_json"));
                }
                if let Some(thought) = self.thoughts.get_mut(&index) {
                    for part in ["thinking", "signature"] {
                        let more = text(&json, &format!("/delta/{part}"));
                        if !more.is_empty() {
                            thought[part] = format!("{}{more}", text(thought, &format!("/{part}"))).into();
                        }
                    }
                }
            }
            "message_delta" => {
                self.stop(text(&json, "/delta/stop_reason"))?;
                self.count(json.get("usage"));
            }
            "message_stop" => self.end(),
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &Json) -> Result<(), Broken> {
        if let Some(broken) = error(body) {
            return Err(broken);
        }
        let Some(content) = body.get("content").and_then(Json::as_array) else {
            return Err(Broken::Garbled("a message has no `content`".to_owned()));
        };
        self.begin(body);
        for (index, block) in (0..).zip(content) {
            self.block(index, block);
        }
        self.stop(text(body, "/stop_reason"))?;
        self.end();
        Ok(())
    }

    fn said(&self) -> &str {
        &self.reply.content
    }

    fn is_over(&self) -> bool {
        self.is_finished
    }

    fn reply(&mut self) -> Option<Reply> {
        self.is_finished.then(|| {
            self.reply.thoughts = std::mem::take(&mut self.thoughts).into_values().collect();
            self.reply.calls = completed(std::mem::take(&mut self.calls).into_values());
            std::mem::take(&mut self.reply)
        })
    }
}
