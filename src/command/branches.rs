//! `duet branches`: lists the branches of a run.

use duet_journal::Store;
use serde_json::json;

use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::terminal::Terminal;

/// Lists the branches of a run.
///
/// One line is one branch: its address with its newest turn. `@` marks the current branch, which an
/// address without a branch means.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of a run or a branch.
    address: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve(&store, arguments.address.as_deref())?;
    let heads = store.heads(&place.run)?;
    if arguments.json {
        let branches = heads.iter().map(|head| {
            json!({
                "branch": head.branch.as_str(),
                "turn": head.sequence.number(),
                "record": head.hash.to_string(),
                "current": head.branch == place.branch,
            })
        });
        terminal.json(&json!(branches.collect::<Vec<_>>()))?;
        return Ok(ExitCode::OK);
    }
    for head in heads {
        let mark = if head.branch == place.branch { '@' } else { ' ' };
        terminal.data(format!("{mark} {}/{}@{}\n", place.run, head.branch, head.sequence))?;
    }
    Ok(ExitCode::OK)
}
