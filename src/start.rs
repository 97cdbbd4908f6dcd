//! The start of the process: as the guard of a program, or as a command.
//!
//! INVARIANT: nothing else decides what a process is, and whom it trusts.
//! It does not know the commands; `surface/command.rs` does.
//! Read next: `surface/command.rs`.

use std::ffi::OsString;
use std::process;

use crate::surface::command;
use crate::text::error::ExitCode;
use crate::text::terminal::Terminal;

/// Does what the words behind the name of the program say.
pub fn start(words: Vec<OsString>) -> process::ExitCode {
    if duet_drivers::guard::is_guard(&words) {
        duet_drivers::guard::watch::serve();
        return process::ExitCode::SUCCESS;
    }
    let mut terminal = Terminal::standard();
    #[expect(clippy::disallowed_methods, reason = "it says whom this machine trusts")]
    let certificates = std::env::var_os("SSL_CERT_FILE").filter(|file| !file.is_empty());
    if let Some(file) = certificates {
        duet_drivers::tool::http::trust(file.into());
    }
    let ExitCode(code) = command::dispatch(words, &mut terminal);
    process::ExitCode::from(code)
}
