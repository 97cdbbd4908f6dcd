//! Where the variables of a procedure are at each of its instructions.
//!
//! Nothing of it is kept with compiled code: compiling the same core forms again gives the same
//! instructions, so whoever wants to see a frame compiles its text again.
//! INVARIANT: registers are taken and released in stack order, so the variables in scope at an
//! instruction are those bound before it whose registers nobody has released since.
//! It does not read frames; `machine/inspection.rs` does.

use crate::core::{Unit, VariableId};
use crate::datum::Name;
use crate::unit::Block;

use super::emitter::Register;

/// What the emitter did to a register before the instruction at an offset of the block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The register became the home of a variable.
    Bind(VariableId, Register),
    /// This register and those above became free.
    Release(Register),
}

/// The variables of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockVariables {
    pub(super) captured: Vec<VariableId>,
    pub(super) steps: Vec<(u32, Step)>,
}

/// Where a value is while a procedure runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// A register of the frame.
    Register(u16),
    /// A captured value of the closure in register 0.
    Captured(u16),
}

/// A variable in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedVariable {
    /// Its name in the text; not unique, for inner bindings hide outer ones of that name.
    pub name: Name,
    /// Where its value is, or the cell that holds it.
    pub home: Home,
    /// Whether a cell holds the value.
    pub is_in_cell: bool,
}

/// The variables of a unit.
#[derive(Clone, Debug)]
pub struct UnitVariables {
    /// The names of all variables, and whether each is in a cell.
    names: Vec<(Name, bool)>,
    /// For each block its start, its end and its variables.
    blocks: Vec<(u32, u32, BlockVariables)>,
}

impl UnitVariables {
    /// Nothing yet, about the variables of `unit`.
    pub(super) fn of(unit: &Unit, is_in_cell: impl Fn(VariableId) -> bool) -> Self {
        let variables = (0..).map(VariableId).zip(&unit.variables);
        Self {
            names: variables
                .map(|(id, variable)| (variable.name.clone(), is_in_cell(id)))
                .collect(),
            blocks: Vec::new(),
        }
    }

    /// For a unit of which nobody asks.
    pub(super) fn none() -> Self {
        Self {
            names: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Adds the next block.
    pub(super) fn push(&mut self, block: &Block, variables: BlockVariables) {
        if !self.names.is_empty() {
            self.blocks.push((block.start, block.end, variables));
        }
    }

    /// Returns the variables in scope at the instruction at `offset` of the unit: the captured ones
    /// first, then those in registers, outer ones first. Empty if there is no such instruction.
    pub fn at(&self, offset: u32) -> Vec<ScopedVariable> {
        let mut blocks = self.blocks.iter();
        let Some((start, _, block)) = blocks.find(|(start, end, _)| (*start..*end).contains(&offset)) else {
            return Vec::new();
        };
        let mut bound: Vec<(Register, VariableId)> = Vec::new();
        for (_, step) in block.steps.iter().take_while(|(at, _)| start + at <= offset) {
            match step {
                Step::Bind(variable, register) => {
                    bound.retain(|(other, _)| other != register);
                    bound.push((*register, *variable));
                }
                Step::Release(register) => bound.retain(|(other, _)| other < register),
            }
        }
        let captured = (0..)
            .zip(&block.captured)
            .map(|(index, id)| (Home::Captured(index), *id));
        let bound = bound.into_iter().map(|(register, id)| (Home::Register(register), id));
        captured.chain(bound).map(|(home, id)| self.scoped(home, id)).collect()
    }

    /// Returns the variables that the closures over each block capture, with their homes in the
    /// closure, for the blocks in the order of the unit.
    pub fn captured(&self) -> Vec<Vec<ScopedVariable>> {
        let of_block = |(_, _, block): &(u32, u32, BlockVariables)| {
            let captured = (0..).zip(&block.captured);
            captured
                .map(|(index, id)| self.scoped(Home::Captured(index), *id))
                .collect()
        };
        self.blocks.iter().map(of_block).collect()
    }

    fn scoped(&self, home: Home, id: VariableId) -> ScopedVariable {
        let (name, is_in_cell) = self.names[id.0 as usize].clone();
        ScopedVariable { name, home, is_in_cell }
    }
}
