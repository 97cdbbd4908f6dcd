//! The suite `aeiou` of `duet conform`: cases of AEIOU v4.
//!
//! Owns the reading of files. A Scheme program, `aeiou/`, runs the cases with `(duet aeiou)`, with
//! actors and all, compares their traces with those of the reference implementation, and prints.
//! INVARIANT: a difference without an explanation makes the exit code 1; a line that is no case
//! makes it 2, before any difference is shown.
//! It does not know what a case means; the Scheme program does.
//! Read next: `aeiou/trace.scm`.

use std::path::Path;

use super::read_text;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::act::run::run_program;

const PROGRAM: &str = concat!(
    include_str!("aeiou/trace.scm"),
    include_str!("suite.scm"),
    include_str!("aeiou/compare.scm"),
    include_str!("aeiou/main.scm")
);

/// Judges the cases of a file: compares them with the traces of another file, or prints theirs.
pub(super) fn judge(cases: &Path, expected: Option<&Path>, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let mut words = vec![cases.display().to_string(), read_text(cases)?];
    if let Some(expected) = expected {
        words.push(read_text(expected)?);
    }
    run_program("conform", PROGRAM, words, terminal)
}
