//! The property of all tracked collections: an abort restores the state from before the turn.

use proptest::prelude::*;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Bound;

use super::*;
use crate::collections::ordered::Ordered;
use crate::model::identity::ActorId;

#[derive(Clone, Debug)]
enum Do {
    Insert(u8, u32),
    Remove(u8),
    Change(u8, u32),
}

fn steps() -> impl Strategy<Value = Vec<Do>> {
    let step = prop_oneof![
        (any::<u8>(), any::<u32>()).prop_map(|(key, value)| Do::Insert(key, value)),
        any::<u8>().prop_map(Do::Remove),
        (any::<u8>(), any::<u32>()).prop_map(|(key, value)| Do::Change(key, value)),
    ];
    proptest::collection::vec(step, 0..60)
}

/// A kind of table and its keys.
trait Kind {
    type Key: Ord + Clone + Debug;
    type Map: Table<Self::Key, u32> + Clone;

    fn key(number: u8) -> Self::Key;
}

struct InOrder;
struct OfActors;

impl Kind for InOrder {
    type Key = u8;
    type Map = Ordered<u8, u32>;

    fn key(number: u8) -> u8 {
        number
    }
}

impl Kind for OfActors {
    type Key = ActorId;
    type Map = Ordered<ActorId, u32>;

    fn key(number: u8) -> ActorId {
        ActorId(u64::from(number) * 7)
    }
}

type Map<T> = Tracked<<T as Kind>::Key, u32, <T as Kind>::Map>;
type Contents<T> = BTreeMap<<T as Kind>::Key, u32>;

fn perform<T: Kind>(map: &mut Map<T>, steps: &[Do]) {
    for step in steps {
        match step {
            Do::Insert(key, value) => drop(map.insert(T::key(*key), *value)),
            Do::Remove(key) => drop(map.remove(&T::key(*key))),
            Do::Change(key, value) => {
                if let Some(found) = map.get_mut(&T::key(*key)) {
                    *found = *value;
                }
            }
        }
    }
}

fn contents<T: Kind>(map: &Map<T>) -> Contents<T> {
    let table = &map.map;
    let keys = table.keys_from(Bound::Unbounded);
    let contents: Contents<T> = keys
        .into_iter()
        .filter_map(|key| table.get(&key).map(|value| (key.clone(), *value)))
        .collect();
    assert_eq!((contents.len(), table.values().count()), (table.count(), table.count()));
    contents
}

fn check_aborting<T: Kind>([kept, undone, after]: &[Vec<Do>; 3]) {
    let mut map = Map::<T>::default();
    perform::<T>(&mut map, kept);
    map.commit_turn();
    let begun = contents::<T>(&map);
    perform::<T>(&mut map, undone);
    for key in (0..=u8::MAX).map(T::key) {
        assert_eq!(map.before(&key), begun.get(&key));
    }
    map.abort_turn();
    assert_eq!(contents::<T>(&map), begun);
    perform::<T>(&mut map, after);
    map.abort_turn();
    assert_eq!(contents::<T>(&map), begun);
}

/// Runs turns of two parts, of which the first is kept, makes a savepoint before each, and restores
/// one.
fn check_going_back<T: Kind>(turns: &[(Vec<Do>, Vec<Do>, bool)], to: usize) {
    let mut map = Map::<T>::default();
    let mut savepoints = Vec::new();
    for (number, (first, second, is_kept)) in (1..).zip(turns) {
        map.make_savepoint(number);
        savepoints.push((number, contents::<T>(&map)));
        perform::<T>(&mut map, first);
        map.commit_turn();
        perform::<T>(&mut map, second);
        if *is_kept { map.commit_turn() } else { map.abort_turn() }
    }
    let (number, before) = &savepoints[to % savepoints.len()];
    assert!(map.restore_savepoint(*number));
    assert_eq!(&contents::<T>(&map), before);
    map.drop_savepoints(*number);
    assert!(!map.restore_savepoint(number - 1), "that savepoint was dropped");
}

