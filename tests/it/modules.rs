//! The order of the modules of a crate.
//!
//! Owns the assertions about the graphs of modules, and the table of pairs that may use each other.
//! INVARIANT: an exception stands in a table here, with its reason, and is refused once nothing
//! needs it.
//! It reads sources only.
//! Read next: `support/modules.rs`.

use std::collections::BTreeSet;

use crate::support::modules::{Graph, declared_order, of_crate};
use crate::support::tree::{Source, sources};

/// Top-level modules that use each other: folder of the crate, the earlier one, the later one,
/// reason.
const PAIRS: &[(&str, &str, &str, &str)] = &[
    (
        "kernel/src",
        "form",
        "expander",
        "the expander looks a form up in the table, and the form's function expands its parts",
    ),
    (
        "kernel/src",
        "primitive",
        "code",
        "a continuation is told from other procedures by its entry, which is a built-in block of code",
    ),
    (
        "drivers/src",
        "live",
        "tool",
        "what a call shows while it runs hides the secrets of its tool",
    ),
    (
        "src",
        "owner",
        "verb",
        "the last lines of a run that failed are those of `explain`",
    ),
];

/// Circles of more files than [`CIRCLE_MAX`]: folder of the crate, members, reason.
const CIRCLES: &[(&str, &[&str], &str)] = &[(
    "src",
    &[
        "world/answers",
        "world/imported",
        "world/launch",
        "world/watch",
        "world/world_options",
    ],
    "a world is made of what imported runs, recordings and watches add, and each reads its options",
)];

/// A circle of files has at most this many members, unless [`CIRCLES`] lists it.
const CIRCLE_MAX: usize = 3;

/// The runtime has at most this many modules at the top.
const TOP_MAX: usize = 16;

/// The runtime has at most this many layers of modules, each of which uses only lower ones.
const LAYERS_MAX: usize = 10;

/// Fails with all offenders and the advice, unless there are none.
fn check(offenders: &[String], advice: &str) {
    assert!(offenders.is_empty(), "{advice}:\n  {}\n", offenders.join("\n  "));
}

/// Each top-level module of the crate may use only its pair and the modules that the crate's root
/// file declares before it.
fn check_order(files: &[Source], folder: &str) {
    let library = files.iter().find(|source| source.path == format!("{folder}/lib.rs"));
    let order = declared_order(&library.expect("the crate has a lib.rs").text);
    let modules = of_crate(files, folder).top_level();
    let pairs: BTreeSet<(String, String)> = PAIRS
        .iter()
        .filter(|pair| pair.0 == folder)
        .map(|(_, first, second, _)| ((*first).to_owned(), (*second).to_owned()))
        .collect();
    let against: BTreeSet<(String, String)> = modules.edges_against(&order).into_iter().collect();
    let offenders: Vec<String> = against
        .difference(&pairs)
        .map(|(from, to)| format!("{folder}: {from} uses {to}, which {folder}/lib.rs declares after it"))
        .collect();
    check(
        &offenders,
        "move the item to the module that owns it, or change the order in lib.rs",
    );
    let idle: Vec<String> = pairs
        .difference(&against)
        .map(|(from, to)| format!("{folder}: {from} does not use {to}"))
        .collect();
    check(&idle, "drop these from PAIRS");
    check_circles(&modules, 2);
}

/// No circle has more than this many members.
fn check_circles(graph: &Graph, members_max: usize) {
    let circles = graph.circles().into_iter().filter(|circle| circle.len() > members_max);
    let offenders: Vec<String> = circles.map(|circle| circle.join(", ")).collect();
    check(&offenders, "these modules use each other in a circle; break it");
}

/// The modules of a crate are in order, and its files have no large circle. A file and those below
/// it are one module, so they count once.
fn check_crate(folder: &str) {
    let files = sources(&["rs"]);
    check_order(&files, folder);
    let whole = |circle: Vec<String>| -> Vec<String> {
        let is_part = |name: &str| circle.iter().any(|other| name.starts_with(&format!("{other}/")));
        circle.iter().filter(|name| !is_part(name)).cloned().collect()
    };
    let circles = of_crate(&files, folder).circles().into_iter().map(whole);
    let circles: BTreeSet<Vec<String>> = circles.filter(|circle| circle.len() > CIRCLE_MAX).collect();
    let listed = CIRCLES.iter().filter(|circle| circle.0 == folder);
    let listed: BTreeSet<Vec<String>> = listed
        .map(|(_, members, _)| members.iter().map(|&member| member.to_owned()).collect())
        .collect();
    let shown = |circle: &Vec<String>| format!("{folder}: {}", circle.join(", "));
    let offenders: Vec<String> = circles.difference(&listed).map(shown).collect();
    check(&offenders, "these files use each other in a circle; break it");
    let idle: Vec<String> = listed.difference(&circles).map(shown).collect();
    check(&idle, "there are no such circles; drop them from CIRCLES");
}

