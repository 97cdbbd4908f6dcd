//! How fast are durable turns that share commits, against bare SQLite commits of the same bytes
//! (turns per second, ratio of rates)?
//!
//! First 64 runs take a turn each, and one commit makes them durable. Then one run is driven to its
//! end as a command drives it, with turns that run ahead of the disk. The same bytes go into a
//! table of another database with the same settings, with equally many inserts per commit.
//! INVARIANT: both sides meet the same disk conditions, because their rounds alternate; the record
//! of every turn goes through the store.

mod support {
    pub(crate) mod bare;
    pub(crate) mod clock;
    pub(crate) mod scheme_run;
}

use std::io::{self, Write};
use std::path::Path;

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{Append, BranchName, RunId, Sequence, Store};
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::{DriveOutcome, Run, Step};
use rusqlite::Connection;
use support::bare;
use support::clock::{median, microseconds, processor_microseconds};
use support::scheme_run::{NoWorld, start};

const RUNS: usize = 64;
const ROUNDS: usize = 400;
/// The number of turns of the run that is driven alone.
const TURNS: usize = 30_000;
/// The number of that run's turns in one commit.
const AHEAD: usize = 64;

const ENDLESS: &str = "(let loop ((turn 0)) (assert! (record 'entry turn)) (yield) (loop (+ turn 1)))";

fn ending() -> String {
    format!(
        "(let loop ((turn 0)) (if (< turn {TURNS}) (begin (message! (record 'entry turn)) (yield) (loop (+ turn 1)))))"
    )
}

fn insert_all<'a>(bare: &Connection, records: impl Iterator<Item = &'a [u8]>) {
    bare.execute_batch("BEGIN IMMEDIATE").expect("a transaction begins");
    for bytes in records {
        assert_eq!(bare::insert(bare, bytes).expect("the insert succeeds"), 1);
    }
    bare.execute_batch("COMMIT").expect("the transaction commits");
}

fn many_runs(folder: &Path, out: &mut impl Write) -> io::Result<()> {
    let mut store = SqliteStore::open(&folder.join("many.db"), "bench").expect("a new journal opens");
    let bare = bare::open(&folder.join("many-bare.db")).expect("a new database opens");
    let mut runs: Vec<Run> = (0..RUNS)
        .map(|number| {
            let mut run = start(&format!("run-{number}"), ENDLESS, SnapshotPolicy::default(), &mut store);
            run.flush(&mut store).expect("the first record is committed");
            run
        })
        .collect();
    let (mut stepping, mut groups, mut inserts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut groups_busy, mut inserts_busy) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let ((), took) = microseconds(|| {
            for run in &mut runs {
                assert_eq!(run.step().expect("the turn succeeds"), Step::Turn);
            }
        });
        stepping.push(took);
        let appends: Vec<Append<'_>> = runs.iter().filter_map(Run::unflushed).collect();
        let ((appended, took), busy) = processor_microseconds(|| microseconds(|| store.append_group(&appends)));
        appended.expect("the turns are committed");
        groups.push(took);
        groups_busy.push(busy);
        let records = || {
            appends
                .iter()
                .flat_map(|append| append.records.iter().map(|record| record.as_bytes()))
        };
        let (((), took), busy) = processor_microseconds(|| microseconds(|| insert_all(&bare, records())));
        inserts.push(took);
        inserts_busy.push(busy);
        for run in &mut runs {
            assert!(run.confirm_durable().is_empty(), "nothing is asked of the world");
        }
    }
    let (step, group, insert) = (median(stepping), median(groups), median(inserts));
    writeln!(out, "{RUNS} runs, a turn each (µs, median): {step:.0}")?;
    writeln!(out, "their group commit (µs, median of {ROUNDS}): {group:.0}")?;
    writeln!(out, "bare commit of the same {RUNS} rows (µs, median): {insert:.0}")?;
    writeln!(
        out,
        "rate of group commits over rate of bare commits: {:.2}",
        insert / group
    )?;
    let (group, insert) = (median(groups_busy), median(inserts_busy));
    writeln!(out, "processor time of both (µs, medians): {group:.0}, {insert:.0}")
}

fn one_run(folder: &Path, out: &mut impl Write) -> io::Result<()> {
    let mut store = SqliteStore::open(&folder.join("one.db"), "bench").expect("a new journal opens");
    let bare = bare::open(&folder.join("one-bare.db")).expect("a new database opens");
    let mut run = start("alone", &ending(), SnapshotPolicy::default(), &mut store);
    run.flush(&mut store).expect("the first record is committed");
    let (rest, driving) = microseconds(|| run.drive(&mut store, &mut NoWorld));
    assert_eq!(rest.expect("the turns succeed"), DriveOutcome::Ended { code: 0 });
    let position = |number| Sequence::new(number).expect("the number is small");
    let (name, main) = (RunId::new("alone"), BranchName::new("main"));
    let records = store
        .read(
            &name.expect("a name"),
            &main.expect("a name"),
            position(1)..position(TURNS as u64 * 2),
        )
        .expect("they can be read");
    assert!(records.len() >= TURNS, "every round of the loop was a turn");
    let ((), inserting) = microseconds(|| {
        for group in records.chunks(AHEAD) {
            insert_all(&bare, group.iter().map(|record| record.as_bytes()));
        }
    });
    let rate = |took: f64| records.len() as f64 / (took / 1e6);
    writeln!(out, "one run driven, durable (turns/s): {:.0}", rate(driving))?;
    writeln!(
        out,
        "bare commits of {AHEAD} of its rows (rows/s): {:.0}",
        rate(inserting)
    )
}

fn main() -> io::Result<()> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut out = io::stdout().lock();
    many_runs(folder.path(), &mut out)?;
    one_run(folder.path(), &mut out)
}
