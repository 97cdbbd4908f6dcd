//! The cost of primitives and of calls that the compiler integrates.
//!
//! INVARIANT: fuel follows core forms and the values of operands, whatever the tier, the optimiser,
//! the storage and the slices.
//! It does not measure time.
//! Read next: `native.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use duet_kernel::heap::Limits;
use duet_kernel::machine::{Instance, Machine, NativeMode, Outcome};
use duet_kernel::unit::CompiledUnit;
use duet_kernel::value::Value;

use crate::common::process::{code_of, compiled, counted};

/// Returns the fuel that a program takes, and its value.
fn run(text: &str, native: NativeMode, slice: i64) -> (i64, Value) {
    match end(text, native, slice) {
        (used, Outcome::Finished(value)) => (used, value),
        (_, outcome) => panic!("{text}: {outcome:?}"),
    }
}

/// Returns the fuel that a program takes, and how it ends.
fn end(text: &str, native: NativeMode, slice: i64) -> (i64, Outcome) {
    end_of(&compiled("program", text), native, slice)
}

/// Returns the fuel that a compiled program takes, and how it ends.
fn end_of(program: &CompiledUnit, native: NativeMode, slice: i64) -> (i64, Outcome) {
    let code = code_of(&[program]);
    let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 1 << 30 }));
    machine.set_native(native);
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    machine.start(&mut instance, procedure, &[]);
    let mut used = 0;
    loop {
        let mut fuel = slice;
        let outcome = machine.run(&mut instance, &code, &mut fuel).unwrap();
        used += slice - fuel;
        match outcome {
            Outcome::OutOfFuel => machine.resume(Value::UNSPECIFIED),
            outcome @ (Outcome::Finished(_) | Outcome::Uncaught(_) | Outcome::Exhausted | Outcome::Request { .. }) => {
                return (used, outcome);
            }
        }
    }
}

fn fuel(text: &str) -> i64 {
    run(text, NativeMode::Never, i64::MAX).0
}

/// Calls whose work grows with their operands: what makes the operands of a size, and the call.
const GROWING: &[(&str, &str)] = &[
    ("(make-vector n 0)", "(vector-copy x)"),
    ("(make-vector n 0)", "(vector-fill! x 1)"),
    ("(make-vector n 0)", "(vector->list x)"),
    ("(make-vector n 0)", "(equal? x (vector-copy x))"),
    ("n", "(make-vector x)"),
    ("n", "(make-list x)"),
    ("n", "(iota x)"),
    ("n", "(make-string x)"),
    ("n", "(make-bytevector x)"),
    ("(make-list n 0)", "(length x)"),
    ("(make-list n 0)", "(list? x)"),
    ("(make-list n 0)", "(reverse x)"),
    ("(make-list n 0)", "(append x x)"),
    ("(make-list n 0)", "(list->vector x)"),
    ("(make-list n 0)", "(memq 1 x)"),
    ("(make-list n 0)", "(%member 1 x)"),
    ("(make-list n '(0 . 0))", "(assq 1 x)"),
    ("(make-list n '(0 . 0))", "(assv 1 x)"),
    ("(make-list n 0)", "(list-tail x (- n 1))"),
    ("(make-list n 0)", "(equal? x (list-copy x))"),
    ("(make-string n #\\a)", "(string-append x x)"),
    ("(make-string n #\\a)", "(string-copy x)"),
    ("(make-string n #\\a)", "(string->list x)"),
    ("(make-string n #\\a)", "(string-upcase x)"),
    ("(make-string n #\\a)", "(string-index x #\\b)"),
    ("(make-string n #\\a)", "(string=? x (string-copy x))"),
    ("(make-string n #\\a)", "(string->utf8 x)"),
    ("(make-string n #\\a)", "(string->symbol x)"),
    ("(make-string n #\\a)", "(%hash x)"),
    ("(make-string n #\\1)", "(string->number x)"),
    ("(make-bytevector n 65)", "(utf8->string x)"),
    ("(make-bytevector n 65)", "(bytevector-append x x)"),
    ("(arithmetic-shift 1 n)", "(number->string x)"),
    ("(arithmetic-shift 1 n)", "(* x x)"),
    ("(arithmetic-shift 1 n)", "(+ x x)"),
    ("(arithmetic-shift 1 n)", "(< x (+ x 1))"),
    ("(arithmetic-shift 1 n)", "(= x (+ x 1))"),
    ("(arithmetic-shift 1 n)", "(exact-integer-sqrt x)"),
    ("(arithmetic-shift 1 n)", "(quotient (* x x) x)"),
    ("(arithmetic-shift 1 n)", "(modulo (* x x) x)"),
    ("(arithmetic-shift 1 n)", "(gcd x (- x 1))"),
    ("(arithmetic-shift 1 n)", "(exact->inexact x)"),
    ("(arithmetic-shift 1 n)", "(bitwise-and x x)"),
    ("(arithmetic-shift 1 n)", "(even? x)"),
    ("n", "(expt 3 x)"),
    ("(cons (make-vector n 0) (make-vector n 0))", "(equal? (car x) (cdr x))"),
    ("(make-list n \"abc\")", "(%member \"abd\" x)"),
    ("(make-string n #\\λ)", "(%write-string x (open-output-string))"),
    ("(string-append \"#i\" (make-string n #\\1))", "(string->number x)"),
    ("(make-list n 0)", "(apply vector (list x))"),
];

