//! How long does it take to fork, to rewind, to replay, and to find where two histories differ (ms,
//! turns per second)?
//!
//! A run of small turns is in a journal on disk; `DUET_TURNS` sets their number (20,000 by default;
//! 1,000,000 for the figures of the book).
//! INVARIANT: everything measured goes through the calls that the commands make, including
//! compiling the program again where they do.

mod support {
    pub(crate) mod clock;
    pub(crate) mod scheme_run;
}

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{BranchName, HeadMove, RunId, Sequence, Store};
use duet_runtime::history::relation::part;
use duet_runtime::history::shadow::Shadow;
use duet_runtime::run::error::RunError;
use duet_runtime::run::heads::{fork, move_head};
use duet_runtime::run::inflight::Recovery;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::source::{BranchClaim, Source};
use duet_runtime::run::{Run, Step};
use duet_runtime::scheme::SchemePrograms;
use support::clock::{median, microseconds, processor_microseconds};
use support::scheme_run::{compile, start};

/// A program whose turns each assert a value and retract the one before.
const PROGRAM: &str = "(let loop ((turn 0) (before #f))
  (let ((handle (assert! (record 'entry turn))))
    (if before (retract! before))
    (yield)
    (loop (+ turn 1) handle)))";

/// The same with a vector of ten megabytes, which it changes in scattered places.
const HEAVY: &str = "(define memory (make-vector 1250000 0))
(let loop ((turn 0))
  (vector-set! memory (modulo (* turn 7919) 1250000) turn)
  (yield)
  (loop (+ turn 1)))";

/// A program with ten megabytes of lists of numbers and strings, which replaces one of them in each
/// turn.
const FULL: &str = "(define memory (make-vector 50000 '()))
(define (entry turn) (list turn (* turn 65537) (number->string turn) 'entry (+ turn 0.5)))
(let fill ((place 0))
  (if (< place 50000)
      (begin (vector-set! memory place (entry place)) (fill (+ place 1)))))
(let loop ((turn 0))
  (vector-set! memory (modulo (* turn 7919) 50000) (entry turn))
  (yield)
  (loop (+ turn 1)))";

/// Returns the same program with a hundred megabytes.
fn huge() -> String {
    HEAVY.replace("1250000", "12500000")
}

/// Returns the first program with a difference in its last turns.
fn changed(turns: u64) -> String {
    PROGRAM.replace(
        "'entry turn",
        &format!("(if (< turn {}) 'entry 'other) turn", turns - 10),
    )
}

fn branch(name: &str) -> BranchName {
    BranchName::new(name).expect("the name is well formed")
}

fn at(number: u64) -> Sequence {
    Sequence::new(number).expect("the number is small")
}

/// Takes turns and makes them durable.
fn live(path: &Path, text: &str, turns: u64) -> Run {
    let mut store = SqliteStore::open(path, "bench").expect("a new journal opens");
    let mut run = start("travel", text, SnapshotPolicy::default(), &mut store);
    for turn in 0..turns {
        assert_eq!(run.step().expect("the turn succeeds"), Step::Turn);
        if turn % 256 == 255 {
            run.flush(&mut store).expect("the turns are committed");
        }
    }
    run.flush(&mut store).expect("the turns are committed");
    run
}

/// Returns positions scattered over a range.
fn scattered(first: u64, count: u64, samples: u64) -> impl Iterator<Item = u64> {
    (0..samples).map(move |sample| first + sample.wrapping_mul(0x9e37_79b9_7f4a_7c15) % count)
}

fn programs(text: &str) -> SchemePrograms {
    compile(text, &["duet", "kernel"]).0
}

/// Rewinds to each of the turns; returns the elapsed times without compiling, and the processor
/// times, in milliseconds.
fn rewinds(path: &Path, text: &str, turns: impl Iterator<Item = u64>) -> (Vec<f64>, Vec<f64>) {
    let (run, main) = (RunId::new("travel").expect("a name"), branch("main"));
    let store = SqliteStore::open_to_read(path).expect("it is a journal");
    let source = Source {
        store: &store,
        run: &run,
        branch: &main,
    };
    turns
        .map(|turn| {
            let programs = programs(text);
            let restore = || microseconds(|| source.restore(Some(at(turn)), programs, Snapshots::Use));
            let ((restored, took), busy) = processor_microseconds(restore);
            assert_eq!(
                restored.expect("it replays").head().map(|tip| tip.sequence),
                Some(at(turn))
            );
            (took / 1000.0, busy / 1000.0)
        })
        .unzip()
}

/// Rewinds a living run from its head to turns of the newest thousand; returns the elapsed times in
/// milliseconds.
fn rewinds_in_memory(path: &Path, mut run: Run) -> Vec<f64> {
    let (name, main) = (RunId::new("travel").expect("a name"), branch("main"));
    let store = SqliteStore::open_to_read(path).expect("it is a journal");
    let source = Source {
        store: &store,
        run: &name,
        branch: &main,
    };
    let head = run.head().expect("turns were taken").sequence.number();
    let mut times = Vec::new();
    for turn in scattered(head - 1000, 1000, 100) {
        run = run.rewind(&source, None).expect("it goes on to the head");
        let (back, took) = microseconds(|| run.rewind(&source, Some(at(turn))));
        run = back.expect("it goes back");
        assert_eq!(run.head().map(|tip| tip.sequence), Some(at(turn)));
        times.push(took / 1000.0);
    }
    times
}

/// Forks a living run at earlier and earlier turns, takes the first turn on each fork and makes it
/// durable; returns the elapsed times and the processor times, in milliseconds.
fn forks_in_memory(path: &Path, mut run: Run) -> (Vec<f64>, Vec<f64>) {
    let (name, main) = (RunId::new("travel").expect("a name"), branch("main"));
    let mut store = SqliteStore::open(path, "bench").expect("it is a journal");
    let head = run.head().expect("turns were taken").sequence.number();
    let (mut times, mut busy_times) = (Vec::new(), Vec::new());
    for number in 0..50 {
        let forked = branch(&format!("fork-{number}"));
        let fork_and_go_on = || {
            let names = std::slice::from_ref(&forked);
            fork(
                &mut store,
                BranchClaim::new(&name, &main, "bench"),
                at(head - 5 * number),
                names,
            )?;
            let mut run = run.reopen(&mut store, &forked, "bench", &Recovery::default())?;
            let step = run.step()?;
            run.flush(&mut store)?;
            Ok::<_, RunError>((run, step))
        };
        let ((taken, took), busy) = processor_microseconds(|| microseconds(fork_and_go_on));
        let (forked, step) = taken.expect("it forks and goes on");
        assert_eq!(step, Step::Turn);
        run = forked;
        times.push(took / 1000.0);
        busy_times.push(busy / 1000.0);
    }
    (times, busy_times)
}

/// Returns the smallest value that at least 99 % of them do not exceed.
fn percentile_99(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * 99).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

struct Bench {
    out: io::StdoutLock<'static>,
}

impl Bench {
    fn say(&mut self, what: &str, value: impl Display) -> io::Result<()> {
        writeln!(self.out, "{what}: {value}")
    }

    fn opening(&mut self, path: &Path) -> io::Result<()> {
        let opened: Vec<f64> = (0..20)
            .map(|_| {
                microseconds(|| {
                    let store = SqliteStore::open_to_read(path).expect("it is a journal");
                    let run = RunId::new("travel").expect("a name");
                    store.head(&run, &branch("main")).expect("a run").expect("a branch")
                })
                .1
            })
            .collect();
        self.say(
            "opening (ms, median; goal 50 for 1,000,000 turns)",
            format!("{:.2}", median(opened) / 1000.0),
        )
    }

    /// Rewinds from the store to turns of the newest thousand.
    fn near(&mut self, path: &Path, text: &str, what: &str) -> io::Result<()> {
        let (near, busy) = rewinds(path, text, scattered(7_000, 1_000, 300));
        self.say(
            &format!("{what} (ms, median and p99; goal 20)"),
            format!("{:.1}, {:.1}", median(near.clone()), percentile_99(near)),
        )?;
        self.say(
            &format!("{what} (processor ms, median and p99)"),
            format!("{:.1}, {:.1}", median(busy.clone()), percentile_99(busy)),
        )
    }

    fn forks(&mut self, path: &Path, head: Sequence) -> io::Result<()> {
        let (run, main) = (RunId::new("travel").expect("a name"), branch("main"));
        let mut store = SqliteStore::open(path, "bench").expect("it is a journal");
        let single = (0..200).map(|number| {
            let name = branch(&format!("one-{number}"));
            let middle = at(head.number() / 2);
            microseconds(|| {
                move_head(&mut store, BranchClaim::new(&run, &main, "bench"), middle, Some(&name)).expect("it forks")
            })
            .1
        });
        let single: Vec<f64> = single.collect();
        self.say(
            "durable fork (ms, median; goal 1)",
            format!("{:.3}", median(single) / 1000.0),
        )?;
        let before = std::fs::metadata(path)?.len();
        let epoch = store.claim(&run, "bench").expect("it can be claimed");
        let to = store.head(&run, &main).expect("a run").expect("a branch").hash;
        let ((), took) = microseconds(|| {
            for number in 0..10_000 {
                let name = branch(&format!("many-{number}"));
                let head_move = HeadMove {
                    run: &run,
                    branch: &name,
                    epoch,
                    expected_head: None,
                    to,
                };
                store.set_head(&head_move).expect("it forks");
            }
        });
        self.say(
            "10,000 durable forks, one commit each (s)",
            format!("{:.2}", took / 1e6),
        )?;
        let names: Vec<BranchName> = (0..10_000)
            .map(|number| branch(&format!("together-{number}")))
            .collect();
        let (forked, took) = microseconds(|| fork(&mut store, BranchClaim::new(&run, &main, "bench"), head, &names));
        forked.expect("it forks");
        self.say(
            "10,000 durable forks, one commit (s; goal 2)",
            format!("{:.2}", took / 1e6),
        )?;
        drop(store);
        let grown = std::fs::metadata(path)?.len().saturating_sub(before);
        self.say("bytes of a branch (goal 2,048)", grown / 20_000)
    }

    fn replays(&mut self, path: &Path, turns: u64) -> io::Result<()> {
        let (run, main) = (RunId::new("travel").expect("a name"), branch("main"));
        let store = SqliteStore::open_to_read(path).expect("it is a journal");
        let source = Source {
            store: &store,
            run: &run,
            branch: &main,
        };
        let same = programs(PROGRAM);
        let (replayed, took) = microseconds(|| source.restore(None, same, Snapshots::Ignore));
        replayed.expect("every turn comes out the same");
        self.say(
            "verified replay (turns/s; goal 100,000)",
            format!("{:.0}", turns as f64 / (took / 1e6)),
        )?;
        let mut other = programs(&changed(turns));
        let genesis = duet_runtime::run::source::genesis(
            &store
                .record_at(&run, &main, Sequence::FIRST)
                .expect("it reads")
                .expect("it is there"),
        );
        other.stand_in_for(genesis.expect("it is a run").program);
        let (found, took) = microseconds(|| source.restore(None, other, Snapshots::Ignore));
        assert!(found.is_err(), "the changed program differs");
        self.say(
            "first turn that a changed program takes otherwise, at the end (s; goal 15 for 1,000,000 turns)",
            format!("{:.2}", took / 1e6),
        )?;
        let one = branch("one-0");
        let forked = Source { branch: &one, ..source };
        let end = store.head(&run, &main).expect("a run").expect("a branch").sequence;
        let (relation, took) = microseconds(|| part(source.up_to(end), forked.up_to(at(end.number() / 2))));
        assert_eq!(relation.expect("both are sound").shared, Some(at(end.number() / 2)));
        self.say("where two branches part (ms)", format!("{:.2}", took / 1000.0))?;
        let (shadow, took) = microseconds(|| {
            let mut shadow = Shadow::begin(&store.record_at(&run, &main, Sequence::FIRST)?.expect("it is there"))?;
            shadow.advance(&source, end, |_, _, _| Ok(()))?;
            Ok::<_, RunError>(shadow)
        });
        assert!(
            !shadow.expect("the records fit").facts().is_empty(),
            "an entry is asserted"
        );
        self.say(
            "facts of every turn, from the records (turns/s)",
            format!("{:.0}", turns as f64 / (took / 1e6)),
        )
    }
}

fn main() -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "a benchmark's size is chosen by who runs it")]
    let turns = std::env::var("DUET_TURNS").ok().and_then(|text| text.parse().ok());
    let turns: u64 = turns.unwrap_or(20_000);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (light, heavy) = (folder.path().join("light.db"), folder.path().join("heavy.db"));
    let mut bench = Bench {
        out: io::stdout().lock(),
    };
    let (run, took) = microseconds(|| live(&light, PROGRAM, turns));
    let head = run.head().expect("turns were taken").sequence;
    drop(run);
    bench.say("turns", turns)?;
    bench.say(
        "durable turns, in groups of 256 (turns/s)",
        format!("{:.0}", turns as f64 / (took / 1e6)),
    )?;
    bench.say(
        "bytes of journal for each turn",
        std::fs::metadata(&light)?.len() / turns,
    )?;
    bench.opening(&light)?;
    bench.forks(&light, head)?;
    bench.replays(&light, turns)?;
    let (any, _) = rewinds(&light, PROGRAM, scattered(1, turns, 50));
    bench.say("to any turn (ms, median)", format!("{:.1}", median(any.clone())))?;
    bench.say(
        "to any turn (ms, p99; goal 250 for 1,000,000 turns)",
        format!("{:.1}", percentile_99(any)),
    )?;
    let run = live(&heavy, HEAVY, 8_000);
    bench.near(&heavy, HEAVY, "back by up to 1,000 turns, heap of 10 MB")?;
    let near = rewinds_in_memory(&heavy, run);
    bench.say(
        "the same in a living run (ms, median)",
        format!("{:.2}", median(near.clone())),
    )?;
    bench.say(
        "the same in a living run (ms, p99; goal 20)",
        format!("{:.2}", percentile_99(near)),
    )?;
    let full = folder.path().join("full.db");
    drop(live(&full, FULL, 8_000));
    bench.near(&full, FULL, "the same, heap of 10 MB full of lists")?;
    let largest = folder.path().join("huge.db");
    let run = live(&largest, &huge(), 600);
    let (forks, busy) = forks_in_memory(&largest, run);
    bench.say(
        "fork in a living run with a heap of 100 MB, its first turn durable (ms, median; goal 20)",
        format!("{:.2}", median(forks.clone())),
    )?;
    bench.say(
        "fork in a living run with a heap of 100 MB, its first turn durable (ms, worst of 50)",
        format!("{:.2}", percentile_99(forks)),
    )?;
    bench.say(
        "the same (processor ms, median and worst of 50)",
        format!("{:.2}, {:.2}", median(busy.clone()), percentile_99(busy)),
    )
}
