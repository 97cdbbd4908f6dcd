//! Inputs as batches of events for the actors that they concern.
//!
//! INVARIANT: an input that nobody waits for still becomes a recorded turn, which drops it.
//! It does not run the turn; `take_turn.rs` does.
//! Read next: `take_turn.rs`.

use duet_journal::Blob;
use duet_journal::packed::Compound;
use preserves::IOValue;

use super::error::RunError;
use crate::action::exit::MAIN;
use crate::driver::{Input, ToolFailure, check_result};
use crate::model::codec::{Codec, Fields, record};
use crate::model::identity::{ActorId, RequestId};
use crate::model::value::Fact;
use crate::state::RunState;
use crate::state::event::{Batch, Cause, Event};

/// The kind of failure of a tool call whose answer was lost in a crash.
pub const INTERRUPTED: &str = "interrupted";

/// The kind of failure of a call that found a file changed since it reported what it replaces.
pub(super) const CONFLICT: &str = "conflict";

/// The kind of failures of tools that find nothing.
pub(super) const NOT_FOUND: &str = "not-found";

/// An upper bound of the levels that a record puts around an input's value.
const LEVELS_AROUND: usize = 12;

/// Makes a batch from an input.
///
/// # Errors
/// [`RunError::Packed`] if the input does not fit into a record.
pub(super) fn batch(state: &RunState, input: Input) -> Result<Batch, RunError> {
    let (request, outcome) = match input {
        Input::ToolResult { request, outcome } => (request, fitting(outcome)),
        Input::Kept {
            request,
            note,
            contents,
        } => return kept(state, request, note, &contents),
        Input::Orphaned { key, outcome } => {
            let outcome = fitting(outcome);
            Fact::new(outcome.clone().unwrap_or_else(|fault| fault))?;
            return Ok(to_main(vec![Event::Orphaned { key, outcome }]));
        }
        Input::Chunk { request, bytes } => (request, Ok(IOValue::bytes(bytes))),
        Input::Answer { request, value } => {
            check_depth(&value)?;
            (request, Ok(value))
        }
        Input::Prepared { request, value, by } => {
            check_depth(&value)?;
            Fact::new(value.clone())?;
            let mut batch = to_owner(state, request, Event::Prepared { request, by });
            let outcome = Ok(value);
            batch.events.push(Event::Answered { request, outcome });
            return Ok(batch);
        }
        Input::Due { request, at_ms } => return Ok(to_owner(state, request, Event::Due { request, at_ms })),
        Input::Elapsed { request } => (request, Ok(IOValue::new(true))),
        // An interruption concerns the driver of the run; the program does not see it.
        Input::Interrupt => return Ok(to_main(Vec::new())),
        Input::Evaluate { text, sources } => return Ok(to_main(vec![Event::Evaluate { text, sources }])),
        Input::Abandon => return Ok(to_main(vec![Event::Abandon {}])),
        Input::Tell { value, stays } => {
            check_depth_of(&value)?;
            return Ok(to_main(vec![Event::Told { value, stays }]));
        }
        Input::Join {
            name,
            manifest,
            caveats,
        } => {
            return Ok(to_main(vec![Event::Joined {
                name,
                manifest,
                caveats,
            }]));
        }
        Input::Restart { actor } => return Ok(to_actor(actor, [Event::Restart {}])),
        Input::Patch { text } => return Ok(to_main(vec![Event::Patched { text }])),
        Input::Grant { grant } => return Ok(to_main(vec![Event::Granted { grant }])),
        Input::Said { peer, what } => return Ok(to_actor(peer, what.into_iter().map(|what| Event::Said { what }))),
        Input::Leave { peer } => return Ok(to_actor(peer, [Event::Terminate {}])),
        Input::Merge {
            actor,
            asserted,
            retracted,
        } => {
            for fact in asserted.iter().chain(&retracted) {
                check_depth(fact)?;
            }
            let events = vec![Event::Merged { asserted, retracted }];
            return Ok(Batch {
                to: actor,
                ..to_main(events)
            });
        }
    };
    Fact::new(outcome.clone().unwrap_or_else(|fault| fault))?;
    Ok(to_owner(state, request, Event::Answered { request, outcome }))
}

/// Refuses a value that would be too deep inside a record.
fn check_depth(value: &IOValue) -> Result<(), RunError> {
    check_depth_of(&Fact::new(value.clone())?)
}

