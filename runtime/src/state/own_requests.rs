//! What a session hears of its own requests: its questions, its proposals and its calls of tools.
//!
//! An actor that plays the role `session` receives the message `<request/changed NAME CHANGE
//! SUBJECT FIBER>` at its root facet, where nobody else hears it. The subject is a question's
//! prompt, the name of a tool, or a line of the log; the fiber is the one that made the request, or
//! `#f`.
//! INVARIANT: other actors' turns are as if this did not exist, and a session that watches nothing
//! hears nothing.
//! It asserts nothing; the library `(duet sessions)` makes events of what a session hears.
//! Rejected: facts about calls of tools, for everybody. Each call of each actor would cost two
//! facts, and a fact cannot be granted to the actor that it concerns only.
//! Read next: `draft.rs`.

use preserves::IOValue;

use crate::model::codec::{Codec, record};
use crate::model::identity::{ActorId, FacetId, FiberId, RequestId};
use crate::model::value::Fact;
use crate::state::actor::Actor;
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::request::Question;

/// The tools of procedures that every program has, such as `current-time`; they are no news.
const AMBIENT: [&str; 2] = ["clock/", "chance/"];

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A person is asked a question.
    Asked,
    /// A person is asked to approve attempts.
    Proposed,
    /// The question or proposal is answered, or not asked any more.
    Closed,
    /// The call of a tool begins.
    Called,
    /// The call waits for approval, or until policy allows it.
    Waiting,
    /// The tool has returned.
    Returned,
    /// The tool has failed.
    Failed,
    /// The call is not allowed.
    Refused,
    /// Nobody waits for the tool any more.
    Withdrawn,
    /// The session shows a line of its log.
    Logged,
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Proposed => "proposed",
            Self::Closed => "closed",
            Self::Called => "called",
            Self::Waiting => "waiting",
            Self::Returned => "returned",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Withdrawn => "withdrawn",
            Self::Logged => "logged",
        }
    }
}

fn is_watching_session(actor: &Actor) -> bool {
    actor.is_session() && !actor.observers.is_empty()
}

impl Draft {
    /// The event by which the acting actor hears of a change of its request; `None` if it is no
    /// session, or the change is no news.
    pub(crate) fn news_of_request(&self, request: RequestId, change: Change, fiber: Option<FiberId>) -> Option<Event> {
        if !self.is_session() {
            return None;
        }
        let subject = match &self.state.requests.get(&request)?.question {
            Question::Ask { prompt } | Question::Approve { prompt, .. } => prompt.clone(),
            Question::Tool { name, .. } | Question::Deferred { name, .. } => {
                return self.news_of_call(request, name, change, fiber);
            }
            Question::Read { .. }
            | Question::Timer { .. }
            | Question::Limit { .. }
            | Question::Deadline { .. }
            | Question::Postponed { .. } => return None,
        };
        self.news(request, change, subject, fiber)
    }

    /// As [`news_of_request`](Self::news_of_request), of the call of a tool that may not be entered.
    pub(crate) fn news_of_call(
        &self,
        request: RequestId,
        tool: &str,
        change: Change,
        fiber: Option<FiberId>,
    ) -> Option<Event> {
        if AMBIENT.iter().any(|family| tool.starts_with(family)) || !self.is_session() {
            return None;
        }
        self.news(request, change, tool.to_owned().encode(), fiber)
    }

    /// The event by which the acting actor hears of a line that it has logged; `None` if it is no
    /// session.
    pub(crate) fn news_of_log(&self, request: RequestId, text: &str, fiber: Option<FiberId>) -> Option<Event> {
        if !self.is_session() {
            return None;
        }
        self.news(request, Change::Logged, text.to_owned().encode(), fiber)
    }

    /// The event by which another actor hears of a line for its log; `None` if it is no session.
    pub(crate) fn news_for(&self, to: ActorId, request: RequestId, text: String) -> Option<Event> {
        let session = self.state.actor(to).filter(|actor| is_watching_session(actor))?;
        self.news_at(session.root, request, Change::Logged, text.encode(), None)
    }

    /// Whether the acting actor is a session that watches something.
    pub(crate) fn is_session(&self) -> bool {
        self.acting().is_ok_and(is_watching_session)
    }

    fn news(&self, request: RequestId, change: Change, subject: IOValue, fiber: Option<FiberId>) -> Option<Event> {
        self.news_at(self.acting().ok()?.root, request, change, subject, fiber)
    }

    fn news_at(
        &self,
        facet: FacetId,
        request: RequestId,
        change: Change,
        subject: IOValue,
        fiber: Option<FiberId>,
    ) -> Option<Event> {
        let name = self.names.name("request", request.0).encode();
        let fiber = fiber.map_or_else(|| IOValue::new(false), |fiber| fiber.0.encode());
        let fields = vec![name, IOValue::symbol(change.name()), subject, fiber];
        // A prompt that is too deep was refused when it was asked.
        let payload = Fact::new(record("request/changed", fields)).ok()?;
        Some(Event::Direct { facet, payload })
    }

    /// Tells a session in its next turn that a request of its own ends without an answer.
    pub(super) fn tell_end_of_request(&mut self, request: RequestId) {
        let known = self.state.requests.get(&request);
        let Some(known) = known.filter(|known| known.answer.is_none()) else {
            return;
        };
        let change = match known.question {
            Question::Tool { .. } | Question::Deferred { .. } => Change::Withdrawn,
            Question::Ask { .. } | Question::Approve { .. } => Change::Closed,
            Question::Read { .. }
            | Question::Timer { .. }
            | Question::Limit { .. }
            | Question::Deadline { .. }
            | Question::Postponed { .. } => return,
        };
        if let Some(event) = self.news_of_request(request, change, None) {
            self.outbox.push(self.actor, event);
        }
    }
}
