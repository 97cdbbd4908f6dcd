//! `frames`: where computations stand at a turn, and the variables of their procedures.
//!
//! INVARIANT: looking changes nothing: a failed turn is taken again on a copy of the run.
//! Read next: `../../runtime/src/scheme/frames.rs`.

use duet_drivers::text;
use duet_journal::{Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::model::failure::{Frame, FramePlace};
use duet_runtime::model::identity::{ActorId, Callable, FiberId};
use duet_runtime::record::{Body, Outcome, TurnRecord};
use duet_runtime::scheme::{FailedStrand, FrameShown, SchemePrograms};
use duet_runtime::state::event::Cause;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::form::as_json;
use super::project::Project;
use crate::history::journal::Place;
use crate::history::origins::Origins;
use crate::history::turn;
use crate::history::turn::line;
use crate::owner::owned_run::inspection::parked_by_actor;
use crate::owner::owned_run::{self, compiled};
use crate::text::error::CommandError;
use crate::text::render::SourceTexts;
use crate::text::view::{Told, View};

/// How many turns before a failed one are taken again: a main program that has written commits that
/// first, and fails in a later turn.
const TURNS_BEFORE: u64 = 8;

/// Shows where computations stand at a turn, and the variables of their procedures.
///
/// At a turn that failed, these are the procedures that were active when the error was raised; Duet
/// takes the turn again to find them. At any other turn, they are those of each fiber that waits
/// there, and before them those of each strand that raised something there and ended, as a job of
/// `par-map` does; whoever waited raises it again in a later turn. The innermost procedure stands
/// first, with the place of the call that it waits for. `?` stands for a value that a waiting
/// procedure does not read again, so that it may be gone.
///
///   duet frames review@12
///   duet frames review@12 --fiber 3
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
    /// Shows only this fiber.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) fiber: Option<u64>,
}

/// The computations at a turn.
pub(crate) struct Report {
    address: String,
    found: Vec<Computation>,
    texts: SourceTexts,
}

/// A computation: what it is, and its frames.
pub(super) struct Computation {
    pub(super) actor: ActorId,
    /// The actor by role and number.
    pub(super) name: String,
    /// The fiber that waits, or that of a strand that failed; `None` for what failed a turn.
    pub(super) fiber: Option<FiberId>,
    /// The rest of what waits.
    pub(super) parked: Option<Callable>,
    pub(super) frames: Vec<FrameShown>,
}

/// Finds the frames at a turn.
///
/// # Errors
/// If there is no such turn, or the run cannot be restored.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    at(look.store, &place, request.fiber)
}

fn at(store: &dyn Store, place: &Place, fiber: Option<u64>) -> Result<Report, CommandError> {
    let body = turn::body(&owned_run::record_at(store, place, place.at())?)?;
    let mut report = match failed_actor(&body) {
        Some(actor) => failed(store, place, actor)?,
        None => parked(store, place)?,
    };
    if let Body::Turn(turn) = &body {
        report.found.splice(0..0, strands(store, place, turn)?);
    }
    let is_wanted = |one: &Computation| fiber.is_none_or(|fiber| one.fiber == Some(FiberId(fiber)));
    report.found.retain(is_wanted);
    Ok(report)
}

/// Finds the computations at a turn.
///
/// # Errors
/// As [`perform`].
pub(super) fn computations(
    store: &dyn Store,
    place: &Place,
    fiber: Option<u64>,
) -> Result<Vec<Computation>, CommandError> {
    Ok(at(store, place, fiber)?.found)
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        let found = self.found.iter().map(|one| form_of(one, &self.texts));
        as_json(&found.collect::<Form>())
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let told: String = self.found.iter().map(|one| text_of(one, &self.texts)).collect();
        if self.found.is_empty() {
            return Told::data("").say(format!("no computation waits at {}", self.address));
        }
        let told = Told::data(text::Text::lines(&told));
        if self.found.iter().all(|one| one.frames.is_empty()) {
            return told.say("no procedure was active there, or none is known");
        }
        told
    }
}

fn failed_actor(body: &Body) -> Option<ActorId> {
    let Body::Turn(turn) = body else { return None };
    matches!(turn.outcome, Outcome::Failed { .. }).then_some(turn.actor)
}

