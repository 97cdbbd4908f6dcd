//! How much processor time does a journal add to a program that only computes, one that prints its
//! results, and one that only prints (ratio)?
//!
//! Each program runs as under `duet run` with its journal on disk, the same with the journal in
//! memory, and on the bare machine: the same compiler, libraries and machine, without turns,
//! records and drivers. All sides write the same lines to a file on the same disk, the bare one
//! through a buffered writer. Every side is a process of its own that runs with a small and a large
//! amount of work; the difference leaves out starting and compiling. All sides are this one binary,
//! because the placement of the machine's code makes more difference between two binaries than a
//! journal does. The sides take turns, and the ratio is that of medians. Linux only: the times are
//! those of `/proc/self/stat`.

mod support {
    pub(crate) mod clock;
    pub(crate) mod scheme_run;
}

use std::env;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use duet_drivers::prepared::Prepared;
use duet_drivers::tool::Registry;
use duet_drivers::world::{Settings, World};
use duet_journal::Store;
use duet_journal::store::memory::MemoryStore;
use duet_journal::store::sqlite::SqliteStore;
use duet_kernel::heap::{self, Kind};
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::primitive::take_console_output;
use duet_kernel::value::Value;
use duet_runtime::run::DriveOutcome;
use duet_runtime::run::snapshot::SnapshotPolicy;
use support::clock::median;
use support::scheme_run::{compile, start_compiled};

const REPETITIONS: usize = 13;
/// The unit of processor time in Linux, on every processor that Duet supports.
const TICKS_PER_SECOND: f64 = 100.0;
const STANDARD_OUTPUT: usize = 1;

/// A program with `COUNT` in place of its amount of work, and two amounts.
struct Program {
    title: &'static str,
    text: &'static str,
    counts: [u32; 2],
}

