//! What a session says: the facts `session/event`.
//!
//! INVARIANT: an event that is not of its shape is none.
//! It shows nothing; `guest.rs` does. Read next: `guest.rs`.
//!
//! Source: the main specification, section 7; the library `(duet sessions)`.

use duet_runtime::model::codec::{Codec, Fields};
use duet_runtime::model::failure::Failure;
use preserves::{IOValue, Value, ValueImpl};

use super::prompt::Evaluated;
use super::session_question::SessionQuestion;

/// Something that a session says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    /// The session.
    pub(super) session: String,
    pub(super) kind: Kind,
    /// The request that it is about, or false.
    tag: IOValue,
    /// Its number among the events of the session, from 1.
    pub(super) number: u64,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Text that was written.
    Output(String),
    /// A line of the log.
    Log(String),
    /// The values of a request.
    Result(Vec<Written>),
    /// Why a request failed.
    Error(Failure),
    /// A question to the clients.
    Question(SessionQuestion),
    /// A question that is answered, or not asked any more.
    Closed(String),
    /// A question that was not open when its answer came.
    Stale(String),
    /// A call of a tool: the name of the call, the tool, and what became of it.
    Tool { id: String, tool: String, status: String },
}

/// A value, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    text: String,
    /// The name by which later texts can use it.
    name: Option<String>,
}

impl Written {
    /// The value on a line, with its name where a person types. Characters beyond the maximum are
    /// only counted.
    pub(super) fn shown(&self, characters_max: Option<usize>, is_named: bool) -> String {
        let name = self.name.as_deref().unwrap_or("it");
        let mut shown = match &self.name {
            Some(name) if is_named => format!("{name} = "),
            Some(_) | None => String::new(),
        };
        let end = characters_max.and_then(|limit| self.text.char_indices().nth(limit));
        let Some((end, _)) = end else {
            shown.extend([&self.text, "\n"]);
            return shown;
        };
        let (beginning, rest) = self.text.split_at(end);
        let surplus = rest.chars().count();
        let ending = if surplus == 1 { "" } else { "s" };
        let told = format!(
            "{beginning}…\nand {surplus} more character{ending}; `(write {name})` shows all of it, \
             `,print` shows all of each value\n"
        );
        shown + &told
    }
}

/// The fields of an event, in their order; each follows its keyword.
const KEYWORDS: [&str; 5] = [":session", ":kind", ":payload", ":tag", ":number"];

impl Event {
    /// Reads a fact; `None` if it is no event.
    pub(super) fn read(fact: &IOValue) -> Option<Self> {
        if !fact.is_simple_record("session/event", Some(2 * KEYWORDS.len())) {
            return None;
        }
        let part = |index: usize| IOValue::from(fact.index(index));
        let is_keyword = |(index, keyword): (usize, &&str)| part(2 * index) == symbol(keyword);
        if !KEYWORDS.iter().enumerate().all(is_keyword) {
            return None;
        }
        let number = u64::decode(&part(9)).ok()?;
        Some(Self {
            session: String::decode(&part(1)).ok()?,
            kind: Kind::read(part(3).as_symbol()?.as_ref(), &part(5), number)?,
            tag: part(7),
            number,
        })
    }

    /// How the request with a tag has ended, if this event ends it.
    pub(super) fn end(&self, tag: &IOValue) -> Option<Evaluated> {
        match self.kind {
            Kind::Output(_)
            | Kind::Log(_)
            | Kind::Question(_)
            | Kind::Closed(_)
            | Kind::Stale(_)
            | Kind::Tool { .. } => None,
            Kind::Result(_) => Some(Evaluated::Done),
            Kind::Error(_) => Some(Evaluated::Failed),
        }
        .filter(|_| self.tag == *tag)
    }
}

