//! The hard limit, when collections are due, and what writes cost.

use super::*;

fn small(bytes_max: usize) -> Heap {
    Heap::new(Limits { bytes_max })
}

#[test]
fn the_limit_is_exact_and_collection_makes_room() {
    let mut heap = small(8000);
    let mut list = [Value::NIL];
    let pairs = (0..).find(|&count| match heap.cons(Value::small(count), list[0]) {
        Ok(pair) => {
            list[0] = pair;
            false
        }
        Err(HeapFull) => true,
    });
    assert_eq!(pairs, Some(500));
    assert!(heap.is_collection_due() && heap.would_exceed(2) && !heap.would_exceed(0));
    let before = heap.words.clone();
    assert_eq!(heap.string("no room"), Err(HeapFull));
    assert_eq!(heap.words, before);
    list[0] = heap.cdr(heap.cdr(list[0]));
    heap.collect_major(&mut [&mut list], &AllLive);
    assert_eq!(heap.statistics().words_used, 996);
    assert!(heap.cons(Value::ZERO, Value::ZERO).is_ok());
    assert_eq!(heap.make_vector(usize::MAX / 16, Value::ZERO), Err(HeapFull));
    assert_eq!(heap.make_string(usize::MAX / 2, 'λ'), Err(HeapFull));
}

#[test]
fn the_host_may_go_beyond_the_limit_and_the_machine_may_not() {
    let mut heap = small(8000);
    while heap.cons(Value::NIL, Value::NIL).is_ok() {}
    let mut kept = heap.leniently(|heap| {
        let kept = [heap.string("what the host puts in").unwrap()];
        for _ in 0..10_000 {
            heap.cons(Value::NIL, Value::NIL).unwrap();
        }
        kept
    });
    assert!(heap.cons(Value::NIL, Value::NIL).is_err() && heap.bump_young(2).is_none());
    heap.collect_major(&mut [&mut kept], &AllLive);
    assert_eq!(heap.string_text(kept[0]), "what the host puts in");
    assert!(heap.cons(Value::NIL, Value::NIL).is_ok());
}

#[test]
fn the_tables_of_globals_and_literals_do_not_count() {
    let pairs_that_fit = |heap: &mut Heap| (0..).find(|_| heap.cons(Value::NIL, Value::NIL).is_err());
    for (globals, constants) in [(3000, 2000), (3001, 2000), (3001, 2001), (3, 2001)] {
        let mut heap = small(8000);
        heap.leniently(|heap| {
            for (register, length) in [(Register::Globals, globals), (Register::Constants, constants)] {
                let table = heap.make_vector(length, Value::ZERO).unwrap();
                heap.set_register(register, table);
            }
        });
        assert_eq!(pairs_that_fit(&mut heap), Some(500), "{globals} {constants}");
    }
}

#[test]
fn a_turn_whose_memory_runs_out_may_take_some_more_until_it_ends() {
    let fill = |heap: &mut Heap| {
        while heap.cons(Value::NIL, Value::NIL).is_ok() {}
        heap.statistics().words_used
    };
    let mut heap = small(8000);
    heap.begin_turn();
    assert_eq!(fill(&mut heap), 1000);
    heap.lend_words(100);
    assert_eq!(fill(&mut heap), 1000 + WORDS_LENT_AT_ONCE + 100);
    for _ in 0..100 {
        heap.lend_words(100);
    }
    assert_eq!(fill(&mut heap), 1000 + WORDS_LENT_MAX + 100);
    heap.abort_turn();
    heap.begin_turn();
    assert_eq!(fill(&mut heap), 1000);
}

