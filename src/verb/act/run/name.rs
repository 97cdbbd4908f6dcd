//! The names of new runs: those that are free, and their claims.
//!
//! INVARIANT: a run that exists, or that a living process has claimed, keeps its name.
//! It begins no run. Read next: `verb/act/run.rs`.

use duet_journal::{RunId, Store, StoreError};

use crate::history::journal;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};

/// Claims a new run under the given name, or under the first free one that begins with the stem.
///
/// # Errors
/// If a name that was given is taken, or the journal fails.
pub(crate) fn claim_name(
    store: &mut dyn Store,
    given: Option<&RunId>,
    stem: &str,
    command: &str,
) -> Result<RunId, CommandError> {
    loop {
        let id = given.cloned().map_or_else(|| free_name(store, stem), Ok)?;
        // The claim of a name that is taken would stop whoever executes its run.
        if !store.has_run(&id)? && is_claimed(store, &id, command)? {
            return Ok(id);
        }
        if given.is_some() {
            return Err(taken(&id));
        }
    }
}

/// Claims a name; returns whether it is still free then.
fn is_claimed(store: &mut dyn Store, id: &RunId, command: &str) -> Result<bool, CommandError> {
    crate::history::silence::require_silence(store, id)?;
    match store.claim(id, &journal::owner(command)) {
        Ok(_) => Ok(!store.has_run(id)?),
        Err(StoreError::Owned { .. }) => Ok(false),
        Err(StoreError::EpochFenced { run, .. }) => Err(CommandError::NameLost(run)),
        Err(error) => Err(error.into()),
    }
}

/// Reads the name of a run.
///
/// # Errors
/// If it cannot be one.
pub(crate) fn read_name(name: &str) -> Result<RunId, CommandError> {
    if name.starts_with('-') {
        let why = format!("`{name}` cannot be a run's name: a `-` begins an option where the run is named");
        return Err(CommandError::usage(why));
    }
    RunId::new(name).map_err(|error| CommandError::usage(format!("`{name}` cannot be a run's name: {error}")))
}

fn taken(id: &RunId) -> CommandError {
    CommandError::usage(format!("there is a run {id} already")).advise(say![
        Way::at("resume", id),
        " goes on with it; ",
        Way::of("runs"),
        " lists the names that are taken",
    ])
}

/// Finds a free name for a run: the stem, or the stem with a number.
///
/// # Errors
/// If the stem cannot be a name, or the journal cannot be read.
pub(super) fn free_name(store: &dyn Store, stem: &str) -> Result<RunId, CommandError> {
    let is_taken = |name: &RunId| -> Result<bool, CommandError> {
        let claim = store.claimed(name)?;
        Ok(store.has_run(name)? || claim.is_some_and(|claim| claim.living().is_some()))
    };
    let first = read_name(stem)?;
    if !is_taken(&first)? {
        return Ok(first);
    }
    let numbered = |number: u64| read_name(&format!("{stem}-{number}"));
    numbered(free_number(|number| is_taken(&numbered(number)?))?)
}

/// The name that is taken before a free one of a stem; none if the stem itself was free.
pub(super) fn taken_before(free: &RunId, stem: &str) -> Option<RunId> {
    let number = free.as_str().strip_prefix(stem)?.strip_prefix('-')?;
    let before = match number.parse::<u64>().ok()? {
        2 => stem.to_owned(),
        number => format!("{stem}-{}", number.checked_sub(1)?),
    };
    RunId::new(before).ok()
}

/// Finds a free number whose predecessor is taken; 1 is taken.
///
/// The number of questions grows with the logarithm of the number of runs, so that many runs do not
/// slow down a start.
fn free_number(is_taken: impl Fn(u64) -> Result<bool, CommandError>) -> Result<u64, CommandError> {
    let mut taken = 1;
    let mut free = 2;
    while is_taken(free)? {
        taken = free;
        free *= 2;
    }
    while free - taken > 1 {
        let middle = taken.midpoint(free);
        *if is_taken(middle)? { &mut taken } else { &mut free } = middle;
    }
    Ok(free)
}

#[cfg(test)]
mod tests;
