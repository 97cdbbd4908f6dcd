//! `duet why`: which turns led to a fact, back to what the world said.

use duet_journal::Sequence;
use duet_runtime::history::chain::{Link, chain};
use duet_runtime::history::changes::{Change, Sought};
use duet_runtime::model::codec::Codec;
use duet_runtime::run::source::Source;
use duet_runtime::state::event::{Cause, Event};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::brief::brief;
use crate::changes;
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Place};
use crate::query::Query;
use crate::render::shown;
use crate::terminal::Terminal;
use crate::turn;

pub(super) const DETAILS: &str = "\
The first line is the turn in which the fact came last, and each one below it the turn that caused the one above, down to what
a person said or the start of the run. A tool's result leads back to the turn that called the tool. Turns in which a fiber only went on are counted and left out; `--json` has all.

    duet why '<report _>'
    duet why greeted review@7";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let query = Query::read(arguments.word(0).unwrap_or_default())?;
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(1))?;
    let found = changes::find((&journal, &store), &place, &query, Sought::Last, terminal)?;
    let Some(Change {
        sequence: turn, fact, ..
    }) = found.into_iter().next()
    else {
        terminal.message(&format!("no such fact was there up to {}", place.address(place.at())));
        return Ok(Code::FAILED);
    };
    let source = Source {
        store: &store,
        run: &place.run,
        branch: &place.branch,
    };
    let links = chain(&source, turn)?;
    if arguments.has("json") {
        terminal.json(&json!({
            "fact": shown(&fact.value()),
            "chain": links.iter().map(as_json).collect::<Vec<_>>(),
        }))?;
    } else {
        terminal.data(&format!("{}\n{}", brief(&fact.value()), text(&place, &links)))?;
    }
    Ok(Code::OK)
}

/// Says whether a turn in the middle of a chain only let a fiber go on.
fn is_going_on(link: &Link) -> bool {
    link.turn
        .events
        .iter()
        .all(|event| matches!(event, Event::Resume { .. }))
}

fn text(place: &Place, links: &[Link]) -> String {
    let mut text = String::new();
    let mut skipped = 0;
    for (position, link) in links.iter().enumerate() {
        let is_end = position == 0 || position + 1 == links.len();
        if !is_end && is_going_on(link) {
            skipped += 1;
            continue;
        }
        if skipped > 0 {
            text.push_str(&format!("  after {skipped} turns in which it went on\n"));
            skipped = 0;
        }
        let told: Vec<String> = link.turn.events.iter().map(|event| brief(&event.encode())).collect();
        let cause = match link.turn.cause {
            Cause::Input {} => "  the world said",
            Cause::Start {} => "  the run began:",
            Cause::Turn { .. } => "  it was told",
        };
        let asked = link
            .asked
            .map(|asked| format!(", asked for in turn {asked}"))
            .unwrap_or_default();
        text.push_str(&format!(
            "{} {}\n{cause} {}{asked}\n",
            place.address(link.sequence),
            turn::told(&link.turn),
            told.join("; ")
        ));
    }
    text
}

fn as_json(link: &Link) -> Value {
    json!({
        "turn": link.sequence.number(),
        "asked": link.asked.map(Sequence::number),
        "actor": link.turn.actor.0,
        "cause": match link.turn.cause {
            Cause::Start {} => json!({ "kind": "start" }),
            Cause::Turn { sequence } => json!({ "kind": "turn", "turn": sequence.number() }),
            Cause::Input {} => json!({ "kind": "input" }),
        },
        "events": link.turn.events.iter().map(|event| shown(&event.encode())).collect::<Vec<_>>(),
        "actions": link.turn.actions.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
