//! News for a session of its own requests, in the turn in which they change, and its answers to its
//! own questions.
//!
//! INVARIANT: news of a change come before the fiber that waited for it goes on, so whatever a
//! session says about a request comes before what the request leads to. News of an end have a turn
//! that the fiber's failure does not undo.
//! It does not know when a request changes; `deliver.rs`, `operation.rs` and `arbitrate.rs` do.
//! Read next: `../../state/own_requests.rs`.

use preserves::IOValue;

use super::{Activation, Job};
use crate::action::{Action, Answer, Log};
use crate::model::identity::{FiberId, RequestId};
use crate::state::event::Event;
use crate::state::own_requests::Change;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// The calls of tools among attempts.
pub(super) type Calls = Vec<(RequestId, String)>;

impl Activation {
    /// Logs a line of text; a session hears of its own lines.
    ///
    /// # Errors
    /// [`Refusal::Pure`].
    pub fn log(&mut self, text: String) -> Result<(), Refusal> {
        let request = self.draft.state.counters.request();
        let told = self.draft.is_session().then(|| text.clone());
        self.perform(Log { request, text })?;
        self.keep_told();
        if let Some(told) = told {
            self.tell_of_log(request, &told);
        }
        Ok(())
    }

    /// Keeps what the turn has told people so far: a main program that then fails commits it first,
    /// and fails in a turn of its own.
    pub fn keep_told(&mut self) {
        self.has_told = true;
    }

    /// Returns whether the turn has told people something that its program's failure must not undo.
    pub fn has_told(&self) -> bool {
        self.has_told
    }

    /// Tells the acting actor, if it is a session, what became of its request.
    pub(super) fn tell_of_request(&mut self, request: RequestId, change: Change) {
        let news = self.draft.news_of_request(request, change, self.asking());
        self.tell_news(news);
    }

    /// Lists the calls among attempts, if the acting actor is a session.
    pub(super) fn calls_to_tell(&self, attempts: &[Action]) -> Calls {
        if !self.draft.is_session() {
            return Calls::new();
        }
        let calls = attempts.iter().filter_map(Action::call);
        calls.map(|call| (call.request, call.tool.clone())).collect()
    }

    /// As [`tell_of_request`](Self::tell_of_request), of calls that may not have been entered.
    pub(super) fn tell_of_calls(&mut self, calls: &Calls, change: Change) {
        for (request, tool) in calls.iter().rev() {
            let news = self.draft.news_of_call(*request, tool, change, self.asking());
            self.tell_news(news);
        }
    }

    /// Tells the acting actor, if it is a session, in its next turn of calls that were refused in
    /// this one, because the failure of this turn undoes the news that it had.
    pub(crate) fn tell_of_refused(&mut self, calls: Vec<(String, Option<FiberId>)>) {
        if !self.draft.is_session() {
            return;
        }
        for (tool, fiber) in calls {
            // The id that the call had may be given again.
            let request = self.fresh_request();
            if let Some(event) = self.draft.news_of_call(request, &tool, Change::Refused, fiber) {
                self.draft.outbox.push(self.draft.actor, event);
            }
        }
    }

    /// Tells the acting actor, if it is a session, of a line that it has logged.
    pub(super) fn tell_of_log(&mut self, request: RequestId, text: &str) {
        let (position, news) = (self.event, self.draft.news_of_log(request, text, self.asking()));
        // Lines are heard in their order, which a stack would reverse.
        self.later.extend(news.map(|event| Job::Deliver { position, event }));
    }

    pub(super) fn tell_news(&mut self, news: Option<Event>) {
        let position = self.event;
        self.jobs.extend(news.map(|event| Job::Deliver { position, event }));
    }

    fn asking(&self) -> Option<FiberId> {
        self.current.map(|current| current.fiber)
    }

    /// Answers a question of this actor by its name, in the place of a person; returns whether
    /// there is one.
    ///
    /// # Errors
    /// [`Refusal::Value`], [`Refusal::Pure`].
    pub(crate) fn answer_own(&mut self, name: &str, value: IOValue) -> Result<bool, Refusal> {
        let mut requests = self.draft.state.requests.iter();
        let is_it = |(id, request): &(&RequestId, &crate::state::request::Request)| {
            request.actor == self.draft.actor
                && request.answer.is_none()
                && matches!(request.question, Question::Ask { .. })
                && self.draft.names.name("request", id.0) == name
        };
        let Some(request) = requests.find(is_it).map(|(id, _)| *id) else {
            return Ok(false);
        };
        self.perform(Answer { request, value }).map(|()| true)
    }
}