fn check_depth_of(value: &Fact) -> Result<(), RunError> {
    Fact::write(|out| {
        (0..LEVELS_AROUND).for_each(|_| out.open(Compound::Sequence));
        out.packed(value.view());
        (0..LEVELS_AROUND).for_each(|_| out.close(Compound::Sequence));
    })?;
    Ok(())
}

/// Returns the recorded form of a result: one that does not fit into a record is a failure of the
/// call.
fn fitting(outcome: Result<IOValue, ToolFailure>) -> Result<IOValue, IOValue> {
    let checked = outcome.and_then(|value| check_result(&value).map(|()| value));
    let failed = checked.map_err(|failure| fault(&failure));
    // A value without a canonical form, such as an embedded one of another process, is no result.
    match failed {
        Ok(value) => match Fact::new(value.clone()) {
            Ok(_) => Ok(value),
            Err(error) => Err(unfit(&error.to_string())),
        },
        Err(fault) => Err(fault),
    }
}

fn unfit(why: &str) -> IOValue {
    let failure = ToolFailure {
        kind: "bad-result".to_owned(),
        message: format!("the tool's result cannot be recorded: {why}"),
        details: Vec::new(),
    };
    fault(&failure)
}

fn kept(state: &RunState, request: RequestId, note: IOValue, contents: &[Blob]) -> Result<Batch, RunError> {
    Fact::new(note.clone())?;
    let contents = contents.iter().map(Blob::hash).collect();
    let event = Event::Kept {
        request,
        note,
        contents,
    };
    Ok(to_owner(state, request, event))
}

/// The number of batches that wait, up to the last one for the actor that made a request.
pub(super) fn ahead(state: &RunState, request: RequestId) -> usize {
    let owner = owner(state, request);
    let last = state.queue.iter().rposition(|batch| batch.to == owner);
    last.map_or(0, |last| last + 1)
}

pub(super) fn owner(state: &RunState, request: RequestId) -> ActorId {
    state.requests.get(&request).map_or(MAIN, |request| request.actor)
}

fn to_owner(state: &RunState, request: RequestId, event: Event) -> Batch {
    Batch {
        to: owner(state, request),
        from: None,
        cause: Cause::Input {},
        events: vec![event],
    }
}

fn to_actor(actor: ActorId, events: impl IntoIterator<Item = Event>) -> Batch {
    Batch {
        to: actor,
        ..to_main(events.into_iter().collect())
    }
}

fn to_main(events: Vec<Event>) -> Batch {
    Batch {
        to: MAIN,
        from: None,
        cause: Cause::Input {},
        events,
    }
}

/// Converts a tool's failure to the condition that the waiting fiber receives.
fn fault(failure: &ToolFailure) -> IOValue {
    let kind = IOValue::symbol(failure.kind.clone());
    record(
        "tool-failed",
        vec![kind, failure.message.encode(), failure.details.encode()],
    )
}

/// Converts that condition back to the failure of a tool; `None` if it is none.
pub fn tool_failure(fault: &IOValue) -> Option<ToolFailure> {
    let mut fields = Fields::of(fault, "tool-failed", 3).ok()?;
    let kind: IOValue = fields.read("kind").ok()?;
    Some(ToolFailure {
        kind: preserves::ValueImpl::as_symbol(&kind)?.into_owned(),
        message: fields.read("message").ok()?,
        details: fields.read("details").ok()?,
    })
}

/// Makes the answer to a call that was in flight when the process ended.
pub(crate) fn interrupted(request: RequestId) -> Input {
    let message = "the process ended before the result came; the call may or may not have happened".to_owned();
    let failure = ToolFailure {
        kind: INTERRUPTED.to_owned(),
        message,
        details: Vec::new(),
    };
    Input::ToolResult {
        request,
        outcome: Err(failure),
    }
}

/// Makes the answer to a call from the result that another branch has recorded.
pub(crate) fn answered(request: RequestId, outcome: Result<IOValue, IOValue>) -> Input {
    Input::ToolResult {
        request,
        outcome: outcome.map_err(|fault| tool_failure(&fault).unwrap_or_else(|| strange(&fault))),
    }
}

/// Describes a recorded failure in a form that this code does not write.
fn strange(fault: &IOValue) -> ToolFailure {
    ToolFailure {
        kind: "failed".to_owned(),
        message: "another branch recorded a failure that cannot be understood".to_owned(),
        details: vec![fault.clone()],
    }
}
