//! `duet run`: starts a run of a program.

mod name;
mod other_text;
mod watch;

use std::io::Read;
use std::path::{Path, PathBuf};

use duet_journal::store::memory::MemoryStore;
use duet_journal::{RunId, Store};
use serde::{Deserialize, Serialize};

use super::{patch, resume};
use crate::history::journal::{self, Journal};
use crate::owner::detach::{self, DetachArguments};
use crate::owner::owned_run::{Beginning, OwnedRun, Prepared, compiled};
use crate::settings::workspaces;
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Saying, Way, quoted, say};
use crate::text::terminal::Terminal;
use crate::verb::{self, project::Project};
use crate::world::launch::{Launch, MANIFEST, Program, read_size};
use crate::world::preload::PreloadArgument;
use crate::world::world_options::{WorldArguments, WorldOptions};

pub(crate) use crate::text::view::Driven as Report;
use name::free_name;
pub(crate) use name::{claim_name, read_name};
use other_text::Begun;

/// Runs a program, which is a file or a folder with a manifest.
///
/// A file of Scheme reads standard input, writes standard output, sees the words behind `--` as its
/// arguments, and ends with its own exit code. A folder is run by its `manifest.scm`, which names
/// the program, the workspace (a directory, or the argument that names one), the tools that are
/// granted, the hosts, the variables that are secrets, and servers of the Model Context Protocol:
///
///   ((program "review.scm")
///    (workspace (argument 1))
///    (tools workspace/list workspace/read process/run)
///    (hosts "api.example.org")
///    (secrets PIN)
///    (server files "npx" "-y" "@modelcontextprotocol/server-filesystem" ".")
///    (memory-limit "512M")
///    (policy "policy.json"))
///
/// The tools are all capabilities of the program beside those that every program has; it changes
/// policy only if they name policy/update. If they name a right in the dataspace, such as
/// dataspace/observe or (dataspace/assert (pattern (job _))), the program has only the rights that
/// they name.
///
/// Duet looks for a library in the standard library, then beside the program, then in the folders
/// that the variable DUET_LIBRARY_PATH lists.
///
/// A single file may read the files of its own directory. With `--workspace` it is granted
/// workspace/*, which lets it write and delete in that directory as well.
///
/// `--grant` grants the program capabilities in addition, as `duet resume --grant` does for a run
/// that has begun: `duet run review.scm --grant process/run`.
///
/// `--text` runs a text: `duet run --text '(display (+ 1 2))'`, or `duet -e '(display (+ 1 2))'`.
/// With `-` for the file, standard input is the program. The run keeps these texts as it keeps
/// those of files.
///
/// With `--detach` the run goes on in the background; `duet attach` shows it, `duet stop` stops it.
///
/// A run that has to ask waits for `duet answer`. With `--headless` nobody will ever answer; the
/// same holds with `--memory` if nobody is at a terminal.
///
/// With `--watch` the run begins, and whenever a file of the program is saved, the changed program
/// runs from its start, in memory, on the answers that the run has received. Duet shows what it
/// would ask, and which output would differ; it calls nothing. A line that begins with `l` goes on
/// with the changed program on a new branch, as `duet resume --with` does; with `--live` it goes on
/// at each save. A line that begins with `q`, or Ctrl-C, ends it.
///
///   duet run --watch review.scm
///
/// A file of doubles is a dictionary in Preserves text from names of tools to lists of
/// <returns VALUE>, <fails KIND MESSAGE>, <after MILLISECONDS REPLY>, <for TEXT REPLY>, which is
/// for a call with this text, <asked PAYLOAD REPLY>, which is for a call with exactly this payload,
/// <like PAYLOAD REPLY>, the same where <first N [REST ...]> stands for a list that begins as that
/// of the payload before, <by ACTOR DEFINITION REPLY>, which in a test is for a call by this actor,
/// preferably in this definition, and <silent>, which leaves the call without an answer. A single
/// file may call these tools.
///
/// Variables with KEY, TOKEN, SECRET or PASSWORD in their names are secrets, and so are those that
/// `--secret` names. The program gets {{secret:NAME}}, which becomes the value only on the way to a
/// process or server.
///
/// A host is allowed at ports 80 and 443, or at the port behind a colon, as in localhost:8080.
/// *.NAME allows all hosts below NAME.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The Scheme file, or the folder with `manifest.scm`; `-` for standard input.
    program: Option<PathBuf>,
    /// The arguments of the program, behind `--`.
    #[arg(value_name = "ARG")]
    arguments: Vec<String>,
    /// Runs this text in place of a file; all words are then arguments of the program.
    #[arg(long, short = 'e', value_name = "TEXT")]
    text: Option<String>,
    /// Names the run; without it the run has the program's name, with a number if that is taken.
    #[arg(long, value_name = "RUN")]
    name: Option<String>,
    /// Gives the tools this directory to work in.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Names the workspace: workers take the run if they declare a directory under this name; see
    /// `duet work`.
    #[arg(long, value_name = "NAME", value_parser = workspaces::read_name)]
    workspace_name: Option<String>,
    /// Grants the program these capabilities in addition.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    grant: Vec<String>,
    /// Limits the memory of the run, such as 512M or 2G: actors, facts, queues and output that
    /// waits. One actor may fill a quarter of it. The default is a quarter of the machine's memory,
    /// or of what `ulimit -v` allows, and at most 2G.
    #[arg(long, value_name = "SIZE", value_parser = read_size)]
    memory_limit: Option<u64>,
    #[command(flatten)]
    #[serde(flatten)]
    preload: PreloadArgument,
    #[command(flatten)]
    #[serde(flatten)]
    world: WorldArguments,
    /// Keeps the journal in memory only.
    #[arg(long, conflicts_with_all = ["journal", "detach"])]
    memory: bool,
    #[command(flatten)]
    #[serde(flatten)]
    detach: DetachArguments,
    /// Begins the run and leaves it to a worker; see `duet work`.
    #[arg(long, conflicts_with_all = ["memory", "detach"])]
    queue: bool,
    /// Runs the program again, in memory on the answers so far, whenever one of its files is saved.
    #[arg(long, conflicts_with_all = ["memory", "detach", "queue", "text"])]
    #[serde(skip)]
    watch: bool,
    /// Goes on with the changed program at each save.
    #[arg(long, requires = "watch")]
    #[serde(skip)]
    live: bool,
    /// The text of the program, if a server has read it for a client.
    #[arg(skip)]
    program_text: Option<String>,
    /// The folder in which the server found it, without links.
    #[arg(skip)]
    within: Option<PathBuf>,
}

