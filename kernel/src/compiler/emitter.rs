//! Assembles one procedure: instructions, labels, registers and spans.
//!
//! INVARIANT: registers are taken and released in stack order, so registers at or above a call's
//! window are dead during the call.
//! It knows no core forms.
//! Read next: `compiler/expression.rs`.

use std::collections::BTreeMap;

use crate::core::{CoreId, VariableId};
use crate::datum::Span;
use crate::instruction::{Instruction, Opcode};
use crate::unit::Mark;

use super::CompileError;
use super::variables::{BlockVariables, Held, Step, ValuePlace};

/// A register of the frame being compiled.
pub(super) type Register = u16;

/// A place in the code that jumps may name before its offset is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(usize);

/// The home of a variable's value (or its cell) while its procedure runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A register.
    Register(Register),
    /// A captured value of the running closure.
    Captured(u16),
}

/// A loop of the running procedure: the registers of its parameters, and the start of its body once
/// it has been generated.
#[derive(Clone, Debug)]
pub(super) struct LoopState {
    pub(super) parameters: Vec<Register>,
    pub(super) label: Option<Label>,
    /// The first register that is free in the body.
    pub(super) base: Register,
}

/// The source of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) span: Span,
    /// The integrated call it belongs to, by its index in the unit's list.
    pub(super) integrated: Option<u32>,
}

pub(super) struct Emitter {
    instructions: Vec<Instruction>,
    places: Vec<(u32, Origin)>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
    has_long_jumps: bool,
    next: u32,
    most: u32,
    pub(super) locations: BTreeMap<VariableId, Location>,
    pub(super) loops: BTreeMap<VariableId, LoopState>,
    /// The global or variable that holds the procedure being compiled, and its arity, when calls of
    /// it may jump straight to its start.
    pub(super) own: Option<OwnProcedure>,
    /// Whether the block is the unit's body, which is evaluated once.
    pub(super) is_body: bool,
    /// What happens to registers, if somebody wants to know.
    variables: Option<BlockVariables>,
}

/// A way in which the running procedure can refer to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnProcedure {
    pub(super) name: OwnName,
    /// The number of arguments of a direct call; `None` if the entry has to check it.
    pub(super) arity: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnName {
    Global(u32),
    Variable(VariableId),
}

impl Emitter {
    pub(super) fn new(has_long_jumps: bool, notes_variables: bool) -> Emitter {
        Emitter {
            instructions: Vec::new(),
            places: Vec::new(),
            labels: Vec::new(),
            jumps: Vec::new(),
            has_long_jumps,
            // Register 0 holds the running procedure.
            next: 1,
            most: 1,
            locations: BTreeMap::new(),
            loops: BTreeMap::new(),
            own: None,
            is_body: false,
            variables: notes_variables.then(BlockVariables::default),
        }
    }

    /// Returns the first free register.
    pub(super) fn next(&self) -> Register {
        self.next as Register
    }

    /// Takes the first free register.
    pub(super) fn take(&mut self) -> Result<Register, CompileError> {
        self.take_many(1)
    }

    /// Takes `count` registers in a row and returns the first.
    pub(super) fn take_many(&mut self, count: usize) -> Result<Register, CompileError> {
        let first = self.next;
        self.next += u32::try_from(count).map_err(|_| CompileError::TooManyRegisters)?;
        self.most = self.most.max(self.next);
        if self.most > REGISTERS_MAX {
            return Err(CompileError::TooManyRegisters);
        }
        Ok(first as Register)
    }

    /// Releases every register from `register` on.
    pub(super) fn release_to(&mut self, register: Register) {
        self.next = register.into();
        self.note(Step::Release(register));
    }

    /// Makes a register or a captured value the home of a variable.
    pub(super) fn settle(&mut self, variable: VariableId, location: Location) {
        self.locations.insert(variable, location);
        match location {
            Location::Register(register) => self.note(Step::Hold(Held::Variable(variable), register)),
            Location::Captured(_) => {
                if let Some(variables) = &mut self.variables {
                    variables.captured.push(variable);
                }
            }
        }
    }

    /// Notes the content of a register that is the home of no variable.
    pub(super) fn hold(&mut self, held: Held, register: Register) {
        self.note(Step::Hold(held, register));
    }

    /// Notes that the block is the code of this procedure expression.
    pub(super) fn note_procedure(&mut self, id: CoreId) {
        if let Some(variables) = &mut self.variables {
            variables.form = Some(id);
        }
    }

    /// Notes that the next instruction is this call.
    pub(super) fn note_call(&mut self, id: CoreId) {
        let offset = self.instructions.len() as u32;
        if let Some(variables) = &mut self.variables {
            variables.calls.push((offset, id));
        }
    }

