//! `duet schema`: the JSON Schema of what a command prints with `--json`.

use crate::surface::form::{TABLE, find};
use crate::text::error::{CommandError, ExitCode};
use crate::text::similar::similar;
use crate::text::terminal::Terminal;

/// Prints the JSON Schema of what a command prints with `--json`.
///
/// The schema follows from the type of the command's report, so it holds for everything that the
/// command prints. Its `$id` ends with a version, which grows when a member goes or changes its
/// meaning; members may be added. Values of the program (facts, messages, arguments, results) have
/// the form that policy gives them: a record is an object of `record` and `fields`, a set an array,
/// bytes an object of `bytes` in hexadecimal digits, a symbol a string. Without COMMAND, the names
/// of the commands are listed. `duet mcp` gives clients the same schemas.
///
///   duet schema explain
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The command.
    command: Option<String>,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let names = TABLE.iter().map(|forms| forms.name);
    let Some(name) = &arguments.command else {
        terminal.data(names.map(|name| format!("{name}\n")).collect::<String>())?;
        return Ok(ExitCode::OK);
    };
    let Some(forms) = find(name) else {
        let mut error = CommandError::usage(format!("there is no schema of `{name}`"));
        let near = similar(name, names);
        if !near.is_empty() {
            error = error.advise(format!("did you mean `{}`?", near.join("` or `")));
        }
        return Err(error.advise("`duet schema` lists the commands that have one"));
    };
    terminal.json(&forms.schema())?;
    Ok(ExitCode::OK)
}
