//! What each instruction does: one method per row of the instruction table, and the loop that dispatches to them.
//!
//! Fast paths are inline and touch only the frame and the heap's words; whatever is rare goes through [`Cold`], which may collect, raise a condition or stop the machine.
//! INVARIANT: fuel is counted at calls and back edges only, before anything else happens, so a stopped instruction can be executed again.
//! Read next: `machine/control.rs`, `machine/signal.rs`.

use crate::code::{ARITY_AT_ENTRY, CodeSpace};
use crate::heap::{Header, Heap, Kind, Register};
use crate::instruction::Instruction;
use crate::instruction_table;
use crate::primitive::Failure;
use crate::value::{Immediate, Value};

use super::{Hot, Instance, Machine, Outcome, Start, State};

mod dispatch;
mod inlined;
mod slow;

/// Whether the loop goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Stop,
    /// On by the path that was left in [`Cold`].
    Detour,
}

/// Everything that the fast paths do not touch.
pub(super) struct Cold<'a> {
    pub(super) machine: &'a mut Machine,
    pub(super) heap: &'a mut Heap,
    pub(super) code: &'a CodeSpace,
    /// Why the machine stops.
    pub(super) outcome: Option<Outcome>,
    /// What a detour leads through.
    path: Path,
    /// How the primitive that was called last failed.
    failure: Option<Failure>,
    /// The frame while a detour has it, and after the last instruction.
    pub(super) frame: Hot,
}

