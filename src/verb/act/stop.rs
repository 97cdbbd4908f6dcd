//! `duet stop`: stops a run that another process executes.

use duet_journal::{Need, Store, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::journal::Place;
use crate::owner::doors;
use crate::owner::mail::Recipient;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::{Project, ProjectReader};
use crate::verb::standing::{Rest, RunStatus};

/// Stops a run that another process executes.
///
/// The other process ends as after Ctrl-C: its turns are durable, and `duet resume` goes on with
/// it. Workers (`duet work`) leave a run that was stopped, also one that sleeps, waits for a
/// worker, or whose process has died. Nothing happens to a run that only waits for somebody's
/// input.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of the run or branch.
    address: Option<String>,
}

/// How a run stands after it was to stop.
pub(crate) struct Report {
    name: String,
    /// The turn at which it stands.
    at: u64,
    /// Why it stood still before; nothing if a process executed it, and has stopped.
    rest: Option<Rest>,
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    branch: String,
    /// The turn at which it stands.
    turn: u64,
    /// Whether a process executed it, and has stopped.
    was_running: bool,
    /// Why it stood still before, in words; null if it was running.
    rest: Option<String>,
}

/// How often a run is looked at that changes hands meanwhile.
const LOOKS_MAX: usize = 16;

/// Stops a run.
///
/// # Errors
/// If there is no such run, or its owner does not react.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let place = project.look()?.resolve(request.address.as_deref())?;
    let name = place.name();
    // A worker may take the run up or let it go between two looks.
    for _ in 0..LOOKS_MAX {
        if let Some(at) = stop_owner(project, &place)? {
            return Ok(Report { name, at, rest: None });
        }
        if !goes_on_by_itself(project.look()?.store, &place)? {
            break;
        }
        if let Some(at) = lay_to_rest(&mut *project.change("stop")?, &place)? {
            return Ok(Report { name, at, rest: None });
        }
    }
    let rest = Some(rest(&project.look()?, &place)?);
    let at = place.head.sequence.number();
    Ok(Report { name, at, rest })
}

/// Stops the process that executes a run; returns the turn at which it stopped, or `None` if no
/// other process owns the run.
fn stop_owner(project: &mut Project, place: &Place) -> Result<Option<u64>, CommandError> {
    let journal = project.journal().clone();
    let look = project.look()?;
    let Some(owner) = doors::other_owner(look.store, place)? else {
        return Ok(None);
    };
    if doors::is_near(&journal, &owner, place) {
        return doors::stop(look.store, &journal, place);
    }
    let mut store = project.change("stop")?;
    let mut recipient = Recipient {
        store: &mut *store,
        journal: &journal,
        place,
    };
    recipient.stop().map(Some)
}

/// Whether a worker goes on with a run without anybody's input, now or at a time: also one that
/// begins only later.
fn goes_on_by_itself(store: &dyn Store, place: &Place) -> Result<bool, CommandError> {
    Ok(matches!(store.need(&place.run, &place.branch)?, Need::Moment(_)))
}

/// Keeps workers from going on with a run that no process executes; returns the turn at which it
/// stands, or `None` if a process has taken it up just now.
fn lay_to_rest(store: &mut dyn Store, place: &Place) -> Result<Option<u64>, CommandError> {
    let owner = doors::successor(store, &place.run, "stop")?;
    let epoch = match store.claim(&place.run, &owner) {
        Err(StoreError::Owned { .. }) => return Ok(None),
        claimed => claimed?,
    };
    let head = store.head(&place.run, &place.branch)?;
    store.set_need(&place.run, &place.branch, epoch, Need::Nothing)?;
    store.note_owner(&place.run, epoch, "")?;
    Ok(Some(head.map_or(place.head.sequence, |head| head.sequence).number()))
}

/// Finds why no process executes a run.
fn rest(look: &ProjectReader, place: &Place) -> Result<Rest, CommandError> {
    let mut standings = look.standings();
    let (standing, _) = standings.standing(look.store, &place.run, &place.head)?;
    standings.keep();
    Ok(match standing {
        RunStatus::Resting(rest) => rest,
        // A process has begun to execute it just now.
        RunStatus::Running(..) => Rest::Left,
    })
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&Form {
            branch: self.name.clone(),
            turn: self.at,
            was_running: self.rest.is_none(),
            rest: self.rest.map(Rest::shown),
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let Self { name, at, .. } = self;
        let still = format!("no process executes {name}");
        Told::data("").say(match &self.rest {
            None => say![
                format!("{name} stopped at turn {at}; "),
                Way::at("resume", name),
                " goes on with it",
            ],
            Some(Rest::Ended(code)) => {
                format!("{name} ended at turn {at} with code {code}, so there is nothing to stop").into()
            }
            Some(Rest::Asking(_)) => say![
                format!("{still}, which waits for a person; "),
                Way::at("waits", name),
                " says for what",
            ],
            Some(Rest::Stuck) => say![
                format!("{still}, which cannot go on; "),
                Way::at("waits", name),
                " says for what it waits",
            ],
            Some(Rest::Waiting | Rest::Listening) => say![
                format!("{still}, which waits for a signal; "),
                Way::at("waits", name),
                " says for which",
            ],
            Some(Rest::Reading) => say![
                format!("{still}, which waits for standard input; "),
                Way::at("resume", name),
                " goes on with it and reads there",
            ],
            Some(Rest::Sleeping | Rest::Queued | Rest::Left | Rest::Broken) => {
                say![format!("{still}; "), Way::at("resume", name), " goes on with it"]
            }
        })
    }
}
