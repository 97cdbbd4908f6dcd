//! Rules for lists that must be complete: stores, library sources, scripts, chapters, and the files
//! that visitors read first.
//!
//! INVARIANT: what a folder holds and what its list names are the same.
//! It does not run what the lists name.
//! Read next: `crates.rs`.

use std::collections::BTreeSet;

use super::rule::{Offence, mentions, planted, require, shown, text_of};
use crate::support::expectation::steps;
use crate::support::tree::{Source, sources};

/// The type for which a line implements the trait `Store`, if it does.
fn implemented_store(line: &str) -> Option<&str> {
    let (_, rest) = line.trim_start().strip_prefix("impl")?.split_once(" Store for ")?;
    if rest.starts_with("Box<") {
        return None;
    }
    rest.split(|next: char| !(next.is_alphanumeric() || next == '_')).next()
}

/// Stores that the conformance tests do not name.
fn untested_stores(files: &[Source], list: &str) -> Vec<Offence> {
    let mut offences = Vec::new();
    let is_of_stores = |source: &&Source| {
        ["journal/src/", "postgres/src/"]
            .iter()
            .any(|folder| source.path.starts_with(folder))
    };
    for source in files.iter().filter(is_of_stores) {
        let names = source.text.lines().filter_map(implemented_store);
        for name in names.filter(|name| !mentions(list, name)) {
            offences.push(Offence::of_file(source, name));
        }
    }
    offences
}

#[test]
fn every_store_is_in_the_conformance_list() {
    let list = ["journal/tests/it/stores.rs", "postgres/tests/it/stores.rs"]
        .map(text_of)
        .concat();
    require(
        &untested_stores(&sources(&["rs"]), &list),
        "run the conformance tests on these stores: name them in tests/it/stores.rs of their crate",
    );
    let files = [planted(
        "journal/src/store/paper.rs",
        "impl Store for Stone {}\nimpl<T> Store for Paper<T> {}\nimpl Store for Box<dyn Store> {}\n",
    )];
    let found = untested_stores(&files, "run(Stone)");
    assert_eq!(shown(&found), ["journal/src/store/paper.rs: Paper"]);
    let files = [planted(
        "journal/src/store/paper/writing.rs",
        "impl Store for Paper {}\n",
    )];
    let found = untested_stores(&files, "run(Stone)");
    assert_eq!(shown(&found), ["journal/src/store/paper/writing.rs: Paper"]);
}

/// The methods that a text declares, in the order of their names.
fn methods(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().map(str::trim_start);
    let names = lines.filter_map(|line| line.strip_prefix("mut ").unwrap_or(line).strip_prefix("fn "));
    names.filter_map(|rest| rest.split(['(', '<']).next()).collect()
}

/// The methods of the trait `Store` that a store behind a pointer would answer by the trait's own
/// code, and not by that of the store.
fn unforwarded(declared: &str, forwarded: &str) -> Vec<String> {
    let declared = declared.split_once("pub trait Store").map_or("", |(_, rest)| rest);
    let forwarded = methods(forwarded);
    let lost = methods(declared).into_iter().filter(|name| !forwarded.contains(name));
    lost.map(str::to_owned).collect()
}

#[test]
fn a_store_behind_a_pointer_answers_every_question_itself() {
    let found = unforwarded(&text_of("journal/src/store.rs"), &text_of("journal/src/store/boxed.rs"));
    assert!(
        found.is_empty(),
        "add these methods to journal/src/store/boxed.rs: {}",
        found.join(", ")
    );
    let declared = "fn f();\npub trait Store: Send {\n    fn read(&self);\n    fn note(&self) {}\n}\n";
    assert_eq!(unforwarded(declared, "    mut fn read(&mut self);\n"), ["note"]);
}

/// Scheme files of the standard library that no Rust file beside them embeds.
fn unembedded(files: &[Source]) -> Vec<Offence> {
    let embedding: String = files
        .iter()
        .filter(|source| source.folder() == "stdlib/src")
        .map(|source| source.text.as_str())
        .collect();
    let is_embedded = |source: &Source| {
        let path = source.path.trim_start_matches("stdlib/").trim_start_matches("src/");
        embedding.contains(&format!("{path}\""))
    };
    let is_library = |source: &Source| {
        ["scm", "sld"].contains(&source.extension())
            && source.path.starts_with("stdlib/")
            && !source.path.starts_with("stdlib/tests/")
    };
    files
        .iter()
        .filter(|source| is_library(source) && !is_embedded(source))
        .map(|source| Offence::of_file(source, ""))
        .collect()
}

