//! Continuations in the heap: how the frames of the stack move there, and how the newest of them
//! comes back.
//!
//! Owns the chain below the stack. A segment is a [`Kind::Frames`] of the words between the bottom
//! of the stack and the return point on top. The chain has, newest first, [`Kind::Link`]s (a
//! segment, the number of its words that count, the next link) and [`Kind::PromptLink`]s, and ends
//! in `()`; the register `Continuation` holds its head, and `Machine::remaining` the number of
//! words left in the first segment. Segments are never written, so any number of continuations
//! share them. Copying the whole stack at each capture would cost in proportion to the depth, and
//! frames in the heap would slow every call.
//! INVARIANT: a link's limit is what is left of its segment; a stored continuation begins with a
//! link whose whole limit is still to be returned into.
//! INVARIANT: `remaining` is above zero only if the chain begins with a link, and is the end of one
//! of its frames.
//! It does not decide when control moves.
//! Read next: `machine/capture.rs`, `machine/control.rs`.

use crate::code::builtin::{COMPOSABLE_WORD, CONTINUATION_WORD};
use crate::heap::kind::{Header, captured, link, padded, prompt_link};
use crate::heap::{Heap, HeapFull, Kind, Register};
use crate::value::Value;

use super::Machine;
use super::allocation::{Allocation, write_object};
use super::frame::HeapWords;

/// Words that capturing a continuation or setting a prompt takes besides the frames themselves.
pub(super) const CAPTURE_WORDS: usize = 24;

/// Words of the largest link, and of what may come with it.
pub(super) const LINK_WORDS: usize = 8;

#[inline(always)]
pub(super) fn write_link(
    words: HeapWords,
    allocation: &mut Allocation,
    frames: Value,
    limit: usize,
    next: Value,
) -> Value {
    const { assert!(link::FRAMES == 0 && link::LIMIT == 1 && link::NEXT == 2) };
    debug_assert!(limit > 0, "a link has frames to return into");
    let fields: [Value; link::LENGTH] = [frames, Value::length(limit), next];
    Value::object_at(write_object(words, allocation, Kind::Link, fields))
}

/// A segment of these frames, and a link to all of it.
#[inline(always)]
pub(super) fn write_segment(words: HeapWords, allocation: &mut Allocation, frames: &[Value], next: Value) -> Value {
    let object_words = padded(1 + frames.len());
    let index = allocation.object(object_words);
    words.fill(index + object_words - 1, Value::ZERO);
    words.fill(index, Header::new(Kind::Frames, frames.len() as u32).to_value());
    words.fill_all(index + 1, frames);
    write_link(words, allocation, Value::object_at(index), frames.len(), next)
}

/// The fields of a continuation over the block with this code word.
#[inline(always)]
fn continuation_fields(heap: &Heap, word: Value, chain: Value) -> [Value; captured::LENGTH] {
    const { assert!(captured::LINK == 1 && captured::WINDERS == 2 && captured::DYNAMIC == 3) };
    let (winders, dynamic) = (heap.register(Register::Winders), heap.register(Register::Dynamic));
    [word, chain, winders, dynamic]
}

#[inline(always)]
pub(super) fn write_continuation(
    heap: &Heap,
    words: HeapWords,
    allocation: &mut Allocation,
    word: Value,
    chain: Value,
) -> Value {
    let fields = continuation_fields(heap, word, chain);
    Value::procedure_at(write_object(words, allocation, Kind::Closure, fields))
}

/// The continuation below the stack, which is empty, as a procedure.
///
/// # Errors
/// [`HeapFull`]; nothing is changed then.
pub(super) fn make_continuation(heap: &mut Heap) -> Result<Value, HeapFull> {
    let fields = continuation_fields(heap, CONTINUATION_WORD, heap.register(Register::Continuation));
    heap.make(Kind::Closure, &fields)
}

/// A composable continuation of a chain that ends with `()`.
///
/// # Errors
/// [`HeapFull`]; nothing is changed then.
pub(super) fn make_composable(heap: &mut Heap, chain: Value) -> Result<Value, HeapFull> {
    let fields = continuation_fields(heap, COMPOSABLE_WORD, chain);
    heap.make(Kind::Closure, &fields)
}

