//! `duet when`: since which turn a fact is there.

use duet_journal::Sequence;
use duet_runtime::history::shadow::Shadow;
use duet_runtime::replay::Source;
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
It names the first turn after which a fact that matches is there, or with `--all` every turn in which one came (+) or went (-).
The records are read, the program is not run. A pattern is a value in which `_` stands for anything; a label alone finds all
its records. The exit code is 1 if there was never such a fact.

    duet when '<greeted _>'
    duet when greeted review/what-if --all";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let query = Query::read(arguments.word(0).unwrap_or_default())?;
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(1))?;
    let source = Source {
        store: &store,
        run: &place.run,
        branch: &place.branch,
    };
    let mut found = Vec::new();
    let mut shadow = Shadow::begin(&session::record_at(&store, &place, Sequence::FIRST)?)?;
    let is_all = arguments.has("all");
    while shadow.sequence() < place.at() && (is_all || found.is_empty()) {
        // In portions, so that the first match need not wait for the last turn.
        let to = Sequence::new(shadow.sequence().number() + PORTION)
            .unwrap_or(place.at())
            .min(place.at());
        shadow.advance(&source, to, |record, turn, changes| {
            let came = changes.appeared.iter().map(|(fact, _)| ("+", fact));
            let went = changes.disappeared.iter().filter(|_| is_all).map(|fact| ("-", fact));
            let matching = came.chain(went).filter(|(_, fact)| query.finds(&fact.value()));
            found.extend(
                matching.map(|(sign, fact)| (record.header().sequence, turn.actor, sign, shown(&fact.value()))),
            );
            Ok(())
        })?;
    }
    if !is_all {
        let first = found.first().map(|(turn, ..)| *turn);
        found.retain(|(turn, ..)| Some(*turn) == first);
    }
    if arguments.has("json") {
        let rows = found.iter().map(|(turn, actor, sign, fact)| {
            json!({ "turn": turn.number(), "actor": actor.0, "came": *sign == "+", "fact": fact })
        });
        terminal.json(&json!(rows.collect::<Vec<_>>()))?;
    } else {
        for (turn, actor, sign, fact) in &found {
            terminal.data(&format!(
                "{} {:<8} {sign} {fact}\n",
                place.address(*turn),
                turn::actor(*actor)
            ))?;
        }
    }
    if found.is_empty() {
        terminal.message(&format!("no such fact was there up to {}", place.address(place.at())));
        return Ok(Code::FAILED);
    }
    Ok(Code::OK)
}

/// Turns are looked at in portions of this many.
const PORTION: u64 = 1024;
