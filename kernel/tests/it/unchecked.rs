//! Programs that move stack, heap and code under the machine's unchecked accesses.
//!
//! They are small, because Miri runs them and takes seconds for a millisecond of processor time.
//! `docs/src/testing.md` has the command.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common::process::{Store, code_of, compiled, moved};
use duet_kernel::heap::{Limits, Statistics};
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::printer::{Anonymous, write_limited};
use duet_kernel::unit::CompiledUnit;
use duet_kernel::value::Value;

/// The action on a computation whenever its slice of fuel is used up.
#[derive(Clone, Copy)]
enum Between {
    /// It continues.
    Nothing,
    /// It is parked as a continuation in its heap and resumed by another machine.
    Park,
    /// The instance is frozen to bytes, and goes on in a code space with another program before its
    /// own.
    Move,
}

/// Runs a program in a heap of at most `bytes_max`, with a break after each `slice` of fuel;
/// returns its value as `write` writes it, and its heap's statistics.
fn run(program: &CompiledUnit, bytes_max: usize, slice: i64, between: Between) -> (String, Statistics) {
    let limits = Limits { bytes_max };
    let other = matches!(between, Between::Move).then(|| compiled("other", "(define other '(1 2 3))"));
    let (mut code, mut store) = (code_of(&[program]), Store::new());
    let (mut machine, mut instance) = (Machine::new(), Instance::new(limits));
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    machine.start(&mut instance, procedure, &[]);
    loop {
        let mut fuel = slice;
        match machine.run(&mut instance, &code, &mut fuel).unwrap() {
            Outcome::Finished(value) => return (written(&instance, value), instance.heap.statistics()),
            Outcome::OutOfFuel => {}
            outcome @ (Outcome::Uncaught(_) | Outcome::Exhausted | Outcome::Request { .. }) => panic!("{outcome:?}"),
        }
        match between {
            Between::Nothing => {}
            Between::Park => {
                let parked = machine.capture(&mut instance, &code).unwrap();
                machine = Machine::new();
                machine.reinstate(&mut instance, &code, parked);
            }
            Between::Move => {
                let parked = machine.capture(&mut instance, &code).unwrap();
                let there = code_of(&[other.as_ref().unwrap(), program]);
                let (restored, parked) = moved(instance, parked, (&code, &there), limits, &mut store);
                (instance, code) = (restored, there);
                machine.reinstate(&mut instance, &code, parked);
            }
        }
        machine.resume(Value::UNSPECIFIED);
    }
}

fn written(instance: &Instance, value: Value) -> String {
    write_limited(&instance.heap, &Anonymous, value, 1000)
}

fn check(program: &CompiledUnit, slice: i64, between: Between, expected: &str) -> Statistics {
    let (value, statistics) = run(program, 64 << 20, slice, between);
    assert_eq!(value, expected);
    statistics
}

const CALLS: &str = "
    (define (sum . items) (if (null? items) 0 (+ (car items) (apply sum (cdr items)))))
    (define (square x) (* x x))
    (define (power x n) (if (= n 0) 1 (* x (power x (- n 1)))))
    (define (counter n) (lambda () (set! n (+ n 1)) n))
    (define count (counter 10))
    (define places (make-vector 3 0))
    (count)
    (vector-set! places 1 (count))
    (list (sum 1 2 3) (square 1.5) (power 7 30) (< (power 2 70) 1e22) places (vector-length places) (quotient 17 5))";

#[test]
fn calls_closures_and_slow_arithmetic() {
    let expected = "(6 2.25 22539340290692258087863249 #t #(0 12 0) 3 3)";
    let program = compiled("calls", CALLS);
    check(&program, 1, Between::Nothing, expected);
    check(&program, 3, Between::Park, expected);
}

