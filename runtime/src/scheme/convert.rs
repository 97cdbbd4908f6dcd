//! Values between an instance's heap and the runtime.
//!
//! Owns the meaning of opaque references, and the forms of events, answers, conditions and
//! failures.
//! INVARIANT: only plain data and references to actors, facets, observers and capabilities leave a
//! heap, and only references that the run made enter it.
//! It does not copy values itself; the kernel's boundary does.
//! Read next: `descriptor.rs`.

use duet_journal::PackedValue;
use duet_kernel::boundary::{self, BoundaryError, Capabilities, LIMITS, NoCapabilities, OpaqueReference};
use duet_kernel::code::CodeSpace;
use duet_kernel::datum::Span;
use duet_kernel::expander::Expander;
use duet_kernel::heap::kind::{condition, opaque};
use duet_kernel::heap::{Heap, HeapFull, Kind};
use duet_kernel::machine::{BacktraceEntry, Instance, backtrace};
use duet_kernel::printer::write_limited;
use duet_kernel::value::Value;
use preserves::IOValue;

use crate::model::codec::{Codec, Fields, label_of, record};
use crate::model::failure::{Failure, Frame, FramePlace, Origin};
use crate::model::identity::ActorId;
use crate::record::key::Place;
use crate::turn::task::{Argument, Resumption};

/// The class of a reference out of a heap. The numbers are stable, because heap images contain
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// An assertion, or a match in an event.
    Handle = 1,
    /// A facet.
    Facet = 2,
    /// An actor.
    Actor = 3,
    /// A watch of the instance's own actor.
    Watch = 4,
    /// Any observer, as an `Observe` fact shows it.
    Observer = 5,
    /// A capability, made by any actor.
    Capability = 6,
}

impl Class {
    /// The names of the classes in written references.
    pub(super) const NAMES: &[&str] = &["opaque", "handle", "facet", "actor", "watch", "observer", "capability"];
}

/// Makes a reference.
pub(super) fn reference(heap: &mut Heap, class: Class, id: u64) -> Result<Value, HeapFull> {
    // INVARIANT: a run draws fewer than 2³² ids of a kind that programs can hold; beyond that it
    // ends here.
    let id = u32::try_from(id).map_err(|_| HeapFull)?;
    heap.make_opaque(class as u32, id, Value::FALSE)
}

/// Returns the id that a reference of this class stands for.
pub(super) fn referent(heap: &Heap, class: Class, value: Value) -> Option<u64> {
    let number = |field| heap.field(value, field).as_fixnum();
    let is_reference = heap.is_kind(value, Kind::Opaque) && number(opaque::CLASS) == Some(class as i64);
    if is_reference {
        number(opaque::ID).and_then(|id| u64::try_from(id).ok())
    } else {
        None
    }
}

/// The boundary that lets references to actors, facets, observers and capabilities cross.
pub(super) struct References;

impl Capabilities for References {
    fn embed(&mut self, reference: OpaqueReference) -> Option<IOValue> {
        let id = u64::from(reference.id);
        match reference.class {
            class if class == Class::Facet as u32 => Some(record("facet", vec![IOValue::new(id)])),
            class if class == Class::Actor as u32 => Some(record("actor", vec![IOValue::new(id)])),
            class if class == Class::Observer as u32 => Some(record("observer", vec![IOValue::new(id)])),
            class if class == Class::Capability as u32 => Some(record("capability", vec![IOValue::new(id)])),
            _ => None,
        }
    }

    fn admit(&mut self, embedded: &IOValue) -> Option<OpaqueReference> {
        let (class, id) = match label_of(embedded).as_deref() {
            Some("facet") => (Class::Facet, Fields::of(embedded, "facet", 1).ok()?.read("id").ok()?),
            Some("actor") => (Class::Actor, Fields::of(embedded, "actor", 1).ok()?.read("id").ok()?),
            Some("capability") => (
                Class::Capability,
                Fields::of(embedded, "capability", 1).ok()?.read("id").ok()?,
            ),
            // In an `Observe` fact the observer's actor stands first; the observer alone is unique.
            Some("observer") => {
                let mut fields = Fields::of(embedded, "observer", 2).ok()?;
                let _: ActorId = fields.read("actor").ok()?;
                (Class::Observer, fields.read("id").ok()?)
            }
            _ => return None,
        };
        let id: u64 = id;
        Some(OpaqueReference {
            class: class as u32,
            id: u32::try_from(id).ok()?,
        })
    }
}

