//! `duet when`: since which turn a fact is there.

use duet_runtime::history::changes::Sought;
use serde_json::json;

use crate::arguments::Arguments;
use crate::changes;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::query::Query;
use crate::render::shown;
use crate::terminal::Terminal;
use crate::turn;

pub(super) const DETAILS: &str = "\
It names the first turn after which a fact that matches is there, or with `--all` every turn in which one came (+) or went (-).
An index beside the journal answers; turns that it does not cover yet are read into it first, and the program is not run. A pattern is a value in which `_` stands for anything; a label alone finds all
its records. The exit code is 1 if there was never such a fact.

    duet when '<greeted _>'
    duet when greeted review/what-if --all";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let query = Query::read(arguments.word(0).unwrap_or_default())?;
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(1))?;
    let is_all = arguments.has("all");
    let sought = if is_all { Sought::All } else { Sought::First };
    let found = changes::find((&journal, &store), &place, &query, sought, terminal)?;
    if arguments.has("json") {
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
            terminal.data(&format!(
                "{} {:<8} {} {}\n",
                place.address(change.sequence),
                turn::actor(change.actor),
                if change.came { "+" } else { "-" },
                shown(&change.fact.value())
            ))?;
        }
    }
    if found.is_empty() {
        terminal.message(&format!("no such fact was there up to {}", place.address(place.at())));
        return Ok(Code::FAILED);
    }
    Ok(Code::OK)
}
