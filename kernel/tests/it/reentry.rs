//! Random programs of captures, aborts and re-entries give the same result on every path through
//! the machine.
//!
//! Continuations have a fast path for plain prompts when enough words are at hand, and slow paths
//! for the rest. A nearly full heap, parking at every slice (which splits the chain into many
//! links), and primitives without a fast path exercise the slow paths.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common::process::{Store, code_of, compiled, moved};
use duet_kernel::heap::kind::condition;
use duet_kernel::heap::{Kind, Limits};
use duet_kernel::machine::{Instance, Machine, NativeMode, Outcome};
use duet_kernel::printer::{Anonymous, write_limited};
use duet_kernel::unit::CompiledUnit;
use duet_kernel::value::Value;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

/// A program: an expression over a number.
#[derive(Clone, Debug)]
enum Program {
    Number(i8),
    Sum(Box<Program>, Box<Program>),
    /// The program inside this many frames.
    Deep(u8, Box<Program>),
    /// The program in a prompt with this tag, whose handler is one of [`HANDLERS`].
    Prompt(bool, usize, Box<Program>),
    /// Passes a value to the nearest prompt with this tag, if there is one.
    Abort(bool, Box<Program>),
    /// Stores the continuation of the whole program.
    Capture(Box<Program>),
    /// Passes a value to the continuation that was stored last.
    Throw(Box<Program>),
    /// Passes a value to the part that a handler stored last.
    Resume(Box<Program>),
    /// The program under one more winder, or one more frame of the dynamic environment.
    Extent(bool, Box<Program>),
}

/// The uses that handlers make of the continuation up to their prompt and the value.
const HANDLERS: [&str; 5] = [
    "(lambda (k value) (note value))",
    "(lambda (k value) (if (spend) (resume k value) value))",
    "(lambda (k value) (if (spend) (+ 1 (resume k value)) value))",
    "(lambda (k value) (if (spend) (+ (resume k value) (resume k 1)) value))",
    "(lambda (k value) (set! part k) value)",
];

impl Program {
    fn text(&self) -> String {
        let tag = |is_first: &bool| if *is_first { "'a" } else { "'b" };
        match self {
            Program::Number(number) => number.to_string(),
            Program::Sum(first, second) => format!("(note (+ {} {}))", first.text(), second.text()),
            Program::Deep(frames, inner) => format!("(deep {frames} (lambda () {}))", inner.text()),
            Program::Prompt(is_first, handler, inner) => format!(
                "(in-prompt {} (lambda () {}) {})",
                tag(is_first),
                inner.text(),
                HANDLERS[*handler]
            ),
            Program::Abort(is_first, value) => format!("(leave {} {})", tag(is_first), value.text()),
            Program::Capture(inner) => format!("(%call/cc (lambda (k) (set! whole k) {}))", inner.text()),
            Program::Throw(value) => format!("(go-on throw whole {})", value.text()),
            Program::Resume(value) => format!("(go-on resume part {})", value.text()),
            Program::Extent(is_winder, inner) => {
                let (read, write) = if *is_winder {
                    ("(%winders)", "%set-winders!")
                } else {
                    ("(%dynamic)", "%set-dynamic!")
                };
                format!("(extent (lambda () {read}) {write} (lambda () {}))", inner.text())
            }
        }
    }
}

/// Makes the program for these draws; if they run out, the rest is a number.
fn program_of(draws: &mut impl Iterator<Item = u16>) -> Program {
    let Some(draw) = draws.next() else {
        return Program::Number(7);
    };
    let detail = draw / 16;
    let is_first = detail.is_multiple_of(2);
    let mut inner = || Box::new(program_of(draws));
    match draw % 16 {
        0..2 => Program::Number(detail as i8),
        2..5 => Program::Sum(inner(), inner()),
        5 => Program::Deep(detail as u8 % 6, inner()),
        6..9 => Program::Prompt(is_first, usize::from(detail / 2) % HANDLERS.len(), inner()),
        9..12 => Program::Abort(is_first, inner()),
        12 => Program::Capture(inner()),
        13 => Program::Throw(inner()),
        14 => Program::Resume(inner()),
        _ => Program::Extent(is_first, inner()),
    }
}

/// Generates programs with enough draws for many operations.
fn programs() -> impl Strategy<Value = Program> {
    proptest::collection::vec(any::<u16>(), 20..150).prop_map(|draws| {
        let mut draws = draws.into_iter().peekable();
        let mut program = program_of(&mut draws);
        while draws.peek().is_some() {
            program = Program::Sum(Box::new(program), Box::new(program_of(&mut draws)));
        }
        program
    })
}

