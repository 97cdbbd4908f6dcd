//! Putting a changed text in the place of the one that a stored run executes.
//!
//! INVARIANT: a text that cannot take that place leaves the journal as it is.
//! It does not compare texts; `runtime/src/scheme/change.rs` does.
//! Read next: `verb/act/patch.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use duet_journal::{Sequence, Store};
use duet_kernel::expander::{Ahead, Libraries, LibraryName, SourceError, SourceText};
use duet_runtime::driver::Input;
use duet_runtime::model::changed_text::ChangedText;
use duet_runtime::model::failure::{Failure, Frame};
use duet_runtime::model::identity::{ActorId, FiberId};
use duet_runtime::run::Run;
use duet_runtime::run::error::RunError;
use duet_runtime::scheme::{Listed, SchemePrograms, StaleClosures, TopPlace, UnevaluatedForm};
use duet_runtime::state::RunState;
use duet_runtime::state::patches::Patched;

use super::widening::main_manifest;
use super::{Grantee, OwnedRun, changed_launch, compile_with, libraries};
use crate::history::turn::line;
use crate::owner::owned_run::inspection::parked_by_actor;
use crate::text::error::CommandError;
use crate::text::render;
use crate::text::terminal::Terminal;
use crate::world::launch::Program;

/// What the person asks for beside the text.
#[derive(Clone, Copy)]
pub(crate) struct PatchOptions<'a> {
    /// The definitions and expressions to evaluate, by name and number.
    pub(crate) run: &'a [String],
    /// Values for variables that frames do not have, each as `NAME=EXPRESSION`.
    pub(crate) values: &'a [String],
}

/// What a changed text would change.
pub(crate) struct Preview {
    /// Whether the text says something else.
    differs: bool,
    pub(crate) listed: Listed,
    pub(crate) frames: Vec<WaitingFrame>,
    /// The closures that go on with the code of earlier texts.
    pub(crate) closures: Vec<KeptClosures>,
    /// The variables with a value of the person's that no frame needs.
    pub(crate) unneeded: Vec<String>,
    pub(crate) texts: render::SourceTexts,
}

impl Preview {
    /// Whether the text says something else, or moves frames that an earlier one has left behind.
    pub(crate) fn changes(&self) -> bool {
        self.differs || self.frames.iter().any(|frame| frame.kept.is_none())
    }
}

/// A frame that waits in changed code.
pub(crate) struct WaitingFrame {
    pub(crate) actor: String,
    /// The computation; nothing if the program holds a continuation of one.
    pub(crate) fiber: Option<FiberId>,
    pub(crate) frame: Frame,
    /// Why it stays in that code; nothing if it moves to the new one.
    pub(crate) kept: Option<String>,
    /// The variables whose values the person gives.
    pub(crate) given: BTreeSet<String>,
    /// Where it goes on at the top level of the new text, if it does.
    pub(crate) top: Option<TopPlace>,
}

/// Closures of an actor that go on with the code of an earlier text.
pub(crate) struct KeptClosures {
    pub(crate) actor: String,
    pub(crate) closures: StaleClosures,
}

impl KeptClosures {
    /// Why they do.
    pub(crate) fn reason(&self) -> &'static str {
        if self.closures.is_apart {
            "the new procedure uses other variables from around it"
        } else {
            "the new text has no such procedure"
        }
    }
}

/// How the names of the libraries begin that Duet brings.
const STANDARD: [&str; 3] = ["(duet ", "(scheme ", "(srfi "];

/// A run, owned or looked at, that may have a changed text.
pub(crate) struct Patchable<'a> {
    run: &'a mut Run,
    /// Its name for people.
    name: &'a str,
}

impl<'a> Patchable<'a> {
    /// A run that is only looked at.
    pub(crate) fn of(run: &'a mut Run, name: &'a str) -> Self {
        Self { run, name }
    }

    /// Compiles a program from its file to take the place of the run's own, with the arguments and
    /// the grants that the run has, and the standard library that it began with.
    ///
    /// # Errors
    /// [`CommandError::Shown`] with all errors of the program's texts; or if the file cannot be
    /// read.
    pub(crate) fn changed_text(
        &self,
        program: Program<'_>,
        request: PatchOptions<'_>,
        terminal: &mut Terminal,
    ) -> Result<ChangedText, CommandError> {
        let genesis = self.run.genesis();
        let mut launch = changed_launch(genesis, program, self.name, terminal)?;
        let manifest = main_manifest(self.run);
        let grantee = Grantee {
            name: self.name,
            manifest: &manifest,
            with: None,
        };
        grantee.require(&launch)?;
        launch.manifest = manifest.clone();
        let programs = self.run.programs::<SchemePrograms>();
        let mut libraries = AsBegun::new(programs, libraries::granted(&launch.path, &launch.manifest));
        let name = launch.path.display().to_string();
        let (changed, compiled, _) = compile_with(&launch, &name, &mut libraries, terminal)?;
        grantee.warn(&programs.called_tools(), &changed, terminal);
        let texts = compiled.pinned.iter().filter_map(|blob| {
            let text = String::from_utf8(blob.as_bytes().to_vec()).ok()?;
            (!programs.has_text(&text)).then_some(text)
        });
        Ok(ChangedText {
            texts: texts.collect(),
            program: compiled.value,
            run: request.run.to_vec(),
            values: request.values.to_vec(),
        })
    }

