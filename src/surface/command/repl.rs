//! `duet repl`: evaluates typed texts in turns of a run.

mod guest;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use duet_drivers::serve::Address;

use crate::history::journal::{Journal, first_branch};
use crate::owner::owned_run::Beginning;
use crate::settings::native::NativeArgument;
use crate::settings::state_folder;
use crate::surface::repl::editor_thread::EditorThread;
use crate::surface::repl::prompt::{Evaluated, Prompt as _, talk};
use crate::surface::repl::script::script;
use crate::surface::repl::session::{Live, PromptState};
use crate::text::error::{CommandError, ExitCode};
use crate::text::screen::Screen;
use crate::text::terminal::Terminal;
use crate::verb::act::run;
use crate::world::preload::read_library;
use crate::world::streams::PromptStreams;
use crate::world::world_options::ReachArguments;

/// Evaluates what is typed, text by text, in a run of its own.
///
/// Each text is evaluated in a turn of a run, which the journal keeps like any other: a session can
/// be left and continued, and every text can be taken back. A text that fails leaves only the
/// record of its turn. `,help` lists the commands of the session.
///
/// If another process executes the run, the texts are evaluated there, in a session of its own: it
/// has its own definitions, and sees the same facts. `--session` names it, so that it stays when
/// you leave and can be entered again.
///
/// The options that name doubles, secrets, hosts, servers and models grant their use to a new
/// session. A session that is continued is granted them by a turn of its own, except the doubles;
/// going back to before that turn takes the grant back.
///
/// With `--connect` the run is one that `duet serve` hosts, and its journal can be out of your
/// reach: the file given with `--reference` holds the reference that `duet grant` has printed.
///
///   duet grant desk --session ada >ada.ref
///   duet repl --connect tcp:127.0.0.1:8001 --reference ada.ref --session ada
///
/// Without a terminal Duet reads the texts from standard input and writes their values and nothing
/// else. The exit code is 1 if a text could not be evaluated.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(group = clap::ArgGroup::new("place").args(["address", "connect"]))]
pub(crate) struct Arguments {
    /// The address of the session to continue.
    address: Option<String>,
    /// Names a new session.
    #[arg(long, value_name = "RUN")]
    name: Option<String>,
    /// Gives the tools this directory to work in, which they may then change.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Enters this session of a run that another process executes.
    #[arg(long, value_name = "NAME", requires = "place")]
    session: Option<String>,
    /// Enters a session of a run that `duet serve` hosts at this address, such as
    /// tcp:127.0.0.1:8001 or unix:/path/to/socket.
    #[arg(long, value_name = "ADDRESS", requires = "reference")]
    #[arg(conflicts_with_all = ["name", "workspace", "memory", "script", "journal"])]
    #[arg(conflicts_with_all = ReachArguments::NAMES)]
    connect: Option<Address>,
    /// Reads the sturdy reference from this file.
    #[arg(long, value_name = "FILE", requires = "connect")]
    reference: Option<PathBuf>,
    /// Imports this library before anything else, such as '(srfi 1)'; may be given several times.
    #[arg(long, value_name = "LIBRARY", value_parser = read_library)]
    #[arg(conflicts_with_all = ["connect", "session", "script"])]
    preload: Vec<String>,
    /// Keeps the journal in memory only.
    #[arg(long, conflicts_with_all = ["journal", "address"])]
    memory: bool,
    /// Prints the texts of a session that did not fail, for `duet run`, and evaluates nothing.
    #[arg(long)]
    script: bool,
    #[command(flatten)]
    reach: ReachArguments,
    #[command(flatten)]
    native: NativeArgument,
    #[command(flatten)]
    journal: Journal,
}

/// The name that sessions get.
const STEM: &str = "repl";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    arguments.native.apply();
    let address = arguments.address.as_deref();
    if arguments.script {
        let journal = &arguments.journal;
        let store = journal.open_to_read()?;
        let place = journal.resolve_turn(&store, address)?;
        terminal.data(&script(&store, &place)?)?;
        return Ok(ExitCode::OK);
    }
    if let Some(code) = guest::execute(arguments, terminal)? {
        return Ok(code);
    }
    let world = arguments.reach.read()?;
    let prompt_state = if io::stdin().is_terminal() {
        let (streams, line_editor) = editor(terminal)?;
        PromptState::at(streams, line_editor)
    } else {
        PromptState::default()
    };
    let mut live = open(arguments, address, prompt_state.reaching(world), terminal)?;
    if !arguments.preload.is_empty() {
        let libraries = arguments.preload.join(") (");
        match live.evaluate(&format!("(import ({libraries}))"), terminal)? {
            Evaluated::Done => {}
            Evaluated::Failed | Evaluated::PartlyDone(_) => return Ok(ExitCode::FAILED),
            Evaluated::Ended(code) => return Ok(code),
            Evaluated::Alone => return Ok(ExitCode::INTERRUPTED),
        }
    }
    talk(live, terminal).map(|(_, code)| code)
}

/// Starts the line editor.
fn editor(terminal: &mut Terminal) -> Result<(PromptStreams, EditorThread), CommandError> {
    let screen = Arc::new(Screen::default());
    terminal.screen = Some(Arc::clone(&screen));
    let streams = PromptStreams::at(Arc::clone(&screen));
    let (line_editor, printer) =
        EditorThread::start(state_folder::path("history"), terminal.is_styled, streams.waker())
            .map_err(|error| CommandError::caused("the prompt cannot be shown", &error))?;
    if let Some(printer) = printer {
        screen.print_with(printer);
    }
    Ok((streams, line_editor))
}

fn open(
    arguments: &Arguments,
    address: Option<&str>,
    prompt_state: PromptState,
    terminal: &mut Terminal,
) -> Result<Live, CommandError> {
    let workspace = arguments.workspace.as_deref();
    if arguments.memory {
        return Live::begin_in_memory(&run::read_name(STEM)?, workspace, prompt_state, terminal);
    }
    let journal = &arguments.journal;
    if address.is_some() {
        return Live::open(journal, address, prompt_state, terminal);
    }
    let mut store = journal.open_or_create("repl")?;
    let given = arguments.name.as_deref().map(run::read_name).transpose()?;
    let id = run::claim_name(&mut store, given.as_ref(), STEM, "repl")?;
    let prepared = prompt_state.prepare(workspace, Some(journal), terminal)?;
    let beginning = Beginning::kept_in(journal, id.clone(), "repl");
    let live = Live::begin(prepared, beginning, Box::new(store), prompt_state)?;
    journal.set_current(&id, &first_branch()?);
    Ok(live)
}