#[test]
fn what_grows_with_its_operands_costs_more_for_greater_ones() {
    for (operand, call) in GROWING {
        let fuel_for = |size: usize| {
            let before = format!("(define n {size}) (define x {operand})");
            fuel(&format!("{before} {call}")) - fuel(&before)
        };
        let (small, great) = (fuel_for(1), fuel_for(100_000));
        if *call == "(apply vector (list x))" {
            assert_eq!(small, great, "{call} does not look at its operand");
        } else {
            assert!(small <= 10 && great > 100, "{call}: {small} and {great}");
        }
    }
}

/// Calls whose work does not follow from the size of their operands alone, and their fuel at least
/// and at most.
const BETWEEN: &[(&str, &str, [i64; 2])] = &[
    ("(expt 3 60000)", "(+ x 1/3)", [100, 5_000]),
    ("(/ (expt 3 60000) 2)", "(+ x x)", [100, 5_000]),
    ("(expt 3 60000)", "(rationalize x 1/7)", [100, 5_000]),
    ("(+ 1 (expt 4 60000))", "(magnitude x)", [100, 5_000]),
    (
        "(expt 3 20000)",
        "(magnitude (make-rectangular x 1/3))",
        [10_000, 1_000_000],
    ),
    ("(make-rectangular (expt 3 20000) 1/3)", "(log x)", [1_000, 1_000_000]),
    ("(make-rectangular (expt 3 20000) 1/3)", "(log 2 x)", [1_000, 1_000_000]),
    ("(make-rectangular (expt 3 20000) 1/3)", "(sqrt x)", [1_000, 1_000_000]),
    (
        "(make-rectangular (expt 3 20000) 1/3)",
        "(expt x 0.5)",
        [1_000, 1_000_000],
    ),
    (
        "(/ (expt 3 20000) (expt 2 20000))",
        "(rationalize x 1/7)",
        [1_000, 1_000_000],
    ),
    ("3+i", "(expt x 20000)", [100, 20_000]),
    ("3/7+i", "(expt x 2000)", [1_000, 100_000]),
    ("3/2", "(expt x 20000)", [100, 20_000]),
    ("9/4", "(expt x 20001/2)", [100, 20_000]),
    ("9", "(expt x 20001/2)", [100, 20_000]),
    ("+i", "(expt x (expt 10 30))", [0, 30]),
    ("1.5+i", "(expt x 12345678901)", [0, 30]),
    ("(make-string 10000 #\\1)", "(string->number x 16)", [100, 10_000]),
    ("1e300", "(number->string x 2)", [500, 2_000]),
    ("1e-300", "(rationalize x 1e-310)", [50, 2_000]),
    ("(expt 3 60000)", "(eqv? x 7)", [0, 5]),
    ("(make-string 100000 #\\a)", "(string-contains x \"aa\")", [1, 3]),
    (
        "(make-string 100000 #\\a)",
        "(string-contains x \"ab\")",
        [5_000, 8_000],
    ),
    (
        "(string-append (make-string 100000 #\\a) \"b\")",
        "(string-contains x \"b\" 99000)",
        [50, 100],
    ),
    // A character beyond ASCII takes four bytes.
    ("(make-string 64000 #\\a)", "(string-trim x)", [450, 600]),
    ("(make-string 64000 #\\λ)", "(string-trim x)", [1_950, 2_100]),
];

#[test]
fn fuel_follows_the_work_where_the_size_of_operands_does_not_tell() {
    for (operand, call, [least, most]) in BETWEEN {
        let before = format!("(define x {operand})");
        let used = fuel(&format!("{before} {call}")) - fuel(&before);
        assert!((*least..=*most).contains(&used), "{call} of {operand}: {used}");
    }
}

/// Calls that are refused only when a product has become too long, and their fuel at least.
const REFUSED: &[(&str, i64)] = &[
    ("(expt 3+i 100000000)", 100_000),
    ("(expt 3/7+i 12345678901)", 1_000_000),
    ("(expt 3/7+i (expt 10 30))", 1_000_000),
    ("(expt 3+4i 12345678901/2)", 100_000),
];

