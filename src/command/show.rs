//! `duet show`: one turn in full.

use duet_journal::{Sequence, Store};
use duet_runtime::history::shadow::{Changes, Shadow};
use duet_runtime::record::Body;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::source::Source;
use duet_runtime::scheme::{Difference, Differences};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Place};
use crate::render::shown;
use crate::session;
use crate::terminal::Terminal;
use crate::turn;

pub(super) const DETAILS: &str = "\
It shows what the actor was told, what it did, the gate's verdict where it is not yes, how the turn ended, which facts came (+)
and went (-) with it, and what it changed in the actor's memory: which globals, or places within what they hold, and their values before and
after. For that the run is brought back as it was before the turn, and the turn is taken again. Values are written as Preserves text, in
memory as Scheme writes them. Without an address it is the newest turn of the run used last.

    duet show review@12 --json";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    let record = session::record_at(&store, &place, place.at())?;
    let body = turn::body(&record)?;
    let changes = changes(&store, &place)?;
    let came = changes.appeared.iter().map(|(fact, _)| shown(&fact.value()));
    let went = changes.disappeared.iter().map(|fact| shown(&fact.value()));
    let memory = match memory(&store, &place, &body) {
        Ok(memory) => memory,
        Err(Failure::OutputClosed) => return Err(Failure::OutputClosed),
        Err(Failure::Shown(why)) => {
            terminal.message(&format!("{why}\n{UNTOLD}"));
            None
        }
        Err(Failure::Problem(problem)) => {
            terminal.message(&format!("{UNTOLD}: {}", problem.what));
            None
        }
    };
    if arguments.has("json") {
        let mut value = turn::json(&record, &body);
        value["came"] = came.collect::<Vec<_>>().into();
        value["went"] = went.collect::<Vec<_>>().into();
        value["memory"] = memory.as_ref().map(memory_as_json).into();
        terminal.json(&value)?;
    } else {
        let mut text = turn::full(&place.address(place.at()), &record, &body);
        text.extend(came.map(|fact| format!("  fact      + {fact}\n")));
        text.extend(went.map(|fact| format!("  fact      - {fact}\n")));
        if let Some(memory) = &memory {
            text.push_str(&memory_as_text(memory));
        }
        terminal.data(&text)?;
    }
    Ok(Code::OK)
}

const UNTOLD: &str = "what the turn changed in memory cannot be told";

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

/// What the turn changed in the memory of its actor; nothing if the actor is gone, or there was no turn.
fn memory(store: &dyn Store, place: &Place, body: &Body) -> Result<Option<Differences>, Failure> {
    let Body::Turn(turn) = body else { return Ok(None) };
    let source = Source {
        store,
        run: &place.run,
        branch: &place.branch,
    };
    let before = Sequence::new(place.at().number().saturating_sub(1)).ok();
    let pinned = session::pinned(store, place)?;
    let run = source.restore(before, pinned.programs, Snapshots::Use)?;
    let remembered = run.body(turn.actor).map(|body| run.programs().remember(body));
    let run = run.rewind(&source, Some(place.at()))?;
    let body = run.body(turn.actor);
    Ok(body.map(|body| run.programs().differences(remembered.as_ref(), body)))
}

fn memory_as_text(memory: &Differences) -> String {
    let nothing = || "-".to_owned();
    let mut text = String::new();
    for Difference { place, before, after } in &memory.places {
        let (before, after) = (
            before.clone().unwrap_or_else(nothing),
            after.clone().unwrap_or_else(nothing),
        );
        text.push_str(&format!("  memory    {place}: {before} → {after}\n"));
    }
    if memory.more > 0 || memory.is_cut_off {
        let more = if memory.is_cut_off {
            "and perhaps others"
        } else {
            "places more"
        };
        text.push_str(&format!("  memory    {} {more}\n", memory.more));
    }
    if memory.defined > 0 {
        text.push_str(&format!(
            "  memory    {} globals of libraries defined\n",
            memory.defined
        ));
    }
    text
}

fn memory_as_json(memory: &Differences) -> Value {
    let place = |difference: &Difference| json!({ "place": difference.place, "before": difference.before, "after": difference.after });
    json!({
        "places": memory.places.iter().map(place).collect::<Vec<_>>(),
        "more": memory.more,
        "cut_off": memory.is_cut_off,
        "defined": memory.defined,
        "words_before": memory.words.0,
        "words_after": memory.words.1,
    })
}
