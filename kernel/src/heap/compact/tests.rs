//! What heaps that share a template cost and keep from each other; that they are what they were is
//! a part of `heap/tests/model.rs`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::*;
use crate::heap::{AllLive, Limits};

const LIMITS: Limits = Limits { bytes_max: 16 << 20 };

/// A template with a vector of this number of symbols, which is the first host root.
fn template(length: usize) -> Arc<Template> {
    let mut heap = Heap::new(LIMITS);
    let vector = heap.make_vector(length, Value::NIL).unwrap();
    heap.root(vector).unwrap();
    for place in 0..length {
        let symbol = heap.intern(&format!("symbol {place}")).unwrap();
        heap.set_field(vector, place, symbol);
    }
    heap.template(&AllLive).into()
}

fn vector(heap: &Heap) -> Value {
    heap.root_value(crate::heap::RootId(0))
}

fn started(template: &Arc<Template>) -> Heap {
    let mut heap = Heap::new(LIMITS);
    assert!(heap.start_from(template));
    heap
}

/// How many words a heap keeps at rest, apart from the flags of its pages.
fn rested_words(heap: &Heap) -> usize {
    let compacted = &heap.compacted;
    assert!(compacted.is_compacted);
    compacted.words.len() - compacted.flags.div_ceil(FLAGS_OF_WORD)
}

#[test]
fn what_one_changes_no_other_sees() {
    let template = template(1_000);
    let before = template.words.clone();
    let (mut first, mut second) = (started(&template), started(&template));
    for round in 0..3 {
        first.begin_turn();
        let (pair, place) = (
            first.cons(Value::small(round), Value::NIL).unwrap(),
            100 * round as usize,
        );
        first.set_field(vector(&first), place, pair);
        first.commit_turn();
        first.compact(&AllLive);
        second.begin_turn();
        let name = second.field(vector(&second), place);
        assert_eq!(second.symbol_name(name), format!("symbol {place}"));
        second.set_field(vector(&second), place, Value::TRUE);
        second.abort_turn();
        second.compact(&AllLive);
    }
    assert_eq!(template.words, before);
    assert_eq!(rested_words(&second), 0);
    let third = started(&template);
    assert!((0..1_000).all(|place| third.is_symbol(third.field(vector(&third), place))));
    first.expand();
    for round in 0..3 {
        let pair = first.field(vector(&first), 100 * round as usize);
        assert_eq!(first.car(pair), Value::small(round));
    }
}

#[test]
fn a_heap_at_rest_keeps_what_it_differs_by() {
    let template = template(10_000);
    let mut heap = started(&template);
    heap.begin_turn();
    let list = heap.list(&[Value::TRUE; 10], Value::NIL).unwrap();
    heap.set_field(vector(&heap), 5_000, list);
    heap.commit_turn();
    heap.compact(&AllLive);
    // The page, its mask and the word in it; the list.
    assert_eq!(rested_words(&heap), 3 + 20);
}

#[test]
fn the_room_of_a_rest_serves_the_next_unless_it_is_far_too_large() {
    let template = template(100);
    let mut heap = started(&template);
    let mut rest_with = |pairs: usize| {
        heap.begin_turn();
        assert!(heap.compacted.words.is_empty());
        let room = heap.compacted.words.capacity();
        let list = heap.list(&vec![Value::TRUE; pairs], Value::NIL).unwrap();
        heap.set_field(vector(&heap), 50, list);
        heap.commit_turn();
        heap.compact(&AllLive);
        (room, heap.compacted.words.capacity(), rested_words(&heap))
    };
    let (_, first, _) = rest_with(1_000);
    let (kept, second, _) = rest_with(1);
    assert_eq!((kept, second), (first, first), "garbage is not collected yet");
    for _ in 0..1_000 {
        rest_with(1);
    }
    let (_, room, words) = rest_with(1);
    assert!(room < 2 * words, "{room} words of room for {words}");
}

#[test]
fn garbage_does_not_add_up_from_rest_to_rest() {
    let template = template(100);
    let mut heap = started(&template);
    for turn in 0..1_000 {
        heap.begin_turn();
        let list = heap.list(&[Value::small(turn); 10], Value::NIL).unwrap();
        heap.set_field(vector(&heap), 50, list);
        heap.commit_turn();
        heap.compact(&AllLive);
        assert!(
            rested_words(&heap) < 20 + 2 * (OWN_SLACK_WORDS + PAGE_WORDS),
            "turn {turn}"
        );
    }
    heap.expand();
    assert_eq!(heap.car(heap.field(vector(&heap), 50)), Value::small(999));
}

#[test]
fn a_heap_that_is_in_the_midst_of_something_or_too_small_takes_no_template() {
    let template = template(1_000);
    let mut small = Heap::new(Limits { bytes_max: 4_096 });
    assert!(!small.start_from(&template));
    let mut heap = Heap::new(LIMITS);
    heap.cons(Value::TRUE, Value::NIL).unwrap();
    heap.begin_turn();
    assert!(!heap.start_from(&template));
    heap.abort_turn();
    heap.make_savepoint(1, 0);
    assert!(!heap.start_from(&template));
}

#[test]
fn what_began_with_a_template_in_a_turn_that_is_taken_back_has_none() {
    let template = template(1_000);
    let mut heap = Heap::new(LIMITS);
    heap.begin_turn();
    assert!(heap.start_from(&template));
    heap.abort_turn();
    heap.compact(&AllLive);
    assert_eq!((heap.shared_words(), rested_words(&heap)), (0, 0));
    heap.begin_turn();
    assert_eq!(heap.register(Register::HostRoots), Value::FALSE);
    assert!(heap.start_from(&template));
    heap.commit_turn();
    assert_eq!(heap.object_length(vector(&heap)), 1_000);
}
