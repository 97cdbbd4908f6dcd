//! `duet runs`: lists the runs of a journal.

use duet_drivers::text;
use duet_journal::{Sequence, Store};
use duet_runtime::run::source;
use serde_json::json;

use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::terminal::Terminal;
use crate::turn::program_name;

/// Lists the runs of the journal.
///
/// One line is one run: its name, its program, and its branches with their newest turns, in the
/// order of the names.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let store = arguments.journal.open_to_read()?;
    let mut listed = Vec::new();
    for run in store.runs()? {
        let heads = store.heads(&run)?;
        let first = match heads.first() {
            Some(head) => store.record_at(&run, &head.branch, Sequence::FIRST)?,
            None => None,
        };
        let program = match first {
            Some(record) => program_name(&source::genesis(&record)?),
            None => String::new(),
        };
        listed.push((run, program, heads));
    }
    if arguments.json {
        let runs = listed.iter().map(|(run, program, heads)| {
            let branches = heads
                .iter()
                .map(|head| json!({ "branch": head.branch.as_str(), "turn": head.sequence.number() }));
            json!({ "run": run.as_str(), "program": program, "branches": branches.collect::<Vec<_>>() })
        });
        terminal.json(&json!(runs.collect::<Vec<_>>()))?;
        return Ok(ExitCode::OK);
    }
    let width = listed
        .iter()
        .map(|(run, ..)| run.as_str().len())
        .max()
        .unwrap_or_default();
    for (run, program, heads) in &listed {
        let heads: Vec<String> = heads
            .iter()
            .map(|head| format!("{}@{}", head.branch, head.sequence))
            .collect();
        let (run, program) = (run.as_str(), text::line(program));
        terminal.data(format!("{run:<width$}  {program}  {}\n", heads.join(" ")))?;
    }
    Ok(ExitCode::OK)
}
