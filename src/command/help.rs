//! `duet help`: prints the list of commands, or the help of one.

use std::fmt::Write;

use super::{TABLE, parser};
use crate::error::{CommandError, ExitCode};
use crate::terminal::Terminal;

/// Lists the commands, or explains one.
///
/// `duet COMMAND --help` prints the same as `duet help COMMAND`, and `duet COMMAND -h` a short
/// form.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The command.
    command: Option<String>,
}

pub(super) const ABOUT: &str =
    "Duet is a Scheme for orchestrating agents and tools in which every step can be taken back.";

const FOOT: &str = "
`duet help COMMAND` explains a command; `duet FILE` runs a program.

An address is run/branch@turn, such as review, review@12, review/what-if or /what-if@-3 (three turns
before the newest). Without a run it means the branch used last; without a branch, the branch main.

Exit codes: 0 success, 1 the program or the command failed, 2 usage error, 3 replay found a
difference, 4 the run waits for a person, 130 interrupted (Ctrl-C), 143 asked to end (SIGTERM).
";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let text = match &arguments.command {
        Some(name) => match parser().try_get_matches_from(["duet", name, "--help"]) {
            Err(help) if !help.use_stderr() => help.to_string(),
            Err(error) => return Err(error.into()),
            Ok(_) => all(),
        },
        None => all(),
    };
    terminal.data(&text)?;
    Ok(ExitCode::OK)
}

fn all() -> String {
    let mut text = format!("{ABOUT}\n");
    let mut group = "";
    for row in TABLE {
        if row.group != group {
            group = row.group;
            // Writing to a string does not fail.
            let _ = writeln!(text, "\n{group}:");
        }
        let summary = (row.augment)(clap::Command::new(row.name))
            .get_about()
            .map(ToString::to_string);
        let summary = summary.unwrap_or_default();
        let _ = writeln!(text, "  {:<12} {}", row.name, summary.trim_end_matches('.'));
    }
    text.push_str(FOOT);
    text
}
