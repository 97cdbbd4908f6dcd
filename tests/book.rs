//! The examples of the book and of `README.md`.
//!
//! Owns the finding of pages.
//! INVARIANT: every fenced block of every page is in a known language, so that none escapes the tests by a misspelling.
//! It knows no page by name except `README.md`.
//! Read next: `support/example.rs`.

mod support {
    pub(crate) mod example;
    pub(crate) mod tree;
}

use support::example::examples;
use support::tree::{Source, sources};

/// `README.md` and the chapters of the book.
fn pages() -> Vec<Source> {
    let is_page = |page: &Source| page.path == "README.md" || page.path.starts_with("docs/src/");
    sources(&["md"]).into_iter().filter(is_page).collect()
}

#[test]
fn every_block_is_understood() {
    let offenders: Vec<String> = pages()
        .iter()
        .filter_map(|page| {
            examples(&page.text)
                .err()
                .map(|error| format!("{}: {error}", page.path))
        })
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
