//! How the running frame captures what is below it, and how a captured frame comes to run.
//!
//! Programs that live by continuations are here all the time: each method takes its words from those at hand, checks nothing that is known, and calls nothing.
//! INVARIANT: a method that gives nothing has changed nothing; the slow way then makes room, or does what is special.
//! Read next: `machine/control.rs`.

use crate::code::builtin::{COMPOSABLE_WORD, CONTINUATION_WORD};
use crate::heap::kind::{captured, link, prompt_link};
use crate::heap::{Heap, Kind, Register};
use crate::value::{Immediate, Value};

use super::fresh::{Fresh, put};
use super::segment::{
    CAPTURE_WORDS, copied_words, limit_of, next_of, put_continuation, put_copy, put_link, put_segment,
};
use super::{Hot, Machine};

/// After a capture the stack is free up to the frame, which is to be [moved](Hot::move_to_bottom) to its bottom.
impl Hot {
    /// The continuation below the frame.
    #[inline(always)]
    pub(super) fn capture_below(&self, machine: &mut Machine, heap: &mut Heap) -> Option<Value> {
        let (words, frames) = (self.heap(), self.frames_below());
        let mut fresh = Fresh::at_hand(heap, frames.len() + 1 + CAPTURE_WORDS)?;
        let chain = machine.chain_with(heap, words, &mut fresh, frames);
        let continuation = put_continuation(heap, words, &mut fresh, (CONTINUATION_WORD, chain));
        fresh.take(heap);
        match frames.len() {
            0 => machine.set_chain(heap, chain),
            limit => machine.set_counted_chain(heap, chain, limit),
        }
        Some(continuation)
    }

    /// Puts a prompt with these properties on what is below the frame, and `frame` on the dynamic environment, if there is one; says whether it was so easy.
    #[inline(always)]
    pub(super) fn enter_prompt(
        &self,
        machine: &mut Machine,
        heap: &mut Heap,
        (tag, handler): (Value, Value),
        frame: Option<Value>,
    ) -> bool {
        const { assert!(prompt_link::TAG == 0 && prompt_link::HANDLER == 1 && prompt_link::NEXT == 2) };
        const { assert!(prompt_link::WINDERS == 3 && prompt_link::DYNAMIC == 4) };
        let (words, frames) = (self.heap(), self.frames_below());
        let Some(mut fresh) = Fresh::at_hand(heap, frames.len() + 1 + CAPTURE_WORDS) else {
            return false;
        };
        let chain = machine.chain_with(heap, words, &mut fresh, frames);
        let (winders, dynamic) = (heap.register(Register::Winders), heap.register(Register::Dynamic));
        let fields: [Value; prompt_link::LENGTH] = [tag, handler, chain, winders, dynamic];
        let prompt = Value::object_at(put(words, &mut fresh, Kind::PromptLink, fields));
        if let Some(frame) = frame {
            let pair = fresh.object(2);
            words.fill(pair, frame);
            words.fill(pair + 1, dynamic);
            heap.set_register(Register::Dynamic, Value::pair_at(pair));
        }
        fresh.take(heap);
        machine.set_counted_chain(heap, prompt, 0);
        true
    }

    /// A composable continuation of the frames below this one and the chain below them, up to `prompt`; the chain afterwards is what was outside of the prompt, with its winders
    /// and dynamic environment.
    #[inline(always)]
    pub(super) fn cut_to_prompt(&self, machine: &mut Machine, heap: &mut Heap, prompt: Value) -> Option<Value> {
        let (words, frames) = (self.heap(), self.frames_below());
        let mut fresh = Fresh::at_hand(heap, frames.len() + 1 + CAPTURE_WORDS)?;
        let below = heap.register(Register::Continuation);
        let whole = machine.whole_links(words, below);
        let mut chain = put_copy(words, &mut fresh, (whole, prompt), Value::NIL)?.head;
        if machine.remaining != machine.counted {
            // The link that says what is left of the first segment is made but once.
            chain = machine.put_rest(words, &mut fresh, below, chain);
        }
        if !frames.is_empty() {
            chain = put_segment(words, &mut fresh, frames, chain);
        }
        let continuation = put_continuation(heap, words, &mut fresh, (COMPOSABLE_WORD, chain));
        fresh.take(heap);
        machine.leave_to(heap, prompt);
        Some(continuation)
    }

    /// Puts a continuation that begins with frames, and has the winders that are in force, below the stack and its newest frame on it, which runs; gives that frame's return point.
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
        Some(self.put_frame(machine, chain))
    }

    /// Puts a composable continuation that consists of frames alone on what is below this frame, and its newest frame on the stack, which runs; gives that frame's return point.
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
        let mut fresh = Fresh::at_hand(heap, frames.len() + 1 + CAPTURE_WORDS)?;
        let below = machine.chain_with(heap, words, &mut fresh, frames);
        let rest = put_copy(words, &mut fresh, (next_of(words, chain), Value::NIL), below)?;
        if rest.has_prompts {
            return None;
        }
        // What the newest frame leaves of its segment is linked, if it leaves anything.
        let segment = words.field(chain, link::FRAMES);
        let point = self.put_frame_of(segment, limit);
        let left = limit - point.detail() as usize;
        if left > 0 {
            let head = put_link(words, &mut fresh, segment, left, rest.head);
            machine.set_counted_chain(heap, head, left);
        } else {
            machine.set_chain(heap, rest.head);
        }
        fresh.take(heap);
        Some(point)
    }

    /// The words that must be at hand for [`Hot::reenter_composable`], if that is all it needs.
    pub(super) fn words_to_reenter(&self, continuation: Value) -> Option<usize> {
        let words = self.heap();
        if words.closure_field(continuation, 0) != COMPOSABLE_WORD {
            return None;
        }
        let chain = words.closure_field(continuation, captured::LINK);
        if limit_of(words, chain) == 0 {
            return None;
        }
        let (copied, has_prompts) = copied_words(words, (next_of(words, chain), Value::NIL));
        (!has_prompts).then_some(self.base_index() + CAPTURE_WORDS + copied)
    }

    /// Puts the newest frame below the stack, all of which is free, on it, where it runs, and gives that frame's return point; nothing if a prompt or nothing is there.
    #[inline(always)]
    pub(super) fn take_frame(&mut self, machine: &mut Machine, heap: &Heap) -> Option<Value> {
        if machine.remaining == 0 {
            return None;
        }
        Some(self.put_frame(machine, heap.register(Register::Continuation)))
    }

    /// Puts the newest of the frames that are left of the first segment of `chain` on the stack.
    #[inline(always)]
    fn put_frame(&mut self, machine: &mut Machine, chain: Value) -> Value {
        let segment = self.heap().field(chain, link::FRAMES);
        let point = self.put_frame_of(segment, machine.remaining);
        machine.remaining -= point.detail() as usize;
        point
    }

    /// Puts the frame of a segment whose return point is the last of its first `end` words on the stack, where it runs; gives that point.
    #[inline(always)]
    fn put_frame_of(&mut self, segment: Value, end: usize) -> Value {
        let words = self.heap();
        let point = words.field(segment, end - 1);
        debug_assert!(point.is_immediate(Immediate::Return), "frames end with a return point");
        let count = point.detail() as usize;
        words.copy_out(segment, end - count, self.bottom(count));
        self.move_to_bottom();
        point
    }
}
