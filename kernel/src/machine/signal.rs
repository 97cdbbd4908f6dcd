//! Conditions that the machine raises, and backtraces.
//!
//! INVARIANT: a condition is raised by calling the library's `%signal` at the place of the error,
//! so handlers run in the error's context; without the library the computation ends as uncaught.
//! It does not handle conditions; the library does.
//! Read next: `primitive.rs`.

use crate::code::{CodeSpace, LoadedBlock};
use crate::datum::{Name, Span, public_name};
use crate::heap::kind::condition;
use crate::heap::{Heap, HeapFull, Kind, Register};
use crate::instruction::Opcode;
use crate::listing::shortened;
use crate::number::NumberError;
use crate::primitive::{Primitive, PrimitiveError};
use crate::unit::GlobalName;
use crate::value::{Immediate, Value};

use super::execute::{Flow, SlowPath};
use super::inspection::Raised;
use super::segment::chain_points;
use super::{Frame, Instance, Machine, Outcome, resumption_point};

/// The library that defines the procedures the machine calls.
pub(super) const CONTROL_LIBRARY: &str = "(duet internal control)";
/// The message about a variable whose definition comes later in the text.
const BEFORE_DEFINITION: &str = "is used before it is defined";
/// The number of arguments of the procedure that raises a condition.
const SIGNAL_ARITY: u8 = 1;
/// The maximum of frames in a condition's backtrace.
const BACKTRACE_MAX: usize = 32;
/// The maximum of words in a trace that goes on in the fibers that waited.
const JOINED_MAX: usize = 3 * BACKTRACE_MAX;
/// Stands in a trace before the frames of the fiber that waited for the one before.
const BETWEEN_FIBERS: Value = Value::FALSE;
/// Words of stack that raising a condition needs.
const SIGNAL_WORDS: usize = 256;

/// The value of a global of the control library.
pub(super) fn control_global(heap: &Heap, code: &CodeSpace, name: &str) -> Option<Value> {
    let name = GlobalName {
        library: Name(CONTROL_LIBRARY.into()),
        name: Name(name.into()),
    };
    global(heap, code.find_global(&name)?)
}

/// The value of a global, if it has one.
fn global(heap: &Heap, number: u32) -> Option<Value> {
    let table = heap.register(Register::Globals);
    let is_there = (number as usize) < heap.object_length(table);
    let value = is_there.then(|| heap.field(table, number as usize));
    value.filter(|value| *value != Value::UNDEFINED)
}

/// The procedure that raises a condition non-continuably.
///
/// In a damaged image it may be anything. A procedure that does not take one argument would fail
/// and be called for that, again and again.
pub(super) fn signal_procedure(heap: &Heap, code: &CodeSpace) -> Option<Value> {
    let takes_one =
        |procedure: &Value| procedure.is_procedure_object() && heap.field(*procedure, 0).detail() as u8 == SIGNAL_ARITY;
    control_global(heap, code, "%signal").filter(takes_one)
}

/// One frame of a backtrace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BacktraceEntry {
    /// The procedure, if it has a name.
    pub procedure: Option<Name>,
    /// The call or failing expression, if it has a source; the definition, if the frame is gone.
    pub span: Option<Span>,
    /// Whether a tail call gave up its frame; the entry before was reached from it by tail calls.
    pub is_gone: bool,
}

/// The frames that were active when `condition` was raised, innermost first, with the outermost of
/// those that tail calls gave up, where it is known. Empty if nothing has raised the condition.
pub fn backtrace(heap: &Heap, code: &CodeSpace, condition: Value) -> Vec<BacktraceEntry> {
    let is_condition = heap.is_kind(condition, Kind::Condition);
    let Some(trace) = is_condition.then(|| trace_of(heap, condition)).flatten() else {
        return Vec::new();
    };
    let points = points_of(heap, trace);
    // A procedure that does not take the arguments has not begun, and has not left itself.
    let kind = heap.field(condition, condition::KIND);
    let has_begun = !heap.is_symbol(kind) || heap.symbol_name(kind) != "wrong-arity";
    frames(heap, code, &points, has_begun)
}

