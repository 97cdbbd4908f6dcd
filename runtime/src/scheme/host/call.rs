//! One call of a host procedure: its arguments, its answer, and the conditions that it raises.
//!
//! INVARIANT: a procedure reaches the run only through the call's turn.
//! It does not know the families; `../host.rs` does.
//! Read next: `../host.rs`.

use duet_kernel::boundary::BoundaryError;
use duet_kernel::code::CodeSpace;
use duet_kernel::expander::Expander;
use duet_kernel::heap::{Heap, HeapFull};
use duet_kernel::machine::{BacktraceEntry, Instance, Machine};
use duet_kernel::value::{Immediate, Value};
use preserves::IOValue;

use super::policy;
use crate::model::identity::{Callable, FacetId};
use crate::model::value::Fact;
use crate::scheme::convert::{self, Class};
use crate::scheme::shared_definitions::SharedDefinitions;
use crate::state::refusal::Refusal;
use crate::turn::activation::Activation;
use crate::turn::task::Until;

/// Bytes of text that are copied out of the heap for a unit of fuel; the copy is checked and kept.
pub(in crate::scheme) const COPIED_BYTES: u64 = 32;

/// A host procedure.
pub struct HostProcedure {
    /// Its stable name.
    pub name: &'static str,
    /// Its parameters, as the manual shows them.
    pub parameters: &'static str,
    /// The minimum number of arguments.
    pub least: u8,
    /// The maximum number of arguments, if there is one.
    pub most: Option<u8>,
    /// Its effect, its requirements and its errors.
    pub documentation: &'static str,
    pub(in crate::scheme) body: fn(&mut Call<'_>) -> Result<Reply, Fault>,
}

/// The answer of a host procedure.
pub(in crate::scheme) enum Reply {
    /// The call returns this.
    Value(Value),
    /// The fiber parks; the call returns the value that resumes it.
    Park(Until),
    /// The same, but the call returns a pair of the position of the condition that held and the
    /// value.
    Choose(Until),
    /// The call returns a list of procedures that, called in order, evaluate a text.
    Compile {
        /// The text.
        text: String,
        /// The import sets of the environment; empty for the mutable one.
        environment: String,
    },
    /// The same for a text of several forms; if it cannot be compiled, the call returns the failure
    /// as a record.
    CompileText {
        /// The text.
        text: String,
        /// As for a compiled datum.
        environment: String,
        /// Its name in messages, if its place among the actor's texts is not its name.
        name: Option<String>,
    },
    /// The call returns the descriptions of this name.
    Describe(String),
    /// The call returns these import sets, once their environment has been made.
    Environment(String),
    /// The actor ends.
    Exit(u64),
}

/// Why a host procedure fails; the program receives it as a condition.
pub(in crate::scheme) enum Fault {
    /// The memory limit is reached.
    HeapFull,
    /// A value cannot leave the heap.
    Boundary(BoundaryError),
    /// The turn refuses the operation.
    Refused(Refusal),
    /// An argument has the wrong type.
    WrongType {
        argument: usize,
        expected: &'static str,
        value: Value,
    },
    /// Another condition.
    Condition {
        kind: &'static str,
        message: String,
        irritants: Vec<Value>,
    },
}

impl From<HeapFull> for Fault {
    fn from(_: HeapFull) -> Self {
        Self::HeapFull
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Fault {
    pub(in crate::scheme) fn condition_of(kind: &'static str, message: &str, irritants: Vec<Value>) -> Self {
        Self::Condition {
            kind,
            message: message.to_owned(),
            irritants,
        }
    }

    /// Makes the condition that the program receives.
    pub(in crate::scheme) fn condition(&self, heap: &mut Heap, procedure: &str) -> Result<Value, HeapFull> {
        // A name with this prefix is the library's own; the program called the name without it.
        let caller = match procedure {
            name if name.starts_with('%') => String::new(),
            name => format!("{name}: "),
        };
        let procedure = procedure.trim_start_matches('%');
        match self {
            Self::HeapFull => convert::make_condition(heap, "out-of-memory", "the memory limit is reached", &[]),
            Self::Boundary(error) => convert::boundary_condition(heap, error),
            Self::Refused(Refusal::Policy(ruling)) => policy::condition(heap, procedure, ruling),
            Self::Refused(
                refusal @ (Refusal::NotGranted { capability, .. } | Refusal::NotListed { capability, .. }),
            ) => {
                let name = heap.intern(capability)?;
                convert::make_condition(heap, "capability-denied", &format!("{caller}{refusal}"), &[name])
            }
            Self::Refused(refusal) => {
                convert::make_condition(heap, refusal_kind(refusal), &format!("{procedure}: {refusal}"), &[])
            }
            Self::WrongType {
                argument,
                expected,
                value,
            } => {
                let message = format!("argument {} of {procedure} must be {expected}", argument + 1);
                convert::make_condition(heap, "wrong-type", &message, &[*value])
            }
            Self::Condition {
                kind,
                message,
                irritants,
            } => convert::make_condition(heap, kind, message, irritants),
        }
    }
}

/// Returns the kind of condition for a refusal.
fn refusal_kind(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoFacet(_) | Refusal::NoActor(_) | Refusal::HasChildren(_) => "facet-stopped",
        Refusal::NoObserver(_) => "not-watching",
        Refusal::Pure => "effect-in-predicate",
        Refusal::Revoked(_)
        | Refusal::Unfit(_)
        | Refusal::NotOwner(_)
        | Refusal::NotGranted { .. }
        | Refusal::NotListed { .. }
        | Refusal::Excess { .. } => "capability-denied",
        Refusal::TooNarrow(_) => "too-large",
        Refusal::TooManyFacts(_) => "too-many-facts",
        Refusal::NoRole { .. } => "unknown-role",
        Refusal::Attached(_) => "already-attached",
        Refusal::NotAttached(_) => "not-attached",
        Refusal::Policy(_) => policy::DENIED,
        Refusal::Value(_) => "too-large",
        Refusal::NoWait(_)
        | Refusal::NoFiber(_)
        | Refusal::NoRequest(_)
        | Refusal::NoRestart(_)
        | Refusal::NoCallable => "refused",
    }
}

/// One call of a host procedure.
pub(in crate::scheme) struct Call<'a> {
    pub(in crate::scheme) procedure: &'static HostProcedure,
    pub(in crate::scheme) instance: &'a mut Instance,
    pub(in crate::scheme) code: &'a CodeSpace,
    pub(in crate::scheme) turn: &'a mut Activation,
    pub(in crate::scheme) arguments: &'a [Value],
    pub(in crate::scheme) command_line: &'a [String],
    /// The definitions of the main program that its entities evaluate, if it has roles.
    pub(in crate::scheme) shared: Option<&'a SharedDefinitions>,
    /// The expander, which knows the texts of the program.
    pub(in crate::scheme) expander: Option<&'a Expander>,
    /// The machine that waits for the answer.
    pub(in crate::scheme) machine: Option<&'a Machine>,
}

impl<'a> Call<'a> {
    pub(in crate::scheme) fn new(
        procedure: &'static HostProcedure,
        instance: &'a mut Instance,
        code: &'a CodeSpace,
        turn: &'a mut Activation,
        arguments: &'a [Value],
    ) -> Self {
        Self {
            procedure,
            instance,
            code,
            turn,
            arguments,
            command_line: &[],
            shared: None,
            expander: None,
            machine: None,
        }
    }