#[test]
fn a_failed_mutation_changes_nothing() {
    let mut heap = small(8000);
    let string = heap.make_string(100, 'a').unwrap();
    let table = heap.make_dictionary().unwrap();
    for key in 0..8 {
        heap.table_put(table, Value::small(key), Value::TRUE).unwrap();
    }
    while heap.cons(Value::NIL, Value::NIL).is_ok() {}
    let before = heap.words.clone();
    assert_eq!(heap.string_set(string, 5, 'λ'), Err(HeapFull));
    assert_eq!(heap.table_put(table, Value::small(9), Value::TRUE), Err(HeapFull));
    assert_eq!(heap.intern("fresh"), Err(HeapFull));
    assert_eq!(heap.root(Value::NIL), Err(HeapFull));
    assert_eq!(heap.words, before);
}

#[test]
fn a_page_is_saved_once_however_often_it_is_written() {
    let mut heap = roomy();
    let vector = heap.make_vector(6400, Value::ZERO).unwrap();
    let mut roots = [vector];
    heap.collect_minor(&mut [&mut roots], &AllLive);
    heap.begin_turn();
    for round in 0..100_000 {
        heap.set_field(roots[0], round % 640, Value::small(round as i32));
    }
    assert_eq!(heap.statistics().pages_saved, 11);
    heap.abort_turn();
    assert!(
        heap.field_words(roots[0])
            .iter()
            .all(|&word| word == Value::ZERO.to_bits())
    );
    heap.begin_turn();
    heap.set_field(roots[0], 0, Value::TRUE);
    assert_eq!(heap.statistics().pages_saved, 12);
    heap.collect_minor(&mut [&mut roots], &AllLive);
    heap.set_field(roots[0], 0, Value::FALSE);
    assert_eq!(heap.statistics().pages_saved, 12);
    heap.commit_turn();
    assert_eq!(heap.field(roots[0], 0), Value::FALSE);
}

#[test]
fn the_young_are_collected_when_the_nursery_is_full_and_the_old_when_they_have_doubled() {
    let mut heap = roomy();
    let mut list = [Value::NIL];
    let mut dues = Vec::new();
    for count in 0..400_000 {
        list[0] = heap.cons(Value::small(count), list[0]).unwrap();
        if heap.is_collection_due() {
            dues.push((count + 1) * 2);
            heap.collect(&mut [&mut list], &AllLive);
        }
    }
    assert_eq!(dues[..3], [32 * 1024 + 2, 64 * 1024 + 4, 96 * 1024 + 6]);
    let statistics = heap.statistics();
    assert_eq!((statistics.collections_minor, statistics.collections_major), (9, 3));
}

#[test]
fn garbage_costs_nothing_to_keep_collecting() {
    let mut heap = small(1 << 20);
    for count in 0..1_000_000 {
        heap.cons(Value::small(count), Value::NIL).unwrap();
        if heap.is_collection_due() {
            heap.collect(&mut [], &AllLive);
        }
    }
    assert_eq!(heap.statistics().words_old, 0);
    assert_eq!(heap.statistics().collections_major, 0);
}

#[test]
fn unused_symbols_are_forgotten_and_used_ones_stay_the_same() {
    let mut heap = roomy();
    let mut roots = [heap.intern("kept").unwrap(), heap.keyword("also-kept").unwrap()];
    for number in 0..1000 {
        heap.intern(&format!("unused-{number}")).unwrap();
    }
    heap.collect_minor(&mut [&mut roots], &AllLive);
    assert!(heap.statistics().words_used > 1000);
    heap.collect_major(&mut [&mut roots], &AllLive);
    assert!(heap.statistics().words_used < 100, "{:?}", heap.statistics());
    assert_eq!(
        [heap.intern("kept").unwrap(), heap.keyword("also-kept").unwrap()],
        roots
    );
}

