//! The machine: runs compiled code on one word stack, for a budget of fuel, and always comes back.
//!
//! Owns the stack, the registers of the running computation and the ways in and out: start, run,
//! answer a request, park, reinstate. A frame is a window of the stack: the slot below it holds the
//! return point, register 0 the procedure, then come arguments, locals and temporaries. The stack
//! has a small maximum. When it is full, and whenever a continuation is captured, its frames move
//! to the heap as one immutable segment and the stack is empty; a return into a segment copies one
//! frame back. So a capture costs in proportion to the frames pushed since the last one, a re-entry
//! costs one frame, and only the heap limits the depth.
//! INVARIANT: between runs a computation is only in its instance's heap, on the stack below `base`,
//! and in the few fields of [`Machine`].
//! It does not call itself from a primitive, and knows no actors, files or clocks.
//! Read next: `machine/execute.rs`, then `machine/segment.rs` and `machine/control.rs`.

mod calls;
mod capture;
mod control;
mod counting;
mod execute;
mod frame;
mod allocation;
mod inspection;
mod moving;
mod instance;
mod native;
mod segment;
mod signal;
mod tracing;

use crate::code::{CodeSpace, builtin};
use crate::heap::{HeapFull, Register};
use crate::unit::GlobalName;
use crate::value::{Immediate, Value};

pub use calls::OpenCalls;
pub use counting::Counts;
pub use inspection::{FrameWords, KeptRaise, ParkedFrame, cell_value, parked_frames};
pub use instance::Instance;
pub(crate) use instance::RelinkError;
pub use moving::{FrameInputs, GivenWords, frame_inputs, move_frames, waiting_points};
pub use native::{Architecture, MachineCode, NativeMode};
pub use signal::{BacktraceEntry, backtrace};
pub use tracing::{Cut, HostCall, MovedWord, Origin, OriginId, Sort, Trace, Written};

use calls::Calls;
use frame::Frame;
use native::NativeTier;

/// Words of the stack that frames may use, four megabytes: frames that move to the heap cost the
/// copy, its collection and a slow return, but a collection looks at all words of the stack.
const STACK_WORDS: usize = 512 * 1024;
/// Words of the stack that are kept when a computation ends.
const STACK_WORDS_KEPT: usize = 64 * 1024;
/// Words that the pseudo frames of interrupts and conditions may use beyond the part of the stack
/// in use.
const OVERRUN_WORDS: usize = 8;
/// Words of the stack above the part in use: an overrun, and another one that is cleared behind it.
const MARGIN_WORDS: usize = 2 * OVERRUN_WORDS;
/// The least number of words by which the part of the stack in use grows; a large one grows by a
/// sixteenth.
const STACK_STEP_WORDS: usize = 256;
/// The maximum of arguments of a call.
pub const ARGUMENTS_MAX: usize = 32 * 1024;

/// Why a run came back.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The computation returned; several values travel as one `Values` object.
    Finished(Value),
    /// It called a host procedure. Answer with [`Machine::resume`] or [`Machine::raise`], or park
    /// the computation with [`Machine::capture`].
    Request {
        /// The primitive's number in the code space.
        primitive: u32,
        /// The number of [arguments](Machine::arguments), which has been checked.
        count: usize,
    },
    /// The fuel is used up. Continue with [`Machine::resume`] and any value, or park the
    /// computation.
    OutOfFuel,
    /// It raised an object that nothing handled, and has ended.
    Uncaught(Value),
    /// Collections took more time than computing; see
    /// [`Heap::is_overdrawn`](crate::heap::Heap::is_overdrawn). The computation has ended.
    Exhausted,
}

/// The machine's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing: no computation is on the stack.
    Idle,
    /// Call register 0 with this many arguments.
    Entering(usize),
    /// Wait for the value of the call that the frame at the base stands for.
    Waiting,
    /// Wait, out of fuel, before the instruction at this position. The stack is untouched, so the
    /// interruption changes nothing.
    Interrupted(usize),
    /// Go on with the instruction at this position.
    Continuing(usize),
}

