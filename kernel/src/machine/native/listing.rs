//! The machine code of a block, to look at.
//!
//! INVARIANT: the bytes are those that the tier would run if it knew nothing of globals.
//! It runs nothing, and works on every processor.
//! Read next: `machine/native/assembler.rs`.

use super::assembler::{KnownGlobals, assemble};
use super::processor::{Aarch64, X86_64};
use crate::code::CodeSpace;
use crate::value::Value;

/// A processor that there are templates for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// 64-bit processors of Intel and AMD.
    X86_64,
    /// 64-bit processors of ARM.
    Aarch64,
}

impl Architecture {
    /// All of them.
    pub const ALL: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];
    /// That of this processor; x86-64 on one that nothing runs on as machine code.
    pub const HOST: Architecture = if cfg!(target_arch = "aarch64") {
        Architecture::Aarch64
    } else {
        Architecture::X86_64
    };
}

/// The machine code of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineCode {
    /// The bytes of each instruction.
    pub instructions: Vec<Vec<u8>>,
    /// The bytes behind them: rare continuations of instructions, and exits to the interpreter.
    pub behind: Vec<u8>,
}

/// Nothing is known but the block.
pub(super) struct Nothing;

impl KnownGlobals for Nothing {
    fn code_word(&self, _: usize) -> Option<Value> {
        None
    }
}

impl MachineCode {
    /// The machine code of the block that a position belongs to, for any processor. `None` if there
    /// is no such block, or it is too large.
    pub fn of_block(code: &CodeSpace, position: u32, architecture: Architecture) -> Option<MachineCode> {
        let block = code.block_at(position)?;
        let range = block.start..block.end;
        let assembly = match architecture {
            Architecture::X86_64 => assemble::<X86_64>(code, range, 0, &Nothing)?,
            Architecture::Aarch64 => assemble::<Aarch64>(code, range, 0, &Nothing)?,
        };
        let ends = assembly.places.iter().skip(1).chain(std::iter::once(&assembly.end));
        let ranges = assembly.places.iter().zip(ends);
        Some(MachineCode {
            instructions: ranges
                .map(|(start, end)| assembly.bytes[*start..*end].to_vec())
                .collect(),
            behind: assembly.bytes[assembly.end..].to_vec(),
        })
    }
}
