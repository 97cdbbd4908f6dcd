//! Questions to the person: how a prompt is shown, and how a typed line is read.
//!
//! INVARIANT: only one of its choices answers a question with choices, and a question shows no
//! control character of a program.
//! It neither shows a question nor reads a line; `input.rs` does.
//! Read next: `input.rs`.

use std::error::Error;
use std::fmt;

use preserves::{CompoundClass, IOValue, Value, ValueClass, ValueImpl};

use crate::text::{self, Text};

/// A question to the person, read from a prompt.
///
/// A string prompt is answered by a string. A record of a string and a list, such as `<ask
/// "Overwrite?" [yes no]>`, offers the list's members as choices; true and false are shown as `yes`
/// and `no`. Any other prompt is shown as Preserves text, and answered by a string.
#[derive(Clone, Debug)]
pub struct Question {
    text: String,
    choices: Vec<Choice>,
}

#[derive(Clone, Debug)]
struct Choice {
    word: String,
    value: IOValue,
}

/// A line that names none of a question's choices, or is a prefix of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAChoice {
    /// The line.
    pub line: String,
    /// The choices' words.
    pub words: Vec<String>,
}

impl fmt::Display for NotAChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not one of: {}", self.line, self.words.join(", "))
    }
}

impl Error for NotAChoice {}

impl Question {
    /// Reads a prompt.
    pub fn read(prompt: &IOValue) -> Self {
        if let Some(text) = prompt.as_string() {
            return Self {
                text: text.into_owned(),
                choices: Vec::new(),
            };
        }
        Self::with_choices(prompt).unwrap_or_else(|| Self {
            text: written(prompt),
            choices: Vec::new(),
        })
    }

    fn with_choices(prompt: &IOValue) -> Option<Self> {
        if !prompt.is_record() || prompt.len() == 0 || prompt.len() > 2 {
            return None;
        }
        let mut text = prompt.index(0).as_string()?.into_owned();
        if prompt.label().as_symbol().is_some_and(|label| label == "approve") {
            // The reason for asking is a program's, and must not look like more lines of Duet's.
            text = text::line(&text).into_owned();
        }
        let choices = match prompt.len() {
            1 => Vec::new(),
            _ => prompt
                .index(1)
                .as_sequence()?
                .map(|value| Choice::of(value.into()))
                .collect(),
        };
        Some(Self { text, choices })
    }

    /// Returns the text to show, with the choices; the person types behind it.
    pub fn shown(&self) -> Text {
        let words: Vec<String> = self
            .choices
            .iter()
            .map(|choice| text::line(&choice.word).into_owned())
            .collect();
        let text = text::inset(&self.text);
        let space = if text.is_empty() || text.ends_with(char::is_whitespace) {
            ""
        } else {
            " "
        };
        Text::from(if words.is_empty() {
            format!("{text}{space}")
        } else {
            format!("{text}{space}[{}] ", words.join("/"))
        })
    }

    /// Says whether a value can be an answer: it is one of the choices, if there are any.
    pub(crate) fn takes(&self, value: &IOValue) -> bool {
        self.choices.is_empty() || self.choices.iter().any(|choice| choice.value == *value)
    }

    /// Reads a typed line: without choices it is the answer; otherwise it names a choice, or is a
    /// prefix of only one, in upper or lower case.
    ///
    /// # Errors
    /// If the question has choices and the line names none or several.
    pub fn answer(&self, line: &str) -> Result<IOValue, NotAChoice> {
        if self.choices.is_empty() {
            return Ok(IOValue::new(line.to_owned()));
        }
        let typed = line.trim().to_lowercase();
        let exact = self.choices.iter().find(|choice| choice.word == line.trim());
        let mut begun = self
            .choices
            .iter()
            .filter(|choice| !typed.is_empty() && choice.word.to_lowercase().starts_with(&typed));
        let same = self.choices.iter().find(|choice| choice.word.to_lowercase() == typed);
        let only = begun.next().filter(|_| begun.next().is_none());
        match exact.or(same).or(only) {
            Some(choice) => Ok(choice.value.clone()),
            None => Err(NotAChoice {
                line: line.to_owned(),
                words: self.words(),
            }),
        }
    }

    fn words(&self) -> Vec<String> {
        self.choices.iter().map(|choice| choice.word.clone()).collect()
    }
}

