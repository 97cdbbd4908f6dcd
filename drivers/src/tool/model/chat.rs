//! A request to a model, as programs write it, and the reply that they get.
//!
//! Owns the payload and the result of `model/chat`, whatever protocol the provider speaks.
//! INVARIANT: a payload that has been read can be sent in every protocol; its tools have names that
//! every protocol allows, each of them one of the program's.
//! It sends nothing; `exchange.rs` does.
//! Read next: `openai_chat.rs`.

use std::collections::BTreeMap;

use duet_runtime::driver::ToolFailure;
use duet_runtime::policy::json::parse;
use preserves::{IOValue, Map as Entries, Value, ValueImpl};
use serde_json::{Map, Value as Json};

use crate::tool::arguments::{Arguments, dictionary, integer, string};
use crate::tool::description::{Answer, Description, Field, Shape};
use crate::tool::failure::Kind;
use crate::tool::json;
use crate::tool::returns::Returns;
use crate::tool::surrogate::joined;

const PAYLOAD: &[Field] = &[
    Field::optional(
        "model",
        Shape::Text,
        "a model that the provider knows; without it, or as `default`, the provider's",
    ),
    Field::required(
        "messages",
        Shape::Values,
        "the conversation: dictionaries of `role` and `content`",
    ),
    Field::optional(
        "provider",
        Shape::Text,
        "a provider; without it the one that the person chose",
    ),
    Field::optional(
        "tools",
        Shape::Values,
        "what the model may ask for: dictionaries of `name`, `description` and `schema`",
    ),
    Field::optional("schema", Shape::Anything, "the JSON Schema that the reply follows"),
    Field::optional(
        "options",
        Shape::Anything,
        "a dictionary of `max_tokens`, `temperature`, `seed`, `stop` and whatever the provider takes",
    ),
    Field::optional(
        "price",
        Shape::Values,
        "the dollars for a million tokens of input and of output, for `duet cost`; the provider does not see it",
    ),
];

pub(super) static DESCRIPTION: Description = Description::pure(
    "model/chat",
    "asks a language model to continue a conversation",
    PAYLOAD,
    Answer::new(
        "{content: string; tool_calls: list of {id: string; name: string; arguments: a dictionary, or the text that is \
         no JSON object or has a number beyond the doubles}; stop: `end`, `tools`, `length` or `refused`, a string; \
         usage: {input_tokens: integer; output_tokens: integer; and, if known, cached_tokens: integer, usd: double}; \
         model: string; and, if the provider wants its thoughts back, thoughts: list of dictionaries}",
        Returns::Anything,
    ),
)
.needing(&["net"]);

/// The maximum length of a tool's name in every protocol, in characters.
const NAME_CHARACTERS_MAX: usize = 64;

/// A request.
#[derive(Debug)]
pub(super) struct Chat {
    pub(super) model: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) messages: Vec<Message>,
    pub(super) tools: Vec<Offer>,
    pub(super) schema: Option<Json>,
    pub(super) options: Map<String, Json>,
    names: Names,
}

/// A message of a conversation.
#[derive(Debug)]
pub(super) enum Message {
    System(String),
    User(Vec<Part>),
    Assistant {
        content: String,
        calls: Vec<AskedCall>,
        thoughts: Vec<Json>,
    },
    Tool {
        call: String,
        content: String,
    },
}

/// A part of what a person says.
#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    /// An image: its media type, such as `image/png`, and its bytes in Base64.
    Image(String, String),
}

/// A tool that the model may ask for, by its name in the protocols.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: Json,
}

/// A call that a model asked for, by its tool's name in the protocols.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct AskedCall {
    pub(super) id: String,
    pub(super) name: String,
    /// What the model wrote; it should be a JSON object.
    pub(super) arguments: String,
}

impl AskedCall {
    /// Returns its arguments, if they are a JSON object.
    pub(super) fn object(&self) -> Option<Json> {
        parse(&self.arguments).ok().filter(Json::is_object)
    }
}

