//! `duet branches`: the branches of a run.

use duet_journal::Store;
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str =
    "One line is one branch: its address with its newest turn; `@` marks the one that addresses without a branch mean.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve(&store, arguments.word(0))?;
    let heads = store.heads(&place.run)?;
    if arguments.has("json") {
        let branches = heads.iter().map(|head| {
            json!({
                "branch": head.branch.as_str(),
                "turn": head.sequence.number(),
                "record": head.hash.to_string(),
                "current": head.branch == place.branch,
            })
        });
        terminal.json(&json!(branches.collect::<Vec<_>>()))?;
        return Ok(Code::OK);
    }
    for head in heads {
        let mark = if head.branch == place.branch { '@' } else { ' ' };
        terminal.data(&format!("{mark} {}/{}@{}\n", place.run, head.branch, head.sequence))?;
    }
    Ok(Code::OK)
}