/// Copies a value out of the heap.
pub(super) fn leave(heap: &Heap, value: Value) -> Result<IOValue, BoundaryError> {
    boundary::to_preserves(heap, value, LIMITS, &mut References)
}

/// Copies a value out of the heap, packed.
pub(super) fn pack(heap: &Heap, value: Value) -> Result<PackedValue, BoundaryError> {
    boundary::encode(heap, value, LIMITS, &mut References)
}

/// Copies a part of a fact into the heap.
pub(super) fn enter(heap: &mut Heap, value: &IOValue) -> Result<Value, BoundaryError> {
    boundary::from_preserves(heap, value, LIMITS, &mut References)
}

/// Copies a value of an input into the heap; it may not contain references.
fn enter_foreign(heap: &mut Heap, value: &IOValue) -> Result<Value, BoundaryError> {
    boundary::from_preserves(heap, value, LIMITS, &mut NoCapabilities)
}

/// Makes the argument of a handler or predicate: `(added captures handle)`, `(removed captures
/// handle)`, `(message captures)`, or a value.
///
/// # Errors
/// [`BoundaryError`] if a part cannot enter the heap.
pub(super) fn argument(instance: &mut Instance, argument: &Argument) -> Result<Value, BoundaryError> {
    let heap = &mut instance.heap;
    let (label, captures, handle) = match argument {
        Argument::Added(captures, handle) => ("added", captures, Some(handle)),
        Argument::Removed(captures, handle) => ("removed", captures, Some(handle)),
        Argument::Message(captures) => ("message", captures, None),
        Argument::Value(value) => return enter(heap, value),
        Argument::Failed(failure) => return enter(heap, &failure.encode()),
        Argument::Ended(code, failure) => return ended(heap, *code, failure.as_ref()),
    };
    let label = heap.intern(label)?;
    let parts = captures
        .iter()
        .map(|capture| boundary::decode(heap, capture.as_bytes(), LIMITS, &mut References))
        .collect::<Result<Vec<_>, _>>();
    let captures = heap.list(&parts?, Value::NIL)?;
    let handle = handle
        .map(|handle| reference(heap, Class::Handle, handle.0))
        .transpose()?;
    let fields: Vec<Value> = [Some(captures), handle].into_iter().flatten().collect();
    Ok(heap.make_record(label, &fields)?)
}

/// Pairs a parked computation with a flag: whether it waits for one of several conditions and
/// receives the position of the one that held.
pub(super) fn pack_parked(heap: &mut Heap, continuation: Value, is_choice: bool) -> Result<Value, HeapFull> {
    if is_choice {
        heap.cons(continuation, Value::TRUE)
    } else {
        Ok(continuation)
    }
}

/// Splits a parked computation from its flag.
pub(super) fn unpack_parked(heap: &Heap, parked: Value) -> (Value, bool) {
    if parked.is_pair() {
        (heap.car(parked), true)
    } else {
        (parked, false)
    }
}

/// Makes the value that a parked call returns, or the condition that it raises.
pub(super) fn resumption(
    instance: &mut Instance,
    with: &Resumption,
    is_choice: bool,
) -> Result<Result<Value, Value>, HeapFull> {
    let heap = &mut instance.heap;
    let (condition, value) = match with {
        Resumption::Unspecified => return Ok(Ok(Value::UNSPECIFIED)),
        Resumption::Raise(fault) => return foreign_condition(heap, fault).map(Err),
        Resumption::Matched { condition, value } => (*condition, enter(heap, value)),
    };
    let value = match value {
        Ok(value) => value,
        Err(error) => return boundary_condition(heap, &error).map(Err),
    };
    if is_choice {
        heap.cons(Value::length(condition as usize), value).map(Ok)
    } else {
        Ok(Ok(value))
    }
}

/// The kind and message for a raised object that is no condition.
const UNCAUGHT: (&str, &str) = (
    "uncaught",
    "an object was raised that is no condition, and nobody caught it",
);

