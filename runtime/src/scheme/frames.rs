//! The frames of a parked fiber with the variables in them, for people who look at a run.
//!
//! Names come from compiling the fiber's texts again, which gives the same code; so a run keeps
//! nothing for it.
//! INVARIANT: looking leaves nothing behind, and evaluates nothing.
//! Read next: `kernel/src/compiler/variables.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::{Home, ScopedVariable, UnitVariables, variables_of};
use duet_kernel::datum::shortened;
use duet_kernel::heap::{Heap, Kind, Register, RootId};
use duet_kernel::instruction::Opcode;
use duet_kernel::machine::{FrameWords, NativeMode, OriginId, ParkedFrame, Trace, cell_value, parked_frames};
use duet_kernel::printer::write_limited;
use duet_kernel::unit::IntegratedCall;
use duet_kernel::value::{Immediate, Value};

use super::actor::SchemeActor;
use super::convert;
use super::programs::SchemePrograms;
use crate::model::failure::{Frame, FramePlace};
use crate::model::identity::{Callable, FiberId};

/// The maximum number of frames that are shown.
const FRAMES_MAX: usize = 64;

/// The maximum number of variables of the top level that are shown.
const GLOBALS_MAX: usize = 64;

/// The maximum length of a variable's value as text, in characters.
const VALUE_CHARACTERS_MAX: usize = 400;

/// A variable of a frame and its value, as it would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableShown {
    /// The name in the text.
    pub name: String,
    /// The value, cut off beyond some hundred characters; `None` if it has none yet, or if the
    /// procedure does not read it again, so that it may be gone.
    pub value: Option<String>,
}

/// A frame of a parked fiber.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameShown {
    /// The procedure and where it waits.
    pub frame: Frame,
    /// The variables in scope there, outer ones first, then those of the top level that the
    /// procedure reads; none for a frame of one of Duet's libraries.
    pub variables: Vec<VariableShown>,
}

impl FrameShown {
    /// Says whether the frame is one that people wrote, or called by name.
    pub fn is_worth_showing(&self) -> bool {
        !self.variables.is_empty() || !self.frame.procedure.starts_with('%') && self.frame.procedure != "?"
    }
}

/// A variable in a trace.
#[derive(Clone, Debug)]
pub(super) struct TracedVariable {
    pub(super) name: String,
    /// The value as it would be written; `None` if it may be gone.
    pub(super) value: Option<String>,
    /// The origins of the value and of its parts; 0 for one that is not known.
    pub(super) leaves: Vec<OriginId>,
}

/// A variable in scope at a frame.
#[derive(Clone)]
enum InScope {
    /// One of the procedure's own.
    Own(ScopedVariable),
    /// One of the top level that the procedure reads, and its number.
    Global(String, u32),
}

impl InScope {
    fn name(&self) -> &str {
        match self {
            Self::Own(variable) => variable.name.as_str(),
            Self::Global(name, _) => name,
        }
    }
}

/// The variables of each frame that is worth showing, innermost first.
pub(super) type TracedFrames = Vec<Vec<TracedVariable>>;

/// The variables of units that were compiled again, by the place of their code.
pub(super) type Units = BTreeMap<u32, Option<UnitVariables>>;

/// A strand that ended with a raise, which those who wait for it raise again.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedStrand {
    /// Its fiber.
    pub fiber: FiberId,
    /// The frames around the raise, innermost first.
    pub frames: Vec<FrameShown>,
}

/// The frames of the last computation that failed while somebody watched.
#[derive(Debug, Default)]
pub(super) struct FailedFrames {
    frames: Vec<FrameShown>,
    strands: Vec<FailedStrand>,
    /// The same, if somebody traced it.
    pub(super) traced: Option<TracedFrames>,
    /// Whether the failure is still to come, in a turn of its own.
    is_postponed: bool,
}

impl SchemePrograms {
    /// Returns the frames of a computation that an actor has parked, innermost first.
    pub fn frames_of(&self, actor: &mut SchemeActor, parked: Callable) -> Vec<FrameShown> {
        actor.instance.heap.expand();
        let heap = &actor.instance.heap;
        let (continuation, _) = convert::unpack_parked(heap, heap.root_value(RootId(parked.0)));
        self.shown(heap, &parked_frames(heap, &self.code, continuation, FRAMES_MAX))
    }