impl Request {
    /// Whether standard input is the program.
    fn reads_input(&self) -> bool {
        let is_dash = self.program.as_ref().is_some_and(|path| path.as_os_str() == "-");
        self.text.is_none() && self.program_text.is_none() && is_dash
    }

    /// The request of a client, within what the person who runs the server grants.
    ///
    /// # Errors
    /// Why it is not granted.
    pub(crate) fn within(self, granted: &WorldArguments, workspace: Option<&Path>) -> Result<Self, String> {
        if self.program.is_some() && self.text.is_some() {
            return Err("a run has either a `program` or a `text`".to_owned());
        }
        if !self.grant.is_empty() {
            return Err("only the person grants a program more than it begins with".to_owned());
        }
        Ok(Self {
            world: self.world.within(granted)?,
            workspace: workspace.map(Path::to_owned),
            ..self
        })
    }
}

/// Refuses a program whose directory is no longer where the server found its text: tools would look
/// at another one.
fn require_within(launch: &Launch, folder: Option<&Path>) -> Result<(), CommandError> {
    if folder.is_none_or(|folder| launch.workspace.starts_with(folder)) {
        return Ok(());
    }
    let path = launch.path.display();
    Err(CommandError::problem(format!(
        "`{path}` lies outside the folders of the server"
    )))
}

