//! What each instruction does: one method of [`Hot`] per row of the instruction table, in a file per subject.
//!
//! Fast paths are inline and touch only the frame and the heap's words; whatever is rare is a detour through [`Cold`], which may collect, raise a condition or stop the machine.
//! INVARIANT: fuel is counted at calls and back edges only, before anything else happens, so a stopped instruction can be executed again.
//! Read next: `machine/execute/dispatch.rs`, `machine/execute/value.rs`, `machine/execute/call.rs`.

use crate::code::CodeSpace;
use crate::heap::Heap;
use crate::instruction::Instruction;
use crate::primitive::Failure;
use crate::value::Value;

use super::{Hot, Instance, Machine, Outcome, Start, State};

mod call;
mod dispatch;
mod inlined;
mod jump;
mod number;
mod object;
mod slow;
mod value;

/// How an instruction ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Stop,
    /// On by the path that was left in [`Cold`].
    Detour,
}

/// Which registers of the running frame a collection must keep.
#[derive(Clone, Copy)]
pub(super) enum InUse {
    /// This many from register 0 on: the frame is being entered or left.
    First(usize),
    /// Those that the instruction that was fetched last and those after it read.
    Before,
    /// Those that the instructions after the last fetched read.
    After,
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
    /// The word that is to be written once its page has passed the write barrier.
    place: usize,
    /// What of the slice of fuel was taken away so that it ends.
    fuel_withheld: i64,
    /// The frame after a detour and after the last instruction.
    #[cfg(not(debug_assertions))]
    frame: Hot,
}

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
        place: 0,
        fuel_withheld: 0,
        #[cfg(not(debug_assertions))]
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
        Some(outcome @ Outcome::Finished(_)) => {
            machine.clear(instance);
            outcome
        }
        Some(outcome @ (Outcome::Uncaught(_) | Outcome::Exhausted)) => {
            machine.note_raise(&instance.heap);
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
        let left = hot.fuel.max(0) + std::mem::take(&mut cold.fuel_withheld);
        let used = slice - u64::try_from(left).unwrap_or(0);
        *fuel -= used;
        cold.heap.earn_collections(used);
        if *fuel == 0 || cold.outcome != Some(Outcome::OutOfFuel) {
            return hot;
        }
        if cold.heap.is_overdrawn() {
            cold.outcome = Some(Outcome::Exhausted);
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
    #[inline(always)]
    fn take_detour(&mut self, frame: Hot) -> (Hot, Flow) {
        (self.path)(self, frame, frame.last_instruction())
    }
}

impl Hot {
    /// Writes a word of a live object. A page that has to be noted first is a detour, after which the instruction is executed again.
    #[inline(always)]
    fn write(&mut self, cold: &mut Cold<'_>, index: usize, value: Value) -> Flow {
        if !cold.heap.is_noted(index) {
            cold.place = index;
            return cold.detour(|cold, mut hot, _| {
                cold.heap.note_write(cold.place);
                hot.step_back();
                (hot, Flow::Next)
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