const CONTROL: &str = "
    (define again #f)
    (define times 0)
    (define (deep n k) (if (= n 0) (k 7) (+ 1 (deep (- n 1) k))))
    (define entered (+ 100 (%call/cc (lambda (k) (set! again k) 0))))
    (set! times (+ times 1))
    (if (< times 3) (again times))
    (define resumed
      (%call-with-prompt 'p
        (lambda () (* 10 (%call-with-composable 'p (lambda (k) (%abort-to-prompt 'p (cons k '()))))))
        (lambda (k) (+ (k 1) (k 2)))))
    (list entered (%call/cc (lambda (k) (deep 40 k))) resumed)";

#[test]
fn continuations_prompts_and_images() {
    let program = compiled("control", CONTROL);
    check(&program, i64::MAX, Between::Nothing, "(102 7 30)");
    check(&program, 2, Between::Park, "(102 7 30)");
    check(&program, 40, Between::Move, "(102 7 30)");
}

/// Two generators alternate, each inside its own prompt; then one is continued twice from the same
/// place.
const GENERATORS: &str = "
    (define (in-prompt thunk handler) (%call-with-prompt 'p thunk handler (cons '%prompt 'p)))
    (define (yield value) (%abort-with-continuation 'p (cons value '()) car))
    (define (deep depth count)
      (if (= depth 0)
          (let loop ((i 0)) (if (< i count) (begin (yield i) (loop (+ i 1)))))
          (begin (deep (- depth 1) count) 'end)))
    (define (step thunk) (in-prompt thunk (lambda (k value) (cons value (lambda () (k #f))))))
    (define (both first second values)
      (if (pair? first) (both second (step (cdr first)) (cons (car first) values)) values))
    (define twice (step (lambda () (+ 1 (begin (yield 5) 6)))))
    (list (both (step (lambda () (deep 3 4))) (step (lambda () (deep 0 9))) '()) \
      (step (cdr twice)) (step (cdr twice)))";

#[test]
fn generators_in_prompts() {
    let expected = "((3 3 2 2 1 1 0 0) 7 7)";
    let program = compiled("generators", GENERATORS);
    check(&program, i64::MAX, Between::Nothing, expected);
    check(&program, 3, Between::Park, expected);
    check(&program, 50, Between::Move, expected);
}

const GARBAGE: &str = "
    (define kept (make-vector 100 '()))
    (define (churn n) (if (> n 0) (begin (make-vector 5000 n) (vector-set! kept n (cons n n)) (churn (- n 1)))))
    (define (deep n) (if (= n 0) (begin (churn 20) 0) (+ 1 (deep (- n 1)))))
    (list (deep 30) (vector-ref kept 7))";

#[test]
fn collections_under_a_running_program() {
    let program = compiled("garbage", GARBAGE);
    let statistics = check(&program, i64::MAX, Between::Nothing, "(30 (7 . 7))");
    assert!(statistics.collections_minor > 1, "{statistics:?}");
    // In a heap that may not grow, every collection is major.
    let (value, statistics) = run(&program, 120 << 10, i64::MAX, Between::Nothing);
    assert_eq!(value, "(30 (7 . 7))");
    assert!(statistics.collections_major > 1, "{statistics:?}");
}

/// Each call passes many arguments, so that few calls fill the stack, because Miri checks a whole
/// segment whenever a call returns into it.
#[test]
fn the_stack_moves_to_the_heap() {
    const ARGUMENTS: usize = 200;
    const DEPTH: usize = 400;
    let names: String = (1..ARGUMENTS).map(|number| format!(" a{number}")).collect();
    let ones = " 1".repeat(ARGUMENTS - 1);
    let text = format!("(define (deep n{names}) (if (= n 0) a1 (+ a1 (deep (- n 1){names})))) (deep {DEPTH}{ones})");
    check(
        &compiled("deep", &text),
        i64::MAX,
        Between::Nothing,
        &(DEPTH + 1).to_string(),
    );
}

/// A frame that returns from a continuation may be larger than any that was called on the stack it
/// returns to.
#[test]
fn large_frames_come_back_to_a_small_stack() {
    let names: String = (0..100).map(|number| format!(" a{number}")).collect();
    let ones = " 1".repeat(99);
    let call = |last: &str| format!("(last{ones} {last})");
    let nested = call(&call(&call("5")));
    let text = format!(
        "(define (wait n) (if (= n 0) 2 (wait (- n 1))))
         (define last #f)
         (set! last (lambda ({names}) a99))
         (define (large x) (let ((waited (wait 3))) (+ x waited {nested})))
         (+ 1 (large 3))"
    );
    check(&compiled("large", &text), 1, Between::Park, "11");
}
