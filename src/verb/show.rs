//! `show`: one turn in full.
//!
//! INVARIANT: the report has the record as it is; what follows from it (facts, memory) is computed
//! by restoring the run.
//! Read next: `history/turn.rs`.

use std::collections::BTreeSet;
use std::ops::Range;

use duet_drivers::text::Text;
use duet_journal::{CommitTime, Record, Sequence, Store};
use duet_runtime::history::shadow::{Changes, Shadow};
use duet_runtime::model::counted::counted;
use duet_runtime::model::identity::{ActorId, RequestId};
use duet_runtime::model::moment::Moment;
use duet_runtime::record::Body;
use duet_runtime::scheme::{Difference, Differences, SchemePrograms};
use duet_runtime::state::event::Event;
use preserves::IOValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::form::as_json;
use super::log::whole;
use super::project::Project;
use crate::history::journal::Place;
use crate::history::origins::{Origin, Origins};
use crate::history::turn::json::TurnForm;
use crate::history::turn::{self, Beside};
use crate::owner::owned_run::{self, compiled};
use crate::text::error::CommandError;
use crate::text::exchange;
use crate::text::render::SourceTexts;
use crate::text::saying::{Saying, Way, say};
use crate::text::value_json;
use crate::text::value_text::{bounded, shown};
use crate::text::view::{Told, View};

/// Shows one turn in full.
///
/// The turn is shown with the events that the actor received, its actions, the verdicts of the gate
/// other than yes, how the turn ended, which facts came (+) and went (-) with it, and its changes
/// in the actor's memory: the globals, or the places within their values, before and after. For
/// that Duet restores the run as it was before the turn and takes the turn again. Values are
/// Preserves text; in memory they are written as Scheme writes them.
///
///   duet show review@12 --json
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
}

/// A turn in full.
pub(crate) struct Report {
    /// The branch.
    name: String,
    address: String,
    /// The texts of the program of a turn that failed, if they are known.
    texts: Option<SourceTexts>,
    record: Record,
    body: Body,
    /// When it became durable.
    time: CommitTime,
    /// The record as JSON, with the role of its actor.
    whole: TurnForm,
    /// The requests to models that the turn answers.
    models: BTreeSet<RequestId>,
    came: Vec<IOValue>,
    went: Vec<IOValue>,
    memory: Option<Differences>,
    /// Why the changes in memory are not known.
    untold: Vec<Text>,
}

/// Shows a turn.
///
/// # Errors
/// If there is no such turn, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let store = look.store;
    let record = owned_run::record_at(store, &place, place.at())?;
    let body = turn::body(&record)?;
    let changes = changes(store, &place)?;
    let (memory, untold) = match memory(store, &place, &body) {
        Ok(memory) => (memory, Vec::new()),
        Err(error @ (CommandError::OutputClosed | CommandError::NameLost(_))) => return Err(error),
        Err(CommandError::Shown(why) | CommandError::Usage(why)) => (None, vec![why, UNTOLD.into()]),
        Err(CommandError::Problem(problem)) => (None, vec![format!("{UNTOLD}: {}", problem.what).into()]),
    };
    let range = place.at()..place.at().next().unwrap_or(place.at());
    let time = store
        .times(&place.run, &place.branch, range)?
        .first()
        .copied()
        .unwrap_or_default();
    let mut origins = Origins::of(place.source(store));
    let models = models(&body, &place, &mut origins)?;
    let mut whole = whole(&record, time, &body, &mut origins)?;
    let texts = whole.is_failed().then(|| compiled::pinned(store, &place)).transpose();
    // Without the program's texts, what is known is shown.
    let texts = texts.ok().flatten().map(|pinned| pinned.texts);
    if let Some(texts) = &texts {
        whole.note_lines(texts);
    }
    Ok(Report {
        name: place.name(),
        address: place.address(place.at()),
        whole,
        texts,
        models,
        came: changes.appeared.iter().map(|(fact, _)| fact.value()).collect(),
        went: changes.disappeared.iter().map(|fact| fact.value()).collect(),
        record,
        body,
        time,
        memory,
        untold,
    })
}

const UNTOLD: &str = "the changes in memory are not known";

/// The requests that a turn answers and that called a model.
fn models(body: &Body, place: &Place, origins: &mut Origins<'_>) -> Result<BTreeSet<RequestId>, CommandError> {
    let mut models = BTreeSet::new();
    let Body::Turn(turn) = body else { return Ok(models) };
    for event in &turn.events {
        if let Event::Answered { request, .. } = event
            && matches!(origins.request(*request, place.at())?, Origin::Tool { tool, .. } if tool == exchange::TOOL)
        {
            models.insert(*request);
        }
    }
    Ok(models)
}

/// The changes of the turn among the facts.
fn changes(store: &dyn Store, place: &Place) -> Result<Changes, CommandError> {
    let source = place.source(store);
    let mut found = Changes::default();
    if let Some(before) = place
        .at()
        .number()
        .checked_sub(1)
        .and_then(|before| Sequence::new(before).ok())
    {
        Shadow::at(&source, before)?.advance(&source, place.at(), |_, _, changes| {
            found = changes.clone();
            Ok(())
        })?;
    }
    Ok(found)
}

