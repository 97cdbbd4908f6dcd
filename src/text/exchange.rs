//! Exchanges with language models, as records tell them: the question, the answer, and the cost.
//!
//! INVARIANT: nothing here is computed again; a result is an answer if the call that it answers was
//! one of `model/chat`, whatever other results look like.
//! It does not know providers; the drivers do.
//! Read next: `history/turn.rs`, `verb/cost.rs`.

use duet_runtime::action::invoke_tool::InvokeTool;
use duet_runtime::model::counted::counted;
use preserves::{IOValue, Value, ValueImpl};

use crate::text::value_text::shown;

/// The tool that is a model.
pub(crate) const TOOL: &str = "model/chat";

/// The kinds of failures with which no call was made.
const NOT_MADE: [&str; 4] = ["unavailable", "denied", "bad-argument", "no-such-tool"];

/// Whether no provider of models was chosen for a call that failed with this kind.
pub(crate) fn lacks_provider(tool: &str, kind: &str) -> bool {
    tool == TOOL && kind == "not-found"
}

/// Whether a call that failed with this kind may have been made.
pub(crate) fn may_be_made(tool: &str, kind: &str) -> bool {
    !NOT_MADE.contains(&kind) && !lacks_provider(tool, kind)
}

/// A question to a model.
pub(crate) struct ModelCall {
    /// The role in which the program asks.
    pub(crate) role: String,
    pub(crate) model: String,
    pub(crate) messages: Vec<Message>,
    /// The names of the tools that it may ask for.
    pub(crate) tools: Vec<String>,
    /// The price by which the program counts answers that report no dollars.
    pub(crate) price: Option<Price>,
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Price {
    input: f64,
    output: f64,
}

impl Price {
    fn read(call: &IOValue) -> Option<Self> {
        let numbers = list(&field(call, "price")?)?.into_iter();
        let numbers: Vec<f64> = numbers.map_while(|number| number.as_double()).collect();
        let [input, output] = numbers[..] else {
            return None;
        };
        Some(Self { input, output })
    }

    #[expect(clippy::cast_precision_loss, reason = "nobody uses 2⁵³ tokens")]
    fn of(self, usage: &Usage) -> f64 {
        (usage.input_tokens as f64 * self.input + usage.output_tokens as f64 * self.output) / 1_000_000.0
    }
}

/// A message of a conversation.
pub(crate) struct Message {
    pub(crate) role: String,
    pub(crate) content: String,
    /// The calls that a model asked for.
    pub(crate) calls: Vec<String>,
}

/// A call that a model asks for.
pub(crate) struct WantedCall {
    /// The name of the tool.
    pub(crate) name: String,
    pub(crate) arguments: Option<IOValue>,
}

impl WantedCall {
    /// Reads an element of the list of calls that a model asks for.
    pub(crate) fn of(call: &IOValue) -> Self {
        Self {
            name: text_field(call, "name").unwrap_or_default(),
            arguments: field(call, "arguments"),
        }
    }

    /// Tells it in words.
    fn told(&self) -> String {
        let arguments = self.arguments.as_ref().map(shown);
        format!("{} {}", self.name, arguments.unwrap_or_default())
    }
}

/// The answer of a model.
pub(crate) struct ModelReply {
    pub(crate) model: Option<String>,
    pub(crate) content: String,
    /// The calls that it asks for.
    pub(crate) calls: Vec<WantedCall>,
    pub(crate) stop: String,
    pub(crate) usage: Usage,
}

/// The cost of exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// US dollars; nothing if the price of the model is not known.
    pub(crate) usd: Option<f64>,
}

/// Reads the call of a model.
pub(crate) fn asked(call: &InvokeTool) -> Option<ModelCall> {
    if call.tool != TOOL {
        return None;
    }
    let payload = call.payload.value();
    let messages = list(&field(&payload, "messages")?)?;
    Some(ModelCall {
        role: shown(&call.role),
        model: text_field(&payload, "model").unwrap_or_else(|| "default".to_owned()),
        messages: messages.into_iter().map(|message| read_message(&message)).collect(),
        tools: names(&payload, "tools"),
        price: Price::read(&payload),
    })
}

