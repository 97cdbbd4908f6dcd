//! `duet restart`: one actor of a run begins anew.

use std::path::PathBuf;

use duet_journal::{Sequence, Store};
use duet_runtime::action::exit::MAIN;
use duet_runtime::model::identity::ActorId;
use duet_runtime::state::RunState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::patch::require_newest;
use super::resume::{ended, require_code};
use crate::history::journal::Place;
use crate::history::origins::Origins;
use crate::history::turn::line;
use crate::owner::owned_run::patching::PatchOptions;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::text::similar::similar;
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::Project;
use crate::world::launch::Program;
use crate::world::world_options::WorldOptions;

/// Makes one actor of a run begin anew.
///
/// The actor keeps its number, its name, its rights, and the configuration with which it was
/// spawned. Everything that it has computed is gone: its facts are retracted, its facets, fibers
/// and waits end without their hooks, its open calls and timers are withdrawn, also timers that
/// have run out meanwhile, and the actors that are linked to its facets end. Then its procedure is
/// called again, in an empty heap, with the definitions of the text that the run executes. Messages
/// that were on their way to it wait for an observer with the same pattern; keyed entries and what
/// others know of the actor stay.
///
/// ACTOR is its number, its role, its role and number as `duet log` shows them, or its path of
/// names, which begins with the main program: `main/clerk` is the first clerk that it spawned,
/// `main/clerk 2` the second. The actor that supervises it receives the event `restarted`; for a
/// supervisor that is no end and no failure.
/// The main program does not begin anew: `duet resume --with` runs it again.
///
/// It is a turn of the run: `duet goto` takes it back, and other branches do not have it. If the
/// procedure fails before it waits for the first time, nothing changes.
///
///   duet restart orders clerk
///   duet restart orders 'clerk 3' --with clerk-2.scm
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a run or a branch.
    address: String,
    /// The actor: its number, its role, both, or its path of names.
    actor: String,
    /// Puts this changed program in the place of the one that the run executes first, as `duet
    /// patch` does, so the actor begins with its definitions.
    #[arg(long, value_name = "PROGRAM")]
    with: Option<PathBuf>,
    /// Its text, if a server has read it for a client.
    #[arg(skip)]
    with_text: Option<String>,
    /// The folder in which the server found it, without links.
    #[arg(skip)]
    within: Option<PathBuf>,
}

impl Request {
    /// The request for an actor.
    pub(crate) fn of(address: String, actor: String) -> Self {
        Self {
            address,
            actor,
            ..Self::default()
        }
    }

    /// The request of a client, within what the person who runs the server grants.
    ///
    /// # Errors
    /// Why it is not granted.
    pub(crate) fn within(self, may_change_code: bool) -> Result<Self, String> {
        require_code(may_change_code)?;
        Ok(self)
    }
}

/// An actor that has begun anew.
pub(crate) struct Report {
    /// The branch.
    name: String,
    /// The turn.
    turn: Sequence,
    id: ActorId,
    /// The actor for people.
    actor: String,
    /// The actor that supervises it.
    supervisor: Option<String>,
    /// Whether the run has taken a changed text on.
    is_patched: bool,
}

/// Makes an actor begin anew.
///
/// # Errors
/// If there is no such run or actor, another process executes the run, or the actor's beginning
/// fails; then nothing has changed.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let mut store = project.change("restart")?;
    let place = project.journal().resolve(&*store, Some(&request.address))?;
    require_newest(&place, "makes an actor begin anew")?;
    let mut owned = project.resume(&place, &mut *store, WorldOptions::default(), "restart")?;
    if let Some(code) = owned.exit() {
        return Err(CommandError::problem(ended(&place, code)));
    }
    let id = find(owned.state(), &request.actor, &place, &*store)?;
    let actor = line::actor_in(owned.state(), id);
    let supervisor = owned.state().monitor_of(id);
    let supervisor = supervisor.map(|supervisor| line::actor_in(owned.state(), supervisor));
    let stage = project.stage()?;
    let text = match &request.with {
        Some(program) => {
            let asked = PatchOptions { run: &[], values: &[] };
            let program = Program {
                path: program,
                text: request.with_text.as_deref(),
                within: request.within.as_deref(),
            };
            let mut patchable = owned.patchable();
            let text = patchable.changed_text(program, asked, stage)?;
            let preview = patchable.preview(&text, stage)?;
            (!preview.listed.is_empty()).then_some(text)
        }
        None => None,
    };
    let is_patched = text.is_some();
    let turn = owned.restart(id, text, &mut *store, stage)?;
    project.set_current(&place);
    Ok(Report {
        name: place.name(),
        turn,
        id,
        actor,
        supervisor,
        is_patched,
    })
}

