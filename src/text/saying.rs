//! What Duet says to a person, with the ways on that it names.
//!
//! A way is data: a verb, a place, and the other words. Each surface spells it: the command line as
//! `duet goto review@3`, a prompt as `,goto 3`.
//! INVARIANT: nobody searches the words of a saying for commands.
//! It does not know the verbs. Read next: `terminal.rs`.

use std::borrow::Cow;

use duet_drivers::text::Text;

/// Who spells the ways in a saying.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// A command of the command line.
    #[default]
    Command,
    /// A comma command of a prompt, which has a run and a branch already.
    Prompt,
}

/// The verbs whose address comes after the other words.
const PATTERN_FIRST: [&str; 3] = ["when", "why", "why-not"];

/// A way on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    verb: &'static str,
    /// The run or branch, if the way leads to one.
    place: Option<String>,
    turn: Option<String>,
    /// The words after the address.
    rest: String,
}

impl Way {
    /// A way without a place.
    pub(crate) fn of(verb: &'static str) -> Self {
        Self {
            verb,
            place: None,
            turn: None,
            rest: String::new(),
        }
    }

    /// A way at a run or branch.
    pub(crate) fn at(verb: &'static str, place: impl ToString) -> Self {
        Self {
            place: Some(place.to_string()),
            ..Self::of(verb)
        }
    }

    /// A way at a turn of a run or branch.
    pub(crate) fn turn(verb: &'static str, place: impl ToString, turn: impl ToString) -> Self {
        Self {
            turn: Some(turn.to_string()),
            ..Self::at(verb, place)
        }
    }

    /// Adds words after the address.
    pub(crate) fn with(self, rest: impl Into<String>) -> Self {
        Self {
            rest: rest.into(),
            ..self
        }
    }

    /// Spells the way, between backquotes.
    fn spelled(&self, speaker: Speaker) -> String {
        let comma = match speaker {
            Speaker::Command => None,
            Speaker::Prompt => self.comma(),
        };
        let command = comma.unwrap_or_else(|| {
            let turn = self.turn.as_ref().map(|turn| format!("@{turn}"));
            let address = self
                .place
                .as_ref()
                .map(|place| format!("{place}{}", turn.unwrap_or_default()));
            let words = ["duet", self.verb].into_iter().map(Cow::Borrowed);
            let rest = (!self.rest.is_empty()).then_some(Cow::Borrowed(self.rest.as_str()));
            let (address, rest) = (address.map(Cow::Owned), rest);
            let (first, second) = if PATTERN_FIRST.contains(&self.verb) {
                (rest, address)
            } else {
                (address, rest)
            };
            let words = words.chain(first).chain(second);
            words.collect::<Vec<_>>().join(" ")
        });
        format!("`{command}`")
    }

    /// The command of the command line, without marks around it.
    fn command(&self) -> String {
        self.spelled(Speaker::Command).trim_matches('`').to_owned()
    }

    /// The comma command that does the same, if there is one.
    fn comma(&self) -> Option<String> {
        let Self { verb, turn, rest, .. } = self;
        match (*verb, turn) {
            ("goto" | "show" | "explain" | "frames", Some(turn)) => Some(format!(",{verb} {turn}")),
            ("pick", Some(turns)) => {
                let place = self.place.as_deref()?;
                let branch = place.split_once('/').map_or(place, |(_, branch)| branch);
                Some(format!(",pick {branch}@{turns}"))
            }
            ("eval", Some(turn)) => Some(format!(",at {turn} {rest}")),
            ("answer" | "fork", None) => Some(format!(",{verb} {rest}").trim_end().to_owned()),
            ("branches" | "explain" | "facts" | "help" | "log" | "redo" | "undo" | "waits", None)
                if rest.is_empty() =>
            {
                Some(format!(",{verb}"))
            }
            _ => None,
        }
    }
}

/// A word that a shell reads as it is.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./@=:,+%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A part of a saying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Words(Text),
    Way(Way),
}

impl From<&str> for Part {
    fn from(words: &str) -> Self {
        Self::Words(words.into())
    }
}

impl From<String> for Part {
    fn from(words: String) -> Self {
        Self::Words(words.into())
    }
}

impl From<Way> for Part {
    fn from(way: Way) -> Self {
        Self::Way(way)
    }
}

/// Words with ways in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saying(Vec<Part>);

impl Saying {
    /// Adds a part.
    pub(crate) fn and(mut self, part: impl Into<Part>) -> Self {
        self.0.push(part.into());
        self
    }

    /// Several sayings, one after the other.
    pub(crate) fn joined(sayings: impl IntoIterator<Item = Self>) -> Self {
        Self(sayings.into_iter().flat_map(|saying| saying.0).collect())
    }

    /// Several sayings, a line each.
    pub(crate) fn lines(sayings: Vec<Self>) -> Self {
        let ended = |(position, saying): (usize, Self)| {
            let before = if position == 0 { "" } else { "\n" };
            Self::joined([before.into(), saying])
        };
        Self::joined(sayings.into_iter().enumerate().map(ended))
    }

    /// The commands of the ways in it, in their order.
    pub(crate) fn commands(&self) -> Vec<String> {
        let way = |part: &Part| match part {
            Part::Way(way) => Some(way.command()),
            Part::Words(_) => None,
        };
        self.0.iter().filter_map(way).collect()
    }

    /// The words, with the ways as the speaker spells them.
    pub(crate) fn spelled(&self, speaker: Speaker) -> Text {
        let part = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Way(way) => way.spelled(speaker).into(),
        };
        Text::joined(&self.0.iter().map(part).collect::<Vec<_>>(), "")
    }
}

impl<P: Into<Part>> From<P> for Saying {
    fn from(part: P) -> Self {
        Self(vec![part.into()])
    }
}

impl From<Text> for Part {
    fn from(words: Text) -> Self {
        Self::Words(words)
    }
}

impl From<&String> for Part {
    fn from(words: &String) -> Self {
        Self::Words(words.into())
    }
}

/// Makes a saying of words and ways.
macro_rules! say {
    ($($part:expr),+ $(,)?) => { $crate::text::saying::Saying::default()$(.and($part))+ };
}
pub(crate) use say;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_surface_spells_a_way_its_own_way() {
        for (way, command, prompt) in [
            (Way::turn("goto", "s/other", 3), "`duet goto s/other@3`", "`,goto 3`"),
            (Way::turn("show", "s", 3), "`duet show s@3`", "`,show 3`"),
            (Way::turn("frames", "s", 3), "`duet frames s@3`", "`,frames 3`"),
            (Way::at("waits", "s"), "`duet waits s`", "`,waits`"),
            (
                Way::turn("eval", "s", 3).with("EXPR"),
                "`duet eval s@3 EXPR`",
                "`,at 3 EXPR`",
            ),
            (Way::of("help"), "`duet help`", "`,help`"),
            (
                Way::at("answer", "s").with("TEXT"),
                "`duet answer s TEXT`",
                "`,answer TEXT`",
            ),
            (Way::at("resume", "s"), "`duet resume s`", "`duet resume s`"),
            (
                Way::at("waits", "s").with("--full"),
                "`duet waits s --full`",
                "`duet waits s --full`",
            ),
            (Way::turn("goto", "s", "-1"), "`duet goto s@-1`", "`,goto -1`"),
        ] {
            let saying = say!["go: ", way, "."];
            assert_eq!(saying.spelled(Speaker::Command).as_str(), format!("go: {command}."));
            assert_eq!(saying.spelled(Speaker::Prompt).as_str(), format!("go: {prompt}."));
        }
    }
}
