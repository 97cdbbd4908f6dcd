//! Machine code against the interpreter: drawn code on drawn frames, in slices of drawn length.
//!
//! INVARIANT: both ways of running give the same outcomes at the same fuel and the same heap, word
//! for word. No test names an instruction: the table says which there are.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

pub(crate) mod drawn;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::process::{code_of, compiled, compiled_for};
use drawn::{Draw, FRAME_REGISTERS};
use duet_kernel::code::CodeSpace;
use duet_kernel::heap::Limits;
use duet_kernel::instruction::Opcode;
use duet_kernel::machine::{Architecture, Instance, Machine, MachineCode, NativeMode, Outcome};
use duet_kernel::primitive::{Context, Cost, Primitive, PrimitiveBody, PrimitiveError};
use duet_kernel::unit::CompiledUnit;
use duet_kernel::value::Value;
use proptest::prelude::*;

/// Fuel after which a drawn program that has not ended is left.
const FUEL: i64 = 200;

/// The observable parts of a run: the outcome and the rest of the fuel of each slice, the place
/// where it was interrupted, and the heap at the end.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    slices: Vec<(Outcome, i64, Option<u32>)>,
    heap: String,
}

/// A drawn unit, and a machine for each way of running it.
struct Comparison {
    unit: CompiledUnit,
    code: CodeSpace,
    instance: Instance,
    procedure: Value,
    palette: Vec<Value>,
    machines: [(NativeMode, Machine); 3],
    /// The fuel of a slice.
    slice: i64,
}

impl Comparison {
    fn new(draws: &[Draw], slice: i64) -> Self {
        let unit = drawn::unit(draws);
        let mut code = CodeSpace::new(&[]);
        let number = code.load(&unit).unwrap();
        let (instance, procedure, palette) = drawn::instance(&code, number);
        let modes = [
            NativeMode::Never,
            NativeMode::Always,
            NativeMode::Drawn(slice.unsigned_abs()),
        ];
        let machines = modes.map(|mode| {
            let mut machine = Machine::new();
            machine.set_native(mode);
            (mode, machine)
        });
        Self {
            unit,
            code,
            instance,
            procedure,
            palette,
            machines,
            slice,
        }
    }

    /// Applies the unit to values of the palette in all ways and compares what can be seen.
    fn check(&mut self, arguments: &[usize]) -> Result<(), TestCaseError> {
        let arguments: Vec<Value> = (0..drawn::PARAMETERS)
            .map(|place| self.palette[arguments[place] % self.palette.len()])
            .collect();
        let mut interpreted = None;
        for number in 0..self.machines.len() {
            let seen = self.run(number, &arguments);
            let expected = interpreted.get_or_insert_with(|| seen.clone());
            prop_assert_eq!(
                &*expected,
                &seen,
                "{:?}\n{:?}\n{:?}",
                self.machines[number].0,
                arguments,
                self.unit.instructions
            );
        }
        Ok(())
    }

    fn run(&mut self, number: usize, arguments: &[Value]) -> Seen {
        let (_, machine) = &mut self.machines[number];
        let mut instance = self.instance.clone();
        machine.start(&mut instance, self.procedure, arguments);
        let mut slices = Vec::new();
        let mut left = FUEL;
        while left > 0 {
            let mut fuel = self.slice.min(left);
            left -= fuel;
            let outcome = machine.run(&mut instance, &self.code, &mut fuel).unwrap();
            let is_over = outcome != Outcome::OutOfFuel;
            slices.push((outcome, fuel, machine.interrupted_at()));
            if is_over {
                break;
            }
            machine.resume(Value::UNSPECIFIED);
        }
        let heap = format!("{:?}", instance.heap);
        Seen { slices, heap }
    }
}

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let draw = (
        any::<prop::sample::Index>(),
        any::<u64>(),
        prop::array::uniform5(1..FRAME_REGISTERS),
    );
    let draw = draw.prop_map(|(row, bits, registers)| Draw {
        row: row.index(drawn::ROWS.len()),
        bits,
        registers,
    });
    prop::collection::vec(draw, 1..12)
}

