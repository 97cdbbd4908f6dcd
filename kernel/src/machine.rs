//! The machine: runs compiled code on one word stack, for a budget of fuel, and always comes back.
//!
//! Owns the stack, the registers of the running computation and the ways in and out: start, run, answer a request, park, un-park.
//! A frame is a window of the stack: the slot below it holds the return point, register 0 the procedure, then arguments, locals and temporaries.
//! The stack grows to a fixed size that is small. When it is full, and whenever a continuation is captured, its frames move to the heap as one immutable segment and the
//! stack starts afresh; a return into a segment copies one frame back. So capture costs what was pushed since the last one, re-entry one frame, and depth is bounded by the heap alone.
//! INVARIANT: between runs nothing of a computation is anywhere but in its instance's heap, on the stack below `base`, and in the few fields of [`Machine`].
//! It never calls itself from a primitive, and knows no actors, files or clocks.
//! Read next: `machine/execute.rs`, then `machine/segment.rs` and `machine/control.rs`.

mod capture;
mod control;
mod execute;
mod frame;
mod fresh;
mod instance;
mod segment;
mod signal;

use crate::code::{CodeSpace, builtin};
use crate::heap::{HeapFull, Register};
use crate::value::{Immediate, Value};

pub use instance::Instance;
pub(crate) use instance::RelinkError;
pub use signal::{BacktraceEntry, backtrace};

use frame::Hot;

/// Words of the stack that frames may use.
const STACK_WORDS: usize = 64 * 1024;
/// How far the pseudo frames of interrupts and conditions reach beyond the part of the stack in use.
const OVERRUN_WORDS: usize = 8;
/// Words of the stack above the part in use: an overrun, and one more that is cleared behind it.
const MARGIN_WORDS: usize = 2 * OVERRUN_WORDS;
/// By how much the part of the stack in use grows at a time, in words.
const STACK_STEP_WORDS: usize = 256;
/// The most arguments a call may pass.
pub const ARGUMENTS_MAX: usize = 32 * 1024;

/// Why a run came back.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The computation returned; several values travel as one `Values` object.
    Finished(Value),
    /// It called a host procedure; answer with [`Machine::resume`] or [`Machine::raise`], or park it with [`Machine::capture`].
    Request {
        /// The primitive's number in the code space.
        primitive: u32,
        /// How many [arguments](Machine::arguments) it was given; the number has been checked.
        count: usize,
    },
    /// The fuel is used up; go on with [`Machine::resume`] (the value does not matter) or park it.
    OutOfFuel,
    /// It raised an object that nothing handled. The computation is gone.
    Uncaught(Value),
    /// So little memory was free that looking for it took more than computing; see [`Heap::is_overdrawn`](crate::heap::Heap::is_overdrawn). The computation is gone.
    Exhausted,
}

/// What the machine will do when it runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing: no computation is on the stack.
    Idle,
    /// Call register 0 with this many arguments.
    Entering(usize),
    /// Wait for the value of the call that the frame at the base stands for.
    Waiting,
    /// Wait, out of fuel, before the instruction at this position. The stack is as it was, so that being interrupted changes nothing.
    Interrupted(usize),
    /// Go on with the instruction at this position.
    Continuing(usize),
}

/// One machine; any number of instances take turns on it.
pub struct Machine {
    /// A vector, not a box, whose every use would claim the words for itself and so invalidate the pointers of the running frame.
    stack: Vec<Value>,
    /// The index of register 0 of the running frame.
    base: usize,
    /// Frames must end at or below this index; grows in steps, so that what lies above was never written since it was cleared.
    soft_limit: usize,
    /// What `soft_limit` is at least: so much that any frame fits at the bottom of the stack, where those of a continuation are put without asking.
    least_limit: usize,
    /// How many words of the newest continuation segment are still to be returned into.
    remaining: usize,
    /// How many words of that segment the head of the chain counts.
    counted: usize,
    /// The number of arguments of the call being entered, for entries that look.
    argument_count: usize,
    /// One past the instruction at which the machine last stopped; for backtraces only.
    stopped_at: u32,
    /// The return points of the frames around the last raise that nobody caught, innermost first; for backtraces only.
    raised_at: Vec<Value>,
    state: State,
    /// Whether nothing was written to the stack since it was cleared.
    is_clean: bool,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine::new()
    }
}

