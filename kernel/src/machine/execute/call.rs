//! Calls, returns, entries and what changes the course of control.
//!
//! INVARIANT: fuel is counted before anything else happens, so a stopped instruction can be executed again.
//! Read next: `machine/control.rs`.

use crate::code::ARITY_AT_ENTRY;
use crate::heap::Register;
use crate::instruction::Instruction;
use crate::value::{Immediate, Value};

use super::super::Outcome;
use super::super::builtin::{CONTINUATION_BLOCK, CONTROL_FRAME_MAX, control_entry};
use super::{Cold, Flow, Hot};

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
        let (window, count) = (instruction.a(), instruction.d());
        let word = self.fast_code_word(cold, self.get(window + 1), window + 1, count);
        let point = self.return_point(window);
        self.push(window + 1, point);
        match word {
            Some(word) => {
                self.go_to(word.payload() as usize);
                Flow::Next
            }
            None => self.enter_other(cold, count),
        }
    }

    #[inline(always)]
    pub(super) fn tail_call(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let (window, count) = (instruction.a(), instruction.d());
        self.slide(window + 1, count + 1);
        match self.fast_code_word(cold, self.get(0), 0, count) {
            Some(word) => {
                self.go_to(word.payload() as usize);
                Flow::Next
            }
            None => self.enter_other(cold, count),
        }
    }

    #[inline(always)]
    pub(super) fn call_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let (window, count) = (instruction.a(), instruction.d());
        let callee = self.object_field(cold.heap.register(Register::Globals), 1 + instruction.w() as usize);
        if callee == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_global(hot, instruction.w()));
        }
        let word = self.fast_code_word(cold, callee, window + 1, count);
        let point = self.return_point(window);
        self.push(window + 1, point);
        self.set(0, callee);
        match word {
            Some(word) => {
                self.go_to(word.payload() as usize);
                Flow::Next
            }
            None => self.enter_other(cold, count),
        }
    }

    #[inline(always)]
    pub(super) fn tail_call_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let (window, count) = (instruction.a(), instruction.d());
        let callee = self.object_field(cold.heap.register(Register::Globals), 1 + instruction.w() as usize);
        if callee == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_global(hot, instruction.w()));
        }
        self.slide(window + 1, count + 1);
        self.set(0, callee);
        match self.fast_code_word(cold, callee, 0, count) {
            Some(word) => {
                self.go_to(word.payload() as usize);
                Flow::Next
            }
            None => self.enter_other(cold, count),
        }
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
        if let Some(point) = cold.machine.take_frame(cold.heap) {
            return self.go_on_at_bottom(point, value);
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
        let Some(continuation) = cold.machine.capture_below(cold.heap, cold.code, self.base_index()) else {
            return cold.detour(|cold, hot, _| cold.call_with_continuation(hot));
        };
        self.move_to_bottom();
        self.set(0, receiver);
        self.set(1, continuation);
        self.enter_with(cold, 1)
    }

    #[inline(always)]
    pub(super) fn enter_continuation(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        let (continuation, value) = (self.get(0), self.get(1));
        if cold.machine.argument_count == 1 {
            let point = if self.procedure_field(continuation, 1) == cold.code.block(CONTINUATION_BLOCK).code_word {
                cold.machine.reenter(cold.heap, continuation)
            } else {
                cold.machine
                    .reenter_composable(cold.heap, continuation, self.base_index())
            };
            if let Some(point) = point {
                return self.go_on_at_bottom(point, value);
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
        if !cold
            .machine
            .enter_prompt(cold.heap, self.base_index(), (tag, handler), frame)
        {
            return cold.detour(|cold, hot, _| cold.call_with_prompt(hot));
        }
        self.move_to_bottom();
        self.set(0, thunk);
        self.enter_with(cold, 0)
    }

    #[inline(always)]
    pub(super) fn abort_to_prompt(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.abort_to_prompt(hot))
    }

    #[inline(always)]
    pub(super) fn abort_with_continuation(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.abort_with_continuation(hot))
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

    /// Enters what is no closure that [`Hot::fast_code_word`] takes, with its `count` arguments in the frame.
    #[inline(always)]
    fn enter_other(&mut self, cold: &mut Cold<'_>, count: usize) -> Flow {
        let callee = self.get(0);
        if callee.is_immediate(Immediate::Primitive)
            && let Some(position) = control_entry(callee.payload(), count)
            && self.has_room(0, CONTROL_FRAME_MAX.max(1 + count) + 1)
        {
            cold.machine.argument_count = count;
            self.go_to(position);
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.enter(hot, instruction.d()))
    }

    /// The code word of a closure whose frame fits at `register` and whose entry takes `count` arguments or decides by itself.
    #[inline(always)]
    fn fast_code_word(&self, cold: &mut Cold<'_>, callee: Value, register: usize, count: usize) -> Option<Value> {
        if !callee.is_procedure_object() {
            return None;
        }
        let word = self.procedure_field(callee, 1);
        let detail = word.detail() as usize;
        let (arity, frame_size) = (detail & 0xff, detail >> 8);
        if arity == count {
            return self.has_room(register, frame_size).then_some(word);
        }
        let is_ready = arity == usize::from(ARITY_AT_ENTRY) && self.has_room(register, frame_size.max(1 + count) + 1);
        if is_ready {
            cold.machine.argument_count = count;
        }
        is_ready.then_some(word)
    }

    /// Enters the procedure in register 0 with the argument, or none, after it.
    #[inline(always)]
    fn enter_with(&mut self, cold: &mut Cold<'_>, count: usize) -> Flow {
        match self.fast_code_word(cold, self.get(0), 0, count) {
            Some(word) => {
                self.go_to(word.payload() as usize);
                Flow::Next
            }
            None if count == 0 => cold.detour(|cold, hot, _| cold.enter(hot, 0)),
            None => cold.detour(|cold, hot, _| cold.enter(hot, 1)),
        }
    }

    /// Goes on in the frame that was put at the bottom of the stack, with `value` for what it called.
    #[inline(always)]
    fn go_on_at_bottom(&mut self, point: Value, value: Value) -> Flow {
        self.move_to_bottom();
        self.set(point.detail() as usize - 1, value);
        self.go_to(point.payload() as usize);
        Flow::Next
    }
}
