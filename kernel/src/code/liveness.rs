//! Liveness: the registers that the code reads after each instruction of a block, by a backward
//! analysis of the loaded code.
//!
//! Owns the maps of a block, which are computed when first asked for. Maps in units would need the
//! same analysis to verify them, would enter every unit's hash, and would cost each start;
//! instructions that clear registers would cost programs that never collect.
//! INVARIANT: a register that some path from an instruction reads before it writes is in the
//! instruction's map; the operands' roles in the instruction table say what is read.
//! It does not clear registers.
//! Read next: `heap/frames.rs`.

use super::verify::ends_block;
use crate::instruction::{Instruction, Opcode, Role};

/// Blocks whose maps need more words than this keep all registers alive.
const MAP_WORDS_MAX: usize = 64 * 1024;
/// Blocks whose loops need more sweeps than this keep all registers alive.
const SWEEPS_MAX: usize = 64;

/// The maps of one block.
#[derive(Clone, Debug)]
pub(super) struct Liveness {
    words_each: usize,
    maps: Vec<u64>,
}

/// The effect of an instruction on registers and control.
struct Effect {
    written: Option<usize>,
    /// Ranges of registers that are read: first and count.
    read: [(usize, usize); 3],
    /// The instruction it may jump to.
    target: Option<usize>,
    goes_on: bool,
}

impl Liveness {
    /// The maps of a verified block; `captured` gives the number of values that closures over a
    /// block capture.
    pub(super) fn of(
        instructions: &[Instruction],
        frame_size: usize,
        captured: impl Fn(usize) -> usize,
    ) -> Option<Liveness> {
        let words_each = frame_size.div_ceil(64).max(1);
        if instructions.len() * words_each > MAP_WORDS_MAX {
            return None;
        }
        let effects: Vec<Effect> = instructions
            .iter()
            .enumerate()
            .map(|(at, instruction)| Effect::of(*instruction, at, &captured))
            .collect();
        let mut maps = vec![0; instructions.len() * words_each];
        let has_settled = (0..SWEEPS_MAX).any(|_| !sweep(&effects, &mut maps, words_each));
        has_settled.then_some(Liveness { words_each, maps })
    }

    /// The map of the instruction at `offset` from the block's first.
    pub(super) fn at(&self, offset: usize) -> &[u64] {
        &self.maps[offset * self.words_each..][..self.words_each]
    }
}

/// Recomputes every map from those of the instructions after it; returns whether any has changed.
fn sweep(effects: &[Effect], maps: &mut [u64], words_each: usize) -> bool {
    let mut live = vec![0; words_each];
    let mut has_changed = false;
    for (at, effect) in effects.iter().enumerate().rev() {
        if !effect.goes_on {
            live.fill(0);
        }
        if let Some(target) = effect.target {
            let target = &maps[target * words_each..][..words_each];
            live.iter_mut().zip(target).for_each(|(word, other)| *word |= other);
        }
        if let Some(register) = effect.written {
            live[register / 64] &= !(1 << (register % 64));
        }
        for register in effect.read.iter().flat_map(|&(first, count)| first..first + count) {
            live[register / 64] |= 1 << (register % 64);
        }
        let map = &mut maps[at * words_each..][..words_each];
        has_changed |= map != live;
        map.copy_from_slice(&live);
    }
    has_changed
}

