//! What a world hears next, and what a wait ends with.
//!
//! INVARIANT: a wait ends with one thing, which the caller has to take.
//! It waits for nothing; `due.rs` and `incoming.rs` do. Read next: `due.rs`.

use duet_runtime::driver::Input;

use crate::report::Report;

/// What comes next.
pub(super) enum Due {
    Timer(Input),
    Report(Report),
}

/// What a wait ended with.
#[derive(Debug)]
pub enum Happening {
    /// An input of the run.
    Input(Input),
    /// Somebody has woken the thread that runs turns.
    Woken,
    /// Another process asks for something.
    Asked,
    /// No effect in progress can answer any more.
    Nothing,
}
