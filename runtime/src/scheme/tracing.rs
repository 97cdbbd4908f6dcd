//! Where the values of a turn came from, in expressions of the program's own texts.
//!
//! INVARIANT: a step names an expression of the program's own, an input, or what was there before
//! the turn; what Duet's libraries do in between is no step.
//! Read next: `kernel/src/machine/tracing.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use duet_kernel::datum::Span;
use duet_kernel::machine::{Origin as Made, OriginId, Sort, Trace};
use duet_kernel::printer::write_limited;
use duet_kernel::value::Value;

use super::actor::SchemeActor;
use super::convert::EMBEDDED;
use super::programs::{SchemePrograms, TracedCall};
use crate::model::failure::Origin;

/// The maximum of instructions of a turn that are traced.
const INSTRUCTIONS_MAX: u64 = 10_000_000;

/// The maximum length of a step's value as text, in characters.
const VALUE_CHARACTERS_MAX: usize = 200;

/// The maximum of origins between two steps.
const HIDDEN_MAX: usize = 100_000;

/// Whose values are explained.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// The action at this index of the turn.
    Action(usize),
    /// These bytes of what the turn has written to the stream with this number.
    Output(usize, Range<usize>),
}

/// How a value came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The text has it.
    Literal,
    /// The expression computed it.
    Computed,
    /// The expression asked the run for it.
    Answered,
    /// It came with an event of the turn.
    Input,
    /// It was there before the turn.
    Earlier,
}

/// A value, and the expression that it came from.
#[derive(Clone, Debug)]
pub struct ValueStep {
    /// How many steps lead from here to the value that is explained.
    pub depth: usize,
    /// The value, as it would be written.
    pub value: String,
    /// How it came to be.
    pub how: How,
    /// The place of the expression, if it has one in the program's own texts.
    pub origin: Option<Origin>,
}

/// The values that led to others.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// The place of the expression that performed the action.
    pub origin: Option<Origin>,
    /// The steps, each directly after the one that it led to or after steps between them.
    pub steps: Vec<ValueStep>,
    /// The number of steps that are left out.
    pub left_out: usize,
    /// Whether the turn was longer than what is traced of one.
    pub is_cut: bool,
}

/// A step that is part of a slice.
struct Found {
    id: OriginId,
    depth: usize,
    parent: Option<usize>,
    /// How many steps lead to it, itself included.
    weight: usize,
}

impl SchemePrograms {
    /// Traces the next turn, for [`slice`](Self::slice).
    pub fn begin_trace(&mut self) {
        self.traced_calls.clear();
        self.machine.begin_trace(Trace::new(INSTRUCTIONS_MAX));
    }

    /// Notes which actions the last call of the host has added, while a turn is traced.
    pub(super) fn note_traced(&mut self, actions: Range<usize>) {
        let call = self
            .machine
            .tracing()
            .and_then(|trace| trace.calls().len().checked_sub(1));
        if let Some(call) = call.filter(|_| !actions.is_empty()) {
            self.traced_calls.push(TracedCall { actions, call });
        }
    }

    /// Returns where a value of the traced turn came from, at most `most` steps, those nearest to
    /// it first; nothing if no turn was traced.
    pub fn slice(&self, actor: &SchemeActor, wanted: &Wanted, most: usize) -> Option<Slice> {
        let trace = self.machine.tracing()?;
        let slicing = Slicing {
            programs: self,
            actor,
            trace,
        };
        let (roots, within) = slicing.roots(wanted);
        let (found, left_out) = slicing.found(&roots, within, most);
        let steps = ordered(&found).into_iter().map(|index| slicing.step(&found[index]));
        Some(Slice {
            origin: within.and_then(|span| slicing.origin(span)),
            steps: steps.collect(),
            left_out,
            is_cut: trace.is_cut(),
        })
    }
}

struct Slicing<'a> {
    programs: &'a SchemePrograms,
    actor: &'a SchemeActor,
    trace: &'a Trace,
}

