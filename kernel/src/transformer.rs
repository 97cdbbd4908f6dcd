//! Running procedural macros: the machine that executes code while a program is expanded.
//!
//! Owns one machine instance, which holds the transformers and the libraries that they use; it is
//! made on first use. A syntax object is an opaque reference into the expander's store; the
//! primitives on syntax objects are requests, answered from that store.
//! INVARIANT: a call that fails leaves no trace in the instance. Every call ends within a budget of
//! calls and bytes. A request to the outside world is an error, so that expansion is a function of
//! the texts.
//! It does not know scopes, patterns or templates; `syntax/` does.
//! Read next: `transformer/operation.rs`, `transformer/convert.rs`.

mod convert;
mod operation;

use std::fmt;

use crate::code::CodeSpace;
use crate::compiler::compile;
use crate::core::Unit;
use crate::datum::Span;
use crate::expander::Transformers;
use crate::heap::kind::condition;
use crate::heap::{Heap, HeapFull, Kind, Limits, Register, RootId};
use crate::listing::shortened;
use crate::machine::{Instance, Machine, Outcome, backtrace};
use crate::primitive::Primitive;
use crate::printer::write_limited;
use crate::syntax::Syntax;
use crate::syntax::procedural::{Evaluated, Expanding, TransformerFault, TransformerId};
use crate::value::Value;
use convert::Unconvertible;
use operation::{Operation, OperationContext, Stop};

/// The maximum number of procedure calls in one transformer call; work on syntax objects counts as
/// calls.
const LIMIT_CALLS: u64 = 20_000_000;
/// The maximum memory of all transformers of a session.
const LIMIT_BYTES: usize = 256 << 20;
/// The least cost of an operation on syntax objects, in calls.
const COST_OPERATION: u64 = 8;
/// The number of nodes or heap words that an operation may visit or make per additional call.
const WORK_PER_CALL: u64 = 4;
/// The maximum length of an object in a message, in characters.
const SHOWN_CHARACTERS: usize = 200;

/// Runs the transformers of one session.
pub struct TransformerMachine {
    host_primitives: Vec<Primitive>,
    session: Option<Box<Session>>,
    has_changed: bool,
}

/// The state that exists once a transformer was needed.
struct Session {
    machine: Machine,
    instance: Instance,
    code: CodeSpace,
    /// The operation that answers a request, by the primitive's number.
    operations: Vec<Option<Operation>>,
    /// Whether the last evaluation or call that succeeded has changed what was there before.
    has_changed: bool,
}

impl fmt::Debug for TransformerMachine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = self.session.as_ref().map(|session| session.code.units().len());
        formatter
            .debug_struct("TransformerMachine")
            .field("units", &units)
            .finish_non_exhaustive()
    }
}

impl TransformerMachine {
    /// Returns a machine for programs that may mention these procedures of a host. A transformer
    /// that calls one of them fails.
    pub fn new(host_primitives: &[Primitive]) -> TransformerMachine {
        TransformerMachine {
            host_primitives: host_primitives.to_vec(),
            session: None,
            has_changed: false,
        }
    }

    fn session(&mut self) -> &mut Session {
        self.session.get_or_insert_with(|| {
            let code = CodeSpace::for_transformers(&self.host_primitives);
            let operations = code
                .primitives()
                .iter()
                .map(|primitive| operation::find(primitive.name));
            Box::new(Session {
                machine: Machine::new(),
                instance: Instance::new(Limits { bytes_max: LIMIT_BYTES }),
                operations: operations.collect(),
                has_changed: false,
                code,
            })
        })
    }
}

impl Transformers for TransformerMachine {
    fn evaluate(&mut self, unit: &Unit, expanding: &mut Expanding<'_>) -> Result<Evaluated, TransformerFault> {
        let session = self.session();
        let compiled =
            compile(unit, &session.code).map_err(|error| TransformerFault::Uncompilable(error.to_string()))?;
        let loaded = session.code.load(&compiled);
        let number = loaded.map_err(|error| TransformerFault::Uncompilable(error.to_string()))?;
        let globals = session.globals();
        let evaluated = session.in_turn(|session| {
            let procedure = session.instance.unit_procedure(&session.code, number)?;
            let value = session.call(procedure, &[], expanding)?;
            session.keep(value)
        })?;
        // The table of globals may have moved, because it grew.
        let now = session.globals();
        let mut globals = globals.iter().zip(&now);
        let is_assigned = globals.any(|(before, now)| before != now && *before != Value::UNDEFINED);
        self.has_changed |= is_assigned || session.has_changed;
        Ok(evaluated)
    }

