//! Inputs that a person gives a run from outside: to the process that executes it, or to the run
//! itself.
//!
//! INVARIANT: the input has become a turn when the command says so.
//! It does not know the inputs. Read next: `serve.rs`.

use duet_journal::{Sequence, Store};
use duet_runtime::model::codec::{DecodeError, Fields};
use preserves::IOValue;

use super::Session;
use super::serve::Wish;
use crate::command::resume::ended;
use crate::doors;
use crate::error::{CommandError, ExitCode};
use crate::journal::{Journal, Place};
use crate::saying::{Way, say};
use crate::terminal::Terminal;
use crate::turn;
use crate::world_options::WorldOptions;

/// Shows what the turns of a request have printed.
fn show_turns(store: &dyn Store, place: &Place, done: &IOValue, terminal: &mut Terminal) -> Result<(), CommandError> {
    let read = || -> Result<(u64, u64), DecodeError> {
        let mut fields = Fields::of(done, "turns", 2)?;
        Ok((fields.read("before")?, fields.read("after")?))
    };
    let (before, after) =
        read().map_err(|error| CommandError::caused("the other process answered something else", &error))?;
    let position = |number| Sequence::new(number).unwrap_or(Sequence::FIRST);
    for record in store.read(&place.run, &place.branch, position(before + 1)..position(after + 1))? {
        turn::show_printed(&record, terminal)?;
    }
    Ok(())
}

/// Tells a run something, and lets it go on.
///
/// # Errors
/// If there is no such run, or it refuses.
pub(crate) fn tell(
    (journal, address): (&Journal, &str),
    wish: Wish,
    terminal: &mut Terminal,
) -> Result<ExitCode, CommandError> {
    let mut store = journal.open_to_write("tell")?;
    let place = journal.resolve(&store, Some(address))?;
    let name = place.name();
    if let Some(turn) = place.turn.filter(|turn| *turn != place.head.sequence) {
        return Err(CommandError::usage(format!(
            "only the newest turn of {name} can be told something, not turn {turn}"
        ))
        .advise(say![Way::turn("goto", name, turn), " goes back there first"]));
    }
    if let Some(done) = doors::hand_over((&store, journal), &place, &wish.encode())? {
        if matches!(wish, Wish::Evaluate { .. }) {
            show_turns(&store, &place, &done, terminal)?;
        }
        terminal.message(format!("done; the process that executes {name} goes on"));
        return Ok(ExitCode::OK);
    }
    let at = (&mut store as &mut dyn Store, journal.path());
    let mut session = Session::resume(&place, at, WorldOptions::default(), "tell")?;
    if let Some(code) = session.exit() {
        terminal.message(ended(&place, code));
        return Ok(ExitCode::FAILED);
    }
    session.tell_changed_texts(terminal);
    session.tell_unshown(&store, terminal)?;
    session.fulfil(wish, &mut store)?;
    journal.set_current(&place.run, &place.branch);
    session.drive(&mut store, true, terminal)
}
