//! How many bytes does a run write, against the events and actions of its turns, and against the
//! pages that they change (bytes per turn)?
//!
//! A run with a heap of 10 MB changes a number of pages of 64 words in each turn, scattered over
//! the heap, and sends a text of a number of characters. The rest of a record is the actor, the
//! cause, verdicts and hashes. Snapshots follow the default policy.
//! INVARIANT: every byte counted is one that the store received; blobs count once.

mod support {
    pub(crate) mod scheme_run;
}

use std::collections::BTreeSet;
use std::io::{self, Write};

use duet_journal::store::memory::MemoryStore;
use duet_journal::{BlobHash, BranchName, Record, RunId, Sequence, Store};
use duet_runtime::record::payload_bytes;
use duet_runtime::run::Step;
use duet_runtime::run::snapshot::SnapshotPolicy;
use support::scheme_run::start;

const WORDS: usize = 1_250_000;

fn program(pages: usize, characters: usize) -> String {
    format!(
        "(define memory (make-vector {WORDS} 0))
         (define text (make-string {characters} #\\x))
         (let loop ((turn 0) (place 0))
           (let write ((left {pages}) (place place))
             (if (> left 0)
                 (begin
                   (vector-set! memory place turn)
                   (write (- left 1) (modulo (+ place 506816) {WORDS})))
                 (begin
                   (message! (record 'entry turn text))
                   (yield)
                   (loop (+ turn 1) place)))))"
    )
}

/// The bytes that the turns of a run wrote.
#[derive(Default)]
struct Written {
    turns: u64,
    payload: u64,
    records: u64,
    snapshots: u64,
    snapshot_bytes: u64,
    seen: BTreeSet<BlobHash>,
}

impl Written {
    fn count(&mut self, store: &dyn Store, record: &Record) {
        self.turns += 1;
        self.payload += payload_bytes(record.body_view()) as u64;
        self.records += record.as_bytes().len() as u64;
        self.snapshots += u64::from(record.header().snapshot.is_some());
        for blob in record.blobs() {
            if self.seen.insert(blob) {
                self.snapshot_bytes += store.blob(&blob).expect("it is there").len() as u64;
            }
        }
    }

    fn each(&self, bytes: u64) -> f64 {
        bytes as f64 / self.turns as f64
    }
}

fn live(pages: usize, characters: usize, turns: u64) -> Written {
    let mut store = MemoryStore::default();
    let mut run = start(
        "size",
        &program(pages, characters),
        SnapshotPolicy::default(),
        &mut store,
    );
    for turn in 1..=turns {
        assert_eq!(run.step().expect("the turn succeeds"), Step::Turn);
        if turn % 256 == 0 {
            run.flush(&mut store).expect("the turns are committed");
        }
    }
    run.flush(&mut store).expect("the turns are committed");
    let (name, main) = (
        RunId::new("size").expect("a name"),
        BranchName::new("main").expect("a name"),
    );
    let at = |number| Sequence::new(number).expect("the number is small");
    let mut written = Written::default();
    for from in (1..=turns).step_by(1024) {
        let end = (from + 1024).min(turns + 1);
        for record in store.read(&name, &main, at(from)..at(end)).expect("they can be read") {
            written.count(&store, &record);
        }
    }
    written
}

fn main() -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "a benchmark's size is chosen by who runs it")]
    let turns = std::env::var("DUET_TURNS").ok().and_then(|text| text.parse().ok());
    let turns: u64 = turns.unwrap_or(20_000);
    let mut out = io::stdout().lock();
    writeln!(out, "{turns} turns each, heap of 10 MB; bytes per turn")?;
    writeln!(out, "  pages  characters  told+done  record  ratio  snapshots  on top")?;
    let pages = [0, 1, 4, 16, 64, 256].map(|pages| (pages, 200));
    let characters = [10, 1000, 4000].map(|characters| (1, characters));
    for (pages, characters) in pages.into_iter().chain(characters) {
        let written = live(pages, characters, turns);
        let [payload, record, snapshot] =
            [written.payload, written.records, written.snapshot_bytes].map(|bytes| written.each(bytes));
        writeln!(
            out,
            "  {pages:>5}  {characters:>10}  {payload:>9.0}  {record:>6.0}  {:>5.2}  \
             {snapshot:>9.1}  {:>4.0} %  ({} snapshots)",
            record / payload,
            100.0 * snapshot / record,
            written.snapshots
        )?;
    }
    Ok(())
}
