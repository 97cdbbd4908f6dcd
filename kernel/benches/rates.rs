//! Does a unit of fuel pay for a bounded amount of work, whatever primitive takes it?
//!
//! For each call below, at operands of each size, a loop makes the call. The table shows the fuel
//! of a round and the work of a unit, as a multiple of that of the empty loop. Work is processor
//! time where that is clearly within the bounds; elsewhere it is the number of processor
//! instructions, which valgrind counts. Calls outside of the bounds are marked, and make the exit
//! code 1.
//!
//! `cargo bench -p duet-kernel --bench rates -- TEXT` measures the calls whose text contains TEXT.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]

#[path = "../tests/it/common"]
#[allow(dead_code, reason = "the tests use the rest")]
mod common {
    pub(crate) mod bare;
    pub(crate) mod process;
}

use std::io::{self, Write};
use std::process::{Command, ExitCode};

use common::process::{code_of, compiled};
use duet_kernel::code::CodeSpace;
use duet_kernel::heap::{Limits, Register};
use duet_kernel::machine::{Instance, Machine, NativeMode, Outcome};
use duet_kernel::value::Value;
use rustix::time::{ClockId, clock_gettime};

/// The work of a unit, as multiples of that of the empty loop, between which it is bounded.
const BOUNDS: (f64, f64) = (0.25, 20.0);
/// Between these multiples, time is precise enough.
const CLEAR: (f64, f64) = (0.5, 10.0);
const SIZES: [u64; 3] = [1, 1_000, 1_000_000];
/// Each measurement takes at least this long.
const LEAST_NS: f64 = 2e6;
/// Rounds that take this long are enough to count their instructions.
const ENOUGH_NS: f64 = 1e6;

