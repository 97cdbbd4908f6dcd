//! The description of a tool: name, payload, result, effect, and how its calls may be repeated.
//!
//! INVARIANT: the words for people and the JSON Schema for policy come from one table of shapes, so
//! they cannot disagree.
//! It does not read payloads; `tool/arguments.rs` does.
//! Read next: `tool/arguments.rs`.

use std::borrow::Cow;
use std::fmt;

use duet_runtime::model::card::ToolCard;
use duet_runtime::run::inflight::REPEATABLE;

use super::returns::Returns;

/// A tool's description: listings show it, policy judges by it, and repeating or undoing a call
/// depends on it.
#[derive(Clone, Debug)]
pub struct Description {
    /// The name programs use, such as `workspace/read`; `prefix/*` stands for every name that
    /// begins with `prefix/`.
    pub name: Cow<'static, str>,
    /// What it does, in one sentence.
    pub summary: Cow<'static, str>,
    /// The fields of its payload, a dictionary with symbols as keys; a tool without fields ignores
    /// its payload.
    pub payload: Cow<'static, [Field]>,
    /// The shape of its result, in words.
    pub result: Cow<'static, str>,
    /// The same shape, to check a result that a person gives in place of the tool.
    pub returns: Returns,
    /// The capabilities that a call needs besides the right to call it: `fs.read`, `fs.write`,
    /// `mcp.read`, `mcp.write`, `net`, `process`.
    pub needs: &'static [&'static str],
    /// The effect of a call on the world.
    pub effect: EffectClass,
    /// Whether repeating a call under the same key has no further effect.
    pub idempotent: bool,
    /// The time limit of one attempt, in milliseconds; `None` if the tool limits its time itself.
    pub timeout_ms: Option<u64>,
    /// How often a failed attempt is repeated.
    pub retry: Retry,
    /// Whether it receives secrets where its payload names them.
    pub takes_secrets: bool,
}

/// What a tool answers, in words and as a shape.
pub(crate) struct Answer {
    result: &'static str,
    returns: Returns,
}

impl Answer {
    pub(crate) const fn new(result: &'static str, returns: Returns) -> Self {
        Self { result, returns }
    }
}

impl Description {
    /// Describes a tool that waits for another process or machine: it needs `net`, is not repeated,
    /// limits its time itself and takes no secrets.
    pub(crate) const fn of_connection(
        name: &'static str,
        summary: &'static str,
        payload: &'static [Field],
        answer: Answer,
        effect: EffectClass,
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            summary: Cow::Borrowed(summary),
            payload: Cow::Borrowed(payload),
            result: Cow::Borrowed(answer.result),
            needs: &["net"],
            effect,
            idempotent: false,
            timeout_ms: None,
            retry: Retry::NEVER,
            returns: answer.returns,
            takes_secrets: false,
        }
    }

    /// Describes a tool that changes nothing and may be repeated: it needs no capability, limits
    /// its time itself and takes no secrets.
    pub(crate) const fn pure(
        name: &'static str,
        summary: &'static str,
        payload: &'static [Field],
        answer: Answer,
    ) -> Self {
        let mut description = Self::of_connection(name, summary, payload, answer, EffectClass::Pure);
        description.needs = &[];
        description.idempotent = true;
        description
    }

    /// The same tool, whose calls need these capabilities.
    pub(crate) const fn needing(mut self, needs: &'static [&'static str]) -> Self {
        self.needs = needs;
        self
    }

    /// The same tool, each of whose attempts ends after this time in milliseconds.
    pub(crate) const fn within_ms(mut self, timeout_ms: u64) -> Self {
        self.timeout_ms = Some(timeout_ms);
        self
    }

    /// Says whether a payload may declare that its call may be made again, if nobody knows whether
    /// it happened: it then has the field [`REPEATABLE`].
    pub fn lets_calls_repeat(&self) -> bool {
        self.payload.iter().any(|field| field.name == REPEATABLE)
    }

    /// The same tool, which receives secrets where its payload names them.
    pub(crate) const fn taking_secrets(mut self) -> Self {
        self.takes_secrets = true;
        self
    }

    /// Returns the description that policy judges by.
    pub fn card(&self) -> ToolCard {
        ToolCard {
            name: self.name.clone().into_owned(),
            capabilities: self.needs.iter().map(|need| (*need).to_owned()).collect(),
            schema: if self.payload.is_empty() {
                String::new()
            } else {
                self.schema()
            },
            needs_approval: false,
        }
    }

    /// The JSON Schema of its payload.
    pub fn schema(&self) -> String {
        let properties: Vec<String> = self
            .payload
            .iter()
            .map(|field| format!("\"{}\":{}", field.name, field.schema()))
            .collect();
        let required = self.payload.iter().filter(|field| field.required);
        let required: Vec<String> = required.map(|field| format!("\"{}\"", field.name)).collect();
        format!(
            "{{\"type\":\"object\",\"properties\":{{{}}},\"required\":[{}],\"additionalProperties\":false}}",
            properties.join(","),
            required.join(",")
        )
    }
}