#[test]
fn every_library_source_is_embedded() {
    require(
        &unembedded(&sources(&["rs", "scm", "sld"])),
        "embed these files in stdlib/src, or delete them",
    );
    let files = [
        planted("stdlib/src/lib.rs", "include!(\"duet/kept.scm\")"),
        planted("stdlib/duet/kept.scm", ""),
        planted("stdlib/duet/lost.scm", ""),
    ];
    assert_eq!(shown(&unembedded(&files)), ["stdlib/duet/lost.scm"]);
}

/// Scripts that cannot be cut into expressions with their expectations.
fn mute_scripts(files: &[Source]) -> Vec<Offence> {
    files
        .iter()
        .filter(|source| source.path.starts_with("tests/scripts/"))
        .filter_map(|source| {
            let error = steps(&source.text).err()?;
            Some(Offence::of_file(source, error.to_string()))
        })
        .collect()
}

#[test]
fn every_script_expects_something() {
    let files = sources(&["scm"]);
    let is_script = |source: &Source| source.path.starts_with("tests/scripts/");
    assert!(
        files.iter().any(is_script),
        "tests/scripts/ is empty: the language is tested nowhere"
    );
    require(&mute_scripts(&files), "a script carries its answers");
    let planted = [
        planted("tests/scripts/a.scm", "(+ 1 2) ; => 3\n"),
        planted("tests/scripts/b.scm", "(+ 1 2)\n"),
    ];
    let found = mute_scripts(&planted);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "tests/scripts/b.scm");
}

/// Chapters of the book that its summary does not link.
fn unlinked_chapters(files: &[Source], summary: &str) -> Vec<Offence> {
    let is_linked = |path: &str| path == "SUMMARY.md" || summary.contains(&format!("]({path})"));
    files
        .iter()
        .filter(|source| {
            source
                .path
                .strip_prefix("docs/src/")
                .is_some_and(|path| !is_linked(path))
        })
        .map(|source| Offence::of_file(source, ""))
        .collect()
}

#[test]
fn every_chapter_is_in_the_summary() {
    require(
        &unlinked_chapters(&sources(&["md"]), &text_of("docs/src/SUMMARY.md")),
        "link these chapters from docs/src/SUMMARY.md",
    );
    let files = [planted("docs/src/a.md", ""), planted("docs/src/b.md", "")];
    assert_eq!(shown(&unlinked_chapters(&files, "- [A](a.md)")), ["docs/src/b.md"]);
}

/// Whether a changelog has an entry for what is not released yet.
fn tells_of_the_next_release(changelog: &str) -> bool {
    let Some((_, rest)) = changelog.split_once("## [Unreleased]") else {
        return false;
    };
    let section = rest.split("\n## ").next().unwrap_or_default();
    section.lines().any(|line| line.starts_with("- "))
}

#[test]
fn the_changelog_has_a_place_for_the_next_change() {
    assert!(
        tells_of_the_next_release(&text_of("CHANGELOG.md")),
        "CHANGELOG.md: say under `## [Unreleased]` what users will notice"
    );
    assert!(!tells_of_the_next_release("## [Unreleased]\n\n## [1.0]\n- It adds.\n"));
}

/// Whether the gate tests with the command that the front page shows.
fn gate_runs_what_readers_type(readme: &str, gate: &str) -> bool {
    readme.contains("\ncargo test\n") && gate.contains("\n    seconds=$(comparable_seconds cargo test)\n")
}

#[test]
fn the_gate_runs_the_command_visitors_type() {
    let (readme, gate) = (text_of("README.md"), text_of(".ci/run"));
    assert!(
        gate_runs_what_readers_type(&readme, &gate),
        "README.md shows `cargo test` on a line of its own, and .ci/run measures exactly that command"
    );
    assert!(!gate_runs_what_readers_type(
        &readme,
        "step_test() {\n    seconds=$(comparable_seconds cargo test --lib)\n}"
    ));
}