    /// Keeps, from here on, the frames of the last computation that failed, for
    /// [`failed_frames`](Self::failed_frames). Forgets those before, unless their failure is still
    /// to come.
    pub fn watch_failures(&mut self) {
        if !self.failed.is_postponed {
            self.failed.frames.clear();
            self.failed.traced = None;
        }
        self.failed.strands.clear();
        self.machine.set_native(NativeMode::Never);
        self.machine.keep_raised_frames(FRAMES_MAX);
    }

    /// Returns the frames of the last computation that ended with an error since
    /// [`watch_failures`](Self::watch_failures), innermost first.
    pub fn failed_frames(&self) -> &[FrameShown] {
        &self.failed.frames
    }

    /// Returns the strands that ended with a raise since [`watch_failures`](Self::watch_failures).
    pub fn failed_strands(&self) -> &[FailedStrand] {
        &self.failed.strands
    }

    /// Takes the frames of raises that ended a strand from the machine, if somebody watches.
    pub(super) fn note_failed_strands(&mut self, heap: &Heap, fiber: FiberId) {
        let raises = self.machine.take_raises(heap).into_iter();
        for raise in raises.filter(|raise| raise.ends_strand) {
            let frames = self.shown(heap, &raise.frames);
            self.failed.strands.push(FailedStrand { fiber, frames });
        }
    }

    /// Takes the frames of a raise that nobody caught from the machine, if somebody watches. An
    /// object that was raised again has the frames of its first raise, if they are kept. The
    /// failure `is_postponed` if the main program first commits what it has written: what raises
    /// then has no frames of its own.
    pub(super) fn note_failed_frames(&mut self, heap: &Heap, raised: Option<Value>, is_postponed: bool) {
        let frames = self.machine.take_raised_frames();
        let raises = self.machine.take_raises(heap).into_iter();
        let mut again = raises.filter(|raise| Some(raise.condition) == raised && !is_around(&frames, &raise.frames));
        if !std::mem::replace(&mut self.failed.is_postponed, is_postponed) && !frames.is_empty() {
            if let Some(first) = again.next_back() {
                self.failed.frames = self.shown(heap, &first.frames);
                self.failed.traced = None;
                return;
            }
            self.failed.frames = self.shown(heap, &frames);
            self.failed.traced = self
                .machine
                .tracing()
                .map(|trace| self.traced_frames(heap, trace, &frames));
        }
    }

    /// Returns the variables of a computation that an actor has parked, with their origins.
    pub(super) fn traced_variables(&self, actor: &SchemeActor, trace: &Trace, parked: Callable) -> TracedFrames {
        let heap = &actor.instance.heap;
        let (continuation, _) = convert::unpack_parked(heap, heap.root_value(RootId(parked.0)));
        self.traced_frames(heap, trace, &parked_frames(heap, &self.code, continuation, FRAMES_MAX))
    }

    fn traced_frames(&self, heap: &Heap, trace: &Trace, frames: &[ParkedFrame]) -> TracedFrames {
        let mut traced = Vec::new();
        for (frame, procedures) in frames.iter().zip(self.procedures_of(heap, frames)) {
            for (shown, scope) in procedures {
                if !shown.is_worth_showing() {
                    continue;
                }
                let leaves = |name: &str| match scope.iter().rfind(|variable| variable.name() == name) {
                    Some(InScope::Own(variable)) => leaves_of(heap, trace, frame, variable),
                    Some(InScope::Global(_, number)) => leaves_of_global(heap, trace, *number),
                    None => Vec::new(),
                };
                let variables = shown
                    .variables
                    .into_iter()
                    .map(|VariableShown { name, value }| TracedVariable {
                        leaves: leaves(&name),
                        name,
                        value,
                    });
                traced.push(variables.collect());
            }
        }
        traced
    }

    fn shown(&self, heap: &Heap, frames: &[ParkedFrame]) -> Vec<FrameShown> {
        let procedures = self.procedures_of(heap, frames).into_iter().flatten();
        procedures.map(|(shown, _)| shown).collect()
    }

