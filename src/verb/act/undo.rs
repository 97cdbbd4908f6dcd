//! `duet undo`: takes the moves of a branch's head back.

use duet_journal::{HeadMove, RecordHash, Sequence, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::journal::{OpenJournal, Place};
use crate::history::moves::{self, Move, MoveKind};
use crate::history::records::hash_at;
use crate::owner::doors;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::text::view::{Told, View};
use crate::verb::act::goto::{OutsideEffects, keep, outside_effects};
use crate::verb::form::as_json;
use crate::verb::project::Project;

/// Takes the last move of a branch's head back.
///
/// Each `duet goto` moves the head of a branch; `duet undo` moves it back to where it was before,
/// the newest move first. Duet keeps turns that were taken since as a branch of their own, as
/// `duet goto` does. `duet redo` repeats the move.
///
///   duet undo
///   duet undo review/what-if
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a run or a branch.
    pub(crate) address: Option<String>,
}

/// Where the head of a branch was and where it is.
pub(crate) struct Report {
    name: String,
    before: Sequence,
    at: Sequence,
    /// Whether turns between the two have changed files, which stay as they are.
    are_files_left: bool,
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    branch: String,
    /// Where it is.
    turn: u64,
    /// Where it was.
    before: u64,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&Form {
            branch: self.name.clone(),
            turn: self.at.number(),
            before: self.before.number(),
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let Self { name, before, at, .. } = self;
        let told = Told::data("").say(format!("{name} is at turn {at}; it was at turn {before}"));
        if !self.are_files_left {
            return told;
        }
        told.say(say![
            "files that turns between the two have written stay as they are; ",
            Way::turn("goto --workspace", name, *at),
            format!(" makes them those of turn {at}"),
        ])
    }
}

/// Takes the last move of a branch's head back.
///
/// # Errors
/// If there is none, or the turn is gone.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let mut store = project.change("undo")?;
    let journal = project.journal();
    let place = journal.resolve(&*store, request.address.as_deref())?;
    let Some(last) = moves::of(journal, &place)?.undoable.pop() else {
        return Err(nothing(&place, "undo").advise(say![Way::of("goto"), " moves a head, and that can be undone"]));
    };
    let report = go(journal.opened(&mut *store), &place, MoveKind::Undo, last.from)?;
    project.set_current(&place);
    Ok(report)
}

/// Says that a branch has no move to take back or to repeat.
pub(crate) fn nothing(place: &Place, what: &str) -> CommandError {
    CommandError::problem(format!("{} has nothing to {what}", place.name()))
}

/// Moves the head of a branch to where it was.
pub(crate) fn go(
    OpenJournal { store, journal }: OpenJournal<'_>,
    place: &Place,
    kind: MoveKind,
    to: RecordHash,
) -> Result<Report, CommandError> {
    let target = match store.record(&to) {
        Err(StoreError::NoSuchRecord { .. }) => {
            return Err(CommandError::problem(format!(
                "the turn that {} was at is not in the journal any more",
                place.name()
            ))
            .advise(say![Way::of("gc"), " has removed it; a marked turn would have stayed"]));
        }
        found => found?.header().sequence,
    };
    // Beyond what it goes back to, a branch has written all turns itself.
    let is_back = target <= place.head.sequence && hash_at(place.source(store), target)? == Some(to);
    keep(store, place, if is_back { target } else { place.head.sequence })?;
    // The turns between the two are those of the branch that has more of them.
    let effects_back = is_back.then(|| outside_effects(store, place, target)).transpose()?;
    let epoch = store.claim(&place.run, &doors::successor(store, &place.run, "undo")?)?;
    let from = place.head.hash;
    store.set_head(&HeadMove {
        run: &place.run,
        branch: &place.branch,
        epoch,
        expected_head: Some(from),
        to,
    })?;
    moves::note(journal, place, kind, Move { from, to });
    let effects = match effects_back {
        Some(effects) => effects,
        // On another history there are no turns between the two.
        None if target <= place.head.sequence => OutsideEffects::default(),
        None => {
            let there = journal.resolve(store, Some(&format!("{}/{}", place.run, place.branch)))?;
            outside_effects(store, &there, place.head.sequence)?
        }
    };
    Ok(Report {
        name: place.name(),
        before: place.head.sequence,
        at: target,
        are_files_left: effects.is_files,
    })
}
