//! `duet runs`: the runs of a journal.

use duet_journal::{Sequence, Store};
use duet_runtime::run::replay;
use duet_runtime::run::source;
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::session::program_name;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str =
    "One line is one run: its name, its program, and its branches with their newest turns, in the order of the names.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let store = Journal::of(arguments).open_to_read()?;
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
    if arguments.has("json") {
        let runs = listed.iter().map(|(run, program, heads)| {
            let branches = heads
                .iter()
                .map(|head| json!({ "branch": head.branch.as_str(), "turn": head.sequence.number() }));
            json!({ "run": run.as_str(), "program": program, "branches": branches.collect::<Vec<_>>() })
        });
        terminal.json(&json!(runs.collect::<Vec<_>>()))?;
        return Ok(Code::OK);
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
        terminal.data(&format!("{:<width$}  {program}  {}\n", run.as_str(), heads.join(" ")))?;
    }
    Ok(Code::OK)
}
