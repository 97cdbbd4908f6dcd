//! `duet help`: prints the list of commands, or the help of one.

use std::fmt::Write;

use super::{TABLE, parser};
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;

/// Lists the commands, or explains one.
///
/// `duet COMMAND --help` prints the same as `duet help COMMAND`, and `duet COMMAND -h` a short
/// form. `duet help address` and `duet help exit-codes` explain what all commands share.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The command, or the topic `address` or `exit-codes`.
    command: Option<String>,
}

pub(super) const ABOUT: &str =
    "Duet is a Scheme for orchestrating agents and tools in which every step can be taken back.";

const FOOT: &str = "
`duet help COMMAND` explains a command; `duet FILE` runs a program.

An address is run/branch@turn, such as review, review@12, review/what-if or /what-if@-3 (three turns
before the newest). Without a run it means the branch used last; without a branch, the branch main.
`duet help address` says more.

Exit codes: 0 success, 1 the program or the command failed, 2 usage error, 3 replay found a
difference, 4 the run waits for a person, 130 interrupted (Ctrl-C), 143 asked to end (SIGTERM).
";

/// What all commands share, by the word after `duet help`.
pub(super) const TOPICS: [(&str, &str); 2] = [
    (
        "address",
        "\
An address names a turn, as run/branch@turn. Each part may be left out.

  review             the newest turn of the branch main of review
  review@12          turn 12 of that branch
  review@-3          three turns before the newest
  review@checked     the turn that `duet mark review@7 checked` has named
  review/what-if     the newest turn of another branch
  review/what-if@12  turn 12 of it
  /what-if           that branch of the run used last
  @12                turn 12 of the branch used last

Without a run, an address means the branch used last, or the only run of the journal; with a run and
no branch, its branch main. `duet runs` lists runs and branches, `duet log ADDRESS` the turns up to
one. Where a command takes a range of turns, it is written review@4..9.

A branch that keeps what `duet goto` leaves is called after the branch and its newest turn, such as
main.12 (with a dot): `duet gc` may remove it. A branch that you begin has the name that you give
it; without one, `duet amend` calls it after the turn that it changes, such as main-12 (with a
hyphen).
",
    ),
    (
        "exit-codes",
        "\
  0    success
  1    the program or the command failed
  2    usage error: nothing was done
  3    replay found a difference
  4    the run waits for a person, an approval or a signal
  130  interrupted (Ctrl-C)
  143  asked to end (SIGTERM)

A program that calls (exit N) ends `duet run` with N.
",
    ),
];

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let text = match &arguments.command {
        Some(name) => about(name)?,
        None => all(),
    };
    terminal.data(&text)?;
    Ok(ExitCode::OK)
}

fn about(name: &str) -> Result<String, CommandError> {
    if let Some((_, text)) = TOPICS.iter().find(|(topic, _)| *topic == name) {
        return Ok((*text).to_owned());
    }
    match parser().try_get_matches_from(["duet", name, "--help"]) {
        Err(help) if !help.use_stderr() => Ok(help.to_string()),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(all()),
    }
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
