//! How long do collections take with 100 MB of live data (ms of processor time), and how much
//! memory does the process take (times the live data)?
//!
//! A program keeps lists in a table and replaces some by fresh ones again and again, while most of
//! its allocations die at once. It runs in slices of a few microseconds; a slice with a collection
//! counts whole as that collection's pause, so the figures are slightly too high.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]

#[path = "../tests/it/common"]
#[allow(dead_code, reason = "the tests use the rest")]
mod common {
    pub(crate) mod bare;
    pub(crate) mod process;
}

use std::io::{self, Write};

use common::process::{code_of, compiled};
use duet_kernel::heap::Limits;
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::value::Value;
use rustix::time::{ClockId, clock_gettime};

/// The live data: 1,000 lists of 6,250 pairs of 16 bytes.
const LIVE_BYTES: f64 = 1e8;

const PROGRAM: &str = "
    (define table (make-vector 1000 '()))
    (define (numbers n) (let loop ((i 0) (l '())) (if (= i n) l (loop (+ i 1) (cons i l)))))
    (define (fill i) (if (< i 1000) (begin (vector-set! table i (numbers 6250)) (fill (+ i 1)))))
    (define (waste n) (if (< 0 n) (begin (numbers 100) (waste (- n 1)))))
    (define (replace round place)
      (if (< 0 round)
        (begin
          (vector-set! table place (numbers 6250))
          (waste 560)
          (replace (- round 1) (remainder (+ place 379) 1000)))))
    (fill 0)
    (replace 6000 0)";

const SLICE: i64 = 500;

/// Returns the processor time of this thread in ms, which other work on the computer does not
/// affect.
fn now_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Measures the pauses of minor and of major collections, in ms.
fn pauses() -> [Vec<f64>; 2] {
    let unit = compiled("collection", PROGRAM);
    let code = code_of(&[&unit]);
    let mut machine = Machine::new();
    let mut instance = Instance::new(Limits { bytes_max: 2 << 30 });
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    instance.heap.begin_turn();
    machine.start(&mut instance, procedure, &[]);
    let mut pauses = [Vec::new(), Vec::new()];
    loop {
        let before = instance.heap.statistics();
        let started_ms = now_ms();
        let outcome = machine.run(&mut instance, &code, &mut SLICE.clone()).unwrap();
        let elapsed = now_ms() - started_ms;
        let after = instance.heap.statistics();
        if after.collections_major > before.collections_major {
            pauses[1].push(elapsed);
        } else if after.collections_minor > before.collections_minor {
            pauses[0].push(elapsed);
        }
        if outcome != Outcome::OutOfFuel {
            return pauses;
        }
        machine.resume(Value::UNSPECIFIED);
    }
}

/// Returns the `part`th percentile.
fn percentile(sorted: &[f64], part: usize) -> f64 {
    let place = (sorted.len() * part / 100).min(sorted.len().saturating_sub(1));
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// Returns the greatest memory that the process has had, in bytes, where the system reports it.
fn peak_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024.0)
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let [minor, major] = pauses();
    let mut all = [minor.as_slice(), major.as_slice()].concat();
    all.sort_by(f64::total_cmp);
    writeln!(
        out,
        "{} minor and {} major collections; pauses (ms): median {:.2}, 99th percentile {:.1}, greatest {:.0}; \
         goal: 99th percentile under 20",
        minor.len(),
        major.len(),
        percentile(&all, 50),
        percentile(&all, 99),
        percentile(&all, 100)
    )?;
    let longest_minor = minor.iter().copied().fold(0.0, f64::max);
    writeln!(out, "the longest minor collection: {longest_minor:.1} ms")?;
    if let Some(bytes) = peak_bytes() {
        writeln!(
            out,
            "peak resident size: {:.2} times the live data of {:.0} MB; goal: at most 3",
            bytes / LIVE_BYTES,
            LIVE_BYTES / 1e6
        )?;
    }
    Ok(())
}
