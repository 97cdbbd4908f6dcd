//! `duet patch`: puts a changed text in the place of the one that a run executes.

use std::path::PathBuf;

use duet_journal::{Sequence, Store};
use duet_runtime::model::changed_text::ChangedText;
use duet_runtime::scheme::{Listed, UnevaluatedForm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::resume::{ended, require_code};
use crate::history::journal::Place;
use crate::owner::doors;
use crate::owner::owned_run;
use crate::owner::owned_run::patching::{KeptClosures, PatchOptions, Patchable, Preview, WaitingFrame};
use crate::owner::owned_run::serve::OwnerRequest;
use crate::text::error::CommandError;
use crate::text::saying::{Way, quoted, say};
use crate::text::terminal::Terminal;
use crate::text::view::{Told, View};
use crate::verb::act::tell::turns_of;
use crate::verb::form::as_json;
use crate::verb::frames;
use crate::verb::project::Project;
use crate::verb::stale;
use crate::world::launch::Program;
use crate::world::world_options::WorldOptions;

/// Puts a changed text in the place of the one that a run executes.
///
/// The run keeps its heaps, fibers, facts and waits. Duet compares both texts form by form after
/// expansion. Procedures that differ have the new code from then on, in all actors: whoever holds
/// one, such as a handler or a list, calls the new code. New definitions are added. A computation
/// that waits inside a changed procedure goes on in the new one, at the same call. If the new text
/// does not have that call, or needs values there that the computation does not have, the frame of
/// that procedure ends in the code in which it began; the report says why, and lists the closures
/// that keep old code, such as handlers that the new text does not have.
///
/// Definitions of values that differ, and new or changed expressions at the top level, are only
/// listed, because the program has computed with the old ones; `--run` evaluates those that it
/// names: a definition by its name, an expression by its number. Definitions that are gone stay.
/// Records of a type with other fields become records of the new definition as `migrate-records` in
/// the new text says.
///
/// The change is a turn of the run: `duet goto` takes it back, and other branches do not have it. A
/// process that executes the run takes that turn and goes on with the new text.
/// It comes before timers that have run out meanwhile, which call the new code.
/// A text that does not compile or fails changes nothing, nor does one whose manifest or libraries
/// ask for a capability that the run lacks. A program may compute the name of a tool, so a call of
/// a tool that the run lacks is a warning if the text names the tool literally; it is refused when
/// it is made.
///
///   duet patch review review-2.scm --dry-run
///   duet patch review review-2.scm
///   duet patch review review-2.scm --run prices,3
///   duet patch review review-2.scm --let 'limit=(* 2 count)' --require-moved
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a run or a branch.
    address: String,
    /// The changed program.
    program: PathBuf,
    /// Evaluates these definitions and expressions, too.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    run: Vec<String>,
    /// Gives a variable that the new text needs, and that a waiting frame does not have, the value
    /// of an expression over variables that the frame has and what the new text defines.
    #[arg(long = "let", value_name = "NAME=EXPRESSION")]
    #[serde(rename = "let")]
    values: Vec<String>,
    /// Refuses the text if some frame that waits, or some closure, such as a handler, would stay in
    /// old code.
    #[arg(long)]
    require_moved: bool,
    /// Only shows what would change.
    #[arg(long)]
    dry_run: bool,
    /// The text of the program, if a server has read it for a client.
    #[arg(skip)]
    program_text: Option<String>,
    /// The folder in which the server found it, without links.
    #[arg(skip)]
    within: Option<PathBuf>,
}

