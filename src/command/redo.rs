//! `duet redo`: repeats a move that was undone.

use crate::command::undo;
use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::terminal::Terminal;

/// Repeats the move that was undone last.
///
/// It repeats the move that the last `duet undo` took back, if the branch has no turn since then.
///
///   duet redo review
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of a run or a branch.
    address: Option<String>,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    undo::redo(&arguments.journal, arguments.address.as_deref(), terminal)
}