/// The changes of the turn in the memory of its actor; nothing if the actor has ended, or there was
/// no turn.
fn memory(store: &dyn Store, place: &Place, body: &Body) -> Result<Option<Differences>, CommandError> {
    let Body::Turn(turn) = body else { return Ok(None) };
    let before = Sequence::new(place.at().number().saturating_sub(1)).ok();
    memory_between(store, place, before..Some(place.at()), turn.actor)
}

/// The changes of some turns in the memory of an actor, from the state at one turn to that at
/// another; nothing if the actor has ended.
///
/// # Errors
/// If the run cannot be restored.
pub(crate) fn memory_between(
    store: &dyn Store,
    place: &Place,
    turns: Range<Option<Sequence>>,
    actor: ActorId,
) -> Result<Option<Differences>, CommandError> {
    let before = Place {
        turn: turns.start,
        ..place.clone()
    };
    let mut run = compiled::sight(store, &before)?;
    let remembered = run.look(actor, |programs: &mut SchemePrograms, instance| {
        programs.remember(instance)
    })?;
    if let Some(last) = turns.end {
        run.repeat(last)?;
    }
    Ok(run.look(actor, |programs: &mut SchemePrograms, instance| {
        programs.differences(remembered.as_ref(), instance)
    })?)
}

impl Report {
    /// The facts that came, and then those that went, as patterns that find them.
    pub(crate) fn patterns(&self) -> Vec<String> {
        self.came.iter().chain(&self.went).map(shown).collect()
    }

    pub(crate) fn json(&self) -> Json {
        let told = |why: &Text| why.as_str().trim_end().to_owned();
        as_json(&Form {
            turn: self.whole.clone(),
            came: self.came.iter().map(value_json::of).collect(),
            went: self.went.iter().map(value_json::of).collect(),
            untold: self.untold.iter().map(told).collect(),
            memory: self.memory.as_ref().map(memory_form),
        })
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        let asked = |request| self.models.contains(&request);
        let beside = Beside {
            asked: &asked,
            texts: self.texts.as_ref(),
        };
        let mut text = turn::full(&self.address, &self.record, &self.body, &beside);
        if let (Some(ms), Some(_)) = (self.time.ms(), view.columns) {
            text.push_str(&format!("  durable   {}\n", Moment(ms)));
        }
        text.extend(
            self.came
                .iter()
                .map(|fact| format!("  fact      + {}\n", bounded(shown(fact)))),
        );
        text.extend(
            self.went
                .iter()
                .map(|fact| format!("  fact      - {}\n", bounded(shown(fact)))),
        );
        if let Some(memory) = &self.memory {
            text.push_str(&memory_as_text(memory));
        }
        let mut told = Told::data(text);
        told.messages = self.untold.iter().cloned().map(Saying::from).collect();
        if self.whole.is_failed() {
            let turn = self.record.header().sequence.number();
            told = told.say(say![
                Way::turn("frames", &self.name, turn),
                " shows the variables there"
            ]);
        }
        told
    }
}

pub(crate) fn memory_as_text(memory: &Differences) -> String {
    let nothing = || "-".to_owned();
    let mut text = String::new();
    for Difference { place, before, after } in &memory.places {
        let (before, after) = (
            before.clone().unwrap_or_else(nothing),
            after.clone().unwrap_or_else(nothing),
        );
        text.push_str(&format!("  memory    {place}: {before} → {after}\n"));
    }
    if memory.more > 0 || memory.is_cut_off {
        let more = if memory.is_cut_off {
            format!("{} and perhaps others", memory.more)
        } else {
            counted(memory.more, "more place")
        };
        text.push_str(&format!("  memory    {more}\n"));
    }
    if memory.defined > 0 {
        text.push_str(&format!(
            "  memory    {} of libraries defined\n",
            counted(memory.defined, "global")
        ));
    }
    text
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    #[serde(flatten)]
    turn: TurnForm,
    /// The facts that came with the turn.
    came: Vec<Json>,
    /// The facts that went with it.
    went: Vec<Json>,
    /// Why the changes in memory are not known.
    untold: Vec<String>,
    memory: Option<MemoryForm>,
}

/// The changes in the memory of the actor.
#[derive(Serialize, JsonSchema)]
struct MemoryForm {
    places: Vec<PlaceForm>,
    /// How many places more have changed.
    more: usize,
    /// Whether the search ended before everything was compared.
    cut_off: bool,
    /// How many globals of libraries were defined.
    defined: usize,
    words_before: usize,
    words_after: usize,
}

/// A place in memory, with its values as Scheme writes them.
#[derive(Serialize, JsonSchema)]
struct PlaceForm {
    place: String,
    before: Option<String>,
    after: Option<String>,
}

fn memory_form(memory: &Differences) -> MemoryForm {
    let place = |Difference { place, before, after }: &Difference| PlaceForm {
        place: place.clone(),
        before: before.clone(),
        after: after.clone(),
    };
    MemoryForm {
        places: memory.places.iter().map(place).collect(),
        more: memory.more,
        cut_off: memory.is_cut_off,
        defined: memory.defined,
        words_before: memory.words.0,
        words_after: memory.words.1,
    }
}
