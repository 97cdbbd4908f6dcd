//! Where the variables of a procedure are at each of its instructions, and what its registers hold
//! while one of its calls runs.
//!
//! Nothing of it is kept with compiled code: compiling the same core forms again gives the same
//! instructions, so whoever wants to see a frame compiles its text again.
//! INVARIANT: registers are taken and released in stack order, so the variables in scope at an
//! instruction are those bound before it whose registers nobody has released since.
//! It does not read frames; `machine/inspection.rs` does.

use crate::core::{Core, CoreId, Unit, VariableId};
use crate::datum::{Datum, Name, Span};
use crate::unit::{Block, CompiledUnit};

use super::emitter::Register;
use super::integrate::Copies;

/// What the emitter did to a register before the instruction at an offset of the block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The register holds this from here on.
    Hold(Held, Register),
    /// This register and those above became free.
    Release(Register),
}

/// The content of a register, in terms of the unit that is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// A variable, whose home it is.
    Variable(VariableId),
    /// The value of a form, until the form around it needs it.
    Value(CoreId),
    /// The result of an operation on its first operands, and how many of them follow the first.
    Partial(CoreId, usize),
}

/// The variables of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockVariables {
    /// The procedure expression that it is the code of; none for the body of the unit.
    pub(super) form: Option<CoreId>,
    pub(super) captured: Vec<VariableId>,
    pub(super) steps: Vec<(u32, Step)>,
    /// The calls that have frames of their own.
    pub(super) calls: Vec<(u32, CoreId)>,
    /// Where the instructions of an expression begin that makes a value.
    pub(super) values: Vec<(u32, ValuePlace)>,
    /// The jumps on conditions, with the places of these.
    pub(super) tests: Vec<(u32, Span)>,
}

/// The place of an expression that makes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValuePlace {
    /// The place in the text.
    pub span: Span,
    /// Whether it is the call of a predicate whose truth jumps have made.
    pub is_truth: bool,
}

/// Names a form of the unit before integration: the calls in whose procedures it stands, outermost
/// first, then the form itself.
pub type Place = Vec<CoreId>;

/// The content of a register of a waiting frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A variable, or the cell that holds its value.
    Variable {
        /// The calls in whose integrated procedures it stands, outermost first.
        around: Place,
        /// The variable of the unit before integration.
        variable: VariableId,
        /// Its name in the text.
        name: Name,
        /// Whether a cell holds the value.
        is_in_cell: bool,
        /// Whether some closure has copied it.
        is_captured: bool,
    },
    /// The value of a form, until the form around it needs it.
    Value(Place),
    /// The result of an operation on its first operands, and how many of them follow the first.
    Partial(Place, usize),
}

/// A call whose procedure has a frame of its own, so that the frame of the caller waits for it.
#[derive(Clone, Debug)]
pub struct Site {
    /// The place of its instruction in the unit.
    pub offset: u32,
    /// The number of its block in the unit.
    pub block: usize,
    /// The call.
    pub place: Place,
}

/// Where a value is while a procedure runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Home {
    /// A register of the frame.
    Register(u16),
    /// A captured value of the closure in register 0.
    Captured(u16),
    /// Nowhere: it is this literal, in whose place the parameter of an integrated procedure stood.
    Literal(Datum),
    /// Nowhere: the frame did not keep it.
    Gone,
}

/// A variable in scope.
#[derive(Clone, Debug, PartialEq)]
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
    /// Whether somebody asks; a unit may also have no variables.
    is_noted: bool,
    /// For each block its start, its end and its variables.
    blocks: Vec<(u32, u32, BlockVariables)>,
    copies: Copies,
    /// The integrated calls of the unit: for each the one around it.
    integrated: Vec<Option<u32>>,
    /// The integrated call, if any, that instructions come from: from this offset on, until the
    /// next.
    origins: Vec<(u32, Option<u32>)>,
}

