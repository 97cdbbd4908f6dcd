//! Drawn programs, interpreted and as machine code, with collections as they come and at every
//! safepoint.
//!
//! INVARIANT: all ways of running a program give the same outcomes at the same fuel and the same
//! reachable objects; without stress also the same heap, word for word. Under stress, machine code
//! has fewer safepoints, because it has no call where it does the work of a primitive in line.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

pub(crate) mod program;

use crate::common::process::{code_of, compiled};
use duet_kernel::code::CodeSpace;
use duet_kernel::heap::{Limits, Register};
use duet_kernel::image::snapshot;
use duet_kernel::machine::{Instance, Machine, NativeMode, Outcome};
use duet_kernel::printer::write_limited;
use duet_kernel::value::Value;

/// Fuel after which a program that has not ended is left.
const FUEL: i64 = 2000;
/// The slices of fuel, in turn.
const SLICES: [i64; 4] = [1, FUEL, 3, 17];
/// The longest text of an outcome, in characters.
const TEXT_MAX: usize = 4000;

/// What can be seen of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    /// The rest of the fuel of each slice, and the place where it ended.
    slices: Vec<(i64, Option<u32>)>,
    outcome: String,
    /// The name of a snapshot of what is reachable at the end.
    digest: String,
}

/// A way of running.
#[derive(Clone, Copy, Debug)]
struct Way {
    native: NativeMode,
    is_stressed: bool,
    slice: i64,
    /// Whether the program runs in a turn, whose writes the heap notes.
    in_turn: bool,
}

/// Runs the code's last unit; returns what can be seen and, without stress, all words of the heap.
fn run(code: &CodeSpace, way: Way) -> (Seen, Option<String>) {
    let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 1 << 20 }));
    machine.set_native(way.native);
    machine.set_stress(way.is_stressed);
    let procedure = instance.unit_procedure(code, code.units().len() - 1).unwrap();
    if way.in_turn {
        instance.heap.begin_turn();
    }
    machine.start(&mut instance, procedure, &[]);
    let (mut slices, mut left) = (Vec::new(), FUEL);
    let outcome = loop {
        let mut fuel = way.slice.min(left);
        left -= fuel;
        let outcome = machine.run(&mut instance, code, &mut fuel).unwrap();
        // A debt is paid from what is left.
        left += fuel.min(0);
        slices.push((fuel, machine.interrupted_at()));
        if outcome != Outcome::OutOfFuel || left <= 0 {
            break outcome;
        }
        machine.resume(Value::UNSPECIFIED);
    };
    let words = (!way.is_stressed).then(|| format!("{:?}", instance.heap));
    let outcome = shown(&mut instance, code, outcome);
    if way.in_turn {
        instance.heap.commit_turn();
    }
    let digest = digest(&mut instance, code);
    (
        Seen {
            slices,
            outcome,
            digest,
        },
        words,
    )
}

/// The outcome as text; its value becomes a root.
fn shown(instance: &mut Instance, code: &CodeSpace, outcome: Outcome) -> String {
    let (word, value) = match outcome {
        Outcome::Finished(value) => ("finished", value),
        Outcome::Uncaught(value) => ("uncaught", value),
        Outcome::OutOfFuel | Outcome::Exhausted | Outcome::Request { .. } => return format!("{outcome:?}"),
    };
    instance.heap.set_register(Register::Runtime0, value);
    format!("{word} {}", write_limited(&instance.heap, code, value, TEXT_MAX))
}

fn digest(instance: &mut Instance, code: &CodeSpace) -> String {
    instance.heap.collect_major(&mut [], code);
    let taken = snapshot(&mut instance.heap, code).unwrap();
    format!("{:?}", taken.root.name)
}

/// Runs the program of a number in all ways.
fn check(seed: u64) {
    let text = program::program(seed);
    let code = code_of(&[&compiled("drawn", &text)]);
    let slice = SLICES[seed as usize % SLICES.len()];
    let way = |native, is_stressed| Way {
        native,
        is_stressed,
        slice,
        in_turn: (seed / 4).is_multiple_of(2),
    };
    let (expected, words) = run(&code, way(NativeMode::Never, false));
    for (native, is_stressed) in [
        (NativeMode::Always, false),
        (NativeMode::Drawn(seed), false),
        (NativeMode::Never, true),
        (NativeMode::Always, true),
        (NativeMode::Drawn(seed), true),
    ] {
        let way = way(native, is_stressed);
        let (seen, own_words) = run(&code, way);
        assert!(
            seen == expected,
            "program {seed}, {way:?}:\n{text}\n{seen:#?}\n{expected:#?}"
        );
        let is_same = is_stressed || own_words == words;
        assert!(is_same, "program {seed}, {way:?}: other words of the heap\n{text}");
    }
}

/// A number from the environment.
#[expect(clippy::disallowed_methods, reason = "the environment chooses the long form")]
fn number(variable: &str, default: u64) -> u64 {
    let value = std::env::var(variable);
    value.map_or(default, |value| {
        value.parse().unwrap_or_else(|_| panic!("{variable} is no number"))
    })
}

#[test]
fn drawn_programs_do_the_same_whenever_the_heap_collects() {
    let start = number("DUET_DRAWN_START", 0);
    for seed in start..start + number("DUET_DRAWN_COUNT", 2000) {
        check(seed);
    }
}

/// Programs in which a variable and another that is dead have the same word when the heap collects.
const SHARED_WORDS: [(&str, &str); 3] = [
    (
        "(define-record-type doc (make-doc a) doc? (a doc-a))
         (define bad 0)
         (define (g doc x) (if (not (pair? x)) (set! bad (+ bad 1))))
         (define (f x) (let ((doc (make-doc x))) (g doc x)))
         (define d (list 1))
         (let loop ((i 0)) (if (< i 400) (begin (f d) (loop (+ i 1))) bad))",
        "finished 0",
    ),
    (
        "(define (pair a b c) (list (vector a b c) (vector c b a) c b))
         (define (f x) (let ((v (vector x x))) (pair v x x)))
         (f (list 1))",
        "finished (#(#((1) (1)) (1) (1)) #((1) (1) #((1) (1))) (1) (1))",
    ),
    // Vectors that are live across calls that make flonums.
    (
        "(define (sum a b) (vector (+ (vector-ref a 0) (vector-ref b 0))))
         (define (parts items i)
           (lambda (some)
             (let ((base (vector (+ 1.0 (length some)))))
               (let loop ((rest items) (found '()))
                 (if (null? rest) found
                   (let* ((item (car rest))
                          (a (sum (vector-ref item 1) base))
                          (b (sum (vector-ref item 2) base)))
                     (loop (cdr rest) (cons (vector i a item) (cons (vector i b item) found)))))))))
         (define items (list (vector 0 (vector 1.) (vector 2.)) (vector 0 (vector 3.) (vector 4.))))
         (define (lost found n)
           (if (null? found) n
             (lost (cdr found) (if (vector? (vector-ref (car found) 2)) n (+ n 1)))))
         (let loop ((i 0) (n 0)) (if (< i 100) (loop (+ i 1) (lost ((parts items i) '(1 2)) n)) n))",
        "finished 0",
    ),
];

#[test]
fn a_live_variable_keeps_its_word_when_one_with_the_same_word_is_dead() {
    for (text, expected) in SHARED_WORDS {
        let code = code_of(&[&compiled("shared", text)]);
        for native in [NativeMode::Never, NativeMode::Always] {
            let way = Way {
                native,
                is_stressed: true,
                slice: FUEL,
                in_turn: false,
            };
            assert_eq!(run(&code, way).0.outcome, expected, "{native:?}");
        }
    }
}
