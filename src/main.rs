//! The `duet` command.
//!
//! Owns the commands, the rendering of errors and the wiring of the crates below.
//! INVARIANT: data goes to standard output and messages to standard error; every way to end has the
//! exit code that [`ExitCode`] names.
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
mod format;
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

use crate::error::ExitCode;
use crate::terminal::Terminal;

fn main() -> std::process::ExitCode {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the arguments"
    )]
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if duet_drivers::guard::is_guard(&words) {
        duet_drivers::guard::watch::serve();
        return std::process::ExitCode::SUCCESS;
    }
    let mut terminal = Terminal::standard();
    #[expect(clippy::disallowed_methods, reason = "it says whom this machine trusts")]
    let certificates = std::env::var_os("SSL_CERT_FILE").filter(|file| !file.is_empty());
    if let Some(file) = certificates {
        duet_drivers::tool::http::trust(file.into());
    }
    let ExitCode(code) = command::dispatch(words, &mut terminal);
    std::process::ExitCode::from(code)
}