impl Choice {
    fn of(value: IOValue) -> Self {
        let word = match value.as_boolean() {
            Some(true) => "yes".to_owned(),
            Some(false) => "no".to_owned(),
            None => match value.as_string().or_else(|| value.as_symbol()) {
                Some(text) => text.into_owned(),
                None => written(&value),
            },
        };
        Self { word, value }
    }
}

/// Writes a value as Preserves text, unless it is nested too deeply to be read.
fn written(value: &IOValue) -> String {
    const DEPTH_MAX: usize = 64;
    if is_within(value, DEPTH_MAX) {
        crate::text::preserves(value)
    } else {
        "(a deeply nested value)".to_owned()
    }
}

/// Says whether a value is nested at most `depth` levels; descends no further.
fn is_within(value: &IOValue, depth: usize) -> bool {
    let is_below = |value: Value<IOValue>| depth > 0 && is_within(&value.into(), depth - 1);
    match value.value_class() {
        ValueClass::Atomic(_) => true,
        ValueClass::Embedded => false,
        ValueClass::Compound(CompoundClass::Dictionary) => {
            value.entries().all(|(key, value)| is_below(key) && is_below(value))
        }
        ValueClass::Compound(CompoundClass::Record) => is_below(value.label()) && value.iter().all(is_below),
        ValueClass::Compound(CompoundClass::Sequence | CompoundClass::Set) => value.iter().all(is_below),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, shown: &str, answers: &[(&str, Result<&str, &str>)]) {
        let question = Question::read(&prompt.parse().expect("a prompt"));
        assert_eq!(question.shown().as_str(), shown, "{prompt}");
        for (line, expected) in answers {
            let answer = question
                .answer(line)
                .map(|value| format!("{value:?}"))
                .map_err(|error| error.to_string());
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(answer, expected, "{prompt} answered {line:?}");
        }
    }

    #[test]
    fn a_string_is_answered_by_the_line() {
        check(
            r#""Name?""#,
            "Name? ",
            &[("Ada", Ok(r#""Ada""#)), ("", Ok(r#""""#)), (" a b ", Ok(r#"" a b ""#))],
        );
        check(r#""name: ""#, "name: ", &[("x", Ok(r#""x""#))]);
        check(r#"<ask "Name?">"#, "Name? ", &[("Ada", Ok(r#""Ada""#))]);
    }

    #[test]
    fn a_choice_is_answered_by_its_value() {
        let refused = "`maybe` is not one of: yes, no";
        check(
            r#"<ask "Go on?" [#t #f]>"#,
            "Go on? [yes/no] ",
            &[
                ("yes", Ok("#t")),
                ("N", Ok("#f")),
                (" y ", Ok("#t")),
                ("maybe", Err(refused)),
                ("", Err("`` is not one of: yes, no")),
            ],
        );
        check(
            r#"<ask "Which?" [read "reads" <w 1>]>"#,
            "Which? [read/reads/<w 1>] ",
            &[
                ("read", Ok("read")),
                ("reads", Ok(r#""reads""#)),
                ("rea", Err("`rea` is not one of: read, reads, <w 1>")),
                ("<", Ok("<w 1>")),
            ],
        );
    }

    #[test]
    fn another_value_is_shown_as_it_is_written() {
        check("[1 2]", "[1, 2] ", &[("x", Ok(r#""x""#))]);
        check(r#"<ask "a" "b">"#, r#"<ask "a" "b"> "#, &[("x", Ok(r#""x""#))]);
    }

    #[test]
    fn a_question_cannot_draw_on_the_terminal() {
        check(r#""a\u001b[2J\u009b\u202e?""#, r"a\x1b;[2J\x9b;\x202e;? ", &[]);
        check(r#"<ask "a" ["b\n\u001b"]>"#, r"a [b\n\x1b;] ", &[]);
        check(r#""a?\nerror: b""#, "a?\n  error: b ", &[]);
    }

    #[test]
    fn a_deeply_nested_value_is_not_walked() {
        let deep = |levels: usize| (0..levels).fold(IOValue::new(true), |value, _| IOValue::new(vec![value]));
        assert_eq!(Question::read(&deep(3)).shown().as_str(), "[[[#t]]] ");
        assert_eq!(
            Question::read(&deep(2_000)).shown().as_str(),
            "(a deeply nested value) "
        );
    }
}
