//! The machine code of a block, to look at.
//!
//! INVARIANT: the bytes are those that the tier would run if it knew nothing of globals.
//! It runs nothing, and works on every processor.
//! Read next: `machine/native/assembler.rs`.

use super::assembler::{Surroundings, assemble};
use super::processor::X86_64;
use crate::code::CodeSpace;
use crate::value::Value;

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

impl Surroundings for Nothing {
    fn code_word(&self, _: usize) -> Option<Value> {
        None
    }
}

impl MachineCode {
    /// The machine code of the block that a position belongs to. `None` if there is no such block,
    /// or it is too large.
    pub fn of_block(code: &CodeSpace, position: u32) -> Option<MachineCode> {
        let block = code.block_at(position)?;
        let assembly = assemble::<X86_64>(code, (block.start, block.end), 0, &Nothing)?;
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