/// One machine; any number of instances take turns on it.
pub struct Machine {
    /// A vector and not a box, because each use of a box claims its words exclusively and so
    /// invalidates the pointers of the running frame.
    stack: Vec<Value>,
    /// The index of register 0 of the running frame.
    base: usize,
    /// Frames end at or below this index. It grows in steps, and the words above it have not been
    /// written since they were cleared.
    soft_limit: usize,
    /// The minimum of `soft_limit`, at which any frame fits at the bottom of the stack, where a
    /// continuation's frames are loaded without a check.
    least_limit: usize,
    /// Words of the newest continuation segment that are not returned into yet.
    remaining: usize,
    /// Words of that segment that the head of the chain counts.
    counted: usize,
    /// The number of arguments of the call being entered, for entries that check it.
    argument_count: usize,
    /// One past the last instruction before the machine stopped; for backtraces only.
    stopped_at: u32,
    /// The return points of the frames around the last uncaught raise, innermost first; for
    /// backtraces only.
    raised_at: Vec<Value>,
    /// How many frames of an uncaught raise are kept, for people.
    kept_frames_max: usize,
    kept_frames: Vec<ParkedFrame>,
    kept_raises: Vec<KeptRaise>,
    state: State,
    /// Whether the stack is as it was when it was cleared.
    is_clean: bool,
    native: NativeTier,
    is_stressed: bool,
    /// The trace, while somebody wants one.
    trace: Option<Box<Trace>>,
    /// The counts of instructions, while somebody wants them.
    counts: Option<Box<Counts>>,
    /// The calls of the procedures that somebody follows.
    calls: Option<Box<Calls>>,
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
            kept_frames_max: 0,
            kept_frames: Vec::new(),
            kept_raises: Vec::new(),
            state: State::Idle,
            is_clean: true,
            native: NativeTier::default(),
            is_stressed: false,
            trace: None,
            counts: None,
            calls: None,
        };
        machine.stack[0] = underflow_point();
        machine
    }

    /// Chooses which blocks run as machine code. Programs compute the same with every choice.
    pub fn set_native(&mut self, mode: NativeMode) {
        self.native.set_mode(mode);
    }

    /// Returns how much of the fuel machine code has used since the last call of this function.
    pub fn take_native_fuel(&mut self) -> u64 {
        self.native.take_fuel()
    }

    /// Forgets what it derived from the code, because new closures over some blocks carry other
    /// words now. No computation may be running.
    pub fn forget_code(&mut self) {
        self.native.forget();
    }

    /// Chooses whether instances that it runs collect at every safepoint, whatever nothing may read
    /// any more is overwritten, and a slice ends with each unit of fuel. Programs compute the same,
    /// only much more slowly; faults of the machine come out.
    pub fn set_stress(&mut self, is_stressed: bool) {
        self.is_stressed = is_stressed;
    }

    /// Traces the computations from here on. They do the same then, slowly, and without machine
    /// code and collections.
    pub fn begin_trace(&mut self, trace: Trace) {
        self.set_native(NativeMode::Never);
        self.trace = Some(Box::new(trace));
    }

    /// Counts the instructions that are executed from here on, slowly, and without machine code.
    pub fn begin_counts(&mut self) {
        self.set_native(NativeMode::Never);
        self.counts = Some(Box::default());
    }

    /// Returns the counts of instructions, if they are counted.
    pub fn counts(&self) -> Option<&Counts> {
        self.counts.as_deref()
    }

    /// Notes the calls of these globals' procedures and their results from here on, without machine
    /// code; of none, if there is none.
    pub fn follow_calls(&mut self, followed: Vec<GlobalName>) {
        match (&mut self.calls, followed.is_empty()) {
            (Some(calls), false) => calls.follow(followed),
            (Some(calls), true) => {
                let mode = calls.mode_before;
                self.calls = None;
                self.set_native(mode);
            }
            (None, true) => {}
            (None, false) => {
                let mut calls = Calls::new(self.native.mode());
                calls.follow(followed);
                self.set_native(NativeMode::Never);
                self.calls = Some(Box::new(calls));
            }
        }
    }

    /// Returns the lines about followed calls since the last call of this function.
    pub fn take_call_lines(&mut self) -> Vec<String> {
        self.calls.as_mut().map(|calls| calls.take_lines()).unwrap_or_default()
    }

    /// Returns the followed calls that the computation which was captured last has not left.
    pub fn take_captured_calls(&mut self) -> OpenCalls {
        self.calls
            .as_mut()
            .map(|calls| calls.take_captured())
            .unwrap_or_default()
    }

    /// Lets the calls of the computation that was reinstated go on.
    pub fn reinstate_calls(&mut self, open: OpenCalls) {
        if let Some(calls) = &mut self.calls {
            calls.reinstate(open);
        }
    }

    /// Ends the trace and returns it, if there is one.
    pub fn take_trace(&mut self) -> Option<Box<Trace>> {
        self.trace.take()
    }

    /// Returns the trace, to say which turn begins or is taken back.
    pub fn tracing_mut(&mut self) -> Option<&mut Trace> {
        self.trace.as_deref_mut()
    }

    /// Returns the trace so far.
    pub fn tracing(&self) -> Option<&Trace> {
        self.trace.as_deref()
    }

    /// The fuel of one slice.
    fn slice(&self) -> u64 {
        if self.is_stressed { 1 } else { execute::SLICE }
    }

    /// Begins a computation: a call of `procedure`. Drops the frames on the stack.
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

    /// Drops the computation on the stack.
    pub fn clear(&mut self, instance: &mut Instance) {
        // Registers that later frames do not write must not hold words of another instance or of an
        // aborted turn.
        if !self.is_clean {
            self.stack[..self.soft_limit + OVERRUN_WORDS].fill(Value::ZERO);
            self.soft_limit = self.least_limit;
            let kept = STACK_WORDS_KEPT.max(self.least_limit + MARGIN_WORDS);
            if self.stack.len() > 2 * kept {
                self.stack.truncate(kept);
                self.stack.shrink_to_fit();
            }
            self.is_clean = true;
        }
        if let Some(trace) = &mut self.trace {
            trace.forget_call();
        }
        if let Some(calls) = &mut self.calls {
            calls.forget_open();
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

    /// Runs until something other than computing is needed. Calls and back edges count fuel, and
    /// primitives what they cost; the unused rest stays in `fuel`. It is below zero by what the
    /// last primitive has cost beyond the rest.
    ///
    /// # Errors
    /// [`HeapFull`] if the instance has no room for the globals and literals of code that was
    /// loaded since it last ran.
    ///
    /// # Panics
    /// If there is no computation to run, or a request or interrupt has not been answered.
    pub fn run(&mut self, instance: &mut Instance, code: &CodeSpace, fuel: &mut i64) -> Result<Outcome, HeapFull> {
        self.is_clean = false;
        self.native.prepare(code);
        self.fit_frames(code);
        instance.link(code)?;
        instance.heap.set_stressed(self.is_stressed);
        if let Some(trace) = &mut self.trace {
            trace.prepare(&mut instance.heap);
            if let State::Entering(count) = self.state {
                trace.begin(&self.stack[self.base..=self.base + count], self.base);
            }
        }
        let start = match self.state {
            State::Entering(count) => Start::Call(count),
            State::Continuing(position) => Start::At(position),
            State::Idle | State::Waiting | State::Interrupted(_) => panic!("the machine has nothing to run"),
        };
        Ok(execute::run(self, instance, code, start, fuel))
    }

    /// Answers a request with `value`, or continues an interrupted computation.
    ///
    /// # Panics
    /// If the machine is not waiting.
    pub fn resume(&mut self, value: Value) {
        if let State::Interrupted(position) = self.state {
            self.state = State::Continuing(position);
            return;
        }
        assert!(self.state == State::Waiting, "the machine waits for nothing");
        // Register 0 of the waiting frame is free; the machine calls a primitive in it that returns
        // its argument.
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

    /// Parks the waiting computation as a continuation in the heap; the stack is empty afterwards.
    ///
    /// # Errors
    /// [`HeapFull`]; the computation is still on the stack.
    ///
    /// # Panics
    /// If the machine is not waiting.
    pub fn capture(&mut self, instance: &mut Instance, code: &CodeSpace) -> Result<Value, HeapFull> {
        self.await_interrupted(code);
        assert!(self.state == State::Waiting, "only a waiting computation can be parked");
        let top = instance.heap.free_range().start;
        self.spill(&mut instance.heap, 0)?;
        if let Some(trace) = &mut self.trace {
            trace.note_spilled(&instance.heap, top);
        }
        let continuation = segment::make_continuation(&mut instance.heap)?;
        if let Some(calls) = &mut self.calls {
            calls.capture();
        }
        self.clear(instance);
        Ok(continuation)
    }

    /// Returns the `count` arguments of the present request, until it is answered.
    pub fn arguments(&self, count: usize) -> &[Value] {
        &self.stack[self.base + 1..=self.base + count]
    }

    /// Reinstates a parked computation; answer it with [`Machine::resume`] or [`Machine::raise`].
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

    /// Turns an interrupted computation into a waiting one, as if the frame had called something
    /// whose return leads to the interrupted instruction.
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

    /// Ensures that any frame of `code` fits at the bottom of the stack.
    fn fit_frames(&mut self, code: &CodeSpace) {
        // Besides the frame there is a return point below it and, after an interruption, a register
        // for a value above it.
        let words = code.largest_frame() + 3;
        if words > self.least_limit {
            self.least_limit = words.next_multiple_of(STACK_STEP_WORDS);
            self.soft_limit = self.soft_limit.max(self.least_limit);
            let least = self.soft_limit + MARGIN_WORDS;
            self.stack.resize(least.max(self.stack.len()), Value::ZERO);
        }
    }

    /// Grows the part of the stack in use so that a frame of `words` from `base` fits; returns
    /// whether the stack may become so large. At its bottom any frame fits.
    ///
    /// The words may move, so pointers to them must be renewed.
    fn ensure_room(&mut self, words: usize) -> bool {
        let end = self.base + words;
        if end > self.soft_limit && end <= STACK_WORDS {
            let wanted = end + end / 16;
            self.soft_limit = wanted.next_multiple_of(STACK_STEP_WORDS).min(STACK_WORDS);
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

/// The return point that executes an instruction (again) in a frame of `frame_size` words; the
/// returned value is dropped. Its distance, longer than that of any call, tells it from a return
/// point after a call.
fn resumption_point(position: usize, frame_size: usize) -> Value {
    Value::immediate(Immediate::Return, position as u32, frame_size as u32 + 1)
}

/// The return point at the bottom of the stack.
fn underflow_point() -> Value {
    Value::immediate(Immediate::Return, builtin::UNDERFLOW_POSITION, 1)
}
