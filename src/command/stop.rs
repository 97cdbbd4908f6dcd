//! `duet stop`: stops a run that another process executes.

use duet_journal::{Need, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::doors;
use crate::error::CommandError;
use crate::journal::{self, Place};
use crate::mail::Recipient;
use crate::saying::{Way, say};
use crate::standing::{Rest, RunStatus};
use crate::verb::project::{Project, ProjectReader};
use crate::verb::view::{Told, View};
use crate::work::member::Member;

/// Stops a run that another process executes.
///
/// The other process ends as after Ctrl-C: its turns are durable, and `duet resume` goes on with
/// it. Workers (`duet work`) leave a run that was stopped, also one that sleeps. Nothing happens to
/// any other run that no process executes.
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

/// Stops a run.
///
/// # Errors
/// If there is no such run, or its owner does not react.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let journal = project.journal().clone();
    let look = project.look()?;
    let place = look.resolve(request.address.as_deref())?;
    let owner = doors::other_owner(look.store, &place)?;
    let is_far = owner
        .as_ref()
        .is_some_and(|owner| !doors::is_near(&journal, owner, &place));
    let is_asleep = owner.is_none()
        && look.store.need(&place.run, &place.branch)? != Need::Nothing
        && Member::takes(look.store, &place.run)?;
    if is_far || is_asleep {
        let mut store = project.change("stop")?;
        let at = if is_far {
            Recipient {
                store: &mut *store,
                journal: &journal,
                place: &place,
            }
            .stop()?
        } else {
            lay_to_rest(&mut *store, &place)?;
            place.head.sequence.number()
        };
        let name = place.name();
        return Ok(Report { name, at, rest: None });
    }
    let look = project.look()?;
    let (at, rest) = match doors::stop(look.store, &journal, &place)? {
        Some(turn) => (turn, None),
        None => (place.head.sequence.number(), Some(rest(&look, &place)?)),
    };
    let name = place.name();
    Ok(Report { name, at, rest })
}

/// Keeps workers from going on with a run that sleeps.
fn lay_to_rest(store: &mut dyn Store, place: &Place) -> Result<(), CommandError> {
    let epoch = store.claim(&place.run, &journal::owner("stop"))?;
    store.set_need(&place.run, &place.branch, epoch, Need::Nothing)?;
    Ok(store.note_owner(&place.run, epoch, "")?)
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
        json!({
            "branch": self.name,
            "turn": self.at,
            "was_running": self.rest.is_none(),
            "rest": self.rest.map(Rest::shown),
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
            Some(Rest::Sleeping | Rest::Queued | Rest::Left | Rest::Broken) => {
                say![format!("{still}; "), Way::at("resume", name), " goes on with it"]
            }
        })
    }
}
