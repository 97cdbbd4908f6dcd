//! What a person said before anybody asked: answers to questions, and approvals.
//!
//! INVARIANT: an answer never approves anything, and an approval answers no question, whichever
//! comes first.
//! It does not ask; `world.rs` does.
//! Read next: `ask.rs`.

use std::collections::VecDeque;

use preserves::IOValue;

use crate::ask::{NotAChoice, Question};

/// Answers and approvals that are given ahead.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// Answers to questions of the program, as they would be typed; they are used in order.
    pub answers: VecDeque<String>,
    /// Approvals: names of tools and keys of entries, or their beginnings before a `*`.
    pub approvals: Vec<String>,
}

/// An answer that was given ahead.
pub(crate) struct PreparedAnswer {
    pub(crate) value: IOValue,
    /// The text that is shown behind the question.
    pub(crate) shown: String,
    /// The option that gave it.
    pub(crate) by: String,
}

impl Prepared {
    /// Finds the answer to a question, or to one that asks to approve what has these names.
    ///
    /// # Errors
    /// If the next answer is none of the question's choices; it is used up.
    pub(crate) fn answer(
        &mut self,
        question: &Question,
        approves: &[String],
    ) -> Option<Result<PreparedAnswer, NotAChoice>> {
        if !approves.is_empty() {
            return self.approval(approves).map(Ok);
        }
        let line = self.answers.pop_front()?;
        Some(question.answer(&line).map(|value| PreparedAnswer {
            value,
            by: "--answer".to_owned(),
            shown: line,
        }))
    }

    /// Returns an approval of a proposal if a pattern covers each of its names.
    fn approval(&self, approves: &[String]) -> Option<PreparedAnswer> {
        let covering = |name: &String| self.approvals.iter().find(|pattern| covers(pattern, name));
        let mut used: Vec<&str> = Vec::new();
        for name in approves {
            let pattern = covering(name)?.as_str();
            if !used.contains(&pattern) {
                used.push(pattern);
            }
        }
        let by = format!("--approve {}", used.join(" --approve "));
        Some(PreparedAnswer {
            value: IOValue::new(true),
            shown: format!("yes ({by})"),
            by,
        })
    }
}

/// Says whether a name is that of a pattern, at whose end a `*` stands for any rest.
pub fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(answers: &[&str], approvals: &[&str]) -> Prepared {
        Prepared {
            answers: answers.iter().map(|&text| text.to_owned()).collect(),
            approvals: approvals.iter().map(|&text| text.to_owned()).collect(),
        }
    }

    #[track_caller]
    fn check(prepared: &mut Prepared, approves: &[&str], expected: Option<(&str, &str)>) {
        let question = Question::read(&r#"<ask "Go on?" [#t #f]>"#.parse().expect("a prompt"));
        let approves: Vec<String> = approves.iter().map(|&name| name.to_owned()).collect();
        let found = prepared.answer(&question, &approves);
        let found = found.map(|found| {
            found.map_or_else(
                |error| (error.line, String::new()),
                |one| (format!("{:?}", one.value), one.by),
            )
        });
        let expected = expected.map(|(value, by)| (value.to_owned(), by.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn an_answer_fills_questions_only_and_an_approval_approves_only_what_it_names() {
        let mut prepared = said(&["yes", "perhaps"], &["workspace/*", "goal.ship"]);
        check(&mut prepared, &["process/run"], None);
        check(
            &mut prepared,
            &["workspace/write"],
            Some(("#t", "--approve workspace/*")),
        );
        check(&mut prepared, &[], Some(("#t", "--answer")));
        check(&mut prepared, &["workspace/write", "process/run"], None);
        let both = Some(("#t", "--approve workspace/* --approve goal.ship"));
        check(&mut prepared, &["workspace/write", "goal.ship", "workspace/read"], both);
        check(&mut prepared, &["workspace"], None);
        check(&mut prepared, &["goal.ship.it"], None);
        check(&mut prepared, &[], Some(("perhaps", "")));
        check(&mut prepared, &[], None);
        check(&mut said(&[], &["*"]), &["process/run"], Some(("#t", "--approve *")));
        check(&mut said(&[], &["*"]), &[], None);
    }
}
