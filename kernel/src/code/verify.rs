//! Verification of compiled units, so that the machine need not check operands.
//!
//! Owns the rules of well-formed units.
//! INVARIANT: a verified unit cannot make the dispatch read or write outside stack, heap and code,
//! or run past a block's end.
//! It does not judge what code means; that is up to the compiler.
//! Read next: `code/liveness.rs`.

use crate::datum::{Datum, Node};
use crate::instruction::{Description, Instruction, Opcode, Role};
use crate::unit::{Block, CompiledUnit, EXACT_ARITY_MAX, IntegratedCall};
use crate::value::{Immediate, Value};

/// A defect of a unit, with the instruction that has it, counted from the unit's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// The blocks do not follow each other, or there are none.
    Blocks,
    /// The byte code is not an instruction.
    UnknownOpcode(u32),
    /// A register lies outside the frame.
    Register(u32),
    /// A number lies outside the unit's table.
    Table(u32),
    /// A constant that stands for the name of a variable is no symbol.
    VariableName(u32),
    /// A jump leaves its block.
    Jump(u32),
    /// An instruction may not load an immediate of this class, or there is none with this payload.
    Class(u32),
    /// A block may run past its end.
    FallsThrough(u32),
    /// A call whose procedure's body took its place stands in one that comes after it.
    Integrated,
    /// A block captures more than a closure made of it can hold.
    Captures(u32),
}

impl std::fmt::Display for VerifyError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            VerifyError::Blocks => formatter.write_str("its blocks do not follow each other"),
            VerifyError::Integrated => formatter.write_str("its integrated calls are out of order"),
            VerifyError::UnknownOpcode(at) => write!(formatter, "unknown instruction at {at}"),
            VerifyError::Register(at) => write!(formatter, "register outside the frame at {at}"),
            VerifyError::Table(at) => write!(formatter, "number outside its table at {at}"),
            VerifyError::VariableName(at) => write!(formatter, "name that is no symbol at {at}"),
            VerifyError::Jump(at) => write!(formatter, "jump out of its block at {at}"),
            VerifyError::Class(at) => write!(formatter, "class that cannot be loaded at {at}"),
            VerifyError::FallsThrough(at) => write!(formatter, "block without an end at {at}"),
            VerifyError::Captures(at) => write!(formatter, "captured value out of range at {at}"),
        }
    }
}

impl std::error::Error for VerifyError {}

pub(super) fn verify(unit: &CompiledUnit) -> Result<(), VerifyError> {
    let mut end = 0;
    for block in &unit.blocks {
        if block.start != end || block.end <= block.start || block.end as usize > unit.instructions.len() {
            return Err(VerifyError::Blocks);
        }
        verify_block(unit, block)?;
        end = block.end;
    }
    let is_before =
        |(number, call): (usize, &IntegratedCall)| call.around.is_none_or(|around| (around as usize) < number);
    if !unit.integrated.iter().enumerate().all(is_before) {
        return Err(VerifyError::Integrated);
    }
    if unit.blocks.is_empty() || end as usize != unit.instructions.len() {
        return Err(VerifyError::Blocks);
    }
    Ok(())
}

fn verify_block(unit: &CompiledUnit, block: &Block) -> Result<(), VerifyError> {
    let first_registers = block.arity.map_or(1, |arity| 1 + u16::from(arity));
    if block.frame_size < first_registers {
        return Err(VerifyError::Register(block.start));
    }
    for at in block.start..block.end {
        let instruction = unit.instructions[at as usize];
        let row = instruction.description().ok_or(VerifyError::UnknownOpcode(at))?;
        for (field, role) in row.operands {
            verify_operand(unit, block, at, instruction, (instruction.operand(*field), *role))?;
        }
        if row.opcode == Opcode::CheckDefined && !is_symbol(&unit.constants[instruction.w() as usize]) {
            return Err(VerifyError::VariableName(at));
        }
        verify_whole(block, at, instruction, row)?;
    }
    Ok(())
}

fn is_symbol(datum: &Datum) -> bool {
    matches!(datum.node(datum.root), Node::Symbol(_))
}

