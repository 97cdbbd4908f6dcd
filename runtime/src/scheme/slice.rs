//! Where the values of traced turns came from, in expressions of the program's own texts.
//!
//! INVARIANT: a step names an expression of the program's own, an input, or what was there before
//! the first traced turn; what Duet's libraries do in between is no step.
//! Read next: `tracing.rs`, `kernel/src/machine/tracing.rs`.

mod choice;
mod found;
mod steps;

use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use duet_journal::Sequence;
use duet_kernel::datum::Span;
use duet_kernel::heap::Heap;
use duet_kernel::machine::{HostCall, Origin as Made, OriginId, Sort, Trace};
use duet_kernel::printer::write_limited;
use duet_kernel::value::Value;

use super::actor::SchemeActor;
use super::convert::{self, Class, EMBEDDED};
use super::frames::TracedFrames;
use super::programs::SchemePrograms;
use super::traced_turn::{EventSource, TracedTurn};
use crate::model::failure::Origin;
use crate::model::identity::{ActorId, Callable};
use choice::Texts;
use found::{Node, SliceStep, contains, has_word, ordered, weighed};

pub use steps::{How, Slice, ValueStep};

/// The maximum length of a step's value as text, in characters.
const VALUE_CHARACTERS_MAX: usize = 200;

/// The maximum of origins between two steps.
const HIDDEN_MAX: usize = 100_000;

/// Whose values are explained, in the last traced turn.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// The action at this index of the turn.
    Action(usize),
    /// The member of this name of what the action at this index passes on.
    Member(usize, String),
    /// These bytes of what the turn has written to the stream with this number.
    Output(usize, Range<usize>),
    /// A variable of a computation that waits after the turn.
    Parked(ActorId, Callable, Variable),
    /// A variable of the computation that failed in the turn.
    Failed(Variable),
}

impl Wanted {
    /// Returns whether it is part of what the turn leaves behind, so that the turn has to be
    /// committed.
    pub fn is_after(&self) -> bool {
        match self {
            Self::Parked(..) => true,
            Self::Action(_) | Self::Member(..) | Self::Output(..) | Self::Failed(_) => false,
        }
    }
}

/// A variable of a computation.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name in the text.
    pub name: String,
    /// The number of its frame among those that are worth showing, counted from 1 at the innermost;
    /// the innermost that has such a variable if it is `None`.
    pub frame: Option<usize>,
}

/// The actors of a run, whose heaps hold the values.
pub type Actors<'a> = dyn Fn(ActorId) -> Option<&'a SchemeActor> + 'a;

impl SchemePrograms {
    /// Returns where a value of the last traced turn came from, at most `most` steps, those nearest
    /// to it first; nothing if no turn was traced.
    pub fn slice<'a>(&'a self, actors: &'a Actors<'a>, wanted: &Wanted, most: usize) -> Option<Slice> {
        let trace = self.machine.tracing()?;
        let slicing = Slicing {
            programs: self,
            actors,
            trace,
            last: self.traced.last()?,
            leads_on: Cell::new(false),
            carried_since: Cell::new(None),
            texts: Texts::default(),
        };
        let roots = match slicing.roots(wanted) {
            Ok(roots) => roots,
            Err(missing) => {
                return Some(Slice {
                    is_open: slicing.is_open_frame(wanted),
                    missing: Some(missing),
                    ..Slice::default()
                });
            }
        };
        let (found, left_out) = slicing.found(&roots, most);
        let steps = ordered(&found).into_iter().map(|index| slicing.step(&found[index]));
        let unknown = found.iter().filter_map(|found| slicing.unknown(found.node));
        let unknown: Vec<Option<Sequence>> = unknown.collect();
        Some(Slice {
            origin: roots.within.and_then(|span| slicing.origin(span)),
            value: roots.value.clone(),
            steps: steps.collect(),
            left_out,
            cut: trace.cut(),
            is_open: !unknown.is_empty() || roots.ids.contains(&0) || slicing.leads_on.get(),
            before: unknown.into_iter().flatten().chain(slicing.carried_since.get()).min(),
            missing: None,
        })
    }
}

/// The values to explain.
#[derive(Default)]
struct Roots {
    ids: Vec<OriginId>,
    /// The expression that the values are parts of.
    within: Option<Span>,
    value: Option<String>,
}

