//! The fuel that a computation uses, by procedure.
//!
//! INVARIANT: counting changes neither the result of a computation nor the fuel it takes; the same
//! computation has the same counts on every machine.
//! It does not measure time.
//! Read next: `programs.rs`.

use std::collections::BTreeMap;

use duet_kernel::code::CodeSpace;
use duet_kernel::heap::HeapFull;
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::value::Value;

/// Units of fuel by procedure.
#[derive(Debug, Default)]
pub(super) struct Profile(pub(super) BTreeMap<Procedure, u64>);

/// A procedure of a profile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Procedure {
    /// Its name; `None` for a procedure without one and for code outside of procedures.
    pub name: Option<String>,
    /// The name of its library or text.
    pub unit: String,
}

impl Profile {
    /// Runs the machine as [`Machine::run`] does, in steps of one unit of fuel.
    pub(super) fn run(
        &mut self,
        machine: &mut Machine,
        instance: &mut Instance,
        code: &CodeSpace,
        fuel: &mut i64,
    ) -> Result<Outcome, HeapFull> {
        loop {
            let granted = (*fuel).min(1);
            let mut left = granted;
            let outcome = machine.run(instance, code, &mut left)?;
            let used = granted - left;
            *fuel = fuel.saturating_sub(used);
            if outcome != Outcome::OutOfFuel {
                return Ok(outcome);
            }
            self.count(machine, code, used.unsigned_abs());
            if *fuel <= 0 {
                return Ok(outcome);
            }
            machine.resume(Value::UNSPECIFIED);
        }
    }

    fn count(&mut self, machine: &Machine, code: &CodeSpace, used: u64) {
        let Some(position) = machine.interrupted_at() else {
            return;
        };
        let block = code.block_at(position);
        let unit = code.unit_at(position).map(|unit| unit.name.as_str().to_owned());
        let procedure = Procedure {
            name: block.and_then(|block| block.name.as_ref()).map(ToString::to_string),
            unit: unit.unwrap_or_default(),
        };
        *self.0.entry(procedure).or_default() += used;
    }
}
