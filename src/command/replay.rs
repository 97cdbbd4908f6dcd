//! `duet replay`: a run is run again from its records, and every turn must come out the same.

use duet_runtime::replay::{Snapshots, Source};
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
The program, as the run's first record pins it, is fed the inputs of the journal and must do the same, byte for byte, in every
turn up to the one addressed. Nothing is executed outside. The first difference is reported, and the exit code is then 3.

  --check          says so explicitly; it is what the command does in any case";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    let pinned = session::pinned(&store, &place)?;
    let source = Source { store: &store, run: &place.run, branch: &place.branch };
    let run = source.restore(Some(place.at()), pinned.programs, Snapshots::Ignore)?;
    let turns = run.head().map_or(0, |tip| tip.sequence.number());
    if arguments.has("json") {
        terminal.json(&json!({ "identical": true, "turns": turns }))?;
    } else {
        terminal.data(&format!("identical: {turns} turns\n"))?;
    }
    Ok(Code::OK)
}