    /// Returns what a changed text changes, and what becomes of the frames that wait in changed
    /// code, without taking it on.
    ///
    /// # Errors
    /// If it cannot take the place of the one that the run executes.
    pub(crate) fn preview(&mut self, text: &ChangedText, terminal: &Terminal) -> Result<Preview, CommandError> {
        let manifest = main_manifest(self.run);
        // Images are read with the code that they belong to.
        self.run.thaw()?;
        let turn = self.run.head().and_then(|tip| tip.sequence.next());
        let turn = turn.map_or(0, Sequence::number);
        let libraries = self.run.evaluated_libraries();
        let mut patches = Arc::clone(&self.run.state().patches);
        Arc::make_mut(&mut patches).push(Patched {
            turn,
            text: text.clone(),
            libraries,
        });
        let tried = self.run.programs_mut::<SchemePrograms>().try_on(&patches, &manifest);
        let (mut listed, before) = tried.map_err(|failure| self.refusal(&failure, terminal))?;
        let frames = self.waiting_frames();
        let mut closures = self.kept_closures();
        let programs = self.run.programs_mut::<SchemePrograms>();
        let texts = render::SourceTexts::of(programs.expander());
        let stopped = programs.stop_trying(&before);
        stopped.map_err(|failure| self.refusal(&failure, terminal))?;
        let differs = !listed.is_empty();
        // The report says of definitions that are gone that the run keeps them.
        closures.retain(|kept| {
            let mut gone = listed.removed.iter();
            !gone.any(|gone| kept.closures.definition.as_ref() == Some(gone))
        });
        // A body that moves goes on in the new text of the form at which it waits and of all after.
        let is_to_come = |form: &UnevaluatedForm| {
            let mut tops = frames.iter().filter_map(|frame| frame.top.as_ref());
            tops.any(|top| top.library == form.place.library && top.number <= form.place.number)
        };
        listed.data.retain(|form| !is_to_come(form));
        listed.expressions.retain(|form| !is_to_come(form));
        let names = text.values.iter().filter_map(|value| value.split_once('='));
        let is_unneeded = |name: &&str| !frames.iter().any(|frame| frame.given.contains(*name));
        let unneeded = names.map(|(name, _)| name).filter(is_unneeded).map(str::to_owned);
        Ok(Preview {
            differs,
            unneeded: unneeded.collect(),
            listed,
            frames,
            closures,
            texts,
        })
    }

    /// The frames of all computations that wait in code of earlier texts.
    fn waiting_frames(&mut self) -> Vec<WaitingFrame> {
        let code = self.run.programs::<SchemePrograms>().stale_code();
        let mut found = Vec::new();
        for (actor, parked) in parked_by_actor(self.run) {
            let name = line::actor_in(self.run.state(), actor);
            let (fibers, parked): (Vec<FiberId>, Vec<_>) = parked.into_iter().unzip();
            let Some((programs, instance)) = self.run.lend::<SchemePrograms>(actor) else {
                continue;
            };
            let frames = programs.moved_frames(&code, instance, &parked);
            found.extend(frames.into_iter().map(|(parked, moved)| WaitingFrame {
                actor: name.clone(),
                fiber: parked.map(|parked| fibers[parked]),
                frame: moved.frame,
                kept: moved.kept,
                given: moved.given,
                top: moved.top,
            }));
        }
        found
    }

    /// The closures of all actors that keep code of earlier texts.
    fn kept_closures(&mut self) -> Vec<KeptClosures> {
        let code = self.run.programs::<SchemePrograms>().stale_code();
        let mut found = Vec::new();
        for actor in self.run.state().actors.keys().copied().collect::<Vec<_>>() {
            let name = line::actor_in(self.run.state(), actor);
            let Some((programs, instance)) = self.run.lend::<SchemePrograms>(actor) else {
                continue;
            };
            let closures = programs.stale_closures(&code, instance).into_iter();
            found.extend(closures.map(|closures| KeptClosures {
                actor: name.clone(),
                closures,
            }));
        }
        found
    }

    fn refusal(&self, failure: &Failure, terminal: &Terminal) -> CommandError {
        refusal(self.run, self.name, failure, terminal)
    }
}