    fn apply(
        &mut self,
        transformer: TransformerId,
        form: Syntax,
        expanding: &mut Expanding<'_>,
    ) -> Result<Syntax, TransformerFault> {
        let session = self.session();
        let made = session.in_turn(|session| {
            let heap = &mut session.instance.heap;
            let procedure = heap.root_value(RootId(transformer.0));
            let argument = convert::to_value(heap, form)?;
            let value = session.call(procedure, &[argument], expanding)?;
            let made = convert::to_syntax(&session.instance.heap, value, expanding, None);
            made.map_err(|problem| match problem {
                Unconvertible::NotSyntax(problem) => {
                    TransformerFault::NotSyntax(problem.shown(&session.instance.heap, &session.code))
                }
                Unconvertible::TooMuch => TransformerFault::TooMuchSyntax,
            })
        })?;
        self.has_changed |= session.has_changed;
        Ok(made)
    }

    fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }
}

impl From<HeapFull> for TransformerFault {
    fn from(_: HeapFull) -> TransformerFault {
        TransformerFault::TooMuchMemory(LIMIT_BYTES)
    }
}

impl Session {
    /// Runs an action that leaves no trace if it fails.
    fn in_turn<T>(
        &mut self,
        action: impl FnOnce(&mut Session) -> Result<T, TransformerFault>,
    ) -> Result<T, TransformerFault> {
        self.instance.heap.begin_turn();
        let outcome = action(self);
        self.machine.clear(&mut self.instance);
        if outcome.is_ok() {
            self.has_changed = self.instance.heap.has_turn_changed();
            self.instance.heap.commit_turn();
        } else {
            self.instance.heap.abort_turn();
        }
        outcome
    }

    /// The values of all globals.
    fn globals(&self) -> Vec<Value> {
        let heap = &self.instance.heap;
        let table = heap.register(Register::Globals);
        match table.is_true() {
            true => (0..heap.object_length(table))
                .map(|place| heap.field(table, place))
                .collect(),
            false => Vec::new(),
        }
    }

    /// Calls a procedure and answers its requests until it ends.
    fn call(
        &mut self,
        procedure: Value,
        arguments: &[Value],
        expanding: &mut Expanding<'_>,
    ) -> Result<Value, TransformerFault> {
        self.machine.start(&mut self.instance, procedure, arguments);
        self.instance.heap.stop_on(expanding.store.stop.clone());
        let budget = LIMIT_CALLS.min(*expanding.calls_left);
        let mut fuel = budget.cast_signed();
        let outcome = self.run(&mut fuel, expanding);
        self.instance.heap.stop_on(None);
        let used = budget.cast_signed().saturating_sub(fuel).unsigned_abs();
        *expanding.calls_left = expanding.calls_left.saturating_sub(used);
        outcome
    }

    fn run(&mut self, fuel: &mut i64, expanding: &mut Expanding<'_>) -> Result<Value, TransformerFault> {
        loop {
            match self.machine.run(&mut self.instance, &self.code, fuel)? {
                Outcome::Finished(value) => return Ok(value),
                Outcome::OutOfFuel => return Err(TransformerFault::Endless(LIMIT_CALLS)),
                Outcome::Uncaught(object) => return Err(self.uncaught(object, expanding)),
                Outcome::Exhausted => return Err(HeapFull.into()),
                Outcome::Request { primitive, count } => {
                    let arguments = self.machine.arguments(count).to_vec();
                    let before = self.work(expanding);
                    self.answer(primitive, &arguments, expanding)?;
                    let work = self.work(expanding).saturating_sub(before);
                    *fuel = fuel.saturating_sub_unsigned(COST_OPERATION + work / WORK_PER_CALL);
                }
            }
        }
    }

    /// Returns the number of nodes and words made and visited so far.
    fn work(&self, expanding: &Expanding<'_>) -> u64 {
        expanding.store.work() + self.instance.heap.statistics().words_used as u64
    }

