//! The look for runs that can go on.
//!
//! INVARIANT: however many runs can go on that a worker does not take, it finds those that it does.
//! It does not choose among them; `owner/work.rs` does. Read next: `slept.rs`.

use std::collections::VecDeque;

use duet_journal::{Ready, RunId, StoreError};

/// How many times as many runs as it takes a worker looks at: other workers take some of them at
/// the same time.
const ROOM_FOR_OTHERS: usize = 8;

/// A look into the journal.
pub(super) struct Look<'a> {
    /// Lists the runs that can go on, at most this many.
    pub(super) ready: &'a dyn Fn(usize) -> Result<Vec<Ready>, StoreError>,
    /// Whether the worker takes a run.
    pub(super) wants: &'a dyn Fn(&RunId) -> bool,
    /// A number that differs between workers and between looks.
    pub(super) seed: u64,
}

impl Look<'_> {
    /// Finds runs that can go on, at most `most`. Other workers see the same ones: each begins at a
    /// place of its own among them.
    ///
    /// # Errors
    /// Those of the journal.
    pub(super) fn find(&self, most: usize) -> Result<VecDeque<Ready>, StoreError> {
        let mut found = self.wanted(most)?;
        let begin = mixed(self.seed) % found.len().max(1) as u64;
        found.rotate_left(usize::try_from(begin).unwrap_or(0));
        found.truncate(most);
        Ok(found)
    }

    /// Lists runs that the worker takes: `most` or more, if there are as many.
    fn wanted(&self, most: usize) -> Result<VecDeque<Ready>, StoreError> {
        let mut extent = ROOM_FOR_OTHERS * most;
        loop {
            let listed = (self.ready)(extent)?;
            let is_all = listed.len() < extent;
            let wanted: VecDeque<Ready> = listed.into_iter().filter(|ready| (self.wants)(&ready.run)).collect();
            if is_all || wanted.len() >= most {
                return Ok(wanted);
            }
            extent *= ROOM_FOR_OTHERS;
        }
    }
}

/// Spreads a number over all numbers, so that workers which look at one moment begin at different
/// places. Source: Steele and others, "Fast splittable pseudorandom number generators" (2014).
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use duet_journal::BranchName;

    use super::*;

    #[test]
    fn a_run_behind_many_that_others_take_is_found() {
        let named = |name: String| Ready {
            run: RunId::new(name).expect("a name"),
            branch: BranchName::new("main").expect("a name"),
        };
        let names = (0..10_000).map(|number| format!("other-{number}"));
        let all: Vec<Ready> = names.chain(["own".to_owned()]).map(named).collect();
        for most in [1, 16, 200] {
            let look = Look {
                ready: &|extent| Ok(all[..extent.min(all.len())].to_vec()),
                wants: &|run| run.as_str() == "own",
                seed: 7,
            };
            let found = look.find(most).expect("the journal can be read");
            assert_eq!(found, [named("own".to_owned())], "{most}");
            let look = Look {
                wants: &|_| true,
                ..look
            };
            assert_eq!(look.find(most).expect("the journal can be read").len(), most);
        }
    }
}
