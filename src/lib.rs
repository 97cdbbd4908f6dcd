//! The `duet` command, as a library: its program uses `start`, and editors may use [`format`](mod@format).
//!
//! Owns the commands, the rendering of errors and the wiring of the crates below.
//! INVARIANT: data goes to standard output and messages to standard error; every way to end has the
//! exit code that `ExitCode` names.
//! It knows no semantics: the runtime knows the meaning of programs, the journal the format of
//! records.
//! Read next: `command.rs`.
#![allow(
    rustdoc::invalid_html_tags,
    reason = "docstrings of arguments are help texts, which show Preserves records"
)]

mod changes;
mod command;
mod configuration;
mod datum;
mod detach;
mod doors;
mod editing;
mod error;
mod exchange;
mod export_file;
mod exports;
mod following;
pub mod format;
mod gatekeeper;
mod grants;
mod graph;
mod imported;
mod journal;
mod launch;
mod mail;
mod marks;
mod mcp;
mod migrate;
mod moves;
mod native;
mod origins;
mod owned_run;
mod pager;
mod policy;
mod preload;
mod query;
mod reach;
mod records;
mod redact;
mod redeliver;
mod refusals;
mod render;
mod repl;
mod rerun;
mod saying;
mod similar;
mod standing;
mod start;
mod state_folder;
mod terminal;
mod testing;
mod turn;
mod ui;
mod value_json;
mod value_text;
mod verb;
mod version;
mod watch;
mod webhooks;
mod work;
mod workspaces;
mod world_options;

pub use start::start;