/// The frames of a failed turn, which is taken again.
fn failed(store: &dyn Store, place: &Place, actor: ActorId) -> Result<Report, CommandError> {
    let earlier = |turns| Sequence::new(place.at().number().saturating_sub(turns)).unwrap_or(Sequence::FIRST);
    let before = Place {
        turn: Some(earlier(TURNS_BEFORE)),
        ..place.clone()
    };
    let mut run = compiled::sight(store, &before)?;
    run.programs_mut::<SchemePrograms>().watch_failures();
    run.repeat(earlier(1))?;
    // Frames of another failure are not those of this turn.
    run.programs_mut::<SchemePrograms>().watch_failures();
    run.repeat(place.at())?;
    let programs = run.programs::<SchemePrograms>();
    let found = Computation {
        actor,
        name: line::actor_in(run.state(), actor),
        fiber: None,
        parked: None,
        frames: programs.failed_frames().to_vec(),
    };
    Ok(Report {
        address: place.address(place.at()),
        found: vec![found],
        texts: SourceTexts::of(programs.expander()),
    })
}

/// The frames of the strands that ended with a raise in a turn, which is taken again.
fn strands(store: &dyn Store, place: &Place, turn: &TurnRecord) -> Result<Vec<Computation>, CommandError> {
    // Whoever waits for a strand is woken when it ends.
    let wakes = |action: &Action| matches!(action, Action::Wake(_));
    let is_committed = matches!(turn.outcome, Outcome::Committed {});
    if !is_committed || !turn.actions.iter().flat_map(Action::done).any(wakes) {
        return Ok(Vec::new());
    }
    let before = place.at().number().checked_sub(1);
    let Some(before) = before.and_then(|before| Sequence::new(before).ok()) else {
        return Ok(Vec::new());
    };
    let before = Place {
        turn: Some(before),
        ..place.clone()
    };
    let mut run = compiled::sight(store, &before)?;
    run.programs_mut::<SchemePrograms>().watch_failures();
    run.repeat(place.at())?;
    let mut origins = Origins::of(place.source(store));
    let name = line::actor_in(run.state(), turn.actor);
    let ended = run.programs::<SchemePrograms>().failed_strands().iter();
    let computation = |ended: &FailedStrand| {
        let strand = origins.name(ended.fiber, place.at())?;
        Ok(Computation {
            actor: turn.actor,
            name: line::strand(name.clone(), strand.as_deref()),
            fiber: Some(ended.fiber),
            parked: None,
            frames: ended.frames.clone(),
        })
    };
    ended.map(computation).collect()
}

/// The maximum fuel of the turns that are taken again to find where variables are shown.
const FUEL_MAX: u64 = 5_000_000;

/// Finds the turn at which the variables of the frame are shown that raised the failure of a turn,
/// those of any frame if it is not known: that turn, or an earlier one in which a strand raised it,
/// for which others waited. Nothing if no such frame was kept.
pub(super) fn turn_with(store: &dyn Store, place: &Place, frame: Option<&Frame>, at: u64) -> Option<u64> {
    let mut next = Sequence::new(at).ok();
    let mut fuel = 0;
    for _ in 0..TURNS_BEFORE {
        let place = place.at_turn(next?);
        let turn = taken(store, &place)?;
        let cause = match turn.cause {
            Cause::Turn { sequence } if sequence < place.at() => Some(sequence),
            Cause::Turn { .. } | Cause::Input {} | Cause::Start {} => None,
        };
        let is_failed = matches!(turn.outcome, Outcome::Failed { .. });
        fuel += turn.fuel + if is_failed { fuel_before(store, &place) } else { 0 };
        if fuel > FUEL_MAX {
            // No other fiber set the turn off, so what failed there most likely arose there.
            return Some(at).filter(|_| is_failed && cause.is_none());
        }
        let found = if is_failed {
            failed(store, &place, turn.actor).ok()?.found
        } else {
            strands(store, &place, &turn).ok()?
        };
        let mut frames = found.iter().flat_map(|one| &one.frames);
        if frames.any(|shown| frame.is_none_or(|frame| shown.frame == *frame)) {
            return Some(place.at().number());
        }
        next = cause.filter(|_| frame.is_some());
    }
    None
}

/// The turn at a place.
fn taken(store: &dyn Store, place: &Place) -> Option<TurnRecord> {
    let record = owned_run::record_at(store, place, place.at()).ok()?;
    match turn::body(&record).ok()? {
        Body::Turn(turn) => Some(turn),
        Body::Genesis(_) => None,
    }
}

/// The fuel of the turns that are taken again with a failed one.
fn fuel_before(store: &dyn Store, place: &Place) -> u64 {
    let at = place.at().number();
    let before = at.saturating_sub(TURNS_BEFORE - 1)..at;
    let turns = before.filter_map(|number| taken(store, &place.at_turn(Sequence::new(number).ok()?)));
    turns.map(|turn| turn.fuel).sum()
}