    /// For each frame, the procedures that share it because the compiler integrated calls,
    /// innermost first, each with its variables. A variable of the top level stands with the
    /// innermost procedure that reads it.
    fn procedures_of(&self, heap: &Heap, frames: &[ParkedFrame]) -> Vec<Vec<(FrameShown, Vec<InScope>)>> {
        let (mut units, mut seen) = (Units::new(), BTreeSet::new());
        let of_frame = |frame: &ParkedFrame| {
            let mut procedures = self.procedures(&mut units, heap, frame);
            self.add_globals(heap, frame, &mut seen, &mut procedures);
            procedures
        };
        frames.iter().map(of_frame).collect()
    }

    fn procedures(&self, units: &mut Units, heap: &Heap, frame: &ParkedFrame) -> Vec<(FrameShown, Vec<InScope>)> {
        let listed = convert::listed(&frame.entries, &self.present.expander);
        let mut scopes = self.variables_at(units, frame.position);
        scopes.resize(listed.len(), Vec::new());
        let with = |(at, mut scope): (Frame, Vec<ScopedVariable>)| {
            if !matches!(at.at, FramePlace::Text { .. }) {
                scope.clear();
            }
            let variables = shown_variables(heap, &self.code, frame, &scope);
            let scope = scope.into_iter().map(InScope::Own);
            (FrameShown { frame: at, variables }, scope.collect())
        };
        listed.into_iter().zip(scopes).map(with).collect()
    }

    /// Adds the variables of the top level that the procedures of a frame read, procedures and
    /// other values that do not change excepted.
    fn add_globals(
        &self,
        heap: &Heap,
        frame: &ParkedFrame,
        seen: &mut BTreeSet<u32>,
        procedures: &mut [(FrameShown, Vec<InScope>)],
    ) {
        let block = self.code.block_at(frame.position);
        let Some((block, unit)) = block.zip(self.code.unit_at(frame.position)) else {
            return;
        };
        let active: Vec<_> = self.code.integrated_at(frame.position).collect();
        for position in block.start..block.end {
            let instruction = self.code.instructions()[position as usize];
            let number = instruction.w();
            if instruction.opcode() != Some(Opcode::Global) || seen.len() == GLOBALS_MAX || seen.contains(&number) {
                continue;
            }
            let is_in = |call: &&IntegratedCall| self.code.integrated_at(position).any(|one| std::ptr::eq(one, *call));
            let place = active.iter().position(is_in).unwrap_or(active.len());
            let value = global_value(heap, number).filter(|value| is_plain(heap, *value));
            let global = self.code.globals().get(number as usize);
            let global = global.filter(|global| global.library == unit.name);
            let Some(((value, global), (shown, scope))) = value.zip(global).zip(procedures.get_mut(place)) else {
                continue;
            };
            let name = global.name.as_str();
            let is_hidden = scope.iter().any(|inner| inner.name() == name);
            if is_hidden || !matches!(shown.frame.at, FramePlace::Text { .. }) {
                continue;
            }
            seen.insert(number);
            shown.variables.push(VariableShown {
                name: name.to_owned(),
                value: Some(write_limited(heap, &self.code, value, VALUE_CHARACTERS_MAX)),
            });
            scope.push(InScope::Global(name.to_owned(), number));
        }
    }

    fn variables_at(&self, units: &mut Units, position: u32) -> Vec<Vec<ScopedVariable>> {
        let read = |variables: &UnitVariables, offset| Some(variables.at(offset));
        self.with_unit(units, position, read).unwrap_or_default()
    }

    /// Reads what compiling the text again says of the instruction at a position.
    pub(super) fn with_unit<T>(
        &self,
        units: &mut Units,
        position: u32,
        read: impl Fn(&UnitVariables, u32) -> Option<T>,
    ) -> Option<T> {
        let (unit, start) = self.unit_at(position)?;
        let compile = || variables_of(unit, &self.code).ok().flatten();
        let variables = units.entry(start).or_insert_with(compile).as_ref()?;
        read(variables, position - start)
    }
}

