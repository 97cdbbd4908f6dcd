//! Dictionaries, sets, equality and hashing.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// A tree that two heaps, or one heap twice, can hold.
#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Integer(i64),
    Flonum(u64),
    Text(String),
    Symbol(String),
    Bytes(Vec<u8>),
    Vector(Vec<Tree>),
    Record(Vec<Tree>),
    List(Vec<Tree>),
    Set(Vec<Tree>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (-2i64..3).prop_map(Tree::Integer),
        any::<i64>().prop_map(Tree::Integer),
        prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(0.0), Just(-0.0), Just(1e300)]
            .prop_map(|number| Tree::Flonum(number.to_bits())),
        "[aλ]{0,3}".prop_map(Tree::Text),
        "[ab]{0,2}".prop_map(Tree::Symbol),
        prop::collection::vec(0u8..2, 0..3).prop_map(Tree::Bytes),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let several = prop::collection::vec(inner, 0..4);
        prop_oneof![
            several.clone().prop_map(Tree::Vector),
            several.clone().prop_map(Tree::Record),
            several.clone().prop_map(Tree::List),
            several.prop_map(Tree::Set),
        ]
    })
}

fn build(heap: &mut Heap, tree: &Tree) -> Value {
    let parts =
        |heap: &mut Heap, trees: &[Tree]| -> Vec<Value> { trees.iter().map(|tree| build(heap, tree)).collect() };
    match tree {
        Tree::Integer(integer) => heap.integer(*integer).unwrap(),
        Tree::Flonum(bits) => heap.flonum(f64::from_bits(*bits)).unwrap(),
        Tree::Text(text) => heap.string(text).unwrap(),
        Tree::Symbol(name) => heap.intern(name).unwrap(),
        Tree::Bytes(bytes) => heap.bytevector(bytes).unwrap(),
        Tree::Vector(trees) => {
            let fields = parts(heap, trees);
            heap.make(Kind::Vector, &fields).unwrap()
        }
        Tree::Record(trees) => {
            let (label, fields) = (heap.intern("label").unwrap(), parts(heap, trees));
            heap.make_record(label, &fields).unwrap()
        }
        Tree::List(trees) => {
            let elements = parts(heap, trees);
            heap.list(&elements, Value::NIL).unwrap()
        }
        Tree::Set(trees) => {
            let (set, elements) = (heap.make_set().unwrap(), parts(heap, trees));
            for element in elements {
                heap.table_put(set, element, Value::NIL).unwrap();
            }
            set
        }
    }
}

/// Sets without order and repetition, so that equal trees are equal data.
fn normal(tree: &Tree) -> Tree {
    let all = |trees: &[Tree]| trees.iter().map(normal).collect::<Vec<_>>();
    match tree {
        Tree::Vector(trees) => Tree::Vector(all(trees)),
        Tree::Record(trees) => Tree::Record(all(trees)),
        Tree::List(trees) => Tree::List(all(trees)),
        Tree::Set(trees) => {
            let mut elements = all(trees);
            elements.sort_by_key(|element| format!("{element:?}"));
            elements.dedup();
            Tree::Set(elements)
        }
        Tree::Integer(_) | Tree::Flonum(_) | Tree::Text(_) | Tree::Symbol(_) | Tree::Bytes(_) => tree.clone(),
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Put(Tree, i32),
    Delete(Tree),
    Get(Tree),
    Clear,
    Copy,
    Major,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        10 => (tree(), any::<i32>()).prop_map(|(key, value)| Operation::Put(key, value)),
        4 => tree().prop_map(Operation::Delete),
        4 => tree().prop_map(Operation::Get),
        1 => Just(Operation::Clear),
        1 => Just(Operation::Copy),
        1 => Just(Operation::Major),
    ]
}