/// Operands, `x`, of the size `n`, and calls that take them.
const CALLS: &[(&str, &str)] = &[
    (
        "(make-vector n 0)",
        "(vector-length x) (vector-ref x 0) (vector-set! x 0 1) (vector->list x) (vector-fill! x 1)
        (vector-copy x) (vector-copy! x 0 x) (vector-append x x) (%hash x) (vector? x) (not x) (eq? x x)
        (%identity x)",
    ),
    ("(make-vector n #\\a)", "(vector->string x)"),
    (
        "n",
        "(make-vector x 0) (make-list x 0) (iota x) (iota x 0.5 0.5) (make-string x #\\a) (make-string x #\\λ)
        (make-bytevector x 1) (expt 3 x) (arithmetic-shift 1 x) (exact-integer-sqrt x) (quotient x 7) (modulo x 7)
        (gcd x 12) (lcm x 12) (/ x 7) (number->string x) (number->string x 2) (exact->inexact x) (sqrt x) (floor/ x 7)
        (truncate/ x 7) (bit-count x) (integer-length x) (bitwise-and x 7) (even? x) (real? x) (rationalize 1/3 1/100)
        (cons x x) (list x x x) (vector x x x) (values x) (string #\\a #\\b) (integer->char 955) (eof-object)
        (%make-condition 'a x '()) (%identity-dictionary) (open-output-string) (open-output-bytevector)
        (make-rectangular x 1) (make-polar x 1) (record 'a x) (set x) (dictionary x x) (bytevector 1 2 3)
        (max x 1.5)",
    ),
    (
        "(if (< n 10000) n 10000)",
        "(flfirst-bessel x 1.5) (flsecond-bessel x 1.5)",
    ),
    (
        "(make-list n 0)",
        "(length x) (list? x) (reverse x) (append x x) (list->vector x) (list-copy x) (memq 1 x)
        (memv 1.5 x) (%member 1 x) (%member \"a\" x) (list-tail x n) (list-ref x (- n 1)) (last-pair x) (%hash x)
        (list->set x) (list-set! x (- n 1) 0) (string? x) (symbol? x) (procedure? x)",
    ),
    (
        "(make-list n '(0 . 0))",
        "(assq 1 x) (assv 1.5 x) (%assoc 1 x) (%assoc \"a\" x) (alist->dictionary x)",
    ),
    ("(make-list n \"abc\")", "(%member \"abd\" x) (%hash x)"),
    ("(make-list n #\\a)", "(list->string x)"),
    ("(make-list n #\\λ)", "(list->string x)"),
    ("(iota n)", "(list->set x) (%hash x)"),
    (
        "(list->set (iota n))",
        "(set->list x) (set-copy x) (set-contains? x 0) (set-count x) (%hash x)
        (set-adjoin! x 0)",
    ),
    (
        "(let loop ((d (dictionary)) (i 0)) (if (< i n) (begin (dictionary-set! d i i) (loop d (+ i 1))) d))",
        "(dictionary-keys x) (dictionary-values x) (dictionary->alist x) (dictionary-copy x) (dictionary-ref x 0)
        (dictionary-set! x 0 1) (dictionary-contains? x 0) (%hash x) (dictionary-count x)",
    ),
    (
        "(make-string n #\\a)",
        "(string-length x) (string-ref x 0) (string-set! x 0 #\\a) (string-append x x)
        (string-copy x) (substring x 0 n) (string->list x) (string->vector x) (string-fill! x #\\a)
        (string-copy! x 0 x) (string-upcase x) (string-downcase x) (string-foldcase x) (string-index x #\\b)
        (string-contains x \"ab\") (string-prefix? x x) (string-suffix? x x) (string-trim x) (string-split x #\\b)
        (string-split x #\\a) (string<? x x) (string-ci=? x x) (string-ci<? x x) (string->utf8 x) (string->symbol x)
        (%hash x) (string->number x) (open-input-string x)",
    ),
    (
        "(make-string n #\\λ)",
        "(string-ref x 0) (string-set! x 0 #\\λ) (string-append x x) (string-copy x)
        (string->list x)
        (string->vector x) (string-fill! x #\\λ) (string-copy! x 0 x) (string-upcase x) (string-downcase x)
        (string-foldcase x) (string-index x #\\b) (string-contains x \"λa\") (string-prefix? x x)
        (string-suffix? x x) (string-trim x) (string-split x #\\b) (string-split x #\\λ) (string<? x x)
        (string-ci=? x x)
        (string-ci<? x x) (string->utf8 x) (string->symbol x) (%hash x) (string->number x) (open-input-string x)",
    ),
    (
        "(cons (make-string n #\\a) (make-string n #\\a))",
        "(string=? (car x) (cdr x)) (equal? (car x) (cdr x))",
    ),
    (
        "(cons (make-string n #\\λ) (make-string n #\\λ))",
        "(string=? (car x) (cdr x)) (equal? (car x) (cdr x))",
    ),
    ("(cons (make-vector n 0) (make-vector n 0))", "(equal? (car x) (cdr x))"),
    ("(cons (make-list n 0) (make-list n 0))", "(equal? (car x) (cdr x))"),
    ("(cons (make-list n 1.5) (make-list n 1.5))", "(equal? (car x) (cdr x))"),
    (
        "(cons (list->set (iota n)) (list->set (iota n)))",
        "(equal? (car x) (cdr x))",
    ),
    (
        "(cons (make-bytevector n 0) (make-bytevector n 0))",
        "(equal? (car x) (cdr x))",
    ),
    (
        "(make-string n #\\space)",
        "(string-trim x) (string-trim-left x) (string-trim-right x) (string->symbol x)",
    ),
    (
        "(make-string n #\\ß)",
        "(string-upcase x) (string-foldcase x) (string-ci=? x x)",
    ),
    ("(make-string n #\\Σ)", "(string-downcase x) (string-foldcase x)"),
    (
        "(make-string n #\\1)",
        "(string->number x) (string->number x 16) (string->number x 3)",
    ),
    ("(string-append \"1/\" (make-string n #\\3))", "(string->number x)"),
    ("(string-append \"#i\" (make-string n #\\1))", "(string->number x)"),
    ("(string-append \"#e1.\" (make-string n #\\1))", "(string->number x)"),
    ("(string-append \"0.\" (make-string n #\\1))", "(string->number x)"),
    ("(string-append \"1.\" (make-string n #\\1))", "(string->number x 3)"),
    ("(string-append (make-string n #\\1) \"e5\")", "(string->number x)"),
    ("(string-append (make-string n #\\1) \"+2i\")", "(string->number x)"),
    ("(string-append \"#e1e\" (number->string n))", "(string->number x)"),
    ("(string-append \"#e1e-\" (number->string n))", "(string->number x)"),
    ("(string-append \"#e1.5e\" (number->string n))", "(string->number x)"),
    ("(string-append \"1e\" (number->string n))", "(string->number x)"),
    ("(string-append \"1e-\" (number->string n))", "(string->number x)"),
    (
        "(string->symbol (make-string n #\\a))",
        "(symbol->string x) (symbol? x) (%hash x) (symbol->keyword x)
        (eq? x x)",
    ),
    (
        "(string->symbol (make-string n #\\λ))",
        "(symbol->string x) (%hash x) (symbol->keyword x)",
    ),
    (
        "(make-bytevector n 65)",
        "(utf8->string x) (bytevector-append x x) (bytevector-copy x) (bytevector-fill! x 1)
        (bytevector-copy! x 0 x) (%hash x) (open-input-bytevector x) (bytevector-u8-ref x 0)",
    ),
    ("(string->utf8 (make-string n #\\λ))", "(utf8->string x)"),
    (
        "(+ 1 (expt 3 (quotient (* n 12) 19)))",
        "(number->string x) (number->string x 16) (number->string x 3)
        (* x x) (+ x x)
        (- x 1) (- x) (< x x) (= x x) (= x 1.5) (< x 1/3) (exact-integer-sqrt x) (quotient x 7) (gcd x 7) (gcd x 1023)
        (lcm x 7) (exact->inexact x) (bitwise-and x x) (bitwise-ior x 1) (bitwise-xor x 1) (bitwise-not x)
        (arithmetic-shift x 1) (arithmetic-shift x -1) (bit-count x) (integer-length x) (even? x) (odd? x) (real? x)
        (rational? x) (integer? x) (exact? x) (zero? x) (positive? x) (abs x) (square x) (numerator x) (floor x)
        (round x) (exact x) (sqrt x) (exp x) (log x) (sin x) (atan x) (expt x 2) (max x 1) (magnitude x)
        (real-part x) (angle x) (make-rectangular x 1) (%hash x) (finite? x) (+ x 0.5) (* x 0.5) (/ x 7) (+ x 1/3)
        (* x 1/3) (rationalize x 1/7) (eqv? x 1) (equal? x 1)",
    ),
    (
        "(cons (expt 3 (quotient (* n 12) 19)) (expt 7 (quotient (* n 6) 20)))",
        "(quotient (car x) (cdr x)) (modulo (car x) (cdr x)) (floor/ (car x) (cdr x)) (* (car x) (cdr x))
        (eqv? (car x) (cdr x))",
    ),
    (
        "(let ((n (if (< n 20000) n 20000)))
        (cons (+ 2 (expt 3 (quotient (* n 12) 19))) (expt 7 (quotient (* n 7) 20))))",
        "(gcd (car x) (cdr x)) (/ (car x) (cdr x)) (lcm (car x) (cdr x))",
    ),
    (
        "(/ (+ 1 (expt 3 (quotient (* n 12) 19))) 3)",
        "(+ x 1) (+ x x) (+ x 1/3) (* x x) (- x) (< x 1) (< x x)
        (= x x) (floor x)
        (round x) (exact->inexact x) (number->string x) (numerator x) (%hash x) (rationalize x 1/7) (expt x 2) (exp x)
        (abs x) (sqrt x)",
    ),
    (
        "(make-rectangular n 1.5)",
        "(+ x x) (- x x) (* x x) (/ x x) (sqrt x) (exp x) (log x) (sin x) (asin x) (atan x)
        (expt x x) (magnitude x) (angle x) (number->string x) (%hash x) (exact x) (= x x) (expt x 2)",
    ),
    (
        "(make-rectangular n 2)",
        "(+ x x) (* x x) (/ x x) (sqrt x) (exp x) (magnitude x) (expt x 3) (= x x)",
    ),
    (
        "(* n 1.1e300)",
        "(sin x) (cos x) (tan x) (exp x) (log x) (atan x) (sqrt x) (exact x) (number->string x)
        (number->string x 2) (floor x) (+ x x) (< x x) (flgamma x) (flloggamma x) (flerf x) (flcbrt x) (fllog1+ x)
        (flexp-1 x) (flsinh x) (flasinh x) (flhypot x x) (flexpt x 0.5) (flremainder x 3.0) (flremquo x 3.0)
        (fladjacent x 0.0) (rationalize x 1.5) (= x 1/3) (< x 1/3) (%hash x) (expt x 0.3) (max x 1) (even? x)",
    ),
    (
        "(/ n 1.1e300)",
        "(exact x) (number->string x) (number->string x 3) (flgamma x) (= x 1/3) (< x 1/3)
        (rationalize x 1e-310) (numerator x) (denominator x) (inexact->exact x)",
    ),
    (
        "2.5",
        "(number->string x 2) (rationalize x 0.01) (flremquo x 2.0) (cos x) (numerator x) (asin x) (acos x)
        (flgamma x) (flloggamma x) (flerfc x) (sin x) (number->string x) (round x) (exact x)
        (char-upcase #\\λ) (char-alphabetic? #\\λ) (char-general-category #\\λ) (char=? #\\a #\\b)
        (char-ci=? #\\λ #\\Λ) (digit-value #\\5) (char-foldcase #\\λ) (fl+* x x x) (make-flonum x 3)",
    ),
    (
        "(let loop ((i 0) (l '())) (if (< i n) (loop (+ i 1) (list l)) l))",
        "(%hash x) (%write-limited x 100)",
    ),
    (
        "(let ((p (open-output-string))) (%write-string (make-string n #\\λ) p) p)",
        "(get-output-string x)",
    ),
    (
        "(let ((p (open-output-string))) (%write-string (make-string n #\\a) p) p)",
        "(get-output-string x)",
    ),
    (
        "(let ((p (open-output-bytevector)))
        (%write-bytevector (make-bytevector n 1) p) p)",
        "(get-output-bytevector x)",
    ),
    // A fresh port for each call, because writing fills a port and reading empties it.
    (
        "(make-list n 0)",
        "(%write x (open-output-string)) (%write-shared x (open-output-string))",
    ),
    ("(iota n 0.1 0.1)", "(%write x (open-output-string))"),
    (
        "(make-list n '(a . \"b\"))",
        "(%write x (open-output-string)) (%display x (open-output-string))",
    ),
    (
        "(make-bytevector n 65)",
        "(%write x (open-output-string)) (%write-bytevector x (open-output-bytevector))
        (%read-bytevector n (open-input-bytevector x)) (%read-u8 (open-input-bytevector x))",
    ),
    (
        "(make-string n #\\a)",
        "(%write x (open-output-string)) (%display x (open-output-string))
        (%write-string x (open-output-string)) (%read-line (open-input-string x))
        (%read (open-input-string x))
        (%read-string n (open-input-string x)) (%read-char (open-input-string x))",
    ),
    (
        "(make-string n #\\λ)",
        "(%write x (open-output-string)) (%display x (open-output-string))
        (%write-string x (open-output-string)) (%read-line (open-input-string x))
        (%read (open-input-string x))
        (%read-string n (open-input-string x))",
    ),
    ("(make-string n #\\\")", "(%write x (open-output-string))"),
    (
        "(string->symbol (make-string n #\\λ))",
        "(%write x (open-output-string))",
    ),
    (
        "(string->symbol (make-string n #\\A))",
        "(%write x (open-output-string))",
    ),
    ("(make-string n #\\space)", "(%read (open-input-string x))"),
    ("(make-string (min n 600000) #\\1)", "(%read (open-input-string x))"),
    (
        "(let ((p (open-output-string))) (%write (iota n) p)
        (get-output-string p))",
        "(%read (open-input-string x))",
    ),
    (
        "(let ((p (open-output-string))) (%write (make-list n '(a . \"b\")) p) (get-output-string p))",
        "(%read (open-input-string x))",
    ),
    (
        "(let ((p (open-output-string))) (%write (make-vector n 'abc) p) (get-output-string p))",
        "(%read (open-input-string x))",
    ),
    (
        "(let ((p (open-output-string))) (%write (make-bytevector n 77) p) (get-output-string p))",
        "(%read (open-input-string x))",
    ),
    (
        "(let ((p (open-output-string))) (%write (iota n 0.1 0.1) p) (get-output-string p))",
        "(%read (open-input-string x))",
    ),
];

/// A program that makes a call in a loop, and its instance.
struct Loop {
    code: CodeSpace,
    machine: Machine,
    instance: Instance,
}

impl Loop {
    /// Evaluates the operand; returns `None` if that fails.
    fn new(operand: &str, call: &str, size: u64) -> Option<Loop> {
        let text = format!(
            "(define n {size}) (define x {operand})
             (define (calls k) (if (< 0 k) (begin {call} (calls (- k 1)))))
             calls"
        );
        let code = code_of(&[&compiled("program", &text)]);
        let mut instance = Instance::new(Limits { bytes_max: 2 << 30 });
        let program = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
        let mut machine = Machine::new();
        machine.set_native(NativeMode::Never);
        let mut new = Loop {
            code,
            machine,
            instance,
        };
        let (_, calls) = new.run(program, &[])?;
        new.instance.heap.set_register(Register::Runtime0, calls);
        Some(new)
    }

    /// Makes the call `count` times; returns the fuel, or `None` if it fails.
    fn calls(&mut self, count: i32) -> Option<i64> {
        let calls = self.instance.heap.register(Register::Runtime0);
        Some(self.run(calls, &[Value::small(count)])?.0)
    }

    /// Returns the fuel and the value of a procedure's call, or `None` if it fails.
    fn run(&mut self, procedure: Value, arguments: &[Value]) -> Option<(i64, Value)> {
        self.machine.start(&mut self.instance, procedure, arguments);
        let mut left = i64::MAX;
        match self.machine.run(&mut self.instance, &self.code, &mut left).ok()? {
            Outcome::Finished(value) => Some((i64::MAX - left, value)),
            Outcome::Request { .. } | Outcome::OutOfFuel | Outcome::Uncaught(_) | Outcome::Exhausted => None,
        }
    }
}

/// A call, its operand and the operand's size.
#[derive(Clone, Copy)]
struct Case {
    operand: &'static str,
    call: &'static str,
    size: u64,
}

/// What a round of a loop takes.
struct Round {
    fuel: f64,
    ns: f64,
    /// The rounds that were enough to measure it.
    count: i32,
}

/// Returns the processor time of this thread in ns, which other work on the computer does not
/// affect.
fn now_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn timed(case: Case) -> Option<Round> {
    let mut calls = Loop::new(case.operand, case.call, case.size)?;
    let mut count: i32 = 1;
    loop {
        let started = now_ns();
        let fuel = calls.calls(count)?;
        let elapsed = now_ns() - started;
        if elapsed > LEAST_NS {
            let (fuel, ns) = (fuel as f64 / f64::from(count), elapsed / f64::from(count));
            return Some(Round { fuel, ns, count });
        }
        count *= 4;
    }
}

/// Returns the processor instructions of a round, which valgrind counts, or `None` without it.
fn instructions(case: Case, count: i32) -> Option<f64> {
    let counted = |count: i32| {
        let own = std::env::current_exe().ok()?;
        let done = Command::new("valgrind")
            .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
            .arg(own)
            .args([
                COUNTED,
                case.operand,
                case.call,
                &case.size.to_string(),
                &count.to_string(),
            ])
            .output()
            .ok()?;
        let report = String::from_utf8_lossy(&done.stderr).into_owned();
        let line = report
            .lines()
            .find_map(|line| line.split_once("I refs:").or(line.split_once("I   refs:")))?;
        line.1.trim().replace(',', "").parse::<f64>().ok()
    };
    let (without, with) = (counted(0)?, counted(count)?);
    Some((with - without) / f64::from(count))
}

/// The first argument of a process that makes the calls of one case and nothing else.
const COUNTED: &str = "counted";

/// Makes the calls of the case that the arguments name.
fn make_calls(arguments: &[String]) -> Option<i64> {
    let [operand, call, size, count] = arguments else {
        return None;
    };
    Loop::new(operand, call, size.parse().ok()?)?.calls(count.parse().ok()?)
}

/// The empty loop, the measure of a unit of fuel.
struct Unit {
    ns: f64,
    /// `None` without valgrind.
    instructions: Option<f64>,
}

impl Unit {
    fn measure() -> Unit {
        let case = Case {
            operand: "0",
            call: "x",
            size: 1,
        };
        let round = timed(case).unwrap();
        Unit {
            ns: round.ns / round.fuel,
            instructions: instructions(case, 100_000).map(|count| count / round.fuel),
        }
    }

    /// Returns the work of a unit in a case's rounds, as a multiple of this one's.
    fn multiple(&self, case: Case, round: &Round) -> f64 {
        let by_time = round.ns / round.fuel / self.ns;
        if (CLEAR.0..=CLEAR.1).contains(&by_time) {
            return by_time;
        }
        let count = (ENOUGH_NS / round.ns).ceil().min(f64::from(round.count)) as i32;
        let counted = self.instructions.zip(instructions(case, count));
        counted.map_or(by_time, |(unit, counted)| counted / round.fuel / unit)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark is a command of its own, with words of its own"
)]
fn main() -> io::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.first().is_some_and(|word| word == COUNTED) {
        return Ok(make_calls(&words[1..]).map_or(ExitCode::FAILURE, |_| ExitCode::SUCCESS));
    }
    let mut out = io::stdout().lock();
    let unit = Unit::measure();
    let counted = unit
        .instructions
        .map_or(String::from("unknown without valgrind"), |count| format!("{count:.0}"));
    writeln!(
        out,
        "a unit of the empty loop: {:.1} ns, instructions: {counted}; bounds: {BOUNDS:?}",
        unit.ns
    )?;
    let mut are_bounded = true;
    for (operand, call, size) in cases(&words) {
        let case = Case { operand, call, size };
        let Some(round) = timed(case) else {
            are_bounded = false;
            writeln!(out, "! {call} of {operand} fails, n = {size}")?;
            continue;
        };
        let multiple = unit.multiple(case, &round);
        let is_bounded = (BOUNDS.0..=BOUNDS.1).contains(&multiple);
        are_bounded &= is_bounded;
        let mark = if is_bounded { " " } else { "!" };
        let (fuel, ns) = (round.fuel, round.ns);
        writeln!(
            out,
            "{mark} {multiple:8.2} {fuel:12.0} units {ns:14.0} ns {size:8} {call} of {operand}"
        )?;
    }
    Ok(if are_bounded {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The cases whose text has all the words.
fn cases(words: &[String]) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
    let all = CALLS
        .iter()
        .flat_map(|(operand, calls)| expressions(calls).map(move |call| (*operand, call)));
    all.filter(move |(operand, call)| {
        words
            .iter()
            .all(|word| format!("{call} {operand}").contains(word.as_str()))
    })
    .flat_map(|(operand, call)| SIZES.map(|size| (operand, call, size)))
}

/// The expressions in a text: what stands in brackets that no others enclose.
fn expressions(text: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let mut depth = 0;
        let end = rest.find(|character| {
            depth += i32::from(character == '(') - i32::from(character == ')');
            depth == 0
        })?;
        let (first, others) = rest.split_at(end + 1);
        rest = others;
        Some(first)
    })
}
