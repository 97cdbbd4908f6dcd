//! The names of runs: the first free one.

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Returns the number that is found, and how many were asked for.
fn find(taken: &BTreeSet<u64>) -> (u64, u32) {
    let asked = Cell::new(0);
    let found = free_number(|number| {
        asked.set(asked.get() + 1);
        Ok(number == 1 || taken.contains(&number))
    });
    (
        found.unwrap_or_else(|_| unreachable!("asking cannot fail")),
        asked.get(),
    )
}

#[test]
fn runs_are_numbered_one_after_the_other() {
    for count in 1..300 {
        assert_eq!(find(&(2..=count).collect()).0, count + 1);
    }
    let (next, asked) = find(&(2..=100_000).collect());
    assert_eq!(next, 100_001);
    assert!(asked < 40, "{asked} names were asked for");
}

proptest! {
    #[test]
    fn a_number_that_is_found_is_free_wherever_there_are_gaps(
        taken in prop::collection::btree_set(2_u64..40, 0..30),
    ) {
        let (free, _) = find(&taken);
        prop_assert!(free > 1 && !taken.contains(&free));
        prop_assert!(free == 2 || taken.contains(&(free - 1)));
    }
}
