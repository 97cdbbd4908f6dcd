//! `duet help`: the commands and what they take.

use std::fmt::Write;

use super::{Row, TABLE, find, unknown};
use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str =
    "Without a command it lists them all. `duet COMMAND --help` does the same as `duet help COMMAND`.";

const HEAD: &str = "Duet is a Scheme for orchestrating agents and tools in which every step can be taken back.\n\n";

const FOOT: &str = "
An address is run/branch@turn, such as review, review@12, review/what-if or /what-if@-3 (three turns before the newest).
What is left out is that of the run used last; of a run, its branch main.

Exit codes: 0 all is well, 1 the program or the command failed, 2 the command was not understood,
3 replay found a difference, 4 the run waits for a person, 130 interrupted.
";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let text = match arguments.word(0) {
        Some(name) => of(find(name).ok_or_else(|| unknown(name))?),
        None => all(),
    };
    terminal.data(&text)?;
    Ok(Code::OK)
}

/// Explains a command.
pub(super) fn of(row: &Row) -> String {
    let Row {
        form, summary, details, ..
    } = row;
    format!("{form}\n\n{summary}.\n\n{details}\n")
}

fn all() -> String {
    let mut text = HEAD.to_owned();
    for row in TABLE {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  duet {:<12} {}", row.form.name, row.summary);
    }
    text.push_str(FOOT);
    text
}
