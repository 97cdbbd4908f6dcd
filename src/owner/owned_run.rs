//! The runs that this process owns: each is made of a program, a journal and the world, and driven
//! until it stops.
//!
//! Owns the libraries that programs see, the reopening of a stored run, and the report when a run
//! stops.
//! INVARIANT: effects reach the world only through [`Run::drive`], which performs them when their
//! turn is durable.
//! It does not know the contents of a turn.
//! Read next: `verb/act/run.rs`.

mod again;
mod ahead;
pub(crate) mod asleep;
pub(crate) mod branches;
mod changed;
pub(crate) mod compiled;
mod drive;
mod edited;
pub(crate) mod expression;
mod first_failure;
mod host;
pub(crate) mod inspection;
mod keep;
mod letters;
pub(crate) mod libraries;
mod library_folder;
mod measure;
mod needs;
pub(crate) mod notes;
mod output_mark;
mod ownership;
pub(crate) mod patching;
mod proof;
mod reporting;
mod rescue;
pub(crate) mod serve;
mod stepwise;
mod stop_report;
mod surroundings;
pub(crate) mod tested;
mod unshown;
mod view;
pub(crate) mod watched;
mod widening;

use std::sync::Arc;

use annotate_snippets::Level;
use duet_drivers::world::World;
use duet_journal::{Blob, Epoch, RunId, Sequence, Store};
use duet_kernel::expander::{Expander, Libraries, LibraryName};
use duet_runtime::model::card::ToolCard;
use duet_runtime::record::Genesis;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::source::genesis;
use duet_runtime::run::{Run, Start};
use duet_runtime::scheme::{self, Program, ProgramError, SchemePrograms};

use crate::history::journal::{self, Journal, OpenJournal, Place};
pub(crate) use crate::history::records::record_at;
use crate::owner::doors;
use crate::settings::native;
use crate::settings::policy;
use crate::text::error::CommandError;
use crate::text::render::{self, SourceTexts};
use crate::text::terminal::Terminal;
use crate::text::version;
use crate::world::launch::{self, Launch};
use crate::world::world_options::WorldOptions;
use crate::world::world_options::known::KnownNames;
use asleep::DriveMode;
use branches::Branches;
use changed::changed_launch;
pub(crate) use changed::{Changed, Replacement, changed};
use compiled::{CompiledPrograms, Pinned, pinned, pinned_or_kept};
pub(crate) use keep::LeaseRenewals;
use keep::RunLease;
use libraries::standard_libraries;
pub(crate) use libraries::{ProgramLibraries, libraries};
use library_folder::Folder;
pub(crate) use measure::{share as share_memory, share_among as share_memory_among};
pub(crate) use needs::Grantee;
use ownership::Ownership;
pub(crate) use proof::{ProofError, prove};
use reporting::Reporting;
pub(crate) use stepwise::Waited;
use surroundings::Claim;
pub(crate) use surroundings::{looking_tools, secrets, snapshots};
pub(crate) use view::{RunView, evaluations, is_approval, newest_evaluation};
pub(crate) use widening::require_grants;

/// A run that this process owns, with its world.
pub(crate) struct OwnedRun {
    run: Run,
    place: RunPlace,
    texts: SourceTexts,
    world: Reporting,
    ownership: Ownership,
    manner: DriveMode,
}

/// A run without its world.
pub(crate) struct Detached {
    run: Run,
    texts: SourceTexts,
    branches: Branches,
}

/// The name of a run in messages.
struct RunPlace {
    /// Its address, without a turn.
    name: String,
    /// The journal, if one is kept.
    journal: Option<Journal>,
    /// Whether it is a further branch of a run that this process executes already.
    is_further: bool,
    /// Where it is looked after, if a worker executes it.
    beats: Option<Arc<LeaseRenewals>>,
}

impl RunPlace {
    fn of(place: &Place, journal: &Journal) -> Self {
        Self {
            name: place.name(),
            journal: Some(journal.clone()),
            is_further: false,
            beats: None,
        }
    }
}

/// A run that is to begin.
pub(crate) struct Beginning<'a> {
    pub(crate) id: RunId,
    /// The command that begins it, for people.
    pub(crate) command: &'a str,
    /// Where its records go, if they outlive the process.
    pub(crate) journal: Option<&'a Journal>,
}

