//! The examples of `README.md`, and that the pages which a newcomer reads first have examples.
//!
//! INVARIANT: every runnable block is run through the real command, in order.
//! The other pages are tests of `../programs/pages.rs`.
//! Read next: `support/page.rs`.

use std::fs;

use crate::support::example::examples;
use crate::support::page::run_page;

#[test]
fn every_example_of_the_readme_does_what_it_shows() {
    let text = fs::read_to_string("README.md").expect("the page");
    if let Err(report) = run_page(&text) {
        panic!("README.md: {report}");
    }
}

#[test]
fn the_readme_and_the_first_chapter_have_examples() {
    for path in ["README.md", "docs/src/first-run.md"] {
        let text = fs::read_to_string(path).expect("a page");
        let count = examples(&text).map_or(0, |found| found.len());
        assert!(count > 0, "{path} shows nothing that is run");
    }
}