impl Slicing<'_> {
    /// The origins of what is explained, and the expression that they are parts of.
    fn roots(&self, wanted: &Wanted) -> (Vec<OriginId>, Option<Span>) {
        match wanted {
            Wanted::Action(action) => {
                let mut calls = self.programs.traced_calls.iter();
                let traced = calls.find(|traced| traced.actions.contains(action));
                let call = traced.and_then(|traced| self.trace.calls().get(traced.call));
                call.map_or((Vec::new(), None), |call| {
                    (call.leaves.clone(), self.own_span(call.call))
                })
            }
            Wanted::Output(stream, bytes) => {
                let pieces = self
                    .trace
                    .written()
                    .iter()
                    .filter(|piece| piece.stream == *stream && piece.start < bytes.end && bytes.start < piece.end);
                let leaves = pieces.filter_map(|piece| Some(piece.origin).filter(|id| !self.is_literal(*id)));
                (leaves.collect(), None)
            }
        }
    }

    fn is_literal(&self, id: OriginId) -> bool {
        self.trace.origin(id).is_none_or(|origin| origin.sort == Sort::Literal)
    }

    /// The steps that are nearest to the roots, and the number of further ones that are known.
    fn found(&self, roots: &[OriginId], within: Option<Span>, most: usize) -> (Vec<Found>, usize) {
        let mut seen = BTreeSet::new();
        let mut found: Vec<Found> = Vec::new();
        let mut left: VecDeque<(OriginId, usize, Option<usize>)> = VecDeque::new();
        let first = self.visible(roots, within);
        left.extend(first.into_iter().map(|id| (id, 0, None)));
        while let Some((id, depth, parent)) = left.pop_front() {
            if !seen.insert(id) {
                continue;
            }
            if found.len() == most {
                let further = left.iter().filter(|(id, ..)| !seen.contains(id)).count();
                return (weighed(found), 1 + further);
            }
            let index = found.len();
            found.push(Found {
                id,
                depth,
                parent,
                weight: 1,
            });
            let next = self.visible(self.trace.parts(id), self.own_span(id));
            left.extend(next.into_iter().map(|next| (next, depth + 1, Some(index))));
        }
        (weighed(found), 0)
    }

    /// The nearest steps among origins and their parts, in an expression.
    fn visible(&self, ids: &[OriginId], within: Option<Span>) -> Vec<OriginId> {
        let mut left: Vec<OriginId> = ids.iter().rev().copied().collect();
        let (mut seen, mut visible) = (BTreeSet::new(), Vec::new());
        while let Some(id) = left.pop() {
            if seen.len() > HIDDEN_MAX || !seen.insert(id) {
                continue;
            }
            if self.is_step(id, within) {
                visible.push(id);
            } else {
                left.extend(self.trace.parts(id).iter().rev());
            }
        }
        visible
    }

    fn is_step(&self, id: OriginId, within: Option<Span>) -> bool {
        let Some(origin) = self.trace.origin(id) else {
            return false;
        };
        let span = match origin.sort {
            Sort::Literal => self.literal_span(origin),
            Sort::Computed | Sort::Returned | Sort::Answered | Sort::Given | Sort::Found | Sort::Call => {
                self.span(origin.position)
            }
        };
        match origin.sort {
            Sort::Call => false,
            Sort::Given => true,
            Sort::Answered => !self.trace.parts(id).is_empty() || self.own_span(id).is_some(),
            Sort::Found => span.is_some(),
            Sort::Literal => span.is_some_and(|span| !within.is_some_and(|within| contains(within, span))),
            Sort::Computed | Sort::Returned => span.is_some() && span != within,
        }
    }

    /// The place of an instruction in a text of the program's own.
    fn span(&self, position: u32) -> Option<Span> {
        let code = &self.programs.code;
        let integrated = code.integrated_at(position).map(|call| call.span);
        let mut spans = code.span_at(position).into_iter().chain(integrated);
        spans.find(|span| self.is_own(*span))
    }

    /// The expression that has a literal, if its text shows it.
    fn literal_span(&self, origin: &Made) -> Option<Span> {
        let written = self.written(origin.value);
        let mut spans = self.programs.code.spans_around(origin.position);
        spans.find(|span| {
            let source = self.programs.expander.source(span.source);
            let text = source.and_then(|source| source.text.get(span.start as usize..span.end as usize));
            self.is_own(*span) && text.is_some_and(|text| text.contains(&written))
        })
    }

    fn written(&self, value: Value) -> String {
        write_limited(
            &self.actor.instance.heap,
            &self.programs.code,
            value,
            VALUE_CHARACTERS_MAX,
        )
    }

    fn is_own(&self, span: Span) -> bool {
        let source = self.programs.expander.source(span.source);
        source.is_some_and(|source| !source.name.starts_with(EMBEDDED))
    }

    /// The place of an origin in a text of the program's own: its own, or that of the nearest call
    /// around it.
    fn own_span(&self, id: OriginId) -> Option<Span> {
        let mut next = id;
        while let Some(origin) = self.trace.origin(next) {
            if origin.sort == Sort::Literal {
                return self.literal_span(origin);
            }
            if let Some(span) = self.span(origin.position) {
                return Some(span);
            }
            // A call is older than what is made in it.
            next = Some(origin.caller).filter(|caller| *caller < next)?;
        }
        None
    }

    fn origin(&self, span: Span) -> Option<Origin> {
        let source = self.programs.expander.source(span.source)?;
        Some(Origin {
            source: source.name.clone(),
            start: span.start.into(),
            end: span.end.into(),
        })
    }

    fn step(&self, found: &Found) -> ValueStep {
        let origin = self.trace.origin(found.id);
        let span = self.own_span(found.id);
        ValueStep {
            depth: found.depth,
            value: origin.map_or_else(String::new, |origin| self.written(origin.value)),
            how: match origin.map(|origin| origin.sort) {
                Some(Sort::Literal) => How::Literal,
                Some(Sort::Answered) => How::Answered,
                Some(Sort::Given) => How::Input,
                Some(Sort::Found) | None => How::Earlier,
                Some(Sort::Computed | Sort::Returned | Sort::Call) => How::Computed,
            },
            origin: span.and_then(|span| self.origin(span)),
        }
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.source == inner.source && outer.start <= inner.start && inner.end <= outer.end
}

/// Counts the steps that lead to each step.
fn weighed(mut found: Vec<Found>) -> Vec<Found> {
    for index in (0..found.len()).rev() {
        let weight = found[index].weight;
        if let Some(parent) = found[index].parent {
            found[parent].weight += weight;
        }
    }
    found
}

/// The order in which steps are shown: each before those that led to it, shorter chains first.
fn ordered(found: &[Found]) -> Vec<usize> {
    let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (index, step) in found.iter().enumerate() {
        children.entry(step.parent).or_default().push(index);
    }
    for siblings in children.values_mut() {
        siblings.sort_by_key(|index| std::cmp::Reverse(found[*index].weight));
    }
    let mut left = children.remove(&None).unwrap_or_default();
    let mut order = Vec::new();
    while let Some(index) = left.pop() {
        order.push(index);
        left.extend(children.remove(&Some(index)).unwrap_or_default());
    }
    order
}
