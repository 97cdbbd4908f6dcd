//! The examples of the book and of `README.md`.
//!
//! Owns the finding of pages, and the directory each is run in: fresh, with a copy of `examples/`.
//! INVARIANT: every runnable block of every page is run through the real command, in order.
//! It knows no page by name except `README.md` and the first chapter.
//! Read next: `support/page.rs`.

mod support {
    pub(crate) mod example;
    pub(crate) mod page;
    pub(crate) mod tree;
}

use std::path::Path;
use std::{fs, io};

use support::example::examples;
use support::page::Page;
use support::tree::{Source, sources};

/// `README.md` and the chapters of the book.
fn pages() -> Vec<Source> {
    let is_page = |page: &Source| page.path == "README.md" || page.path.starts_with("docs/src/");
    sources(&["md"]).into_iter().filter(is_page).collect()
}

/// Runs one page in a directory of its own.
fn run(page: &Source) -> Result<(), String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    copy(&examples, &directory.path().join("examples")).map_err(|error| format!("cannot copy examples: {error}"))?;
    Page {
        duet: Path::new(env!("CARGO_BIN_EXE_duet")),
        directory: directory.path(),
    }
    .run(&page.text)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[test]
fn every_example_does_what_it_shows() {
    let outcomes = pages().into_iter().map(|page| (run(&page), page.path));
    let offenders: Vec<String> = outcomes
        .filter_map(|(outcome, path)| outcome.err().map(|report| format!("{path}: {report}")))
        .collect();
    assert!(offenders.is_empty(), "{}", offenders.join("\n"));
}

#[test]
fn the_readme_and_the_first_chapter_have_examples() {
    for path in ["README.md", "docs/src/first-run.md"] {
        let count = pages()
            .iter()
            .find(|page| page.path == path)
            .map_or(0, |page| examples(&page.text).map_or(0, |found| found.len()));
        assert!(count > 0, "{path} shows nothing that is run");
    }
}
