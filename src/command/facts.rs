//! `duet facts`: what is asserted at a turn, and by whom.

use duet_runtime::state::request::Held;
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::query::Query;
use crate::render::shown;
use crate::session;
use crate::terminal::Terminal;
use crate::turn;

pub(super) const DETAILS: &str = "\
One line is one assertion: its handle, the actor that makes it, and the value as Preserves text. The run is brought back as it
was after the turn; nothing is executed outside. With a pattern only facts that match are listed: a value in which `_` stands
for anything, or a label alone.

    duet facts review@12
    duet facts @-1 '<greeted _>'";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    let query = arguments.word(1).map(Query::read).transpose()?;
    let run = session::restore(&store, &place)?;
    let is_sought = |held: &Held| query.as_ref().is_none_or(|query| query.finds(&held.fact.value()));
    let held: Vec<_> = run.state().held.iter().filter(|(_, held)| is_sought(held)).collect();
    if arguments.has("json") {
        let facts = held.iter().map(|(handle, held)| {
            json!({
                "handle": handle.0,
                "actor": held.actor.0,
                "facet": held.facet.0,
                "value": shown(&held.fact.value()),
            })
        });
        terminal.json(&json!(facts.collect::<Vec<_>>()))?;
        return Ok(Code::OK);
    }
    for (handle, held) in &held {
        let value = shown(&held.fact.value());
        terminal.data(&format!(
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
        terminal.message(&format!("{what} is asserted at {}", place.address(place.at())));
    }
    Ok(Code::OK)
}