fn verify_operand(
    unit: &CompiledUnit,
    block: &Block,
    at: u32,
    instruction: Instruction,
    operand: (u32, Role),
) -> Result<(), VerifyError> {
    let (number, role) = operand;
    let frame = u32::from(block.frame_size);
    let within = |limit: usize, error: VerifyError| if (number as usize) < limit { Ok(()) } else { Err(error) };
    match role {
        Role::Out | Role::In => within(frame as usize, VerifyError::Register(at)),
        Role::Window => within(
            (frame as usize).saturating_sub(1 + instruction.d()),
            VerifyError::Register(at),
        ),
        Role::Arguments0 => within(
            (frame as usize + 1).saturating_sub(instruction.d().max(1)),
            VerifyError::Register(at),
        ),
        Role::Captures => {
            let captured = unit
                .blocks
                .get(instruction.w() as usize)
                .map_or(0, |block| block.captured);
            within(
                (frame as usize + 1).saturating_sub(usize::from(captured.max(1))),
                VerifyError::Register(at),
            )
        }
        Role::Constant => within(unit.constants.len(), VerifyError::Table(at)),
        Role::Global => within(unit.globals.len(), VerifyError::Table(at)),
        Role::Block => within(unit.blocks.len(), VerifyError::Table(at)),
        Role::Primitive => within(unit.primitives.len(), VerifyError::Table(at)),
        Role::Target16 | Role::Target32 | Role::Entry => {
            let target = i64::from(at) + 1 + i64::from(instruction.jump_distance().unwrap_or(0));
            if (i64::from(block.start)..i64::from(block.end)).contains(&target) {
                Ok(())
            } else {
                Err(VerifyError::Jump(at))
            }
        }
        Role::Class => {
            let payload = instruction.w();
            let is_known = match number {
                class if class == Immediate::Primitive as u32 => {
                    return within_table(payload, unit.primitives.len(), at);
                }
                class if class == Immediate::Constant as u32 => Value::constant(payload.into()).is_some(),
                class if class == Immediate::Character as u32 => char::from_u32(payload).is_some(),
                _ => false,
            };
            if is_known { Ok(()) } else { Err(VerifyError::Class(at)) }
        }
        Role::Arguments => within(EXACT_ARITY_MAX + 1, VerifyError::Register(at)),
        Role::Count | Role::Spelling | Role::HasRest | Role::Small | Role::Integer | Role::Payload => Ok(()),
    }
}

fn within_table(number: u32, length: usize, at: u32) -> Result<(), VerifyError> {
    if (number as usize) < length {
        Ok(())
    } else {
        Err(VerifyError::Table(at))
    }
}

/// The rules about more than one operand.
fn verify_whole(block: &Block, at: u32, instruction: Instruction, row: &Description) -> Result<(), VerifyError> {
    let frame = usize::from(block.frame_size);
    let looks_at_arity = [Opcode::ArityRest, Opcode::ArityExact, Opcode::ArityClause].contains(&row.opcode);
    let rest_register = match row.opcode == Opcode::ArityClause {
        true => instruction.d().min(1),
        false => usize::from(row.opcode == Opcode::ArityRest),
    };
    let fits = if row.opcode == Opcode::Free {
        instruction.b() < usize::from(block.captured)
    } else if row.opcode == Opcode::CallSelf {
        block.arity.is_some_and(|arity| usize::from(arity) == instruction.d())
    } else {
        !looks_at_arity || (instruction.a() + rest_register < frame && block.arity.is_none())
    };
    if !fits {
        return Err(VerifyError::Captures(at));
    }
    if at + 1 == block.end && !ends_block(row.opcode) {
        return Err(VerifyError::FallsThrough(at));
    }
    Ok(())
}

/// Whether control never goes on to the next instruction.
pub(super) fn ends_block(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Jump
            | Opcode::Loop
            | Opcode::TailCall
            | Opcode::TailCallGlobal
            | Opcode::Return
            | Opcode::ArityFail
            | Opcode::Underflow
            | Opcode::Apply
            | Opcode::CallWithContinuation
            | Opcode::EnterContinuation
            | Opcode::Throw
            | Opcode::CallWithPrompt
            | Opcode::AbortToPrompt
            | Opcode::CallWithComposable
            | Opcode::ResumeComposable
            | Opcode::AbortWithContinuation
            | Opcode::CallTraced
            | Opcode::CallWithResults
            | Opcode::Uncaught
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datum::Name;

    /// A unit whose only procedure checks its parameter, which `name` names.
    fn checking(name: Datum) -> CompiledUnit {
        let mut unit = CompiledUnit::empty(Name::from("(checking)"));
        unit.constants.push(name);
        unit.instructions = vec![
            Instruction::daw(Opcode::CheckDefined, 0, 1, 0),
            Instruction::abc(Opcode::Return, 1, 0, 0),
        ];
        unit.blocks.push(Block {
            name: None,
            start: 0,
            end: 2,
            frame_size: 2,
            arity: Some(1),
            captured: 0,
        });
        unit
    }

    #[test]
    fn the_name_of_a_checked_variable_is_a_symbol() {
        assert_eq!(verify(&checking(Datum::symbol(Name::from("x")))), Ok(()));
        for other in [Node::Boolean(true), Node::String("x".into())] {
            let error = Err(VerifyError::VariableName(0));
            assert_eq!(verify(&checking(Datum::of(other))), error);
        }
    }
}
