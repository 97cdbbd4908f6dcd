//! Properties of the heap as a whole, against a model in ordinary Rust data.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod limits;
mod model;
mod tables;
mod texts;

use super::kind::{extent, is_raw_header, payload_words};
use super::pages::{PAGE_WORDS, REMEMBERED};
use super::*;
use crate::value::{Immediate, Value};

pub(in crate::heap) fn roomy() -> Heap {
    Heap::new(Limits { bytes_max: 64 << 20 })
}

/// The reference words of the object at `index`.
fn references(heap: &Heap, index: usize) -> Vec<Value> {
    let first_word = heap.word(index);
    let places = if !first_word.is_immediate(Immediate::Header) {
        index..index + 2
    } else if is_raw_header(first_word) {
        0..0
    } else {
        index + 1..index + 1 + payload_words(first_word)
    };
    places
        .map(|place| heap.word(place))
        .filter(|word| word.is_reference())
        .collect()
}

/// Checks that the heap can be walked, that every reference meets the start of an object of its
/// kind, and that nothing old refers to the young.
pub(super) fn check_integrity(heap: &Heap) {
    let mut starts = std::collections::BTreeSet::new();
    let mut index = 0;
    while index < heap.top {
        assert!(starts.insert(index));
        index += extent(heap.word(index));
    }
    assert_eq!(index, heap.top);
    let remembered = |index: usize| heap.pages.flags[index / PAGE_WORDS] & REMEMBERED != 0;
    for &start in &starts {
        for reference in references(heap, start) {
            let target = reference.index();
            assert!(
                starts.contains(&target),
                "word of the object at {start} refers to {target}"
            );
            let is_header = heap.word(target).is_immediate(Immediate::Header);
            assert_eq!(is_header, !reference.is_pair());
            if start < heap.line && target >= heap.line.max(heap.undo_limit) {
                let end = start + extent(heap.word(start));
                assert!(
                    (start..end).any(remembered),
                    "unremembered reference from {start} to {target}"
                );
            }
        }
    }
    for register in Register::ALL {
        let value = heap.register(*register);
        assert!(!value.is_reference() || starts.contains(&value.index()));
    }
}

#[test]
fn a_young_segment_that_an_old_link_receives_keeps_the_frames_that_count() {
    use super::frames::AllLive;
    use super::kind::link;
    let point = Value::immediate(Immediate::Return, 1, 2);
    let segment = |heap: &mut Heap, number: usize| {
        let kept = heap.cons(Value::length(number), Value::NIL).unwrap();
        let words = [kept, point, Value::small(0), point];
        heap.make(Kind::Frames, &words).unwrap()
    };
    // So many links that some have fields on two pages.
    const LINKS: usize = 4 * PAGE_WORDS;
    let mut heap = roomy();
    let mut links = Vec::new();
    for number in 0..LINKS {
        let frames = segment(&mut heap, number);
        links.push(heap.make(Kind::Link, &[frames, Value::length(2), Value::NIL]).unwrap());
        heap.cons(Value::NIL, Value::NIL).unwrap();
    }
    let all = heap.make(Kind::Vector, &links).unwrap();
    heap.set_register(Register::Runtime0, all);
    heap.collect_minor(&mut [], &AllLive);
    let link_of = |heap: &Heap, number: usize| heap.field(heap.register(Register::Runtime0), number);
    for number in 0..LINKS {
        let second = segment(&mut heap, LINKS + number);
        let old = link_of(&heap, number);
        heap.set_field(old, link::FRAMES, second);
        // The same value, so that both pages of such a link count as changed.
        heap.set_field(old, link::NEXT, Value::NIL);
    }
    heap.collect_minor(&mut [], &AllLive);
    check_integrity(&heap);
    for number in 0..LINKS {
        let frames = heap.field(link_of(&heap, number), link::FRAMES);
        let kept = heap.field(frames, 0);
        assert!(
            kept.is_pair() && heap.car(kept) == Value::length(LINKS + number),
            "{number}: {kept:?}"
        );
        assert_eq!(heap.field(frames, 1), point);
        assert_eq!(heap.field(frames, 2), Value::ZERO, "no link counts the second frame");
    }
}
