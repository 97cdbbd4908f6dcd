//! Doors: where the process that owns a run is reached, and how a command hands over to it.
//!
//! Owns the folder of sockets beside the journal. A claim names its owner, and the names of the
//! owner and the run are that of its socket.
//! INVARIANT: only the journal's user can enter the folder; a command acts itself on a run that no
//! other process owns, and never on one that another does.
//! It does not know what an owner does with a request. Read next: `owned_run/serve.rs`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use duet_drivers::door::caller::{self, CallError};
use duet_drivers::world::World;
use duet_journal::beside::make_folder_beside;
use duet_journal::{BranchName, Owner, RunId, Store};
use duet_runtime::driver::{Drivers, Effect, EffectKind};
use duet_runtime::model::codec::Fields;
use duet_runtime::model::identity::RequestId;
use preserves::IOValue;

use crate::history::journal::{Journal, Place, owner};
use crate::history::silence::{pause, require_silence, take_over};
use crate::owner::owned_run::serve::OwnerRequest;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};

/// The folder of the sockets beside a journal.
fn folder(journal: &Journal) -> PathBuf {
    journal.beside(".doors")
}

/// The socket of the process that owns a run, or of the thread that executes a further branch.
fn path(journal: &Journal, owner: &Owner, run: &RunId, branch: Option<&BranchName>) -> PathBuf {
    let branch = branch.map(|branch| format!("@{branch}")).unwrap_or_default();
    folder(journal).join(format!("{}@{run}{branch}.sock", owner.name()))
}

/// Opens the door of a run of this process. Where that fails, the run goes on, and says that nobody
/// reaches it.
pub(crate) fn open(world: &mut World, journal: &Journal, run: &RunId, branch: Option<&BranchName>) {
    let mut make = || {
        let folder = folder(journal);
        make_folder_beside(&folder)?;
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        sweep(&folder);
        world.open_door(&path(journal, &Owner::this(""), run, branch))
    };
    if let Err(error) = make() {
        tell(world, format!("other processes cannot reach this run: {error}"));
    }
}

/// Shows a message about a run.
pub(crate) fn tell(world: &mut World, text: String) {
    world.perform(vec![Effect {
        request: RequestId(0),
        key: String::new(),
        asking: None,
        kind: EffectKind::Log {
            text,
            by_program: false,
        },
    }]);
}

/// Removes the sockets of processes of this host that have died.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_stem().and_then(|name| name.to_str());
        if name
            .and_then(|name| Owner::named(name.split('@').next()?))
            .is_some_and(|owner| owner.is_here() && !owner.is_alive(0))
        {
            let _gone = fs::remove_file(path);
        }
    }
}

/// The process that owns a run, if it is another one and lives.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn other_owner(store: &dyn Store, place: &Place) -> Result<Option<Owner>, CommandError> {
    let owner = store.claimed(&place.run)?.and_then(|claim| claim.living());
    Ok(owner.filter(|owner| !owner.is_same(&Owner::this(""))))
}

/// Whether the owner of a run can be reached at a door: for a journal in a file, any process of
/// this host; for one on a server, a process of the same account.
pub(crate) fn is_near(journal: &Journal, owner: &Owner, place: &Place) -> bool {
    let branches = [Some(&place.branch), None];
    let has_door = || {
        branches
            .iter()
            .any(|branch| path(journal, owner, &place.run, *branch).exists())
    };
    owner.is_here() && (!journal.is_on_server() || has_door())
}

/// Describes this process as the next owner of a run, after an owner on another host was silent. A
/// command that claims a run in any other way may stop a process that executes it.
///
/// # Errors
/// As [`require_silence`].
pub(crate) fn successor(store: &dyn Store, run: &RunId, command: &str) -> Result<String, CommandError> {
    require_silence(store, run)?;
    Ok(owner(command))
}