    /// Returns the frames that are active at the call.
    pub(in crate::scheme) fn frames(&self) -> Vec<BacktraceEntry> {
        self.machine
            .map(|machine| machine.waiting_frames(self.instance, self.code))
            .unwrap_or_default()
    }

    /// Returns an argument; the arity guarantees that it exists.
    pub(in crate::scheme) fn argument(&self, argument: usize) -> Value {
        self.arguments.get(argument).copied().unwrap_or(Value::UNSPECIFIED)
    }

    pub(in crate::scheme) fn wrong_type(&self, argument: usize, expected: &'static str) -> Fault {
        Fault::WrongType {
            argument,
            expected,
            value: self.argument(argument),
        }
    }

    /// Copies an argument out of the heap.
    pub(in crate::scheme) fn datum(&self, argument: usize) -> Result<IOValue, Fault> {
        self.leave(self.argument(argument))
    }

    /// Copies an argument out of the heap as a fact.
    pub(in crate::scheme) fn fact(&self, argument: usize) -> Result<Fact, Fault> {
        self.packed(self.argument(argument))
    }

    /// Copies a value out of the heap as a fact.
    pub(in crate::scheme) fn packed(&self, value: Value) -> Result<Fact, Fault> {
        let packed = convert::pack(&self.instance.heap, value);
        packed.map(Fact::from).map_err(Fault::Boundary)
    }

