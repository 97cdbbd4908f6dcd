//! Test doubles by script: a file lists the answers of tools, and nothing happens in the world.
//!
//! A script is one dictionary in the text form of Preserves, from the names of tools to lists of
//! replies, which are given in order, each once:
//! `<returns VALUE>`, `<fails KIND MESSAGE>`, `<after MILLISECONDS REPLY>`, and `<for TEXT REPLY>`,
//! which is kept for a call with the text in its payload.
//! INVARIANT: a tool that has a double is never called; a double has the description of the tool
//! that it replaces.
//! It does not answer calls; `scripted.rs` does.
//! Read next: `tool/scripted.rs`.

use std::fmt;

use duet_runtime::driver::ToolFailure;
use duet_runtime::driver::packed::framing::{Fault, FrameError, TextError, read_text};
use duet_runtime::driver::packed::{MAX_DEPTH, PackedLimits};
use preserves::{IOValue, ValueImpl};

use super::Registry;
use super::arguments::count;
use super::interface::Tool;
use super::scripted::{Reply, Scripted};

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
    /// A reply has none of the four forms.
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
                 <after milliseconds reply> or <for text reply>, not {found}"
            ),
        }
    }
}

impl std::error::Error for DoubleError {}

/// Reads a script and replaces tools by its doubles.
///
/// # Errors
/// [`DoubleError`]; then no tool is replaced.
pub fn stand_in(tools: Registry, script: &str) -> Result<Registry, DoubleError> {
    let doubles = read(script)?;
    Ok(doubles.into_iter().fold(tools, |tools, double| {
        let name = double.description().name.clone();
        let double = match tools.find(&name) {
            Ok(tool) => double.standing_in_for(tool.description()),
            Err(_) => double,
        };
        tools.with(double)
    }))
}

/// Returns the names of the tools for which a script has doubles; none if the text is no script.
pub fn names(script: &str) -> Vec<String> {
    let doubles = read(script).unwrap_or_default();
    doubles
        .iter()
        .map(|double| double.description().name.to_string())
        .collect()
}

fn read(script: &str) -> Result<Vec<Scripted>, DoubleError> {
    let value = read_text(script, LIMITS).map_err(|error| match error {
        TextError::Faulty(FrameError {
            fault: Fault::TooDeep { .. },
            ..
        }) => DoubleError::TooDeep,
        other @ (TextError::Empty | TextError::Unfinished(_) | TextError::Several | TextError::Faulty(_)) => {
            DoubleError::Text(other.to_string())
        }
    })?;
    let entries = value.as_dictionary().ok_or(DoubleError::NoDictionary)?;
    let double = |(name, replies): (preserves::Value<IOValue>, preserves::Value<IOValue>)| {
        let name = name
            .as_string()
            .or_else(|| name.as_symbol())
            .ok_or(DoubleError::NoDictionary)?
            .into_owned();
        let replies = replies.as_sequence().ok_or(DoubleError::NoDictionary)?;
        (1..)
            .zip(replies)
            .try_fold(Scripted::new(name.clone()), |double, (position, reply)| {
                let reply = IOValue::from(reply);
                let read = read_reply(&reply).ok_or_else(|| DoubleError::NoReply {
                    tool: name.clone(),
                    position,
                    found: format!("{reply:?}"),
                })?;
                Ok(double.prepared(read))
            })
    };
    entries.map(double).collect()
}

fn read_reply(reply: &IOValue) -> Option<Reply> {
    let plain = |outcome| Reply {
        texts: Vec::new(),
        delay_ms: 0,
        outcome,
    };
    let label = reply
        .is_record()
        .then(|| reply.label().as_symbol().map(std::borrow::Cow::into_owned))??;
    let field = |index: usize| IOValue::from(reply.index(index));
    match (label.as_str(), reply.len()) {
        ("returns", 1) => Some(plain(Ok(field(0)))),
        ("fails", 2) => {
            let failure = ToolFailure {
                kind: field(0).as_symbol()?.into_owned(),
                message: field(1).as_string()?.into_owned(),
                details: Vec::new(),
            };
            Some(plain(Err(failure)))
        }
        ("after", 2) => {
            let mut reply = read_reply(&field(1))?;
            reply.delay_ms = reply.delay_ms.saturating_add(count(&field(0))?);
            Some(reply)
        }
        ("for", 2) => {
            let mut reply = read_reply(&field(1))?;
            reply.texts.push(field(0).as_string()?.into_owned());
            Some(reply)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
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
                 <after milliseconds reply> or <for text reply>, not <return 1>"),
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