    /// Notes that the next instructions begin to make the value of an expression.
    pub(super) fn note_value(&mut self, place: ValuePlace) {
        let offset = self.instructions.len() as u32;
        if let Some(variables) = &mut self.variables {
            variables.values.push((offset, place));
        }
    }

    /// Notes that the next instruction tests the value of the expression at a place.
    pub(super) fn note_test(&mut self, span: Span) {
        let offset = self.instructions.len() as u32;
        if let Some(variables) = &mut self.variables {
            variables.tests.push((offset, span));
        }
    }

    fn note(&mut self, step: Step) {
        let offset = self.instructions.len() as u32;
        if let Some(variables) = &mut self.variables {
            variables.steps.push((offset, step));
        }
    }

    /// Returns what was noted of the variables.
    pub(super) fn take_variables(&mut self) -> BlockVariables {
        self.variables.take().unwrap_or_default()
    }

    pub(super) fn frame_size(&self) -> Result<u16, CompileError> {
        // One more word, so that the return point of a window just past the registers is inside the
        // frame.
        u16::try_from(self.most + 1).map_err(|_| CompileError::TooManyRegisters)
    }

    /// Sets the source of the instructions that follow.
    pub(super) fn at(&mut self, place: Origin) {
        let offset = self.instructions.len() as u32;
        match self.places.last_mut() {
            Some((_, last)) if *last == place => {}
            Some((start, last)) if *start == offset => *last = place,
            Some(_) | None => self.places.push((offset, place)),
        }
    }

    /// Marks a place of counted code.
    pub(super) fn mark(&mut self, mark: Mark, place: Origin) {
        self.at(place);
        self.emit(mark.instruction());
    }

    pub(super) fn emit(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
    }

    pub(super) fn abc(&mut self, opcode: Opcode, a: Register, b: Register, c: Register) {
        self.emit(Instruction::abc(opcode, a, b, c));
    }

    pub(super) fn aw(&mut self, opcode: Opcode, a: Register, w: u32) {
        self.emit(Instruction::daw(opcode, 0, a, w));
    }

    pub(super) fn move_to(&mut self, target: Register, source: Register) {
        if target != source {
            self.abc(Opcode::Move, target, source, 0);
        }
    }

    pub(super) fn new_label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts `label` here.
    pub(super) fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.instructions.len());
    }

    /// Returns the distance to the start of the block.
    pub(super) fn distance_to_start(&self) -> u32 {
        (-(self.instructions.len() as i64) - 1) as i32 as u32
    }

    /// Emits a jump with a 32-bit distance.
    pub(super) fn jump(&mut self, opcode: Opcode, a: Register, target: Label) {
        self.jump_clause(opcode, 0, a, target);
    }

    pub(super) fn jump_clause(&mut self, opcode: Opcode, d: u8, a: Register, target: Label) {
        self.jumps.push((self.instructions.len(), target));
        self.emit(Instruction::daw(opcode, d, a, 0));
    }

    /// Emits a comparing jump with a 16-bit distance, or its opposite over a long jump.
    pub(super) fn compare_jump(
        &mut self,
        opcodes: (Opcode, Opcode),
        operands: (Register, Register),
        spelling: u8,
        target: Label,
    ) {
        let ((opcode, opposite), (a, b)) = (opcodes, operands);
        if self.has_long_jumps {
            self.emit(Instruction::abc(opposite, a, b, 1).with_d(spelling));
            self.jump(Opcode::Jump, 0, target);
        } else {
            self.jumps.push((self.instructions.len(), target));
            self.emit(Instruction::abc(opcode, a, b, 0).with_d(spelling));
        }
    }

    /// Fills in the distances of all jumps.
    pub(super) fn resolve(&mut self) -> Result<(), CompileError> {
        for (position, label) in std::mem::take(&mut self.jumps) {
            let target = self.labels[label.0].unwrap_or(self.instructions.len());
            let distance = target as i64 - position as i64 - 1;
            let instruction = self.instructions[position];
            self.instructions[position] = if is_short_jump(instruction) {
                let short = i16::try_from(distance).map_err(|_| CompileError::JumpTooLong)?;
                instruction.with_c(short as u16)
            } else {
                let long = i32::try_from(distance).map_err(|_| CompileError::TooLarge)?;
                instruction.with_w(long as u32)
            };
        }
        Ok(())
    }

    pub(super) fn into_code(self) -> (Vec<Instruction>, Vec<(u32, Origin)>) {
        (self.instructions, self.places)
    }
}

/// Less than 65,536, so that a window fits above the last register.
const REGISTERS_MAX: u32 = 65_000;

fn is_short_jump(instruction: Instruction) -> bool {
    instruction
        .description()
        .and_then(|row| row.operands.last())
        .is_some_and(|(_, role)| *role == crate::instruction::Role::Target16)
}
