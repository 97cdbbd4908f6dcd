//! `duet stop`: stops a run that another process executes.

use crate::doors;
use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::terminal::Terminal;

/// Stops a run that another process executes.
///
/// The other process ends as after Ctrl-C: its turns are durable, and `duet resume` goes on with
/// it. Nothing happens to a run that no process executes.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of the run or branch.
    address: Option<String>,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve(&store, arguments.address.as_deref())?;
    let name = place.name();
    terminal.message(match doors::stop((&store, journal), &place)? {
        None => format!("no process executes {name}; `duet resume {name}` goes on with it"),
        Some(turn) => format!("{name} stopped at turn {turn}; `duet resume {name}` goes on with it"),
    });
    Ok(ExitCode::OK)
}
