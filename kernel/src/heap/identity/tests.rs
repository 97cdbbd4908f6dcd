//! Dictionaries by identity beside a list of entries, through collections and turns.

use proptest::prelude::*;

use super::*;
use crate::heap::AllLive;
use crate::heap::tests::roomy;

/// Something that happens to a dictionary, its keys, or its heap. Keys are numbered.
#[derive(Clone, Debug)]
enum Operation {
    Put(usize, i32),
    Delete(usize),
    CollectMinor,
    CollectMajor,
    Begin,
    Commit,
    Abort,
    GoBack,
    Mutate(usize),
}

fn step() -> impl Strategy<Value = Operation> {
    prop_oneof![
        12 => (0..KEYS, any::<i16>()).prop_map(|(key, value)| Operation::Put(key, value.into())),
        3 => (0..KEYS).prop_map(Operation::Delete),
        2 => Just(Operation::CollectMinor),
        1 => Just(Operation::CollectMajor),
        1 => Just(Operation::Begin),
        1 => Just(Operation::Commit),
        1 => Just(Operation::Abort),
        1 => Just(Operation::GoBack),
        1 => (0..KEYS).prop_map(Operation::Mutate),
    ]
}

const KEYS: usize = 60;

/// A dictionary and its keys, with what the dictionary should hold, in order.
#[derive(Clone)]
struct Model {
    /// The dictionary, then the keys.
    roots: Vec<Value>,
    entries: Vec<(usize, i32)>,
}

impl Model {
    fn new(heap: &mut Heap) -> Self {
        let dictionary = heap.make_identity_dictionary().unwrap();
        let mut model = Self {
            roots: vec![dictionary],
            entries: Vec::new(),
        };
        for number in 0..KEYS {
            let key = model.fresh_key(heap, number);
            model.roots.push(key);
        }
        model
    }

    /// A key that is the same as no other: half of them pairs, all of which are `equal?`.
    fn fresh_key(&self, heap: &mut Heap, number: usize) -> Value {
        match number % 6 {
            0 => Value::small(number as i32),
            1 => heap.string("the same").unwrap(),
            2 => heap.big_integer(&(num_bigint::BigInt::from(number) << 80)).unwrap(),
            _ => heap.cons(Value::NIL, Value::NIL).unwrap(),
        }
    }

    fn key(&self, number: usize) -> Value {
        self.roots[1 + number]
    }

    fn put(&mut self, heap: &mut Heap, number: usize, value: i32) {
        heap.table_put(self.roots[0], self.key(number), Value::small(value))
            .unwrap();
        match self.entries.iter_mut().find(|(known, _)| *known == number) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((number, value)),
        }
    }

    fn check(&self, heap: &mut Heap) {
        let table = self.roots[0];
        assert_eq!(heap.table_count(table), self.entries.len());
        for number in 0..KEYS {
            let expected = self.entries.iter().find(|(known, _)| *known == number);
            let found = heap.table_get(table, self.key(number)).map(|entry| entry.value);
            assert_eq!(found, expected.map(|(_, value)| Value::small(*value)), "key {number}");
        }
        let mut ordinal = 0;
        for (number, value) in &self.entries {
            let entry = heap.table_next(table, ordinal).unwrap();
            assert!(heap.eqv(entry.key, self.key(*number)));
            assert_eq!(entry.value, Value::small(*value));
            ordinal = entry.ordinal + 1;
        }
    }
}