/// The value of a variable of the top level; `None` if it has none yet.
fn global_value(heap: &Heap, number: u32) -> Option<Value> {
    let globals = heap.register(Register::Globals);
    let is_there = heap.is_kind(globals, Kind::Vector) && (number as usize) < heap.object_length(globals);
    let value = is_there.then(|| heap.field(globals, number as usize))?;
    (value != Value::UNDEFINED).then_some(value)
}

/// Whether a value is none of those that a definition of a procedure or of a record type gives.
fn is_plain(heap: &Heap, value: Value) -> bool {
    !value.is_immediate(Immediate::Primitive)
        && !heap.is_kind(value, Kind::Closure)
        && !heap.is_kind(value, Kind::RecordType)
}

fn leaves_of_global(heap: &Heap, trace: &Trace, number: u32) -> Vec<OriginId> {
    let word = heap.register(Register::Globals).index() + 1 + number as usize;
    let value = global_value(heap, number);
    value.map_or_else(Vec::new, |value| trace.leaves(heap, &[(value, trace.in_heap(word))]))
}

/// Whether the frames around a raise are still there where it was not caught.
fn is_around(frames: &[ParkedFrame], raise: &[ParkedFrame]) -> bool {
    let is_from = |first: usize| {
        frames[first..]
            .iter()
            .zip(raise)
            .all(|(one, other)| one.position == other.position)
    };
    (0..frames.len()).any(is_from)
}

/// The variables of a procedure without those that inner ones of the same name hide.
fn shown_variables(
    heap: &Heap,
    code: &CodeSpace,
    frame: &ParkedFrame,
    variables: &[ScopedVariable],
) -> Vec<VariableShown> {
    let is_hidden = |index: usize| {
        let name = &variables[index].name;
        variables[index + 1..].iter().any(|inner| inner.name == *name)
    };
    let seen = variables.iter().enumerate().filter(|(index, _)| !is_hidden(*index));
    let written = |variable: &ScopedVariable| match &variable.home {
        Home::Literal(literal) => Some(shortened(&literal.to_string(), VALUE_CHARACTERS_MAX)),
        Home::Register(_) | Home::Captured(_) | Home::Gone => {
            let value = value_of(heap, frame, variable)?;
            Some(write_limited(heap, code, value, VALUE_CHARACTERS_MAX))
        }
    };
    let shown = seen.map(|(_, variable)| VariableShown {
        name: variable.name.as_str().to_owned(),
        value: written(variable),
    });
    shown.collect()
}

fn value_of(heap: &Heap, frame: &ParkedFrame, variable: &ScopedVariable) -> Option<Value> {
    let value = match &variable.home {
        Home::Register(register) => frame.registers.get(usize::from(*register)).copied().flatten(),
        Home::Captured(index) => frame.captured(heap, *index),
        Home::Literal(_) | Home::Gone => None,
    }?;
    if variable.is_in_cell {
        cell_value(heap, value)
    } else {
        Some(value)
    }
}

/// The origins of a variable's value and of its parts; 0 for one that is not known.
fn leaves_of(heap: &Heap, trace: &Trace, frame: &ParkedFrame, variable: &ScopedVariable) -> Vec<OriginId> {
    let Some(value) = value_of(heap, frame, variable) else {
        return Vec::new();
    };
    let register = |register: usize| match frame.words {
        FrameWords::None => 0,
        FrameWords::Stack(first) => trace.on_stack(first + register),
        FrameWords::Heap(first) => trace.in_heap(first + register),
    };
    let (word, id) = match &variable.home {
        Home::Literal(_) | Home::Gone => (None, 0),
        Home::Register(index) => {
            let index = usize::from(*index);
            (frame.registers.get(index).copied().flatten(), register(index))
        }
        Home::Captured(index) => {
            let closure = frame.registers.first().copied().flatten();
            let word = |closure: Value| closure.index() + 2 + usize::from(*index);
            (
                frame.captured(heap, *index),
                closure.map_or(0, |closure| trace.in_heap(word(closure))),
            )
        }
    };
    let id = match word.filter(|_| variable.is_in_cell) {
        Some(cell) => trace.in_heap(cell.index() + 1),
        None => id,
    };
    trace.leaves(heap, &[(value, id)])
}