/// Returns the text of arguments, which some send as an object in place of a text.
pub(super) fn arguments_text(arguments: Option<&Json>) -> String {
    match arguments {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Gives the calls of a reply what the provider left out: ids, and the arguments of a call that
/// needs none.
pub(super) fn completed(calls: impl IntoIterator<Item = AskedCall>) -> Vec<AskedCall> {
    let complete = |(place, mut call): (usize, AskedCall)| {
        if call.id.is_empty() {
            call.id = format!("call_{place}");
        }
        if ["", "null"].contains(&call.arguments.trim()) {
            "{}".clone_into(&mut call.arguments);
        }
        call
    };
    calls.into_iter().enumerate().map(complete).collect()
}

/// Why a model stopped.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    #[default]
    End,
    Length,
    Refused,
}

/// The tokens of an exchange.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    /// How many of the input's were cached.
    pub(super) cached: Option<u64>,
    /// The dollars that the provider says it asks for.
    pub(super) usd: Option<f64>,
}

/// The dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Of the input.
    pub input: f64,
    /// Of the output.
    pub output: f64,
}

/// The reply of a model.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) content: String,
    pub(super) calls: Vec<AskedCall>,
    /// The model's reasoning, in the form in which the provider wants it back.
    pub(super) thoughts: Vec<Json>,
    pub(super) stop: Stop,
    pub(super) usage: Usage,
    pub(super) model: String,
}

impl Reply {
    /// Joins the halves of characters that came in different pieces.
    pub(super) fn joined(mut self) -> Self {
        self.content = joined(self.content);
        for call in &mut self.calls {
            call.arguments = joined(std::mem::take(&mut call.arguments));
        }
        self.thoughts.iter_mut().for_each(join);
        self
    }
}

