//! Moving the frames that wait in changed code to the code of the present text.
//!
//! INVARIANT: what moves depends on the texts only, so a replay moves the same frames.
//! It does not compare texts; `kernel/src/code/moves.rs` does.
//! Read next: `renewal.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use duet_kernel::code::moves::{FrameMove, Kept, LoadedVersion, Moves, Terms};
use duet_kernel::compiler::variables_of;
use duet_kernel::core::forms::FormKind;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Expander, LIMIT_EXPANSION_NODES, Libraries};
use duet_kernel::heap::{Heap, Kind, RootId};
use duet_kernel::image::reachable_objects;
use duet_kernel::machine::{
    FrameInputs, GivenWords, ParkedFrame, frame_inputs, move_frames, parked_frames, waiting_points,
};
use duet_kernel::value::Value;

use super::actor::SchemeActor;
use super::apart::{Call, full, refused};
use super::convert;
use super::programs::SchemePrograms;
use super::stale::{FRAMES_MAX, StaleCode};
use super::version::{Change, LibraryUnits, LoadedUnit, TopPlace};
use crate::model::failure::{Failure, Frame};
use crate::model::identity::Callable;

/// The name of the top level in which the person's expressions are compiled, and of their texts.
const GIVEN: &str = "--let";

/// A frame that waits in changed code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedFrame {
    /// Its procedure and where it waits.
    pub frame: Frame,
    /// Why it stays in the code in which it began; nothing if it moves.
    pub kept: Option<String>,
    /// The variables whose values the person gives.
    pub given: BTreeSet<String>,
    /// Where it goes on at the top level of the new text, if it does.
    pub top: Option<TopPlace>,
}

/// Where the values of variables are: in a vector, from some place on.
struct Inputs {
    list: RootId,
    first: usize,
}

impl SchemePrograms {
    /// Moves the frames of an instance that can go on in the present text.
    ///
    /// # Errors
    /// [`Failure`] if there is no room, or if an expression fails that the person gives.
    pub(super) fn move_frames(&mut self, actor: &mut SchemeActor, fuel: &mut i64) -> Result<(), Failure> {
        // A segment is written anew as far as links count it, and links that nobody holds any more
        // would count more of it in a heap that has not been collected than in one from a snapshot.
        self.collect_all(&mut actor.instance.heap);
        let points = waiting_points(&mut actor.instance.heap);
        let planned = self.plans(&points);
        let plan = |point: Value| planned.iter().find(|(known, _)| *known == point).map(|(_, plan)| plan);
        if planned.is_empty() {
            return Ok(());
        }
        let given = if planned.iter().any(|(_, plan)| !plan.computed.is_empty()) {
            self.compute_given(actor, &plan, fuel)?
        } else {
            GivenWords::default()
        };
        let copied = move_frames(
            &mut actor.instance.heap,
            &self.present.change.given.literals,
            &given,
            &plan,
        )
        .map_err(full)?;
        if let Some(trace) = self.machine.tracing_mut() {
            trace.follow(&copied);
        }
        Ok(())
    }