/// Whether `value` is a closure over the block with this code word.
pub(super) fn is_closure_over(heap: &Heap, value: Value, word: Value) -> bool {
    heap.is_kind(value, Kind::Closure) && heap.field(value, 0) == word
}

/// The segment of a link, and how many of its words count.
pub(super) fn segment_of(heap: &Heap, link: Value) -> (Value, usize) {
    (
        heap.field(link, link::FRAMES),
        counted_by(heap.field(link, link::LIMIT)),
    )
}

/// The limit of a link that counts this many words.
pub(super) fn limit_value(words: usize) -> Value {
    Value::length(words)
}

/// How many words a link with this limit counts.
#[inline(always)]
fn counted_by(limit: Value) -> usize {
    limit.as_fixnum().unwrap_or(0) as usize
}

/// How many words of a chain's first segment count.
#[inline(always)]
pub(super) fn limit_of(words: HeapWords, chain: Value) -> usize {
    if words.is_kind(chain, Kind::Link) {
        counted_by(words.field(chain, link::LIMIT))
    } else {
        0
    }
}

/// The chain behind the first link of `chain`.
#[inline(always)]
pub(super) fn next_of(words: HeapWords, chain: Value) -> Value {
    const { assert!(link::NEXT == prompt_link::NEXT) };
    words.field(chain, link::NEXT)
}

/// Appends the return points of a chain of which `remaining` words of the first segment are left,
/// until there are `most`.
pub(super) fn chain_points(heap: &Heap, remaining: usize, most: usize, points: &mut Vec<Value>) {
    let mut chain = heap.register(Register::Continuation);
    let mut remaining = Some(remaining);
    while chain != Value::NIL && points.len() < most {
        let first = remaining.take();
        if heap.is_kind(chain, Kind::Link) {
            let mut left = first.unwrap_or_else(|| counted_by(heap.field(chain, link::LIMIT)));
            while left > 0 && points.len() < most {
                let point = heap.field(heap.field(chain, link::FRAMES), left - 1);
                points.push(point);
                left -= point.detail() as usize;
            }
        }
        chain = heap.field(chain, link::NEXT);
    }
}

/// The links of a chain from its head up to, not including, `end`.
#[derive(Clone, Copy)]
pub(super) struct Links {
    head: Value,
    end: Value,
}

impl Links {
    /// The links from `head` to the end of the chain.
    #[inline(always)]
    pub(super) fn from(head: Value) -> Links {
        Links { head, end: Value::NIL }
    }

    /// The links from `head` up to, not including, `end`, which the chain has.
    #[inline(always)]
    pub(super) fn between(head: Value, end: Value) -> Links {
        Links { head, end }
    }
}

/// How many links there are.
pub(super) fn count_links(words: HeapWords, links: Links) -> usize {
    let mut count = 0;
    let mut rest = links.head;
    while rest != links.end {
        count += 1;
        rest = next_of(words, rest);
    }
    count
}

/// Words that copies of the links take, and whether there are prompts among them.
pub(super) fn copied_words(words: HeapWords, links: Links) -> (usize, bool) {
    let (mut copied, mut has_prompts) = (0, false);
    let mut rest = links.head;
    while rest != links.end {
        let is_prompt = words.is_kind(rest, Kind::PromptLink);
        copied += padded(1 + if is_prompt { prompt_link::LENGTH } else { link::LENGTH });
        has_prompts |= is_prompt;
        rest = next_of(words, rest);
    }
    (copied, has_prompts)
}

/// The nearest prompt with this tag.
#[inline(always)]
pub(super) fn prompt_in(words: HeapWords, chain: Value, tag: Value) -> Option<Value> {
    let mut rest = chain;
    while rest != Value::NIL {
        if words.is_kind(rest, Kind::PromptLink) && words.field(rest, prompt_link::TAG) == tag {
            return Some(rest);
        }
        rest = next_of(words, rest);
    }
    None
}

/// A copy of a part of a chain.
pub(super) struct ChainCopy {
    pub(super) head: Value,
    pub(super) has_prompts: bool,
}

