//! Follows the words of a traced heap to other places: a collection moves all objects, as does the
//! template from which an entity continues; a changed text moves its frames, and a longer table of
//! globals replaces a shorter one.
//!
//! A value that died in a collection is shown as the heap before had it, so the trace keeps that
//! heap.
//! INVARIANT: an origin belongs to the heap in which it was noted; each word of the present heap
//! has the origin that it had at its former place.
//! Read next: `primitive.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::heap::{Heap, Kind, Register};
use crate::value::Value;

use super::{OriginId, Shadow, Trace, set};

/// A word that was copied: where it was, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedWord {
    /// The index before.
    pub from: usize,
    /// The index now.
    pub to: usize,
}

/// A heap as it was before a collection.
#[derive(Debug)]
pub(super) struct Former {
    /// The first origin that belongs to the heap after it.
    end: OriginId,
    heap: Box<Heap>,
}

/// The state to which a turn whose heap was collected goes back if it is taken back.
#[derive(Debug)]
pub(super) struct BeforeMove {
    shadow: Shadow,
    undo: Vec<(usize, OriginId)>,
    /// The number of the heaps before that one.
    former_count: usize,
}

impl Trace {
    /// Takes the origins along that the words of the heap of the present turn had, after a
    /// collection or a template has moved its objects.
    pub fn follow_move(&mut self, before: Heap, after: &Heap) {
        if before.moves_count() == after.moves_count() {
            return;
        }
        // Code that was loaded since the last run may have made the table longer.
        self.follow_globals(&before);
        let moved = Moved::between(&before, after);
        let mut shadow = moved.shadow(&self.heap);
        shadow.globals = Some(after.register(Register::Globals));
        let former_count = self.heap.former.len();
        self.leave_heap(before, &mut shadow);
        let last = std::mem::replace(&mut self.heap, shadow);
        let undo = std::mem::take(&mut self.undo);
        self.before_move.get_or_insert(BeforeMove {
            shadow: last,
            undo,
            former_count,
        });
    }

    /// Forgets the heap, because its owner has another one; keeps it to show its values.
    pub fn forget_heap(&mut self, before: Option<Heap>) {
        let mut shadow = Shadow::default();
        if let Some(before) = before {
            self.leave_heap(before, &mut shadow);
        }
        self.heap = shadow;
        self.undo.clear();
        self.before_move = None;
        self.ports_before.clear();
        self.contents_before = Arc::default();
        self.globals_before = None;
    }

    fn leave_heap(&mut self, before: Heap, next: &mut Shadow) {
        next.former = std::mem::take(&mut self.heap.former);
        next.former.push(Former {
            end: self.next_id(),
            heap: Box::new(before),
        });
    }

    /// Takes the origins of words along that were copied to others.
    pub fn follow(&mut self, words: &[MovedWord]) {
        for MovedWord { from, to } in words {
            self.set_heap(*to, self.heap_word(*from));
        }
    }

    /// Takes the origins of the globals along, if their table was replaced by a longer one.
    pub(super) fn follow_globals(&mut self, heap: &Heap) {
        let table = heap.register(Register::Globals);
        if let Some(last) = self.heap.globals.replace(table)
            && last != table
            && heap.is_kind(last, Kind::Vector)
        {
            for index in 1..=heap.object_length(last).min(heap.object_length(table)) {
                self.set_heap(table.index() + index, self.heap_word(last.index() + index));
            }
        }
    }

    /// Returns the heap in which an origin of the owner's was noted, if it is not the present one.
    pub fn former_heap(&self, owner: u64, id: OriginId) -> Option<&Heap> {
        let shadow = if owner == self.owner {
            &self.heap
        } else {
            self.others.get(&owner)?
        };
        let former = shadow.former.iter().find(|former| id < former.end);
        former.map(|former| &*former.heap)
    }

    /// Goes back to the heap before the collection of a turn that is taken back.
    pub(super) fn take_move_back(&mut self) {
        let Some(before) = self.before_move.take() else { return };
        let last = std::mem::replace(&mut self.heap, before.shadow);
        self.heap.former = last.former;
        self.heap.former.truncate(before.former_count);
        self.undo = before.undo;
        // The heap counts moves that are taken back.
        self.heap.moves = None;
    }
}

/// Where objects are that a collection has moved: for each object before, the one after.
struct Moved {
    words: Vec<MovedWord>,
    objects: BTreeMap<usize, usize>,
}

impl Moved {
    /// Pairs the objects of two heaps that differ by a collection, from the registers on.
    fn between(before: &Heap, after: &Heap) -> Self {
        let mut moved = Self {
            words: Vec::new(),
            objects: BTreeMap::new(),
        };
        let registers = Register::ALL.iter();
        let registers = registers.filter(|register| **register != Register::Symbols);
        let mut left: Vec<(Value, Value)> = registers
            .map(|register| (before.register(*register), after.register(*register)))
            .collect();
        while let Some((old, new)) = left.pop() {
            let is_pair = old.is_pair() && new.is_pair();
            let is_same = old.is_reference() && new.is_reference() && before.kind_of(old) == after.kind_of(new);
            if !is_pair && (!is_same || old.is_pair() || new.is_pair()) {
                continue;
            }
            if moved.objects.insert(old.index(), new.index()).is_some() {
                continue;
            }
            for (from, to) in words_of(before, old).zip(words_of(after, new)) {
                moved.words.push(MovedWord { from, to });
                left.push((before.word(from), after.word(to)));
            }
        }
        moved
    }

    /// The shadow of the heap after, by that of the heap before.
    fn shadow(&self, last: &Shadow) -> Shadow {
        let mut shadow = Shadow::default();
        for MovedWord { from, to } in &self.words {
            set(&mut shadow.words, *to, last.words.get(*from).copied().unwrap_or(0));
        }
        let place = |object: &usize| self.objects.get(object).copied();
        let ports = last.ports.iter();
        shadow.ports = ports
            .filter_map(|(port, ids)| Some((place(port)?, ids.clone())))
            .collect();
        let changed: BTreeMap<usize, usize> = self.words.iter().map(|word| (word.from, word.to)).collect();
        let changed = last.changed.iter().filter_map(|word| changed.get(word).copied());
        shadow.changed = changed.collect::<BTreeSet<usize>>();
        shadow.contents = Arc::new(last.contents.moved(&place));
        shadow
    }
}

/// The words of an object that hold values; none of those that are bytes.
fn words_of(heap: &Heap, object: Value) -> std::ops::Range<usize> {
    let index = object.index();
    match heap.kind_of(object) {
        _ if object.is_pair() => index..index + 2,
        Some(kind) if !kind.is_raw() => index + 1..index + 1 + heap.object_length(object),
        _ => index..index,
    }
}