/// How often a call is attempted under the same key: again if the server could not be reached, so
/// that nothing has happened; and, if the tool is idempotent, also if there was no answer in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The maximum number of attempts, at least 1.
    pub attempts_max: u32,
    /// The delay before the second attempt, in milliseconds; it doubles before each further one.
    pub delay_ms: u64,
}

impl Retry {
    /// One attempt.
    pub const NEVER: Self = Self {
        attempts_max: 1,
        delay_ms: 0,
    };
}

impl fmt::Display for Retry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.attempts_max {
            0 | 1 => formatter.write_str("never"),
            attempts => write!(
                formatter,
                "up to {attempts} attempts, the second after {} ms",
                self.delay_ms
            ),
        }
    }
}

/// One field of a payload.
#[derive(Clone, Debug)]
pub struct Field {
    /// The key, a symbol.
    pub name: Cow<'static, str>,
    /// The shape of its value.
    pub shape: Shape,
    /// Whether the tool refuses a payload without it.
    pub required: bool,
    /// Its meaning, and its default if it is optional.
    pub meaning: Cow<'static, str>,
}

impl Field {
    /// Declares of one call that it may be made again.
    pub(crate) const REPEATABLE: Self = Self::optional(
        REPEATABLE,
        Shape::Flag,
        "whether the call is made again, under the same key, if nobody knows whether it happened, because Duet was \
         killed; without it the call then fails with `interrupted`",
    );

    /// Describes a field that every payload has.
    pub const fn required(name: &'static str, shape: Shape, meaning: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            shape,
            required: true,
            meaning: Cow::Borrowed(meaning),
        }
    }

    /// The JSON Schema of its value. A path that may be left out is the root then, which policy has
    /// to know, because a constraint judges the path that the tool uses.
    fn schema(&self) -> String {
        let schema = self.shape.schema();
        match (self.shape, self.required, schema.strip_suffix('}')) {
            (Shape::Path, false, Some(open)) => format!("{open},\"default\":\".\"}}"),
            _ => schema.to_owned(),
        }
    }

    /// Describes a field that may be left out; a path without which the tool takes the root.
    pub const fn optional(name: &'static str, shape: Shape, meaning: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            shape,
            required: false,
            meaning: Cow::Borrowed(meaning),
        }
    }
}

macro_rules! shapes {
    ($($(#[doc = $doc:literal])* $shape:ident $words:literal $schema:literal)*) => {
        /// The shape of a field's value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Shape {
            $($(#[doc = $doc])* $shape,)*
        }

        impl Shape {
            /// Names it, worded to follow "expected".
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$shape => $words,)*
                }
            }

            /// Returns its JSON Schema; policy sees bytes as an object of hexadecimal digits.
            pub fn schema(self) -> &'static str {
                match self {
                    $(Self::$shape => $schema,)*
                }
            }
        }
    };
}

shapes! {
    /// A path in the workspace.
    Path "a path inside the workspace, a string" r#"{"type":["string","object"],"format":"path"}"#
    /// An address of the web.
    Address "an address, a string" r#"{"type":"string","format":"uri"}"#
    /// The name of a host.
    Host "the name of a host, a string" r#"{"type":"string","format":"hostname"}"#
    /// Text.
    Text "a string" r#"{"type":"string"}"#
    /// Text or bytes.
    Bytes "a string or a bytevector" r#"{"type":["string","object"]}"#
    /// A number from 0.
    Count "an integer of 0 or more" r#"{"type":"integer","minimum":0}"#
    /// A number from 1.
    Positive "an integer above 0" r#"{"type":"integer","minimum":1}"#
    /// A whole number.
    Integer "an integer" r#"{"type":"integer"}"#
    /// True or false.
    Flag "a boolean" r#"{"type":"boolean"}"#
    /// A list of anything.
    Values "a list" r#"{"type":"array"}"#
    /// Anything.
    Anything "anything" "{}"
    /// A command and its arguments.
    Words "a list of one or more strings" r#"{"type":"array","minItems":1,"items":{"type":"string"}}"#
    /// Names with texts.
    Texts "a dictionary from strings or symbols to strings"
        r#"{"type":"object","additionalProperties":{"type":"string"}}"#
}

/// The effect of a call on the world, as far as undoing it is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectClass {
    /// None.
    Pure,
    /// A change that can be undone exactly.
    Reversible,
    /// A change that another call can compensate for, given the result of this one.
    Compensable,
    /// A change that stays.
    Irreversible,
}

impl fmt::Display for EffectClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Pure => "pure",
            Self::Reversible => "reversible",
            Self::Compensable => "compensable",
            Self::Irreversible => "irreversible",
        })
    }
}