/// Asks the process that owns a run for something; `None` if no other process owns it.
///
/// # Errors
/// If that process refuses, does not listen, or goes before it answers.
pub(crate) fn hand_over(
    store: &dyn Store,
    journal: &Journal,
    place: &Place,
    what: &IOValue,
) -> Result<Option<IOValue>, CommandError> {
    let address = format!("{}/{}", place.run, place.branch);
    for attempt in 1.. {
        let Some(owner) = other_owner(store, place)? else {
            break;
        };
        let further = path(journal, &owner, &place.run, Some(&place.branch));
        let door = if further.exists() {
            further
        } else {
            path(journal, &owner, &place.run, None)
        };
        match caller::ask(&door, &address, what) {
            Ok(answer) => return Ok(Some(answer)),
            // A process that begins has no door yet, and one that ends has none any more.
            Err(CallError::Absent(_)) if owner.is_here() && attempt < ABSENT_ATTEMPTS_MAX && !door.exists() => pause(),
            Err(error) => return Err(failed(error, place, &owner)),
        }
    }
    Ok(None)
}

/// Asks this process, which owns a run, for something.
///
/// # Errors
/// As [`hand_over`].
pub(crate) fn ask_self(journal: &Journal, place: &Place, owner_request: &OwnerRequest) -> Result<(), CommandError> {
    let owner = Owner::this("serve");
    let address = format!("{}/{}", place.run, place.branch);
    let further = path(journal, &owner, &place.run, Some(&place.branch));
    // Only the owner of the run begins to execute branches.
    let door = if further.exists() && !matches!(owner_request, OwnerRequest::Branch { .. }) {
        further
    } else {
        path(journal, &owner, &place.run, None)
    };
    let asked = caller::ask(&door, &address, &owner_request.encode());
    asked.map(drop).map_err(|error| failed(error, place, &owner))
}

/// How long a process that has stopped its run may take to end, in attempts of 10 ms.
const ATTEMPTS_MAX: u32 = 1_000;

/// How long a living process may be without a door, in attempts of 10 ms.
const ABSENT_ATTEMPTS_MAX: u32 = 500;

/// Stops the process that owns a run, and waits until it has given the run up; returns the turn at
/// which it stopped, or `None` if no other process owns the run.
///
/// # Errors
/// As [`hand_over`].
pub(crate) fn stop(store: &dyn Store, journal: &Journal, place: &Place) -> Result<Option<u64>, CommandError> {
    let Some(done) = hand_over(store, journal, place, &OwnerRequest::Stop {}.encode())? else {
        return Ok(None);
    };
    let turn = turn_of_stop(&done)?;
    await_end(store, place)?;
    Ok(Some(turn))
}

/// The turn at which an owner says that it has stopped.
///
/// # Errors
/// If it says something else.
pub(crate) fn turn_of_stop(done: &IOValue) -> Result<u64, CommandError> {
    Fields::of(done, "stopped", 1)
        .and_then(|mut fields| fields.read("turn"))
        .map_err(|error| CommandError::caused("the other process answered something else", &error))
}

/// Waits until an owner that has stopped has given its run up.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn await_end(store: &dyn Store, place: &Place) -> Result<(), CommandError> {
    for _ in 0..ATTEMPTS_MAX {
        if other_owner(store, place)?.is_none() {
            break;
        }
        pause();
    }
    Ok(())
}

fn failed(error: CallError, place: &Place, owner: &Owner) -> CommandError {
    let (name, process) = (place.name(), owner.process);
    let who = format!("process {process} (`duet {}`), which executes {name},", owner.command);
    let take_over = take_over(&name);
    match error {
        CallError::Refused(why) => CommandError::problem(why),
        CallError::Silent => CommandError::problem(format!("{who} does not react"))
            .advise(format!(
                "if it was stopped (Ctrl-Z), `kill -CONT {process}` lets it go on"
            ))
            .advise(take_over),
        CallError::Gone => CommandError::problem(format!("{who} ended before it answered"))
            .advise(say![Way::at("log", name), " shows whether it did what was asked"]),
        CallError::Absent(_) if !owner.is_here() => {
            CommandError::problem(format!("{who} is on another host, or in another container"))
                .advise("give the command there")
                .advise(take_over)
        }
        CallError::Absent(error) => CommandError::caused(format!("{who} cannot be reached"), &error)
            .advise("give the command again: it may be about to end")
            .advise(take_over),
    }
}
