//! An object that a computation will not read again is garbage, even if a register still holds it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common::process::{code_of, compiled};
use duet_kernel::heap::{AllLive, Limits, LiveRegisters, Register};
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::printer::{Style, print};
use duet_kernel::value::Value;
use proptest::prelude::*;

/// A lazy list: a pair is made at its first access and then stays, so the head keeps all accessed
/// pairs alive.
const LAZY: &str = "
    (define (node n) (vector n #f))
    (define (next v)
      (if (not (vector-ref v 1)) (vector-set! v 1 (node (+ (vector-ref v 0) 1))))
      (vector-ref v 1))
    (define (walk v n) (if (= n 0) (vector-ref v 0) (walk (next v) (- n 1))))";

/// Each walks along LENGTH nodes whose head stays in a register, a closure or a captured frame that
/// is not read again.
const WALKS: &[&str] = &[
    "(define (f) (let ((head (node 0))) (let ((last (walk head LENGTH))) last))) (f)",
    "(define (f) (let ((head (node 0))) (let loop ((v head) (n LENGTH)) \
     (if (= n 0) (vector-ref v 0) (loop (next v) (- n 1)))))) (f)",
    "(define (f)
       (let ((head (cons 0 '())))
         (let loop ((last head) (n 0))
           (if (= n LENGTH) (car last)
             (let ((new (cons (+ n 1) '()))) (set-cdr! last new) (loop new (+ n 1)))))))
     (f)",
    "(define (f) (let ((head (node 0))) (let ((last (%call/cc (lambda (k) (walk head LENGTH))))) last))) (f)",
    "(define (make head) (lambda () (let ((last (walk head LENGTH))) last))) (define (f) ((make (node 0)))) (f)",
    "(define (f head) (+ 0 (%call-with-prompt 'p (lambda () (+ 0 (walk head LENGTH))) (lambda () 0)))) (f (node 0))",
    "(define (f head . rest) (if (pair? rest) (+ 0 (walk head LENGTH)) 0)) \
     (define (g) (+ 0 (apply f (node 0) '(1)))) (g)",
    "(define (step v) (%call/cc (lambda (k) (k (next v)))))
     (define (f v n) (if (= n 0) (vector-ref v 0) (f (step v) (- n 1))))
     (+ 0 (f (node 0) LENGTH))",
    "(define (f depth head) (if (= depth 0) (walk head LENGTH) (+ 0 (f (- depth 1) head)))) (f 9000 (node 0))",
];

/// Runs a program within `bytes_max`, in slices of `slice`, and parks it after every slice.
fn run(text: &str, bytes_max: usize, slice: i64) -> Result<String, String> {
    let unit = compiled("test", text);
    let code = code_of(&[&unit]);
    let mut machine = Machine::new();
    let mut instance = Instance::new(Limits { bytes_max });
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    machine.start(&mut instance, procedure, &[]);
    loop {
        let outcome = machine.run(&mut instance, &code, &mut slice.clone()).unwrap();
        let shown = |value| print(&instance.heap, &code, value, Style::Write, 1 << 10).unwrap();
        match outcome {
            Outcome::OutOfFuel => {
                let parked = machine.capture(&mut instance, &code).unwrap();
                let mut roots = [parked];
                instance.heap.collect(&mut [&mut roots], &code);
                machine.reinstate(&mut instance, &code, roots[0]);
                machine.resume(Value::UNSPECIFIED);
            }
            Outcome::Finished(value) => return Ok(shown(value)),
            Outcome::Uncaught(value) => return Err(shown(value)),
            outcome @ (Outcome::Exhausted | Outcome::Request { .. }) => panic!("{outcome:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn a_long_walk_takes_bounded_memory(
        walk in 0..WALKS.len(),
        length in 200_000u32..260_000,
        slice in 5_000i64..2_000_000,
    ) {
        let text = format!("{LAZY} {}", WALKS[walk].replace("LENGTH", &length.to_string()));
        // The whole list would take 6 to 8 MB.
        prop_assert_eq!(run(&text, 3 << 20, slice), Ok(length.to_string()));
    }
}

#[test]
fn every_walk_takes_bounded_memory() {
    for walk in WALKS {
        let text = format!("{LAZY} {}", walk.replace("LENGTH", "300000"));
        assert_eq!(run(&text, 3 << 20, i64::MAX), Ok("300000".to_owned()), "{walk}");
    }
}

#[test]
fn what_is_read_again_is_kept() {
    let text = "(define (f) (let ((head (node 0))) (walk head LENGTH) (vector-ref (next head) 0))) (f)";
    let run_length = |length: &str| run(&format!("{LAZY} {}", text.replace("LENGTH", length)), 3 << 20, i64::MAX);
    assert_eq!(run_length("1000"), Ok("1".to_owned()));
    assert!(run_length("300000").is_err(), "the whole list is kept and does not fit");
}

/// Makes a continuation that waits in `(handle …)`, and its code.
fn parked(text: &str) -> (Instance, duet_kernel::code::CodeSpace, Value) {
    let unit = compiled("test", text);
    let code = code_of(&[&unit]);
    let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 64 << 20 }));
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    machine.start(&mut instance, procedure, &[]);
    assert_eq!(machine.run(&mut instance, &code, &mut 2_000), Ok(Outcome::OutOfFuel));
    let parked = machine.capture(&mut instance, &code).unwrap();
    (instance, code, parked)
}

/// The list has 100 elements, but the computation needs only its length.
const HANDLE: &str = "
    (define (numbers n) (if (= n 0) '() (cons n (numbers (- n 1)))))
    (define (count l n) (if (null? l) n (count (cdr l) (+ n 1))))
    (define (handle l) (let ((n (count l 0))) (let wait ((i 0)) (if (< i 100000) (wait (+ i 1)) n))))
    (define (serve) (let ((l (numbers 100))) (let ((n (handle l))) (list n 'served))))
    (serve)";

#[test]
fn a_collection_frees_what_captured_frames_will_not_read() {
    let words_after = |is_told: bool| {
        let (mut instance, code, parked) = parked(HANDLE);
        instance.heap.set_register(Register::Runtime0, parked);
        let live: &dyn LiveRegisters = if is_told { &code } else { &AllLive };
        instance.heap.collect_major(&mut [], live);
        instance.heap.statistics().words_live
    };
    assert!(
        words_after(false) >= words_after(true) + 200,
        "a list of 100 pairs is freed"
    );
}

/// Evaluates a program that keeps `kept` words of 128 Ki and needs 2 million more, 100 at a time;
/// returns its outcome, and the number of major collections.
fn evaluate_in_little_memory(kept: usize, is_counted: bool) -> (Outcome, u64) {
    let text = format!(
        "(define kept (make-vector {kept} 0)) (define last #f)
         (let loop ((n 20000)) (if (= n 0) n (begin (set! last (make-vector 98 0)) (loop (- n 1)))))"
    );
    let unit = compiled("test", &text);
    let code = code_of(&[&unit]);
    let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 1 << 20 }));
    instance.heap.count_forced_collections(is_counted);
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    machine.start(&mut instance, procedure, &[]);
    let outcome = machine.run(&mut instance, &code, &mut 1_000_000).unwrap();
    (outcome, instance.heap.statistics().collections_major)
}

#[test]
fn a_program_that_does_little_but_look_for_memory_is_stopped() {
    let done = Outcome::Finished(Value::ZERO);
    let (roomy, _) = evaluate_in_little_memory(120_000, true);
    assert_eq!(roomy, done, "a tenth of the memory is room enough");
    let (stopped, collections) = evaluate_in_little_memory(130_000, true);
    assert_eq!(stopped, Outcome::Exhausted);
    assert!(collections < 40, "it was stopped after {collections} collections");
    let (repeated, collections) = evaluate_in_little_memory(130_000, false);
    assert_eq!(repeated, done, "what is not counted goes on");
    assert!(collections > 1000, "it took {collections} collections");
}
