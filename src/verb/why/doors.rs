//! The other things whose values can be explained: an argument of a call, and a variable.
//!
//! INVARIANT: an error about something that is not there names what is.
//! Read next: `value.rs`.

use std::num::NonZeroUsize;

use duet_runtime::action::{Action, InvokeTool};
use duet_runtime::record::Body;
use duet_runtime::scheme::{Variable, Wanted};
use schemars::JsonSchema;
use serde::Serialize;

use super::value::{self, Explained};
use crate::history::journal::Place;
use crate::history::turn;
use crate::owner::owned_run;
use crate::text::error::CommandError;
use crate::text::value_text::abbreviated;
use crate::verb::frames::{self, Computation};
use crate::verb::project::ProjectReader;

/// A call that is explained.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Call {
    /// Its number among the calls of the turn, counted from 1.
    number: usize,
    tool: String,
    /// The argument that is explained; null if all are.
    argument: Option<String>,
    /// The argument's value, as Scheme writes it; null if it is not known.
    value: Option<String>,
}

/// A variable that is explained.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Named {
    name: String,
    /// The procedure in whose frame it is.
    procedure: String,
    /// The value, as Scheme writes it; null if it may be gone.
    value: Option<String>,
}

impl Call {
    /// The call in words, with what it was given.
    pub(super) fn text(&self, payload: &str) -> String {
        match (&self.argument, &self.value) {
            (Some(name), Some(value)) => format!("{}: {name} = {value}", self.tool),
            (Some(name), None) => format!("{}: {name}", self.tool),
            (None, _) => format!("{} {payload}", self.tool),
        }
    }
}

impl Named {
    pub(super) fn text(&self) -> String {
        let value = self.value.as_deref().unwrap_or("?");
        format!("{} = {value} in `{}`", self.name, self.procedure)
    }
}

/// A call or a variable, with its explanation.
pub(super) struct Opened<T> {
    pub(super) what: T,
    pub(super) head: String,
    pub(super) explained: Option<Explained>,
}

/// Explains the arguments of a call of the turn at a place, or one of them.
///
/// # Errors
/// If the turn made no such call, or the call has no such argument.
pub(super) fn call(
    look: &ProjectReader<'_>,
    place: &Place,
    number: NonZeroUsize,
    argument: Option<&str>,
    most: usize,
) -> Result<Opened<Call>, CommandError> {
    let at = place.at();
    let Body::Turn(taken) = turn::body(&owned_run::record_at(look.store, place, at)?)? else {
        return Err(CommandError::usage(format!(
            "{} is the run's first record, which made no calls",
            place.address(at)
        )));
    };
    let actions = taken.actions.iter().enumerate();
    let calls: Vec<(usize, &InvokeTool)> = actions.flat_map(|(at, action)| calls_of(at, action)).collect();
    let Some((action, call)) = calls.get(number.get() - 1).copied() else {
        let names = (1..)
            .zip(&calls)
            .map(|(number, (_, call))| format!("{number} {}", call.tool));
        return Err(CommandError::usage(format!(
            "turn {at} {}",
            made(&names.collect::<Vec<_>>())
        )));
    };
    let wanted = match argument {
        None => Wanted::Action(action),
        Some(name) => Wanted::Member(action, name.to_owned()),
    };
    let explained = value::explained(look, place, &wanted, most)?;
    if let (Some(name), Some(missing)) = (argument, explained.as_ref().and_then(|found| found.missing.as_ref())) {
        let names = listed("its arguments are", missing, "they have no names");
        return Err(CommandError::usage(format!(
            "call {number} of turn {at} has no argument `{name}`: {names}"
        )));
    }
    let what = Call {
        number: number.get(),
        tool: call.tool.clone(),
        argument: argument.map(str::to_owned),
        value: explained.as_ref().and_then(|found| found.value.clone()),
    };
    Ok(Opened {
        head: what.text(&abbreviated(&call.payload.value())),
        what,
        explained,
    })
}

fn calls_of(at: usize, action: &Action) -> impl Iterator<Item = (usize, &InvokeTool)> {
    action
        .done()
        .iter()
        .filter_map(Action::call)
        .map(move |call| (at, call))
}

fn made(names: &[String]) -> String {
    match names {
        [] => "made no calls".to_owned(),
        [name] => format!("made 1 call: {name}"),
        names => format!("made {} calls: {}", names.len(), names.join(", ")),
    }
}

fn listed(lead: &str, names: &[String], none: &str) -> String {
    if names.is_empty() {
        none.to_owned()
    } else {
        format!("{lead} {}", names.join(", "))
    }
}

/// A variable of the computations at a turn.
pub(super) struct Sought<'a> {
    pub(super) name: &'a str,
    /// The number of its frame, counted from 1 at the innermost.
    pub(super) frame: Option<NonZeroUsize>,
    pub(super) fiber: Option<u64>,
}

/// Explains a variable of the computations that wait at a place or failed there.
///
/// # Errors
/// If no such computation has such a variable, or the turn cannot be taken again.
pub(super) fn variable(
    look: &ProjectReader<'_>,
    place: &Place,
    sought: &Sought<'_>,
    most: usize,
) -> Result<Opened<Named>, CommandError> {
    let computations = frames::computations(look.store, place, sought.fiber)?;
    let address = place.address(place.at());
    let Some((computation, frame, what)) = computations.iter().find_map(|one| named(one, sought)) else {
        return Err(CommandError::usage(missing(&computations, sought, &address)));
    };
    let variable = Variable {
        name: sought.name.to_owned(),
        frame: Some(frame),
    };
    let wanted = match computation.parked {
        None => Wanted::Failed(variable),
        Some(parked) => Wanted::Parked(computation.actor, parked, variable),
    };
    Ok(Opened {
        head: what.text(),
        what,
        explained: value::explained(look, place, &wanted, most)?,
    })
}

/// The frame in which a computation has the variable, and the variable.
fn named<'a>(one: &'a Computation, sought: &Sought<'_>) -> Option<(&'a Computation, usize, Named)> {
    let frames = (1..).zip(one.frames.iter().filter(|frame| frame.is_worth_showing()));
    let mut frames = frames.filter(|(number, _)| sought.frame.is_none_or(|frame| frame.get() == *number));
    frames.find_map(|(number, frame)| {
        let variable = frame.variables.iter().find(|variable| variable.name == sought.name)?;
        let what = Named {
            name: variable.name.clone(),
            procedure: frame.frame.procedure.clone(),
            value: variable.value.clone(),
        };
        Some((one, number, what))
    })
}

fn missing(computations: &[Computation], sought: &Sought<'_>, address: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut count = 0;
    for one in computations {
        let frames = (1..).zip(one.frames.iter().filter(|frame| frame.is_worth_showing()));
        for (number, frame) in frames {
            count = count.max(number);
            let is_wanted = sought.frame.is_none_or(|frame| frame.get() == number);
            for variable in frame.variables.iter().filter(|_| is_wanted) {
                if !names.contains(&variable.name) {
                    names.push(variable.name.clone());
                }
            }
        }
    }
    let name = sought.name;
    match sought.frame {
        _ if computations.is_empty() => format!("no computation waits at {address}, so there is no variable `{name}`"),
        Some(frame) if frame.get() > count => {
            format!("there is no frame {frame} at {address}: the frames are 1 to {count}")
        }
        _ => format!(
            "no frame at {address} has a variable `{name}`: {}",
            listed("the variables are", &names, "there are none")
        ),
    }
}
