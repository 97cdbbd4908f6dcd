//! The requests that nobody has answered, counted by what a run needs on account of them.
//!
//! A run says at each commit what it needs next, and a run may have 100,000 timers: the earliest of
//! their deadlines is found without a walk over the others.
//! INVARIANT: between turns it equals what [`OpenRequests::of`] counts in the state's requests.
//! It does not know what a store does with a need; `../run/resting.rs` asks it.

use super::request::{Question, Request};
use crate::collections::ordered::Ordered;
use crate::model::identity::RequestId;

/// The unanswered requests by what they need.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenRequests {
    /// The deadlines in milliseconds since 1970, each with its request.
    deadlines: Ordered<(u64, RequestId), ()>,
    /// The number of requests that only the run's owner can serve.
    owners: usize,
    /// The number of requests that wait for somebody's input.
    inputs: usize,
}

/// What an unanswered request needs.
enum Needed {
    Owner,
    Input,
    Moment(u64),
}

impl OpenRequests {
    /// Counts the unanswered among `requests`.
    pub(crate) fn of<'a>(requests: impl Iterator<Item = (&'a RequestId, &'a Request)>) -> Self {
        let mut open = Self::default();
        requests.for_each(|(id, request)| open.add(*id, request));
        open
    }

    /// Counts a request that has become `now`; it was `before`.
    pub(crate) fn change(&mut self, id: RequestId, before: Option<&Request>, now: Option<&Request>) {
        if let Some(before) = before {
            self.remove(id, before);
        }
        if let Some(now) = now {
            self.add(id, now);
        }
    }

    /// Returns whether only the run's owner can serve one of them.
    pub(crate) fn needs_owner(&self) -> bool {
        self.owners > 0
    }

    /// Returns whether one of them waits for somebody's input.
    pub(crate) fn needs_input(&self) -> bool {
        self.inputs > 0
    }

    /// Returns the earliest deadline, in milliseconds since 1970.
    pub(crate) fn earliest_ms(&self) -> Option<u64> {
        self.deadlines.keys().next().map(|(at_ms, _)| *at_ms)
    }

    fn add(&mut self, id: RequestId, request: &Request) {
        match needed(request) {
            Some(Needed::Owner) => self.owners += 1,
            Some(Needed::Input) => self.inputs += 1,
            Some(Needed::Moment(at_ms)) => {
                self.deadlines.insert((at_ms, id), ());
            }
            None => {}
        }
    }

    fn remove(&mut self, id: RequestId, request: &Request) {
        match needed(request) {
            Some(Needed::Owner) => self.owners -= 1,
            Some(Needed::Input) => self.inputs -= 1,
            Some(Needed::Moment(at_ms)) => {
                self.deadlines.remove(&(at_ms, id));
            }
            None => {}
        }
    }
}

fn needed(request: &Request) -> Option<Needed> {
    if request.answer.is_some() {
        return None;
    }
    Some(match &request.question {
        Question::Tool { .. } if request.inbox_name().is_some() => Needed::Input,
        // A timer that has no deadline yet is about to get one.
        Question::Tool { .. } | Question::Timer { .. } | Question::Limit { .. } => Needed::Owner,
        Question::Deadline { at_ms, .. } => Needed::Moment(*at_ms),
        Question::Ask { .. }
        | Question::Approve { .. }
        | Question::Deferred { .. }
        | Question::Postponed { .. }
        | Question::Read { .. } => Needed::Input,
    })
}
