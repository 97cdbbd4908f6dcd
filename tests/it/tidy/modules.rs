//! Rules for files of Rust: declared, introduced, short, and beside their folder.
//!
//! INVARIANT: every `.rs` file of the tree meets these rules, whatever crate it belongs to.
//! It does not look at names or words.
//! Read next: `names.rs`.

use super::rule::{Offence, planted, require, shown};
use crate::support::tree::{Source, sources};

/// The maximum number of lines in a file.
const LINES_MAX: usize = 600;

/// Files that may be longer: path, ceiling in lines, reason. Ceilings only ever go down.
type LongFile = (&'static str, usize, &'static str);
const LONG_FILES: &[LongFile] = &[];

/// The word behind a keyword, if the line (visibility aside) starts with it.
pub(super) fn declared<'line>(line: &'line str, keyword: &str) -> Option<&'line str> {
    let line = line.trim_start();
    let line = line
        .strip_prefix("pub")
        .map_or(line, |rest| match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
            None => rest,
        });
    let rest = line.trim_start().strip_prefix(keyword)?.strip_prefix(' ')?;
    rest.split(|next: char| !(next.is_alphanumeric() || next == '_')).next()
}

/// Whether the file has `mod name;`, or names it in a row of a table whose macro writes the `mod`
/// lines, or points at it with `#[path]`.
fn declares_module(source: &Source, name: &str) -> bool {
    let makes_modules = source.text.contains("mod $module;") || source.text.contains("mod $name;");
    let file = format!("{name}.rs\"]");
    source.text.lines().any(|line| {
        let is_row = makes_modules && line.split_whitespace().next() == Some(name);
        let is_path = line.trim_start().starts_with("#[path = ") && line.contains(&file);
        is_row || is_path || (declared(line, "mod") == Some(name) && line.trim_end().ends_with(';'))
    })
}

/// Whether Cargo finds the file itself.
fn is_target(source: &Source) -> bool {
    let folder = source.folder();
    let in_source = folder == "src" || folder.ends_with("/src");
    let mut parts = folder.rsplit('/');
    let (last, beside) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    (in_source && ["lib", "main"].contains(&source.stem()))
        || ["tests", "benches", "examples", "bin"].contains(&last)
        || (beside == "tests" && source.stem() == "main")
        || source.stem() == "build"
        || source.path.contains("/fuzz_targets/")
}

/// Files that no `mod` line reaches, so that nothing compiles them.
fn undeclared(files: &[Source]) -> Vec<Offence> {
    let is_declared = |source: &Source| {
        let folder = source.folder();
        let parents = [
            format!("{folder}.rs"),
            format!("{folder}/lib.rs"),
            format!("{folder}/main.rs"),
        ];
        // A test target beside the folder declares `mod support { mod name; }`.
        let is_test_support = folder.starts_with("tests/") || folder.contains("/tests/") || folder.contains("benches/");
        let beside = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
        files.iter().any(|file| {
            let is_proof = folder == "proofs" && (file.folder() == folder || file.path == "src/surface/command.rs");
            let may_declare = parents.contains(&file.path) || (is_test_support && file.folder() == beside) || is_proof;
            may_declare && declares_module(file, source.stem())
        })
    };
    files
        .iter()
        .filter(|source| !is_target(source) && !is_declared(source))
        .map(|source| Offence::of_file(source, ""))
        .collect()
}

#[test]
fn every_source_file_is_declared() {
    require(
        &undeclared(&sources(&["rs"])),
        "nothing compiles these files; add their `mod` line to the parent module, or delete them",
    );
    let files = [
        planted("src/lib.rs", "pub mod kept;\n"),
        planted("src/kept.rs", ""),
        planted("src/lost.rs", ""),
    ];
    assert_eq!(shown(&undeclared(&files)), ["src/lost.rs"]);
}

/// Files that do not begin with a head.
fn headless(files: &[Source]) -> Vec<Offence> {
    files
        .iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| Offence::of_file(source, ""))
        .collect()
}

#[test]
fn every_module_says_what_it_owns() {
    require(
        &headless(&sources(&["rs"])),
        "begin these files with `//!`: what the module owns, one invariant, what it does not do, what to read next",
    );
    let files = [
        planted("src/a.rs", "//! It adds.\n"),
        planted("src/b.rs", "use std::fmt;\n"),
    ];
    assert_eq!(shown(&headless(&files)), ["src/b.rs"]);
}

/// Files beyond their limit, and exceptions that have become needless or too wide.
fn too_long(files: &[Source], long_files: &[LongFile]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in files {
        let lines = source.text.lines().count();
        let listed = long_files.iter().find(|(path, _, _)| *path == source.path);
        let limit = listed.map_or(LINES_MAX, |(_, ceiling, _)| *ceiling);
        let what = if lines > limit {
            format!("{lines} lines, limit {limit}: find its second subject and give it a file")
        } else if listed.is_some() && lines <= LINES_MAX {
            format!("{lines} lines: drop it from LONG_FILES")
        } else if listed.is_some() && lines + 50 < limit {
            format!("{lines} lines: lower its ceiling in LONG_FILES from {limit}")
        } else {
            continue;
        };
        offences.push(Offence::of_file(source, what));
    }
    offences
}

#[test]
fn files_stay_short() {
    require(
        &too_long(&sources(&["rs", "scm", "sld"]), LONG_FILES),
        "lengths out of bounds",
    );
    let lines = |count: usize| "\n".repeat(count);
    let files = [
        planted("src/a.rs", &lines(LINES_MAX)),
        planted("src/b.rs", &lines(LINES_MAX + 1)),
        planted("src/c.rs", &lines(3)),
        planted("src/d.rs", &lines(700)),
    ];
    let listed = [("src/c.rs", 650, "a table"), ("src/d.rs", 900, "a table")];
    let found = too_long(&files, &listed);
    let wrong: Vec<&str> = found.iter().map(|offence| offence.path.as_str()).collect();
    assert_eq!(wrong, ["src/b.rs", "src/c.rs", "src/d.rs"]);
}

/// Modules in the old style.
fn in_mod_files(files: &[Source]) -> Vec<Offence> {
    files
        .iter()
        .filter(|source| source.stem() == "mod")
        .map(|source| Offence::of_file(source, ""))
        .collect()
}

#[test]
fn modules_are_files_beside_their_folder() {
    require(&in_mod_files(&sources(&["rs"])), "rename NAME/mod.rs to NAME.rs");
    let files = [planted("src/a/mod.rs", ""), planted("src/a.rs", "")];
    assert_eq!(shown(&in_mod_files(&files)), ["src/a/mod.rs"]);
}