/// Finds the living actor that a person means, which can begin anew.
fn find(state: &RunState, asked: &str, place: &Place, store: &dyn Store) -> Result<ActorId, CommandError> {
    let asked = asked.trim();
    let mut origins = Origins::of(place.source(store));
    if asked.contains('/') {
        return by_path(state, asked, place, &mut origins);
    }
    let is_meant = |id: ActorId, role: Option<&str>| {
        let number = asked.strip_prefix("actor ").unwrap_or(asked);
        number == id.0.to_string() || role.is_some_and(|role| role == asked) || line::actor(id, role) == asked
    };
    let living = state.actors.iter();
    let meant = living.filter(|(id, actor)| is_meant(**id, actor.role.as_deref()));
    let meant: Vec<ActorId> = meant.map(|(id, _)| *id).collect();
    match *meant {
        [id] => require_restartable(state, id, place),
        [] => {
            let born = state.counters.actors;
            for id in (0..born).map(ActorId).filter(|id| state.actor(*id).is_none()) {
                let role = origins.role(id, place.head.sequence)?;
                if is_meant(id, role.as_deref()) {
                    return Err(gone(state, &line::actor(id, role.as_deref()), place));
                }
            }
            Err(unknown(state, asked, place))
        }
        [..] => {
            let mut names = Vec::new();
            for id in meant {
                names.push(format!("`{}` ({})", line::actor_in(state, id), origins.path(id)?));
            }
            let which = CommandError::usage(format!("{} has several actors `{asked}`", place.name()));
            Err(which.advise(format!("name one: {}", names.join(", "))))
        }
    }
}

/// Finds the living actor with a path of names.
fn by_path(state: &RunState, asked: &str, place: &Place, origins: &mut Origins<'_>) -> Result<ActorId, CommandError> {
    for id in (0..state.counters.actors).map(ActorId) {
        if origins.path(id)? == asked {
            return match state.actor(id) {
                Some(_) => require_restartable(state, id, place),
                None => Err(gone(state, asked, place)),
            };
        }
    }
    let mut paths = Vec::new();
    for id in state.actors.keys() {
        paths.push(origins.path(*id)?.to_owned());
    }
    let error = CommandError::usage(format!("{} has no actor `{asked}`", place.name()));
    Err(match similar(asked, paths.iter().map(String::as_str)).first() {
        Some(near) => error.advise(format!("did you mean `{near}`?")),
        None => error.advise(format!("the paths of its living actors: {}", paths.join(", "))),
    })
}

/// The refusal of an actor that has ended.
fn gone(state: &RunState, name: &str, place: &Place) -> CommandError {
    CommandError::problem(format!("{name} of {} has ended", place.name())).advise(living_of(state))
}

fn require_restartable(state: &RunState, id: ActorId, place: &Place) -> Result<ActorId, CommandError> {
    let name = line::actor_in(state, id);
    if id == MAIN {
        let refused = CommandError::problem("the main program does not begin anew inside its run".to_owned());
        return Err(refused.advise(say![
            Way::at("resume", place.name()).with("--with PROGRAM"),
            " runs it again on a new branch, with the recorded answers",
        ]));
    }
    if state.actor(id).is_some_and(duet_runtime::state::actor::Actor::is_peer) {
        let peer = format!("{name} stands for a client, which begins anew when it connects again");
        return Err(CommandError::problem(peer));
    }
    Ok(id)
}

fn unknown(state: &RunState, asked: &str, place: &Place) -> CommandError {
    let names: Vec<String> = state.actors.keys().map(|id| line::actor_in(state, *id)).collect();
    let roles = state.actors.values().filter_map(|actor| actor.role.as_deref());
    let mut near: Vec<&str> = similar(asked, names.iter().map(String::as_str).chain(roles));
    near.dedup();
    let error = CommandError::usage(format!("{} has no actor `{asked}`", place.name()));
    match near.first() {
        Some(near) => error.advise(format!("did you mean `{near}`?")),
        None => error.advise(living_of(state)),
    }
}

fn living_of(state: &RunState) -> String {
    let names: Vec<String> = state.actors.keys().map(|id| line::actor_in(state, *id)).collect();
    format!("its living actors: {}", names.join(", "))
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    branch: String,
    turn: u64,
    /// The number of the actor.
    actor: u64,
    name: String,
    /// The actor that supervises it.
    supervisor: Option<String>,
    /// Whether the run has taken a changed text on.
    patched: bool,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&Form {
            branch: self.name.clone(),
            turn: self.turn.number(),
            actor: self.id.0,
            name: self.actor.clone(),
            supervisor: self.supervisor.clone(),
            patched: self.is_patched,
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let heard = self.supervisor.as_ref();
        let heard = heard.map_or_else(String::new, |supervisor| format!("; {supervisor} hears `restarted`"));
        let text = if self.is_patched { " with the changed text" } else { "" };
        Told::data("").say(say![
            format!(
                "{} began anew{text} in {}@{}{heard}; ",
                self.actor, self.name, self.turn
            ),
            Way::at("resume", &self.name),
            " goes on",
        ])
    }
}
