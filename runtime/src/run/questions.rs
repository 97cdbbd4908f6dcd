//! The open questions of a run, and the names by which a person answers one of them.
//!
//! INVARIANT: a name finds at most one question: the oldest one that it names.
//! It asks nobody; the drivers do.
//! Read next: `../state/request.rs`.

use preserves::IOValue;

use crate::model::identity::RequestId;
use crate::run::Run;
use crate::state::request::Question;

/// A question that waits for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenQuestion {
    /// The request that an [`Input::Answer`](crate::driver::Input::Answer) names.
    pub request: RequestId,
    /// The unique name of the request, as its `user-input-request` fact shows it.
    pub id: String,
    /// The name that the program gave it, by default the unique one.
    pub tag: String,
    /// The question.
    pub prompt: IOValue,
}

impl Run {
    /// Lists the open questions, oldest first.
    pub fn open_questions(&self) -> Vec<OpenQuestion> {
        let requests = self.state.requests.iter();
        let open = requests.filter(|(_, request)| request.answer.is_none());
        let asked = open.filter_map(|(id, request)| match &request.question {
            Question::Ask { prompt } | Question::Approve { prompt, .. } => Some(OpenQuestion {
                request: *id,
                id: self.names.name("request", id.0),
                tag: request.tag.clone(),
                prompt: prompt.clone(),
            }),
            Question::Tool { .. }
            | Question::Deferred { .. }
            | Question::Postponed { .. }
            | Question::Read { .. }
            | Question::Timer { .. }
            | Question::Limit { .. }
            | Question::Deadline { .. } => None,
        });
        asked.collect()
    }

    /// Lists the open questions with their prompts, oldest first.
    pub fn questions(&self) -> Vec<(RequestId, IOValue)> {
        let open = self.open_questions().into_iter();
        open.map(|question| (question.request, question.prompt)).collect()
    }

    /// Finds the oldest open question with this tag, this unique name or this number.
    pub fn question_named(&self, name: &str) -> Option<OpenQuestion> {
        let number = name.parse().ok();
        let is_it =
            |question: &OpenQuestion| question.tag == name || question.id == name || Some(question.request.0) == number;
        self.open_questions().into_iter().find(is_it)
    }
}
