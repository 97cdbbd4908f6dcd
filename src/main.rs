//! The program `duet`.
//!
//! The command is a library, because cargo compiles a library while it still optimises the crates
//! that the library uses; a program waits for them.
//! INVARIANT: it passes its arguments on, and has no code besides.
//! Read next: `lib.rs`.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the arguments"
    )]
    let words = std::env::args_os().skip(1).collect();
    duet::start(words)
}
