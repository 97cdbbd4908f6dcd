//! `duet replay`: a run is run again from its records, and every turn must come out the same.

use duet_runtime::record::divergence::Divergence;
use duet_runtime::run::error::RunError;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::source::Source;
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::render;
use crate::session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
The program, as the run's first record pins it, is fed the inputs of the journal and must do the same, byte for byte, in every
turn up to the one addressed. Nothing is executed outside. The first difference is reported, and the exit code is then 3.

  --check          says so explicitly; it is what the command does in any case
  --with PROGRAM   the program in this file is fed the inputs instead: shows the first turn that it would have taken otherwise

    duet replay review@40
    duet replay review --with review-2.scm";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    let pinned = match arguments.one("with") {
        Some(program) => session::changed(&store, &place, program, terminal)?,
        None => session::pinned(&store, &place)?,
    };
    let source = Source {
        store: &store,
        run: &place.run,
        branch: &place.branch,
    };
    let run = match source.restore(Some(place.at()), pinned.programs, Snapshots::Ignore) {
        Err(RunError::Divergence(divergence)) => {
            if arguments.has("json") {
                terminal.json(&as_json(&divergence))?;
            }
            terminal.message(&render::divergence(&divergence, &pinned.texts, terminal.is_styled));
            return Ok(Code::DIVERGED);
        }
        run => run?,
    };
    let turns = run.head().map_or(0, |tip| tip.sequence.number());
    if arguments.has("json") {
        terminal.json(&json!({ "identical": true, "turns": turns }))?;
    } else {
        let unit = if turns == 1 { "turn" } else { "turns" };
        terminal.data(&format!("identical: {turns} {unit}\n"))?;
    }
    Ok(Code::OK)
}

fn as_json(divergence: &Divergence) -> Value {
    json!({
        "identical": false,
        "turn": divergence.sequence.number(),
        "actor": divergence.actor.0,
        "part": divergence.part,
        "element": divergence.element,
        "journal_says": divergence.journal_says.as_ref().map(render::shown),
        "program_did": divergence.program_did.as_ref().map(render::shown),
        "source": divergence.span.as_ref().map(|origin| &origin.source),
        "start": divergence.span.as_ref().map(|origin| origin.start),
        "end": divergence.span.as_ref().map(|origin| origin.end),
    })
}