proptest! {
    #[test]
    fn equality_and_hash_follow_structure(a in tree(), b in tree()) {
        let mut heap = roomy();
        let (value_a, value_b, again) = (build(&mut heap, &a), build(&mut heap, &b), build(&mut heap, &a));
        prop_assert!(heap.equal(value_a, again));
        prop_assert_eq!(heap.hash(value_a), heap.hash(again));
        prop_assert_eq!(heap.equal(value_a, value_b), normal(&a) == normal(&b));
    }

    #[test]
    fn a_dictionary_is_an_ordered_association(operations in prop::collection::vec(operation(), 1..120)) {
        let mut heap = roomy();
        let mut table = [heap.make_dictionary().unwrap()];
        let mut model: Vec<(Tree, i32)> = Vec::new();
        for operation in &operations {
            match operation {
                Operation::Put(key, value) => {
                    let built = build(&mut heap, key);
                    heap.table_put(table[0], built, Value::small(*value)).unwrap();
                    match model.iter_mut().find(|entry| entry.0 == normal(key)) {
                        Some(entry) => entry.1 = *value,
                        None => model.push((normal(key), *value)),
                    }
                }
                Operation::Delete(key) => {
                    let built = build(&mut heap, key);
                    let place = model.iter().position(|entry| entry.0 == normal(key));
                    let found = place.map(|place| model.remove(place).1);
                    let removed = heap.table_delete(table[0], built).map(|entry| entry.value);
                    prop_assert_eq!(removed, found.map(Value::small));
                }
                Operation::Get(key) => {
                    let built = build(&mut heap, key);
                    let found = model.iter().find(|entry| entry.0 == normal(key)).map(|entry| Value::small(entry.1));
                    prop_assert_eq!(heap.table_get(table[0], built).map(|entry| entry.value), found);
                }
                Operation::Clear => {
                    heap.table_clear(table[0]);
                    model.clear();
                }
                Operation::Copy => {
                    let copy = heap.table_copy(table[0]).unwrap();
                    prop_assert!(heap.equal(copy, table[0]));
                    table[0] = copy;
                }
                Operation::Major => heap.collect_major(&mut [&mut table], &AllLive),
            }
            prop_assert_eq!(heap.table_count(table[0]), model.len());
        }
        let mut ordinal = 0;
        for (key, value) in &model {
            let entry = heap.table_next(table[0], ordinal).unwrap();
            let built = build(&mut heap, key);
            prop_assert!(heap.equal(entry.key, built));
            prop_assert_eq!(entry.value, Value::small(*value));
            ordinal = entry.ordinal + 1;
        }
        prop_assert_eq!(heap.table_next(table[0], ordinal), None);
    }
}

/// A list of `length` ones whose last pair refers back to the pair at `back`.
fn ring(heap: &mut Heap, length: usize, back: usize) -> Value {
    let list = heap.list(&vec![Value::small(1); length], Value::NIL).unwrap();
    let pair_at = |heap: &Heap, place: usize| (0..place).fold(list, |pair, _| heap.cdr(pair));
    let (last, target) = (pair_at(heap, length - 1), pair_at(heap, back));
    heap.set_cdr(last, target);
    list
}

#[test]
fn cycles_are_equal_when_they_unfold_alike() {
    let mut heap = roomy();
    let (three, five) = (ring(&mut heap, 3, 0), ring(&mut heap, 5, 2));
    assert!(heap.equal(three, five));
    assert_eq!(heap.hash(three), heap.hash(five));
    let other = ring(&mut heap, 5, 0);
    heap.set_car(other, Value::small(2));
    assert!(!heap.equal(three, other));
    let (knot, again) = (
        heap.make_vector(2, Value::TRUE).unwrap(),
        heap.make_vector(2, Value::TRUE).unwrap(),
    );
    heap.set_field(knot, 0, again);
    heap.set_field(again, 0, knot);
    assert!(heap.equal(knot, again));
}

