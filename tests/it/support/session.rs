//! An interactive session on the kernel and the standard library alone, for scripts.
//!
//! INVARIANT: each input ends or raises; no script reaches the world, so policy allows it nothing,
//! and any other request to the host is an error.
//! Read next: `script.rs`.

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Expander, LibraryName};
use duet_kernel::heap::kind::condition;
use duet_kernel::heap::{Kind, Limits};
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::printer::{Style, print};
use duet_kernel::transformer::TransformerMachine;
use duet_kernel::value::Value;
use duet_modules::resolver::Resolver;
use duet_modules::source::embedded::Embedded;
use duet_runtime::scheme::host;

use super::script::{Evaluate, Raised};

const LIMITS: Limits = Limits { bytes_max: 64 << 20 };
const FUEL: i64 = 50_000_000;
const PRINTED_CHARACTERS_MAX: usize = 1 << 20;

/// A session with definitions that last from one input to the next.
pub(crate) struct Session {
    machine: Machine,
    instance: Instance,
    code: CodeSpace,
    expander: Expander,
    libraries: Resolver,
}

impl Session {
    pub(crate) fn new() -> Session {
        let code = CodeSpace::new(&host::primitives());
        let defaults = [["duet", "base"], ["duet", "dataspace"]];
        let defaults = defaults.map(|parts| LibraryName {
            parts: parts.map(Name::from).to_vec(),
        });
        let expander = Expander::new(code.signatures(), defaults.to_vec())
            .with_transformers(Box::new(TransformerMachine::new(&host::primitives())));
        let libraries = Resolver::new(vec![Box::new(Embedded::new("stdlib", duet_stdlib::FILES))]);
        let mut machine = Machine::new();
        machine.set_native(super::native::mode());
        machine.set_stress(super::native::is_stressed());
        Session {
            machine,
            instance: Instance::new(LIMITS),
            code,
            expander,
            libraries,
        }
    }

    fn run_unit(&mut self, unit: usize) -> Result<Value, Raised> {
        // As in the runtime, values from outside enter without a collection and may cross the
        // limit.
        self.instance.heap.set_lenient(true);
        let procedure = self
            .instance
            .unit_procedure(&self.code, unit)
            .map_err(|error| host_error(&error))?;
        self.machine.start(&mut self.instance, procedure, &[]);
        let mut fuel = FUEL;
        self.instance.link(&self.code).map_err(|error| host_error(&error))?;
        self.instance.heap.set_lenient(false);
        let outcome = loop {
            let outcome = self
                .machine
                .run(&mut self.instance, &self.code, &mut fuel)
                .map_err(|error| host_error(&error))?;
            if let Outcome::Request { primitive, .. } = outcome
                && self.is_question(primitive)
            {
                self.deny()?;
                continue;
            }
            break outcome;
        };
        match outcome {
            Outcome::Finished(value) => Ok(value),
            Outcome::Uncaught(object) => {
                let raised = self.raised(object);
                // A run would abort the turn; here, a collection makes room for the next form.
                self.instance.heap.collect_major(&mut [], &self.code);
                Err(raised)
            }
            Outcome::OutOfFuel => Err(Raised {
                kind: "out-of-fuel".into(),
                message: "the script does not end".into(),
            }),
            Outcome::Exhausted => Err(Raised {
                kind: "memory-exhausted".into(),
                message: "the script does little but look for memory".into(),
            }),
            Outcome::Request { primitive, .. } => {
                let name = self.code.primitives()[primitive as usize].name;
                Err(Raised {
                    kind: "host-request".into(),
                    message: format!("the script asks the host for {name}"),
                })
            }
        }
    }

    /// Whether a request only asks what policy would allow.
    fn is_question(&self, primitive: u32) -> bool {
        self.code.primitives()[primitive as usize].name == "%explain"
    }

    /// Answers that policy allows nothing, because a script has no grants.
    fn deny(&mut self) -> Result<(), Raised> {
        let heap = &mut self.instance.heap;
        let denied = heap.intern("deny").map_err(|error| host_error(&error))?;
        let answer = heap.cons(denied, Value::NIL).map_err(|error| host_error(&error))?;
        self.machine.resume(answer);
        Ok(())
    }

    fn raised(&self, object: Value) -> Raised {
        let heap = &self.instance.heap;
        if !heap.is_kind(object, Kind::Condition) {
            return Raised {
                kind: self.printed(object),
                message: "a raised object".into(),
            };
        }
        let message = heap.field(object, condition::MESSAGE);
        Raised {
            kind: self.printed(heap.field(object, condition::KIND)),
            message: if heap.is_string(message) {
                heap.string_text(message)
            } else {
                self.printed(message)
            },
        }
    }

    fn printed(&self, value: Value) -> String {
        print(
            &self.instance.heap,
            &self.code,
            value,
            Style::Write,
            PRINTED_CHARACTERS_MAX,
        )
        .unwrap_or_default()
    }
}

impl Evaluate for Session {
    fn evaluate(&mut self, text: &str) -> Result<String, Raised> {
        let expansion = self
            .expander
            .expand_interaction("script", text, &mut self.libraries)
            .map_err(|errors| {
                let messages: Vec<_> = errors.iter().map(|error| error.kind.to_string()).collect();
                Raised {
                    kind: "syntax".into(),
                    message: messages.join("; "),
                }
            })?;
        let mut value = Value::UNSPECIFIED;
        for unit in &expansion.units {
            let compiled = compile(unit, &self.code).map_err(|error| host_error(&error))?;
            let number = self.code.load(&compiled).map_err(|error| host_error(&error))?;
            value = self.run_unit(number)?;
        }
        Ok(self.printed(value))
    }
}

fn host_error(error: &dyn std::fmt::Display) -> Raised {
    Raised {
        kind: "host".into(),
        message: error.to_string(),
    }
}
