//! The language tests: every `tests/scripts/**/*.scm` is one test.
//!
//! Owns the finding of scripts.
//! INVARIANT: a script without an expectation, or with one nobody would check, fails.
//! It knows nothing of the subjects; a script is added by writing its file.
//! Read next: `support/expectation.rs`.

#[path = "support"]
mod support {
    pub(crate) mod expectation;
    pub(crate) mod scan;
}

use std::path::Path;

fn is_well_formed(_: &Path, script: String) -> datatest_stable::Result<()> {
    support::expectation::steps(&script)
        .map(drop)
        .map_err(|error| error.to_string().into())
}

datatest_stable::harness! {
    { test = is_well_formed, root = "tests/scripts", pattern = r"\.scm$" },
}
