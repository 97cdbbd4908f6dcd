//! `duet signal`: asserts a signal in a run.

use preserves::IOValue;

use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::query::read_told;
use crate::session::serve::Wish;
use crate::session::tell;
use crate::terminal::Terminal;

/// Asserts a signal in a run.
///
/// The signal is what `(signal! 'LABEL VALUE …)` asserts: the fact `<LABEL VALUE …>`, for which
/// `(await (signal 'LABEL))` waits. It is an input of the run, a turn of its main program, and
/// needs the program's right to assert it. If another process executes the run, that one gets the
/// signal; otherwise the run continues here, as with `duet resume`.
///
///   duet signal review ready
///   duet signal review approved '"Ada"'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of the run or branch.
    address: String,
    /// The label of the signal.
    label: String,
    /// Values, in Preserves text.
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    values: Vec<String>,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let fields: Result<Vec<IOValue>, CommandError> = arguments.values.iter().map(|text| read_told(text)).collect();
    let wish = Wish::Tell {
        value: IOValue::record(IOValue::symbol(arguments.label.clone()), fields?),
        stays: true,
    };
    tell::tell((&arguments.journal, &arguments.address), wish, terminal)
}
