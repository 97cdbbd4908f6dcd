//! A run of this process, seen by who talks to it: what it evaluates, asks and waits for, and the
//! names that its texts see.
//!
//! INVARIANT: looking changes nothing.
//! It answers no question of the run; `stepwise.rs` does. Read next: `stepwise.rs`.

use std::collections::BTreeSet;

use duet_journal::Sequence;
use duet_runtime::action::exit::MAIN;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::identity::{ActorId, FiberId, RequestId};
use duet_runtime::run::Run;
use duet_runtime::run::questions::OpenQuestion;
use duet_runtime::scheme::SchemePrograms;
use duet_runtime::state::RunState;
use duet_runtime::state::actor::FiberKind;
use duet_runtime::state::request::{Held, Question};
use preserves::ValueImpl;

use super::OwnedRun;

/// The evaluations of texts that have not ended.
pub(crate) fn evaluations(state: &RunState) -> BTreeSet<FiberId> {
    let fibers = state.actor(MAIN).into_iter().flat_map(|main| main.fibers.iter());
    let evaluations = fibers.filter(|(_, fiber)| fiber.kind == (FiberKind::Interaction {}));
    evaluations.map(|(id, _)| *id).collect()
}

/// The newest evaluation of a text that has not ended.
pub(crate) fn newest_evaluation(state: &RunState) -> Option<FiberId> {
    evaluations(state).last().copied()
}

/// Whether a request asks the person to approve something.
pub(crate) fn is_approval(state: &RunState, request: RequestId) -> bool {
    let request = state.requests.get(&request);
    request.is_some_and(|request| matches!(request.question, Question::Approve { .. }))
}

/// A run, to be looked at.
#[derive(Clone, Copy)]
pub(crate) struct RunView<'a> {
    run: &'a Run,
}

impl OwnedRun {
    /// Lets the run be looked at.
    pub(crate) fn view(&self) -> RunView<'_> {
        RunView::of(&self.run)
    }
}

impl<'a> RunView<'a> {
    /// Looks at a run.
    pub(crate) fn of(run: &'a Run) -> Self {
        Self { run }
    }

    /// The newest evaluation that has not ended.
    pub(crate) fn newest_evaluation(&self) -> Option<FiberId> {
        newest_evaluation(self.run.state())
    }

    /// The number of fibers that wait.
    pub(crate) fn waiting_fibers(&self) -> usize {
        self.run.state().actors.values().map(|actor| actor.fibers.len()).sum()
    }

    /// The open questions to the person, oldest first.
    pub(crate) fn open_questions(&self) -> Vec<OpenQuestion> {
        self.run.open_questions()
    }

    /// The names of the sessions in the run.
    pub(crate) fn guests(&self) -> Vec<String> {
        let facts = self.run.state().dataspace.facts().into_iter().map(|(fact, _)| fact);
        let ready = facts.filter(|fact| fact.is_simple_record("session/ready", Some(2)));
        ready
            .filter_map(|fact| String::decode(&fact.index(1).into()).ok())
            .collect()
    }

    /// Finds an open question by its number, its tag, or the name in its fact; without one, the
    /// oldest open question of the program: an approval has to be named.
    pub(crate) fn question(&self, named: Option<&str>) -> Option<OpenQuestion> {
        let Some(named) = named else {
            let mut open = self.run.open_questions().into_iter();
            return open.find(|open| !self.is_approval(open.request));
        };
        self.run.question_named(named)
    }

    /// Whether a request asks the person to approve something.
    pub(crate) fn is_approval(&self, request: RequestId) -> bool {
        is_approval(self.run.state(), request)
    }

    /// Whether a fiber reads standard input.
    pub(crate) fn is_reading(&self) -> bool {
        self.has_open(|question| matches!(question, Question::Read { .. }))
    }

    /// Whether a tool is at work, whose call would be lost if the journal were closed.
    pub(crate) fn is_calling(&self) -> bool {
        self.has_open(|question| matches!(question, Question::Tool { .. }))
    }

    fn has_open(&self, is_it: impl Fn(&Question) -> bool) -> bool {
        let mut requests = self.run.state().requests.values();
        requests.any(|request| request.answer.is_none() && is_it(&request.question))
    }

    /// The newest turn whose record is before all others that are not durable yet.
    pub(crate) fn newest_durable(&self) -> Sequence {
        let ahead = self.run.unflushed().map_or(0, |append| append.records.len() as u64);
        let newest = self.run.head().map_or(0, |tip| tip.sequence.number());
        Sequence::new(newest.saturating_sub(ahead)).unwrap_or(Sequence::FIRST)
    }

    /// The names that are visible to the texts, each with whether it is a keyword.
    pub(crate) fn names(&self) -> Vec<(String, bool)> {
        let Some(instance) = self.run.instance::<SchemePrograms>(MAIN) else {
            return Vec::new();
        };
        self.run.programs::<SchemePrograms>().interaction_names(instance)
    }

    /// The actor of a session.
    pub(super) fn actor_of(&self, session: &str) -> Option<ActorId> {
        let state = self.run.state();
        let is_ready = |held: &&Held| {
            let is_session = state
                .actor(held.actor)
                .is_some_and(|actor| actor.role.as_deref() == Some("session"));
            let value = is_session.then(|| held.fact.value());
            value.is_some_and(|value| {
                value.is_simple_record("session/ready", Some(2))
                    && String::decode(&value.index(1).into()).is_ok_and(|id| id == session)
            })
        };
        state.held.values().find(is_ready).map(|held| held.actor)
    }
}
