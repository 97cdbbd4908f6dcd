//! `duet undo` and `duet redo`: moves of a branch's head are taken back, and done again, one after the other.

use duet_journal::{HeadMove, RecordHash, Store, StoreError};

use crate::arguments::Arguments;
use crate::command::goto::keep;
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Place, owner};
use crate::moves::{self, Kind, Move};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
Each `duet goto` moves the head of a branch; `duet undo` moves it back to where it was before, the newest move first. Turns that
were taken since are kept as a branch of their own, as with `duet goto`. `duet redo` does the move again.

    duet undo
    duet undo review/what-if";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let mut store = journal.open_to_write("undo")?;
    let place = journal.resolve(&store, arguments.word(0))?;
    let Some(last) = moves::of(&journal, &place).undoable.pop() else {
        return Err(nothing(&place, "undo").advise("`duet goto` moves a head, and that can be undone"));
    };
    go(&journal, &mut store, &place, (Kind::Undo, last.from), terminal)?;
    Ok(Code::OK)
}

/// Does again what was undone last.
pub(super) fn redo(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let mut store = journal.open_to_write("redo")?;
    let place = journal.resolve(&store, arguments.word(0))?;
    let Some(undone) = moves::of(&journal, &place).redoable.pop() else {
        return Err(nothing(&place, "redo").advise("`duet undo` takes a move back, and that can be done again"));
    };
    if undone.to != place.head.hash {
        return Err(nothing(&place, "redo")
            .advise("the branch has gone on since the last `duet undo`; `duet log` shows where to"));
    }
    go(&journal, &mut store, &place, (Kind::Redo, undone.from), terminal)?;
    Ok(Code::OK)
}

fn nothing(place: &Place, what: &str) -> Failure {
    Failure::problem(format!("there is nothing to {what} on {}", place.name()))
}

fn go(
    journal: &Journal,
    store: &mut dyn Store,
    place: &Place,
    (kind, to): (Kind, RecordHash),
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let target = match store.record(&to) {
        Err(StoreError::NoSuchRecord { .. }) => {
            return Err(Failure::problem(format!(
                "the turn that {} was at is not in the journal any more",
                place.name()
            ))
            .advise("`duet gc` has given it up; `duet mark` keeps a turn from that"));
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
    terminal.message(&format!(
        "{} is at turn {target}; it was at turn {}",
        place.name(),
        place.head.sequence
    ));
    Ok(())
}