#[test]
fn a_power_that_is_refused_at_its_end_costs_what_it_took() {
    for (call, least) in REFUSED {
        let (used, outcome) = end(call, NativeMode::Never, i64::MAX);
        assert!(matches!(outcome, Outcome::Uncaught(_)), "{call}: {outcome:?}");
        assert!((*least..=100 * least).contains(&used), "{call}: {used}");
    }
}

#[test]
fn the_tier_and_the_slices_do_not_change_what_a_call_costs() {
    for (operand, call) in GROWING {
        let text = format!(
            "(define n 3000) (define x {operand})
             (define (calls k) (if (< 0 k) (begin {call} (calls (- k 1)))))
             (calls 40)"
        );
        let (expected, _) = run(&text, NativeMode::Never, i64::MAX);
        for (native, slice) in [
            (NativeMode::Always, i64::MAX),
            (NativeMode::Auto, i64::MAX),
            (NativeMode::Never, 1),
            (NativeMode::Always, 7),
        ] {
            assert_eq!(run(&text, native, slice).0, expected, "{call} {native:?} {slice}");
        }
    }
}

#[test]
fn the_search_of_a_list_costs_the_same_wherever_it_ends() {
    for length in [0, 1, 15, 16, 17, 31, 32, 33, 100, 4_095, 4_096, 4_097, 5_000] {
        for key in [1, length / 2, length, length + 1] {
            let text = format!(
                "(define (entries k rest) (if (< 0 k) (entries (- k 1) (cons (cons k k) rest)) rest))
                 (define x (entries {length} '()))
                 (define (calls k) (if (< 0 k) (begin (assq {key} x) (calls (- k 1)))))
                 (calls 12)"
            );
            let (expected, _) = run(&text, NativeMode::Never, i64::MAX);
            for (native, slice) in [(NativeMode::Always, i64::MAX), (NativeMode::Always, 7)] {
                assert_eq!(
                    run(&text, native, slice).0,
                    expected,
                    "{key} of {length} {native:?} {slice}"
                );
            }
        }
    }
}

#[test]
fn a_text_costs_the_same_however_it_is_stored() {
    let narrow = "(define s (make-string 5000 #\\a))";
    let wide = "(define s (make-string 5000 #\\λ)) (string-fill! s #\\a)";
    let after = |before: &str, call: &str| fuel(&format!("{before} {call}")) - fuel(before);
    for call in [
        "(string-append s s)",
        "(string->list s)",
        "(string=? s s)",
        "(%hash s)",
        "(string->utf8 s)",
        "(string-trim s)",
    ] {
        assert_eq!(after(narrow, call), after(wide, call), "{call}");
    }
}

#[test]
fn a_primitive_that_takes_more_than_is_allowed_is_refused_before_it_works() {
    let program = compiled(
        "program",
        "(define big (arithmetic-shift 1 2000000)) (lambda () (number->string big))",
    );
    let code = code_of(&[&program]);
    let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 1 << 30 }));
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    machine.start(&mut instance, procedure, &[]);
    let Outcome::Finished(thunk) = machine.run(&mut instance, &code, &mut i64::MAX.clone()).unwrap() else {
        panic!("the program defines a procedure")
    };
    machine.start(&mut instance, thunk, &[]);
    instance.heap.allow_fuel(Some(1000));
    let mut fuel = 1000;
    let outcome = machine.run(&mut instance, &code, &mut fuel).unwrap();
    let Outcome::Uncaught(condition) = outcome else {
        panic!("{outcome:?}")
    };
    let kind = instance.heap.field(condition, 0);
    assert_eq!(instance.heap.symbol_name(kind), "out-of-fuel");
    assert!(fuel < 0, "what it would cost is a debt");
}

/// Programs that the compiler makes faster, each with a text that keeps it from doing so.
const OPTIMISED: &[(&str, &str)] = &[
    (
        "(define (first v) (vector-ref v 0)) (define v (vector 1 2))
         (define (sum k) (if (= k 0) 0 (+ (first v) (sum (- k 1))))) (sum 100)",
        "(set! first first)",
    ),
    (
        "(define (is-one? x) (eqv? x 1)) (define (is-small? x) (or (is-one? x) (eqv? x 2)))
         (define (count k) (if (= k 0) 0 (if (is-small? k) (count (- k 1)) (count (- k 1))))) (count 100)",
        "(set! is-one? is-one?) (set! is-small? is-small?)",
    ),
    (
        "(define (identity x) x) (define (twice x) (identity (identity x)))
         (define (go k) (if (< 0 k) (go (- (twice k) (twice 1))))) (go 100)",
        "(set! identity identity) (set! twice twice)",
    ),
];

