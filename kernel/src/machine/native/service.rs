//! What Rust does for machine code: calls of primitives, arithmetic on numbers that machine code
//! does not know, entries of other procedures than those with a fixed number of parameters, and the
//! instructions of control.
//!
//! Machine code comes here from stubs of the [memory](super::enter), which pass the context and a
//! position. Each function does what the interpreter does at that position and names the address
//! where machine code goes on.
//! INVARIANT: before Rust does anything, the heap knows every object that machine code has made;
//! afterwards the context has the heap's words anew.
//! INVARIANT: no panic passes through machine code: it is caught here, and goes on where the
//! machine code was entered.
//! It does not know the templates.
//! Read next: `machine/native/enter.rs`.
#![expect(unsafe_code, reason = "machine code passes the context by its address")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::execute::{Flow, SlowPath};
use super::super::frame::Frame;
use super::Slot;
use super::context::Context;
use crate::code::builtin::{CONTROL_FRAME_MAX, control_entry, control_primitive};
use crate::instruction::{Instruction, Opcode};
use crate::primitive::{ControlBlock, PrimitiveBody, PrimitiveError};
use crate::value::Value;

/// A function that a stub calls, with the position and, for an entry, the number of arguments.
pub(super) type Service = extern "C" fn(*mut Context, u32, u32) -> usize;

/// Calls a primitive that was compiled into a block; returns the fuel that it costs, or a negative
/// number if [`finish`] has to do the rest.
pub(super) extern "C" fn call_primitive(context: *mut Context, first: *const Value, count: u32, number: u32) -> i64 {
    let fuel = guard(context, |context, slow| {
        let first = slow.machine.index_on_stack(first);
        let is_done = slow.compute_at(first, count as usize, number as usize);
        context.load_free(slow.heap);
        if is_done { slow.fuel_to_pay() } else { None }
    });
    fuel.flatten().unwrap_or(-1)
}

/// Finishes the call of a primitive after [`call_primitive`].
pub(super) extern "C" fn finish(context: *mut Context, position: u32, _: u32) -> usize {
    execute(context, position, |slow, frame, instruction| {
        slow.finish_primitive(frame, instruction)
    })
}

/// Executes an instruction of arithmetic.
pub(super) extern "C" fn compute(context: *mut Context, position: u32, _: u32) -> usize {
    execute(context, position, |slow, frame, instruction| {
        if instruction.opcode() == Some(Opcode::Modulo) {
            slow.inlined_slow(frame, instruction)
        } else {
            slow.arithmetic_slow(frame, instruction)
        }
    })
}

/// Executes a jump on a comparison of numbers, which jumps if the comparison holds.
pub(super) extern "C" fn jump_if(context: *mut Context, position: u32, _: u32) -> usize {
    execute(context, position, |slow, frame, instruction| {
        slow.compare_slow(frame, instruction, true)
    })
}

/// The same, but the jump is made if the comparison does not hold.
pub(super) extern "C" fn jump_unless(context: *mut Context, position: u32, _: u32) -> usize {
    execute(context, position, |slow, frame, instruction| {
        slow.compare_slow(frame, instruction, false)
    })
}