/// The entries of return points, innermost first. `has_begun` says whether the procedure called
/// from the first of them has begun.
fn frames(heap: &Heap, code: &CodeSpace, points: &[Value], has_begun: bool) -> Vec<BacktraceEntry> {
    let mut found = Vec::new();
    // The position where the inner procedure begins. A condition in the place of a frame has none.
    let mut inner = has_begun.then_some(u32::MAX);
    for point in points {
        let position = call_position(code, *point).filter(|_| point.is_immediate(Immediate::Return));
        let Some((position, block)) = position.and_then(|position| Some((position, code.block_at(position)?))) else {
            // Nothing is known about the calls of the fiber that waited, but what it called.
            inner = Some(u32::MAX);
            continue;
        };
        let inner_frame = inner.filter(|_| position + 1 == point.payload());
        found.extend(inner_frame.and_then(|inner| gone(heap, code, position, inner)));
        found.extend(entries(code, position, block.name.clone()));
        inner = Some(block.start);
    }
    found
}

/// The procedure that the instruction at `position` has called, if another one, from `inner` on,
/// runs in its place.
fn gone(heap: &Heap, code: &CodeSpace, position: u32, inner: u32) -> Option<BacktraceEntry> {
    let instruction = code.instructions().get(position as usize)?;
    if instruction.opcode() != Some(Opcode::CallGlobal) {
        return None;
    }
    let called = global(heap, instruction.w()).filter(|value| heap.is_kind(*value, Kind::Closure))?;
    let word = heap.field(called, 0);
    let block = code
        .block_at(word.payload())
        .filter(|_| word.is_immediate(Immediate::Code))?;
    (block.start != inner).then(|| {
        let left_at = left_at(heap, code, block, inner);
        BacktraceEntry {
            procedure: block.name.clone(),
            span: left_at.or_else(|| code.span_at(block.start)),
            is_gone: left_at.is_none(),
        }
    })
}

/// The place of the tail call by which a procedure was left for the one that begins at `inner`: its
/// only call of that one, or its only tail call. Otherwise nobody knows which it was.
fn left_at(heap: &Heap, code: &CodeSpace, block: &LoadedBlock, inner: u32) -> Option<Span> {
    let opcode = |position: &u32| code.instructions().get(*position as usize)?.opcode();
    let is_tail = |position: &u32| matches!(opcode(position), Some(Opcode::TailCall | Opcode::TailCallGlobal));
    let tail_calls: Vec<u32> = (block.start..block.end).filter(is_tail).collect();
    let leads_to_inner = |position: &&u32| {
        let instruction = code.instructions().get(**position as usize);
        let called = instruction.filter(|instruction| instruction.opcode() == Some(Opcode::TailCallGlobal));
        let called = called.and_then(|instruction| global(heap, instruction.w()));
        let called = called.filter(|value| heap.is_kind(*value, Kind::Closure));
        called.is_some_and(|called| heap.field(called, 0).payload() == inner)
    };
    let direct: Vec<&u32> = tail_calls.iter().filter(leads_to_inner).collect();
    match (&direct[..], &tail_calls[..]) {
        ([position], _) => code.span_at(**position),
        (_, [position]) => code.span_at(*position),
        _ => None,
    }
}

/// The entries of a call: the procedures that were integrated around it, innermost first, and the
/// one whose frame it is.
pub(super) fn entries(code: &CodeSpace, position: u32, procedure: Option<Name>) -> Vec<BacktraceEntry> {
    let mut span = code.span_at(position);
    let integrated = code.integrated_at(position).map(|call| BacktraceEntry {
        procedure: Some(call.procedure.clone()),
        span: span.replace(call.span),
        is_gone: false,
    });
    let mut entries: Vec<BacktraceEntry> = integrated.collect();
    entries.push(BacktraceEntry {
        procedure,
        span,
        is_gone: false,
    });
    entries
}

