//! Until when a run waits: the timers beside what it waits for.
//!
//! INVARIANT: a moment is that of a timer which has begun, by the clock of the journal, in
//! milliseconds since 1970.
//! It does not say for what the run waits. Read next: `verb/waits.rs`.

use duet_runtime::model::identity::RequestId;
use duet_runtime::state::RunState;
use duet_runtime::state::actor::{Condition, Wait};
use duet_runtime::state::request::Question;

/// When a timer runs out, if a question is one.
pub(crate) fn of(question: &Question) -> Option<u64> {
    if let Question::Deadline { at_ms, .. } = question {
        Some(*at_ms)
    } else {
        None
    }
}

/// When a fiber goes on whatever has come until then.
pub(crate) fn of_wait(state: &RunState, wait: &Wait) -> Option<u64> {
    let timers = wait.conditions.iter().filter_map(|condition| match condition {
        Condition::Answer { request } => of(&state.requests.get(request)?.question),
        Condition::Matching { .. } | Condition::Accepted { .. } => None,
    });
    timers.min()
}

/// When a question to a person is withdrawn: an approval at the limit that policy sets, another one
/// when nobody waits for its answer any more.
pub(crate) fn of_question(state: &RunState, asked: RequestId) -> Option<u64> {
    let limits = state.requests.values().map(|request| &request.question);
    let limits = limits.filter(|question| question.limits() == Some(asked));
    if let Some(limit) = limits.filter_map(of).min() {
        return Some(limit);
    }
    let is_for_it = |condition: &Condition| matches!(condition, Condition::Answer { request } if *request == asked);
    let waits = state.actors.values().flat_map(|actor| actor.waits.values());
    let waits = waits.filter(|wait| wait.conditions.iter().any(is_for_it));
    let ends: Option<Vec<u64>> = waits.map(|wait| of_wait(state, wait)).collect();
    ends?.into_iter().max()
}
