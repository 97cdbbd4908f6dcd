//! The instructions: one method of [`Frame`] per row of the instruction table, in a file per
//! subject.
//!
//! Owns the run of a computation in slices of fuel. Fast paths are inline and use only the frame
//! and the heap's words; everything rare goes through [`SlowPath`], which may collect, raise a
//! condition or stop the machine.
//! INVARIANT: calls and back edges count fuel before they do anything else, so a stopped
//! instruction can be executed again. A primitive is paid when it has been computed; what it costs
//! beyond the fuel left is a debt, and the next call or back edge stops.
//! It does not know how one instruction leads to the next; `machine/execute/dispatch.rs` does.
//! Read next: `machine/execute/dispatch.rs`, `machine/execute/value.rs`, `machine/execute/call.rs`.

use crate::code::CodeSpace;
use crate::heap::Heap;
use crate::instruction::Instruction;
use crate::primitive::PrimitiveError;
use crate::value::Value;

use super::{Frame, Instance, Machine, Outcome, Start, State};

mod call;
mod counted;
mod dispatch;
mod followed;
mod inlined;
mod jump;
mod number;
mod object;
mod slow;
mod traced;
mod value;

/// How an instruction ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Stop,
    /// Continue with the step that was deferred to [`SlowPath`].
    Slow,
}

/// Which registers of the running frame a collection must keep.
#[derive(Clone, Copy)]
pub(super) enum InUse {
    /// This many from register 0 on: the frame is being entered or left.
    First(usize),
    /// Those that the last fetched instruction and later ones read.
    Before,
    /// Those that the instructions after the last fetched one read.
    After,
}

/// The state that fast paths do not use.
pub(super) struct SlowPath<'a> {
    pub(super) machine: &'a mut Machine,
    pub(super) heap: &'a mut Heap,
    pub(super) code: &'a CodeSpace,
    /// Why the machine stops.
    pub(super) outcome: Option<Outcome>,
    /// The deferred step.
    path: SlowStep,
    /// The failure of the primitive that was called last.
    failure: Option<PrimitiveError>,
    /// The index of the word to write once its page has passed the write barrier.
    place: usize,
    /// Fuel that was taken from the slice to end it.
    fuel_withheld: i64,
    /// The frame after a slow step and after the last instruction.
    #[cfg(not(debug_assertions))]
    pub(super) frame: Frame,
}

/// Runs what is ready on the stack until something stops the machine.
pub(super) fn run(
    machine: &mut Machine,
    instance: &mut Instance,
    code: &CodeSpace,
    start: Start,
    fuel: &mut i64,
) -> Outcome {
    // The host's own walks since then are not the computation's work.
    instance.heap.take_charge();
    let mut frame = Frame::new(machine, &mut instance.heap, code);
    let mut slow = SlowPath {
        machine,
        heap: &mut instance.heap,
        code,
        outcome: None,
        path: |slow, frame, _| slow.out_of_fuel(frame),
        failure: None,
        place: 0,
        fuel_withheld: 0,
        #[cfg(not(debug_assertions))]
        frame: frame,
    };
    let flow = match start {
        Start::Call(argument_count) => {
            let base_before = frame.base_index();
            let (entered, flow) = slow.enter(frame, argument_count);
            frame = entered;
            if let (Flow::Next, Some(mut calls)) = (flow, slow.machine.calls.take()) {
                calls.note(&slow.stepped(&frame, base_before), false);
                slow.machine.calls = Some(calls);
            }
            flow
        }
        Start::At(position) => {
            frame.jump_to(position);
            Flow::Next
        }
    };
    if flow == Flow::Next {
        frame = run_slices(frame, &mut slow, fuel);
    }
    let outcome = slow.outcome.take();
    slow.machine.stopped_at = frame.pc() as u32;
    frame.store(slow.machine);
    match outcome {
        Some(outcome @ Outcome::Request { .. }) => {
            slow.machine.state = State::Waiting;
            outcome
        }
        Some(Outcome::OutOfFuel) => {
            slow.machine.state = State::Interrupted(frame.pc());
            Outcome::OutOfFuel
        }
        Some(outcome @ Outcome::Finished(_)) => {
            machine.clear(instance);
            outcome
        }
        Some(outcome @ (Outcome::Uncaught(_) | Outcome::Exhausted)) => {
            machine.note_raise(&instance.heap);
            machine.keep_frames(&instance.heap, code);
            machine.clear(instance);
            outcome
        }
        None => unreachable!("the machine stops only with an outcome"),
    }
}