impl Request {
    /// The request for a program and nothing else.
    pub(crate) fn of(address: String, program: PathBuf) -> Self {
        Self {
            address,
            program,
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

/// What a changed text changes.
pub(crate) struct Report {
    /// The branch.
    name: String,
    /// The file of the text.
    program: PathBuf,
    /// The turn that took the text on; none if it was only looked at, or says the same.
    turn: Option<Sequence>,
    preview: Preview,
}

/// Puts a changed text in the place of the one that a run executes.
///
/// # Errors
/// If there is no such run, or the text cannot take that place.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let mut store = project.change("patch")?;
    let place = project.journal().resolve(&*store, Some(&request.address))?;
    require_newest(&place, "takes a changed text on")?;
    let report = match doors::other_owner(&*store, &place)? {
        Some(_) => hand_over(project, request, &mut *store, &place)?,
        None => take_on(project, request, &mut *store, &place)?,
    };
    project.set_current(&place);
    Ok(report)
}

/// Puts the text in its place, in a run that no other process executes.
fn take_on(
    project: &mut Project,
    request: &Request,
    store: &mut dyn Store,
    place: &Place,
) -> Result<Report, CommandError> {
    let mut owned = project.resume(place, store, WorldOptions::default(), "patch")?;
    if let Some(code) = owned.exit() {
        return Err(CommandError::problem(ended(place, code)));
    }
    let stage = project.stage()?;
    let (text, preview) = request.read(owned.patchable(), stage)?;
    let turn = if request.dry_run || !preview.changes() {
        None
    } else {
        Some(owned.take_on(text, store, stage)?)
    };
    Ok(request.report(place, turn, preview))
}

/// Has the process that executes the run put the text in its place; what it changes is found out
/// here, from the newest turn.
fn hand_over(
    project: &mut Project,
    request: &Request,
    store: &mut dyn Store,
    place: &Place,
) -> Result<Report, CommandError> {
    let mut run = owned_run::restore(store, place)?;
    let name = place.name();
    let (text, preview) = request.read(Patchable::of(&mut run, &name), project.stage()?)?;
    if request.dry_run || !preview.changes() {
        return Ok(request.report(place, None, preview));
    }
    let asked = OwnerRequest::Patch { text };
    let done = project.recipient(store, place).ask_owner(&asked)?;
    let turn = match done {
        Some(done) => {
            let [_, after] = turns_of(&done)?;
            Sequence::new(after).ok()
        }
        // It has let go of the run meanwhile.
        None => return take_on(project, request, store, place),
    };
    Ok(request.report(place, turn, preview))
}

impl Request {
    /// Reads the text, and finds out what it changes.
    ///
    /// # Errors
    /// If it cannot take its place, or leaves something in old code that the person wants moved.
    fn read(&self, mut run: Patchable<'_>, terminal: &mut Terminal) -> Result<(ChangedText, Preview), CommandError> {
        let asked = PatchOptions {
            run: &self.run,
            values: &self.values,
        };
        let program = Program {
            path: &self.program,
            text: self.program_text.as_deref(),
            within: self.within.as_deref(),
        };
        let text = run.changed_text(program, asked, terminal)?;
        let preview = run.preview(&text, terminal)?;
        match first_kept(&preview).filter(|_| self.require_moved) {
            Some(kept) => Err(CommandError::problem(format!("{kept}; nothing has changed"))),
            None => Ok((text, preview)),
        }
    }

    fn report(&self, place: &Place, turn: Option<Sequence>, preview: Preview) -> Report {
        Report {
            name: place.name(),
            program: self.program.clone(),
            turn,
            preview,
        }
    }
}

/// Requires that an address means the newest turn of a branch, because no other one does this.
pub(crate) fn require_newest(place: &Place, does: &str) -> Result<(), CommandError> {
    let Some(turn) = place.turn.filter(|turn| *turn != place.head.sequence) else {
        return Ok(());
    };
    let name = place.name();
    let only = CommandError::usage(format!("only the newest turn of {name} {does}, not {turn}"));
    Err(only.advise(say![Way::turn("goto", &name, turn), " goes back there first"]))
}

/// The first frame or closure that stays in old code, for people.
fn first_kept(preview: &Preview) -> Option<String> {
    let mut frames = preview.frames.iter().filter(|frame| frame.kept.is_some());
    let frame = frames.next().map(|frame| told_of(frame, preview));
    frame.or_else(|| Some(told_of_closures(preview.closures.first()?, preview)))
}

/// What becomes of closures, for people.
fn told_of_closures(kept: &KeptClosures, preview: &Preview) -> String {
    let closures = stale::told_of(&kept.closures, &preview.texts);
    format!("kept: {}: {closures}: {}", kept.actor, kept.reason())
}

/// What becomes of a frame, for people.
fn told_of(waiting: &WaitingFrame, preview: &Preview) -> String {
    let WaitingFrame {
        actor,
        fiber,
        frame,
        kept,
        ..
    } = waiting;
    let frame = frames::frame(frame, &preview.texts);
    let whose = fiber.map_or("a continuation".to_owned(), |fiber| fiber.to_string());
    match kept {
        None => format!("moved: {actor}: {whose} in {frame}"),
        Some(reason) => format!("kept: {actor}: {whose} in {frame}: {reason}"),
    }
}

fn names_of(forms: &[UnevaluatedForm]) -> Vec<String> {
    forms.iter().map(|form| form.name.clone()).collect()
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    branch: String,
    /// The turn that took the text on; none if it was only looked at, or says the same.
    turn: Option<u64>,
    /// The procedures that do something else.
    changed: Vec<String>,
    /// The procedures that contain changed ones.
    recompiled: Vec<String>,
    /// The definitions that the old text does not have.
    added: Vec<String>,
    /// The definitions and expressions that are evaluated because the person named them.
    run: Vec<String>,
    /// The definitions of values that differ and are not evaluated.
    data: Vec<String>,
    /// The numbers of the expressions that differ and are not evaluated.
    expressions: Vec<String>,
    /// The definitions and expressions that the new text does not have.
    removed: Vec<String>,
    /// The record types whose records become those of another definition.
    migrated: Vec<String>,
    frames: Vec<FrameForm>,
    /// The closures that go on with the code of earlier texts.
    closures: Vec<ClosuresForm>,
    /// The variables with a value of `--let` that no waiting frame needs.
    unneeded: Vec<String>,
}

/// A frame that waits in changed code.
#[derive(Serialize, JsonSchema)]
struct FrameForm {
    actor: String,
    /// The computation; none if the program holds a continuation of one.
    fiber: Option<u64>,
    frame: String,
    /// Why it stays in the code in which it began; none if it moves.
    kept: Option<String>,
}

/// Closures that go on with the code of an earlier text.
#[derive(Serialize, JsonSchema)]
struct ClosuresForm {
    actor: String,
    /// The procedure, with those around it, and its place.
    procedure: String,
    count: u64,
    /// Why they do.
    kept: String,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        let Listed {
            changed,
            recompiled,
            added,
            data,
            expressions,
            removed,
            run,
            migrated,
        } = self.preview.listed.clone();
        let waiting = self.preview.frames.iter().map(|waiting| FrameForm {
            actor: waiting.actor.clone(),
            fiber: waiting.fiber.map(|fiber| fiber.0),
            frame: frames::frame(&waiting.frame, &self.preview.texts),
            kept: waiting.kept.clone(),
        });
        let closures = self.preview.closures.iter().map(|kept| ClosuresForm {
            actor: kept.actor.clone(),
            procedure: frames::frame(&kept.closures.procedure, &self.preview.texts),
            count: kept.closures.count as u64,
            kept: kept.reason().to_owned(),
        });
        as_json(&Form {
            branch: self.name.clone(),
            turn: self.turn.map(Sequence::number),
            changed,
            recompiled,
            added,
            run,
            data: names_of(&data),
            expressions: names_of(&expressions),
            removed,
            migrated,
            frames: waiting.collect(),
            closures: closures.collect(),
            unneeded: self.preview.unneeded.clone(),
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let listed = &self.preview.listed;
        if !self.preview.changes() {
            return Told::data("").say(format!("the text says what {} executes; nothing changes", self.name));
        }
        let (data, expressions) = (names_of(&listed.data), names_of(&listed.expressions));
        let rows = [
            ("changed", &listed.changed, ""),
            ("recompiled, because they contain others", &listed.recompiled, ""),
            ("added", &listed.added, ""),
            ("evaluated", &listed.run, ""),
            ("records migrated", &listed.migrated, ""),
            ("not evaluated: values", &data, ", whose values stay"),
            ("not evaluated: expressions", &expressions, " of the new text"),
            ("gone from the text, and kept", &listed.removed, ""),
        ];
        let rows = rows.iter().filter(|(_, names, _)| !names.is_empty());
        let lines = rows.map(|(what, names, rest)| format!("{what}: {}{rest}\n", names.join(", ")));
        let waiting = self.preview.frames.iter();
        let waiting = waiting.map(|waiting| told_of(waiting, &self.preview) + "\n");
        let closures = self.preview.closures.iter();
        let closures = closures.map(|kept| told_of_closures(kept, &self.preview) + "\n");
        let told = Told::data(lines.chain(waiting).chain(closures).collect::<String>());
        let needless = self.preview.unneeded.iter();
        let told = needless.fold(told, |told, name| {
            told.say(format!("no waiting frame needs the value of `--let {name}`"))
        });
        let told = match self.turn {
            Some(turn) => told.say(say![
                format!("{}@{turn} has the changed text; ", self.name),
                Way::at("resume", &self.name),
                " goes on with it",
            ]),
            None => told.say(format!(
                "{} would have the changed text; nothing has changed",
                self.name
            )),
        };
        match data.iter().chain(&expressions).next() {
            Some(first) => {
                let words = format!(
                    "{} --run {}",
                    quoted(&self.program.display().to_string()),
                    quoted(first)
                );
                let way = Way::at("patch", &self.name).with(words);
                let what = if data.is_empty() { "expression " } else { "" };
                told.say(say![way, format!(" evaluates {what}{first}, too")])
            }
            None => told,
        }
    }
}
