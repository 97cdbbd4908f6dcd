//! The frames of a parked fiber with the variables in them, for people who look at a run.
//!
//! Names come from compiling the fiber's texts again, which gives the same code; so a run keeps
//! nothing for it.
//! INVARIANT: looking leaves nothing behind, and evaluates nothing.
//! Read next: `kernel/src/compiler/variables.rs`.

use std::collections::BTreeMap;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::{Home, ScopedVariable, UnitVariables, variables_of};
use duet_kernel::datum::shortened;
use duet_kernel::heap::{Heap, RootId};
use duet_kernel::machine::{FrameWords, NativeMode, OriginId, ParkedFrame, Trace, cell_value, parked_frames};
use duet_kernel::printer::write_limited;
use duet_kernel::value::Value;

use super::actor::SchemeActor;
use super::convert;
use super::programs::SchemePrograms;
use crate::model::failure::{Frame, FramePlace};
use crate::model::identity::{Callable, FiberId};

/// The maximum number of frames that are shown.
const FRAMES_MAX: usize = 64;

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
    /// The variables in scope there, outer ones first; none for a frame of one of Duet's libraries.
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

/// The variables of each frame that is worth showing, innermost first.
pub(super) type TracedFrames = Vec<Vec<TracedVariable>>;

/// The variables of units that were compiled again, by the place of their code.
type Units = BTreeMap<u32, Option<UnitVariables>>;

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
        let mut units = BTreeMap::new();
        let mut traced = Vec::new();
        for frame in frames {
            for (shown, scope) in self.procedures(&mut units, heap, frame) {
                if !shown.is_worth_showing() {
                    continue;
                }
                let leaves = |name: &str| {
                    let variable = scope.iter().rfind(|variable| variable.name.as_str() == name);
                    variable.map_or_else(Vec::new, |variable| leaves_of(heap, trace, frame, variable))
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
        let mut units = Units::new();
        let shown = frames
            .iter()
            .flat_map(|frame| self.procedures(&mut units, heap, frame).into_iter());
        shown.map(|(shown, _)| shown).collect()
    }

    /// The procedures that share a frame because the compiler integrated calls, innermost first,
    /// each with the places of its variables.
    fn procedures(
        &self,
        units: &mut Units,
        heap: &Heap,
        frame: &ParkedFrame,
    ) -> Vec<(FrameShown, Vec<ScopedVariable>)> {
        let listed = convert::listed(&frame.entries, &self.present.expander);
        let mut scopes = self.variables_at(units, frame.position);
        scopes.resize(listed.len(), Vec::new());
        let with = |(at, mut scope): (Frame, Vec<ScopedVariable>)| {
            if !matches!(at.at, FramePlace::Text { .. }) {
                scope.clear();
            }
            let variables = shown_variables(heap, &self.code, frame, &scope);
            (FrameShown { frame: at, variables }, scope)
        };
        listed.into_iter().zip(scopes).map(with).collect()
    }

    fn variables_at(&self, units: &mut Units, position: u32) -> Vec<Vec<ScopedVariable>> {
        let Some((unit, start)) = self.unit_at(position) else {
            return Vec::new();
        };
        let compile = || variables_of(unit, &self.code).ok().flatten();
        let variables = units.entry(start).or_insert_with(compile);
        variables
            .as_ref()
            .map_or_else(Vec::new, |variables| variables.at(position - start))
    }
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
