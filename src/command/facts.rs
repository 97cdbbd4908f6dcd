//! `duet facts`: lists the assertions at a turn, with their actors.

use duet_runtime::state::request::Held;
use serde_json::json;

use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::query::Query;
use crate::terminal::Terminal;
use crate::value_text::shown;
use crate::{session, turn};

/// Lists the assertions that hold at a turn.
///
/// One line is one assertion: its handle, the actor that makes it, and the value as Preserves text.
/// Duet restores the run as it was after the turn and executes nothing outside. With a pattern it
/// lists only matching facts: a pattern is a value in which `_` matches anything, or a label alone.
///
///   duet facts review@12
///   duet facts @-1 '<greeted _>'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// The pattern that facts must match.
    pattern: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.address.as_deref())?;
    let query = arguments.pattern.as_deref().map(Query::read).transpose()?;
    let run = session::restore(&store, &place)?;
    let is_sought = |held: &Held| query.as_ref().is_none_or(|query| query.finds(&held.fact.value()));
    let held: Vec<_> = run.state().held.iter().filter(|(_, held)| is_sought(held)).collect();
    if arguments.json {
        let facts = held.iter().map(|(handle, held)| {
            json!({
                "handle": handle.0,
                "actor": held.actor.0,
                "facet": held.facet.0,
                "value": shown(&held.fact.value()),
            })
        });
        terminal.json(&json!(facts.collect::<Vec<_>>()))?;
        return Ok(ExitCode::OK);
    }
    for (handle, held) in &held {
        let value = shown(&held.fact.value());
        terminal.data(format!(
            "{:<10} {:<8} {value}\n",
            handle.to_string(),
            turn::actor(held.actor)
        ))?;
    }
    if held.is_empty() {
        let what = if query.is_some() {
            "nothing that matches"
        } else {
            "nothing"
        };
        terminal.message(format!("{what} is asserted at {}", place.address(place.at())));
    }
    Ok(ExitCode::OK)
}