impl<'a> Beginning<'a> {
    /// A run whose records go to a journal.
    pub(crate) fn kept_in(journal: &'a Journal, id: RunId, command: &'a str) -> Self {
        Self {
            id,
            command,
            journal: Some(journal),
        }
    }

    /// A run whose records the process keeps in memory.
    pub(crate) fn in_memory(id: RunId, command: &'a str) -> Self {
        Self {
            id,
            command,
            journal: None,
        }
    }
}

/// A stored run that is to go on.
pub(crate) struct Opening<'a> {
    pub(crate) place: &'a Place,
    pub(crate) genesis: Genesis,
    pub(crate) journal: &'a Journal,
    /// The command that opens it, for people.
    pub(crate) command: &'a str,
    /// Compiled programs, of which it may take one.
    pub(crate) kept: &'a CompiledPrograms,
    /// Where the run is looked after, if a worker opens it.
    pub(crate) beats: Option<&'a Arc<LeaseRenewals>>,
    /// The newest claim when a worker chose the run. What it has read since holds only if nobody
    /// has claimed the run in between: to stop it, or to take it back.
    pub(crate) chosen_at: Option<Epoch>,
}

/// A compiled program and its world: a run needs only a journal in addition.
pub(crate) struct Prepared {
    programs: SchemePrograms,
    genesis: Genesis,
    pinned: Vec<Blob>,
    world: World,
    options: WorldOptions,
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

/// Compiles a program; warnings are shown.
///
/// # Errors
/// [`CommandError::Shown`] with all errors of the program's texts.
fn compile(launch: &Launch, name: &str, terminal: &mut Terminal) -> Result<(SchemePrograms, Program), CommandError> {
    let shelf = Folder::new(launch.cache.as_deref());
    let mut libraries = libraries::cached(&launch.path, &launch.manifest, &shelf);
    let (programs, program, is_flawless) = compile_with(launch, name, &mut libraries, terminal)?;
    if is_flawless {
        libraries.keep(programs.expander(), &|name| programs.compiled_library(name));
    }
    Ok((programs, program))
}

/// Compiles a program with libraries that the caller finds; also returns whether there was no
/// warning.
fn compile_with(
    launch: &Launch,
    name: &str,
    libraries: &mut dyn Libraries,
    terminal: &mut Terminal,
) -> Result<(SchemePrograms, Program, bool), CommandError> {
    let source = scheme::Source {
        name,
        text: &launch.text,
        arguments: std::iter::once(name.to_owned())
            .chain(launch.arguments.as_slice().iter().cloned())
            .collect(),
        default_imports: [default_libraries(), launch.preloaded.clone()].concat(),
        evaluable: standard_libraries(),
        is_counted: launch.compiling.is_counted,
        stop: launch.compiling.stop.clone(),
    };
    let (mut programs, program, warnings) = SchemePrograms::compile(&source, libraries)
        .map_err(|(error, expander)| program_failure(error, &expander, terminal))?;
    native::choose(&mut programs);
    programs.set_version(version::name());
    if !warnings.is_empty() {
        let texts = SourceTexts::of(programs.expander());
        terminal.message(render::diagnostics(
            &Level::WARNING,
            &warnings,
            &texts,
            terminal.is_styled,
        ));
    }
    Ok((programs, program, warnings.is_empty()))
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

/// Brings a branch back as it was at a turn, to look at it.
///
/// # Errors
/// If the run cannot be replayed.
pub(crate) fn restore(store: &dyn Store, place: &Place) -> Result<Run, CommandError> {
    let pinned = pinned(store, place)?;
    Ok(place
        .source(store)
        .restore(place.turn, pinned.programs, Snapshots::Use)?)
}

impl Prepared {
    /// Compiles a program and makes its world.
    ///
    /// # Errors
    /// If it does not compile, or its workspace cannot be opened.
    pub(crate) fn new(launch: &Launch, options: WorldOptions, terminal: &mut Terminal) -> Result<Self, CommandError> {
        let (mut programs, program) = compile(launch, &launch.path.display().to_string(), terminal)?;
        measure::begin(&mut programs, launch.limits().run_bytes_max);
        let options = launch.fit(options);
        let note = launch.note(&options)?;
        let mut world = options.clone().world(&launch.workspace)?;
        for problem in world.introduce(|server| launch::uses_server(&launch.manifest, server, &options)) {
            terminal.message(format!("warning: {problem}"));
        }
        let cards: Vec<ToolCard> = world.tools().cards().collect();
        widening::require_known(&options.granted, &cards)?;
        // A test has the doubles of its command, which says so once.
        if !options.is_scriptable {
            for problem in launch.misspelt(&KnownNames::of(cards), &options)? {
                terminal.message(format!("warning: {problem}"));
            }
        }
        let mut pinned = program.pinned;
        pinned.push(note);
        pinned.extend(launch.note_of_doubles()?);
        let genesis = Genesis {
            program: program.value,
            manifest: launch.manifest.clone(),
            limits: launch.limits(),
            pinned: pinned.iter().map(Blob::hash).collect(),
            tools: world.tools().cards().collect(),
            policy: policy::joined(&launch.policy, &options.policy)?,
        };
        Ok(Self {
            programs,
            genesis,
            pinned,
            world,
            options,
        })
    }
}

impl OwnedRun {
    /// Begins a run.
    ///
    /// # Errors
    /// [`CommandError::NameLost`]; if the journal cannot be written.
    pub(crate) fn start(
        prepared: Prepared,
        beginning: Beginning<'_>,
        store: &mut dyn Store,
    ) -> Result<Self, CommandError> {
        let Beginning { id, command, journal } = beginning;
        let Prepared {
            programs,
            genesis,
            pinned,
            world,
            options,
        } = prepared;
        let branch = journal::first_branch()?;
        let name = journal::name(&id, &branch);
        let start = Start {
            run: id,
            branch,
            owner: journal::owner(command),
            genesis,
            pinned,
        };
        let texts = SourceTexts::of(programs.expander());
        let id = start.run.clone();
        let run = Run::start(start, programs, snapshots(command, journal.is_some()), store).map_err(|error| {
            if rescue::is_fenced(&error) {
                CommandError::NameLost(id)
            } else {
                error.into()
            }
        })?;
        let place = RunPlace {
            name,
            journal: journal.cloned(),
            is_further: false,
            beats: None,
        };
        let branches = Branches::of(&options);
        Ok(Self::of(Detached { run, texts, branches }, world, place))
    }

    /// Opens a stored run at the head of a branch to continue it.
    ///
    /// # Errors
    /// If it cannot be replayed, or another process holds the journal.
    pub(crate) fn resume(
        place: &Place,
        OpenJournal { store, journal }: OpenJournal<'_>,
        options: WorldOptions,
        command: &str,
    ) -> Result<Self, CommandError> {
        let opening = Opening {
            place,
            genesis: genesis(&record_at(store, place, Sequence::FIRST)?)?,
            journal,
            command,
            kept: &CompiledPrograms::default(),
            beats: None,
            chosen_at: None,
        };
        Self::open(opening, store, options)
    }

    /// Opens a stored run as [`resume`](Self::resume) does.
    ///
    /// # Errors
    /// As [`resume`](Self::resume).
    pub(crate) fn open(
        opening: Opening<'_>,
        store: &mut dyn Store,
        options: WorldOptions,
    ) -> Result<Self, CommandError> {
        let Opening { place, journal, .. } = opening;
        let Pinned { programs, texts } = pinned_or_kept(store, place, &opening.genesis, opening.kept)?;
        let options = options.beside(journal);
        let branches = Branches::of(&options);
        let silent = crate::history::silence::require_silence(store, &place.run)?;
        let epoch = store.claim(&place.run, &journal::owner(opening.command))?;
        if opening.chosen_at.is_some_and(|chosen| chosen.next() != Ok(epoch)) {
            store.note_owner(&place.run, epoch, "")?;
            let overtaken = format!("somebody has acted on {} since it was chosen", place.name());
            return Err(CommandError::problem(overtaken));
        }
        let restored = place.source(store).restore_begun(opening.genesis, programs)?;
        let claim = Claim::of(epoch, opening.command);
        let (run, mut world) = claim.take_up(restored, &*store, place, options)?;
        if let Some(told) = silent {
            doors::tell(&mut world, told);
        }
        let place = RunPlace {
            beats: opening.beats.cloned(),
            ..RunPlace::of(place, journal)
        };
        Ok(Self::of(Detached { run, texts, branches }, world, place))
    }

    /// Opens a further branch of a run that this process owns under an epoch.
    ///
    /// # Errors
    /// If it cannot be replayed.
    fn resume_held(
        place: &Place,
        OpenJournal { store, journal }: OpenJournal<'_>,
        options: WorldOptions,
        epoch: Epoch,
    ) -> Result<Self, CommandError> {
        let Pinned { programs, texts } = pinned(store, place)?;
        let restored = place.source(store).restore(None, programs, Snapshots::Use)?;
        let claim = Claim::of(epoch, "serve");
        let (run, world) = claim.take_up(restored, &*store, place, options.beside(journal))?;
        let place = RunPlace {
            is_further: true,
            ..RunPlace::of(place, journal)
        };
        let branches = Branches::default();
        Ok(Self::of(Detached { run, texts, branches }, world, place))
    }

    /// Makes a run that this process owns reachable.
    fn of(detached: Detached, mut world: World, place: RunPlace) -> Self {
        let Detached {
            mut run,
            texts,
            branches,
        } = detached;
        // Changed texts that the run has taken on, and those of stored code, come with its records.
        let has_others = !run.state().patches.is_empty() || run.code_from().is_some();
        let texts = match has_others {
            false => texts,
            true => SourceTexts::of(run.programs::<SchemePrograms>().expander()),
        };
        host::dismiss_peers(&mut run);
        Self {
            ownership: Ownership::new(RunLease::of(&run, &mut world, &place), branches),
            world: Reporting::new(world, &place, run.id()),
            run,
            place,
            texts,
            manner: DriveMode::default(),
        }
    }

    /// Drops the world and keeps the run.
    pub(crate) fn detach(self) -> Detached {
        Detached {
            run: self.run,
            texts: self.texts,
            branches: self.ownership.into_branches(),
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
        OpenJournal { store, journal }: OpenJournal<'_>,
        options: WorldOptions,
    ) -> Result<Self, CommandError> {
        let Some(Detached { run, texts, branches }) = detached.filter(|detached| *detached.run.id() == place.run)
        else {
            return Self::resume(place, journal.opened(store), options, "repl");
        };
        let epoch = store.claim(&place.run, &doors::successor(store, &place.run, "repl")?)?;
        let restored = run.rewind(&place.source(store), None)?;
        let claim = Claim::of(epoch, "repl");
        let (run, world) = claim.take_up(restored, &*store, place, options.beside(journal))?;
        branches.renew(run.epoch());
        let detached = Detached { run, texts, branches };
        Ok(Self::of(detached, world, RunPlace::of(place, journal)))
    }

    /// The exit code of the run, if it has ended.
    pub(crate) fn exit(&self) -> Option<u64> {
        let state = self.run.state();
        // Actors that end with the main program may have turns to come.
        state
            .exit
            .filter(|_| state.queue.is_empty())
            .map(|code| state.exit_code(code))
    }

    /// The run.
    pub(crate) fn id(&self) -> &RunId {
        self.run.id()
    }

    /// The address of its branch.
    pub(crate) fn address(&self) -> String {
        format!("{}/{}", self.run.id(), self.run.branch())
    }

    /// Makes advice name comma commands.
    pub(crate) fn advise_prompt(&mut self) {
        self.manner.is_at_prompt = true;
        self.world.advise_prompt();
    }

    /// Whether its newest turn is the one at which a command found it.
    pub(crate) fn stands_at(&self, place: &Place) -> bool {
        self.run.head().is_some_and(|tip| tip.hash == place.head.hash)
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

    /// Whether the run has a library, or a text that another one includes.
    pub(crate) fn has_source(&self, wanted: &[String]) -> bool {
        self.run.programs::<SchemePrograms>().has_source(wanted)
    }

    /// Repeats calls that the run made before it was taken back; otherwise the run receives their
    /// recorded results.
    pub(crate) fn call_again(&mut self) {
        self.run.call_again();
    }
}
