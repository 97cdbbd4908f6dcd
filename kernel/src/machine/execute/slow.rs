//! Slow paths: entering procedures that need a closer look, calling primitives, making room,
//! generic arithmetic.
//!
//! INVARIANT: a method that may collect keeps every value that it still needs in the frame, and
//! renews the heap's words afterwards.
//! It does not move control between continuations; `machine/control.rs` does.
//! Read next: `machine/control.rs`.

use crate::code::ARITY_AT_ENTRY;
use crate::heap::{AllLive, Heap, HeapFull, LiveRegisters, clear_dead, clear_dead_frames};
use crate::instruction::{Field, Instruction, Opcode, Role};
use crate::primitive::{
    Context, Cost, Function, Primitive, PrimitiveBody, PrimitiveError, arithmetic, integer, wrong_type,
};
use crate::value::{Immediate, Value};

use super::super::{ARGUMENTS_MAX, Frame, OVERRUN_WORDS, Outcome, STACK_STEP_WORDS};
use super::{Flow, InUse, SlowPath};

impl SlowPath<'_> {
    /// Words of the frame whose instruction was fetched last.
    pub(in super::super) fn frame_size(&self, frame: Frame) -> usize {
        self.code
            .block_at(frame.pc() as u32 - 1)
            .map_or(1, |block| block.frame_size.into())
    }

    /// Enters the procedure in register 0 with `count` arguments after it; the return point lies
    /// below.
    #[inline(never)]
    pub(in super::super) fn enter(&mut self, frame: Frame, count: usize) -> (Frame, Flow) {
        let callee = frame.get(0);
        if count > ARGUMENTS_MAX {
            return self.fail_entry(frame, "too-many-arguments", "a call passes too many arguments", vec![]);
        }
        if callee.is_procedure_object() {
            return self.enter_code(frame, frame.procedure_field(callee, 1), count);
        }
        if !callee.is_immediate(Immediate::Primitive) {
            return self.fail_entry(
                frame,
                "not-a-procedure",
                "the object that is called is not a procedure",
                vec![callee],
            );
        }
        let code = self.code;
        let primitive = &code.primitives()[callee.payload() as usize];
        if !primitive.accepts(count) {
            return self.wrong_primitive_arity(frame, primitive, count);
        }
        match primitive.body {
            PrimitiveBody::Function(_) => self.enter_function(frame, primitive, count),
            PrimitiveBody::Control(block) => {
                let block = crate::code::builtin::control_block(block);
                self.enter_code(frame, self.code.block(block).code_word, count)
            }
            PrimitiveBody::Host => {
                self.outcome = Some(Outcome::Request {
                    primitive: callee.payload(),
                    count,
                });
                (frame, Flow::Stop)
            }
        }
    }

    /// Enters the block that is running once more, as [`enter`](Self::enter) does. Its closure may
    /// have other code by now.
    #[inline(never)]
    pub(in super::super) fn enter_running(&mut self, frame: Frame, count: usize) -> (Frame, Flow) {
        // The instruction that calls is the one before the next.
        match self.code.block_at(frame.pc() as u32 - 1) {
            Some(block) => self.enter_code(frame, block.code_word, count),
            None => self.enter(frame, count),
        }
    }

    #[inline(always)]
    fn enter_code(&mut self, mut frame: Frame, word: Value, count: usize) -> (Frame, Flow) {
        let detail = word.detail();
        let (arity, frame_size) = (detail as u8, (detail >> 8) as usize);
        if arity != ARITY_AT_ENTRY && usize::from(arity) != count {
            return self.wrong_closure_arity(frame, word, count);
        }
        let words = frame_size.max(1 + count) + 1;
        if !frame.has_room(0, words) {
            match self.grow_stack(frame, words, 1 + count) {
                Ok(grown) => frame = grown,
                Err(HeapFull) => return self.out_of_memory(frame),
            }
        }
        self.machine.argument_count = count;
        frame.jump_to(word.payload() as usize);
        (frame, Flow::Next)
    }

    /// Makes room for a frame of `words` at the base, of which `used` are in use: in the stack if
    /// it may grow, else by moving the frames below to the heap.
    pub(in super::super) fn grow_stack(
        &mut self,
        mut frame: Frame,
        words: usize,
        used: usize,
    ) -> Result<Frame, HeapFull> {
        frame.store(self.machine);
        if !self.machine.ensure_room(words) {
            if self.machine.spill(self.heap, used).is_err() {
                self.collect_major(&mut frame, InUse::First(used));
                self.machine.spill(self.heap, used)?;
            }
            self.machine.ensure_room(words);
        }
        frame.reload(self.machine, self.heap);
        Ok(frame)
    }

    /// Calls a computing primitive in its own frame and returns its value.
    fn enter_function(&mut self, mut frame: Frame, primitive: &Primitive, count: usize) -> (Frame, Flow) {
        let outcome = self.compute(&mut frame, primitive, 1, count, InUse::First(1 + count));
        self.leave_function(frame, outcome)
    }

    /// Returns from a computing primitive that was called in its own frame, in which it is register
    /// 0, or raises the condition of its failure.
    pub(in super::super) fn leave_function(
        &mut self,
        mut frame: Frame,
        outcome: Result<Value, PrimitiveError>,
    ) -> (Frame, Flow) {
        self.pay(&mut frame);
        match outcome {
            Ok(value) => {
                frame.set(0, value);
                if self.heap.is_collection_due() {
                    self.collect(&mut frame, InUse::First(1));
                }
                let value = frame.get(0);
                frame.pop(value);
                (frame, Flow::Next)
            }
            Err(failure) => {
                let name = self
                    .code
                    .primitive_in(frame.get(0))
                    .map_or("", |primitive| primitive.name);
                let condition = self.failure_condition(frame, name, &failure, |argument| frame.get(1 + argument));
                self.signal_in_place(frame, condition)
            }
        }
    }

    /// Applies a computing primitive to `count` registers from `first`; if memory runs out,
    /// collects and applies it once more.
    fn compute(
        &mut self,
        frame: &mut Frame,
        primitive: &Primitive,
        first_register: usize,
        count: usize,
        in_use: InUse,
    ) -> Result<Value, PrimitiveError> {
        let PrimitiveBody::Function(function) = primitive.body else {
            return Err(PrimitiveError::HeapFull);
        };
        let first = frame.base_index() + first_register;
        let mut outcome = self.apply_at(function, primitive.cost, first, count);
        if outcome == Err(PrimitiveError::HeapFull) {
            self.collect_major(frame, in_use);
            let first = frame.base_index() + first_register;
            self.heap.take_charge();
            outcome = self.apply_at(function, primitive.cost, first, count);
        }
        frame.reload_heap(self.heap);
        outcome
    }

    /// Applies the code of a primitive to `count` words of the stack from `first` on, unless there
    /// is no fuel for it.
    #[inline(always)]
    pub(in super::super) fn apply_at(
        &mut self,
        function: Function,
        cost: Cost,
        first: usize,
        count: usize,
    ) -> Result<Value, PrimitiveError> {
        let arguments = &self.machine.stack[first..first + count];
        cost.spend(self.heap, arguments)?;
        let mut context = Context {
            heap: self.heap,
            names: self.code,
        };
        function(&mut context, arguments)
    }

    /// Applies primitive `number` to `count` words of the stack from `first` on and puts its value
    /// into the first of them; returns whether nothing else is left to do than to pay.
    #[inline(never)]
    pub(super) fn compute_in_place(&mut self, first: usize, count: usize, number: usize) -> bool {
        self.compute_at(first, count, number)
    }

    /// [`SlowPath::compute_in_place`] as a part of its caller.
    #[inline(always)]
    pub(in super::super) fn compute_at(&mut self, first: usize, count: usize, number: usize) -> bool {
        let primitive = &self.code.primitives()[number];
        let PrimitiveBody::Function(function) = primitive.body else {
            return false;
        };
        match self.apply_at(function, primitive.cost, first, count) {
            Ok(value) => {
                self.machine.stack[first] = value;
                !self.heap.is_collection_due()
            }
            Err(failure) => {
                self.failure = Some(failure);
                false
            }
        }
    }

    /// Finishes after [`SlowPath::compute_in_place`]: fuel, a collection, or the condition of a
    /// failure.
    pub(in super::super) fn finish_primitive(&mut self, mut frame: Frame, instruction: Instruction) -> (Frame, Flow) {
        frame.reload_heap(self.heap);
        if let Some(failure) = self.failure.take() {
            return self.recompute(frame, instruction, failure);
        }
        self.pay(&mut frame);
        let primitive = &self.code.primitives()[instruction.w() as usize];
        if !matches!(primitive.body, PrimitiveBody::Function(_)) {
            return self.wrong_primitive_arity(frame, primitive, instruction.d());
        }
        if self.heap.is_collection_due() {
            self.collect(&mut frame, InUse::After);
        }
        (frame, Flow::Next)
    }

    /// Handles a failed primitive: collects and tries again if memory was the reason, and raises
    /// the condition otherwise.
    #[cold]
    fn recompute(&mut self, mut frame: Frame, instruction: Instruction, failure: PrimitiveError) -> (Frame, Flow) {
        let (first, count) = (instruction.a(), instruction.d());
        let primitive = self.code.primitives()[instruction.w() as usize];
        let mut failure = failure;
        if failure == PrimitiveError::HeapFull {
            self.heap.take_charge();
            match self.compute(&mut frame, &primitive, first, count, InUse::Before) {
                Ok(value) => {
                    frame.set(first, value);
                    self.pay(&mut frame);
                    return (frame, Flow::Next);
                }
                Err(again) => failure = again,
            }
        }
        self.pay(&mut frame);
        let condition = self.failure_condition(frame, primitive.name, &failure, |argument| frame.get(first + argument));
        self.signal(frame, condition)
    }

    /// Collects, with these registers of the frame in use.
    pub(in super::super) fn collect(&mut self, frame: &mut Frame, in_use: InUse) {
        self.collect_with(frame, in_use, Heap::collect);
    }

    /// Runs a major collection because the limit is reached. If that overdraws the budget, takes
    /// the rest of the slice of fuel, so that the machine soon comes back to where it is stopped.
    pub(in super::super) fn collect_major(&mut self, frame: &mut Frame, in_use: InUse) {
        self.collect_with(frame, in_use, Heap::collect_major);
        self.heap.charge_collection();
        if self.heap.is_overdrawn() {
            self.withhold(frame);
        }
    }

    fn collect_with(&mut self, frame: &mut Frame, in_use: InUse, collect: Collect) {
        frame.store(self.machine);
        self.machine.settle_chain(self.heap);
        let (base, dead) = (self.machine.base, self.heap.dead_word());
        let end = base + self.clear_unused(*frame, in_use);
        let live: &dyn LiveRegisters = match self.machine.keeps_dead_registers() {
            true => &AllLive,
            false => self.code,
        };
        let stack = &mut self.machine.stack;
        clear_dead_frames(&mut stack[1..base], live, |word| word, dead);
        let words_used = self.heap.statistics().words_used;
        collect(self.heap, &mut [&mut stack[..end]], live);
        self.heap.delay_collection(end);
        self.heap.note_freed(words_used);
        // Words above may refer to objects that have moved; later frames must not find them.
        let limit = self.machine.soft_limit.max(end) + OVERRUN_WORDS;
        self.machine.stack[end..limit].fill(dead);
        self.machine.soft_limit = (end + STACK_STEP_WORDS)
            .next_multiple_of(STACK_STEP_WORDS)
            .clamp(self.machine.least_limit, self.machine.soft_limit);
        frame.reload(self.machine, self.heap);
    }

    /// Clears the registers of the frame that are not in use, and returns the number of words that
    /// those in use take.
    fn clear_unused(&mut self, frame: Frame, in_use: InUse) -> usize {
        let position = match in_use {
            InUse::First(words) => return words,
            InUse::Before => frame.pc() - 1,
            InUse::After => frame.pc(),
        };
        let frame_size = self.frame_size(frame);
        let live = self.code.live_at(position as u32);
        if let Some(map) = live.filter(|_| !self.machine.keeps_dead_registers()) {
            let base = self.machine.base;
            let dead = self.heap.dead_word();
            clear_dead(&mut self.machine.stack[base..base + frame_size], map, dead);
        }
        frame_size
    }

    /// Makes room for the closure that the instruction makes.
    #[cold]
    pub(super) fn make_room_for_closure(&mut self, frame: Frame, instruction: Instruction) -> (Frame, Flow) {
        let captured = usize::from(self.code.block(instruction.w() as usize).captured);
        self.make_room(frame, closure_words(captured))
    }

    /// Makes room for `words` young words and executes the instruction again.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&mut self, mut frame: Frame, words: usize) -> (Frame, Flow) {
        if self.heap.is_nursery_full(words) {
            self.collect(&mut frame, InUse::Before);
        }
        let mut outcome = self.heap.reserve(words);
        if outcome.is_err() {
            self.collect_major(&mut frame, InUse::Before);
            outcome = self.heap.reserve(words);
        }
        frame.reload_heap(self.heap);
        if outcome.is_err() {
            let condition = self.memory_condition(frame);
            return self.signal(frame, condition);
        }
        frame.step_back();
        (frame, Flow::Next)
    }

    /// Stops before the current instruction, which is executed again later.
    #[cold]
    #[inline(never)]
    pub(super) fn out_of_fuel(&mut self, mut frame: Frame) -> (Frame, Flow) {
        // The instruction has counted itself.
        frame.fuel += 1;
        frame.step_back();
        self.outcome = Some(Outcome::OutOfFuel);
        (frame, Flow::Stop)
    }

    /// Puts the list of the arguments beyond the first `required` into the register after them.
    pub(super) fn collect_rest(&mut self, mut frame: Frame, required: usize) -> (Frame, Flow) {
        let count = self.machine.argument_count;
        if count < required {
            return self.wrong_arity(frame);
        }
        let words = 2 * (count - required);
        if !self.heap.has_free_words(words) {
            let frame_words = self.frame_size(frame).max(1 + count);
            if self.prepare(&mut frame, frame_words, words).is_err() {
                return self.out_of_memory(frame);
            }
        }
        let mut rest = Value::NIL;
        for register in (required + 1..=count).rev() {
            match self.heap.cons(frame.get(register), rest) {
                Ok(pair) => rest = pair,
                Err(HeapFull) => return self.out_of_memory(frame),
            }
        }
        frame.reload_heap(self.heap);
        frame.set(required + 1, rest);
        (frame, Flow::Next)
    }

    /// A comparison whose operands are not both fixnums or both immediate flonums.
    #[cold]
    #[inline(never)]
    pub(in super::super) fn compare_slow(
        &mut self,
        mut frame: Frame,
        instruction: Instruction,
        sense: bool,
    ) -> (Frame, Flow) {
        let ((name, holds), operands) = written_comparison(frame, instruction);
        let outcome = holds(self.heap, operands[0], operands[1]);
        self.pay(&mut frame);
        match outcome {
            Ok(truth) => {
                if truth == sense {
                    frame.branch(instruction.c_signed() as isize);
                }
                (frame, Flow::Next)
            }
            Err(failure) => {
                let condition = self.failure_condition(frame, name, &failure, |argument| operands[argument]);
                self.signal(frame, condition)
            }
        }
    }

    /// Arithmetic that the fast path does not do; after a collection a second time if memory runs
    /// out.
    #[cold]
    #[inline(never)]
    pub(in super::super) fn arithmetic_slow(&mut self, mut frame: Frame, instruction: Instruction) -> (Frame, Flow) {
        let mut call = written_call(frame, instruction);
        let mut outcome = (call.operation)(self.heap, call.operands[0], call.operands[1]);
        if outcome == Err(PrimitiveError::HeapFull) {
            self.collect_major(&mut frame, InUse::Before);
            self.heap.take_charge();
            call = written_call(frame, instruction);
            outcome = (call.operation)(self.heap, call.operands[0], call.operands[1]);
        }
        frame.reload_heap(self.heap);
        self.pay(&mut frame);
        match outcome {
            Ok(value) => {
                frame.set(instruction.a(), value);
                if self.heap.is_collection_due() {
                    self.collect(&mut frame, InUse::After);
                }
                (frame, Flow::Next)
            }
            Err(failure) => {
                let failure = if let PrimitiveError::WrongType { argument: 1, expected } = failure {
                    wrong_type(call.second, expected)
                } else {
                    failure
                };
                let operand = |argument: usize| call.operands[usize::from(argument > 0)];
                let condition = self.failure_condition(frame, call.name, &failure, operand);
                self.signal(frame, condition)
            }
        }
    }
}