/// The variable `PROPTEST_CASES` may ask for another number of cases.
#[expect(clippy::disallowed_methods, reason = "proptest itself reads this variable")]
fn configuration() -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(3000),
    }
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn drawn_code_does_the_same_as_machine_code(
        draws in draws(),
        arguments in prop::collection::vec(any::<usize>(), drawn::PARAMETERS),
        slice in prop_oneof![1i64..8, Just(FUEL)],
    ) {
        Comparison::new(&draws, slice).check(&arguments)?;
    }
}

/// The machine code of the drawn block of a unit.
fn assembled(unit: &CompiledUnit, architecture: Architecture) -> Option<MachineCode> {
    let mut code = CodeSpace::new(&[]);
    let number = code.load(unit).unwrap();
    let position = code.units()[number].start + unit.blocks[1].start;
    MachineCode::of_block(&code, position, architecture)
}

proptest! {
    #![proptest_config(configuration())]

    /// Whatever processor the tests run on: all branches reach, and all operands are in range, in
    /// frames of any size.
    #[test]
    fn drawn_code_becomes_machine_code_of_every_processor(
        draws in draws(),
        distance in prop_oneof![Just(0), 0..0x100u16, 0..0xff00u16],
    ) {
        let unit = drawn::far_unit(&draws, distance);
        for architecture in Architecture::ALL {
            let machine_code = assembled(&unit, architecture);
            let machine_code = machine_code.ok_or_else(|| TestCaseError::fail(format!("{architecture:?}")))?;
            let block = &unit.blocks[1];
            prop_assert_eq!(machine_code.instructions.len() as u32, block.end - block.start);
            prop_assert!(architecture != Architecture::Aarch64 || machine_code.behind.len() % 4 == 0);
        }
    }
}

/// A conditional branch of aarch64 reaches a megabyte.
#[test]
fn a_block_whose_branches_do_not_reach_has_no_machine_code() {
    let row = drawn::ROWS.iter().position(|row| *row == Opcode::VectorSet).unwrap();
    let draw = Draw {
        row,
        bits: 0,
        registers: [1, 2, 3, 4, 5],
    };
    let unit = drawn::long_unit(&draw, 12_000);
    let is_some = Architecture::ALL.map(|architecture| assembled(&unit, architecture).is_some());
    assert_eq!(is_some, [true, false]);
    let unit = drawn::long_unit(&draw, 4_000);
    let is_some = Architecture::ALL.map(|architecture| assembled(&unit, architecture).is_some());
    assert_eq!(is_some, [true, true]);
}

/// Each instruction alone, with every value as each of its operands in turn.
#[test]
fn each_instruction_does_the_same_as_machine_code() {
    let count = drawn::palette_length();
    for row in 0..drawn::ROWS.len() {
        let draw = Draw {
            row,
            bits: 0x0001_0001_0002_0001,
            registers: [9, 1, 2, 3, 4],
        };
        let mut comparison = Comparison::new(&[draw], FUEL);
        for first in 0..count {
            // A third of the pairs; the rows after it have the others.
            for second in (0..count).filter(|second| (first + second + row) % 3 == 0) {
                let mut arguments = vec![first, second, (first + second) % count];
                arguments.resize(drawn::PARAMETERS, 0);
                comparison.check(&arguments).unwrap();
            }
        }
    }
}

/// Each primitive alone, with every value as its first and second argument.
#[test]
fn each_primitive_does_the_same_as_machine_code() {
    let count = drawn::palette_length();
    let row = drawn::ROWS
        .iter()
        .position(|row| *row == Opcode::CallPrimitive)
        .unwrap();
    for primitive in 0..drawn::PRIMITIVES.len() {
        let draw = Draw {
            row,
            bits: (primitive as u64) << 32,
            registers: [1, 2, 3, 4, 5],
        };
        let mut comparison = Comparison::new(&[draw], FUEL);
        for (first, second) in (0..count).flat_map(|first| (0..count).map(move |second| (first, second))) {
            let mut arguments = vec![first, second, (first + 3 * second) % count];
            arguments.resize(drawn::PARAMETERS, 0);
            comparison.check(&arguments).unwrap();
        }
    }
}

