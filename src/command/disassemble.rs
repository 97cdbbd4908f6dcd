//! `duet disassemble`: prints a program's instructions.

use std::path::PathBuf;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_runtime::scheme::host;

use crate::command::expand;
use crate::error::{CommandError, ExitCode};
use crate::terminal::Terminal;

/// Shows a program's instructions.
///
/// One line is one instruction, behind its offset, grouped by procedure. The libraries that the
/// program needs are not shown.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The program.
    file: PathBuf,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let mut code = CodeSpace::new(&host::primitives());
    let units = expand::units(&arguments.file, &code, terminal)?;
    let mut program = None;
    for unit in &units {
        let failed = |error: &(dyn std::error::Error + 'static)| {
            CommandError::caused(format!("{} cannot be compiled", unit.name), error)
        };
        let compiled = compile(unit, &code).map_err(|error| failed(&error))?;
        code.load(&compiled).map_err(|error| failed(&error))?;
        program = Some(compiled);
    }
    if let Some(program) = program {
        terminal.data(program.to_string())?;
    }
    Ok(ExitCode::OK)
}
