//! The programs of others that talk with Duet in some tests: packages of PyPI and of npm, which
//! `tests/foreign/run` installs, because the suites use no network.
//!
//! INVARIANT: a test that lacks them says that it shows nothing.
//! Read next: `process.rs`.
#![allow(clippy::print_stderr, reason = "a test that cannot run says so")]
#![allow(clippy::disallowed_methods, reason = "a test has no command line of its own")]

use std::env;
use std::path::PathBuf;

/// The variable of the environment with the folder where they are installed.
const FOLDER: &str = "DUET_FOREIGN";

/// Finds an installed program by its path in the folder; `None`, with a message, if no folder is
/// named.
pub(crate) fn program(test: &str, path: &str) -> Option<PathBuf> {
    let Some(folder) = env::var_os(FOLDER) else {
        eprintln!("SKIPPED: {test} needs programs of others; `tests/foreign/run` installs them and runs it");
        return None;
    };
    let program = PathBuf::from(folder).join(path);
    assert!(program.exists(), "{FOLDER} has no {path}");
    Some(program)
}
