//! An order of the items of a list, which the list itself does not have.
//!
//! The order holds places in the list, and whoever searches compares the items. So there is one
//! insertion for every kind of key: a tree for each kind was a twelfth of the code of this crate.
//! INVARIANT: no run is empty, and none is longer than [`RUN_MAX`]; the items at the places ascend,
//! within a run and from run to run.
//! It does not know the items.
//! Read next: `noted.rs`.

use std::cmp::Ordering;

/// The maximum number of places in a run: an insertion moves at most these.
const RUN_MAX: usize = if cfg!(test) { 4 } else { 256 };

/// Places in ascending order of the items there.
#[derive(Clone, Default)]
pub(super) struct Order {
    runs: Vec<Vec<u32>>,
}

/// The point between two places at which an item belongs.
#[derive(Clone, Copy, Default)]
pub(super) struct Gap {
    run: usize,
    at: usize,
}

impl Order {
    /// Orders the places of a short list, whose items `compare` compares.
    pub(super) fn of(length: u32, compare: &dyn Fn(u32, u32) -> Ordering) -> Self {
        let mut places: Vec<u32> = (0..length).collect();
        places.sort_unstable_by(|one, other| compare(*one, *other));
        let runs = places.chunks(RUN_MAX).map(<[u32]>::to_vec).collect();
        Self { runs }
    }

    /// Forgets all places.
    pub(super) fn clear(&mut self) {
        if !self.runs.is_empty() {
            self.runs = Vec::new();
        }
    }

    /// Finds the place whose item is equal to the one sought, or the gap in which it belongs.
    /// `compare` compares the item at a place with the one sought.
    pub(super) fn find(&self, compare: impl Fn(u32) -> Ordering) -> Result<u32, Gap> {
        let after = self.runs.partition_point(|run| compare(run[0]).is_le());
        let run = after.saturating_sub(1);
        let Some(places) = self.runs.get(run) else {
            return Err(Gap { run, at: 0 });
        };
        match places.binary_search_by(|place| compare(*place)) {
            Ok(at) => Ok(places[at]),
            Err(at) => Err(Gap { run, at }),
        }
    }

    /// Inserts a place into the gap in which its item belongs.
    pub(super) fn insert(&mut self, Gap { run, at }: Gap, place: u32) {
        let Some(places) = self.runs.get_mut(run) else {
            self.runs.push(vec![place]);
            return;
        };
        if places.len() < RUN_MAX {
            places.insert(at, place);
        } else if at == places.len() {
            // Ids ascend: the run stays full.
            self.runs.insert(run + 1, vec![place]);
        } else {
            let mut right = places.split_off(RUN_MAX / 2);
            match at.checked_sub(RUN_MAX / 2) {
                Some(at) => right.insert(at, place),
                None => places.insert(at, place),
            }
            self.runs.insert(run + 1, right);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn items_are_found_however_they_came(items in proptest::collection::vec(any::<u8>(), 0..200)) {
            let (mut list, mut order) = (Vec::<u8>::new(), Order::default());
            for item in items {
                let found = order.find(|place| list[place as usize].cmp(&item));
                prop_assert_eq!(found.is_ok(), list.contains(&item));
                if let Err(gap) = found {
                    order.insert(gap, list.len() as u32);
                    list.push(item);
                }
            }
            for (place, item) in (0..).zip(&list) {
                let found = order.find(|place| list[place as usize].cmp(item));
                prop_assert_eq!(found.ok(), Some(place));
            }
            let runs = &order.runs;
            prop_assert!(runs.iter().all(|run| (1..=RUN_MAX).contains(&run.len())));
        }
    }
}