#[test]
fn an_integrated_call_takes_the_fuel_of_a_call() {
    for (text, hindrance) in OPTIMISED {
        let hindered = format!("{text} {hindrance}");
        for native in [NativeMode::Never, NativeMode::Always] {
            for slice in [i64::MAX, 1, 3] {
                let (seen, expected) = (run(text, native, slice).0, run(&hindered, native, slice).0);
                assert_eq!(seen, expected, "{text} {native:?} {slice}");
            }
        }
    }
}

/// Programs with conditions, loops and calls of every sort, and some that fail.
const COUNTED: &[&str] = &[
    "(define (f x) (if (null? x) 1 (if (pair? x) (f (cdr x)) 2))) (+ (f '(1 2 3)) (f 'a))",
    "(define (f a b) (cond ((and a (not b)) 1) ((or (eq? a b) (eqv? b 2)) 2) (else 3)))
     (+ (f 1 #f) (f 2 2) (f 3 4) (f #f 5))",
    "(define (f x) (or (vector? x) (string? x) (symbol? x) (char? x))) (if (f \"a\") (if (f 1) 1 2) 3)",
    "(define (f x) (let ((y (or x 4))) (if (if x (< x 3) (= y 4)) (- y 1) (- 1 y)))) (+ (f 1) (f 5) (f #f))",
    "(define (f n) (let loop ((i 0) (s 0)) (if (<= i n) (loop (+ i 1) (+ s i)) s))) (f 100)",
    "(define (f n)
       (letrec ((even (lambda (n) (if (= n 0) #t (odd (- n 1)))))
                (odd (lambda (n) (if (= n 0) #f (even (- n 1))))))
         (if (even n) 1 2)))
     (+ (f 10) (f 11))",
    "(define f (case-lambda ((a) a) ((a b) (+ a b)) ((a . rest) (length rest)))) (+ (f 1) (f 1 2) (f 1 2 3 4))",
    "(define (f x) (set! x (+ x 1)) (if (char<? #\\a #\\b) (begin x (list x) x) 0)) (f 1)",
    "(define (f x . rest) (if (eof-object? x) 1 (length (list x rest)))) (f 1 2 3)",
    "(define (small? x) (< x 3)) (define (go i) (if (small? i) i (go (- i 1)))) (go 50)",
    "(define (f x) (* 2 (car x))) (f 1)",
    "(define (f x) (if (< x 'a) 1 2)) (f 1)",
];

#[test]
fn code_whose_lines_are_counted_does_the_same_for_the_same_fuel() {
    let texts = OPTIMISED.iter().map(|(text, _)| text).chain(COUNTED);
    for text in texts {
        let (plain, marked) = (compiled("program", text), counted("program", text));
        assert!(marked.instructions.len() > plain.instructions.len(), "{text}");
        for slice in [i64::MAX, 1, 3] {
            let (used, outcome) = end_of(&plain, NativeMode::Never, slice);
            let (expected, outcome) = (used, std::mem::discriminant(&outcome));
            let (used, seen) = end_of(&marked, NativeMode::Never, slice);
            assert_eq!(
                (used, std::mem::discriminant(&seen)),
                (expected, outcome),
                "{text} {slice}"
            );
        }
    }
}

#[test]
fn a_loop_in_its_procedure_takes_the_fuel_of_a_procedure() {
    let program = |body: &str| {
        format!(
            "(define keep #f)
             (define (inner n) (let loop ((i 0)) {body} (if (< i n) (loop (+ i 1)) i)))
             (define (outer k) (if (< 0 k) (begin (inner 3) (outer (- k 1))))) (outer 100)"
        )
    };
    // A loop that is also a value has a closure.
    assert_eq!(fuel(&program("")), fuel(&program("(set! keep loop)")));
}

/// Rust makes the record when the free words are used up, and a collection then clears the copies
/// of arguments; machine code goes on with what is live.
#[test]
fn a_collection_in_a_call_that_is_done_in_line_keeps_what_is_live() {
    let text = "(define (fail) (vector-ref (vector) 0))
         (define type (%make-record-type 'pair '(one two)))
         (define (pass a b c) (if (eq? b c) a (fail)))
         (define (make s) (let* ((v (make-vector 3 0)) (r (%make-record type s v))) (pass r (%record-ref r type 0) s)))
         (define (through s) (let ((r (if (eqv? s 1) s (make s)))) (%record-ref r type 0)))
         (define (go i) (if (< 0 i) (begin (through (vector i)) (go (- i 1)))))
         (go 20000)";
    for slice in [i64::MAX, 1000] {
        run(text, NativeMode::Always, slice);
    }
}
