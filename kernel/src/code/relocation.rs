//! Relocation: a unit's own numbers become the code space's, and the other way round.
//!
//! INVARIANT: a unit that was loaded comes out with the bytes that it had, so its hash stays its
//! name.
//! It does not load; `code.rs` does.

use std::collections::BTreeMap;

use super::{ARITY_AT_ENTRY, CodeSpace, LoadedBlock, LoadedUnit};
use crate::instruction::{Field, Instruction, Opcode, Role};
use crate::unit::{Block, CompiledUnit};
use crate::value::Immediate;

/// The offsets and tables that turn a unit's numbers into the space's.
pub(super) struct Relocation {
    pub(super) primitives: Vec<u32>,
    pub(super) constants: u32,
    pub(super) blocks: u32,
    pub(super) globals: Vec<u32>,
}

impl Relocation {
    pub(super) fn apply(&self, instruction: Instruction) -> Instruction {
        renumbered(instruction, |table, number| match table {
            Table::Constants => number + self.constants,
            Table::Globals => self.globals[number as usize],
            Table::Blocks => number + self.blocks,
            Table::Primitives => self.primitives[number as usize],
        })
    }
}

/// The inverse of a [`Relocation`].
struct Inverse {
    primitives: BTreeMap<u32, u32>,
    constants: u32,
    blocks: u32,
    globals: BTreeMap<u32, u32>,
}

impl Inverse {
    fn of(unit: &LoadedUnit) -> Self {
        let places = |numbers: &[u32]| numbers.iter().copied().zip(0..).collect();
        Self {
            primitives: places(&unit.primitives),
            constants: unit.constants.start,
            blocks: unit.entry_block as u32,
            globals: places(&unit.globals),
        }
    }

    fn apply(&self, instruction: Instruction) -> Option<Instruction> {
        let mut is_whole = true;
        let mut place = |places: &BTreeMap<u32, u32>, number: u32| {
            let place = places.get(&number).copied();
            is_whole &= place.is_some();
            place.unwrap_or(number)
        };
        let own = renumbered(instruction, |table, number| match table {
            Table::Constants => number.wrapping_sub(self.constants),
            Table::Globals => place(&self.globals, number),
            Table::Blocks => number.wrapping_sub(self.blocks),
            Table::Primitives => place(&self.primitives, number),
        });
        is_whole.then_some(own)
    }
}

/// A table to which an operand points.
enum Table {
    Constants,
    Globals,
    Blocks,
    Primitives,
}

/// Changes the numbers of an instruction that point to tables.
fn renumbered(instruction: Instruction, mut number: impl FnMut(Table, u32) -> u32) -> Instruction {
    let Some(row) = instruction.description() else {
        return instruction;
    };
    let is_primitive =
        instruction.opcode() == Some(Opcode::Immediate) && instruction.d() == Immediate::Primitive as usize;
    row.operands.iter().fold(instruction, |instruction, (field, role)| {
        let table = match (field, role) {
            (Field::w, Role::Constant) => Table::Constants,
            (Field::w, Role::Global) => Table::Globals,
            (Field::w, Role::Block) => Table::Blocks,
            (Field::w, Role::Primitive) => Table::Primitives,
            (Field::w, Role::Payload) if is_primitive => Table::Primitives,
            _ => return instruction,
        };
        instruction.with_w(number(table, instruction.w()))
    })
}

impl CodeSpace {
    /// Returns a loaded unit as it was before loading, by its number.
    pub fn compiled(&self, number: usize) -> Option<CompiledUnit> {
        let unit = self.units.get(number)?;
        let inverse = Inverse::of(unit);
        let instructions = &self.instructions[unit.start as usize..unit.end as usize];
        let blocks = self.blocks[unit.entry_block..].iter();
        let mut constants = self.constants[unit.constants.start as usize..unit.constants.end as usize].to_vec();
        if unit.is_apart {
            // The mark of the instances that have linked the unit.
            constants.pop();
        }
        let compiled = CompiledUnit {
            name: unit.name.clone(),
            instructions: instructions
                .iter()
                .map(|instruction| inverse.apply(*instruction))
                .collect::<Option<_>>()?,
            blocks: blocks
                .take_while(|block| block.start < unit.end)
                .map(|block| own_block(block, unit.start))
                .collect(),
            constants,
            globals: unit
                .globals
                .iter()
                .map(|number| self.globals[*number as usize].clone())
                .collect(),
            primitives: unit
                .primitives
                .iter()
                .map(|number| self.primitives[*number as usize].name.into())
                .collect(),
            spans: own_offsets(&unit.spans, unit.start),
            integrated: unit.integrated.clone(),
            origins: own_offsets(&unit.origins, unit.start),
        };
        (compiled.hash() == unit.hash).then_some(compiled)
    }
}

fn own_block(block: &LoadedBlock, start: u32) -> Block {
    let arity = (block.code_word.detail() & 0xff) as u8;
    Block {
        name: block.name.clone(),
        start: block.start - start,
        end: block.end - start,
        frame_size: block.frame_size,
        arity: (arity != ARITY_AT_ENTRY).then_some(arity),
        captured: block.captured,
    }
}

fn own_offsets<T: Copy>(rows: &[(u32, T)], start: u32) -> Vec<(u32, T)> {
    rows.iter().map(|(position, what)| (position - start, *what)).collect()
}
