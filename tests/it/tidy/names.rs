//! Rules for names and for text as such: nothing empty, nothing unfinished, no stray blanks, no
//! path of one machine.
//!
//! INVARIANT: the tables name what they forbid; this file is the one that may contain it.
//! It does not judge sentences.
//! Read next: `lists.rs`.

use super::modules::declared;
use super::rule::{Offence, mentions, planted, require, shown};
use crate::support::tree::{Source, sources};

/// This file, which names what it forbids.
const HERE: &str = "tests/it/tidy/names.rs";

/// Words that mark work as unfinished, and the remedy.
const UNFINISHED: [(&str, &str); 5] = [
    ("TODO", "do it, or leave it out"),
    ("FIXME", "fix it"),
    ("XXX", "say what is wrong, or fix it"),
    ("for now", "say what holds and why; the reader cannot see when"),
    ("unimplemented", "implement it, or refuse the input with a typed error"),
];

/// Files that may mention the words of [`UNFINISHED`]: path prefix, reason.
const MAY_MENTION: &[(&str, &str)] = &[
    (HERE, "it names what it forbids"),
    ("examples/review", "it looks for such notes"),
];

/// Endings of type and module names that say nothing.
const EMPTY_NAMES: [&str; 6] = ["Manager", "Helper", "Helpers", "Util", "Utils", "Utilities"];

/// Beginnings of paths that only one machine has.
const MACHINE_PATHS: [&str; 6] = ["/home/", "/root/", "/tmp/", "/work/", "/Users/", "C:\\Users"];

fn unfinished(files: &[Source]) -> Vec<Offence> {
    let is_spared = |source: &&Source| !MAY_MENTION.iter().any(|(prefix, _)| source.path.starts_with(prefix));
    let mut offences = Vec::new();
    for source in files.iter().filter(is_spared) {
        for (number, line) in source.numbered() {
            for (word, advice) in UNFINISHED.iter().filter(|(word, _)| mentions(line, word)) {
                offences.push(Offence::at(source, number, format!("{word:?}: {advice}")));
            }
        }
    }
    offences
}

#[test]
fn nothing_is_left_unfinished() {
    require(
        &unfinished(&sources(&["rs", "scm", "sld", "prs"])),
        "sources speak of what is, not of what is missing",
    );
    let files = [planted("src/a.rs", "// Good.\n// TODO: more.\n")];
    assert_eq!(
        shown(&unfinished(&files)),
        ["src/a.rs:2: \"TODO\": do it, or leave it out"]
    );
}

fn empty_names(files: &[Source]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in files {
        for (number, line) in source.numbered() {
            let types = ["struct", "enum", "trait", "type", "union"]
                .iter()
                .filter_map(|keyword| declared(line, keyword));
            for name in types.filter(|name| EMPTY_NAMES.iter().any(|empty| name.ends_with(empty))) {
                offences.push(Offence::at(source, number, name));
            }
        }
        let stem = source.stem();
        if EMPTY_NAMES.iter().any(|empty| stem.eq_ignore_ascii_case(empty)) {
            offences.push(Offence::of_file(source, ""));
        }
    }
    offences
}

#[test]
fn names_say_something() {
    require(
        &empty_names(&sources(&["rs"])),
        "name these for what they do, in the field's words",
    );
    let files = [
        planted("src/a.rs", "struct Row;\npub(crate) enum TurnManager {}\n"),
        planted("src/utils.rs", ""),
    ];
    assert_eq!(shown(&empty_names(&files)), ["src/a.rs:2: TurnManager", "src/utils.rs"]);
}

fn machine_paths(files: &[Source]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in files.iter().filter(|source| source.path != HERE) {
        for (number, line) in source.numbered() {
            if MACHINE_PATHS.iter().any(|path| line.contains(path)) {
                offences.push(Offence::at(source, number, line.trim()));
            }
        }
    }
    offences
}

#[test]
fn no_path_of_one_machine_is_written_down() {
    require(
        &machine_paths(&sources(&[
            "rs", "scm", "sld", "md", "toml", "prs", "snap", "json", "yml", "",
        ])),
        "use a path relative to the workspace, or a fresh temporary directory",
    );
    let files = [planted("src/a.rs", "open(\"/home/ada/x\")\n")];
    assert_eq!(shown(&machine_paths(&files)), ["src/a.rs:1: open(\"/home/ada/x\")"]);
}

fn stray_blanks(files: &[Source]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in files {
        for (number, line) in source.text.split('\n').enumerate() {
            if line.ends_with([' ', '\t', '\r']) || line.starts_with('\t') {
                offences.push(Offence::at(source, number + 1, format!("{line:?}")));
            }
        }
        if !source.text.ends_with('\n') {
            offences.push(Offence::of_file(source, "no newline at the end"));
        }
    }
    offences
}

#[test]
fn scheme_sources_are_clean_text() {
    require(
        &stray_blanks(&sources(&["scm", "sld", "md"])),
        "indent with spaces, end lines with a bare newline and nothing before it",
    );
    let files = [planted("a.scm", "(car x) \n\t1\r\n2")];
    assert_eq!(
        shown(&stray_blanks(&files)),
        [
            "a.scm:1: \"(car x) \"",
            "a.scm:2: \"\\t1\\r\"",
            "a.scm: no newline at the end"
        ]
    );
}
