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
use super::builtin::{COMPOSABLE_BLOCK, CONTINUATION_BLOCK};

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

    /// Copies the newest frame of a segment of which `remaining` words are left to the bottom of the stack, and gives its return point; nothing, and changes nothing, if it is
    /// larger than the part of the stack in use.
    #[inline(always)]
    fn copy_frame(&mut self, heap: &Heap, chain: Value, remaining: usize) -> Option<Value> {
        let frames = heap.field_words(heap.field(chain, link::FRAMES));
        let point = Value::from_bits(*frames.get(remaining.checked_sub(1)?)?);
        let words = point.detail() as usize;
        if !self.fits_bottom(words) {
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

    /// Whether a frame with a return point at this distance fits the part of the stack in use: it, the word below it and the register for the value it is to get.
    #[inline(always)]
    fn fits_bottom(&self, words: usize) -> bool {
        words + 2 <= self.soft_limit
    }
}

impl Machine {
    /// Puts a prompt with these properties on what is below the frame at `base`, which is free afterwards up to there, and `frame` on the dynamic environment, if there is one; says
    /// whether the words for it were at hand, without which nothing is changed.
    pub(super) fn enter_prompt(
        &mut self,
        heap: &mut Heap,
        base: usize,
        (tag, handler): (Value, Value),
        frame: Option<Value>,
    ) -> bool {
        heap.has_at_hand(base + CAPTURE_WORDS)
            && self.move_frames(heap, base - 1).is_ok()
            && self.put_prompt(heap, (tag, handler), frame).is_ok()
    }

    /// Puts a prompt on the chain, the stack being free, and `frame` on the dynamic environment, if there is one.
    pub(super) fn put_prompt(
        &mut self,
        heap: &mut Heap,
        (tag, handler): (Value, Value),
        frame: Option<Value>,
    ) -> Result<(), HeapFull> {
        let dynamic = heap.register(Register::Dynamic);
        let (chain, winders) = (heap.register(Register::Continuation), heap.register(Register::Winders));
        let prompt = heap.make(Kind::PromptLink, &[tag, handler, chain, winders, dynamic])?;
        if let Some(frame) = frame {
            let dynamic = heap.cons(frame, dynamic)?;
            heap.set_register(Register::Dynamic, dynamic);
        }
        self.stack[0] = super::underflow_point();
        self.set_chain(heap, prompt);
        Ok(())
    }

    /// A composable continuation of the frames below `base` on the stack and the chain below, up to `prompt`. Afterwards the stack is free up to
    /// `base` and the chain is what was outside of the prompt, with its dynamic environment.
    ///
    /// # Errors
    /// [`HeapFull`], unless the words were at hand.
    pub(super) fn cut_to_prompt(
        &mut self,
        heap: &mut Heap,
        code: &CodeSpace,
        base: usize,
        prompt: Value,
    ) -> Result<Value, HeapFull> {
        let mut chain = self.copy_to_prompt(heap, prompt)?;
        if base > 1 {
            chain = heap.segment(&self.stack[1..base], chain)?;
        }
        let (winders, dynamic) = (heap.register(Register::Winders), heap.register(Register::Dynamic));
        let word = code.block(COMPOSABLE_BLOCK).code_word;
        let continuation = heap.make(Kind::Closure, &[word, chain, winders, dynamic])?;
        self.leave_to(heap, prompt);
        Ok(continuation)
    }

    /// A copy of the chain below the stack, its head counting wholly, up to a prompt. The link that says what is left of the first segment is made but once.
    #[inline(always)]
    fn copy_to_prompt(&self, heap: &mut Heap, prompt: Value) -> Result<Value, HeapFull> {
        let chain = heap.register(Register::Continuation);
        if self.remaining == self.counted {
            return copy_chain(heap, chain, prompt, Value::NIL);
        }
        let next = next_of(heap, chain);
        let rest = copy_chain(heap, next, prompt, Value::NIL)?;
        if self.remaining == 0 {
            return Ok(rest);
        }
        let frames = heap.field(chain, link::FRAMES);
        heap.make(Kind::Link, &[frames, Value::length(self.remaining), rest])
    }

    /// Drops everything up to and including a prompt, with the winders and the dynamic environment outside of it in force.
    pub(super) fn leave_to(&mut self, heap: &mut Heap, prompt: Value) {
        self.empty_stack();
        self.set_chain(heap, heap.field(prompt, prompt_link::NEXT));
        heap.set_register(Register::Winders, heap.field(prompt, prompt_link::WINDERS));
        heap.set_register(Register::Dynamic, heap.field(prompt, prompt_link::DYNAMIC));
    }

    /// Puts a composable continuation that begins with frames on what is below the frame at `base`, and its newest frame on the stack, which is free up to `base`. Gives that
    /// frame's return point; nothing, and changes nothing, if it begins otherwise, the words are not at hand or the frame is larger than the part of the stack in use.
    pub(super) fn reenter_composable(&mut self, heap: &mut Heap, continuation: Value, base: usize) -> Option<Value> {
        let chain = heap.field(continuation, captured::LINK);
        if !heap.is_kind(chain, Kind::Link)
            || !heap.has_at_hand(base + CAPTURE_WORDS + LINK_WORDS * links_between(heap, chain, Value::NIL))
        {
            return None;
        }
        let newest = heap.field(heap.field(chain, link::FRAMES), limit_of(heap, chain).checked_sub(1)?);
        if !self.fits_bottom(newest.detail() as usize) {
            return None;
        }
        self.move_frames(heap, base - 1).ok()?;
        let below = heap.register(Register::Continuation);
        let chain = copy_chain(heap, chain, Value::NIL, below).ok()?;
        self.set_chain(heap, chain);
        self.copy_frame(heap, chain, self.remaining)
    }
}

/// Words of the largest link.
pub(super) const LINK_WORDS: usize = 8;

/// How many links there are from `chain` up to, not including, `end`.
pub(super) fn links_between(heap: &Heap, chain: Value, end: Value) -> usize {
    let mut links = 0;
    let mut rest = chain;
    while rest != end {
        links += 1;
        rest = next_of(heap, rest);
    }
    links
}

/// The nearest prompt with this tag.
pub(crate) fn find_prompt(heap: &Heap, tag: Value) -> Option<Value> {
    let mut chain = heap.register(Register::Continuation);
    while chain != Value::NIL {
        if heap.is_kind(chain, Kind::PromptLink) && heap.field(chain, prompt_link::TAG) == tag {
            return Some(chain);
        }
        chain = next_of(heap, chain);
    }
    None
}

/// Copies the links from `chain` up to, not including, `end`; the copy goes on with `below`.
pub(super) fn copy_chain(heap: &mut Heap, chain: Value, end: Value, below: Value) -> Result<Value, HeapFull> {
    if let Some(copied) = heap.copy_links(chain, end, below)? {
        return Ok(copied);
    }
    let (mut first, mut last) = (below, None);
    let mut rest = chain;
    while rest != end {
        let copy = copy_link(heap, rest, below)?;
        match last {
            None => first = copy,
            Some((last, next)) => heap.set_field(last, next, copy),
        }
        let next = if heap.is_kind(rest, Kind::Link) {
            link::NEXT
        } else {
            prompt_link::NEXT
        };
        last = Some((copy, next));
        rest = heap.field(rest, next);
    }
    Ok(first)
}

/// Gives the prompts from `chain` up to `end`, copied from a composable continuation, the winders and dynamic environments that correspond to theirs: what was put on those in
/// force when `continuation` was captured has been put on those that are in force now, and a prompt keeps a tail of each.
pub(super) fn rebase_prompts(heap: &mut Heap, (chain, end): (Value, Value), continuation: Value) {
    let states = [
        (prompt_link::WINDERS, captured::WINDERS, Register::Winders),
        (prompt_link::DYNAMIC, captured::DYNAMIC, Register::Dynamic),
    ];
    let mut rest = chain;
    while rest != end {
        if heap.is_kind(rest, Kind::PromptLink) {
            for (field, captured, register) in states {
                let lists = (heap.field(continuation, captured), heap.register(register));
                if let Some(tail) = corresponding_tail(heap, lists, heap.field(rest, field)) {
                    heap.set_field(rest, field, tail);
                }
            }
        }
        rest = next_of(heap, rest);
    }
}

/// The tail of the second list that stands where `tail` stands in the first.
fn corresponding_tail(heap: &Heap, lists: (Value, Value), tail: Value) -> Option<Value> {
    let (mut before, mut now) = lists;
    while before != tail {
        if !before.is_pair() || !now.is_pair() {
            return None;
        }
        (before, now) = (heap.cdr(before), heap.cdr(now));
    }
    Some(now)
}

/// A copy of a link of either kind that goes on with `next`.
fn copy_link(heap: &mut Heap, original: Value, next: Value) -> Result<Value, HeapFull> {
    if heap.is_kind(original, Kind::Link) {
        return heap.copy_link(original, next);
    }
    let field = |heap: &Heap, field| heap.field(original, field);
    let fields = [
        field(heap, prompt_link::TAG),
        field(heap, prompt_link::HANDLER),
        next,
        field(heap, prompt_link::WINDERS),
        field(heap, prompt_link::DYNAMIC),
    ];
    heap.make(Kind::PromptLink, &fields)
}