const PROGRAMS: [Program; 3] = [
    Program {
        title: "computes, and prints one line",
        text: "(import (scheme base) (scheme write))
               (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
               (define (build n) (let loop ((i 0) (l '())) (if (= i n) l (loop (+ i 1) (cons i l)))))
               (let loop ((i 0) (sum 0))
                 (if (< i COUNT) (loop (+ i 1) (+ sum (fib 20) (length (build 2000)))) \
                   (begin (display sum) (newline))))",
        counts: [500, 10_500],
    },
    Program {
        title: "prints a line for every few ten thousand instructions",
        text: "(import (scheme base) (scheme write))
               (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
               (let loop ((i 0))
                 (if (< i COUNT)
                     (begin (write i) (write-string \" leads to \") (write (fib (+ 10 (remainder i 8)))) \
                       (newline) (loop (+ i 1)))))",
        counts: [5_000, 205_000],
    },
    Program {
        title: "prints a line for every few hundred instructions",
        text: "(import (scheme base) (scheme write))
               (let loop ((i 0))
                 (if (< i COUNT)
                     (begin (write i) (write-string \" has the square \") (write (* i i)) (newline) (loop (+ i 1)))))",
        counts: [50_000, 3_050_000],
    },
];

const SIDES: [&str; 3] = ["bare machine", "journal in memory", "journal on disk"];

/// The options by which a process of this benchmark knows its side.
const OPTIONS: [&str; SIDES.len()] = ["--bare", "--memory", "--disk"];

/// Runs a program to its end, with a journal and the drivers of a process.
fn run_journaled(text: &str, store: &mut dyn Store) {
    let compiled = compile(text, &["duet", "base"]);
    let mut run = start_compiled("program", compiled, SnapshotPolicy::default(), store);
    let settings = Settings::standard(Registry::default(), Prepared::default());
    let mut world = World::new(settings).expect("the system gives threads");
    let rest = run.drive(store, &mut world).expect("the run goes on");
    assert_eq!(rest, DriveOutcome::Ended { code: 0 });
}

/// Runs a program as the side of this option.
fn be(option: &str, text: &str) {
    match option {
        "--bare" => run_bare(text),
        "--memory" => run_journaled(text, &mut MemoryStore::default()),
        _ => run_journaled(
            text,
            &mut SqliteStore::open(Path::new("journal.sqlite"), "bench").expect("a new journal opens"),
        ),
    }
}

/// Evaluates a program's units one after the other and writes their output.
fn run_bare(text: &str) {
    let (programs, _) = compile(text, &["duet", "base"]);
    let code = programs.code();
    let bytes_max = duet_runtime::model::limits::Limits::default().heap_bytes_max as usize;
    let (mut machine, mut instance) = (Machine::new(), Instance::new(heap::Limits { bytes_max }));
    let mut out = BufWriter::new(io::stdout());
    for unit in 1..code.units().len() {
        let procedure = instance.unit_procedure(code, unit).expect("there is room");
        machine.start(&mut instance, procedure, &[]);
        loop {
            let mut fuel = 1 << 40;
            match machine.run(&mut instance, code, &mut fuel).expect("there is room") {
                Outcome::Finished(_) => break,
                Outcome::OutOfFuel => machine.resume(Value::UNSPECIFIED),
                Outcome::Request { count, .. } => {
                    let is_bytes = |&value: &Value| instance.heap.is_kind(value, Kind::Bytevector);
                    let bytes = machine
                        .arguments(count)
                        .iter()
                        .copied()
                        .find(is_bytes)
                        .expect("these programs do nothing but write");
                    out.write_all(instance.heap.raw_bytes(bytes))
                        .expect("the output can be written");
                    machine.resume(Value::UNSPECIFIED);
                }
                outcome @ (Outcome::Uncaught(_) | Outcome::Exhausted) => panic!("the program failed: {outcome:?}"),
            }
        }
    }
    let bytes = take_console_output(&mut instance.heap, STANDARD_OUTPUT).unwrap_or_default();
    out.write_all(&bytes).expect("the output can be written");
    out.flush().expect("the output can be written");
}

/// Returns the processor time of all processes that this one has waited for, in seconds.
fn seconds_of_children() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").expect("Linux tells processor times");
    let (_, after_name) = text.rsplit_once(") ").expect("a name in brackets comes second");
    // Counted after the name: field 1 is the state, 14 and 15 are the children's user and system
    // time.
    let fields: Vec<&str> = after_name.split(' ').collect();
    let ticks = |place: usize| fields[place - 1].parse::<f64>().expect("a number of ticks");
    (ticks(14) + ticks(15)) / TICKS_PER_SECOND
}

/// Runs a file on one of [`SIDES`]; returns its processor time in seconds and the size of its
/// output in bytes.
fn run_once(side: usize, file: &Path, folder: &Path) -> (f64, u64) {
    let mut command = Command::new(env::current_exe().expect("the benchmark is a file"));
    command.arg(OPTIONS[side]).arg(file);
    let output = fs::File::create(folder.join("output")).expect("a file can be made");
    let before = seconds_of_children();
    let status = command.current_dir(folder).stdin(Stdio::null()).stdout(output).status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?} fails");
    let written = fs::metadata(folder.join("output")).expect("the output is a file");
    let seconds = seconds_of_children() - before;
    if side == 2 {
        fs::remove_file(folder.join("journal.sqlite")).expect("there is a journal");
    }
    (seconds, written.len())
}

/// Returns the processor time of a program's work on each side, in seconds, measured once.
fn measure(program: &Program) -> [f64; SIDES.len()] {
    // The folder is beside the binary, because a temporary directory may be in memory, where
    // syncing costs nothing.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory can be made");
    let time = |side, count: u32| {
        let file = folder.path().join("program.scm");
        fs::write(&file, program.text.replace("COUNT", &count.to_string())).expect("a file can be written");
        run_once(side, &file, folder.path())
    };
    let [little, much] = program.counts;
    let sides: [_; SIDES.len()] = std::array::from_fn(|side| (time(side, much), time(side, little)));
    for ((_, written), _) in &sides {
        assert_eq!(*written, sides[0].0.1, "all sides write the same");
    }
    sides.map(|((much, _), (little, _))| much - little)
}

#[expect(clippy::disallowed_methods, reason = "the benchmark runs itself as one of its sides")]
fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().collect();
    if let [_, option, file] = arguments.as_slice()
        && OPTIONS.contains(&option.as_str())
    {
        be(option, &fs::read_to_string(file)?);
        return Ok(());
    }
    let mut out = io::stdout().lock();
    for program in &PROGRAMS {
        let mut measured: [Vec<f64>; SIDES.len()] = Default::default();
        for _ in 0..REPETITIONS {
            for (side, seconds) in measured.iter_mut().zip(measure(program)) {
                side.push(seconds);
            }
        }
        let medians = measured.map(median);
        writeln!(out, "{} (processor time, medians of {REPETITIONS}):", program.title)?;
        for (side, seconds) in SIDES.iter().zip(medians) {
            writeln!(
                out,
                "  {side}: {:.0} ms, ratio {:.3}",
                seconds * 1e3,
                seconds / medians[0]
            )?;
        }
    }
    Ok(())
}
