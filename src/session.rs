//! The wiring: it makes a run of a program, a journal and the world, and drives the run until it
//! stops.
//!
//! Owns the libraries that programs see, the reopening of a stored run, and the report when a run
//! stops.
//! INVARIANT: effects reach the world only through [`Run::drive`], which performs them when their
//! turn is durable.
//! It does not know the contents of a turn.
//! Read next: `command/run.rs`.

mod ahead;
mod inspection;
mod stop_report;

use duet_runtime::model::failure;
use duet_runtime::run::source;
use std::path::{Path, PathBuf};

use annotate_snippets::Level;
use duet_drivers::ask::Question;
use duet_drivers::tool::description::{Description, EffectClass};
use duet_drivers::world::World;
use duet_journal::{Blob, Record, RunId, Sequence, Store, StoreError};
use duet_kernel::expander::{Ahead, Expander, Libraries, LibraryName, SourceError, SourceText};
use duet_modules::resolver::Resolver;
use duet_modules::source::directory::Directory;
use duet_modules::source::embedded::Embedded;
use duet_runtime::action::exit::MAIN;
use duet_runtime::driver::{Attached, Drivers, Input};
use duet_runtime::model::limits::Limits;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::record::{Body, Genesis, Outcome};
use duet_runtime::run::inflight::Recovery;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::source::Source;
use duet_runtime::run::{DriveOutcome, Run, Start};
use duet_runtime::scheme::{self, Program, ProgramError, SchemePrograms};

use crate::error::{CommandError, ExitCode};
use crate::journal::{self, Place};
use crate::launch::{self, Launch};
use crate::render::{self, SourceTexts};
use crate::terminal::Terminal;
use crate::turn;
use crate::world_options::WorldOptions;
use stop_report::StopReport;

/// A run with its world.
pub(crate) struct Session {
    run: Run<SchemePrograms>,
    place: RunPlace,
    texts: SourceTexts,
    world: World,
}

/// A run without its world.
pub(crate) struct Detached {
    run: Run<SchemePrograms>,
    texts: SourceTexts,
}

/// The name of a run in messages.
struct RunPlace {
    /// Its address, without a turn.
    name: String,
    /// The journal, if one is kept.
    journal: Option<PathBuf>,
}

impl RunPlace {
    fn of(place: &Place, journal: &Path) -> Self {
        Self {
            name: place.name(),
            journal: Some(journal.to_owned()),
        }
    }
}

/// A program as its run's first record describes it.
pub(crate) struct Pinned {
    pub(crate) programs: SchemePrograms,
    pub(crate) genesis: Genesis,
    pub(crate) texts: SourceTexts,
}

/// A compiled program and its world: a run needs only a journal in addition.
pub(crate) struct Prepared {
    programs: SchemePrograms,
    genesis: Genesis,
    pinned: Vec<Blob>,
    world: World,
}

/// The libraries that a program without `import` sees.
const DEFAULT_LIBRARIES: [&str; 18] = [
    "scheme base",
    "scheme case-lambda",
    "scheme char",
    "scheme complex",
    "scheme cxr",
    "scheme eval",
    "scheme file",
    "scheme inexact",
    "scheme lazy",
    "scheme load",
    "scheme process-context",
    "scheme r5rs",
    "scheme read",
    "scheme repl",
    "scheme time",
    "scheme write",
    "duet base",
    "duet dataspace",
];

/// The libraries that a program without `import` sees, by name.
pub(crate) fn default_libraries() -> Vec<LibraryName> {
    let name = |words: &&str| LibraryName {
        parts: words.split(' ').map(Into::into).collect(),
    };
    DEFAULT_LIBRARIES.iter().map(name).collect()
}

/// All libraries of the standard library.
fn standard_libraries() -> Vec<LibraryName> {
    Resolver::new(vec![Box::new(Embedded::new("stdlib", duet_stdlib::FILES))]).names()
}