/// Reads the program, or takes its text.
fn read(request: &Request) -> Result<Launch, CommandError> {
    let (workspace, words) = (request.workspace.as_deref(), request.arguments.iter().cloned());
    if request.reads_input() {
        let mut launch = Launch::of_text("stdin", &read_input()?, workspace)?;
        launch.arguments = words.collect();
        return Ok(launch);
    }
    let Some(text) = &request.text else {
        let program = Program {
            path: request.program.as_deref().ok_or_else(which_program)?,
            text: request.program_text.as_deref(),
            within: None,
        };
        let launch = Launch::read(program, workspace, words.collect())?;
        if workspace.is_none() {
            require_within(&launch, request.within.as_deref())?;
        }
        return Ok(launch);
    };
    let first = request.program.as_ref().map(|word| word.display().to_string());
    let mut launch = Launch::of_text("text", text, workspace)?;
    launch.arguments = first.into_iter().chain(words).collect();
    Ok(launch)
}

/// Asks for the program that was not named.
fn which_program() -> CommandError {
    CommandError::usage("which program?").advise(if Path::new(MANIFEST).is_file() {
        say![Way::of("run").with("."), " runs the program of this folder"]
    } else {
        say![
            Way::of("run").with("FILE"),
            " runs a program, and ",
            Way::of("repl"),
            " evaluates what is typed"
        ]
    })
}

/// Reads the program that standard input is.
fn read_input() -> Result<String, CommandError> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| CommandError::caused("standard input cannot be read as a program", &error))?;
    Ok(text)
}

/// Starts a run and drives it until it stops.
///
/// # Errors
/// If the program cannot be compiled, the name is taken, or the journal fails.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let journal = project.journal().clone();
    let terminal = project.stage()?;
    if request.detach.is_wanted() && request.reads_input() {
        return Err(
            CommandError::usage("a run in the background has no standard input to read its program from")
                .advise("name a file, or give the text with `--text`"),
        );
    }
    if let Some(option) = request.world.of_the_process().filter(|_| request.queue) {
        let refused = CommandError::usage(format!(
            "`{option}` counts in the process that executes the run, which is a worker"
        ));
        // Here doubles also grant the run what they stand in for, which those of a worker do not.
        return Err(refused.advise(if option == "--double" {
            "leave out `--queue`"
        } else {
            "give it to `duet work`, or leave out `--queue`"
        }));
    }
    if request.detach.is_wanted() {
        return Ok(detach::detach(&journal, terminal)?.into());
    }
    let kept = RunStorage {
        name: request.name.as_deref(),
        in_memory: request.memory,
        journal: &journal,
        detach: request.detach,
        is_queued: request.queue,
        program: named_program(request),
    };
    if request.watch {
        return Ok(watch::execute(request, &kept, terminal)?.into());
    }
    let mut options = kept.options(&request.world)?;
    options.granted.clone_from(&request.grant);
    let launch = launch(request, terminal)?;
    Ok(kept.start(launch, options, terminal)?.into())
}

/// The file or folder whose text runs, if the person has named one.
fn named_program(request: &Request) -> Option<&Path> {
    let is_of_file = request.text.is_none() && !request.reads_input();
    request.program.as_deref().filter(|_| is_of_file)
}

/// Reads the program with what the request says of it; warnings are shown.
fn launch(request: &Request, terminal: &mut Terminal) -> Result<Launch, CommandError> {
    let mut launch = read(request)?;
    launch
        .warnings
        .iter()
        .for_each(|warning| terminal.message(warning.clone()));
    launch.memory_limit = request.memory_limit.or(launch.memory_limit);
    launch.preloaded = request.preload.libraries();
    launch.workspace_name.clone_from(&request.workspace_name);
    Ok(launch)
}

/// Where a run is kept, under which name, and whether a person watches it.
pub(crate) struct RunStorage<'a> {
    /// The name that the person gave.
    pub(crate) name: Option<&'a str>,
    /// Whether the journal ends with the command.
    pub(crate) in_memory: bool,
    pub(crate) journal: &'a Journal,
    pub(crate) detach: DetachArguments,
    /// Whether a worker is to execute it.
    pub(crate) is_queued: bool,
    /// The file or folder whose text runs, if the person has named one.
    pub(crate) program: Option<&'a Path>,
}

