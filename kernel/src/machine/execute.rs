//! What each instruction does: one method per row of the instruction table, and the loop that dispatches to them.
//!
//! Fast paths are inline and touch only the frame and the heap's words; whatever is rare goes through [`Cold`], which may collect, raise a condition or stop the machine.
//! INVARIANT: fuel is counted at calls and back edges only, before anything else happens, so a stopped instruction can be executed again.
//! Read next: `machine/control.rs`, `machine/signal.rs`.

use crate::code::{ARITY_AT_ENTRY, CodeSpace};
use crate::heap::{Header, Heap, Kind, Register};
use crate::instruction::Instruction;
use crate::instruction_table;
use crate::value::{Immediate, Value};

use super::{Hot, Instance, Machine, Outcome, Start, State};

mod slow;

/// Whether the loop goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Stop,
}

/// Everything that the fast paths do not touch.
pub(super) struct Cold<'a> {
    pub(super) machine: &'a mut Machine,
    pub(super) heap: &'a mut Heap,
    pub(super) code: &'a CodeSpace,
    /// Why the machine stops.
    pub(super) outcome: Option<Outcome>,
}

macro_rules! declare_execute {
    ($($name:ident = $code:literal, $method:ident, $mnemonic:literal, [$($operands:tt)*], $documentation:literal;)*) => {
        /// One method per instruction.
        trait Execute {
            $(#[doc = $documentation] fn $method(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow;)*
        }

        /// Executes instructions until one stops. A fast path that goes on leads straight back to the fetch.
        #[inline(always)]
        fn interpret(mut hot: Hot, cold: &mut Cold<'_>) -> Hot {
            loop {
                let instruction = hot.fetch();
                match instruction.code() {
                    $($code => {
                        if hot.$method(cold, instruction) == Flow::Stop {
                            return hot;
                        }
                    })*
                    _ => Hot::no_such_instruction(),
                }
            }
        }
    };
}

instruction_table!(declare_execute);

/// Runs what is ready on the stack until something stops the machine.
pub(super) fn run(
    machine: &mut Machine,
    instance: &mut Instance,
    code: &CodeSpace,
    start: Start,
    fuel: &mut u64,
) -> Outcome {
    let mut hot = Hot::new(machine, &mut instance.heap, code, *fuel);
    let mut cold = Cold {
        machine,
        heap: &mut instance.heap,
        code,
        outcome: None,
    };
    let flow = match start {
        Start::Call(argument_count) => {
            let (entered, flow) = cold.enter(hot, argument_count);
            hot = entered;
            flow
        }
        Start::At(position) => {
            hot.pc = position;
            Flow::Next
        }
    };
    if flow == Flow::Next {
        hot = interpret(hot, &mut cold);
    }
    *fuel = u64::try_from(hot.fuel).unwrap_or(0);
    let outcome = cold.outcome.take();
    cold.machine.stopped_at = hot.pc as u32;
    hot.store(cold.machine);
    match outcome {
        Some(outcome @ Outcome::Request { .. }) => {
            cold.machine.state = State::Waiting;
            outcome
        }
        Some(Outcome::OutOfFuel) => {
            cold.machine.state = State::Interrupted(hot.pc);
            Outcome::OutOfFuel
        }
        Some(outcome @ (Outcome::Finished(_) | Outcome::Uncaught(_))) => {
            machine.clear(instance);
            outcome
        }
        None => unreachable!("the machine stops only with an outcome"),
    }
}

/// Executes a slow path and takes over the frame it gives back.
macro_rules! slowly {
    ($hot:ident, $call:expr) => {{
        let (after, flow) = $call;
        *$hot = after;
        flow
    }};
}

/// Counts one unit of fuel, or stops before the instruction.
macro_rules! burn {
    ($hot:ident, $cold:ident) => {
        $hot.fuel -= 1;
        if $hot.fuel < 0 {
            return slowly!($hot, $cold.out_of_fuel(*$hot));
        }
    };
}

/// A jump on the comparison of two numbers: fixnums, then flonums, inline.
macro_rules! compare {
    ($hot:ident, $cold:ident, $instruction:ident, $operator:tt, $sense:literal, $right:expr) => {{
        let (left, right) = ($hot.get($instruction.a()), $right);
        let truth = if Value::are_fixnums(left, right) {
            (left.to_bits() as i64) $operator (right.to_bits() as i64)
        } else if let (Some(left), Some(right)) = (left.as_flonum(), right.as_flonum()) {
            left $operator right
        } else {
            return slowly!($hot, $cold.compare_slow(*$hot, *$instruction, [left, right], $sense));
        };
        if truth == $sense {
            $hot.branch($instruction.c_signed() as isize);
        }
        Flow::Next
    }};
}

macro_rules! compare_registers {
    ($hot:ident, $cold:ident, $instruction:ident, $operator:tt, $sense:literal) => {
        compare!($hot, $cold, $instruction, $operator, $sense, $hot.get($instruction.b()))
    };
}

macro_rules! compare_small {
    ($hot:ident, $cold:ident, $instruction:ident, $operator:tt, $sense:literal) => {
        compare!(
            $hot,
            $cold,
            $instruction,
            $operator,
            $sense,
            Value::small($instruction.b_signed().into())
        )
    };
}

/// Jumps by the long operand if `condition` holds.
macro_rules! jump_when {
    ($hot:ident, $instruction:ident, $condition:expr) => {{
        if $condition {
            $hot.branch($instruction.w_signed() as isize);
        }
        Flow::Next
    }};
}

/// Arithmetic: fixnums by `$fixnum`, which says whether it overflowed, flonums by `$operator`, the rest slowly.
macro_rules! arithmetic {
    ($hot:ident, $cold:ident, $instruction:ident, $left:expr, $right:expr, $fixnum:expr, $operator:tt) => {{
        let (left, right) = ($left, $right);
        if Value::are_fixnums(left, right) {
            let (bits, overflows) = $fixnum(left.to_bits() as i64, right.to_bits() as i64);
            if !overflows {
                $hot.set($instruction.a(), Value::from_bits(bits as u64));
                return Flow::Next;
            }
        } else if let (Some(left), Some(right)) = (left.as_flonum(), right.as_flonum())
            && let Some(value) = Value::flonum(left $operator right)
        {
            $hot.set($instruction.a(), value);
            return Flow::Next;
        }
        slowly!($hot, $cold.arithmetic_slow(*$hot, *$instruction))
    }};
}

impl Hot {
    /// The point after the current instruction, for a window that begins at `window`.
    #[inline(always)]
    fn return_point(&self, window: usize) -> Value {
        Value::immediate(Immediate::Return, self.pc as u32, window as u32 + 1)
    }

    /// Enters a closure whose code word takes exactly `count` arguments, if `window + 1` holds one and its frame fits.
    #[inline(always)]
    fn fast_code_word(&self, callee: Value, window: usize, count: usize) -> Option<Value> {
        if !callee.is_procedure_object() {
            return None;
        }
        let word = self.procedure_field(callee, 1);
        let detail = word.detail() as usize;
        (detail & 0xff == count && self.has_room(window + 1, detail >> 8)).then_some(word)
    }
}

impl Execute for Hot {
    #[inline(always)]
    fn move_register(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.set(instruction.a(), self.get(instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    fn small(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.set(instruction.a(), Value::small(instruction.w_signed()));
        Flow::Next
    }

    #[inline(always)]
    fn immediate(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let bits = instruction.d() as u64 | u64::from(instruction.w()) << 32;
        self.set(instruction.a(), Value::from_bits(bits));
        Flow::Next
    }

    #[inline(always)]
    fn constant(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let table = cold.heap.register(Register::Constants);
        self.set(instruction.a(), self.object_field(table, 1 + instruction.w() as usize));
        Flow::Next
    }

    #[inline(always)]
    fn global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let table = cold.heap.register(Register::Globals);
        let value = self.object_field(table, 1 + instruction.w() as usize);
        if value == Value::UNDEFINED {
            return slowly!(self, cold.undefined_global(*self, instruction.w()));
        }
        self.set(instruction.a(), value);
        Flow::Next
    }

    #[inline(always)]
    fn set_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let table = cold.heap.register(Register::Globals);
        if self.object_field(table, 1 + instruction.w() as usize) == Value::UNDEFINED {
            return slowly!(self, cold.undefined_global(*self, instruction.w()));
        }
        cold.heap
            .set_field(table, instruction.w() as usize, self.get(instruction.a()));
        Flow::Next
    }

    #[inline(always)]
    fn define_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let table = cold.heap.register(Register::Globals);
        cold.heap
            .set_field(table, instruction.w() as usize, self.get(instruction.a()));
        Flow::Next
    }

    #[inline(always)]
    fn free(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.set(instruction.a(), self.procedure_field(self.get(0), 2 + instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    fn closure(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let block = cold.code.block(instruction.w() as usize);
        let captured = usize::from(block.captured);
        let words = (captured + 3) & !1;
        let Some(index) = cold.heap.bump_young(words) else {
            return slowly!(self, cold.make_room(*self, words));
        };
        // The padding word, if there is one, is the last; the fields overwrite it if not.
        self.fill(index + words - 1, Value::ZERO);
        self.fill(index, Header::new(Kind::Closure, captured as u32 + 1).to_value());
        self.fill(index + 1, block.code_word);
        for field in 0..captured {
            self.fill(index + 2 + field, self.get(instruction.a() + field));
        }
        self.set(instruction.a(), Value::procedure_at(index));
        Flow::Next
    }

    #[inline(always)]
    fn patch_closure(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (closure, value) = (self.get(instruction.a()), self.get(instruction.c()));
        cold.heap.set_field(closure, 1 + instruction.b(), value);
        Flow::Next
    }

    #[inline(always)]
    fn cell(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let Some(index) = cold.heap.bump_young(2) else {
            return slowly!(self, cold.make_room(*self, 2));
        };
        self.fill(index, crate::heap::CELL_HEADER);
        self.fill(index + 1, self.get(instruction.b()));
        self.set(instruction.a(), Value::object_at(index));
        Flow::Next
    }

    #[inline(always)]
    fn cell_ref(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let cell = self.get(instruction.b());
        if !self.is_cell(cell) {
            return slowly!(self, cold.not_a_cell(*self));
        }
        self.set(instruction.a(), self.object_field(cell, 1));
        Flow::Next
    }

    #[inline(always)]
    fn cell_set(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let cell = self.get(instruction.a());
        if !self.is_cell(cell) {
            return slowly!(self, cold.not_a_cell(*self));
        }
        cold.heap.note_write(cell.index() + 1);
        self.fill(cell.index() + 1, self.get(instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    fn check_defined(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        if self.get(instruction.a()) == Value::UNDEFINED {
            return slowly!(self, cold.undefined_variable(*self, instruction.w()));
        }
        Flow::Next
    }

    #[inline(always)]
    fn jump(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.branch(instruction.w_signed() as isize);
        Flow::Next
    }

    #[inline(always)]
    fn loop_back(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        self.branch(instruction.w_signed() as isize);
        Flow::Next
    }

    #[inline(always)]
    fn jump_if_false(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, !self.get(instruction.a()).is_true())
    }

    #[inline(always)]
    fn jump_if_true(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, self.get(instruction.a()).is_true())
    }

    #[inline(always)]
    fn jump_if_null(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, self.get(instruction.a()) == Value::NIL)
    }

    #[inline(always)]
    fn jump_unless_null(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, self.get(instruction.a()) != Value::NIL)
    }

    #[inline(always)]
    fn jump_if_pair(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, self.get(instruction.a()).is_pair())
    }

    #[inline(always)]
    fn jump_unless_pair(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(self, instruction, !self.get(instruction.a()).is_pair())
    }

    #[inline(always)]
    fn jump_if_eq(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        if self.get(instruction.a()) == self.get(instruction.b()) {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    fn jump_unless_eq(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        if self.get(instruction.a()) != self.get(instruction.b()) {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    fn jump_if_less(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, <, true)
    }

    #[inline(always)]
    fn jump_unless_less(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, <, false)
    }

    #[inline(always)]
    fn jump_if_less_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, <=, true)
    }

    #[inline(always)]
    fn jump_unless_less_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, <=, false)
    }

    #[inline(always)]
    fn jump_if_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, ==, true)
    }

    #[inline(always)]
    fn jump_unless_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_registers!(self, cold, instruction, ==, false)
    }

    #[inline(always)]
    fn jump_if_less_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, <, true)
    }

    #[inline(always)]
    fn jump_unless_less_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, <, false)
    }

    #[inline(always)]
    fn jump_if_greater_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, >, true)
    }

    #[inline(always)]
    fn jump_unless_greater_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, >, false)
    }

    #[inline(always)]
    fn jump_if_less_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, <=, true)
    }

    #[inline(always)]
    fn jump_unless_less_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, <=, false)
    }

    #[inline(always)]
    fn jump_if_greater_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, >=, true)
    }

    #[inline(always)]
    fn jump_unless_greater_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, >=, false)
    }

    #[inline(always)]
    fn jump_if_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, ==, true)
    }

    #[inline(always)]
    fn jump_unless_equal_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_small!(self, cold, instruction, ==, false)
    }

    #[inline(always)]
    fn call(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let (window, count) = (instruction.a(), instruction.d());
        let word = self.fast_code_word(self.get(window + 1), window, count);
        let point = self.return_point(window);
        self.push(window + 1, point);
        match word {
            Some(word) => {
                self.pc = word.payload() as usize;
                Flow::Next
            }
            None => slowly!(self, cold.enter(*self, count)),
        }
    }

    #[inline(always)]
    fn tail_call(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let (window, count) = (instruction.a(), instruction.d());
        self.slide(window + 1, count + 1);
        match self.fast_code_word(self.get(0), 0, count) {
            Some(word) => {
                self.pc = word.payload() as usize;
                Flow::Next
            }
            None => slowly!(self, cold.enter(*self, count)),
        }
    }

    #[inline(always)]
    fn call_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let (window, count) = (instruction.a(), instruction.d());
        let callee = self.object_field(cold.heap.register(Register::Globals), 1 + instruction.w() as usize);
        if callee == Value::UNDEFINED {
            return slowly!(self, cold.undefined_global(*self, instruction.w()));
        }
        let word = self.fast_code_word(callee, window, count);
        let point = self.return_point(window);
        self.push(window + 1, point);
        self.set(0, callee);
        match word {
            Some(word) => {
                self.pc = word.payload() as usize;
                Flow::Next
            }
            None => slowly!(self, cold.enter(*self, count)),
        }
    }

    #[inline(always)]
    fn tail_call_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let (window, count) = (instruction.a(), instruction.d());
        let callee = self.object_field(cold.heap.register(Register::Globals), 1 + instruction.w() as usize);
        if callee == Value::UNDEFINED {
            return slowly!(self, cold.undefined_global(*self, instruction.w()));
        }
        self.slide(window + 1, count + 1);
        self.set(0, callee);
        match self.fast_code_word(callee, 0, count) {
            Some(word) => {
                self.pc = word.payload() as usize;
                Flow::Next
            }
            None => slowly!(self, cold.enter(*self, count)),
        }
    }

    #[inline(always)]
    fn call_self(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let window = instruction.a();
        let callee = self.get(0);
        let frame_size = self.procedure_field(callee, 1).detail() as usize >> 8;
        let has_room = self.has_room(window + 1, frame_size);
        let target = self.pc.wrapping_add_signed(instruction.w_signed() as isize);
        let point = self.return_point(window);
        self.push(window + 1, point);
        self.set(0, callee);
        if !has_room {
            return slowly!(self, cold.enter(*self, instruction.d()));
        }
        self.pc = target;
        Flow::Next
    }

    #[inline(always)]
    fn return_value(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.pop(self.get(instruction.a()));
        Flow::Next
    }

    #[inline(always)]
    fn call_primitive(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        slowly!(self, cold.call_primitive(*self, *instruction))
    }

    #[inline(always)]
    fn arity_exact(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        if cold.machine.argument_count == instruction.a() {
            return Flow::Next;
        }
        slowly!(self, cold.wrong_arity(*self))
    }

    #[inline(always)]
    fn arity_rest(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        slowly!(self, cold.collect_rest(*self, instruction.a()))
    }

    #[inline(always)]
    fn arity_clause(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let count = cold.machine.argument_count;
        let fits = count == instruction.a() || (instruction.d() != 0 && count > instruction.a());
        jump_when!(self, instruction, !fits)
    }

    #[inline(always)]
    fn arity_fail(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        slowly!(self, cold.wrong_arity(*self))
    }

    #[inline(always)]
    fn add(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        arithmetic!(self, cold, instruction, left, right, i64::overflowing_add, +)
    }

    #[inline(always)]
    fn subtract(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        arithmetic!(self, cold, instruction, left, right, i64::overflowing_sub, -)
    }

    #[inline(always)]
    fn multiply(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        let product = |left: i64, right: i64| (left >> 3).overflowing_mul(right);
        arithmetic!(self, cold, instruction, left, right, product, *)
    }

    #[inline(always)]
    fn add_small(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), Value::small(instruction.c_signed().into()));
        if left.is_fixnum() {
            let (bits, overflows) = (left.to_bits() as i64).overflowing_add(right.to_bits() as i64);
            if !overflows {
                self.set(instruction.a(), Value::from_bits(bits as u64));
                return Flow::Next;
            }
        } else if let Some(left) = left.as_flonum()
            && let Some(value) = Value::flonum(left + f64::from(instruction.c_signed()))
        {
            self.set(instruction.a(), value);
            return Flow::Next;
        }
        slowly!(self, cold.arithmetic_slow(*self, *instruction))
    }

    #[inline(always)]
    fn quotient(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        if Value::are_fixnums(left, right)
            && let Some(quotient) = (left.to_bits() as i64).checked_div(right.to_bits() as i64)
            && let Some(value) = Value::fixnum(quotient)
        {
            self.set(instruction.a(), value);
            return Flow::Next;
        }
        slowly!(self, cold.arithmetic_slow(*self, *instruction))
    }

    #[inline(always)]
    fn remainder(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        if Value::are_fixnums(left, right)
            && let Some(remainder) = (left.to_bits() as i64).checked_rem(right.to_bits() as i64)
        {
            self.set(instruction.a(), Value::from_bits(remainder as u64));
            return Flow::Next;
        }
        slowly!(self, cold.arithmetic_slow(*self, *instruction))
    }

    #[inline(always)]
    fn divide(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        if let (Some(dividend), Some(divisor)) = (left.as_flonum(), right.as_flonum())
            && let Some(value) = Value::flonum(dividend / divisor)
        {
            self.set(instruction.a(), value);
            return Flow::Next;
        }
        slowly!(self, cold.arithmetic_slow(*self, *instruction))
    }

    #[inline(always)]
    fn cons(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let Some(index) = cold.heap.bump_young(2) else {
            return slowly!(self, cold.make_room(*self, 2));
        };
        self.fill(index, self.get(instruction.b()));
        self.fill(index + 1, self.get(instruction.c()));
        self.set(instruction.a(), Value::pair_at(index));
        Flow::Next
    }

    #[inline(always)]
    fn car(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.b());
        if !pair.is_pair() {
            return slowly!(self, cold.not_a_pair(*self, "car", pair));
        }
        self.set(instruction.a(), self.pair_field(pair, 0));
        Flow::Next
    }

    #[inline(always)]
    fn cdr(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.b());
        if !pair.is_pair() {
            return slowly!(self, cold.not_a_pair(*self, "cdr", pair));
        }
        self.set(instruction.a(), self.pair_field(pair, 1));
        Flow::Next
    }

    #[inline(always)]
    fn set_car(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.a());
        if !pair.is_pair() {
            return slowly!(self, cold.not_a_pair(*self, "set-car!", pair));
        }
        cold.heap.note_write(pair.index());
        self.fill(pair.index(), self.get(instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    fn set_cdr(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.a());
        if !pair.is_pair() {
            return slowly!(self, cold.not_a_pair(*self, "set-cdr!", pair));
        }
        cold.heap.note_write(pair.index());
        self.fill(pair.index() + 1, self.get(instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    fn vector_ref(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (vector, index) = (self.get(instruction.b()), self.get(instruction.c()));
        match self.element(vector, index, false) {
            Some(position) => {
                self.set(instruction.a(), self.object_field(vector, 1 + position));
                Flow::Next
            }
            None => slowly!(self, cold.vector_failure(*self, "vector-ref", vector, index)),
        }
    }

    #[inline(always)]
    fn vector_set(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (vector, index) = (self.get(instruction.a()), self.get(instruction.b()));
        match self.element(vector, index, true) {
            Some(position) => {
                let index = vector.index() + 1 + position;
                cold.heap.note_write(index);
                self.fill(index, self.get(instruction.c()));
                Flow::Next
            }
            None => slowly!(self, cold.vector_failure(*self, "vector-set!", vector, index)),
        }
    }

    #[inline(always)]
    fn underflow(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        slowly!(self, cold.underflow(*self))
    }

    #[inline(always)]
    fn apply(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        slowly!(self, cold.apply(*self))
    }

    #[inline(always)]
    fn call_with_continuation(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        slowly!(self, cold.call_with_continuation(*self))
    }

    #[inline(always)]
    fn enter_continuation(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        slowly!(self, cold.enter_continuation(*self))
    }

    #[inline(always)]
    fn throw(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        slowly!(self, cold.throw(*self))
    }

    #[inline(always)]
    fn call_with_prompt(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        slowly!(self, cold.call_with_prompt(*self))
    }

    #[inline(always)]
    fn abort_to_prompt(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        slowly!(self, cold.abort_to_prompt(*self))
    }

    #[inline(always)]
    fn call_with_composable(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        slowly!(self, cold.call_with_composable(*self))
    }

    #[inline(always)]
    fn resume_composable(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        slowly!(self, cold.resume_composable(*self))
    }

    #[inline(always)]
    fn call_with_results(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        slowly!(self, cold.call_with_results(*self, *instruction))
    }

    #[inline(always)]
    fn uncaught(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.outcome = Some(Outcome::Uncaught(self.get(1)));
        Flow::Stop
    }
}

impl Hot {
    /// Whether the word is a cell. Compiled code only makes cells where it uses them; but frames and closures also come from images, whose bytes may be anything.
    #[inline(always)]
    fn is_cell(&self, value: Value) -> bool {
        value.is_object() && self.object_field(value, 0) == crate::heap::CELL_HEADER
    }

    /// The position that `index` names in `vector`, if both are what they should be and the vector may be written when `for_writing`.
    #[inline(always)]
    fn element(&self, vector: Value, index: Value, for_writing: bool) -> Option<usize> {
        if !vector.is_object() {
            return None;
        }
        let header = self.object_field(vector, 0);
        let wanted = crate::heap::VECTOR_HEADER;
        let mask = if for_writing {
            crate::heap::KIND_AND_MUTABILITY_MASK
        } else {
            crate::heap::KIND_MASK
        };
        let position = (index.to_bits() >> 3) as usize;
        let is_vector = header.to_bits() & mask == wanted.to_bits() & mask;
        (is_vector && index.is_fixnum() && position < header.payload() as usize).then_some(position)
    }
}

const _: () = assert!(ARITY_AT_ENTRY == 255);