/// The variable that lists further folders with libraries, separated as in `PATH`.
const LIBRARY_PATH: &str = "DUET_LIBRARY_PATH";

/// Where the libraries of a program are found: in the standard library, else in the program's own
/// folder, else in the folders that a variable lists.
pub(crate) fn libraries(program: &Path) -> Resolver {
    let folder = program.parent().filter(|folder| !folder.as_os_str().is_empty());
    let own = folder.unwrap_or(Path::new(".")).to_owned();
    #[expect(clippy::disallowed_methods, reason = "what is found there is pinned in the journal")]
    let listed = std::env::var_os(LIBRARY_PATH).unwrap_or_default();
    let further = std::env::split_paths(&listed).filter(|folder| !folder.as_os_str().is_empty());
    let folders = std::iter::once(own).chain(further);
    let folders = folders.map(|folder| Box::new(Directory::new(folder)) as Box<dyn duet_modules::source::Source>);
    let standard: Box<dyn duet_modules::source::Source> = Box::new(ahead::standard_library());
    Resolver::new(std::iter::once(standard).chain(folders).collect())
}

/// The libraries of a program that is granted what its manifest names.
struct Granted<'a> {
    libraries: Resolver,
    manifest: &'a Manifest,
}

impl Libraries for Granted<'_> {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        self.libraries.library(name)
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        self.libraries.include(includer, path)
    }

    fn names(&self) -> Vec<LibraryName> {
        self.libraries.names()
    }

    fn ahead(&mut self, name: &LibraryName) -> Option<Ahead> {
        self.libraries.ahead(name)
    }

    fn grants(&self, capability: &str) -> bool {
        self.manifest.grants(capability)
    }
}

/// Compiles a program; warnings are shown.
///
/// # Errors
/// [`CommandError::Shown`] with all errors of the program's texts.
fn compile(launch: &Launch, name: &str, terminal: &mut Terminal) -> Result<(SchemePrograms, Program), CommandError> {
    let source = scheme::Source {
        name,
        text: &launch.text,
        arguments: std::iter::once(name.to_owned())
            .chain(launch.arguments.as_slice().iter().cloned())
            .collect(),
        default_imports: default_libraries(),
        evaluable: standard_libraries(),
    };
    let mut libraries = Granted {
        libraries: libraries(&launch.path),
        manifest: &launch.manifest,
    };
    let (programs, program, warnings) = SchemePrograms::compile(&source, &mut libraries)
        .map_err(|(error, expander)| program_failure(error, &expander, terminal))?;
    if !warnings.is_empty() {
        let texts = SourceTexts::of(programs.expander());
        terminal.message(&render::diagnostics(
            &Level::WARNING,
            &warnings,
            &texts,
            terminal.is_styled,
        ));
    }
    Ok((programs, program))
}

fn program_failure(error: ProgramError, expander: &Expander, terminal: &Terminal) -> CommandError {
    match error {
        ProgramError::Expand(errors) => {
            let texts = SourceTexts::of(expander);
            CommandError::Shown(render::diagnostics(&Level::ERROR, &errors, &texts, terminal.is_styled))
        }
        error @ (ProgramError::Compile(_)
        | ProgramError::Load(_)
        | ProgramError::Pin(_)
        | ProgramError::Description(_)
        | ProgramError::MissingText { .. }) => CommandError::caused("the program cannot be run", &error),
    }
}

/// Reads a run's first record and compiles the program that it pins.
///
/// # Errors
/// If the record is none of a run, or the texts are missing.
pub(crate) fn pinned(store: &dyn Store, place: &Place) -> Result<Pinned, CommandError> {
    let genesis = source::genesis(&record_at(store, place, Sequence::FIRST)?)?;
    let mut fetch = |hash: &_| store.blob(hash).ok();
    let programs = SchemePrograms::pinned(&genesis.program, &mut fetch, &ahead::find)
        .map_err(|error| CommandError::caused("the run's program cannot be compiled again", &error))?;
    let texts = SourceTexts::of(programs.expander());
    Ok(Pinned {
        programs,
        genesis,
        texts,
    })
}

