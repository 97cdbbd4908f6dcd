//! How long does each phase of starting a run take (ms)?
//!
//! The phases are those of `duet run` with an empty program and a new journal, in one process.
//! `benches/start` measures the whole from outside.

mod support {
    pub(crate) mod clock;
    pub(crate) mod scheme_run;
}

use std::io::{self, Write};
use std::path::Path;

use duet_drivers::prepared::Prepared;
use duet_drivers::tool::Registry;
use duet_drivers::world::{Settings, World};
use duet_journal::store::sqlite::SqliteStore;
use duet_runtime::run::DriveOutcome;
use duet_runtime::run::snapshot::SnapshotPolicy;
use support::clock::{median, microseconds};
use support::scheme_run::{compile, start_compiled};

const REPETITIONS: usize = 20;

const PHASES: [&str; 6] = [
    "expand and compile the standard library",
    "open a journal that is not there",
    "claim the run",
    "make the world",
    "run to the end, with its commit, which creates the journal",
    "drop the world and the journal",
];

/// Starts and ends one run in `folder`, and returns the microseconds of each phase.
fn phases(folder: &Path) -> [f64; PHASES.len()] {
    let (compiled, compiling) = microseconds(|| compile("", &["duet", "base"]));
    let (store, opening) = microseconds(|| SqliteStore::open(&folder.join("journal.db"), "bench"));
    let mut store = store.expect("a new journal opens");
    let (mut run, claiming) = microseconds(|| start_compiled("empty", compiled, SnapshotPolicy::default(), &mut store));
    let settings = Settings::standard(Registry::default(), Prepared::default());
    let (world, making) = microseconds(|| World::new(settings));
    let mut world = world.expect("the operating system gives threads");
    let (rest, driving) = microseconds(|| run.drive(&mut store, &mut world));
    assert_eq!(rest.expect("the run ends"), DriveOutcome::Ended { code: 0 });
    let ((), dropping) = microseconds(|| drop((world, run, store)));
    [compiling, opening, claiming, making, driving, dropping]
}

fn main() -> io::Result<()> {
    let mut measured: [Vec<f64>; PHASES.len()] = Default::default();
    for _ in 0..REPETITIONS {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        for (phase, microseconds) in measured.iter_mut().zip(phases(folder.path())) {
            phase.push(microseconds / 1e3);
        }
    }
    let mut out = io::stdout().lock();
    for (phase, milliseconds) in PHASES.iter().zip(measured) {
        writeln!(
            out,
            "{phase} (ms, median of {REPETITIONS}): {:.2}",
            median(milliseconds)
        )?;
    }
    Ok(())
}