/// Programs long enough to be compiled while they run; in the last two most runs of machine code
/// are short.
const LONG_PROGRAMS: [&str; 5] = [
    "(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 20)",
    "(define (fill v i) (if (< i 1000) (begin (vector-set! v i (cons i v)) (fill v (+ i 1))) (vector-length v)))
     (define (times n) (if (= n 0) (fill (make-vector 1000 0) 0) (begin (fill (make-vector 1000 0) 0) (times (- n 1)))))
     (times 50)",
    // Captures above one frame and above many, also where a part of a segment is left, and throws
    // over some of them.
    "(define (tall n)
       (if (= n 0)
           (%call/cc (lambda (k) (k 1)))
           ((lambda (rest) (+ rest (%call/cc (lambda (k) (if (< n 3) (k n) n))))) (tall (- n 1)))))
     (define (deep n k)
       (if (= n 0) (k (tall 6)) (+ 1 (%call/cc (lambda (j) (deep (- n 1) (if (< n 4) k j)))))))
     (define (times n sum) (if (= n 0) sum (times (- n 1) (+ sum (%call/cc (lambda (k) (deep 8 k)))))))
     (times 2000 0)",
    "(define (count n sum)
       (if (= n 0) sum (count (- n 1) (+ (%call/cc (lambda (k) (k n))) (%call/cc (lambda (k) n)) sum))))
     (count 20000 0)",
    "(define (factorial n) (if (= n 0) 1 (* n (factorial (- n 1)))))
     (define (times n) (if (= n 0) (factorial 60) (begin (factorial 60) (times (- n 1)))))
     (times 500)",
];

#[test]
fn programs_that_become_machine_code_while_they_run_do_the_same() {
    for text in LONG_PROGRAMS {
        let program = compiled("long", text);
        let seen = [NativeMode::Never, NativeMode::Auto].map(|native| {
            let code = code_of(&[&program]);
            let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 64 << 20 }));
            machine.set_native(native);
            let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
            machine.start(&mut instance, procedure, &[]);
            let mut fuel = i64::MAX;
            let outcome = machine.run(&mut instance, &code, &mut fuel).unwrap();
            (outcome, fuel, format!("{:?}", instance.heap))
        });
        assert!(matches!(seen[0].0, Outcome::Finished(_)), "{text}");
        assert!(seen[0] == seen[1], "{text}: {:?} and {:?}", seen[0].0, seen[1].0);
    }
}

