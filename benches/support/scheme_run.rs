//! Runs of Scheme programs for the benchmarks, started through the same calls as the command.
//!
//! INVARIANT: nothing is measured here; a benchmark decides what it times. The programs are the
//! benchmarks' own, so errors panic.

#![allow(dead_code, reason = "each benchmark uses a part")]

use duet_journal::{Blob, BranchName, RunId, Store};
use duet_kernel::expander::LibraryName;
use duet_modules::resolver::Resolver;
use duet_modules::source::embedded::Embedded;
use duet_runtime::driver::{Drivers, Effect, Input};
use duet_runtime::model::limits::Limits;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::record::Genesis;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::{Run, Start};
use duet_runtime::scheme::{Program, SchemePrograms, Source};

// The allocator of the command.
use duet_allocator as _;

/// Compiles a program and the libraries it needs; one without `import` sees the library
/// `default_import`.
pub(crate) fn compile(text: &str, default_import: &[&str]) -> (SchemePrograms, Program) {
    let mut libraries = Resolver::new(vec![Box::new(Embedded::new("stdlib", duet_stdlib::FILES))]);
    let source = Source {
        name: "bench.scm",
        text,
        arguments: Vec::new(),
        evaluable: Vec::new(),
        is_counted: false,
        stop: None,
        default_imports: vec![LibraryName {
            parts: default_import.iter().map(|part| (*part).into()).collect(),
        }],
    };
    let compiled = SchemePrograms::compile(&source, &mut libraries).map_err(|(error, _)| error);
    let (programs, program, _) = compiled.expect("the program compiles");
    (programs, program)
}

/// Starts a run of a compiled program that is granted everything.
pub(crate) fn start_compiled(
    name: &str,
    (programs, program): (SchemePrograms, Program),
    policy: SnapshotPolicy,
    store: &mut dyn Store,
) -> Run {
    let start = Start {
        run: RunId::new(name).expect("a benchmark's name is a run's"),
        branch: BranchName::new("main").expect("the name is well formed"),
        owner: "bench".to_owned(),
        genesis: Genesis {
            program: program.value,
            manifest: Manifest::of(&["*"]),
            limits: Limits::default(),
            pinned: program.pinned.iter().map(Blob::hash).collect(),
            tools: Vec::new(),
            policy: Vec::new(),
        },
        pinned: program.pinned,
    };
    Run::start(start, programs, policy, store).expect("the run starts")
}

/// Starts a run of a program that uses the kernel's own library.
pub(crate) fn start(name: &str, text: &str, policy: SnapshotPolicy, store: &mut dyn Store) -> Run {
    start_compiled(name, compile(text, &["duet", "kernel"]), policy, store)
}

/// Drivers that do nothing.
pub(crate) struct NoWorld;

impl Drivers for NoWorld {
    fn perform(&mut self, _: Vec<Effect>) {}

    fn next_input(&mut self) -> Option<Input> {
        None
    }

    fn poll_input(&mut self) -> Option<Input> {
        None
    }
}
