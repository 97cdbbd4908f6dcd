//! `duet migrate`: prints a workflow of the older language as a Scheme program.

use std::path::PathBuf;

use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::world::launch;

/// Prints a workflow of the older language as a Scheme program.
///
/// Both dialects are known: that of `enter`, `branch`, `loop` and functions, and the minimal one of
/// `emit` and `transition`. Warnings on standard error name places where the program does something
/// else than the old interpreter did. `duet run FILE.duet` translates and runs a workflow.
///
///   duet migrate deploy.duet > deploy.scm
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The workflow.
    file: PathBuf,
    /// Keeps the quirks of the old interpreter: scopes of signals are ignored, and a branch never
    /// takes the arm of a signal right after awaiting it.
    #[arg(long)]
    faithful: bool,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let translation = launch::read_workflow(&arguments.file, arguments.faithful)?;
    for warning in &translation.warnings {
        terminal.message(warning.clone());
    }
    terminal.exact(&translation.text)?;
    Ok(ExitCode::OK)
}
