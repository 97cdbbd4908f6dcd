//! The open questions of a guest's session.
//!
//! INVARIANT: a question has the number of the event that asked it, which no other one has, and is
//! put to the person at most once without being asked for.
//! It neither shows a question nor sends an answer; `guest.rs` does.
//! Read next: `guest.rs`.

use duet_drivers::ask::{NotAChoice, Question};
use duet_drivers::text::Text;
use duet_runtime::model::codec::Codec;
use preserves::{IOValue, ValueImpl};

/// A question to the clients of a session.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SessionQuestion {
    /// The number of its event.
    pub(super) number: u64,
    /// The session's name for it.
    pub(super) id: String,
    /// The question.
    pub(super) prompt: IOValue,
    /// Whether it asks to approve something.
    pub(super) is_approval: bool,
    /// Whether the person has seen it.
    pub(super) is_put: bool,
}

impl SessionQuestion {
    /// Whether the program reads a line of input, rather than ask something.
    pub(super) fn is_line(&self) -> bool {
        self.prompt.is_simple_record("line", Some(0))
    }

    /// The text to show.
    pub(super) fn shown(&self) -> Text {
        if self.is_line() {
            return Text::from("");
        }
        Question::read(&self.prompt).shown()
    }

    /// What to say of it while the person does something else.
    pub(super) fn told(&self) -> String {
        let (number, question) = (self.number, self.shown());
        let question = question.as_str().trim_end();
        if self.is_approval {
            return format!(
                "approval {number}: {question}\n`,answer {number} yes` approves it, `,answer {number} no` does not"
            );
        }
        let what = if self.is_line() {
            format!("question {number}: a line of input is wanted")
        } else {
            format!("question {number}: {question}")
        };
        format!("{what}\n`,answer TEXT` answers the oldest question, `,answer {number} TEXT` this one")
    }

    /// Reads a typed line.
    ///
    /// # Errors
    /// If it is none of the question's choices.
    pub(super) fn answer(&self, line: &str) -> Result<IOValue, NotAChoice> {
        if self.is_line() {
            return Ok(line.to_owned().encode());
        }
        Question::read(&self.prompt).answer(line)
    }
}

/// The open questions, oldest first.
#[derive(Debug, Default)]
pub(super) struct Open(Vec<SessionQuestion>);

impl Open {
    pub(super) fn add(&mut self, asked: SessionQuestion) {
        self.0.push(asked);
    }

    /// Removes a question by the session's name for it.
    pub(super) fn close(&mut self, id: &str) -> Option<SessionQuestion> {
        let position = self.0.iter().position(|asked| asked.id == id)?;
        Some(self.0.remove(position))
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether a question is open.
    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|asked| asked.id == id)
    }

    /// The oldest question that the person has not seen, which the person sees now.
    pub(super) fn unseen(&mut self) -> Option<SessionQuestion> {
        let asked = self.0.iter_mut().find(|asked| !asked.is_put)?;
        asked.is_put = true;
        Some(asked.clone())
    }

    /// The question that has been open longest.
    pub(super) fn oldest(&self) -> Option<&SessionQuestion> {
        self.0.first()
    }

    /// Finds the question that a text answers, whose first of several words may be its number, and
    /// the answer.
    /// Only by its number is something approved.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn answered<'a>(&self, text: &'a str) -> Result<(SessionQuestion, &'a str), &'static str> {
        // A number alone is an answer.
        let named = text.split_once(char::is_whitespace).and_then(|(word, rest)| {
            let number = word.parse::<u64>().ok()?;
            let named = self.0.iter().find(|asked| asked.number == number)?;
            Some((named, rest.trim_start()))
        });
        let oldest = || Some((self.0.iter().find(|asked| !asked.is_approval)?, text));
        let found = named.or_else(oldest);
        found
            .map(|(asked, answer)| (asked.clone(), answer))
            .ok_or(if self.0.is_empty() {
                "no question is open"
            } else {
                "what asks for approval has to be named by its number, as in `,answer 7 yes`"
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(number: u64, prompt: &str, is_approval: bool) -> SessionQuestion {
        SessionQuestion {
            number,
            id: format!("id-{number}"),
            prompt: prompt.parse().expect("a prompt"),
            is_approval,
            is_put: false,
        }
    }

    #[test]
    fn an_answer_is_for_the_oldest_question_unless_it_names_one() {
        let mut open = Open::default();
        assert_eq!(open.answered("yes"), Err("no question is open"));
        open.add(asked(3, "<approve \"Allow it?\" [#t #f]>", true));
        assert!(open.answered("yes").is_err_and(|why| why.contains("by its number")));
        open.add(asked(5, "\"Name?\"", false));
        open.add(asked(8, "<line>", false));
        for (text, number, answer) in [
            ("Ada", 5, "Ada"),
            ("3 yes", 3, "yes"),
            ("8 a line", 8, "a line"),
            ("8", 5, "8"),
            ("7 up", 5, "7 up"),
        ] {
            let found = open.answered(text).expect("one is open");
            assert_eq!((found.0.number, found.1), (number, answer), "{text}");
        }
        assert_eq!(open.unseen().map(|asked| asked.number), Some(3));
        assert_eq!(open.close("id-5").map(|asked| asked.number), Some(5));
        assert!(!open.has("id-5") && open.has("id-8"));
        assert_eq!(open.unseen().map(|asked| asked.number), Some(8));
        assert_eq!(open.unseen(), None);
    }

    #[test]
    fn a_line_is_an_answer_as_it_is_and_a_choice_one_of_the_choices() {
        let line = asked(1, "<line>", false);
        assert_eq!(
            (line.shown().as_str(), line.answer(" a ")),
            ("", Ok(IOValue::new(" a ".to_owned())))
        );
        let choice = asked(2, "<ask \"Go on?\" [#t #f]>", false);
        assert_eq!(choice.answer("y"), Ok(IOValue::new(true)));
        assert!(choice.answer("maybe").is_err());
    }
}