impl Machine {
    /// The frames around a request that has not been answered, innermost first, beginning with the
    /// call that makes it; as [`backtrace`].
    pub fn waiting_frames(&self, instance: &Instance, code: &CodeSpace) -> Vec<BacktraceEntry> {
        let mut points = vec![Value::immediate(Immediate::Return, self.stopped_at, 0)];
        self.points_below(&instance.heap, self.base, &mut points);
        frames(&instance.heap, code, &points, false)
    }

    /// Keeps the frames around a raise that nobody caught, which ends the computation.
    pub(super) fn note_raise(&mut self, heap: &Heap) {
        let mut points = std::mem::take(&mut self.raised_at);
        points.clear();
        self.points_below(heap, self.base, &mut points);
        self.raised_at = points;
    }

    /// The frames around the last raise that nobody caught, as [`backtrace`].
    pub fn raised_frames(&self, heap: &Heap, code: &CodeSpace) -> Vec<BacktraceEntry> {
        frames(heap, code, &self.raised_at, true)
    }

    /// Gives a condition without a backtrace that of the last uncaught raise.
    ///
    /// # Errors
    /// [`HeapFull`]; the condition is as it was.
    pub fn trace(&self, heap: &mut Heap, condition: Value) -> Result<(), HeapFull> {
        if heap.is_kind(condition, Kind::Condition) && trace_of(heap, condition).is_none() {
            set_trace(heap, condition, &self.raised_at)?;
        }
        Ok(())
    }

    /// Appends the return points of the frames below the one at `base`, until there are enough.
    fn points_below(&self, heap: &Heap, mut base: usize, points: &mut Vec<Value>) {
        while base > 1 && points.len() < BACKTRACE_MAX {
            let point = self.stack[base - 1];
            points.push(point);
            base -= point.detail() as usize;
        }
        chain_points(heap, self.remaining, BACKTRACE_MAX, points);
    }
}

/// The object with the return points of a condition's trace, if it has one.
fn trace_of(heap: &Heap, condition: Value) -> Option<Value> {
    let trace = heap.field(condition, condition::BACKTRACE);
    heap.is_kind(trace, Kind::Frames).then_some(trace)
}

/// The return points of a trace, innermost first.
fn points_of(heap: &Heap, trace: Value) -> Vec<Value> {
    (0..heap.object_length(trace))
        .map(|index| heap.field(trace, index))
        .collect()
}

fn set_trace(heap: &mut Heap, condition: Value, points: &[Value]) -> Result<(), HeapFull> {
    let points = heap.make(Kind::Frames, points)?;
    heap.set_field(condition, condition::BACKTRACE, points);
    Ok(())
}

/// The position of the instruction that a frame with this return point is executing.
pub(super) fn call_position(code: &CodeSpace, point: Value) -> Option<u32> {
    let is_resumption = code
        .block_at(point.payload())
        .is_some_and(|block| point.detail() > block.frame_size.into());
    if is_resumption {
        Some(point.payload())
    } else {
        point.payload().checked_sub(1)
    }
}

