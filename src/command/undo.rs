//! `duet undo` and `duet redo`: take moves of a branch's head back, and repeat them.

use duet_journal::{HeadMove, RecordHash, Store, StoreError};

use crate::command::goto::keep;
use crate::error::{CommandError, ExitCode};
use crate::journal::{Journal, Place, owner};
use crate::moves::{self, Move, MoveKind};
use crate::saying::{Way, say};
use crate::terminal::Terminal;

/// Takes the last move of a branch's head back.
///
/// Each `duet goto` moves the head of a branch; `duet undo` moves it back to where it was before,
/// the newest move first. Duet keeps turns that were taken since as a branch of their own, as
/// `duet goto` does. `duet redo` repeats the move.
///
///   duet undo
///   duet undo review/what-if
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of a run or a branch.
    address: Option<String>,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let mut store = journal.open_to_write("undo")?;
    let place = journal.resolve(&store, arguments.address.as_deref())?;
    let Some(last) = moves::of(journal, &place).undoable.pop() else {
        return Err(nothing(&place, "undo").advise(say![Way::of("goto"), " moves a head, and that can be undone"]));
    };
    go(journal, &mut store, &place, (MoveKind::Undo, last.from), terminal)?;
    Ok(ExitCode::OK)
}

/// Repeats the move that was undone last.
pub(super) fn redo(
    journal: &Journal,
    address: Option<&str>,
    terminal: &mut Terminal,
) -> Result<ExitCode, CommandError> {
    let mut store = journal.open_to_write("redo")?;
    let place = journal.resolve(&store, address)?;
    let Some(undone) = moves::of(journal, &place).redoable.pop() else {
        return Err(
            nothing(&place, "redo").advise(say![Way::of("undo"), " takes a move back, and that can be done again",])
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
    go(journal, &mut store, &place, (MoveKind::Redo, undone.from), terminal)?;
    Ok(ExitCode::OK)
}

fn nothing(place: &Place, what: &str) -> CommandError {
    CommandError::problem(format!("{} has nothing to {what}", place.name()))
}

fn go(
    journal: &Journal,
    store: &mut dyn Store,
    place: &Place,
    (kind, to): (MoveKind, RecordHash),
    terminal: &mut Terminal,
) -> Result<(), CommandError> {
    let target = match store.record(&to) {
        Err(StoreError::NoSuchRecord { .. }) => {
            return Err(CommandError::problem(format!(
                "the turn that {} was at is not in the journal any more",
                place.name()
            ))
            .advise("`duet gc` has removed it; a marked turn would have stayed"));
        }
        found => found?.header().sequence,
    };
    keep(store, place)?;
    let epoch = store.claim(&place.run, &owner("undo"))?;
    let from = place.head.hash;
    store.set_head(&HeadMove {
        run: &place.run,
        branch: &place.branch,
        epoch,
        expected_head: Some(from),
        to,
    })?;
    moves::note(journal, place, kind, Move { from, to });
    journal.set_current(&place.run, &place.branch);
    terminal.message(format!(
        "{} is at turn {target}; it was at turn {}",
        place.name(),
        place.head.sequence
    ));
    Ok(())
}
