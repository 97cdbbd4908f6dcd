//! The unit behind the control primitives: the blocks that they enter and the return points that
//! they need.
//!
//! Owns the instructions of these blocks, and the constants by which the machine knows them.
//! INVARIANT: a code space loads this unit first, so its positions are the same in each; frames of
//! suspended computations may return into it.
//! It does not execute; `machine/control.rs` does.
//! Read next: `code/verify.rs`.

use crate::code::code_word;
use crate::datum::Name;
use crate::instruction::{Instruction, Opcode};
use crate::primitive::{CONTROL_TABLE, ControlBlock, PrimitiveBody};
use crate::unit::{Block, CompiledUnit};
use crate::value::{Immediate, Value};

/// Where a return from the bottom of the stack goes.
pub(crate) const UNDERFLOW_POSITION: u32 = 0;
/// The number of the block that continuations are closures over.
pub(crate) const CONTINUATION_BLOCK: usize = 1;
/// The number of the block that composable continuations are closures over.
pub(crate) const COMPOSABLE_BLOCK: usize = 2;
/// The code words of closures over these two. Their position is their number, because each block up
/// to them is one instruction.
pub(crate) const CONTINUATION_WORD: Value = entry_word(CONTINUATION_BLOCK);
pub(crate) const COMPOSABLE_WORD: Value = entry_word(COMPOSABLE_BLOCK);
/// The number of the first block of [`ControlBlock`]s.
const CONTROL_BLOCKS: usize = 3;
/// The number of blocks.
pub(crate) const BLOCKS: usize = CONTROL_BLOCKS + CONTROL_TABLE.len();

/// Words of a frame of the blocks that continuations are closures over.
const CONTINUATION_FRAME: u16 = 2;

const fn entry_word(position: usize) -> Value {
    code_word(position as u32, CONTINUATION_FRAME, None)
}

/// The number of a control primitive's block.
pub(crate) const fn control_block(block: ControlBlock) -> usize {
    CONTROL_BLOCKS + block as usize
}

/// The primitive of a control block; the primitives of their table are the first.
pub(crate) const fn control_primitive(block: ControlBlock) -> Value {
    Value::immediate(Immediate::Primitive, block as u32, 0)
}

/// Words of the largest frame of the blocks that [`control_entry`] knows.
pub(crate) const CONTROL_FRAME_MAX: usize = 6;

/// Where a call of the primitive of this number goes on, if it is a control primitive that takes
/// `count` arguments.
#[inline(always)]
pub(crate) fn control_entry(number: u32, count: usize) -> Option<usize> {
    const ENTRIES: [ControlEntry; CONTROL_TABLE.len()] = entries();
    let entry = ENTRIES.get(number as usize)?;
    (usize::from(entry.least) <= count && count <= entry.most.into()).then_some(entry.position.into())
}

/// How many arguments a control primitive takes, and where its block begins.
#[derive(Clone, Copy)]
struct ControlEntry {
    least: u8,
    most: u8,
    position: u8,
}

/// The entries of the control primitives, in the order of their table, which is that of their
/// blocks.
const fn entries() -> [ControlEntry; CONTROL_TABLE.len()] {
    let mut entries = [ControlEntry {
        least: 0,
        most: 0,
        position: 0,
    }; CONTROL_TABLE.len()];
    let mut number = 0;
    // The blocks before the first of these are one instruction each.
    let mut position = CONTROL_BLOCKS as u8;
    while number < entries.len() {
        let primitive = &CONTROL_TABLE[number];
        entries[number] = ControlEntry {
            least: primitive.least,
            most: match primitive.most {
                Some(most) => most,
                None => u8::MAX,
            },
            position,
        };
        position += match primitive.body {
            PrimitiveBody::Control(ControlBlock::CallWithValues) => 3,
            PrimitiveBody::Control(_) | PrimitiveBody::Function(_) | PrimitiveBody::Host => 1,
        };
        number += 1;
    }
    entries
}