/// The frames of the fibers that wait at a turn.
fn parked(store: &dyn Store, place: &Place) -> Result<Report, CommandError> {
    let mut run = compiled::sight(store, place)?;
    let parked = parked_by_actor(&run);
    let mut origins = Origins::of(place.source(store));
    let mut found = Vec::new();
    for (actor, fibers) in parked.into_iter().filter(|(_, fibers)| !fibers.is_empty()) {
        let frames = run.look(actor, |programs: &mut SchemePrograms, instance| {
            let frames = fibers.iter().map(|(_, parked)| programs.frames_of(instance, *parked));
            frames.collect::<Vec<_>>()
        })?;
        for ((fiber, parked), frames) in fibers.into_iter().zip(frames.into_iter().flatten()) {
            let strand = origins.name(fiber, place.at())?;
            found.push(Computation {
                actor,
                name: line::strand(line::actor_in(run.state(), actor), strand.as_deref()),
                fiber: Some(fiber),
                parked: Some(parked),
                frames,
            });
        }
    }
    Ok(Report {
        address: place.address(place.at()),
        found,
        texts: SourceTexts::of(run.programs::<SchemePrograms>().expander()),
    })
}

fn text_of(computation: &Computation, texts: &SourceTexts) -> String {
    let actor = &computation.name;
    let mut told = match (computation.fiber, computation.parked) {
        (Some(fiber), Some(_)) => format!("{fiber} of {actor}\n"),
        _ => format!("{actor} failed\n"),
    };
    for shown in computation.frames.iter().filter(|shown| shown.is_worth_showing()) {
        told.push_str(&format!("  {}\n", frame(&shown.frame, texts)));
        for variable in &shown.variables {
            let value = variable.value.as_deref().unwrap_or("?");
            told.push_str(&format!("    {} = {}\n", text::line(&variable.name), text::line(value)));
        }
    }
    told
}

/// A frame in words: the procedure, and where it stands.
pub(crate) fn frame(frame: &Frame, texts: &SourceTexts) -> String {
    let name = match frame.procedure.as_str() {
        "?" => "an unnamed procedure".to_owned(),
        name => format!("`{}`", text::line(name)),
    };
    match &frame.at {
        FramePlace::Text { source, start } => match texts.line_of(source, *start) {
            Some(line) => format!("{name} at {}:{line}", text::line(source)),
            None => format!("{name} in {}", text::line(source)),
        },
        FramePlace::Gone => format!("{name}, by tail calls"),
        FramePlace::Unknown => name,
    }
}

/// The report as JSON.
pub(crate) type Form = Vec<ComputationForm>;

/// A computation.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ComputationForm {
    actor: u64,
    /// The actor by role and number, and its strand.
    name: String,
    /// The fiber that waits, or that of a strand that failed; null for what failed the turn.
    fiber: Option<u64>,
    is_failed: bool,
    /// Its frames, the innermost first.
    frames: Vec<FrameForm>,
}

/// A procedure that was active.
#[derive(Serialize, JsonSchema)]
struct FrameForm {
    /// Its number for `duet why --variable NAME --frame N`; null if that does not show it.
    number: Option<usize>,
    /// Its name; `?` if it has none.
    procedure: String,
    /// The text of the call that it made.
    source: Option<String>,
    /// The line there, counted from 1.
    line: Option<usize>,
    variables: Vec<VariableForm>,
}

/// A variable in scope.
#[derive(Serialize, JsonSchema)]
struct VariableForm {
    name: String,
    /// Its value as Scheme writes it; null if it may be gone.
    value: Option<String>,
}

fn form_of(computation: &Computation, texts: &SourceTexts) -> ComputationForm {
    let mut shown_before = 0;
    let frames = computation.frames.iter().map(|shown| {
        let number = shown.is_worth_showing().then(|| {
            shown_before += 1;
            shown_before
        });
        let (source, line) = match &shown.frame.at {
            FramePlace::Text { source, start } => (Some(source.clone()), texts.line_of(source, *start)),
            FramePlace::Gone | FramePlace::Unknown => (None, None),
        };
        let variables = shown.variables.iter().map(|variable| VariableForm {
            name: variable.name.clone(),
            value: variable.value.clone(),
        });
        FrameForm {
            number,
            procedure: shown.frame.procedure.clone(),
            source,
            line,
            variables: variables.collect(),
        }
    });
    ComputationForm {
        actor: computation.actor.0,
        name: computation.name.clone(),
        fiber: computation.fiber.map(|fiber| fiber.0),
        is_failed: computation.parked.is_none(),
        frames: frames.collect(),
    }
}
