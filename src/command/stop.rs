//! `duet stop`: stops a run that another process executes.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::doors;
use crate::error::CommandError;
use crate::journal::Place;
use crate::saying::{Way, say};
use crate::standing::{Rest, Standing};
use crate::verb::project::{Look, Project};
use crate::verb::view::{Told, View};

/// Stops a run that another process executes.
///
/// The other process ends as after Ctrl-C: its turns are durable, and `duet resume` goes on with
/// it. Nothing happens to a run that no process executes.
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
    let (at, rest) = match doors::stop((look.store, &journal), &place)? {
        Some(turn) => (turn, None),
        None => (place.head.sequence.number(), Some(rest(&look, &place)?)),
    };
    let name = place.name();
    Ok(Report { name, at, rest })
}

/// Finds why no process executes a run.
fn rest(look: &Look, place: &Place) -> Result<Rest, CommandError> {
    let mut standings = look.standings();
    let (standing, _) = standings.standing(look.store, &place.run, &place.head)?;
    standings.keep();
    Ok(match standing {
        Standing::Resting(rest) => rest,
        // A process has begun to execute it just now.
        Standing::Running(..) => Rest::Left,
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
            Some(Rest::Waiting) => say![
                format!("{still}, which waits for a signal; "),
                Way::at("waits", name),
                " says for which",
            ],
            Some(Rest::Left | Rest::Broken) => say![format!("{still}; "), Way::at("resume", name), " goes on with it",],
        })
    }
}