impl SlowPath<'_> {
    /// Raises `condition` from the middle of the running frame. Should the handler return, the
    /// instruction that failed is executed again.
    pub(super) fn signal(&mut self, mut frame: Frame, condition: Value) -> (Frame, Flow) {
        let frame_size = self.frame_size(frame);
        frame.push(frame_size + 1, resumption_point(frame.pc() - 1, frame_size));
        self.signal_in_place(frame, condition)
    }

    /// Raises `condition` in place of the frame at the base, whose procedure has not begun.
    pub(super) fn signal_in_place(&mut self, mut frame: Frame, condition: Value) -> (Frame, Flow) {
        let uncaught = self.code.primitive("%uncaught").unwrap_or(Value::FALSE);
        frame.reload_heap(self.heap);
        frame.set(0, signal_procedure(self.heap, self.code).unwrap_or(uncaught));
        frame.set(1, condition);
        if !frame.has_room(0, SIGNAL_WORDS) {
            self.heap.set_lenient(true);
            let grown = self.grow_stack(frame, SIGNAL_WORDS, 2);
            self.heap.set_lenient(false);
            let Ok(grown) = grown else {
                self.outcome = Some(Outcome::Uncaught(condition));
                return (frame, Flow::Stop);
            };
            frame = grown;
        }
        self.enter(frame, 1)
    }

    /// Calls register 1 with register 2, a condition, in place of the frame at the base. Without a
    /// trace it receives the frames below; the trace of another fiber goes on with them if register
    /// 3 says so.
    pub(super) fn call_traced(&mut self, mut frame: Frame) -> (Frame, Flow) {
        let (procedure, object) = (frame.get(1), frame.get(2));
        let joins = self.machine.argument_count > 2 && frame.get(3).is_true();
        let known = trace_of(self.heap, object);
        if known.is_none() || joins {
            self.trace_here(frame, object, known);
            frame.reload_heap(self.heap);
        }
        if self.machine.keeps_dead_registers() {
            let raised = Raised {
                condition: object,
                is_first: known.is_none_or(|known| self.is_of_here(frame, known)),
                base: frame.base_index(),
            };
            self.machine.keep_raise(self.heap, self.code, &raised);
        }
        frame.set(0, procedure);
        frame.set(1, object);
        self.enter(frame, 1)
    }

    /// Whether a trace is that of a failure in the frame below, or in a procedure that it called.
    fn is_of_here(&self, frame: Frame, trace: Value) -> bool {
        let mut below = Vec::new();
        self.machine.points_below(self.heap, frame.base_index(), &mut below);
        let position = |point: &Value| call_position(self.code, *point);
        let here = below.first().and_then(position);
        let trace = points_of(self.heap, trace);
        here.is_some() && trace.iter().take(2).any(|point| position(point) == here)
    }

    /// Gives a condition the frames below, after those of the trace that it has. Without room, it
    /// keeps that trace.
    fn trace_here(&mut self, frame: Frame, condition: Value, known: Option<Value>) {
        let mut points = known.map_or_else(Vec::new, |known| points_of(self.heap, known));
        if !points.is_empty() {
            points.push(BETWEEN_FIBERS);
        }
        let mut below = Vec::new();
        self.machine.points_below(self.heap, frame.base_index(), &mut below);
        points.extend(below);
        points.truncate(JOINED_MAX);
        let _ = self.heap.leniently(|heap| set_trace(heap, condition, &points));
    }

    /// A condition of the given kind about the frame at the base, raised in its place.
    #[cold]
    pub(super) fn fail_entry(
        &mut self,
        frame: Frame,
        kind: &'static str,
        message: &str,
        irritants: Vec<Value>,
    ) -> (Frame, Flow) {
        let condition = self.condition(frame, kind, message.into(), irritants);
        self.signal_in_place(frame, condition)
    }

    fn condition(&mut self, frame: Frame, kind: &'static str, message: String, irritants: Vec<Value>) -> Value {
        let failure = PrimitiveError::Condition {
            kind,
            message,
            irritants,
        };
        self.failure_condition(frame, "", &failure, |_| Value::FALSE)
    }

    #[cold]
    pub(super) fn out_of_memory(&mut self, frame: Frame) -> (Frame, Flow) {
        let condition = self.memory_condition(frame);
        self.signal_in_place(frame, condition)
    }

    pub(super) fn memory_condition(&mut self, frame: Frame) -> Value {
        self.failure_condition(frame, "", &PrimitiveError::HeapFull, |_| Value::FALSE)
    }

    #[cold]
    pub(super) fn wrong_primitive_arity(&mut self, frame: Frame, primitive: &Primitive, count: usize) -> (Frame, Flow) {
        let (least, most) = (primitive.least, primitive.most);
        let wanted = match most {
            Some(most) if most == least => format!("{least}"),
            Some(most) => format!("{least} to {most}"),
            None => format!("at least {least}"),
        };
        let name = public_name(primitive.name);
        let message = format!("{name} takes {wanted} {}, not {count}", plural(&wanted));
        self.fail_entry(frame, "wrong-arity", &message, self.arguments(frame, count))
    }

    #[cold]
    pub(super) fn wrong_closure_arity(&mut self, frame: Frame, word: Value, count: usize) -> (Frame, Flow) {
        let name = self.procedure_at(word.payload());
        let wanted = format!("{}", word.detail() as u8);
        let message = format!("{name} takes {wanted} {}, not {count}", plural(&wanted));
        self.fail_entry(frame, "wrong-arity", &message, self.arguments(frame, count))
    }

    /// The condition of an entry that accepts other numbers of arguments.
    #[cold]
    #[inline(never)]
    pub(super) fn wrong_arity(&mut self, frame: Frame) -> (Frame, Flow) {
        let count = self.machine.argument_count;
        let name = self.procedure_at(frame.pc() as u32 - 1);
        let message = format!("{name} does not take {count} {}", plural(&count.to_string()));
        self.fail_entry(frame, "wrong-arity", &message, self.arguments(frame, count))
    }

    /// The name of the procedure whose code has this position, for messages.
    fn procedure_at(&self, position: u32) -> &str {
        let name = self.code.block_at(position).and_then(|block| block.name.as_ref());
        name.map_or("an unnamed procedure", |name| &*name.0)
    }

    fn arguments(&self, frame: Frame, count: usize) -> Vec<Value> {
        (1..=count.min(8)).map(|register| frame.get(register)).collect()
    }

    #[cold]
    #[inline(never)]
    pub(super) fn undefined_global(&mut self, frame: Frame, number: u32) -> (Frame, Flow) {
        let global = self.code.globals()[number as usize].clone();
        let what = if self.code.defines(number) {
            BEFORE_DEFINITION
        } else {
            "is not defined"
        };
        self.undefined(frame, &global.name, what)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn undefined_variable(&mut self, frame: Frame, constant: u32) -> (Frame, Flow) {
        let table = self.heap.register(Register::Constants);
        let name = self.heap.symbol_name(self.heap.field(table, constant as usize));
        self.undefined(frame, &Name(name.into()), BEFORE_DEFINITION)
    }

    fn undefined(&mut self, frame: Frame, name: &Name, what: &str) -> (Frame, Flow) {
        let message = format!("{} {what}", shortened(&name.0));
        let symbol = self.heap.intern(&name.0);
        let irritants = symbol.into_iter().collect();
        let condition = self.condition(frame, "undefined-variable", message, irritants);
        self.signal(frame, condition)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn not_a_pair(&mut self, frame: Frame, origin: &'static str, value: Value) -> (Frame, Flow) {
        let failure = PrimitiveError::WrongType {
            argument: 0,
            expected: "a pair",
        };
        let condition = self.failure_condition(frame, origin, &failure, |_| value);
        self.signal(frame, condition)
    }

    /// The condition of a frame or closure, from a damaged image, that lacks the cell its code
    /// needs.
    #[cold]
    #[inline(never)]
    pub(super) fn not_a_cell(&mut self, frame: Frame) -> (Frame, Flow) {
        let message = "an image lacks the variable that its code assigns".into();
        let condition = self.condition(frame, "damaged-image", message, vec![]);
        self.signal(frame, condition)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn vector_failure(
        &mut self,
        frame: Frame,
        origin: &'static str,
        [vector, index]: [Value; 2],
    ) -> (Frame, Flow) {
        let failure = if !self.heap.is_kind(vector, Kind::Vector) {
            PrimitiveError::WrongType {
                argument: 0,
                expected: "a vector",
            }
        } else if !index.is_fixnum() && !self.heap.is_kind(index, Kind::Bignum) {
            PrimitiveError::WrongType {
                argument: 1,
                expected: "an exact integer",
            }
        } else if self.heap.is_immutable(vector) && origin == "vector-set!" {
            PrimitiveError::Immutable { argument: 0 }
        } else {
            PrimitiveError::OutOfRange { argument: 1 }
        };
        let operands = [vector, index];
        let condition = self.failure_condition(frame, origin, &failure, |argument| operands[argument]);
        self.signal(frame, condition)
    }

    /// Makes the condition of a failure, which may exceed the memory limit; at worst it is `#f`.
    pub(super) fn failure_condition(
        &mut self,
        frame: Frame,
        origin: &str,
        failure: &PrimitiveError,
        argument_value: impl Fn(usize) -> Value,
    ) -> Value {
        let points = self.points(frame);
        if *failure == PrimitiveError::HeapFull {
            self.heap.lend_words(frame.base_index());
        }
        let public = public_name(origin);
        let position = |argument: &usize| format!("argument {} of {public}", argument + 1);
        let (kind, message, irritants) = match failure {
            PrimitiveError::HeapFull => ("out-of-memory", "the memory limit is reached".into(), vec![]),
            PrimitiveError::WrongType { argument, expected } => (
                "wrong-type",
                format!("{} must be {expected}", position(argument)),
                vec![argument_value(*argument)],
            ),
            PrimitiveError::OutOfRange { argument } => (
                "out-of-range",
                format!("{} is out of range", position(argument)),
                vec![argument_value(*argument)],
            ),
            PrimitiveError::NotTheRecord { expected } => {
                ("wrong-type", self.no_record(frame, expected), vec![argument_value(0)])
            }
            PrimitiveError::Immutable { argument } => (
                "immutable",
                format!("{} cannot be changed", position(argument)),
                vec![argument_value(*argument)],
            ),
            PrimitiveError::Arithmetic(error) => {
                let kind = if *error == NumberError::DivideByZero {
                    "divide-by-zero"
                } else {
                    "arithmetic"
                };
                (kind, format!("{public}: {error}"), vec![])
            }
            PrimitiveError::Condition {
                kind,
                message,
                irritants,
            } => (*kind, message.clone(), irritants.clone()),
        };
        let made = self
            .heap
            .leniently(|heap| make_condition(heap, (kind, &message, &irritants), origin, &points));
        made.unwrap_or(Value::FALSE)
    }

    /// Says that the first argument of the accessor or modifier at this frame's instruction is no
    /// record of its kind. One that a library keeps to itself, whose name begins with `%`, stands
    /// for the procedure that the compiler has integrated it into.
    fn no_record(&self, frame: Frame, expected: &str) -> String {
        let position = (frame.pc() as u32).saturating_sub(1);
        let mut around = self.code.integrated_at(position).map(|call| &*call.procedure.0);
        let accessor = around.next().unwrap_or_else(|| self.procedure_at(position));
        if !accessor.starts_with('%') {
            return format!("argument 1 of {accessor} must be {expected}");
        }
        let public = around
            .chain([self.procedure_at(position)])
            .find(|name| !name.starts_with('%'));
        format!("{}: expected {expected}", public.unwrap_or(accessor))
    }

    /// The return points of the frames from the running one outwards.
    fn points(&self, frame: Frame) -> Vec<Value> {
        let base = frame.base_index();
        // At the entry of a procedure the return point stands for the caller's frame.
        let is_entry = base > 1 && self.machine.stack[base - 1].payload() as usize == frame.pc();
        let mut points = Vec::new();
        if frame.pc() > 0 && !is_entry {
            points.push(resumption_point(frame.pc() - 1, self.frame_size(frame)));
        }
        self.machine.points_below(self.heap, base, &mut points);
        points
    }
}

fn plural(wanted: &str) -> &'static str {
    if wanted.ends_with(" 1") || wanted == "1" {
        "argument"
    } else {
        "arguments"
    }
}

/// Makes a condition of kind, message and irritants.
fn make_condition(
    heap: &mut Heap,
    content: (&str, &str, &[Value]),
    origin: &str,
    points: &[Value],
) -> Result<Value, HeapFull> {
    let (kind, message, irritants) = content;
    let kind = heap.intern(kind)?;
    let message = heap.string(message)?;
    let irritants = heap.list(irritants, Value::NIL)?;
    let origin = if origin.is_empty() {
        Value::FALSE
    } else {
        heap.intern(origin)?
    };
    let points = heap.make(Kind::Frames, points)?;
    heap.make(Kind::Condition, &[kind, message, irritants, origin, points])
}
