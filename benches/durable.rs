//! How fast are durable turns, each committed before the next begins, against bare SQLite inserts
//! of the same bytes (µs, ratio of rates)?
//!
//! One writer. A turn asserts one value; its record goes through
//! [`Run::flush`](duet_runtime::run::Run::flush) into a journal on disk. Then the same bytes go
//! into a table of another database with the same settings, so that both sides meet the same disk
//! conditions.

mod support {
    pub(crate) mod bare;
    pub(crate) mod clock;
    pub(crate) mod scheme_run;
}

use std::io::{self, Write};

use duet_journal::store::sqlite::SqliteStore;
use duet_runtime::run::Step;
use duet_runtime::run::snapshot::SnapshotPolicy;
use support::bare;
use support::clock::{median, microseconds};
use support::scheme_run::start;

const TURNS: usize = 1500;

const PROGRAM: &str = "
    
    (let loop ((turn 0)) (assert! (record 'entry turn)) (yield) (loop (+ turn 1)))";

fn main() -> io::Result<()> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut store = SqliteStore::open(&folder.path().join("journal.db"), "bench").expect("a new journal opens");
    let database = bare::open(&folder.path().join("bare.db")).expect("a new database opens");
    let mut run = start("durable", PROGRAM, SnapshotPolicy::default(), &mut store);
    run.flush(&mut store).expect("the first record is committed");
    let (mut turns, mut inserts, mut length_bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..TURNS {
        let (step, stepping) = microseconds(|| run.step());
        assert_eq!(step.expect("the turn succeeds"), Step::Turn);
        let append = run.unflushed().expect("a turn has a record");
        let bytes: Vec<u8> = append
            .records
            .iter()
            .flat_map(|record| record.as_bytes())
            .copied()
            .collect();
        let (flushed, flushing) = microseconds(|| run.flush(&mut store));
        flushed.expect("the turn is committed");
        let (inserted, inserting) = microseconds(|| bare::insert(&database, &bytes));
        assert_eq!(inserted.expect("the insert succeeds"), 1);
        turns.push(stepping + flushing);
        inserts.push(inserting);
        length_bytes += bytes.len();
    }
    let (turn, insert) = (median(turns), median(inserts));
    let mut out = io::stdout().lock();
    writeln!(out, "durable turn (µs, median of {TURNS}): {turn:.1}")?;
    writeln!(
        out,
        "bare insert of the same {} bytes (µs, median): {insert:.1}",
        length_bytes / TURNS
    )?;
    writeln!(out, "rate of turns over rate of inserts: {:.2}", insert / turn)
}
