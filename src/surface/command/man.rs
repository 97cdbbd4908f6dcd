//! `duet man`: writes the manual pages.

use std::fs;
use std::path::PathBuf;

use super::parser;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;

/// Writes the manual pages, one for Duet and one for each command.
///
///   duet man ~/.local/share/man/man1
///   man duet-run
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The directory for the pages, which is made if it does not exist.
    directory: PathBuf,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let directory = &arguments.directory;
    fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(parser(), directory))
        .map_err(|error| CommandError::caused(format!("cannot write to `{}`", directory.display()), &error))?;
    terminal.message(format!("the manual pages are in {}", directory.display()));
    Ok(ExitCode::OK)
}