    /// Evaluates the expressions that the person gives, for each frame that needs their values.
    fn compute_given<'a>(
        &mut self,
        actor: &mut SchemeActor,
        plan: &dyn Fn(Value) -> Option<&'a FrameMove>,
        fuel: &mut i64,
    ) -> Result<GivenWords, Failure> {
        let is_segment = |heap: &Heap, object: Value| heap.is_kind(object, Kind::Frames);
        let segments = reachable_objects(&mut actor.instance, &self.code, &is_segment);
        let segments = segments.map_err(|error| refused(error.to_string()))?;
        let wanted = frame_inputs(&mut actor.instance.heap, &segments, plan);
        // Evaluating moves objects: a vector has the inputs, then segment and value of each.
        let mut words = Vec::new();
        for one in &wanted {
            words.extend(&one.values);
            words.extend([one.place.0, Value::UNSPECIFIED]);
        }
        let heap = &mut actor.instance.heap;
        let list = heap.make(Kind::Vector, &words).and_then(|list| heap.root(list));
        let list = list.map_err(full)?;
        let mut next = 0;
        for one in &wanted {
            let value = self.compute(actor, one, Inputs { list, first: next }, fuel)?;
            next += one.values.len() + 2;
            let heap = &mut actor.instance.heap;
            heap.set_field(heap.root_value(list), next - 1, value);
        }
        let heap = &mut actor.instance.heap;
        let (words, mut computed, mut next) = (heap.root_value(list), BTreeMap::new(), 0);
        for one in &wanted {
            next += one.values.len() + 2;
            let (_, first, number) = one.place;
            let segment = heap.field(words, next - 2).to_bits();
            computed.insert((segment, first, number), heap.field(words, next - 1));
        }
        heap.release_root(list);
        Ok(GivenWords { computed })
    }

    /// Evaluates an expression for a frame whose variables stand in a vector from some place on.
    fn compute(
        &mut self,
        actor: &mut SchemeActor,
        wanted: &FrameInputs,
        inputs: Inputs,
        fuel: &mut i64,
    ) -> Result<Value, Failure> {
        let given = &self.present.change.given;
        let purpose = format!("`{}`", given.expressions[wanted.expression.0]);
        let units = given.units.get(&wanted.expression).cloned();
        let Some((unit, libraries)) = units.as_deref().and_then(<[usize]>::split_last) else {
            return Err(refused(format!(
                "{purpose} is not compiled for the variables of this frame"
            )));
        };
        self.evaluate_libraries(actor, libraries, fuel)?;
        let procedure = self.evaluate_apart(actor, *unit, &purpose, fuel)?;
        let heap = &actor.instance.heap;
        let argument = |number: usize| heap.field(heap.root_value(inputs.list), inputs.first + number);
        let arguments: Vec<Value> = (0..wanted.values.len()).map(argument).collect();
        let call = Call {
            procedure,
            arguments: &arguments,
            purpose: &purpose,
        };
        self.call_apart(actor, &call, fuel)
    }

    /// Compiles the expressions that the person gives, for the variables of each frame that may
    /// need them. To be called before the new version is the present one.
    ///
    /// # Errors
    /// [`Failure`] if one does not compile.
    pub(super) fn compile_given(
        &mut self,
        change: &mut Change,
        units: &LibraryUnits,
        expander: &mut Expander,
        libraries: &mut dyn Libraries,
    ) -> Result<(), Failure> {
        if change.given.expressions.is_empty() {
            return Ok(());
        }
        let mut wanted = BTreeSet::new();
        for changed in &change.units {
            let Some(new) = units.get(&changed.name) else { continue };
            for old in self.earlier_units(&changed.name) {
                if let Some(moves) = self.moves_between(&old, new, change) {
                    wanted.extend(moves.expressions(&self.code));
                }
            }
        }
        for (number, names) in wanted {
            let text = format!("(lambda ({}) {})", names.join(" "), change.given.expressions[number]);
            let Some(top) = expander.program_top_level(GIVEN) else {
                return Ok(());
            };
            let (_, expansion) = expander.expand_at(top, GIVEN, &text, LIMIT_EXPANSION_NODES, libraries);
            let expansion = expansion.map_err(|errors| super::interaction::syntax_failure(expander, &errors))?;
            let mut loaded = Vec::new();
            for unit in &expansion.units {
                loaded.push(self.load_later(unit)?);
            }
            change.given.units.insert((number, names), loaded);
        }
        Ok(())
    }

    fn plans(&mut self, points: &[Value]) -> Vec<(Value, FrameMove)> {
        let plans = points
            .iter()
            .filter_map(|point| Some((*point, self.plan(*point)?.ok()?)));
        plans.collect()
    }

    /// Plans the move of a frame with this return point; nothing if its text has not changed.
    pub(super) fn plan(&mut self, point: Value) -> Option<Result<FrameMove, Kept>> {
        let position = point.payload().checked_sub(1)?;
        let loaded = self.code.unit_at(position)?;
        let (start, name) = (loaded.start, loaded.name.clone());
        let is_changed = self.present.change.units.iter().any(|unit| unit.name == name);
        let number = self.code.units().iter().position(|unit| unit.start == start)?;
        let present = self.present.compared_units.get(&name)?.number;
        if !is_changed || number == present {
            return None;
        }
        let successor = self.successor_at(position, &name, number, present);
        if !self.present.change.moves.contains_key(&number) {
            let moves = self.moves_from(&name, number);
            self.present.change.moves.insert(number, moves);
        }
        let moves = self.present.change.moves.get(&number)?.as_ref()?;
        Some(moves.plan(&self.code, point, successor))
    }

    /// The block that takes the place of the one at a position of a unit.
    fn successor_at(&self, position: u32, name: &Name, number: usize, present: usize) -> Option<usize> {
        let block = self.code.block_number_at(position)?;
        if block != self.code.block_number(number, 0) {
            return self.present.change.redirects.get(&block).copied();
        }
        // Units that were made of parts of a text have bodies of their own.
        let is_whole = |known: &LoadedUnit| known.number == number;
        let mut before = self.versions.before();
        let is_body = before.any(|version| version.compared_units.get(name).is_some_and(is_whole));
        is_body.then(|| self.code.block_number(present, 0))
    }

    /// The moves from an earlier unit to the present one of its name.
    fn moves_from(&self, name: &Name, number: usize) -> Option<Moves> {
        let mut earlier = self.earlier_units(name).into_iter();
        let old = earlier.find(|known| known.number == number)?;
        let new = self.present.compared_units.get(name)?;
        self.moves_between(&old, new, &self.present.change)
    }

    /// The moves from a unit to another of its name, with what a change says about them.
    fn moves_between(&self, old: &LoadedUnit, new: &LoadedUnit, change: &Change) -> Option<Moves> {
        let version = |loaded: &LoadedUnit| {
            let variables = variables_of(&loaded.unit, &self.code).ok().flatten()?;
            Some(LoadedVersion {
                unit: Arc::clone(&loaded.unit),
                number: loaded.number,
                variables,
            })
        };
        let steps = change.steps.iter().filter(|step| step.unit.name == old.unit.name);
        let forms = steps.flat_map(|step| step.unit.top_forms());
        let values = forms.filter(|form| !matches!(form.kind, FormKind::Procedure(_)));
        let terms = Terms {
            apart: values.map(|form| form.node).collect(),
            given: change.given.by_name.clone(),
        };
        Some(Moves::between(&self.code, version(old)?, version(new)?, terms))
    }

    /// Lists the frames of an actor that wait in code of earlier texts, with what becomes of each:
    /// those of the computations that it has parked, innermost first, with the numbers of these,
    /// then those of the continuations that its program holds, one for each place.
    pub fn moved_frames(
        &mut self,
        code: &StaleCode,
        actor: &mut SchemeActor,
        parked: &[Callable],
    ) -> Vec<(Option<usize>, MovedFrame)> {
        let heap = &mut actor.instance.heap;
        heap.collect_major(&mut [], &self.code);
        let mut waiting = Vec::new();
        for (number, parked) in parked.iter().enumerate() {
            let (continuation, _) = convert::unpack_parked(heap, heap.root_value(RootId(parked.0)));
            let frames = parked_frames(heap, &self.code, continuation, FRAMES_MAX);
            waiting.extend(frames.into_iter().map(|frame| (Some(number), frame)));
        }
        let seen: BTreeSet<u64> = waiting.iter().map(|(_, frame)| frame.point.to_bits()).collect();
        let held = waiting_points(heap)
            .into_iter()
            .filter(|point| !seen.contains(&point.to_bits()));
        let held = held.filter_map(|point| ParkedFrame::at(&self.code, point));
        waiting.extend(held.map(|frame| (None, frame)));
        let stale = waiting
            .into_iter()
            .filter(|(_, frame)| code.has(&self.code, frame.position));
        let mut moved = Vec::new();
        for (parked, frame) in stale.collect::<Vec<_>>() {
            let planned = self.plan(frame.point).unwrap_or(Err(Kept::NoSuccessor));
            let top = planned.as_ref().ok().and_then(|planned| planned.top);
            let library = self.code.unit_at(frame.position).map(|unit| unit.name.clone());
            let top = top.zip(library).map(|(number, library)| TopPlace { library, number });
            for shown in convert::listed(&frame.entries, &self.present.expander) {
                let moves = MovedFrame {
                    frame: shown,
                    kept: planned.as_ref().err().map(ToString::to_string),
                    given: planned
                        .as_ref()
                        .map_or_else(|_| BTreeSet::new(), |planned| planned.given.clone()),
                    top: top.clone(),
                };
                moved.push((parked, moves));
            }
        }
        moved
    }
}