/// Reads the result of a call of `model/chat`; the caller knows that it is one.
pub(crate) fn heard(result: &IOValue) -> Option<ModelReply> {
    let usage = field(result, "usage").filter(IOValue::is_dictionary);
    let content = match field(result, "content") {
        Some(_) => text_field(result, "content")?,
        None => field(result, "tool_calls").map(|_| String::new())?,
    };
    let stop = text_field(result, "stop").unwrap_or_else(|| "end".to_owned());
    let calls = field(result, "tool_calls").map_or(Some(Vec::new()), |calls| list(&calls))?;
    let count = |key| field(usage.as_ref()?, key)?.as_u64()?.ok();
    Some(ModelReply {
        model: text_field(result, "model"),
        content,
        calls: calls.as_slice().iter().map(WantedCall::of).collect(),
        stop,
        usage: Usage {
            input_tokens: count("input_tokens").unwrap_or(0),
            output_tokens: count("output_tokens").unwrap_or(0),
            usd: usage.as_ref().and_then(|usage| field(usage, "usd")?.as_double()),
        },
    })
}

impl ModelCall {
    /// Tells the call in a few words: the role, the model, and what it hears last.
    pub(crate) fn line(&self) -> String {
        let last = self.messages.last();
        let last = last.map_or_else(String::new, |message| format!(": {:?}", message.content));
        format!("{} asks {}{last}", self.role, self.model)
    }

    /// Tells the call in full, row by row: a name, and lines of text.
    pub(crate) fn rows(&self) -> Vec<(&str, String)> {
        let tools = match self.tools.as_slice() {
            [] => String::new(),
            tools => format!(", with the tools {}", tools.join(", ")),
        };
        let head = format!(
            "{} asks {}: {}{tools}",
            self.role,
            self.model,
            counted(self.messages.len(), "message")
        );
        let mut rows = vec![("action", head)];
        for message in &self.messages {
            if !message.content.is_empty() || message.calls.is_empty() {
                rows.push((&message.role, message.content.clone()));
            }
            rows.extend(
                message
                    .calls
                    .as_slice()
                    .iter()
                    .map(|call| (&*message.role, format!("wants {call}"))),
            );
        }
        rows
    }
}

impl ModelReply {
    /// Tells the result in a few words: its cost, and the calls or the first words.
    pub(crate) fn line(&self) -> String {
        let names: Vec<&str> = self.calls.iter().map(|call| &*call.name).collect();
        let said = match (names.as_slice(), &*self.content) {
            ([], content) => format!("says {content:?}"),
            (names, _) => format!("wants {}", names.join(", ")),
        };
        let model = self
            .model
            .as_deref()
            .map(|model| format!(" {model}"))
            .unwrap_or_default();
        format!("model{model} {} {said}", self.usage.told(grouped))
    }

    /// Tells the result in full, row by row: a name, and lines of text.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let model = self.model.as_deref().unwrap_or("default");
        let mut rows = vec![("answer", format!("model {model} {}, stop: {}", self.cost(), self.stop))];
        if !self.content.is_empty() {
            rows.push(("says", self.content.clone()));
        }
        rows.extend(self.calls.iter().map(|call| ("wants", call.told())));
        rows
    }

    fn cost(&self) -> String {
        let (input, output, price) = (self.usage.input_tokens, self.usage.output_tokens, self.usage.price());
        format!("({input} + {output} tokens{price})")
    }
}

impl Usage {
    /// Tells it in words, with numbers as `number` writes them.
    pub(crate) fn told(&self, number: fn(u64) -> String) -> String {
        let (input, output) = (number(self.input_tokens), number(self.output_tokens));
        format!("{input} → {output} tokens{}", self.price())
    }

    /// The price in words that follow others; nothing if it is not known.
    fn price(&self) -> String {
        self.usd.map(|usd| format!(", {}", dollars(usd))).unwrap_or_default()
    }

    /// Counts the dollars by a price if they are not known.
    pub(crate) fn or_at(mut self, price: Option<Price>) -> Self {
        self.usd = self.usd.or_else(|| price.map(|price| price.of(&self)));
        self
    }

    /// Adds another one; the sum of a known and an unknown price is the known one.
    pub(crate) fn add(&mut self, other: &Usage) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.usd = match (self.usd, other.usd) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two),
        };
    }
}

