//! `duet mark`: gives names to turns.

use duet_runtime::model::address::Mark;
use serde_json::json;

use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::marks::{self, Marked};
use crate::session;
use crate::terminal::Terminal;

/// Gives a turn a name, or lists the names.
///
/// The addressed turn, or the newest, has the name NAME from then on, and an address may use it:
/// `review@NAME`. A name that is given again moves to the other turn. Without a name the command
/// lists the marks of the run. `duet gc` keeps marked turns.
///
///   duet mark review@12 before-the-edit
///   duet goto review@before-the-edit
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// The name.
    name: Option<String>,
    /// Removes the name.
    #[arg(long, requires = "name")]
    delete: bool,
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
    let Some(name) = arguments.name.as_deref() else {
        let marks = marks::of(journal, &place.run);
        if arguments.json {
            let rows = marks.iter().map(|(mark, marked)| {
                json!({ "mark": mark.to_string(), "turn": marked.turn.number(), "record": marked.record.to_string() })
            });
            terminal.json(&json!(rows.collect::<Vec<_>>()))?;
        } else {
            for (mark, marked) in marks {
                terminal.data(format!("{}@{mark}  turn {}\n", place.run, marked.turn))?;
            }
        }
        return Ok(ExitCode::OK);
    };
    let mark = Mark::new(name).ok_or_else(|| {
        CommandError::usage(format!(
            "`{name}` cannot be a mark: it begins with a letter and has letters, digits, `-`, `_` and `.`"
        ))
    })?;
    let record = session::record_at(&store, &place, place.at())?.hash();
    let marked = (!arguments.delete).then_some(Marked {
        turn: place.at(),
        record,
    });
    if marked.is_none() && !marks::of(journal, &place.run).contains_key(&mark) {
        return Err(CommandError::problem(format!(
            "no turn of {} is marked {mark}",
            place.run
        )));
    }
    marks::set(journal, &place.run, &mark, marked)
        .map_err(|error| CommandError::caused("the mark cannot be written", &error))?;
    let told = match marked {
        Some(_) => format!("{} is marked {mark}", place.address(place.at())),
        None => format!("{mark} marks no turn of {} any more", place.run),
    };
    terminal.message(&told);
    Ok(ExitCode::OK)
}