impl RunStorage<'_> {
    /// Reads the options of the run's world.
    ///
    /// # Errors
    /// If a file that they name cannot be read, or the name cannot be a run's.
    pub(crate) fn options(&self, world: &WorldArguments) -> Result<WorldOptions, CommandError> {
        self.name.map(read_name).transpose()?;
        let mut options = world.read(self.in_memory)?;
        options.is_detached = self.detach.is_done();
        Ok(if self.in_memory {
            options
        } else {
            options.beside(self.journal)
        })
    }

    /// Starts a run of a program, with what the options grant, and drives it until it stops.
    ///
    /// # Errors
    /// If the program cannot be compiled, the name is taken, or the journal fails.
    pub(crate) fn start(
        &self,
        mut launch: Launch,
        options: WorldOptions,
        terminal: &mut Terminal,
    ) -> Result<ExitCode, CommandError> {
        if self.in_memory {
            self.prepare(&mut launch, &options)?;
            let given = self.name.map(read_name).transpose()?;
            let prepared = Prepared::new(&launch, options, terminal)?;
            let mut store = MemoryStore::default();
            let id = given.map_or_else(|| read_name(&launch.stem), Ok)?;
            let owned = OwnedRun::start(prepared, Beginning::in_memory(id, "run"), &mut store)?;
            return owned.drive(&mut store, false, terminal);
        }
        let is_folder = launch.is_folder;
        self.begin(&mut launch, options, terminal, |owned, store, terminal| {
            self.drive(owned, store, is_folder, terminal)
        })
    }

    /// Drives a run that has begun, unless workers are to do it.
    fn drive(
        &self,
        mut owned: OwnedRun,
        store: &mut dyn Store,
        is_folder: bool,
        terminal: &mut Terminal,
    ) -> Result<ExitCode, CommandError> {
        let id = owned.id().clone();
        if self.is_queued {
            owned.leave_to_workers(store)?;
            terminal.message(say![
                format!("{id} waits for a worker; "),
                Way::at("waits", &id),
                " says later what it waits for",
            ]);
            return Ok(ExitCode::OK);
        }
        if self.detach.is_done() {
            owned.settle(store)?;
            self.detach.announce(&id);
        }
        owned.drive(store, is_folder, terminal)
    }

    /// Grants the program what the options name, and finds where its libraries are kept.
    fn prepare(&self, launch: &mut Launch, options: &WorldOptions) -> Result<(), CommandError> {
        launch.grant(options)?;
        launch.fit(options.clone()).mask_words(&mut launch.arguments);
        launch.cache = (!self.in_memory).then(|| self.journal.cache());
        Ok(())
    }

    /// Begins a run in the journal and acts on it. The journal may have been made by another
    /// process with a run of the same name in it, which shows at the first commit; then a run of
    /// another name begins.
    ///
    /// # Errors
    /// If the program cannot be compiled, a name that was given is taken, or the journal fails;
    /// those of the act.
    fn begin<T>(
        &self,
        launch: &mut Launch,
        options: WorldOptions,
        terminal: &mut Terminal,
        mut act: impl FnMut(OwnedRun, &mut dyn Store, &mut Terminal) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        self.prepare(launch, &options)?;
        let given = self.name.map(read_name).transpose()?;
        loop {
            let prepared = Prepared::new(launch, options.clone(), terminal)?;
            let acted = self
                .begin_prepared(prepared, given.as_ref(), &launch.stem)
                .and_then(|(owned, mut store)| {
                    self.tell_other_text(&owned, &*store, launch, terminal)?;
                    act(owned, &mut *store, terminal)
                });
            match acted {
                Err(CommandError::NameLost(_)) if given.is_none() => {}
                ended => return ended,
            }
        }
    }

    /// Says that the run before the one that has begun has another text, if that is so.
    fn tell_other_text(
        &self,
        owned: &OwnedRun,
        store: &dyn Store,
        launch: &Launch,
        terminal: &mut Terminal,
    ) -> Result<(), CommandError> {
        let Some(program) = self.program.filter(|_| self.name.is_none()) else {
            return Ok(());
        };
        let id = owned.id();
        let told = Begun { id, program, launch }.tell(store, self.journal)?;
        told.into_iter().for_each(|told| terminal.message(told));
        Ok(())
    }

    fn begin_prepared(
        &self,
        prepared: Prepared,
        given: Option<&RunId>,
        stem: &str,
    ) -> Result<(OwnedRun, Box<dyn Store>), CommandError> {
        let journal = self.journal;
        let mut store = journal.open_or_create("run")?;
        let id = claim_name(&mut store, given, stem, "run")?;
        let owned = OwnedRun::start(prepared, Beginning::kept_in(journal, id.clone(), "run"), &mut *store)?;
        journal.set_current(&id, &journal::first_branch()?);
        Ok((owned, store))
    }
}