impl Machine {
    /// A machine with an empty stack.
    pub fn new() -> Machine {
        let mut machine = Machine {
            stack: vec![Value::ZERO; STACK_STEP_WORDS + MARGIN_WORDS],
            base: 1,
            soft_limit: STACK_STEP_WORDS,
            least_limit: STACK_STEP_WORDS,
            remaining: 0,
            counted: 0,
            argument_count: 0,
            stopped_at: 0,
            raised_at: Vec::new(),
            state: State::Idle,
            is_clean: true,
        };
        machine.stack[0] = underflow_point();
        machine
    }

    /// Begins a computation: a call of `procedure`. What was on the stack is dropped.
    ///
    /// # Panics
    /// With more than [`ARGUMENTS_MAX`] arguments.
    pub fn start(&mut self, instance: &mut Instance, procedure: Value, arguments: &[Value]) {
        assert!(arguments.len() <= ARGUMENTS_MAX, "the caller bounds the arguments");
        self.clear(instance);
        self.ensure_room(1 + arguments.len());
        self.is_clean = false;
        self.stack[self.base] = procedure;
        self.stack[self.base + 1..=self.base + arguments.len()].copy_from_slice(arguments);
        self.state = State::Entering(arguments.len());
    }

    /// Drops whatever computation is on the stack.
    pub fn clear(&mut self, instance: &mut Instance) {
        // Later frames must not find words of another instance, or of a turn that was undone, in registers they do not write.
        if !self.is_clean {
            self.stack[..self.soft_limit + OVERRUN_WORDS].fill(Value::ZERO);
            self.soft_limit = self.least_limit;
            self.is_clean = true;
        }
        self.empty_stack();
        (self.remaining, self.counted) = (0, 0);
        self.state = State::Idle;
        instance.heap.set_register(Register::Continuation, Value::NIL);
        instance.heap.set_register(Register::Winders, Value::NIL);
        instance.heap.set_register(Register::Dynamic, Value::NIL);
    }

    fn empty_stack(&mut self) {
        self.base = 1;
        self.stack[0] = underflow_point();
    }

    /// Runs until something other than computing is needed. Fuel is counted at calls and back edges; what is left stays in `fuel`.
    ///
    /// # Errors
    /// [`HeapFull`] if the instance has no room for the globals and literals of code that was loaded since it last ran.
    ///
    /// # Panics
    /// If there is no computation to run, or a request or interrupt has not been answered.
    pub fn run(&mut self, instance: &mut Instance, code: &CodeSpace, fuel: &mut u64) -> Result<Outcome, HeapFull> {
        self.is_clean = false;
        self.fit_frames(code);
        instance.link(code)?;
        let start = match self.state {
            State::Entering(count) => Start::Call(count),
            State::Continuing(position) => Start::At(position),
            State::Idle | State::Waiting | State::Interrupted(_) => panic!("the machine has nothing to run"),
        };
        Ok(execute::run(self, instance, code, start, fuel))
    }

    /// Answers a request with `value`, or lets an interrupted computation go on.
    ///
    /// # Panics
    /// If the machine is not waiting.
    pub fn resume(&mut self, value: Value) {
        if let State::Interrupted(position) = self.state {
            self.state = State::Continuing(position);
            return;
        }
        assert!(self.state == State::Waiting, "the machine waits for nothing");
        // Register 0 of the waiting frame is free: a primitive that returns its argument is called in it.
        self.is_clean = false;
        self.stack[self.base] = builtin::returner();
        self.stack[self.base + 1] = value;
        self.state = State::Entering(1);
    }

    /// Answers a request by raising `condition` where it was made, non-continuably.
    ///
    /// # Panics
    /// If the machine is not waiting.
    pub fn raise(&mut self, instance: &Instance, code: &CodeSpace, condition: Value) {
        self.await_interrupted(code);
        assert!(self.state == State::Waiting, "the machine waits for nothing");
        let signal = signal::signal_procedure(&instance.heap, code).or_else(|| code.primitive("%uncaught"));
        self.is_clean = false;
        self.stack[self.base] = signal.unwrap_or(Value::FALSE);
        self.stack[self.base + 1] = condition;
        self.state = State::Entering(1);
    }

