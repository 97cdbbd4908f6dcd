//! What a primitive does to the origins of values.
//!
//! A value that a primitive returns, copies or writes has the origin of the word that it was read
//! from. Of a primitive that `words.rs` does not know, the trace compares objects: all words that
//! hold the object have led to it.
//! INVARIANT: a value never has the origin of another one that is equal to it; what a primitive
//! returns comes at most from its arguments.
//! Read next: `words.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use crate::heap::kind::port;
use crate::heap::{Heap, Kind};
use crate::primitive::Primitive;
use crate::value::Value;

use super::step::Before;
use super::words::{Call, Copied, Source, fields};
use super::{OriginId, Place, Sort, Trace, Written};

/// The maximum of words of the arguments that are compared.
const REACHED_MAX: usize = 1024;
/// The maximum of words made by a primitive that are compared.
const MADE_MAX: usize = 4096;

/// The primitives whose first argument decides which part of a list they find.
const SEARCHES: &[&str] = &["memq", "memv", "%member", "assq", "assv", "%assoc"];

/// A word that an argument of a primitive leads to.
struct Reached {
    word: usize,
    value: Value,
    /// The number of the argument.
    of: usize,
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
        heap: &mut Heap,
        at: Place,
    ) -> OriginId {
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
        let call = Call {
            name: primitive.name,
            arguments: &before.inputs,
            result: value,
        };
        let mut parts = match call.read(heap) {
            Some(source) => vec![self.origin_of(source, &call)],
            None => self.parts_of_result(&call, before.top, heap),
        };
        if SEARCHES.contains(&primitive.name) && value.is_true() {
            parts.push(self.origin_of(Source::Argument(0), &call));
        }
        let is_making = heap.free_range().start > before.top;
        let copied = if is_making { call.copied(heap) } else { Vec::new() };
        let parts = self.with_changed(parts, &copied);
        let id = self.made(Sort::Computed, value, at, &parts);
        if is_making {
            self.note_made(&call, &copied, (before.top, id), heap);
        }
        if primitive.name.ends_with('!') {
            self.note_change(&call, before, heap);
        }
        id
    }

    /// Adds the origins of the copied words that were written after their objects were made, of
    /// which the objects know nothing.
    fn with_changed(&self, mut parts: Vec<OriginId>, copied: &[Copied]) -> Vec<OriginId> {
        for (_, source) in copied {
            if let Source::Word { word, .. } = source
                && self.heap.changed.contains(word)
            {
                parts.push(self.heap_word(*word));
            }
        }
        parts
    }

    /// The origin of what a primitive has read from somewhere.
    fn origin_of(&self, source: Source, call: &Call<'_>) -> OriginId {
        let (of, known) = match source {
            Source::Argument(of) => (of, 0),
            Source::Word { word, of } => (of, self.heap_word(word)),
            Source::Element { at, of } => {
                let object = call.arguments.get(of).map_or(0, |(object, _)| object.index());
                (of, self.content_word(object, at))
            }
        };
        // What nobody traced came with the whole.
        let whole = call.arguments.get(of).map_or(0, |(_, id)| *id);
        if known == 0 { whole } else { known }
    }

    /// The origins of what a primitive has computed, or found in a way that is not known.
    fn parts_of_result(&self, call: &Call<'_>, top: usize, heap: &Heap) -> Vec<OriginId> {
        if is_object(heap, call.result) && call.result.index() < top {
            let found = self.holders(call, call.result, &reach(heap, call.arguments, top));
            if !found.is_empty() {
                return found;
            }
        }
        let arguments = call.arguments.iter();
        arguments
            .flat_map(|(value, id)| self.whole(heap, *value, *id))
            .collect()
    }

    /// The different origins of the arguments, and of the words that they lead to, that hold an
    /// object.
    fn holders(&self, call: &Call<'_>, object: Value, reached: &[Reached]) -> Vec<OriginId> {
        let arguments = call.arguments.iter().filter(|(argument, _)| *argument == object);
        let words = reached.iter().filter(|reached| reached.value == object);
        let words = words.map(|Reached { word, of, .. }| self.origin_of(Source::Word { word: *word, of: *of }, call));
        let found: BTreeSet<OriginId> = arguments.map(|(_, id)| *id).chain(words).collect();
        found.into_iter().filter(|id| *id != 0).collect()
    }

    /// The origins of an object that is used as a whole: its own, and those of the characters or
    /// bytes that were put into it.
    pub(super) fn whole(&self, heap: &Heap, value: Value, id: OriginId) -> Vec<OriginId> {
        let Some(length) = content_length(heap, value) else {
            return vec![id];
        };
        let pieces = self.heap.contents.pieces(value.index(), &(0..length));
        let covered: usize = pieces.iter().map(|(piece, _)| piece.len()).sum();
        let own = (covered < length || length == 0).then_some(id);
        let found: BTreeSet<OriginId> = own.into_iter().chain(pieces.into_iter().map(|(_, id)| id)).collect();
        found.into_iter().collect()
    }

    /// One origin for several, which is no step of its own.
    fn merged(&mut self, value: Value, ids: &[OriginId]) -> OriginId {
        let nowhere = Place {
            position: u32::MAX,
            caller: 0,
        };
        match ids {
            [] => 0,
            [id] => *id,
            ids => self.made(Sort::Computed, value, nowhere, ids),
        }
    }

    /// Gives the words that a primitive has made the origins of the words that they are copies of.
    fn note_made(&mut self, call: &Call<'_>, copied: &[Copied], made: (usize, OriginId), heap: &Heap) {
        let (top, id) = made;
        let copied = copied.iter().filter(|(word, _)| *word >= top);
        let copied: BTreeMap<usize, OriginId> = copied
            .map(|(word, source)| (*word, self.origin_of(*source, call)))
            .collect();
        let end = heap.free_range().start.min(top + MADE_MAX);
        let mut reached = None;
        for index in (top..end).filter(|index| !copied.contains_key(index)) {
            let word = heap.word(index);
            let mut holders = Vec::new();
            if word.is_reference() && word.index() < top && is_object(heap, word) {
                let reached = reached.get_or_insert_with(|| reach(heap, call.arguments, top));
                holders = self.holders(call, word, reached);
            }
            let origin = self.merged(word, &holders);
            self.set_heap(index, if origin == 0 { id } else { origin });
        }
        for (word, origin) in copied {
            self.set_heap(word, if origin == 0 { id } else { origin });
        }
    }

    /// Gives what a primitive has changed the origins of what it wrote there.
    fn note_change(&mut self, call: &Call<'_>, before: &Before, heap: &mut Heap) {
        let mut changed = before.table.as_ref().map_or_else(Vec::new, |table| table.changed(heap));
        changed.extend(call.changed(heap));
        let changed: Vec<(usize, OriginId)> = changed
            .into_iter()
            .map(|(word, source)| (word, self.origin_of(source, call)))
            .collect();
        for (word, id) in changed {
            self.change_heap(word, id);
        }
        self.note_content(call, heap);
    }

    /// Gives the characters or bytes that a primitive has put into an object their origins.
    fn note_content(&mut self, call: &Call<'_>, heap: &Heap) {
        let Some((object, length)) = call
            .arguments
            .first()
            .and_then(|(object, _)| Some((object.index(), content_length(heap, *object)?)))
        else {
            return;
        };
        let origin = |of: usize| call.arguments.get(of).map_or(0, |(_, id)| *id);
        let first = call.position(1);
        let put = match call.name {
            "string-set!" | "bytevector-u8-set!" => vec![(first..first + 1, origin(2))],
            "string-fill!" | "bytevector-fill!" => vec![(call.range(2, length), origin(1))],
            "string-copy!" | "bytevector-copy!" => {
                let Some((from, from_length)) = call
                    .arguments
                    .get(2)
                    .and_then(|(from, _)| Some((from.index(), content_length(heap, *from)?)))
                else {
                    return;
                };
                let range = call.range(3, from_length);
                let pieces = self.heap.contents.pieces(from, &range).into_iter();
                let moved = pieces.map(|(piece, id)| {
                    let start = first + piece.start - range.start;
                    (start..start + piece.len(), id)
                });
                let all = (first..first + range.len(), origin(2));
                std::iter::once(all).chain(moved).collect()
            }
            _ => return,
        };
        for (range, id) in put {
            self.put_content(object, range, id);
        }
    }

    /// Gives characters or bytes of an object another origin.
    pub(super) fn put_content(&mut self, object: usize, range: Range<usize>, id: OriginId) {
        Arc::make_mut(&mut self.heap.contents).put(object, range, id);
    }

    /// The origin of a character or byte of an object; 0 if it came with the object.
    pub(super) fn content_word(&self, object: usize, at: usize) -> OriginId {
        let piece = self.heap.contents.pieces(object, &(at..at + 1));
        piece.first().map_or(0, |(_, id)| *id)
    }

    /// Notes what a primitive has written to a port.
    fn note_writing(&mut self, before: &Before, heap: &Heap) {
        let Some(port) = port_of(heap, &before.inputs) else {
            return;
        };
        let length = held(heap, port).saturating_sub(before.pending);
        if length == 0 {
            return;
        }
        // The end of a line is no value.
        let first = before.inputs.first().filter(|(value, _)| *value != port);
        let origin = first.map_or(0, |(value, id)| self.shown(heap, *value, *id));
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

    /// The origin of an object that is written: its own, and those of the parts that it has got
    /// since it was made.
    fn shown(&mut self, heap: &Heap, value: Value, id: OriginId) -> OriginId {
        let mut ids = self.whole(heap, value, id);
        if !self.heap.changed.is_empty() {
            let reached = reach(heap, &[(value, id)], usize::MAX);
            let changed = reached
                .iter()
                .filter(|reached| self.heap.changed.contains(&reached.word));
            ids.extend(changed.map(|reached| self.heap_word(reached.word)));
            ids.dedup();
        }
        self.merged(value, &ids)
    }
}