#[test]
fn sharing_and_long_cycles_are_compared_once() {
    let mut heap = roomy();
    let doubled = |heap: &mut Heap| (0..300).fold(Value::ZERO, |inner, _| heap.cons(inner, inner).unwrap());
    let (a, b) = (doubled(&mut heap), doubled(&mut heap));
    assert!(heap.equal(a, b));
    let other = (0..300).fold(Value::NIL, |inner, _| heap.cons(inner, inner).unwrap());
    assert!(!heap.equal(a, other));
    // Unfolded together they repeat after a hundred million pairs.
    let (a, b) = (ring(&mut heap, 10_007, 0), ring(&mut heap, 9_973, 0));
    assert!(heap.equal(a, b));
    assert_eq!(heap.hash(a), heap.hash(b));
}

#[test]
fn long_values_that_differ_in_their_last_part_have_different_hashes() {
    let mut heap = roomy();
    for length in [100, 130, 5000, 100_000] {
        let mut elements = vec![Value::small(1); length];
        let mut hashes = Vec::new();
        for last in [1, 2] {
            elements[length - 1] = Value::small(last);
            let vector = heap.make(Kind::Vector, &elements).unwrap();
            let list = heap.list(&elements, Value::NIL).unwrap();
            let set = heap.make_set().unwrap();
            for place in 0..length {
                let element = Value::small(place as i32 + last * (place + 1 == length) as i32);
                heap.table_put(set, element, element).unwrap();
            }
            hashes.extend([heap.hash(vector), heap.hash(list), heap.hash(set)]);
        }
        for pair in 0..3 {
            assert_ne!(hashes[pair], hashes[pair + 3], "{length} elements, value {pair}");
        }
    }
}

#[test]
fn dictionaries_with_equal_keys_and_other_values_have_different_hashes() {
    let mut heap = roomy();
    let (key, text) = (heap.intern("n").unwrap(), heap.string("a").unwrap());
    let list = heap.cons(key, Value::NIL).unwrap();
    let other_text = heap.string("b").unwrap();
    let hashes: Vec<u64> = [Value::small(1), Value::small(2), Value::NIL, text, other_text, list]
        .into_iter()
        .map(|value| {
            let dictionary = heap.make_dictionary().unwrap();
            heap.table_put(dictionary, key, value).unwrap();
            let inside = heap.list(&[text, dictionary], Value::NIL).unwrap();
            heap.hash(inside)
        })
        .collect();
    let different: BTreeSet<u64> = hashes.iter().copied().collect();
    assert_eq!(different.len(), hashes.len(), "{hashes:?}");
}

/// What a member of the object holds under each number.
fn members(heap: &mut Heap, number: i32) -> [Value; 5] {
    let key = heap.intern("id").unwrap();
    let number = Value::small(number);
    let object = heap.make_dictionary().unwrap();
    heap.table_put(object, key, number).unwrap();
    let deep = heap.make_dictionary().unwrap();
    heap.table_put(deep, key, object).unwrap();
    let list = heap.list(&[number], Value::NIL).unwrap();
    let set = heap.make_set().unwrap();
    heap.table_put(set, list, list).unwrap();
    [
        object,
        deep,
        list,
        heap.make(Kind::Vector, &[list, object]).unwrap(),
        set,
    ]
}

#[test]
fn members_with_parts_count_whole_and_in_any_order() {
    let mut heap = roomy();
    let keys = ["user", "place", "why"].map(|name| heap.intern(name).unwrap());
    let object = |heap: &mut Heap, member: Value, is_reversed: bool| {
        let object = heap.make_dictionary().unwrap();
        let mut entries = [(keys[0], member), (keys[1], Value::small(7)), (keys[2], member)];
        if is_reversed {
            entries.reverse();
        }
        for (key, value) in entries {
            heap.table_put(object, key, value).unwrap();
        }
        heap.list(&[object, member], Value::NIL).unwrap()
    };
    let mut hashes = BTreeSet::new();
    for number in 0..200 {
        let (these, others) = (members(&mut heap, number), members(&mut heap, number));
        for (this, other) in these.into_iter().zip(others) {
            let (a, b) = (object(&mut heap, this, false), object(&mut heap, other, true));
            assert!(heap.equal(a, b));
            assert_eq!(heap.hash(a), heap.hash(b));
            hashes.insert(heap.hash(a));
        }
    }
    assert_eq!(hashes.len(), 1000);
}

