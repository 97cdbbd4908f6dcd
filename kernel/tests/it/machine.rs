//! Programs through expander, compiler and machine, on the bare kernel library.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::datum::reader::read_one;
use duet_kernel::expander::Expander;
use duet_kernel::heap::kind::condition;
use duet_kernel::heap::{Kind, Limits};
use duet_kernel::machine::{Instance, Machine, NativeMode, Outcome};
use duet_kernel::printer::{Anonymous, write_limited};
use duet_kernel::value::Value;

use crate::common::bare::{NoLibraries, expander};

struct Session {
    machine: Machine,
    instance: Instance,
    code: CodeSpace,
    expander: Expander,
    /// The fuel of one slice; the program is interrupted and parked whenever it is used up.
    slice: i64,
}

impl Session {
    fn new(slice: i64, native: NativeMode) -> Session {
        let mut machine = Machine::new();
        machine.set_native(native);
        let code = CodeSpace::new(&[]);
        let expander = expander(&code);
        let instance = Instance::new(Limits { bytes_max: 64 << 20 });
        Session {
            machine,
            instance,
            code,
            expander,
            slice,
        }
    }

    /// Evaluates a program; returns its last form's value, or the object that it raised.
    fn evaluate(&mut self, text: &str) -> Result<Value, Value> {
        let expansion = self.expander.expand_program("test", text, &mut NoLibraries);
        let expansion = expansion.unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
        let mut last = Value::UNSPECIFIED;
        for unit in &expansion.units {
            let compiled = compile(unit, &self.code).unwrap();
            let number = self.code.load(&compiled).unwrap();
            let procedure = self.instance.unit_procedure(&self.code, number).unwrap();
            self.machine.start(&mut self.instance, procedure, &[]);
            last = self.run()?;
        }
        Ok(last)
    }

    fn run(&mut self) -> Result<Value, Value> {
        loop {
            let mut fuel = self.slice;
            match self.machine.run(&mut self.instance, &self.code, &mut fuel).unwrap() {
                Outcome::Finished(value) => return Ok(value),
                Outcome::Uncaught(object) => return Err(object),
                Outcome::OutOfFuel => {
                    let parked = self.machine.capture(&mut self.instance, &self.code).unwrap();
                    self.machine.reinstate(&mut self.instance, &self.code, parked);
                    self.machine.resume(Value::UNSPECIFIED);
                }
                outcome @ (Outcome::Exhausted | Outcome::Request { .. }) => panic!("{outcome:?}"),
            }
        }
    }
}

/// Ways to run: interpreted, as machine code, and both in turn.
const NATIVE_MODES: [NativeMode; 5] = [
    NativeMode::Never,
    NativeMode::Auto,
    NativeMode::Always,
    NativeMode::Drawn(1),
    NativeMode::Drawn(2),
];

/// Checks a program's value, without interruption and with many, in every way to run.
pub(crate) fn check(program: &str, expected: &str) {
    let slices = [i64::MAX, 1, 2, 7];
    for (slice, native) in slices
        .iter()
        .flat_map(|slice| NATIVE_MODES.map(|native| (*slice, native)))
    {
        let mut session = Session::new(slice, native);
        let value = session.evaluate(program).unwrap_or_else(|object| {
            let message = session.instance.heap.field(object, condition::MESSAGE);
            panic!("{program}: raised {}", session.instance.heap.string_text(message))
        });
        let (datum, _) = read_one(expected, 0).unwrap().unwrap();
        let wanted = session.instance.heap.literal(&datum).unwrap();
        assert!(
            session.instance.heap.equal(value, wanted),
            "{program} (slice {slice}, {native:?}): {value:?} instead of {expected}"
        );
    }
}

fn check_raises(program: &str, kind: &str, message: &str) {
    for native in NATIVE_MODES {
        let mut session = Session::new(i64::MAX, native);
        let object = session.evaluate(program).expect_err(program);
        let heap = &session.instance.heap;
        assert!(heap.is_kind(object, Kind::Condition), "{program}");
        assert_eq!(heap.symbol_name(heap.field(object, condition::KIND)), kind, "{program}");
        assert_eq!(
            heap.string_text(heap.field(object, condition::MESSAGE)),
            message,
            "{program} ({native:?})"
        );
    }
}