/// Whether a word holds an object that no other equals: not a number that fits into the word, and
/// no symbol.
fn is_object(heap: &Heap, value: Value) -> bool {
    value.is_reference() && !matches!(heap.kind_of(value), Some(Kind::Symbol | Kind::Keyword))
}

/// The number of characters or bytes of a string or bytevector.
fn content_length(heap: &Heap, value: Value) -> Option<usize> {
    match heap.kind_of(value) {
        Some(Kind::String) => Some(heap.string_length(value)),
        Some(Kind::Bytevector) => Some(heap.object_length(value)),
        _ => None,
    }
}

/// The words that hold parts of the arguments, and of their parts.
fn reach(heap: &Heap, arguments: &[(Value, OriginId)], top: usize) -> Vec<Reached> {
    let mut reached = Vec::new();
    let arguments = arguments.iter().enumerate();
    let mut left: VecDeque<(Value, usize)> = arguments.map(|(of, (value, _))| (*value, of)).collect();
    let mut seen = BTreeSet::new();
    while let Some((object, of)) = left.pop_front() {
        if !object.is_reference() || object.index() >= top || !seen.insert(object.index()) {
            continue;
        }
        let index = object.index();
        let words = if object.is_pair() {
            index..index + 2
        } else {
            fields(heap, object)
        };
        for word in words {
            if reached.len() >= REACHED_MAX {
                return reached;
            }
            let value = heap.word(word);
            reached.push(Reached { word, value, of });
            left.push_back((value, of));
        }
    }
    reached
}
