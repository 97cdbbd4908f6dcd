//! The language tests: every `tests/scripts/**/*.scm` is one test.
//!
//! INVARIANT: a script without an expectation, or with one nobody would check, fails.
//! It knows nothing of the subjects; a script is added by writing its file.
//! Read next: `../it/support/expectation.rs`.

use std::path::Path;

use crate::support::script::run;
use crate::support::session::Session;

/// Evaluates a script and compares the values with those that it states.
pub(crate) fn script(_: &Path, text: String) -> datatest_stable::Result<()> {
    run(&text, &mut Session::new()).map_err(Into::into)
}
