//! The same work on both sides, timed in one process: publish and subscribe, state that comes and
//! goes, a ring of actors, and one match among many.
//!
//! INVARIANT: both sides do the same in as many turns; Duet's turns are judged, encoded, hashed
//! into the chain and appended to a journal in memory.
//! Making the runtime and the actors is not timed, except where many of them are the subject.
//! Read next: `speed/ours.rs`, `speed/reference.rs`.

mod ours;
mod reference;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The kinds of work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Turns of 100 messages each, heard by one observer.
    Publish { turns: u64 },
    /// Turns that assert a value, each followed by one that retracts it, seen by one observer.
    State { rounds: u64 },
    /// A message around a ring of actors, each of which observes the assertions of the one before
    /// it.
    Ring { actors: u64, laps: u64 },
    /// The same without the dataspace: each actor sends to the next.
    Direct { actors: u64, laps: u64 },
    /// As `State`, among so many observers of other values.
    AmongObservers { observers: u64, rounds: u64 },
    /// As `State`, among so many other assertions.
    AmongAssertions { assertions: u64, rounds: u64 },
}

impl Work {
    /// The number of things done, by which the time is divided.
    fn count(self) -> u64 {
        match self {
            Self::Publish { turns } => turns * 100,
            Self::State { rounds } | Self::AmongObservers { rounds, .. } | Self::AmongAssertions { rounds, .. } => {
                rounds * 2
            }
            Self::Ring { actors, laps } | Self::Direct { actors, laps } => actors * laps,
        }
    }
}

/// Times the work after its preparation, by the processor time of this thread, which does all of
/// it, so that other work on the computer shows little.
pub(crate) struct Clock(Duration);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(used())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        used() - self.0
    }
}

/// The processor time that this thread has used. (`/proc/thread-self/schedstat` says how much it
/// was when the system last looked, which is some milliseconds ago.)
fn used() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec.unsigned_abs() as u32)
}

/// The number of repetitions; the median counts.
const TIMES: usize = 5;

/// Prints a table of microseconds, of the rows whose names have `word` in them; says whether Duet
/// is at least as fast in each.
pub(crate) fn run(word: &str) -> bool {
    println!(
        "{:<44} {:>10} {:>10} {:>7}",
        "µs for each", "Duet", "syndicate", "ratio"
    );
    let rows = [
        ("message published and heard", Work::Publish { turns: 300 }),
        ("state added or removed, and seen", Work::State { rounds: 5_000 }),
        (
            "hop in a ring of 1,000 actors",
            Work::Ring {
                actors: 1_000,
                laps: 20,
            },
        ),
        (
            "hop in a ring without the dataspace",
            Work::Direct {
                actors: 1_000,
                laps: 20,
            },
        ),
        (
            "change seen, among 100,000 observers",
            Work::AmongObservers {
                observers: 100_000,
                rounds: 2_000,
            },
        ),
        (
            "change seen, among 1,000,000 assertions",
            Work::AmongAssertions {
                assertions: 1_000_000,
                rounds: 2_000,
            },
        ),
    ];
    let mut is_fast = true;
    for (name, work) in rows.into_iter().filter(|(name, _)| name.contains(word)) {
        let times = if matches!(work, Work::AmongObservers { .. } | Work::AmongAssertions { .. }) {
            1
        } else {
            TIMES
        };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..times {
            ours.push(ours::run(work));
            theirs.push(reference::run(work));
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let each = |time: Duration| time.as_secs_f64() * 1e6 / work.count() as f64;
        let ratio = each(ours) / each(theirs);
        is_fast &= ratio <= 1.0;
        println!("{name:<44} {:>10.2} {:>10.2} {ratio:>7.2}", each(ours), each(theirs));
    }
    if "actors".contains(word) {
        scale();
    }
    is_fast
}

/// Prints the time of a turn beside more and more idle actors, and the memory of each of them.
fn scale() {
    for actors in [1_000, 10_000, 100_000] {
        let before = resident_bytes();
        let (turn, bytes) = ours::among_actors(actors, before);
        println!(
            "{actors:>7} actors: {:.2} µs for a turn, {} bytes for each actor",
            turn.as_secs_f64() * 1e6,
            bytes / actors
        );
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The resident memory of the process.
pub(crate) fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}
