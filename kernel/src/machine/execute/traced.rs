//! The dispatch while a computation is traced.
//!
//! INVARIANT: it executes the same methods in the same order as the other dispatch, which knows
//! nothing of it.
//! Read next: `../tracing.rs`.

use crate::instruction::Instruction;
use crate::instruction_table;
use crate::machine::tracing::Trace;

use super::{Flow, Frame, SlowPath};

macro_rules! declare_step {
    ($(
        $name:ident = $code:literal, $method:ident, $mnemonic:literal, [$($operands:tt)*],
        $documentation:literal;
    )*) => {
        /// Executes the instruction that was fetched last.
        pub(super) fn step(frame: &mut Frame, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
            match instruction.code() {
                $($code => frame.$method(slow, instruction),)*
                _ => Frame::no_such_instruction(),
            }
        }
    };
}

instruction_table!(declare_step);

/// Executes instructions until one stops, and notes what each does; without notes once the trace
/// has come to its end.
pub(super) fn interpret(mut frame: Frame, slow: &mut SlowPath<'_>, trace: &mut Trace) -> Frame {
    loop {
        let state = (slow.machine.argument_count, slow.machine.remaining);
        let before = if trace.count() {
            trace.before(&frame, slow.heap, slow.code, state)
        } else {
            None
        };
        let instruction = frame.fetch();
        let mut flow = step(&mut frame, slow, instruction);
        if flow == Flow::Slow {
            (frame, flow) = slow.run_slow_step(frame);
        }
        if let Some(before) = before {
            trace.after(before, &frame, slow.heap, slow.code);
        }
        if flow == Flow::Stop {
            return frame;
        }
    }
}
