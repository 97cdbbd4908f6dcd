//! Fast paths of continuations: capture of the frames below the running one, and re-entry.
//!
//! Owns methods that allocate from the free words, skip known checks and make no calls, because
//! programs with many continuations spend their time here.
//! INVARIANT: a method that returns nothing has changed nothing; the slow path then makes room or
//! handles the special case.
//! It does not make room.
//! Read next: `machine/control.rs`.

use crate::code::builtin::{COMPOSABLE_WORD, CONTINUATION_WORD};
use crate::heap::kind::{captured, link, prompt_link};
use crate::heap::{Heap, Kind, Register};
use crate::value::{Immediate, Value};

use super::allocation::{Allocation, write_object};
use super::segment::{
    CAPTURE_WORDS, Links, copied_words, limit_of, next_of, write_continuation, write_copy, write_link, write_segment,
};
use super::{Frame, Machine};

/// After a capture the stack up to the frame is free; the frame [moves](Frame::move_to_bottom) to
/// its bottom.
impl Frame {
    /// The continuation below the frame.
    #[inline(always)]
    pub(super) fn capture_below(&self, machine: &mut Machine, heap: &mut Heap) -> Option<Value> {
        let (words, frames) = (self.heap(), self.frames_below());
        let mut allocation = Allocation::begin(heap, frames.len() + 1 + CAPTURE_WORDS)?;
        let chain = machine.chain_with(heap, words, &mut allocation, frames);
        let continuation = write_continuation(heap, words, &mut allocation, CONTINUATION_WORD, chain);
        allocation.commit(heap);
        match frames.len() {
            0 => machine.set_chain(heap, chain),
            limit => machine.set_counted_chain(heap, chain, limit),
        }
        Some(continuation)
    }

    /// Puts a prompt with these properties on the continuation below the frame, and `frame`, if
    /// given, on the dynamic environment; returns whether the words were free.
    #[inline(always)]
    pub(super) fn enter_prompt(
        &self,
        machine: &mut Machine,
        heap: &mut Heap,
        tag: Value,
        handler: Value,
        frame: Option<Value>,
    ) -> bool {
        const { assert!(prompt_link::TAG == 0 && prompt_link::HANDLER == 1 && prompt_link::NEXT == 2) };
        const { assert!(prompt_link::WINDERS == 3 && prompt_link::DYNAMIC == 4) };
        let (words, frames) = (self.heap(), self.frames_below());
        let Some(mut allocation) = Allocation::begin(heap, frames.len() + 1 + CAPTURE_WORDS) else {
            return false;
        };
        let chain = machine.chain_with(heap, words, &mut allocation, frames);
        let (winders, dynamic) = (heap.register(Register::Winders), heap.register(Register::Dynamic));
        let fields: [Value; prompt_link::LENGTH] = [tag, handler, chain, winders, dynamic];
        let prompt = Value::object_at(write_object(words, &mut allocation, Kind::PromptLink, fields));
        if let Some(frame) = frame {
            let pair = allocation.object(2);
            words.fill(pair, frame);
            words.fill(pair + 1, dynamic);
            heap.set_register(Register::Dynamic, Value::pair_at(pair));
        }
        allocation.commit(heap);
        machine.set_counted_chain(heap, prompt, 0);
        true
    }

    /// A composable continuation of the frames below this one and the chain below them, up to
    /// `prompt`; the chain afterwards is what was outside of the prompt, with its winders and
    /// dynamic environment.
    #[inline(always)]
    pub(super) fn cut_to_prompt(&self, machine: &mut Machine, heap: &mut Heap, prompt: Value) -> Option<Value> {
        let (words, frames) = (self.heap(), self.frames_below());
        let mut allocation = Allocation::begin(heap, frames.len() + 1 + CAPTURE_WORDS)?;
        let below = heap.register(Register::Continuation);
        let whole = machine.whole_links(words, below);
        let mut chain = write_copy(words, &mut allocation, Links::between(whole, prompt), Value::NIL)?.head;
        if machine.remaining != machine.counted {
            // The link for the rest of the first segment is made once.
            chain = machine.write_rest(words, &mut allocation, below, chain);
        }
        if !frames.is_empty() {
            chain = write_segment(words, &mut allocation, frames, chain);
        }
        let continuation = write_continuation(heap, words, &mut allocation, COMPOSABLE_WORD, chain);
        allocation.commit(heap);
        machine.leave_to(heap, prompt);
        Some(continuation)
    }

