//! `duet ns`: programs of NeuroScript.
//!
//! Owns the reading of the file. A Scheme program, `ns.scm`, does the work with
//! `(duet neuroscript)`.
//! INVARIANT: no statement of the program is executed.
//! It does not know the language; the Scheme library does.
//! Read next: `aeiou.rs`.

use std::path::PathBuf;

use super::aeiou::read_text;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::act::run::run_program;

const PROGRAM: &str = include_str!("ns.scm");

/// Shows a program of NeuroScript as Scheme.
///
/// `duet ns expand FILE` prints an expression whose value is a list of a procedure for each command
/// of the program. The parameters of a procedure are all that the command can do.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// What to do with the file.
    action: Action,
    /// The program.
    file: PathBuf,
}

/// What to do with a file.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Action {
    /// Print the program as Scheme.
    Expand,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let Arguments {
        action: Action::Expand,
        file,
    } = arguments;
    let text = read_text(file, "is not UTF-8")?;
    let words = vec!["expand".to_owned(), file.display().to_string(), text];
    run_program("ns", PROGRAM, words, terminal)
}
