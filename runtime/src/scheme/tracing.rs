//! The notes that are taken while turns are traced: which turn each origin belongs to, which
//! actions each call of the host added, and where the values in events came from.
//!
//! The turns of a trace follow one another without a gap, and each actor's heap keeps its origins
//! from turn to turn; so an origin leads back through variables, fields and waiting frames into
//! earlier turns. Whoever drives the trace says before each turn whose it is, and which actions of
//! earlier turns its events answer or carry.
//! INVARIANT: a turn that is taken back leaves no origin behind.
//! It does not search; `slice.rs` does. Read next: `traced_turn.rs`.

use std::ops::Range;

use duet_kernel::heap::Heap;
use duet_kernel::machine::Trace;

use super::programs::SchemePrograms;
use super::traced_turn::{TracedCall, TracedTask, TracedTurn, TurnToTrace};
use crate::model::identity::ActorId;

impl SchemePrograms {
    /// Traces turns, at most this many instructions, for [`slice`](Self::slice).
    pub fn begin_trace(&mut self, instructions_max: u64) {
        self.traced.clear();
        self.machine.begin_trace(Trace::new(instructions_max));
    }

    /// Says which turn is traced next; of an actor that begins anew in it, also the heap before.
    pub fn begin_traced_turn(&mut self, turn: TurnToTrace, former: Option<Heap>) {
        let Some(trace) = self.machine.tracing_mut() else {
            return;
        };
        trace.begin_turn(turn.actor.0);
        if turn.is_restart {
            trace.forget_heap(former);
        }
        self.traced.push(TracedTurn {
            first: trace.next_id(),
            written: trace.written().len(),
            calls: Vec::new(),
            tasks: Vec::new(),
            turn,
        });
    }

    /// Says whose heap is asked about.
    pub fn look_at_traced(&mut self, actor: ActorId) {
        if let Some(trace) = self.machine.tracing_mut() {
            trace.begin_turn(actor.0);
        }
    }

    /// Returns the number of instructions that may still be traced.
    pub fn instructions_left(&self) -> u64 {
        self.machine.tracing().map_or(0, Trace::instructions_left)
    }

    /// Notes which actions the last call of the host has added, while a turn is traced.
    pub(super) fn note_traced(&mut self, actions: Range<usize>) {
        let call = self
            .machine
            .tracing()
            .and_then(|trace| trace.calls().len().checked_sub(1));
        if let (Some(call), Some(turn)) = (call.filter(|_| !actions.is_empty()), self.traced.last_mut()) {
            turn.calls.push(TracedCall { actions, call });
        }
    }

    /// Notes that a computation begins, which an event has set off.
    pub(super) fn note_task(&mut self, event: u64) {
        if let (Some(trace), Some(turn)) = (self.machine.tracing(), self.traced.last_mut()) {
            let first = trace.next_id();
            turn.tasks.push(TracedTask { first, event });
        }
    }

    /// Collects the whole heap of the present turn, of which a trace keeps its origins.
    pub(super) fn collect_all(&mut self, heap: &mut Heap) {
        heap.expand();
        self.move_objects(heap, |programs, heap| heap.collect_major(&mut [], &programs.code));
    }

    /// Takes a step that moves the objects of the present turn's heap; a trace follows them.
    pub(super) fn move_objects(&mut self, heap: &mut Heap, step: impl FnOnce(&mut Self, &mut Heap)) {
        let before = self.machine.tracing().map(|_| heap.clone());
        step(self, heap);
        if let (Some(before), Some(trace)) = (before, self.machine.tracing_mut()) {
            trace.follow_move(before, heap);
        }
    }

    /// Takes back what the turn has done.
    pub(super) fn abort_traced(&mut self) {
        if let (Some(trace), Some(turn)) = (self.machine.tracing_mut(), self.traced.last_mut()) {
            trace.abort_turn();
            turn.calls.clear();
        }
    }
}