#[test]
fn the_modules_of_the_command_are_in_order() {
    check_crate("src");
}

#[test]
fn the_modules_of_the_smaller_crates_are_in_order() {
    for folder in ["postgres/src", "schema/src", "packed/src", "allocator/src"] {
        check_crate(folder);
    }
}

#[test]
fn the_modules_of_the_kernel_are_in_order() {
    check_order(&sources(&["rs"]), "kernel/src");
}

#[test]
fn the_modules_of_the_journal_are_in_order() {
    check_crate("journal/src");
    check_circles(&of_crate(&sources(&["rs"]), "journal/src"), CIRCLE_MAX);
}

#[test]
fn the_modules_of_the_drivers_are_in_order() {
    check_crate("drivers/src");
    check_circles(&of_crate(&sources(&["rs"]), "drivers/src"), CIRCLE_MAX);
}

#[test]
fn the_modules_of_the_libraries_are_in_order() {
    let files = sources(&["rs"]);
    check_order(&files, "modules/src");
    check_circles(&of_crate(&files, "modules/src"), 2);
}

#[test]
fn the_modules_of_the_runtime_are_in_layers() {
    let files = sources(&["rs"]);
    check_order(&files, "runtime/src");
    let graph = of_crate(&files, "runtime/src");
    check_circles(&graph, 2);
    let top = graph.top_level();
    let library = files.iter().find(|source| source.path == "runtime/src/lib.rs");
    let modules = declared_order(&library.expect("the crate has a lib.rs").text);
    assert!(modules.len() <= TOP_MAX, "{} modules at the top", modules.len());
    assert!(top.layers() <= LAYERS_MAX, "{} layers", top.layers());
}

/// A source file of an imaginary crate.
fn source(path: &str, text: &str) -> Source {
    Source {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

#[test]
fn the_graph_has_each_path_and_nothing_else() {
    let files = [
        source("k/src/lib.rs", "mod a; pub mod b; mod c;"),
        source(
            "k/src/a.rs",
            "mod x; use self::x::{y::One, Two as _, z::*}; #[cfg(test)] mod tests { use crate::c; }",
        ),
        source("k/src/a/x.rs", "fn f() -> &'static str { \"crate::b\" } // crate::b\n"),
        source(
            "k/src/a/x/y.rs",
            "pub(in crate::c) fn f(c: char) { if c == '\"' { super::super::g(c) } }",
        ),
        source(
            "k/src/b.rs",
            "use std::{a::b, fmt}; mod inner { use super::super::c; } fn f() { crate::a::x::Two::new() }",
        ),
        source("k/src/c.rs", "macro_rules! m { () => { $crate::b::f() }; }"),
        source("k/src/c/tests.rs", "use crate::a;"),
    ];
    let graph = of_crate(&files, "k/src");
    let edges: Vec<_> = graph.edges().collect();
    let expected = [
        ("a", "a/x"),
        ("a", "a/x/y"),
        ("a/x/y", "a"),
        ("b", "a/x"),
        ("b", "c"),
        ("c", "b"),
    ];
    assert_eq!(edges, expected);
    assert_eq!(graph.circles(), [["a", "a/x/y"], ["b", "c"]]);
    assert_eq!(graph.layers(), 2);
    let top = graph.top_level();
    assert_eq!(top.edges().collect::<Vec<_>>(), [("b", "a"), ("b", "c"), ("c", "b")]);
    assert_eq!(top.circles(), [["b", "c"]]);
    let order = declared_order(&files[0].text);
    assert_eq!(order, ["a", "b", "c"]);
    assert_eq!(top.edges_against(&order), [("b".to_owned(), "c".to_owned())]);
}