proptest! {
    #[test]
    fn what_is_aborted_never_was(steps in [steps(), steps(), steps()]) {
        check_aborting::<InOrder>(&steps);
        check_aborting::<OfActors>(&steps);
    }

    #[test]
    fn a_map_returns_to_any_savepoint(
        turns in proptest::collection::vec((steps(), steps(), any::<bool>()), 1..8),
        to in 0..8_usize,
    ) {
        check_going_back::<InOrder>(&turns, to);
        check_going_back::<OfActors>(&turns, to);
    }
}

/// A value that tracks a map.
#[derive(Clone, Debug, Default, PartialEq)]
struct Inner {
    map: Tracked<u8, u32>,
}
tracked_fields!(Inner { map });

#[derive(Clone, Debug)]
enum DoInside {
    New(u8),
    Drop(u8),
    Inside(u8, Vec<Do>),
}

fn steps_inside() -> impl Strategy<Value = Vec<DoInside>> {
    let step = prop_oneof![
        (0..4_u8).prop_map(DoInside::New),
        (0..4_u8).prop_map(DoInside::Drop),
        (0..4_u8, steps()).prop_map(|(key, steps)| DoInside::Inside(key, steps)),
    ];
    proptest::collection::vec(step, 0..12)
}

fn perform_inside(tree: &mut TrackedTree<u8, Inner>, steps: &[DoInside]) {
    for step in steps {
        match step {
            DoInside::New(key) => drop(tree.insert(*key, Inner::default())),
            DoInside::Drop(key) => drop(tree.remove(key)),
            DoInside::Inside(key, steps) => {
                if let Some(inner) = tree.get_mut(key) {
                    perform::<InOrder>(&mut inner.map, steps);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn trees_go_back_with_what_is_in_them(kept in steps_inside(), undone in steps_inside(), after in steps_inside()) {
        let mut tree = TrackedTree::default();
        perform_inside(&mut tree, &kept);
        tree.commit_turn();
        let begun = (**tree).clone();
        for steps in [undone, after] {
            perform_inside(&mut tree, &steps);
            for (key, old) in &begun {
                let before = tree.before(key).expect("it was there");
                for inner in 0..=u8::MAX {
                    prop_assert_eq!(before.map.before(&inner), old.map.get(&inner));
                }
            }
            tree.abort_turn();
            prop_assert_eq!(&**tree, &begun);
            prop_assert!(tree.values().all(|inner| inner.map.noted().next().is_none()));
        }
    }
}

proptest! {
    #[test]
    fn a_tree_returns_to_a_savepoint_with_its_values(
        turns in proptest::collection::vec((steps_inside(), steps_inside(), any::<bool>()), 1..6),
        to in 0..6_usize,
    ) {
        let mut tree: TrackedTree<u8, Inner> = TrackedTree::default();
        let mut savepoints = Vec::new();
        for (number, (first, second, is_kept)) in (1..).zip(&turns) {
            tree.make_savepoint(number);
            let entries = tree.iter().map(|(key, inner)| (*key, inner.map.map.clone()));
            let before: Vec<(u8, Ordered<u8, u32>)> = entries.collect();
            savepoints.push((number, before));
            perform_inside(&mut tree, first);
            tree.commit_turn();
            perform_inside(&mut tree, second);
            if *is_kept { tree.commit_turn() } else { tree.abort_turn() }
        }
        let (number, before) = &savepoints[to % savepoints.len()];
        prop_assert!(tree.restore_savepoint(*number));
        let now: Vec<(u8, Ordered<u8, u32>)> = tree.iter().map(|(key, inner)| (*key, inner.map.map.clone())).collect();
        prop_assert_eq!(&now, before);
    }
}

#[test]
fn a_map_that_changed_too_much_cannot_go_back() {
    let mut map: Tracked<u32, u32> = (0..100_000).map(|key| (key, 0)).collect();
    for (number, few) in [(1, 3), (2, 100_000), (3, 3)] {
        map.make_savepoint(number);
        for key in 0..few {
            map.insert(key, 1);
        }
        map.commit_turn();
    }
    assert!(map.restore_savepoint(3));
    assert!(!map.restore_savepoint(1));
}
