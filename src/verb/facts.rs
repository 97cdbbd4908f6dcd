//! `facts`: the assertions that hold at a turn, with their actors.
//!
//! INVARIANT: the facts are those of the restored run; nothing is executed, and no actor's memory
//! is read.
//! Read next: `../../runtime/src/history/shadow.rs`.

use duet_journal::{Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::action::exit::MAIN;
use duet_runtime::history::shadow::Shadow;
use duet_runtime::model::identity::{FacetId, Handle};
use duet_runtime::record::{Body, TurnRecord};
use preserves::{IOValue, ValueImpl};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::form::as_json;
use super::project::Project;
use crate::history::journal::Place;
use crate::history::turn::{self, line};
use crate::owner::owned_run;
use crate::text::error::CommandError;
use crate::text::query::Query;
use crate::text::saying::{Way, say};
use crate::text::value_json;
use crate::text::value_text::{bounded, shown};
use crate::text::view::{Told, View};

/// Lists the assertions that hold at a turn.
///
/// One line is one assertion: its handle, the actor that makes it, and the value as Preserves text.
/// Duet takes them from the journal and executes nothing. With a pattern it lists only matching
/// facts: a pattern is a value in which `_` matches anything, or a label alone. Actors also assert
/// which facts they observe; `--all` lists these assertions too, and so does a pattern that they
/// match.
///
///   duet facts review@12
///   duet facts @-1 '<greeted _>'
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
    /// The pattern that facts must match.
    pub(crate) pattern: Option<String>,
    /// Lists the assertions of observers, too.
    #[arg(long)]
    pub(crate) all: bool,
}

/// The facts at a turn.
pub(crate) struct Report {
    name: String,
    address: String,
    is_filtered: bool,
    facts: Vec<Fact>,
    /// How many observers are left out.
    observers: usize,
    /// The turn in which the run ended before this, if it did.
    ended: Option<Sequence>,
}

/// An assertion.
struct Fact {
    handle: Handle,
    actor: u64,
    /// The actor by role and number.
    name: String,
    facet: FacetId,
    value: IOValue,
}

/// The report as JSON.
pub(crate) type Form = Vec<Listed>;

/// An assertion.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Listed {
    handle: u64,
    /// The number of the actor that asserts it.
    actor: u64,
    /// That actor by role and number.
    name: String,
    /// The facet with which it goes.
    facet: u64,
    value: Json,
    /// The value as a text that Duet reads: JSON does not tell all values apart.
    text: String,
}

/// The label of the assertion that somebody observes.
const OBSERVE: &str = "Observe";

/// Lists the facts at a turn.
///
/// # Errors
/// If there is no such turn, the pattern is none, or the run cannot be restored.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let query = request.pattern.as_deref().map(Query::read).transpose()?;
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    // The records have the facts; the memory of the actors may be much.
    let shadow = Shadow::at(&place.source(look.store), place.at())?;
    let state = shadow.state();
    let is_sought = |value: &IOValue| query.as_ref().is_none_or(|query| query.finds(value));
    let (mut facts, mut observers) = (Vec::new(), 0);
    for (handle, held) in state.held.iter() {
        let value = held.fact.value();
        if !is_sought(&value) {
            continue;
        }
        if query.is_none() && !request.all && value.is_simple_record(OBSERVE, None) {
            observers += 1;
            continue;
        }
        let role = state.actor(held.actor).and_then(|actor| actor.role.clone());
        facts.push(Fact {
            handle: *handle,
            actor: held.actor.0,
            name: line::actor(held.actor, role.as_deref()),
            facet: held.facet,
            value,
        });
    }
    let is_over = state.exit.is_some() && facts.is_empty();
    let ended = if is_over { end(look.store, &place)? } else { None };
    Ok(Report {
        name: place.name(),
        address: place.address(place.at()),
        is_filtered: query.is_some(),
        facts,
        observers,
        ended,
    })
}

/// The turns before a place in which the end of a run is looked for.
const LOOKED_BACK: u64 = 64;

/// The turn in which the main program ended.
fn end(store: &dyn Store, place: &Place) -> Result<Option<Sequence>, CommandError> {
    let is_end =
        |turn: &TurnRecord| turn.actor == MAIN && turn.actions.iter().any(|action| matches!(action, Action::Exit(_)));
    let last = place.at().number();
    for number in (last.saturating_sub(LOOKED_BACK).max(1)..=last).rev() {
        let at = Sequence::new(number).map_err(|error| CommandError::problem(error.to_string()))?;
        if let Body::Turn(turn) = turn::body(&owned_run::record_at(store, place, at)?)?
            && is_end(&turn)
        {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

impl Report {
    /// The facts as patterns that find them, in the order of the report.
    pub(crate) fn patterns(&self) -> Vec<String> {
        self.facts.iter().map(|fact| shown(&fact.value)).collect()
    }

    pub(crate) fn json(&self) -> Json {
        let facts = self.facts.iter().map(|fact| Listed {
            handle: fact.handle.0,
            actor: fact.actor,
            name: fact.name.clone(),
            facet: fact.facet.0,
            value: value_json::of(&fact.value),
            text: shown(&fact.value),
        });
        as_json(&facts.collect::<Form>())
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        let line = |fact: &Fact| {
            let (handle, value) = (fact.handle.to_string(), bounded(shown(&fact.value)));
            format!("{handle:<10} {:<8} {value}\n", fact.name)
        };
        let told = Told::data(self.facts.iter().map(line).collect::<String>());
        if !self.facts.is_empty() {
            return match self.observers {
                0 => told,
                _ if !view.is_watched => told,
                1 => told.say("1 observer is not shown; `--all` shows it"),
                count => told.say(format!("{count} observers are not shown; `--all` shows them")),
            };
        }
        let what = if self.is_filtered {
            "nothing that matches"
        } else {
            "nothing"
        };
        let told = told.say(format!("{what} is asserted at {}", self.address));
        match &self.ended {
            Some(turn) => told.say(say![
                format!("the run ended in turn {turn}; "),
                Way::turn("facts", &self.name, turn.number() - 1),
                " lists what it asserted",
            ]),
            None => told,
        }
    }
}
