//! How long does a turn take that asserts one value and is journaled in memory (µs)?
//!
//! The program runs on the machine; each turn resumes its fiber, passes the gate, is encoded,
//! hashed into the chain and appended to a store in memory, in the batches of
//! [`Run::drive`](duet_runtime::run::Run::drive). Compiling and starting are not timed.

mod support {
    pub(crate) mod scheme_run;
}

use std::time::Duration;

use criterion::measurement::{Measurement, WallTime};
use criterion::{Criterion, criterion_group, criterion_main};
use duet_journal::store::memory::{MemoryStore, SimulatedDisk};
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::{DriveOutcome, Run};
use support::scheme_run::{NoWorld, start};

/// The approximate number of turns in one run of a program; enough to make starting and ending
/// negligible.
const TURNS: u64 = 2000;

/// The action of each turn, besides yielding.
const PROGRAMS: [(&str, &str); 3] = [
    ("yield only", ""),
    ("assert one value", "(assert! (record 'entry turn))"),
    (
        "assert one value, watched",
        "(assert! (record 'watched turn 'some-symbol \"a short text\"))",
    ),
];

fn program(action: &str) -> String {
    format!(
        "
         (watch (pattern (watched $number $name $text)) (lambda (event) event))
         (let loop ((turn 0)) (if (< turn {TURNS}) (begin {action} (yield) (loop (+ turn 1)))))"
    )
}

/// Contains all that is timed; never inlined, so that a profiler can select it.
#[inline(never)]
fn drive(run: &mut Run, store: &mut MemoryStore) -> DriveOutcome {
    run.drive(store, &mut NoWorld).expect("the run goes on")
}

/// Runs the program until at least `turns` turns were taken, and returns the time for `turns` of
/// them.
fn time(text: &str, turns: u64) -> Duration {
    let clock = WallTime;
    let (mut taken, mut total) = (0, clock.zero());
    while taken < turns {
        let mut store = MemoryStore::open(SimulatedDisk::default()).expect("an empty disk is a journal");
        let mut run = start("turn", text, SnapshotPolicy::default(), &mut store);
        let started = clock.start();
        let outcome = drive(&mut run, &mut store);
        total = clock.add(&total, &clock.end(started));
        assert!(
            matches!(
                outcome,
                DriveOutcome::Ended { code: 0 } | DriveOutcome::Waiting { .. } | DriveOutcome::Stuck { .. }
            ),
            "{outcome:?}"
        );
        taken += run.head().map_or(0, |tip| tip.sequence.number());
    }
    total.mul_f64(turns as f64 / taken as f64)
}

fn turns(criterion: &mut Criterion) {
    for (name, action) in PROGRAMS {
        let text = program(action);
        criterion.bench_function(&format!("turn (µs): {name}"), |bencher| {
            bencher.iter_custom(|turns| time(&text, turns));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20);
    targets = turns
}
criterion_main!(benches);
