//! The streams of a run, as whoever drives it sees them.
//!
//! INVARIANT: it writes nothing that a program could have written.
//! The console writes; read next: the crate's `console.rs`.

use super::World;

impl World {
    /// Says whether the reader of standard output has closed it, as `| head` does; the run then
    /// gets [`Input::Interrupt`](duet_runtime::driver::Input::Interrupt) and should end quietly.
    pub fn is_output_closed(&self) -> bool {
        self.console().is_output_closed()
    }

    /// Ends the line that the program has left open on the terminal.
    pub fn end_line(&self) {
        self.console().end_line();
    }
}
