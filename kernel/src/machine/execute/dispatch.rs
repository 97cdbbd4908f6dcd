//! How one instruction leads to the next.
//!
//! In optimised builds each instruction is a function of its own that ends by calling the next one's. Its arguments, the few words that all instructions use, stay in the
//! processor's registers throughout, and the calls become jumps. Against one loop over a `match`, where the words live in memory, fib takes 0.70 and tak 0.62 of the time.
//! Rust does not promise the jumps; so builds with debug assertions use the loop, and elsewhere the machine comes back after each slice of fuel.
//! INVARIANT: both ways execute the same methods in the same order.
//! Read next: `machine/frame.rs`.

use super::{Cold, Flow, Hot};
use crate::instruction_table;

#[cfg(debug_assertions)]
macro_rules! declare_dispatch {
    ($($name:ident = $code:literal, $method:ident, $mnemonic:literal, [$($operands:tt)*], $documentation:literal;)*) => {
        /// Executes instructions until one stops.
        pub(super) fn interpret(mut hot: Hot, cold: &mut Cold<'_>) -> Hot {
            loop {
                let instruction = hot.fetch();
                let flow = match instruction.code() {
                    $($code => hot.$method(cold, instruction),)*
                    _ => Hot::no_such_instruction(),
                };
                let flow = if flow == Flow::Detour {
                    let (after, flow) = cold.take_detour(hot);
                    hot = after;
                    flow
                } else {
                    flow
                };
                if flow == Flow::Stop {
                    return hot;
                }
            }
        }
    };
}

#[cfg(not(debug_assertions))]
macro_rules! declare_dispatch {
    ($($name:ident = $code:literal, $method:ident, $mnemonic:literal, [$($operands:tt)*], $documentation:literal;)*) => {
        /// Executes instructions until one stops.
        #[inline(never)]
        pub(super) fn interpret(hot: Hot, cold: &mut Cold<'_>) -> Hot {
            cold.frame = hot;
            lead_on(hot, cold);
            cold.frame
        }

        $(fn $method(
            next: *const Instruction,
            base: *mut Value,
            heap: HeapWords,
            fuel: i64,
            cold: &mut Cold<'_>,
        ) {
            let mut hot = Hot::from_words((next, base, heap, fuel), &cold.frame);
            let instruction = hot.fetch();
            match hot.$method(cold, instruction) {
                Flow::Next => lead_on(hot, cold),
                Flow::Detour => {
                    let (next, base, heap, fuel) = hot.words();
                    lead_through(next, base, heap, fuel, cold);
                }
                Flow::Stop => cold.frame = hot,
            }
        })*

        /// The function of each byte code.
        static FUNCTIONS: [Function; 256] = {
            let mut functions: [Function; 256] = [no_such_instruction; 256];
            $(functions[$code] = $method;)*
            functions
        };
    };
}

instruction_table!(declare_dispatch);

#[cfg(not(debug_assertions))]
use crate::instruction::Instruction;
#[cfg(not(debug_assertions))]
use crate::machine::frame::HeapWords;
#[cfg(not(debug_assertions))]
use crate::value::Value;

#[cfg(not(debug_assertions))]
type Function = fn(*const Instruction, *mut Value, HeapWords, i64, &mut Cold<'_>);

#[cfg(not(debug_assertions))]
fn no_such_instruction(_: *const Instruction, _: *mut Value, _: HeapWords, _: i64, _: &mut Cold<'_>) {
    Hot::no_such_instruction()
}

/// Executes the next instruction and all that follow.
#[cfg(not(debug_assertions))]
#[inline(always)]
fn lead_on(hot: Hot, cold: &mut Cold<'_>) {
    let (next, base, heap, fuel) = hot.words();
    FUNCTIONS[hot.next_code()](next, base, heap, fuel, cold);
}

/// Takes a detour, then executes the next instruction and all that follow.
#[cfg(not(debug_assertions))]
#[inline(never)]
fn lead_through(next: *const Instruction, base: *mut Value, heap: HeapWords, fuel: i64, cold: &mut Cold<'_>) {
    if detour(next, base, heap, fuel, cold) == Flow::Next {
        lead_on(cold.frame, cold);
    }
}

/// Takes a detour. It is a call of its own, so that nothing of the instruction lies on the host's stack when that leads on.
#[cfg(not(debug_assertions))]
#[inline(never)]
fn detour(next: *const Instruction, base: *mut Value, heap: HeapWords, fuel: i64, cold: &mut Cold<'_>) -> Flow {
    let frame = Hot::from_words((next, base, heap, fuel), &cold.frame);
    let (frame, flow) = cold.take_detour(frame);
    cold.frame.set_stack(&frame);
    let ((next, base, heap, fuel), limit) = (frame.words(), frame.limit());
    keep(next, base, heap, fuel, limit, cold);
    flow
}

/// Keeps a frame's words. A call makes them travel singly: a processor that has just stored words one by one waits when they are loaded in pairs,
/// which was a quarter of the time of programs that live by continuations.
#[cfg(not(debug_assertions))]
#[inline(never)]
fn keep(
    next: *const Instruction,
    base: *mut Value,
    heap: HeapWords,
    fuel: i64,
    limit: *mut Value,
    cold: &mut Cold<'_>,
) {
    cold.frame.set_words((next, base, heap, fuel), limit);
}
