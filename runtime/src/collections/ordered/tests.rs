//! The map behaves like the standard one, is independent of its clones, and is dense.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Do {
    Insert(u32, u32),
    Append(u32),
    Remove(u32),
    RemoveFirst,
    Change(u32, u32),
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Do>> {
    let key = 0..600_u32;
    let step = prop_oneof![
        (key.clone(), any::<u32>()).prop_map(|(key, value)| Do::Insert(key, value)),
        any::<u32>().prop_map(Do::Append),
        key.clone().prop_map(Do::Remove),
        Just(Do::RemoveFirst),
        (key, any::<u32>()).prop_map(|(key, value)| Do::Change(key, value)),
    ];
    proptest::collection::vec(step, 0..most)
}

fn perform(map: &mut Ordered<u32, u32>, model: &mut BTreeMap<u32, u32>, steps: &[Do]) {
    for step in steps {
        let last = model.keys().next_back().map_or(0, |last| last.saturating_add(1));
        match *step {
            Do::Insert(key, value) => assert_eq!(map.insert(key, value), model.insert(key, value)),
            Do::Append(value) => assert_eq!(map.insert(last, value), model.insert(last, value)),
            Do::Remove(key) => assert_eq!(map.remove(&key), model.remove(&key)),
            Do::RemoveFirst => {
                let first = model.keys().next().copied().unwrap_or_default();
                assert_eq!(map.remove(&first), model.remove(&first));
            }
            Do::Change(key, value) => {
                let (found, wanted) = (map.get_mut(&key), model.get_mut(&key));
                assert_eq!(found, wanted);
                if let (Some(found), Some(wanted)) = (found, wanted) {
                    (*found, *wanted) = (value, value);
                }
            }
        }
    }
}

/// Checks the shape below a node and returns its height.
fn check_node(node: &Node<u32, u32>, from: Option<u32>, to: Option<u32>) -> usize {
    match node {
        Node::Leaf(entries) => {
            assert!((1..=NODE_MAX).contains(&entries.len()));
            assert!(entries.is_sorted_by(|left, right| left.0 < right.0));
            assert!(entries.iter().all(|(key, _)| from.is_none_or(|from| from <= *key)));
            assert!(entries.iter().all(|(key, _)| to.is_none_or(|to| *key < to)));
            0
        }
        Node::Branch(Branch { keys, children }) => {
            assert!((1..=NODE_MAX).contains(&children.len()));
            assert_eq!(keys.len() + 1, children.len());
            let bounds = |place: usize| if place == 0 { from } else { Some(keys[place - 1]) };
            let heights: Vec<usize> = (0..children.len())
                .map(|place| check_node(&children[place], bounds(place), keys.get(place).copied().or(to)))
                .collect();
            assert!(heights.iter().all(|height| *height == heights[0]));
            heights[0] + 1
        }
    }
}

fn check(map: &Ordered<u32, u32>, model: &BTreeMap<u32, u32>) {
    assert_eq!(map.len(), model.len());
    assert_eq!(map.is_empty(), model.is_empty());
    assert!(map.iter().eq(model.iter()));
    assert!(map.iter().rev().eq(model.iter().rev()));
    assert!((0..700).all(|key| map.get(&key) == model.get(&key)));
    if let Root::Many { node, .. } = &map.0 {
        assert!(map.len() > 1);
        check_node(node, None, None);
    }
}

proptest! {
    #[test]
    fn it_behaves_as_the_standard_map_and_clones_are_independent(
        first in steps(600),
        second in steps(200),
        third in steps(200),
    ) {
        let (mut map, mut model) = (Ordered::default(), BTreeMap::new());
        perform(&mut map, &mut model, &first);
        let (kept, kept_model) = (map.clone(), model.clone());
        perform(&mut map, &mut model, &second);
        check(&kept, &kept_model);
        let (mut other, mut other_model) = (kept.clone(), kept_model.clone());
        perform(&mut other, &mut other_model, &third);
        check(&map, &model);
        check(&kept, &kept_model);
        check(&other, &other_model);
        prop_assert_eq!(map == other, model == other_model);
        prop_assert_eq!(&kept, &kept_model.into_iter().collect());
    }

    #[test]
    fn keys_are_found_however_they_lie(
        keys in proptest::collection::vec(prop_oneof![0..u64::MAX, 0..1_000_u64, u64::MAX - 9..=u64::MAX], 0..500),
        others in proptest::collection::vec(any::<u64>(), 0..50),
    ) {
        let mut model: BTreeMap<u64, u64> = (0..).zip(&keys).map(|(value, key)| (*key, value)).collect();
        let mut map: Ordered<u64, u64> = (0..).zip(&keys).map(|(value, key)| (*key, value)).collect();
        let near = keys.iter().flat_map(|key| [key.wrapping_sub(1), *key, key.wrapping_add(1)]);
        for key in near.chain(others) {
            prop_assert_eq!(map.get(&key), model.get(&key));
            prop_assert_eq!(map.get_mut(&key), model.get_mut(&key));
        }
    }

    #[test]
    fn ranges_are_those_of_the_standard_map_from_both_ends(
        steps in steps(400),
        from in 0..700_u32,
        to in 0..700_u32,
        kinds in 0..9_u8,
        ends in proptest::collection::vec(any::<bool>(), 0..80),
    ) {
        let (mut map, mut model) = (Ordered::default(), BTreeMap::new());
        perform(&mut map, &mut model, &steps);
        let bound = |kind: u8, key| match kind {
            0 => Bound::Unbounded,
            1 => Bound::Included(key),
            _ => Bound::Excluded(key),
        };
        // The standard map panics if the bounds are in the wrong order.
        let to = from.saturating_add(to % 100).max(from + 1);
        let range = (bound(kinds % 3, from), bound(kinds / 3, to));
        let (mut found, mut wanted) = (map.range(range), model.range(range));
        for is_front in ends {
            if is_front {
                prop_assert_eq!(found.next(), wanted.next());
            } else {
                prop_assert_eq!(found.next_back(), wanted.next_back());
            }
        }
        prop_assert!(found.eq(wanted));
    }
}

/// Returns the number of entries that the leaves have room for.
fn room(node: &Node<u32, u32>) -> usize {
    match node {
        Node::Leaf(entries) => entries.capacity(),
        Node::Branch(branch) => branch.children.iter().map(|child| room(child)).sum(),
    }
}

#[test]
fn keys_that_ascend_or_descend_leave_no_gaps_and_few_entries_little_room() {
    let dense = |keys: &mut dyn Iterator<Item = u32>| {
        let map: Ordered<u32, u32> = keys.map(|key| (key, 0)).collect();
        match &map.0 {
            Root::Many { node, .. } => room(node) - map.len(),
            Root::Empty | Root::One(_) => 0,
        }
    };
    assert_eq!(dense(&mut (0..1)), 0);
    assert!(dense(&mut (0..3)) <= 3);
    assert!(dense(&mut (0..10_000)) <= NODE_MAX);
    assert!(dense(&mut (0..10_000).rev()) <= NODE_MAX);
    let mut map: Ordered<u32, u32> = (0..10_000).map(|key| (key, 0)).collect();
    for key in (0..10_000).filter(|key| key % 100 != 0) {
        map.remove(&key);
    }
    let Root::Many { node, .. } = &map.0 else {
        panic!("a hundred entries are many")
    };
    assert!(room(node) <= 4 * map.len());
}
