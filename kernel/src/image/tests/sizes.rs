//! Small things freeze small.

use super::graphs::HERE;
use super::*;
use crate::heap::RootId;

/// A fiber parked `depth` calls deep: each frame holds its closure, a return point and four registers.
fn parked(heap: &mut Heap, depth: u32) -> Value {
    let name = heap.intern("customer").unwrap();
    let request = heap.string("order 4711").unwrap();
    let items = heap
        .list(&[Value::small(1), Value::small(250), name], Value::NIL)
        .unwrap();
    let mut words = Vec::new();
    for frame in 0..depth {
        let closure = heap.make(Kind::Closure, &[HERE.entry(frame * 7), items]).unwrap();
        words.extend([closure, request, Value::small(1000), items, Value::UNSPECIFIED]);
        words.push(HERE.returning(frame * 7 + 2, 6));
    }
    let frames = heap.make(Kind::Frames, &words).unwrap();
    let segment = heap
        .make(Kind::Link, &[frames, Value::length(words.len()), Value::NIL])
        .unwrap();
    heap.make(Kind::Closure, &[HERE.entry(3), segment, Value::NIL, Value::NIL])
        .unwrap()
}

#[test]
fn a_parked_fiber_is_a_few_hundred_bytes() {
    let mut heap = roomy();
    let lengths = [1, 4, 24].map(|depth| {
        let continuation = parked(&mut heap, depth);
        freeze(&heap, &[continuation], &HERE).unwrap().length_bytes()
    });
    assert_eq!(lengths, [133, 176, 569]);
}

#[test]
fn chunks_before_a_change_are_reused() {
    let mut heap = roomy();
    let list = (0..10_000).fold(Value::NIL, |list, number| {
        heap.cons(Value::small(number), list).unwrap()
    });
    let vector = heap.make_vector(1, list).unwrap();
    let root = heap.root(vector).unwrap();
    assert_eq!(root, RootId(0));
    let before = freeze(&heap, &[vector], &HERE).unwrap();
    let middle = (0..5_000).fold(list, |pair, _| heap.cdr(pair));
    heap.set_car(middle, Value::TRUE);
    let after = freeze(&heap, &[vector], &HERE).unwrap();
    let changed = before
        .chunks
        .iter()
        .zip(&after.chunks)
        .filter(|(before, after)| before != after)
        .count();
    assert_eq!((before.chunks.len(), after.chunks.len(), changed), (40, 40, 1));
}
