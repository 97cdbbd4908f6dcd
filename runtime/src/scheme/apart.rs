//! Evaluating code of a changed text in an instance, apart from everything that a program does: the
//! libraries that are new, the migration of records, and the values that a person gives to frames.
//!
//! INVARIANT: it asks nobody for anything and ends within a budget of fuel; if it fails, the turn
//! that takes on the text fails.
//! It does not choose the code; `change.rs` does. Read next: `migration.rs`.

use duet_kernel::heap::HeapFull;
use duet_kernel::machine::Outcome;
use duet_kernel::primitive::has_console_output;
use duet_kernel::value::Value;

use super::actor::SchemeActor;
use super::convert;
use super::programs::SchemePrograms;
use crate::model::failure::Failure;

/// The maximum fuel of all evaluations of an instance for one changed text.
pub(super) const FUEL_MAX: i64 = 500_000_000;

/// The memory limit is reached, or an evaluation failed.
pub(super) fn full(_: HeapFull) -> Failure {
    Failure::new(Failure::OUT_OF_MEMORY, "the memory limit is reached")
}

/// The refusal of a changed text.
pub(super) fn refused(message: String) -> Failure {
    Failure::new("patch-refused", message)
}

/// A call of a procedure, for messages too.
pub(super) struct Call<'a> {
    pub(super) procedure: Value,
    pub(super) arguments: &'a [Value],
    /// Says for whom the call is made, as in "the migration of records of type order".
    pub(super) purpose: &'a str,
}

impl SchemePrograms {
    /// Returns whether an actor has evaluated a library that defines something.
    pub fn has_library(&self, actor: &SchemeActor, library: &str) -> bool {
        actor.instance.has_library(&self.code, library)
    }

    /// Calls a procedure of an instance.
    ///
    /// # Errors
    /// [`Failure`] if it raises, asks for anything, takes too long or too much memory.
    pub(super) fn call_apart(
        &mut self,
        actor: &mut SchemeActor,
        call: &Call<'_>,
        fuel: &mut i64,
    ) -> Result<Value, Failure> {
        let Self {
            machine, code, present, ..
        } = self;
        let expander = &present.expander;
        let (instance, purpose) = (&mut actor.instance, call.purpose);
        instance.link(code).map_err(full)?;
        machine.start(instance, call.procedure, call.arguments);
        instance.heap.set_lenient(false);
        let outcome = machine.run(instance, code, fuel);
        instance.heap.set_lenient(true);
        let failure = match outcome {
            Ok(Outcome::Finished(_)) if has_console_output(&instance.heap) => {
                refused(format!("{purpose} writes to the console, but it may only compute"))
            }
            Ok(Outcome::Finished(value)) => return Ok(value),
            Ok(Outcome::OutOfFuel) => refused(format!("{purpose} takes more than {FUEL_MAX} units of fuel")),
            Ok(Outcome::Exhausted) | Err(HeapFull) => full(HeapFull),
            Ok(Outcome::Request { primitive, .. }) => {
                let name = code.primitives()[primitive as usize].name;
                refused(format!("{purpose} calls `{name}`, but it may only compute"))
            }
            Ok(Outcome::Uncaught(object)) => {
                let raised = machine.raised_frames(&instance.heap, code);
                let mut failure = convert::failure(&instance.heap, code, expander, object, raised);
                failure.message = format!("{purpose} raises {}: {}", failure.kind, failure.message);
                failure.kind = "patch-refused".to_owned();
                failure
            }
        };
        machine.clear(instance);
        Err(failure)
    }

    /// Evaluates a unit of an instance, and returns its value.
    ///
    /// # Errors
    /// As [`call_apart`](Self::call_apart).
    pub(super) fn evaluate_apart(
        &mut self,
        actor: &mut SchemeActor,
        unit: usize,
        purpose: &str,
        fuel: &mut i64,
    ) -> Result<Value, Failure> {
        let instance = &mut actor.instance;
        instance.link_apart(&self.code, unit).map_err(full)?;
        let procedure = instance.unit_procedure(&self.code, unit).map_err(full)?;
        let call = Call {
            procedure,
            arguments: &[],
            purpose,
        };
        self.call_apart(actor, &call, fuel)
    }

    /// Evaluates those of some libraries that the instance does not have.
    ///
    /// # Errors
    /// As [`call_apart`](Self::call_apart).
    pub(super) fn evaluate_libraries(
        &mut self,
        actor: &mut SchemeActor,
        libraries: &[usize],
        fuel: &mut i64,
    ) -> Result<(), Failure> {
        for &unit in libraries {
            let name = self.code.units()[unit].name.clone();
            if !self.has_library(actor, name.as_str()) {
                self.evaluate_apart(actor, unit, &format!("the library {name}, which is new,"), fuel)?;
            }
        }
        Ok(())
    }
}
