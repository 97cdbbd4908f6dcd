//! Programs of captures, aborts and re-entries, drawn at random: whatever way the machine takes through them, they come to the same.
//!
//! Continuations have a way that takes its words from those at hand and ends in a plain prompt, and others for what is special. A heap that is nearly full, a
//! computation that is parked all the time, so that its chain is made of many links, and primitives that always go the long way lead through those.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common {
    pub(crate) mod process;
}

use common::process::{code_of, compiled};
use duet_kernel::heap::kind::condition;
use duet_kernel::heap::{Kind, Limits};
use duet_kernel::image::{freeze_instance, thaw_instance};
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::printer::{Anonymous, write_limited};
use duet_kernel::unit::CompiledUnit;
use duet_kernel::value::Value;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

/// A program, as an expression of a number.
#[derive(Clone, Debug)]
enum Program {
    Number(i8),
    Sum(Box<Program>, Box<Program>),
    /// So many frames around it.
    Deep(u8, Box<Program>),
    /// In a prompt with this tag, whose handler is one of [`HANDLERS`].
    Prompt(bool, usize, Box<Program>),
    /// A value for the nearest prompt with this tag, if there is one.
    Abort(bool, Box<Program>),
    /// Notes the continuation of the whole program here.
    Capture(Box<Program>),
    /// A value for the continuation that was noted last.
    Throw(Box<Program>),
    /// A value for the part that a handler kept last.
    Resume(Box<Program>),
    /// With one more winder in force, or one more frame of the dynamic environment.
    Extent(bool, Box<Program>),
}

/// What handlers do with the continuation up to their prompt and the value.
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

/// The program that these draws stand for: they are used up in its order, and what is missing is a number.
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

/// Programs that are long enough for much to happen.
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

/// What programs are made of. Each note leaves garbage behind; what is entered again is paid for, so that there is an end.
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

/// The ways of programs, and of the machine where nothing is special.
const SHORT_WAYS: &str = "
    (define (abort tag value) (%abort-with-continuation tag (cons value '()) through))
    (define (resume k value) (k value))
    (define (throw k value) (k value))";

/// Primitives that do the same and always go the long way.
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

/// How a program is run.
#[derive(Clone, Copy)]
struct Way {
    bytes_max: usize,
    /// After so much fuel it is parked, and goes on with another machine.
    slice: u64,
    /// Whether it goes on in an instance that was thawed.
    is_frozen: bool,
}

const PLAIN: Way = Way {
    bytes_max: 64 << 20,
    slice: u64::MAX,
    is_frozen: false,
};

/// What it comes to and the fuel that it took; nothing if it runs out of memory.
fn run(unit: &CompiledUnit, way: Way) -> Option<(String, u64)> {
    let limits = Limits {
        bytes_max: way.bytes_max,
    };
    let code = code_of(&[unit]);
    let (mut machine, mut instance) = (Machine::new(), Instance::new(limits));
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    machine.start(&mut instance, procedure, &[]);
    let mut used = 0;
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
        if way.is_frozen {
            let image = freeze_instance(&instance, &[parked], &code).unwrap();
            let (thawed, values) = thaw_instance(&image, limits, &code).unwrap();
            (instance, parked) = (thawed, values[0]);
        }
        machine = Machine::new();
        machine.reinstate(&mut instance, &code, parked);
        machine.resume(Value::UNSPECIFIED);
    }
}

fn is_out_of_memory(instance: &Instance, object: Value) -> bool {
    let heap = &instance.heap;
    heap.is_kind(object, Kind::Condition) && heap.symbol_name(heap.field(object, condition::KIND)) == "out-of-memory"
}

/// Memory for what most programs keep and a little more.
const TIGHT_BYTES: usize = 48 << 10;

fn check(program: &Program, garbage: usize, slice: u64) -> TestCaseResult {
    let short = unit_of(program, garbage, SHORT_WAYS);
    let plain = run(&short, PLAIN);
    prop_assert!(plain.is_some(), "there is enough memory");
    let parked = Way { slice, ..PLAIN };
    let frozen = Way {
        slice: slice + 10,
        is_frozen: true,
        ..PLAIN
    };
    for (name, way) in [("parked", parked), ("frozen", frozen)] {
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
    let value_of = |ended: Option<(String, u64)>| ended.map(|(value, _)| value);
    let by_long_ways = run(&unit_of(program, garbage, LONG_WAYS), PLAIN);
    prop_assert_eq!(value_of(by_long_ways), value_of(plain), "by the long ways");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn all_ways_come_to_the_same(program in programs(), garbage in 1..500_usize, slice in 1..8_u64) {
        check(&program, garbage, slice)?;
    }
}