/// Makes a condition.
pub(super) fn make_condition(
    heap: &mut Heap,
    kind: &str,
    message: &str,
    irritants: &[Value],
) -> Result<Value, HeapFull> {
    let mut fields = [Value::FALSE; condition::LENGTH];
    fields[condition::KIND] = heap.intern(kind)?;
    fields[condition::MESSAGE] = heap.string(message)?;
    fields[condition::IRRITANTS] = heap.list(irritants, Value::NIL)?;
    heap.make(Kind::Condition, &fields)
}

/// Makes the outcome of an ended actor: false, or a condition if it failed.
fn ended(heap: &mut Heap, code: u64, failure: Option<&Failure>) -> Result<Value, BoundaryError> {
    match failure {
        None if code == 0 => Ok(Value::FALSE),
        None => {
            let message = format!("the actor ended itself with exit code {code}");
            Ok(make_condition(heap, "exited", &message, &[])?)
        }
        Some(failure) => {
            let irritants = failure.irritants.iter().map(|irritant| enter(heap, irritant));
            let irritants: Vec<Value> = irritants.collect::<Result<_, _>>()?;
            Ok(make_condition(heap, &failure.kind, &failure.message, &irritants)?)
        }
    }
}

/// The kind of the condition for a value that cannot cross.
fn boundary_kind(error: &BoundaryError) -> Result<&'static str, HeapFull> {
    match error {
        BoundaryError::Packed(error) if error.fault.is_limit() => Ok("too-large"),
        BoundaryError::Refused { .. } | BoundaryError::Packed(_) | BoundaryError::UnknownCapability { .. } => {
            Ok("not-serializable")
        }
        BoundaryError::HeapFull => Err(HeapFull),
    }
}

/// Makes the condition for a value that cannot cross.
pub(super) fn boundary_condition(heap: &mut Heap, error: &BoundaryError) -> Result<Value, HeapFull> {
    make_condition(heap, boundary_kind(error)?, &error.to_string(), &[])
}

/// Makes the failure of an actor that cannot be given a value.
pub(super) fn boundary_failure(error: &BoundaryError) -> Result<Failure, HeapFull> {
    Ok(Failure::new(boundary_kind(error)?, error.to_string()))
}

/// Makes the condition that the driver's fault `<tool-failed kind message details>` describes.
fn foreign_condition(heap: &mut Heap, fault: &IOValue) -> Result<Value, HeapFull> {
    let parts = || -> Option<(IOValue, String, Vec<IOValue>)> {
        let mut fields = Fields::of(fault, "tool-failed", 3).ok()?;
        Some((
            fields.read("kind").ok()?,
            fields.read("message").ok()?,
            fields.read("details").ok()?,
        ))
    };
    let Some((kind, message, details)) = parts() else {
        return make_condition(heap, "tool-failed", &format!("{fault:?}"), &[]);
    };
    let kind = preserves::ValueImpl::as_symbol(&kind).map_or_else(|| "tool-failed".into(), |kind| kind.into_owned());
    let details: Vec<Value> = details
        .iter()
        .filter_map(|detail| enter_foreign(heap, detail).ok())
        .collect();
    make_condition(heap, &kind, &message, &details)
}

/// The maximum length of an object's text in a failure, if it is not data, in characters.
const SHOWN_CHARACTERS: usize = 200;

/// Finds the innermost frame with a place in a source text of the program's own. A place inside an
/// embedded library means nothing to the program's author.
fn origin(frames: &[BacktraceEntry], expander: &Expander) -> Option<Origin> {
    let mut active = frames.iter().filter(|frame| !frame.is_gone);
    let (span, source) = active.find_map(|frame| text_of(frame, expander))?;
    Some(Origin {
        source: source.to_owned(),
        start: span.start.into(),
        end: span.end.into(),
    })
}

