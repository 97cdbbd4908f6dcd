//! `duet show`: prints one turn in full.

use duet_journal::{Sequence, Store};
use duet_runtime::history::shadow::{Changes, Shadow};
use duet_runtime::record::Body;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::scheme::{Difference, Differences, SchemePrograms};
use serde_json::{Value, json};

use crate::error::{CommandError, ExitCode};
use crate::journal::{Journal, Place};
use crate::terminal::Terminal;
use crate::value_text::shown;
use crate::{session, turn};

/// Shows one turn in full.
///
/// The turn is shown with the events that the actor received, its actions, the verdicts of the gate
/// other than yes, how the turn ended, which facts came (+) and went (-) with it, and its changes
/// in the actor's memory: the globals, or the places within their values, before and after. For
/// that Duet restores the run as it was before the turn and takes the turn again. Values are
/// Preserves text; in memory they are written as Scheme writes them.
///
///   duet show review@12 --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.address.as_deref())?;
    let record = session::record_at(&store, &place, place.at())?;
    let body = turn::body(&record)?;
    let changes = changes(&store, &place)?;
    let came = changes.appeared.iter().map(|(fact, _)| shown(&fact.value()));
    let went = changes.disappeared.iter().map(|fact| shown(&fact.value()));
    let memory = match memory(&store, &place, &body) {
        Ok(memory) => memory,
        Err(error @ (CommandError::OutputClosed | CommandError::NameLost(_))) => return Err(error),
        Err(CommandError::Shown(why) | CommandError::Usage(why)) => {
            terminal.message(why);
            terminal.message(UNTOLD);
            None
        }
        Err(CommandError::Problem(problem)) => {
            terminal.message(format!("{UNTOLD}: {}", problem.what));
            None
        }
    };
    if arguments.json {
        let mut value = turn::json(&record, &body);
        value["came"] = came.collect::<Vec<_>>().into();
        value["went"] = went.collect::<Vec<_>>().into();
        value["memory"] = memory.as_ref().map(memory_as_json).into();
        terminal.json(&value)?;
    } else {
        let mut text = turn::full(
            &place.address(place.at()),
            (&record, &body),
            &turn::asked_on(place.source(&store), place.at()),
        );
        text.extend(came.map(|fact| format!("  fact      + {fact}\n")));
        text.extend(went.map(|fact| format!("  fact      - {fact}\n")));
        if let Some(memory) = &memory {
            text.push_str(&memory_as_text(memory));
        }
        terminal.data(&text)?;
    }
    Ok(ExitCode::OK)
}

const UNTOLD: &str = "the changes in memory are not known";

/// The changes of the turn among the facts.
fn changes(store: &dyn Store, place: &Place) -> Result<Changes, CommandError> {
    let source = place.source(store);
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

/// The changes of the turn in the memory of its actor; nothing if the actor has ended, or there was
/// no turn.
fn memory(store: &dyn Store, place: &Place, body: &Body) -> Result<Option<Differences>, CommandError> {
    let Body::Turn(turn) = body else { return Ok(None) };
    let source = place.source(store);
    let before = Sequence::new(place.at().number().saturating_sub(1)).ok();
    let pinned = session::pinned(store, place)?;
    let run = source.restore(before, pinned.programs, Snapshots::Use)?;
    let remembered = run
        .instance::<SchemePrograms>(turn.actor)
        .map(|instance| run.programs::<SchemePrograms>().remember(instance));
    let run = run.rewind(&source, Some(place.at()))?;
    let instance = run.instance::<SchemePrograms>(turn.actor);
    Ok(instance.map(|instance| {
        run.programs::<SchemePrograms>()
            .differences(remembered.as_ref(), instance)
    }))
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
    let place =
        |Difference { place, before, after }: &Difference| json!({ "place": place, "before": before, "after": after });
    json!({
        "places": memory.places.iter().map(place).collect::<Vec<_>>(),
        "more": memory.more,
        "cut_off": memory.is_cut_off,
        "defined": memory.defined,
        "words_before": memory.words.0,
        "words_after": memory.words.1,
    })
}
