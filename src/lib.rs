//! The `duet` command, as a library: its program uses `start`, and editors may use [`format`](mod@format).
//!
//! Owns the commands, the rendering of errors and the wiring of the crates below.
//! INVARIANT: data goes to standard output and messages to standard error; every way to end has the
//! exit code that `ExitCode` names.
//! It knows no semantics: the runtime knows the meaning of programs, the journal the format of
//! records.
//! Read next: `surface/command.rs`.
#![allow(
    rustdoc::invalid_html_tags,
    reason = "docstrings of arguments are help texts, which show Preserves records"
)]

mod languages;
mod text;
mod settings;
mod history;
mod world;
mod owner;
mod verb;
mod workbench;
mod surface;
mod start;

pub use start::start;
pub use workbench::format;
