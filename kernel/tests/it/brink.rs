//! Running out of memory depends only on the live data, which a replay shares.
//!
//! A run whose heap was just collected and one whose heap is full of garbage must stop at the same
//! instruction, because a replay has other garbage.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common::process::{code_of, compiled};
use duet_kernel::heap::{Heap, Limits};
use duet_kernel::machine::{BacktraceEntry, Instance, Machine, Outcome, backtrace};
use duet_kernel::unit::CompiledUnit;
use duet_kernel::value::Value;

/// Steps that each repeat one action and keep its results.
const STEPS: &[(&str, &str)] = &[
    ("pairs", "(cons 1 2)"),
    ("vectors", "(make-vector 7 0)"),
    ("closures", "(lambda () n)"),
    ("cells", "(let ((m n)) (lambda () (set! m (+ m 1)) m))"),
    ("strings", "(make-string 9 #\\a)"),
    ("symbols", "(string->symbol (number->string n))"),
    ("big integers", "(* (+ n 1152921504606846975) 4611686018427387904)"),
    ("flonums", "(* 1e300 1.5)"),
    ("rest arguments", "((lambda all all) n n n)"),
    ("values", "(call-with-values (lambda () (values n n)) (lambda all all))"),
    ("applications", "(apply list n (cons 1 (cons 2 '())))"),
    (
        "continuations",
        "(+ 0 (%call/cc (lambda (k) (set! kept (cons k kept)) n)))",
    ),
    (
        "prompts",
        "(+ 0 (%call-with-prompt 'p (lambda () (+ 1 (%abort-to-prompt 'p (cons n '())))) (lambda (m) m)))",
    ),
    (
        "parts of computations",
        "(%call-with-prompt 'p (lambda () (+ 1 (%call-with-composable 'p \
         (lambda (k) (%abort-to-prompt 'p (cons k '())))))) (lambda (k) k))",
    ),
    (
        "yields",
        "(%call-with-prompt 'p (lambda () (+ 1 (+ 1 (%abort-with-continuation 'p '(5) list)))) \
         (lambda (k m) (k m) k) (cons #f 'p))",
    ),
    (
        "yields through prompts",
        "(%call-with-prompt 'p
           (lambda () (+ 1 (%call-with-prompt 'q (lambda () (+ 1 (%abort-with-continuation 'p '(5) list))) \
             (lambda (k) k))))
           (lambda (k m) (k m) k)
           (cons #f 'p))",
    ),
    ("deep recursion", "(deep 9)"),
];

/// Makes a program that takes the step once or without end.
fn stepping(step: &str, is_endless: bool) -> CompiledUnit {
    let next = if is_endless { "(loop (+ n 1))" } else { "'done" };
    let text = format!(
        "(define kept '())
         (define (deep n) (if (= n 0) '() (cons n (deep (- n 1)))))
         (let loop ((n 0)) (set! kept (cons n kept)) (set! kept (cons {step} kept)) {next})"
    );
    compiled("brink", &text)
}

/// Whether a program finishes, the fuel that it takes, and the place where its memory runs out.
type End = (bool, i64, Vec<BacktraceEntry>);

/// Garbage in a heap.
#[derive(Clone, Copy, Debug)]
enum Garbage {
    /// This many words.
    Words(usize),
    /// Enough to leave this many words free.
    AllBut(usize),
}

/// Runs a program in a heap that also holds `kept` words, if they fit, and garbage.
fn end(program: &CompiledUnit, kept: usize, garbage: Garbage) -> Option<End> {
    let code = code_of(&[program]);
    let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 40 << 10 }));
    instance.heap.count_forced_collections(false);
    instance.link(&code).unwrap();
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    let mut roots = [procedure];
    let vector = instance.heap.make_vector(kept, Value::ZERO).ok()?;
    instance.heap.root(vector).ok()?;
    instance.heap.collect_major(&mut [&mut roots], &code);
    let (most, spare) = match garbage {
        Garbage::Words(words) => (words, 0),
        Garbage::AllBut(spare) => (usize::MAX, spare),
    };
    let fits = |heap: &mut Heap| !heap.would_exceed(spare + 2) && heap.cons(Value::ZERO, Value::NIL).is_ok();
    (0..most / 2).find(|_| !fits(&mut instance.heap));
    machine.start(&mut instance, roots[0], &[]);
    let mut fuel = i64::MAX >> 2;
    let before = fuel;
    match machine.run(&mut instance, &code, &mut fuel).unwrap() {
        Outcome::Finished(_) => Some((true, before - fuel, Vec::new())),
        Outcome::Uncaught(condition) => Some((false, before - fuel, backtrace(&instance.heap, &code, condition))),
        outcome @ (Outcome::OutOfFuel | Outcome::Exhausted | Outcome::Request { .. }) => panic!("{outcome:?}"),
    }
}

#[test]
fn memory_runs_out_at_the_same_instruction_whatever_garbage_there_is() {
    for (what, step) in STEPS {
        let program = stepping(step, true);
        for kept in (0..120).step_by(2) {
            let wanted = end(&program, kept, Garbage::Words(0));
            for garbage in [2, 30, 334, 2000, 4000] {
                let found = end(&program, kept, Garbage::Words(garbage));
                assert_eq!(found, wanted, "{what}, {kept} words kept, {garbage} words of garbage");
            }
        }
    }
}

#[test]
fn a_step_that_fits_a_heap_that_was_just_collected_fits_one_that_is_full_of_garbage() {
    for (what, step) in STEPS {
        let program = stepping(step, false);
        let mut ends = [0, 0];
        let fitting = (4400..)
            .step_by(2)
            .map_while(|kept| Some((kept, end(&program, kept, Garbage::Words(0))?)));
        for (kept, wanted) in fitting {
            ends[usize::from(wanted.0)] += 1;
            for spare in (0..60).step_by(6) {
                let found = end(&program, kept, Garbage::AllBut(spare));
                assert_eq!(
                    found.as_ref(),
                    Some(&wanted),
                    "{what}, {kept} words kept, all but {spare} garbage"
                );
            }
        }
        assert!(ends[0] > 0 && ends[1] > 0, "{what} always or never fits: {ends:?}");
    }
}
