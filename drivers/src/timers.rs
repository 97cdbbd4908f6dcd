//! The timers of a world: one queue in the order of their deadlines.
//!
//! INVARIANT: of the timers that have run out, that with the earliest deadline comes first, however
//! late somebody looks. Whatever the clock does, a timer never waits longer than its own length;
//! one that starts after the clock was set back never comes before it.
//! It wakes nobody: whoever waits for an input waits no longer than `Timers::wait` says.
//! Read next: `world.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use duet_runtime::model::identity::RequestId;

use crate::clock::WorldClock;

/// The longest wait before the clock is read again. The clock goes on while the machine sleeps, the
/// count of a wait does not.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How much later than its length a timer comes if the clock does not say so before; the clock is
/// read in milliseconds.
const CLOCK_STEP: Duration = Duration::from_millis(1);

/// A moment, by the clock and by a count that nobody sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Milliseconds since 1970.
    clock_ms: u64,
    steady: Instant,
    /// How much later than a reading the time may be, in milliseconds.
    behind_ms: u64,
}

impl Moment {
    /// Returns the present moment of a clock.
    pub(crate) fn now(clock: &WorldClock) -> Self {
        Self {
            clock_ms: u64::try_from(clock.since_1970().as_millis()).unwrap_or(u64::MAX),
            steady: clock.steady(),
            behind_ms: u64::from(!clock.is_virtual()),
        }
    }

    /// Returns the deadline of a timer that starts now, in milliseconds since 1970; it is never
    /// early, although a clock that moves by itself is read in whole milliseconds.
    pub(crate) fn deadline_ms(&self, delay_ms: u64) -> u64 {
        self.clock_ms.saturating_add(delay_ms).saturating_add(self.behind_ms)
    }
}

/// The counts of timers that this process has begun, so that the runs which it lets sleep go by
/// them again: their deadlines are by a clock that may be set back meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedTimers(BTreeMap<RequestId, Count>);

/// The count of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    start: Instant,
    ends: Instant,
}

/// The maximum number of timers of a sleeping run that are remembered: the earliest.
const COUNTED_MAX: usize = 64;

impl CountedTimers {
    /// Returns when the first of them ends.
    pub fn first_end(&self) -> Option<Instant> {
        self.0.values().map(|count| count.ends).min()
    }
}

/// A timer to start.
pub(crate) struct Timer {
    pub(crate) request: RequestId,
    /// The key of its effect.
    pub(crate) key: String,
    /// When it runs out, in milliseconds since 1970.
    pub(crate) at_ms: u64,
    /// How long it waits at most from its start.
    pub(crate) delay_ms: u64,
}

/// Timers that have not run out.
#[derive(Default)]
pub(crate) struct Timers {
    by_deadline: BTreeMap<(u64, RequestId), Kept>,
    /// The same timers by the end of their own lengths.
    by_length: BTreeSet<(Instant, u64, RequestId)>,
    deadlines: BTreeMap<RequestId, u64>,
    /// The counts of timers that this process has begun before.
    counted: CountedTimers,
}

struct Kept {
    key: String,
    /// When it started here. Timers that started at one moment have deadlines of one clock.
    start: Instant,
    /// `None` if no count reaches so far.
    length_ends: Option<Instant>,
}

impl Timers {
    /// No timers; those that are counted end when their counts say.
    pub(crate) fn counting(counted: CountedTimers) -> Self {
        Self {
            counted,
            ..Self::default()
        }
    }

    /// Returns the counts of the timers that end first.
    pub(crate) fn counted(&self) -> CountedTimers {
        let first = self.by_length.iter().take(COUNTED_MAX);
        let counts = first.filter_map(|(ends, at_ms, request)| {
            let start = self.by_deadline.get(&(*at_ms, *request))?.start;
            Some((*request, Count { start, ends: *ends }))
        });
        CountedTimers(counts.collect())
    }

    /// Goes on with a timer whose deadline is on record: by its count, if this process has begun
    /// it, or else by what the clock says now.
    pub(crate) fn go_on(&mut self, timer: Timer, now: Moment) {
        let rest_ms = timer.at_ms.saturating_sub(now.clock_ms).min(timer.delay_ms);
        let start = match self.counted.0.remove(&timer.request) {
            Some(count) => {
                let length = count.ends.saturating_duration_since(count.start);
                return self.enter(timer, count.start, length);
            }
            None => now.steady,
        };
        self.enter(timer, start, Duration::from_millis(rest_ms).saturating_add(CLOCK_STEP));
    }

    /// Starts a timer, in the place of an earlier one of the same request.
    pub(crate) fn start(&mut self, timer: Timer, now: Moment) {
        let length = Duration::from_millis(timer.delay_ms).saturating_add(CLOCK_STEP);
        self.enter(timer, now.steady, length);
    }

