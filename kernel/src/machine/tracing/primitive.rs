//! What a primitive does to the origins of values.
//!
//! A primitive says nothing about the words that it moves, so the trace compares words: a word that
//! equals one that an argument led to has that one's origin.
//! INVARIANT: what a primitive returns comes at most from its arguments.

use crate::heap::kind::port;
use crate::heap::{Heap, Kind};
use crate::primitive::Primitive;
use crate::value::Value;

use super::step::Before;
use super::{OriginId, Place, Sort, Trace, Written};

/// The maximum of words of the arguments that are compared.
const REACHED_MAX: usize = 1024;
/// The maximum of words made by a primitive that are compared.
const MADE_MAX: usize = 4096;

/// A word that the arguments of a primitive lead to.
struct Reached {
    word: usize,
    value: Value,
}

/// The number of bytes in the port among the arguments, if there is one.
pub(super) fn pending(heap: &Heap, inputs: &[(Value, OriginId)]) -> usize {
    port_of(heap, inputs).map_or(0, |port| held(heap, port))
}

fn port_of(heap: &Heap, inputs: &[(Value, OriginId)]) -> Option<Value> {
    let mut ports = inputs.iter().map(|(value, _)| *value);
    ports.find(|value| heap.is_kind(*value, Kind::Port))
}

fn held(heap: &Heap, port: Value) -> usize {
    let position = |field| heap.field(port, field).as_fixnum().unwrap_or(0);
    usize::try_from(position(port::END) - position(port::START)).unwrap_or(0)
}

impl Trace {
    /// The origin of what a primitive has returned.
    pub(super) fn primitive(
        &mut self,
        before: &Before,
        primitive: &Primitive,
        value: Value,
        heap: &Heap,
        at: Place,
    ) -> OriginId {
        let parts: Vec<OriginId> = before.inputs.iter().map(|(_, id)| *id).collect();
        self.note_writing(before, heap);
        if let ("get-output-string" | "get-output-bytevector", Some((port, _))) =
            (primitive.name, before.inputs.first())
            && let Some(written) = self
                .heap
                .ports
                .get(&port.index())
                .filter(|_| port.is_reference())
                .cloned()
        {
            return self.made(Sort::Computed, value, at, &written);
        }
        let has_made = heap.free_range().start > before.top;
        let is_change = primitive.name.ends_with('!');
        let is_part = value.is_reference() && value.index() < before.top || is_access(primitive.name);
        let reached = if has_made || is_change || is_part {
            reach(heap, &before.inputs, before.top)
        } else {
            Vec::new()
        };
        let part = reached.iter().find(|reached| is_part && reached.value == value);
        let id = match part.map(|reached| self.heap_word(reached.word)) {
            Some(part) if part != 0 => self.made(Sort::Computed, value, at, &[part]),
            _ => self.made(Sort::Computed, value, at, &parts),
        };
        if has_made {
            self.note_made(before, &reached, heap, id);
        }
        if is_change {
            self.note_change(before, &reached, heap);
        }
        id
    }

    /// Gives the words that a primitive has made the origins of the words that they are copies of.
    fn note_made(&mut self, before: &Before, reached: &[Reached], heap: &Heap, id: OriginId) {
        let end = heap.free_range().start.min(before.top + MADE_MAX);
        for index in before.top..end {
            let word = heap.word(index);
            let argument = before.inputs.iter().find(|(value, _)| *value == word);
            let copied = || reached.iter().find(|reached| reached.value == word);
            let origin = match argument {
                Some((_, argument)) => *argument,
                None => copied().map_or(0, |reached| self.heap_word(reached.word)),
            };
            self.set_heap(index, if origin == 0 { id } else { origin });
        }
    }

    /// Gives the words that a primitive has changed the origins of its arguments.
    fn note_change(&mut self, before: &Before, was: &[Reached], heap: &Heap) {
        let changed = reach(heap, before.inputs.get(..1).unwrap_or_default(), usize::MAX);
        for Reached { word, value } in changed {
            let argument = before.inputs.iter().skip(1).find(|(argument, _)| *argument == value);
            let is_old = was.iter().any(|reached| reached.word == word && reached.value == value);
            if let (Some((_, id)), false) = (argument, is_old && self.heap_word(word) != 0 && word < before.top) {
                self.set_heap(word, *id);
            }
        }
    }

    /// Notes what a primitive has written to a port.
    fn note_writing(&mut self, before: &Before, heap: &Heap) {
        let Some(port) = port_of(heap, &before.inputs) else {
            return;
        };
        // The end of a line is no value.
        let first = before.inputs.first().filter(|(value, _)| *value != port);
        let origin = first.map_or(0, |(_, id)| *id);
        let length = held(heap, port).saturating_sub(before.pending);
        if length == 0 {
            return;
        }
        let stream = heap.field(port, port::STREAM).as_fixnum();
        let Some(stream @ (1 | 2)) = stream.and_then(|stream| usize::try_from(stream).ok()) else {
            self.heap.ports.entry(port.index()).or_default().push(origin);
            return;
        };
        let start = self.streamed[stream];
        self.streamed[stream] += length;
        self.written.push(Written {
            stream,
            start,
            end: start + length,
            origin,
        });
    }
}

/// Whether a primitive returns a part of what it is given.
fn is_access(name: &str) -> bool {
    name.contains("-ref") || name.starts_with("list-") || name.ends_with("-get") || name == "last"
}

/// The words that hold parts of the arguments, and of their parts.
fn reach(heap: &Heap, inputs: &[(Value, OriginId)], top: usize) -> Vec<Reached> {
    let mut reached = Vec::new();
    let mut left: std::collections::VecDeque<Value> = inputs.iter().map(|(value, _)| *value).collect();
    let mut seen = std::collections::BTreeSet::new();
    while let Some(object) = left.pop_front() {
        if !object.is_reference() || object.index() >= top || !seen.insert(object.index()) {
            continue;
        }
        for word in all_words_of(heap, object) {
            if reached.len() >= REACHED_MAX {
                return reached;
            }
            let value = heap.word(word);
            reached.push(Reached { word, value });
            left.push_back(value);
        }
    }
    reached
}

/// The words of an object that hold values which a program put there.
fn all_words_of(heap: &Heap, object: Value) -> std::ops::Range<usize> {
    let index = object.index();
    if object.is_pair() {
        return index..index + 2;
    }
    match heap.kind_of(object) {
        Some(
            Kind::Vector | Kind::Values | Kind::Record | Kind::Dictionary | Kind::Set | Kind::Cell | Kind::Promise,
        ) => index + 1..index + 1 + heap.object_length(object),
        _ => index..index,
    }
}
