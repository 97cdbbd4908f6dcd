//! How long does it take to change the code of a run with a large heap in which many fibers wait
//! (ms of processor time), and how long does it take to copy that heap, as a checkpoint does after
//! all of it has changed?
//!
//! `DUET_ENTRIES` sets the number of lists in the heap (500,000 by default, 60 megabytes),
//! `DUET_FIBERS` the number of fibers that wait in the changed procedure (1,000 by default).
//! INVARIANT: the patch is an input of the run, as the command gives it, in a turn that is not
//! committed here; each sample has a run of its own.

mod support {
    pub(crate) mod clock;
    pub(crate) mod scheme_run;
}

use std::io::{self, Write};

use duet_journal::Blob;
use duet_journal::store::memory::{MemoryStore, SimulatedDisk};
use duet_runtime::action::exit::MAIN;
use duet_runtime::driver::Input;
use duet_runtime::model::changed_text::ChangedText;
use duet_runtime::run::Step;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::scheme::{Program, SchemePrograms};
use support::clock::{median, processor_microseconds};
use support::scheme_run::{compile, start_compiled};

const SAMPLES: usize = 5;

/// A program that fills its heap with lists and then lets fibers wait in a loop.
fn program(entries: usize, fibers: usize) -> String {
    format!(
        "(define memory (make-vector {entries} '()))
         (define (entry turn) (list turn (* turn 65537) (number->string turn) 'entry (+ turn 0.5)))
         (define (waiting number)
           (let again ((heard 0))
             (%await (record 'signal number) #f)
             (again (+ heard 1))))
         (let fill ((place 0))
           (if (< place {entries})
               (begin
                 (vector-set! memory place (entry place))
                 (if (= (modulo place 10000) 0) (yield))
                 (fill (+ place 1)))))
         (let begin-all ((number 0))
           (if (< number {fibers})
               (begin (spawn (lambda () (waiting number))) (begin-all (+ number 1)))))
         (%await (record 'signal 'never) #f)"
    )
}

/// The program with another body of the loop in which the fibers wait.
fn changed(text: &str) -> String {
    text.replace("(again (+ heard 1))", "(again (+ heard 2))")
}

/// A program that takes the place of another.
fn text_of(before: &Program, text: &str) -> ChangedText {
    let (_, program) = compile(text, &["duet", "kernel"]);
    let new = program.pinned.iter().filter(|blob| !before.pinned.contains(blob));
    let texts = new.map(|blob: &Blob| String::from_utf8_lossy(blob.as_bytes()).into_owned());
    ChangedText {
        texts: texts.collect(),
        program: program.value,
        run: Vec::new(),
        values: Vec::new(),
    }
}

/// The measurements of a run.
struct Sample {
    /// The words of the heap in megabytes.
    megabytes: f64,
    /// The time that copying the heap takes, as for a checkpoint after all of it has changed, in
    /// milliseconds.
    copy_ms: f64,
    /// The time of the turn that takes on the changed text, in milliseconds.
    patch_ms: f64,
}

fn sample(entries: usize, fibers: usize) -> Sample {
    let text = program(entries, fibers);
    let (programs, program) = compile(&text, &["duet", "kernel"]);
    let change = text_of(&program, &changed(&text));
    let mut store = MemoryStore::open(SimulatedDisk::default()).expect("an empty disk is a journal");
    let mut run = start_compiled("patch", (programs, program), SnapshotPolicy::NEVER, &mut store);
    while run.step().expect("the turn succeeds") == Step::Turn {}
    let waiting = run.state().actor(MAIN).map_or(0, |main| main.waits.len());
    assert_eq!(waiting, fibers + 1, "every fiber waits");
    let (programs, main) = run
        .lend::<SchemePrograms>(MAIN)
        .expect("the main program has an instance");
    let (copy, copied) = processor_microseconds(|| programs.remember(main));
    let (_, words) = programs.differences(Some(&copy), main).words;
    drop(copy);
    run.deliver_first(Input::Patch { text: change });
    let (step, patched) = processor_microseconds(|| run.step().expect("the text takes the other's place"));
    assert_eq!(step, Step::Turn);
    Sample {
        megabytes: words as f64 * 8.0 / 1e6,
        copy_ms: copied / 1e3,
        patch_ms: patched / 1e3,
    }
}

fn number(name: &str, default: usize) -> usize {
    #[expect(clippy::disallowed_methods, reason = "a benchmark has no command line of its own")]
    let set = std::env::var(name).ok();
    set.and_then(|number| number.parse().ok()).unwrap_or(default)
}

fn main() -> io::Result<()> {
    let (entries, fibers) = (number("DUET_ENTRIES", 500_000), number("DUET_FIBERS", 1_000));
    let samples: Vec<Sample> = (0..SAMPLES).map(|_| sample(entries, fibers)).collect();
    let middle = |of: fn(&Sample) -> f64| median(samples.iter().map(of).collect());
    let (megabytes, copy, patch) = (
        middle(|sample| sample.megabytes),
        middle(|sample| sample.copy_ms),
        middle(|sample| sample.patch_ms),
    );
    writeln!(
        io::stdout().lock(),
        "a heap of {megabytes:.0} MB, {fibers} fibers: a copy {copy:.1} ms, a patch {patch:.1} ms, ratio {:.1}",
        patch / copy
    )
}
