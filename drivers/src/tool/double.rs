//! Test doubles by script: a file lists the answers of tools, and nothing happens in the world.
//!
//! A script is one dictionary in the text form of Preserves, from the names of tools to lists of
//! replies, which are given in order, each once:
//! `<returns VALUE>`, `<fails KIND MESSAGE>`, `<after MILLISECONDS REPLY>`, `<for TEXT REPLY>`,
//! which is kept for a call with the text in its payload, `<asked PAYLOAD REPLY>`, which is kept
//! for a call with exactly this payload, and `<by ACTOR DEFINITION REPLY>`, which is for a call by
//! this actor, preferably in this definition, wherever it is known who calls. `<silent>` leaves a
//! call without an answer, as if the program had withdrawn it before. `<like PAYLOAD REPLY>` is
//! `<asked …>` with a dictionary in which `<first COUNT [REST …]>` stands for a list: as many
//! elements of the list that the payload before has there, then the rest. So the calls of a
//! conversation, each of which repeats what was said, take as much room as what is new.
//! INVARIANT: a tool that has a double is never called; a double has the description of the tool
//! that it replaces.
//! It does not answer calls; `scripted.rs` does.
//! Read next: `tool/scripted.rs`.

mod shared;

use std::collections::BTreeMap;
use std::fmt;

use duet_runtime::driver::packed::framing::{Fault, FrameError, TextError, read_text};
use duet_runtime::driver::packed::{MAX_DEPTH, PackedLimits};
use duet_runtime::driver::{Asker, Asking, ToolFailure};
use preserves::{IOValue, ValueImpl};

use super::Registry;
use super::arguments::count;
use super::interface::{Outcome, Tool};
use super::scripted::{Reply, Scripted};
use crate::text::preserves;

/// The limits of a script. It lies on the disk of whoever starts the run, and a result in it may be
/// too long for a run, which the call then says.
const LIMITS: PackedLimits = PackedLimits {
    depth_max: MAX_DEPTH,
    bytes_max: usize::MAX - 1,
};

/// The reason why a text is no script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoubleError {
    /// It is not the text of one value.
    Text(String),
    /// Brackets are nested too deep.
    TooDeep,
    /// It is not a dictionary from names to lists.
    NoDictionary,
    /// A reply has none of the forms.
    NoReply {
        /// The tool.
        tool: String,
        /// Its position, from 1.
        position: usize,
        /// The text in its place.
        found: String,
    },
}

impl fmt::Display for DoubleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(error) => write!(formatter, "not the text of one value: {error}"),
            Self::TooDeep => write!(formatter, "brackets are nested more than {MAX_DEPTH} deep"),
            Self::NoDictionary => write!(
                formatter,
                "expected a dictionary from the names of tools to lists of replies"
            ),
            Self::NoReply { tool, position, found } => write!(
                formatter,
                "reply {position} of {tool} must be <returns value>, <fails kind message>, \
                 <after milliseconds reply>, <for text reply>, <asked payload reply>, \
                 <like payload reply>, <by actor definition reply> or <silent>, not {found}"
            ),
        }
    }
}

impl std::error::Error for DoubleError {}

/// The doubles of a script. Clones share the replies, so one tells what others have left.
#[derive(Clone, Debug)]
pub struct Doubles(Vec<Scripted>);

impl Doubles {
    /// Reads a script.
    ///
    /// # Errors
    /// [`DoubleError`].
    pub fn read(script: &str) -> Result<Self, DoubleError> {
        read(script).map(Self)
    }

    /// The names of the tools.
    pub fn names(&self) -> Vec<String> {
        let name = |double: &Scripted| double.description().name.to_string();
        self.0.iter().map(name).collect()
    }

