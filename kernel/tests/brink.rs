//! When memory runs out: it depends on what lives, and on nothing that a replay need not share.
//!
//! A run whose heap was just collected and one whose heap is full of garbage must stop at the same instruction, or replaying a run could come out otherwise.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common {
    pub(crate) mod process;
}

use common::process::{code_of, compiled};
use duet_kernel::heap::Limits;
use duet_kernel::machine::{BacktraceEntry, Instance, Machine, Outcome, backtrace};
use duet_kernel::unit::CompiledUnit;
use duet_kernel::value::Value;

/// Each does one thing over and over, and keeps what comes of it.
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
    ("values", "(%call-with-values (lambda () (values n n)) (lambda all all))"),
    ("applications", "(apply list n (cons 1 (cons 2 '())))"),
    ("continuations", "(+ 0 (%call/cc (lambda (k) (set! kept (cons k kept)) n)))"),
    ("prompts", "(+ 0 (%call-with-prompt 'p (lambda () (+ 1 (%abort-to-prompt 'p (cons n '())))) (lambda (m) m)))"),
    (
        "parts of computations",
        "(%call-with-prompt 'p (lambda () (+ 1 (%call-with-composable 'p (lambda (k) (%abort-to-prompt 'p (cons k '())))))) (lambda (k) k))",
    ),
    (
        "yields",
        "(%call-with-prompt 'p (lambda () (+ 1 (+ 1 (%abort-with-continuation 'p '(5) list)))) (lambda (k m) (k m) k))",
    ),
    (
        "yields through prompts",
        "(%call-with-prompt 'p
           (lambda () (+ 1 (%call-with-prompt 'q (lambda () (+ 1 (%abort-with-continuation 'p '(5) list))) (lambda (k) k))))
           (lambda (k m) (k m) k))",
    ),
    ("deep recursion", "(deep 9)"),
];

/// Runs a program that keeps `kept` words besides, until its memory runs out; how much fuel that took, and where it was.
fn end(program: &CompiledUnit, kept: usize, garbage: usize) -> (u64, Vec<BacktraceEntry>) {
    let code = code_of(&[program]);
    let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 40 << 10 }));
    instance.heap.count_forced_collections(false);
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    let vector = instance.heap.make_vector(kept, Value::ZERO).unwrap();
    instance.heap.root(vector).unwrap();
    instance.heap.make_vector(garbage, Value::ZERO).unwrap();
    machine.start(&mut instance, procedure, &[]);
    let mut fuel = u64::MAX >> 2;
    let before = fuel;
    match machine.run(&mut instance, &code, &mut fuel).unwrap() {
        Outcome::Uncaught(condition) => (before - fuel, backtrace(&instance.heap, &code, condition)),
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn memory_runs_out_at_the_same_instruction_whatever_garbage_there_is() {
    for (what, step) in STEPS {
        let text = format!(
            "(define kept '())
             (define (deep n) (if (= n 0) '() (cons n (deep (- n 1)))))
             (let loop ((n 0)) (set! kept (cons {step} kept)) (loop (+ n 1)))"
        );
        let program = compiled("brink", &text);
        for kept in (0..120).step_by(2) {
            let wanted = end(&program, kept, 0);
            for garbage in [1, 30, 333, 2000, 3999] {
                assert_eq!(
                    end(&program, kept, garbage),
                    wanted,
                    "{what}, {kept} words kept, {garbage} words of garbage"
                );
            }
        }
    }
}
