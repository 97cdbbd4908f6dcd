//! The dispatch while executed instructions are counted.
//!
//! INVARIANT: it executes the same methods in the same order as the other dispatch, which knows
//! nothing of it.
//! Read next: `../counting.rs`.

use crate::machine::counting::Counts;

use super::traced::step;
use super::{Flow, Frame, SlowPath};

/// Executes instructions until one stops, and counts each.
pub(super) fn interpret(mut frame: Frame, slow: &mut SlowPath<'_>, counts: &mut Counts) -> Frame {
    loop {
        let position = frame.pc();
        let instruction = frame.fetch();
        let mut flow = step(&mut frame, slow, instruction);
        if flow == Flow::Slow {
            (frame, flow) = slow.run_slow_step(frame);
        }
        counts.note(position, frame.pc());
        if flow == Flow::Stop {
            return frame;
        }
    }
}