impl UnitVariables {
    /// Nothing yet, about the variables of `unit`.
    pub(super) fn of(unit: &Unit, is_in_cell: impl Fn(VariableId) -> bool) -> Self {
        let variables = (0..).map(VariableId).zip(&unit.variables);
        Self {
            names: variables
                .map(|(id, variable)| (variable.name.clone(), is_in_cell(id)))
                .collect(),
            is_noted: true,
            blocks: Vec::new(),
            copies: Copies::default(),
            integrated: Vec::new(),
            origins: Vec::new(),
        }
    }

    pub(super) fn set_copies(&mut self, copies: Copies) {
        self.copies = copies;
    }

    /// Takes in which instructions of the compiled unit come from integrated calls.
    pub(super) fn set_integrated(&mut self, unit: &CompiledUnit) {
        self.integrated = unit.integrated.iter().map(|call| call.around).collect();
        self.origins.clone_from(&unit.origins);
    }

    /// For a unit of which nobody asks.
    pub(super) fn none() -> Self {
        Self {
            names: Vec::new(),
            is_noted: false,
            blocks: Vec::new(),
            copies: Copies::default(),
            integrated: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// Adds the next block.
    pub(super) fn push(&mut self, block: &Block, variables: BlockVariables) {
        if self.is_noted {
            self.blocks.push((block.start, block.end, variables));
        }
    }

    /// Returns the variables in scope at the instruction at `offset` of the unit, for each
    /// procedure that was active there: those that were integrated, innermost first, then the one
    /// whose block it is. The latter has the captured ones first, then those in registers, outer
    /// ones first. Empty if there is no such instruction.
    pub fn at(&self, offset: u32) -> Vec<Vec<ScopedVariable>> {
        let Some((start, block)) = self.block_at(offset) else {
            return Vec::new();
        };
        let bound = block.held_at(offset - start).into_iter();
        let bound = bound.filter_map(|(register, held)| {
            let Held::Variable(variable) = held else { return None };
            Some((Home::Register(register), variable))
        });
        let captured = (0..)
            .zip(&block.captured)
            .map(|(index, id)| (Home::Captured(index), *id));
        let homes: Vec<(Home, VariableId)> = captured.chain(bound).collect();
        let parameters = self.integrated_at(offset).map(|call| {
            let parameters = self.copies.parameters_of(call).iter();
            let scoped = |(parameter, value): &(VariableId, Core)| self.parameter(*parameter, value, &homes);
            parameters.map(scoped).collect()
        });
        let mut scopes: Vec<Vec<ScopedVariable>> = parameters.collect();
        let own = homes.into_iter().filter(|(_, id)| !self.copies.is_parameter(*id));
        scopes.push(own.map(|(home, id)| self.scoped(home, id)).collect());
        scopes
    }

    /// The integrated calls that an instruction comes from, innermost first.
    fn integrated_at(&self, offset: u32) -> impl Iterator<Item = u32> + '_ {
        let next = self.origins.partition_point(|(start, _)| *start <= offset);
        let innermost = next.checked_sub(1).and_then(|last| self.origins[last].1);
        std::iter::successors(innermost, |call| self.integrated[*call as usize])
    }

    /// A parameter of an integrated procedure, for which a literal or another variable stands.
    fn parameter(&self, parameter: VariableId, value: &Core, homes: &[(Home, VariableId)]) -> ScopedVariable {
        let (name, _) = self.names[parameter.0 as usize].clone();
        if let Core::Local(variable) = value {
            let home = homes.iter().rfind(|(_, id)| id == variable);
            return ScopedVariable {
                name,
                home: home.map_or(Home::Gone, |(home, _)| home.clone()),
                is_in_cell: self.names[variable.0 as usize].1,
            };
        }
        let home = if let Core::Constant(literal) = value {
            Home::Literal(literal.clone())
        } else {
            Home::Gone
        };
        ScopedVariable {
            name,
            home,
            is_in_cell: false,
        }
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

    /// Returns the procedure expression that each block is the code of, for the blocks in the order
    /// of the unit; none for the body. Expressions keep their numbers when calls are integrated.
    pub fn forms(&self) -> Vec<Option<CoreId>> {
        self.blocks.iter().map(|(_, _, block)| block.form).collect()
    }

    /// Lists the calls of the unit that have frames of their own.
    pub fn sites(&self) -> Vec<Site> {
        let of_block = |(number, (start, _, block)): (usize, &(u32, u32, BlockVariables))| {
            let site = |(at, call): &(u32, CoreId)| Site {
                offset: start + at,
                block: number,
                place: self.copies.path_of(*call),
            };
            block.calls.iter().map(site).collect::<Vec<_>>()
        };
        self.blocks.iter().enumerate().flat_map(of_block).collect()
    }

    /// Returns the place of the literal, the variable or the predicate's call whose value the
    /// instruction at `offset` of the unit makes.
    pub fn value_at(&self, offset: u32) -> Option<ValuePlace> {
        let (start, block) = self.block_at(offset)?;
        let after = block.values.partition_point(|(at, _)| start + at <= offset);
        let last = block.values[..after].last();
        last.filter(|(at, _)| start + at == offset).map(|(_, place)| *place)
    }

    /// Returns the place of the condition on which the instruction at `offset` of the unit jumps.
    pub fn test_at(&self, offset: u32) -> Option<Span> {
        let (start, block) = self.block_at(offset)?;
        let known = block.tests.binary_search_by_key(&offset, |(at, _)| start + at);
        known.ok().map(|number| block.tests[number].1)
    }

    fn block_at(&self, offset: u32) -> Option<(u32, &BlockVariables)> {
        let mut blocks = self.blocks.iter();
        let (start, _, block) = blocks.find(|(start, end, _)| (*start..*end).contains(&offset))?;
        Some((*start, block))
    }

    /// Whether a parameter of the procedure that was integrated in the last of some nested calls
    /// has a register of its own, because the call passes neither a literal nor a variable.
    pub fn has_own(&self, calls: &Place, parameter: VariableId) -> bool {
        self.copies.has_own(calls, parameter)
    }

    /// Returns what the registers hold while a call runs, register 0 excepted, which holds the
    /// running procedure.
    pub fn contents_at(&self, site: &Site) -> Vec<(u16, Content)> {
        let (start, _, block) = &self.blocks[site.block];
        let held = block.held_at(site.offset - start);
        held.into_iter()
            .map(|(register, held)| (register, self.content(held)))
            .collect()
    }

    fn content(&self, held: Held) -> Content {
        match held {
            Held::Variable(id) => {
                let (name, is_in_cell) = self.names[id.0 as usize].clone();
                let (around, variable) = self.copies.origin_of(id);
                Content::Variable {
                    around,
                    variable,
                    name,
                    is_in_cell,
                    is_captured: self.blocks.iter().any(|(_, _, block)| block.captured.contains(&id)),
                }
            }
            Held::Value(form) => Content::Value(self.copies.path_of(form)),
            Held::Partial(call, count) => Content::Partial(self.copies.path_of(call), count),
        }
    }

    fn scoped(&self, home: Home, id: VariableId) -> ScopedVariable {
        let (name, is_in_cell) = self.names[id.0 as usize].clone();
        ScopedVariable { name, home, is_in_cell }
    }
}

impl BlockVariables {
    /// What the registers hold at an instruction, in the order in which they took it.
    fn held_at(&self, offset: u32) -> Vec<(Register, Held)> {
        let mut held: Vec<(Register, Held)> = Vec::new();
        for (_, step) in self.steps.iter().take_while(|(at, _)| *at <= offset) {
            match step {
                Step::Hold(what, register) => {
                    held.retain(|(other, _)| other != register);
                    held.push((*register, *what));
                }
                Step::Release(register) => held.retain(|(other, _)| other < register),
            }
        }
        held
    }
}