struct Slicing<'a> {
    programs: &'a SchemePrograms,
    actors: &'a Actors<'a>,
    trace: &'a Trace,
    last: &'a TracedTurn,
    /// Whether a library read a value that was there before the traced turns.
    leads_on: Cell<bool>,
    /// The first turn that sent what a library read in an event, if it was not traced.
    carried_since: Cell<Option<Sequence>>,
    texts: Texts,
}

impl Slicing<'_> {
    /// The origins of what is explained, or the names that there are.
    fn roots(&self, wanted: &Wanted) -> Result<Roots, Vec<String>> {
        match wanted {
            Wanted::Action(action) => Ok(self
                .call_of(self.last, *action)
                .map_or_else(Roots::default, |call| Roots {
                    ids: self.leaves_of(self.last, call),
                    within: self.own_span(Node::Value(call.call)),
                    value: None,
                })),
            Wanted::Member(action, name) => self.member(*action, name),
            Wanted::Output(stream, bytes) => {
                let pieces = self.trace.written().iter().skip(self.last.written);
                let pieces = pieces
                    .filter(|piece| piece.stream == *stream && piece.start < bytes.end && bytes.start < piece.end);
                let leaves = pieces.filter_map(|piece| Some(piece.origin).filter(|id| !self.is_literal(*id)));
                Ok(Roots {
                    ids: leaves.collect(),
                    ..Roots::default()
                })
            }
            Wanted::Parked(actor, parked, variable) => {
                let actor = (self.actors)(*actor);
                let frames = actor.map(|actor| self.programs.traced_variables(actor, self.trace, *parked));
                of_variable(&frames.unwrap_or_default(), variable)
            }
            Wanted::Failed(variable) => {
                let frames = self.programs.failed.traced.as_ref();
                frames.map_or(Err(Vec::new()), |frames| of_variable(frames, variable))
            }
        }
    }

    /// Whether the frames of the failure were in a turn before those that were traced.
    fn is_open_frame(&self, wanted: &Wanted) -> bool {
        matches!(wanted, Wanted::Failed(_)) && self.programs.failed.traced.is_none()
    }

    /// The call of the host that added an action to a turn.
    fn call_of(&self, turn: &TracedTurn, action: usize) -> Option<&HostCall> {
        let traced = turn.calls.iter().find(|traced| traced.actions.contains(&action))?;
        self.trace.calls().get(traced.call)
    }

    /// The member of a dictionary that an action passes on.
    fn member(&self, action: usize, name: &str) -> Result<Roots, Vec<String>> {
        let Some((call, actor)) = self.call_of(self.last, action).zip((self.actors)(self.last.turn.actor)) else {
            return Ok(Roots::default());
        };
        let heap = &actor.instance.heap;
        let mut names = Vec::new();
        for (value, _) in &call.arguments {
            for (key, member) in self.trace.members(heap, *value) {
                let key = write_limited(heap, &self.programs.code, key, VALUE_CHARACTERS_MAX);
                if key.trim_matches('"') == name {
                    return Ok(Roots {
                        ids: self.trace.leaves(heap, &[member]),
                        within: self.own_span(Node::Value(call.call)),
                        value: Some(self.written(self.last.turn.actor, member.0)),
                    });
                }
                names.push(key.trim_matches('"').to_owned());
            }
        }
        Err(names)
    }

    /// Whether a value is a literal that no condition chose.
    fn is_literal(&self, id: OriginId) -> bool {
        let is_literal = self.trace.origin(id).is_none_or(|origin| origin.sort == Sort::Literal);
        is_literal && self.trace.parts(id).is_empty()
    }

    /// The origins of what a call of the host has passed on. A handle says what is replaced or
    /// taken back, and is no part of any value.
    fn leaves_of(&self, turn: &TracedTurn, call: &HostCall) -> Vec<OriginId> {
        let actor = turn.turn.actor;
        let is_handle = |id: &OriginId| {
            let Some(value) = self.trace.origin(*id).map(|origin| origin.value) else {
                return false;
            };
            let heap = (self.actors)(actor).map(|actor| &actor.instance.heap);
            let heap = self.trace.former_heap(actor.0, *id).or(heap);
            heap.is_some_and(|heap| convert::referent(heap, Class::Handle, value).is_some())
        };
        call.leaves.iter().copied().filter(|id| !is_handle(id)).collect()
    }

    /// The steps that are nearest to the roots, and the number of further ones that are known.
    fn found(&self, roots: &Roots, most: usize) -> (Vec<SliceStep>, usize) {
        let mut seen = BTreeSet::new();
        let mut found: Vec<SliceStep> = Vec::new();
        let mut left: VecDeque<(Node, usize, Option<usize>)> = VecDeque::new();
        let first: Vec<Node> = roots.ids.iter().copied().map(Node::Value).collect();
        let (first, _) = self.visible(&first, roots.within);
        left.extend(first.into_iter().map(|node| (node, 0, None)));
        while let Some((node, depth, parent)) = left.pop_front() {
            if !seen.insert(node) {
                continue;
            }
            if found.len() == most {
                let further = left.iter().filter(|(node, ..)| !seen.contains(node)).count();
                return (weighed(found), 1 + further);
            }
            let index = found.len();
            found.push(SliceStep {
                node,
                depth,
                parent,
                weight: 1,
            });
            let within = self.own_span(node);
            let (mut next, conditions) = self.visible(&self.parts(node), within);
            if next.is_empty() {
                (next, _) = self.visible(&conditions, within);
            }
            left.extend(next.into_iter().map(|next| (next, depth + 1, Some(index))));
        }
        (weighed(found), 0)
    }

    /// The nearest steps among values and their parts, in an expression, and the conditions by
    /// which libraries chose literals among them.
    fn visible(&self, nodes: &[Node], within: Option<Span>) -> (Vec<Node>, Vec<Node>) {
        let mut left: Vec<Node> = nodes.iter().rev().copied().collect();
        let (mut seen, mut visible, mut conditions) = (BTreeSet::new(), Vec::new(), Vec::new());
        while let Some(node) = left.pop() {
            if seen.len() > HIDDEN_MAX || !seen.insert(node) {
                continue;
            }
            if self.is_step(node, within) {
                visible.push(node);
                continue;
            }
            let parts = self.parts(node);
            if self.is_found(node) && parts.is_empty() || self.is_unknown_condition(node) {
                self.leads_on.set(true);
            }
            conditions.extend(self.library_condition(node));
            left.extend(parts.into_iter().rev());
        }
        (visible, conditions)
    }

    /// The values from which another was made, those of earlier turns included.
    fn parts(&self, node: Node) -> Vec<Node> {
        match node {
            Node::Sent { received, source, .. } => {
                let source = self.source(received, source);
                source.map_or_else(Vec::new, |source| self.sent_by(source))
            }
            Node::Value(id) => {
                let Some(received) = self.received(id) else {
                    let carried = self.carried(id);
                    return if carried.is_empty() {
                        self.chosen_parts(id)
                    } else {
                        carried
                    };
                };
                let mut parts = Vec::new();
                for (number, source) in self.sources(received, id) {
                    match (&source.value, self.sender(source)) {
                        (_, None) => {}
                        (Some(_), Some(_)) => parts.push(Node::Sent {
                            value: id,
                            received,
                            source: number,
                        }),
                        (None, Some(_)) => parts.extend(self.sent_by(source)),
                    }
                }
                parts
            }
        }
    }

    /// The actions by which a value came that a library found in an event: a handler receives what
    /// its pattern captured as part of a whole, which the trace does not know.
    fn carried(&self, id: OriginId) -> Vec<Node> {
        let Some((origin, received)) = self.trace.origin(id).zip(self.turn_of(id)) else {
            return Vec::new();
        };
        if origin.sort != Sort::Found || self.span(origin.position).is_some() {
            return Vec::new();
        }
        let written = self.value_of(id, origin);
        let mut carried = Vec::new();
        for (source, sent) in self.sources(received, id) {
            if !sent.value.as_ref().is_some_and(|whole| has_word(whole, &written)) {
                continue;
            }
            if self.sender(sent).is_some() {
                carried.push(Node::Sent {
                    value: id,
                    received,
                    source,
                });
            } else {
                let since = self.carried_since.get();
                self.carried_since
                    .set(Some(since.map_or(sent.turn, |since| since.min(sent.turn))));
            }
        }
        carried
    }

    /// The number of the turn whose events brought a value, if one did.
    fn received(&self, id: OriginId) -> Option<usize> {
        let origin = self.trace.origin(id)?;
        (origin.sort == Sort::Given).then(|| self.turn_of(id))?
    }

    /// The number of the turn in which an origin was noted.
    fn turn_of(&self, id: OriginId) -> Option<usize> {
        let turns = &self.programs.traced;
        turns.partition_point(|turn| turn.first <= id).checked_sub(1)
    }

    fn source(&self, received: usize, source: usize) -> Option<&EventSource> {
        self.programs.traced.get(received)?.turn.sources.get(source)
    }

    /// The sources of the event that brought a value, with their numbers.
    fn sources(&self, received: usize, id: OriginId) -> impl Iterator<Item = (usize, &EventSource)> {
        let turn = &self.programs.traced[received];
        let task = turn.tasks.partition_point(|task| task.first <= id).checked_sub(1);
        let event = task.map(|task| turn.tasks[task].event);
        let sources = turn.turn.sources.iter().enumerate();
        sources.filter(move |(_, source)| Some(source.event) == event)
    }

    /// The call by which a source passed its value on, if its turn was traced.
    fn sender(&self, source: &EventSource) -> Option<&HostCall> {
        self.call_of(self.turn_at(source.turn)?, source.action)
    }

    /// The values that a source has passed on.
    fn sent_by(&self, source: &EventSource) -> Vec<Node> {
        let sent = self.turn_at(source.turn).zip(self.sender(source));
        let leaves = sent.map_or_else(Vec::new, |(turn, call)| self.leaves_of(turn, call));
        leaves.into_iter().map(Node::Value).collect()
    }

    fn turn_at(&self, sequence: Sequence) -> Option<&TracedTurn> {
        let turns = &self.programs.traced;
        let found = turns.binary_search_by_key(&sequence, |turn| turn.turn.sequence);
        found.ok().map(|index| &turns[index])
    }

    /// If a value is from before the traced turns: the turn from which it is, as far as that is
    /// known.
    fn unknown(&self, node: Node) -> Option<Option<Sequence>> {
        let Node::Value(id) = node else { return None };
        if self.is_found(node) {
            return Some(None);
        }
        let earliest = self.programs.traced.first()?.turn.sequence;
        let mut sources = self.sources(self.received(id)?, id);
        let outside = sources.find(|(_, source)| source.turn < earliest);
        outside.map(|(_, source)| Some(source.turn))
    }

    fn is_found(&self, node: Node) -> bool {
        let Node::Value(id) = node else { return false };
        self.trace.origin(id).is_some_and(|origin| origin.sort == Sort::Found)
    }

    fn is_step(&self, node: Node, within: Option<Span>) -> bool {
        let Node::Value(id) = node else { return true };
        let Some(origin) = self.trace.origin(id) else {
            return false;
        };
        if let (Sort::Literal | Sort::Chosen | Sort::Tested, Some(place)) = (origin.sort, self.place_of_choice(id)) {
            return Some(place) != within;
        }
        let span = match origin.sort {
            Sort::Literal => self.literal_span(id, origin),
            Sort::Computed | Sort::Returned | Sort::Answered | Sort::Given | Sort::Found => self.span(origin.position),
            Sort::Chosen | Sort::Tested | Sort::Condition | Sort::Call => None,
        };
        match origin.sort {
            Sort::Chosen | Sort::Tested | Sort::Condition | Sort::Call => false,
            Sort::Given => true,
            Sort::Answered => !self.trace.parts(id).is_empty() || self.own_span(node).is_some(),
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
    fn literal_span(&self, id: OriginId, origin: &Made) -> Option<Span> {
        let written = self.value_of(id, origin);
        let mut spans = self.programs.code.spans_around(origin.position);
        spans.find(|span| {
            let source = self.programs.present.expander.source(span.source);
            let text = source.and_then(|source| source.text.get(span.start as usize..span.end as usize));
            self.is_own(*span) && text.is_some_and(|text| has_word(text, &written))
        })
    }

    fn actor_of(&self, id: OriginId) -> ActorId {
        let turn = self.turn_of(id).and_then(|turn| self.programs.traced.get(turn));
        turn.unwrap_or(self.last).turn.actor
    }

    /// The value of an origin as it would be written, from the heap that had it.
    fn value_of(&self, id: OriginId, origin: &Made) -> String {
        let actor = self.actor_of(id);
        match self.trace.former_heap(actor.0, id) {
            Some(heap) => write_limited(heap, &self.programs.code, origin.value, VALUE_CHARACTERS_MAX),
            None => self.written(actor, origin.value),
        }
    }

    /// A value as it would be written; `?` if it was in the heap of an actor that has ended.
    fn written(&self, actor: ActorId, value: Value) -> String {
        let write = |heap: &Heap| write_limited(heap, &self.programs.code, value, VALUE_CHARACTERS_MAX);
        match (self.actors)(actor) {
            Some(actor) => write(&actor.instance.heap),
            None if value.is_reference() => "?".to_owned(),
            None => write(&Heap::new(duet_kernel::heap::Limits { bytes_max: 0 })),
        }
    }

    fn is_own(&self, span: Span) -> bool {
        let source = self.programs.present.expander.source(span.source);
        source.is_some_and(|source| !source.name.starts_with(EMBEDDED))
    }

    /// The place of a step in a text of the program's own: its own, or that of the nearest call
    /// around it.
    fn own_span(&self, node: Node) -> Option<Span> {
        match node {
            Node::Value(id) if self.is_configuration(id) => None,
            Node::Value(id) if self.is_found(node) => self.place_of_choice(id),
            Node::Value(id) => self.place_of_choice(id).or_else(|| self.span_around(id)),
            Node::Sent { received, source, .. } => self.call_span(self.sender(self.source(received, source)?)?),
        }
    }

    /// Whether an actor began with a value, which no expression of its text received.
    fn is_configuration(&self, id: OriginId) -> bool {
        let Some(received) = self.received(id) else {
            return false;
        };
        let mut sources = self.sources(received, id);
        sources.any(|(_, source)| source.value.as_ref().is_some_and(String::is_empty))
    }

    /// The place of a call of the host in a text of the program's own.
    fn call_span(&self, call: &HostCall) -> Option<Span> {
        self.span(call.position).or_else(|| self.span_around(call.call))
    }

    fn span_around(&self, mut next: OriginId) -> Option<Span> {
        while let Some(origin) = self.trace.origin(next) {
            if origin.sort == Sort::Literal {
                return self.literal_span(next, origin);
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
        let source = self.programs.present.expander.source(span.source)?;
        Some(Origin {
            source: source.name.clone(),
            start: span.start.into(),
            end: span.end.into(),
        })
    }

    /// A step as it is reported.
    fn step(&self, found: &SliceStep) -> ValueStep {
        let span = self.own_span(found.node);
        let step = |value, how, turn| ValueStep {
            depth: found.depth,
            value,
            how,
            turn,
            origin: span.and_then(|span| self.origin(span)),
        };
        let id = match found.node {
            Node::Value(id) => id,
            Node::Sent {
                value,
                received,
                source,
            } => {
                let source = self.source(received, source);
                let text = source.and_then(|source| source.value.clone());
                let received = || {
                    let origin = self.trace.origin(value);
                    origin.map_or_else(String::new, |origin| self.value_of(value, origin))
                };
                let value = text.filter(|text| !text.is_empty()).unwrap_or_else(received);
                let turn = source.map_or(self.last.turn.sequence, |source| source.turn);
                return step(value, How::Sent, turn);
            }
        };
        let origin = self.trace.origin(id);
        let value = origin.map_or_else(String::new, |origin| self.value_of(id, origin));
        let how = match origin.map(|origin| origin.sort) {
            Some(Sort::Literal) if self.choice(id).is_some_and(|choice| !choice.is_literal) => How::Computed,
            Some(Sort::Literal) => How::Literal,
            Some(Sort::Answered) => How::Answered,
            Some(Sort::Given) => How::Input,
            Some(Sort::Found) | None => How::Earlier,
            Some(Sort::Computed | Sort::Returned | Sort::Chosen | Sort::Tested | Sort::Condition | Sort::Call) => {
                How::Computed
            }
        };
        let turns = &self.programs.traced;
        let made = match how {
            How::Earlier => turns.first(),
            How::Literal | How::Computed | How::Answered | How::Input | How::Sent => {
                self.turn_of(id).and_then(|turn| turns.get(turn))
            }
        };
        step(value, how, made.unwrap_or(self.last).turn.sequence)
    }
}

/// The origins of a variable, or the names of the variables that there are.
fn of_variable(frames: &TracedFrames, variable: &Variable) -> Result<Roots, Vec<String>> {
    let wanted = frames.iter().enumerate();
    let wanted = wanted.filter(|(index, _)| variable.frame.is_none_or(|frame| frame == index + 1));
    let mut names = Vec::new();
    for one in wanted.flat_map(|(_, frame)| frame) {
        if one.name == variable.name {
            return Ok(Roots {
                ids: one.leaves.clone(),
                within: None,
                value: one.value.clone(),
            });
        }
        if !names.contains(&one.name) {
            names.push(one.name.clone());
        }
    }
    Err(names)
}
