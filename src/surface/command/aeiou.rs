//! `duet aeiou`: envelopes of AEIOU v4, checked, executed, or written by a model.
//!
//! Owns the reading of the file. A Scheme program, `aeiou.scm`, does the work with `(duet aeiou)`.
//! INVARIANT: a loop is a run like any other: it is journaled, resumed and replayed.
//! It does not know what an envelope is; the Scheme library does.
//! Read next: `verb/act/run.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use duet_drivers::text::line;
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::history::journal::Journal;
use crate::owner::detach::DetachArguments;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::act::run::RunStorage;
use crate::world::launch::Launch;
use crate::world::world_options::WorldArguments;

const PROGRAM: &str = include_str!("aeiou.scm");

/// Checks or executes an envelope of AEIOU v4, or lets a model work in envelopes.
///
/// `duet aeiou check FILE` parses an envelope and lists the tools that its ACTIONS call.
/// `duet aeiou run FILE` executes its ACTIONS once, in a sandbox, and prints what they emit.
/// `duet aeiou loop FILE` reads USERDATA, a JSON file, and asks the model in turns until it is
/// done.
///
/// ACTIONS may call the tools that `--tool` names: fs.read is the tool fs/read of `duet tools`. The
/// run needs the right to call it as well, by `--workspace`, `--allow-host` or `--double`.
///
/// The exit code is 1 if the envelope or its ACTIONS are refused or fail, and if the loop halts.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// What to do with the file.
    action: Action,
    /// The envelope; for loop the USERDATA, a JSON file.
    file: PathBuf,
    /// Permits a tool, such as workspace.read or "str.*"; may be given several times.
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// The tool that is the model of a loop.
    #[arg(long, value_name = "TOOL", default_value = "model/chat")]
    model_tool: String,
    /// Halts a loop after this many turns.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: u32,
    /// Halts a loop after this many turns in a row that say the same.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    no_progress: u32,
    /// Tells the model what is wrong with a reply that cannot be executed, instead of halting.
    #[arg(long)]
    feedback: bool,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    /// Names the run; without it the run is called aeiou, with a number if that is taken.
    #[arg(long, value_name = "RUN")]
    name: Option<String>,
    /// Gives the tools this directory to work in.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    #[command(flatten)]
    world: WorldArguments,
    /// Keeps the journal in memory only.
    #[arg(long, conflicts_with = "journal")]
    memory: bool,
    #[command(flatten)]
    journal: Journal,
}

/// What the program prints with `--json`.
#[expect(dead_code, reason = "the program prints it; here is its schema")]
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Form {
    /// An envelope was checked.
    Checked {
        userdata: Value,
        scratchpad: Value,
        output: Value,
        actions: Value,
        /// The breaches of the rules that do no harm.
        lints: Vec<String>,
        /// The tools that its actions call.
        tools: Vec<String>,
    },
    /// Its actions were executed.
    Executed {
        /// The texts that they emit.
        emissions: Vec<String>,
        whispers: Value,
        /// What failed; null if nothing did.
        error: Value,
        /// Whether the work is done.
        done: bool,
        result: Value,
        lints: Vec<String>,
    },
    /// A model has worked.
    Worked {
        decision: String,
        /// Why it halted; null if it did not.
        reason: Option<String>,
        result: Value,
        output: Value,
        /// The turns of the loop.
        log: Vec<Value>,
        counters: Value,
    },
}

/// What to do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Action {
    /// Parse the envelope, and check its ACTIONS without executing them.
    Check,
    /// Execute the ACTIONS of the envelope once.
    Run,
    /// Let a model work from the USERDATA until it is done.
    Loop,
}

impl Action {
    /// Its word for the Scheme program.
    fn word(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Run => "run",
            Self::Loop => "loop",
        }
    }
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let text = read_text(&arguments.file, "is not UTF-8 (ERR_ENV_ENCODING)")?;
    let mut launch = Launch::of_text("aeiou", PROGRAM, arguments.workspace.as_deref())?;
    let options = json!({
        "tools": arguments.tools,
        "model": arguments.model_tool,
        "max_turns": arguments.max_turns,
        "no_progress": arguments.no_progress,
        "feedback": arguments.feedback,
        "json": arguments.json,
    });
    // The program shows the path.
    let path = line(&arguments.file.display().to_string()).into_owned();
    launch.arguments = vec![arguments.action.word().to_owned(), path, text, options.to_string()];
    let kept = RunStorage {
        name: arguments.name.as_deref(),
        in_memory: arguments.memory || arguments.action == Action::Check,
        journal: &arguments.journal,
        detach: DetachArguments::default(),
        is_queued: false,
        program: None,
    };
    let options = kept.options(&arguments.world)?;
    kept.start(launch, options, terminal)
}

/// Reads a file as text; `fault` says what is wrong with one that is none.
pub(super) fn read_text(path: &Path, fault: &str) -> Result<String, CommandError> {
    let shown = path.display();
    let bytes = fs::read(path)
        .map_err(|error| CommandError::caused(format!("cannot read `{shown}`"), &error).with_code(ExitCode::USAGE))?;
    String::from_utf8(bytes).map_err(|_| CommandError::problem(format!("`{shown}` {fault}")))
}