/// A collection of either kind.
type Collect = fn(&mut Heap, &mut [&mut [Value]], &dyn LiveRegisters);

/// Words of a closure with this many captured values.
#[inline(always)]
pub(super) const fn closure_words(captured: usize) -> usize {
    (captured + 3) & !1
}

/// The call of a primitive that an arithmetic instruction stands for.
struct WrittenCall {
    name: &'static str,
    operands: [Value; 2],
    /// Which argument the second operand is, from 0.
    second: usize,
    operation: Operation,
}

type Operation = fn(&mut Heap, Value, Value) -> Result<Value, PrimitiveError>;

/// For each arithmetic instruction: the primitive that does the same, by its first and second name.
const OPERATIONS: &[(Opcode, [&str; 2], Operation)] = &[
    (Opcode::Add, ["+", "+"], arithmetic::add),
    (Opcode::Subtract, ["-", "-"], arithmetic::subtract),
    (Opcode::Multiply, ["*", "*"], arithmetic::multiply),
    (Opcode::Divide, ["/", "/"], arithmetic::divide),
    (Opcode::Quotient, ["quotient", "truncate-quotient"], integer::quotient),
    (
        Opcode::Remainder,
        ["remainder", "truncate-remainder"],
        integer::remainder,
    ),
];

fn written_call(frame: Frame, instruction: Instruction) -> WrittenCall {
    let left = frame.get(instruction.b());
    let row = OPERATIONS
        .iter()
        .find(|(opcode, ..)| Some(*opcode) == instruction.opcode());
    if let Some((_, names, operation)) = row {
        return WrittenCall {
            name: names[instruction.d().min(1)],
            operands: [left, frame.get(instruction.c())],
            second: 1 + if names[0] == names[1] { instruction.d() } else { 0 },
            operation: *operation,
        };
    }
    let constant = i32::from(instruction.c_signed());
    let (name, operands, operation): (_, _, Operation) = match instruction.d() {
        0 => ("+", [left, Value::small(constant)], arithmetic::add),
        1 => ("+", [Value::small(constant), left], arithmetic::add),
        _ => ("-", [left, Value::small(-constant)], arithmetic::subtract),
    };
    WrittenCall {
        name,
        operands,
        second: 1,
        operation,
    }
}