/// Executes instructions, a slice of the fuel at a time, until one stops or the fuel is used up.
fn run_slices(mut frame: Frame, slow: &mut SlowPath<'_>, fuel: &mut i64) -> Frame {
    loop {
        let slice = (*fuel).min(slow.machine.slice() as i64);
        frame.fuel = slice;
        frame = interpret(frame, slow);
        let left = frame.fuel + std::mem::take(&mut slow.fuel_withheld);
        let used = slice.saturating_sub(left);
        *fuel = fuel.saturating_sub(used);
        slow.heap.note_paid(used.unsigned_abs());
        slow.heap.credit_fuel(used.unsigned_abs());
        if *fuel <= 0 || slow.outcome != Some(Outcome::OutOfFuel) || slow.heap.is_stop_wanted() {
            return frame;
        }
        if slow.heap.is_overdrawn() {
            slow.outcome = Some(Outcome::Exhausted);
            return frame;
        }
        slow.outcome = None;
        slow.sample(&mut frame);
    }
}

/// Executes instructions until one stops, for at most one of those who watch: a trace looks at
/// turns that have been taken, and nobody counts or follows these; a test is counted, and no prompt
/// follows it.
fn interpret(frame: Frame, slow: &mut SlowPath<'_>) -> Frame {
    if let Some(mut trace) = slow.machine.trace.take() {
        let frame = traced::interpret(frame, slow, &mut trace);
        slow.machine.trace = Some(trace);
        frame
    } else if let Some(mut calls) = slow.machine.calls.take() {
        let frame = followed::interpret(frame, slow, &mut calls);
        slow.machine.calls = Some(calls);
        frame
    } else if let Some(mut counts) = slow.machine.counts.take() {
        let frame = counted::interpret(frame, slow, &mut counts);
        slow.machine.counts = Some(counts);
        frame
    } else {
        dispatch::interpret(frame, slow)
    }
}

/// The fuel of one slice. Instructions call each other in tail position; if an optimiser leaves one
/// of these calls a real one, the end of the slice unwinds the host's stack. It also bounds the
/// addresses that calls of machine code leave there.
pub(super) const SLICE: u64 = 2048;

/// The slow path of an instruction: takes the frame and the instruction, and returns the frame.
pub(super) type SlowStep = fn(&mut SlowPath<'_>, Frame, Instruction) -> (Frame, Flow);

impl<'a> SlowPath<'a> {
    /// Defers the rest of the instruction, in its present frame, to `step`.
    #[inline(always)]
    fn defer(&mut self, path: SlowStep) -> Flow {
        self.path = path;
        Flow::Slow
    }

    /// The last fetched instruction, as it is in the code space.
    #[inline(always)]
    fn original_before(&self, frame: Frame) -> &'a Instruction {
        &self.code.instructions()[frame.pc() - 1]
    }

    /// The byte code of the next instruction, as it is in the code space.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    fn original_code_at(&self, frame: Frame) -> usize {
        self.code.instructions()[frame.pc()].code().into()
    }

    /// Runs the deferred step with the frame that the instruction left.
    #[inline(always)]
    pub(super) fn run_slow_step(&mut self, frame: Frame) -> (Frame, Flow) {
        (self.path)(self, frame, *self.original_before(frame))
    }
}

impl SlowPath<'_> {
    /// Takes the fuel that a primitive costs. If a person stops the computation, takes the rest of
    /// the slice too, so that the machine soon comes back.
    #[inline(never)]
    pub(super) fn pay(&mut self, frame: &mut Frame) {
        let due = i64::try_from(self.heap.take_charge()).unwrap_or(i64::MAX);
        frame.fuel = frame.fuel.saturating_sub(due);
        if self.heap.is_stop_wanted() {
            self.withhold(frame);
        }
    }

    /// Takes the fuel that a primitive costs, for whoever subtracts it; nothing if
    /// [`pay`](Self::pay) has more to do.
    #[inline(always)]
    pub(super) fn fuel_to_pay(&mut self) -> Option<i64> {
        if !self.heap.is_charged() {
            return Some(0);
        }
        if self.heap.is_stop_wanted() {
            return None;
        }
        Some(i64::try_from(self.heap.take_charge()).unwrap_or(i64::MAX))
    }

    /// Takes the rest of the slice of fuel.
    pub(super) fn withhold(&mut self, frame: &mut Frame) {
        let left = frame.fuel.max(0);
        self.fuel_withheld += left;
        frame.fuel -= left;
    }
}

impl Frame {
    /// Writes a word of a live object. If the page has to pass the write barrier first, the slow
    /// path does that and executes the instruction again.
    #[inline(always)]
    fn write(&mut self, slow: &mut SlowPath<'_>, index: usize, value: Value) -> Flow {
        if !slow.heap.is_noted(index) {
            slow.place = index;
            return slow.defer(|slow, mut frame, _| {
                slow.heap.note_write(slow.place);
                frame.step_back();
                (frame, Flow::Next)
            });
        }
        self.fill(index, value);
        Flow::Next
    }

    /// Whether the word is an object of the kind with this code.
    #[inline(always)]
    fn is_kind(&self, value: Value, code: u8) -> bool {
        value.is_object() && self.object_field(value, 0).to_bits() >> 8 & 0xff == u64::from(code)
    }
}