/// Runs a program of Duet's own to its end, without a journal.
///
/// # Errors
/// If it cannot be run.
pub(crate) fn run_program(
    name: &str,
    program: &str,
    words: Vec<String>,
    terminal: &mut Terminal,
) -> Result<ExitCode, CommandError> {
    let mut launch = Launch::of_text(name, program, None)?;
    launch.arguments = words;
    let prepared = Prepared::new(&launch, WorldOptions::default(), terminal)?;
    let mut store = MemoryStore::default();
    let owned = OwnedRun::start(prepared, Beginning::in_memory(read_name(name)?, "run"), &mut store)?;
    owned.drive(&mut store, false, terminal)
}

/// A run whose name the person wants for another text.
pub(crate) struct NameConflict {
    run: RunId,
    /// A name that is free.
    free: RunId,
    program: PathBuf,
}

/// Finds the run of another text that has the name which a request gives.
///
/// # Errors
/// If the program or the journal cannot be read.
pub(crate) fn name_conflict(project: &Project, request: &Request) -> Result<Option<NameConflict>, CommandError> {
    let (Some(name), Some(program)) = (&request.name, named_program(request)) else {
        return Ok(None);
    };
    let journal = project.journal();
    if request.memory || request.detach.is_done() {
        return Ok(None);
    }
    let run = read_name(name)?;
    // The run that opens or makes the journal says what is wrong with it.
    let Ok(store) = journal.open_to_read() else {
        return Ok(None);
    };
    if !store.has_run(&run)? {
        return Ok(None);
    }
    let place = journal.resolve(&*store, Some(name))?;
    let text = read(request)?.text;
    let pinned = compiled::pinned(&*store, &place)?;
    if pinned.texts.all().iter().any(|pinned| *pinned.text == text) {
        return Ok(None);
    }
    Ok(Some(NameConflict {
        free: free_name(&*store, name)?,
        run,
        program: program.to_owned(),
    }))
}

impl NameConflict {
    /// What to do with the text: each way with its answer, and what it does.
    fn ways(&self) -> [(char, Way, &'static str); 3] {
        let Self { run, free, program } = self;
        let program = quoted(&program.display().to_string());
        [
            (
                'n',
                Way::of("run").with(format!("{program} --name {free}")),
                "begins a run of it",
            ),
            (
                'r',
                Way::at("resume", run).with(format!("--with {program}")),
                "runs it from its start with the recorded answers, on a new branch",
            ),
            (
                'p',
                Way::at("patch", run).with(program),
                "puts it in the place of the text that the run executes",
            ),
        ]
    }

    /// The refusal where nobody can be asked.
    pub(crate) fn refusal(&self) -> CommandError {
        let program = self.program.display();
        let refused = format!("there is a run {} already, of another text than {program}", self.run);
        let ways = self.ways().into_iter();
        ways.fold(CommandError::usage(refused), |error, (_, way, does)| {
            error.advise(say![way, format!(" {does}")])
        })
    }

    /// The question to a person, a line for each way.
    pub(crate) fn question(&self) -> Saying {
        let program = self.program.display();
        let first = say![format!(
            "there is a run {} already, of another text than {program}",
            self.run
        )];
        let ways = self.ways().into_iter();
        let ways = ways.map(|(letter, way, does)| say![format!("  {letter}: "), way, format!(" {does}")]);
        Saying::lines(std::iter::once(first).chain(ways).collect())
    }

    /// The request that an answer means; none if it means none.
    pub(crate) fn chosen(&self, answer: &str, request: Request) -> Option<verb::Request> {
        let run = self.run.to_string();
        Some(match answer {
            "n" => verb::Request::from(Request {
                name: Some(self.free.to_string()),
                ..request
            }),
            "r" => resume::Request::with_code(run, self.program.clone()).into(),
            "p" => patch::Request::of(run, self.program.clone()).into(),
            _ => return None,
        })
    }
}