    fn enter(&mut self, timer: Timer, start: Instant, length: Duration) {
        let Timer {
            request,
            key,
            at_ms,
            delay_ms: _,
        } = timer;
        self.stop(request);
        let length_ends = start.checked_add(length);
        self.by_length.extend(length_ends.map(|ends| (ends, at_ms, request)));
        let kept = Kept {
            key,
            start,
            length_ends,
        };
        self.by_deadline.insert((at_ms, request), kept);
        self.deadlines.insert(request, at_ms);
    }

    /// Stops the timer of a request, if it has one.
    pub(crate) fn stop(&mut self, request: RequestId) {
        if let Some(at_ms) = self.deadlines.remove(&request)
            && let Some(Kept { length_ends, .. }) = self.by_deadline.remove(&(at_ms, request))
            && let Some(ends) = length_ends
        {
            self.by_length.remove(&(ends, at_ms, request));
        }
    }

    /// Takes the timer with the earliest deadline of those that have run out by a moment; returns
    /// its request and its key.
    pub(crate) fn take_overdue(&mut self, by: Moment) -> Option<(RequestId, String)> {
        let (&first, _) = self.by_deadline.first_key_value()?;
        let has_passed = first.0 <= by.clock_ms;
        let (at_ms, request) = if has_passed {
            first
        } else {
            self.first_waited(by.steady)?
        };
        let key = std::mem::take(&mut self.by_deadline.get_mut(&(at_ms, request))?.key);
        self.stop(request);
        Some((request, key))
    }

    /// Finds the timer with the earliest deadline of those that have waited their whole lengths,
    /// and of those whose deadlines passed before that of one which started at the same moment.
    fn first_waited(&self, by: Instant) -> Option<(u64, RequestId)> {
        let mut passed: BTreeMap<Instant, u64> = BTreeMap::new();
        for (_, at_ms, request) in self.by_length.iter().take_while(|(ends, ..)| *ends <= by) {
            let start = self.by_deadline.get(&(*at_ms, *request))?.start;
            let latest = passed.entry(start).or_default();
            *latest = (*latest).max(*at_ms);
        }
        if passed.is_empty() {
            return None;
        }
        let has_passed = |at_ms: u64, kept: &Kept| passed.get(&kept.start).is_some_and(|latest| at_ms <= *latest);
        let mut timers = self.by_deadline.iter();
        timers
            .find(|((at_ms, _), kept)| has_passed(*at_ms, kept))
            .map(|(timer, _)| *timer)
    }

    /// Returns the earliest deadline, in milliseconds since 1970, if there is a timer.
    pub(crate) fn earliest_ms(&self) -> Option<u64> {
        self.by_deadline.first_key_value().map(|((at_ms, _), _)| *at_ms)
    }

    /// Says whether a timer ends within a time from now by its count.
    pub(crate) fn has_end_within(&self, now: Moment, time: Duration) -> bool {
        let first = self.by_length.first();
        first.is_some_and(|(ends, ..)| ends.saturating_duration_since(now.steady) <= time)
    }

    /// Returns the number of timers.
    pub(crate) fn count(&self) -> usize {
        self.deadlines.len()
    }

