//! `duet stop`: stops a run that another process executes.

use duet_journal::Store;

use crate::doors;
use crate::error::{CommandError, ExitCode};
use crate::journal::{Journal, Place};
use crate::standing::{Rest, Standing, Standings};
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
        None => resting(journal, &store, &place)?,
        Some(turn) => format!("{name} stopped at turn {turn}; `duet resume {name}` goes on with it"),
    });
    Ok(ExitCode::OK)
}

/// Says how a run stands that no process executes.
fn resting(journal: &Journal, store: &dyn Store, place: &Place) -> Result<String, CommandError> {
    let name = place.name();
    let mut standings = Standings::of(journal);
    let (standing, _) = standings.standing(store, &place.run, &place.head)?;
    standings.keep();
    Ok(match standing {
        Standing::Resting(Rest::Ended(code)) => {
            format!(
                "{name} ended at turn {} with code {code}, so there is nothing to stop",
                place.head.sequence
            )
        }
        Standing::Resting(Rest::Asking(_)) => {
            format!("no process executes {name}, which waits for a person; `duet waits {name}` says for what")
        }
        Standing::Resting(Rest::Waiting) => {
            format!("no process executes {name}, which waits for a signal; `duet waits {name}` says for which")
        }
        Standing::Resting(Rest::Left | Rest::Broken) | Standing::Running(..) => {
            format!("no process executes {name}; `duet resume {name}` goes on with it")
        }
    })
}
