//! Answers to the questions of a page: reports as JSON, of a bounded size.
//!
//! INVARIANT: a text of an answer has at most [`TEXT_CHARACTERS`], a list at most [`ITEMS`], and
//! texts get shorter where there are many; the answer says where it was cut. So a value of any size
//! costs the page and its server little. An answer tells all values apart, and a browser rounds no
//! number of it.
//! It asks nothing itself. Read next: `verb.rs`, `text/value_json.rs`.

use serde_json::{Value as Json, json};

use crate::history::journal::Journal;
use crate::surface::agent::refused;
use crate::surface::command::fsck;
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Saying, Speaker};
use crate::text::terminal::Terminal;
use crate::text::value_json::{exact, telling_apart};
use crate::text::view::View;
use crate::verb::project::Project;
use crate::verb::{Report, Request, perform};

/// The first of the words of a process that answers a question of a page: the request as JSON and
/// the journal follow.
pub(crate) const QUESTION: &str = "--page-question";

/// Stands in the place of a request for the report of `duet fsck`.
const CHECK: &str = "check";

/// The maximum length of a text, in characters.
const TEXT_CHARACTERS: usize = 20_000;

/// The length of all texts together from which on each has at most [`BRIEF_CHARACTERS`].
const ALL_CHARACTERS: usize = 2_000_000;

/// The maximum length of a text where there are many, in characters.
const BRIEF_CHARACTERS: usize = 200;

/// The maximum length of a list.
const ITEMS: usize = 2_000;

/// The maximum number of places of cuts that are named.
const CUTS: usize = 100;

/// The words of a process of its own that answers a request.
pub(crate) fn words(request: &Request, journal: &Journal) -> Vec<String> {
    // A request has texts, numbers and flags only, which all are JSON.
    let text = serde_json::to_string(request).unwrap_or_default();
    let journal = journal.text();
    vec![QUESTION.to_owned(), text, journal]
}

/// The words of a process of its own that checks the journal.
pub(crate) fn check_words(journal: &Journal) -> Vec<String> {
    let journal = journal.text();
    vec![QUESTION.to_owned(), CHECK.to_owned(), journal]
}

/// Answers in a process of its own.
///
/// # Errors
/// If standard output is closed, or the request is none.
pub(crate) fn execute(text: &str, journal: &str, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = Journal::named(journal)?;
    if text == CHECK {
        return fsck::check(journal, terminal);
    }
    let request: Request =
        serde_json::from_str(text).map_err(|error| CommandError::caused("the request is not understood", &error))?;
    terminal.json(&answer(&request, &journal))?;
    Ok(ExitCode::OK)
}

/// Answers a request: the report, or the error that a command would print.
fn answer(request: &Request, journal: &Journal) -> Json {
    let mut project = Project::of(journal);
    let made = telling_apart(|| perform(&mut project, request).map(|report| (report.json(), report)));
    let (mut value, report) = match made {
        Ok(made) => made,
        Err(error) => return refusal(error),
    };
    let told = report.tell(&View::default());
    let mut cutting = Cutting::default();
    cutting.cut(&mut value);
    let mut answer = json!({
        "report": value,
        "messages": lines(told.messages),
        "code": told.code.0,
        "cuts": cutting.cuts,
        "now_ms": journal.now_ms(),
    });
    if let Some(patterns) = patterns(&report) {
        answer["patterns"] = patterns.into_iter().take(ITEMS).map(pattern).collect();
    }
    answer
}

/// The facts of a report as patterns that find them.
fn patterns(report: &Report) -> Option<Vec<String>> {
    if let Report::Facts(facts) = report {
        return Some(facts.patterns());
    }
    if let Report::Show(shown) = report {
        return Some(shown.patterns());
    }
    None
}

/// A pattern, or nothing in place of one that is too long to send back.
fn pattern(pattern: String) -> Json {
    (pattern.len() <= TEXT_CHARACTERS).then_some(pattern).into()
}

/// The error that a command would print.
pub(crate) fn refusal(error: CommandError) -> Json {
    let (code, messages) = refused(error);
    json!({ "error": lines(messages).join("\n"), "code": code.0 })
}

fn lines(messages: Vec<Saying>) -> Vec<String> {
    let line = |message: Saying| message.spelled(Speaker::Command).as_str().trim_end().to_owned();
    messages.into_iter().map(line).collect()
}

/// The shortening of texts and lists that are too long.
#[derive(Default)]
struct Cutting {
    /// The place that is looked at, as a JSON Pointer.
    place: String,
    /// The length of the texts so far.
    characters: usize,
    /// The places of cuts.
    cuts: Vec<String>,
}

impl Cutting {
    fn cut(&mut self, value: &mut Json) {
        match value {
            Json::String(text) => self.cut_text(text),
            Json::Array(items) => {
                if items.len() > ITEMS {
                    self.note();
                    items.truncate(ITEMS);
                }
                let items = items.iter_mut().enumerate();
                items.for_each(|(index, item)| self.cut_within(item, &index.to_string()));
            }
            Json::Object(members) => {
                let members = members.iter_mut();
                members.for_each(|(name, member)| self.cut_within(member, name));
            }
            Json::Number(_) => exact(value),
            Json::Null | Json::Bool(_) => {}
        }
    }

    fn cut_text(&mut self, text: &mut String) {
        let is_much = self.characters > ALL_CHARACTERS;
        let most = if is_much { BRIEF_CHARACTERS } else { TEXT_CHARACTERS };
        if let Some((end, _)) = text.char_indices().nth(most) {
            self.note();
            let rest = text[end..].chars().count();
            text.truncate(end);
            text.push_str(&format!("… and {rest} more characters"));
        }
        self.characters += text.len();
    }

    fn cut_within(&mut self, value: &mut Json, name: &str) {
        let length = self.place.len();
        self.place.push('/');
        self.place.push_str(name);
        self.cut(value);
        self.place.truncate(length);
    }

    fn note(&mut self) {
        if self.cuts.len() < CUTS {
            self.cuts.push(self.place.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_and_lists_are_cut_and_the_places_named() {
        let mut value = json!({ "a": ["x".repeat(TEXT_CHARACTERS + 3), 1], "b": vec![0; ITEMS + 1], "c": "short" });
        let mut cutting = Cutting::default();
        cutting.cut(&mut value);
        assert_eq!(cutting.cuts, ["/a/0", "/b"]);
        assert!(
            value["a"][0]
                .as_str()
                .unwrap_or_default()
                .ends_with("x… and 3 more characters")
        );
        assert_eq!(value["b"].as_array().map(Vec::len), Some(ITEMS));
        assert_eq!(value["c"], "short");
    }

    #[test]
    fn many_texts_are_shorter_than_few() {
        let mut value = json!(vec!["x".repeat(TEXT_CHARACTERS); ITEMS]);
        Cutting::default().cut(&mut value);
        let length = value.to_string().len();
        assert!(length < 2 * ALL_CHARACTERS, "{length}");
    }
}