    /// Returns the time until the next timer may run out; `None` if there is no timer.
    pub(crate) fn wait(&self, now: Moment) -> Option<Duration> {
        let (&(at_ms, _), _) = self.by_deadline.first_key_value()?;
        let by_clock = Duration::from_millis(at_ms.saturating_sub(now.clock_ms));
        let by_length = self
            .by_length
            .first()
            .map(|(ends, ..)| ends.saturating_duration_since(now.steady));
        let soonest = by_length.map_or(by_clock, |by_length| by_length.min(by_clock));
        Some(soonest.min(LOOK_AGAIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Moment, clock_ms: i64, steady_ms: u64) -> Moment {
        Moment {
            clock_ms: start.clock_ms.saturating_add_signed(clock_ms),
            steady: start.steady + Duration::from_millis(steady_ms),
            ..start
        }
    }

    /// Starts timers of these lengths, numbered from 1, at one moment.
    fn started(lengths_ms: &[u64]) -> (Timers, Moment) {
        let (mut timers, start) = (Timers::default(), Moment::now(&WorldClock::default()));
        for (number, delay_ms) in (1..).zip(lengths_ms) {
            let timer = Timer {
                request: RequestId(number),
                key: format!("k{number}"),
                at_ms: start.deadline_ms(*delay_ms),
                delay_ms: *delay_ms,
            };
            timers.start(timer, start);
        }
        (timers, start)
    }

    fn overdue(timers: &mut Timers, by: Moment) -> Vec<u64> {
        std::iter::from_fn(|| timers.take_overdue(by).map(|(request, _)| request.0)).collect()
    }

    #[test]
    fn timers_come_in_the_order_of_their_deadlines_then_of_their_requests() {
        let (mut timers, start) = started(&[300, 100, 300, 200, 900]);
        assert!(overdue(&mut timers, after(start, 50, 50)).is_empty());
        assert_eq!(overdue(&mut timers, after(start, 301, 301)), [2, 4, 1, 3]);
        assert_eq!(overdue(&mut timers, after(start, 901, 901)), [5]);
        assert_eq!(timers.wait(start), None);
    }

    #[test]
    fn a_timer_waits_no_longer_than_its_length_after_the_clock_was_set_back() {
        let (mut timers, start) = started(&[2_000, 1_000]);
        let set_back = |steady_ms| after(start, -3_600_000, steady_ms);
        assert!(timers.wait(set_back(999)) <= Some(2 * CLOCK_STEP));
        assert!(overdue(&mut timers, set_back(1_000)).is_empty());
        assert_eq!(overdue(&mut timers, set_back(1_001)), [2]);
        assert_eq!(overdue(&mut timers, set_back(2_001)), [1]);
    }

    #[test]
    fn the_order_of_recorded_deadlines_holds_after_the_clock_was_set_back() {
        let (mut timers, start) = (Timers::default(), Moment::now(&WorldClock::default()));
        for (request, at_ms, delay_ms) in [(1, 105, 5_000), (2, 100, 10_000)] {
            let timer = Timer {
                request: RequestId(request),
                key: String::new(),
                at_ms: start.clock_ms + 1_000 * at_ms,
                delay_ms,
            };
            timers.start(timer, start);
        }
        assert_eq!(overdue(&mut timers, after(start, 5_001, 5_001)), [2, 1]);
    }

    #[test]
    fn a_timer_that_starts_after_the_clock_was_set_back_waits_its_whole_length() {
        let (mut timers, start) = started(&[3_000]);
        let set_back = |steady_ms: u32| after(start, i64::from(steady_ms) - 3_600_000, steady_ms.into());
        let now = set_back(1_000);
        let timer = Timer {
            request: RequestId(2),
            key: String::new(),
            at_ms: now.deadline_ms(20_000),
            delay_ms: 20_000,
        };
        timers.start(timer, now);
        assert!(overdue(&mut timers, set_back(3_000)).is_empty());
        assert_eq!(overdue(&mut timers, set_back(3_001)), [1]);
        assert!(overdue(&mut timers, set_back(20_999)).is_empty());
        assert_eq!(overdue(&mut timers, set_back(21_001)), [2]);
    }

    #[test]
    fn a_timer_of_a_run_that_slept_meanwhile_goes_by_its_count() {
        let (timers, start) = started(&[5_000, 9_000]);
        let counted = timers.counted();
        assert_eq!(
            counted.first_end(),
            start.steady.checked_add(Duration::from_millis(5_001))
        );
        let set_back = |steady_ms: u32| after(start, i64::from(steady_ms) - 3_600_000, steady_ms.into());
        let mut timers = Timers::counting(counted);
        let restored = |request, at_ms, delay_ms| Timer {
            request: RequestId(request),
            key: String::new(),
            at_ms,
            delay_ms,
        };
        let now = set_back(5_001);
        // One that another process has begun by the clock as it is now.
        timers.go_on(restored(3, now.deadline_ms(20_000), 60_000), now);
        timers.go_on(restored(1, start.deadline_ms(5_000), 5_000), now);
        timers.go_on(restored(2, start.deadline_ms(9_000), 9_000), now);
        assert_eq!(overdue(&mut timers, now), [1]);
        assert!(overdue(&mut timers, set_back(9_000)).is_empty());
        assert_eq!(overdue(&mut timers, set_back(9_001)), [2]);
        assert!(overdue(&mut timers, set_back(25_000)).is_empty());
        // Its end by the clock, which it had when it was taken up, also after another step back.
        let again = after(start, -9_000_000, 25_003);
        assert_eq!(overdue(&mut timers, again), [3]);
    }

    #[test]
    fn the_clock_counts_while_the_machine_sleeps() {
        let (mut timers, start) = started(&[3_600_000]);
        assert_eq!(
            timers.wait(start),
            Some(LOOK_AGAIN),
            "the clock is read again meanwhile"
        );
        assert_eq!(overdue(&mut timers, after(start, 3_600_001, 1_000)), [1]);
    }

    #[test]
    fn a_timer_of_a_virtual_clock_takes_exactly_its_length() {
        let clock = WorldClock::virtual_one();
        let (mut timers, start) = (Timers::default(), Moment::now(&clock));
        let timer = Timer {
            request: RequestId(1),
            key: String::new(),
            at_ms: start.deadline_ms(1_000),
            delay_ms: 1_000,
        };
        timers.start(timer, start);
        assert_eq!(timers.earliest_ms(), Some(start.clock_ms + 1_000));
        clock.move_to(start.clock_ms + 1_000);
        assert_eq!(overdue(&mut timers, Moment::now(&clock)), [1]);
    }

    #[test]
    fn a_stopped_timer_never_comes() {
        let (mut timers, start) = started(&[10, 20]);
        timers.stop(RequestId(1));
        timers.stop(RequestId(1));
        assert_eq!(overdue(&mut timers, after(start, 99, 99)), [2]);
        let (mut timers, start) = started(&[u64::MAX]);
        assert!(overdue(&mut timers, after(start, 99, 99)).is_empty());
    }
}
