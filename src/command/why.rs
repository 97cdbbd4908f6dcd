//! `duet why`: lists the turns that led to a fact, back to an input.

use duet_journal::{Sequence, Store};
use duet_runtime::history::chain::{Link, chain};
use duet_runtime::history::changes::{Change, Sought};
use duet_runtime::model::codec::Codec;
use duet_runtime::state::event::{Cause, Event};
use serde_json::{Value, json};

use crate::error::{CommandError, ExitCode};
use crate::journal::{Journal, Place};
use crate::query::Query;
use crate::terminal::Terminal;
use crate::value_text::{abbreviated, shown};
use crate::{changes, turn};

/// Shows the turns that led to a fact.
///
/// The first line is the turn in which the fact came last. Each line below is the turn that caused
/// the one above, down to an input of a person or the start of the run. A tool's result leads back
/// to the turn that called the tool. Duet counts turns in which a fiber only continued, and leaves
/// them out; `--json` has them all.
///
///   duet why '<report _>'
///   duet why greeted review@7
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The pattern that the fact must match.
    pattern: String,
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let query = Query::read(&arguments.pattern)?;
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.address.as_deref())?;
    let found = changes::find((journal, &store), &place, &query, Sought::Last, terminal)?;
    let Some(Change {
        sequence: turn, fact, ..
    }) = found.into_iter().next()
    else {
        terminal.message(format!("there was no such fact up to {}", place.address(place.at())));
        return Ok(ExitCode::FAILED);
    };
    let source = place.source(&store);
    let links = chain(&source, turn)?;
    if arguments.json {
        terminal.json(&json!({
            "fact": shown(&fact.value()),
            "chain": links.iter().map(as_json).collect::<Vec<_>>(),
        }))?;
    } else {
        let text = text((&store, &place), &links);
        terminal.data(format!("{}\n{text}", abbreviated(&fact.value())))?;
    }
    Ok(ExitCode::OK)
}

/// Whether a turn in the middle of a chain only continued a fiber.
fn is_going_on(link: &Link) -> bool {
    link.turn
        .events
        .iter()
        .all(|event| matches!(event, Event::Resume { .. }))
}

fn text((store, place): (&dyn Store, &Place), links: &[Link]) -> String {
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
        let told: Vec<String> = link
            .turn
            .events
            .iter()
            .map(|event| abbreviated(&event.encode()))
            .collect();
        let cause = match link.turn.cause {
            Cause::Input {} => "  input",
            Cause::Start {} => "  start",
            Cause::Turn { .. } => "  received",
        };
        let asked = link
            .asked
            .map(|asked| format!(", asked for in turn {asked}"))
            .unwrap_or_default();
        let source = place.source(store);
        text.push_str(&format!(
            "{} {}\n{cause} {}{asked}\n",
            place.address(link.sequence),
            turn::told(&link.turn, &turn::asked_on(source, link.sequence)),
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