/// Copies the links; the copy goes on with `below`. `None` if the words are not free.
#[inline(always)]
pub(super) fn write_copy(
    words: HeapWords,
    allocation: &mut Allocation,
    links: Links,
    below: Value,
) -> Option<ChainCopy> {
    let mut copy = ChainCopy {
        head: below,
        has_prompts: false,
    };
    let Links { head, end } = links;
    if head != end {
        copy.head = Value::object_at(allocation.next());
    }
    let mut rest = head;
    while rest != end {
        let index = if words.is_kind(rest, Kind::Link) {
            const WORDS: usize = padded(1 + link::LENGTH);
            let index = allocation.extra_object(WORDS)?;
            words.copy_object(rest, index, WORDS);
            index
        } else {
            const WORDS: usize = padded(1 + prompt_link::LENGTH);
            let index = allocation.extra_object(WORDS)?;
            words.copy_object(rest, index, WORDS);
            copy.has_prompts = true;
            index
        };
        rest = next_of(words, rest);
        // Copies lie one behind the other.
        let next = if rest == end {
            below
        } else {
            Value::object_at(allocation.next())
        };
        words.fill(index + 1 + link::NEXT, next);
    }
    Some(copy)
}

/// Copies the links; the copy goes on with `below`.
///
/// # Errors
/// [`HeapFull`], if the words are not free; nothing is changed then.
pub(super) fn copy_chain(heap: &mut Heap, links: Links, below: Value) -> Result<Value, HeapFull> {
    let mut allocation = Allocation::begin(heap, 0).ok_or(HeapFull)?;
    let copy = write_copy(HeapWords::of(heap), &mut allocation, links, below).ok_or(HeapFull)?;
    allocation.commit(heap);
    Ok(copy.head)
}

impl Machine {
    /// Moves everything below the frame at the base to the heap, and the frame's first `words` to
    /// the bottom of the stack. Afterwards the head of the chain counts wholly.
    ///
    /// # Errors
    /// [`HeapFull`]; nothing is changed then.
    pub(super) fn spill(&mut self, heap: &mut Heap, words: usize) -> Result<(), HeapFull> {
        let frames = &self.stack[1..self.base];
        let segment_words = if frames.is_empty() {
            0
        } else {
            padded(1 + frames.len()) + padded(1 + link::LENGTH)
        };
        let mut allocation = Allocation::reserve(heap, segment_words + self.rest_words())?;
        let words_of_heap = HeapWords::of(heap);
        let chain = self.chain_with(heap, words_of_heap, &mut allocation, frames);
        allocation.commit(heap);
        self.set_chain(heap, chain);
        self.stack.copy_within(self.base..self.base + words, 1);
        self.empty_stack();
        Ok(())
    }

    /// Words of the link that says what is left of the first segment, if the head of the chain does
    /// not.
    fn rest_words(&self) -> usize {
        if self.remaining == 0 || self.remaining == self.counted {
            0
        } else {
            padded(1 + link::LENGTH)
        }
    }

    /// The chain below the stack, its head counting wholly.
    #[inline(always)]
    fn whole_chain(&self, heap: &Heap, words: HeapWords, allocation: &mut Allocation) -> Value {
        let chain = heap.register(Register::Continuation);
        if self.remaining == self.counted {
            return chain;
        }
        self.write_rest(words, allocation, chain, next_of(words, chain))
    }

    /// The first of the links below the stack that count wholly.
    #[inline(always)]
    pub(super) fn whole_links(&self, words: HeapWords, chain: Value) -> Value {
        if self.remaining == self.counted {
            chain
        } else {
            next_of(words, chain)
        }
    }

    /// Links the words that remain of the first segment of `chain`, then `next`.
    #[inline(always)]
    pub(super) fn write_rest(&self, words: HeapWords, allocation: &mut Allocation, chain: Value, next: Value) -> Value {
        if self.remaining == 0 {
            return next;
        }
        write_link(
            words,
            allocation,
            words.field(chain, link::FRAMES),
            self.remaining,
            next,
        )
    }

