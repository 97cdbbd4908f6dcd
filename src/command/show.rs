//! `duet show`: one turn in full.

use duet_journal::{Sequence, Store};
use duet_runtime::history::shadow::{Changes, Shadow};
use duet_runtime::replay::Source;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Place};
use crate::render::shown;
use crate::session;
use crate::terminal::Terminal;
use crate::turn;

pub(super) const DETAILS: &str = "\
It shows what the actor was told, what it did, the gate's verdict where it is not yes, how the turn ended, and which facts
came (+) and went (-) with it; values are written as Preserves text. Without an address it is the newest turn of the run used last.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    let record = session::record_at(&store, &place, place.at())?;
    let body = turn::body(&record)?;
    let changes = changes(&store, &place)?;
    let came = changes.appeared.iter().map(|(fact, _)| shown(&fact.value()));
    let went = changes.disappeared.iter().map(|fact| shown(&fact.value()));
    if arguments.has("json") {
        let mut value = turn::json(&record, &body);
        value["came"] = came.collect::<Vec<_>>().into();
        value["went"] = went.collect::<Vec<_>>().into();
        terminal.json(&value)?;
    } else {
        let mut text = turn::full(&place.address(place.at()), &record, &body);
        text.extend(came.map(|fact| format!("  fact      + {fact}\n")));
        text.extend(went.map(|fact| format!("  fact      - {fact}\n")));
        terminal.data(&text)?;
    }
    Ok(Code::OK)
}

/// What the turn changed among the facts.
fn changes(store: &dyn Store, place: &Place) -> Result<Changes, Failure> {
    let source = Source {
        store,
        run: &place.run,
        branch: &place.branch,
    };
    let mut found = Changes::default();
    if let Some(before) = place
        .at()
        .number()
        .checked_sub(1)
        .and_then(|before| Sequence::new(before).ok())
    {
        Shadow::at(&source, before)?.advance(&source, place.at(), |_, _, changes| {
            found = changes.clone();
            Ok(())
        })?;
    }
    Ok(found)
}
