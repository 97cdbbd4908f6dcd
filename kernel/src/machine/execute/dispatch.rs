//! The dispatch: how one instruction leads to the next.
//!
//! Owns the table of functions by byte code. In optimised builds each instruction is a function
//! that ends by calling the next one's. Its arguments, the few words that all instructions use,
//! stay in processor registers, and the calls become jumps; fib takes 30 % and tak 38 % less time
//! than with a loop over a `match`, which keeps these words in memory. Rust does not promise the
//! jumps, so builds with debug assertions use the loop, and elsewhere the machine comes back after
//! each slice of fuel.
//! INVARIANT: both ways execute the same methods in the same order.
//! It does not do what instructions do.
//! Read next: `machine/frame.rs`.

use super::{Flow, Frame, SlowPath};
use crate::instruction_table;
use crate::machine::native::{self, COMPILE_CODE, ENTER_CODE, Exit};

#[cfg(debug_assertions)]
macro_rules! declare_dispatch {
    ($(
        $name:ident = $code:literal, $method:ident, $mnemonic:literal, [$($operands:tt)*],
        $documentation:literal;
    )*) => {
        /// Executes instructions until one stops.
        pub(super) fn interpret(mut frame: Frame, slow: &mut SlowPath<'_>) -> Frame {
            loop {
                let mut instruction = frame.fetch();
                let flow = loop {
                    break match instruction.code() {
                        $($code => frame.$method(slow, instruction),)*
                        ENTER_CODE => {
                            frame.step_back();
                            if native::run(&mut frame, slow) == Exit::Stop {
                                break Flow::Stop;
                            }
                            frame.fetch();
                            instruction = slow.original_before(frame);
                            continue;
                        }
                        COMPILE_CODE => {
                            frame.step_back();
                            slow.compile_next(&mut frame);
                            instruction = frame.fetch();
                            continue;
                        }
                        _ => Frame::no_such_instruction(),
                    };
                };
                let flow = if flow == Flow::Slow {
                    let (after, flow) = slow.run_slow_step(frame);
                    frame = after;
                    flow
                } else {
                    flow
                };
                if flow == Flow::Stop {
                    return frame;
                }
            }
        }
    };
}

#[cfg(not(debug_assertions))]
macro_rules! declare_dispatch {
    ($(
        $name:ident = $code:literal, $method:ident, $mnemonic:literal, [$($operands:tt)*],
        $documentation:literal;
    )*) => {
        /// Executes instructions until one stops.
        #[inline(never)]
        pub(super) fn interpret(frame: Frame, slow: &mut SlowPath<'_>) -> Frame {
            slow.frame = frame;
            dispatch_next(frame, slow);
            slow.frame
        }

        $(fn $method(
            next: *const Instruction,
            base: *mut Value,
            heap: HeapWords,
            fuel: i64,
            slow: &mut SlowPath<'_>,
        ) {
            let mut frame = Frame::from_words(Words { next, base, heap, fuel }, &slow.frame);
            let instruction = frame.fetch();
            match frame.$method(slow, instruction) {
                Flow::Next => dispatch_next(frame, slow),
                Flow::Slow => {
                    let Words { next, base, heap, fuel } = frame.words();
                    dispatch_slow(next, base, heap, fuel, slow);
                }
                Flow::Stop => slow.frame = frame,
            }
        })*

        /// The function of each byte code.
        static FUNCTIONS: [Function; 256] = {
            let mut functions: [Function; 256] = [no_such_instruction; 256];
            $(functions[$code] = $method;)*
            functions[ENTER_CODE as usize] = enter_native;
            functions[COMPILE_CODE as usize] = compile_native;
            functions
        };
    };
}

instruction_table!(declare_dispatch);

#[cfg(not(debug_assertions))]
use crate::instruction::Instruction;
#[cfg(not(debug_assertions))]
use crate::machine::frame::{HeapWords, Words};
#[cfg(not(debug_assertions))]
use crate::value::Value;