impl OwnedRun {
    /// The run, to look at what a changed text would change.
    pub(crate) fn patchable(&mut self) -> Patchable<'_> {
        Patchable::of(&mut self.run, &self.place.name)
    }

    /// Takes a changed text on, in a turn that is durable when this returns, or goes on in the
    /// world if that turn requests something there.
    ///
    /// # Errors
    /// If it cannot take the place of the one that the run executes; then nothing has changed.
    pub(crate) fn take_on(
        self,
        text: ChangedText,
        store: &mut dyn Store,
        terminal: &mut Terminal,
    ) -> Result<Sequence, CommandError> {
        self.take_inputs(vec![Input::Patch { text }], store, terminal)
    }

    /// Makes an actor begin anew, after the run has taken a changed text on, if there is one. The
    /// turns become durable together; otherwise as [`take_on`](Self::take_on).
    ///
    /// # Errors
    /// If the text cannot take its place, or the actor's beginning fails; then nothing has changed.
    pub(crate) fn restart(
        self,
        actor: ActorId,
        text: Option<ChangedText>,
        store: &mut dyn Store,
        terminal: &mut Terminal,
    ) -> Result<Sequence, CommandError> {
        let text = text.map(|text| Input::Patch { text });
        let inputs = text.into_iter().chain([Input::Restart { actor }]);
        self.take_inputs(inputs.collect(), store, terminal)
    }

    /// Takes inputs of the owner, each in a turn, and returns the last of these turns.
    fn take_inputs(
        mut self,
        inputs: Vec<Input>,
        store: &mut dyn Store,
        terminal: &mut Terminal,
    ) -> Result<Sequence, CommandError> {
        let owed_before = self.run.effects_owed();
        for input in inputs {
            self.run.deliver_first(input);
            match self.run.step() {
                Ok(_) => {}
                Err(RunError::Patch(failure) | RunError::Restart(failure)) => {
                    return Err(self.refusal(&failure, terminal));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let turn = self.head();
        if self.run.effects_owed() > owed_before {
            self.texts = render::SourceTexts::of(self.run.programs::<SchemePrograms>().expander());
            self.drive(store, true, terminal)?;
        } else {
            self.run.flush(store)?;
        }
        Ok(turn)
    }

    /// Returns the state of the run.
    pub(crate) fn state(&self) -> &RunState {
        self.run.state()
    }

    fn refusal(&self, failure: &Failure, terminal: &Terminal) -> CommandError {
        refusal(&self.run, &self.place.name, failure, terminal)
    }
}

/// Says why a text is refused that the run called `name` was to take on.
fn refusal(run: &Run, name: &str, failure: &Failure, terminal: &Terminal) -> CommandError {
    let texts = render::SourceTexts::of(run.programs::<SchemePrograms>().expander());
    let nothing = format!("{name} goes on as it was; nothing has changed");
    CommandError::Shown(render::uncaught(failure, &texts, &[nothing], terminal.is_styled))
}

/// The standard library as a run began with it, and all else as it is now: the procedures of the
/// standard library that the run's heaps have are of that text.
struct AsBegun<'a, L> {
    programs: &'a SchemePrograms,
    now: L,
    /// The names of the texts that the run has pinned and that were given out.
    given: BTreeSet<String>,
    /// Whether a text of the standard library says something else now.
    has_changed: bool,
}

impl<'a, L: Libraries> AsBegun<'a, L> {
    fn new(programs: &'a SchemePrograms, now: L) -> Self {
        Self {
            programs,
            now,
            given: BTreeSet::new(),
            has_changed: false,
        }
    }
}

impl<L: Libraries> Libraries for AsBegun<'_, L> {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        let shown = name.to_string();
        let is_standard = STANDARD.iter().any(|prefix| shown.starts_with(prefix));
        let pinned = self.programs.pinned_source(&[shown]).filter(|_| is_standard);
        let Some(pinned) = pinned else {
            return self.now.library(name);
        };
        self.has_changed |= self.now.library(name)?.is_none_or(|now| now.text != pinned.text);
        self.given.insert(pinned.name.clone());
        Ok(Some(pinned))
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        let wanted = [includer.to_owned(), path.to_owned()];
        let pinned = self.programs.pinned_source(&wanted);
        match pinned.filter(|_| self.given.contains(includer)) {
            Some(pinned) => Ok(pinned),
            None => self.now.include(includer, path),
        }
    }

    fn names(&self) -> Vec<LibraryName> {
        self.now.names()
    }

    fn ahead(&mut self, name: &LibraryName) -> Option<Ahead> {
        // Libraries were compiled ahead with the present standard library.
        if !self.has_changed {
            // Its text may be the first that has changed.
            self.library(name).ok()?;
        }
        if self.has_changed { None } else { self.now.ahead(name) }
    }

    fn grants(&self, capability: &str) -> bool {
        self.now.grants(capability)
    }
}