/// Programs whose body returns a procedure of no arguments, which works on characters.
const CHARACTER_PROGRAMS: [&str; 8] = [
    // All of ASCII and its neighbours, through everything that has a short way for ASCII.
    "(define (all n results)
       (if (= n 400)
           results
           (all (+ n 1)
                ((lambda (c)
                   (list (char-alphabetic? c) (char-numeric? c) (char-whitespace? c) (char-upper-case? c)
                         (char-lower-case? c) (char-upcase c) (char-downcase c) (char-foldcase c) (digit-value c)
                         (memv c '(#\\a #\\( #\\5)) (memq c '(#\\z #\\newline)) (assv c '((#\\a . 1) (#\\b . 2)))
                         results))
                 (integer->char n)))))
     (lambda () (all 0 '()))",
    // Keys that are the same by eqv? only, and lists that end elsewhere.
    "(lambda ()
       (list (memv 123456789012345678901234567890 '(1 123456789012345678901234567890 2))
             (memq 1 '(3 2 1 0)) (memv 1.5 '(1 1.5)) (assv 1e300 '((1e299 . a) (1e300 . b))) (memq 'x '())))",
    "(lambda () (memq 1 '(3 2 . 1)))",
    "(lambda () (assv 1 '((3 . 3) 2)))",
    // The buffer grows, and text is read that is not ASCII.
    "(define (copy in out n)
       ((lambda (peeked)
          ((lambda (c)
             (if (eof-object? c)
                 (list n peeked (get-output-string out))
                 (begin (if (eq? c peeked) (%write-char c out) (%write-char #\\! out)) (copy in out (+ n 1)))))
           (%read-char in)))
        (%peek-char in)))
     (define (times n text) (if (= n 0) text (times (- n 1) (string-append text text))))
     (lambda () (copy (open-input-string (times 7 \"a\\nbc \\x3bb;d\\x1f600;\")) (open-output-string) 0))",
    // A port that is older than the turn is as it was when the turn is undone.
    "(define in (open-input-string \"abc\"))
     (define out (open-output-string))
     (%read-char in)
     (%write-char #\\x out)
     (define (some n) (if (= n 0) 0 (begin (%write-char (%peek-char in) out) (some (- n 1)))))
     (lambda () (some 100) (%read-char in) (list (%read-char in) (get-output-string out)))",
    "(lambda () ((lambda (port) (close-port port) (%read-char port)) (open-input-string \"a\")))",
    "(lambda () (%write-char #\\a (open-input-string \"a\")))",
];

#[test]
fn characters_are_the_same_in_machine_code() {
    CHARACTER_PROGRAMS.into_iter().for_each(check_in_machine_code);
}

/// Pairs of numbers of every kind: arithmetic, comparisons, and a constant as an operand.
const RARE_NUMBERS: &str = "
    (define (divided a b) (if (eq? b 0) 'none (/ a b)))
    (define (compared a b rest)
      (cons (if (< a b) 1 2) (cons (if (<= a b) 1 2) (cons (if (= a b) 1 2) (cons (if (> a b) 1 2)
        (cons (if (>= a 5) 1 2) (cons (if (< a -1) 1 2) (cons (if (= a 0) 1 2) rest))))))))
    (define (computed a b rest)
      (cons (+ a b) (cons (- a b) (cons (* a b) (cons (divided a b) (cons (+ a 1) (cons (- a 3) rest)))))))
    (define (inner numbers i j rest)
      (if (= j (vector-length numbers))
          rest
          (inner numbers i (+ j 1)
            (computed (vector-ref numbers i) (vector-ref numbers j)
              (compared (vector-ref numbers i) (vector-ref numbers j) rest)))))
    (define (outer numbers i rest)
      (if (= i (vector-length numbers)) rest (outer numbers (+ i 1) (inner numbers i 0 rest))))
    (lambda ()
      (outer '#(0 1 -3 9007199254740992 9007199254740993 -9007199254740993 1152921504606846975
                -1152921504606846976 1152921504606846976 100000000000000000000000000000 1/3 -7/2
                123456789012345678901234567890/7 1000000007/1000000009 0.0 -0.0 0.5 9007199254740992.0 1e100
                -1e100 1e-300 1.7976931348623157e308 5e-324 +inf.0 -inf.0 +nan.0)
             0 '()))";

/// Quotients and the bits of integers.
const RARE_INTEGERS: &str = "
    (define (divided a b rest)
      (if (= b 0) rest (cons (quotient a b) (cons (remainder a b) (cons (modulo a b) rest)))))
    (define (combined a b rest)
      (cons (bitwise-and a b) (cons (bitwise-ior a b) (cons (bitwise-xor a b) (cons (bitwise-not a) rest)))))
    (define (shifted a b rest)
      (if (< -200 b 200) (cons (arithmetic-shift a b) rest) rest))
    (define (inner numbers i j rest)
      (if (= j (vector-length numbers))
          rest
          (inner numbers i (+ j 1)
            (divided (vector-ref numbers i) (vector-ref numbers j)
              (combined (vector-ref numbers i) (vector-ref numbers j)
                (shifted (vector-ref numbers i) (vector-ref numbers j) rest))))))
    (define (outer numbers i rest)
      (if (= i (vector-length numbers)) rest (outer numbers (+ i 1) (inner numbers i 0 rest))))
    (lambda ()
      (outer '#(0 1 -1 2 -2 5 -7 32 59 60 61 62 63 64 -59 -60 -61 -62 -63 -64 -65 100 -100
                1152921504606846975 -1152921504606846976 1152921504606846976 -1152921504606846977
                123456789012345678901234567890)
             0 '()))";

/// Strings with characters beyond ASCII, and indices beyond their ends.
const WIDE_STRINGS: [&str; 4] = [
    "(define (all s i rest) (if (= i (string-length s)) rest (all s (+ i 1) (cons (string-ref s i) rest))))
     (lambda () (all \"\u{e9}a\u{1f600}b\u{7ff}\" 0 '()))",
    "(lambda () ((lambda (s i) (string-ref s i)) \"\u{e9}a\" 2))",
    "(lambda () ((lambda (s i) (string-ref s i)) \"\u{e9}a\" -1))",
    "(lambda () ((lambda (s) (string-length s)) '\u{e9}))",
];

#[test]
fn rare_numbers_are_the_same_in_machine_code() {
    [RARE_NUMBERS, RARE_INTEGERS]
        .into_iter()
        .for_each(check_in_machine_code);
}

#[test]
fn wide_strings_are_the_same_in_machine_code() {
    WIDE_STRINGS.into_iter().for_each(check_in_machine_code);
}

/// The procedure that a program evaluates to does the same in machine code as interpreted: its
/// outcome, fuel, and the heap before and after its turn is aborted.
fn check_in_machine_code(text: &str) {
    let program = compiled("program", text);
    let seen = [NativeMode::Never, NativeMode::Always, NativeMode::Drawn(7)].map(|native| {
        let code = code_of(&[&program]);
        let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 64 << 20 }));
        machine.set_native(native);
        let body = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
        machine.start(&mut instance, body, &[]);
        let mut fuel = 1_000_000;
        let Ok(Outcome::Finished(procedure)) = machine.run(&mut instance, &code, &mut fuel) else {
            panic!("the body returns: {text}")
        };
        instance.heap.begin_turn();
        machine.start(&mut instance, procedure, &[]);
        let outcome = machine.run(&mut instance, &code, &mut fuel).unwrap();
        let after = format!("{:?}", instance.heap);
        machine.clear(&mut instance);
        instance.heap.abort_turn();
        (outcome, fuel, after, format!("{:?}", instance.heap))
    });
    let (interpreted, others) = seen.split_first().expect("there are three");
    for compiled in others {
        let outcomes = [(&interpreted.0, interpreted.1), (&compiled.0, compiled.1)];
        assert!(interpreted == compiled, "{text}: {outcomes:?}");
    }
}

fn fail(_: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    assert!(arguments != [Value::small(100)], "a bug");
    Ok(Value::small(1))
}

/// A primitive that panics when it is applied to 100.
const FAULTY: Primitive = Primitive {
    name: "faulty",
    parameters: "number",
    least: 1,
    most: Some(1),
    documentation: "",
    cost: Cost::Free,
    body: PrimitiveBody::Function(fail),
};

/// Programs that call it as an instruction, as a value, and by `apply`, deep in other calls.
const FAULTY_CALLS: [&str; 3] = ["(faulty n)", "(call faulty n)", "(apply faulty (list n))"];

/// A panic of a primitive passes through the machine as it does where all is interpreted, and the
/// heap is the same after the turn has been aborted.
#[test]
fn a_panic_of_a_primitive_reaches_the_caller_of_the_machine() {
    for call in FAULTY_CALLS {
        let text = format!(
            "(define (call procedure x) (+ 0 (procedure x)))
             (define (sum n) (if (= n 0) 0 (+ {call} (vector-length (vector n n)) (sum (- n 1)))))
             (lambda (n) (sum n))"
        );
        let heaps = [NativeMode::Never, NativeMode::Always].map(|native| {
            let mut code = CodeSpace::new(&[FAULTY]);
            code.load(&compiled_for(&code, "faulty", &text)).unwrap();
            let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 16 << 20 }));
            machine.set_native(native);
            let body = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
            let mut run = |instance: &mut Instance, procedure: Value, arguments: &[Value]| {
                machine.clear(instance);
                machine.start(instance, procedure, arguments);
                let result = catch_unwind(AssertUnwindSafe(|| machine.run(instance, &code, &mut 100_000).unwrap()));
                result.map_err(|payload| payload.downcast_ref::<&str>().map(ToString::to_string))
            };
            let Ok(Outcome::Finished(sum)) = run(&mut instance, body, &[]) else {
                panic!("the body returns")
            };
            instance.heap.begin_turn();
            let failed = run(&mut instance, sum, &[Value::small(150)]);
            assert_eq!(failed, Err(Some("a bug".to_string())), "{native:?} {call}");
            instance.heap.abort_turn();
            let heap = format!("{:?}", instance.heap);
            instance.heap.begin_turn();
            let finished = run(&mut instance, sum, &[Value::small(99)]);
            assert_eq!(
                finished,
                Ok(Outcome::Finished(Value::small(3 * 99))),
                "{native:?} {call}"
            );
            heap
        });
        assert!(heaps[0] == heaps[1], "{call}");
    }
}

/// No mapping of this process may be written and executed.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_never_writable_and_executable() {
    let code = {
        let mut code = CodeSpace::new(&[]);
        code.load(&drawn::unit(&[])).unwrap();
        code
    };
    let (mut instance, procedure, palette) = drawn::instance(&code, code.units().len() - 1);
    let mut machine = Machine::new();
    machine.set_native(NativeMode::Always);
    let mut fuel = FUEL;
    machine.start(&mut instance, procedure, &palette[..drawn::PARAMETERS]);
    machine.run(&mut instance, &code, &mut fuel).unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let has = |line: &str, right| line.split(' ').nth(1).is_some_and(|rights| rights.contains(right));
    assert!(maps.lines().all(|line| !(has(line, 'w') && has(line, 'x'))), "{maps}");
    // A mapping of a file has the file's name at its end.
    let is_own = |line: &str| has(line, 'x') && line.split_whitespace().count() == 5;
    let is_compiled = maps.lines().any(is_own);
    assert_eq!(
        is_compiled,
        cfg!(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))),
        "{maps}"
    );
}

/// The machine code of these procedures takes more memory than there is for it.
#[test]
fn machine_code_is_dropped_when_its_memory_is_full_and_made_again() {
    const PROCEDURES: usize = 1000;
    let numbers: String = (0..40).map(|number| format!(" {number}")).collect();
    let definitions: String = (0..PROCEDURES)
        .map(|number| format!("(define (f{number} x) (set! f{number} f{number}) (+ x x{numbers}))\n"))
        .collect();
    let calls: String = (0..PROCEDURES).map(|number| format!("(f{number} {number})")).collect();
    let program = compiled(
        "full",
        &format!("{definitions}(define (all) (+ {calls})) (+ (all) (all))"),
    );
    let code = code_of(&[&program]);
    let expected = Value::small((2 * (0..PROCEDURES).map(|number| 2 * number + 780).sum::<usize>()) as i32);
    for native in [NativeMode::Never, NativeMode::Always] {
        let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 64 << 20 }));
        machine.set_native(native);
        let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
        machine.start(&mut instance, procedure, &[]);
        let mut fuel = i64::MAX;
        let outcome = machine.run(&mut instance, &code, &mut fuel).unwrap();
        assert_eq!(outcome, Outcome::Finished(expected), "{native:?}");
    }
}