macro_rules! declare_execute {
    ($($name:ident = $code:literal, $method:ident, $mnemonic:literal, [$($operands:tt)*], $documentation:literal;)*) => {
        /// One method per instruction.
        pub(super) trait Execute {
            $(#[doc = $documentation] fn $method(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow;)*
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
    let mut hot = Hot::new(machine, &mut instance.heap, code);
    let mut cold = Cold {
        machine,
        heap: &mut instance.heap,
        code,
        outcome: None,
        path: |cold, hot, _| cold.out_of_fuel(hot),
        failure: None,
        frame: hot,
    };
    let flow = match start {
        Start::Call(argument_count) => {
            let (entered, flow) = cold.enter(hot, argument_count);
            hot = entered;
            flow
        }
        Start::At(position) => {
            hot.go_to(position);
            Flow::Next
        }
    };
    if flow == Flow::Next {
        hot = run_slices(hot, &mut cold, fuel);
    }
    let outcome = cold.outcome.take();
    cold.machine.stopped_at = hot.pc() as u32;
    hot.store(cold.machine);
    match outcome {
        Some(outcome @ Outcome::Request { .. }) => {
            cold.machine.state = State::Waiting;
            outcome
        }
        Some(Outcome::OutOfFuel) => {
            cold.machine.state = State::Interrupted(hot.pc());
            Outcome::OutOfFuel
        }
        Some(outcome @ (Outcome::Finished(_) | Outcome::Uncaught(_))) => {
            machine.clear(instance);
            outcome
        }
        None => unreachable!("the machine stops only with an outcome"),
    }
}

/// Executes instructions, a slice of the fuel at a time, until one stops or the fuel is used up.
fn run_slices(mut hot: Hot, cold: &mut Cold<'_>, fuel: &mut u64) -> Hot {
    loop {
        let slice = (*fuel).min(SLICE);
        hot.fuel = slice as i64;
        hot = dispatch::interpret(hot, cold);
        *fuel -= slice - u64::try_from(hot.fuel).unwrap_or(0);
        if *fuel == 0 || cold.outcome != Some(Outcome::OutOfFuel) {
            return hot;
        }
        cold.outcome = None;
    }
}

/// The fuel of one slice. Instructions lead to each other by calls in tail position; should an optimiser leave one of them a real call, the host's stack is unwound this often.
const SLICE: u64 = 2048;

/// The rare side of an instruction: gets the frame and the instruction, and gives the frame back.
pub(super) type Path = fn(&mut Cold<'_>, Hot, Instruction) -> (Hot, Flow);

impl Cold<'_> {
    /// Leaves the fast path: what is left of the instruction, in its present frame, is up to `path`.
    #[inline(always)]
    fn detour(&mut self, path: Path) -> Flow {
        self.path = path;
        Flow::Detour
    }

    /// Takes the detour that an instruction asked for, with the frame it left.
    fn take_detour(&mut self) -> (Hot, Flow) {
        (self.path)(self, self.frame, self.frame.last_instruction())
    }
}

/// Counts one unit of fuel, or stops before the instruction.
macro_rules! burn {
    ($hot:ident, $cold:ident) => {
        $hot.fuel -= 1;
        if $hot.fuel < 0 {
            return $cold.detour(|cold, hot, _| cold.out_of_fuel(hot));
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
            return $cold.detour(|cold, hot, instruction| cold.compare_slow(hot, instruction, $sense));
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

/// A jump on the comparison of two characters.
macro_rules! compare_characters {
    ($hot:ident, $cold:ident, $instruction:ident, $operator:tt, $sense:literal) => {{
        let (left, right) = ($hot.get($instruction.a()), $hot.get($instruction.b()));
        if !left.is_immediate(Immediate::Character) || !right.is_immediate(Immediate::Character) {
            return $cold.detour(|cold, hot, instruction| cold.test_slow(hot, instruction, $sense));
        }
        if (left.payload() $operator right.payload()) == $sense {
            $hot.branch($instruction.c_signed() as isize);
        }
        Flow::Next
    }};
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
        $cold.detour(|cold, hot, instruction| cold.arithmetic_slow(hot, instruction))
    }};
}

impl Hot {
    /// The point after the current instruction, for a window that begins at `window`.
    #[inline(always)]
    fn return_point(&self, window: usize) -> Value {
        Value::immediate(Immediate::Return, self.pc() as u32, window as u32 + 1)
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
            return cold.detour(|cold, hot, instruction| cold.undefined_global(hot, instruction.w()));
        }
        self.set(instruction.a(), value);
        Flow::Next
    }

    #[inline(always)]
    fn set_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let table = cold.heap.register(Register::Globals);
        if self.object_field(table, 1 + instruction.w() as usize) == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_global(hot, instruction.w()));
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
        let words = slow::closure_words(captured);
        let Some(index) = cold.heap.bump_young(words) else {
            return cold.detour(|cold, hot, instruction| cold.make_room_for_closure(hot, instruction));
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
            return cold.detour(|cold, hot, _| cold.make_room(hot, 2));
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
            return cold.detour(|cold, hot, _| cold.not_a_cell(hot));
        }
        self.set(instruction.a(), self.object_field(cell, 1));
        Flow::Next
    }

    #[inline(always)]
    fn cell_set(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let cell = self.get(instruction.a());
        if !self.is_cell(cell) {
            return cold.detour(|cold, hot, _| cold.not_a_cell(hot));
        }
        cold.heap.note_write(cell.index() + 1);
        self.fill(cell.index() + 1, self.get(instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    fn check_defined(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        if self.get(instruction.a()) == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_variable(hot, instruction.w()));
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
                self.go_to(word.payload() as usize);
                Flow::Next
            }
            None => cold.detour(|cold, hot, instruction| cold.enter(hot, instruction.d())),
        }
    }

    #[inline(always)]
    fn tail_call(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let (window, count) = (instruction.a(), instruction.d());
        self.slide(window + 1, count + 1);
        match self.fast_code_word(self.get(0), 0, count) {
            Some(word) => {
                self.go_to(word.payload() as usize);
                Flow::Next
            }
            None => cold.detour(|cold, hot, instruction| cold.enter(hot, instruction.d())),
        }
    }

    #[inline(always)]
    fn call_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let (window, count) = (instruction.a(), instruction.d());
        let callee = self.object_field(cold.heap.register(Register::Globals), 1 + instruction.w() as usize);
        if callee == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_global(hot, instruction.w()));
        }
        let word = self.fast_code_word(callee, window, count);
        let point = self.return_point(window);
        self.push(window + 1, point);
        self.set(0, callee);
        match word {
            Some(word) => {
                self.go_to(word.payload() as usize);
                Flow::Next
            }
            None => cold.detour(|cold, hot, instruction| cold.enter(hot, instruction.d())),
        }
    }

    #[inline(always)]
    fn tail_call_global(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        burn!(self, cold);
        let (window, count) = (instruction.a(), instruction.d());
        let callee = self.object_field(cold.heap.register(Register::Globals), 1 + instruction.w() as usize);
        if callee == Value::UNDEFINED {
            return cold.detour(|cold, hot, instruction| cold.undefined_global(hot, instruction.w()));
        }
        self.slide(window + 1, count + 1);
        self.set(0, callee);
        match self.fast_code_word(callee, 0, count) {
            Some(word) => {
                self.go_to(word.payload() as usize);
                Flow::Next
            }
            None => cold.detour(|cold, hot, instruction| cold.enter(hot, instruction.d())),
        }
    }

    #[inline(always)]
    fn call_self(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
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
    fn return_value(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        self.pop(self.get(instruction.a()));
        Flow::Next
    }

    #[inline(always)]
    fn call_primitive(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let first = self.base_index() + instruction.a();
        if !cold.compute_in_place(first, instruction.d(), instruction.w() as usize) {
            return cold.detour(|cold, hot, instruction| cold.finish_primitive(hot, instruction));
        }
        self.reload_heap(cold.heap);
        Flow::Next
    }

    #[inline(always)]
    fn arity_exact(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        if cold.machine.argument_count == instruction.a() {
            return Flow::Next;
        }
        cold.detour(|cold, hot, _| cold.wrong_arity(hot))
    }

    #[inline(always)]
    fn arity_rest(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, instruction| cold.collect_rest(hot, instruction.a()))
    }

    #[inline(always)]
    fn arity_clause(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let count = cold.machine.argument_count;
        let fits = count == instruction.a() || (instruction.d() != 0 && count > instruction.a());
        jump_when!(self, instruction, !fits)
    }

    #[inline(always)]
    fn arity_fail(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.wrong_arity(hot))
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
        cold.detour(|cold, hot, instruction| cold.arithmetic_slow(hot, instruction))
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
        cold.detour(|cold, hot, instruction| cold.arithmetic_slow(hot, instruction))
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
        cold.detour(|cold, hot, instruction| cold.arithmetic_slow(hot, instruction))
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
        cold.detour(|cold, hot, instruction| cold.arithmetic_slow(hot, instruction))
    }

    #[inline(always)]
    fn cons(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let Some(index) = cold.heap.bump_young(2) else {
            return cold.detour(|cold, hot, _| cold.make_room(hot, 2));
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
            return cold.detour(|cold, hot, instruction| cold.not_a_pair(hot, "car", hot.get(instruction.b())));
        }
        self.set(instruction.a(), self.pair_field(pair, 0));
        Flow::Next
    }

    #[inline(always)]
    fn cdr(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.b());
        if !pair.is_pair() {
            return cold.detour(|cold, hot, instruction| cold.not_a_pair(hot, "cdr", hot.get(instruction.b())));
        }
        self.set(instruction.a(), self.pair_field(pair, 1));
        Flow::Next
    }

    #[inline(always)]
    fn set_car(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.a());
        if !pair.is_pair() {
            return cold.detour(|cold, hot, instruction| cold.not_a_pair(hot, "set-car!", hot.get(instruction.a())));
        }
        cold.heap.note_write(pair.index());
        self.fill(pair.index(), self.get(instruction.b()));
        Flow::Next
    }

    #[inline(always)]
    fn set_cdr(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let pair = self.get(instruction.a());
        if !pair.is_pair() {
            return cold.detour(|cold, hot, instruction| cold.not_a_pair(hot, "set-cdr!", hot.get(instruction.a())));
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
            None => cold.detour(|cold, hot, instruction| {
                cold.vector_failure(hot, "vector-ref", [hot.get(instruction.b()), hot.get(instruction.c())])
            }),
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
            None => cold.detour(|cold, hot, instruction| {
                cold.vector_failure(hot, "vector-set!", [hot.get(instruction.a()), hot.get(instruction.b())])
            }),
        }
    }

    #[inline(always)]
    fn modulo(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.b()), self.get(instruction.c()));
        if Value::are_fixnums(left, right)
            && let divisor = right.to_bits() as i64
            && let Some(remainder) = (left.to_bits() as i64).checked_rem(divisor)
        {
            let is_opposite = remainder != 0 && (remainder < 0) != (divisor < 0);
            let modulo = if is_opposite { remainder + divisor } else { remainder };
            self.set(instruction.a(), Value::from_bits(modulo as u64));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    fn part(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (mut part, mut path) = (self.get(instruction.b()), instruction.d());
        while path > 1 {
            if !part.is_pair() {
                return cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction));
            }
            part = self.pair_field(part, path & 1);
            path >>= 1;
        }
        self.set(instruction.a(), part);
        Flow::Next
    }

    #[inline(always)]
    fn string_ref(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (string, index) = (self.get(instruction.b()), self.get(instruction.c()));
        if cold.heap.is_string(string)
            && index.is_fixnum()
            && let Some(character) = cold.heap.string_ref(string, (index.to_bits() >> 3) as usize)
        {
            self.set(instruction.a(), Value::character(character));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    fn string_length(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let string = self.get(instruction.b());
        if cold.heap.is_string(string) {
            self.set(instruction.a(), Value::length(cold.heap.string_length(string)));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    fn vector_length(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let vector = self.get(instruction.b());
        if self.is_kind(vector, Kind::Vector as u8) {
            let length = self.object_field(vector, 0).payload() as usize;
            self.set(instruction.a(), Value::length(length));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    fn bytevector_ref(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (bytevector, index) = (self.get(instruction.b()), self.get(instruction.c()));
        if self.is_kind(bytevector, Kind::Bytevector as u8)
            && index.is_fixnum()
            && let Some(byte) = cold.heap.byte_at(bytevector, (index.to_bits() >> 3) as usize)
        {
            self.set(instruction.a(), Value::small(i32::from(byte)));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    fn bytevector_set(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (bytevector, index) = (self.get(instruction.a()), self.get(instruction.b()));
        if self.is_kind(bytevector, Kind::Bytevector as u8)
            && index.is_fixnum()
            && let Some(byte) = self.get(instruction.c()).as_fixnum()
            && let Ok(byte) = u8::try_from(byte)
            && cold.heap.set_byte_at(bytevector, (index.to_bits() >> 3) as usize, byte)
        {
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    fn record_ref(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let record = self.get(instruction.b());
        if self.is_instance_with(record, self.get(instruction.c()), instruction.d()) {
            self.set(instruction.a(), self.object_field(record, 2 + instruction.d()));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    fn record_set(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let record = self.get(instruction.a());
        if self.is_instance_with(record, self.get(instruction.b()), instruction.d()) {
            let index = record.index() + 2 + instruction.d();
            cold.heap.note_write(index);
            self.fill(index, self.get(instruction.c()));
            return Flow::Next;
        }
        cold.detour(|cold, hot, instruction| cold.inlined_slow(hot, instruction))
    }

    #[inline(always)]
    fn jump_if_eqv(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.a()), self.get(instruction.b()));
        if left != right && left.is_object() && right.is_object() {
            return cold.detour(|cold, hot, instruction| cold.test_slow(hot, instruction, true));
        }
        if left == right {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    fn jump_unless_eqv(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (left, right) = (self.get(instruction.a()), self.get(instruction.b()));
        if left != right && left.is_object() && right.is_object() {
            return cold.detour(|cold, hot, instruction| cold.test_slow(hot, instruction, false));
        }
        if left != right {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    fn jump_if_kind(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(
            self,
            instruction,
            self.is_kind(self.get(instruction.a()), instruction.d() as u8)
        )
    }

    #[inline(always)]
    fn jump_unless_kind(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(
            self,
            instruction,
            !self.is_kind(self.get(instruction.a()), instruction.d() as u8)
        )
    }

    #[inline(always)]
    fn jump_if_character(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(
            self,
            instruction,
            self.get(instruction.a()).is_immediate(Immediate::Character)
        )
    }

    #[inline(always)]
    fn jump_unless_character(&mut self, _: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        jump_when!(
            self,
            instruction,
            !self.get(instruction.a()).is_immediate(Immediate::Character)
        )
    }

    #[inline(always)]
    fn jump_if_record(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (value, record_type) = (self.get(instruction.a()), self.get(instruction.b()));
        if !self.is_kind(record_type, Kind::RecordType as u8) {
            return cold.detour(|cold, hot, instruction| cold.test_slow(hot, instruction, true));
        }
        let is_instance = self.is_kind(value, Kind::Record as u8) && self.object_field(value, 1) == record_type;
        if is_instance {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    fn jump_unless_record(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        let (value, record_type) = (self.get(instruction.a()), self.get(instruction.b()));
        if !self.is_kind(record_type, Kind::RecordType as u8) {
            return cold.detour(|cold, hot, instruction| cold.test_slow(hot, instruction, false));
        }
        let is_instance = self.is_kind(value, Kind::Record as u8) && self.object_field(value, 1) == record_type;
        if !is_instance {
            self.branch(instruction.c_signed() as isize);
        }
        Flow::Next
    }

    #[inline(always)]
    fn jump_if_char_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, ==, true)
    }

    #[inline(always)]
    fn jump_unless_char_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, ==, false)
    }

    #[inline(always)]
    fn jump_if_char_less(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, <, true)
    }

    #[inline(always)]
    fn jump_unless_char_less(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, <, false)
    }

    #[inline(always)]
    fn jump_if_char_less_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, <=, true)
    }

    #[inline(always)]
    fn jump_unless_char_less_equal(&mut self, cold: &mut Cold<'_>, instruction: &Instruction) -> Flow {
        compare_characters!(self, cold, instruction, <=, false)
    }

    #[inline(always)]
    fn underflow(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.underflow(hot))
    }

    #[inline(always)]
    fn apply(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.apply(hot))
    }

    #[inline(always)]
    fn call_with_continuation(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.call_with_continuation(hot))
    }

    #[inline(always)]
    fn enter_continuation(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.enter_continuation(hot))
    }

    #[inline(always)]
    fn throw(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.throw(hot))
    }

    #[inline(always)]
    fn call_with_prompt(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.call_with_prompt(hot))
    }

    #[inline(always)]
    fn abort_to_prompt(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.abort_to_prompt(hot))
    }

    #[inline(always)]
    fn call_with_composable(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.call_with_composable(hot))
    }

    #[inline(always)]
    fn resume_composable(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| cold.resume_composable(hot))
    }

    #[inline(always)]
    fn call_with_results(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, instruction| cold.call_with_results(hot, instruction))
    }

    #[inline(always)]
    fn uncaught(&mut self, cold: &mut Cold<'_>, _: &Instruction) -> Flow {
        cold.detour(|cold, hot, _| {
            cold.outcome = Some(Outcome::Uncaught(hot.get(1)));
            (hot, Flow::Stop)
        })
    }
}

impl Hot {
    /// Whether the word is a cell. Compiled code only makes cells where it uses them; but frames and closures also come from images, whose bytes may be anything.
    #[inline(always)]
    fn is_cell(&self, value: Value) -> bool {
        value.is_object() && self.object_field(value, 0) == crate::heap::CELL_HEADER
    }

    /// Whether the word is an object of the kind with this code.
    #[inline(always)]
    fn is_kind(&self, value: Value, code: u8) -> bool {
        value.is_object() && self.object_field(value, 0).to_bits() >> 8 & 0xff == u64::from(code)
    }

    /// Whether `record` is an instance of `record_type` that has a field at index `field`.
    #[inline(always)]
    fn is_instance_with(&self, record: Value, record_type: Value, field: usize) -> bool {
        self.is_kind(record, Kind::Record as u8)
            && self.object_field(record, 1) == record_type
            && self.is_kind(record_type, Kind::RecordType as u8)
            && 1 + field < self.object_field(record, 0).payload() as usize
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
