//! The calls of procedures that a person follows at a prompt, and their results.
//!
//! INVARIANT: following changes no record: names are looked up beside the run, and the machine does
//! the same with and without it.
//! It does not know where the lines are shown.
//! Read next: `kernel/src/machine/calls.rs`.

use duet_kernel::expander::Meaning;
use duet_kernel::heap::Kind;

use super::actor::SchemeActor;
use super::programs::SchemePrograms;
use crate::model::failure::Failure;
use crate::model::identity::{ActorId, Callable};
use crate::model::manifest::Manifest;

impl SchemePrograms {
    /// Follows the procedures that these names stand for from here on, instead of others; a name
    /// that stands for none by now is left out.
    ///
    /// # Errors
    /// The failure that evaluating a text would end in.
    pub fn follow_calls(
        &mut self,
        actor: &mut SchemeActor,
        manifest: &Manifest,
        names: &[String],
    ) -> Result<(), Failure> {
        let mut followed = Vec::new();
        for name in names {
            if let Meaning::Global(global) = self.meaning(actor, manifest, name)? {
                followed.push(global);
            }
        }
        self.machine.follow_calls(followed);
        Ok(())
    }

    /// Says why the calls of what a name stands for cannot be followed.
    ///
    /// # Errors
    /// `no-calls` if they cannot; the failure that evaluating a text would end in.
    pub fn require_calls(&mut self, actor: &mut SchemeActor, manifest: &Manifest, name: &str) -> Result<(), Failure> {
        let without = |why: &str| Err(Failure::new("no-calls", format!("`{name}` {why}")));
        match self.meaning(actor, manifest, name)? {
            Meaning::Nothing => without("is not bound to anything"),
            Meaning::Keyword => without("is a keyword, which nobody calls"),
            Meaning::Primitive => without("is a procedure of the machine; only those made by `lambda` can be traced"),
            Meaning::Global(global) => {
                actor.instance.heap.expand();
                match actor.instance.global(&self.code, &global) {
                    Some(value) if !actor.instance.heap.is_kind(value, Kind::Closure) => {
                        without("does not stand for a procedure made by `lambda`")
                    }
                    Some(_) | None => Ok(()),
                }
            }
        }
    }

    /// Returns the lines about calls since the last call of this function.
    pub fn take_call_lines(&mut self) -> Vec<String> {
        self.machine.take_call_lines()
    }

    /// Keeps the open calls of the computation that has just been captured.
    pub(super) fn keep_calls(&mut self, actor: ActorId, continuation: Callable) {
        let open = self.machine.take_captured_calls();
        if !open.is_empty() {
            self.waiting_calls.insert((actor, continuation), open);
        }
    }

    /// Lets the calls of the computation that goes on now go on.
    pub(super) fn resume_calls(&mut self, actor: ActorId, continuation: Callable) {
        if let Some(open) = self.waiting_calls.remove(&(actor, continuation)) {
            self.machine.reinstate_calls(open);
        }
    }
}
