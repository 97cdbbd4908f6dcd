//! Continuations as they lie in the heap: how the frames of the stack move there, and how the newest of them comes back.
//!
//! A segment is a [`Kind::Frames`] of the words between the bottom of the stack and the return point on top. The continuation below the stack is a chain, newest first, of
//! [`Kind::Link`]s (a segment, how many of its words count, the next link) and [`Kind::PromptLink`]s, ending in `()`; the register `Continuation` holds its head and
//! `Machine::remaining` how much of the first segment is left. Segments are never written, so any number of continuations share them.
//! Shape chosen over copying the whole stack at each capture (cost grows with depth) and over heap-allocated frames (every call pays).
//! INVARIANT: a link's limit is what is left of its segment; a stored continuation begins with a link all of whose limit is still to be returned into.
//! It does not decide when control moves. Read next: `machine/control.rs`.

use crate::code::CodeSpace;
use crate::heap::kind::{link, prompt_link};
use crate::heap::{Heap, HeapFull, Kind, Register};
use crate::value::Value;

use super::Machine;
use super::builtin::CONTINUATION_BLOCK;

/// Captured values of a continuation: closures over the blocks that enter them, with these fields after the code word.
pub(super) mod captured {
    pub(in super::super) const LINK: usize = 1;
    pub(in super::super) const WINDERS: usize = 2;
    pub(in super::super) const DYNAMIC: usize = 3;
}

/// How many words of a chain's first segment count.
#[inline(always)]
fn limit_of(heap: &Heap, chain: Value) -> usize {
    if heap.is_kind(chain, Kind::Link) {
        heap.field(chain, link::LIMIT).as_fixnum().unwrap_or(0) as usize
    } else {
        0
    }
}

/// Appends the return points of a chain of which `remaining` words of the first segment are left, until there are `most`.
pub(super) fn chain_points(heap: &Heap, remaining: usize, most: usize, points: &mut Vec<Value>) {
    let mut chain = heap.register(Register::Continuation);
    let mut remaining = remaining;
    while chain != Value::NIL && points.len() < most {
        if heap.is_kind(chain, Kind::Link) && remaining > 0 {
            let point = heap.field(heap.field(chain, link::FRAMES), remaining - 1);
            points.push(point);
            remaining -= point.detail() as usize;
        } else {
            chain = next_of(heap, chain);
            remaining = limit_of(heap, chain);
        }
    }
}

/// The chain behind the first link of `chain`.
pub(super) fn next_of(heap: &Heap, chain: Value) -> Value {
    let field = if heap.is_kind(chain, Kind::Link) {
        link::NEXT
    } else {
        prompt_link::NEXT
    };
    heap.field(chain, field)
}

/// Whether `value` is a continuation of `%call/cc` or a parked computation.
pub(super) fn is_continuation(heap: &Heap, code: &CodeSpace, value: Value) -> bool {
    is_closure_over(heap, code, value, CONTINUATION_BLOCK)
}

/// Whether `value` is a closure over the block of this number.
pub(super) fn is_closure_over(heap: &Heap, code: &CodeSpace, value: Value, block: usize) -> bool {
    heap.is_kind(value, Kind::Closure) && heap.field(value, 0) == code.block(block).code_word
}

/// The continuation below the (empty) stack, as a procedure.
pub(super) fn make_continuation(heap: &mut Heap, code: &CodeSpace) -> Result<Value, HeapFull> {
    let fields = [
        code.block(CONTINUATION_BLOCK).code_word,
        heap.register(Register::Continuation),
        heap.register(Register::Winders),
        heap.register(Register::Dynamic),
    ];
    heap.make(Kind::Closure, &fields)
}

/// Words that capturing a continuation takes besides the frames themselves.
pub(super) const CAPTURE_WORDS: usize = 24;

impl Machine {
    /// Moves everything below the frame at the base to the heap, and the frame's first `words` to the bottom of the stack. Afterwards the head of the chain counts wholly.
    pub(super) fn spill(&mut self, heap: &mut Heap, words: usize) -> Result<(), HeapFull> {
        self.move_frames(heap, self.base - 1)?;
        self.stack.copy_within(self.base..self.base + words, 1);
        self.empty_stack();
        Ok(())
    }

    /// Puts the words of the stack up to `top` on the chain. Afterwards its head counts wholly, and these words of the stack are free.
    #[inline(always)]
    fn move_frames(&mut self, heap: &mut Heap, top: usize) -> Result<(), HeapFull> {
        let mut chain = self.whole_chain(heap)?;
        if top > 0 {
            chain = heap.segment(&self.stack[1..=top], chain)?;
            heap.set_register(Register::Continuation, chain);
            (self.remaining, self.counted) = (top, top);
        } else {
            self.set_chain(heap, chain);
        }
        Ok(())
    }