#[test]
fn a_major_collection_inside_a_turn_is_undone_too() {
    let mut heap = roomy();
    let mut roots = [heap.make_vector(100, Value::small(1)).unwrap()];
    heap.list(&[Value::TRUE; 50], Value::NIL).unwrap();
    let (before, original) = (heap.words[..heap.top].to_vec(), roots);
    heap.begin_turn();
    heap.set_field(roots[0], 3, Value::small(2));
    heap.collect_major(&mut [&mut roots], &AllLive);
    heap.set_field(roots[0], 4, Value::small(3));
    heap.list(&[Value::TRUE; 500], Value::NIL).unwrap();
    heap.collect_major(&mut [&mut roots], &AllLive);
    heap.collect_minor(&mut [&mut roots], &AllLive);
    assert_eq!(
        (heap.field(roots[0], 3), heap.field(roots[0], 4)),
        (Value::small(2), Value::small(3))
    );
    heap.abort_turn();
    assert_eq!(heap.words[..heap.top], before[..]);
    assert_eq!(heap.field(original[0], 3), Value::small(1));
    check_integrity(&heap);
}

#[test]
fn a_turn_with_a_collection_leaves_little_for_the_next_to_promote() {
    let mut heap = roomy();
    let mut allocate = |pairs: usize| {
        heap.begin_turn();
        for _ in 0..pairs {
            heap.cons(Value::NIL, Value::NIL).unwrap();
            if heap.is_collection_due() {
                heap.collect(&mut [], &AllLive);
            }
        }
        heap.commit_turn();
        let is_due = heap.is_collection_due();
        heap.collect(&mut [], &AllLive);
        is_due
    };
    let nursery_pairs = pace::NURSERY_WORDS_MIN / 2;
    assert!(!allocate(nursery_pairs / 2) && !allocate(nursery_pairs + 10));
    assert!(allocate(nursery_pairs * 3 / 2) && allocate(nursery_pairs * 5 / 4));
}

/// Keeps this many pairs, in a turn if one is open, and returns the numbers of words between the
/// ends of its collections.
fn keep(heap: &mut Heap, list: &mut [Value; 1], pairs: usize) -> Vec<usize> {
    let (mut nurseries, mut start) = (Vec::new(), heap.statistics().words_used);
    for _ in 0..pairs {
        list[0] = heap.cons(Value::NIL, list[0]).unwrap();
        if heap.is_collection_due() {
            nurseries.push(heap.statistics().words_used - start);
            heap.collect(&mut [&mut list[..]], &AllLive);
            start = heap.statistics().words_used;
        }
    }
    nurseries
}

#[test]
fn the_nursery_of_a_turn_grows_while_its_objects_survive() {
    let (mut heap, mut list) = (roomy(), [Value::NIL]);
    heap.begin_turn();
    let nurseries = keep(&mut heap, &mut list, 300_000);
    let doubled = [1, 2, 4].map(|times| times * pace::NURSERY_WORDS_MIN + 2);
    assert_eq!(nurseries[..3], doubled);
}

#[test]
fn an_abort_makes_the_next_turn_collect_as_the_first_did() {
    let mut heap = roomy();
    let mut attempt = || {
        heap.begin_turn();
        let mut list = [Value::NIL];
        let nurseries = keep(&mut heap, &mut list, 400_000);
        let statistics = heap.statistics();
        heap.abort_turn();
        (nurseries, statistics.words_used, statistics.words_old)
    };
    let first = attempt();
    assert_eq!(attempt(), first);
}

#[test]
fn a_turn_that_allocates_little_frees_the_room_of_a_busy_heap() {
    let (mut heap, mut list) = (roomy(), [Value::NIL]);
    for _ in 0..4 {
        heap.begin_turn();
        list[0] = Value::NIL;
        keep(&mut heap, &mut list, 600_000);
        heap.commit_turn();
    }
    assert!(heap.statistics().collections_major > 2);
    list[0] = Value::NIL;
    heap.collect_major(&mut [&mut list], &AllLive);
    heap.begin_turn();
    heap.commit_turn();
    assert!(heap.bytes_spare() < 4 << 20, "{} bytes", heap.bytes_spare());
    heap.begin_turn();
    assert_eq!(keep(&mut heap, &mut list, 20_000), [pace::NURSERY_WORDS_MIN + 2]);
}
