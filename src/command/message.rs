//! `duet message`: sends a message to a run.

use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::query::read_told;
use crate::session::serve::Wish;
use crate::session::tell;
use crate::terminal::Terminal;

/// Sends a message to a run.
///
/// All observers in the run whose pattern matches receive the value once, as after `(message!
/// VALUE)`. The message is an input of the run, a turn of its main program, and needs the program's
/// right to send it. If another process executes the run, that one gets the message; otherwise the
/// run continues here, as with `duet resume`.
///
///   duet message desk '<order "tea" 2>'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of the run or branch.
    address: String,
    /// The value, in Preserves text.
    #[arg(allow_hyphen_values = true)]
    value: String,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let wish = Wish::Tell {
        value: read_told(&arguments.value)?,
        stays: false,
    };
    tell::tell((&arguments.journal, &arguments.address), wish, terminal)
}
