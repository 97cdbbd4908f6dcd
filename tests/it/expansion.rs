//! Expansions of the library's syntax, and their code, as snapshots.
//!
//! INVARIANT: a snapshot shows one construct in one procedure.
//! The forms of the kernel itself are in the kernel's own tests.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::datum::Name;
use duet_kernel::diagnostic::DiagnosticKind;
use duet_kernel::expander::{Expander, Libraries, LibraryName};
use duet_kernel::transformer::TransformerMachine;
use duet_modules::resolver::Resolver;
use duet_modules::source::embedded::Embedded;
use duet_runtime::scheme::host;

/// Compares each text, its expansion, and the code of the procedure that it defines with the
/// snapshot.
fn check(name: &str, programs: &[&str]) {
    let listings: Vec<_> = programs.iter().map(|program| listing(program)).collect();
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(name, listings.join("\n"));
    });
}

fn listing(program: &str) -> String {
    let code = CodeSpace::new(&host::primitives());
    let base = LibraryName {
        parts: ["duet", "base"].map(Name::from).to_vec(),
    };
    let mut expander = Expander::new(code.signatures(), vec![base]);
    let mut libraries = Resolver::new(vec![Box::new(Embedded::new("stdlib", duet_stdlib::FILES))]);
    let expansion = expander.expand_program("listing", program, &mut libraries);
    let expansion = expansion.unwrap_or_else(|errors| panic!("{program}: {errors:?}"));
    let unit = expansion.units.last().unwrap();
    let compiled = compile(unit, &code).unwrap().to_string();
    let (_, procedures) = compiled.split_once("\nblock 1:").unwrap();
    format!("{program}\n\n{unit}\n\nblock 1:{procedures}")
}

#[test]
fn exceptions() {
    check(
        "exceptions",
        &["(define (f x) (guard (e ((symbol? e) 'symbol) ((string? e) => list)) (g x)))  (define (g x) x)"],
    );
}

#[test]
fn dynamic_binding() {
    check("dynamic_binding", &["(define (f p x) (parameterize ((p 1)) (x)))"]);
}

#[test]
fn promises() {
    check(
        "promises",
        &[
            "(define (f x) (delay (g x))) (define (g x) x)",
            "(define (f x) (delay-force x))",
        ],
    );
}

#[test]
fn several_values() {
    check(
        "several_values",
        &[
            "(define (f x) (let-values (((a b) (x)) ((c) 1)) (list a b c)))",
            "(define (f x) (let*-values (((a . b) (x))) (cons a b)))",
            "(define (f x) (receive (a . b) (x) (list a b)))",
        ],
    );
}

#[test]
fn prompts() {
    check("prompts", &["(define (f x) (reset (+ 1 (shift k (k (k x))))))"]);
}

/// Two libraries conflict only where one of them redefines a name on purpose. What they share by
/// name they share in meaning.
#[test]
fn libraries_conflict_where_they_redefine() {
    let code = CodeSpace::new(&host::primitives());
    let transformers = TransformerMachine::new(&host::primitives());
    let mut expander = Expander::new(code.signatures(), Vec::new()).with_transformers(Box::new(transformers));
    let mut libraries = Resolver::new(vec![Box::new(Embedded::new("stdlib", duet_stdlib::FILES))]);
    let mut names = libraries.names();
    names.retain(|name| name.parts.iter().all(|part| part.as_str() != "internal"));
    let mut conflicts = Vec::new();
    for (index, first) in names.iter().enumerate() {
        for second in &names[index..] {
            let imports = format!("{first} {second}");
            let Err(errors) = expander.immutable_top_level(&imports, &mut libraries) else {
                continue;
            };
            for error in errors {
                let DiagnosticKind::ConflictingImports(conflict) = error.kind else {
                    panic!("{imports}: {}", error.kind);
                };
                let names: Vec<_> = conflict.names.iter().map(Name::as_str).collect();
                conflicts.push(format!("{imports}: {}", names.join(" ")));
            }
        }
    }
    insta::assert_snapshot!("conflicts", conflicts.join("\n"));
}
