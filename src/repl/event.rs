//! What a session says: the facts `session/event`.
//!
//! INVARIANT: an event that is not of its shape is none.
//! It shows nothing; `guest.rs` does. Read next: `guest.rs`.
//!
//! Source: the main specification, section 7; the library `(duet sessions)`.

use duet_runtime::model::codec::{Codec, Fields};
use duet_runtime::model::failure::Failure;
use preserves::{IOValue, Value, ValueImpl};

use super::asked::Asked;
use super::prompt::Evaluated;

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
    /// The values of a request, as they are written.
    Result(Vec<String>),
    /// Why a request failed.
    Error(Failure),
    /// A question to the clients.
    Question(Asked),
    /// A question that is answered, or not asked any more.
    Closed(String),
    /// A question that was not open when its answer came.
    Stale(String),
    /// A call of a tool: the name of the call, the tool, and what became of it.
    Tool { id: String, tool: String, status: String },
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

fn asked(payload: &IOValue, number: u64, is_approval: bool) -> Option<Asked> {
    let mut fields = Fields::of(payload, "question", 2).ok()?;
    Some(Asked {
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

/// The notations of values.
fn values(payload: &IOValue) -> Option<Vec<String>> {
    let written = |value: &IOValue| {
        let written = value.is_dictionary().then(|| value.get(&symbol("written")))??;
        String::decode(&written.into()).ok()
    };
    let values: Vec<IOValue> = Codec::decode(payload).ok()?;
    values.into_iter().map(|value| written(&value)).collect()
}

#[cfg(test)]
#[expect(clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn events_have_their_shape_or_are_none() {
        let read = |text: &str| Event::read(&text.parse().expect("well formed"));
        let whole = "<session/event ':session' \"ada\" ':kind' result ':payload' [{written: \"3\" data: 3}] \
                     ':tag' \"a-1\" ':number' 7>";
        let event = read(whole).expect("it is one");
        assert_eq!((event.session.as_str(), event.number), ("ada", 7));
        assert_eq!(event.kind, Kind::Result(vec!["3".to_owned()]));
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