impl Effect {
    fn of(instruction: Instruction, at: usize, captured: &impl Fn(usize) -> usize) -> Effect {
        let mut effect = Effect {
            written: None,
            read: [(0, 0); 3],
            target: None,
            goes_on: true,
        };
        let Some(row) = instruction.description() else {
            return effect;
        };
        effect.goes_on = !ends_block(row.opcode);
        let mut reads = effect.read.iter_mut();
        let mut read = |first: usize, count: usize| {
            if let Some(place) = reads.next() {
                *place = (first, count);
            }
        };
        if matches!(row.opcode, Opcode::Free | Opcode::CallSelf) {
            read(0, 1);
        }
        if row.opcode == Opcode::ArityRest {
            effect.written = Some(instruction.a() + 1);
        }
        for (field, role) in row.operands {
            let register = instruction.operand(*field) as usize;
            match role {
                Role::Out => effect.written = Some(register),
                Role::In => read(register, 1),
                Role::Window => {
                    effect.written = Some(register);
                    let callee = usize::from(!takes_callee_from_elsewhere(row.opcode));
                    read(register + 2 - callee, instruction.d() + callee);
                }
                Role::Arguments0 => {
                    effect.written = Some(register);
                    read(register, instruction.d());
                }
                Role::Captures => {
                    effect.written = Some(register);
                    read(register, captured(instruction.w() as usize));
                }
                Role::Arguments
                | Role::Count
                | Role::Spelling
                | Role::HasRest
                | Role::Small
                | Role::Integer
                | Role::Class
                | Role::Payload
                | Role::Constant
                | Role::Global
                | Role::Block
                | Role::Primitive
                | Role::Target16
                | Role::Target32
                | Role::Entry => {}
            }
        }
        // A call of itself enters the block again, in a frame of its own.
        if row.opcode != Opcode::CallSelf {
            let distance = instruction.jump_distance();
            effect.target = distance.and_then(|distance| (at + 1).checked_add_signed(distance as isize));
        }
        effect
    }
}

/// Whether a call provides the procedure itself and so does not read its place in the window.
fn takes_callee_from_elsewhere(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::CallGlobal | Opcode::TailCallGlobal | Opcode::CallSelf)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which registers of a frame of `frame_size` are live at each instruction.
    fn check(frame_size: usize, instructions: &[Instruction], expected: &[&[usize]]) {
        let liveness = Liveness::of(instructions, frame_size, |_| 2);
        let liveness = liveness.expect("the block is small");
        for (at, expected) in expected.iter().enumerate() {
            let is_live = |register: &usize| liveness.at(at)[register / 64] >> (register % 64) & 1 == 1;
            let live: Vec<usize> = (0..frame_size).filter(is_live).collect();
            assert_eq!(live, *expected, "at {at}");
        }
    }

    #[test]
    fn a_call_reads_its_arguments_and_gives_its_window() {
        let instructions = [
            Instruction::daw(Opcode::CallGlobal, 1, 4, 0),
            Instruction::daw(Opcode::Call, 1, 4, 0),
            Instruction::daw(Opcode::CallSelf, 1, 4, 0),
            Instruction::abc(Opcode::Add, 1, 4, 2),
            Instruction::abc(Opcode::Return, 1, 0, 0),
        ];
        check(
            7,
            &instructions,
            &[&[0, 2, 5, 6], &[0, 2, 5, 6], &[0, 2, 6], &[2, 4], &[1]],
        );
    }

    #[test]
    fn a_loop_keeps_what_its_next_round_reads() {
        let instructions = [
            Instruction::abc(Opcode::JumpIfLessSmall, 1, 5, 3),
            Instruction::abc(Opcode::Move, 1, 2, 0),
            Instruction::abc(Opcode::Move, 2, 3, 0),
            Instruction::daw(Opcode::Loop, 0, 0, (-4i32) as u32),
            Instruction::abc(Opcode::Return, 4, 0, 0),
        ];
        check(
            5,
            &instructions,
            &[&[1, 2, 3, 4], &[2, 3, 4], &[1, 3, 4], &[1, 2, 3, 4], &[4]],
        );
    }

    #[test]
    fn closures_read_their_captures_and_wide_frames_have_wide_maps() {
        let instructions = [
            Instruction::abc(Opcode::Free, 100, 0, 0),
            Instruction::daw(Opcode::Closure, 0, 100, 0),
            Instruction::daw(Opcode::TailCall, 1, 99, 0),
        ];
        check(103, &instructions, &[&[0, 101], &[100, 101], &[100, 101]]);
    }

    #[test]
    fn too_large_a_block_keeps_everything() {
        let instructions = vec![Instruction::abc(Opcode::Return, 0, 0, 0); MAP_WORDS_MAX];
        assert!(Liveness::of(&instructions, 64, |_| 0).is_some());
        assert!(Liveness::of(&instructions, 65, |_| 0).is_none());
    }
}
