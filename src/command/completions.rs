//! `duet completions`: prints completion scripts for shells.

use clap_complete::Shell;

use super::parser;
use crate::error::{CommandError, ExitCode};
use crate::terminal::Terminal;

/// Prints a script that makes a shell complete commands and options.
///
///   duet completions bash > ~/.local/share/bash-completion/completions/duet
///   duet completions zsh > ~/.zfunc/_duet
///   duet completions fish > ~/.config/fish/completions/duet.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut parser(), "duet", &mut script);
    terminal.data(String::from_utf8_lossy(&script).as_ref())?;
    Ok(ExitCode::OK)
}
