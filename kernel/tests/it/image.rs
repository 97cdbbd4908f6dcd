//! Frozen computations, and snapshots of whole heaps, that continue elsewhere.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::datum::reader::read_one;
use duet_kernel::heap::{Limits, Register};
use duet_kernel::image::{ChunkName, restore, snapshot};
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::value::Value;

use crate::common::bare::{NoLibraries, expander};

const LIMITS: Limits = Limits { bytes_max: 64 << 20 };

/// One process: its code, and one instance.
struct Process {
    machine: Machine,
    instance: Instance,
    code: CodeSpace,
}

impl Process {
    fn new() -> Process {
        Process {
            machine: Machine::new(),
            instance: Instance::new(LIMITS),
            code: CodeSpace::new(&[]),
        }
    }

    /// Loads a program and returns the number of its last unit.
    fn load(&mut self, text: &str) -> usize {
        let mut expander = expander(&self.code);
        let expansion = expander.expand_program("test", text, &mut NoLibraries);
        let units = expansion.unwrap_or_else(|errors| panic!("{text}: {errors:?}")).units;
        assert_eq!(units.len(), 1, "one program is one unit");
        let compiled = compile(&units[0], &self.code).unwrap();
        self.code.load(&compiled).unwrap()
    }

    fn start(&mut self, unit: usize) {
        let procedure = self.instance.unit_procedure(&self.code, unit).unwrap();
        self.machine.start(&mut self.instance, procedure, &[]);
    }

    /// Runs for `fuel`; returns the program's value, or the rest of the computation.
    fn run(&mut self, mut fuel: i64) -> Result<Value, Value> {
        match self.machine.run(&mut self.instance, &self.code, &mut fuel).unwrap() {
            Outcome::Finished(value) => Ok(value),
            Outcome::OutOfFuel => Err(self.machine.capture(&mut self.instance, &self.code).unwrap()),
            outcome @ (Outcome::Uncaught(_) | Outcome::Exhausted | Outcome::Request { .. }) => panic!("{outcome:?}"),
        }
    }

    fn go_on(&mut self, parked: Value) {
        self.machine.reinstate(&mut self.instance, &self.code, parked);
        self.machine.resume(Value::UNSPECIFIED);
    }

    fn is(&mut self, value: Value, expected: &str) -> bool {
        let (datum, _) = read_one(expected, 0).unwrap().unwrap();
        let wanted = self.instance.heap.literal(&datum).unwrap();
        self.instance.heap.equal(value, wanted)
    }
}

const PROGRAMS: [(&str, &str); 5] = [
    (
        "(let fib ((n 12)) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))",
        "144",
    ),
    (
        "(let ((sum 0)) (let loop ((i 0)) (if (< i 40) (begin (set! sum (+ sum i)) (loop (+ i 1))) (cons sum 'done))))",
        "(780 . done)",
    ),
    (
        "(let build ((n 30)) (if (= n 0) '() (cons (vector n \"text\" 1.5 (lambda () n)) (build (- n 1)))))",
        "",
    ),
    (
        "(+ 1 (%call/cc (lambda (k) (let loop ((i 0)) (if (= i 20) (k i) (+ 1 (loop (+ i 1))))))))",
        "21",
    ),
    (
        "(%call-with-prompt 'p
           (lambda () (+ 1 (let loop ((i 0)) (if (= i 20) (%abort-to-prompt 'p (list i)) (+ 1 (loop (+ i 1)))))))
           (lambda (i) (* i 2)))",
        "40",
    ),
];

/// Runs each program in slices; between slices `travel` moves the rest of the computation.
fn check_travelling(mut travel: impl FnMut(&mut Process, Value, &str) -> Value) {
    for (text, expected) in PROGRAMS {
        for slice in [1, 5, 17] {
            let mut process = Process::new();
            let unit = process.load(text);
            process.start(unit);
            let value = loop {
                match process.run(slice) {
                    Ok(value) => break value,
                    Err(parked) => {
                        let parked = travel(&mut process, parked, text);
                        process.go_on(parked);
                    }
                }
            };
            assert!(
                expected.is_empty() || process.is(value, expected),
                "{text} in slices of {slice}: {value:?}"
            );
        }
    }
}

#[test]
fn a_restored_heap_goes_on_as_if_nothing_had_happened() {
    let mut store: BTreeMap<ChunkName, Vec<u8>> = BTreeMap::new();
    check_travelling(|process, parked, _| {
        let heap = &mut process.instance.heap;
        heap.set_register(Register::Runtime0, parked);
        heap.collect_minor(&mut [], &process.code);
        let taken = snapshot(heap, &process.code).unwrap();
        // A later snapshot may refer to the root of this one.
        let chunks = taken.chunks.iter().chain([&taken.root]);
        store.extend(chunks.map(|chunk| (chunk.name, chunk.bytes.clone())));
        process.machine = Machine::new();
        let mut fetch = |name: ChunkName| store.get(&name).cloned();
        process.instance.heap = restore(&taken.root, LIMITS, &mut fetch, &process.code).unwrap();
        process.instance.heap.register(Register::Runtime0)
    });
}