#[cfg(not(debug_assertions))]
type Function = fn(*const Instruction, *mut Value, HeapWords, i64, &mut SlowPath<'_>);

#[cfg(not(debug_assertions))]
fn no_such_instruction(_: *const Instruction, _: *mut Value, _: HeapWords, _: i64, _: &mut SlowPath<'_>) {
    Frame::no_such_instruction()
}

/// Runs machine code, then the instruction before which it left as the code space has it, and all
/// after it.
#[cfg(not(debug_assertions))]
fn enter_native(next: *const Instruction, base: *mut Value, heap: HeapWords, fuel: i64, slow: &mut SlowPath<'_>) {
    if run_native(next, base, heap, fuel, slow) == Exit::Redo {
        let frame = slow.frame;
        let Words { next, base, heap, fuel } = frame.words();
        FUNCTIONS[slow.original_code_at(frame)](next, base, heap, fuel, slow);
    }
}

/// Runs machine code, in a call of its own, so that nothing of it stays on the host's stack.
#[cfg(not(debug_assertions))]
#[inline(never)]
fn run_native(next: *const Instruction, base: *mut Value, heap: HeapWords, fuel: i64, slow: &mut SlowPath<'_>) -> Exit {
    let mut frame = Frame::from_words(Words { next, base, heap, fuel }, &slow.frame);
    let exit = native::run(&mut frame, slow);
    slow.frame.set_stack(&frame);
    let (Words { next, base, heap, fuel }, limit) = (frame.words(), frame.limit());
    keep(next, base, heap, fuel, limit, slow);
    exit
}

/// Compiles the next instruction's block, then executes it.
#[cfg(not(debug_assertions))]
fn compile_native(next: *const Instruction, base: *mut Value, heap: HeapWords, fuel: i64, slow: &mut SlowPath<'_>) {
    compile_next(next, base, heap, fuel, slow);
    dispatch_next(slow.frame, slow);
}

/// Compiles the next instruction's block, in a call of its own.
#[cfg(not(debug_assertions))]
#[inline(never)]
fn compile_next(next: *const Instruction, base: *mut Value, heap: HeapWords, fuel: i64, slow: &mut SlowPath<'_>) {
    let mut frame = Frame::from_words(Words { next, base, heap, fuel }, &slow.frame);
    slow.compile_next(&mut frame);
    slow.frame = frame;
}

/// Executes the next instruction and all after it.
#[cfg(not(debug_assertions))]
#[inline(always)]
fn dispatch_next(frame: Frame, slow: &mut SlowPath<'_>) {
    let Words { next, base, heap, fuel } = frame.words();
    FUNCTIONS[frame.next_code()](next, base, heap, fuel, slow);
}

/// Runs the deferred step, then executes the next instruction and all after it.
#[cfg(not(debug_assertions))]
#[inline(never)]
fn dispatch_slow(next: *const Instruction, base: *mut Value, heap: HeapWords, fuel: i64, slow: &mut SlowPath<'_>) {
    if run_slow_step(next, base, heap, fuel, slow) == Flow::Next {
        dispatch_next(slow.frame, slow);
    }
}

/// Runs the deferred step, in a call of its own, so that nothing of the instruction stays on the
/// host's stack.
#[cfg(not(debug_assertions))]
#[inline(never)]
fn run_slow_step(
    next: *const Instruction,
    base: *mut Value,
    heap: HeapWords,
    fuel: i64,
    slow: &mut SlowPath<'_>,
) -> Flow {
    let frame = Frame::from_words(Words { next, base, heap, fuel }, &slow.frame);
    let (frame, flow) = slow.run_slow_step(frame);
    slow.frame.set_stack(&frame);
    let (Words { next, base, heap, fuel }, limit) = (frame.words(), frame.limit());
    keep(next, base, heap, fuel, limit, slow);
    flow
}

/// Stores a frame's words. A call makes them travel singly: a processor stalls when it loads in
/// pairs words that it has just stored one by one, which took a quarter of the time of programs
/// with many continuations (measured).
#[cfg(not(debug_assertions))]
#[inline(never)]
fn keep(
    next: *const Instruction,
    base: *mut Value,
    heap: HeapWords,
    fuel: i64,
    limit: *mut Value,
    slow: &mut SlowPath<'_>,
) {
    slow.frame.set_words(Words { next, base, heap, fuel }, limit);
}
