//! A small tree of sources with everything the review example looks for.
//!
//! INVARIANT: it has more findings than the example accepts without asking.
//! Read next: `../crash.rs`.

use super::world::Files;

/// The word that marks an open note, put together here so that this tree stays free of them.
const NOTE: &str = concat!("TO", "DO");

/// A paragraph long enough to count when it is repeated.
const LICENCE: &str = "\
# Permission is given to use this,
# to copy it,
# to change it,
# and to pass it on,
# provided that these lines stay,
# and without any warranty.
";

/// Nine files in four folders; eight are worth reviewing, and one of these is not text.
pub(crate) fn files() -> Files {
    let note = |text: &str| format!("// {NOTE} {text}\n");
    let long = "x".repeat(130);
    let texts = [
        ("README.md", format!("# A tree\n\nIt has {NOTE} notes.\n\n{LICENCE}")),
        ("docs/guide.md", format!("Guide\n\n{LICENCE}\nEnd\n")),
        (
            "docs/old/notes.txt",
            format!("{long}\n{NOTE} throw away\n{NOTE} or keep\n"),
        ),
        (
            "src/main.rs",
            format!("{}fn main() {{}}\n{}", note("arguments"), note("errors")),
        ),
        (
            "src/parse.rs",
            format!("{}\n// {long}\n{}{}", note("depth"), note("spans"), note("recovery")),
        ),
        ("src/print.rs", "fn print() {}\n".to_owned()),
        (
            "tools/check.sh",
            format!("#!/bin/sh\n\n{LICENCE}\n# FIX{}\n", "ME quoting"),
        ),
        ("tools/logo.png", "no source".to_owned()),
    ];
    let text_files = texts
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text.into_bytes()));
    let binary = ("src/table.c".to_owned(), vec![0xff, 0xfe, 0x00, 0x80]);
    text_files.chain([binary]).collect()
}
