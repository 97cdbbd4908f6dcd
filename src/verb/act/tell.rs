//! Inputs that a person gives a run from outside: to the process that executes it, or to the run
//! itself.
//!
//! INVARIANT: the input has become a turn when the command says so.
//! It does not know the inputs. Read next: `owner/owned_run/serve.rs`.

use duet_journal::{Sequence, Store};
use duet_runtime::model::codec::{DecodeError, Fields};
use preserves::IOValue;

use crate::history::journal::Place;
use crate::history::turn;
use crate::owner::mail::{Delivery, MailArguments};
use crate::owner::owned_run::serve::OwnerRequest;
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::text::view::Driven;
use crate::verb::act::resume::ended;
use crate::verb::project::Project;
use crate::world::world_options::WorldOptions;

/// The turns that a request has led to, as the process that executes the run says: those after the
/// first number, up to the second.
///
/// # Errors
/// If it says something else.
pub(crate) fn turns_of(done: &IOValue) -> Result<[u64; 2], CommandError> {
    let read = || -> Result<[u64; 2], DecodeError> {
        let mut fields = Fields::of(done, "turns", 2)?;
        Ok([fields.read("before")?, fields.read("after")?])
    };
    read().map_err(|error| CommandError::caused("the other process answered something else", &error))
}

/// Shows what the turns of a request have printed.
fn show_turns(store: &dyn Store, place: &Place, done: &IOValue, terminal: &mut Terminal) -> Result<(), CommandError> {
    let [before, after] = turns_of(done)?;
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
    project: &mut Project,
    address: &str,
    owner_request: OwnerRequest,
    mail: MailArguments,
) -> Result<Driven, CommandError> {
    let mut store = project.change("tell")?;
    let place = project.journal().resolve(&*store, Some(address))?;
    let name = place.name();
    if let Some(turn) = place.turn.filter(|turn| *turn != place.head.sequence) {
        return Err(CommandError::usage(format!(
            "only the newest turn of {name} can be told something, not turn {turn}"
        ))
        .advise(say![Way::turn("goto", name, turn), " goes back there first"]));
    }
    let delivery = project.send(&mut *store, &place, &owner_request, mail)?;
    if let Delivery::Left = delivery {
        let left = format!("it is in the inbox of {name}, for whoever executes it next");
        project.stage()?.message(left);
        return Ok(ExitCode::OK.into());
    }
    if let Delivery::Done(done) = delivery {
        if matches!(owner_request, OwnerRequest::Evaluate { .. }) {
            show_turns(&*store, &place, &done, project.stage()?)?;
        }
        let done = format!("done; the process that executes {name} goes on");
        project.stage()?.message(done);
        return Ok(ExitCode::OK.into());
    }
    let mut owned = project.resume(&place, &mut *store, WorldOptions::default(), "tell")?;
    if let Some(code) = owned.exit() {
        project.stage()?.message(ended(&place, code));
        return Ok(ExitCode::FAILED.into());
    }
    owned.tell_code(project.stage()?);
    owned.tell_unshown(&*store, project.stage()?)?;
    owned.fulfil(owner_request, &mut *store)?;
    project.set_current(&place);
    Ok(owned.drive(&mut *store, true, project.stage()?)?.into())
}
