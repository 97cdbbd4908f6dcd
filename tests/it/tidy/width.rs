//! Rules for the width of lines.
//!
//! Owns the limits: 120 columns for code, 100 for prose and for scripts.
//! INVARIANT: a column is a character, not a byte.
//! It does not wrap; it says where to.
//! Read next: `signposts.rs`.

use super::prose::prose_lines;
use super::rule::{Offence, planted, require, shown};
use crate::support::tree::{Source, sources};

/// The maximum width of a line of Rust.
const CODE_MAX: usize = 120;

/// The maximum width of a comment that stands alone, of a line of Markdown and of a script's line.
const PROSE_MAX: usize = 100;

/// Files whose lines of code may be wider: path, reason.
const WIDE_CODE: &[(&str, &str)] = &[(
    "kernel/src/instruction.rs",
    "one row describes one instruction; broken in two, the table cannot be read",
)];

fn width(line: &str) -> usize {
    line.chars().count()
}

/// A line without the targets of its links, which cannot be broken.
fn without_targets(line: &str) -> String {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push(']');
        text.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    let is_target = |word: &&str| word.contains("://");
    text.split(' ')
        .filter(|word| !is_target(word))
        .collect::<Vec<_>>()
        .join(" ")
}

fn too_wide(source: &Source, number: usize, columns: usize, limit: usize) -> Offence {
    Offence::at(source, number, format!("{columns} columns, limit {limit}"))
}

/// Lines of Rust beyond the limit, other than comments and the files of the table.
fn wide_code(files: &[Source], wide: &[(&str, &str)]) -> Vec<Offence> {
    let is_spared = |source: &&Source| !wide.iter().any(|(path, _)| *path == source.path);
    let mut offences = Vec::new();
    for source in files.iter().filter(is_spared) {
        let is_code = |line: &str| !line.trim_start().starts_with("//");
        for (number, line) in source.numbered().filter(|(_, line)| is_code(line)) {
            if width(line) > CODE_MAX {
                offences.push(too_wide(source, number, width(line), CODE_MAX));
            }
        }
    }
    offences
}

#[test]
fn code_is_at_most_120_columns_wide() {
    let files = sources(&["rs"]);
    require(&wide_code(&files, WIDE_CODE), "break these lines");
    for (path, _) in WIDE_CODE {
        let is_needed = files
            .iter()
            .any(|source| source.path == *path && source.text.lines().any(|line| width(line) > CODE_MAX));
        assert!(is_needed, "{path} has no wide line; drop it from WIDE_CODE");
    }
    let text = format!("{}\n{}\n// {}\n", "é".repeat(120), "x".repeat(121), "x".repeat(121));
    let files = [planted("src/a.rs", &text), planted("src/b.rs", &text)];
    let found = wide_code(&files, &[("src/b.rs", "a table")]);
    assert_eq!(shown(&found), ["src/a.rs:2: 121 columns, limit 120"]);
}

/// Lines of prose beyond the limit; quoted blocks, tables and the targets of links do not count.
fn wide_prose(files: &[Source]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in files {
        let is_page = source.extension() == "md";
        for prose in prose_lines(source).into_iter().filter(|prose| prose.is_alone) {
            let is_definition = is_page && prose.text.starts_with('[') && prose.text.contains("]: ");
            let columns = width(without_targets(prose.line).trim_end());
            if columns > PROSE_MAX && !is_definition {
                offences.push(too_wide(source, prose.number, columns, PROSE_MAX));
            }
        }
    }
    offences
}

#[test]
fn comments_are_at_most_100_columns_wide() {
    require(&wide_prose(&sources(&["rs"])), "wrap these comments");
    let text = format!(
        "/// {}\n/// {}\n/// ```\n/// {}\n/// ```\n",
        "x".repeat(96),
        "x".repeat(97),
        "x".repeat(97)
    );
    let found = wide_prose(&[planted("src/a.rs", &text)]);
    assert_eq!(shown(&found), ["src/a.rs:2: 101 columns, limit 100"]);
}

#[test]
fn pages_are_at_most_100_columns_wide() {
    require(&wide_prose(&sources(&["md"])), "wrap these paragraphs");
    let long = "x".repeat(101);
    let text = format!("| {long} |\n[a](https://{long})\nSee https://{long}\n[a]: {long}\n{long}\n");
    let found = wide_prose(&[planted("a.md", &text)]);
    assert_eq!(shown(&found), ["a.md:5: 101 columns, limit 100"]);
}

/// Lines of the tests' Scheme programs beyond the limit.
fn wide_scripts(files: &[Source]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in files.iter().filter(|source| source.path.starts_with("tests/")) {
        for (number, line) in source.numbered().filter(|(_, line)| width(line) > PROSE_MAX) {
            offences.push(too_wide(source, number, width(line), PROSE_MAX));
        }
    }
    offences
}

#[test]
fn scripts_are_at_most_100_columns_wide() {
    require(
        &wide_scripts(&sources(&["scm"])),
        "give each expectation of these lines a line",
    );
    let files = [planted("tests/scripts/a.scm", &"1".repeat(101))];
    assert_eq!(
        shown(&wide_scripts(&files)),
        ["tests/scripts/a.scm:1: 101 columns, limit 100"]
    );
}
