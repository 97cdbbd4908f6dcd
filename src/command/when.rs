//! `duet when`: finds the first turn after which a fact is there.

use duet_runtime::history::changes::Sought;
use serde_json::json;

use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::query::Query;
use crate::terminal::Terminal;
use crate::value_text::shown;
use crate::{changes, turn};

/// Finds the first turn after which a fact is there.
///
/// An index beside the journal answers; Duet first adds the turns that the index lacks, and does
/// not run the program. A pattern is a value in which `_` matches anything; a label alone finds all
/// its records. The exit code is 1 if there was never such a fact.
///
///   duet when '<greeted _>'
///   duet when greeted review/what-if --all
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The pattern that the fact must match.
    pattern: String,
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// Lists every turn in which a matching fact came (+) or went (-).
    #[arg(long)]
    all: bool,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let query = Query::read(&arguments.pattern)?;
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.address.as_deref())?;
    let is_all = arguments.all;
    let sought = if is_all { Sought::All } else { Sought::First };
    let found = changes::find((journal, &store), &place, &query, sought, terminal)?;
    if arguments.json {
        let rows = found.iter().map(|change| {
            json!({
                "turn": change.sequence.number(),
                "actor": change.actor.0,
                "came": change.came,
                "fact": shown(&change.fact.value()),
            })
        });
        terminal.json(&json!(rows.collect::<Vec<_>>()))?;
    } else {
        for change in &found {
            terminal.data(format!(
                "{} {:<8} {} {}\n",
                place.address(change.sequence),
                turn::actor(change.actor),
                if change.came { "+" } else { "-" },
                shown(&change.fact.value())
            ))?;
        }
    }
    if found.is_empty() {
        terminal.message(format!("there was no such fact up to {}", place.address(place.at())));
        return Ok(ExitCode::FAILED);
    }
    Ok(ExitCode::OK)
}