/// Definitions for the programs. Each note leaves garbage; each re-entry uses up a budget, so that
/// programs end.
const PRELUDE: &str = "
    (define budget 30)
    (define (spend) (if (> budget 0) (begin (set! budget (- budget 1)) #t) #f))
    (define trace '())
    (define (note value) (make-vector GARBAGE 0) (set! trace (cons value trace)) value)
    (define whole #f)
    (define part #f)
    (define (deep frames thunk) (if (= frames 0) (thunk) (+ 1 (deep (- frames 1) thunk))))
    (define (extent read write thunk)
      (write (cons (cons 'x 'y) (read)))
      (let ((value (thunk))) (if (pair? (read)) (write (cdr (read)))) value))
    (define (in-prompt tag thunk handler) (%call-with-prompt tag thunk handler (cons '%prompt tag)))
    (define (leave tag value) (if (%find-prompt tag) (abort tag (note value)) value))
    (define (go-on how k value) (if (if k (spend) #f) (how k value) value))
    (define (through tag values)
      (%call-with-composable tag
        (lambda (k)
          (%set-winders! (%find-prompt tag))
          (%abort-to-prompt tag (cons k values)))))";

/// The operations of programs, on the machine's fast paths.
const SHORT_WAYS: &str = "
    (define (abort tag value) (%abort-with-continuation tag (cons value '()) through))
    (define (resume k value) (k value))
    (define (throw k value) (k value))";

/// Primitives with the same results that always take the slow path.
const LONG_WAYS: &str = "
    (define (abort tag value) (through tag (cons value '())))
    (define (resume k value) (%resume-composable k (cons value '())))
    (define (throw k value) (%throw k (cons value '())))";

fn unit_of(program: &Program, garbage: usize, ways: &str) -> CompiledUnit {
    let prelude = PRELUDE.replace("GARBAGE", &garbage.to_string());
    let ending = "(list value trace budget (%winders) (%dynamic))";
    let text = format!("{prelude} {ways} (define value {}) {ending}", program.text());
    compiled("program", &text)
}

/// The way a program runs.
#[derive(Clone, Copy)]
struct Way {
    bytes_max: usize,
    /// The fuel after which it is parked and continues on another machine.
    slice: i64,
    /// Whether it goes on in an instance that was restored from a snapshot.
    is_moved: bool,
}

const PLAIN: Way = Way {
    bytes_max: 64 << 20,
    slice: i64::MAX,
    is_moved: false,
};

/// Returns its result and the fuel that it took; nothing if it runs out of memory.
fn run(unit: &CompiledUnit, way: Way) -> Option<(String, i64)> {
    let limits = Limits {
        bytes_max: way.bytes_max,
    };
    let code = code_of(&[unit]);
    let (mut machine, mut instance) = (Machine::new(), Instance::new(limits));
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    machine.start(&mut instance, procedure, &[]);
    let (mut used, mut store, mut is_native) = (0, Store::new(), false);
    loop {
        let mut fuel = way.slice;
        let outcome = machine.run(&mut instance, &code, &mut fuel).unwrap();
        used += way.slice - fuel;
        match outcome {
            Outcome::Finished(value) => {
                let written = write_limited(&instance.heap, &Anonymous, value, 10_000);
                return Some((written, used));
            }
            Outcome::OutOfFuel => {}
            Outcome::Uncaught(object) if is_out_of_memory(&instance, object) => return None,
            outcome @ (Outcome::Uncaught(_) | Outcome::Exhausted | Outcome::Request { .. }) => panic!("{outcome:?}"),
        }
        let mut parked = machine.capture(&mut instance, &code).unwrap();
        if way.is_moved {
            (instance, parked) = moved(instance, parked, (&code, &code), limits, &mut store);
        }
        machine = Machine::new();
        is_native = !is_native;
        if is_native {
            machine.set_native(NativeMode::Always);
        }
        machine.reinstate(&mut instance, &code, parked);
        machine.resume(Value::UNSPECIFIED);
    }
}

fn is_out_of_memory(instance: &Instance, object: Value) -> bool {
    let heap = &instance.heap;
    heap.is_kind(object, Kind::Condition) && heap.symbol_name(heap.field(object, condition::KIND)) == "out-of-memory"
}

/// Memory for most programs and a little more.
const TIGHT_BYTES: usize = 48 << 10;

fn check(program: &Program, garbage: usize, slice: i64) -> TestCaseResult {
    let short = unit_of(program, garbage, SHORT_WAYS);
    let plain = run(&short, PLAIN);
    prop_assert!(plain.is_some(), "there is enough memory");
    let parked = Way { slice, ..PLAIN };
    let moved_on = Way {
        slice: slice + 10,
        is_moved: true,
        ..PLAIN
    };
    for (name, way) in [("parked", parked), ("moved", moved_on)] {
        prop_assert_eq!(&run(&short, way), &plain, "{}", name);
    }
    let tight = Way {
        bytes_max: TIGHT_BYTES,
        ..PLAIN
    };
    let in_tight_heap = run(&short, tight);
    if in_tight_heap.is_some() {
        prop_assert_eq!(&in_tight_heap, &plain, "tight");
    }
    let value_of = |ended: Option<(String, i64)>| ended.map(|(value, _)| value);
    let by_long_ways = run(&unit_of(program, garbage, LONG_WAYS), PLAIN);
    prop_assert_eq!(value_of(by_long_ways), value_of(plain), "by the long ways");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn all_ways_come_to_the_same(program in programs(), garbage in 1..500_usize, slice in 1..8_i64) {
        check(&program, garbage, slice)?;
    }
}