/// A primitive that returns its only argument: `values`, by its position in the kernel's table.
pub(crate) fn returner() -> Value {
    Value::immediate(Immediate::Primitive, crate::primitive::VALUES_POSITION, 0)
}

/// The unit.
pub(crate) fn unit() -> CompiledUnit {
    let plain = |opcode| vec![Instruction::abc(opcode, 0, 0, 0)];
    let mut unit = CompiledUnit::empty(Name("(duet machine)".into()));
    let mut add = |name: &str, (frame_size, captured): (u16, u16), arity: Option<u8>, code: Vec<Instruction>| {
        let start = unit.instructions.len() as u32;
        unit.instructions.extend(code);
        unit.blocks.push(Block {
            name: Some(Name(name.into())),
            start,
            end: unit.instructions.len() as u32,
            frame_size,
            arity,
            captured,
        });
    };
    add("underflow", (2, 0), Some(0), plain(Opcode::Underflow));
    for name in ["continuation", "composable-continuation"] {
        add(name, (CONTINUATION_FRAME, 3), None, plain(Opcode::EnterContinuation));
    }
    for (primitive, (frame_size, opcode)) in CONTROL_TABLE.iter().zip(CONTROL_CODE) {
        let code = if opcode == Opcode::CallWithResults {
            call_with_values()
        } else {
            plain(opcode)
        };
        let arity = primitive.most.filter(|most| *most == primitive.least);
        add(primitive.name, (frame_size, 0), arity, code);
    }
    unit
}

/// Words of the frame and the last instruction of each control primitive's block, in the order of
/// their table.
const CONTROL_CODE: [(u16, Opcode); CONTROL_TABLE.len()] = [
    (3, Opcode::Apply),
    (4, Opcode::CallWithContinuation),
    (4, Opcode::Throw),
    (6, Opcode::CallWithPrompt),
    (4, Opcode::AbortToPrompt),
    (4, Opcode::CallWithComposable),
    (4, Opcode::ResumeComposable),
    (6, Opcode::CallWithResults),
    (3, Opcode::Uncaught),
    (5, Opcode::AbortWithContinuation),
    (4, Opcode::CallTraced),
];

/// Calls the producer in a window at 3, then the consumer with what it returned.
fn call_with_values() -> Vec<Instruction> {
    vec![
        Instruction::abc(Opcode::Move, 4, 1, 0),
        Instruction::daw(Opcode::Call, 0, 3, 0),
        Instruction::abc(Opcode::CallWithResults, 2, 3, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuations_have_the_words_of_their_blocks() {
        let code = crate::code::CodeSpace::new(&[]);
        for (number, word) in [
            (CONTINUATION_BLOCK, CONTINUATION_WORD),
            (COMPOSABLE_BLOCK, COMPOSABLE_WORD),
        ] {
            assert_eq!(code.block(number).code_word, word);
        }
    }

    #[test]
    fn entries_are_where_the_blocks_start() {
        let blocks = unit().blocks;
        for (number, primitive) in CONTROL_TABLE.iter().enumerate() {
            let PrimitiveBody::Control(block) = primitive.body else {
                panic!("{} is in the wrong table", primitive.name)
            };
            let (start, frame_size) = (
                blocks[control_block(block)].start,
                blocks[control_block(block)].frame_size,
            );
            let entry = control_entry(number as u32, primitive.least.into());
            assert!(entry.is_none_or(|entry| entry == start as usize), "{}", primitive.name);
            assert!(
                entry.is_none() || usize::from(frame_size) <= CONTROL_FRAME_MAX,
                "{}",
                primitive.name
            );
            assert!(
                control_entry(number as u32, usize::from(primitive.least) - 1).is_none(),
                "{}",
                primitive.name
            );
        }
        assert!(control_entry(crate::primitive::VALUES_POSITION, 1).is_none());
    }
}