#[test]
fn expressions_evaluate() {
    check("(+ 1 2)", "3");
    check("(if #f 1 2)", "2");
    check("((lambda (x . rest) (cons x rest)) 1 2 3)", "(1 2 3)");
    check("(let ((x 1) (y 2)) (let ((x y) (y x)) (cons x y)))", "(2 . 1)");
    check(
        "(define (f x) (if (< x 2) x (+ (f (- x 1)) (f (- x 2))))) (f 15)",
        "610",
    );
    check("(define x 1) (set! x (+ x 1)) x", "2");
    check(
        "(let loop ((i 0) (sum 0)) (if (= i 100) sum (loop (+ i 1) (+ sum i))))",
        "4950",
    );
    check(
        "(let outer ((i 0) (n 0)) (if (= i 10) n (let inner ((j 0) (n n)) \
         (if (= j 10) (outer (+ i 1) n) (inner (+ j 1) (+ n 1))))))",
        "100",
    );
    check(
        "(define (f) (define a 1) (define (g) (+ a b)) (define b 2) (g)) (f)",
        "3",
    );
    check(
        "(letrec ((even (lambda (n) (if (= n 0) #t (odd (- n 1))))) \
         (odd (lambda (n) (if (= n 0) #f (even (- n 1)))))) (cons (even 100) (odd 100)))",
        "(#t . #f)",
    );
    check("(define (f . x) x) (f 1 2)", "(1 2)");
    check(
        "(define f (case-lambda ((a) (cons 1 a)) ((a b) (cons 2 b)) ((a . r) (cons 3 r)))) \
         (cons (f 9) (cons (f 9 8) (f 9 8 7)))",
        "((1 . 9) (2 . 8) 3 8 7)",
    );
    check("(apply + 1 2 '(3 4))", "10");
    check(
        "(call-with-values (lambda () (values 1 2 3)) (lambda (a b c) (cons a (cons b c))))",
        "(1 2 . 3)",
    );
    check(
        "(let ((x 5)) (let loop ((i 0) (fs '())) (if (= i 3) ((car fs)) \
         (loop (+ i 1) (cons (lambda () (set! x (+ x i)) x) fs)))))",
        "7",
    );
    check("(or #f (and 1 2))", "2");
    check("(not (or (eq? 1 2) (< 3 2)))", "#t");
    check("(* 1.5 2)", "3.0");
    check("(quotient 17 -5)", "-3");
    check("(* 99999999999 99999999999)", "9999999999800000000001");
    check(
        "(- (* 99999999999 99999999999) (* 99999999999 99999999998))",
        "99999999999",
    );
}

#[test]
fn deep_recursion_lives_in_the_heap() {
    check(
        "(define (count n) (if (= n 0) 0 (+ 1 (count (- n 1))))) (count 200000)",
        "200000",
    );
}

#[test]
fn many_values_survive_collections() {
    check(
        "(define (build n) (let loop ((i 0) (l '())) (if (= i n) l (loop (+ i 1) (cons (cons i i) l)))))
         (define (sum l) (let loop ((l l) (s 0)) (if (null? l) s (loop (cdr l) (+ s (car (car l)))))))
         (define keep (build 1000))
         (let loop ((i 0)) (if (< i 200) (begin (build 1000) (loop (+ i 1)))))
         (sum keep)",
        "499500",
    );
}

#[test]
fn continuations_escape_and_reenter() {
    check("(+ 1 (%call/cc (lambda (k) (+ 10 (k 5)))))", "6");
    check(
        "(define k #f) (define n 0)
         (define r (+ 100 (%call/cc (lambda (c) (set! k c) 0))))
         (set! n (+ n 1))
         (if (< n 4) (k n) (cons n r))",
        "(4 . 103)",
    );
    check(
        "(define (tak x y z) (%call/cc (lambda (k) (tak-aux k x y z))))
         (define (tak-aux k x y z)
           (if (not (< y x)) (k z)
             (tak-aux k
               (%call/cc (lambda (k) (tak-aux k (- x 1) y z)))
               (%call/cc (lambda (k) (tak-aux k (- y 1) z x)))
               (%call/cc (lambda (k) (tak-aux k (- z 1) x y))))))
         (tak 8 4 2)",
        "3",
    );
    check(
        "(define (deep n k) (if (= n 0) (k 7) (+ 1 (deep (- n 1) k))))
         (+ 1 (%call/cc (lambda (k) (deep 1000 k))))",
        "8",
    );
}