impl Kind {
    /// Reads the payload of a kind of event.
    fn read(kind: &str, payload: &IOValue, number: u64) -> Option<Self> {
        Some(match kind {
            "output" => Self::Output(String::decode(payload).ok()?),
            "log" => Self::Log(String::decode(payload).ok()?),
            "result" => Self::Result(values(payload)?),
            "error" => Self::Error(Failure::decode(payload).ok()?),
            "question" => Self::Question(asked(payload, number, false)?),
            "approval" => Self::Question(asked(payload, number, true)?),
            "closed" => Self::Closed(String::decode(payload).ok()?),
            "stale" => Self::Stale(String::decode(payload).ok()?),
            "tool" => {
                let mut fields = Fields::of(payload, "tool", 3).ok()?;
                let (id, tool) = (fields.read("id").ok()?, fields.read("tool").ok()?);
                let status: IOValue = fields.read("status").ok()?;
                let status = status.as_symbol()?.into_owned();
                Self::Tool { id, tool, status }
            }
            _ => return None,
        })
    }
}

fn asked(payload: &IOValue, number: u64, is_approval: bool) -> Option<SessionQuestion> {
    let mut fields = Fields::of(payload, "question", 2).ok()?;
    Some(SessionQuestion {
        number,
        id: fields.read("id").ok()?,
        prompt: fields.read("prompt").ok()?,
        is_approval,
        is_put: false,
    })
}

/// Makes a symbol.
pub(super) fn symbol(name: &str) -> IOValue {
    Value::symbol(name.to_owned()).into()
}

fn values(payload: &IOValue) -> Option<Vec<Written>> {
    let text = |value: &IOValue, key: &str| String::decode(&value.get(&symbol(key))?.into()).ok();
    let written = |value: &IOValue| {
        if !value.is_dictionary() {
            return None;
        }
        Some(Written {
            text: text(value, "written")?,
            name: text(value, "name"),
        })
    };
    let values: Vec<IOValue> = Codec::decode(payload).ok()?;
    values.into_iter().map(|value| written(&value)).collect()
}

#[cfg(test)]
#[expect(clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_with_its_name_and_not_longer_than_wanted() {
        let value = Written {
            text: "(ä b)".to_owned(),
            name: Some("$3".to_owned()),
        };
        assert_eq!(value.shown(None, false), "(ä b)\n");
        assert_eq!(value.shown(Some(5), true), "$3 = (ä b)\n");
        let cut = "(ä…\nand 3 more characters; `(write $3)` shows all of it, `,print` shows all of each value\n";
        assert_eq!(value.shown(Some(2), false), cut);
    }

    #[test]
    fn events_have_their_shape_or_are_none() {
        let read = |text: &str| Event::read(&text.parse().expect("well formed"));
        let whole = "<session/event ':session' \"ada\" ':kind' result ':payload' [{written: \"3\" data: 3}] \
                     ':tag' \"a-1\" ':number' 7>";
        let event = read(whole).expect("it is one");
        assert_eq!((event.session.as_str(), event.number), ("ada", 7));
        let three = Written {
            text: "3".to_owned(),
            name: None,
        };
        assert_eq!(event.kind, Kind::Result(vec![three]));
        assert_eq!(event.end(&IOValue::new("a-1".to_owned())), Some(Evaluated::Done));
        assert_eq!(event.end(&IOValue::new("a-2".to_owned())), None);
        let kind = |kind: &str, payload: &str| {
            let text = whole.replace("result", kind);
            read(&text.replace("[{written: \"3\" data: 3}]", payload)).map(|event| event.kind)
        };
        let Some(Kind::Question(asked)) = kind("approval", "<question \"q\" \"Allow?\">") else {
            panic!("it asks something");
        };
        assert_eq!((asked.number, asked.id.as_str(), asked.is_approval), (7, "q", true));
        assert_eq!(kind("closed", "\"q\""), Some(Kind::Closed("q".to_owned())));
        let (id, tool, status) = ("t".to_owned(), "shell".to_owned(), "called".to_owned());
        let called = kind("tool", "<tool \"t\" \"shell\" called>");
        assert_eq!(called, Some(Kind::Tool { id, tool, status }));
        assert_eq!(kind("question", "<question 1 \"Allow?\">"), None);
        for damaged in [
            whole.replace("result", "other"),
            whole.replace("':tag'", "':tab'"),
            whole.replace("[{", "[3 {"),
            whole.replace("written", "typed"),
            whole.replace(" 7>", " -7>"),
            whole.replace(" ':number' 7", ""),
        ] {
            assert_eq!(read(&damaged), None, "{damaged}");
        }
    }
}
