//! Rules for reach: which crates may touch the world, and which files may be unsafe.
//!
//! INVARIANT: unsafe code stands only in the files of [`MAY_BE_UNSAFE`].
//! It cannot see through macros or re-exports; Clippy's lists of disallowed methods can.
//! Read next: `prose.rs`.

use super::rule::{Offence, mentions, planted, require, shown};
use crate::support::tree::{Source, sources};

/// Ways to reach the world that the deterministic crates must not know.
const WORLDLY: [&str; 6] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::env",
    "std::time",
];

/// Folders of the crates that depend on nothing but their arguments.
const DETERMINISTIC: [&str; 3] = ["kernel/src/", "runtime/src/", "stdlib/src/"];

/// Files that may contain unsafe code: path, reason.
const MAY_BE_UNSAFE: &[(&str, &str)] = &[
    (
        "journal/tests/it/power/vfs.rs",
        "a test stands between SQLite and the system, by a table of C functions",
    ),
    (
        "kernel/src/machine/frame.rs",
        "bounds checks on registers, code and fields cost a tenth to a third of the run time",
    ),
    (
        "kernel/src/machine/native/enter.rs",
        "machine code is called, and calls Rust, only by its address",
    ),
    (
        "kernel/src/machine/native/context.rs",
        "the table of targets is known by its address",
    ),
    (
        "kernel/src/machine/native/service.rs",
        "machine code passes the context by its address",
    ),
    ("benches/candidates/src/code.rs", "an experiment outside the workspace"),
    (
        "benches/candidates/src/memory.rs",
        "an experiment outside the workspace",
    ),
    (
        "benches/candidates/src/threaded.rs",
        "an experiment outside the workspace",
    ),
    (
        "allocator/src/lib.rs",
        "the trait of allocators is unsafe, and Rust has no other way to end a process that gets no memory",
    ),
    (
        "allocator/src/large.rs",
        "large blocks are mappings of the system, which grow without being copied: 40 % of a deep recursion",
    ),
];

/// The part of a line before a comment.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn worldly(files: &[Source]) -> Vec<Offence> {
    let is_deterministic = |source: &&Source| DETERMINISTIC.iter().any(|prefix| source.path.starts_with(prefix));
    let mut offences = Vec::new();
    for source in files.iter().filter(is_deterministic) {
        for (number, line) in source.numbered() {
            for path in WORLDLY.iter().filter(|path| mentions(code_of(line), path)) {
                offences.push(Offence::at(source, number, *path));
            }
        }
    }
    offences
}

#[test]
fn the_deterministic_crates_do_not_touch_the_world() {
    require(
        &worldly(&sources(&["rs"])),
        "take what the world offers as an argument; stores, module sources, drivers and src/ bring it in",
    );
    let files = [
        planted("kernel/src/a.rs", "// std::fs is not for us.\nuse std::fs::File;\n"),
        planted("src/b.rs", "use std::fs::File;\n"),
    ];
    assert_eq!(shown(&worldly(&files)), ["kernel/src/a.rs:2: std::fs"]);
}

/// Whether an attribute lifts the workspace's ban, on however many lines it stands.
fn lifts_the_ban(text: &str) -> bool {
    let attributes = text.split("#!").flat_map(|part| part.split("#[")).skip(1);
    attributes
        .map(|attribute| attribute.split(")]").next().unwrap_or_default())
        .any(|attribute| {
            let is_level = ["allow", "expect", "warn"]
                .iter()
                .any(|level| mentions(attribute, level));
            is_level && mentions(attribute, "unsafe_code")
        })
}

/// Whether a line of code opens something unsafe.
fn is_unsafe(line: &str) -> bool {
    ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "unsafe trait"]
        .iter()
        .any(|opening| code_of(line).contains(opening))
}

/// Unsafe code in files that are not listed, and listed files that have none.
fn misplaced_unsafe_code(files: &[Source], may_be_unsafe: &[(&str, &str)]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in files
        .iter()
        .filter(|source| source.path != "tests/it/tidy/authority.rs")
    {
        let is_unsafe = lifts_the_ban(&source.text) || source.text.lines().any(is_unsafe);
        let is_listed = may_be_unsafe.iter().any(|(path, _)| *path == source.path);
        if is_unsafe && !is_listed {
            let what = "unsafe code lives in the files of MAY_BE_UNSAFE only";
            offences.push(Offence::of_file(source, what));
        } else if is_listed && !is_unsafe {
            offences.push(Offence::of_file(source, "drop it from MAY_BE_UNSAFE"));
        }
    }
    offences
}

#[test]
fn unsafe_code_stays_where_it_is() {
    require(&misplaced_unsafe_code(&sources(&["rs"]), MAY_BE_UNSAFE), "unsafe code");
    let files = [
        planted("src/a.rs", "#![expect(\n    unsafe_code,\n    reason = \"speed\"\n)]\n"),
        planted("src/b.rs", "#[allow(unsafe_code)]\nfn f() {}\n"),
        planted("src/c.rs", "fn f() {\n    unsafe { g() }\n}\n"),
        planted("src/d.rs", "// It is not unsafe { }.\n#![deny(unsafe_code)]\n"),
        planted("src/e.rs", ""),
    ];
    let wrong: Vec<String> = misplaced_unsafe_code(&files, &[("src/e.rs", "speed")])
        .into_iter()
        .map(|offence| offence.path)
        .collect();
    assert_eq!(wrong, ["src/a.rs", "src/b.rs", "src/c.rs", "src/e.rs"]);
}