/// Writes a number with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes an amount of US dollars, with as many digits as a small price needs.
pub(crate) fn dollars(amount: f64) -> String {
    if amount >= 1.0 {
        format!("${amount:.2}")
    } else {
        format!("${amount:.6}")
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
    }
}

fn read_message(message: &IOValue) -> Message {
    let calls = field(message, "tool_calls").and_then(|calls| list(&calls));
    let call = |call: &IOValue| WantedCall::of(call).told();
    Message {
        role: text_field(message, "role").unwrap_or_else(|| "?".to_owned()),
        content: content(message),
        calls: calls.unwrap_or_default().as_slice().iter().map(call).collect(),
    }
}

/// The content of a message; parts that are no texts are named.
pub(crate) fn content(message: &IOValue) -> String {
    let Some(content) = field(message, "content") else {
        return String::new();
    };
    let parts = match list(&content) {
        Some(parts) => parts,
        None => return text_field(message, "content").unwrap_or_default(),
    };
    let part = |part: IOValue| {
        text_field(&part, "text").unwrap_or_else(|| {
            let media = text_field(&part, "media_type").unwrap_or_else(|| "a part".to_owned());
            format!("[{media}]")
        })
    };
    parts.into_iter().map(part).collect::<Vec<_>>().join("\n")
}

fn names(value: &IOValue, key: &str) -> Vec<String> {
    let elements = field(value, key)
        .and_then(|elements| list(&elements))
        .unwrap_or_default();
    elements
        .into_iter()
        .filter_map(|element| text_field(&element, "name"))
        .collect()
}

/// The field of a dictionary, by a symbol or string.
pub(crate) fn field(value: &IOValue, key: &str) -> Option<IOValue> {
    let is_key = |found: &Value<IOValue>| {
        let name = found.as_symbol().or_else(|| found.as_string());
        name.is_some_and(|name| name == key)
    };
    let (_, found) = value.as_dictionary()?.find(|(found, _)| is_key(found))?;
    Some(found.into())
}

/// The elements of a sequence.
pub(crate) fn list(value: &IOValue) -> Option<Vec<IOValue>> {
    value.is_sequence().then(|| value.iter().map(IOValue::from).collect())
}

/// The text of a field of a dictionary.
pub(crate) fn text_field(value: &IOValue, key: &str) -> Option<String> {
    field(value, key)?.as_string().map(|text| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> ModelReply {
        heard(&text.parse().expect("a value")).expect("a result")
    }

    #[test]
    fn a_result_is_told_in_a_line() {
        let usage = "usage: {input_tokens: 61, output_tokens: 30, usd: 0.00123}";
        let said = result(&format!("{{content: \"Hi\\nthere\", stop: \"end\", {usage}}}"));
        assert_eq!(said.line(), "model 61 → 30 tokens, $0.00123 says \"Hi\\nthere\"");
        let calls = "tool_calls: [{id: \"a\", name: \"look\", arguments: {x: 1}} {id: \"b\", name: \"go\"}]";
        let wants = result(&format!("{{content: \"\", stop: \"tools\", {calls}}}"));
        assert_eq!(wants.line(), "model 0 → 0 tokens wants look, go");
        assert_eq!(wants.rows()[1], ("wants", "look {x: 1}".to_owned()));
        let brief = result("{content: \"Hi\"}");
        assert_eq!(
            (brief.line(), brief.stop),
            ("model 0 → 0 tokens says \"Hi\"".to_owned(), "end".to_owned())
        );
        let silent = result("{tool_calls: [{id: \"a\", name: \"look\"}]}");
        assert_eq!(silent.line(), "model 0 → 0 tokens wants look");
    }

    #[test]
    fn large_numbers_are_grouped() {
        let written = [0, 12, 999, 1_204, 1_234_567].map(grouped);
        assert_eq!(written, ["0", "12", "999", "1,204", "1,234,567"]);
    }

    #[test]
    fn other_values_are_no_results() {
        for text in ["1", "{}", "{content: 1, stop: \"end\"}", "{status: 200, body: \"\"}"] {
            assert!(heard(&text.parse().expect("a value")).is_none(), "{text}");
        }
    }

    #[test]
    fn dollars_have_the_digits_that_they_need() {
        assert_eq!(
            [12.345, 0.5, 0.000012, 0.0].map(dollars),
            ["$12.35", "$0.5", "$0.000012", "$0"]
        );
    }
}