#[test]
fn tables_that_have_no_end_or_are_too_large_hash_alike_in_any_order() {
    let mut heap = roomy();
    let keys = ["a", "b", "c"].map(|name| heap.intern(name).unwrap());
    // Two ways to say one endless object, the second with its entries in another order.
    let knots = [[0, 1, 2], [2, 1, 0]].map(|order| {
        let object = heap.make_dictionary().unwrap();
        let list = heap.list(&[Value::small(1), object], Value::NIL).unwrap();
        let members = [list, object, Value::small(2)];
        for place in order {
            heap.table_put(object, keys[place], members[place]).unwrap();
        }
        object
    });
    assert!(heap.equal(knots[0], knots[1]));
    assert_eq!(heap.hash(knots[0]), heap.hash(knots[1]));
    // Each level has the one below twice: 2³⁰ parts.
    let towers = [[0, 1], [1, 0]].map(|order| {
        (0..30).fold(Value::small(1), |below, _| {
            let object = heap.make_dictionary().unwrap();
            for place in order {
                heap.table_put(object, keys[place], below).unwrap();
            }
            object
        })
    });
    assert!(heap.equal(towers[0], towers[1]));
    assert_eq!(heap.hash(towers[0]), heap.hash(towers[1]));
}

#[test]
fn long_and_deep_values_need_no_rust_stack() {
    let mut heap = roomy();
    let deep = |heap: &mut Heap| (0..200_000).fold(Value::NIL, |inner, _| heap.cons(inner, Value::NIL).unwrap());
    let (a, b) = (deep(&mut heap), deep(&mut heap));
    assert!(heap.equal(a, b));
    let nest = |heap: &mut Heap| {
        (0..2_000).fold(Value::NIL, |inner, _| {
            let set = heap.make_set().unwrap();
            heap.table_put(set, inner, inner).unwrap();
            set
        })
    };
    let (a, b) = (nest(&mut heap), nest(&mut heap));
    assert!(heap.equal(a, b));
}

#[test]
fn a_table_that_holds_itself_can_be_compared() {
    let mut heap = roomy();
    let knot = |heap: &mut Heap| {
        let table = heap.make_dictionary().unwrap();
        let key = heap.make_vector(1, Value::NIL).unwrap();
        heap.table_put(table, key, table).unwrap();
        heap.set_field(key, 0, table);
        table
    };
    let (a, b) = (knot(&mut heap), knot(&mut heap));
    assert!(heap.equal(a, b));
}

#[test]
fn objects_with_identity_are_keys_of_their_own() {
    let mut heap = roomy();
    let mut roots = [heap.make_dictionary().unwrap(), Value::NIL, Value::NIL];
    for key in 1..3 {
        roots[key] = heap.make_cell(Value::ZERO).unwrap();
        heap.table_put(roots[0], roots[key], Value::small(key as i32)).unwrap();
    }
    heap.collect_major(&mut [&mut roots], &AllLive);
    for key in 1..3 {
        assert_eq!(
            heap.table_get(roots[0], roots[key]).map(|entry| entry.value),
            Some(Value::small(key as i32))
        );
    }
    let name = heap.intern("point").unwrap();
    let fields = heap.make_vector(0, Value::NIL).unwrap();
    let record_type = heap.make_record_type(name, fields, Value::FALSE).unwrap();
    let instances = [
        heap.make_record(record_type, &[]).unwrap(),
        heap.make_record(record_type, &[]).unwrap(),
    ];
    assert!(!heap.equal(instances[0], instances[1]));
    assert_ne!(heap.hash(instances[0]), heap.hash(instances[1]));
}