/// Executes an instruction by its slow path.
#[inline(always)]
fn execute(
    context: *mut Context,
    position: u32,
    slow_path: impl FnOnce(&mut SlowPath<'_>, Frame, Instruction) -> (Frame, Flow),
) -> usize {
    let target = guard(context, |context, slow| {
        let frame = context.frame(slow, position + 1);
        let instruction = slow.code.instructions()[position as usize];
        let (frame, flow) = slow_path(slow, frame, instruction);
        go_on(context, slow, &frame, flow)
    });
    target.unwrap_or_else(|| stop(context))
}

/// Executes the instruction of control with this byte code.
pub(super) extern "C" fn control<const CODE: u8>(context: *mut Context, position: u32, _: u32) -> usize {
    let target = guard(context, |context, slow| {
        let mut frame = context.frame(slow, position + 1);
        slow.machine.argument_count = context.argument_count;
        match slow.execute_control::<CODE>(&mut frame) {
            Flow::Slow => go_slowly(context, slow, &frame),
            flow @ (Flow::Next | Flow::Stop) => go_on_soon(context, slow, &frame, flow),
        }
    });
    target.unwrap_or_else(|| stop(context))
}

/// Enters what is in register 0, no procedure object, with this many arguments after it; the return
/// point lies below.
pub(super) extern "C" fn enter(context: *mut Context, position: u32, count: u32) -> usize {
    let target = guard(context, |context, slow| {
        // SAFETY: machine code has written the callee to register 0.
        let callee = unsafe { *context.base };
        let captured = if callee == CAPTURE && count == 1 {
            capture(context, slow)
        } else {
            None
        };
        captured.unwrap_or_else(|| enter_other(context, slow, position, count))
    });
    target.unwrap_or_else(|| stop(context))
}

/// The primitive that calls its argument with the current continuation.
const CAPTURE: Value = control_primitive(ControlBlock::CallWithContinuation);

/// Calls the closure in register 1 with the continuation below the frame, as the interpreter's
/// instruction does; `None`, with nothing changed, where that needs more.
///
/// A program that captures continuations does so often, and this is most of its work.
#[inline(always)]
fn capture(context: &mut Context, slow: &mut SlowPath<'_>) -> Option<usize> {
    let mut frame = context.frame(slow, 0);
    let receiver = frame.get(1);
    if !receiver.is_procedure_object() {
        return None;
    }
    let code_word = frame.procedure_field(receiver, 1);
    if code_word.detail() & 0xff != 1 {
        return None;
    }
    let continuation = frame.capture_below(slow.machine, slow.heap)?;
    // Any frame fits at the bottom.
    frame.move_to_bottom();
    frame.set(0, receiver);
    frame.set(1, continuation);
    let base = std::mem::replace(&mut context.base, frame.base());
    context.position = code_word.payload();
    context.top_bytes = slow.heap.free_range().start * 8;
    Some(if context.base == base {
        context.target()
    } else {
        context.slot(Slot::Restart)
    })
}

/// Enters a procedure in another way.
#[inline(never)]
fn enter_other(context: &mut Context, slow: &mut SlowPath<'_>, position: u32, count: u32) -> usize {
    let base = context.base;
    // SAFETY: as for `enter`.
    let callee = unsafe { *base };
    let Some(primitive) = slow.code.primitive_in(callee) else {
        return enter_slowly(context, slow, position, count, None);
    };
    if let PrimitiveBody::Function(function) = primitive.body
        && primitive.accepts(count as usize)
    {
        let first = slow.machine.index_on_stack(base) + 1;
        let outcome = slow.apply_at(function, primitive.cost, first, count as usize);
        if let Ok(value) = outcome
            && !slow.heap.is_collection_due()
            && !slow.heap.is_charged()
        {
            context.result = value;
            context.load_free(slow.heap);
            return context.slot(Slot::Return);
        }
        return enter_slowly(context, slow, position, count, Some(outcome));
    }
    let mut frame = context.frame(slow, position + 1);
    if let Some(entry) = control_entry(callee.payload(), count as usize)
        && frame.has_room(0, CONTROL_FRAME_MAX.max(1 + count as usize) + 1)
    {
        slow.machine.argument_count = count as usize;
        frame.move_to(base, entry + 1);
        return match slow.execute_some_control(&mut frame) {
            Some(Flow::Slow) => go_slowly(context, slow, &frame),
            Some(flow) => go_on_soon(context, slow, &frame, flow),
            None => {
                frame.move_to(base, entry);
                go_on_soon(context, slow, &frame, Flow::Next)
            }
        };
    }
    enter_slowly(context, slow, position, count, None)
}

/// The same where it needs more, or the primitive in register 0 has been applied with this outcome.
#[cold]
#[inline(never)]
fn enter_slowly(
    context: &mut Context,
    slow: &mut SlowPath<'_>,
    position: u32,
    count: u32,
    outcome: Option<Result<Value, PrimitiveError>>,
) -> usize {
    let base = context.base;
    // SAFETY: a return point lies below the register 0 of a callee.
    let point = unsafe { *base.sub(1) };
    let frame = context.frame(slow, position + 1);
    let (frame, flow) = match outcome {
        Some(outcome) if outcome != Err(PrimitiveError::HeapFull) => slow.leave_function(frame, outcome),
        Some(_) | None => {
            slow.heap.take_charge();
            slow.enter(frame, count as usize)
        }
    };
    let target = go_on(context, slow, &frame, flow);
    let is_return = context.base == base.wrapping_sub(point.detail() as usize) && context.position == point.payload();
    if flow == Flow::Stop || !is_return {
        return target;
    }
    // SAFETY: the stack has not moved, because the caller's frame is where it was; so the callee's
    // frame and the word below it are part of it.
    unsafe {
        let slot = base.sub(1);
        context.result = *slot;
        *slot = point;
    }
    context.base = base;
    context.slot(Slot::Return)
}

/// Runs the step that an instruction has deferred in this frame.
#[cold]
#[inline(never)]
fn go_slowly(context: &mut Context, slow: &mut SlowPath<'_>, deferred: &Frame) -> usize {
    context.fuel = deferred.fuel;
    let position = deferred.pc();
    let mut frame = context.frame(slow, position as u32);
    frame.move_to(deferred.base(), position);
    let (frame, flow) = slow.run_slow_step(frame);
    go_on(context, slow, &frame, flow)
}

/// Where machine code goes on with a frame.
fn go_on(context: &mut Context, slow: &mut SlowPath<'_>, frame: &Frame, flow: Flow) -> usize {
    context.load_heap(slow.heap);
    go_on_soon(context, slow, frame, flow)
}

/// The same if nothing was collected.
#[inline(always)]
fn go_on_soon(context: &mut Context, slow: &mut SlowPath<'_>, frame: &Frame, flow: Flow) -> usize {
    let base = context.base;
    context.load_frame(frame);
    context.load_free(slow.heap);
    context.argument_count = slow.machine.argument_count;
    if flow == Flow::Stop {
        context.slot(Slot::Stop)
    } else if context.base == base {
        context.target()
    } else {
        context.slot(Slot::Restart)
    }
}

/// Where machine code goes on after a panic.
fn stop(context: *mut Context) -> usize {
    // SAFETY: as for `guard`.
    unsafe { (*context).slot(Slot::Stop) }
}

/// Does something on behalf of machine code. `None` if it panics, or something before it has.
#[inline(always)]
fn guard<T>(context: *mut Context, act: impl FnOnce(&mut Context, &mut SlowPath<'_>) -> T) -> Option<T> {
    // SAFETY: machine code passes the context that `run` has made. It and the slow path are
    // borrowed for as long as machine code runs, and used by nothing else meanwhile.
    let (context, slow) = unsafe {
        let context = &mut *context;
        let slow = &mut *context.slow.cast::<SlowPath<'_>>();
        (context, slow)
    };
    if context.panic.is_some() {
        return None;
    }
    slow.heap.bump_to(context.top_bytes / 8);
    match catch_unwind(AssertUnwindSafe(|| act(context, slow))) {
        Ok(value) => Some(value),
        Err(payload) => {
            context.panic = Some(payload);
            None
        }
    }
}
