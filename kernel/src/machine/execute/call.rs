//! Calls, returns, entries, and the moves of control.
//!
//! INVARIANT: an instruction counts fuel before it does anything else, so a stopped one can be
//! executed again.
//! It does not make room or raise conditions; the slow paths do.
//! Read next: `machine/control.rs`.

use crate::code::ARITY_AT_ENTRY;
use crate::heap::kind::prompt_link;
use crate::heap::{Kind, Register};
use crate::instruction::{Instruction, Opcode};
use crate::value::{Immediate, Value};

use super::super::Outcome;
use super::{Flow, Frame, SlowPath};
use crate::code::builtin::{CONTINUATION_WORD, CONTROL_FRAME_MAX, control_entry};

/// A number of arguments that any stack has room for.
const FEW_ARGUMENTS: usize = 64;

/// Counts one unit of fuel, or stops before the instruction.
macro_rules! burn {
    ($frame:ident, $slow:ident) => {
        $frame.fuel -= 1;
        if $frame.fuel < 0 {
            return $slow.defer(|slow, frame, _| slow.out_of_fuel(frame));
        }
    };
}

/// Declares the execution of single instructions that move control.
macro_rules! controls {
    ($($opcode:ident $method:ident)*) => {
        impl SlowPath<'_> {
            /// Executes the last fetched instruction, which has this byte code, for machine code.
            #[inline(always)]
            pub(in super::super) fn execute_control<const CODE: u8>(&mut self, frame: &mut Frame) -> Flow {
                let instruction = self.original_before(*frame);
                debug_assert_eq!(instruction.code(), CODE);
                $(if CODE == Opcode::$opcode as u8 {
                    return frame.$method(self, instruction);
                })*
                unreachable!("machine code asks for instructions of control only")
            }

            /// The same for any byte code; `None` if the instruction does not move control.
            #[inline(always)]
            pub(in super::super) fn execute_some_control(&mut self, frame: &mut Frame) -> Option<Flow> {
                let instruction = self.original_before(*frame);
                Some(match instruction.code() {
                    $(code if code == Opcode::$opcode as u8 => frame.$method(self, instruction),)*
                    _ => return None,
                })
            }
        }
    };
}

controls! {
    Underflow underflow
    Apply apply
    CallWithContinuation call_with_continuation
    EnterContinuation enter_continuation
    Throw throw
    CallWithPrompt call_with_prompt
    AbortToPrompt abort_to_prompt
    CallWithComposable call_with_composable
    ResumeComposable resume_composable
    CallWithResults call_with_results
    AbortWithContinuation abort_with_continuation
    CallTraced call_traced
    Uncaught uncaught
}