    /// The continuation below the frame whose register 0 is at `base` of the stack, which is free afterwards up to there; nothing if that takes more words than are at hand.
    pub(super) fn capture_below(&mut self, heap: &mut Heap, code: &CodeSpace, base: usize) -> Option<Value> {
        if !heap.has_at_hand(base + CAPTURE_WORDS) {
            return None;
        }
        self.move_frames(heap, base - 1).ok()?;
        self.stack[0] = super::underflow_point();
        make_continuation(heap, code).ok()
    }

    /// The chain below the stack, its head counting wholly.
    #[inline(always)]
    pub(super) fn whole_chain(&self, heap: &mut Heap) -> Result<Value, HeapFull> {
        let chain = heap.register(Register::Continuation);
        if self.remaining == self.counted {
            return Ok(chain);
        }
        self.rest_of_chain(heap, chain)
    }

    fn rest_of_chain(&self, heap: &mut Heap, chain: Value) -> Result<Value, HeapFull> {
        let next = next_of(heap, chain);
        if self.remaining == 0 {
            return Ok(next);
        }
        let frames = heap.field(chain, link::FRAMES);
        heap.make(Kind::Link, &[frames, Value::length(self.remaining), next])
    }

    /// Lets the head of the chain say what is left of its segment, if there is room for a link, so that a collection keeps no more.
    pub(super) fn settle_chain(&mut self, heap: &mut Heap) {
        if let Ok(chain) = self.whole_chain(heap) {
            self.set_chain(heap, chain);
        }
    }

    /// Makes `chain` the continuation below the stack.
    pub(super) fn set_chain(&mut self, heap: &mut Heap, chain: Value) {
        heap.set_register(Register::Continuation, chain);
        self.counted = limit_of(heap, chain);
        self.remaining = self.counted;
    }

    /// Empties the stack and puts the continuation below it, its winders and dynamic environment in force.
    pub(super) fn restore_continuation(&mut self, heap: &mut Heap, continuation: Value) {
        self.empty_stack();
        self.set_chain(heap, heap.field(continuation, captured::LINK));
        heap.set_register(Register::Winders, heap.field(continuation, captured::WINDERS));
        heap.set_register(Register::Dynamic, heap.field(continuation, captured::DYNAMIC));
    }

    /// Puts a continuation that begins with frames, and has the winders that are in force, below the stack and its newest frame on it. Gives that frame's return point;
    /// nothing, and changes nothing, if this is not so or the frame is larger than the part of the stack in use.
    pub(super) fn reenter(&mut self, heap: &mut Heap, continuation: Value) -> Option<Value> {
        let chain = heap.field(continuation, captured::LINK);
        if heap.field(continuation, captured::WINDERS) != heap.register(Register::Winders)
            || !heap.is_kind(chain, Kind::Link)
        {
            return None;
        }
        let counted = limit_of(heap, chain);
        let point = self.copy_frame(heap, chain, counted)?;
        heap.set_register(Register::Continuation, chain);
        heap.set_register(Register::Dynamic, heap.field(continuation, captured::DYNAMIC));
        self.counted = counted;
        Some(point)
    }

    /// Whether the chain below the stack begins with a frame, and not with a prompt or nothing.
    #[inline(always)]
    pub(super) fn has_frame(&self, heap: &Heap) -> bool {
        self.remaining > 0 && heap.is_kind(heap.register(Register::Continuation), Kind::Link)
    }

    /// Puts the newest frame below the stack, all of which is free, at its bottom, and gives that frame's return point; nothing, and changes nothing, if the chain does not
    /// begin with a frame or it is larger than the part of the stack in use.
    pub(super) fn take_frame(&mut self, heap: &Heap) -> Option<Value> {
        if !self.has_frame(heap) {
            return None;
        }
        self.copy_frame(heap, heap.register(Register::Continuation), self.remaining)
    }

    /// As [`Machine::take_frame`], of a chain that begins with a frame.
    pub(super) fn take_frame_making_room(&mut self, heap: &Heap) -> Value {
        self.empty_stack();
        let frames = heap.field(heap.register(Register::Continuation), link::FRAMES);
        self.ensure_room(heap.field(frames, self.remaining - 1).detail() as usize + 1);
        self.take_frame(heap).unwrap_or_else(super::underflow_point)
    }

    #[inline(always)]
    fn copy_frame(&mut self, heap: &Heap, chain: Value, remaining: usize) -> Option<Value> {
        let frames = heap.field_words(heap.field(chain, link::FRAMES));
        let point = Value::from_bits(*frames.get(remaining.checked_sub(1)?)?);
        let words = point.detail() as usize;
        // The frame, the word below it and the register for the value it is to get.
        if words + 2 > self.soft_limit {
            return None;
        }
        let saved = &frames[remaining - words..remaining - 1];
        for (word, saved) in self.stack[1..words].iter_mut().zip(saved) {
            *word = Value::from_bits(*saved);
        }
        self.stack[0] = super::underflow_point();
        self.remaining = remaining - words;
        Some(point)
    }
}