/// Compiles a program from its file to stand in for a run's own, under its name, with its arguments
/// and its grants.
///
/// # Errors
/// [`CommandError::Shown`] with all errors of the program's texts; or if the file cannot be read.
pub(crate) fn changed(
    store: &dyn Store,
    place: &Place,
    program: &Path,
    terminal: &mut Terminal,
) -> Result<Pinned, CommandError> {
    let genesis = source::genesis(&record_at(store, place, Sequence::FIRST)?)?;
    let (name, arguments) = scheme::description(&genesis.program)
        .map_err(|error| CommandError::caused("the run's first record describes no program", &error))?;
    let mut launch = Launch::read(program, None, arguments.into_iter().skip(1).collect())?;
    launch.manifest = genesis.manifest.clone();
    let (mut programs, _) = compile(&launch, &name, terminal)?;
    programs.stand_in_for(genesis.program.clone());
    let texts = SourceTexts::of(programs.expander());
    Ok(Pinned {
        programs,
        genesis,
        texts,
    })
}

/// Reads a record of a branch.
///
/// # Errors
/// If there is none at this position.
pub(crate) fn record_at(store: &dyn Store, place: &Place, at: Sequence) -> Result<Record, CommandError> {
    let found = store.record_at(&place.run, &place.branch, at)?;
    found.ok_or_else(|| journal::beyond(place, at))
}

/// Brings a branch back as it was at a turn, to look at it.
///
/// # Errors
/// If the run cannot be replayed.
pub(crate) fn restore(store: &dyn Store, place: &Place) -> Result<Run<SchemePrograms>, CommandError> {
    let pinned = pinned(store, place)?;
    let source = Source {
        store,
        run: &place.run,
        branch: &place.branch,
    };
    Ok(source.restore(place.turn, pinned.programs, Snapshots::Use)?)
}

/// The world in which a run was begun, and the tools whose calls can be repeated or reversed.
fn surroundings(
    store: &dyn Store,
    genesis: &Genesis,
    options: WorldOptions,
) -> Result<(World, Recovery), CommandError> {
    let note = genesis
        .pinned
        .iter()
        .find_map(|hash| launch::read_note(&store.blob(hash).ok()?));
    let (workspace, options) = note.map_or_else(
        || (PathBuf::from("."), options.clone()),
        |note| note.fit(options.clone()),
    );
    let world = options.world(&workspace)?;
    let recovery = Recovery {
        repeatable: world.tools().named(|tool| tool.idempotent),
        reversible: world.tools().named(|tool| tool.effect == EffectClass::Reversible),
    };
    Ok((world, recovery))
}

impl Prepared {
    /// Compiles a program and makes its world.
    ///
    /// # Errors
    /// If it does not compile, or its workspace cannot be opened.
    pub(crate) fn new(launch: &Launch, options: WorldOptions, terminal: &mut Terminal) -> Result<Self, CommandError> {
        let (programs, program) = compile(launch, &launch.path.display().to_string(), terminal)?;
        let options = launch.fit(options);
        let note = launch.note(&options)?;
        let world = options.world(&launch.workspace)?;
        let mut pinned = program.pinned;
        pinned.push(note);
        let genesis = Genesis {
            program: program.value,
            manifest: launch.manifest.clone(),
            limits: Limits::default(),
            pinned: pinned.iter().map(Blob::hash).collect(),
            tools: world.tools().descriptions().map(Description::card).collect(),
        };
        Ok(Self {
            programs,
            genesis,
            pinned,
            world,
        })
    }
}

