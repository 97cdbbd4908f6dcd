//! The `duet` command: what a person types, and what they are shown.
//!
//! Owns the commands, the rendering of errors and the wiring of the crates below.
//! INVARIANT: data goes to standard output and messages to standard error; every way to end has the exit code that [`Code`] names.
//! It knows no semantics: what a program does is the runtime's affair, what is stored the journal's.
//! Read next: `command.rs`.

mod arguments;
mod brief;
mod changes;
mod command;
mod exports;
mod failure;
mod graph;
mod journal;
mod launch;
mod marks;
mod moves;
mod outfit;
mod parcel;
mod query;
mod redact;
mod redeliver;
mod render;
mod repl;
mod session;
mod simulation;
mod terminal;
mod turn;

use std::process::ExitCode;

use duet_drivers::huge_pages;

use crate::failure::Code;
use crate::terminal::Terminal;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    huge_pages::put_off();
    let mut terminal = Terminal::standard();
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the arguments"
    )]
    let words = std::env::args_os().skip(1).collect();
    let Code(code) = command::dispatch(words, &mut terminal);
    ExitCode::from(code)
}