impl Frame {
    #[inline(always)]
    pub(super) fn loop_back(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        burn!(self, slow);
        self.branch(instruction.w_signed() as isize);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn count_call(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        burn!(self, slow);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn call(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        burn!(self, slow);
        let window = instruction.a();
        self.push(window + 1, self.return_point(window));
        self.enter_with(slow, self.get(0), instruction.d())
    }

    #[inline(always)]
    pub(super) fn tail_call(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        burn!(self, slow);
        let count = instruction.d();
        self.slide(instruction.a() + 1, count + 1);
        self.enter_with(slow, self.get(0), count)
    }

    #[inline(always)]
    pub(super) fn call_global(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        burn!(self, slow);
        let window = instruction.a();
        let callee = self.object_field(slow.heap.register(Register::Globals), 1 + instruction.w() as usize);
        if callee == Value::UNDEFINED {
            return slow.defer(|slow, frame, instruction| slow.undefined_global(frame, instruction.w()));
        }
        self.push(window + 1, self.return_point(window));
        self.set(0, callee);
        self.enter_with(slow, callee, instruction.d())
    }

    #[inline(always)]
    pub(super) fn tail_call_global(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        burn!(self, slow);
        let count = instruction.d();
        let callee = self.object_field(slow.heap.register(Register::Globals), 1 + instruction.w() as usize);
        if callee == Value::UNDEFINED {
            return slow.defer(|slow, frame, instruction| slow.undefined_global(frame, instruction.w()));
        }
        self.slide(instruction.a() + 1, count + 1);
        self.set(0, callee);
        self.enter_with(slow, callee, count)
    }

    #[inline(always)]
    pub(super) fn call_self(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        burn!(self, slow);
        let window = instruction.a();
        let callee = self.get(0);
        let frame_size = self.procedure_field(callee, 1).detail() as usize >> 8;
        let has_room = self.has_room(window + 1, frame_size);
        let point = self.return_point(window);
        self.push(window + 1, point);
        self.set(0, callee);
        if !has_room {
            return slow.defer(|slow, frame, instruction| slow.enter_running(frame, instruction.d()));
        }
        self.branch(instruction.w_signed() as isize);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn return_value(&mut self, _: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        self.pop(self.get(instruction.a()));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn call_primitive(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let first = self.base_index() + instruction.a();
        if !slow.compute_in_place(first, instruction.d(), instruction.w() as usize) {
            return slow.defer(|slow, frame, instruction| slow.finish_primitive(frame, instruction));
        }
        if slow.heap.is_charged() {
            self.fuel = self.fuel.saturating_sub_unsigned(slow.heap.take_charge());
        }
        self.reload_heap(slow.heap);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn arity_exact(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        if slow.machine.argument_count == instruction.a() {
            return Flow::Next;
        }
        slow.defer(|slow, frame, _| slow.wrong_arity(frame))
    }

    #[inline(always)]
    pub(super) fn arity_rest(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let (count, required) = (slow.machine.argument_count, instruction.a());
        if count >= required
            && let Some(first) = slow.heap.bump_young(2 * (count - required))
        {
            let mut rest = Value::NIL;
            for (place, register) in (required + 1..=count).rev().enumerate() {
                let index = first + 2 * place;
                self.fill(index, self.get(register));
                self.fill(index + 1, rest);
                rest = Value::pair_at(index);
            }
            self.set(required + 1, rest);
            return Flow::Next;
        }
        slow.defer(|slow, frame, instruction| slow.collect_rest(frame, instruction.a()))
    }

    #[inline(always)]
    pub(super) fn arity_clause(&mut self, slow: &mut SlowPath<'_>, instruction: &Instruction) -> Flow {
        let count = slow.machine.argument_count;
        let fits = count == instruction.a() || (instruction.d() != 0 && count > instruction.a());
        if !fits {
            self.branch(instruction.w_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn arity_fail(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        slow.defer(|slow, frame, _| slow.wrong_arity(frame))
    }

    #[inline(always)]
    pub(super) fn underflow(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        let value = self.get(0);
        if let Some(point) = self.pop_frame(slow.machine, slow.heap) {
            self.resume_at(point, value);
            return Flow::Next;
        }
        slow.defer(|slow, frame, _| slow.underflow(frame))
    }

    #[inline(always)]
    pub(super) fn apply(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        let count = slow.machine.argument_count;
        let length = self.list_length(count).filter(|length| *length <= FEW_ARGUMENTS);
        let total = length.map(|length| count - 2 + length);
        let Some(total) = total.filter(|total| self.has_room(0, total + 2)) else {
            return slow.defer(|slow, frame, _| slow.apply(frame));
        };
        let list = self.get(count);
        self.slide(1, count - 1);
        self.spread(count - 1, list);
        self.enter_with(slow, self.get(0), total)
    }

    #[inline(always)]
    pub(super) fn call_with_continuation(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        let receiver = self.get(1);
        let Some(continuation) = self.capture_below(slow.machine, slow.heap) else {
            return slow.defer(|slow, frame, _| slow.call_with_continuation(frame));
        };
        self.move_to_bottom();
        self.set(0, receiver);
        self.set(1, continuation);
        self.enter_with(slow, receiver, 1)
    }

    #[inline(always)]
    pub(super) fn enter_continuation(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        let (continuation, value) = (self.get(0), self.get(1));
        if slow.machine.argument_count == 1 {
            let point = if self.procedure_field(continuation, 1) == CONTINUATION_WORD {
                self.reenter(slow.machine, slow.heap, continuation)
            } else {
                self.reenter_composable(slow.machine, slow.heap, continuation)
            };
            if let Some(point) = point {
                self.resume_at(point, value);
                return Flow::Next;
            }
        }
        slow.defer(|slow, frame, _| slow.enter_continuation(frame))
    }

    #[inline(always)]
    pub(super) fn throw(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        slow.defer(|slow, frame, _| slow.throw(frame))
    }

    #[inline(always)]
    pub(super) fn call_with_prompt(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        let (tag, thunk, handler) = (self.get(1), self.get(2), self.get(3));
        let frame = (slow.machine.argument_count > 3).then(|| self.get(4));
        if !self.enter_prompt(slow.machine, slow.heap, tag, handler, frame) {
            return slow.defer(|slow, frame, _| slow.call_with_prompt(frame));
        }
        self.move_to_bottom();
        self.set(0, thunk);
        self.enter_with(slow, thunk, 0)
    }

    #[inline(always)]
    pub(super) fn abort_to_prompt(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        slow.defer(|slow, frame, _| slow.abort_to_prompt(frame))
    }

    #[inline(always)]
    pub(super) fn abort_with_continuation(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        match self.abort_to_plain_prompt(slow) {
            Some(count) => self.enter_with(slow, self.get(0), count),
            None => slow.defer(|slow, frame, _| slow.abort_with_continuation(frame)),
        }
    }

    /// Leaves for the handler of a plain prompt, with its arguments in the frame, and returns their
    /// number; `None`, with nothing changed, where the slow path is needed.
    #[inline(always)]
    fn abort_to_plain_prompt(&mut self, slow: &mut SlowPath<'_>) -> Option<usize> {
        let (tag, list) = (self.get(1), self.get(2));
        let length = self.list_length(2).filter(|length| *length <= FEW_ARGUMENTS)?;
        let prompt = self.plain_prompt(slow.heap, tag)?;
        let handler = self.object_field(prompt, 1 + prompt_link::HANDLER);
        let continuation = self.cut_to_prompt(slow.machine, slow.heap, prompt)?;
        self.move_to_bottom();
        self.set(0, handler);
        self.set(1, continuation);
        self.spread(2, list);
        Some(length + 1)
    }

    #[inline(always)]
    pub(super) fn call_with_composable(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        slow.defer(|slow, frame, _| slow.call_with_composable(frame))
    }

    #[inline(always)]
    pub(super) fn resume_composable(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        slow.defer(|slow, frame, _| slow.resume_composable(frame))
    }

    #[inline(always)]
    pub(super) fn call_with_results(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        slow.defer(|slow, frame, instruction| slow.call_with_results(frame, instruction))
    }

    #[inline(always)]
    pub(super) fn call_traced(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        let (procedure, object) = (self.get(1), self.get(2));
        if !slow.heap.is_kind(object, Kind::Condition) {
            // Only a condition has a place for a trace.
            self.set(0, procedure);
            self.set(1, object);
            return self.enter_with(slow, procedure, 1);
        }
        slow.defer(|slow, frame, _| slow.call_traced(frame))
    }

    #[inline(always)]
    pub(super) fn uncaught(&mut self, slow: &mut SlowPath<'_>, _: &Instruction) -> Flow {
        slow.defer(|slow, frame, _| {
            slow.outcome = Some(Outcome::Uncaught(frame.get(1)));
            (frame, Flow::Stop)
        })
    }

    /// The point after the current instruction, for a window that begins at `window`.
    #[inline(always)]
    fn return_point(&self, window: usize) -> Value {
        Value::immediate(Immediate::Return, self.pc() as u32, window as u32 + 1)
    }

    /// Enters `callee`, which is in register 0, with the `count` arguments after it.
    #[inline(always)]
    fn enter_with(&mut self, slow: &mut SlowPath<'_>, callee: Value, count: usize) -> Flow {
        if callee.is_procedure_object() {
            let word = self.procedure_field(callee, 1);
            let detail = word.detail() as usize;
            let (arity, frame_size) = (detail & 0xff, detail >> 8);
            if arity == count && self.has_room(0, frame_size) {
                self.jump_to(word.payload() as usize);
                return Flow::Next;
            }
            if arity == usize::from(ARITY_AT_ENTRY) && self.has_room(0, frame_size.max(1 + count) + 1) {
                slow.machine.argument_count = count;
                self.jump_to(word.payload() as usize);
                return Flow::Next;
            }
        } else if callee.is_immediate(Immediate::Primitive)
            && let Some(position) = control_entry(callee.payload(), count)
            && self.has_room(0, CONTROL_FRAME_MAX.max(1 + count) + 1)
        {
            slow.machine.argument_count = count;
            self.jump_to(position);
            return Flow::Next;
        }
        slow.machine.argument_count = count;
        slow.defer(|slow, frame, _| slow.enter(frame, slow.machine.argument_count))
    }

    /// Continues in the frame at this return point, with `value` as the result of its call.
    #[inline(always)]
    pub(in super::super) fn resume_at(&mut self, point: Value, value: Value) {
        self.set(point.detail() as usize - 1, value);
        self.jump_to(point.payload() as usize);
    }
}