/// A comparison as a primitive makes it.
type Relation = (&'static str, arithmetic::Comparison);

const LESS: Relation = ("<", arithmetic::is_less);
const GREATER: Relation = (">", arithmetic::is_greater);
const LESS_EQUAL: Relation = ("<=", arithmetic::is_at_most);
const GREATER_EQUAL: Relation = (">=", arithmetic::is_at_least);
const EQUAL: Relation = ("=", arithmetic::is_equal);
const ZERO: Relation = ("zero?", arithmetic::is_equal);

/// For each pair of comparing jumps: the comparison by
/// [`Role::Spelling`](crate::instruction::Role::Spelling).
const COMPARISONS: &[([Opcode; 2], [Relation; 3])] = &[
    ([Opcode::JumpIfLess, Opcode::JumpUnlessLess], [LESS, GREATER, LESS]),
    (
        [Opcode::JumpIfLessSmall, Opcode::JumpUnlessLessSmall],
        [LESS, GREATER, LESS],
    ),
    (
        [Opcode::JumpIfGreaterSmall, Opcode::JumpUnlessGreaterSmall],
        [GREATER, LESS, GREATER],
    ),
    (
        [Opcode::JumpIfLessEqual, Opcode::JumpUnlessLessEqual],
        [LESS_EQUAL, GREATER_EQUAL, LESS_EQUAL],
    ),
    (
        [Opcode::JumpIfLessEqualSmall, Opcode::JumpUnlessLessEqualSmall],
        [LESS_EQUAL, GREATER_EQUAL, LESS_EQUAL],
    ),
    (
        [Opcode::JumpIfGreaterEqualSmall, Opcode::JumpUnlessGreaterEqualSmall],
        [GREATER_EQUAL, LESS_EQUAL, GREATER_EQUAL],
    ),
    ([Opcode::JumpIfEqual, Opcode::JumpUnlessEqual], [EQUAL, EQUAL, ZERO]),
    (
        [Opcode::JumpIfEqualSmall, Opcode::JumpUnlessEqualSmall],
        [EQUAL, EQUAL, ZERO],
    ),
];

/// The comparison that a jump makes and its operands, as they are written.
fn written_comparison(frame: Frame, instruction: Instruction) -> (Relation, [Value; 2]) {
    let takes_small = instruction
        .description()
        .is_some_and(|row| row.operands.contains(&(Field::b, Role::Small)));
    let first = frame.get(instruction.a());
    let second = if takes_small {
        Value::small(instruction.b_signed().into())
    } else {
        frame.get(instruction.b())
    };
    let is_row = |row: &&([Opcode; 2], _)| instruction.opcode().is_some_and(|opcode| row.0.contains(&opcode));
    let relations = COMPARISONS
        .iter()
        .find(is_row)
        .map_or([EQUAL; 3], |(_, relations)| *relations);
    match instruction.d() {
        0 => (relations[0], [first, second]),
        1 => (relations[1], [second, first]),
        _ => (relations[2], [first, second]),
    }
}
