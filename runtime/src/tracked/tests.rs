//! The property of all tracked things: what is aborted never was.

use proptest::prelude::*;

use super::*;

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

fn perform(map: &mut Tracked<u8, u32>, steps: &[Do]) {
    for step in steps {
        match step {
            Do::Insert(key, value) => drop(map.insert(*key, *value)),
            Do::Remove(key) => drop(map.remove(key)),
            Do::Change(key, value) => {
                if let Some(found) = map.get_mut(key) {
                    *found = *value;
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn what_is_aborted_never_was(kept in steps(), undone in steps(), after in steps()) {
        let mut map = Tracked::default();
        perform(&mut map, &kept);
        map.commit_turn();
        let begun = map.map.clone();
        perform(&mut map, &undone);
        for key in 0..=u8::MAX {
            prop_assert_eq!(map.before(&key), begun.get(&key));
        }
        map.abort_turn();
        prop_assert_eq!(&map.map, &begun);
        perform(&mut map, &after);
        map.abort_turn();
        prop_assert_eq!(&map.map, &begun);
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
                    perform(&mut inner.map, steps);
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