fn run(steps: &[Operation]) {
    let mut heap = roomy();
    let mut model = Model::new(&mut heap);
    heap.collect_minor(&mut [&mut model.roots], &AllLive);
    heap.make_savepoint(1, 0);
    let marked = model.clone();
    let mut before = None;
    for step in steps {
        match *step {
            Operation::Put(key, value) => model.put(&mut heap, key, value),
            Operation::Delete(key) => {
                heap.table_delete(model.roots[0], model.key(key));
                model.entries.retain(|(known, _)| *known != key);
            }
            Operation::CollectMinor => heap.collect_minor(&mut [&mut model.roots], &AllLive),
            Operation::CollectMajor => heap.collect_major(&mut [&mut model.roots], &AllLive),
            Operation::Begin if before.is_none() => {
                heap.begin_turn();
                before = Some(model.clone());
            }
            Operation::Commit if before.take().is_some() => heap.commit_turn(),
            Operation::Abort => {
                if let Some(undone) = before.take() {
                    heap.abort_turn();
                    model = undone;
                }
            }
            Operation::GoBack if before.is_none() && heap.restore_savepoint(1) => {
                model = marked.clone();
                heap.make_savepoint(1, 0);
            }
            Operation::Mutate(key) if model.key(key).is_pair() => heap.set_car(model.key(key), Value::TRUE),
            Operation::Begin | Operation::Commit | Operation::GoBack | Operation::Mutate(_) => {}
        }
        model.check(&mut heap);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keys_are_found_wherever_they_have_moved(steps in prop::collection::vec(step(), 0..120)) {
        run(&steps);
    }
}

/// Looking for a key among many takes no more steps than among few.
#[test]
fn many_pairs_share_no_slots_for_long() {
    const COUNT: usize = 20_000;
    let mut heap = roomy();
    let mut roots = vec![heap.make_identity_dictionary().unwrap()];
    for number in 0..COUNT {
        roots.push(heap.cons(Value::NIL, Value::NIL).unwrap());
        heap.table_put(roots[0], roots[number + 1], Value::small(number as i32))
            .unwrap();
        if number % 1000 == 0 {
            heap.collect_minor(&mut [&mut roots], &AllLive);
        }
    }
    heap.collect_major(&mut [&mut roots], &AllLive);
    let table = roots[0];
    heap.rehash_if_moved(table);
    let mut steps = 0;
    for &key in &roots[1..] {
        let hash = heap.key_hash(table, key);
        steps += 1 + heap
            .entries_with_hash(table, hash)
            .position(|ordinal| heap.table_entry(table, ordinal).key == key)
            .unwrap();
    }
    assert!(steps < COUNT * 3, "{steps} steps for {COUNT} keys");
}

/// A heap that begins with the words of another, and one that rests, find the keys where they lie
/// now.
#[test]
fn keys_are_found_in_a_heap_that_began_with_a_template_and_rested() {
    let mut heap = roomy();
    let mut root = vec![heap.make_identity_dictionary().unwrap()];
    heap.cons(Value::NIL, Value::NIL).unwrap();
    let keys: Vec<Value> = (0..40).map(|_| heap.cons(Value::NIL, Value::NIL).unwrap()).collect();
    for (number, &key) in keys.iter().enumerate() {
        heap.table_put(root[0], key, Value::small(number as i32)).unwrap();
    }
    heap.collect_minor(&mut [&mut root], &AllLive);
    let id = heap.root(root[0]).unwrap();
    let template = std::sync::Arc::new(heap.template(&AllLive));
    let mut fresh = roomy();
    assert!(fresh.start_from(&template));
    let check = |heap: &mut Heap, count: usize| {
        let table = heap.root_value(id);
        let entries: Vec<_> = std::iter::successors(heap.table_next(table, 0), |entry| {
            heap.table_next(table, entry.ordinal + 1)
        })
        .collect();
        assert_eq!(entries.len(), count);
        for entry in entries {
            assert_eq!(heap.table_get(table, entry.key), Some(entry));
        }
    };
    check(&mut fresh, 40);
    for round in 0..4 {
        for _ in 0..10 {
            let key = fresh.cons(Value::NIL, Value::NIL).unwrap();
            let table = fresh.root_value(id);
            fresh.table_put(table, key, Value::TRUE).unwrap();
            fresh.make_vector(200, Value::NIL).unwrap();
        }
        fresh.compact(&AllLive);
        fresh.expand();
        check(&mut fresh, 50 + round * 10);
    }
}