    /// The chain below the stack with these frames of the stack on it, its head counting wholly.
    #[inline(always)]
    pub(super) fn chain_with(
        &self,
        heap: &Heap,
        words: HeapWords,
        allocation: &mut Allocation,
        frames: &[Value],
    ) -> Value {
        let chain = self.whole_chain(heap, words, allocation);
        if frames.is_empty() {
            return chain;
        }
        write_segment(words, allocation, frames, chain)
    }

    /// Shortens the head of the chain to the rest of its segment, if there is room for a link, so
    /// that a collection keeps no more.
    pub(super) fn settle_chain(&mut self, heap: &mut Heap) {
        if let Ok(mut allocation) = Allocation::reserve(heap, self.rest_words()) {
            let words = HeapWords::of(heap);
            let chain = self.whole_chain(heap, words, &mut allocation);
            allocation.commit(heap);
            self.set_chain(heap, chain);
        }
    }

    /// Makes `chain` the continuation below the stack.
    #[inline(always)]
    pub(super) fn set_chain(&mut self, heap: &mut Heap, chain: Value) {
        let limit = limit_of(HeapWords::of(heap), chain);
        self.set_counted_chain(heap, chain, limit);
    }

    /// Makes `chain`, of whose first segment `limit` words count, the continuation below the stack.
    #[inline(always)]
    pub(super) fn set_counted_chain(&mut self, heap: &mut Heap, chain: Value, limit: usize) {
        debug_assert!(
            limit == 0 || HeapWords::of(heap).is_kind(chain, Kind::Link),
            "only a link has frames to return into"
        );
        heap.set_register(Register::Continuation, chain);
        (self.remaining, self.counted) = (limit, limit);
    }

    /// Empties the stack and puts the continuation below it, its winders and dynamic environment in
    /// force.
    pub(super) fn restore_continuation(&mut self, heap: &mut Heap, continuation: Value) {
        self.empty_stack();
        self.set_chain(heap, heap.field(continuation, captured::LINK));
        heap.set_register(Register::Winders, heap.field(continuation, captured::WINDERS));
        heap.set_register(Register::Dynamic, heap.field(continuation, captured::DYNAMIC));
    }

    /// Drops everything up to and including a prompt, with the winders and the dynamic environment
    /// outside of it in force. Whatever is on the stack is free.
    #[inline(always)]
    pub(super) fn leave_to(&mut self, heap: &mut Heap, prompt: Value) {
        let words = HeapWords::of(heap);
        self.set_chain(heap, next_of(words, prompt));
        heap.set_register(Register::Winders, words.field(prompt, prompt_link::WINDERS));
        heap.set_register(Register::Dynamic, words.field(prompt, prompt_link::DYNAMIC));
    }
}

/// Moves the winders and dynamic environments of the prompts among the links, which are copies from
/// a composable continuation, to the present ones: a prompt keeps a tail of the lists that were in
/// force at the capture of `continuation`, and gets the tail of the present lists at the same
/// distance from their heads.
pub(super) fn rebase_prompts(heap: &mut Heap, links: Links, continuation: Value) {
    let states = [
        (prompt_link::WINDERS, captured::WINDERS, Register::Winders),
        (prompt_link::DYNAMIC, captured::DYNAMIC, Register::Dynamic),
    ];
    for (field, captured, register) in states {
        let lists = [heap.field(continuation, captured), heap.register(register)];
        let (mut reached, mut rest) = (lists, links.head);
        while rest != links.end {
            if heap.is_kind(rest, Kind::PromptLink) {
                let tail = heap.field(rest, field);
                // The tails of the outer prompts are mostly tails of those of the inner ones.
                let found = corresponding_tail(heap, reached, tail).or_else(|| corresponding_tail(heap, lists, tail));
                if let Some(now) = found {
                    heap.set_field(rest, field, now);
                    reached = [tail, now];
                }
            }
            rest = heap.field(rest, link::NEXT);
        }
    }
}

/// The tail of the list `now` that stands where `tail` stands in `before`.
fn corresponding_tail(heap: &Heap, [mut before, mut now]: [Value; 2], tail: Value) -> Option<Value> {
    while before != tail {
        if !before.is_pair() || !now.is_pair() {
            return None;
        }
        (before, now) = (heap.cdr(before), heap.cdr(now));
    }
    Some(now)
}
