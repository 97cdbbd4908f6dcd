//! A journal for people: one paragraph per turn.
//!
//! INVARIANT: everything a record says is shown, except payloads beyond a line and the hashes.
//! Read next: `../crash/course.rs`.

use std::fmt::Write as _;

use duet_journal::{Record, Sequence};
use duet_runtime::action::Action;
use duet_runtime::event::{Cause, Event};
use duet_runtime::record::Outcome;

use super::witness::turn_of;

/// Longer lines are cut.
const LINE_CHARACTERS_MAX: usize = 150;

/// Shows the turns in `records`.
pub(crate) fn readable(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records {
        let Some(turn) = turn_of(record) else { continue };
        let cause = match turn.cause {
            Cause::Start {} => "the start".to_owned(),
            Cause::Turn { sequence } => format!("turn {sequence}"),
            Cause::Input {} => "the world".to_owned(),
        };
        writeln!(text, "turn {}: {}, because of {cause}", record.header().sequence, turn.actor).unwrap();
        let inputs = turn.events.iter().filter(|_| turn.cause == Cause::Input {}).map(show_event);
        let dropped = turn.dropped.iter().map(|position| format!("event {position} dropped"));
        let failed = match &turn.outcome {
            Outcome::Committed {} => None,
            Outcome::Failed { failure } => Some(format!("failed: {failure}")),
        };
        let actions = turn.actions.iter().map(Action::to_string);
        for line in inputs.chain(dropped).chain(failed).chain(actions) {
            writeln!(text, "  {}", cut(&line)).unwrap();
        }
    }
    text
}

fn show_event(event: &Event) -> String {
    match event {
        Event::Answered { request, outcome } => match outcome {
            Ok(value) => format!("{request} is answered: {value:?}"),
            Err(fault) => format!("{request} fails: {fault:?}"),
        },
        Event::Boot {}
        | Event::Added { .. }
        | Event::Removed { .. }
        | Event::Message { .. }
        | Event::Closed { .. }
        | Event::Direct { .. }
        | Event::Resume { .. }
        | Event::Settled { .. }
        | Event::Terminate {} => format!("{event:?}"),
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARACTERS_MAX) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// The position of the first record whose turn has an action of this kind.
pub(crate) fn first_with(records: &[Record], kind: &str) -> Sequence {
    let has_kind = |record: &&Record| {
        turn_of(record).is_some_and(|turn| turn.actions.iter().any(|action| action.name() == kind))
    };
    let found = records.iter().find(has_kind);
    found.unwrap_or_else(|| panic!("no turn has an action {kind}")).header().sequence
}
