//! How much memory do many parked fibers and many actors take, and is a turn as fast among many as
//! among few?
//!
//! Each size has a process of its own; the system reports its peak resident size. The journal is a
//! SQLite file, so that the memory is that of the run and not of its past. Times are processor
//! times, so other load shows little; those of commits are separate, because they depend on the
//! length of the journal.

mod support {
    pub(crate) mod clock;
    pub(crate) mod scheme_run;
}

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use duet_journal::Store;
use duet_journal::store::sqlite::SqliteStore;
use duet_runtime::driver::{Effect, EffectKind, Input};
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::{Run, Step};
use support::clock::processor_ns;
use support::scheme_run::{compile, start_compiled};

/// The number of rounds that are timed.
const ROUNDS: u64 = 20_000;

/// The number of turns in a commit.
const TURNS_COMMITTED: u64 = 1_024;

/// Returns a program with actors that each wait for a message of their own. A timer marks the end
/// of each part: making them, poking 64 of them, poking all or 20,000 of them.
fn actors(count: u64) -> String {
    format!(
        "(define-library (idle)
           (export idler)
           (import (duet base) (duet dataspace))
           (begin
             (define (idler number)
               (on-message (poke ,number $round) (message! (record 'poked round))))))
         (import (duet base) (duet dataspace) (idle))
         (register-entity! 'idler idler)
         (define (spawn-many from to)
           (when (< from to)
             (spawn-entity! 'idler ':config from)
             (if (= 0 (modulo from 100)) (yield))
             (spawn-many (+ from 1) to)))
         (define (poke-many round actors step)
           (when (< round {ROUNDS})
             (message! (record 'poke (modulo (* (modulo round actors) step) {count}) round))
             (yield)
             (poke-many (+ round 1) actors step)))
         (spawn-many 0 {count})
         (sleep 1)
         (poke-many 0 64 (quotient {count} 64))
         (sleep 1)
         (poke-many 0 {count} 7919)
         (sleep 1)"
    )
}

/// Returns a program with fibers that each wait for a signal of their own; then it wakes some, and
/// each of them ends.
fn fibers(count: u64) -> String {
    format!(
        "(import (duet base) (duet dataspace))
         (define (park-many from to)
           (when (< from to)
             (spawn (lambda () (await (pattern (go ,from)))))
             (if (= 0 (modulo from 100)) (yield))
             (park-many (+ from 1) to)))
         (define (wake-many round)
           (when (< round {ROUNDS})
             (message! (record 'go (modulo (* round 7919) {count})))
             (yield)
             (wake-many (+ round 1))))
         (park-many 0 {count})
         (sleep 1)
         (wake-many 0)
         (sleep 1)"
    )
}

/// Returns the system's account of this process under a name, in KiB.
fn account_kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    let number = line.split_whitespace().nth(1).and_then(|number| number.parse().ok());
    number.unwrap_or_default()
}

/// Does the work in this process and writes a line for each part: turns, nanoseconds for them,
/// nanoseconds for commits, resident KiB, peak KiB.
fn child(program: &str, journal: &Path) -> io::Result<()> {
    let mut store = SqliteStore::open(journal, "bench").expect("an empty place for a journal");
    let compiled = compile(program, &["duet", "base"]);
    let mut run = start_compiled("scale", compiled, SnapshotPolicy::NEVER, &mut store);
    let mut out = io::stdout().lock();
    let (mut turns, mut committing, mut begun) = (0, 0, processor_ns());
    let mut elapsed = None;
    loop {
        let step = run.step().expect("the run goes on");
        turns += u64::from(step == Step::Turn);
        if step != Step::Turn || turns % TURNS_COMMITTED == 0 {
            let before = processor_ns();
            elapsed = timer(&mut run, &mut store).or(elapsed);
            committing += processor_ns() - before;
        }
        if step != Step::Turn {
            let turning = processor_ns() - begun - committing;
            let (resident, peak) = (account_kib("VmRSS"), account_kib("VmHWM"));
            writeln!(out, "{turns} {turning} {committing} {resident} {peak}")?;
            let Some(elapsed) = elapsed.take() else { return Ok(()) };
            (turns, committing, begun) = (0, 0, processor_ns());
            run.deliver(elapsed);
        }
    }
}

/// Commits; if the run then waits for a timer, returns the input that ends it.
fn timer(run: &mut Run, store: &mut dyn Store) -> Option<Input> {
    let effects = run.flush(store).expect("the store does not fail");
    let is_timer = |effect: &Effect| matches!(effect.kind, EffectKind::Timer { .. });
    let timer = effects.into_iter().find(is_timer)?;
    Some(Input::Elapsed { request: timer.request })
}

/// Starts a process that does the work; returns the numbers that it wrote for each part.
fn parts(kind: &str, count: u64) -> io::Result<Vec<[u64; 5]>> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let output = Command::new(std::env::current_exe()?)
        .args(["child", kind, &count.to_string()])
        .arg(folder.path().join("journal.sqlite"))
        .stderr(std::process::Stdio::inherit())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers = |line: &str| {
        let mut numbers = line.split(' ').map(|number| number.parse().unwrap_or_default());
        [(); 5].map(|()| numbers.next().unwrap_or_default())
    };
    Ok(text.lines().map(numbers).collect())
}

fn table() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (kind, counts) in [
        ("actors", [1_000, 10_000, 100_000]),
        ("fibers", [10_000, 100_000, 1_000_000]),
    ] {
        for count in counts {
            let parts = parts(kind, count)?;
            let Some([.., peak]) = parts.last() else {
                writeln!(out, "{count:>9} {kind}: the process did not come to its end")?;
                continue;
            };
            let each = parts.first().map_or(0, |[.., resident, _]| resident * 1024 / count);
            write!(out, "{count:>9} {kind}: peak {:>5} MiB, {each} bytes each", peak / 1024)?;
            for ([turns, turning, committing, ..], what) in parts.iter().zip(["making them", "a few", "all"]) {
                let each = |nanoseconds: &u64| *nanoseconds as f64 / 1e3 / (*turns).max(1) as f64;
                let (turn, commit) = (each(turning), each(committing));
                write!(
                    out,
                    "; {what}: {turns} turns, {turn:.2} µs each and {commit:.2} µs for its commit"
                )?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "the process is told what to do by its parent")]
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["child", kind, count, journal] => {
            let count = count.parse().unwrap_or_default();
            let program = if kind == "actors" { actors(count) } else { fibers(count) };
            child(&program, Path::new(journal))
        }
        _ => table(),
    }
}