    /// Puts a continuation that begins with frames, and whose winders are in force, below the
    /// stack, and loads its newest frame, which runs; returns that frame's return point.
    #[inline(always)]
    pub(super) fn reenter(&mut self, machine: &mut Machine, heap: &mut Heap, continuation: Value) -> Option<Value> {
        let words = self.heap();
        let chain = words.closure_field(continuation, captured::LINK);
        let limit = limit_of(words, chain);
        if limit == 0 || words.closure_field(continuation, captured::WINDERS) != heap.register(Register::Winders) {
            return None;
        }
        heap.set_register(Register::Continuation, chain);
        heap.set_register(Register::Dynamic, words.closure_field(continuation, captured::DYNAMIC));
        (machine.remaining, machine.counted) = (limit, limit);
        Some(self.load_frame(machine, chain))
    }

    /// Puts a composable continuation without prompts on the continuation below this frame, and
    /// loads its newest frame, which runs; returns that frame's return point.
    #[inline(always)]
    pub(super) fn reenter_composable(
        &mut self,
        machine: &mut Machine,
        heap: &mut Heap,
        continuation: Value,
    ) -> Option<Value> {
        let words = self.heap();
        let chain = words.closure_field(continuation, captured::LINK);
        let limit = limit_of(words, chain);
        if limit == 0 {
            return None;
        }
        let frames = self.frames_below();
        let mut allocation = Allocation::begin(heap, frames.len() + 1 + CAPTURE_WORDS)?;
        let below = machine.chain_with(heap, words, &mut allocation, frames);
        let rest = write_copy(words, &mut allocation, Links::from(next_of(words, chain)), below)?;
        if rest.has_prompts {
            return None;
        }
        // The rest of the newest frame's segment gets a link, if there is one.
        let segment = words.field(chain, link::FRAMES);
        let point = self.load_frame_of(segment, limit);
        let left = limit - point.detail() as usize;
        if left > 0 {
            let head = write_link(words, &mut allocation, segment, left, rest.head);
            machine.set_counted_chain(heap, head, left);
        } else {
            machine.set_chain(heap, rest.head);
        }
        allocation.commit(heap);
        Some(point)
    }

    /// The words that must be free for [`Frame::reenter_composable`], if nothing else prevents it.
    pub(super) fn words_to_reenter(&self, continuation: Value) -> Option<usize> {
        let words = self.heap();
        if words.closure_field(continuation, 0) != COMPOSABLE_WORD {
            return None;
        }
        let chain = words.closure_field(continuation, captured::LINK);
        if limit_of(words, chain) == 0 {
            return None;
        }
        let (copied, has_prompts) = copied_words(words, Links::from(next_of(words, chain)));
        (!has_prompts).then_some(self.base_index() + CAPTURE_WORDS + copied)
    }

    /// Loads the newest frame below the stack, which is free, and returns that frame's return
    /// point; `None` if there is a prompt or nothing.
    #[inline(always)]
    pub(super) fn pop_frame(&mut self, machine: &mut Machine, heap: &Heap) -> Option<Value> {
        if machine.remaining == 0 {
            return None;
        }
        Some(self.load_frame(machine, heap.register(Register::Continuation)))
    }

    /// Loads the newest of the frames that are left of the first segment of `chain`.
    #[inline(always)]
    fn load_frame(&mut self, machine: &mut Machine, chain: Value) -> Value {
        let segment = self.heap().field(chain, link::FRAMES);
        let point = self.load_frame_of(segment, machine.remaining);
        machine.remaining -= point.detail() as usize;
        point
    }

    /// Loads the frame of a segment whose return point is the last of its first `end` words, and
    /// returns that point.
    #[inline(always)]
    fn load_frame_of(&mut self, segment: Value, end: usize) -> Value {
        let words = self.heap();
        let point = words.field(segment, end - 1);
        debug_assert!(point.is_immediate(Immediate::Return), "frames end with a return point");
        let count = point.detail() as usize;
        words.copy_out(segment, end - count, self.bottom(count));
        self.move_to_bottom();
        point
    }
}
