//! `duet stale`: lists what still runs the code of earlier texts.
//!
//! INVARIANT: looking changes nothing.
//! It does not know which code is old; `runtime/src/scheme/stale.rs` does.
//! Read next: `act/patch.rs`.

use duet_runtime::model::counted::counted;
use duet_runtime::model::failure::Frame;
use duet_runtime::model::identity::{ActorId, Callable, FiberId};
use duet_runtime::run::Run;
use duet_runtime::run::sight::Sight;
use duet_runtime::scheme::{SchemeActor, SchemePrograms, StaleClosures, StaleCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::form::as_json;
use super::frames;
use super::project::Project;
use crate::history::turn::line;
use crate::owner::owned_run::compiled;
use crate::owner::owned_run::inspection::parked_by_actor;
use crate::text::error::CommandError;
use crate::text::render::SourceTexts;
use crate::text::view::{Told, View};

/// Lists what still runs the code of earlier texts.
///
/// After `duet patch`, a frame that could not go on in the new code ends in that in which it began,
/// and closures that have captured other variables than the new procedure would keep the old code.
/// This lists both, by actor, and also what runs procedures that a text at a prompt has defined
/// anew since.
///
///   duet stale review
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a run, a branch or a turn.
    pub(crate) address: Option<String>,
}

/// An instance, with the programs that it runs.
pub(crate) struct Lent<'a> {
    pub(crate) programs: &'a mut SchemePrograms,
    pub(crate) instance: &'a mut SchemeActor,
}

/// What an actor has of earlier texts.
pub(crate) struct StaleActor {
    name: String,
    frames: Vec<(FiberId, Frame)>,
    closures: Vec<StaleClosures>,
}

impl StaleActor {
    /// Finds what the actor of a name has of some code.
    pub(crate) fn of(
        name: String,
        code: &StaleCode,
        Lent { programs, instance }: Lent<'_>,
        parked: Vec<(FiberId, Callable)>,
    ) -> Option<Self> {
        let frames = parked.into_iter().flat_map(|(fiber, continuation)| {
            let frames = programs.stale_frames(code, instance, continuation);
            frames.into_iter().map(move |frame| (fiber, frame)).collect::<Vec<_>>()
        });
        let frames: Vec<_> = frames.collect();
        let closures = programs.stale_closures(code, instance);
        let found = Self { name, frames, closures };
        (!found.frames.is_empty() || !found.closures.is_empty()).then_some(found)
    }

    /// A line for each frame, and for the closures of each procedure.
    pub(crate) fn lines(&self, texts: &SourceTexts) -> Vec<String> {
        let name = &self.name;
        let frames = self.frames.iter().map(|(fiber, frame)| {
            let frame = frames::frame(frame, texts);
            format!("{name}: {fiber} waits in {frame}")
        });
        let closures = self.closures.iter();
        let closures = closures.map(|closures| format!("{name}: {}", told_of(closures, texts)));
        frames.chain(closures).collect()
    }
}

/// What still runs the code of earlier texts.
pub(crate) struct Report {
    found: Vec<StaleActor>,
    texts: SourceTexts,
}

/// Looks for the code of earlier texts.
///
/// # Errors
/// If there is no such run, or it cannot be restored.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let mut run = compiled::sight(look.store, &place)?;
    let code = run.programs::<SchemePrograms>().stale_code();
    let actors = parked_by_actor(&run).into_iter();
    let found = actors.filter_map(|(actor, parked)| found_in(&mut run, &code, actor, parked).transpose());
    let found = found.collect::<Result<_, _>>()?;
    let texts = SourceTexts::of(run.programs::<SchemePrograms>().expander());
    Ok(Report { found, texts })
}

fn found_in(
    run: &mut Sight<'_>,
    code: &StaleCode,
    actor: ActorId,
    parked: Vec<(FiberId, Callable)>,
) -> Result<Option<StaleActor>, CommandError> {
    let name = line::actor_in(run.state(), actor);
    let found = run.look(actor, |programs: &mut SchemePrograms, instance| {
        StaleActor::of(name, code, Lent { programs, instance }, parked)
    })?;
    Ok(found.flatten())
}

/// What goes on with the code of procedures that the units of a run from this number on have
/// defined anew, a line each.
pub(crate) fn outdated_since(first: usize, run: &mut Run) -> Vec<String> {
    let programs = run.programs::<SchemePrograms>();
    let Some(code) = programs.redefined_since(first) else {
        return Vec::new();
    };
    let texts = SourceTexts::of(programs.expander());
    let mut lines = Vec::new();
    for (actor, parked) in parked_by_actor(run) {
        let name = line::actor_in(run.state(), actor);
        let lent = run.lend::<SchemePrograms>(actor);
        let found = lent.and_then(|(programs, instance)| {
            let lent = Lent { programs, instance };
            StaleActor::of(name, &code, lent, parked)
        });
        lines.extend(found.iter().flat_map(|found| found.lines(&texts)));
    }
    lines
}

/// Closures with old code, in words.
pub(crate) fn told_of(closures: &StaleClosures, texts: &SourceTexts) -> String {
    let procedure = frames::frame(&closures.procedure, texts);
    format!("{} of {procedure}", counted(closures.count, "closure"))
}

/// The report as JSON: what each actor has of earlier texts.
pub(crate) type Form = Vec<FoundForm>;

/// What an actor has of earlier texts.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FoundForm {
    actor: String,
    frames: Vec<FrameForm>,
    closures: Vec<ClosuresForm>,
}

/// A frame that waits in old code.
#[derive(Serialize, JsonSchema)]
struct FrameForm {
    fiber: u64,
    frame: String,
}

/// Closures with old code.
#[derive(Serialize, JsonSchema)]
struct ClosuresForm {
    /// The procedure, with those around it, and its place.
    procedure: String,
    count: u64,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        let found = self.found.iter().map(|found| {
            let frames = found.frames.iter().map(|(fiber, frame)| FrameForm {
                fiber: fiber.0,
                frame: frames::frame(frame, &self.texts),
            });
            let closures = found.closures.iter().map(|one| ClosuresForm {
                procedure: frames::frame(&one.procedure, &self.texts),
                count: one.count as u64,
            });
            FoundForm {
                actor: found.name.clone(),
                frames: frames.collect(),
                closures: closures.collect(),
            }
        });
        as_json(&found.collect::<Form>())
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        if self.found.is_empty() {
            return Told::data("nothing\n");
        }
        let lines = self.found.iter().flat_map(|found| found.lines(&self.texts));
        Told::data(lines.map(|line| line + "\n").collect::<String>())
    }
}