    /// Leaves out the doubles of tools.
    #[must_use]
    pub fn without(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|double| !is_left_out(&double.description().name));
        self
    }

    /// Replaces tools by their doubles.
    #[must_use]
    pub fn stand_in(&self, tools: Registry) -> Registry {
        self.0.iter().cloned().fold(tools, |tools, double| {
            let name = double.description().name.clone();
            // Policy judges these apart from the tools of their server.
            let looking = tools.looking(&name).into_iter();
            let tools = tools.with_all(looking.map(|description| double.clone().in_place_of(description)));
            let double = match tools.find(&name) {
                Ok(tool) => double.standing_in_for(tool.description()),
                Err(_) => double,
            };
            tools.with(double)
        })
    }

    /// Returns the replies that no call has taken so far, each with the name of its tool.
    pub fn left(&self) -> Vec<(String, Reply)> {
        let of = |double: &Scripted| {
            let name = double.description().name.to_string();
            let left = double.left().into_iter();
            left.map(|reply| (name.clone(), reply)).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of).collect()
    }
}

/// Reads a script and replaces tools by its doubles.
///
/// # Errors
/// [`DoubleError`]; then no tool is replaced.
pub fn stand_in(tools: Registry, script: &str) -> Result<Registry, DoubleError> {
    Ok(Doubles::read(script)?.stand_in(tools))
}

/// Returns the names of the tools for which a script has doubles; none if the text is no script.
pub fn names(script: &str) -> Vec<String> {
    Doubles::read(script).map_or_else(|_| Vec::new(), |doubles| doubles.names())
}

fn value_of(script: &str) -> Result<IOValue, DoubleError> {
    read_text(script, LIMITS).map_err(|error| match error {
        TextError::Faulty(FrameError {
            fault: Fault::TooDeep { .. },
            ..
        }) => DoubleError::TooDeep,
        other @ (TextError::Empty | TextError::Unfinished(_) | TextError::Several | TextError::Faulty(_)) => {
            DoubleError::Text(other.to_string())
        }
    })
}

fn read(script: &str) -> Result<Vec<Scripted>, DoubleError> {
    let value = value_of(script)?;
    let entries = value.as_dictionary().ok_or(DoubleError::NoDictionary)?;
    let double = |(name, replies): (preserves::Value<IOValue>, preserves::Value<IOValue>)| {
        let name = name
            .as_string()
            .or_else(|| name.as_symbol())
            .ok_or(DoubleError::NoDictionary)?
            .into_owned();
        let replies = replies.as_sequence().ok_or(DoubleError::NoDictionary)?;
        let mut before: Option<IOValue> = None;
        (1..)
            .zip(replies)
            .try_fold(Scripted::new(name.clone()), |double, (position, reply)| {
                let reply = IOValue::from(reply);
                let read = read_reply(&reply, before.as_ref()).ok_or_else(|| DoubleError::NoReply {
                    tool: name.clone(),
                    position,
                    found: format!("{reply:?}"),
                })?;
                if read.payload.is_some() {
                    before.clone_from(&read.payload);
                }
                Ok(double.prepared(read))
            })
    };
    entries.map(double).collect()
}

/// Reads a reply; `before` is the payload of the one before it in the list.
fn read_reply(reply: &IOValue, before: Option<&IOValue>) -> Option<Reply> {
    let plain = |outcome| Reply {
        payload: None,
        by: None,
        texts: Vec::new(),
        delay_ms: 0,
        outcome,
    };
    let label = reply
        .is_record()
        .then(|| reply.label().as_symbol().map(std::borrow::Cow::into_owned))??;
    let field = |index: usize| IOValue::from(reply.index(index));
    match (label.as_str(), reply.len()) {
        ("silent", 0) => Some(plain(None)),
        ("returns", 1) => Some(plain(Some(Ok(field(0))))),
        ("fails", 2) => {
            let failure = ToolFailure {
                kind: field(0).as_symbol()?.into_owned(),
                message: field(1).as_string()?.into_owned(),
                details: Vec::new(),
            };
            Some(plain(Some(Err(failure))))
        }
        ("after", 2) => {
            let mut reply = read_reply(&field(1), before)?;
            reply.delay_ms = reply.delay_ms.saturating_add(count(&field(0))?);
            Some(reply)
        }
        ("for", 2) => {
            let mut reply = read_reply(&field(1), before)?;
            reply.texts.push(field(0).as_string()?.into_owned());
            Some(reply)
        }
        ("asked", 2) => {
            let mut reply = read_reply(&field(1), before)?;
            reply.payload = Some(field(0));
            Some(reply)
        }
        ("like", 2) => {
            let mut reply = read_reply(&field(1), before)?;
            reply.payload = Some(shared::whole(&field(0), before?)?);
            Some(reply)
        }
        ("by", 3) => {
            let mut reply = read_reply(&field(2), before)?;
            let by = Asker {
                actor: field(0).as_string()?.into_owned(),
                definition: field(1).as_string()?.into_owned(),
            };
            (reply.by.replace(by)).is_none().then_some(reply)
        }
        _ => None,
    }
}

