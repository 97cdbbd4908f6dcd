//! `duet disassemble`: a program's instructions.

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_runtime::scheme::host;

use crate::arguments::Arguments;
use crate::command::expand;
use crate::failure::{Code, Failure};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str =
    "One line is one instruction, behind its offset, grouped by procedure. The libraries that it needs are not shown.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let mut code = CodeSpace::new(&host::primitives());
    let units = expand::units(arguments, &code, terminal)?;
    let mut program = None;
    for unit in &units {
        let failed = |error: &(dyn std::error::Error + 'static)| {
            Failure::caused(format!("{} cannot be compiled", unit.name), error)
        };
        let compiled = compile(unit, &code).map_err(|error| failed(&error))?;
        code.load(&compiled).map_err(|error| failed(&error))?;
        program = Some(compiled);
    }
    if let Some(program) = program {
        terminal.data(&program.to_string())?;
    }
    Ok(Code::OK)
}