#[test]
fn prompts_delimit() {
    check(
        "(+ 1 (%call-with-prompt 'p (lambda () (* 10 (%abort-to-prompt 'p '(4)))) (lambda (n) n)))",
        "5",
    );
    check(
        "(+ 1 (%call-with-prompt 'p
                (lambda () (* 10 (%call-with-composable 'p (lambda (k) (%abort-to-prompt 'p (cons k '()))))))
                (lambda (k) (+ (k 1) (k 2)))))",
        "31",
    );
    check(
        "(%call-with-prompt 'p (lambda () (%call-with-prompt 'q (lambda () (+ 1 (%abort-to-prompt 'p '(1)))) \
         (lambda (x) 'inner))) (lambda (x) 'outer))",
        "outer",
    );
}

/// Shows the value of a form as text; a condition by its kind, message and irritants.
fn outcome(session: &mut Session, program: &str) -> String {
    let (heap, value) = match session.evaluate(program) {
        Ok(value) => (&session.instance.heap, value),
        Err(object) => {
            let heap = &session.instance.heap;
            let [kind, message, irritants] = [condition::KIND, condition::MESSAGE, condition::IRRITANTS]
                .map(|field| write_limited(heap, &Anonymous, heap.field(object, field), 1000));
            return format!("{kind} {message} {irritants}");
        }
    };
    write_limited(heap, &Anonymous, value, 1000)
}

const OPERANDS: [&str; 13] = [
    "0",
    "7",
    "-7",
    "-1",
    "1152921504606846975",
    "-1152921504606846976",
    "1/3",
    "-0.0",
    "2.5",
    "1e300",
    "+nan.0",
    "100000000000000000000",
    "'a",
];

#[test]
fn instructions_do_what_the_primitives_do() {
    let mut session = Session::new(i64::MAX, NativeMode::Never);
    let names = "+ - * / quotient remainder truncate-quotient truncate-remainder < > <= >= =";
    for name in names.split(' ') {
        for (left, right) in OPERANDS.iter().flat_map(|left| OPERANDS.map(|right| (left, right))) {
            let applied = outcome(
                &mut session,
                &format!("(apply {name} (cons {left} (cons {right} '())))"),
            );
            let spellings = [
                format!("({name} {left} {right})"),
                format!("((lambda (x) ({name} x {right})) {left})"),
                format!("((lambda (x) ({name} {left} x)) {right})"),
                format!("((lambda (x y) ({name} x y)) {left} {right})"),
            ];
            for spelling in spellings {
                assert_eq!(outcome(&mut session, &spelling), applied, "{spelling}");
            }
        }
    }
    for operand in OPERANDS {
        let applied = outcome(&mut session, &format!("(apply zero? (cons {operand} '()))"));
        assert_eq!(
            outcome(&mut session, &format!("(zero? {operand})")),
            applied,
            "{operand}"
        );
    }
}

#[test]
fn chains_of_instructions_do_what_the_primitives_do() {
    let mut session = Session::new(i64::MAX, NativeMode::Never);
    for operands in [
        "1 2 3",
        "1 2 'a",
        "1 'b 3",
        "'c 2 3",
        "8 4 0 2",
        "1 2 3 'd",
        "1.5 2 1/3",
    ] {
        for name in ["+", "-", "*", "/"] {
            let applied = outcome(&mut session, &format!("(apply {name} {operands} '())"));
            let chained = outcome(&mut session, &format!("({name} {operands})"));
            assert_eq!(chained, applied, "({name} {operands})");
        }
    }
}

#[test]
fn errors_name_what_failed() {
    check_raises("(car 5)", "wrong-type", "argument 1 of car must be a pair");
    check_raises("(+ 1 'a)", "wrong-type", "argument 2 of + must be a number");
    check_raises("(< 'a 1)", "wrong-type", "argument 1 of < must be a number");
    check_raises(
        "((lambda (x) x))",
        "wrong-arity",
        "an unnamed procedure takes 1 argument, not 0",
    );
    check_raises("(define (f x) x) (f 1 2)", "wrong-arity", "f takes 1 argument, not 2");
    check_raises(
        "(5 5)",
        "not-a-procedure",
        "the object that is called is not a procedure",
    );
    check_raises(
        "(define (f) (g)) (f) (define (g) 1)",
        "undefined-variable",
        "g is used before it is defined",
    );
    check_raises(
        "(letrec ((a b) (b 1)) a)",
        "undefined-variable",
        "b is used before it is defined",
    );
    check_raises("(quotient 1 0)", "divide-by-zero", "quotient: division by zero");
    check_raises(
        "(%abort-to-prompt 'nowhere '())",
        "no-prompt",
        "there is no prompt with this tag",
    );
    check_raises(
        "(define (f x) (+ 1 (f (cons x x)))) (f 1)",
        "out-of-memory",
        "the memory limit is reached",
    );
    check_raises(
        "(let loop ((l '())) (loop (cons 1 l)))",
        "out-of-memory",
        "the memory limit is reached",
    );
}

/// A damaged image may hold any value in place of the procedure that raises conditions.
#[test]
fn an_error_ends_the_computation_whatever_should_raise_it() {
    for signal in [
        "(define (%signal a b) a)",
        "(define (%signal . all) (car all))",
        "(define %signal 7)",
        "(define %signal car)",
    ] {
        let mut session = Session::new(i64::MAX, NativeMode::Never);
        let library = format!(
            "(define-library (duet internal control) (export %signal) (import (duet kernel)) (begin {signal}))"
        );
        session
            .evaluate(&format!(
                "{library} (import (duet kernel) (duet internal control)) %signal"
            ))
            .unwrap();
        let raised = session.evaluate("(import (duet kernel)) (+ 1 (car 5))").unwrap_err();
        assert!(session.instance.heap.is_kind(raised, Kind::Condition), "{signal}");
    }
}

/// Frames of one instance must not contain words of another, because a collection would follow
/// them.
#[test]
fn instances_take_turns_on_one_machine() {
    let mut first = Session::new(i64::MAX, NativeMode::Never);
    first
        .evaluate("(define (build n) (if (= n 0) '() (cons (cons n n) (build (- n 1))))) (build 500)")
        .unwrap();
    let mut second = Session::new(i64::MAX, NativeMode::Never);
    std::mem::swap(&mut first.machine, &mut second.machine);
    let churn = "(define (count l) (if (null? l) 0 (+ 1 (count (cdr l)))))
                 (define (build n) (if (= n 0) '() (cons n (build (- n 1)))))
                 (let loop ((i 0) (sum 0)) (if (= i 300) sum (loop (+ i 1) (+ sum (count (build 400))))))";
    let value = second.evaluate(churn).unwrap();
    assert_eq!(value.as_fixnum(), Some(120_000));
}

/// Returns a program's value as `write` writes it, or the message of the condition that it raises.
fn written_outcome(program: &str) -> String {
    let mut session = Session::new(i64::MAX, NativeMode::Never);
    let value = session.evaluate(program);
    let heap = &session.instance.heap;
    match value {
        Ok(value) => write_limited(heap, &Anonymous, value, 200),
        Err(object) => heap.string_text(heap.field(object, condition::MESSAGE)),
    }
}

/// Checks that a call, which is an instruction, gives the same result as the primitive as a value.
fn check_same(name: &str, arguments: &str) {
    let direct = written_outcome(&format!("({name} {arguments})"));
    let called = written_outcome(&format!(
        "(define (call procedure . rest) (apply procedure rest)) (call {name} {arguments})"
    ));
    assert_eq!(direct, called, "({name} {arguments})");
    let tested = written_outcome(&format!("(if ({name} {arguments}) 'yes 'no)"));
    let called = written_outcome(&format!(
        "(define (call procedure . rest) (apply procedure rest)) (if (call {name} {arguments}) 'yes 'no)"
    ));
    assert_eq!(tested, called, "(if ({name} {arguments}) …)");
}

const NUMBERS: &[&str] = &[
    "7",
    "-7",
    "2",
    "-2",
    "0",
    "2.5",
    "-2.0",
    "99999999999999999999",
    "1/3",
    "'a",
];
const OBJECTS: &[&str] = &[
    "'a",
    "'b",
    "\"a\"",
    "\"λx\"",
    "#\\a",
    "#\\b",
    "'()",
    "'(1 2)",
    "'#(1 2)",
    "(bytevector 1 2)",
    "'#u8(1 2)",
    "0",
    "1",
    "2",
    "-1",
    "1.0",
    "99999999999999999999",
    "99999999999999999999",
    "1/2",
    "#t",
    "#f",
    "car",
    "(lambda (x) x)",
];

#[test]
fn calls_that_are_instructions_give_what_their_primitives_give() {
    for a in NUMBERS {
        for b in NUMBERS {
            check_same("modulo", &format!("{a} {b}"));
        }
    }
    for a in OBJECTS {
        for name in [
            "symbol?",
            "string?",
            "vector?",
            "bytevector?",
            "char?",
            "not",
            "string-length",
            "vector-length",
            "list",
        ] {
            check_same(name, a);
        }
        for b in OBJECTS {
            for name in [
                "eqv?",
                "equal?",
                "string-ref",
                "bytevector-u8-ref",
                "char=?",
                "char<?",
                "char>?",
                "char<=?",
                "char>=?",
            ] {
                check_same(name, &format!("{a} {b}"));
            }
            check_same("bytevector-u8-set!", &format!("(bytevector 1 2) {a} {b}"));
            check_same("bytevector-u8-set!", &format!("{a} 0 {b}"));
        }
    }
    check_same("list", "1 'b \"c\" 4.5");
}

#[test]
fn parts_of_pairs_are_those_of_their_names() {
    let tree = "'(((1 . 2) . (3 . 4)) . ((5 . 6) . ((7 . 8) . (9 . 10))))";
    for letters in 2..=4u32 {
        for path in 0..1u32 << letters {
            let name: String = (0..letters)
                .map(|bit| if path >> bit & 1 == 0 { 'a' } else { 'd' })
                .collect();
            for argument in [tree, "'(1 2)", "'()"] {
                check_same(&format!("c{name}r"), argument);
            }
        }
    }
}

#[test]
fn record_instructions_check_type_and_place() {
    let types = "(define point (%make-record-type 'point '(x y))) (define other (%make-record-type 'other '(x y)))
                 (define p (%make-record point 1 2)) (define (call procedure . rest) (apply procedure rest))";
    for operands in [
        "p point 0",
        "p point 1",
        "p point 2",
        "p other 0",
        "1 point 0",
        "p 1 0",
        "(record 'a 1 2) 'a 0",
    ] {
        for (name, more) in [("%record-ref", ""), ("%record-set!", " 9")] {
            // An error names the procedure in whose code the access is.
            let direct = written_outcome(&format!("{types} ({name} {operands}{more})"));
            let called = written_outcome(&format!("{types} (call {name} {operands}{more})"));
            let called = called.replace("argument 1 of apply ", "argument 1 of (program) ");
            let called = called.replace("argument 2 of apply ", "argument 2 of (program) ");
            assert_eq!(direct, called, "({name} {operands}{more})");
        }
    }
    for operands in ["p point", "p other", "1 point", "p 1"] {
        let direct = written_outcome(&format!("{types} (if (%record? {operands}) 'yes 'no)"));
        let called = written_outcome(&format!("{types} (if (call %record? {operands}) 'yes 'no)"));
        assert_eq!(direct, called, "(%record? {operands})");
    }
    check(
        &format!("{types} (%record-set! p point 1 'new) (cons (%record-ref p point 0) (%record-ref p point 1))"),
        "(1 . new)",
    );
}

#[test]
fn integrated_procedures_keep_their_meaning() {
    let counter = "(define n 0) (define (next!) (set! n (+ n 1)) n)";
    check(
        &format!("{counter} (define (twice x) (list x x)) (twice (next!))"),
        "(1 1)",
    );
    check(
        &format!("{counter} (define (swap a b) (cons b a)) (swap (next!) (next!))"),
        "(2 . 1)",
    );
    check(&format!("{counter} (define (first a b) a) (first 'a (next!)) n"), "1");
    check(
        "(define (swap a b) (cons b a)) (define (f x) (swap x (begin (set! x 2) x))) (f 1)",
        "(2 . 1)",
    );
    check("(define (f x) 1) (define (g) (f 2)) (set! f (lambda (x) 3)) (g)", "3");
    check("(define (f x) 1) (define (g) (f 2)) (define (f x) 3) (g)", "3");
    check(
        "(define (even n) (if (= n 0) #t (odd (- n 1)))) (define (odd n) (if (= n 0) #f (even (- n 1)))) (odd 101)",
        "#t",
    );
    check(
        "(define (add a b) (+ a b)) (define (add3 a b c) (add a (add b c))) (define (g k) (k (add3 1 2 3))) \
         (g (lambda (x) (add x x)))",
        "12",
    );
    check_raises(
        "(define (f x) (g x)) (f 1) (define (g x) (+ x 1))",
        "undefined-variable",
        "g is used before it is defined",
    );
}
