//! Calls, returns, entries and what changes the course of control.
//!
//! INVARIANT: fuel is counted before anything else happens, so a stopped instruction can be executed again.
//! Read next: `machine/control.rs`.

use crate::code::ARITY_AT_ENTRY;
use crate::heap::Register;
use crate::heap::kind::prompt_link;
use crate::instruction::Instruction;
use crate::value::{Immediate, Value};

use super::super::Outcome;
use super::{Cold, Flow, Hot};
use crate::code::builtin::{CONTINUATION_WORD, CONTROL_FRAME_MAX, control_entry};

/// How many arguments any stack has room for.
const FEW_ARGUMENTS: usize = 64;

/// Counts one unit of fuel, or stops before the instruction.
macro_rules! burn {
    ($hot:ident, $cold:ident) => {
        $hot.fuel -= 1;
        if $hot.fuel < 0 {
            return $cold.detour(|cold, hot, _| cold.out_of_fuel(hot));
        }
    };
}

impl Hot {
    #[inline(always)]
    pub(super) fn loop_back(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        self.branch(instruction.w_signed() as isize);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn call(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let window = instruction.a();
        self.push(window + 1, self.return_point(window));
        self.enter_with(cold, self.get(0), instruction.d())
    }

    #[inline(always)]
    pub(super) fn tail_call(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let count = instruction.d();
        self.slide(instruction.a() + 1, count + 1);
        self.enter_with(cold, self.get(0), count)
    }

    #[inline(always)]
    pub(super) fn call_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let window = instruction.a();
        let callee = self.object_field(cold.heap.register(Register::Globals), 1 + instruction.w() as usize);
        if callee == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_global(hot, instruction.w()));
        }
        self.push(window + 1, self.return_point(window));
        self.set(0, callee);
        self.enter_with(cold, callee, instruction.d())
    }

    #[inline(always)]
    pub(super) fn tail_call_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let count = instruction.d();
        let callee = self.object_field(cold.heap.register(Register::Globals), 1 + instruction.w() as usize);
        if callee == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_global(hot, instruction.w()));
        }
        self.slide(instruction.a() + 1, count + 1);
        self.set(0, callee);
        self.enter_with(cold, callee, count)
    }

    #[inline(always)]
    pub(super) fn call_self(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let window = instruction.a();
        let callee = self.get(0);
        let frame_size = self.procedure_field(callee, 1).detail() as usize >> 8;
        let has_room = self.has_room(window + 1, frame_size);
        let point = self.return_point(window);
        self.push(window + 1, point);
        self.set(0, callee);
        if !has_room {
            return cold.detour(|cold, hot, instruction| cold.enter(hot, instruction.d()));
        }
        self.branch(instruction.w_signed() as isize);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn return_value(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.pop(self.get(instruction.a()));
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn call_primitive(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let first = self.base_index() + instruction.a();
        if !cold.compute_in_place(first, instruction.d(), instruction.w() as usize) {
            return cold.detour(|cold, hot, instruction| cold.finish_primitive(hot, instruction));
        }
        self.reload_heap(cold.heap);
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn arity_exact(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        if cold.machine.argument_count == instruction.a() {
            return Flow::Next;
        }
        cold.detour(|cold, hot, _| cold.wrong_arity(hot))
    }

    #[inline(always)]
    pub(super) fn arity_rest(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (count, required) = (cold.machine.argument_count, instruction.a());
        if count >= required
            && let Some(first) = cold.heap.bump_young(2 * (count - required))
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
        cold.detour(|cold, hot, instruction| cold.collect_rest(hot, instruction.a()))
    }

    #[inline(always)]
    pub(super) fn arity_clause(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let count = cold.machine.argument_count;
        let fits = count == instruction.a() || (instruction.d() != 0 && count > instruction.a());
        if !fits {
            self.branch(instruction.w_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn arity_fail(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.wrong_arity(hot))
    }

    #[inline(always)]
    pub(super) fn underflow(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        let value = self.get(0);
        if let Some(point) = self.take_frame(cold.machine, cold.heap) {
            self.go_on_at(point, value);
            return Flow::Next;
        }
        cold.detour(|cold, hot, _| cold.underflow(hot))
    }

    #[inline(always)]
    pub(super) fn apply(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.apply(hot))
    }

    #[inline(always)]
    pub(super) fn call_with_continuation(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        let receiver = self.get(1);
        let Some(continuation) = self.capture_below(cold.machine, cold.heap) else {
            return cold.detour(|cold, hot, _| cold.call_with_continuation(hot));
        };
        self.move_to_bottom();
        self.set(0, receiver);
        self.set(1, continuation);
        self.enter_with(cold, receiver, 1)
    }

    #[inline(always)]
    pub(super) fn enter_continuation(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        let (continuation, value) = (self.get(0), self.get(1));
        if cold.machine.argument_count == 1 {
            let point = if self.procedure_field(continuation, 1) == CONTINUATION_WORD {
                self.reenter(cold.machine, cold.heap, continuation)
            } else {
                self.reenter_composable(cold.machine, cold.heap, continuation)
            };
            if let Some(point) = point {
                self.go_on_at(point, value);
                return Flow::Next;
            }
        }
        cold.detour(|cold, hot, _| cold.enter_continuation(hot))
    }

    #[inline(always)]
    pub(super) fn throw(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.throw(hot))
    }

    #[inline(always)]
    pub(super) fn call_with_prompt(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        let (tag, thunk, handler) = (self.get(1), self.get(2), self.get(3));
        let frame = (cold.machine.argument_count > 3).then(|| self.get(4));
        if !self.enter_prompt(cold.machine, cold.heap, (tag, handler), frame) {
            return cold.detour(|cold, hot, _| cold.call_with_prompt(hot));
        }
        self.move_to_bottom();
        self.set(0, thunk);
        self.enter_with(cold, thunk, 0)
    }

    #[inline(always)]
    pub(super) fn abort_to_prompt(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.abort_to_prompt(hot))
    }

    #[inline(always)]
    pub(super) fn abort_with_continuation(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        match self.abort_to_plain_prompt(cold) {
            Some(count) => self.enter_with(cold, self.get(0), count),
            None => cold.detour(|cold, hot, _| cold.abort_with_continuation(hot)),
        }
    }

    /// Leaves for the handler of a plain prompt, with its arguments, of which there are so many, in the frame; nothing, and changes nothing, if it is not so easy.
    #[inline(always)]
    fn abort_to_plain_prompt(&mut self, cold: &mut Cold<'_>) -> Option<usize> {
        let (tag, list) = (self.get(1), self.get(2));
        let length = self.list_length(2).filter(|length| *length <= FEW_ARGUMENTS)?;
        let prompt = self.plain_prompt(cold.heap, tag)?;
        let handler = self.object_field(prompt, 1 + prompt_link::HANDLER);
        let continuation = self.cut_to_prompt(cold.machine, cold.heap, prompt)?;
        self.move_to_bottom();
        self.set(0, handler);
        self.set(1, continuation);
        self.spread(2, list);
        Some(length + 1)
    }

    #[inline(always)]
    pub(super) fn call_with_composable(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.call_with_composable(hot))
    }

    #[inline(always)]
    pub(super) fn resume_composable(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.resume_composable(hot))
    }

    #[inline(always)]
    pub(super) fn call_with_results(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, instruction| cold.call_with_results(hot, instruction))
    }

    #[inline(always)]
    pub(super) fn uncaught(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| {
            cold.outcome = Some(Outcome::Uncaught(hot.get(1)));
            (hot, Flow::Stop)
        })
    }

    /// The point after the current instruction, for a window that begins at `window`.
    #[inline(always)]
    fn return_point(&self, window: usize) -> Value {
        Value::immediate(Immediate::Return, self.pc() as u32, window as u32 + 1)
    }

    /// Enters `callee`, which is in register 0, with the `count` arguments after it.
    #[inline(always)]
    fn enter_with(&mut self, cold: &mut Cold<'_>, callee: Value, count: usize) -> Flow {
        if callee.is_procedure_object() {
            let word = self.procedure_field(callee, 1);
            let detail = word.detail() as usize;
            let (arity, frame_size) = (detail & 0xff, detail >> 8);
            if arity == count && self.has_room(0, frame_size) {
                self.go_to(word.payload() as usize);
                return Flow::Next;
            }
            if arity == usize::from(ARITY_AT_ENTRY) && self.has_room(0, frame_size.max(1 + count) + 1) {
                cold.machine.argument_count = count;
                self.go_to(word.payload() as usize);
                return Flow::Next;
            }
        } else if callee.is_immediate(Immediate::Primitive)
            && let Some(position) = control_entry(callee.payload(), count)
            && self.has_room(0, CONTROL_FRAME_MAX.max(1 + count) + 1)
        {
            cold.machine.argument_count = count;
            self.go_to(position);
            return Flow::Next;
        }
        cold.machine.argument_count = count;
        cold.detour(|cold, hot, _| cold.enter(hot, cold.machine.argument_count))
    }

    /// Goes on in the frame at this return point, with `value` for what it called.
    #[inline(always)]
    pub(in super::super) fn go_on_at(&mut self, point: Value, value: Value) {
        self.set(point.detail() as usize - 1, value);
        self.go_to(point.payload() as usize);
    }
}
