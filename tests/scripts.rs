//! The language tests: every `tests/scripts/**/*.scm` is one test.
//!
//! Owns the finding of scripts.
//! INVARIANT: a script without an expectation, or with one nobody would check, fails.
//! It knows nothing of the subjects; a script is added by writing its file.
//! Read next: `support/expectation.rs`.

#[path = "support"]
mod support {
    pub(crate) mod expectation;
    pub(crate) mod native;
    pub(crate) mod scan;
    pub(crate) mod script;
    pub(crate) mod session;
}

use std::path::Path;

fn agrees(_: &Path, script: String) -> datatest_stable::Result<()> {
    support::script::run(&script, &mut support::session::Session::new()).map_err(Into::into)
}

datatest_stable::harness! {
    { test = agrees, root = "tests/scripts", pattern = r"\.scm$" },
}
