//! That room is used again, that there is never much of it, and that what an abort or a mark needs stays.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::*;
use crate::heap::tests::{check_integrity, roomy};
use crate::heap::{AllLive, Heap, MAJOR_WORDS_MIN};
use crate::value::Value;

/// A heap with a list of so many numbers, held by a host root.
fn with_list(length: i32) -> Heap {
    let mut heap = roomy();
    let numbers: Vec<Value> = (0..length).map(Value::small).collect();
    let list = heap.list(&numbers, Value::NIL).unwrap();
    heap.root(list).unwrap();
    heap
}

/// Leaves so much garbage that a copy gets the room of a small heap that runs.
fn litter(heap: &mut Heap) {
    for _ in 0..MAJOR_WORDS_MIN / 2 {
        heap.cons(Value::NIL, Value::NIL).unwrap();
    }
}

fn collect(heap: &mut Heap) {
    heap.collect_major(&mut [], &AllLive);
}

fn spare(heap: &Heap) -> Vec<*const u64> {
    let rooms = heap.spare.iter().flat_map(|spare| &spare.rooms);
    rooms.map(|room| room.as_ptr()).collect()
}

#[test]
fn two_rooms_serve_all_collections_of_a_heap_without_marks() {
    let mut heap = with_list(1_000);
    for _ in 0..2 {
        litter(&mut heap);
        collect(&mut heap);
    }
    let mut rooms = [heap.words.as_ptr(), spare(&heap)[1]];
    for round in 0..10 {
        litter(&mut heap);
        assert_eq!(heap.words.as_ptr(), rooms[0], "what fits moves nothing: round {round}");
        collect(&mut heap);
        rooms.swap(0, 1);
        assert_eq!(heap.words.as_ptr(), rooms[0], "round {round}");
        assert!(spare(&heap).contains(&rooms[1]), "round {round}");
    }
    check_integrity(&heap);
}

#[test]
fn an_abort_finds_its_words_whatever_became_of_other_rooms() {
    let mut heap = with_list(1_000);
    for collections in 0..5 {
        litter(&mut heap);
        collect(&mut heap);
        heap.cons(Value::NIL, Value::NIL).unwrap();
        let before = heap.words[..heap.top].to_vec();
        heap.begin_turn();
        for _ in 0..collections {
            let first = heap.root_value(crate::heap::RootId(0));
            heap.set_car(first, Value::TRUE);
            litter(&mut heap);
            collect(&mut heap);
        }
        heap.abort_turn();
        assert_eq!(heap.words[..heap.top], before, "{collections} collections");
        check_integrity(&heap);
    }
}

#[test]
fn words_that_a_mark_gives_up_serve_a_later_one() {
    let mut heap = with_list(1_000);
    let mut reused = 0;
    let mut before = Vec::new();
    for number in 1..200 {
        heap.mark(number, 0);
        let rooms = spare(&heap);
        before = heap.words[..heap.top].to_vec();
        heap.begin_turn();
        litter(&mut heap);
        collect(&mut heap);
        litter(&mut heap);
        heap.commit_turn();
        let left = spare(&heap);
        let is_taken = |room: &&*const u64| !left.contains(room) && **room != heap.words.as_ptr();
        reused += rooms.iter().filter(is_taken).count();
        assert!(heap.spare.as_ref().unwrap().words() <= SPARE_WORDS_MAX);
    }
    assert!(reused > 150, "{reused}");
    assert!(heap.go_back(199));
    assert_eq!(heap.words[..heap.top], before);
    check_integrity(&heap);
}

#[test]
fn a_heap_that_was_let_rest_has_no_spare_room() {
    for length in [100, 20_000] {
        let mut heap = with_list(length);
        for _ in 0..3 {
            litter(&mut heap);
            collect(&mut heap);
        }
        assert!(!spare(&heap).is_empty() && heap.words.capacity() > MAJOR_WORDS_MIN);
        heap.rest(&AllLive);
        assert!(heap.spare.is_none());
        assert_eq!(heap.is_resting(), length == 100);
        assert!(heap.words.capacity() <= heap.words.len());
        heap.begin_turn();
        heap.commit_turn();
        check_integrity(&heap);
    }
}

#[test]
fn room_is_taken_where_it_suits_and_the_oldest_makes_way() {
    let mut spare = Spare::default();
    spare.offer(vec![7; 1_000]);
    spare.offer(Vec::new());
    spare.offer(vec![7; SPARE_WORDS_MAX + 1]);
    assert_eq!(spare.words(), 1_000);
    assert_eq!(spare.take(600).capacity(), 600);
    assert_eq!(spare.take(1_001).capacity(), 1_001);
    let room = spare.take(900);
    assert_eq!((room.capacity(), room.len(), spare.words()), (1_000, 0, 0));
    spare.offer(room);
    for _ in 0..3 {
        spare.offer(Vec::with_capacity(SPARE_WORDS_MAX / 2));
    }
    assert_eq!(spare.words(), SPARE_WORDS_MAX);
    assert_eq!(spare.cut(vec![7; 100], 80), [7; 80]);
    assert_eq!(spare.cut(vec![7; 1_000], 3), [7; 3]);
}