impl Session {
    /// Begins a run.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub(crate) fn start(
        prepared: Prepared,
        id: RunId,
        (store, journal): (&mut dyn Store, Option<&Path>),
    ) -> Result<Self, CommandError> {
        let Prepared {
            programs,
            genesis,
            pinned,
            world,
        } = prepared;
        let branch = journal::first_branch()?;
        let name = journal::name(&id, &branch);
        let start = Start {
            run: id,
            branch,
            owner: journal::owner("run"),
            genesis,
            pinned,
        };
        let texts = SourceTexts::of(programs.expander());
        let run = Run::start(start, programs, SnapshotPolicy::default(), store)?;
        let journal = journal.map(Path::to_owned);
        Ok(Self {
            run,
            place: RunPlace { name, journal },
            texts,
            world,
        })
    }

    /// Opens a stored run at the head of a branch to continue it.
    ///
    /// # Errors
    /// If it cannot be replayed, or another process holds the journal.
    pub(crate) fn resume(
        place: &Place,
        (store, journal): (&mut dyn Store, &Path),
        options: WorldOptions,
        command: &str,
    ) -> Result<Self, CommandError> {
        let Pinned {
            programs,
            genesis,
            texts,
        } = pinned(store, place)?;
        let (world, recovery) = surroundings(store, &genesis, options)?;
        let owner = journal::owner(command);
        let at = (&place.run, &place.branch, owner.as_str());
        let run = Run::open(store, at, programs, SnapshotPolicy::default(), &recovery)?;
        Ok(Self {
            run,
            place: RunPlace::of(place, journal),
            texts,
            world,
        })
    }

    /// Drops the world and keeps the run.
    pub(crate) fn detach(self) -> Detached {
        Detached {
            run: self.run,
            texts: self.texts,
        }
    }

    /// Opens a stored run to continue it. If it is the detached one, its program is not compiled
    /// again and its state comes from memory.
    ///
    /// # Errors
    /// If it cannot be replayed, or another process holds the journal.
    pub(crate) fn reopen(
        detached: Option<Detached>,
        place: &Place,
        (store, journal): (&mut dyn Store, &Path),
        command: &str,
    ) -> Result<Self, CommandError> {
        let Some(Detached { run, texts }) = detached.filter(|detached| *detached.run.id() == place.run) else {
            return Self::resume(place, (store, journal), WorldOptions::default(), command);
        };
        let (world, recovery) = surroundings(store, run.genesis(), WorldOptions::default())?;
        let owner = journal::owner(command);
        let run = run.reopen(store, (&place.branch, owner.as_str()), &recovery)?;
        Ok(Self {
            run,
            place: RunPlace::of(place, journal),
            texts,
            world,
        })
    }

    /// The questions that stand open.
    pub(crate) fn questions(&self) -> Vec<Question> {
        self.run
            .questions()
            .iter()
            .map(|(_, prompt)| Question::read(prompt))
            .collect()
    }

    /// The exit code of the run, if it has ended.
    pub(crate) fn exit(&self) -> Option<u64> {
        self.run.state().exit
    }

    /// The address of the newest turn.
    pub(crate) fn head(&self) -> Sequence {
        self.run.head().map_or(Sequence::FIRST, |tip| tip.sequence)
    }

    /// The place of a run that has one branch.
    pub(crate) fn place_of(&self, run: &RunId) -> Result<Place, CommandError> {
        let head = self
            .run
            .head()
            .ok_or_else(|| CommandError::problem("the run has no turn"))?;
        Ok(Place {
            run: run.clone(),
            branch: journal::first_branch()?,
            head: duet_journal::Head {
                branch: journal::first_branch()?,
                hash: head.hash,
                sequence: head.sequence,
            },
            turn: None,
        })
    }

    /// Gives the main program's actor a text to evaluate.
    pub(crate) fn give(&mut self, text: String, sources: Vec<Attached>) {
        self.run.deliver(Input::Evaluate { text, sources });
    }

    /// Abandons the current evaluation.
    pub(crate) fn abandon(&mut self) {
        self.run.deliver(Input::Abandon);
    }

    /// Whether the run has a library, or a text that another one includes.
    pub(crate) fn has_source(&self, wanted: &[String]) -> bool {
        self.run.programs().has_source(wanted)
    }

    /// Repeats calls that the run made before it was taken back; otherwise the run receives their
    /// recorded results.
    pub(crate) fn call_again(&mut self) {
        self.run.call_again();
    }

    /// Drives the run until it stops.
    ///
    /// # Errors
    /// If the journal fails; durable turns stay.
    pub(crate) fn run_on(&mut self, store: &mut dyn Store) -> Result<DriveOutcome, CommandError> {
        Ok(self.run.drive(store, &mut self.world as &mut dyn Drivers)?)
    }

    /// Shows why a turn failed.
    pub(crate) fn tell_failure(&self, failure: &failure::Failure, ways: &[String], terminal: &mut Terminal) {
        let texts = SourceTexts::of(self.run.programs().expander());
        terminal.message(&render::uncaught(failure, &texts, ways, terminal.is_styled));
    }

    /// Drives the run until it stops, and reports its state.
    ///
    /// # Errors
    /// If the journal fails; durable turns stay.
    pub(crate) fn drive(
        mut self,
        store: &mut dyn Store,
        is_verbose: bool,
        terminal: &mut Terminal,
    ) -> Result<ExitCode, CommandError> {
        let rest = self.run_on(store)?;
        self.conclude(rest, store, is_verbose, terminal)
    }

    /// The run, and the world it is driven in.
    pub(crate) fn parts(&mut self) -> (&mut Run<SchemePrograms>, &mut dyn Drivers) {
        (&mut self.run, &mut self.world)
    }

    /// Drops the world and reports the state of the run.
    ///
    /// # Errors
    /// If the journal fails, or the run can never go on.
    pub(crate) fn conclude(
        self,
        rest: DriveOutcome,
        store: &dyn Store,
        is_verbose: bool,
        terminal: &mut Terminal,
    ) -> Result<ExitCode, CommandError> {
        let is_output_closed = self.world.is_output_closed();
        let failed = self.failure(store)?;
        let Self {
            mut run,
            place,
            texts,
            world,
        } = self;
        // The terminal is the program's until the world has let go of it.
        drop(world);
        let place = StopReport {
            place: &place,
            head: run.head().map_or(Sequence::FIRST, |tip| tip.sequence),
        };
        place.tell_recalled(&run.take_recalled(), terminal);
        let code = match rest {
            DriveOutcome::Ended { code } => {
                if let Some(failure) = failed {
                    terminal.message(&render::uncaught(
                        &failure,
                        &texts,
                        &place.ways_back(),
                        terminal.is_styled,
                    ));
                }
                if is_verbose || terminal.is_watched {
                    place.tell_journal(terminal);
                }
                ExitCode::of_run(code)
            }
            DriveOutcome::Asking { .. } => {
                place.tell_questions(&run, terminal);
                ExitCode::WAITING
            }
            DriveOutcome::Stuck { fibers } => return Err(place.stuck(fibers)),
            DriveOutcome::Interrupted => {
                if !is_output_closed {
                    terminal.message(&place.interrupted());
                }
                ExitCode::INTERRUPTED
            }
        };
        Ok(code)
    }

    /// The failure that ended the main program, if one did: that of the newest turn.
    fn failure(&self, store: &dyn Store) -> Result<Option<duet_runtime::model::failure::Failure>, CommandError> {
        let Some(tip) = self.run.head() else { return Ok(None) };
        let found = match store.record_at(self.run.id(), self.run.branch(), tip.sequence) {
            Err(StoreError::NoSuchRun { .. } | StoreError::NoSuchBranch { .. }) => None,
            found => found?,
        };
        let Some(record) = found.filter(|record| record.hash() == tip.hash) else {
            return Ok(None);
        };
        match turn::body(&record)? {
            Body::Turn(turn) if turn.actor == MAIN => match turn.outcome {
                Outcome::Failed { failure } => Ok(Some(failure)),
                Outcome::Committed {} => Ok(None),
            },
            Body::Turn(_) | Body::Genesis(_) => Ok(None),
        }
    }
}