/// A call of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    /// The name of the tool.
    pub tool: String,
    /// Who asked what.
    pub asking: Asking,
    /// The answer; nothing if the program withdrew the call, or still waits.
    pub outcome: Option<Outcome>,
    /// How long after the call the answer comes, in milliseconds, so that it does not overtake
    /// what came before it.
    pub delay_ms: u64,
}

/// Writes a script with a reply to each call, in the order of the tools' names, then of the
/// payloads and of who asked; equal calls keep their order.
pub fn written(calls: &[RecordedCall]) -> String {
    let mut tools: BTreeMap<&str, Vec<(IOValue, [String; 3])>> = BTreeMap::new();
    for RecordedCall {
        tool,
        asking,
        outcome,
        delay_ms,
    } in calls
    {
        let text = |text: &str| preserves(&IOValue::new(text.to_owned()));
        let reply = match outcome {
            None => "<silent>".to_owned(),
            Some(Ok(value)) => format!("<returns {}>", preserves(value)),
            Some(Err(failure)) => {
                let kind = preserves(&IOValue::symbol(failure.kind.clone()));
                format!("<fails {kind} {}>", text(&failure.message))
            }
        };
        let reply = match delay_ms {
            0 => reply,
            _ => format!("<after {delay_ms} {reply}>"),
        };
        let by = format!("{} {}", text(&asking.asker.actor), text(&asking.asker.definition));
        let payload = asking.arguments.value();
        let texts = [preserves(&payload), by, reply];
        tools.entry(tool).or_default().push((payload, texts));
    }
    let mut script = "{\n".to_owned();
    for (tool, mut replies) in tools {
        replies.sort_by(|(_, one), (_, other)| one[..2].cmp(&other[..2]));
        script.push_str(&format!("  {}: [\n", preserves(&IOValue::new(tool.to_owned()))));
        let mut before: Option<IOValue> = None;
        for (payload, [text, by, reply]) in replies {
            let shared = before.as_ref().and_then(|before| shared::shortened(&payload, before));
            let (label, text) = shared.map_or(("asked", text), |shared| ("like", shared));
            script.push_str(&format!("    <{label} {text}\n     <by {by}\n      {reply}>>\n"));
            before = Some(payload);
        }
        script.push_str("  ]\n");
    }
    script.push_str("}\n");
    script
}

#[cfg(test)]
mod tests {
    use duet_runtime::model::value::Fact;

    use super::*;

    #[track_caller]
    fn check(script: &str, expected: Result<&[&str], &str>) {
        let found = read(script).map(|doubles| {
            doubles
                .iter()
                .map(|double| double.description().name.to_string())
                .collect::<Vec<_>>()
        });
        let found = found.map_err(|error| error.to_string());
        let expected = expected
            .map(|names| names.iter().map(|name| (*name).to_owned()).collect())
            .map_err(str::to_owned);
        assert_eq!(found, expected, "{script}");
    }