    /// The position of the instruction before which the computation ran out of fuel, if it did.
    pub fn interrupted_at(&self) -> Option<u32> {
        match self.state {
            State::Interrupted(position) => u32::try_from(position).ok(),
            State::Idle | State::Entering(_) | State::Waiting | State::Continuing(_) => None,
        }
    }

    /// Parks the waiting computation: everything of it becomes a continuation in the heap, and the stack is empty.
    ///
    /// # Errors
    /// [`HeapFull`]; the computation is still on the stack.
    ///
    /// # Panics
    /// If the machine is not waiting.
    pub fn capture(&mut self, instance: &mut Instance, code: &CodeSpace) -> Result<Value, HeapFull> {
        self.await_interrupted(code);
        assert!(self.state == State::Waiting, "only a waiting computation can be parked");
        self.spill(&mut instance.heap, 0)?;
        let continuation = segment::make_continuation(&mut instance.heap)?;
        self.clear(instance);
        Ok(continuation)
    }

    /// Returns the `count` arguments of the request that the machine came back with, until it is answered.
    pub fn arguments(&self, count: usize) -> &[Value] {
        &self.stack[self.base + 1..=self.base + count]
    }

    /// Puts a parked computation back; answer it with [`Machine::resume`] or [`Machine::raise`].
    ///
    /// # Panics
    /// If `continuation` was not made by [`Machine::capture`] or by `%call/cc`.
    pub fn reinstate(&mut self, instance: &mut Instance, code: &CodeSpace, continuation: Value) {
        assert!(
            segment::is_closure_over(
                &instance.heap,
                continuation,
                code.block(builtin::CONTINUATION_BLOCK).code_word
            ),
            "not a continuation"
        );
        self.clear(instance);
        self.restore_continuation(&mut instance.heap, continuation);
        self.state = State::Waiting;
    }

    /// Turns an interrupted computation into a waiting one: as if something had been called in a window beyond the frame, whose return leads to the instruction.
    fn await_interrupted(&mut self, code: &CodeSpace) {
        let State::Interrupted(position) = self.state else {
            return;
        };
        let frame_size = code
            .block_at(position as u32)
            .map_or(1, |block| block.frame_size.into());
        self.stack[self.base + frame_size] = resumption_point(position, frame_size);
        self.base += frame_size + 1;
        self.state = State::Waiting;
    }

    /// Makes room for any frame of `code` at the bottom of the stack.
    fn fit_frames(&mut self, code: &CodeSpace) {
        // Besides the frame there is a return point below it, and above it the register for a value, if it was interrupted.
        let words = code.largest_frame() + 3;
        if words > self.least_limit {
            self.least_limit = words.next_multiple_of(STACK_STEP_WORDS);
            self.soft_limit = self.soft_limit.max(self.least_limit);
            let least = self.soft_limit + MARGIN_WORDS;
            self.stack.resize(least.max(self.stack.len()), Value::ZERO);
        }
    }

    /// Lets the part of the stack in use grow so that a frame of `words` from `base` fits; says whether the stack may be so large. At its bottom any frame fits.
    ///
    /// The stack's words may move: whoever has pointers to them takes them anew.
    fn ensure_room(&mut self, words: usize) -> bool {
        let end = self.base + words;
        if end > self.soft_limit && end <= STACK_WORDS {
            self.soft_limit = end.next_multiple_of(STACK_STEP_WORDS).min(STACK_WORDS);
        }
        let fits = end <= self.soft_limit;
        let least = end.max(self.soft_limit) + MARGIN_WORDS;
        if least > self.stack.len() && (fits || self.base == 1) {
            self.stack.resize(least.max(self.stack.len() * 2), Value::ZERO);
        }
        fits
    }
}

/// Where a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// With a call of register 0 with this many arguments.
    Call(usize),
    /// At a position in the code of the frame at the base.
    At(usize),
}

/// The point for a return to an instruction that is to be executed (again) in a frame of `frame_size` words; the value returned is dropped.
/// Its distance, longer than that of any call, tells it from a return point after a call.
fn resumption_point(position: usize, frame_size: usize) -> Value {
    Value::immediate(Immediate::Return, position as u32, frame_size as u32 + 1)
}

/// The return point at the bottom of the stack.
fn underflow_point() -> Value {
    Value::immediate(Immediate::Return, builtin::UNDERFLOW_POSITION, 1)
}
