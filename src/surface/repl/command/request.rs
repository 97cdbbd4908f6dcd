//! The requests that comma commands make.
//!
//! INVARIANT: a comma command means what the command of the same name does at the session's place.
//! It performs nothing. Read next: `verb.rs`.

use std::num::{NonZeroU64, NonZeroUsize};

use super::Command;
use crate::verb::act::{amend, eval, fork, goto, merge, patch, pick, redo, replay, restart, resume, undo};
use crate::verb::describe;
use crate::verb::{Request, branches, diff, explain, facts, frames, log, show, waits, when, why};

/// The number of turns that `,log` lists.
const LOGGED: u64 = 20;

/// The request that a command makes at a place, if a verb answers it without the state of the
/// session.
pub(crate) fn request(command: &Command, place: &str) -> Option<Request> {
    let here = || Some(place.to_owned());
    let turn = |turn: &str| format!("{place}@{}", turn.trim_start_matches('@'));
    let at = |word: &str| Some(turn(word));
    Some(match command {
        Command::Log(count) => filled(|request: &mut log::Request| {
            let limit = usize::try_from(count.map_or(LOGGED, NonZeroU64::get)).unwrap_or(usize::MAX);
            (request.address, request.limit) = (here(), NonZeroUsize::new(limit));
        }),
        Command::Facts(pattern) => filled(|request: &mut facts::Request| {
            (request.address, request.pattern) = (here(), pattern.clone());
        }),
        Command::Waits => filled(|request: &mut waits::Request| request.address = here()),
        Command::Show(turn) => filled(|request: &mut show::Request| {
            request.address = turn.as_deref().map_or_else(here, at);
        }),
        Command::Frames(turn) => filled(|request: &mut frames::Request| {
            request.address = turn.as_deref().map_or_else(here, at);
        }),
        Command::Explain(turn) => filled(|request: &mut explain::Request| {
            request.address = turn.as_deref().map_or_else(here, at);
        }),
        Command::Branches => branches::Request { address: here() }.into(),
        Command::Why(pattern) => filled(|request: &mut why::Request| {
            (request.pattern, request.address) = (Some(pattern.clone()), here());
        }),
        Command::When(pattern) => filled(|request: &mut when::Request| {
            (request.pattern, request.address) = (pattern.clone(), here());
        }),
        Command::Diff(Some(other)) => filled(|request: &mut diff::Request| {
            (request.left, request.right) = (compared(other, place), here());
        }),
        Command::At(word, text) => filled(|request: &mut eval::Request| {
            (request.address, request.expression) = (turn(word), text.clone());
        }),
        Command::Replay => replay::Request::of(place.to_owned()).into(),
        Command::Describe(name) => describe::Request { name: name.clone() }.into(),
        Command::Goto(word) => goto::Request::to(turn(word)).into(),
        Command::Fork(name) => filled(|request: &mut fork::Request| {
            (request.address, request.branches) = (place.to_owned(), vec![name.clone()]);
        }),
        Command::Amend(word, text) => amend::Request::of(turn(word), text.clone()).into(),
        Command::Patch(program) => patch::Request::of(place.to_owned(), program.into()).into(),
        Command::Restart(actor) => restart::Request::of(place.to_owned(), actor.clone()).into(),
        Command::Rerun(program) => resume::Request::with_code(place.to_owned(), program.into()).into(),
        Command::Merge(branch) => filled(|request: &mut merge::Request| {
            (request.from, request.into) = (of_run(branch, place), here());
        }),
        Command::Pick(turns) => pick::Request::of(compared(turns, place), place.to_owned()).into(),
        Command::Undo => undo::Request { address: here() }.into(),
        Command::Redo => redo::Request { address: here() }.into(),
        Command::Help(_)
        | Command::Quit
        | Command::Load(_)
        | Command::Reload
        | Command::Edit(_)
        | Command::Print(_)
        | Command::Answer(_)
        | Command::Apropos(_)
        | Command::Expand(_)
        | Command::Disassemble(_)
        | Command::Time(_)
        | Command::Profile(_)
        | Command::Trace(_)
        | Command::Untrace(_)
        | Command::Back(_)
        | Command::Switch(_)
        | Command::Diff(None) => return None,
    })
}

/// A request with some of its fields.
fn filled<R: Default + Into<Request>>(fill: impl FnOnce(&mut R)) -> Request {
    let mut request = R::default();
    fill(&mut request);
    request.into()
}

/// The address of turns of the session's branch, or of a branch of its run.
fn compared(other: &str, place: &str) -> String {
    let turn = other.trim_start_matches('@');
    if turn.len() < other.len() || turn.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return format!("{place}@{turn}");
    }
    of_run(other, place)
}

/// The address of a branch, of the session's run unless it names another.
fn of_run(branch: &str, place: &str) -> String {
    match place.split_once('/') {
        Some((run, _)) if !branch.contains('/') => format!("{run}/{branch}"),
        Some(_) | None => branch.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_one_of_the_sessions_run() {
        for (branch, from) in [("other", "r/other"), ("other@5", "r/other@5"), ("q/other", "q/other")] {
            let request = request(&Command::Merge(branch.to_owned()), "r/main");
            let Some(Request::Merge(merge)) = request else {
                panic!("a request to merge {branch}")
            };
            assert_eq!((merge.from.as_str(), merge.into.as_deref()), (from, Some("r/main")));
        }
    }
}
