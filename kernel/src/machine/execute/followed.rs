//! The dispatch while calls of chosen procedures are followed.
//!
//! INVARIANT: it executes the same methods in the same order as the other dispatch, which knows
//! nothing of it.
//! Read next: `../calls.rs`.

use crate::machine::calls::{Calls, Step, jumps, moves_control};

use super::traced::step;
use super::{Flow, Frame, SlowPath};

/// Executes instructions until one stops, and notes the calls and returns.
pub(super) fn interpret(mut frame: Frame, slow: &mut SlowPath<'_>, calls: &mut Calls) -> Frame {
    loop {
        let base_before = frame.base_index();
        let instruction = frame.fetch();
        let mut flow = step(&mut frame, slow, instruction);
        if flow == Flow::Slow {
            (frame, flow) = slow.run_slow_step(frame);
        }
        if flow == Flow::Stop {
            return frame;
        }
        if let Some(opcode) = instruction.opcode().filter(|opcode| moves_control(*opcode)) {
            calls.note(&slow.stepped(&frame, base_before), jumps(opcode));
        }
    }
}

impl SlowPath<'_> {
    /// What has led to this frame.
    pub(super) fn stepped<'a>(&'a self, frame: &'a Frame, base_before: usize) -> Step<'a> {
        Step {
            frame,
            base_before,
            argument_count: self.machine.argument_count,
            remaining: self.machine.remaining,
            heap: self.heap,
            code: self.code,
        }
    }
}
