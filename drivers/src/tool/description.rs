//! What a tool says of itself: name, payload, result, effect, and how its calls may be repeated.
//!
//! INVARIANT: the words that people read and the schema that policy judges by come from one table of shapes, so they cannot disagree.
//! It does not take payloads apart; `tool/arguments.rs` does.
//! Read next: `tool/arguments.rs`.

use std::borrow::Cow;
use std::fmt;

use duet_runtime::policy::card::ToolCard;

/// What a tool is: shown in listings, judged by, and consulted before its calls are repeated or taken back.
#[derive(Clone, Debug)]
pub struct Description {
    /// The name programs use, such as `workspace/read`; `prefix/*` stands for every name that begins with `prefix/`.
    pub name: Cow<'static, str>,
    /// What it does, in one sentence.
    pub summary: Cow<'static, str>,
    /// The fields of its payload, a dictionary with symbols as keys; if there are none, it does not look at its payload.
    pub payload: Cow<'static, [Field]>,
    /// The shape of its result, in words.
    pub result: Cow<'static, str>,
    /// What a call needs besides the right to call it, in policy's words: `fs.read`, `fs.write`, `net`, `process`.
    pub needs: &'static [&'static str],
    /// What a call leaves in the world.
    pub effect: EffectClass,
    /// Whether a call may be repeated under the same key without doing more than once would.
    pub idempotent: bool,
    /// How long one attempt may take, in milliseconds; `None` if the tool keeps its own time.
    pub timeout_ms: Option<u64>,
    /// When an attempt that failed is followed by another.
    pub retry: Retry,
    /// Whether it is told secrets where its payload names them.
    pub takes_secrets: bool,
}

impl Description {
    /// What policy is told of the tool.
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
            .map(|field| format!("\"{}\":{}", field.name, field.shape.schema()))
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

/// When a call is attempted again, under the same key: if what it needs cannot be reached, so that nothing has happened; and, if the tool may be
/// called twice, also if there was no answer in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How many attempts there are in all, at least 1.
    pub attempts_max: u32,
    /// How long to wait before the second attempt, in milliseconds; before each further one twice as long.
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
    /// What it must be.
    pub shape: Shape,
    /// Whether a payload without it is refused.
    pub required: bool,
    /// What it means, and what holds without it.
    pub meaning: Cow<'static, str>,
}

impl Field {
    /// Describes a field that every payload has.
    pub const fn required(name: &'static str, shape: Shape, meaning: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            shape,
            required: true,
            meaning: Cow::Borrowed(meaning),
        }
    }

    /// Describes a field that may be left out.
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
        /// What a field must be.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Shape {
            $($(#[doc = $doc])* $shape,)*
        }

        impl Shape {
            /// Says what it is, worded to follow "expected".
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$shape => $words,)*
                }
            }

            /// The JSON Schema of it; bytes are an object of hexadecimal digits where JSON is judged.
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
    Path "a path inside the workspace, a string" r#"{"type":["string","object"]}"#
    /// Text.
    Text "a string" r#"{"type":"string"}"#
    /// Text or bytes.
    Bytes "a string or a bytevector" r#"{"type":["string","object"]}"#
    /// A number from 0.
    Count "an integer of 0 or more" r#"{"type":"integer","minimum":0}"#
    /// A number from 1.
    Positive "an integer above 0" r#"{"type":"integer","minimum":1}"#
    /// True or false.
    Flag "a boolean" r#"{"type":"boolean"}"#
    /// A command and its arguments.
    Words "a list of one or more strings" r#"{"type":"array","minItems":1,"items":{"type":"string"}}"#
    /// Names with texts.
    Texts "a dictionary from strings or symbols to strings" r#"{"type":"object","additionalProperties":{"type":"string"}}"#
}

/// What a call leaves in the world, as far as taking it back is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectClass {
    /// Nothing.
    Pure,
    /// Something that can be put back exactly.
    Reversible,
    /// Something that another call can make up for, from what this one returned.
    Compensable,
    /// Something that stays.
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
