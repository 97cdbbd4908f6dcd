//! The procedures whose calls the prompt shows.
//!
//! INVARIANT: what is shown changes no record: the names are the prompt's, and no text of the run.
//! It does not follow calls; the machine does.
//! Read next: `runtime/src/scheme/calls.rs`.

use duet_drivers::text::line;

use super::prompt::Evaluated;
use super::session::Live;
use crate::text::error::CommandError;
use crate::text::terminal::Terminal;

impl Live {
    /// Shows the calls of a procedure and their results from here on; without a name, lists the
    /// procedures of which it does.
    pub(super) fn trace(&mut self, name: Option<&str>, terminal: &mut Terminal) -> Evaluated {
        let Some(name) = name else {
            terminal.message(if self.prompt_state.traced.is_empty() {
                "no procedure is traced; `,trace NAME` traces one".to_owned()
            } else {
                format!("traced: {}", self.traced_names().join(", "))
            });
            return Evaluated::Done;
        };
        if let Err(failure) = self.owned.inspector().require_calls(name) {
            self.tell_failure(&failure, terminal);
            return Evaluated::Failed;
        }
        self.prompt_state.traced.insert(name.to_owned());
        self.follow_traced(terminal)
    }

    /// Shows the calls of a procedure no more, or those of all.
    pub(super) fn untrace(&mut self, name: Option<&str>, terminal: &mut Terminal) -> Evaluated {
        match name {
            None => self.prompt_state.traced.clear(),
            Some(name) if self.prompt_state.traced.remove(name) => {}
            Some(name) => {
                terminal.message(format!("`{name}` is not traced; `,trace` lists what is"));
                return Evaluated::Failed;
            }
        }
        self.follow_traced(terminal)
    }

    /// Has the calls of the traced names followed, which may stand for other procedures than
    /// before.
    fn follow_traced(&mut self, terminal: &mut Terminal) -> Evaluated {
        let names = self.traced_names();
        match self.owned.inspector().follow_calls(&names) {
            Ok(()) => Evaluated::Done,
            Err(failure) => {
                self.tell_failure(&failure, terminal);
                Evaluated::Failed
            }
        }
    }

    /// Prepares the trace before a text is evaluated: a name may stand for something else by now,
    /// or the run may have been opened again. Whatever is wrong is said about the text.
    pub(super) fn renew_traced(&mut self) {
        if !self.prompt_state.traced.is_empty() {
            let names = self.traced_names();
            let _ = self.owned.inspector().follow_calls(&names);
        }
    }

    /// Takes a turn, if calls are traced, and shows them before the output of the turn leaves.
    ///
    /// # Errors
    /// If the run fails.
    pub(super) fn tell_next_calls(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        if !self.prompt_state.traced.is_empty() {
            self.owned.take_turn()?;
            self.tell_calls(terminal);
        }
        Ok(())
    }

    /// Shows the calls since the last time.
    pub(super) fn tell_calls(&mut self, terminal: &mut Terminal) {
        if self.prompt_state.traced.is_empty() {
            return;
        }
        for told in self.owned.inspector().take_call_lines() {
            terminal.message(line(&told).as_ref());
        }
    }

    fn traced_names(&self) -> Vec<String> {
        self.prompt_state.traced.iter().cloned().collect()
    }
}