/// Finds the place of a request: the innermost frame in a source text of the program's own, and the
/// innermost definition of such a text, whether or not its frame is still there.
pub(super) fn place(frames: &[BacktraceEntry], expander: &Expander) -> Place {
    let named = |frame: &BacktraceEntry| {
        let name = frame
            .procedure
            .as_ref()
            .filter(|_| text_of(frame, expander).is_some())?;
        // The top level has the name of its text, which is the written name of a library.
        Some(name.as_str())
            .filter(|name| !name.starts_with('('))
            .map(str::to_owned)
    };
    Place {
        definition: frames.iter().find_map(named).unwrap_or_default(),
        origin: origin(frames, expander),
    }
}

/// The first character of the names of source texts that are not files.
pub(super) const EMBEDDED: char = '<';

/// Makes the failure of an uncaught object, with the frames that it remembers, otherwise the frames
/// that raised it.
pub(super) fn failure(
    heap: &Heap,
    code: &CodeSpace,
    expander: &Expander,
    object: Value,
    raised: Vec<BacktraceEntry>,
) -> Failure {
    let shown =
        |value| leave(heap, value).unwrap_or_else(|_| write_limited(heap, code, value, SHOWN_CHARACTERS).encode());
    if !heap.is_kind(object, Kind::Condition) {
        let mut failure = Failure::new(UNCAUGHT.0, UNCAUGHT.1);
        failure.irritants = [shown(object)].into();
        return placed(failure, &raised, expander);
    }
    let kind = heap.field(object, condition::KIND);
    let kind = if heap.is_symbol(kind) {
        heap.symbol_name(kind)
    } else {
        "condition".to_owned()
    };
    let message = heap.field(object, condition::MESSAGE);
    let message = if heap.is_string(message) {
        heap.string_text(message)
    } else {
        String::new()
    };
    let mut irritants = Vec::new();
    let mut rest = heap.field(object, condition::IRRITANTS);
    while rest.is_pair() {
        irritants.push(shown(heap.car(rest)));
        rest = heap.cdr(rest);
    }
    let remembered = backtrace(heap, code, object);
    let frames = if remembered.is_empty() { raised } else { remembered };
    let mut failure = Failure::raised(&kind, message);
    failure.irritants = irritants.into();
    placed(failure, &frames, expander)
}

/// The frames of the place where an object was raised; none if it is no condition, or was not.
pub(super) fn frames_of(heap: &Heap, code: &CodeSpace, object: Value) -> Vec<BacktraceEntry> {
    if heap.is_kind(object, Kind::Condition) {
        backtrace(heap, code, object)
    } else {
        Vec::new()
    }
}

/// Returns the condition for an uncaught object: itself if it is one, otherwise one that holds it.
pub(super) fn uncaught(heap: &mut Heap, object: Value) -> Result<Value, HeapFull> {
    if heap.is_kind(object, Kind::Condition) {
        return Ok(object);
    }
    make_condition(heap, UNCAUGHT.0, UNCAUGHT.1, &[object])
}

/// Adds the source position and the backtrace of the frames to a failure.
pub(super) fn placed(mut failure: Failure, frames: &[BacktraceEntry], expander: &Expander) -> Failure {
    failure.origin = origin(frames, expander).map(Box::new);
    failure.backtrace = listed(frames, expander).into();
    failure
}

/// The frames of a backtrace with the names of their texts.
pub(super) fn listed(frames: &[BacktraceEntry], expander: &Expander) -> Vec<Frame> {
    let listed = frames.iter().enumerate().filter_map(|(place, frame)| {
        let text = text_of(frame, expander);
        let at = match text {
            // An embedded procedure that raised the condition and is gone says nothing about the
            // program.
            None if frame.is_gone && place == 0 => return None,
            _ if frame.is_gone => FramePlace::Gone,
            Some((span, source)) => FramePlace::Text {
                source: source.to_owned(),
                start: span.start.into(),
            },
            None => FramePlace::Unknown,
        };
        let procedure = frame.procedure.as_ref().map_or("?", |name| name.as_str());
        Some(Frame {
            procedure: procedure.to_owned(),
            at,
        })
    });
    listed.collect()
}

/// Returns the place of a frame and its text's name, if that text is a file.
fn text_of<'a>(frame: &BacktraceEntry, expander: &'a Expander) -> Option<(Span, &'a str)> {
    let span = frame.span?;
    let source = &expander.source(span.source)?.name;
    (!source.starts_with(EMBEDDED)).then_some((span, source))
}
