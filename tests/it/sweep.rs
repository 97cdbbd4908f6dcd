//! Every procedure of the standard library, called with too few, too many and wrong arguments: it
//! returns or raises, in bounded time.
//!
//! Owns the arguments, and the list of procedures that rightly go on for ever with some of them.
//! INVARIANT: the list of procedures comes from the exports, so none can be forgotten.
//! It does not judge what a procedure returns; `tests/scripts` does.
//! Read next: `library.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Expander, Expansion, LibraryName};
use duet_kernel::heap::Limits;
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::transformer::TransformerMachine;
use duet_kernel::value::Value;
use duet_modules::resolver::Resolver;
use duet_modules::source::embedded::Embedded;
use duet_runtime::scheme::host;

use crate::support::library::{Libraries, Origin};

/// The fuel for all calls of one procedure, which take a hundredth of it.
const FUEL: i64 = 20_000_000;

/// The fuel for one call, in the search for the one that does not end.
const FUEL_OF_CALL: i64 = 1_000_000;

/// The arguments that are no procedures.
const WRONG: [&str; 10] = [
    "'()", "0", "-1", "1.5", "#f", "\"ab\"", "#\\a", "'sym", "'(1 2)", "#(1 2)",
];

/// Procedures in the place of arguments: one that takes anything, one that takes nothing wrong.
const PROCEDURES: [&str; 2] = ["list", "car"];

/// The most arguments of a call.
const ARGUMENTS_MAX: usize = 4;

/// Procedures that rightly go on for ever with `list`: as a generator it never ends, as a condition
/// it always holds.
const ENDLESS: [&str; 12] = [
    "generator->list",
    "generator->reverse-list",
    "generator->string",
    "generator->vector",
    "generator-count",
    "generator-every",
    "generator-fold",
    "generator-for-each",
    "generator-map->list",
    "generator-unfold",
    "loop-procedure",
    "while-procedure",
];

/// Those of them that need no other argument.
const ENDLESS_ALONE: [&str; 6] = [
    "generator->list",
    "generator->reverse-list",
    "generator->string",
    "generator->vector",
    "loop-procedure",
    "while-procedure",
];

struct Session {
    machine: Machine,
    instance: Instance,
    code: CodeSpace,
    expander: Expander,
    libraries: Resolver,
}

impl Session {
    fn new() -> Self {
        let code = CodeSpace::new(&host::primitives());
        let base = LibraryName {
            parts: ["duet", "base"].map(Name::from).to_vec(),
        };
        let expander = Expander::new(code.signatures(), vec![base])
            .with_transformers(Box::new(TransformerMachine::new(&host::primitives())));
        Self {
            machine: Machine::new(),
            instance: Instance::new(Limits { bytes_max: 64 << 20 }),
            code,
            expander,
            libraries: Resolver::new(vec![Box::new(Embedded::new("duet", duet_stdlib::FILES))]),
        }
    }

    /// Evaluates a program; `None` if it is none, as one that uses a keyword for a variable, and
    /// otherwise whether it ends.
    fn ends(&mut self, program: &str, fuel: i64) -> Option<bool> {
        let expansion = self
            .expander
            .expand_program("sweep", program, &mut self.libraries)
            .ok()?;
        Some(self.load(&expansion, fuel))
    }

    fn load(&mut self, expansion: &Expansion, fuel: i64) -> bool {
        for unit in &expansion.units {
            let compiled = compile(unit, &self.code).unwrap();
            let number = self.code.load(&compiled).unwrap();
            let procedure = self.instance.unit_procedure(&self.code, number).unwrap();
            self.machine.start(&mut self.instance, procedure, &[]);
            if !self.run(fuel) {
                return false;
            }
        }
        true
    }

    fn run(&mut self, mut fuel: i64) -> bool {
        loop {
            match self.machine.run(&mut self.instance, &self.code, &mut fuel) {
                Ok(Outcome::Finished(_) | Outcome::Uncaught(_)) => return true,
                Ok(Outcome::OutOfFuel | Outcome::Exhausted) | Err(_) => return false,
                // Nothing of the world answers here.
                Ok(Outcome::Request { .. }) => self.machine.raise(&self.instance, &self.code, Value::FALSE),
            }
        }
    }
}

/// All argument lists.
fn calls() -> Vec<Vec<&'static str>> {
    let mut calls = vec![Vec::new()];
    let all: Vec<&str> = WRONG.iter().chain(&PROCEDURES).copied().collect();
    for count in 1..=ARGUMENTS_MAX {
        for value in &all {
            calls.push(vec![*value; count]);
            for procedure in PROCEDURES {
                for place in 0..count.min(2) {
                    let mut call = vec![*value; count];
                    call[place] = procedure;
                    calls.push(call);
                }
            }
        }
    }
    calls
}

fn program(library: &str, name: &str, calls: &[Vec<&str>]) -> String {
    let lists: Vec<String> = calls.iter().map(|call| format!("(list {})", call.join(" "))).collect();
    format!(
        "(import (scheme base) (prefix ({library}) p:))
         (let ((procedure p:{name}))
           (if (procedure? procedure)
               (for-each (lambda (arguments) (guard (e (#t #f)) (apply procedure arguments))) (list {}))))",
        lists.join(" ")
    )
}

/// Sweeps a library; returns the calls that do not end.
fn sweep(library: &str, names: &[String]) -> Vec<String> {
    let all = calls();
    let mut session = Session::new();
    let mut endless = Vec::new();
    for name in names {
        let mut calls = all.clone();
        calls.retain(|call| !(call.len() > 1 && call.contains(&"list") && ENDLESS.contains(&name.as_str())));
        calls.retain(|call| !(*call == ["list"] && ENDLESS_ALONE.contains(&name.as_str())));
        if session.ends(&program(library, name, &calls), FUEL) != Some(false) {
            continue;
        }
        session = Session::new();
        for call in &calls {
            if session.ends(&program(library, name, std::slice::from_ref(call)), FUEL_OF_CALL) == Some(false) {
                endless.push(format!("({name} {}) of ({library})", call.join(" ")));
                session = Session::new();
                // One call shows the defect.
                break;
            }
        }
    }
    endless
}

#[test]
fn every_procedure_ends_whatever_its_arguments_are() {
    let libraries = Libraries::of(duet_stdlib::FILES);
    let mut endless = Vec::new();
    for library in libraries.public() {
        // The names of another public library are swept there.
        let is_own = |name: &String| matches!(libraries.origin(library, name).0, Origin::Definition(_));
        let names: Vec<String> = libraries.names(library).into_iter().filter(is_own).collect();
        endless.extend(sweep(&library.name, &names));
    }
    assert_eq!(endless, Vec::<String>::new());
}
