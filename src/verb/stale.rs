//! `duet stale`: lists what still runs the code of earlier texts.
//!
//! INVARIANT: looking changes nothing.
//! It does not know which code is old; `runtime/src/scheme/stale.rs` does.
//! Read next: `../command/patch.rs`.

use duet_runtime::model::counted::counted;
use duet_runtime::model::failure::Frame;
use duet_runtime::model::identity::{ActorId, Callable, FiberId};
use duet_runtime::run::sight::Sight;
use duet_runtime::scheme::{SchemePrograms, StaleClosures, StaleCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::form::as_json;
use super::frames;
use super::project::Project;
use super::view::{Told, View};
use crate::error::CommandError;
use crate::owned_run::compiled;
use crate::render::SourceTexts;
use crate::turn::line;

/// Lists what still runs the code of earlier texts.
///
/// After `duet patch`, a frame that could not go on in the new code ends in that in which it began,
/// and closures that have captured other variables than the new procedure would keep the old code.
/// This lists both, by actor.
///
///   duet stale review
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a run, a branch or a turn.
    pub(crate) address: Option<String>,
}

/// What an actor has of earlier texts.
struct StaleActor {
    name: String,
    frames: Vec<(FiberId, Frame)>,
    closures: Vec<StaleClosures>,
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
    let actors = frames::parked_by_actor(&run).into_iter();
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
        let frames = parked.into_iter().flat_map(|(fiber, continuation)| {
            let frames = programs.stale_frames(code, instance, continuation);
            frames.into_iter().map(move |frame| (fiber, frame)).collect::<Vec<_>>()
        });
        let frames: Vec<_> = frames.collect();
        let closures = programs.stale_closures(code, instance);
        StaleActor { name, frames, closures }
    })?;
    Ok(found.filter(|found| !found.frames.is_empty() || !found.closures.is_empty()))
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
                procedure: one.procedure.clone(),
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
        let mut told = String::new();
        for found in &self.found {
            for (fiber, frame) in &found.frames {
                let frame = frames::frame(frame, &self.texts);
                told.push_str(&format!("{}: {fiber} waits in {frame}\n", found.name));
            }
            for StaleClosures { procedure, count } in &found.closures {
                told.push_str(&format!(
                    "{}: {} of {procedure}\n",
                    found.name,
                    counted(*count, "closure")
                ));
            }
        }
        Told::data(told)
    }
}
