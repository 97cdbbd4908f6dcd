//! A computation that is interrupted anywhere and continues elsewhere gives the same result.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common::process::{Store, code_of, compiled, moved};
use duet_kernel::code::CodeSpace;
use duet_kernel::datum::Name;
use duet_kernel::heap::{Limits, Register};
use duet_kernel::image::snapshot;
use duet_kernel::machine::{Instance, Machine, NativeMode, Outcome};
use duet_kernel::printer::{Style, print};
use duet_kernel::unit::{CompiledUnit, GlobalName};
use duet_kernel::value::Value;
use proptest::prelude::*;

/// More than any program here takes, so that a program that does not end is detected.
const FUEL_MAX: i64 = 1_000_000;

const LIMITS: Limits = Limits { bytes_max: 64 << 20 };

/// Runs before the program and leaves globals and literals, under names that the programs also use.
const FIRST: &str = "(define kept '(first literal)) (define (f x) (cons x kept)) (define unused 1) (f 'global)";
const SECOND: &str = "(define (g . rest) rest) (define h \"text\") (g h '#(second literal))";

/// The procedure that the machine calls on an error: it takes some time, then passes the condition
/// to the nearest handler.
const CONTROL: &str = "(define (%signal condition)
    (let wait ((i 0)) (if (< i 15) (wait (+ i 1)) (%abort-to-prompt 'error (list condition)))))";

const PROGRAMS: &[&str] = &[
    "(define conditions '())
     (define (try thunk)
       (%call-with-prompt 'error thunk (lambda (c) (set! conditions (cons c conditions)) (condition-message c))))
     (define (undefined) (if #f (define-later)) (nowhere))
     (define (twice x) (vector-ref (vector x) x))
     (let loop ((i 0) (messages '()))
       (if (< i 4)
         (loop (+ i 1)
           (cons (list (try (lambda () (+ 1 (car i)))) (try undefined) (try (lambda () (twice 5)))
                       (try (lambda () (loop))) (try (lambda () (+ i 'a 1))) (try (lambda () (- (f 1) 1))))
                 messages))
         (list messages conditions)))
     (define (define-later) 1) (define nowhere 2) (define (f x y) x)",
    "(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 14)",
    "(define (fibfp n) (if (< n 2.0) n (+ (fibfp (- n 1.0)) (fibfp (- n 2.0))))) (fibfp 12.0)",
    "(define (tak x y z) (if (< y x) (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y)) z)) (tak 8 5 2)",
    "(define (ctak x y z) (%call/cc (lambda (k) (ctak-aux k x y z))))
     (define (ctak-aux k x y z)
       (if (not (< y x)) (k z)
         (ctak-aux k
           (%call/cc (lambda (k) (ctak-aux k (- x 1) y z)))
           (%call/cc (lambda (k) (ctak-aux k (- y 1) z x)))
           (%call/cc (lambda (k) (ctak-aux k (- z 1) x y))))))
     (ctak 7 4 2)",
    "(define (attempt column row dist placed)
       (or (null? placed)
           (and (not (= (car placed) (+ row dist))) (not (= (car placed) (- row dist))) (not (= (car placed) row))
                (attempt column row (+ dist 1) (cdr placed)))))
     (define (queens n placed column)
       (if (= column n) 1
         (let loop ((row 1) (sum 0))
           (if (< n row) sum
             (loop (+ row 1) (if (attempt column row 1 placed) \
               (+ sum (queens n (cons row placed) (+ column 1))) sum))))))
     (queens 5 '() 0)",
    "(define (derive a)
       (if (not (pair? a)) (if (eq? a 'x) 1 0)
         (if (eq? (car a) '+) (cons '+ (each (cdr a)))
           (if (eq? (car a) '*) (list '* a (cons '+ (each-part (cdr a)))) (list 'unknown a)))))
     (define (each l) (if (null? l) '() (cons (derive (car l)) (each (cdr l)))))
     (define (each-part l) (if (null? l) '() (cons (list '/ (derive (car l)) (car l)) (each-part (cdr l)))))
     (let loop ((i 0) (last #f)) (if (< i 20) (loop (+ i 1) (derive '(+ (* 3 x x) (* a x x) (* b x) 5))) last))",
    "(define (wind before thunk after)
       (before)
       (%set-winders! (cons (cons before after) (%winders)))
       (let ((value (thunk))) (%set-winders! (cdr (%winders))) (after) value))
     (define log '())
     (define (note! what) (set! log (cons what log)))
     (define (work n) (if (= n 0) (list (car (car (%winders))) log) (begin (note! n) (work (- n 1)))))
     (define (nest n) (wind (lambda () (note! (list 'in n))) \
       (lambda () (if (= n 0) (cdr (work 9)) (cons n (nest (- n 1))))) (lambda () (note! (list 'out n)))))
     (%set-dynamic! (list 'environment 5))
     (list (nest 6) (%dynamic) (%winders) log)",
    "(define (inside n) (if (= n 0) (%abort-to-prompt 'tag (list 1 2)) (+ 1 (inside (- n 1)))))
     (let loop ((i 0) (sum 0))
       (if (= i 8) sum
         (loop (+ i 1) (+ sum (%call-with-prompt 'tag (lambda () (+ 100 (inside i))) (lambda (a b) (* a (+ b i))))))))",
    "(define (sum-with k n) (if (= n 0) 0 (+ (k n) (sum-with k (- n 1)))))
     (%call-with-prompt 'p
       (lambda () (* 10 (let down ((i 6)) (if (= i 0) (%call-with-composable 'p \
         (lambda (k) (%abort-to-prompt 'p (list k)))) (+ 1 (down (- i 1)))))))
       (lambda (k) (list (k 1) (sum-with k 9))))",
    "(define (find-first ok? l) (%call/cc (lambda (return) (for ok? l return) 'none)))
     (define (for ok? l return) (if (not (null? l)) (begin (if (ok? (car l)) (return (car l))) \
       (for ok? (cdr l) return))))
     (let loop ((i 0) (found '())) (if (= i 12) found (loop (+ i 1) \
       (cons (find-first (lambda (x) (< i x)) '(1 2 3 5 8)) found))))",
    "(define resume #f) (define n 0)
     (define r (+ 100 (%call/cc (lambda (c) (set! resume c) 0))))
     (set! n (+ n 1))
     (if (< n 9) (resume n) (list n r))",
    "(define (counter start) (lambda (by) (set! start (+ start by)) start))
     (define a (counter 0)) (define b (counter 1.5))
     (let loop ((i 0) (text \"\")) (if (= i 30) (list (a 0) (b 0) text) \
       (begin (a i) (b i) (loop (+ i 1) (string-append text (number->string i) \"λ\")))))",
    "(define table (dictionary)) (define seen (set))
     (let loop ((i 0))
       (if (< i 25)
         (let ((key (list i (quotient i 3)))) (dictionary-set! table key (* i 100000000000000000000)) \
           (set-adjoin! seen (remainder i 7)) (loop (+ i 1)))
         (list table seen (dictionary-ref table '(24 8)) (/ 1 3) #\\λ :key '#u8(1 2) -0.0 1e200)))",
    "(define (count n) (if (= n 0) 0 (+ 1 (count (- n 1))))) (count 16000)",
    "(define literal '(a b))
     (define (same?) (eq? literal (quoted))) (define (quoted) first-literal) (define first-literal literal)
     (define default (case-lambda ((a) (default a 5)) ((a b) (list a b)) ((a b . c) (list a b c))))
     (let loop ((i 0)) (if (< i 15) (loop (+ i 1)) (list (same?) (default 1) (default 1 2 3 4) \
       (apply list 1 '(2 3)) (call-with-values (lambda () (values 1 2)) list))))",
];

/// The programs, and three orders in which a process may load them.
struct World {
    programs: Vec<[CodeSpace; 3]>,
    names: [CompiledUnit; 3],
}

impl World {
    fn new() -> World {
        let mut control = compiled("control", CONTROL);
        // The machine looks for it in this library.
        control.globals[0].library = Name::from("(duet internal control)");
        let names = [control, compiled("decoy", FIRST), compiled("decoy", SECOND)];
        let [control, first, second] = &names;
        let programs = PROGRAMS.iter().map(|text| {
            let unit = compiled("test", text);
            [
                code_of(&[control, first, second, &unit]),
                code_of(&[&unit, second, first, control]),
                code_of(&[second, &unit, control, first]),
            ]
        });
        World {
            programs: programs.collect(),
            names,
        }
    }
}

/// The way a computation travels.
#[derive(Clone, Copy, Debug)]
enum Vehicle {
    /// In a snapshot of its heap.
    Snapshot,
    /// Within the heap that it is in.
    Parked,
    /// It does not travel.
    Stays,
}

/// A process in which a computation runs.
struct Place<'a> {
    instance: Instance,
    code: &'a CodeSpace,
}

fn unit_number(code: &CodeSpace, unit: &CompiledUnit) -> usize {
    code.units()
        .iter()
        .position(|loaded| loaded.hash == unit.hash())
        .unwrap()
}

fn run_whole(machine: &mut Machine, place: &mut Place<'_>, unit: usize) -> Value {
    let procedure = place.instance.unit_procedure(place.code, unit).unwrap();
    machine.start(&mut place.instance, procedure, &[]);
    match machine
        .run(&mut place.instance, place.code, &mut FUEL_MAX.clone())
        .unwrap()
    {
        Outcome::Finished(value) => value,
        outcome @ (Outcome::OutOfFuel | Outcome::Request { .. } | Outcome::Uncaught(_) | Outcome::Exhausted) => {
            panic!("{outcome:?}")
        }
    }
}

fn shown(place: &Place<'_>, value: Value) -> String {
    print(&place.instance.heap, place.code, value, Style::Write, 1 << 20).unwrap()
}

/// Shows the value of the program and of the globals that the others left.
fn result(place: &Place<'_>, value: Value, names: &[CompiledUnit]) -> String {
    let globals = names.iter().flat_map(|unit| &unit.globals);
    let others = globals.map(|name: &GlobalName| match place.instance.global(place.code, name) {
        Some(value) => shown(place, value),
        None => "undefined".to_owned(),
    });
    let others: Vec<String> = others.collect();
    format!("{} {}", shown(place, value), others.join(" "))
}

/// The ways to run that a computation goes through in turn.
const WAYS: [NativeMode; 3] = [NativeMode::Always, NativeMode::Never, NativeMode::Drawn(7)];

/// Runs a program in slices; between slices it travels, and goes on in another way. Without steps
/// it is interpreted.
fn run_travelling(world: &World, program: usize, steps: &[(i64, Vehicle)]) -> String {
    let spaces = &world.programs[program];
    let mut store = Store::new();
    let mut machine = Machine::new();
    let mut place = Place {
        instance: Instance::new(LIMITS),
        code: &spaces[0],
    };
    for unit in &world.names {
        let number = unit_number(place.code, unit);
        run_whole(&mut machine, &mut place, number);
    }
    let unit = place.code.units().len() - 1;
    let procedure = place.instance.unit_procedure(place.code, unit).unwrap();
    machine.start(&mut place.instance, procedure, &[]);
    if !steps.is_empty() {
        machine.set_native(WAYS[0]);
    }
    for (hop, (slice, vehicle)) in steps.iter().enumerate() {
        match machine
            .run(&mut place.instance, place.code, &mut slice.clone())
            .unwrap()
        {
            Outcome::Finished(value) => return result(&place, value, &world.names),
            Outcome::OutOfFuel => {}
            outcome @ (Outcome::Request { .. } | Outcome::Uncaught(_) | Outcome::Exhausted) => panic!("{outcome:?}"),
        }
        if !matches!(vehicle, Vehicle::Stays) {
            let parked = machine.capture(&mut place.instance, place.code).unwrap();
            let parked = travel(&mut place, parked, *vehicle, &spaces[(hop + 1) % 3], &mut store);
            machine.reinstate(&mut place.instance, place.code, parked);
            machine.set_native(WAYS[(hop + 1) % WAYS.len()]);
        }
        machine.resume(Value::UNSPECIFIED);
    }
    match machine
        .run(&mut place.instance, place.code, &mut FUEL_MAX.clone())
        .unwrap()
    {
        Outcome::Finished(value) => result(&place, value, &world.names),
        outcome @ (Outcome::OutOfFuel | Outcome::Request { .. } | Outcome::Uncaught(_) | Outcome::Exhausted) => {
            panic!("{outcome:?}")
        }
    }
}

fn travel<'a>(place: &mut Place<'a>, parked: Value, vehicle: Vehicle, code: &'a CodeSpace, store: &mut Store) -> Value {
    match vehicle {
        Vehicle::Snapshot => {
            let instance = place.instance.clone();
            let (instance, parked) = moved(instance, parked, (place.code, code), LIMITS, store);
            *place = Place { instance, code };
            parked
        }
        Vehicle::Parked | Vehicle::Stays => parked,
    }
}

fn steps() -> impl Strategy<Value = Vec<(i64, Vehicle)>> {
    let slice = prop_oneof![4 => 1i64..12, 3 => 1i64..60, 2 => 1i64..300, 1 => 1i64..6000];
    let vehicle = prop_oneof![
        8 => Just(Vehicle::Snapshot),
        1 => Just(Vehicle::Parked),
        1 => Just(Vehicle::Stays)
    ];
    prop::collection::vec((slice, vehicle), 1..12)
}

#[test]
fn a_computation_goes_on_wherever_it_is_taken() {
    let world = World::new();
    let expected: Vec<String> = (0..PROGRAMS.len())
        .map(|program| run_travelling(&world, program, &[]))
        .collect();
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(1000)
    };
    proptest!(config, |(program in 0..PROGRAMS.len(), steps in steps())| {
        prop_assert_eq!(&run_travelling(&world, program, &steps), &expected[program]);
    });
}

#[test]
fn interruptions_change_neither_the_value_nor_a_word_of_the_heap() {
    let world = World::new();
    for (program, spaces) in world.programs.iter().enumerate() {
        let mut expected = None;
        let slices = [FUEL_MAX, 1, 2, 3, 7, 1000];
        let ways = [NativeMode::Never, NativeMode::Always, NativeMode::Drawn(3)];
        for (slice, native) in slices.iter().flat_map(|slice| ways.map(|way| (*slice, way))) {
            let (value, words) = run_sliced(&spaces[0], slice, native);
            let expected = expected.get_or_insert_with(|| (value.clone(), words.clone()));
            assert_eq!(
                value, expected.0,
                "{} in slices of {slice}, {native:?}",
                PROGRAMS[program]
            );
            assert!(
                words == expected.1,
                "{} in slices of {slice}, {native:?}: the heap differs",
                PROGRAMS[program]
            );
        }
    }
}

/// Runs the last unit of a code space in slices; returns its value, and the chunks of its heap's
/// snapshot.
fn run_sliced(code: &CodeSpace, slice: i64, native: NativeMode) -> (String, Vec<Vec<u8>>) {
    let mut machine = Machine::new();
    machine.set_native(native);
    let mut place = Place {
        instance: Instance::new(LIMITS),
        code,
    };
    // First the control library, then the program.
    run_whole(&mut machine, &mut place, 1);
    let procedure = place.instance.unit_procedure(code, code.units().len() - 1).unwrap();
    machine.start(&mut place.instance, procedure, &[]);
    for _ in 0..FUEL_MAX / slice {
        match machine.run(&mut place.instance, code, &mut slice.clone()).unwrap() {
            Outcome::OutOfFuel => machine.resume(Value::UNSPECIFIED),
            Outcome::Finished(value) => {
                let text = shown(&place, value);
                place.instance.heap.set_register(Register::Runtime0, value);
                place.instance.heap.collect_minor(&mut [], code);
                let taken = snapshot(&mut place.instance.heap, code).unwrap();
                let chunks = taken.chunks.into_iter().chain([taken.root]);
                return (text, chunks.map(|chunk| chunk.bytes).collect());
            }
            outcome @ (Outcome::Request { .. } | Outcome::Uncaught(_) | Outcome::Exhausted) => panic!("{outcome:?}"),
        }
    }
    panic!("it does not end");
}
