//! The runs that a worker has executed last.
//!
//! INVARIANT: it remembers a bounded number of them, whatever number it executes.
//! Read next: `look.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::RunId;

/// The maximum number of runs that are remembered.
const RUNS_MAX: usize = 1024;

/// Runs, each with the number of its newest execution.
#[derive(Default)]
pub(super) struct RecentRuns {
    numbers: BTreeMap<RunId, u64>,
    oldest_first: BTreeSet<(u64, RunId)>,
    next: u64,
}

impl RecentRuns {
    /// Notes that a run has been executed.
    pub(super) fn add(&mut self, run: &RunId) {
        let number = self.next;
        self.next += 1;
        if let Some(before) = self.numbers.insert(run.clone(), number) {
            self.oldest_first.remove(&(before, run.clone()));
        }
        self.oldest_first.insert((number, run.clone()));
        if self.numbers.len() > RUNS_MAX
            && let Some((_, oldest)) = self.oldest_first.pop_first()
        {
            self.numbers.remove(&oldest);
        }
    }

    /// Whether a run is remembered.
    pub(super) fn has(&self, run: &RunId) -> bool {
        self.numbers.contains_key(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_remembered() {
        let mut recent = RecentRuns::default();
        let name = |number: usize| RunId::new(format!("r{number}")).expect("a name");
        for number in 0..RUNS_MAX {
            recent.add(&name(number));
        }
        recent.add(&name(0));
        recent.add(&name(RUNS_MAX));
        assert!(recent.has(&name(0)) && recent.has(&name(RUNS_MAX)) && !recent.has(&name(1)));
        assert_eq!((recent.numbers.len(), recent.oldest_first.len()), (RUNS_MAX, RUNS_MAX));
    }
}