    pub(in crate::scheme) fn leave(&self, value: Value) -> Result<IOValue, Fault> {
        convert::leave(&self.instance.heap, value).map_err(Fault::Boundary)
    }

    /// Returns the id that an argument refers to.
    pub(in crate::scheme) fn reference(
        &self,
        argument: usize,
        class: Class,
        expected: &'static str,
    ) -> Result<u64, Fault> {
        let referent = convert::referent(&self.instance.heap, class, self.argument(argument));
        referent.ok_or_else(|| self.wrong_type(argument, expected))
    }

    /// Returns the facet that a value refers to.
    pub(in crate::scheme) fn facet_of(&self, value: Value) -> Option<FacetId> {
        convert::referent(&self.instance.heap, Class::Facet, value).map(FacetId)
    }

    /// Makes a reference for the program.
    pub(in crate::scheme) fn refer(&mut self, class: Class, id: u64) -> Result<Reply, Fault> {
        Ok(Reply::Value(convert::reference(&mut self.instance.heap, class, id)?))
    }

    pub(in crate::scheme) fn is_procedure(&self, value: Value) -> bool {
        value.is_procedure_object() || value.is_immediate(Immediate::Primitive)
    }

    /// Makes a root of the procedure in an argument, so that the runtime can keep it.
    pub(in crate::scheme) fn procedure(&mut self, argument: usize) -> Result<Callable, Fault> {
        let procedure = self.argument(argument);
        if !self.is_procedure(procedure) {
            return Err(self.wrong_type(argument, "a procedure"));
        }
        self.root(procedure)
    }

    pub(in crate::scheme) fn root(&mut self, value: Value) -> Result<Callable, Fault> {
        Ok(Callable(self.instance.heap.root(value)?.0))
    }

    /// Returns the text of a string or symbol argument.
    pub(in crate::scheme) fn text(&self, argument: usize, expected: &'static str) -> Result<String, Fault> {
        self.name_of(self.argument(argument))
            .ok_or_else(|| self.wrong_type(argument, expected))
    }

    /// Returns an exact non-negative integer argument.
    pub(in crate::scheme) fn natural(&self, argument: usize) -> Result<u64, Fault> {
        let number = self
            .argument(argument)
            .as_fixnum()
            .and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| self.wrong_type(argument, "an exact non-negative integer"))
    }

    /// Makes a string for the program.
    pub(in crate::scheme) fn string(&mut self, text: &str) -> Result<Reply, Fault> {
        Ok(Reply::Value(self.instance.heap.string(text)?))
    }
}

/// The answer of a procedure without a result.
pub(in crate::scheme) const DONE: Result<Reply, Fault> = Ok(Reply::Value(Value::UNSPECIFIED));

/// Declares a family: `/// docstring`, then `"name" "parameters" [least, most] => function;`, with
/// `_` for no bound.
macro_rules! host_procedures {
    ($(
        $(#[doc = $documentation:literal])+
        $name:literal $parameters:literal [$least:literal, $most:tt] => $body:expr;
    )*) => {
        /// The family's table.
        pub(super) const TABLE: &[$crate::scheme::host::call::HostProcedure] = &[
            $($crate::scheme::host::call::HostProcedure {
                name: $name,
                parameters: $parameters,
                least: $least,
                most: host_procedures!(@most $most),
                documentation: concat!($($documentation, "\n"),+),
                body: $body,
            },)*
        ];
    };
    (@most _) => { None };
    (@most $most:literal) => { Some($most) };
}
pub(super) use host_procedures;