/// Joins the halves of characters in all texts of a value, which is no deeper than JSON text is
/// read.
fn join(value: &mut Json) {
    match value {
        Json::String(text) => *text = joined(std::mem::take(text)),
        Json::Array(elements) => elements.iter_mut().for_each(join),
        Json::Object(members) => members.values_mut().for_each(join),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

impl Chat {
    /// Reads a payload.
    ///
    /// # Errors
    /// `bad-argument`, naming the field and the message.
    pub(super) fn read(payload: &IOValue) -> Result<Self, ToolFailure> {
        let mut fields = Arguments::read(&DESCRIPTION, payload)?;
        let mut names = Names::default();
        let tools = fields.optional("tools", list)?.unwrap_or_default();
        let tools = numbered("tools", &tools, |tool| read_offer(tool, &mut names))?;
        let messages = fields.required("messages", list)?;
        let messages = numbered("messages", &messages, |message| read_message(message, &mut names))?;
        let mut as_json = |field: &'static str| {
            let value = fields.optional(field, |value| Some(value.clone()))?;
            let refuse = |part: &str| refusal(field, &format!("{part} has no form in JSON"));
            value.map(|value| json::of_value(&value).map_err(refuse)).transpose()
        };
        let schema = as_json("schema")?;
        let options = match as_json("options")? {
            None => Map::new(),
            Some(Json::Object(options)) => options,
            Some(_) => return Err(refusal("options", "they are no dictionary")),
        };
        Ok(Self {
            model: fields.optional("model", string)?.filter(|model| model != "default"),
            provider: fields.optional("provider", string)?,
            messages,
            tools,
            schema,
            options,
            names,
        })
    }

    /// Makes the result of a reply. Calls of one that was cut off or refused are shown, but they do
    /// not hide how it ended: others may be missing.
    ///
    /// # Errors
    /// `bad-result` if the thoughts have a number that is no value.
    pub(super) fn result(&self, reply: &Reply, price: Option<Price>) -> Result<IOValue, ToolFailure> {
        let calls: Vec<IOValue> = reply.calls.iter().map(|call| self.call_value(call)).collect();
        let stop = match reply.stop {
            Stop::Length => "length",
            Stop::Refused => "refused",
            Stop::End if !calls.is_empty() => "tools",
            Stop::End => "end",
        };
        let thoughts: Result<Vec<IOValue>, _> = reply.thoughts.iter().map(json::to_value).collect();
        let thoughts = thoughts.map_err(|what| Kind::BadResult.because(format!("the model's thoughts have {what}")))?;
        let thoughts = (!thoughts.is_empty()).then(|| ("thoughts", IOValue::new(thoughts)));
        let fields = [
            ("content", IOValue::new(reply.content.clone())),
            ("tool_calls", IOValue::new(calls)),
            ("stop", IOValue::new(stop.to_owned())),
            ("usage", usage_value(reply.usage, price)),
            ("model", IOValue::new(reply.model.clone())),
        ];
        Ok(dictionary(fields.into_iter().chain(thoughts)))
    }

    fn call_value(&self, call: &AskedCall) -> IOValue {
        let object = call.object().and_then(|object| json::to_value(&object).ok());
        let arguments = object.unwrap_or_else(|| IOValue::new(call.arguments.clone()));
        dictionary([
            ("id", IOValue::new(call.id.clone())),
            ("name", IOValue::new(self.names.own(&call.name).to_owned())),
            ("arguments", arguments),
        ])
    }
}

/// Makes the usage of a result. Dollars that the provider reports come before those of a price,
/// which cannot know discounts.
fn usage_value(usage: Usage, price: Option<Price>) -> IOValue {
    #[expect(clippy::cast_precision_loss, reason = "nobody pays for 2⁵³ tokens")]
    let dollars = |price: Price| (usage.input as f64 * price.input + usage.output as f64 * price.output) / 1_000_000.0;
    let entries = [
        Some(("input_tokens", integer(usage.input))),
        Some(("output_tokens", integer(usage.output))),
        usage.cached.map(|cached| ("cached_tokens", integer(cached))),
        usage
            .usd
            .or_else(|| price.map(dollars))
            .map(|usd| ("usd", IOValue::new(usd))),
    ];
    let entries = entries.into_iter().flatten();
    let entries: Entries<Value<IOValue>, IOValue> = entries.map(|(key, value)| (Value::symbol(key), value)).collect();
    IOValue::new(entries)
}

/// The names of tools in the protocols, which allow letters, digits, `_` and `-` only.
#[derive(Debug, Default)]
struct Names {
    own: BTreeMap<String, String>,
    allowed: BTreeMap<String, String>,
}

impl Names {
    /// Returns the allowed name that stands for a name of the program.
    fn allowed(&mut self, own: &str) -> String {
        if let Some(known) = self.allowed.get(own) {
            return known.clone();
        }
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let plain = own.chars().map(|letter| if is_allowed(letter) { letter } else { '_' });
        let plain: String = plain.take(NAME_CHARACTERS_MAX).collect();
        let plain = if plain.is_empty() { "_".to_owned() } else { plain };
        let mut name = plain.clone();
        let mut number = 1;
        while self.own.contains_key(&name) {
            number += 1;
            let suffix = format!("_{number}");
            let kept = plain.len().min(NAME_CHARACTERS_MAX - suffix.len());
            name = format!("{}{suffix}", &plain[..kept]);
        }
        self.allowed.insert(own.to_owned(), name.clone());
        self.own.insert(name.clone(), own.to_owned());
        name
    }

    /// Returns the program's name for a name that a model used.
    fn own<'a>(&'a self, used: &'a str) -> &'a str {
        self.own.get(used).map_or(used, |own| own)
    }
}

fn refusal(field: &'static str, problem: &str) -> ToolFailure {
    let message = format!("field `{field}` of {}: {problem}", DESCRIPTION.name);
    Kind::BadArgument.with(message, [("field", IOValue::symbol(field))])
}

fn list(value: &IOValue) -> Option<Vec<IOValue>> {
    value.is_sequence().then(|| value.iter().map(IOValue::from).collect())
}

/// Reads the elements of a field; an error names the position, from 0.
fn numbered<T>(
    field: &'static str,
    elements: &[IOValue],
    mut read: impl FnMut(&IOValue) -> Result<T, String>,
) -> Result<Vec<T>, ToolFailure> {
    let read_at = |(at, element): (usize, &IOValue)| {
        read(element).map_err(|problem| refusal(field, &format!("element {at} {problem}")))
    };
    elements.iter().enumerate().map(read_at).collect()
}

/// A dictionary of a payload.
struct Parts(BTreeMap<String, IOValue>);

impl Parts {
    fn of(value: &IOValue) -> Result<Self, String> {
        let entries = value.as_dictionary().ok_or("is no dictionary")?;
        let entry = |(key, value): (Value<IOValue>, Value<IOValue>)| {
            let key = key
                .as_symbol()
                .or_else(|| key.as_string())
                .ok_or("has a key that is no symbol")?;
            Ok((key.into_owned(), value.into()))
        };
        Ok(Self(entries.map(entry).collect::<Result<_, &str>>()?))
    }

    fn text(&mut self, key: &str) -> Result<String, String> {
        let value = self.0.remove(key).ok_or_else(|| format!("lacks `{key}`"))?;
        string(&value).ok_or_else(|| format!("has a `{key}` that is no string"))
    }

    fn json(&mut self, key: &str) -> Result<Option<Json>, String> {
        let refuse = |part: &str| format!("has {part} in `{key}`, which has no form in JSON");
        let value = self.0.remove(key);
        value.map(|value| json::of_value(&value).map_err(refuse)).transpose()
    }
}

fn read_offer(value: &IOValue, names: &mut Names) -> Result<Offer, String> {
    let mut parts = Parts::of(value)?;
    Ok(Offer {
        name: names.allowed(&parts.text("name")?),
        description: parts.text("description")?,
        schema: parts
            .json("schema")?
            .unwrap_or_else(|| serde_json::json!({"type": "object"})),
    })
}

fn read_message(value: &IOValue, names: &mut Names) -> Result<Message, String> {
    let mut parts = Parts::of(value)?;
    match &*parts.text("role")? {
        "system" => parts.text("content").map(Message::System),
        "user" => {
            let content = parts.0.remove("content").ok_or("lacks `content`")?;
            read_content(&content).map(Message::User)
        }
        "assistant" => {
            let calls = parts
                .0
                .remove("tool_calls")
                .map_or(Some(Vec::new()), |calls| list(&calls));
            let calls = calls.ok_or("has `tool_calls` that are no list")?;
            let calls = calls.as_slice().iter().map(|call| read_call(call, names));
            Ok(Message::Assistant {
                calls: calls.collect::<Result<_, _>>()?,
                content: parts.text("content")?,
                thoughts: match parts.json("thoughts")? {
                    None => Vec::new(),
                    Some(Json::Array(thoughts)) => thoughts,
                    Some(_) => return Err("has `thoughts` that are no list".to_owned()),
                },
            })
        }
        "tool" => Ok(Message::Tool {
            call: parts.text("tool_call_id")?,
            content: parts.text("content")?,
        }),
        other => Err(format!(
            "has the role `{other}`; roles are system, user, assistant and tool"
        )),
    }
}

/// Reads what a person says: a string, or a list of parts.
fn read_content(value: &IOValue) -> Result<Vec<Part>, String> {
    if let Some(text) = string(value) {
        return Ok(vec![Part::Text(text)]);
    }
    let parts = list(value).ok_or("has a `content` that is neither a string nor a list of parts")?;
    parts.as_slice().iter().map(read_part).collect()
}

/// Reads `{type: "text", text: string}` or `{type: "image", media_type: string, data: bytes}`.
fn read_part(value: &IOValue) -> Result<Part, String> {
    let mut parts = Parts::of(value)?;
    match &*parts.text("type")? {
        "text" => parts.text("text").map(Part::Text),
        "image" => {
            let data = parts.0.remove("data").ok_or("has an image without `data`")?;
            let data = data
                .as_bytestring()
                .ok_or("has an image whose `data` is no bytevector")?;
            Ok(Part::Image(parts.text("media_type")?, base64::encode(&*data)))
        }
        other => Err(format!("has a part of the type `{other}`; types are text and image")),
    }
}

fn read_call(value: &IOValue, names: &mut Names) -> Result<AskedCall, String> {
    let mut parts = Parts::of(value)?;
    let arguments = match parts.json("arguments")? {
        None => "{}".to_owned(),
        Some(Json::String(text)) => text,
        Some(object) => object.to_string(),
    };
    Ok(AskedCall {
        id: parts.text("id")?,
        name: names.allowed(&parts.text("name")?),
        arguments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Result<Chat, ToolFailure> {
        Chat::read(&payload.parse().expect("a value"))
    }

    #[test]
    fn names_of_tools_become_allowed_ones_and_come_back() {
        let chat = read(
            r#"{messages: [{role: "user", content: "x"}],
                tools: [{name: "a/b", description: ""} {name: "a.b", description: ""}
                        {name: "a_b", description: ""}]}"#,
        );
        let chat = chat.expect("a request");
        let names: Vec<&str> = chat.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["a_b", "a_b_2", "a_b_3"]);
        assert_eq!(
            ["a_b", "a_b_2", "a_b_3", "c"].map(|name| chat.names.own(name)),
            ["a/b", "a.b", "a_b", "c"]
        );
    }

    #[test]
    fn a_refusal_names_the_field_and_the_element() {
        for (payload, problem) in [
            (
                "{messages: 1}",
                "field `messages` of model/chat: expected a list, found `1`",
            ),
            (
                r#"{messages: [{role: "user", content: "x"} {role: "owl", content: "x"}]}"#,
                "field `messages` of model/chat: element 1 has the role `owl`; \
                 roles are system, user, assistant and tool",
            ),
            (
                r#"{messages: [{role: "tool", content: "x"}]}"#,
                "field `messages` of model/chat: element 0 lacks `tool_call_id`",
            ),
            (
                r#"{messages: [], schema: <r 1>}"#,
                "field `schema` of model/chat: a record has no form in JSON",
            ),
            (
                r#"{messages: [], options: [1]}"#,
                "field `options` of model/chat: they are no dictionary",
            ),
        ] {
            assert_eq!(read(payload).expect_err(payload).message, problem);
        }
    }

    #[test]
    fn a_result_has_the_programs_names_and_arguments_that_are_no_object_as_text() {
        let payload = r#"{messages: [], tools: [{name: "look/up", description: ""}]}"#;
        let chat = read(payload).expect("a request");
        let call = |arguments: &str| AskedCall {
            id: "1".to_owned(),
            name: "look_up".to_owned(),
            arguments: arguments.to_owned(),
        };
        let reply = Reply {
            calls: vec![call("{\"a\": 1}"), call("{\"a\": 1, \"a\": 2}")],
            usage: Usage {
                input: 1000,
                output: 500,
                cached: Some(7),
                usd: None,
            },
            ..Reply::default()
        };
        let price = Price {
            input: 1.0,
            output: 4.0,
        };
        let expected = r#"{content: "", model: "", stop: "tools",
            tool_calls: [{id: "1", name: "look/up", arguments: {a: 1}}
                         {id: "1", name: "look/up", arguments: "{\"a\": 1, \"a\": 2}"}],
            usage: {input_tokens: 1000, output_tokens: 500, cached_tokens: 7, usd: 0.003}}"#;
        let result = chat.result(&reply, Some(price)).expect("a result");
        assert_eq!(result, expected.parse().expect("a value"));
        let reported = Usage {
            usd: Some(0.25),
            ..reply.usage
        };
        let expected = "{input_tokens: 1000, output_tokens: 500, cached_tokens: 7, usd: 0.25}";
        assert_eq!(usage_value(reported, Some(price)), expected.parse().expect("a value"));
    }
}