    fn answer(
        &mut self,
        primitive: u32,
        arguments: &[Value],
        expanding: &mut Expanding<'_>,
    ) -> Result<(), TransformerFault> {
        if expanding.store.length() > expanding.nodes_max {
            return Err(TransformerFault::TooMuchSyntax);
        }
        let name = self.code.primitives()[primitive as usize].name;
        let reply = match self.operations.get(primitive as usize).copied().flatten() {
            Some(operation) => operation(&mut OperationContext {
                heap: &mut self.instance.heap,
                code: &self.code,
                expanding,
                name,
                arguments,
            }),
            None => Err(Stop::Raise {
                kind: "out-of-phase",
                message: "the world cannot be asked while a program is expanded".to_owned(),
                irritants: Vec::new(),
            }),
        };
        match reply {
            Ok(value) => self.machine.resume(value),
            Err(Stop::Fault(mut fault)) => {
                if let TransformerFault::Raised { span, .. } = &mut fault {
                    *span = self.place_of_request();
                }
                return Err(fault);
            }
            Err(Stop::Raise {
                kind,
                message,
                irritants,
            }) => {
                let condition = make_condition(&mut self.instance.heap, kind, &message, &irritants, name)?;
                self.machine.raise(&self.instance, &self.code, condition);
            }
        }
        Ok(())
    }

    /// Returns the span of the expression that made the pending request.
    fn place_of_request(&self) -> Option<Span> {
        let frames = self.machine.waiting_frames(&self.instance, &self.code);
        frames.iter().find_map(|frame| frame.span)
    }

    /// Shows a value; a syntax object as its datum.
    fn shown(&self, value: Value, expanding: &mut Expanding<'_>) -> String {
        let heap = &self.instance.heap;
        let Some(syntax) = convert::from_value(heap, value) else {
            return write_limited(heap, &self.code, value, SHOWN_CHARACTERS);
        };
        shortened(&expanding.store.datum(syntax).to_string())
    }

    fn uncaught(&self, object: Value, expanding: &mut Expanding<'_>) -> TransformerFault {
        let heap = &self.instance.heap;
        let mut show = |value| self.shown(value, expanding);
        if !heap.is_kind(object, Kind::Condition) {
            return TransformerFault::Raised {
                message: format!("it raised {}", show(object)),
                form: None,
                span: None,
            };
        }
        let kind = heap.field(object, condition::KIND);
        if heap.is_symbol(kind) && heap.symbol_name(kind) == "out-of-memory" {
            return TransformerFault::TooMuchMemory(LIMIT_BYTES);
        }
        let message = heap.field(object, condition::MESSAGE);
        let mut message = if heap.is_string(message) {
            heap.string_text(message)
        } else {
            show(message)
        };
        let mut rest = heap.field(object, condition::IRRITANTS);
        let mut separator = ": ";
        while rest.is_pair() && message.len() < 4 * SHOWN_CHARACTERS {
            message.push_str(separator);
            message.push_str(&show(heap.car(rest)));
            rest = heap.cdr(rest);
            separator = " ";
        }
        let frames = backtrace(heap, &self.code, object);
        TransformerFault::Raised {
            message,
            form: None,
            span: frames.iter().find_map(|frame| frame.span),
        }
    }

    /// Keeps the value of a transformer expression.
    fn keep(&mut self, value: Value) -> Result<Evaluated, TransformerFault> {
        let heap = &mut self.instance.heap;
        if let Some(procedure) = convert::variable_transformer(heap, value) {
            return Ok(Evaluated::VariableTransformer(TransformerId(heap.root(procedure)?.0)));
        }
        if operation::is_procedure(value) {
            return Ok(Evaluated::Procedure(TransformerId(heap.root(value)?.0)));
        }
        Ok(Evaluated::Other)
    }
}

/// Makes a condition about a procedure.
fn make_condition(
    heap: &mut Heap,
    kind: &str,
    message: &str,
    irritants: &[Value],
    procedure: &str,
) -> Result<Value, HeapFull> {
    let mut fields = [Value::FALSE; condition::LENGTH];
    fields[condition::KIND] = heap.intern(kind)?;
    fields[condition::MESSAGE] = heap.string(message)?;
    fields[condition::IRRITANTS] = heap.list(irritants, Value::NIL)?;
    fields[condition::ORIGIN] = heap.intern(procedure)?;
    heap.make(Kind::Condition, &fields)
}
