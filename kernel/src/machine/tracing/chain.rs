//! The frames of a chain of segments in the heap: a trace follows the one that becomes the running
//! frame.
//!
//! INVARIANT: it reads the heap only. Read next: `step.rs`.

use crate::code::builtin;
use crate::heap::kind::{captured, link};
use crate::heap::{Heap, Kind};
use crate::value::Value;

use super::OriginId;

/// A frame in the heap.
pub(super) struct Loaded {
    /// The index of its first word.
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) point: Value,
    /// The index of the return point of the frame below, if there is one.
    pub(super) below: Option<usize>,
    pub(super) value: OriginId,
}

/// The chain of a continuation, and how many words of its first segment count.
pub(super) fn continuation(heap: &Heap, value: Value) -> Option<(Value, usize)> {
    let word = heap.is_kind(value, Kind::Closure).then(|| heap.field(value, 0))?;
    let is_one = word == builtin::CONTINUATION_WORD || word == builtin::COMPOSABLE_WORD;
    let chain = is_one.then(|| heap.field(value, captured::LINK))?;
    Some((chain, counted(heap, chain)))
}

fn counted(heap: &Heap, chain: Value) -> usize {
    let limit = heap.is_kind(chain, Kind::Link).then(|| heap.field(chain, link::LIMIT));
    let limit = limit.and_then(Value::as_fixnum).unwrap_or(0);
    usize::try_from(limit).unwrap_or(0)
}

/// The newest frame of a chain.
pub(super) fn newest(heap: &Heap, chain: Value, remaining: usize, value: OriginId) -> Option<Loaded> {
    let (segment, end, next) = newest_segment(heap, chain, remaining)?;
    let point = heap.field(segment, end - 1);
    let count = (point.detail() as usize).min(end);
    let below = if end > count {
        Some(segment.index() + end - count)
    } else {
        let below = newest_segment(heap, next, counted(heap, next));
        below.map(|(segment, end, _)| segment.index() + end)
    };
    Some(Loaded {
        first: segment.index() + 1 + end - count,
        count,
        point,
        below,
        value,
    })
}

/// The first segment of a chain of which something is left, how much, and the chain behind it.
fn newest_segment(heap: &Heap, mut chain: Value, mut remaining: usize) -> Option<(Value, usize, Value)> {
    while chain != Value::NIL && chain.is_reference() {
        let next = heap.field(chain, link::NEXT);
        if remaining > 0 && heap.is_kind(chain, Kind::Link) {
            return Some((heap.field(chain, link::FRAMES), remaining, next));
        }
        chain = next;
        remaining = counted(heap, chain);
    }
    None
}
