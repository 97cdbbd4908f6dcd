//! The cases that outside users found, each with the test that keeps it mended.
//!
//! INVARIANT: a test that the book's table names exists.
//! `tests/strangers/run` runs them. Read next: `docs/src/testing.md`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use std::path::Path;

use crate::crash::defects::listed;

#[test]
fn every_case_of_the_table_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let listed = listed(&read("docs/src/testing.md"), "| Kind of case |");
    assert!(!listed.is_empty());
    for (test, file) in listed {
        if file.ends_with(".scm") {
            assert!(
                file.ends_with(&format!("/{test}.scm")) && root.join(&file).is_file(),
                "{file}"
            );
            continue;
        }
        let source = read(&file);
        let before = source.split(&format!("fn {test}()")).next().unwrap_or_default();
        let attributes = before.rsplit("\n\n").next().unwrap_or_default();
        let is_there = before.len() < source.len() && attributes.contains("test]");
        assert!(is_there, "{file} has no test {test}");
    }
}
