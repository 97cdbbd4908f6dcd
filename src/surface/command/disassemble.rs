//! `duet disassemble`: prints a program's instructions.

use std::path::PathBuf;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::machine::{Architecture, MachineCode};
use duet_kernel::unit::{Block, CompiledUnit};
use duet_runtime::scheme::host;

use crate::surface::command::expand;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;

/// Shows a program's instructions.
///
/// One line is one instruction, behind its offset, grouped by procedure. The libraries that the
/// program needs are not shown.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The program.
    file: PathBuf,
    /// Shows under each instruction the bytes of its machine code for this processor, x86-64 or
    /// aarch64, and under the last of a procedure those of rare cases and of the exits to the
    /// interpreter.
    #[arg(long)]
    native: bool,
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
        let number = code.load(&compiled).map_err(|error| failed(&error))?;
        program = Some((compiled, code.units()[number].start));
    }
    if let Some((program, start)) = program {
        let text = match arguments.native {
            true => with_machine_code(&program, &code, start),
            false => program.to_string(),
        };
        terminal.data(text)?;
    }
    Ok(ExitCode::OK)
}

/// The listing of a unit that is loaded at `start`, with the bytes of its machine code.
fn with_machine_code(unit: &CompiledUnit, code: &CodeSpace, start: u32) -> String {
    let blocks: Vec<Option<MachineCode>> = unit
        .blocks
        .iter()
        .map(|block| MachineCode::of_block(code, start + block.start, Architecture::HOST))
        .collect();
    let note = |offset: usize| {
        let place = |block: &&Block| (block.start as usize..block.end as usize).contains(&offset);
        let number = unit.blocks.iter().position(|block| place(&block))?;
        let (block, machine_code) = (&unit.blocks[number], blocks[number].as_ref()?);
        let mut text = hexadecimal(machine_code.instructions.get(offset - block.start as usize)?);
        if offset + 1 == block.end as usize && !machine_code.behind.is_empty() {
            text.push_str("behind:\n");
            text.push_str(&hexadecimal(&machine_code.behind));
        }
        Some(text)
    };
    unit.noted(&note).to_string()
}

/// Bytes in lines of sixteen.
fn hexadecimal(bytes: &[u8]) -> String {
    let line = |bytes: &[u8]| {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.join(" ") + "\n"
    };
    bytes.chunks(16).map(line).collect()
}
