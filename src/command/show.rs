//! `duet show`: one turn in full.

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::session;
use crate::terminal::Terminal;
use crate::turn;

pub(super) const DETAILS: &str = "\
It shows what the actor was told, what it did, the gate's verdict where it is not yes, and how the turn ended; values are
written as Preserves text. Without an address it is the newest turn of the run used last.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    let record = session::record_at(&store, &place, place.at())?;
    let body = turn::body(&record)?;
    if arguments.has("json") {
        terminal.json(&turn::json(&record, &body))?;
    } else {
        terminal.data(&turn::full(&place.address(place.at()), &record, &body))?;
    }
    Ok(Code::OK)
}