    #[test]
    fn what_is_written_is_read_and_comes_in_one_order() {
        let call = |tool: &str, payload: &str, outcome| RecordedCall {
            tool: tool.to_owned(),
            asking: Asking {
                asker: Asker {
                    actor: "main/a".to_owned(),
                    definition: "f \"g\"".to_owned(),
                },
                what: tool.to_owned(),
                arguments: Fact::new(payload.parse().expect("a value")).expect("small"),
                nth: 1,
            },
            outcome,
            delay_ms: 0,
        };
        let failure = ToolFailure {
            kind: "not-found".to_owned(),
            message: "a \"b\"\n\u{1b}".to_owned(),
            details: Vec::new(),
        };
        let calls = [
            call("b", "{x: 2}", Some(Ok(IOValue::new(1)))),
            call("b", "{x: 1}", Some(Err(failure))),
            call("a", "[\"é\"]", None),
        ];
        let script = written(&calls);
        check(&script, Ok(&["a", "b"]));
        let late = RecordedCall {
            delay_ms: 7,
            ..calls[0].clone()
        };
        assert!(written(&[late]).contains("<after 7 <returns 1>>"));
        let other = [calls[2].clone(), calls[1].clone(), calls[0].clone()];
        assert_eq!(written(&other), script);
        assert!(script.contains("<silent>"), "{script}");
        let doubles = Doubles::read(&script).expect("a script");
        assert_eq!(doubles.without(|name| name == "a").names(), ["b"]);
    }

    #[test]
    fn a_conversation_takes_as_much_room_as_what_is_new() {
        let asked = |said: usize| -> IOValue {
            let messages: Vec<String> = (0..said)
                .map(|number| format!("{{content: \"word {number}\"}}"))
                .collect();
            let text = format!("{{messages: [{}], model: \"m\"}}", messages.join(" "));
            text.parse().expect("a value")
        };
        let call = |arguments: IOValue| RecordedCall {
            tool: "model/chat".to_owned(),
            asking: Asking {
                asker: Asker {
                    actor: "main".to_owned(),
                    definition: String::new(),
                },
                what: "model/chat".to_owned(),
                arguments: Fact::new(arguments).expect("small"),
                nth: 1,
            },
            outcome: Some(Ok(IOValue::new(1))),
            delay_ms: 0,
        };
        // The last one looks as if it were shortened, so it is written whole.
        let odd: IOValue = "{messages: <first 1 []>, model: \"m\"}".parse().expect("a value");
        let mut payloads: Vec<IOValue> = (1..=100).map(asked).chain([odd]).collect();
        let script = written(&payloads.as_slice().iter().cloned().map(call).collect::<Vec<_>>());
        assert!(script.len() < 20_000, "{}", script.len());
        let doubles = read(&script).expect("a script");
        let mut found: Vec<IOValue> = doubles[0]
            .left()
            .into_iter()
            .filter_map(|reply| reply.payload)
            .collect();
        found.sort();
        payloads.sort();
        assert_eq!(found, payloads);
        for strange in [
            "{a: [<like {m: <first 1 []>} <returns 1>>]}",
            "{a: [<asked {m: []} <returns 1>> <like {m: <first 1 []>} <returns 1>>]}",
            "{a: [<asked {m: [1]} <returns 1>> <like {n: <first 1 []>} <returns 1>>]}",
            "{a: [<asked {m: [1]} <returns 1>> <like 1 <returns 1>>]}",
        ] {
            assert!(matches!(read(strange), Err(DoubleError::NoReply { .. })), "{strange}");
        }
    }

    #[test]
    fn scripts_are_read_and_strange_ones_refused() {
        check("{}", Ok(&[]));
        check(
            "{ \"http/get\": [<returns {status: 200}> <fails unavailable \"down\">] \
             clock/second: [<after 5 <returns 1.0>> <for \"a\" <for \"b\" <returns 2.0>>>] }",
            Ok(&["http/get", "clock/second"]),
        );
        check(
            "[]",
            Err("expected a dictionary from the names of tools to lists of replies"),
        );
        check(
            "{a: 1}",
            Err("expected a dictionary from the names of tools to lists of replies"),
        );
        check("{} {}", Err("not the text of one value: more than one value is given"));
        check(
            "{a: [<return 1>]}",
            Err("reply 1 of a must be <returns value>, <fails kind message>, \
                 <after milliseconds reply>, <for text reply>, <asked payload reply>, \
                 <like payload reply>, <by actor definition reply> or <silent>, not <return 1>"),
        );
        check(&"[".repeat(100_000), Err("brackets are nested more than 512 deep"));
        check(
            "{a: [<returns voilà> <returns a|b>]} # a comment at the end",
            Ok(&["a"]),
        );
        check(
            "{a: [<returns 1>]",
            Err("not the text of one value: a bracket is never closed"),
        );
    }
}
