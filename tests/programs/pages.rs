//! The examples of the book: every page of `docs/src` is one test.
//!
//! Owns the directory in which a page is run: fresh, with a copy of `examples/`.
//! INVARIANT: every runnable block of a page is run through the real command, in order.
//! `README.md` is a test of `../it/readme.rs`.
//! Read next: `../it/support/page.rs`.

use std::path::Path;

use crate::support::page::run_page;

/// Runs the examples of a page in a directory of its own.
pub(crate) fn page(_: &Path, text: String) -> datatest_stable::Result<()> {
    run_page(&text).map_err(Into::into)
}
