//! The runs that a worker has let sleep, and when it wakes them whatever the clock says.
//!
//! A run that is awake counts the length of a timer by a clock that nobody sets. These counts go on
//! while it sleeps, so a clock that is set back makes it late in no other way.
//! INVARIANT: a run is woken by a count only while the journal says that it needs the moment for
//! which it sleeps. A worker counts for a bounded number of runs, whatever number sleeps.
//! It reads no journal. Read next: `owner/work.rs`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use duet_drivers::timers::CountedTimers;
use duet_journal::{BranchName, Need, Ready, RunId};

/// How much later than its count a run is woken: the journal names it before, unless the clock was
/// set back.
const GRACE: Duration = Duration::from_millis(200);

/// The maximum number of runs that are counted, those with the earliest ends; the others go by the
/// clock alone.
const COUNTED_RUNS_MAX: usize = 1024;

/// The sleeping runs.
#[derive(Default)]
pub(super) struct SleepingRuns(BTreeMap<RunId, Asleep>);

struct Asleep {
    branch: BranchName,
    need: Need,
    due: Instant,
    counted: CountedTimers,
}

impl SleepingRuns {
    /// Notes that a run sleeps until a moment.
    pub(super) fn add(&mut self, ready: &Ready, need: Need, counted: CountedTimers) {
        let due = counted.first_end().and_then(|ends| ends.checked_add(GRACE));
        if let (Need::Moment(_), Some(due)) = (need, due) {
            let branch = ready.branch.clone();
            let asleep = Asleep {
                branch,
                need,
                due,
                counted,
            };
            self.0.insert(ready.run.clone(), asleep);
            self.keep_earliest();
        }
    }

    /// Forgets the run that is to be woken last, if there are too many.
    fn keep_earliest(&mut self) {
        if self.0.len() > COUNTED_RUNS_MAX
            && let Some((last, _)) = self.0.iter().max_by_key(|(_, asleep)| asleep.due)
        {
            let last = last.clone();
            self.0.remove(&last);
        }
    }

    /// Takes a run that is woken; returns the counts of its timers, if it is at the moment for
    /// which it went to sleep.
    pub(super) fn take(&mut self, ready: &Ready, need: Need) -> CountedTimers {
        let asleep = self.0.remove(&ready.run);
        let asleep = asleep.filter(|asleep| asleep.branch == ready.branch && asleep.need == need);
        asleep.map(|asleep| asleep.counted).unwrap_or_default()
    }

    /// Lists the runs whose counts are over.
    pub(super) fn due(&self) -> Vec<Ready> {
        let now = moment();
        let due = self.0.iter().filter(|(_, asleep)| asleep.due <= now);
        due.map(|(run, asleep)| Ready {
            run: run.clone(),
            branch: asleep.branch.clone(),
        })
        .collect()
    }

    /// Whether the count of a run is over, and the run still needs what it went to sleep for.
    pub(super) fn is_due(&self, ready: &Ready, need: Need) -> bool {
        let asleep = self.0.get(&ready.run);
        asleep.is_some_and(|asleep| asleep.branch == ready.branch && asleep.need == need && asleep.due <= moment())
    }

    /// Forgets a run that others go on with.
    pub(super) fn forget(&mut self, run: &RunId) {
        self.0.remove(run);
    }
}

fn moment() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "when a worker looks at a run enters no record")]
    let now = Instant::now();
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asleep(after: u64) -> Asleep {
        Asleep {
            branch: BranchName::new("main").expect("a name"),
            need: Need::Moment(after),
            due: moment() + Duration::from_secs(after),
            counted: CountedTimers::default(),
        }
    }

    #[test]
    fn the_runs_that_are_woken_first_are_counted() {
        let mut sleeping = SleepingRuns::default();
        let name = |number: usize| RunId::new(format!("r{number}")).expect("a name");
        for number in 0..2 * COUNTED_RUNS_MAX {
            // The later half ends earlier.
            let after = 10_000 - number as u64;
            sleeping.0.insert(name(number), asleep(after));
            sleeping.keep_earliest();
        }
        assert_eq!(sleeping.0.len(), COUNTED_RUNS_MAX);
        assert!((COUNTED_RUNS_MAX..2 * COUNTED_RUNS_MAX).all(|number| sleeping.0.contains_key(&name(number))));
    }
}
