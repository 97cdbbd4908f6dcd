//! `duet redo`: repeats a move that was undone.

use serde::{Deserialize, Serialize};

use super::undo::{self, nothing};
use crate::history::moves::{self, MoveKind};
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::verb::project::Project;

pub(crate) use super::undo::{Form, Report};

/// Repeats the move that was undone last.
///
/// It repeats the move that the last `duet undo` took back, if the branch has no turn since then.
///
///   duet redo review
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a run or a branch.
    pub(crate) address: Option<String>,
}

/// Repeats the move that was undone last.
///
/// # Errors
/// If there is none, or the branch has gone on since.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let mut store = project.change("redo")?;
    let journal = project.journal();
    let place = journal.resolve(&*store, request.address.as_deref())?;
    let Some(undone) = moves::of(journal, &place)?.redoable.pop() else {
        return Err(
            nothing(&place, "redo").advise(say![Way::of("undo"), " takes a move back, and that can be done again"])
        );
    };
    if undone.to != place.head.hash {
        return Err(nothing(&place, "redo").advise(say![
            "the branch has gone on since the last ",
            Way::of("undo"),
            "; ",
            Way::of("log"),
            " shows where to",
        ]));
    }
    let report = undo::go(journal.opened(&mut *store), &place, MoveKind::Redo, undone.from)?;
    project.set_current(&place);
    Ok(report)
}
